"""Labels and markers of unlabeled rows as values: which are which, and in which type."""

from collections.abc import Callable
from numbers import Integral, Number, Real
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

_SIMILAR = 2 / 3  # ratio of two frequencies above which the rows of -1 look like a third class
_RARE = 0.1  # frequency of -1 relative to that of 1 below which -1 is hardly the other class
FEWEST = 5  # rows of -1 below which their frequency is not significant


def is_auto(unlabeled: Any) -> bool:
    """Whether the marker is to be found."""
    return isinstance(unlabeled, str) and unlabeled == "auto"


def marked(values: np.ndarray, unlabeled: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which values are markers, and which of these are -1 by "auto".

    With "auto", the markers are -1 in numbers, NaN in floats, None, NaN, pandas.NA and -1 in objects, and the text
    "-1". With None there is no marker: every row is labeled. Any other value is the marker.
    """
    none = np.zeros(len(values), dtype=bool)
    if unlabeled is None:
        return none, none
    if not is_auto(unlabeled):
        return _equal(values, unlabeled), none
    kind = values.dtype.kind
    if kind == "O":
        minus_one = _each(values, _is_minus_one)
        return _each(values, _is_missing) | minus_one, minus_one
    minus_one = values == ("-1" if kind == "U" else -1) if kind in "fiU" else none
    return (np.isnan(values) | minus_one if kind == "f" else minus_one), minus_one


def is_marker(value: Any, unlabeled: Any) -> bool:
    """Whether a value marks rows without a label, or could by None and NaN."""
    return _is_missing(value) or (is_auto(unlabeled) and _is_minus_one(value))


def refuse_ambiguous(classes: np.ndarray, counts: list[int], unlabeled: int) -> None:
    """Reject labels for which unlabeled="auto" is ambiguous. `unlabeled` is the number of -1.

    In SVMlight's and SVMlin's files 0 is the marker, and 1 and -1 are the classes. That is likely if only 1 and -1
    occur, or if most rows are 0 and -1 is not rare compared with 1. All three can also be classes, as in sentiment
    analysis. That is likely if they are about equally frequent.
    """
    if classes.dtype.kind in "OU" and (classes == "").any():
        raise ValueError(
            'y has empty texts (""), which are ambiguous. If they mark unlabeled rows, replace them by None, or '
            'pass unlabeled="" if they are the only marker. If "" is a class, pass the marker: unlabeled=None (every '
            'row is labeled), unlabeled="-1" or, for None and NaN, unlabeled=float("nan").'
        )
    names = [str(name).removesuffix(".0") for name in classes]
    if not unlabeled or names not in (["1"], ["True"], ["0", "1"]):
        return
    if len(names) == 1:
        raise ValueError(
            "y holds only 1 and -1, which is ambiguous. If -1 marks unlabeled rows, only class 1 has labels: label "
            "some rows of another class too, or pass unlabeled=-1 and name the class of the others by a dict "
            "class_prior. If 1 and -1 are the two classes, pass unlabeled=0 (0 marks unlabeled "
            "rows, as in SVMlight and SVMlin files) or unlabeled=None (every row is labeled)."
        )
    found = f"y holds {unlabeled} rows of -1, {counts[0]} of 0 and {counts[1]} of 1, which is ambiguous."
    cure = "If -1 marks unlabeled rows, pass unlabeled=-1."
    if counts[0] > unlabeled + counts[1] and unlabeled >= _RARE * counts[1]:
        raise ValueError(
            f"{found} {cure} If 0 marks unlabeled rows and -1 is a class, as in SVMlight and SVMlin files, pass "
            "unlabeled=0."
        )
    if unlabeled >= FEWEST and all(_SIMILAR * unlabeled <= n <= unlabeled / _SIMILAR for n in counts):
        raise ValueError(f"{found} {cure} If -1, 0 and 1 are three classes, pass unlabeled=None: every row is labeled.")


def as_1d(y: Any) -> np.ndarray:
    if isinstance(y, list | tuple) and any(isinstance(v, str) for v in y) and not all(isinstance(v, str) for v in y):
        array = np.empty(len(y), dtype=object)  # np.asarray would turn None and NaN into texts
        array[:] = y
    elif not isinstance(getattr(y, "dtype", np.dtype(object)), np.dtype):
        array = np.asarray(y, dtype=object)  # pandas would turn integers beside pandas.NA into floats
    else:
        try:
            array = np.asarray(y)
        except ValueError as reason:  # rows of several lengths
            raise ValueError("y holds lists of several lengths: write sets of classes as sets, {0, 1}") from reason
    if array.ndim != 1:
        array = column_or_1d(array, warn=True)
    return array


def _equal(values: np.ndarray, marker: Any) -> np.ndarray:
    if _is_missing(marker):
        return _each(values, _is_missing)
    text = str(marker)  # np.array(["a", 0]) holds the text "0"
    if values.dtype.kind == "U":
        return values == text
    if values.dtype.kind in "biuf" and isinstance(marker, Number):
        return values == marker

    def is_marker(value: Any) -> bool:
        return not _is_missing(value) and bool(value == (text if isinstance(value, str) else marker))

    return _each(values, is_marker)


def _each(values: np.ndarray, test: Callable[[Any], bool]) -> np.ndarray:
    return np.fromiter((test(value) for value in values), dtype=bool, count=len(values))


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # pandas.NA, pandas.NaT
        return True
    return isinstance(value, Number) and bool(value != value)


def _is_minus_one(value: Any) -> bool:
    return isinstance(value, str | Number) and value in (-1, "-1")


def as_labels(labels: np.ndarray, rows: np.ndarray, unlabeled: Any) -> np.ndarray:
    """Labels of these rows, of objects in the plain dtype that holds them; texts stay objects."""
    if labels.dtype.kind == "O":
        labels = _in_one_type(labels, rows, unlabeled)
    assert_all_finite(labels, input_name="y")
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must hold class labels")
    if len(labels):
        # Twice: scikit-learn would treat many classes with one label each as a regression target, and warn.
        check_classification_targets(np.tile(labels, 2))
    return labels


def _in_one_type(labels: np.ndarray, rows: np.ndarray, unlabeled: Any) -> np.ndarray:
    for value, row in zip(labels, rows, strict=True):
        if _is_missing(value):
            raise ValueError(
                f"y has {value!r} in row {row}, which is not the marker set by unlabeled={unlabeled!r}"
                + (" (every row is labeled)" if unlabeled is None else "")
                + ". None and NaN are markers with the default, unlabeled='auto'."
            )
    for kind, dtype in ((str, object), (bool | np.bool_, bool), (Integral, np.int64), (Real, np.float64)):
        if all(isinstance(value, kind) for value in labels):
            return labels.astype(dtype)
    kinds = sorted({type(value).__name__ for value in labels})
    if several := next((value for value in labels if isinstance(value, list | tuple)), None):
        raise ValueError(f"y has {several!s:.80}: if the row may have any of these classes, write a set of them")
    raise ValueError(f"y mixes labels of several types: {', '.join(kinds)}. Make them all text or all numbers.")


def kind_of(value: Any) -> Any:
    """The type of labels to which a name belongs."""
    return next(kind for kind in (str, bool | np.bool_, Integral, Real, object) if isinstance(value, kind))


def is_of_kind(value: Any, kind: Any) -> bool:
    """Whether a name can be a class beside others of this type."""
    return isinstance(value, kind) and not _is_missing(value)


def listed(classes: np.ndarray, most: int = 12) -> str:
    """The names of classes for a message, at most the first few."""
    names = [str(name) for name in classes[:most]]
    return ", ".join(names) + (", ..." if len(classes) > most else "")
