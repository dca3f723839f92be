"""Features of the kernel of a neighbor graph: rows whose inner products are the kernel."""

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics import pairwise_distances_chunked
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from fewlabel import _advice
from fewlabel._estimator import Estimator
from fewlabel._gram_features import parts
from fewlabel._inputs import _data, _memory, _numbers
from fewlabel._interrupts import interruptible
from fewlabel._structure import canonical
from fewlabel._warnings import DataWarning

_SCALE = (
    10.0  # factor of the kernel of Zien et al.; it has no effect on a classifier that scales rows by their mean norm
)
_LEAST = 0.5  # lower bound of the eigenvalue by which features of new rows are divided: small ones multiply noise
_MEGABYTES = 64  # of distances in one chunk
_DIGEST = 32  # bytes that stand for a longer row
_EXACT = 1e-9  # relative tolerance of an eigenvalue
_RESTARTS = 30  # most restarts of the iteration for eigenvectors; see _smallest
_SHIFT = 1e-3  # added to the matrix that is factored if they are not enough


@dataclass(eq=False, repr=False)
class GraphKernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Features from the leading eigenvectors of a neighbor graph.

    The graph connects each row with its nearest neighbors among the other rows; equal rows are one node, with the
    weight of its rows. With its normalized Laplacian L, eigenvalues λ and eigenvectors v, the features are
    v sqrt(10 / (λ + rho)), and their inner products are the kernel 10 (L + rho)⁻¹: two rows are similar if many short
    paths connect them. The transformer is transductive: fit it on all rows, labeled and unlabeled.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors of each row, less than the number of rows: all other rows if fewer are different. Two rows
        are connected if either is among the neighbors of the other.
    n_components : int or None, default=50
        Number of features: the eigenvectors of the smallest eigenvalues. None: all eigenvectors, which gives the exact
        kernel and needs the memory of three n x n matrices.
    rho : float, default=1e-3
        Added to the eigenvalues, above 0. The larger it is, the more similar are the scales of the features; far above
        2 all are scaled equally.
    n_jobs : int or None, default=None
        Number of threads of the neighbor search, as in scikit-learn.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_rows, n_components), float64
        Features of the rows of `fit`.
    eigenvalues_ : ndarray of shape (n_components,), float64
        The smallest eigenvalues of the Laplacian, ascending, 0 to 2.
    degrees_ : ndarray of shape (n_rows,), float64
        Number of neighbors of each row in the graph. Equal neighbors are counted separately.
    n_pieces_ : int
        Number of connected components of the graph.
    n_features_in_ : int
        Number of features of X.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had names in `fit`.

    Warns
    -----
    DataWarning
        If the graph is not connected: labels do not spread between its components.

    See Also
    --------
    KernelTransductiveSVC : A classifier on such features.
    sklearn.manifold.SpectralEmbedding : Eigenvectors of a graph, unscaled and without `transform` of new rows.
    sklearn.kernel_approximation.Nystroem : Features of the RBF kernel.

    Notes
    -----
    `transform` returns the features of `fit` for a row that equals a row of `fit`. Other rows get the Nyström
    extension: with k neighbors i among the rows of `fit`, of degrees d_i, the sum of the neighbors' features over
    sqrt(k d_i), divided by 1 - λ or ½, whichever is larger; a neighbor that represents several equal rows counts as
    that many. The graph does not change; fit again if many rows are new.

    The eigenvectors are deterministic: the iteration starts from a fixed vector, and the largest entry of each is
    positive.

    References
    ----------
    Zien, Brefeld and Scheffer (ICML 2007): the kernel. Bengio et al. (NIPS 2003): the extension.

    Examples
    --------
    >>> from fewlabel import GraphKernelFeatures
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.3]]
    >>> graph = GraphKernelFeatures(n_neighbors=3, n_components=2).fit(X)
    >>> graph.embedding_.shape, graph.n_pieces_
    ((6, 2), 1)
    """

    n_neighbors: int = 5
    n_components: int | None = 50
    rho: float = 1e-3
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> "GraphKernelFeatures":
        """Build the graph and compute its leading eigenvectors.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            All rows, labeled and unlabeled.
        y : None
            Not used.

        Returns
        -------
        self : GraphKernelFeatures
            The fitted transformer.

        Raises
        ------
        ValueError
            If a parameter is out of range, or X is invalid.
        MemoryError
            If the estimated memory exceeds the available memory (Linux only).
        """
        self._check_numbers()
        X = _data.rows_of(self, X, reset=True)
        _data.check_finite(X, below=_data.HUGE)
        n = X.shape[0]
        self._nodes = _nodes(X)
        nodes = len(self._nodes.first)
        m = nodes if self.n_components is None else min(nodes, self.n_components)
        whole = 2 * m >= nodes  # an iteration would take longer
        _memory.need(
            8.0 * nodes * (3 * nodes if whole else 4 * m) + 8.0 * n * m,
            f"the graph kernel of {n} rows",
            "set n_components to fewer",
        )
        k = max(1, min(self.n_neighbors, nodes - 1))
        different = X if nodes == n else X[self._nodes.first]
        self._neighbors = NearestNeighbors(n_neighbors=k, n_jobs=self.n_jobs).fit(different)
        near = interruptible(self._near) if nodes > 1 else np.empty((1, 0), dtype=np.intp)
        ends = np.arange(0, near.size + 1, near.shape[1]) if near.size else [0, 0]
        joined = sp.csr_array((np.ones(near.size), near.ravel(), ends), shape=(nodes, nodes))
        self._keep(sp.csr_array(joined.maximum(joined.T)), m, whole)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return the features of these rows.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            All rows, labeled and unlabeled.
        y : None
            Not used.

        Returns
        -------
        features : ndarray of shape (n_rows, n_components), float64
            `embedding_`, a copy.
        """
        return self.fit(X, y).embedding_.copy()

    def transform(self, X: Any) -> np.ndarray:
        """Features of rows: `embedding_` for rows that were in `fit`, the Nyström extension for others.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        features : ndarray of shape (n_rows, n_components), float64
            See Notes.
        """
        check_is_fitted(self)
        X = _data.rows_of(self, X, reset=False)
        _data.check_finite(X, below=_data.HUGE)
        near = interruptible(lambda: self._near(X))
        row, counts = self._nodes.first[near], self._nodes.counts[near]
        weights = counts / np.sqrt(counts.sum(axis=1, keepdims=True) * self.degrees_[row])
        features = np.zeros((X.shape[0], len(self.eigenvalues_)))
        for k in range(near.shape[1]):
            features += weights[:, k, None] * self.embedding_[row[:, k]]
        features /= np.maximum(_LEAST, 1 - self.eigenvalues_)
        for k in reversed(range(near.shape[1])):  # the nearest last
            same = _equal_rows(X, self._neighbors._fit_X, near[:, k])
            features[same] = self.embedding_[row[same, k]]
        return features

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def _check_numbers(self) -> None:
        _numbers.check_count("n_neighbors", self.n_neighbors)
        if self.n_components is not None:
            _numbers.check_count("n_components", self.n_components)
        _numbers.check_positive("rho", self.rho)

    def _near(self, X: Any = None) -> np.ndarray:
        """Nodes (n, k) nearest to rows, the nearest first; without rows, to each node."""
        if not sp.issparse(self._neighbors._fit_X):
            return np.asarray(self._neighbors.kneighbors(X, return_distance=False))
        k = self._neighbors.n_neighbors

        def nearest(distances: np.ndarray, start: int) -> np.ndarray:
            row = np.arange(len(distances))
            if X is None:
                distances[row, start + row] = np.inf
            some = np.argpartition(distances, k - 1, axis=1)[:, :k]
            return np.take_along_axis(
                some, np.argsort(np.take_along_axis(distances, some, 1), axis=1, kind="stable"), 1
            )

        fitted = self._neighbors._fit_X  # scikit-learn's search takes twice the time for sparse rows
        rows = sp.csr_array(fitted if X is None else X)
        chunks = pairwise_distances_chunked(
            rows, fitted, reduce_func=nearest, n_jobs=self.n_jobs, working_memory=_MEGABYTES
        )
        return np.vstack(list(chunks))

    def _keep(self, graph: sp.csr_array, m: int, whole: bool) -> None:
        """Keep the eigenvectors of a graph of nodes that stand for equal rows: the copies of two nodes are connected if
        the nodes are, and an eigenvector has the same value for all copies of a node."""
        counts = self._nodes.counts
        degrees = np.maximum(1.0, graph @ counts)  # a single node has no neighbor
        self.n_pieces_, piece = connected_components(graph, directed=False)
        sizes = np.bincount(piece, counts).astype(int)
        if self.n_pieces_ > 1:
            _warn_of_pieces(sizes, self.n_neighbors)
        scale = sp.diags_array(np.sqrt(counts / degrees))
        similar = sp.csr_array(scale @ graph @ scale)
        root = np.sqrt(counts * degrees)
        if whole:
            self.eigenvalues_, vectors = interruptible(lambda: _smallest_of_all(similar, m))
        else:
            self.eigenvalues_, vectors = interruptible(lambda: _smallest(similar, m, _of_pieces(root, piece, sizes)))
        vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(m)])
        vectors *= np.sqrt(_SCALE / (self.eigenvalues_ + self.rho)) / np.sqrt(counts)[:, None]
        self.embedding_ = np.ascontiguousarray(vectors[self._nodes.of_row])
        self.degrees_ = degrees[self._nodes.of_row]


