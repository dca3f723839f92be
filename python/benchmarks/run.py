"""Run the benchmarks, print the table and write it with plots.

    FEWLABEL_DATA=... python -m benchmarks.run [--only quality,speed] [--section comp] [--output bench-results]

Ends with status 1 if a bound is not met.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks import class_quality, class_speed, corpora, large, learning_curves, plots, quality, report, speed

GROUPS: dict[str, tuple[Callable[[report.Report], None], ...]] = {
    "quality": quality.SECTIONS,
    "speed": speed.SECTIONS,
    "classes": class_quality.SECTIONS + class_speed.SECTIONS,
    "curves": learning_curves.SECTIONS,
    "large": large.SECTIONS,
}
USUAL = ("quality", "speed")  # a million rows, many classes and learning curves take long: on demand
RESULTS = Path(__file__).parents[2] / "bench-results"


def main(arguments: list[str] | None = None) -> int:
    """The program."""
    chosen = _parse(arguments)
    sections = [s for group in chosen.only for s in GROUPS[group] if not chosen.section or _title(s) in chosen.section]
    name = "-".join(chosen.section or chosen.only) if (chosen.section or chosen.only != list(USUAL)) else "table"
    return execute(sections, name, chosen.output)


def execute(sections: Sequence[Callable[[report.Report], None]], name: str, output: Path) -> int:
    """Run sections, print their table and write it under a name, with plots; 1 if a bound is not met."""
    where = report.machine()
    print("; ".join(f"{k} {v}" for k, v in where.items()), flush=True)
    found = report.Report()
    with threadpool_limits(1, user_api="blas"):  # scikit-learn's solvers lose time with small vectors on many threads
        for section in sections:
            _run(found, section)
    folder = corpora.ignored_folder(output)
    paths = report.write(found, where, folder, name)
    paths += plots.write(found, folder, f"{where['processor']}, {where['cores']} cores")
    print("\n" + report.markdown(found, where))
    print("written:", *paths, sep="\n  ")
    return int(any(row.ok is False for row in found.rows))


def _run(found: report.Report, section: Callable[[report.Report], None]) -> None:
    """One section; its failure is a row of the table, not the end of the others."""
    start = time.perf_counter()
    try:
        section(found)
    except Exception as failure:
        traceback.print_exc()
        found.failed(_title(section), failure)
    print(f"       ({_title(section)}: {time.perf_counter() - start:.0f} s)", flush=True)


def _title(section: Callable) -> str:
    return "products" if section.__module__.endswith("products") else section.__name__


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.run", description=__doc__.splitlines()[0])
    names = [_title(s) for sections in GROUPS.values() for s in sections]
    commas = "with commas between them, of {}"
    parser.add_argument("--only", help="groups " + commas.format(", ".join(GROUPS)), default=",".join(USUAL))
    parser.add_argument("--section", help="sections " + commas.format(", ".join(names)), default="")
    parser.add_argument("--output", help="folder for table and plots", type=Path, default=RESULTS)
    chosen = parser.parse_args(arguments)
    chosen.only = chosen.only.split(",")
    chosen.section = [s for s in chosen.section.split(",") if s]
    for name, known in ((n, k) for given, k in ((chosen.only, list(GROUPS)), (chosen.section, names)) for n in given):
        if name not in known:
            parser.error(f"unknown name {name!r}: choose from {', '.join(known)}")
    if chosen.section:
        chosen.only = [g for g in GROUPS if any(_title(s) in chosen.section for s in GROUPS[g])]
    return chosen


if __name__ == "__main__":
    sys.exit(main())
