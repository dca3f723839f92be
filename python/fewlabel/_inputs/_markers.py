"""Labels and markers of unlabeled rows as values: read from any container, told apart, and in one type."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import Enum
from itertools import groupby
from numbers import Integral, Number, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import assert_all_finite, column_or_1d

from fewlabel._inputs import _data
from fewlabel._inputs._numbers import check_text
from fewlabel._warnings import DataWarning, warn

_RARE = 0.1  # frequency of -1 relative to that of 1 below which -1 is hardly the other class
_FEWEST = 5  # rows below which a frequency is not significant
_LIKELY_MARKERS = {"?", "_", "na", "n/a", "<na>", "nan", "nat", "none", "null", "unlabeled", "unlabelled"}
ALMOST = "have almost the same name"
# Letters of Greek and Cyrillic that look like a Latin one.
_LATIN = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοϲϳАВЕКМНОРСТХІЈЅаеорсухіјѕһԛԝ‐‑‒–—−‘’‛′“”″",
    "ABEZHIKMNOPTYXocjABEKMHOPCTXIJSaeopcyxijshqw------''''\"\"\"",
)
_PLAIN = (str, bool, int, float, np.generic)  # if all values are of one of these types, NumPy changes none
_KINDS: tuple[tuple[Any, Any], ...] = ((str, object), (bool | np.bool_, bool), (Integral, np.int64), (Real, np.float64))


# ------------------------------------------------------------------ containers
def table(y: Any, name: str) -> np.ndarray:
    """The entries of any container as an array of one or two dimensions; missing and masked ones are None or NaN."""
    values = _entries(y, name)
    if values.ndim not in (1, 2) or values.shape[1:] == (0,) or values.dtype.kind == "V":
        found = f"{values.dtype} of shape {values.shape}" if values.ndim else type(y).__name__
        raise ValueError(f"{name} must have an entry for each row, or a list of entries; got {found}")
    return values


def _entries(y: Any, name: str) -> np.ndarray:
    if sp.issparse(y):
        return _data.dense(y, name, copies=3)
    y = unpacked(y)
    if isinstance(y, list | tuple):
        widths = {len(row) if is_list(row) else 0 for row in y}
        if len(widths) != 1 or not (width := widths.pop()):
            return _array(y)
        return _array([value for row in y for value in row]).reshape(len(y), width)
    if isinstance(y, np.ma.MaskedArray) and y.mask.any():
        hidden, y = y.mask, y.data.astype(object)
        y[hidden] = None
    kinds = y.dtypes if hasattr(y, "columns") else [getattr(y, "dtype", np.dtype(int))]
    plain = all(isinstance(kind, np.dtype) and kind.kind not in "OT" for kind in kinds)
    if not plain and hasattr(y, "astype"):  # integers beside pandas.NA would become floats
        y = y.astype(object)
    return np.asarray(y, dtype=None if plain else object)


def unpacked(y: Any) -> Any:
    """What Arrow or Polars hold, as NumPy would turn integers beside nulls into floats; others unchanged."""
    if isinstance(getattr(y, "dtype", None), np.dtype) or hasattr(y, "iloc"):
        return y
    if hasattr(y, "to_pydict"):  # a table of Arrow
        return list(zip(*(column.to_pylist() for column in y.columns), strict=True))
    if hasattr(y, "rows"):  # a frame of Polars
        return y.rows()
    values = getattr(y, "to_pylist", getattr(y, "to_list", None))
    return y if values is None else _array(values())


def column(y: Any, name: str) -> np.ndarray:
    """The same of one label a row. A list of one label is the label, and a list without any is None."""
    values = table(y, name)
    values = values if values.ndim == 1 else column_or_1d(values, warn=True)
    lists = [i for i, value in enumerate(values) if is_list(value)] if values.dtype.kind == "O" else []
    values = values.copy() if lists else values
    for i in lists:
        labels = list(values[i])
        if len(labels) > 1:
            several = "give a matrix of 0 and 1 (MultiLabelBinarizer), with -1 in the rows without any"
            cure = f"If all are right, {several}; if the row may have any of these classes, write a set of them"
            raise ValueError(f"{name} has the labels {values[i]!s:.80} in row {i}. {cure}")
        values[i] = labels[0] if labels else None
    return values


def is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _array(values: Any) -> np.ndarray:
    """One-dimensional, of objects unless all values have one plain type: None, NaN and integers stay what they are."""
    kinds = set(map(type, values))
    if len(kinds) == 1 and issubclass(kind := next(iter(kinds)), _PLAIN):
        texts = [*map(plain, values)] if issubclass(kind, str) else []
        if "\0" in "".join(texts):  # of which NumPy leaves out the last
            return objects(texts)
        found = np.asarray(texts or values)
        if found.dtype.kind == "i" or kind is not int:
            return found
    return objects(values)


def objects(values: Any) -> np.ndarray:
    return np.fromiter(values, dtype=object, count=len(values))


def plain(name: Any) -> Any:
    """A name in Python's own type: of NumPy's scalars, and of members of an Enum that are texts or numbers."""
    if isinstance(name, str):
        return str.__str__(name)
    if isinstance(name, Enum) and isinstance(name, Number):
        return name.value
    return name.item() if isinstance(name, np.generic) else name


def text(name: Any) -> str:
    """A name as a text: of members of an Enum their value."""
    return str(plain(name) if isinstance(name, str | Enum) else name)


# ------------------------------------------------------------------ markers
def is_auto(parameter: Any) -> bool:
    """Whether the marker, or another parameter, is to be found."""
    return isinstance(parameter, str) and parameter == "auto"


def marked(values: np.ndarray, unlabeled: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which values are markers, and which of these are -1 by "auto".

    With "auto", the markers are None, NaN and pandas.NA; if there are none, -1 and the text "-1". With None there is no
    marker: every row is labeled. Any other value is the marker.
    """
    none = np.zeros(len(values), dtype=bool)
    if hasattr(unlabeled, "__iter__") and not isinstance(unlabeled, str | bytes | type):
        raise ValueError(f"unlabeled must be the one marker of unlabeled rows, got {unlabeled!r:.60}")
    if unlabeled is None:
        return none, none
    if not is_auto(unlabeled):
        return _equal(values, unlabeled), none
    missing = _equal(values, None)
    minus_one = none if missing.any() else _equal(values, -1)
    return missing | minus_one, minus_one


