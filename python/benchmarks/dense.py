"""Dense rows, as sentence embeddings are: products against NumPy's BLAS, fits against fits of the same rows as CSR, and
memory.

The products are those that a fit makes, by the engine's Go benchmark, on rows of float32 with weights and sums of
float64. BLAS has two peers for them: one with the rows made float64 before, which is as precise, and one of float32
throughout, which is not. Figures of products are processor time, as in `products`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks import memory, products, timing
from benchmarks.learners import ALPHA
from benchmarks.report import Report
from benchmarks.tasks import Task, mask_labels

FEATURES, CLASSES = 384, 20  # as in BenchmarkDense of engine/csr
ROWS = {"products": 50_000, "fit": 20_000}  # the first as there
PRODUCTS = {"Times": "X w", "Transposed": "X' q", "TimesWide": "X W, 20 classes", "TransposedWide": "X' Q, 20 classes"}
SLOWER = 2.0  # bound on the time in products of BLAS
PER_CLASS = 10  # labels


# ------------------------------------------------------------------ products
def dense_products(report: Report, rounds: int = 5) -> None:
    """Nanoseconds per value of the rows; engine and BLAS take turns, one thread."""
    X = np.sin(np.arange(ROWS["products"] * FEATURES, dtype=np.float64)).reshape(-1, FEATURES)
    pattern = f"^BenchmarkDense$/^({'|'.join(PRODUCTS)})$"
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        program = products.build(Path(folder))
        for _ in range(rounds):
            ours.append(products.parse(products.run(program, pattern, 10), "ns/value"))
            theirs.append({np.float64: blas(X), np.float32: blas(X.astype(np.float32))})
    for product, name in PRODUCTS.items():
        for kind in (np.float64, np.float32):
            pairs = np.array(
                [(o[f"Dense/{product}/float32"], t[kind][product]) for o, t in zip(ours, theirs, strict=True)]
            )
            ratios = pairs[:, 0] / pairs[:, 1]
            what, note = f"dense: {name}, ours / BLAS {kind.__name__}", "{:.3f} / {:.3f} ns per value"
            note = note.format(*np.median(pairs, axis=0))
            report.at_most(what, float(np.median(ratios)), SLOWER, "", note, ratios)


def blas(X: np.ndarray, calls: int = 10) -> dict[str, float]:
    """The same of NumPy, with vectors of the type of the rows."""
    rng = np.random.default_rng(0)
    n, d = X.shape
    w, q, W, Q = (rng.normal(size=size).astype(X.dtype) for size in (d, n, (d, CLASSES), (n, CLASSES)))
    made: dict[str, Callable[[], np.ndarray]] = {
        "Times": lambda: X @ w,
        "Transposed": lambda: X.T @ q,
        "TimesWide": lambda: X @ W,
        "TransposedWide": lambda: X.T @ Q,
    }
    return {name: timing.seconds_per_call(call, calls) * 1e9 / X.size for name, call in made.items()}


# ------------------------------------------------------------------ fits
def planted(n: int, K: int, d: int = FEATURES, seed: int = 0) -> Task:
    """Unit rows (n, d) of float32 around K centers, with PER_CLASS labels of each class."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % K)
    X = rng.normal(size=(K, d))[y] + 3 * rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    labeled = np.concatenate([np.flatnonzero(y == c)[:PER_CLASS] for c in range(K)])
    given = mask_labels(y, labeled)
    return Task(f"dense, {K} classes", X.astype(np.float32), y, given, np.arange(K))


def dense_fit(report: Report, rounds: int = 3, n: int = ROWS["fit"]) -> None:
    """The default method on the rows as they are and as CSR, one thread; they take turns."""
    for K in (2, CLASSES):
        task, models = planted(n, K), {}
        forms = {"dense": task.X, "CSR": sp.csr_array(task.X)}

        def fit(form: str, task: Task = task, forms: dict[str, Any] = forms, models: dict = models) -> None:
            models[form] = transductive().fit(forms[form], task.given)

        with threadpool_limits(1):
            seconds = timing.take_turns({form: lambda f=form, fit=fit: fit(f) for form in forms}, rounds)
        _fit_rows(report, task, seconds, models)


def transductive() -> Any:
    """The estimator with one thread and the class shares of the labels."""
    from fewlabel import TransductiveSVC

    return TransductiveSVC(alpha=ALPHA, class_prior="labels", unlabeled_weight=1.0, n_jobs=1)


def _fit_rows(report: Report, task: Task, seconds: dict[str, np.ndarray], models: dict[str, Any]) -> None:
    ratios = timing.ratio(seconds, "dense", "CSR")
    note = " / ".join(f"{np.median(values):.2f} s" for values in seconds.values())
    report.fact(f"{task.name}: fit, dense / CSR", float(np.median(ratios)), note=note, values=ratios)
    for form, model in models.items():
        passes, error = model.history_["n_passes"][-1], np.mean(model.transduction_ != task.y) * 100
        cost = np.median(seconds[form]) / passes / task.X.size * 1e9
        report.fact(
            f"{task.name}: {form}, ns per value and pass", cost, note=f"{passes:.0f} passes; {error:.2f} % errors"
        )


def dense_memory(report: Report) -> None:
    """Memory of a fit above its input, in a process of its own."""
    task = planted(ROWS["products"], 2)
    memory.rows(report, f"memory, {task.name}", memory.of_task(task, {"n_jobs": 1}))


SECTIONS = (dense_products, dense_fit, dense_memory)
