"""Run the benchmarks, print the table and write it.

    FEWLABEL_DATA=... python -m benchmarks.run [--only quality,speed] [--section comp] [--draws 2] [--output FOLDER]

Ends with status 1 if a bound is not met.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks import (
    aso,
    aso_tagging,
    calibration,
    corpora,
    dask_ranks,
    embeddings,
    few_labels,
    figure5,
    kernels,
    large,
    methods_quality,
    peers,
    ranks,
    recipes,
    sequences,
    sequences_unlabeled,
    speed,
)
from benchmarks.report import Report, machine, markdown, write

Section = Callable[..., None]  # of the report, and of `draws` where it has that parameter

GROUPS: dict[str, tuple[Section, ...]] = {
    "methods": methods_quality.SECTIONS,
    "speed": speed.SECTIONS,
    "classes": methods_quality.CLASS_SECTIONS + speed.CLASS_SECTIONS,
    "figure5": figure5.SECTIONS,
    "calibration": calibration.SECTIONS,
    "large": large.SECTIONS,
    "recipe": recipes.SECTIONS,
    "few": few_labels.SECTIONS,
    "embeddings": embeddings.SECTIONS,
    "embeddings_choice": embeddings.CHOICES,
    "kernels": kernels.SECTIONS,
    "ranks": ranks.SECTIONS + dask_ranks.SECTIONS,
    "sequences": sequences.SECTIONS,
    "peers": peers.SECTIONS,
    "peers_choice": peers.CHOICES,
    "sequences_unlabeled": sequences_unlabeled.SECTIONS,
    "aso": aso.SECTIONS,
    "aso_tagging": aso_tagging.SECTIONS,
    "aso_choice": aso.CHOICES,
}
USUAL = "methods,speed"  # a million rows, many classes and learning curves take long: on demand


def main(arguments: list[str] | None = None) -> int:
    """The program."""
    known = {section.__name__: section for sections in GROUPS.values() for section in sections}
    parser = argparse.ArgumentParser(prog="benchmarks.run", description=__doc__.splitlines()[0])
    commas = "with commas between them, of {}"
    parser.add_argument("--only", help="groups " + commas.format(", ".join(GROUPS)))
    parser.add_argument("--section", help="sections " + commas.format(", ".join(known)))
    parser.add_argument("--draws", help="draws of rows and labels, where a section has several", type=int)
    parser.add_argument("--output", help="folder for the table", type=Path, default=corpora.RESULTS)
    chosen = parser.parse_args(arguments)
    names = (chosen.section or chosen.only or USUAL).split(",")
    if wrong := [name for name in names if name not in (known if chosen.section else GROUPS)]:
        parser.error(f"unknown name {wrong[0]!r}: choose from {', '.join(known if chosen.section else GROUPS)}")
    if chosen.draws is not None and chosen.draws < 1:
        parser.error("--draws must be at least 1")
    sections = [known[name] for name in names] if chosen.section else [s for name in names for s in GROUPS[name]]
    return execute([with_draws(s, chosen.draws) for s in sections], "-".join(names), chosen.output)


def with_draws(section: Section, draws: int | None) -> Section:
    """The section with that many draws, if it has that parameter."""
    if draws is None or "draws" not in inspect.signature(section).parameters:
        return section
    return functools.wraps(section)(functools.partial(section, draws=draws))


def execute(sections: Sequence[Section], name: str, output: Path) -> int:
    """Run sections, print their table and write it under a name; 1 if a bound is not met."""
    where = machine()
    print("; ".join(f"{k} {v}" for k, v in where.items()), flush=True)
    found = Report()
    with threadpool_limits(1, user_api="blas"):  # scikit-learn's solvers lose time with small vectors on many threads
        for section in sections:
            start = time.perf_counter()
            try:
                section(found)
            except Exception as failure:  # a row of the table, not the end of the other sections
                traceback.print_exc()
                found.failed(section.__name__, failure)
            print(f"       ({section.__name__}: {time.perf_counter() - start:.0f} s)", flush=True)
    paths = write(found, where, corpora.ignored_folder(output), name)
    print("\n" + markdown(found, where))
    print("written:", *paths, sep="\n  ")
    return int(any(row.ok is False for row in found.rows))


if __name__ == "__main__":
    sys.exit(main())
