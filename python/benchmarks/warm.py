"""Warm start: after 20 more labels, a fit that goes on from the model before them against one from nothing.

Passes, time and objective as ratios inside one draw. Minima with hard labels differ from draw to draw, so that the
objective is judged by the mean over draws, and the worst draw is told.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks import class_tasks, corpora
from benchmarks.class_quality import PER_CLASS
from benchmarks.learners import ALPHA
from benchmarks.report import Report

ADDED = 20
THIRD = 1 / 3


class Refit(NamedTuple):
    """One draw: what the warm fit took and found, as a part of the fresh one."""

    passes: float
    seconds: float
    objective: float  # relative distance above the fresh one's
    errors: tuple[float, float]  # percent on the test: fresh, warm


def refit(make: Callable[[], Any], X: sp.csr_matrix, y: np.ndarray, more: np.ndarray, test: tuple[Any, Any]) -> Refit:
    """Fit with labels y, then with `more`: from nothing, and from the first fit."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", UserWarning)
        warm, fresh = make().set_params(warm_start=True).fit(X, y), make()
        seconds = []
        for model in (fresh, warm):
            start = time.perf_counter()
            model.fit(X, more)
            seconds.append(time.perf_counter() - start)
    errors = tuple(100 * float(np.mean(m.predict(test[0]) != test[1])) for m in (fresh, warm))
    passes = [m.history_["n_passes"][-1] for m in (fresh, warm)]
    return Refit(passes[1] / passes[0], seconds[1] / seconds[0], warm.objective_ / fresh.objective_ - 1, errors)


def with_more(given: np.ndarray, truth: np.ndarray, unlabeled: np.ndarray, seed: int) -> np.ndarray:
    """The labels with those of ADDED further rows, drawn at random."""
    more = given.copy()
    drawn = np.random.default_rng(100 + seed).choice(np.flatnonzero(unlabeled), ADDED, replace=False)
    more[drawn] = truth[drawn]
    return more


def rows(report: Report, what: str, draws: list[Refit], bounded: bool) -> None:
    """The rows of one task and method."""
    fresh, warm = np.mean([d.errors for d in draws], axis=0)
    values = {"passes": [d.passes for d in draws], "time": [d.seconds for d in draws]}
    for name, ratios in values.items():
        ratio, title = float(np.median(ratios)), f"warm, {what}: {name}, warm / fresh"
        if bounded:
            report.at_most(title, ratio, THIRD, "", f"{len(draws)} draws", ratios)
        else:
            report.fact(title, ratio, note=f"{len(draws)} draws", values=ratios)
    above = [d.objective for d in draws]
    title, mean = f"warm, {what}: objective above the fresh one, mean", float(np.mean(above))
    note = f"worst draw {max(above):+.4f}, best {min(above):+.4f}; test error {fresh:.2f} % fresh, {warm:.2f} % warm"
    if bounded:
        report.at_most(title, mean, 0.0, "", note, above)
    else:
        report.fact(title, mean, note=note, values=above)


def warm_comp(report: Report, n_draws: int = 10) -> None:
    """comp.* of 20 Newsgroups, two classes, 45 labels and 20 more; with the share told and with that of the labels."""
    from fewlabel import TransductiveSVC

    for method, prior in (("annealing", "told"), ("annealing", "of the labels"), ("switching", "told")):
        draws = []
        for seed in range(n_draws):
            task = corpora.comp(seed)
            told = task.class_prior if prior == "told" else "labels"
            more = with_more(task.given, task.y, task.unlabeled, seed)
            draws.append(
                refit(
                    lambda m=method, p=told: TransductiveSVC(method=m, alpha=ALPHA, class_prior=p, n_jobs=1),
                    task.X,
                    task.given,
                    more,
                    task.test(),
                )
            )
        rows(report, f"comp.*, {method}, share {prior}", draws, method == "annealing" and prior == "told")


def warm_newsgroups(report: Report, n_draws: int = 3) -> None:
    """All 20 groups, as classes and as a tree; both estimators."""
    from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC

    usual = {"unlabeled": class_tasks.MARKER, "calibrate": False, "n_jobs": 1}
    for name, make, settings in (
        ("squared hinge", TransductiveSVC, {}),
        ("squared hinge, tree", TransductiveSVC, {"hierarchy": "."}),
        ("maxent", SemiSupervisedLogisticRegression, {}),
    ):
        draws = []
        for seed in range(n_draws):
            task = class_tasks.half_unlabeled(class_tasks.newsgroups20(), PER_CLASS, seed)
            more = with_more(task.marked, task.named, task.unlabeled, seed)
            draws.append(
                refit(
                    lambda make=make, s=usual | settings | {"class_prior": task.class_prior}: make(**s),
                    task.X,
                    task.marked,
                    more,
                    (task.X_test, task.classes[task.y_test]),
                )
            )
        rows(report, f"20 groups, annealing, {name}", draws, bounded=True)


SECTIONS = (warm_comp, warm_newsgroups)
