"""Inputs on which costs could run away: many classes, and the neighbor graph of equal rows, lines and normal rows.

Seconds of one thread; for method "gradient" with many classes beside a supervised LinearSVC on the labeled rows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from benchmarks import measure
from benchmarks.measure import Report

N = 10_000


def topics(n_classes: int, n: int, share: float, rng: np.random.Generator) -> tuple[Any, np.ndarray, np.ndarray]:
    """Rows of 100 words, 60 of which are those of their class; at least one row of each class is labeled."""
    truth = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    words = sp.random_array((n_classes, 20_000), density=60 / 20_000, rng=rng, format="csr")
    noise = sp.random_array((n, 20_000), density=40 / 20_000, rng=rng, format="csr")
    labeled = (np.arange(n) < n_classes) | (rng.random(n) < share)
    return normalize(words[truth] + noise * 0.5), truth, labeled


def many_classes(report: Report) -> None:
    """Method "gradient" against LinearSVC."""
    from fewlabel import TransductiveSVC

    rng = np.random.default_rng(0)
    for n_classes, n, share in ((1000, 2000, 1.0), (1000, 2000, 0.5), (1500, 1500, 1.0)):
        X, truth, labeled = topics(n_classes, n, share, rng)
        y, model = np.where(labeled, truth, -1), TransductiveSVC(method="gradient", n_jobs=1)
        base, _ = measure.seconds(lambda: LinearSVC().fit(X[labeled], truth[labeled]))  # noqa: B023
        ours, _ = measure.seconds(lambda: measure.quietly(model, X, y))  # noqa: B023
        what = f"{n_classes} classes, {n} rows, {labeled.sum()} labeled: gradient / LinearSVC"
        report.add(what, ours / base, note=f"{ours:.2f} s, {base:.2f} s")


def graphs(report: Report) -> None:
    """The neighbor graph."""
    from fewlabel import KernelFeatures

    warnings.simplefilter("ignore")
    for name, X in rows(np.random.default_rng(0)).items():
        graph = KernelFeatures(n_jobs=1)
        spent, _ = measure.seconds(lambda: graph.fit(X))  # noqa: B023
        report.add(f"graph of {name}", spent, " s", f"{len(graph._map.sizes)} components")


def rows(rng: np.random.Generator) -> dict[str, Any]:
    """10,000 rows if not said."""
    angle = np.arange(N) * (2 * np.pi / N)
    return {
        "300,000 equal rows": np.ones((300_000, 3)),
        "300,000 rows of 10 kinds": rng.normal(size=(10, 3))[rng.integers(0, 10, 300_000)],
        "295,000 equal rows and 5,000 others": np.vstack([np.ones((295_000, 5)), rng.normal(size=(5000, 5))]),
        "5,000 normal rows of 1 feature": rng.normal(size=(5000, 1)),
        "a line of 8,000": np.arange(8000.0)[:, None],
        "a circle": np.column_stack([np.cos(angle), np.sin(angle)]),
        "a square grid": np.stack(np.meshgrid(np.arange(100.0), np.arange(100.0)), axis=-1).reshape(-1, 2),
        "a random walk": np.cumsum(rng.normal(size=(N, 2)), axis=0),
        **{f"normal rows of {d} features": rng.normal(size=(N, d)) for d in (1, 2, 3, 5, 10, 30, 100)},
        "20 clusters": rng.normal(scale=6, size=(20, 30))[rng.integers(0, 20, N)] + rng.normal(size=(N, 30)),
        "sparse rows": sp.random_array((N, 5000), density=0.004, rng=rng, format="csr"),
        "rows of 0 and 1": (rng.random((N, 12)) < 0.5).astype(float),
    }


SECTIONS = (many_classes, graphs)
