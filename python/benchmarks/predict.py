"""What `predict` takes beyond the product that it cannot do without, `X @ coef_.T`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks import large, timing
from benchmarks.learners import ALPHA
from benchmarks.report import Report

ROWS, FEATURES, ROW_LENGTH = 100_000, 50_000, 50
CLASSES = (2, 20)
BOUND = 1.1
FITTED = 5_000  # rows from which the weights are learned


def predict_time(report: Report, rounds: int = 31, n: int = ROWS) -> None:
    """Classes of sparse rows, one thread, with two and with 20 classes; both take turns."""
    X, _ = large.planted(n, FEATURES, ROW_LENGTH)
    for K in CLASSES:
        model = fitted(X, K)
        calls = {"predict": lambda m=model: m.predict(X), "product": lambda m=model: X @ m.coef_.T}
        with threadpool_limits(1):
            seconds = timing.take_turns(calls, rounds)
        ratios = timing.ratio(seconds, "predict", "product")
        note = " / ".join(f"{1e3 * np.median(values):.1f} ms" for values in seconds.values())
        note += f"; {X.shape[0]:,} rows, {X.nnz / X.shape[0]:.0f} non-zeros each, {X.shape[1]:,} features"
        what = f"predict, {K} classes: predict / X @ coef_.T"
        report.at_most(what, float(np.median(ratios)), BOUND, "", note, ratios)


def fitted(X: sp.csr_matrix, K: int) -> Any:
    """A model of K classes. Its labels are drawn at random: what predict takes does not depend on them."""
    from fewlabel import TransductiveSVC

    some = X[:FITTED]
    y = np.random.default_rng(0).permutation(np.arange(some.shape[0]) % K)
    return TransductiveSVC(alpha=ALPHA, unlabeled=None, n_jobs=1).fit(some, y)


SECTIONS = (predict_time,)
