"""KernelFeatures: rows of features whose inner products are a kernel."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.validation import check_is_fitted

from fewlabel import _gram, _interrupts, _neighbor_graph, _warnings
from fewlabel._compat import ClassNamePrefixFeaturesOutMixin, Self, TransformerMixin
from fewlabel._distinct import Distinct
from fewlabel._estimator import Estimator
from fewlabel._inputs import _data, _memory, _numbers

_KERNELS = ("graph", "rbf", "precomputed")
_GRAPH_COMPONENTS, _COMPONENTS = 50, 500  # of the graph, of other kernels


@dataclass(kw_only=True, eq=False, repr=False)
class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Features whose inner products are a kernel, for classes that no linear boundary separates.

    For images, sensor readings and curves, in a pipeline before a linear classifier. Fit it on all rows, unlabeled too.

    Parameters
    ----------
    kernel : {"graph", "rbf", "precomputed"} or callable, default="graph"
        "graph": rows are similar if many short paths connect them in a graph of nearest neighbors. "rbf":
        exp(-gamma ‖x - y‖²). "precomputed": X is the kernel matrix of all rows; in `transform`, the kernel between new
        rows and those of `fit`, shape (n_new, n_rows). A callable maps two arrays of rows, sparse if X is, to (n, m).
    gamma : "scale" or float, default="scale"
        Parameter of "rbf", above 0. "scale": 1 / (n_features * X.var()), as in scikit-learn's `SVC`.
    n_neighbors : int, default=5
        For "graph": neighbors of each row, at most all others. Rows are connected if one is a neighbor of the other.
    n_components : int or None, default=None
        Largest number of features. None: 50 for "graph", 500 for others. As many as distinct rows: an exact kernel.
    n_jobs : int or None, default=None
        Number of threads of the neighbor search, as in scikit-learn.

    Attributes
    ----------
    n_features_in_ : int
        Number of features of X. With "precomputed": number of rows of `fit`.
    feature_names_in_ : names of the features

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.pipeline import make_pipeline
    >>> from fewlabel import KernelFeatures, TransductiveSVC
    >>> X, moon = make_moons(200, noise=0.1, random_state=0)
    >>> model = make_pipeline(KernelFeatures(), TransductiveSVC()).fit(X, np.where(np.arange(200) < 4, moon, -1))
    >>> bool(model.score(X, moon) > 0.98)
    True
    """

    kernel: Literal["graph", "rbf", "precomputed"] | Callable[..., Any] = "graph"
    gamma: float | Literal["scale"] = "scale"
    n_neighbors: int = 5
    n_components: int | None = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the graph and compute its leading eigenvectors, or choose the rows that span the kernel.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        y : not used
        """
        gamma = self._check_parameters()
        X = _data.canonical(_data.rows_of(self, X, reset=True))
        m = self.n_components or (_GRAPH_COMPONENTS if self.kernel == "graph" else _COMPONENTS)
        if self.kernel == "graph":
            graph = _interrupts.interruptible(lambda: _neighbor_graph.Graph(X, m, self.n_neighbors, self.n_jobs))
            if (n_pieces := len(graph.sizes)) > 1:
                found = f"has {n_pieces} connected components, the largest of {graph.sizes.max()} rows"
                text = f"the graph of n_neighbors={self.n_neighbors} {found}: labels do not spread between components"
                _warnings.warn(f"{text}. Increase n_neighbors.", _warnings.DataWarning)
            self._map: Any = graph
            return self
        n, m = X.shape[0], min(X.shape[0], m)
        _memory.need(24.0 * n * m, f"{m} features of {n} rows", "set n_components to fewer")
        if self.kernel == "precomputed":
            self._map = _interrupts.interruptible(lambda: _gram.Spanned(_data.dense(X, "X"), m))
            return self
        rows = X[_nonzero(X)] if _nonzero(X).any() else X
        kernel = self.kernel if callable(self.kernel) else partial(rbf_kernel, gamma=gamma or _scale(rows))
        self._map = _interrupts.interruptible(lambda: _gram.Spanned(rows[Distinct(rows).first[:m]], m, kernel))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Features of rows, an ndarray (n_rows, n_components), of fewer columns if they are enough for the kernel.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        """
        check_is_fitted(self)
        X = _data.canonical(_data.rows_of(self, X, reset=False))
        if self.kernel == "precomputed":
            X = _data.dense(X, "X")
        features = np.asarray(_interrupts.interruptible(lambda: self._map.features(X)))
        if self.kernel in ("graph", "rbf"):
            features[~_nonzero(X)] = 0.0
        return features

    @property
    def _n_features_out(self) -> int:
        return int(self._map.n_features)

    def _check_parameters(self) -> float | None:
        """The value of gamma; None: it depends on X."""
        if not (_numbers.is_function(self.kernel) or (isinstance(self.kernel, str) and self.kernel in _KERNELS)):
            raise ValueError(f"kernel must be one of {', '.join(_KERNELS)} or a callable, got {self.kernel!r}")
        _numbers.threads(self.n_jobs)
        _numbers.check_count("n_neighbors", self.n_neighbors)
        if self.n_components is not None:
            _numbers.check_count("n_components", self.n_components)
        scaled = isinstance(self.gamma, str) and self.gamma == "scale"
        return None if scaled else _numbers.check_positive("gamma", self.gamma, otherwise='"scale" or ')

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _nonzero(X: Any) -> np.ndarray:
    """Which rows (n,) have another value than 0."""
    return np.diff(X.indptr) > 0 if sp.issparse(X) else X.any(axis=1)


def _scale(X: Any) -> float:
    """1 / (number of features * variance of the values)."""
    mean = X.mean()
    squares = X.multiply(X).mean() if sp.issparse(X) else np.mean(np.square(X, dtype=np.float64))
    variance = float(squares - mean * mean)
    return 1 / (X.shape[1] * variance) if variance > 0 else 1.0
