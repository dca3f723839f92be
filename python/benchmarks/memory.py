"""Memory of a fit, measured in a fresh process: the peak above the input, and what remains.

As a program: `python -m benchmarks.memory TASK SETTINGS` prints the figures as JSON, TASK being a file of `save`.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import corpora
from benchmarks.learners import ALPHA
from benchmarks.report import Report
from benchmarks.tasks import UNLABELED, Task

HERE = Path(__file__).parents[1]
MB = 1e6
VECTORS = 20  # vectors of length n or d that a fit may have beside half of the input


@dataclass
class Figures:
    """Bytes, except where said."""

    input: int  # the arrays of the rows: three of CSR, one of dense rows
    vector: int  # a vector of length max(n, d)
    peak: int  # resident memory above that before the fit
    left: int  # resident memory above that before the fit, after it
    seconds: float
    passes: float
    error: float  # percent, on unlabeled rows
    share: float  # share of class 1 among them
    processor: float = 0.0  # seconds of all threads

    @property
    def allowed(self) -> float:
        """The largest peak that is in order."""
        return 0.5 * self.input + VECTORS * self.vector


def rows(report: Report, what: str, figures: Figures) -> None:
    """The two rows of a measurement."""
    note = f"input {figures.input / MB:.0f} MB; {figures.peak / figures.input:.2f} times the input"
    report.at_most(f"{what}, peak above input", figures.peak / MB, round(figures.allowed / MB), " MB", note)
    report.at_most(f"{what}, left after fit", figures.left / MB, 100, " MB")


def of_task(task: Task, settings: dict[str, Any]) -> Figures:
    """The figures of a fit in a fresh process."""
    with tempfile.TemporaryDirectory(dir=corpora.ignored_folder(corpora.CACHE)) as folder:
        path = Path(folder, "task.npz")
        save(path, task)
        command = [sys.executable, "-m", "benchmarks.memory", str(path), json.dumps(settings)]
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the measuring process failed: {done.stderr.strip()[-500:]}")
    return Figures(**json.loads(done.stdout))


def save(path: Path, task: Task) -> None:
    """Write what the other process needs; classes are their numbers there."""
    X = task.X
    rows = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape} if sp.issparse(X) else {"X": X}
    np.savez(path, **rows, y=task.y, given=task.given, prior=list(task.class_prior.values()))


# ------------------------------------------------------------------ inside the fresh process
def resident(field: str) -> int:
    """VmRSS (now) or VmHWM (peak) of this process, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}")


def forget_peak() -> None:
    """Make VmHWM start again from now."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def settle() -> None:
    """Give back what Python and the C library hold but do not use. Done before the fit only: what a fit leaves
    behind in this way counts."""
    gc.collect()
    with contextlib.suppress(AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)


def _load(path: Path) -> tuple[Any, np.ndarray, np.ndarray, dict[int, float]]:
    with np.load(path) as z:
        dense = "X" in z
        X = z["X"] if dense else sp.csr_matrix((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"]))
        return X, z["y"], z["given"], dict(enumerate(z["prior"].tolist()))


def _kind(settings: dict[str, Any]) -> Any:
    from fewlabel import KernelTransductiveSVC, TransductiveSVC

    return KernelTransductiveSVC if "kernel" in settings else TransductiveSVC


def _warm(settings: dict[str, Any]) -> None:
    """A small fit, so that modules and the library are there before the memory is looked at."""
    kind = _kind(settings)
    X = sp.csr_matrix(np.random.default_rng(0).normal(size=(40, 5)))
    kind(**settings).fit(X, np.array([0, 1] + [-1] * 38))


def _fit(path: Path, settings: dict[str, Any]) -> Figures:
    _warm(settings)
    X, y, given, prior = _load(path)
    usual = {"alpha": ALPHA, "class_prior": prior, "unlabeled_weight": 1.0}
    estimator = _kind(settings)(**(usual | settings))
    settle()
    forget_peak()
    before = resident("VmRSS")
    start, busy = time.perf_counter(), time.process_time()
    estimator.fit(X, given)
    seconds, processor = time.perf_counter() - start, time.process_time() - busy
    peak = resident("VmHWM") - before
    left = resident("VmRSS") - before
    unlabeled = given == UNLABELED
    found = estimator.transduction_[unlabeled]
    return Figures(
        input=sum(part.nbytes for part in ([X.data, X.indices, X.indptr] if sp.issparse(X) else [X])),
        vector=8 * max(X.shape),
        peak=peak,
        left=left,
        seconds=seconds,
        passes=float(estimator.history_["n_passes"][-1]),
        error=float(np.mean(found != y[unlabeled]) * 100),
        share=float(np.mean(found == 1)),
        processor=processor,
    )


if __name__ == "__main__":
    print(json.dumps(vars(_fit(Path(sys.argv[1]), json.loads(sys.argv[2])))))
