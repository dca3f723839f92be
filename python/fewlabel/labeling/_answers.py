"""What the events of a session come to, the answer that stands for each row and the classes; and its arguments."""

import os
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from fewlabel import _held_out
from fewlabel._estimator import kind
from fewlabel._inputs import _markers, _numbers
from fewlabel.labeling._journal import Event, Journal


class Answers(NamedTuple):
    """The answers under the present names of the classes."""

    rows: dict[Any, Event]  # the last answer for each row that has one, in order; "not" lists all classes
    descriptions: dict[Any, Any]  # of classes: texts, and of vectors the class that the call gave them
    classes: list[Any]  # those given in advance, then those of answers, in the order in which they first came
    renames: list[Event]
    counts: Counter[Any]  # labels of each class, which may be 0
    drawn: dict[Any, None]  # rows that were drawn at random

    @property
    def known(self) -> dict[Any, Any]:
        """The class of each row that has one."""
        return {row: answer["class"] for row, answer in self.rows.items() if "class" in answer}

    @property
    def learned(self) -> set[Any]:
        """The classes of a fit."""
        return {*+self.counts, *self.descriptions}

    def kept(self) -> "Answers":
        """A copy that later events do not change."""
        return self._replace(rows=self.rows.copy(), renames=self.renames.copy(), counts=self.counts.copy())

    def without_rows(self) -> "Answers":
        return self._replace(rows={}, renames=self.renames.copy(), counts=Counter())


