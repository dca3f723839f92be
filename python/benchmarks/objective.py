"""What a result is worth, recomputed from `coef_` and `intercept_` in NumPy: never the solver's own account."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.corpora import UNLABELED


def decisions(X: sp.csr_matrix, coef: np.ndarray, intercept: float) -> np.ndarray:
    """Decision values (n,) of a linear classifier of two classes."""
    return X @ np.ravel(coef) + float(np.ravel(intercept)[0])


def unit(X: sp.csr_matrix | np.ndarray) -> float:
    """The root of the mean square length of the rows that are not zero."""
    squares = np.ravel(sp.csr_matrix(X).power(2).sum(axis=1))
    return float(np.sqrt(np.mean(squares[squares > 0])))


def l2_objective(
    X: sp.csr_matrix, given: np.ndarray, coef: np.ndarray, intercept: float, alpha: float, unlabeled_weight: float
) -> float:
    """The papers' transductive objective, the bias as the weight of a constant feature:

    alpha/2 (rms^2 |w|^2 + b^2) + 1/(2l) sum_labeled max(0, 1 - y f)^2
    + unlabeled_weight/(2u) sum_unlabeled max(0, 1 - |f|)^2

    `given` is 0 or 1 in labeled rows and -1 in unlabeled ones; rms is the `unit` of all rows. Without unlabeled rows,
    or with `unlabeled_weight=0`, it is alpha rms^2 times the objective of
    `LinearSVC(loss="squared_hinge", C=1/(2 l alpha rms^2), intercept_scaling=rms)`.
    """
    f = decisions(X, coef, intercept)
    unlabeled = given == UNLABELED
    sign = np.where(given[~unlabeled] == 1, 1.0, -1.0)
    value = alpha / 2 * (unit(X) ** 2 * np.sum(np.square(coef)) + float(np.ravel(intercept)[0]) ** 2)
    value += np.mean(np.square(np.maximum(0, 1 - sign * f[~unlabeled]))) / 2
    if unlabeled.any() and unlabeled_weight:
        value += unlabeled_weight * np.mean(np.square(np.maximum(0, 1 - np.abs(f[unlabeled])))) / 2
    return float(value)


def error(predicted: np.ndarray, y: np.ndarray) -> float:
    """Share of wrong classes, in percent."""
    return float(np.mean(predicted != y) * 100)


def threshold_for_share(scores: np.ndarray, share: float) -> float:
    """The threshold above which `share` of the scores lie."""
    positive = int(round(share * len(scores)))
    ordered = np.sort(scores)[::-1]
    if positive == 0:
        return float(ordered[0])
    if positive == len(scores):
        return float(np.nextafter(ordered[-1], -np.inf))
    return float((ordered[positive - 1] + ordered[positive]) / 2)


def break_even(y: np.ndarray, scores: np.ndarray) -> float:
    """Precision/recall break-even in percent: the precision among the first P rows by score, where P is the number of
    positive rows, for then precision and recall are equal. Rows of one score are taken in a random but fixed order."""
    positive = int(np.sum(y == 1))
    if positive == 0:
        raise ValueError("no positive row: precision and recall have no break-even point")
    shuffled = np.random.default_rng(0).permutation(len(y))
    first = shuffled[np.argsort(-scores[shuffled], kind="stable")][:positive]
    return float(np.mean(y[first] == 1) * 100)
