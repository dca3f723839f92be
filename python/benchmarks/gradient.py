"""The gradient TSVM on the splits of Chapelle & Zien: error of the unlabeled rows, and passes beside the other methods.

The papers' C weighs sums of losses against ½|w|². Divided by C l, with l labeled and u unlabeled rows and rows in units
of their root mean square length s, that is alpha = 1 / (C l s²) and unlabeled_weight = u / l for C_u = C.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.kernel_approximation import Nystroem

from benchmarks import corpora, learners, objective
from benchmarks.learners import Outcome
from benchmarks.report import Report
from benchmarks.tasks import Task
from fewlabel.methods import Gradient

SPLITS = 10
STRENGTHS = (1, 10, 100)
REACHED = 6.0  # percent on text1
REACHED_RBF = 7.0  # on g50c


def gradient_text1(report: Report, draws: int = SPLITS) -> None:
    """Text1, the class shares given, with and without the constraint on the mean score."""
    _strengths(report, [corpora.text1(split) for split in range(draws)], REACHED)


def gradient_g50c(report: Report, draws: int = SPLITS) -> None:
    """Two Gaussians, the class shares given; the default of the estimator beside, at several alphas."""
    drawn = [corpora.g50c(split) for split in range(draws)]
    _strengths(report, drawn, None)
    for alpha in (1e-3, 1e-2, 3e-2):
        _row(
            report,
            f"g50c: annealing, shares found, alpha {alpha:g}",
            drawn,
            alpha=alpha,
            class_prior="auto",
            unlabeled_weight="auto",
        )


def gradient_g50c_rbf(report: Report, draws: int = SPLITS) -> None:
    """The same on features with the RBF kernel of all rows, gamma="scale"; annealing beside."""
    drawn = [corpora.g50c(split) for split in range(draws)]
    X = drawn[0].X.toarray() if sp.issparse(drawn[0].X) else drawn[0].X
    features = Nystroem(gamma=1 / (X.shape[1] * X.var()), n_components=len(X), random_state=0).fit_transform(X)
    drawn = [replace(task, X=features) for task in drawn]
    for method in ("gradient", "annealing"):
        for C in STRENGTHS:
            _row(report, f"g50c, RBF: {method}, C = {C}", drawn, REACHED_RBF, C=C, method=method)
    _row(report, "g50c, RBF: default", drawn, class_prior="auto", unlabeled_weight="auto")


def gradient_beside(report: Report, draws: int = 2) -> None:
    """Passes and error beside annealing and switching, defaults of alpha."""
    sets = {"text1": corpora.text1, "comp.*": corpora.comp}
    for name, drawn in {name: [make(k) for k in range(draws)] for name, make in sets.items()}.items():
        for method in ("gradient", "annealing", "switching"):
            _row(report, f"{name}: {method}", drawn, method=method)


SECTIONS = (gradient_text1, gradient_g50c, gradient_g50c_rbf, gradient_beside)


# ------------------------------------------------------------------ helpers
def _strengths(report: Report, drawn: list[Task], bound: float | None) -> None:
    name = drawn[0].name.split(" split")[0]
    for balance, limit in (("mean", bound), ("labels", None)):
        for C in STRENGTHS:
            what = f"{name}: gradient, C = {C}" + (", no constraint" if balance == "labels" else "")
            _row(report, what, drawn, limit, C=C, method=Gradient(balance=balance))


def _row(
    report: Report, what: str, drawn: list[Task], bound: float | None = None, C: float = 0, **settings: Any
) -> None:
    found = [learners.transductive(task, n_jobs=1, **(_translated(task, C) if C else {}) | settings) for task in drawn]
    errors = [outcome.error for outcome in found]
    report.at_most(what, float(np.mean(errors)), bound, " %", _note(found), errors)


def _translated(task: Task, C: float) -> dict[str, float]:
    unlabeled = len(task.y) - task.n_labels
    return {
        "alpha": 1 / (C * task.n_labels * objective.unit(task.X) ** 2),
        "unlabeled_weight": unlabeled / task.n_labels,
    }


def _note(found: list[Outcome]) -> str:
    passes = np.mean([learners.passes(outcome) for outcome in found])
    ends = sorted({outcome.estimator.termination_condition_ for outcome in found})
    return f"{passes:.0f} passes, {sum(o.seconds for o in found):.1f} s; {', '.join(ends)}"
