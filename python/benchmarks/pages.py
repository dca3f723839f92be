"""Every number that a page quotes in a listed table, beside the one that its command gives now. Hours: for the night.

    FEWLABEL_DATA=... python -m benchmarks pages [TEXT ...] [--kept]

pages.toml lists the tables, their commands and the names of their numbers. A quoted 75.3 is compared as 0.753 where the
value is at most 1. Only commands that contain one of the texts are run. With --kept none is run: the results are those
in bench-results/pages/. Needs Python 3.11 or newer.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import __main__ as program, data

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("pages.toml")
NUMBER = re.compile(r"(?<![\w.-])-?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?![\w.]*\w)")
CELLS = ("set", "tool", "learner", "labels", "sampling")  # columns that name a fit
ANY = "-"


@dataclass
class Table:
    """An entry of the list, with the numbers that stand on its page."""

    page: str
    heading: str
    command: str
    within: float
    names: list[Any]  # patterns; a name for each number once it is read
    number: int = 1

    def __post_init__(self) -> None:
        text = re.sub(r"(?ms)^ *```.*?^ *```$", "", (ROOT / self.page).read_text(encoding="utf-8"))  # without code
        parts = re.findall(r"(?m)^#+ (.+)\n((?:(?!#+ ).*\n)*)", text)
        found = [re.findall(r"(?m)(?:^\|.*\n)+", part) for name, part in parts if name == self.heading]
        where, self.command = f"{self.page}, {self.heading}", " ".join(self.command.split())
        if len(found) != 1 or len(found[0]) < self.number:
            raise ValueError(f"{where}: {len(found)} such headings, or no table {self.number} under it")
        if self.command.split()[0] not in program.NAMES:
            raise ValueError(f"{where}: there is no benchmark {self.command}")
        rows = [line.split("|", 2)[2] for line in found[0][self.number - 1].splitlines()[2:]]
        self.quoted = [number for row in rows for number in NUMBER.findall(row)]
        self.names = [name for pattern in self.names for name in spread(pattern)]
        if len(self.quoted) != len(self.names):
            raise ValueError(f"{where}, bench {self.command}: {len(self.quoted)} numbers, {len(self.names)} names")


def tables() -> list[Table]:
    """The tables of the list."""
    import tomllib

    return [Table(**entry) for entry in tomllib.loads(LIST.read_text(encoding="utf-8"))["table"]]


def spread(pattern: str | int) -> list[str]:
    """A pattern with each part of its braces, or so many numbers that are not compared."""
    if isinstance(pattern, int):
        return [ANY] * pattern
    parts = [part.split("|") for part in re.split(r"[{}]", " ".join(pattern.split()).replace(" |", "|"))]
    return ["".join(one) for one in itertools.product(*parts)]


def results(command: str, kept: bool) -> dict[str, float]:
    """The values that a command gives, by name, which are kept in a file."""
    name, own = command.split()[0], data.RESULTS / "pages" / f"{re.sub(r'[^a-z0-9]+', '-', command)}.csv"
    if not kept:
        written = data.RESULTS / f"{name}.csv"
        for old in written, own:
            old.unlink(missing_ok=True)
        subprocess.run([sys.executable, "-m", "benchmarks", *command.split()], stdout=subprocess.DEVNULL, check=False)
        if written.exists():
            written.replace(data.ignored_folder(own.parent) / own.name)
    if not own.exists():
        print("no results: the command has ended before", flush=True)
        return {}
    found = pd.read_csv(own)
    if "what" in found:
        found = found.set_index("what")
        return found["value"].to_dict() | found["least"].add_suffix(", least").to_dict()
    values: dict[str, float] = {}
    cells = [column for column in CELLS if column in found]
    for named in (cells, cells[1:]):  # each set, and the mean over the sets
        means = found.groupby(named).mean(numeric_only=True)
        for cell, row in means.iterrows():
            values |= {", ".join(map(str, [*cell, column])): value for column, value in row.items()}
    return values


def compared(table: Table, values: dict[str, float]) -> Iterator[tuple[str, bool]]:
    """A line for each quoted number, and whether it is what the command gives now."""
    for quoted, name in zip(table.quoted, table.names, strict=True):
        if ANY in name.split(", "):
            continue
        number, now = float(quoted.replace(",", "")), values.get(name)
        if now is None:
            yield f"{table.page:20} {quoted:>8} no result   {name}", False
            continue
        percent = 100 if number > 1 >= now else 1
        near = abs(number / percent - now) <= table.within + 1e-9
        yield f"{table.page:20} {quoted:>8} {now * percent:9.4g} {'' if near else 'OFF':4} {name}", near


def main(arguments: list[str]) -> int:
    """The program."""
    parser = argparse.ArgumentParser(prog="benchmarks pages", description=__doc__.splitlines()[0])
    parser.add_argument("text", nargs="*", help="in the commands that are run; all if there is none")
    parser.add_argument("--kept", action="store_true", help="take the results as they are")
    chosen = parser.parse_args(arguments)
    off, wanted = 0, [one for one in tables() if not chosen.text or any(text in one.command for text in chosen.text)]
    for command, same in itertools.groupby(sorted(wanted, key=lambda one: one.command), lambda one: one.command):
        print(f"== {command}", flush=True)
        values = results(command, chosen.kept)
        for line, near in (line for one in same for line in compared(one, values)):
            print(line, flush=True)
            off += not near
    print(f"{off} of the quoted numbers are off")
    return int(off > 0)
