"""What every benchmark program does with its sections: run them, print their table, write it with plots."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks import corpora, plots
from benchmarks.report import Report, machine, markdown, write

RESULTS = Path(__file__).parents[2] / "bench-results"  # git ignores it


def execute(sections: Sequence[Callable[[Report], None]], name: str, output: Path) -> int:
    """Run sections, print their table and write it under a name, with plots; 1 if a bound is not met."""
    where = machine()
    print("; ".join(f"{k} {v}" for k, v in where.items()), flush=True)
    found = Report()
    with threadpool_limits(1, user_api="blas"):  # scikit-learn's solvers lose time with small vectors on many threads
        for section in sections:
            _run(found, section)
    folder = corpora.ignored_folder(output)
    paths = write(found, where, folder, name)
    paths += plots.write(found, folder, f"{where['processor']}, {where['cores']} cores")
    print("\n" + markdown(found, where))
    print("written:", *paths, sep="\n  ")
    return int(any(row.ok is False for row in found.rows))


def _run(found: Report, section: Callable[[Report], None]) -> None:
    """One section; its failure is a row of the table, not the end of the others."""
    start = time.perf_counter()
    try:
        section(found)
    except Exception as failure:
        traceback.print_exc()
        found.failed(title(section), failure)
    print(f"       ({title(section)}: {time.perf_counter() - start:.0f} s)", flush=True)


def title(section: Callable) -> str:
    """The name by which a section is chosen."""
    return "products" if section.__module__.endswith("products") else section.__name__
