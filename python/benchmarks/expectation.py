"""Learning from probabilities: the constraint at the solution, quality and time beside annealing.

All methods are those of SemiSupervisedLogisticRegression, given the true class shares where
nothing else is said. Times are ratios to annealing on the same task, in one run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import corpora, learners, tasks
from benchmarks.learners import Outcome
from benchmarks.report import Report
from benchmarks.tasks import DataSet, Task

DRAWS = 3
RESIDUAL = 1e-3
TIME = {"entropy": 3.0, "expectation": 2.0, "posterior": 2.0}  # largest ratios to annealing
BEHIND = 0.03  # macro F by which entropy may be behind annealing


def two_groups() -> DataSet:
    """Two groups of 20 Newsgroups."""
    whole, wanted = corpora.newsgroups20(), ["comp.graphics", "comp.windows.x"]
    names = whole.classes[whole.y]
    rows = np.isin(names, wanted)
    return tasks.data_set(", ".join(wanted), whole.X[rows], names[rows])


def expectation_two_classes(report: Report, draws: int = DRAWS) -> None:
    """Two groups of 20 Newsgroups, 20 labels."""
    _compare(report, two_groups(), 20, draws)


def expectation_twenty_classes(report: Report, draws: int = DRAWS) -> None:
    """20 Newsgroups, 100 labels."""
    _compare(report, corpora.newsgroups20(), 100, draws)


def expectation_r8(report: Report, draws: int = DRAWS) -> None:
    """Reuters R8, 40 labels: shares from 0.7 to 52 %."""
    _compare(report, corpora.reuters_r8(), 40, draws, demand=False)


SECTIONS = (expectation_two_classes, expectation_twenty_classes, expectation_r8)


# ------------------------------------------------------------------ helpers
def _compare(report: Report, data: DataSet, n_labels: int, draws: int, demand: bool = True) -> None:
    """Rows of every method on the draws of a set; R8's small classes are shown and not judged by quality."""
    drawn = [tasks.draw(data, n_labels, seed) for seed in range(draws)]
    where = f"{data.name}, {n_labels} labels"
    annealing = [_fitted(task) for task in drawn]
    supervised = [_fitted(task, unlabeled_weight=0.0) for task in drawn]
    for name, found in (("annealing", annealing), ("supervised", supervised)):
        report.fact(f"{where}: {name}, macro F", _mean(found), note=_draws(found), values=[o.macro_f for o in found])
    for method, longest in TIME.items():
        found = [_fitted(task, method=method) for task in drawn]
        least = _mean(annealing) - BEHIND if method == "entropy" else _mean(supervised)
        what, values = f"{where}: {method}, macro F", [o.macro_f for o in found]
        report.at_least(what, _mean(found), least if demand else None, note=_draws(found), values=values)
        if method != "posterior":
            off = [_residual(task, o) for task, o in zip(drawn, found, strict=True)]
            report.at_most(f"{where}: {method}, mean probability from prior", max(off), RESIDUAL, values=off)
        ratio = sum(o.seconds for o in found) / sum(o.seconds for o in annealing)
        report.at_most(f"{where}: {method}, time / annealing's", ratio, longest)


def _fitted(task: Task, **settings: Any) -> Outcome:
    """On one thread: times of the methods themselves."""
    return learners.maxent(task, n_jobs=1, **settings)


def _residual(task: Task, found: Outcome) -> float:
    """The largest distance of a mean probability from its share, from the decisions alone."""
    scores = found.estimator.decision_function(task.X[task.unlabeled])
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return float(np.max(np.abs((p / p.sum(axis=1, keepdims=True)).mean(axis=0) - task.shares)))


def _mean(found: list[Outcome]) -> float:
    return float(np.mean([o.macro_f for o in found]))


def _draws(found: list[Outcome]) -> str:
    passes = np.median([learners.passes(o) for o in found])
    return ", ".join(f"{o.macro_f:.3f}" for o in found) + f"; {passes:.0f} passes"
