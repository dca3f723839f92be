"""One command for all benchmarks.

    FEWLABEL_DATA=... python -m benchmarks [NAME [ARGUMENTS]]

Without a name it lists what there is. Groups take what `python -m benchmarks.run --help` says.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from benchmarks import run

PROGRAMS = ("quality", "calls", "costs", "paired", "svmlin")  # with arguments of their own


def main(arguments: list[str]) -> int:
    """The program."""
    if not arguments or arguments[0].startswith("-"):
        for name, sections in run.GROUPS.items():
            print(f"{name:20} {', '.join(section.__name__ for section in sections)}")
        for name in PROGRAMS:
            print(f"{name:20} {_first_line(import_module(f'benchmarks.{name}'))}")
        return 0
    name, rest = arguments[0], arguments[1:]
    if name in PROGRAMS:
        program = import_module(f"benchmarks.{name}")
        return int(program.main(rest) or 0)
    return run.main(["--only", name, *rest])


def _first_line(module: ModuleType) -> str:
    return (module.__doc__ or "").splitlines()[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
