"""Quality with many classes: 20 Newsgroups, half of the 18,846 messages unlabeled, five labels a class, macro F.

The bounds come from slow reference computations of the same task; what those reached stands in the notes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks import class_learners as learners
from benchmarks import class_objective, class_tasks
from benchmarks.class_learners import ClassOutcome
from benchmarks.class_tasks import ClassTask
from benchmarks.learners import ALPHA
from benchmarks.report import Report

DRAWS = 3
PER_CLASS = 5
SET = "20 Newsgroups, 20 classes"
LEAST = {"annealing": 0.735, "switching": 0.695}  # mean macro F
REFERENCE = {
    "supervised": "reference 0.454, 0.433, 0.500",
    "switching": "reference .670, .702, .716",
    "annealing": "reference .717, .728, .763",
    "maxent annealing": "reference .736 in the first draw",
}

Learner = Callable[[ClassTask], ClassOutcome]


def tasks() -> list[ClassTask]:
    """The three draws."""
    return [class_tasks.half_unlabeled(class_tasks.newsgroups20(), PER_CLASS, seed) for seed in range(DRAWS)]


def twenty_classes(report: Report) -> None:
    """One class against the rest: the labels found jointly, beside learners that see the labeled rows only."""
    drawn = tasks()
    supervised = _measured(report, "supervised", learners.supervised, drawn)
    _measured(report, "supervised, thresholds moved to the class shares", learners.moved_thresholds, drawn)
    ours = _measured(report, "our supervised", learners.our_supervised, drawn)
    gaps = [_objective(t, o) / _objective(t, s) - 1 for t, o, s in zip(drawn, ours, supervised, strict=True)]
    report.fact(f"{SET}: our supervised objective / LinearSVC's - 1, largest", max(gaps, key=abs), values=gaps)
    for method, least in LEAST.items():
        found = _measured(report, method, _transductive(method=method), drawn, least)
        _kept_shares(report, method, found)


def twenty_classes_maxent(report: Report) -> None:
    """The maxent loss."""
    drawn = tasks()
    for method in LEAST:
        found = _measured(report, f"maxent {method}", lambda t, m=method: learners.maxent(t, method=m), drawn)
        _kept_shares(report, f"maxent {method}", found)


def twenty_classes_crammer_singer(report: Report) -> None:
    """Crammer and Singer's loss."""
    drawn = tasks()
    learner = _transductive(method="switching", loss="crammer_singer")
    found = _measured(report, "Crammer-Singer switching", learner, drawn)
    _kept_shares(report, "Crammer-Singer switching", found)
    ours = _measured(
        report, "our supervised, Crammer-Singer", lambda t: learners.our_supervised(t, loss="crammer_singer"), drawn
    )
    gaps = [
        _crammer_singer(t, o.estimator) / _crammer_singer(t, _peer(t)) - 1 for t, o in zip(drawn, ours, strict=True)
    ]
    what = f"{SET}: our supervised Crammer-Singer objective / LinearSVC's - 1, largest"
    report.fact(what, max(gaps, key=abs), values=gaps)


SECTIONS = (twenty_classes, twenty_classes_maxent, twenty_classes_crammer_singer)


# ------------------------------------------------------------------ helpers
def _transductive(**settings: object) -> Learner:
    return lambda task: learners.transductive(task, **settings)


def _measured(
    report: Report, name: str, learner: Learner, drawn: list[ClassTask], least: float | None = None
) -> list[ClassOutcome]:
    """The row of the mean macro F of a learner over the draws."""
    found = [learner(task) for task in drawn]
    values = [o.macro_f for o in found]
    report.sample(f"{SET} (100 - macro F)", name, [100 - 100 * v for v in values])
    of_draws = ", ".join(f"{v:.3f}" for v in values)
    times = f"{np.median([o.seconds for o in found]):.2f} s"
    note = "; ".join(filter(None, (of_draws, f"error {np.mean([o.error for o in found]):.1f} %", times)))
    note += f"; {REFERENCE[name]}" if name in REFERENCE else ""
    what = f"{SET}: {name}, mean macro F"
    if least is None:
        report.fact(what, float(np.mean(values)), note=note, values=values)
    else:
        report.at_least(what, float(np.mean(values)), least, note=note, values=values)
    return found


def _kept_shares(report: Report, name: str, found: list[ClassOutcome]) -> None:
    off = [o.off_share(o.estimator.class_prior_) for o in found]
    report.at_most(f"{SET}: {name}, largest distance from a class share", max(off), 1, " points", values=off)


def _objective(task: ClassTask, found: ClassOutcome) -> float:
    return _value(class_objective.one_vs_rest, task, found.estimator)


def _crammer_singer(task: ClassTask, estimator: Any) -> float:
    return _value(class_objective.crammer_singer, task, estimator)


def _peer(task: ClassTask) -> LinearSVC:
    labeled = ~task.unlabeled
    C = 1 / (task.n_labels * ALPHA)
    peer = LinearSVC(multi_class="crammer_singer", C=C, tol=1e-8, max_iter=100_000, random_state=0)
    return peer.fit(task.X[labeled], task.y[labeled])


def _value(losses: class_objective.Losses, task: ClassTask, fitted: Any) -> float:
    labeled = ~task.unlabeled
    return class_objective.value(losses, task.X[labeled], task.y[labeled], fitted.coef_, fitted.intercept_, ALPHA)