def of_model(unlabeled: Any, classes: Iterable[Any]) -> Any:
    """The marker in other rows of a model: where -1 is a class, "auto" finds None and NaN alone."""
    return np.nan if is_auto(unlabeled) and has_minus_one(classes) else unlabeled


def _equal(values: np.ndarray, marker: Any) -> np.ndarray:
    kind = values.dtype.kind
    if is_missing(marker):
        return np.isnan(values) if kind == "f" else _each(values, is_missing) if kind == "O" else values != values
    word = text(marker)  # np.array(["a", 0]) holds the text "0"
    if kind == "U":
        return values == word
    if kind in "biuf" and isinstance(marker, Number):
        return values == marker
    return _each(values, lambda one: _comparable(one) and bool(one == (word if isinstance(one, str) else marker)))


def _comparable(value: Any) -> bool:
    return not (is_missing(value) or isinstance(value, np.timedelta64))  # NumPy is to raise for one and a number


def _each(values: np.ndarray, test: Callable[[Any], bool]) -> np.ndarray:
    return np.fromiter((test(value) for value in values), dtype=bool, count=len(values))


def is_missing(value: Any) -> bool:
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return True
    return value.is_nan() if isinstance(value, Decimal) else isinstance(value, Number) and bool(value != value)


def check_keys(names: Iterable[Any], classes: np.ndarray, unlabeled: Any, minus_one: bool, what: str) -> None:
    """Reject names in `what` that no class can have, and bools beside numbers: True is 1 to a dict, another label."""
    bools = {isinstance(name, bool) for name in classes[:1].tolist()}
    for name in names:
        if isinstance(name, Number | np.bool_) and isinstance(name, bool | np.bool_) not in bools and name in classes:
            raise ValueError(f"{what} names {plain(name)!r}, but the classes are {listed(classes)}: write the same")
        if is_missing(name) and what != "hierarchy":  # which says where it has one
            raise ValueError(f"{what} names {name!r}, which is no class: leave it out")
    refuse_names(names, unlabeled, minus_one, what)


def refuse_names(names: Iterable[Any], unlabeled: Any, minus_one: bool, what: str) -> None:
    """Reject classes or groups that are called as unlabeled rows are marked, or nothing that can be read.

    minus_one: -1 is the marker by "auto". Where `unlabeled` is None, blanks may be a class.
    """
    marker, given = (-1 if minus_one else np.nan) if is_auto(unlabeled) else unlabeled, objects([*names])
    for name, same in zip(given, marked(given, marker)[0], strict=True):
        why = "marks rows without a label" if same else "is blank" * (unlabeled is not None and is_blank(name))
        if why:
            cure = "leave it out, or give the class or group another name"
            raise ValueError(f"{what} names {name!r}, which {why}: {cure}")


