"""Learning curves as in Keerthi, Sundararajan and Shevade 2012: macro F against the number of labels, set by set.

    FEWLABEL_DATA=... python -m benchmarks.learning_curves [--sets wap,mnist] [--draws 3] [--most 640]

Labels double from 40 to about half of the training rows; the learner is told the class shares of the unlabeled rows. A
point has the standard error of its mean over the draws. Draws have other labels and, where no test was published, other
training rows; within a draw more labels contain the fewer.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks import class_learners as learners
from benchmarks import class_tasks, program
from benchmarks.class_learners import ClassOutcome
from benchmarks.class_tasks import ClassSet, ClassTask
from benchmarks.report import Report

FEWEST = 40
HALF = 0.55  # of the training rows get labels at most, "about half"
DRAWS = 3
PREFIX = "curve, "
SUPERVISED, MOVED = "supervised", "supervised, thresholds moved"
BESIDE = " - "
TRANSDUCTIVE = ("annealing", "switching")

Section = Callable[[Report], None]


def label_numbers(n_train: int, n_classes: int, most: int | None = None) -> list[int]:
    """40, 80, 160, ... to about half of the training rows, without those too few for one label a class."""
    highest = min(int(HALF * n_train), n_train - n_classes, most or n_train)
    numbers, n = [], FEWEST
    while n <= highest:
        numbers += [n] * (n >= n_classes)
        n *= 2
    return numbers


def measure(report: Report, data: ClassSet, draws: int = DRAWS, most: int | None = None) -> None:
    """The curves of a data set, a table row a point, and what transductive learning must not fall below."""
    whole = [class_tasks.draw(data, len(data.classes), seed) for seed in range(draws)]
    told = np.array([learners.all_labels(task).macro_f for task in whole])
    n_train = len(whole[0].y)
    report.fact(f"{PREFIX}{data.name}: all {n_train:,} labels, macro F", told.mean(), note=str(data), values=told)
    numbers = label_numbers(n_train, len(data.classes), most)
    found: dict[str, list[np.ndarray]] = {}
    for n in numbers:
        point = _point([class_tasks.draw(data, n, seed) for seed in range(draws)])
        for name, values in point.items():
            found.setdefault(name, []).append(values)
        _rows(report, f"{PREFIX}{data.name}, {n} labels", point)
    for name, points in found.items():
        report.curve(data.name, name, _columns(numbers, points))
    report.curve(data.name, "all labels", _columns([n_train], [told]))


def _point(tasks: list[ClassTask]) -> dict[str, np.ndarray]:
    """Macro F (draws,) of each learner."""
    found: dict[str, list[float]] = {}
    for task in tasks:
        for name, outcome in _outcomes(task).items():
            found.setdefault(name, []).append(outcome.macro_f)
    return {name: np.array(values) for name, values in found.items()}


def _outcomes(task: ClassTask) -> dict[str, ClassOutcome]:
    supervised = learners.our_supervised(task)
    return {
        SUPERVISED: supervised,
        MOVED: learners.moved_thresholds(task, supervised),
        **{method: learners.transductive(task, method=method) for method in TRANSDUCTIVE},
    }


def _columns(numbers: list[int], points: list[np.ndarray]) -> dict[str, list[float]]:
    mean, error = [float(p.mean()) for p in points], [standard_error(p) for p in points]
    return {"labels": [float(n) for n in numbers], "macro F": mean, "standard error": error}


def standard_error(values: np.ndarray) -> float:
    """Of the mean; 0 for a single value, of which nothing is known."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _rows(report: Report, what: str, point: dict[str, np.ndarray]) -> None:
    """The points of one number of labels. What is demanded allows one standard error of the difference of two means;
    the note has the mean and the standard error of the differences within the draws."""
    for name, values in point.items():
        report.fact(f"{what}: {name}, macro F", values.mean(), f" ± {standard_error(values):.4f}", values=values)
    for baseline in (SUPERVISED, MOVED):
        for method in TRANSDUCTIVE:
            differences = point[method] - point[baseline]
            error = float(np.hypot(standard_error(point[method]), standard_error(point[baseline])))
            note = f"within the draws ± {standard_error(differences):.4f}"
            report.at_least(f"{what}: {method}{BESIDE}{baseline}", differences.mean(), -error, "", note, differences)


def points_below(report: Report) -> None:
    """The list of the points at which unlabeled rows did harm, beside supervised learning as it is and with thresholds
    moved to the class shares, which the transductive learner is told as well."""
    points = [row for row in report.rows if row.what.startswith(PREFIX) and BESIDE in row.what]
    for baseline in (SUPERVISED, MOVED):
        rows = [row for row in points if row.what.endswith(BESIDE + baseline)]
        below = [row.what.removeprefix(PREFIX).removesuffix(BESIDE + baseline) for row in rows if not row.ok]
        note = f"of {len(rows)}: " + ("; ".join(below) or "none")
        report.fact(f"learning curves: points below {baseline}", len(below), note=note)


# ------------------------------------------------------------------ sections
def section(name: str, draws: int = DRAWS, most: int | None = None) -> Section:
    """The curves of a set of `class_tasks.SETS` as a section of the benchmarks."""

    def curves(report: Report) -> None:
        measure(report, class_tasks.SETS[name](), draws, most)

    curves.__name__ = f"curve_{name}"
    return curves


SECTIONS: tuple[Section, ...] = (*(section(name) for name in class_tasks.SETS), points_below)


def main(arguments: list[str] | None = None) -> int:
    """The program."""
    parser = argparse.ArgumentParser(prog="benchmarks.learning_curves", description=__doc__.splitlines()[0])
    known = ", ".join(class_tasks.SETS)
    parser.add_argument("--sets", help=f"with commas between them, of {known}", default=",".join(class_tasks.SETS))
    parser.add_argument("--draws", help=f"draws of labels, {DRAWS} as a rule", type=int, default=DRAWS)
    parser.add_argument("--most", help="largest number of labels", type=int)
    parser.add_argument("--output", help="folder for table and picture", type=Path, default=program.RESULTS)
    chosen = parser.parse_args(arguments)
    sets = chosen.sets.split(",")
    for name in sets:
        if name not in class_tasks.SETS:
            parser.error(f"unknown set {name!r}: choose from {known}")
    if chosen.draws < 1:
        parser.error("--draws must be at least 1")
    return program.execute(
        [*(section(name, chosen.draws, chosen.most) for name in sets), points_below], "curves", chosen.output
    )


if __name__ == "__main__":
    sys.exit(main())
