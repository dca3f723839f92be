"""The supervised objectives of many classes and their gradients in NumPy: never the solver's own account.

All are alpha/2 (|W|^2 + |b|^2) + the mean loss of a row, with scores F = X W' + b, W (K, d), b (K,), classes y from 0.
The intercept counts as the weight of a constant feature.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

Losses = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def one_vs_rest(F: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared hinge of each class against the rest, halved and summed over the classes: losses (n,), slopes (n, K).

    With it the value is alpha times that of `LinearSVC(loss="squared_hinge", C=1/(2 n alpha))`.
    """
    sign = np.where(_is_class(F, y), 1.0, -1.0)
    short = np.maximum(0, 1 - sign * F)
    return np.sum(np.square(short), axis=1) / 2, -sign * short


def maxent(F: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Minus the log of the probability of the class, probabilities by softmax: losses (n,), slopes (n, K).

    With it the value is alpha times that of `LogisticRegression(C=1/(n alpha))` on rows with a constant feature.
    """
    total = logsumexp(F, axis=1, keepdims=True)
    losses = total[:, 0] - F[np.arange(len(y)), y]
    return losses, np.exp(F - total) - _is_class(F, y)


def crammer_singer(F: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far the best wrong class comes within a margin of 1, at least 0: losses (n,), slopes (n, K).

    With it the value is alpha times that of `LinearSVC(multi_class="crammer_singer", C=1/(n alpha))`.
    """
    rows = np.arange(len(y))
    raised = F + 1.0 - _is_class(F, y)
    worst = np.argmax(raised, axis=1)
    slopes = np.zeros_like(F)
    slopes[rows, worst] += 1
    slopes[rows, y] -= 1
    return raised[rows, worst] - F[rows, y], slopes


def value(
    losses: Losses, X: sp.csr_matrix, y: np.ndarray, coef: np.ndarray, intercept: np.ndarray, alpha: float
) -> float:
    """The objective at weights (K, d) and intercepts (K,)."""
    found, _ = losses(X @ coef.T + intercept, y)
    return float(alpha / 2 * (np.sum(np.square(coef)) + np.sum(np.square(intercept))) + np.mean(found))


def gradient(
    losses: Losses, X: sp.csr_matrix, y: np.ndarray, coef: np.ndarray, intercept: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """The gradient with respect to weights (K, d) and intercepts (K,); a subgradient for Crammer and Singer's loss."""
    _, slopes = losses(X @ coef.T + intercept, y)
    return alpha * coef + (X.T @ slopes).T / len(y), alpha * intercept + slopes.mean(axis=0)


def certain_gap(
    losses: Losses, X: sp.csr_matrix, y: np.ndarray, coef: np.ndarray, intercept: np.ndarray, alpha: float
) -> float:
    """A bound on the distance to the optimum, relative to the value: |gradient|^2 / (2 alpha), since the objective
    curves by alpha at least in every direction."""
    slope = sum(float(np.sum(np.square(part))) for part in gradient(losses, X, y, coef, intercept, alpha))
    return slope / (2 * alpha) / value(losses, X, y, coef, intercept, alpha)


def _is_class(F: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.arange(F.shape[1]) == y[:, None]
