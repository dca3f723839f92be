"""What the events of a session come to, the answer that stands for each row and the classes; and its arguments."""

import os
import re
from collections import Counter
from collections.abc import Mapping, Set
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from fewlabel import _held_out
from fewlabel._estimator import kind
from fewlabel._inputs import _markers, _numbers
from fewlabel.labeling._journal import Event, Journal

_ONE_CLASS = {"class", "predicted"}  # fields of an answer


class Answers(NamedTuple):
    """The answers under the present names of the classes."""

    rows: dict[Any, Event]  # the last answer for each row that has one, in order; "not" lists all classes
    descriptions: dict[Any, Any]  # of classes: texts, and of vectors the class that the call gave them
    classes: list[Any]  # those given in advance, then those of answers, in the order in which they first came
    renames: list[Event]
    counts: Counter[Any]  # labels of each class that has any
    drawn: list[Any]  # rows that were drawn at random

    @property
    def known(self) -> dict[Any, Any]:
        """The class of each row that has one."""
        return {row: answer["class"] for row, answer in self.rows.items() if "class" in answer}

    @property
    def learned(self) -> set[Any]:
        """The classes of a fit."""
        return {*self.counts, *self.descriptions}


class Reader:
    """What the events of a journal come to. One that is new changes what was read, unless it withdraws more than the
    first answer to a row, or is a description of a call: then all are read again.

    Answers keep the names of their time, and the number of renames before them.
    """

    _found: Answers

    def __init__(self, given: list[Any], journal: Journal) -> None:
        self._given, self._journal = given, journal
        self._n_read = -1  # events; -1: to be read from the first one

    def answers(self) -> Answers:
        """The answers so far; `kept` if later events are not to change them."""
        events, n = self._journal.events, self._n_read
        if n == len(events):
            return self._found
        self._n_read = -1  # where this is interrupted
        if not 0 <= n <= len(events) or any("given" in event or "undo" in event for event in events[n:]):
            self._read_all()
        else:
            for event in events[n:]:
                self._add(event, True)
        rows = dict[Any, Event]()
        for since, same in groupby(self._given_answers.items(), lambda given: given[1][1]):
            names = _present_names(self._renames[since:])
            rows |= {row: found for row, given in same if (found := self._present_answer(*given, names))}
        current = {*self._present.values(), *self._described, *+self._counts}
        order = dict.fromkeys(self._present[name] for name in self._given) | self._order
        descriptions = {name: text for name, (_, text) in self._described.items()}
        classes = [name for name in order if name in current]
        self._found = Answers(rows, descriptions, classes, [*self._renames], +self._counts, [*self._drawn])
        self._n_read = len(events)
        return self._found

    def _read_all(self) -> None:
        """Classes of withdrawn events keep their places, should they come again."""
        standing, events = {id(event) for event in self._journal.standing}, self._journal.events
        later = {event["given"] for event in events if "given" in event}
        self._present = {name: name for name in self._given if name not in later}  # of each name of the calls so far
        self._described = dict[Any, tuple[Any, Any]]()  # the name in the calls, if any, and the text
        self._given_answers = dict[Any, tuple[Event, int]]()  # the last one of each row, and the renames before it
        self._counts, self._order, self._drawn = Counter[Any](), dict[Any, None](), dict[Any, None]()
        self._renames, self._merged = list[Event](), list[bool]()  # and whether two classes became one
        for event in events:
            self._add(event, id(event) in standing)

    def _add(self, event: Event, stands: bool) -> None:
        if (name := event.get("class", event.get("describe"))) is not None:
            self._order.setdefault(name)
        if "given" in event:
            _give(event["given"], event.get("text", event["given"]), self._present, self._described)
        elif "draw" in event:
            self._drawn |= dict.fromkeys(event["draw"])
        elif not stands or "fit" in event:
            return
        elif "row" in event:
            before = self._take(event["row"])
            answer = event | {"not": [*before.get("not", []), event["not"]]} if "not" in event else event
            self._given_answers[event["row"]] = answer, len(self._renames)
            if "class" in event:
                self._counts[event["class"]] += 1
        elif "rename" in event:
            self._rename(event)
        else:
            self._described[name] = self._described.get(name, (None,))[0], event["text"]

    def _take(self, row: Any) -> Event:
        """Remove the answer to a row; {}: there is none."""
        if row not in self._given_answers:
            return {}
        given, since = self._given_answers.pop(row)
        answer = self._present_answer(given, since, _present_names(self._renames[since:]))
        if "class" in answer:
            self._counts[answer["class"]] -= 1
        return answer

    def _rename(self, event: Event) -> None:
        described, merged = self._described, event["to"] in {*self._present.values(), *self._described, *+self._counts}
        kept = {name: described[name] for name in {event["to"]} & described.keys()}  # of two that are one now
        self._described = dict(zip(renamed([*described], [event]), described.values(), strict=True)) | kept
        self._present = dict(zip(self._present, renamed([*self._present.values()], [event]), strict=True))
        self._counts[event["to"]] += self._counts.pop(event["rename"], 0)
        self._order = dict.fromkeys(renamed([*self._order], [event]))
        self._renames.append(event)
        self._merged.append(merged)

    def _present_answer(self, answer: Event, since: int, names: dict[Any, Any]) -> Event:
        """An answer under present names; {} if it rules out one of two classes that are one: it says nothing then."""
        if since == len(self._renames):
            return answer
        answer = answer | {field: names.get(answer[field], answer[field]) for field in _ONE_CLASS & answer.keys()}
        if "not" not in answer:
            return answer
        ruled_out = answer["not"]
        for rename, merged in zip(self._renames[since:], self._merged[since:], strict=True):
            if (both := {rename["rename"], rename["to"]}) & {*ruled_out}:
                left = [one for one in ruled_out if not merged or one not in both or both <= {*ruled_out}]
                ruled_out = [*dict.fromkeys(renamed(left, [rename]))]
        return answer | {"not": ruled_out} if ruled_out else {}


