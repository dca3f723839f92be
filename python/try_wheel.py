"""Install a wheel in fresh environments, without Go on PATH, and run the users' part of the tests on it.

    python python/try_wheel.py [--import-only] [--only 3.13 ...] WHEEL [pytest's arguments]

There is one environment for each Python of this machine, with the newest scikit-learn that runs there, and one more
for the oldest Python with the oldest scikit-learn that is supported. Tests of the project's own files are left out, see
python/tests/conftest.py.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import fresh_environment
from check_library import ROOT

FOLDER = ROOT / "build" / "wheel-test"
OLD_NUMPY = "numpy<2"  # what somebody with so old a scikit-learn has


def oldest_scikit_learn() -> str:
    """The requirement that pins scikit-learn to its oldest supported version."""
    found = re.search(r'"scikit-learn>=([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if not found:
        raise ValueError('pyproject.toml has no line "scikit-learn>=..."')
    return f"scikit-learn=={found[1]}.0"


def trials() -> list[tuple[str, str, list[str]]]:
    """Name, interpreter and requirements of each environment."""
    found = fresh_environment.pythons()
    (major, minor), oldest = next(iter(found.items()))
    first = (f"{major}.{minor}-oldest", oldest, [oldest_scikit_learn(), OLD_NUMPY])
    return [first, *((f"{major}.{minor}", path, []) for (major, minor), path in found.items())]


def chosen_trials(only: list[str]) -> list[tuple[str, str, list[str]]]:
    """The environments of these names; all of them if there is none."""
    found = trials()
    unknown = set(only) - {name for name, _, _ in found}
    if unknown:
        raise SystemExit(
            f"no Python {', '.join(sorted(unknown))} here: there are {', '.join(name for name, *_ in found)}"
        )
    return [trial for trial in found if not only or trial[0] in only]


def try_library(python: Path) -> None:
    """Load the library of the installed wheel, print what works together, and run the program of signals with it; fail
    if it is not the wheel's."""
    script = "import fewlabel; fewlabel.show_versions(); print(fewlabel.__file__)"
    done = subprocess.run(
        [python, "-c", script],
        cwd=python.parent,  # python -c looks for modules in its folder first
        env=fresh_environment.without_tools(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    *lines, place = done.stdout.splitlines()
    print(*(line for line in lines if not line.endswith("not installed")), sep="\n", flush=True)
    if not Path(place).is_relative_to(python.parents[1]):
        raise RuntimeError(f"fewlabel was imported from {place}, which is not the environment of {python}")
    if any("not usable" in line for line in lines):
        raise RuntimeError("the library of the wheel does not load")
    subprocess.run([python, ROOT / "python" / "try_signals.py"], cwd=python.parent, check=True)


def run_tests(python: Path, arguments: list[str]) -> int:
    """Status of the users' tests, run from outside the project so that they see the installed package only."""
    options = ["-o", "pythonpath=", "-p", "no:cacheprovider", "--quiet"]
    return subprocess.run(
        [python, "-m", "pytest", *options, str(ROOT / "python" / "tests"), *arguments],
        cwd=python.parent,
        env=fresh_environment.without_tools() | {"FEWLABEL_TEST_INSTALLED": "1"},
    ).returncode


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--import-only", action="store_true", help="only install it here, import it and load the library"
    )
    parser.add_argument("--only", action="append", default=[], help="one of the environments: 3.10-oldest, 3.13, ...")
    parser.add_argument("wheel", type=Path)
    chosen, arguments = parser.parse_known_args()
    wheel = chosen.wheel.resolve()
    if chosen.import_only:
        python = fresh_environment.create(FOLDER / "import")
        fresh_environment.install(python, str(wheel))
        try_library(python)
        return 0
    failed = []
    for name, interpreter, requirements in chosen_trials(chosen.only):
        print(f"\n=== Python {name} {' '.join(requirements)}", flush=True)
        python = fresh_environment.create(FOLDER / name, interpreter)
        fresh_environment.install(python, f"{wheel}[test,plot,progress]", *requirements)
        try_library(python)
        if run_tests(python, arguments):
            failed.append(name)
    print(f"\nthe wheel fails with Python {', '.join(failed)}" if failed else "\nthe wheel passes everywhere")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
