"""What somebody waits for who gets a wheel: installation, import, loading, the first prediction in a notebook.

    python -m benchmarks.install WHEEL [--section process] [--output FOLDER]

Everything is measured in a fresh environment without Go on PATH. Jupyter's kernel is there before the clock starts;
what the wheel needs is downloaded while it runs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import fresh_environment
from benchmarks.report import Report
from benchmarks.run import RESULTS, execute

FOLDER = Path(__file__).parents[2] / "build" / "bench-install"
NOTEBOOK = ("ipykernel", "nbclient")  # to run a notebook as Jupyter does
REPEATS = 15

# What is timed, each in a process of its own: the statements before the clock starts, and those while it runs.
SCIKIT_LEARN = "from sklearn.linear_model import LogisticRegression; from sklearn.svm import LinearSVC"
ESTIMATORS = "from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC, datasets, metrics"
STEPS = {
    "import fewlabel": ("", "import fewlabel", 30),
    "its estimators, datasets and metrics beyond scikit-learn's own": (SCIKIT_LEARN, ESTIMATORS, 30),
    "loading the library": ("from fewlabel._native import _library", "_library.library()", 20),
}
STOPWATCH = """
import json, time
{before}
wall, processor = time.perf_counter(), time.process_time()
{timed}
print(json.dumps([time.perf_counter() - wall, time.process_time() - processor]))
"""

CELLS = (
    """
import shutil
import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize
from fewlabel import TransductiveSVC
""",
    """
X, digit = load_digits(return_X_y=True)
rows = np.isin(digit, [3, 9])
X, truth = normalize(X[rows]), digit[rows]
y = np.where(np.arange(len(truth)) < 6, truth, -1)
model = TransductiveSVC().fit(X, y)
print(model.score(X[6:], truth[6:]) > 0.9, shutil.which("go"))
""",
)
RUN_NOTEBOOK = """
import json, sys
import nbformat
from nbclient import NotebookClient
cells = [nbformat.v4.new_code_cell(code) for code in json.load(sys.stdin)]
notebook = nbformat.v4.new_notebook(cells=cells)
NotebookClient(notebook, kernel_name="python3", timeout=300).execute()
print(notebook.cells[-1].outputs[0].text.strip())
"""


def sections(wheel: Path) -> tuple[Callable[[Report], None], ...]:
    """The sections of the report. Each makes its own environment."""

    def notebook(report: Report) -> None:
        report.at_most("size of the wheel", wheel.stat().st_size / 1e6, 3, " MB")
        python = fresh_environment.create(FOLDER / "notebook")
        fresh_environment.install(python, *NOTEBOOK)
        start = time.perf_counter()
        fresh_environment.install(python, "--no-cache-dir", str(wheel))
        installed = time.perf_counter()
        answer = run_notebook(python)
        end = time.perf_counter()
        if answer != "True None":
            raise RuntimeError(f"the notebook answers {answer!r}: found the classes, place of go")
        report.fact("pip install of the wheel, everything downloaded", installed - start, " s")
        report.fact("notebook: from the start of the kernel to the first prediction", end - installed, " s")
        report.fact("from pip install to the first prediction in a notebook", end - start, " s")

    def process(report: Report) -> None:
        python = fresh_environment.create(FOLDER / "process")
        fresh_environment.install(python, str(wheel))
        for name, (before, timed, bound) in STEPS.items():
            runs = np.array([stopwatch(python, before, timed) for _ in range(REPEATS)])
            wall, processor = 1e3 * np.median(runs, axis=0)
            quickest = 1e3 * runs[:, 0].min()
            note = f"median of {REPEATS} fresh processes; on the clock {wall:.1f} ms, quickest {quickest:.1f} ms"
            report.at_most(f"{name}, processor time", processor, bound, " ms", note)

    return notebook, process


def run_notebook(python: Path) -> str:
    """What the last cell of the notebook prints, run by a kernel of this environment."""
    return subprocess.run(
        [python, "-c", RUN_NOTEBOOK],
        input=json.dumps(CELLS),
        cwd=python.parent,
        env=fresh_environment.without_tools(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()


def stopwatch(python: Path, before: str, timed: str) -> tuple[float, float]:
    """Seconds on the clock and of the processor for some statements, in a fresh process."""
    done = subprocess.run(
        [python, "-c", STOPWATCH.format(before=before, timed=timed)],
        cwd=python.parent,
        env=fresh_environment.without_tools(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    wall, processor = json.loads(done.stdout)
    return wall, processor


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--section", help="one of notebook, process", choices=["notebook", "process"])
    parser.add_argument("--output", help="folder for the table", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    wanted = [s for s in sections(chosen.wheel.resolve()) if chosen.section in (None, s.__name__)]
    return execute(wanted, "install", chosen.output)


if __name__ == "__main__":
    sys.exit(main())
