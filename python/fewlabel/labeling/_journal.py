"""The file of a session: one JSON object a line, appended as things happen and never rewritten.

    {"version": 1}                                                       of this format, in the first line
    {"row": 17, "class": "sport", "predicted": "trade"}    an answer, and what the model had predicted
    {"row": 4, "not": "sport"}                                           the row has another class
    {"row": 9, "skip": true}
    {"rename": "Sport", "to": "sport"}                                   the answers so far have another class
    {"undo": true}                                           the last answer or new name that stands is withdrawn
    {"draw": [12, 3, 40]}                                                rows that were drawn at random
    {"fit": 20, "changed": 0.08, "estimate": [0.71, 0.60, 0.82]}          a fit to 20 labels

A program that ends while it writes loses that line and no other. Where a line cannot be written to its end, as on a
full disk, its beginning is cut off again. Lines that another session has appended are read before the next one is
written, so that all sessions with the same file agree on what an undo withdraws.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import fcntl

Event = dict[str, Any]

VERSION = 1
CLASSES = ("class", "predicted", "not", "rename", "to")  # fields that hold one


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1


_TESTS: dict[str, Callable[[Any], bool]] = {
    "version": lambda value: type(value) is int and value == VERSION,
    "row": lambda value: type(value) in (int, str),
    **dict.fromkeys(CLASSES, lambda value: type(value) in (str, bool, int, float)),
    **dict.fromkeys(("skip", "undo"), lambda value: value is True),
    "draw": lambda value: type(value) is list and {*map(type, value)} <= {int, str},
    "fit": lambda value: type(value) is int and value > 0,
    "changed": lambda value: value is None or _is_share(value),
    "estimate": lambda value: value is None or (type(value) is list and len(value) == 3 and all(map(_is_share, value))),
}
_FORMS = [*map(set, map(str.split, (
    "version", "row class", "row class predicted", "row not", "row skip", "rename to", "undo", "draw",
    "fit changed estimate",
)))]  # fmt: skip


class Journal:
    """Events of a session in their order, in memory and, with a path, in a file; `check` refuses others' events."""

    def __init__(
        self, path: str | os.PathLike[str] | None, check: Callable[[Event, Iterable[Event]], None] = lambda *_: None
    ) -> None:
        self.path, self._check = None if path is None else Path(path), check
        self.events: list[Event] = []
        self._standing: list[Event] = []  # answers and new names
        self._withdrawn: Event = {}
        self._end = self._n_lines = 0  # of the file, as far as it is known
        if self.path is not None and not self.path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.path.parent} for the file of the session")
        if self.path is not None and self.path.exists():
            if not self.path.is_file():
                raise ValueError(f"path must be that of a file, but {self.path} is a folder, a pipe or a device")
            with _opened(self.path, "rb") as file:
                self._read(file)

    def append(self, event: Event) -> None:
        """Add an event; it is on the disk when this returns, and not in the file if it cannot be written."""
        if self.path is None:
            self._add(event)
            return
        if not self._n_lines:
            self.path.touch()
        with _opened(self.path, "r+b") as file:
            self._read(file)
            for each in [event] if self._n_lines else [{"version": VERSION}, event]:
                text = json.dumps(each, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
                self._refuse_undo(each)
                start = min(self._end, file.seek(0, os.SEEK_END))  # the last newline may be missing
                try:
                    _write(file, start, b"\n" * (self._end - start) + text)
                except BaseException:
                    with suppress(OSError):
                        file.truncate(start)
                    raise
                self._add(each, len(text))

    def undo(self) -> Any:
        """Withdraw the last answer or new name that stands; the row of an answer."""
        self.append({"undo": True})
        return self._withdrawn.get("row")

    def standing(self) -> Iterator[Event]:
        """The answers and new names that stand, the last one first."""
        return reversed(self._standing)

    def fits(self) -> list[Event]:
        return [event for event in self.events if "fit" in event]

    def _read(self, file: FileIO) -> None:
        """Read the lines after those that are known; one that was not written to its end is left out."""
        if file.seek(0, os.SEEK_END) < self._end - 1:
            raise ValueError(f"{self.path} is shorter than before, as something has changed it: make a new session")
        file.seek(self._end)
        *lines, rest = file.readall().split(b"\n")
        if rest and not _is_cut(rest):
            lines.append(rest)
        for line in lines:
            try:
                event = _parsed(line)
                if "version" in event and self._n_lines:
                    raise ValueError("a version belongs in the first line")
                self._check(event, self.standing())
                self._add(event, len(line) + 1)
            except ValueError as reason:
                raise ValueError(f"{self.path}, line {self._n_lines + 1}: {reason}") from reason

    def _refuse_undo(self, event: Event) -> None:
        if "undo" in event and not self._standing:
            raise ValueError("there is no answer to undo")

    def _add(self, event: Event, size: int = 0) -> None:
        self._refuse_undo(event)
        if "undo" in event:
            self._withdrawn = self._standing.pop()
        elif "row" in event or "rename" in event:
            self._standing.append(event)
        self.events += [] if "version" in event else [event]
        self._end, self._n_lines = self._end + size, self._n_lines + 1


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[FileIO]:
    """The file, while other sessions wait. Unbuffered: a buffer would be written after a failure, too."""
    with FileIO(path, mode) as file:
        if sys.platform != "win32":
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _write(file: FileIO, start: int, content: bytes) -> None:
    file.truncate(file.seek(start))
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]
    os.fsync(file.fileno())


def _is_cut(line: bytes) -> bool:
    """Whether it is the beginning of a line of a session."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        starts = [b'{"%s": ' % name for name in (b"version", b"row", b"rename", b"undo", b"draw", b"fit")]
        return any(start.startswith(line[: len(start)]) for start in starts)
    return False


def _parsed(line: bytes) -> Event:
    try:
        event = json.loads(line, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as reason:
        raise ValueError(f"{line[:80]!r} is not JSON: {reason}") from reason
    if not isinstance(event, dict) or set(event) not in _FORMS:
        raise ValueError(f"{event!r:.80} is no answer, undo or fit of a session")
    for name, value in event.items():
        if not _TESTS[name](value):
            known = f": this fewlabel reads version {VERSION}" if name == "version" else ""
            raise ValueError(f"{value!r:.80} cannot be the value of {name!r}{known}")
    return event


def _without_repeats(pairs: list[tuple[str, Any]]) -> Event:
    event = dict(pairs)
    if len(event) < len(pairs):
        raise ValueError("a name is repeated")
    return event
