"""Learning from probabilities: the constraint at the solution, quality and time beside annealing.

`--only expectation`. All methods are those of SemiSupervisedLogisticRegression, told the true class shares where
nothing else is said. Times are ratios to annealing on the same task, in one run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import class_learners as learners
from benchmarks import class_tasks
from benchmarks.class_learners import ClassOutcome
from benchmarks.class_tasks import ClassSet, ClassTask
from benchmarks.report import Report

DRAWS = 3
RESIDUAL = 1e-3
TIME = {"entropy": 3.0, "expectation": 2.0, "posterior": 2.0}  # largest ratios to annealing
BEHIND = 0.03  # macro F by which entropy may be behind annealing


def comp() -> ClassSet:
    """The five groups comp.* of 20 Newsgroups."""
    return _chosen("comp.*", lambda name: name.startswith("comp."))


def two_groups() -> ClassSet:
    """Two of them."""
    return _chosen("comp.graphics, comp.windows.x", {"comp.graphics", "comp.windows.x"}.__contains__)


def _chosen(name: str, wanted: Any) -> ClassSet:
    whole = class_tasks.newsgroups20()
    rows = np.isin(whole.y, [k for k, c in enumerate(whole.classes) if wanted(str(c))])
    return class_tasks.class_set(name, whole.X[rows], whole.classes[whole.y[rows]])


def expectation_two_classes(report: Report) -> None:
    """Two groups of 20 Newsgroups, 20 labels."""
    _compare(report, two_groups(), 20)


def expectation_twenty_classes(report: Report) -> None:
    """20 Newsgroups, 100 labels."""
    _compare(report, class_tasks.newsgroups20(), 100)


def expectation_r8(report: Report) -> None:
    """Reuters R8, 40 labels: shares from 0.7 to 52 %."""
    _compare(report, class_tasks.reuters_r8(), 40, demand=False)


SECTIONS = (expectation_two_classes, expectation_twenty_classes, expectation_r8)


# ------------------------------------------------------------------ helpers
def _compare(report: Report, data: ClassSet, n_labels: int, demand: bool = True) -> None:
    """Rows of every method on the draws of a set; R8's small classes are shown and not judged by quality."""
    drawn = [class_tasks.draw(data, n_labels, seed) for seed in range(DRAWS)]
    where = f"{data.name}, {n_labels} labels"
    annealing = [_fitted(task) for task in drawn]
    supervised = [_fitted(task, unlabeled_weight=0.0) for task in drawn]
    for name, found in (("annealing", annealing), ("supervised", supervised)):
        report.fact(f"{where}: {name}, macro F", _mean(found), note=_draws(found), values=[o.macro_f for o in found])
    for method, longest in TIME.items():
        found = [_fitted(task, method=method) for task in drawn]
        least = _mean(annealing) - BEHIND if method == "entropy" else _mean(supervised)
        what, values = f"{where}: {method}, macro F", [o.macro_f for o in found]
        if demand:
            report.at_least(what, _mean(found), least, note=_draws(found), values=values)
        else:
            report.fact(what, _mean(found), note=_draws(found), values=values)
        if method != "posterior":
            off = [_residual(task, o) for task, o in zip(drawn, found, strict=True)]
            report.at_most(f"{where}: {method}, mean probability from prior", max(off), RESIDUAL, values=off)
        ratio = sum(o.seconds for o in found) / sum(o.seconds for o in annealing)
        report.at_most(f"{where}: {method}, time / annealing's", ratio, longest)


def _fitted(task: ClassTask, **settings: Any) -> ClassOutcome:
    """On one thread: times of the methods themselves."""
    return learners.maxent(task, n_jobs=1, **settings)


def _residual(task: ClassTask, found: ClassOutcome) -> float:
    """The largest distance of a mean probability from its share, from the decisions alone."""
    scores = found.estimator.decision_function(task.X[task.unlabeled])
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return float(np.max(np.abs((p / p.sum(axis=1, keepdims=True)).mean(axis=0) - task.shares)))


def _mean(found: list[ClassOutcome]) -> float:
    return float(np.mean([o.macro_f for o in found]))


def _draws(found: list[ClassOutcome]) -> str:
    passes = np.median([o.estimator.history_["n_passes"][-1] for o in found])
    return ", ".join(f"{o.macro_f:.3f}" for o in found) + f"; {passes:.0f} passes"
