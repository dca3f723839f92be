"""What a result is worth, recomputed from `coef_` and `intercept_` in NumPy: never the solver's own account."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.tasks import UNLABELED


def unit(X: sp.csr_matrix | np.ndarray) -> float:
    """The root of the mean square length of the rows that are not zero."""
    squares = np.ravel(sp.csr_matrix(X).power(2).sum(axis=1))
    return float(np.sqrt(np.mean(squares[squares > 0])))


def l2_objective(
    X: sp.csr_matrix, given: np.ndarray, coef: np.ndarray, intercept: float, alpha: float, unlabeled_weight: float
) -> float:
    """The papers' transductive objective of two classes, the bias as the weight of a constant feature:

    alpha/2 (rms^2 |w|^2 + b^2) + 1/(2l) sum_labeled max(0, 1 - y f)^2
    + unlabeled_weight/(2u) sum_unlabeled max(0, 1 - |f|)^2

    `given` is 0 or 1 in labeled rows and -1 in unlabeled ones; rms is the `unit` of all rows. Without unlabeled rows,
    or with `unlabeled_weight=0`, it is alpha rms^2 times the objective of
    `LinearSVC(loss="squared_hinge", C=1/(2 l alpha rms^2), intercept_scaling=rms)`.
    """
    bias = float(np.ravel(intercept)[0])
    f = X @ np.ravel(coef) + bias
    unlabeled = given == UNLABELED
    sign = np.where(given[~unlabeled] == 1, 1.0, -1.0)
    value = alpha / 2 * (unit(X) ** 2 * np.sum(np.square(coef)) + bias**2)
    value += np.mean(np.square(np.maximum(0, 1 - sign * f[~unlabeled]))) / 2
    if unlabeled.any() and unlabeled_weight:
        value += unlabeled_weight * np.mean(np.square(np.maximum(0, 1 - np.abs(f[unlabeled])))) / 2
    return float(value)


def one_vs_rest(X: sp.csr_matrix, y: np.ndarray, coef: np.ndarray, intercept: np.ndarray, alpha: float) -> float:
    """The supervised objective of many classes, unit rows, weights (K, d) and intercepts (K,):

    alpha/2 (|W|^2 + |b|^2) + the mean over the rows of the sum over the classes of max(0, 1 - s f)^2 / 2

    s is 1 for the class of the row, -1 for the others. It is alpha times that of
    `LinearSVC(loss="squared_hinge", C=1/(2 n alpha))`.
    """
    sign = np.where(np.arange(len(coef)) == y[:, None], 1.0, -1.0)
    short = np.maximum(0, 1 - sign * (X @ coef.T + intercept))
    penalty = alpha / 2 * (np.sum(np.square(coef)) + np.sum(np.square(intercept)))
    return float(penalty + np.mean(np.sum(np.square(short), axis=1)) / 2)


def break_even(y: np.ndarray, scores: np.ndarray) -> float:
    """Precision/recall break-even in percent: the precision among the first P rows by score, where P is the number of
    positive rows, for then precision and recall are equal. Rows of one score are taken in a random but fixed order."""
    positive = int(np.sum(y == 1))
    if positive == 0:
        raise ValueError("no positive row: precision and recall have no break-even point")
    shuffled = np.random.default_rng(0).permutation(len(y))
    first = shuffled[np.argsort(-scores[shuffled], kind="stable")][:positive]
    return float(np.mean(y[first] == 1) * 100)
