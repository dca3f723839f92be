"""Which rows to label next, and the class shares that their labels speak for.

Problem  Choose n rows, with or without answers so far, whose labels are worth most for the next fit.
Symbols  z_i unit rows of m coordinates, from a truncated SVD where X is sparse; l rows with an answer.
Rule     k-means of CLUSTERED rows, and of those with an answer, into n + l clusters. Row after row comes from the
         largest of the clusters with the fewest answers, and is the one nearest to the center: typical rows, unlike
         each other and unlike those with an answer. Such labels are no sample of the rows. A fit between two batches
         gives a class the rows whose nearest labeled row has it, which takes no time; the final one has the estimate of
         the model. Rows that are drawn at random correct both. With strata h, the classes that were predicted,
         and their shares W_h of the rows, the share of y is Σ_h W_h times the share of y in the answers of h: without
         bias, and as a draw has W_h of its rows from h, the share of y in all its answers.
Source   Hacohen, Dekel and Weinshall, ICML 2022, for the clusters; Nguyen and Smeulders, ICML 2004, for the use of
         clusters; Cochran (1977), chapter 5A, for strata; James and Stein (1961) for the mean of both estimates.
Cost     At most ROUNDS passes of CLUSTERED rows times clusters times m, and of MOST_ROWS rows times l times m.
"""

import warnings
from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

COMPONENTS = 100
ROUNDS = 8
MOST_CLUSTERS = 300
MOST_ROWS = 20_000  # of which nearest labels are found
_CHUNK = 1 << 24  # cosines at a time
_MOST = 1e15  # whose square float32 holds
CLUSTERED = 2_000  # beside those with an answer


def coordinates(X: Any) -> np.ndarray:
    """Unit rows (n_rows, m), float32; zero where X is."""
    if sp.issparse(X):
        few = X.shape[1] < 2
        with np.errstate(divide="ignore", invalid="ignore"):  # equal rows have no variance
            X = X.toarray() if few else TruncatedSVD(min(COMPONENTS, X.shape[1]), random_state=0).fit_transform(X)
    X = np.asarray(X)
    if X.dtype == np.float64 and X.ndim == 2:  # float32 cannot hold all of its values
        largest = np.maximum(X.max(axis=1), -X.min(axis=1))[:, None]
        far = (largest > _MOST) | (largest < 1 / _MOST)
        X = X / np.where(far & (largest > 0) & np.isfinite(largest), largest, 1) if far.any() else X
    return normalize(np.asarray(X, dtype=np.float32))


def batch(Z: np.ndarray, answered: np.ndarray, n: int) -> list[int]:
    """At most n positions of rows without an answer. answered (n_rows,) bool; rows of zeros come last."""
    filled = Z.any(axis=1)
    free, n_answered = ~answered & filled, int(np.sum(answered))
    if np.count_nonzero(free) <= n:
        return [*np.flatnonzero(free).tolist(), *np.flatnonzero(~answered & ~filled).tolist()][:n]
    rows = np.union1d(evenly(np.flatnonzero(free), max(n, CLUSTERED)), np.flatnonzero(answered))
    cluster, sizes, nearness = _clusters(Z[rows], n + n_answered)
    answers = np.bincount(cluster, answered[rows], minlength=len(sizes))
    chosen: list[int] = []
    while len(chosen) < n:
        open_ = np.bincount(cluster, free[rows], minlength=len(sizes)) > 0
        largest = int(np.argmax(np.where(open_, sizes - answers * len(rows), -np.inf)))
        candidates = np.flatnonzero((cluster == largest) & free[rows])
        best = rows[candidates[np.argmax(nearness[candidates])]]
        chosen.append(int(best))
        free[best] = False
        answers[largest] += 1
    return chosen


def drawn(strata: list[Any], free: np.ndarray, n: int, seed: int) -> list[int]:
    """Positions of free rows (n_rows,) drawn at random, in random order: of each stratum its share, rounded."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(np.flatnonzero(free))
    rows = rows[np.argsort(np.unique(strata, return_inverse=True)[1][rows], kind="stable")]
    n = min(n, len(rows))
    return rng.permutation(rows[((np.arange(n) + rng.random()) * len(rows) / n).astype(int)]).tolist()


def guessed(Z: np.ndarray, labeled: list[int], labels: list[Any]) -> dict[Any, float]:
    """The share of each class by the labels nearest to the rows; `labeled` are the positions of the labels."""
    classes, codes = np.unique(labels, return_inverse=True)
    rows = evenly(np.flatnonzero(Z.any(axis=1)), MOST_ROWS)
    known = np.full(len(Z), -1)
    known[labeled] = codes
    nearest, free = known[rows], np.flatnonzero(known[rows] < 0)  # a labeled row is nearest to itself
    for part in np.array_split(free, -(-len(free) * len(labeled) // _CHUNK) or 1):
        nearest[part] = codes[np.argmax(Z[rows[part]] @ Z[labeled].T, axis=1)]
    counts = np.bincount(nearest, minlength=len(classes)) + np.bincount(codes)  # none is 0
    return dict(zip(classes.tolist(), (counts / counts.sum()).tolist(), strict=True))


def corrected(guess: dict[Any, float], drawn: Counter[Any]) -> dict[Any, float]:
    """Shares of the classes, moved toward the answers of drawn rows as far as the difference is hardly chance."""
    n = max(sum(drawn.values()), 1)
    found = {name: drawn[name] / n for name in guess} if drawn else guess
    variance = (1 - sum(share**2 for share in guess.values())) / n  # at most: strata make it smaller
    difference = sum((found[name] - guess[name]) ** 2 for name in guess)
    if difference <= variance:
        return guess
    return {name: found[name] + variance / difference * (guess[name] - found[name]) for name in guess}


def _clusters(Z: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cluster of each row (n_rows,), number of rows of each cluster (k,), cosine of each row with its center."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters
        found = KMeans(min(k, MOST_CLUSTERS, len(Z)), n_init=1, max_iter=ROUNDS, random_state=0).fit(Z)
    nearness = np.einsum("ij,ij->i", Z, normalize(found.cluster_centers_)[found.labels_])
    return found.labels_, np.bincount(found.labels_, minlength=found.n_clusters), nearness


def evenly(rows: np.ndarray, most: int) -> np.ndarray:
    """At most so many of them, evenly spaced."""
    few = min(len(rows), most)
    return rows[np.arange(few) * len(rows) // few]
