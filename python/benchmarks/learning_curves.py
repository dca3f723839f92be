"""Learning curves as in Keerthi, Sundararajan and Shevade 2012: macro F against the number of labels, set by set.

Labels double from 40 to about half of the training rows; the learner is given the class shares of the unlabeled rows. A
point has the standard error of its mean over the draws. Draws have other labels and, where no test was published, other
training rows; within a draw more labels contain the fewer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks import corpora, learners, tasks
from benchmarks.learners import Outcome
from benchmarks.report import Report, standard_error
from benchmarks.tasks import DataSet, Task

FEWEST = 40
HALF = 0.55  # of the training rows get labels at most, "about half"
DRAWS = 3
PREFIX = "curve, "
SUPERVISED, MOVED = "supervised", "supervised, thresholds moved"
BESIDE = " - "
METHODS = ("annealing", "switching")


def label_numbers(n_train: int, n_classes: int) -> list[int]:
    """40, 80, 160, ... to about half of the training rows, without those too few for one label a class."""
    highest = min(int(HALF * n_train), n_train - n_classes)
    numbers = [FEWEST * 2**k for k in range(30)]
    return [n for n in numbers if n_classes <= n <= highest]


def measure(report: Report, data: DataSet, draws: int = DRAWS) -> None:
    """The curves of a data set, a table row a point, and what transductive learning must not fall below."""
    whole = [tasks.draw(data, len(data.classes), seed) for seed in range(draws)]
    full = np.array([learners.all_labels(task).macro_f for task in whole])
    n_train = len(whole[0].y)
    report.fact(f"{PREFIX}{data.name}: all {n_train:,} labels, macro F", full.mean(), note=str(data), values=full)
    for n in label_numbers(n_train, len(data.classes)):
        found = [_outcomes(tasks.draw(data, n, seed)) for seed in range(draws)]
        point = {name: np.array([outcomes[name].macro_f for outcomes in found]) for name in found[0]}
        _rows(report, f"{PREFIX}{data.name}, {n} labels", point)


def _outcomes(task: Task) -> dict[str, Outcome]:
    supervised = learners.our_supervised(task)
    return {
        SUPERVISED: supervised,
        MOVED: learners.moved_thresholds(task, plain=supervised),
        **{method: learners.transductive(task, method=method) for method in METHODS},
    }


def _rows(report: Report, what: str, point: dict[str, np.ndarray]) -> None:
    """The points of one number of labels. What is demanded allows one standard error of the difference of two means;
    the note has the mean and the standard error of the differences within the draws."""
    for name, values in point.items():
        report.fact(f"{what}: {name}, macro F", values.mean(), f" ± {standard_error(values):.4f}", values=values)
    for baseline in (SUPERVISED, MOVED):
        for method in METHODS:
            differences = point[method] - point[baseline]
            error = float(np.hypot(standard_error(point[method]), standard_error(point[baseline])))
            note = f"within the draws ± {standard_error(differences):.4f}"
            report.at_least(f"{what}: {method}{BESIDE}{baseline}", differences.mean(), -error, "", note, differences)


def points_below(report: Report) -> None:
    """The list of the points at which unlabeled rows did harm, beside supervised learning as it is and with thresholds
    moved to the class shares, which the transductive learner is given as well."""
    points = [row for row in report.rows if row.what.startswith(PREFIX) and BESIDE in row.what]
    for baseline in (SUPERVISED, MOVED):
        rows = [row for row in points if row.what.endswith(BESIDE + baseline)]
        below = [row.what.removeprefix(PREFIX).removesuffix(BESIDE + baseline) for row in rows if not row.ok]
        note = f"of {len(rows)}: " + ("; ".join(below) or "none")
        report.fact(f"learning curves: points below {baseline}", len(below), note=note)


# ------------------------------------------------------------------ sections
def section(name: str) -> Callable[..., None]:
    """The curves of a set of `corpora.SETS` as a section of the benchmarks."""

    def curves(report: Report, draws: int = DRAWS) -> None:
        measure(report, corpora.SETS[name](), draws)

    curves.__name__ = f"curve_{name}"
    return curves


SECTIONS = (*(section(name) for name in corpora.SETS), points_below)
