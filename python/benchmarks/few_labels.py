"""What a number of labels is worth: accuracy on unseen messages of 20 Newsgroups, with and without the unlabeled rows.

A quarter of the messages is held out; of the others a few have labels. "told the shares" knows the class shares of the
unlabeled rows, "shares of the labels" takes them from the labeled rows as `class_prior="labels"` does. Both have the
default strength of regularization. The learners that see labeled rows only have that of `ALPHAS` that suits them best
on the test, so that they are not made worse than they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import class_tasks, corpora
from benchmarks.learners import ALPHA, linear_svc
from benchmarks.report import Report

DRAWS = 2
PREFIX = "accuracy, "
ALPHAS = (1e-5, 1e-4, 1e-3, 1e-2)

Drawn = tuple[sp.csr_matrix, np.ndarray, np.ndarray, sp.csr_matrix, np.ndarray]  # X, y, given, X_test, y_test


def two(n_labels: int, seed: int) -> Drawn:
    """Is a message about computers? Labels drawn at random."""
    task = corpora.comp(seed, n_labels)
    return task.X, task.y, task.given, *task.test()


def twenty(n_labels: int, seed: int) -> Drawn:
    """Which of the twenty groups is it from? At least one label of each, the others drawn at random."""
    task = class_tasks.draw(class_tasks.newsgroups20(), n_labels, seed)
    return task.X, task.y, task.given, task.X_test, task.y_test


QUESTIONS: dict[str, tuple[Callable[[int, int], Drawn], tuple[int, ...]]] = {
    "computers or not": (two, (40, 80, 160, 320, 640, 1280, 2560, 5120)),
    "which of 20 groups": (twenty, (40, 80, 160, 320, 640, 1280)),
}


def few_labels(report: Report) -> None:
    """The accuracies of both questions, and those of a support vector machine that is told every label."""
    for question, (draw, labels) in QUESTIONS.items():
        told = _best([supervised(*_told_all(draw(labels[0], seed))) for seed in range(DRAWS)])
        report.fact(f"{PREFIX}{question}, all labels", np.mean(told), " %", values=told)
        report.curve(PREFIX + question, "all labels", {"labels": labels, "accuracy": [np.mean(told)] * len(labels)})
        _curves(report, question, draw, labels)


def _curves(report: Report, question: str, draw: Callable[[int, int], Drawn], labels: tuple[int, ...]) -> None:
    points: dict[str, list[float]] = {}
    for n in labels:
        drawn = [draw(n, seed) for seed in range(DRAWS)]
        found = {"labels only": _best([supervised(*d) for d in drawn])}
        for learner, told in {"told the shares": True, "shares of the labels": False}.items():
            found[learner] = [transductive(d, told) for d in drawn]
        for learner, values in found.items():
            points.setdefault(learner, []).append(float(np.mean(values)))
            report.fact(f"{PREFIX}{question}, {n} labels, {learner}", np.mean(values), " %", values=values)
    for learner, means in points.items():
        report.curve(PREFIX + question, learner, {"labels": labels, "accuracy": means})


def _told_all(drawn: Drawn) -> Drawn:
    X, y, _, X_test, y_test = drawn
    return X, y, y, X_test, y_test


def supervised(X: Any, y: np.ndarray, given: np.ndarray, X_test: Any, y_test: np.ndarray) -> list[float]:
    """Accuracy in percent of LinearSVC on the labeled rows, for each of `ALPHAS`."""
    labeled = given != corpora.UNLABELED
    fits = [linear_svc(int(labeled.sum()), alpha).fit(X[labeled], given[labeled]) for alpha in ALPHAS]
    return [float(fit.score(X_test, y_test) * 100) for fit in fits]


def _best(of_draws: list[list[float]]) -> list[float]:
    """The accuracy of each draw at the strength that is best on the mean of the draws."""
    values = np.array(of_draws)  # (draws, ALPHAS)
    return values[:, values.mean(axis=0).argmax()].tolist()


def transductive(drawn: Drawn, told: bool) -> float:
    """Accuracy in percent of TransductiveSVC, told the class shares or not."""
    from fewlabel import TransductiveSVC

    X, y, given, X_test, y_test = drawn
    unlabeled = given == corpora.UNLABELED
    prior = np.bincount(y[unlabeled]) / np.sum(unlabeled) if told else "labels"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few labels seldom have the shares of all rows
        fitted = TransductiveSVC(alpha=ALPHA, class_prior=prior).fit(X, given)
    return float(fitted.score(X_test, y_test) * 100)


SECTIONS = (few_labels,)
