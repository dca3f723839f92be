"""Features of a kernel given as a matrix or a function: rows whose inner products are the kernel."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigvalsh, solve_triangular
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from fewlabel._inputs import _data

_ROUNDING = 1e-5  # tolerance relative to the largest entry of a kernel, which may have been computed in float32
_BLOCK = 1 << 24  # numbers in one chunk


def parts(n: int, width: int) -> list[slice]:
    """Slices of n rows of this width, at most _BLOCK numbers each."""
    step = max(1, _BLOCK // max(1, width))
    return [slice(start, start + step) for start in range(0, n, step)]


@dataclass(eq=False, repr=False)
class GramFeatures(BaseEstimator):
    """Features of a kernel that is given as a matrix (`kernel` is None) or as a function of two arrays of rows.

    At most `n_components` rows span them: the pivots of a Cholesky factor, chosen among all rows of a matrix, or among
    rows drawn at random for a function. The features G satisfy G Gᵀ = K if the pivots span the kernel.
    """

    kernel: Callable[[Any, Any], Any] | None
    n_components: int
    random_state: Any = 0

    def fit_transform(self, X: Any) -> np.ndarray:
        """Features (n, m) of the rows of X (n, d) or of the kernel matrix (n, n)."""
        n = X.shape[0]
        m = min(n, self.n_components)
        if self.kernel is None:
            gram, basis = _checked_gram(X), None
        else:
            random = check_random_state(self.random_state)
            basis = X[np.sort(random.permutation(n)[:m])]
            gram = _checked_gram(_evaluated(self.kernel, basis, basis))
        factor, pivots = pivoted_cholesky(gram, m)
        self._pivots, self._basis = pivots, None if basis is None else basis[pivots]
        self._factor = factor[pivots]  # (m, m), lower
        return factor if basis is None else self.transform(X)

    def transform(self, X: Any) -> np.ndarray:
        """Features (n, m) of new rows, given in the form of `fit`."""
        columns = X[:, self._pivots] if self.kernel is None else _evaluated(self.kernel, X, self._basis)
        return np.ascontiguousarray(solve_triangular(self._factor, columns.T, lower=True).T)


def _evaluated(kernel: Callable[[Any, Any], Any], X: Any, Y: Any) -> np.ndarray:
    found = _data.admitted(kernel(X, Y), "kernel(X, Y)")
    found = found.toarray() if sp.issparse(found) else np.asarray(found)
    if found.dtype.kind not in "biuf":
        raise ValueError(f"kernel(X, Y) must return numbers, got {found.dtype}")
    if found.dtype not in (np.float32, np.float64):
        found = found.astype(np.float64)
    wanted = (X.shape[0], Y.shape[0])
    if found.shape != wanted:
        raise ValueError(
            f"kernel(X, Y) must return an array of shape {wanted}, a number for each pair of rows, got {found.shape}"
        )
    _data.check_finite(found, "kernel(X, Y)", _data.HUGE)
    return found


def _checked_gram(gram: np.ndarray) -> np.ndarray:
    if gram.shape[0] != gram.shape[1]:
        raise ValueError(f"a kernel of the rows with each other is square, got {gram.shape[0]} rows of {gram.shape[1]}")
    largest = np.abs(gram).max()
    off = max(np.abs(gram[part] - gram[:, part].T).max() for part in parts(*gram.shape))
    if off > _ROUNDING * largest:
        raise ValueError(
            f"the kernel is not symmetric: entries that should be equal are up to {off:.3g} apart, the largest is "
            f"{largest:.3g}"
        )
    return gram


def pivoted_cholesky(gram: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """A factor G (n, m) with G Gᵀ = gram up to rounding, or m = most, and the rows (m,) that are its pivots.

    Source: Fine and Scheinberg (JMLR 2001). A matrix that is not positive semidefinite raises a ValueError.
    """
    n = gram.shape[0]
    left = gram.diagonal().astype(np.float64)  # diagonal of the residual
    enough = 10 * float(np.finfo(gram.dtype).eps) * n * max(0.0, left.max())
    factor, pivots = np.zeros((n, most), order="F"), list[int]()
    while len(pivots) < most and (pivot := int(left.argmax())) not in pivots and left[pivot] > enough:
        m = len(pivots)
        column = gram[:, pivot] - factor[:, :m] @ factor[pivot, :m]
        column[pivots] = 0.0
        factor[:, m] = column / np.sqrt(left[pivot])
        left -= factor[:, m] ** 2
        left[pivot] = 0.0
        pivots.append(pivot)
    factor = np.ascontiguousarray(factor[:, : len(pivots)])
    _check_positive(gram, factor, left)
    return factor, np.array(pivots, dtype=np.intp)


def _check_positive(gram: np.ndarray, factor: np.ndarray, left: np.ndarray) -> None:
    """The residual of a positive semidefinite matrix has its largest entry on the diagonal."""
    allowed = max(left.max(initial=0.0), 0.0) + _ROUNDING * np.abs(gram).max()
    off = max(np.abs(gram[part] - factor[part] @ factor.T).max() for part in parts(*gram.shape))
    if not factor.shape[1] and not gram.any():
        raise ValueError("the kernel is 0 for all pairs of rows")
    if max(off, -left.min(initial=0.0)) > allowed or not factor.shape[1]:
        values = eigvalsh(gram)
        raise ValueError(
            f"the kernel is not positive semidefinite: its eigenvalues go from {values[0]:.3g} to {values[-1]:.3g}. "
            "A distance matrix is not a kernel"
        )
