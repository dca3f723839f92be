"""What the events of a session come to, the answer that stands for each row and the classes; and its arguments."""

import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from fewlabel._inputs import _markers
from fewlabel.labeling._journal import CLASSES, Event, Journal


class Answers(NamedTuple):
    """The answers under the present names of the classes."""

    rows: dict[Any, Event]  # the last answer for each row that has one, in order; "not" lists all classes
    descriptions: dict[Any, Any]  # of classes: texts, and of vectors the class that the call gave them
    classes: list[Any]  # those given in advance, then those of answers, in the order in which they first came
    renames: list[Event]

    @property
    def known(self) -> dict[Any, Any]:
        """The class of each row that has one."""
        return {row: answer["class"] for row, answer in self.rows.items() if "class" in answer}

    @property
    def learned(self) -> set[Any]:
        """The classes of a fit."""
        return {*self.known.values(), *self.descriptions}


def read(given: Iterable[Any], journal: Journal) -> Answers:
    """The answers; classes of withdrawn ones keep their places, should they come again."""
    standing = {id(event) for event in journal.standing()}
    given, later = [*given], {event["given"] for event in journal.events if "given" in event}
    present = {name: name for name in given if name not in later}  # the class of each name of the calls so far
    described = dict[Any, tuple[Any, Any]]()  # the name in the calls, if any, and the text
    rows, order, renames = dict[Any, Event](), list[Any](), list[Event]()
    for event in journal.events:
        order += [event[name] for name in ("class", "describe") if name in event]
        if "given" in event:
            _give(event["given"], event.get("text", event["given"]), present, described)
        if id(event) not in standing:
            continue
        if "describe" in event:
            described[event["describe"]] = described.get(event["describe"], (None,))[0], event["text"]
        elif "rename" in event:
            merged = event["to"] in {*present.values(), *described, *(answer.get("class") for answer in rows.values())}
            kept = {name: described[name] for name in {event["to"]} & described.keys()}  # of two that are one now
            described = dict(zip(renamed([*described], [event]), described.values(), strict=True)) | kept
            present = dict(zip(present, renamed([*present.values()], [event]), strict=True))
            rows = {row: new for row, answer in rows.items() if (new := _renamed(answer, event, merged))}
            order, renames = renamed(order, [event]), [*renames, event]
        else:
            before = rows.pop(event["row"], {})
            rows[event["row"]] = event | ({"not": [*before.get("not", []), event["not"]]} if "not" in event else {})
    current = {*present.values(), *described, *(answer["class"] for answer in rows.values() if "class" in answer)}
    order = [name for name in dict.fromkeys([*(present[name] for name in given), *order]) if name in current]
    return Answers(rows, {name: text for name, (_, text) in described.items()}, order, renames)


def _give(name: Any, text: Any, present: dict[Any, Any], described: dict[Any, tuple[Any, Any]]) -> None:
    """Add a description of a call. Renames since the first call with its name count; a merge ends one of two names."""
    edited = [one for one, (source, _) in described.items() if source == name] if name in present else [name]
    described |= dict.fromkeys(edited, (name, text))
    present.setdefault(name, name)


def renamed(classes: list[Any], renames: Iterable[Event]) -> list[Any]:
    for event in renames:
        classes = [event["to"] if name == event["rename"] else name for name in classes]
    return classes


def _renamed(answer: Event, rename: Event, merged: bool) -> Event | None:
    """An answer; None if it rules out one of two classes that are one now: that says nothing of both."""
    new = {name: renamed([answer[name]], [rename])[0] for name in {*CLASSES} & answer.keys() - {"not"}}
    if "not" in answer:
        both = {rename["rename"], rename["to"]}
        left = [name for name in answer["not"] if not merged or name not in both or both <= {*answer["not"]}]
        new["not"] = [*dict.fromkeys(renamed(left, [rename]))]
        if not new["not"]:
            return None
    return answer | new


def alike(classes: Iterable[Any]) -> list[list[Any]]:
    """Groups of classes that differ only in case, accents, spaces, hyphens or underscores."""
    names = sorted((name for name in classes if isinstance(name, str)), key=_plain)
    return [group for _, found in groupby(names, _plain) if len(group := [*found]) > 1]


def _plain(name: str) -> str:
    letters = "".join(c for c in unicodedata.normalize("NFKD", name) if not "\u0300" <= c < "\u0370").casefold()
    return re.sub(r"(?<=[^\W\d])[\s_-]+(?=\w)|(?<=\d)[\s_-]+(?=[^\W\d])", "", letters.strip())  # not from 1-5


# ------------------------------------------------------------------ arguments
def check(rows: Any, model: Any, classes: Any, descriptions: Any, path: Any, show: Any) -> None:
    """Raise what names an argument of another kind."""
    if not hasattr(model, "fit") or isinstance(model, type):
        raise TypeError(f"model must be a classifier, or a pipeline that ends in one, got {_kind(model)}")
    if isinstance(classes, str | bytes) or not isinstance(classes, Iterable):
        raise TypeError(f"classes must be a list of classes, got {classes!r}")
    if descriptions is not None and not (isinstance(descriptions, Mapping) and descriptions):
        raise TypeError(f"descriptions must be a dict from class to its description, got {descriptions!r:.80}")
    if descriptions is not None and columns_of(rows) is not None:
        raise TypeError("descriptions need rows that are texts or vectors, got a data frame: give its column of texts")
    if not isinstance(path, str | os.PathLike | None):
        raise TypeError(f"path must be that of a file, got {path!r}")
    sized = hasattr(rows, "__len__") or hasattr(rows, "shape")
    if isinstance(rows, str | bytes) or not sized or getattr(rows, "shape", 1) == ():
        raise TypeError(f"rows must be a list, a data frame or a matrix, got {_kind(rows)}")
    if not (show is None or callable(show) or show in (columns_of(rows) or ())):
        raise ValueError(f"show must be a column of the data frame rows, a function or None, got {show!r}")


def _kind(value: Any) -> str:
    """What a value is, for messages."""
    return f"the class {value.__name__}: write {value.__name__}()" if isinstance(value, type) else type(value).__name__


def columns_of(rows: Any) -> list[Any] | None:
    """Names of the columns of a data frame, of pandas, Polars, Arrow or others; None: no frame."""
    if hasattr(rows, "iloc"):
        return [*rows.columns] if rows.ndim == 2 else None
    names = getattr(rows, "column_names", getattr(rows, "columns", None))
    return None if names is None else [*names]


def names_of(rows: Any) -> list[Any]:
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


def checked_label(label: Any, marker: Any, beside: Any) -> Any:
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
    if any(isinstance(beside, kind) != isinstance(label, kind) for kind in (str, bool)):
        raise ValueError(f"classes must be texts, numbers or all bools, got several types: {beside!r} and {label!r}")
    return label
