"""Several labels a row: a matrix of 0, 1 and markers, a column for each label."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from fewlabel._inputs import _labels, _weak


def read(y: Any, unlabeled: Any = "auto") -> np.ndarray | None:
    """1, 0 or -1 (unknown) of each entry (n, k), int32; None if y is no matrix of 0, 1 and markers alone."""
    values = _matrix(y)
    if values is None:
        return None
    flat = values.ravel()
    if unlabeled is None:
        unknown, minus_one = np.zeros(flat.shape, dtype=bool), np.zeros(flat.shape, dtype=bool)
    elif isinstance(unlabeled, str) and unlabeled == "auto":
        missing, minus_one = _labels.auto_markers(flat)
        unknown = missing | minus_one
    else:
        unknown, minus_one = _labels.equal(flat, unlabeled), np.zeros(flat.shape, dtype=bool)
    known = flat[~unknown]
    if known.dtype.kind == "O" and not all(isinstance(value, bool | int | float | np.generic) for value in known):
        return None
    if not ((known == 0) | (known == 1)).all():
        return None
    if minus_one.any() and known.size and not (known == 0).any():
        raise ValueError(
            "y holds columns of 1 and -1 only, which is ambiguous. If -1 marks unknown entries, pass unlabeled=-1. If "
            "-1 stands for rows without a label, write 0"
        )
    codes = np.full(flat.shape, -1, dtype=np.int32)
    codes[~unknown] = known.astype(np.int32)
    return codes.reshape(values.shape)


def _matrix(y: Any) -> np.ndarray | None:
    """The array (n, k) of a matrix of two or more columns, or None."""
    y = y.toarray() if sp.issparse(y) else _weak.of_lists(y)
    if isinstance(y, list | tuple):
        return None
    if hasattr(y, "columns"):
        y = np.asarray(y, dtype=object) if any(kind.kind not in "biuf" for kind in _kinds(y)) else np.asarray(y)
    y = np.asarray(y)
    return y if y.ndim == 2 and y.shape[1] > 1 and y.dtype.kind in "biufO" else None


def _kinds(frame: Any) -> list[np.dtype]:
    return [kind if isinstance(kind, np.dtype) else np.dtype(object) for kind in frame.dtypes]