def refuse_signs(classes: np.ndarray, counts: np.ndarray, minus_one: int) -> None:
    """Reject labels as of SVMlight and SVMlin, where -1 is a class; `minus_one` rows have it as the marker.

    There 0 marks most rows, and -1 is not rare beside 1. Where few rows are unlabeled, -1 is.
    """
    names = _names(classes) if minus_one else []
    if names in (["1"], ["True"]):
        raise ValueError(
            "y holds only 1 and -1, which is ambiguous. If -1 marks unlabeled rows, only class 1 has labels: label "
            "rows of another one, or pass unlabeled=-1 and name that by a dict class_prior. If 1 and -1 are the two "
            "classes, pass unlabeled=0 (as in SVMlight and SVMlin files) or unlabeled=None (every row is labeled)."
        )
    if names == ["0", "1"] and counts[0] > minus_one + counts[1] and minus_one >= _RARE * counts[1]:
        raise ValueError(
            f"y holds {minus_one} rows of -1, {counts[0]} of 0 and {counts[1]} of 1, which is ambiguous. If -1 marks "
            "unlabeled rows, pass unlabeled=-1. If 0 does and -1 is a class, as in SVMlight files, pass unlabeled=0."
        )


def warn_of_three(classes: np.ndarray, counts: np.ndarray, minus_one: int) -> None:
    """Warn where -1, 0 and 1 are about as frequent, as three classes are."""
    sizes = [minus_one, *counts.tolist()]
    if _names(classes) == ["0", "1"] and min(sizes) >= _FEWEST and 2 * max(sizes) <= 3 * min(sizes):
        found = f"y has {minus_one} rows of -1, {counts[0]} of 0 and {counts[1]} of 1: those of -1 are unlabeled"
        warn(f"{found}. If these are three classes, pass unlabeled=None; unlabeled=-1 confirms it.", DataWarning)


def refuse_texts(classes: np.ndarray, counts: np.ndarray, unlabeled: Any, every: bool, what: str = "y") -> None:
    """Warn of a blank class, and where `every` row has a label of one that reads like a marker; reject one of most.

    None becomes such a class in a cast to text.
    """
    for name, count in zip(classes.tolist(), counts.tolist(), strict=True):
        if unlabeled is None or not (is_blank(name) or (every and str(name).strip().lower() in _LIKELY_MARKERS)):
            continue
        found = f"{count} of {counts.sum()} labels in {what} are {name!r}, which reads like a marker"
        cure = f"If it marks rows without a label, pass unlabeled={name!r}. If it is a class, pass unlabeled=None"
        if 2 * count > counts.sum():
            raise ValueError(f"{found}. {cure}")
        if every:
            warn(f"{found}, and no row is unlabeled. {cure}.", DataWarning)
        else:
            warn_of_blanks([name], what)


def warn_of_blanks(names: Iterable[Any], what: str = "y") -> None:
    for name in filter(is_blank, names):
        cure = "write the marker of unlabeled rows, or a name"
        warn(f"{what} has a class with the blank name {name!r}: {cure}.", DataWarning)


def has_minus_one(classes: Iterable[Any]) -> bool:
    """Whether -1 is a class, so that it is no marker."""
    return "-1" in _names(classes)


def _names(classes: Iterable[Any]) -> list[str]:
    """Of numbers, the same in every type."""
    return [str(name).removesuffix(".0") for name in classes]


# ------------------------------------------------------------------ labels of one type
def as_labels(labels: np.ndarray, rows: np.ndarray, unlabeled: Any, name: str) -> np.ndarray:
    """Labels of these rows, of objects in the plain dtype that holds them; texts stay objects."""
    if labels.dtype.kind == "O" and (missing := _each(labels, is_missing)).any():
        found = f"{name} has {labels[missing][0]!s} in row {rows[missing][0]}, which is not the marker"
        means = " (every row is labeled)" if unlabeled is None else ""
        raise ValueError(f"{found} set by unlabeled={unlabeled!r}{means}. None and NaN are markers with 'auto'.")
    return in_one_type(labels, name, rows)


