"""What the events of a session come to: the answer that stands for each row, and the classes."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

from fewlabel.labeling._journal import CLASSES, Event, Journal


class Answers(NamedTuple):
    """The answers under the present names of the classes."""

    rows: dict[Any, Event]  # the last answer for each row that has one, in order; "not" lists all classes
    classes: list[Any]  # those given in advance, then those of answers, in the order in which they first came
    renames: list[Event]

    @property
    def known(self) -> dict[Any, Any]:
        """The class of each row that has one."""
        return {row: answer["class"] for row, answer in self.rows.items() if "class" in answer}


def read(given: Iterable[Any], journal: Journal) -> Answers:
    """The answers; classes of withdrawn ones keep their places, should they come again."""
    standing = {id(event) for event in journal.standing()}
    given, rows, renames = [*given], dict[Any, Event](), list[Event]()
    order = [*given]
    for event in journal.events:
        order += [event["class"]] if "class" in event else []
        if id(event) not in standing:
            continue
        if "rename" in event:
            merged = event["to"] in {*given, *(answer.get("class") for answer in rows.values())}
            rows = {row: new for row, answer in rows.items() if (new := _renamed(answer, event, merged))}
            given, order, renames = renamed(given, [event]), renamed(order, [event]), [*renames, event]
        else:
            before = rows.pop(event["row"], {})
            rows[event["row"]] = event | ({"not": [*before.get("not", []), event["not"]]} if "not" in event else {})
    current = {*given, *(answer["class"] for answer in rows.values() if "class" in answer)}
    return Answers(rows, [name for name in dict.fromkeys(order) if name in current], renames)


def renamed(classes: list[Any], renames: Iterable[Event]) -> list[Any]:
    """The present names of classes."""
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
