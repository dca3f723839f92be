"""What measurements have in common: times that take turns, memory in a fresh process, and lines of a table with bounds.

Seconds of processor time disturb each other less than those of a clock where the machine has other work.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import platform
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import data

MB = 1e6


@dataclass
class Report:
    """Lines of a benchmark, printed as they come; `short` counts bounds that are not met."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    short: int = 0

    def add(self, what: str, values: Any, unit: str = "", note: str = "", **bound: float) -> None:
        """The mean of some values, which must be `at_most` or `at_least` so much."""
        mean = float(np.mean(values))
        met = mean <= bound.get("at_most", np.inf) and mean >= bound.get("at_least", -np.inf)
        self.short += not met
        demand = "".join(f"({k.replace('_', ' ')} {v:g}{'' if met else ': SHORT'})" for k, v in bound.items())
        print(f"{what:70} {mean:10.4g}{unit:3} {demand} {note}".rstrip(), flush=True)
        self.lines.append(
            {"what": what, "value": mean, "least": np.min(values), "unit": unit, "met": met, "note": note}
        )

    def write(self, name: str) -> Path:
        """Keep the table."""
        path = data.ignored_folder(data.RESULTS) / f"{name}.csv"
        pd.DataFrame(self.lines).to_csv(path, index=False)
        return path


def machine() -> str:
    """What the figures were measured on."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "fewlabel"))
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{os.cpu_count()} cores, {(names or [platform.processor()])[0]}, {load}, {versions}"


# ------------------------------------------------------------------ fits and times
def quietly(estimator: Any, X: Any, y: Any) -> Any:
    """Fit without warnings: shares far from those of the labels are meant here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y)


def seconds(call: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> tuple[float, Any]:
    """How long a call takes, and what it gives."""
    start = clock()
    found = call()
    return clock() - start, found


def turns(calls: dict[str, Callable[[], Any]], rounds: int, clock: Any = time.process_time) -> dict[str, np.ndarray]:
    """Seconds (rounds,) of each call. In every round each is called once, so that a busy moment of the machine hits all
    of them; one round before them is not counted."""
    every = [{name: seconds(call, clock)[0] for name, call in calls.items()} for _ in range(rounds + 1)]
    return {name: np.array([one[name] for one in every[1:]]) for name in calls}


# ------------------------------------------------------------------ memory
def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of a module gives in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def resident(name: str) -> int:
    """VmRSS (now) or VmHWM (peak) of this process, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


@dataclass
class Cost:
    """Of a fit; memory is that above what the process had before, its input included."""

    seconds: float
    processor: float
    peak: int
    left: int


def cost(fit: Callable[[], Any]) -> tuple[Cost, Any]:
    """What a fit costs, after a smaller one has loaded what it needs, and what it gives."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins again
    before, clock = resident("VmRSS"), time.perf_counter()
    processor, found = seconds(fit)
    clock = time.perf_counter() - clock
    return Cost(clock, processor, resident("VmHWM") - before, resident("VmRSS") - before), found
