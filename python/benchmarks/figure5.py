"""Figure 5 of Keerthi, Sundararajan & Shevade 2012: ways to learn from unlabeled rows, two classes, 16 to 512 labels.

    FEWLABEL_DATA=... python -m benchmarks.figure5 [--sets gcat,comp] [--draws 3] [--most 512]

RCV1 GCAT and the groups comp.* of 20 Newsgroups, each against the rest; F is that of the first class, GCAT or comp.*.
All methods are those of SemiSupervisedLogisticRegression, told the class shares of the unlabeled rows. The supervised
one is not, as in the paper; so it stands there once more, with its threshold moved until it predicts them. Draws have
other rows, other tests and other labels; within a draw more labels contain the fewer.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from benchmarks import class_learners as learners
from benchmarks import class_tasks, program
from benchmarks.class_tasks import ClassSet, ClassTask
from benchmarks.corpora import cached, loader
from benchmarks.learning_curves import standard_error
from benchmarks.report import Report

LABELS = tuple(16 * 2**k for k in range(6))
DRAWS = 3
FIRST_DRAW = 10  # other draws than those on which anything was tried
MOST_ROWS = 16_000  # of a set, a quarter of them the test
REST = "rest"
MEASURE = "F of the first class"
SUPERVISED, MOVED = "supervised", "supervised, threshold moved"
UPPER, LOWER = ("entropy", "annealing"), ("expectation", "posterior")
METHODS = (SUPERVISED, MOVED, *LOWER, *UPPER)
WELL = 0.02  # "well above", F, mean over the label counts


def gcat() -> ClassSet:
    """RCV1 GCAT (government and social affairs) against the rest; documents that occur twice are taken once."""
    X, y = cached("gcat-once", lambda: loader().rcv1_binary("GCAT"))
    return class_tasks.class_set("RCV1 GCAT", X, np.where(y > 0, "GCAT", REST))


def comp() -> ClassSet:
    """20 Newsgroups, comp.* against the rest."""
    whole = class_tasks.newsgroups20()
    first = np.char.startswith(whole.classes.astype(str), "comp.")
    return class_tasks.class_set("20 Newsgroups comp.*", whole.X, np.where(first[whole.y], "comp.*", REST))


SETS: dict[str, Callable[[], ClassSet]] = {make.__name__: make for make in (gcat, comp)}


def measure(report: Report, data: ClassSet, draws: int = DRAWS, most: int | None = None) -> None:
    """The points of a set, a table row each, then the order of the methods."""
    seeds = range(FIRST_DRAW, FIRST_DRAW + draws)
    parts = [_some_rows(data, seed) for seed in seeds]
    numbers = [n for n in LABELS if most is None or n <= most]
    whole = [class_tasks.draw(part, numbers[0], seed) for part, seed in zip(parts, seeds, strict=True)]
    told = np.array([first_f(task, _all_labels(task)) for task in whole])
    report.fact(f"{data.name}: all {len(whole[0].y):,} labels, {MEASURE}", told.mean(), note=str(data), values=told)
    points: dict[str, list[np.ndarray]] = {}
    for n in numbers:
        tasks = [class_tasks.draw(part, n, seed) for part, seed in zip(parts, seeds, strict=True)]
        for method in METHODS:
            values = np.array([first_f(task, learned(task, method)) for task in tasks])
            points.setdefault(method, []).append(values)
            unit = f" ± {standard_error(values):.4f}"
            report.fact(f"{data.name}, {n} labels: {method}, {MEASURE}", values.mean(), unit, values=values)
    for method, found in points.items():
        report.curve(data.name, method, _columns(numbers, found))
    report.curve(data.name, "all labels", _columns([len(whole[0].y)], [told]))
    _order(report, data.name, points)


def learned(task: ClassTask, method: str) -> Any:
    """The estimator of a method, or the supervised one; probabilities are not asked for and not calibrated."""
    plain = method in (SUPERVISED, MOVED)
    how = {"unlabeled_weight": 0.0} if plain else {"method": method}
    fitted = learners.maxent(task, n_jobs=1, **how).estimator
    if method == MOVED:
        scores = fitted.decision_function(task.X[task.unlabeled])
        fitted.intercept_ = fitted.intercept_ - np.quantile(scores, task.shares[0])
    return fitted


def first_f(task: ClassTask, fitted: Any) -> float:
    """F of the first class on the test."""
    first = next(name for name in task.classes if name != REST)
    return float(f1_score(task.classes[task.y_test] == first, fitted.predict(task.X_test) == first))


def _all_labels(task: ClassTask) -> Any:
    from fewlabel import SemiSupervisedLogisticRegression

    estimator = SemiSupervisedLogisticRegression(alpha=learners.ALPHA_MAXENT, unlabeled=None)
    return learners.quietly(estimator, task.X, task.named)


def _some_rows(data: ClassSet, seed: int) -> ClassSet:
    """A draw of the rows, if there are more than enough."""
    if len(data.y) <= MOST_ROWS:
        return data
    kept = np.sort(np.random.default_rng((seed, 5)).choice(len(data.y), MOST_ROWS, replace=False))
    return class_tasks.class_set(data.name, data.X[kept], data.classes[data.y[kept]])


def _columns(numbers: Iterable[int], points: list[np.ndarray]) -> dict[str, list[float]]:
    mean, error = [float(p.mean()) for p in points], [standard_error(p) for p in points]
    return {"labels": [float(n) for n in numbers], MEASURE: mean, "standard error": error}


def _order(report: Report, name: str, points: dict[str, list[np.ndarray]]) -> None:
    """The order that the paper reports, by the mean over draws and label counts."""
    means = {method: float(np.mean(found)) for method, found in points.items()}
    beside = max(LOWER, key=means.__getitem__)
    for method in UPPER:
        note = f"{means[method]:.3f}; {beside} {means[beside]:.3f}; mean over the label counts"
        report.at_least(
            f"{name}: {method} - better of {' and '.join(LOWER)}", means[method] - means[beside], WELL, note=note
        )
    for method in LOWER:
        note = f"{means[method]:.3f}; supervised {means[SUPERVISED]:.3f}; mean over the label counts"
        report.at_least(f"{name}: {method} - supervised", means[method] - means[SUPERVISED], 0.0, note=note)
    for method in (*LOWER, *UPPER):
        note = f"{means[method]:.3f}; {MOVED} {means[MOVED]:.3f}; mean over the label counts"
        report.fact(f"{name}: {method} - {MOVED}", means[method] - means[MOVED], note=note)


# ------------------------------------------------------------------ sections
def figure5_gcat(report: Report) -> None:
    """RCV1 GCAT."""
    measure(report, gcat())


def figure5_comp(report: Report) -> None:
    """20 Newsgroups comp.*"""
    measure(report, comp())


SECTIONS = (figure5_gcat, figure5_comp)


def main(arguments: list[str] | None = None) -> int:
    """The long form."""
    parser = argparse.ArgumentParser(prog="benchmarks.figure5", description=__doc__.splitlines()[0])
    known = ", ".join(SETS)
    parser.add_argument("--sets", help=f"with commas between them, of {known}", default=",".join(SETS))
    parser.add_argument("--draws", help="draws of rows and labels", type=int, default=DRAWS)
    parser.add_argument("--most", help="largest number of labels", type=int)
    parser.add_argument("--output", help="folder for table and picture", type=Path, default=program.RESULTS)
    chosen = parser.parse_args(arguments)
    sets = chosen.sets.split(",")
    for name in sets:
        if name not in SETS:
            parser.error(f"unknown set {name!r}: choose from {known}")

    def figure5(report: Report) -> None:
        for name in sets:
            measure(report, SETS[name](), chosen.draws, chosen.most)

    return program.execute([figure5], "figure5", chosen.output)


if __name__ == "__main__":
    sys.exit(main())
