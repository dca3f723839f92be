"""Every number that a page quotes in a marked table, beside the one that its command gives now. Hours: for the night.

    FEWLABEL_DATA=... python -m benchmarks pages [TEXT ...] [--kept]

A marker is a comment above a table of a page: the command, the difference that is allowed, and the names of the numbers
of the table, in reading order without the first column:

    <!-- bench labels sets; within 0.01; {labels alone|and sets}, macro F; - -->

Braces stand for one name with each of their parts, the last braces varying first. `-` is a number that is not compared,
as one of another command, which has a marker of its own. A name is that of a line of the results, or with ", least" the
lowest of its draws. Where the results are a line for each fit, names are set, tool, learner, labels, sampling (those
that there are, also without the set: the mean over the sets) and a column. A quoted 75.3 is compared as 0.753 where the
value is at most 1.

Only commands that contain one of the texts are run; with --kept none: the results are those in bench-results/pages/.
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

import pandas as pd

from benchmarks import data

ROOT = Path(__file__).parents[2]
MARKER = re.compile(r"<!-- bench (?P<settings>[^>]*?) -->\n+(?=(?:<!-- bench [^>]*-->\n+)*(?P<table>(?:\|.*\n)+))")
NUMBER = re.compile(r"(?<![\w.-])-?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?![\w.]*\w)")
CELLS = ("set", "tool", "learner", "labels", "sampling")  # columns that name a fit
ANY = "-"


@dataclass
class Table:
    """A marked table: its page and command, and each number with its name."""

    page: str
    command: str
    within: float
    quoted: list[str]
    names: list[str]


def tables(page: Path) -> Iterator[Table]:
    """The marked tables of a page."""
    for found in MARKER.finditer(page.read_text(encoding="utf-8")):
        command, within, *patterns = (" ".join(part.split()) for part in found["settings"].split(";"))
        rows = [line.split("|")[2:-1] for line in found["table"].splitlines()[2:]]
        quoted = [number for row in rows for cell in row for number in NUMBER.findall(cell)]
        names = [name for pattern in patterns for name in spread(pattern)]
        table = Table(page.name, command, float(within.removeprefix("within ")), quoted, names)
        if len(quoted) != len(names):
            raise ValueError(f"{page.name}, bench {command}: {len(quoted)} numbers, {len(names)} names")
        yield table


def spread(pattern: str) -> list[str]:
    """A pattern with each part of its braces."""
    parts = [part.split("|") for part in re.split(r"[{}]", pattern)]
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
            data.ignored_folder(own.parent)
            written.replace(own)
    if not own.exists():
        print("no results: the command has ended before", flush=True)
        return {}
    found = pd.read_csv(own)
    if "what" in found:
        least = {f"{what}, least": value for what, value in zip(found["what"], found["least"], strict=True)}
        return least | dict(zip(found["what"], found["value"], strict=True))
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
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    marked = [table for page in pages for table in tables(page)]
    wanted = [table for table in marked if not chosen.text or any(text in table.command for text in chosen.text)]
    off = 0
    for command, same in itertools.groupby(sorted(wanted, key=lambda table: table.command), lambda t: t.command):
        print(f"== {command}", flush=True)
        values = results(command, chosen.kept)
        for line, near in (one for table in same for one in compared(table, values)):
            print(line, flush=True)
            off += not near
    print(f"{off} of the quoted numbers are off")
    return int(off > 0)
