"""Scores of rows by linear weights.

The library computes those of sparse rows if this process has loaded it, else SciPy: with sums in the order of the row.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fewlabel._inputs import _data, _memory, _numbers
from fewlabel._native import _library, _views

_CHUNK = 1 << 17  # values of dense rows made float64 at a time


def scores(X: Any, coef: np.ndarray, intercept: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Scores (n, K) of rows (n, d) by finite weights (K, d) and (K,); a ValueError if a value of X is not finite."""
    _memory.need(16.0 * X.shape[0] * len(coef), f"{len(coef)} scores of {X.shape[0]} rows", "give fewer rows at a time")
    if sp.issparse(X) and _library.is_loaded() and coef.shape == (len(intercept), X.shape[1]):
        found = _by_library(X, coef, intercept, n_jobs)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            found = (_sparse_products if sp.issparse(X) else _dense_products)(X, coef)
            found += intercept
    if (wrong := ~np.isfinite(found)).any():
        _data.check_finite(X)  # such a value makes every score of its row so: else X needs no look
        row = int(wrong.any(axis=1).argmax())
        largest = f"the largest value of X is {abs(X[[row]]).max():.4g} in row {row}"
        raise ValueError(f"decisions overflow: scale the features ({largest})")
    return found


def _by_library(X: Any, coef: np.ndarray, intercept: np.ndarray, n_jobs: int | None) -> np.ndarray:
    rows, found = _views.rows(X), np.empty((X.shape[0], len(coef)))
    by_feature = len(coef) > 1 and rows.n_values >= X.shape[1]  # worth a copy of the weights
    weights = np.ascontiguousarray(coef.T if by_feature else coef, dtype=np.float64)
    shifts = np.ascontiguousarray(intercept, dtype=np.float64)
    sizes = len(coef), int(by_feature), _numbers.threads(n_jobs)
    try:
        _library.call("fewlabel_decision_with", rows, weights, shifts, *sizes, found)
    except ValueError:
        _data.check_finite(X)
        raise
    return found


def _sparse_products(X: Any, coef: np.ndarray) -> np.ndarray:
    return np.asarray(X @ coef[0])[:, None] if len(coef) == 1 else np.asarray(X @ coef.T)


def _dense_products(X: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """Products (n, K) of dense rows with coef (K, d): row by row, as the last bits of BLAS depend on the batch."""
    filled = np.count_nonzero(X, axis=1) > _data.MOSTLY * X.shape[1]
    if filled.all():
        return _row_by_row(X, coef)
    found = np.empty((len(X), len(coef)))
    found[filled], found[~filled] = _row_by_row(X[filled], coef), _sparse_products(sp.csr_array(X[~filled]), coef)
    return found


def _row_by_row(X: np.ndarray, coef: np.ndarray) -> np.ndarray:
    weights, found = np.ascontiguousarray(coef.T), np.empty((len(X), len(coef)))
    step = max(1, _CHUNK // X.shape[1])
    for start in range(0, len(X), step):
        rows = np.ascontiguousarray(X[start : start + step], dtype=np.float64)
        np.matmul(rows[:, None, :], weights, out=found[start : start + step, None, :])
    return found
