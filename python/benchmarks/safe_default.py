"""A default that never quietly hurts: nothing told but the labels, whatever way the labeled rows were chosen.

    FEWLABEL_DATA=... python -m benchmarks.safe_default [--sets wap,fbis] [--draws 2] [--first 2]

Labeled are k rows of every class ("picked") or as many rows drawn at random ("drawn"). Macro F on the test, over all
classes: `LinearSVC` on the labeled rows, `TransductiveSVC()`, and the same given the true shares of the classes that
have labels. Times are ratios of fits of one task, one thread each. The settings were chosen on draws from 100 on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import class_learners as learners
from benchmarks import class_tasks, prior, program
from benchmarks.class_learners import ClassOutcome
from benchmarks.class_tasks import ClassSet, ClassTask
from benchmarks.corpora import mask_labels
from benchmarks.report import Report

LABELS = (5, 20, 80)  # of every class
TIMED = 20  # at which the time of the maxent loss is taken
WAYS = ("picked", "drawn")
DRAWS = 4
CHOSEN_ON = 100  # and above: draws on which settings were chosen; they prove nothing
LEAST_UNLABELED = 0.4  # of the training rows; cells with fewer are left out
BELOW = -0.01  # of macro F, a cell against supervised
GAIN = 0.80  # of the gain with true shares
TIME = {"TransductiveSVC": 1.5, "SemiSupervisedLogisticRegression": 2.5}  # ratios to a fit with the shares given
SHORT = {"sets": ("k1b",), "draws": (0,)}


def _ccat(seed: int) -> ClassSet:
    data = prior.rcv1("CCAT", seed)
    return ClassSet(f"{data.name} / rest", data.X, data.y, data.classes)


def _every(make: Callable[[], ClassSet]) -> Callable[[int], ClassSet]:
    return lambda seed: make()


_NAMES = ("k1b", "wap", "fbis", "reuters_r8", "ohsumed", "newsgroups20", "rcv1_subtree")
SETS = {name: _every(class_tasks.SETS[name]) for name in _NAMES} | {"ccat": _ccat}  # of the seed


class Draw(NamedTuple):
    """What was measured on one task; of the times the ratios to a fit with the shares given."""

    supervised: float
    default: float
    told: float
    time: float
    time_maxent: float | None


# ------------------------------------------------------------------ tasks
def few_labels(data: ClassSet, k: int, way: str, seed: int) -> ClassTask | None:
    """The task with k labels of every class, or of half of its rows, or with as many labels of rows drawn at random;
    the hierarchy is left out. None: too few rows would be unlabeled."""
    rng = np.random.default_rng((seed, k, way == "drawn"))
    test = class_tasks.held_out(data.y, np.random.default_rng((seed, 0))) if data.train is None else ~data.train
    X, y = data.X[~test], data.y[~test]
    labeled = np.concatenate([rows[: min(k, len(rows) // 2)] for rows in class_tasks.by_class(y, rng)])
    if way == "drawn":
        labeled = rng.permutation(len(y))[: len(labeled)]
    if len(labeled) > (1 - LEAST_UNLABELED) * len(y):
        return None
    name = f"{data.name}, {k} a class, {way} #{seed}"
    return ClassTask(name, X, y, mask_labels(y, labeled), data.classes, data.X[test], data.y[test])


def told_shares(task: ClassTask) -> dict[str, float]:
    """The true shares of the classes that have labels; together 1."""
    shares = {name: task.class_prior[name] for name in np.unique(task.named[~task.unlabeled]).tolist()}
    total = sum(shares.values())
    return {name: share / total for name, share in shares.items()}


def measured(task: ClassTask, with_maxent: bool) -> Draw:
    """The fits of one task."""
    from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC

    def fit(kind: type, **settings: object) -> ClassOutcome:
        return learners.fitted(task, kind, {"n_jobs": 1} | settings)

    shares = told_shares(task)
    told, default = fit(TransductiveSVC, class_prior=shares), fit(TransductiveSVC)
    ratio = None
    if with_maxent:
        plain = fit(SemiSupervisedLogisticRegression, class_prior=shares, calibrate=False)
        ratio = fit(SemiSupervisedLogisticRegression).seconds / plain.seconds
    supervised = learners.supervised(task).macro_f
    return Draw(supervised, default.macro_f, told.macro_f, default.seconds / told.seconds, ratio)


# ------------------------------------------------------------------ report
def measure(report: Report, sets: Sequence[str], draws: Sequence[int]) -> None:
    """A row for each cell, and what they come to; `draws` are their seeds."""
    cells: dict[str, list[Draw]] = {}
    for name in sets:
        drawn = [SETS[name](seed) for seed in draws]
        for k in LABELS:
            for way in WAYS:
                tasks = [few_labels(data, k, way, seed) for data, seed in zip(drawn, draws, strict=True)]
                found = [measured(task, k == TIMED) for task in tasks if task is not None]
                if found:
                    what = f"{drawn[0].name}, {k} a class, {way}"
                    cells[what] = found
                    _row(report, what, found)
    _verdicts(report, cells)


def _row(report: Report, what: str, found: list[Draw]) -> None:
    gains = [draw.default - draw.supervised for draw in found]
    gain_told = np.mean([draw.told - draw.supervised for draw in found])
    F = np.mean([draw[:3] for draw in found], axis=0)
    note = f"{F[0]:.3f}, default {F[1]:.3f}, true shares {F[2]:.3f} ({gain_told:+.3f}); {_times(found)}"
    report.fact(f"{what}: default - supervised", float(np.mean(gains)), note=note, values=gains)


def _times(found: list[Draw]) -> str:
    maxent = [draw.time_maxent for draw in found if draw.time_maxent is not None]
    text = f"time {np.median([draw.time for draw in found]):.2f}"
    return text + (f", maxent {np.median(maxent):.2f}" if maxent else "")


def _verdicts(report: Report, cells: dict[str, list[Draw]]) -> None:
    gains = {what: float(np.mean([d.default - d.supervised for d in found])) for what, found in cells.items()}
    worst = min(gains, key=lambda what: gains[what])
    report.at_least("default - supervised, worst cell", gains[worst], BELOW, note=worst, values=gains.values())
    gain = np.mean(list(gains.values()))
    told = np.mean([np.mean([d.told - d.supervised for d in found]) for found in cells.values()])
    note = f"{gain:.4f} of {told:.4f}, {len(cells)} cells"
    report.at_least("gain of the default / with true shares", gain / told, GAIN, note=note)
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
def safe_default(report: Report) -> None:
    """The short form."""
    measure(report, **SHORT)


SECTIONS = (safe_default,)


def main(arguments: list[str] | None = None) -> int:
    """The long form."""
    parser = argparse.ArgumentParser(prog="benchmarks.safe_default", description=__doc__.splitlines()[0])
    known = ", ".join(SETS)
    parser.add_argument("--sets", help=f"with commas between them, of {known}", default=",".join(SETS))
    parser.add_argument("--draws", help="draws of labels", type=int, default=DRAWS)
    parser.add_argument("--first", help="the first draw", type=int, default=0)
    parser.add_argument("--output", help="folder for the table", type=Path, default=program.RESULTS)
    chosen = parser.parse_args(arguments)
    sets = chosen.sets.split(",")
    for name in sets:
        if name not in SETS:
            parser.error(f"unknown set {name!r}: choose from {known}")
    draws = range(chosen.first, chosen.first + chosen.draws)
    if not draws or draws[-1] >= CHOSEN_ON:
        parser.error(f"draws must be some of 0 to {CHOSEN_ON - 1}")

    def safe_default(report: Report) -> None:
        measure(report, sets, draws)

    return program.execute([safe_default], "safe-default", chosen.output)


if __name__ == "__main__":
    sys.exit(main())
