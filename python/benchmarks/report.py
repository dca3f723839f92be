"""What a benchmark found: rows of measured value, bound and verdict, and the samples and curves behind the plots."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np


@dataclass
class Row:
    """One line of the table. `ok` is None where nothing is demanded."""

    what: str
    measured: str
    bound: str = ""
    ok: bool | None = None
    note: str = ""
    values: list[float] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """`ok`, `short`, or nothing where nothing is demanded."""
        return {None: "", True: "ok", False: "short"}[self.ok]

    def line(self) -> str:
        """The row as a line of text."""
        bound = f"(must be {self.bound})" if self.bound else ""
        return f"{self.verdict or '-':6} {self.what:62} {self.measured:>14}  {bound} {self.note}".rstrip()


def number(value: float, digits: int = 4) -> str:
    """A number for the table: significant digits, no exponent where it can be helped."""
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        decimals = max(0, digits - 1 - int(np.floor(np.log10(abs(value))))) if value else 0
        return f"{value:.{min(decimals, 6)}f}"
    return f"{value:.{digits - 1}g}"


@dataclass
class Report:
    """Collects rows and prints each when it comes."""

    rows: list[Row] = field(default_factory=list)
    samples: dict[str, dict[str, list[float]]] = field(default_factory=dict)  # task -> learner -> errors
    curves: dict[str, dict[str, dict[str, list[float]]]] = field(default_factory=dict)  # task -> method -> columns
    quiet: bool = False

    def add(self, row: Row) -> Row:
        """Keep and print a row."""
        self.rows.append(row)
        if not self.quiet:
            print(row.line(), flush=True)
        return row

    def fact(self, what: str, value: float, unit: str = "", note: str = "", values: Any = ()) -> Row:
        """A figure of which nothing is demanded."""
        return self.add(Row(what, number(value) + unit, note=note, values=[float(v) for v in values]))

    def at_most(self, what: str, value: float, bound: float, unit: str = "", note: str = "", values: Any = ()) -> Row:
        """A figure that must not be above the bound."""
        return self._demand(what, value, value <= bound, f"≤ {bound:g}{unit}", unit, note, values)

    def at_least(self, what: str, value: float, bound: float, unit: str = "", note: str = "", values: Any = ()) -> Row:
        """A figure that must not be below the bound."""
        return self._demand(what, value, value >= bound, f"≥ {bound:g}{unit}", unit, note, values)

    def failed(self, what: str, failure: BaseException) -> Row:
        """A measurement that did not come about counts as short."""
        text = f"{type(failure).__name__}: {failure}".splitlines()[0][:120]
        return self.add(Row(what, "failed", ok=False, note=text))

    def sample(self, task: str, learner: str, values: Any) -> None:
        """Keep the errors of a learner, for the plot with error bars."""
        self.samples.setdefault(task, {})[learner] = [float(v) for v in values]

    def curve(self, task: str, method: str, columns: dict[str, Any]) -> None:
        """Keep the course of a fit, for the plot of the objective."""
        plain = {name: np.asarray(column, dtype=float).tolist() for name, column in columns.items()}
        self.curves.setdefault(task, {})[method] = plain

    def _demand(self, what, value, ok, bound, unit, note, values) -> Row:
        return self.add(Row(what, number(value) + unit, bound, bool(ok), note, [float(v) for v in values]))


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    processor = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    load = ", ".join(f"{v:.1f}" for v in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    return {
        "processor": processor,
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load": load,
        "python": platform.python_version(),
        "go": _go_version(),
        **{name: _version(name) for name in ("numpy", "scipy", "scikit-learn", "fewlabel")},
    }


def _go_version() -> str:
    try:
        return subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "none"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "from source"


def markdown(report: Report, where: dict[str, str]) -> str:
    """The table as a page."""
    short = sum(row.ok is False for row in report.rows)
    met = sum(row.ok is True for row in report.rows)
    lines = ["# Benchmark of fewlabel", "", "; ".join(f"{k} {v}" for k, v in where.items()) + ".", ""]
    lines += [f"{met} bounds met, {short} short.", "", "| what | measured | bound | | note |", "|---|---|---|---|---|"]
    lines += [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in (r.what, r.measured, r.bound, r.verdict, r.note)) + " |"
        for r in report.rows
    ]
    return "\n".join(lines) + "\n"


def write(report: Report, where: dict[str, str], folder: Path, name: str = "table") -> list[Path]:
    """Write the table as markdown and as JSON; gives the paths."""
    page, data = folder / f"{name}.md", folder / f"{name}.json"
    page.write_text(markdown(report, where), encoding="utf-8")
    content = {"machine": where, "rows": [asdict(r) | {"verdict": r.verdict} for r in report.rows]}
    content |= {"samples": report.samples, "curves": report.curves}
    data.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return [page, data]
