"""Times that mean something on a machine that others use: repeats that take turns, medians, one thread where said."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np


def seconds_per_call(call: Callable[[], Any], calls: int) -> float:
    """Processor time of a call, the mean over one run of calls after one call that warms up."""
    call()
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


def take_turns(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, np.ndarray]:
    """Seconds (rounds,) of each call. In every round each is called once, so that a busy moment of the machine hits all
    of them; one round before them is not counted. Of an outcome the time of its fit counts."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for k in range(rounds + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            found = call()
            if k > 0:
                seconds[name].append(getattr(found, "seconds", time.perf_counter() - start))
    return {name: np.array(values) for name, values in seconds.items()}


def ratio(seconds: dict[str, np.ndarray], name: str, to: str) -> np.ndarray:
    """The ratios (rounds,) of two calls inside each round."""
    return seconds[name] / seconds[to]


def note(seconds: dict[str, np.ndarray], *names: str) -> str:
    """The medians of calls, for a note."""
    return " / ".join(f"{name} {np.median(seconds[name]):.3f} s" for name in names)
