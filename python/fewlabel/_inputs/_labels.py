"""Labels: which rows have one, which classes there are, and class numbers for the library."""

import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Number, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from fewlabel._inputs import _weak
from fewlabel._native import _fit

UNLABELED = -1  # class number of a row without a label
_SIMILAR = 2 / 3  # ratio of two frequencies above which the rows of -1 look like a third class
_RARE = 0.1  # frequency of -1 relative to that of 1 below which -1 is hardly the other class
FEWEST = 5  # rows of -1 below which their frequency is not significant


class Given(NamedTuple):
    """Labels as given, separated from markers."""

    values: np.ndarray  # (n_labeled,) labels in the order of the rows, in the dtype that classes_ will have
    labeled: np.ndarray  # (n,) bool
    minus_one: np.ndarray  # (n,) bool: "auto" treats -1 as the marker
    auto: bool
    weak: _weak.Weak | None = None  # rows without a label of which something is known

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Labels of these rows, all of which are labeled."""
        return self.values[np.cumsum(self.labeled)[rows] - 1]

    def or_none(self) -> np.ndarray:
        """Labels (n,), or None."""
        found = np.full(len(self.labeled), None, dtype=object)
        found[self.labeled] = self.values
        return found


class Labels(NamedTuple):
    """Classes and the class number of every row."""

    classes: np.ndarray  # (K,) sorted, without marker
    codes: np.ndarray  # (n,) int32, number in `classes`, or -1: unlabeled


def read(y: Any, unlabeled: Any = "auto", *, weak: bool = False) -> Given:
    """Separate labels from markers, and if `weak` from sets of classes and probabilities, which are refused otherwise.

    With "auto", the markers are -1 in numbers, NaN in floats, None, NaN, pandas.NA and -1 in objects, and the text
    "-1". With None there is no marker: every row is labeled. Any other value is the marker.
    """
    y = _weak.of_lists(y)
    if _weak.is_matrix(y):
        _refuse_weak(weak)
        labeled, labels, rest = _weak.of_matrix(y)
        return Given(labels, labeled, np.zeros(len(labeled), dtype=bool), False, rest if len(rest.rows) else None)
    values = _as_1d(y)
    separated = _weak.separate(values)
    if separated is not None:
        _refuse_weak(weak)
        values = separated.values
    auto = isinstance(unlabeled, str) and unlabeled == "auto"
    minus_one = np.zeros(len(values), dtype=bool)
    if unlabeled is None:
        marked = np.zeros(len(values), dtype=bool)
    elif auto:
        missing, minus_one = auto_markers(values)
        marked = missing | minus_one
    else:
        marked = equal(values, unlabeled)
    known: _weak.Weak | None = None
    if separated is None or not len(separated.rows):
        labels = _plain(values[~marked], np.flatnonzero(~marked), unlabeled)
    else:
        marked[separated.rows] = True
        labels, known = _with_sets(values[~marked], np.flatnonzero(~marked), separated, unlabeled)
    assert_all_finite(labels, input_name="y")
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must hold class labels")
    if len(labels):
        # Twice: scikit-learn would treat many classes with one label each as a regression target, and warn.
        check_classification_targets(np.tile(labels, 2))
    return Given(labels, ~marked, minus_one, auto, known)


def _refuse_weak(weak: bool) -> None:
    if not weak:
        raise ValueError(
            "y has sets or groups of classes or several columns, which are not supported here: y must have one label "
            "or marker a row. Sets and probabilities of classes are for `fit` of TransductiveSVC and "
            "SemiSupervisedLogisticRegression"
        )


def _with_sets(
    labels: np.ndarray, rows: np.ndarray, separated: _weak.Separated, unlabeled: Any
) -> tuple[np.ndarray, _weak.Weak]:
    """Labels and the elements of sets in one dtype."""
    elements = [element for each in separated.sets for element in each]
    places = np.repeat(separated.rows, [len(each) for each in separated.sets])
    both = np.empty(len(labels) + len(elements), dtype=object)
    both[: len(labels)], both[len(labels) :] = labels.tolist(), elements
    for element, row in zip(elements, places, strict=True):
        if _is_missing(element) or (isinstance(unlabeled, str) and unlabeled == "auto" and _is_minus_one(element)):
            raise ValueError(f"y has the marker {element!r} within a set of classes in row {row}")
    plain = _plain(both, np.concatenate([rows, places]), unlabeled)
    return plain[: len(labels)], _weak.of_sets(separated.rows, separated.sets, plain[len(labels) :])


def with_groups(given: Given, hierarchy: Any, names: Iterable[Any] | None = None) -> Given:
    """Groups of a class tree, as labels and within sets, as sets of the classes below them.

    `names` are the labels of all rows if others than these have some.
    """
    below = _weak.leaves(hierarchy, given.values.tolist() if names is None else list(names))
    groups = np.array([name in below for name in given.values.tolist()], dtype=bool)
    within = [] if given.weak is None else [name for name in given.weak.classes.tolist() if name in below]
    if not groups.any() and not within:
        return given
    places = np.flatnonzero(given.labeled)
    mixed = np.empty(len(given.labeled), dtype=object)
    mixed[places] = given.values
    for row, name in zip(places[groups], given.values[groups].tolist(), strict=True):
        mixed[row] = set(below[name])
    if given.weak is not None:
        for row, p in zip(given.weak.rows, given.weak.probabilities, strict=True):
            if np.unique(p[p > 0]).size > 1:
                name = (within or given.values[groups].tolist())[0]
                raise ValueError(f"y has labels that are groups of hierarchy ({name!r}) beside probabilities")
            mixed[row] = {leaf for name in given.weak.classes[p > 0].tolist() for leaf in below.get(name, [name])}
    found = read(mixed, float("nan"), weak=True)
    return found._replace(minus_one=given.minus_one, auto=given.auto)


def named(reason: ValueError, classes: np.ndarray) -> ValueError:
    """The error of shares that sets of classes contradict, with names in place of class numbers."""
    text, numbers = str(reason), " (class numbers start at 0)"
    if not (text.startswith("class_prior ") and text.endswith(numbers)):
        return reason
    return ValueError(
        re.sub(
            r"(class )(\d+(?:, \d+)*)", lambda m: m[1] + listed(classes[[int(k) for k in m[2].split(", ")]]), text
        ).removesuffix(numbers)
    )


def native(given: Given, labels: Labels, weights: np.ndarray | None) -> _fit.Labels:
    """The labels for the library."""
    n_classes = 0 if len(labels.classes) < 2 else len(labels.classes)
    entries = None
    if given.weak is not None:
        entries = _weak.entries(given.weak, len(given.labeled), labels.classes, weights)
    return _fit.Labels(labels.codes, n_classes, *(entries or ()))


def encode(given: Given, weights: np.ndarray | None = None) -> Labels:
    """Number the classes. A row of weight 0 is ignored, including its label."""
    labeled, values, minus_one = given.labeled, given.values, given.minus_one
    if weights is not None:
        values = values[weights[labeled] > 0]
        labeled, minus_one = labeled & (weights > 0), minus_one & (weights > 0)
    if not labeled.any():
        if given.weak is not None and len(names := given.weak.names(weights)):
            return Labels(names, np.full(len(labeled), UNLABELED, dtype=np.int32))
        raise ValueError(
            "y has no labeled row: every label is the marker of unlabeled rows (see the parameter `unlabeled`) or has "
            "sample_weight 0. Give at least one row of each class a label."
        )
    classes, numbers = np.unique(values, return_inverse=True)
    if given.auto:
        refuse_ambiguous(classes, np.bincount(numbers).tolist(), int(minus_one.sum()))
    codes = np.full(len(labeled), UNLABELED, dtype=np.int32)
    codes[labeled] = numbers
    return Labels(classes, codes)


def with_classes_of(class_prior: Any, labels: Labels) -> Labels:
    """Add the classes that have no labeled row but an entry in the dict `class_prior`."""
    known = set(labels.classes.tolist())
    if not isinstance(class_prior, Mapping):
        return labels
    added = [name for name in class_prior if name not in known]
    if not added:
        return labels
    _refuse_other_kinds(added, labels.classes)
    dtype = None if labels.classes.dtype.kind in "Uiuf" else labels.classes.dtype  # None: longer texts, larger numbers
    classes = np.unique(np.concatenate([labels.classes, np.array(added, dtype=dtype)]))
    moved = np.append(np.searchsorted(classes, labels.classes), UNLABELED).astype(np.int32)
    if len(classes) > len(labels.codes):
        raise ValueError(
            f"class_prior names {listed(np.array(added, dtype=object))} in addition to the classes with labeled rows: "
            f"{len(classes)} classes, more than the {len(labels.codes)} rows"
        )
    return Labels(classes, moved[labels.codes])


def _refuse_other_kinds(added: list[Any], classes: np.ndarray) -> None:
    """Reject a name of another type than the labels: it is a mistake, not a class without labels."""
    kind = next(kind for kind in (str, bool | np.bool_, Integral, Real, object) if isinstance(classes[0], kind))
    wrong = [name for name in added if not isinstance(name, kind) or _is_missing(name)]
    if wrong:
        raise ValueError(
            f"class_prior must have one entry for each class with labeled rows ({listed(classes)}), and may have "
            f"others only for classes without labeled rows, with names of the same type; unknown: {wrong}"
        )


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


def _as_1d(y: Any) -> np.ndarray:
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


def auto_markers(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows marked as missing, and rows marked with -1."""
    kind = values.dtype.kind
    if kind == "O":
        return _each(values, _is_missing), _each(values, _is_minus_one)
    none = np.zeros(len(values), dtype=bool)
    minus_one = values == ("-1" if kind == "U" else -1) if kind in "fiU" else none
    return (np.isnan(values) if kind == "f" else none), minus_one


def equal(values: np.ndarray, marker: Any) -> np.ndarray:
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


def _plain(labels: np.ndarray, rows: np.ndarray, unlabeled: Any) -> np.ndarray:
    """Labels of an object array in the plain dtype that holds them; texts stay objects."""
    if labels.dtype.kind != "O":
        return labels
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


def listed(classes: np.ndarray, most: int = 12) -> str:
    """The names of classes for a message, at most the first few."""
    names = [str(name) for name in classes[:most]]
    return ", ".join(names) + (", ..." if len(classes) > most else "")
