"""What a session is made of, checked: its rows and their names, its model, its classes."""

from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from fewlabel._inputs import _markers


def check(rows: Any, model: Any, classes: Any, show: Any) -> None:
    """Raise what names an argument of another kind."""
    if not hasattr(model, "fit") or isinstance(model, type):
        raise TypeError(f"model must be a classifier, or a pipeline that ends in one, got {_named(model)}")
    if isinstance(classes, str):
        raise TypeError(f"classes must be a list of classes, got the text {classes!r}")
    if isinstance(rows, str | bytes) or not (hasattr(rows, "__len__") or hasattr(rows, "shape")):
        raise TypeError(f"rows must be a list, a data frame or a matrix, got {_named(rows)}")
    if not (show is None or callable(show) or show in getattr(rows, "columns", ())):
        raise ValueError(f"show must be a column of the data frame rows, a function or None, got {show!r}")


def _named(value: Any) -> str:
    """What a value is, for messages."""
    return f"the class {value.__name__}: write {value.__name__}()" if isinstance(value, type) else type(value).__name__


def names(rows: Any) -> list[Any]:
    """Names of the rows: the index of a data frame or series, otherwise their positions."""
    if not (n := _num_samples(rows)):
        raise ValueError("rows is empty")
    if not hasattr(rows, "iloc"):
        return list(range(n))
    found = rows.index.tolist()
    if wrong := [name for name in found if isinstance(name, bool) or not isinstance(name, int | str)]:
        raise ValueError(f"the index of rows must hold integers or texts, found {wrong[0]!r}")
    if not rows.index.is_unique:
        raise ValueError(f"the index of rows must be unique, {rows.index[rows.index.duplicated()][0]!r} is repeated")
    return found


def label(label: Any, marker: Any, beside: Any) -> Any:
    """A class as it stands in the file. marker: of rows without one; beside: another class, or the same."""
    label = label.item() if isinstance(label, np.generic) else label
    if label is not None and not isinstance(label, str | bool | int | float):
        raise ValueError(f"a class must be a text, a number or a bool, got {label!r}")
    if label == "":
        raise ValueError("a class must not be an empty text")
    if label is None or _markers.marked(np.array([label], dtype=object), marker)[0].any():
        raise ValueError(f"{label!r} marks rows without a label, so it cannot be a class")
    if not isinstance(label, str) and not (abs(label) < 2**63 and label == int(label)):
        raise ValueError(f"a class that is a number must be whole and below 2**63, got {label!r}")
    beside = label if beside is None else beside
    if isinstance(beside, str) != isinstance(label, str):
        raise ValueError(f"classes must be all texts or all numbers, got several types: {beside!r} and {label!r}")
    return label