def _warn_of_pieces(sizes: np.ndarray, n_neighbors: int) -> None:
    ordered = np.sort(sizes)[::-1].tolist()
    listed = ", ".join(map(str, ordered[:5])) + (", ..." if len(ordered) > 5 else "")
    _advice.warn(
        f"the graph of n_neighbors={n_neighbors} has {len(sizes)} connected components of {listed} rows: labels "
        "do not spread between components. Increase n_neighbors.",
        DataWarning,
    )


def _of_pieces(root: np.ndarray, piece: np.ndarray, sizes: np.ndarray) -> sp.csc_array:
    """The eigenvectors (n, n_pieces) of the eigenvalue 0: one for each connected component, the largest first."""
    column = np.empty(len(sizes), dtype=np.intp)
    column[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    vectors = sp.csc_array((root, (np.arange(len(root)), column[piece])), shape=(len(root), len(sizes)))
    return sp.csc_array(vectors @ sp.diags_array(1 / np.sqrt(vectors.multiply(vectors).sum(axis=0))))


def _smallest_of_all(similar: sp.csr_array, m: int) -> tuple[np.ndarray, np.ndarray]:
    """The m smallest eigenvalues (m,) of I - similar, ascending, and their vectors (n, m)."""
    laplacian = np.eye(similar.shape[0]) - similar.toarray()
    values, vectors = eigh(laplacian, subset_by_index=[0, m - 1], overwrite_a=True)
    return np.clip(values, 0, 2), vectors


def _smallest(similar: sp.csr_array, m: int, zero: sp.csc_array) -> tuple[np.ndarray, np.ndarray]:
    """The same for m far below n. The vectors of the eigenvalue 0 are known in closed form; an iteration would find
    only some of them if the eigenvalue is repeated.

    If the rows lie near a line or a plane, the eigenvalues are so close to each other that an iteration does not
    converge, but the factors of the matrix are sparse. Otherwise the iteration converges, and the factors are dense.
    Measured on 10,000 normal rows: with 1 to 3 features factors take 0.1 to 0.3 s, with 5 and more 3 to 8 s; the
    iteration takes 0.4 to 0.6 s from 3 features on, and more than 30 restarts with 1 and 2.
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
    values = np.concatenate([np.zeros(pieces), 1 - largest[order]])
    return np.clip(values, 0, 2), np.hstack([known, vectors[:, order]])


class _Nodes(NamedTuple):
    """The distinct rows."""

    first: np.ndarray  # (n_nodes,) number of the first row of each node
    of_row: np.ndarray  # (n,) node of each row
    counts: np.ndarray  # (n_nodes,) float64, rows of each node


def _nodes(X: Any) -> _Nodes:
    known: dict[bytes, int] = {}
    of_row = np.array([known.setdefault(key, len(known)) for key in _digests(X)], dtype=np.intp)
    first = np.full(len(known), len(of_row), dtype=np.intp)
    np.minimum.at(first, of_row, np.arange(len(of_row)))
    return _Nodes(first, of_row, np.bincount(of_row).astype(np.float64))


def _digests(X: Any) -> Iterator[bytes]:
    """Bytes for each row, the same for equal rows."""
    if sp.issparse(X):
        X = canonical(X)
        for begin, end in itertools.pairwise(X.indptr.tolist()):
            yield _digest(X.indices[begin:end].tobytes() + X.data[begin:end].tobytes())
        return
    for part in parts(*X.shape):
        for row in X[part] + 0:  # makes 0 of -0
            yield _digest(row.tobytes())


def _digest(row: bytes) -> bytes:
    return row if len(row) <= _DIGEST else hashlib.blake2b(row, digest_size=_DIGEST).digest()


def _equal_rows(X: Any, fitted: Any, numbers: np.ndarray) -> np.ndarray:
    """Which rows of X (n,) equal the rows of `fitted` with these indices."""
    if not sp.issparse(X) and not sp.issparse(fitted):
        return np.concatenate(
            [(X[part] == fitted[numbers[part]]).all(axis=1) for part in parts(X.shape[0], X.shape[1])]
        )
    apart = sp.csr_array(X) - sp.csr_array(fitted)[numbers]
    return np.asarray(abs(apart).sum(axis=1)).ravel() == 0
