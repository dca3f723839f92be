"""Inputs on which costs could run away: seconds of one thread, and those of a supervised LinearSVC on the labeled rows.

    python -m benchmarks.costs

Many classes for method "gradient", with LinearSVC beside it; and the neighbor graph of equal rows, of lines and of
normal rows in few and many dimensions.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from fewlabel import GraphKernelFeatures, TransductiveSVC

N = 10_000


def seconds(task: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    task()
    return time.perf_counter() - begin


def topics(n_classes: int, n: int, share: float, rng: np.random.Generator) -> tuple[Any, np.ndarray, np.ndarray]:
    """Rows of 100 words, 60 of which are those of their class; at least one row of each class is labeled."""
    truth = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    words = sp.random_array((n_classes, 20_000), density=60 / 20_000, rng=rng, format="csr")
    noise = sp.random_array((n, 20_000), density=40 / 20_000, rng=rng, format="csr")
    labeled = (np.arange(n) < n_classes) | (rng.random(n) < share)
    return normalize(words[truth] + noise * 0.5), truth, labeled


def many_classes(rng: np.random.Generator) -> None:
    print(f"{'classes':>8}{'rows':>8}{'labeled':>9}{'LinearSVC':>11}{'gradient':>10}{'ratio':>7}")
    for n_classes, n, share in ((1000, 2000, 1.0), (1000, 2000, 0.5), (1500, 1500, 1.0)):
        X, truth, labeled = topics(n_classes, n, share, rng)
        y = np.where(labeled, truth, -1)
        base = seconds(lambda: LinearSVC().fit(X[labeled], truth[labeled]))  # noqa: B023
        ours = seconds(lambda: TransductiveSVC(method="gradient", n_jobs=1).fit(X, y))  # noqa: B023
        print(f"{n_classes:8}{n:8}{labeled.sum():9}{base:11.2f}{ours:10.2f}{ours / base:7.1f}", flush=True)


def graphs(rng: np.random.Generator) -> dict[str, Any]:
    """Rows of any kind for the neighbor graph."""
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


def main(_: list[str] | None = None) -> None:
    """The program."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    many_classes(rng)
    print(f"\n{'neighbor graph of (10,000 rows if not said)':46}{'seconds':>8}{'components':>12}")
    for name, X in graphs(rng).items():
        graph = GraphKernelFeatures(n_jobs=1)
        took = seconds(lambda: graph.fit(X))  # noqa: B023
        print(f"{name:46}{took:8.2f}{graph.n_pieces_:12}", flush=True)


if __name__ == "__main__":
    main()
