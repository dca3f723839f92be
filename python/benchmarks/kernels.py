"""Kernels as features: sequences of points on two arms of a spiral, digits, small sets, time and memory.

Settings were chosen on draws other than these, with seeds from 100 on: of MNIST the number of components, 50 of the
graph, and `rho`; of galaxy `alpha`, `rho` and the width of the RBF kernel.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import StandardScaler, normalize
from threadpoolctl import threadpool_limits

from benchmarks import corpora, learners, memory, tasks
from benchmarks.report import Report
from benchmarks.tasks import Task, mask_labels

MB = memory.MB
WORSE = 0.5  # points by which a transductive fit may be worse than the supervised one on the same features
BETTER = 3.0  # points by which a kernel must be better than none
SECONDS = 30.0


# ------------------------------------------------------------------ galaxy
class Chain(NamedTuple):
    """Features of tokens and the strength that goes with them; and errors that others reached, in percent."""

    features: Any
    alpha: float
    reference: tuple[float, ...]


GALAXY_LABELED = (1, 2, 5, 10)  # sequences
NEAR = 2.0  # points above the reference that are allowed


def galaxy(report: Report, draws: int = 100) -> None:
    """Labels of the tokens in sequences without labels, by a chain on kernel features. The reference has twenty draws,
    of which the mean has a standard error of 2 to 4 points where one sequence is labeled."""
    from fewlabel import GraphKernelFeatures

    X, y = _galaxy_points()
    chains = {
        "RBF": Chain(Nystroem(gamma=1.0, n_components=len(X), random_state=0), 1e-3, (40.8, 30.8, 13.8, 10.2)),
        "graph": Chain(GraphKernelFeatures(n_neighbors=10, rho=3e-5), 1e-3, (23.4, 11.2, 7.6, 6.8)),
    }
    for name, chain in chains.items():
        features = chain.features.fit_transform(X.reshape(-1, X.shape[-1])).reshape(*y.shape, -1)
        for n, reference in zip(GALAXY_LABELED, chain.reference, strict=True):
            errors = [_chain_error(features, y, n, seed, chain.alpha) for seed in range(draws)]
            note = f"reference {reference}; the first twenty {np.mean(errors[:20]):.2f}"
            what = f"galaxy: {name}, {n} labeled"
            report.at_most(what, float(np.mean(errors)), reference + NEAR, " %", note, errors)
            report.keep("galaxy", f"{name}, {n}", errors)


def _galaxy_points() -> tuple[np.ndarray, np.ndarray]:
    path = Path(os.environ.get("FEWLABEL_DATA", "")) / "galaxy" / "galaxy.npz"
    if not path.is_file():
        raise SystemExit("FEWLABEL_DATA must name the folder of the data sets, with galaxy/galaxy.npz in it")
    with np.load(path) as z:
        return z["X"], z["y"]


def _chain_error(features: np.ndarray, y: np.ndarray, n: int, seed: int, alpha: float) -> float:
    """Percent of the tokens in the other sequences that are wrong; n are labeled."""
    from fewlabel import SequenceSVC

    order = np.random.default_rng(seed).permutation(len(y))
    width, length = features.shape[-1], y.shape[1]
    labeled, others = order[:n], order[n:]
    model = SequenceSVC(solver="lbfgs", alpha=alpha, n_jobs=1)
    model.fit(features[labeled].reshape(-1, width), y[labeled].ravel(), [length] * n)
    found = model.predict(features[others].reshape(-1, width), [length] * len(others))
    return float(np.mean(found != y[others].ravel()) * 100)


# ------------------------------------------------------------------ digits
@functools.cache
def _digits() -> tuple[np.ndarray, np.ndarray]:
    """The first 10,000 digits, as unit rows, and their classes."""
    X, y = corpora.loader().mnist("train", dense=True)
    return normalize(X[: corpora.DIGITS] / 255), y[: corpora.DIGITS].astype(np.int64)


def kernel_mnist(report: Report, draws: int = 12) -> None:
    """Errors on the unlabeled of 10,000 digits, with 10 and 100 labels: rows and the graph's features, supervised and
    transductive; label spreading and self-training beside."""
    from fewlabel import GraphKernelFeatures

    X, y = _digits()
    made = {"graph": GraphKernelFeatures().fit_transform(X), "linear": X}
    for n in (100, 10):
        drawn = {name: [drawn_task(rows, y, n, seed) for seed in range(draws)] for name, rows in made.items()}
        found = {name: _learned(report, f"MNIST, {n} labels: {name}", some) for name, some in drawn.items()}
        gain = found["linear"] - found["graph"]
        report.at_least(f"MNIST, {n} labels: graph, better than linear by", float(gain.mean()), BETTER, "", "", gain)
        _peers(report, f"MNIST, {n} labels", drawn["linear"], drawn["graph"])


def kernel_mnist_rbf(report: Report, draws: int = 12) -> None:
    """The same of RBF kernels: the width is the median distance, or its square a tenth of that."""
    X, y = _digits()
    squares = 2 - 2 * X[:1000] @ X[:1000].T
    median = np.median(squares[np.triu_indices(1000, 1)])
    for name, square in (("narrow", median / 10), ("median", median)):
        features = Nystroem(gamma=1 / (2 * square), n_components=500, random_state=0).fit_transform(X)
        for n in (100, 10):
            drawn = [drawn_task(features, y, n, seed) for seed in range(draws)]
            _learned(report, f"MNIST, {n} labels: RBF, {name} width", drawn)


def drawn_task(X: np.ndarray, y: np.ndarray, n: int, seed: int) -> Task:
    """n labels, one of each class at least; the test is on the unlabeled rows."""
    labeled = tasks.label_order(y, np.random.default_rng(seed))[:n]
    return Task(f"{n} labels #{seed}", X, y, mask_labels(y, labeled), np.arange(y.max() + 1))


def _learned(report: Report, what: str, drawn: list[Task]) -> np.ndarray:
    """Rows of the supervised and of the transductive classifier on the same features; the errors of the default."""
    settings = {
        "supervised": {"unlabeled_weight": 0},
        "shares found": {"class_prior": "auto", "unlabeled_weight": "auto"},
        "shares known": {"unlabeled_weight": "auto"},
    }
    found = {}
    for name, chosen in settings.items():
        errors = np.array([learners.transductive(task, n_jobs=1, **chosen).error for task in drawn])
        found[name] = errors
        worse = float(np.mean(errors - found["supervised"]))
        bound = None if name != "shares found" else float(found["supervised"].mean() + WORSE)
        report.at_most(f"{what}, {name}", float(errors.mean()), bound, " %", f"{worse:+.1f} to supervised", errors)
    return found["shares found"]


def _peers(report: Report, what: str, rows: list[Task], features: list[Task], most: int = 3) -> None:
    """Label spreading on rows, and self-training on the features of the graph; few draws, as they take long."""
    for name, learner, drawn in (
        ("LabelSpreading, rows", learners.label_spreading, rows),
        ("SelfTraining, graph", learners.self_training, features),
    ):
        errors = [learner(task).error for task in drawn[:most]]
        report.fact(f"{what}: {name}", float(np.mean(errors)), " %", f"{len(errors)} draws", errors)


def kernel_new_rows(report: Report, draws: int = 3) -> None:
    """The published test of 10,000 digits, which the graph has not seen, beside the unlabeled rows; 100 labels."""
    from fewlabel import KernelTransductiveSVC

    X, y = _digits()
    test, truth = corpora.loader().mnist("test", dense=True)
    drawn = [drawn_task(X, y, 100, seed) for seed in range(draws)]
    models = [learners.fitted(task, KernelTransductiveSVC, {"n_jobs": 1}) for task in drawn]
    errors = [float(np.mean(model.estimator.predict(normalize(test / 255)) != truth) * 100) for model in models]
    unlabeled = np.mean([model.error for model in models])
    report.fact(
        "MNIST, 100 labels: graph, new rows", float(np.mean(errors)), " %", f"unlabeled {unlabeled:.2f}", errors
    )


# ------------------------------------------------------------------ other sets
def kernel_small(report: Report, draws: int = 10) -> None:
    """The defaults on sets that chose nothing, two labels of a class: linear, RBF, graph; label spreading beside."""
    sets = {
        "digits": datasets.load_digits(return_X_y=True),
        "wine": datasets.load_wine(return_X_y=True),
        "breast cancer": datasets.load_breast_cancer(return_X_y=True),
        "iris": datasets.load_iris(return_X_y=True),
        "two moons": datasets.make_moons(600, noise=0.1, random_state=0),
        "circles": datasets.make_circles(600, noise=0.05, factor=0.6, random_state=0),
    }
    for name, (X, y) in sets.items():
        X = normalize(X) if name == "digits" else StandardScaler().fit_transform(X)
        n = 2 * len(np.unique(y))
        drawn = [two_each(X, y, seed) for seed in range(draws)]
        _defaults(report, f"{name}, {n} labels", drawn)
        errors = [learners.label_spreading(task).error for task in drawn]
        report.fact(f"{name}, {n} labels: LabelSpreading", float(np.mean(errors)), " %", "", errors)


def kernel_text(report: Report, draws: int = 10) -> None:
    """The defaults on text, for which they are not made: the splits of Chapelle & Zien."""
    _defaults(report, "text1, 50 labels", [corpora.text1(split) for split in range(draws)])


def _defaults(report: Report, what: str, drawn: list[Task]) -> None:
    from fewlabel import KernelTransductiveSVC

    for kernel in ("linear", "rbf", "graph"):
        for part, weight in (("supervised", 0), ("transductive", "auto")):
            settings = {"kernel": kernel, "unlabeled_weight": weight, "n_jobs": 1}
            errors = [learners.fitted(task, KernelTransductiveSVC, settings).error for task in drawn]
            report.fact(f"{what}: {kernel}, {part}", float(np.mean(errors)), " %", "", errors)


def two_each(X: np.ndarray, y: np.ndarray, seed: int) -> Task:
    """Two labels of each class; the test is on the unlabeled rows."""
    labeled = np.concatenate([rows[:2] for rows in tasks.by_class(y, np.random.default_rng(seed))])
    return Task(f"#{seed}", X, y, mask_labels(y, labeled), np.unique(y))


# ------------------------------------------------------------------ time and memory
def kernel_cost(report: Report) -> None:
    """Features and fit of 10,000 digits with 100 labels, one thread, in a process of its own."""
    X, y = _digits()
    task = drawn_task(X, y, 100, 0)
    with threadpool_limits(1):
        for kernel, width in (("graph", 50), ("rbf", 500)):
            figures = memory.of_task(task, {"kernel": kernel, "n_jobs": 1, "class_prior": "auto"})
            what = f"{kernel}, features and fit of {len(y):,} × {X.shape[1]}"
            note = f"processor time; {figures.seconds:.1f} s on the clock; {figures.error:.1f} % errors"
            report.at_most(what, figures.processor, SECONDS, " s", note)
            features = 8 * len(y) * width / MB
            report.fact(f"{what}, peak above input", figures.peak / MB, " MB", f"the features have {features:.0f} MB")
            report.fact(f"{what}, left", figures.left / MB, " MB")


SECTIONS = (galaxy, kernel_mnist, kernel_mnist_rbf, kernel_new_rows, kernel_small, kernel_text, kernel_cost)
