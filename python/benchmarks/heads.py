"""Classifiers on fixed features from papers on few-shot learning of images, written from their formulas.

Each takes rows of unit length and classes 0, 1, ..., -1 for the unlabeled rows, and gives a class for each row. The
constants are those of the papers and their authors' programs, but the strength of PT-MAP is 30, chosen from 10 to 100
on draws 100 and 101 of 20 Newsgroups: words prefer more, MiniLM less.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax, xlogy

TEMPERATURE = 15.0  # of TIM and alpha-TIM
STEPS = 100


def one_hot(given: np.ndarray) -> np.ndarray:
    """(n, K), rows of zeros where there is no label."""
    return (given[:, None] == np.arange(given.max() + 1)).astype(float)


def centers(X: Any, weights: np.ndarray) -> np.ndarray:
    """Means (K, d) of the rows with the weights (n, K)."""
    return np.asarray((X.T @ weights).T) / weights.sum(axis=0)[:, None]


def entropy(p: np.ndarray, alpha: float) -> tuple[Any, np.ndarray]:
    """Tsallis' entropy of the last axis and its derivatives; Shannon's for 1."""
    if alpha == 1:
        return -xlogy(p, p).sum(axis=-1), -1 - np.log(np.maximum(p, 1e-300))
    return (1 - (p**alpha).sum(axis=-1)) / (alpha - 1), -alpha / (alpha - 1) * p ** (alpha - 1)


def tim(X: Any, given: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    """TIM (Boudiaf et al. 2020, eq. 1 to 3) with all weights 1, or alpha-TIM (Veilleux et al. 2021, section 4): cross
    entropy of the labels minus the mutual information of rows and classes; by L-BFGS in place of Adam."""
    if sp.issparse(X):
        X = X[:, np.unique(X.indices)]  # words of these rows
    Y, free = one_hot(given), given < 0
    W = centers(X[~free], Y[~free])

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        W = flat.reshape(-1, X.shape[1])
        logp = log_softmax(TEMPERATURE * (np.asarray(X @ W.T) - (W * W).sum(axis=1) / 2), axis=1)
        p = np.exp(logp)
        marginal, d_marginal = entropy(p[free].mean(axis=0), alpha)
        conditional, d_conditional = entropy(p[free], alpha)
        G = (p - Y) / (~free).sum()
        slope = (d_conditional - d_marginal) / free.sum()
        G[free] = p[free] * (slope - (p[free] * slope).sum(axis=1, keepdims=True))
        value = -(Y * logp).sum() / (~free).sum() - marginal + conditional.mean()
        gradient = TEMPERATURE * (np.asarray((X.T @ G).T) - G.sum(axis=0)[:, None] * W)
        return float(value), gradient.ravel()

    W = minimize(loss, W.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x.reshape(W.shape)
    return np.argmax(np.asarray(X @ W.T) - (W * W).sum(axis=1) / 2, axis=1)


def spherical_em(X: Any, given: np.ndarray) -> np.ndarray:
    """Mixture of von Mises-Fisher distributions with one concentration (Banerjee et al. 2005, eq. 4.4) and free class
    shares; labeled rows keep their class."""
    Y, free = one_hot(given), given < 0
    R = Y.copy()
    R[free] = np.eye(Y.shape[1])[np.argmax(np.asarray(X[free] @ centers(X[~free], Y[~free]).T), axis=1)]
    for _ in range(STEPS):
        sums = np.asarray((X.T @ R).T)
        lengths = np.linalg.norm(sums, axis=1)
        r = lengths.sum() / len(given)
        concentration = r * (X.shape[1] - r * r) / (1 - r * r)
        cosines = np.asarray(X[free] @ (sums / lengths[:, None]).T)
        R[free] = softmax(concentration * cosines + np.log(R.mean(axis=0)), axis=1)
    return R.argmax(axis=1)


def pt_map(X: Any, given: np.ndarray, strength: float = 30.0, step: float = 0.2, epochs: int = 20) -> np.ndarray:
    """MAP of Hu, Gripon and Pateux 2021 (algorithm 1): Sinkhorn's plan from the unlabeled rows to even classes, with
    squared distances as costs; centers move to its means. Without their power transform, which takes no negative
    features."""
    Y, free = one_hot(given), given < 0
    W = centers(X[~free], Y[~free])
    for _ in range(epochs):
        logP = strength * (2 * np.asarray(X[free] @ W.T) - (W * W).sum(axis=1))
        for _ in range(STEPS):
            logP -= logsumexp(logP, axis=0) - np.log(free.sum() / len(W))
            logP -= logsumexp(logP, axis=1, keepdims=True)
        R = Y.copy()
        R[free] = np.exp(logP)
        W += step * (centers(X, R) - W)
    return R.argmax(axis=1)
