"""Features of the kernel of a neighbor graph: rows whose inner products are the kernel."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu
from sklearn import config_context
from sklearn.neighbors import NearestNeighbors

from fewlabel._distinct import Distinct
from fewlabel._inputs import _data, _memory

_SCALE, _RHO = 10.0, 1e-3  # the kernel of Zien et al. is _SCALE (L + _RHO)⁻¹
_LEAST = 0.5  # lower bound of the eigenvalue by which features of new rows are divided: small ones multiply noise
_MEGABYTES = 64  # of distances in one chunk
_EXACT = 1e-9  # relative tolerance of an eigenvalue
_RESTARTS = 30  # most restarts of the iteration for eigenvectors; see _smallest
_SHIFT = 1e-3  # added to the matrix that is factored if they are not enough


class Graph:
    """The graph of the distinct rows other than zeros, and at most m features of its rows."""

    def __init__(self, X: Any, m: int, n_neighbors: int, n_jobs: int | None):
        self._nodes = Distinct(X, zeros=False)
        n = len(self._nodes.first)
        if not n:
            raise ValueError("every row of X is zero: a graph of nearest neighbors needs other rows")
        self.n_features = m = min(n, m)
        whole = 2 * m >= n  # an iteration would take longer
        n_bytes = 8.0 * n * (3 * n if whole else 4 * m) + 8.0 * X.shape[0] * m
        _memory.need(n_bytes, f"the graph kernel of {X.shape[0]} rows", "set n_components to fewer")
        k = max(1, min(n_neighbors, n - 1))
        self._neighbors = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(X[self._nodes.first])
        near = self._near() if n > 1 else np.empty((1, 0), dtype=np.intp)
        ends = np.arange(n + 1) * near.shape[1]
        joined = sp.csr_array((np.ones(near.size), near.ravel(), ends), shape=(n, n))
        self._decompose(sp.csr_array(joined.maximum(joined.T)), whole)

    def features(self, X: Any) -> np.ndarray:
        """Features (n, m) of rows: those of equal nodes, or the extension."""
        node = self._nodes.find(X)
        features = self._features[node]
        new = node < 0
        if new.any():
            features[new] = self._extension(self._near(X[new]))
        return features

    def _extension(self, near: np.ndarray) -> np.ndarray:
        """Features (n, m) of rows, given the nodes (n, k) nearest to them."""
        counts = self._nodes.counts[near]
        weights = counts / np.sqrt(counts.sum(axis=1, keepdims=True) * self._degrees[near])
        features = np.zeros((len(near), self.n_features))
        for weight, node in zip(weights.T, near.T, strict=True):
            features += weight[:, None] * self._features[node]
        return features / np.maximum(_LEAST, 1 - self.eigenvalues)

    def _near(self, X: Any = None) -> np.ndarray:
        """Nodes (n, k) nearest to rows; without rows, to each node."""
        if sp.issparse(X) and not sp.issparse(self._neighbors._fit_X):  # not for its tree
            X = _data.dense(X, "X")
        with config_context(working_memory=_MEGABYTES):
            return np.asarray(self._neighbors.kneighbors(X, return_distance=False))

    def _decompose(self, graph: sp.csr_array, whole: bool) -> None:
        """Eigenvectors of a graph of nodes that stand for equal rows, which have the same value in each of them."""
        counts, m = self._nodes.counts, self.n_features
        self._degrees = np.maximum(1.0, graph @ counts)  # a single node has no neighbor
        n_pieces, piece = connected_components(graph, directed=False)
        self.sizes = np.bincount(piece, counts, minlength=n_pieces).astype(int)  # rows of each connected component
        scale = sp.diags_array(np.sqrt(counts / self._degrees))
        similar = sp.csr_array(scale @ graph @ scale)
        if whole:
            laplacian = np.eye(len(counts)) - similar.toarray()
            self.eigenvalues, vectors = eigh(laplacian, subset_by_index=[0, m - 1], overwrite_a=True)
        else:
            zero = _of_pieces(np.sqrt(counts * self._degrees), piece, self.sizes)
            self.eigenvalues, vectors = _smallest(similar, m, zero)
        self.eigenvalues = np.clip(self.eigenvalues, 0, 2)
        vectors *= np.sqrt(_SCALE / (self.eigenvalues + _RHO)) / np.sqrt(counts)[:, None]
        self._features = np.ascontiguousarray(vectors)


def _of_pieces(root: np.ndarray, piece: np.ndarray, sizes: np.ndarray) -> sp.csc_array:
    """The eigenvectors (n, n_pieces) of the eigenvalue 0: one for each connected component, the largest first."""
    column = np.empty(len(sizes), dtype=np.intp)
    column[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    vectors = sp.csc_array((root, (np.arange(len(root)), column[piece])), shape=(len(root), len(sizes)))
    return sp.csc_array(vectors @ sp.diags_array(1 / np.sqrt(vectors.multiply(vectors).sum(axis=0))))


def _smallest(similar: sp.csr_array, m: int, zero: sp.csc_array) -> tuple[np.ndarray, np.ndarray]:
    """The m smallest eigenvalues (m,) of I - similar, ascending, and their vectors (n, m), for m far below n.

    Of the eigenvalue 0, which is repeated, an iteration would find only some vectors.
    If the rows lie near a line or a plane, the eigenvalues are too close for an iteration, but the factors are sparse.
    """
    n, pieces = zero.shape
    known = zero[:, :m].toarray()
    if pieces >= m:
        return np.zeros(m), known
    others = LinearOperator((n, n), matvec=lambda v: similar @ v - 2 * (zero @ (zero.T @ v)), dtype=np.float64)
    wanted = {"k": m - pieces, "which": "LA", "v0": np.random.default_rng(0).normal(size=n), "tol": _EXACT}
    try:
        largest, vectors = eigsh(others, **wanted, maxiter=_RESTARTS)
    except ArpackNoConvergence:
        shifted = sp.csc_array((1 + _SHIFT) * sp.eye_array(n) - similar)
        factors = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        inverse = LinearOperator((n, n), matvec=lambda v: factors.solve(v - zero @ (zero.T @ v)), dtype=np.float64)
        largest, vectors = eigsh(inverse, **wanted)
        largest = 1 + _SHIFT - 1 / largest
    order = np.argsort(-largest, kind="stable")
    return np.concatenate([np.zeros(pieces), 1 - largest[order]]), np.hstack([known, vectors[:, order]])
