"""Measure what the tests run: lines and branches of Python, statements of Go by the tests of Go, Python and C together.

    python python/measure_coverage.py [--only go|python|c ...] [pytest's arguments]

For Python's and C's tests the library is built with counters (`--tags coverage`), which every process writes down when
it ends; one that is killed, and a forked child, does not. The report ends with the uncovered blocks of `engine`:
docs/coverage.md says why they are not covered. Go counts blocks, which begin and end where the program branches.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import build_library
from build_library import COVERED, ROOT

FOLDER = ROOT / "build" / "coverage"
COUNTERS = FOLDER / "counters"
PARTS = ("go", "python", "c")
MODULE = "github.com/fewlabel/fewlabel/"
BLOCK = re.compile(r"(?P<file>.+):(?P<first>\d+)\.\d+,(?P<last>\d+)\.\d+ (?P<statements>\d+) (?P<count>\d+)")


class Block(NamedTuple):
    """Statements of a Go file that run one after the other."""

    file: str  # from the project's folder
    first: int  # line
    last: int
    statements: int


def run(*command: str | Path, **environment: str) -> bool:
    """Whether a command went well; its output is shown."""
    print("+", *command, flush=True)
    return not subprocess.run(command, cwd=ROOT, env=os.environ | environment).returncode


def go_tests() -> bool:
    """Go's tests, with their counters."""
    options = ["-count=1", "-cover", "-covermode=atomic", f"-coverpkg={COVERED}"]
    return run("go", "test", *options, "./...", "-args", f"-test.gocoverdir={COUNTERS}")


def python_tests(arguments: list[str]) -> bool:
    """Python's tests, with the counters of the library."""
    files = {"COVERAGE_FILE": str(FOLDER / "python" / "data"), "GOCOVERDIR": str(COUNTERS)}
    went_well = run(sys.executable, "-m", "coverage", "run", "-m", "pytest", *arguments, **files)
    run(sys.executable, "-m", "coverage", "combine", "--quiet", **files)
    return went_well


def c_tests() -> bool:
    """C's tests and examples, without sanitizers."""
    settings = ["C_VARIANTS=plain", "PROVOKE=provoke,coverage"]
    return run("make", "ctest", *settings, GOCOVERDIR=str(COUNTERS))


def blocks() -> dict[Block, bool]:
    """Every block of Go code and whether a test has run it."""
    profile = FOLDER / "profile.txt"
    if not run("go", "tool", "covdata", "textfmt", f"-i={COUNTERS}", f"-o={profile}"):
        raise SystemExit("no counters of Go were written")
    found: dict[Block, bool] = defaultdict(bool)
    for line in map(BLOCK.fullmatch, profile.read_text(encoding="utf-8").splitlines()):
        if line:
            first, last, statements = (int(line[name]) for name in ("first", "last", "statements"))
            found[Block(line["file"].removeprefix(MODULE), first, last, statements)] |= line["count"] != "0"
    return found


def report_go() -> None:
    """Totals, packages and the uncovered blocks of the engine."""
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])  # statements, those covered, blocks, those covered
    found = blocks()
    for block, covered in found.items():
        for name in ("total", str(Path(block.file).parent)):
            for k, number in enumerate((block.statements, block.statements * covered, 1, covered)):
                totals[name][k] += number
    print(f"\n{'Go package':26} statements  covered   blocks  covered")
    for name in [*sorted(totals.keys() - {"total"}), "total"]:
        statements, done, n_blocks, n_done = totals[name]
        print(f"{name:26} {statements:10}  {done / statements:6.1%} {n_blocks:8}   {n_done / n_blocks:6.1%}")
    uncovered = sorted(block for block, covered in found.items() if not covered and block.file.startswith("engine/"))
    print(f"\n{len(uncovered)} uncovered blocks of engine:")
    for block in uncovered:
        lines = (ROOT / block.file).read_text(encoding="utf-8").splitlines()[block.first - 1 : block.last][:2]
        print(f"{block.file}:{block.first}", *(line.strip() for line in lines), sep="  ")


def report_python() -> None:
    """Lines and branches of each module."""
    files = {"COVERAGE_FILE": str(FOLDER / "python" / "data")}
    print("\nPython: lines and branches together; Missing lists lines, and branches as from->to")
    run(sys.executable, "-m", "coverage", "report", **files)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=PARTS, help="tests of these languages")
    chosen, arguments = parser.parse_known_args()
    parts = chosen.only or PARTS
    shutil.rmtree(FOLDER, ignore_errors=True)
    COUNTERS.mkdir(parents=True)
    (FOLDER / "python").mkdir()
    failed = [] if "go" not in parts or go_tests() else ["go"]
    if set(parts) - {"go"}:
        library = build_library.PACKAGE / build_library.HERE.library
        usual = library.rename(FOLDER / library.name)
        try:
            build_library.build(tags="coverage")
            failed += ["python"] if "python" in parts and not python_tests(arguments) else []
            failed += ["c"] if "c" in parts and not c_tests() else []
        finally:
            usual.replace(library)
            library.touch()  # newer than what was built with counters
    report_go()
    if "python" in parts:
        report_python()
    if failed:
        print("\nthese tests fail:", *failed)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
