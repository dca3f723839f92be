"""Verdicts of `check` on fits whose truth is known, from hidden labels: right, wrong, or "cannot tell".

    FEWLABEL_DATA=... python -m benchmarks verdicts [--draws N]

Sixty fits, fixed before any was measured: ten sets, 10 or 50 labels of each class, and three ways to give the shares.
These are estimated ("auto"), those of the equal labels, which are wrong where classes are not (as a careless user has
them), or the true ones in reversed order (of two even classes: 1/4 and 3/4), which should hurt. The truth is the
accuracy on the test with unlabeled rows minus that without. Within half a point it is even, and only "cannot tell" is
right. The confidence was chosen on other sets.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from benchmarks import data, measure
from benchmarks.data import Task
from benchmarks.measure import Report

SETS = ("reuters_r8", "classic", "k1b", "re0", "hitech", "topics4", "gcat", "ccat", "text1", "minilm")
LABELS = (10, 50)
EVEN = 0.005  # of accuracy
LEAST_SHARE = 1e-3


def priors(task: Task) -> dict[str, Any]:
    """The values of `class_prior`, by name."""
    shares, order = task.shares, np.argsort(task.shares)
    reversed_shares = np.empty(len(shares))
    reversed_shares[order] = shares[order[::-1]]
    if len(shares) == 2 and abs(shares[0] - 0.5) < 0.1:
        reversed_shares = np.array([0.25, 0.75])
    reversed_shares = np.maximum(reversed_shares, LEAST_SHARE)
    return {"auto": "auto", "labels": "labels", "reversed": reversed_shares / reversed_shares.sum()}


def gain(task: Task, prior: Any) -> float:
    """What unlabeled rows add to the accuracy on the test."""
    from fewlabel import TransductiveSVC

    models = [TransductiveSVC(class_prior=prior, unlabeled_weight=weight, n_jobs=1) for weight in (0, "auto")]
    without, both = (
        np.mean(measure.quietly(m, task.X, task.given).predict(task.X_test) == task.y_test) for m in models
    )
    return float(both - without)


def judged(verdict: str, truth: float) -> str:
    """Whether a verdict is right."""
    if verdict == "cannot tell":
        return verdict
    right = "helps" if truth > EVEN else "hurts" if truth < -EVEN else "cannot tell"
    return "right" if verdict == right else "wrong"


def sixty(report: Report, draws: int = 1) -> None:
    """Shares of right and of undecided verdicts, and a line for each fit."""
    from fewlabel import TransductiveSVC
    from fewlabel.inspection import check

    found = []
    for name, labels, draw in itertools.product(SETS, LABELS, range(draws)):
        task = data.draw(data.SETS[name](), labels, "equal", draw)
        for kind, prior in priors(task).items():
            told = check(TransductiveSVC(class_prior=prior, n_jobs=1), task.X, task.given, verbose=0)
            truth = gain(task, prior)
            found.append(judged(told.verdict, truth))
            note = f"{told.verdict}, {told.lower:+.3f} to {told.upper:+.3f}: {found[-1]}"
            report.add(f"{name}, {labels} labels, {kind}: truth", truth, note=note)
    verdicts = np.array(found)
    report.add("right or cannot tell", np.mean(verdicts != "wrong"), at_least=0.95)
    report.add("cannot tell", np.mean(verdicts == "cannot tell"), at_most=0.4)


SECTIONS = (sixty,)
