"""Shapes at the edge: nearly as many classes as rows, and rows of one feature. Processor time of one thread.

The cost of a pass is a product with the rows plus what every row costs whatever its length: losses, soft labels, the
line search. With one feature the latter is all there is; per row and pass it is the same for any number of rows.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.copies import planted
from benchmarks.learners import quietly
from benchmarks.report import Report
from benchmarks.tasks import mask_labels

CLASSES = (250, 500, 1000)
ROWS = 2000
LENGTHS = (10_000, 100_000, 1_000_000)
MOST_SECONDS = 20.0  # of 1,000 classes on 2,000 rows


def many_classes(report: Report) -> None:
    """2,000 planted rows, one label of each class: time must not grow as the cube of the classes."""
    for classes in CLASSES:
        task = planted(classes, 0, ROWS, 1)
        for method in ("annealing", "switching"):
            seconds, model = timed(task.X, task.given, method)
            bound = MOST_SECONDS if method == "annealing" else None
            error = 100 * np.mean(model.transduction_[task.unlabeled] != task.y[task.unlabeled])
            note = f"{passes(model):.0f} passes, objective {model.history_['objective'][-1]:.6f}, error {error:.1f} %"
            report.at_most(f"{classes} classes on {ROWS:,} rows, {method}", seconds, bound, " s", note)


def one_feature(report: Report) -> None:
    """Two overlapping classes on a line, 100 labels."""
    for rows in LENGTHS:
        rng = np.random.default_rng(1)
        y = rng.integers(0, 2, rows)
        X = sp.csr_matrix((rng.normal(3 * y - 1.5), np.zeros(rows, np.int32), np.arange(rows + 1)), (rows, 1))
        for method in ("annealing", "switching"):
            seconds, model = timed(X, mask_labels(y, np.arange(100)), method)
            each = 1e9 * seconds / passes(model) / rows
            note = f"{passes(model):.0f} passes, {each:.0f} ns a row and pass, {len(model.history_['objective'])} steps"
            report.fact(f"{rows:,} rows of one feature, {method}", seconds, " s", note)


SECTIONS = (many_classes, one_feature)


# ------------------------------------------------------------------ helpers
def timed(X: sp.csr_matrix, given: np.ndarray, method: str) -> tuple[float, Any]:
    """Seconds of the processor for a fit, and the model."""
    from fewlabel import TransductiveSVC

    start = time.process_time()
    model = quietly(TransductiveSVC(method=method, n_jobs=1), X, given)
    return time.process_time() - start, model


def passes(model: Any) -> float:
    """Passes over the rows that a fit made."""
    return float(model.history_["n_passes"][-1])
