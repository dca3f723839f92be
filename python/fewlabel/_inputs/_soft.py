"""Labels of other kinds: descriptions of a class, and probabilities of classes as a `y`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewlabel._inputs import _data, _markers, _memory, _weights

# How far from 1 a sum of probabilities may be: without a change; of values of three digits, as of 16 bits; of any.
_TOLERANCE, _ROUNDED, _MOST = 1e-6, 2**-8, 0.1
_BELOW_ZERO = -1e-12  # that 1 - p - q can be for 0


@dataclass(frozen=True)
class Description:
    """In `y`: the row says what a class is, such as its name, keywords or a typical example, but was not drawn.

    It is learned from as a label is, but says nothing of the class shares and is in no test.

    Parameters
    ----------
    label : label
        The class; 1 in a column of several labels a row.
    """

    label: Any


class Soft:
    """Probabilities of the classes of each row, as `y` of the classifiers.

    Parameters
    ----------
    probabilities : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_classes)
        Each row sums to 1, up to rounding, or is 0: unlabeled. A row with one class of probability 1 is a label.
    classes : array-like of shape (n_classes,), default=None
        Names of the classes. None: the columns of a data frame, else 0, 1, ...

    Attributes
    ----------
    probabilities : {ndarray, csr_array} of shape (n_rows, n_classes), float64
    classes : ndarray of shape (n_classes,)

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel.labels import Soft
    >>> y = Soft([[0.7, 0.3], [0, 1], [0, 0]], ["ham", "spam"])
    >>> len(y), y[np.array([0, 2])].probabilities.tolist()
    (3, [[0.7, 0.3], [0.0, 0.0]])
    """

    _row_index: Any = None  # of a data frame

    def __init__(self, probabilities: Any, classes: Any = None) -> None:
        columns, self._row_index = column_names(probabilities), _data.index_of(probabilities)
        P = _data.admitted(probabilities, "probabilities")
        _data.refuse_dates(P, "probabilities")
        n_bytes = 16.0 * (P.nnz if sp.issparse(P) else np.size(P))
        _memory.need(n_bytes, f"a copy of probabilities of shape {np.shape(P)}", "give a sparse matrix")
        P = sp.csr_array(P, dtype=np.float64) if sp.issparse(P) else _weights.numbers("probabilities", P)
        if P.ndim != 2 or not P.shape[1]:
            raise ValueError(f"probabilities must have shape (n_rows, n_classes), has {P.shape}")
        P = _normalized(_data.canonical(P, "probabilities"))
        given = classes if classes is not None else np.arange(P.shape[1]) if columns is None else columns
        self.probabilities, self.classes = P, _names(given, P.shape[1])

    @property
    def shape(self) -> tuple[int]:
        """(n_rows,)"""
        return self.probabilities.shape[:1]

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, rows: Any) -> "Soft":  # scikit-learn adds an ellipsis
        rows = rows[0] if isinstance(rows, tuple) else rows
        found = Soft(self.probabilities[rows], self.classes)
        found._row_index = None if self._row_index is None else self._row_index[rows]
        return found


def column_names(values: Any) -> Any:
    """Those of a data frame, or None."""
    return getattr(values, "column_names", getattr(values, "columns", None))  # of Arrow, of pandas


def _normalized(P: Any) -> Any:
    """The rows, those divided by their sums that sum to another number than 1 by rounding."""
    rows = sp.csr_array(P)
    if (changed := (rows.data < 0) & (rows.data > _BELOW_ZERO)).any():
        rows = rows.copy()
        rows.data[changed] = 0
    totals, lowest = rows.sum(axis=1), rows.min(axis=1).toarray()
    off = abs(totals - 1) * (totals != 0)
    near = np.flatnonzero((off > _ROUNDED) & (off <= _MOST) & (lowest >= 0))
    bad = (off > _ROUNDED) | (lowest < 0)
    bad[near] = off[near] > _by_rounding(rows[near])
    if bad.any():
        row = int(bad.argmax())
        values = rows[[row]].toarray()
        found = f"has {lowest[row]:g}" if lowest[row] < 0 else f"sums to {totals[row]:.6g}: divide each row by its sum"
        if lowest[row] >= 0 and np.isin(values, (0, 1)).all():
            found += ". A matrix of several labels a row is itself a y. For sets of possible classes write sets"
        wanted = "be nonnegative and sum to 1 in each row, or be 0 (unlabeled)"
        raise ValueError(f"probabilities must {wanted}; row {row} {found}")
    if (far := off > _TOLERANCE).any() or changed.any():
        sums = np.repeat(np.where(far, totals, 1.0), np.diff(rows.indptr))
        rows = sp.csr_array((rows.data / sums, rows.indices, rows.indptr), shape=P.shape)
        return rows if sp.issparse(P) else rows.toarray()
    return P


def _by_rounding(P: sp.csr_array) -> np.ndarray:
    """How far from 1 the sum of each row can be, if all of its values have the fewest decimals that they may have."""
    rows, allowed = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr)), np.zeros(P.shape[0])
    for digits in range(2, 7):
        others = abs(P.data - P.data.round(digits)) > 2**-11 * P.data  # of which float16 leaves more
        rounded = np.bincount(rows[others], minlength=len(allowed)) == 0
        allowed = np.maximum(allowed, rounded * P.shape[1] * 0.501 * 10.0**-digits)
    return allowed


def _names(classes: Any, width: int) -> np.ndarray:
    names = _markers.column(classes, "classes")
    if names.shape != (width,):
        raise ValueError(f"classes must have {width} names, one a column; it has the shape {names.shape}")
    if len(set(names.tolist())) < width:
        raise ValueError(f"classes have a name twice: {names.tolist()}")
    return _markers.in_one_type(names, "classes")
