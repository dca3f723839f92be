"""Features of a kernel given as a matrix or a function: rows whose inner products are the kernel."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh, solve_triangular

from fewlabel._distinct import parts
from fewlabel._inputs import _data

_ROUNDING = 1e-5  # tolerance relative to the largest entry of a kernel, which may have been computed in float32
_EQUAL = 1e-9  # relative difference of residuals that counts as none

Kernel = Callable[[Any, Any], Any]


class Spanned:
    """Features of a kernel, spanned by at most `most` rows: of a function of them, or of its matrix of all rows."""

    def __init__(self, rows: Any, most: int, kernel: Kernel | None = None):
        gram = _evaluated(kernel, rows, rows) if kernel else rows
        factor, self._pivots = pivoted_cholesky(_checked(gram), most)
        self._factor = factor[self._pivots]  # (m, m), lower
        self._kernel, self._rows = kernel, rows[self._pivots] if kernel else None
        self.n_features = len(self._pivots)

    def features(self, X: Any) -> np.ndarray:
        """Features (n, m) of rows; given a matrix, of their kernel with each of its rows."""
        columns = _evaluated(self._kernel, X, self._rows) if self._kernel else X[:, self._pivots]
        return np.ascontiguousarray(solve_triangular(self._factor, columns.T, lower=True).T)


def _evaluated(kernel: Kernel, X: Any, Y: Any) -> np.ndarray:
    found = _data.dense(kernel(X, Y), "kernel(X, Y)")
    if found.dtype.kind not in "biuf":
        raise ValueError(f"kernel(X, Y) must return numbers, got {found.dtype}")
    found = found if found.dtype == np.float32 else found.astype(np.float64, copy=False)
    if found.shape != (wanted := (X.shape[0], Y.shape[0])):
        raise ValueError(f"kernel(X, Y) must return an array of shape {wanted}, rows by rows, got {found.shape}")
    _data.check_finite(found, "kernel(X, Y)", _data.HUGE)
    return found


def _checked(gram: np.ndarray) -> np.ndarray:
    if gram.shape[0] != gram.shape[1]:
        raise ValueError(f"a kernel of the rows with each other is square, got {gram.shape[0]} rows of {gram.shape[1]}")
    largest = np.abs(gram).max()
    off = max(np.abs(gram[part] - gram[:, part].T).max() for part in parts(*gram.shape))
    if off > _ROUNDING * largest:
        raise ValueError(f"the kernel is not symmetric: entries that should be equal are up to {off:.3g} apart")
    return gram


def pivoted_cholesky(gram: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """A factor G (n, m) with G Gᵀ = gram up to rounding, or m = most, and its pivots (Fine and Scheinberg 2001)."""
    n = gram.shape[0]
    similar = np.abs(gram).sum(axis=1)  # decides between equal residuals, whatever the order of the rows
    left = gram.diagonal().astype(np.float64)  # diagonal of the residual
    enough = 10 * float(np.finfo(gram.dtype).eps) * n * max(0.0, left.max())
    factor, pivots = np.zeros((n, most), order="F"), list[int]()
    while len(pivots) < most and (pivot := _largest(left, similar)) not in pivots and left[pivot] > enough:
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


def _largest(left: np.ndarray, similar: np.ndarray) -> int:
    return int(np.where(left >= (1 - _EQUAL) * left.max(), similar, -1.0).argmax())


def _check_positive(gram: np.ndarray, factor: np.ndarray, left: np.ndarray) -> None:
    """The residual of a positive semidefinite matrix has its largest entry on the diagonal."""
    allowed = max(left.max(initial=0.0), 0.0) + _ROUNDING * np.abs(gram).max()
    off = max(np.abs(gram[part] - factor[part] @ factor.T).max() for part in parts(*gram.shape))
    if not factor.shape[1] and not gram.any():
        raise ValueError("the kernel is 0 for all pairs of rows")
    if max(off, -left.min(initial=0.0)) > allowed or not factor.shape[1]:
        values = eigvalsh(gram)
        raise ValueError(f"the kernel is not positive semidefinite: eigenvalues {values[0]:.3g} to {values[-1]:.3g}")
