"""Warm start: after 20 more labels, a fit that goes on from the model before them against one from nothing.

Passes, time and objective as ratios inside one draw. Minima with hard labels differ from draw to draw, so that the
objective is judged by the mean over draws, and the worst draw is shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import corpora, tasks
from benchmarks.learners import ALPHA, quietly
from benchmarks.quality import PER_CLASS
from benchmarks.report import Report
from benchmarks.tasks import Task

ADDED = 20
THIRD = 1 / 3


class Refit(NamedTuple):
    """One draw: what the warm fit took and found, as a part of the fresh one."""

    passes: float
    seconds: float
    objective: float  # relative distance above the fresh one's
    errors: tuple[float, float]  # percent on the test: fresh, warm


def refit(task: Task, make: Callable[[Task], Any], seed: int) -> Refit:
    """Fit the task with ADDED further labels, of rows drawn at random: from nothing, and from the fit without them."""
    drawn = np.random.default_rng(100 + seed).choice(np.flatnonzero(task.unlabeled), ADDED, replace=False)
    more = task.marked
    more[drawn] = task.named[drawn]
    X_test, y_test = task.test()
    with threadpool_limits(1):
        warm, fresh = quietly(make(task).set_params(warm_start=True), task.X, task.marked), make(task)
        seconds = []
        for model in (fresh, warm):
            start = time.perf_counter()
            quietly(model, task.X, more)
            seconds.append(time.perf_counter() - start)
    errors = tuple(100 * float(np.mean(m.predict(X_test) != task.classes[y_test])) for m in (fresh, warm))
    passes = [m.history_["n_passes"][-1] for m in (fresh, warm)]
    return Refit(passes[1] / passes[0], seconds[1] / seconds[0], warm.objective_ / fresh.objective_ - 1, errors)


def rows(report: Report, what: str, draws: list[Refit], bounded: bool) -> None:
    """The rows of one task and method."""
    above = [d.objective for d in draws]
    values = {"passes, warm / fresh": [d.passes for d in draws], "time, warm / fresh": [d.seconds for d in draws]}
    fresh, warm = np.mean([d.errors for d in draws], axis=0)
    note = f"worst draw {max(above):+.4f}, best {min(above):+.4f}; test error {fresh:.2f} % fresh, {warm:.2f} % warm"
    lines = [(name, float(np.median(ratios)), THIRD, f"{len(draws)} draws", ratios) for name, ratios in values.items()]
    lines.append(("objective above the fresh one, mean", float(np.mean(above)), 0.0, note, above))
    for name, value, bound, note, ratios in lines:
        report.at_most(f"warm, {what}: {name}", value, bound if bounded else None, "", note, ratios)


def warm_comp(report: Report, draws: int = 10) -> None:
    """comp.* of 20 Newsgroups, two classes, 45 labels and 20 more; with the share given and with that of the labels."""
    from fewlabel import TransductiveSVC

    for method, prior in (("annealing", "given"), ("annealing", "of the labels"), ("switching", "given")):

        def make(task: Task, method: str = method, prior: str = prior) -> Any:
            shares = task.class_prior if prior == "given" else "labels"
            return TransductiveSVC(method=method, alpha=ALPHA, class_prior=shares, n_jobs=1)

        found = [refit(corpora.comp(seed), make, seed) for seed in range(draws)]
        rows(report, f"comp.*, {method}, share {prior}", found, method == "annealing" and prior == "given")


def warm_newsgroups(report: Report, draws: int = 3) -> None:
    """All 20 groups, as classes and as a tree; both estimators."""
    from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC

    for name, kind, settings in (
        ("squared hinge", TransductiveSVC, {}),
        ("squared hinge, tree", TransductiveSVC, {"hierarchy": "."}),
        ("maxent", SemiSupervisedLogisticRegression, {}),
    ):

        def make(task: Task, kind: Any = kind, settings: dict = settings) -> Any:
            return kind(class_prior=task.class_prior, calibrate=False, n_jobs=1, **settings)

        found = [refit(tasks.half_unlabeled(corpora.newsgroups20(), PER_CLASS, k), make, k) for k in range(draws)]
        rows(report, f"20 groups, annealing, {name}", found, bounded=True)


SECTIONS = (warm_comp, warm_newsgroups)
