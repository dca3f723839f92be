"""What a number of labels is worth: accuracy on unseen messages of 20 Newsgroups, with and without the unlabeled rows.

A quarter of the messages is held out; of the others a few have labels. "shares given" is given the class shares of the
unlabeled rows, "default" finds them. Both have the default strength of regularization. The learners that see labeled
rows only have that of `ALPHAS` that suits them best on the test, so that they are not made worse than they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from benchmarks import corpora, learners, tasks
from benchmarks.report import Report
from benchmarks.tasks import Task

DRAWS = 2
PREFIX = "accuracy, "
ALPHAS = (1e-5, 1e-4, 1e-3, 1e-2)


def two(n_labels: int, seed: int) -> Task:
    """Is a message about computers? Labels drawn at random."""
    return corpora.comp(seed, n_labels)


def twenty(n_labels: int, seed: int) -> Task:
    """Which of the twenty groups is it from? At least one label of each, the others drawn at random."""
    return tasks.draw(corpora.newsgroups20(), n_labels, seed)


QUESTIONS: dict[str, tuple[Callable[[int, int], Task], tuple[int, ...]]] = {
    "computers or not": (two, (40, 80, 160, 320, 640, 1280, 2560, 5120)),
    "which of 20 groups": (twenty, (40, 80, 160, 320, 640, 1280)),
}


def few_labels(report: Report, draws: int = DRAWS) -> None:
    """The accuracies of both questions, and those of a support vector machine that is given every label."""
    for question, (draw, labels) in QUESTIONS.items():
        drawn = [draw(labels[0], seed) for seed in range(draws)]
        every = best([supervised(replace(task, given=task.y)) for task in drawn])
        report.fact(f"{PREFIX}{question}, all labels", np.mean(every), " %", values=every)
        curve = {"labels": labels, "accuracy": [float(np.mean(every))] * len(labels)}
        report.keep(PREFIX + question, "all labels", curve)
        points: dict[str, list[float]] = {}
        for n in labels:
            drawn = [draw(n, seed) for seed in range(draws)]
            found = {
                "labels only": best([supervised(task) for task in drawn]),
                "shares given": [transductive(task, class_prior=task.class_prior) for task in drawn],
                "default": [transductive(task) for task in drawn],
            }
            for learner, values in found.items():
                points.setdefault(learner, []).append(float(np.mean(values)))
                report.fact(f"{PREFIX}{question}, {n} labels, {learner}", np.mean(values), " %", values=values)
        for learner, means in points.items():
            report.keep(PREFIX + question, learner, {"labels": labels, "accuracy": means})


def supervised(task: Task) -> list[float]:
    """Accuracy in percent of LinearSVC on the labeled rows, for each of `ALPHAS`."""
    return [100 - learners.supervised(task, alpha).error for alpha in ALPHAS]


def best(of_draws: list[list[float]]) -> list[float]:
    """The accuracy of each draw at the strength that is best on the mean of the draws."""
    values = np.array(of_draws)  # (draws, ALPHAS)
    return values[:, values.mean(axis=0).argmax()].tolist()


def transductive(task: Task, **settings: object) -> float:
    """Accuracy in percent of TransductiveSVC, its defaults apart from the settings."""
    from fewlabel import TransductiveSVC

    return 100 - learners.fitted(task, TransductiveSVC, settings).error


SECTIONS = (few_labels,)
