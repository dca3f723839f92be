"""Rows of features: validates X and converts it to CSR or dense rows, without changing the caller's objects."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from fewlabel._native import _signatures as c

_VALUE_TYPES = {np.dtype(np.float32): c.FLOAT32, np.dtype(np.float64): c.FLOAT64}
_INDEX_TYPES = {np.dtype(np.int32): c.INT32, np.dtype(np.int64): c.INT64}
_CHUNK = 1 << 20  # values looked at in one piece
MOSTLY = 0.5  # above this share of values that are not zero CSR would take more memory and time


class Rows(NamedTuple):
    """A struct for the library and the arrays it points to, which must outlive it."""

    struct: c.Csr | c.Dense
    arrays: tuple[np.ndarray, ...]


def rows_of(estimator: Any, X: Any, *, reset: bool, y: Any = "no_validation") -> Any:
    """X as CSR or dense rows of float64 or float32. Values are not checked.

    CSR of these types is returned unchanged, with unsorted or duplicate indices and explicit zeros.
    """
    try:
        return validate_data(
            estimator,
            X,
            y=y,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,  # check_finite names the place
        )
    except ValueError as reason:
        if not _holds_text(X):
            raise
        raise ValueError(
            "X holds texts, but must hold numbers: use a vectorizer first, such as TfidfVectorizer in a pipeline, or "
            f"for tokens fewlabel.sequences.TokenVectorizer ({reason})"
        ) from reason


def _holds_text(X: Any) -> bool:
    """Whether the first value of X is a text."""
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    while (isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.ndim)) and len(X):
        X = X[0]
    return isinstance(X, str)


def training_rows(estimator: Any, X: Any, *, reset: bool, y: Any = "no_validation") -> Any:
    """The same for training: values must be finite, and dense rows become CSR unless most values are nonzero."""
    X = rows_of(estimator, X, reset=reset, y=y)
    if not sp.issparse(X) and np.count_nonzero(X) <= MOSTLY * X.size:
        X = sp.csr_array(X)
    check_finite(X)
    return X


def check_finite(X: Any) -> None:
    """Raise a ValueError that names row and column of the first value that is NaN or infinite."""
    values = X.data if sp.issparse(X) else X
    step = _CHUNK if sp.issparse(X) else max(1, _CHUNK // X.shape[1])
    for start in range(0, len(values), step):
        part = values[start : start + step]
        if not np.isfinite(part).all():
            place = np.argwhere(~np.isfinite(part))[0]
            row, column = start + place[0], place[-1]
            if sp.issparse(X):
                row, column = np.searchsorted(X.indptr, row, side="right") - 1, X.indices[row]
            found = "NaN" if np.isnan(part[tuple(place)]) else f"{part[tuple(place)]:+}"
            raise ValueError(f"X has {found} in row {row}, column {column}: every value must be finite")


def check_structure(X: Any) -> None:
    """Raise a ValueError if SciPy's product would read beyond its arrays."""
    indptr, indices, n_values = X.indptr, X.indices, min(len(X.indices), len(X.data))
    if len(indptr) != X.shape[0] + 1 or indptr[0] != 0:
        raise ValueError(f"X.indptr must have {X.shape[0] + 1} entries and begin with 0")
    falling = np.flatnonzero(indptr[1:] < indptr[:-1])
    if falling.size:
        raise ValueError(f"X.indptr decreases in row {falling[0]}")
    if indptr[-1] > n_values:
        raise ValueError(f"X.indptr requires {indptr[-1]} values, but there are {n_values}")
    if indptr[-1]:
        used = indices[: indptr[-1]]
        if used.view(f"u{used.itemsize}").max() >= X.shape[1]:  # below 0 is huge as an unsigned number
            raise ValueError(f"X.indices must lie in 0 ... {X.shape[1] - 1}, found {used.min()} ... {used.max()}")


def native(X: Any) -> Rows:
    """The view of a CSR for the library. Arrays are copied only if the library does not support their type or
    layout."""
    if not sp.issparse(X):
        return _native_dense(X)
    indptr, indices = _whole(X.indptr), _whole(X.indices)
    values = np.ascontiguousarray(X.data)
    if len(indptr) != X.shape[0] + 1:
        raise ValueError(f"X.indptr must have {X.shape[0] + 1} entries, has {len(indptr)}")
    struct = c.Csr(
        n_rows=X.shape[0],
        n_features=X.shape[1],
        n_values=min(len(indices), len(values)),
        indptr=indptr.ctypes.data,
        indices=indices.ctypes.data,
        values=values.ctypes.data,
        indptr_type=_INDEX_TYPES[indptr.dtype],
        index_type=_INDEX_TYPES[indices.dtype],
        value_type=_VALUE_TYPES[values.dtype],
    )
    return Rows(struct, (indptr, indices, values))


def _native_dense(X: np.ndarray) -> Rows:
    """The view of a dense array, without a copy if the values of a row are contiguous."""
    size = X.itemsize
    if X.strides[1] != size or X.strides[0] < size * X.shape[1] or X.strides[0] % size or not X.dtype.isnative:
        X = np.ascontiguousarray(X)
    struct = c.Dense(
        n_rows=X.shape[0],
        n_features=X.shape[1],
        row_stride=X.strides[0] // size,
        values=X.ctypes.data,
        value_type=_VALUE_TYPES[X.dtype],
    )
    return Rows(struct, (X,))


def _whole(numbers: np.ndarray) -> np.ndarray:
    """As an array of int32, if it is one, or of int64."""
    return np.ascontiguousarray(numbers, dtype=np.int32 if numbers.dtype == np.int32 else np.int64)
