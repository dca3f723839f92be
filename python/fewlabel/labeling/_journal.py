"""The file of a session: one JSON object a line, appended as things happen and never rewritten.

    {"row": 17, "class": "sport", "predicted": "trade"}    an answer, and what the model had predicted
    {"row": 4, "not": "sport"}                                           the row has another class
    {"row": 9, "skip": true}
    {"undo": true}                                                       the last answer that stands is withdrawn
    {"fit": 20, "changed": 0.08, "estimate": [0.71, 0.60, 0.82]}          a fit to 20 labels

A line counts once its newline is written, so a program that ends while it writes loses that line and no other.
"""

import json
import os
from pathlib import Path
from typing import Any

Event = dict[str, Any]


class Journal:
    """Events of a session in the order in which they happened, in memory and, with a path, in a file."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.events: list[Event] = []
        if self.path is not None and not self.path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.path.parent} for the file of the session")
        if self.path is not None and self.path.exists():
            content = self.path.read_bytes()
            *lines, rest = content.split(b"\n")
            self.events = [_event(line, self.path, number) for number, line in enumerate(lines, 1)]
            if rest:  # a line that was not written to the end; the next one begins on its own
                _check_start(rest, self.path)
                os.truncate(self.path, len(content) - len(rest))

    def append(self, event: Event) -> None:
        """Add an event; it is on the disk when this returns."""
        if self.path is not None:
            with open(self.path, "ab") as file:
                file.write(json.dumps(event, ensure_ascii=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        self.events.append(event)

    def answers(self) -> list[Event]:
        """The answers that stand, in their order."""
        standing: list[Event] = []
        for event in self.events:
            if "undo" in event:
                del standing[-1:]
            elif "row" in event:
                standing.append(event)
        return standing

    def fits(self) -> list[Event]:
        return [event for event in self.events if "fit" in event]


def _check_start(rest: bytes, path: Path) -> None:
    """Reject the last line of another file rather than cut it off."""
    if not any(start.startswith(rest[: len(start)]) for start in (b'{"row": ', b'{"undo": ', b'{"fit": ')):
        raise ValueError(f"{path} does not end as the file of a session: {rest[:40]!r}")


def _event(line: bytes, path: Path, number: int) -> Event:
    try:
        event = json.loads(line)
    except ValueError as reason:
        raise ValueError(f"{path}, line {number} is not JSON: {reason}") from reason
    if not isinstance(event, dict) or not {"row", "undo", "fit"} & set(event):
        raise ValueError(f"{path}, line {number} is no answer, undo or fit of a session: {event!r}")
    return event
