"""Rows of features: validates X and converts it to CSR or dense rows, without changing the caller's objects."""

import datetime
import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _num_samples, validate_data

from fewlabel._inputs import _memory

_CHUNK = 1 << 20  # values checked at a time
HUGE = 1e100  # squares of such values, and their sums, are still finite
_LEAST, _MOST = 1e-15, 1e15  # the same of float32, and they do not vanish
_TAKEN = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_all_finite": False}  # see check_finite
_DATES = (np.datetime64, np.timedelta64, datetime.date, datetime.time, datetime.timedelta)
_NAMES_OF_DATES = re.compile(r"(sparse\[)?(date|time|duration|period)", re.IGNORECASE)  # in all kinds of frames
_LEVELS = 32  # as many dimensions as any NumPy has
MOSTLY = 0.5  # share of nonzero values above which CSR would take more memory and time


def rows_of(estimator: Any, X: Any, *, reset: bool, y: Any = "no_validation") -> Any:
    """X as CSR, unchanged if it is that, or dense rows of float64 or float32. Values are not checked."""
    X = admitted(X)
    refuse_dates(X)
    try:
        given = None if y is None else "no_validation"  # None: scikit-learn reports the missing y
        return validate_data(estimator, _of_floats(X), y=given, reset=reset, **_TAKEN)
    except (OverflowError, TypeError, ValueError) as reason:
        if isinstance(reason, ValueError) and (holds_text(X) or "string to float" in str(reason)):
            cure = "use a vectorizer first, such as TfidfVectorizer, or for tokens fewlabel.sequences.TokenVectorizer"
            raise ValueError(f"X holds texts, but must hold numbers: {cure} ({reason!s:.100})") from reason
        values = getattr(X, "values", X)  # of pandas
        if isinstance(values, np.ndarray) and values.dtype == object and values.size and np.ndim(values.flat[0]):
            raise ValueError("X has an array in each entry: make a matrix of them, numpy.stack(column)") from reason
        if missing := re.search(r"'(NaT|NA)Type'", str(reason)):
            cure = "fill it in, or leave these rows out"
            raise ValueError(f"X has {missing[1]}, a missing value, but every value must be finite: {cure}") from reason
        if re.search(r"\b[Xy]\b", str(reason)):
            raise
        raise (TypeError if isinstance(reason, TypeError) else ValueError)(f"X: {reason}") from reason


def check_lengths(X: Any, y: Any) -> None:
    """Reject a y without an entry for each row of X."""
    if (n_rows := number_of_rows(X)) != (n_entries := len(y)):
        raise ValueError(f"X has {n_rows} rows, but y has {n_entries} entries: y needs one for each row, or a marker")


def number_of_rows(X: Any, name: str = "X") -> int:
    try:
        return int(_num_samples(X))
    except TypeError as reason:
        raise TypeError(f"{name} must be a list, a data frame or a matrix, got {X!r:.60}") from reason


def check_order(**named: Any) -> None:
    """Reject an index that is that of the first of these, in another order: rows are taken by position."""
    first: Any = None
    for name, given in named.items():
        index = index_of(given)
        if first is None:
            first = None if index is None else (name, index)
        elif index is not None and not index.equals(first[1]) and _entries(index) == _entries(first[1]):
            cure = "use .loc to put it in that order, or pass an array if its order is right"
            raise ValueError(f"{name} has the index of {first[0]} in another order, but entries go by position: {cure}")


def _entries(index: Any) -> Counter[Any]:
    return Counter(np.where(index.isna(), None, index.astype(object)) if index.nlevels == 1 else index)


def index_of(values: Any) -> Any:
    """That of a series or data frame of pandas, also where `Soft` holds one; an index itself; or None."""
    values = values.index if hasattr(values, "iloc") else getattr(values, "_row_index", values)
    return values if hasattr(values, "get_indexer") else None


def holds_text(X: Any) -> bool:
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    while (isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.ndim)) and len(X):
        X = np.asarray(X)[0] if isinstance(X, np.ndarray) else X[0]  # the first row of numpy.matrix is one, too
    return isinstance(X, str)


def _of_floats(X: Any) -> Any:
    """A data frame of pandas that has sparse columns alone with floats and zeros in them, as scikit-learn takes it."""
    kinds = set(X.dtypes) if hasattr(X, "columns") and hasattr(X, "dtypes") else set()
    if not all(hasattr(kind, "fill_value") and kind.kind in "biufO" for kind in kinds):
        return X
    floats = [type(kind)(dtype, 0.0) for kind in kinds for dtype in (np.float64, np.float32)]
    return X.astype(floats[0]) if kinds - {*floats} else X


