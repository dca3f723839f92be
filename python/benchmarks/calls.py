"""Compare what a call of the library costs in this checkout and in another one, in paired runs.

    python -m benchmarks.calls OTHER_CHECKOUT [--rounds 100]

OTHER_CHECKOUT has a built package and a .venv; it may be older. Both make 10,000 predictions of one row and 1,000 fits
of 100 rows through the C interface, by turns in as many rounds, one thread each. Seconds are processor time; medians of
the rounds and of their ratios.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks import paired

CALLS = {"predict one row": 10_000, "fit 100 rows": 1_000}
FEATURES, ROW_LENGTH = 200, 10


def work() -> None:
    """What runs in each checkout: for each line [name, calls] of JSON a line with the seconds that they take."""
    known = calls()
    for line in sys.stdin:
        name, count = json.loads(line)
        start = time.process_time()
        for _ in range(count):
            known[name]()
        print(json.dumps((time.process_time() - start) / count), flush=True)


def calls() -> dict[str, Callable[[], None]]:
    """A prediction and a fit, by what every version of the package has."""
    import scipy.sparse as sp

    from fewlabel._inputs import _data
    from fewlabel._native import _library

    draws = np.random.default_rng(0)
    group = np.arange(100)[:, None] % 2
    own = draws.random((100, ROW_LENGTH)) > 0.3  # words of the group, the others are of both
    words = draws.integers(0, FEATURES // 2, own.shape) + own * group * (FEATURES // 2)
    X = sp.csr_array((np.full(words.size, 0.3), words.ravel(), np.arange(0, words.size + 1, ROW_LENGTH)))
    X.resize(100, FEATURES)
    y = np.where(np.arange(100) < 10, group.ravel(), -1).astype(np.int32)
    rows, row, found = _data.native(X), _data.native(X[:1]), np.empty(1, dtype=np.int32)
    kept, model = ctypes.c_int64(), ctypes.c_int64()
    unused = [None] * (len(_library.library().fewlabel_fit.argtypes) - 8)  # progress, and in newer builds group

    def fit(handle: ctypes.c_int64) -> None:
        _library.call(
            "fewlabel_fit", ctypes.byref(rows.struct), y.ctypes.data, None, 0, b"{}", *unused, ctypes.byref(handle)
        )

    def fit_and_free() -> None:
        fit(model)
        _library.call("fewlabel_free", model.value)

    def predict() -> None:
        _library.call("fewlabel_predict", kept.value, ctypes.byref(row.struct), 1, found.ctypes.data)

    fit(kept)
    return {"predict one row": predict, "fit 100 rows": fit_and_free}


def compare(both: tuple[subprocess.Popen, ...], name: str, rounds: int) -> str:
    """The row of a kind of call; who comes first changes with the round."""
    seconds: tuple[list, list] = ([], [])
    for k in range(rounds):
        for i in (k % 2, 1 - k % 2):
            seconds[i].append(paired.ask(both[i], name, CALLS[name] // rounds))
    this, other = map(np.array, seconds)
    ratios, more = this / other, 1e6 * np.median(this - other)
    cells = [f"{name:18}", *(f"{1e6 * np.median(v):10.1f}" for v in (this, other)), f"{more:10.1f}"]
    return " ".join([*cells, f"{np.median(ratios):8.3f}  ({ratios.min():.3f} to {ratios.max():.3f})"])


def main(arguments: list[str] | None = None) -> None:
    """The program."""
    parser = argparse.ArgumentParser(prog="benchmarks.calls", description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--rounds", type=int, default=100)
    chosen = parser.parse_args(arguments)
    both = tuple(paired.worker(folder, "calls") for folder in (paired.HERE, chosen.other))
    print(f"{'microseconds':18} {'this':>10} {'other':>10} {'more':>10} {'ratio':>8}")
    for name in CALLS:
        print(compare(both, name, chosen.rounds), flush=True)
    for process in both:
        process.communicate()


if __name__ == "__main__":
    main()
