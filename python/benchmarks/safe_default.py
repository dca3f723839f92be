"""A default that never quietly hurts: nothing given but the labels, whatever way the labeled rows were chosen.

Labeled are k rows of every class ("picked") or as many rows drawn at random ("drawn"). Macro F on the test, over all
classes: `LinearSVC` on the labeled rows, `TransductiveSVC()`, and the same given the true shares of the classes that
have labels. Times are ratios of fits of one task, one thread each. The settings were chosen on draws from 100 on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from benchmarks import corpora, learners, prior, tasks
from benchmarks.learners import Outcome
from benchmarks.report import Report
from benchmarks.tasks import DataSet, Task

LABELS = (5, 20, 80)  # of every class
TIMED = 20  # at which the time of the maxent loss is taken
WAYS = ("picked", "drawn")
DRAWS = 4
LEAST_UNLABELED = 0.4  # of the training rows; cells with fewer are left out
BELOW = -0.01  # of macro F, a cell against supervised
GAIN = 0.80  # of the gain with true shares
TIME = {"TransductiveSVC": 1.5, "SemiSupervisedLogisticRegression": 2.5}  # ratios to a fit with the shares given
CELLS = "default"

_NAMES = ("k1b", "wap", "fbis", "reuters_r8", "ohsumed", "newsgroups20", "rcv1_subtree")
SETS: dict[str, Callable[[int], DataSet]] = {  # of the seed
    **{name: lambda seed, make=corpora.SETS[name]: make() for name in _NAMES},
    "ccat": lambda seed: prior.rcv1("CCAT", seed),
}


class Draw(NamedTuple):
    """What was measured on one task; of the times the ratios to a fit with the shares given."""

    supervised: float
    default: float
    given: float
    time: float
    time_maxent: float | None


# ------------------------------------------------------------------ tasks
def few_labels(data: DataSet, k: int, way: str, seed: int) -> Task | None:
    """The task with k labels of every class, or of half of its rows, or with as many labels of rows drawn at random;
    the hierarchy is left out. None: too few rows would be unlabeled."""
    rng = np.random.default_rng((seed, k, way == "drawn"))
    test = tasks.split(data, np.random.default_rng((seed, 0)))
    y = data.y[~test]
    labeled = np.concatenate([rows[: min(k, len(rows) // 2)] for rows in tasks.by_class(y, rng)])
    if way == "drawn":
        labeled = rng.permutation(len(y))[: len(labeled)]
    if len(labeled) > (1 - LEAST_UNLABELED) * len(y):
        return None
    return replace(tasks.task_of(data, f"{k} a class, {way} #{seed}", test, labeled), hierarchy=None)


def given_shares(task: Task) -> dict[str, float]:
    """The true shares of the classes that have labels; together 1."""
    shares = {name: task.class_prior[name] for name in np.unique(task.named[~task.unlabeled]).tolist()}
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}


def measured(task: Task, with_maxent: bool) -> Draw:
    """The fits of one task."""
    from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC

    def fit(kind: type, **settings: object) -> Outcome:
        return learners.fitted(task, kind, {"n_jobs": 1} | settings)

    shares = given_shares(task)
    given, default = fit(TransductiveSVC, class_prior=shares), fit(TransductiveSVC)
    ratio = None
    if with_maxent:
        plain = fit(SemiSupervisedLogisticRegression, class_prior=shares, calibrate=False)
        ratio = fit(SemiSupervisedLogisticRegression).seconds / plain.seconds
    supervised = learners.supervised(task).macro_f
    return Draw(supervised, default.macro_f, given.macro_f, default.seconds / given.seconds, ratio)


# ------------------------------------------------------------------ report
def measure(report: Report, name: str, draws: int = DRAWS) -> None:
    """A row for each cell of a set."""
    drawn = [SETS[name](seed) for seed in range(draws)]
    for k in LABELS:
        for way in WAYS:
            cell = [few_labels(data, k, way, seed) for seed, data in enumerate(drawn)]
            found = [measured(task, k == TIMED) for task in cell if task is not None]
            if found:
                row(report, f"{drawn[0].name}, {k} a class, {way}", found)


def row(report: Report, what: str, found: list[Draw]) -> None:
    """The row of a cell."""
    gains = [draw.default - draw.supervised for draw in found]
    gain_given = np.mean([draw.given - draw.supervised for draw in found])
    F = np.mean([draw[:3] for draw in found], axis=0)
    maxent = [draw.time_maxent for draw in found if draw.time_maxent is not None]
    note = f"{F[0]:.3f}, default {F[1]:.3f}, true shares {F[2]:.3f} ({gain_given:+.3f}); "
    note += f"time {np.median([draw.time for draw in found]):.2f}"
    note += f", maxent {np.median(maxent):.2f}" if maxent else ""
    report.fact(f"{what}: default - supervised", float(np.mean(gains)), note=note, values=gains)
    report.keep(CELLS, what, [draw._asdict() for draw in found])


def default_verdicts(report: Report) -> None:
    """What the cells measured come to."""
    cells = {what: [Draw(**draw) for draw in found] for what, found in report.data.get(CELLS, {}).items()}
    gains = {what: float(np.mean([d.default - d.supervised for d in found])) for what, found in cells.items()}
    worst = min(gains, key=lambda what: gains[what])
    report.at_least("default - supervised, worst cell", gains[worst], BELOW, note=worst, values=gains.values())
    gain = np.mean(list(gains.values()))
    given = np.mean([np.mean([d.given - d.supervised for d in found]) for found in cells.values()])
    note = f"{gain:.4f} of {given:.4f}, {len(cells)} cells"
    report.at_least("gain of the default / with true shares", gain / given, GAIN, note=note)
    times = {
        "TransductiveSVC": [np.median([d.time for d in found]) for found in cells.values()],
        "SemiSupervisedLogisticRegression": [
            np.median([d.time_maxent for d in found]) for found in cells.values() if found[0].time_maxent is not None
        ],
    }
    for kind, ratios in times.items():
        what = f"{kind}: time of the default / with the shares given"
        report.at_most(what, float(np.median(ratios)), TIME[kind], note=f"up to {max(ratios):.2f}", values=ratios)


# ------------------------------------------------------------------ sections
def section(name: str) -> Callable[..., None]:
    """The cells of a set as a section of the benchmarks."""

    def cells(report: Report, draws: int = DRAWS) -> None:
        measure(report, name, draws)

    cells.__name__ = f"default_{name}"
    return cells


SECTIONS = (*(section(name) for name in SETS), default_verdicts)