def in_one_type(labels: np.ndarray, name: str, rows: np.ndarray | None = None) -> np.ndarray:
    """Names of classes, of objects in the plain dtype that holds them; texts stay objects."""
    kinds = set(map(type, labels)) if labels.dtype.kind == "O" else {labels.dtype.type}
    dtypes = [dtype for kind, dtype in _KINDS if all(issubclass(each, kind) for each in kinds)]
    beside = bool in kinds and not kinds <= {bool, np.bool_}  # where True would be the integer 1
    if not dtypes or beside or any(issubclass(kind, np.timedelta64) for kind in kinds):  # an integer for NumPy
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        several = f"{name} mixes labels of several types: {names}. Make them all text or all numbers."
        one = f"{name}: labels of type {names.rstrip('_')} are not supported: give texts, numbers or bools"
        raise ValueError(several if len(kinds) > 1 else one)
    if labels.dtype.kind == "O":
        try:
            labels = objects([text(name) for name in labels]) if dtypes[0] is object else labels.astype(dtypes[0])
        except OverflowError:
            raise ValueError(f"{name} has the label {max(labels, key=abs)}: integers end at {2**63 - 1}") from None
    if dtypes[0] is object and "\0" in "".join(labels.tolist()):
        check_text(f"a class in {name}", next(label for label in labels.tolist() if "\0" in label))
    assert_all_finite(labels, input_name=name)
    if labels.dtype.kind == "i" and labels.itemsize > 2 and (labels == np.iinfo(labels.dtype).min).any():
        raise ValueError(f"{name} has the label {labels.min()}, which NaN becomes in a cast: write -1 or None for NaN")
    if labels.dtype.kind == "f" and (large := np.abs(labels) >= 2 / np.finfo(labels.dtype).eps).any():
        cure = "read labels as integers, with None or -1 in rows without one (in pandas dtype='Int64')"
        found = f"the label {labels[large][0]:.0f} as {labels.dtype}, which cannot tell it from its neighbors"
        raise ValueError(f"{name} has {found}: {cure}")
    if labels.dtype.kind == "f" and (part := labels != np.trunc(labels)).any():
        where = "" if rows is None else f" in row {rows[part.argmax()]}"
        found = f"{name} has the label {labels[part][0]}{where}, which is not whole (Unknown label type: continuous)"
        raise ValueError(f"{found}: classes are texts, whole numbers or bools. To keep it as a class, write texts")
    return labels


def kind_of(value: Any) -> Any:
    """The type of labels to which a name belongs."""
    kinds = () if isinstance(value, np.timedelta64) else (str, bool | np.bool_, Integral, Real)  # an integer for NumPy
    return next((kind for kind in kinds if isinstance(value, kind)), object)


def is_of_kind(value: Any, kind: Any) -> bool:
    """Whether a name can be a class beside others of this type."""
    bools = isinstance(value, bool | np.bool_), kind == bool | np.bool_  # which are numbers, too
    return isinstance(value, kind) and len({*bools}) == 1 and not is_missing(value)


def listed(classes: np.ndarray, most: int = 12) -> str:
    """The names of classes for a message, at most the first few."""
    names = [text(name) for name in classes[:most]]
    return ", ".join(names) + (", ..." if len(classes) > most else "")


# ------------------------------------------------------------------ names that look the same
def alike(classes: Iterable[Any], same: Callable[[str], str] | None = None) -> list[list[Any]]:
    """Groups of classes that differ only in case, accents, spaces, hyphens, underscores or how they are encoded."""
    names = sorted((name for name in classes if isinstance(name, str)), key=same or letters)
    return [group for _, found in groupby(names, same or letters) if len(group := [*found]) > 1]


def _seen(name: str) -> str:
    """What is seen of a name; of more than two letters in lower case."""
    shown = "".join(c for c in unicodedata.normalize("NFKC", name) if not _is_unseen(c)).translate(_LATIN)
    return " ".join((shown.casefold() if len(shown) > 2 else shown).split())


def letters(name: str) -> str:
    """What is read of a name; "" if it is blank."""
    plain = unicodedata.normalize("NFKD", name).translate(_LATIN)
    read = "".join(c for c in plain if not "\u0300" <= c < "\u0370" and not _is_unseen(c))
    return re.sub(r"(?<=[^\W\d])[\s_-]+(?=\w)|(?<=\d)[\s_-]+(?=[^\W\d])", "", read.casefold().strip())  # not from 1-5


def is_blank(name: Any) -> bool:
    """Whether it is a text in which nothing can be read."""
    return isinstance(name, str) and not re.search("[!-~]", name) and not letters(name.strip()[:1000])


def _is_unseen(c: str) -> bool:
    """Whether it is of no width, a blank of Braille or Hangul, or a choice of a variant; other blanks stay."""
    hidden = unicodedata.category(c) in ("Cf", "Cc") and not c.isspace()
    return hidden or "\ufe00" <= c < "\ufe10" or c in "\u2800\u3164\u115f\u1160\uffa0"


def almost_the_same(names: list[str]) -> str:
    """That classes are probably one; those that are printed the same in escapes."""
    several = len({unicodedata.normalize("NFC", name).translate(_LATIN) for name in names}) == len(names)
    return f"the classes {', '.join(map(repr if several else ascii, names))} {ALMOST}"


def warn_of_names(classes: Iterable[Any], known: Iterable[Any] = ()) -> None:
    """Warn of classes that are probably one, and beside `known` ones of blanks, but not of those that are known."""
    every, known = dict.fromkeys([*known, *classes]), {*known}
    if groups := [group for group in alike(every, _seen) if not known.issuperset(group)]:
        found = "; ".join(map(almost_the_same, groups[:3])) + "; and others" * (len(groups) > 3)
        warn(f"{found}: write one name if they are one class.", DataWarning)
    if known:
        warn_of_blanks({*every} - known)