def _give(name: Any, text: Any, present: dict[Any, Any], described: dict[Any, tuple[Any, Any]]) -> None:
    """Add a description of a call. Renames since the first call with its name count; a merge ends one of two names."""
    edited = [one for one, (source, _) in described.items() if source == name] if name in present else [name]
    described |= dict.fromkeys(edited, (name, text))
    present.setdefault(name, name)


def renamed(classes: list[Any], renames: list[Event]) -> list[Any]:
    names = _present_names(renames)
    return [names.get(name, name) for name in classes]


def _present_names(renames: list[Event]) -> dict[Any, Any]:
    """What the classes that had other names before these renames are called now."""
    names: dict[Any, Any] = {}
    for event in reversed(renames):
        names[event["rename"]] = names.get(event["to"], event["to"])
    return names


# ------------------------------------------------------------------ arguments
def check(rows: Any, model: Any, classes: Any, descriptions: Any, path: Any, show: Any) -> None:
    """Raise what names an argument of another kind."""
    _held_out.check_classifier("model", model)
    if not _numbers.has_entries(classes):
        raise TypeError(f"classes must be a list of classes, got {classes!r}")
    if descriptions is not None and not (isinstance(descriptions, Mapping) and descriptions):
        raise TypeError(f"descriptions must be a dict from class to its description, got {descriptions!r:.80}")
    if descriptions is not None and columns_of(rows) is not None:
        raise TypeError("descriptions need rows that are texts or vectors, got a data frame: give its column of texts")
    if not isinstance(path, str | os.PathLike | None):
        raise TypeError(f"path must be that of a file, got {path!r}")
    if path is not None:
        _numbers.check_text("path", path)
    sized = hasattr(rows, "__len__") or hasattr(rows, "shape")
    others = isinstance(rows, str | bytes | Mapping | Set) or hasattr(rows, "fit") or getattr(rows, "shape", 1) == ()
    if others or not sized:
        raise TypeError(f"rows must be a list, a data frame or a matrix, got {kind(rows)}")
    if not (show is None or _numbers.is_function(show) or show in (columns_of(rows) or ())):
        raise ValueError(f"show must be a column of the data frame rows, a function or None, got {show!r}")


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
    found = [*map(_markers.plain, rows.index.tolist())]
    if wrong := [name for name in found if isinstance(name, bool) or not isinstance(name, int | str)]:
        raise ValueError(f"the index of rows must hold integers or texts, found {wrong[0]!r}")
    if not rows.index.is_unique:
        raise ValueError(f"the index of rows must be unique, {rows.index[rows.index.duplicated()][0]!r} is repeated")
    return found


def checked_label(label: Any, marker: Any, beside: Any) -> Any:
    """A class as it stands in the file. marker: of rows without one; beside: another class, or the same."""
    label = _markers.plain(label)
    if label is not None and not isinstance(label, str | bool | int | float):
        raise ValueError(f"a class must be a text, a number or a bool, got {label!r}")
    if isinstance(label, str):
        _numbers.check_text("a class", label)
        if _markers.is_blank(label):
            raise ValueError("a class must not be an empty text or blanks alone")
    if isinstance(label, str) and re.search("[\ud800-\udfff]", label):
        raise ValueError(f"a class must be Unicode text, got {label!r} with half of a character: decode its bytes anew")
    if label is None or _markers.marked(np.array([label], dtype=object), marker)[0].any():
        raise ValueError(f"{label!r} marks rows without a label, so it cannot be a class")
    if not isinstance(label, str) and not (abs(label) < 2**63 and label == int(label)):
        raise ValueError(f"a class that is a number must be whole and below 2**63, got {label!r}")
    beside = label if beside is None else beside
    if any(isinstance(beside, kind) != isinstance(label, kind) for kind in (str, bool)):
        raise ValueError(f"classes must be texts, numbers or all bools, got several types: {beside!r} and {label!r}")
    return label