def refuse_dates(X: Any, name: str = "X") -> None:
    """Reject dates and times, which NumPy makes numbers in units of their own, and NaT -9.2e18."""
    columns = getattr(X, "dtypes", getattr(getattr(X, "schema", None), "types", None))
    columns = columns if isinstance(columns, Iterable) else [getattr(X, "dtype", None)]
    kinds = [str(getattr(getattr(kind, "categories", None), "dtype", kind)) for kind in columns]
    found = [*filter(_NAMES_OF_DATES.match, kinds)]
    if not found and (isinstance(X, list | tuple) or {"object", "Object"} & {*kinds}):
        found = [kind.__name__ for kind in _types(X) if issubclass(kind, _DATES) and kind.__name__ != "NaTType"]
    if found:
        cure = "give numbers, such as the days since a date: (dates - first) / numpy.timedelta64(1, 'D')"
        raise ValueError(f"{name} holds dates or times ({found[0]}), but must hold numbers: {cure}")


def _types(values: Any) -> set[type]:
    """Types of the values in lists and arrays, within each other."""
    if not isinstance(values, list | tuple):
        values = np.asarray(values)
        if values.dtype != object:
            return {values.dtype.type}
        values = values.ravel().tolist()
    kinds = {*map(type, values)}
    nested = tuple(kind for kind in kinds if issubclass(kind, list | tuple | np.ndarray) or hasattr(kind, "iloc"))
    return kinds.union(*(_types(value) for value in values if nested and isinstance(value, nested)))


def training_rows(estimator: Any, X: Any, *, reset: bool, y: Any = "no_validation") -> Any:
    """The same for training: values must be finite, and dense rows become CSR unless most values are nonzero."""
    X = rows_of(estimator, X, reset=reset, y=y)
    if not sp.issparse(X) and np.count_nonzero(X) <= MOSTLY * X.size:
        X = sp.csr_array(X)
    check_finite(X)
    return X


