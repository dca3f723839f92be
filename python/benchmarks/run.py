"""Run the benchmarks, print the table and write it with plots.

    FEWLABEL_DATA=... python -m benchmarks.run [--only quality,speed] [--section comp] [--output bench-results]

Ends with status 1 if a bound is not met.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    alpha,
    calibration,
    class_quality,
    class_speed,
    dense,
    expectation,
    few_labels,
    figure5,
    label_next,
    large,
    learning_curves,
    predict,
    prior,
    program,
    quality,
    reader,
    recipes,
    report,
    safe_default,
    scale,
    speed,
    warm,
)

GROUPS: dict[str, tuple[Callable[[report.Report], None], ...]] = {
    "quality": quality.SECTIONS,
    "speed": speed.SECTIONS,
    "classes": class_quality.SECTIONS + class_speed.SECTIONS,
    "expectation": expectation.SECTIONS,
    "figure5": figure5.SECTIONS,
    "curves": learning_curves.SECTIONS,
    "default": safe_default.SECTIONS,
    "prior": prior.SECTIONS,
    "calibration": calibration.SECTIONS,
    "large": large.SECTIONS,
    "warm": warm.SECTIONS,
    "recipe": recipes.SECTIONS,
    "few": few_labels.SECTIONS,
    "next": label_next.SECTIONS,
    "reader": reader.SECTIONS,
    "predict": predict.SECTIONS,
    "dense": dense.SECTIONS,
    "alpha": alpha.SECTIONS,
    "scale": scale.SECTIONS,
}
USUAL = ("quality", "speed")  # a million rows, many classes and learning curves take long: on demand


def main(arguments: list[str] | None = None) -> int:
    """The program."""
    chosen = _parse(arguments)
    sections = [
        s for group in chosen.only for s in GROUPS[group] if not chosen.section or program.title(s) in chosen.section
    ]
    name = "-".join(chosen.section or chosen.only) if (chosen.section or chosen.only != list(USUAL)) else "table"
    return program.execute(sections, name, chosen.output)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.run", description=__doc__.splitlines()[0])
    names = [program.title(s) for sections in GROUPS.values() for s in sections]
    commas = "with commas between them, of {}"
    parser.add_argument("--only", help="groups " + commas.format(", ".join(GROUPS)), default=",".join(USUAL))
    parser.add_argument("--section", help="sections " + commas.format(", ".join(names)), default="")
    parser.add_argument("--output", help="folder for table and plots", type=Path, default=program.RESULTS)
    chosen = parser.parse_args(arguments)
    chosen.only = chosen.only.split(",")
    chosen.section = [s for s in chosen.section.split(",") if s]
    for name, known in ((n, k) for given, k in ((chosen.only, list(GROUPS)), (chosen.section, names)) for n in given):
        if name not in known:
            parser.error(f"unknown name {name!r}: choose from {', '.join(known)}")
    if chosen.section:
        chosen.only = [g for g in GROUPS if any(program.title(s) in chosen.section for s in GROUPS[g])]
    return chosen


if __name__ == "__main__":
    sys.exit(main())
