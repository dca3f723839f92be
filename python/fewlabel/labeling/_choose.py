"""Which rows to label next, and the class shares that their labels speak for.

Problem  Choose n rows, with or without answers so far, whose labels are worth most for the next fit.
Symbols  z_i unit rows of m coordinates, from a truncated SVD where X is sparse; l rows with an answer.
Rule     k-means of all rows into n + l clusters. Row after row comes from the largest of the clusters with the
         fewest answers, and is the one nearest to the center: typical rows, unlike each other and unlike those with an
         answer. Such labels are no sample of the rows, and class_prior="auto" finds wrong shares from few of them.
         While there are fewer than ENOUGH a class, a class has the rows whose nearest labeled row has it.
Source   Hacohen, Dekel and Weinshall, ICML 2022, for the clusters; Nguyen and Smeulders, ICML 2004, for the use of
         clusters. The shares are a stratified estimate, with the cells of the labeled rows as strata.
Cost     At most ROUNDS passes of rows times clusters times m; at most MOST_ROWS rows are clustered.
"""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

COMPONENTS = 100
ROUNDS = 20
MOST_CLUSTERS = 300
ENOUGH = 10  # labels a class
MOST_ROWS = 20_000


def coordinates(X: Any) -> np.ndarray:
    """Unit rows (n_rows, m), float32; zero where X is."""
    if sp.issparse(X):
        X = TruncatedSVD(min(COMPONENTS, X.shape[1]), random_state=0).fit_transform(X)
    return normalize(np.asarray(X, dtype=np.float32))


def batch(Z: np.ndarray, answered: np.ndarray, n: int) -> list[int]:
    """At most n positions of rows without an answer. answered (n_rows,) bool; rows of zeros are not chosen."""
    free, n_answered = ~answered & Z.any(axis=1), int(np.sum(answered))
    if np.count_nonzero(free) <= n:
        return np.flatnonzero(free).tolist()
    rows = np.union1d(_evenly(np.flatnonzero(free), max(n, MOST_ROWS)), np.flatnonzero(answered))
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


def class_prior(Z: np.ndarray, labeled: list[int], labels: list[Any], n_ruled_out: int = 0) -> Any:
    """For the next fit: "auto", or the share of each class; `labeled` are the positions of the labels.

    It is "auto", too, where so many rows have classes ruled out that they may contradict the shares.
    """
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) == 1 or len(labels) >= ENOUGH * len(classes):
        return "auto"
    rows = _evenly(np.flatnonzero(Z.any(axis=1)), MOST_ROWS)
    nearest = codes[np.argmax(Z[rows] @ Z[labeled].T, axis=1)]
    counts = np.bincount(nearest, minlength=len(classes)) + np.bincount(codes)  # none is 0
    shares = counts / counts.sum()
    if n_ruled_out > shares.min() * (len(Z) - len(labels)):
        return "auto"
    return dict(zip(classes.tolist(), shares.tolist(), strict=True))


def _clusters(Z: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cluster of each row (n_rows,), number of rows of each cluster (k,), cosine of each row with its center."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters
        found = KMeans(min(k, MOST_CLUSTERS, len(Z)), n_init=1, max_iter=ROUNDS, random_state=0).fit(Z)
    nearness = np.einsum("ij,ij->i", Z, normalize(found.cluster_centers_)[found.labels_])
    return found.labels_, np.bincount(found.labels_, minlength=found.n_clusters), nearness


def _evenly(rows: np.ndarray, most: int) -> np.ndarray:
    """At most so many of them, evenly spaced."""
    few = min(len(rows), most)
    return rows[np.arange(few) * len(rows) // few]