class Reader:
    """What the events of a journal come to. One that is new changes what was read, unless it withdraws more than the
    first answer to a row, or is a description of a call: then all are read again.

    Answers keep the names of their time, and the number of renames before them; what they are called now is looked up.
    """

    _rows: dict[Any, Event] | None  # the last answer of each row under present names; None: to be looked up

    def __init__(self, given: list[Any], journal: Journal) -> None:
        self._given, self._journal = given, journal
        self._n_read = -1  # events; -1: to be read from the first one

    def answers(self) -> Answers:
        """The answers so far; `kept` if later events are not to change them."""
        events, n = self._journal.events, self._n_read
        self._n_read = -1  # where this is interrupted
        new = events[n:]
        if not 0 <= n <= len(events) or not all(self._followed(event) for event in new):
            self._read_all()
        if self._rows is None:
            present = ((row, self._present_answer(*given)) for row, given in self._given_answers.items())
            self._rows = {row: answer for row, answer in present if answer is not None}
        self._n_read = len(events)
        current = {*self._present.values(), *self._described, *+self._counts}
        order = dict.fromkeys(self._present[name] for name in self._given) | self._order
        descriptions = {name: text for name, (_, text) in self._described.items()}
        classes = [name for name in order if name in current]
        return Answers(self._rows, descriptions, classes, self._renames, self._counts, self._drawn)

    def _read_all(self) -> None:
        """Classes of withdrawn events keep their places, should they come again."""
        standing, events = {id(event) for event in self._journal.standing()}, self._journal.events
        later = {event["given"] for event in events if "given" in event}
        self._present = {name: name for name in self._given if name not in later}  # of each name of the calls so far
        self._described = dict[Any, tuple[Any, Any]]()  # the name in the calls, if any, and the text
        self._given_answers = dict[Any, tuple[Event, int]]()  # the last one of each row, and the renames before it
        self._rows = None
        self._counts, self._order, self._drawn = Counter[Any](), dict[Any, None](), dict[Any, None]()
        self._renames, self._merged = list[Event](), list[bool]()  # and whether two classes became one
        self._touching = dict[Any, list[int]]()  # renames from or to each name
        self._later = dict[tuple[Any, int], tuple[Any, int]]()  # found for a name and the renames before it
        self._standing = list[tuple[Event, bool]]()  # and whether it is the first answer to its row
        for event in events:
            self._add(event, id(event) in standing)

    def _followed(self, event: Event) -> bool:
        """Whether a new event could be added to what was read."""
        if "given" in event:
            return False
        if "undo" not in event:
            self._add(event, True)
            return True
        answer, first = self._standing.pop()
        if first:
            self._take(answer["row"])
        return first

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
            answer = event | {"not": [*(before or {}).get("not", []), event["not"]]} if "not" in event else event
            self._given_answers[event["row"]] = answer, len(self._renames)
            if self._rows is not None:
                self._rows[event["row"]] = answer
            if "class" in event:
                self._counts[event["class"]] += 1
            self._standing.append((event, before is None))
        else:
            if "rename" in event:
                self._rename(event)
            else:
                self._described[name] = self._described.get(name, (None,))[0], event["text"]
            self._standing.append((event, False))

    def _take(self, row: Any) -> Event | None:
        """Remove the answer to a row, if there is one."""
        if self._rows is not None:
            self._rows.pop(row, None)
        given = self._given_answers.pop(row, None)
        answer = None if given is None else self._present_answer(*given)
        if answer is not None and "class" in answer:
            self._counts[answer["class"]] -= 1
        return answer

    def _rename(self, event: Event) -> None:
        described, merged = self._described, event["to"] in {*self._present.values(), *self._described, *+self._counts}
        kept = {name: described[name] for name in {event["to"]} & described.keys()}  # of two that are one now
        self._described = dict(zip(renamed([*described], [event]), described.values(), strict=True)) | kept
        self._present = dict(zip(self._present, renamed([*self._present.values()], [event]), strict=True))
        self._counts[event["to"]] += self._counts.pop(event["rename"], 0)
        self._order = dict.fromkeys(renamed([*self._order], [event]))
        for name in {event["rename"], event["to"]}:
            self._touching.setdefault(name, []).append(len(self._renames))
        self._renames.append(event)
        self._merged.append(merged)
        self._rows = None

    def _next(self, names: Iterable[Any], since: int) -> int | None:
        """The first rename from or to one of these names, after so many."""
        found = [(places, bisect_left(places, since)) for name in names if (places := self._touching.get(name))]
        return min((places[k] for places, k in found if k < len(places)), default=None)

    def _name(self, name: Any, since: int) -> Any:
        """What a class is called now that had this name after so many renames."""
        way = [(name, since)]
        while True:
            if (later := self._later.get(way[-1])) is None:
                if (place := self._next([name := way[-1][0]], way[-1][1])) is None:
                    break
                rename = self._renames[place]
                later = rename["to"] if name == rename["rename"] else name, place + 1
            way.append(later)
        self._later |= dict.fromkeys(way[:-1], way[-1])
        return way[-1][0]

    def _present_answer(self, answer: Event, since: int) -> Event | None:
        """An answer under present names; None if it rules out one of two classes that are one: it says nothing then."""
        if since == len(self._renames):
            return answer
        new: Event = {field: self._name(answer[field], since) for field in ("class", "predicted") if field in answer}
        ruled_out = answer.get("not", ())
        while ruled_out and (place := self._next(ruled_out, since)) is not None:
            rename, since = self._renames[place], place + 1
            both = {rename["rename"], rename["to"]}
            left = [one for one in ruled_out if not self._merged[place] or one not in both or both <= {*ruled_out}]
            ruled_out = [*dict.fromkeys(renamed(left, [rename]))]
        if "not" in answer:
            new["not"] = ruled_out
        return None if "not" in answer and not ruled_out else answer | new


def _give(name: Any, text: Any, present: dict[Any, Any], described: dict[Any, tuple[Any, Any]]) -> None:
    """Add a description of a call. Renames since the first call with its name count; a merge ends one of two names."""
    edited = [one for one, (source, _) in described.items() if source == name] if name in present else [name]
    described |= dict.fromkeys(edited, (name, text))
    present.setdefault(name, name)


def renamed(classes: list[Any], renames: Iterable[Event]) -> list[Any]:
    present = {name: name for name in classes} if (renames := [*renames]) else {}
    for event in renames:
        present = {name: event["to"] if now == event["rename"] else now for name, now in present.items()}
    return [present[name] for name in classes] if renames else classes


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