def check_finite(X: Any, name: str = "X", below: float = np.inf) -> None:
    """Raise a ValueError that names row and column of the first value that is NaN, infinite or not below a bound."""
    values = X.data if sp.issparse(X) else X
    step = _CHUNK if sp.issparse(X) else max(1, _CHUNK // X.shape[1])
    for start in range(0, len(values), step):
        part = values[start : start + step]
        good = np.isfinite(part) if np.isinf(below) else np.abs(part) < np.float64(below)  # float32 cannot hold HUGE
        if not good.all():
            place = np.argwhere(~good)[0]
            row, column = start + place[0], place[-1]
            if sp.issparse(X):
                row, column = np.searchsorted(X.indptr, row, side="right") - 1, X.indices[row]
            value = part[tuple(place)]
            found = "NaN" if np.isnan(value) else f"{value:+}"
            wanted = f"below {below:.0e}: scale the features" if np.isfinite(value) else "finite"
            raise ValueError(f"{name} has {found} in row {row}, column {column}: every value must be {wanted}")


def canonical(X: Any, name: str = "X") -> Any:
    """X, or a canonical copy without zeros, in float64 where float32 cannot hold squares. Values are checked."""
    check_finite(X, name, below=HUGE)
    values = X.data if sp.issparse(X) else X  # SciPy's max would sort X
    if values.size and 0 < (most := max(values.max(), -values.min())) < 1 / HUGE:
        raise ValueError(f"{name} has no value above {most:.3g}: too small for products: scale the features")
    if X.dtype == np.float32 and X.size and not _LEAST < max(X.max(), -X.min()) < _MOST:
        X = X.astype(np.float64)
    if not sp.issparse(X):
        return X
    rows = sp.csr_array(X)
    if not (rows.has_canonical_format and rows.data.all()):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def admitted(X: Any, name: str = "X") -> Any:
    """X, a sparse matrix as CSR or CSC, or of one dimension. Its structure is checked: SciPy checks none.

    Every matrix of a caller passes here before anything else looks at it.
    """
    if not sp.issparse(X):
        X = X.to_pylist() if hasattr(X, "to_pylist") and not hasattr(X, "columns") else X  # a column of Arrow
        return plain(X, name)
    if len(X.shape) > 2:
        raise ValueError(f"{name} is sparse, of shape {X.shape}: give a matrix of rows and columns")
    if X.format not in ("csr", "csc", "bsr", "coo"):
        try:
            if X.format == "lil" and not ([*map(len, X.rows)] == [*map(len, X.data)] and len(X.rows) == X.shape[0]):
                raise ValueError("rows and data are lists of other lengths")
            if X.format == "dia" and (X.offsets.dtype.kind != "i" or X.offsets.shape != X.data.shape[:1]):
                raise ValueError("offsets must be integers, one for each row of data")
            X = X.tocsr() if X.format == "lil" else X.tocoo()
        except (AttributeError, IndexError, TypeError, ValueError) as reason:
            raise ValueError(f"{name} is no valid {X.format} matrix: {reason}") from reason
    n_dims = 3 if X.format == "bsr" else 1
    if not _is_list(X.data, n_dims) or X.data.dtype.kind not in "biufc" or 0 in X.data.shape[1:]:
        raise ValueError(f"{name}.data must be a list of values, numbers; is {_described(X.data)}")
    if X.format == "coo":
        _check_coordinates(X, name)
    else:
        sizes = zip((1, *X.shape)[-2:], X.blocksize if X.format == "bsr" else (1, 1), strict=True)
        shape = [whole // block for whole, block in sizes]  # an array of one dimension is a row
        _check_compressed(X, name, *(shape[::-1] if X.format == "csc" else shape))
    return X if X.format == "csc" or len(X.shape) == 1 else X.tocsr()  # which has rows to take


def plain(values: Any, name: str) -> Any:
    """The same, if it is what NumPy makes of it: not sparse, and nothing under a mask."""
    if sp.issparse(values):
        raise ValueError(f"{name} is sparse, of shape {values.shape}: give an array")
    rows = values if isinstance(values, list | tuple) else [values]
    inside, levels = {id(rows): rows}, 0
    while inside := {id(each): each for row in inside.values() for each in row if isinstance(each, list | tuple)}:
        if (levels := levels + 1) > _LEVELS:
            raise ValueError(f"{name} is a list that contains itself, or lists in each other {_LEVELS} times")
    if any(isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row) for row in rows):
        raise ValueError(f"{name} has masked entries: fill them by numpy.ma.filled, or leave these rows out")
    return values


def dense(X: Any, name: str, copies: int = 1) -> np.ndarray:
    """A matrix as an array; a sparse one if there is memory for so many copies of the array."""
    X = admitted(X, name)
    if not sp.issparse(X):
        return np.asarray(X)
    n_bytes, shape = copies * math.prod(X.shape) * max(X.dtype.itemsize, 8), " x ".join(map(str, X.shape))
    _memory.need(n_bytes, f"{name}, {shape} and sparse, as an array", "give fewer rows or columns")
    return np.asarray(X.toarray())


def _check_compressed(X: Any, name: str, major: int, minor: int) -> None:
    indptr, indices = X.indptr, X.indices
    _check_integers(indptr, f"{name}.indptr")
    _check_integers(indices, f"{name}.indices")
    if len(indptr) != major + 1 or indptr[0] != 0:
        raise ValueError(f"{name}.indptr must have {major + 1} entries and begin with 0")
    if (falling := indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"{name}.indptr decreases in row {falling.argmax()}")
    if indptr[-1] > (n_values := min(len(indices), len(X.data))):
        raise ValueError(f"{name}.indptr requires {indptr[-1]} values, but there are {n_values}")
    if len(indices) != len(X.data):
        raise ValueError(f"{name}.indices has {len(indices)} entries, but there are {len(X.data)} values")
    _check_range(indices[: indptr[-1]], minor, f"{name}.indices")


def _check_coordinates(X: Any, name: str) -> None:
    for numbers, what in zip(X.coords[::-1], ("col", "row"), strict=False):
        _check_integers(numbers, f"{name}.{what}")
    if (lengths := [*map(len, X.coords)]) != [len(X.data)] * len(X.shape):
        raise ValueError(f"{name} has {len(X.data)} values, but coordinates of {lengths} entries")
    for numbers, end, what in zip(X.coords[::-1], X.shape[::-1], ("col", "row"), strict=False):
        _check_range(numbers, end, f"{name}.{what}")


def _check_integers(numbers: np.ndarray, what: str) -> None:
    if not _is_list(numbers, 1) or numbers.dtype not in (np.int32, np.int64):
        raise ValueError(f"{what} must be a list of integers of 32 or 64 bits, is {_described(numbers)}")


def _is_list(values: Any, n_dims: int) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == n_dims and not np.ma.is_masked(values)


def _described(values: Any) -> str:
    if not isinstance(values, np.ndarray):
        return type(values).__name__
    return f"{values.dtype} of shape {values.shape}{', with masked entries' * np.ma.is_masked(values)}"


def _check_range(numbers: np.ndarray, end: int, what: str) -> None:
    if numbers.size and numbers.view(f"u{numbers.itemsize}").max() >= end:  # below 0 is huge as an unsigned number
        raise ValueError(f"{what} must lie in 0 ... {end - 1}, found {numbers.min()} ... {numbers.max()}")
