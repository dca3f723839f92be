"""Never worse: cases where unlabeled rows cost more than a point of macro F, and whether the fit warned.

    FEWLABEL_DATA=... python -m benchmarks.never_worse [--sets wap,mnist] [--draws 3] [--most 640] [--methods annealing]
                                                       [--first 2]

The classifier estimates the class prior; label counts are those of the learning curves. A draw in which a class has too
few labels for the estimate counts as told, not as harm. A case of harm is shown beside the same fit that was told the
true shares: whether the estimate or the unlabeled rows did it. And beside what chance does to a test of so many rows:
the standard deviation of the difference if a fair coin said for each row which of the two answers is whose.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from benchmarks import class_learners as learners
from benchmarks import class_tasks, learning_curves, program
from benchmarks.class_learners import ClassOutcome
from benchmarks.class_tasks import ClassTask
from benchmarks.report import Report

POINT = 0.01  # of macro F
METHODS = ("annealing", "switching")
SHORT = {"sets": ("k1b", "reuters_r8"), "draws": (0,), "most": 640, "methods": ("annealing",)}
COINS = 200  # times that coins are thrown for the answers to a test
SIGNS = ("unlabeled rows appear to hurt", "unlabeled rows do not appear to help")


def search(report: Report, sets: Sequence[str], draws: Sequence[int], most: int | None, methods: Sequence[str]) -> None:
    """A row for each case of harm, and their number; `draws` are their seeds."""
    harmed, false_alarms, told, n_cases = 0, 0, 0, 0
    silent: list[bool] = []  # for each case without a warning: more than chance does to the test
    for name in sets:
        data = class_tasks.SETS[name]()
        n_train = len(class_tasks.draw(data, len(data.classes), 0).y)
        for n in learning_curves.label_numbers(n_train, len(data.classes), most):
            for seed in draws:
                task = class_tasks.draw(data, n, seed)
                plain = learners.our_supervised(task)
                for method in methods:
                    found = _fitted(task, method)
                    if found is None:
                        told += 1
                        continue
                    ours, warned = found
                    n_cases += 1
                    gain = ours.macro_f - plain.macro_f
                    if gain >= -POINT:
                        false_alarms += warned
                        continue
                    harmed += 1
                    what, chance = f"{task.name}, {method}", by_chance(task, plain, ours)
                    silent += [gain < -2 * chance] * (not warned)
                    right = learners.transductive(task, method=method).macro_f - plain.macro_f
                    note = f"{'the fit warned' if warned else 'no warning'}; told the true shares {right:+.4f}"
                    note += f"; by chance ± {chance:.4f}"
                    report.fact(f"harm: {what}, macro F - supervised", gain, note=note)
    note = f"of {n_cases}; {harmed} cases of harm; {false_alarms} warnings without; {told} draws with too few labels"
    report.at_most("never worse: cases of harm without a warning", len(silent), 0, note=note)
    report.fact("never worse: of these beyond two standard deviations of the test", sum(silent))


def by_chance(task: ClassTask, plain: ClassOutcome, ours: ClassOutcome) -> float:
    """Standard deviation of the difference in macro F if a fair coin said for each test row which answer is whose."""
    before, after = (np.searchsorted(task.classes, outcome.estimator.predict(task.X_test)) for outcome in (plain, ours))
    numbers, rng = np.arange(len(task.classes)), np.random.default_rng(0)

    def macro_f(answers: np.ndarray) -> float:
        return float(f1_score(task.y_test, answers, labels=numbers, average="macro", zero_division=0))

    gains = []
    for _ in range(COINS):
        coin = rng.random(len(before)) < 0.5
        gains.append(macro_f(np.where(coin, before, after)) - macro_f(np.where(coin, after, before)))
    return float(np.sqrt(np.mean(np.square(gains))))


def _fitted(task: ClassTask, method: str) -> tuple[ClassOutcome, bool] | None:
    """The outcome and whether the fit warned; None: it refused to estimate."""
    from fewlabel import TransductiveSVC

    settings: dict[str, Any] = {"alpha": learners.ALPHA, "class_prior": "estimate", "method": method}
    model = TransductiveSVC(hierarchy=task.hierarchy, **settings)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(task.X, task.marked)
        except ValueError as refusal:
            if "cannot be estimated" not in str(refusal):
                raise
            return None
    warned = any(sign in str(w.message) for w in caught for sign in SIGNS)
    return learners.outcome(task, model, time.perf_counter() - start), warned


# ------------------------------------------------------------------ sections
def never_worse(report: Report) -> None:
    """The short form."""
    search(report, **SHORT)


SECTIONS = (never_worse,)


def main(arguments: list[str] | None = None) -> int:
    """The long form."""
    parser = argparse.ArgumentParser(prog="benchmarks.never_worse", description=__doc__.splitlines()[0])
    known = ", ".join(class_tasks.SETS)
    parser.add_argument("--sets", help=f"with commas between them, of {known}", default=",".join(class_tasks.SETS))
    parser.add_argument("--draws", help="draws of labels", type=int, default=learning_curves.DRAWS)
    parser.add_argument("--first", help="the first draw", type=int, default=0)
    parser.add_argument("--most", help="largest number of labels", type=int)
    parser.add_argument("--methods", help="with commas between them", default=",".join(METHODS))
    parser.add_argument("--output", help="folder for the table", type=Path, default=program.RESULTS)
    chosen = parser.parse_args(arguments)
    sets = chosen.sets.split(",")
    for name in sets:
        if name not in class_tasks.SETS:
            parser.error(f"unknown set {name!r}: choose from {known}")

    def never_worse(report: Report) -> None:
        draws = range(chosen.first, chosen.first + chosen.draws)
        search(report, sets, draws, chosen.most, chosen.methods.split(","))

    return program.execute([never_worse], "never-worse", chosen.output)


if __name__ == "__main__":
    sys.exit(main())
