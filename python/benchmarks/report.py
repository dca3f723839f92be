"""What a benchmark found: rows of measured value, bound and verdict, and values for figures and later sections."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
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
    data: dict[str, dict[str, Any]] = field(default_factory=dict)  # what -> part -> values; plain, for JSON
    quiet: bool = False

    def add(self, row: Row) -> Row:
        """Keep and print a row."""
        self.rows.append(row)
        if not self.quiet:
            print(row.line(), flush=True)
        return row

    def keep(self, what: str, part: str, values: Any) -> None:
        """Keep values for a figure or for a later section."""
        self.data.setdefault(what, {})[part] = values

    def fact(self, what: str, value: float, unit: str = "", note: str = "", values: Any = ()) -> Row:
        """A figure of which nothing is demanded."""
        return self._figure(what, value, "", None, unit, note, values)

    def at_most(self, what, value, bound: float | None, unit: str = "", note: str = "", values: Any = ()) -> Row:
        """A figure that must not be above the bound, if there is one."""
        return self._figure(what, value, "≤", bound, unit, note, values)

    def at_least(self, what, value, bound: float | None, unit: str = "", note: str = "", values: Any = ()) -> Row:
        """A figure that must not be below the bound, if there is one."""
        return self._figure(what, value, "≥", bound, unit, note, values)

    def _figure(self, what, value, sign, bound, unit, note, values) -> Row:
        demand = "" if bound is None else f"{sign} {bound:g}{unit}"
        ok = None if bound is None else bool(value <= bound if sign == "≤" else value >= bound)
        return self.add(Row(what, number(value) + unit, demand, ok, note, [float(v) for v in values]))

    def failed(self, what: str, failure: BaseException) -> Row:
        """A measurement that did not come about counts as short."""
        text = f"{type(failure).__name__}: {failure}".splitlines()[0][:120]
        return self.add(Row(what, "failed", ok=False, note=text))


def standard_error(values: np.ndarray) -> float:
    """Of the mean; 0 for a single value, of which nothing is known."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    try:
        go = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        go = "none"
    return {
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load": ", ".join(f"{v:.1f}" for v in os.getloadavg()),
        "python": platform.python_version(),
        "go": go,
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "fewlabel")},
    }


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
    rows = [asdict(r) | {"verdict": r.verdict} for r in report.rows]
    content = {"machine": where, "rows": rows, "data": report.data}
    data.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return [page, data]
