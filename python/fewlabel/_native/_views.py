"""Views of rows and labels for the library: arrays are copied only if it does not support their type or layout."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fewlabel._inputs._targets import Columns, Targets
from fewlabel._native import _signatures as c


def rows(X: Any) -> c.Rows:
    if not sp.issparse(X):
        return _dense(X)
    arrays = _whole(X.indptr), _whole(X.indices), np.ascontiguousarray(X.data)
    struct = c.Rows(kind=c.SPARSE, n_rows=X.shape[0], n_features=X.shape[1], n_values=min(map(len, arrays[1:])))
    struct.indptr, struct.indices, struct.values = (each.ctypes.data for each in arrays)
    struct.indptr_type, struct.index_type, struct.value_type = (c.TYPES[each.dtype] for each in arrays)
    struct.arrays = arrays
    return struct


def _dense(X: np.ndarray) -> c.Rows:
    """Without a copy if the values of a row are contiguous."""
    size = X.itemsize
    if X.strides[1] != size or X.strides[0] < size * X.shape[1] or X.strides[0] % size or not X.dtype.isnative:
        X = np.ascontiguousarray(X)
    struct = c.Rows(kind=c.DENSE, n_rows=X.shape[0], n_features=X.shape[1], row_stride=X.strides[0] // size)
    struct.values, struct.value_type, struct.arrays = X.ctypes.data, c.TYPES[X.dtype], (X,)
    return struct


def _whole(numbers: np.ndarray) -> np.ndarray:
    """As an array of int32, if it is one, or of int64."""
    return np.ascontiguousarray(numbers, dtype=np.int32 if numbers.dtype == np.int32 else np.int64)


def labels(targets: Targets | Columns) -> c.Labels:
    weak: tuple[np.ndarray, ...] = ()
    if isinstance(targets, Columns):
        n_columns, n_classes = targets.codes.shape[1], 0
    else:
        n_columns, n_classes = 1, len(targets.classes) if len(targets.classes) > 1 else 0
        weak = (targets.indptr, targets.numbers, targets.probabilities) if len(targets.numbers) else ()
    struct = c.Labels(targets.codes.ctypes.data, n_columns, n_classes, *(each.ctypes.data for each in weak))
    struct.arrays = (targets.codes, *weak)
    return struct
