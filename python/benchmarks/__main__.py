"""Measurements behind the claims of fewlabel: quality, speed, memory, each beside its peers in the same run.

    FEWLABEL_DATA=... python -m benchmarks [NAME [ARGUMENTS]]      or: make bench BENCH="NAME ARGUMENTS"

FEWLABEL_DATA names the folder with the data sets. Without a name it lists what there is.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from threadpoolctl import threadpool_limits

from benchmarks.measure import Report, machine

NAMES = (
    "quality",
    "strangers",
    "embeddings",
    "verdicts",
    "tables",
    "peers",
    "sequences",
    "structure",
    "labeling",
    "speed",
    "costs",
    "labels",
    "names",
    "large",
    "ranks",
    "paired",
    "figures",
    "film",
    "pages",
)


def main(arguments: list[str]) -> int:
    """The program."""
    if not arguments or arguments[0] not in NAMES:
        print(*(f"{name:12} {import_module(f'benchmarks.{name}').__doc__.splitlines()[0]}" for name in NAMES), sep="\n")
        return int(bool(arguments))
    module = import_module(f"benchmarks.{arguments[0]}")
    return module.main(arguments[1:]) if hasattr(module, "main") else run(module, arguments[0], arguments[1:])


def run(module: ModuleType, name: str, arguments: list[str]) -> int:
    """Run the sections of a module and write their table; 1 if a bound is not met."""
    known: dict[str, Callable[..., None]] = {section.__name__: section for section in module.SECTIONS}
    parser = argparse.ArgumentParser(prog=f"benchmarks {name}", description=module.__doc__.splitlines()[0])
    parser.add_argument("section", nargs="*", help=f"of {', '.join(known)}; all if there is none")
    parser.add_argument("--draws", type=int, help="of rows, labels or times, where a section has several")
    chosen, report = parser.parse_args(arguments), Report()
    if wrong := set(chosen.section) - set(known):
        parser.error(f"{wrong.pop()!r} is not one of {', '.join(known)}")
    print(machine(), flush=True)
    with threadpool_limits(1, user_api="blas"):  # scikit-learn's solvers lose time with small vectors on many threads
        for section in (known[one] for one in chosen.section or known):
            several = "draws" in inspect.signature(section).parameters and chosen.draws
            section(report, draws=chosen.draws) if several else section(report)
    print(report.write(name))
    return int(report.short > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
