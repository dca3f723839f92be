"""The file of a session: one JSON object a line, appended as things happen and never rewritten.

    {"version": 1}                                                       of this format, in the first line
    {"row": 17, "class": "sport", "predicted": "trade"}    an answer, and what the model had predicted
    {"row": 4, "not": "sport"}                                           the row has another class
    {"row": 9, "skip": true}
    {"rename": "Sport", "to": "sport"}                                   the answers so far have another class
    {"given": "sport", "text": "match, goal"}              a description of a class, of a call; without text: a vector
    {"describe": "sport", "text": "match, goal, team"}                   another one, from now on
    {"undo": true}                          the last answer, new name or "describe" that stands is withdrawn
    {"draw": [12, 3, 40]}                                                rows that were drawn at random
    {"fit": 20, "changed": 0.08, "estimate": [0.71, 0.60, 0.82]}          a fit to 20 labels

A program that ends while it writes loses that line and no other. Where a line cannot be written to its end, as on a
full disk, its beginning is cut off again. Only one session writes: an older one finds that the file has changed.
"""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

from fewlabel._inputs._numbers import once, regular

Event = dict[str, Any]

VERSION = 1
CLASSES = {"class", "predicted", "not", "rename", "to", "given", "describe"}  # fields that hold one


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1


_TESTS: dict[str, Callable[[Any], bool]] = {
    "version": lambda value: type(value) is int and value == VERSION,
    "row": lambda value: type(value) in (int, str),
    **dict.fromkeys(CLASSES, lambda value: type(value) in (str, bool, int, float)),
    **dict.fromkeys(("skip", "undo"), lambda value: value is True),
    "draw": lambda value: type(value) is list and {*map(type, value)} <= {int, str},
    "text": lambda value: type(value) is str and value.strip() != "",
    "fit": lambda value: type(value) is int and value >= 0,
    "changed": lambda value: value is None or _is_share(value),
    "estimate": lambda value: value is None or (type(value) is list and len(value) == 3 and all(map(_is_share, value))),
}
_FORMS = {*map(frozenset, map(str.split, (
    "version", "row class", "row class predicted", "row not", "row skip", "rename to", "undo", "draw",
    "given", "given text", "describe text", "fit changed estimate",
)))}  # fmt: skip


class Journal:
    """Events of a session in their order, in memory and, with a path, in a file; `check` refuses others' events."""

    def __init__(
        self, path: str | os.PathLike[str] | None, check: Callable[[Event, Callable[[], Any]], None] = lambda *_: None
    ) -> None:
        self.path, self._check = None if path is None else Path(path).absolute(), check
        self.events: list[Event] = []
        self.standing: list[Event] = []  # answers, new names and "describe"
        self.fits: list[Event] = []
        self._size, self._cut, self._between = 0, 0, b""  # of the file; at its end without a newline
        if self.path is None:
            return
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.path.parent} for the file of the session")
        if regular(self.path).exists():
            self._read(self.path.read_bytes())

    def append(self, event: Event) -> None:
        """Add an event; it is on the disk when this returns, and not in the file if it cannot be written."""
        self._refuse_undo(event)
        if self.path is not None:
            first = self._size == self._cut  # nothing but the beginning of a line that was not written
            lines = [{"version": VERSION}, event] if first else [event]
            texts = [json.dumps(each, ensure_ascii=False).encode("utf-8", "surrogatepass") for each in lines]
            self._write(self._between + b"\n".join(texts) + b"\n")
        self._add(event)

    def undo(self) -> Any:
        """Withdraw the last answer, new name or "describe" that stands; the row of an answer."""
        last = self.standing[-1:]
        self.append({"undo": True})
        return last[0].get("row")

    def last_class(self) -> Any:
        """The class of the last answer or "describe" that stands and has one; None without."""
        names = (event.get("class", event.get("describe")) for event in reversed(self.standing))
        return next((name for name in names if name is not None), None)

    def _read(self, content: bytes) -> None:
        """Read the lines; one that was not written to its end is left out."""
        *lines, rest = content.split(b"\n")
        self._size = len(content)
        if _is_cut(rest, first=not lines):
            self._cut = len(rest)
        elif rest:
            lines, self._between = [*lines, rest], b"\n"
        for number, line in enumerate(lines, 1):
            try:
                event = _parsed(line)
                if "version" in event and number > 1:
                    raise ValueError("a version belongs in the first line")
                self._check(event, self.last_class)
                self._add(event)
            except ValueError as reason:
                raise ValueError(f"{self.path}, line {number}: {reason}") from reason

    def _write(self, content: bytes) -> None:
        """Append to the file. Unbuffered: a buffer would be written after a failure, too."""
        assert self.path is not None
        with FileIO(regular(self.path), "a") as file:
            if file.seek(0, os.SEEK_END) != self._size:
                raise ValueError(f"{self.path} has changed, as another session writes to it: make a new session")
            end, left = self._size - self._cut, memoryview(content)
            try:
                file.truncate(end)
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            except BaseException:
                self._size, self._cut = end, 0
                with suppress(OSError):
                    file.truncate(end)
                raise
        self._size, self._cut, self._between = end + len(content), 0, b""

    def _refuse_undo(self, event: Event) -> None:
        if "undo" in event and not self.standing:
            raise ValueError("there is no answer to undo")

    def _add(self, event: Event) -> None:
        self._refuse_undo(event)
        if "undo" in event:
            self.standing.pop()
        elif not event.keys().isdisjoint(("row", "rename", "describe")):
            self.standing.append(event)
        elif "fit" in event:
            self.fits.append(event)
        if "version" not in event:
            self.events.append(event)


def _is_cut(line: bytes, first: bool) -> bool:
    """Whether it is the beginning of a line of a session; in the first one anything else is another file."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return b'{"version": '.startswith(line[:12]) if first else True
    return False


def _parsed(line: bytes) -> Event:
    try:
        event = json.loads(line, object_pairs_hook=once)
    except (ValueError, RecursionError) as reason:
        raise ValueError(f"{line[:80]!r} is not JSON: {reason}") from reason
    if not isinstance(event, dict) or frozenset(event) not in _FORMS:
        raise ValueError(f"{event!r:.80} is no answer, undo or fit of a session")
    for name, value in event.items():
        if not _TESTS[name](value):
            known = f": this fewlabel reads version {VERSION}" if name == "version" else ""
            raise ValueError(f"{value!r:.80} cannot be the value of {name!r}{known}")
    return event
