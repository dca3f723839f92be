"""Tasks that are drawn from data sets: rows with the labels of a few, and a test."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_UNLABELED = 2000  # where shares are drawn
UNLABELED = -1


@dataclass(frozen=True)
class DataSet:
    """Rows and classes from which tasks are drawn."""

    name: str
    X: Any  # (n, d) CSR or dense
    y: np.ndarray  # (n,) numbers into `classes`
    classes: np.ndarray  # names, sorted
    train: np.ndarray | None = None  # (n,) of bool; None: each draw holds out a quarter for the test
    hierarchy: str | None = None  # as `TransductiveSVC` takes it


@dataclass(frozen=True)
class Task:
    """What a learner is given, rows with the labels of a few, and a test."""

    name: str
    X: Any
    y: np.ndarray  # (n,) true classes, as numbers
    given: np.ndarray  # (n,) what the learner sees: a class or -1
    X_test: Any
    y_test: np.ndarray
    classes: np.ndarray
    hierarchy: str | None = None

    @property
    def unlabeled(self) -> np.ndarray:
        """Which training rows have no label."""
        return self.given == UNLABELED

    @property
    def shares(self) -> np.ndarray:
        """The true shares, among the unlabeled rows, of the classes that have labels, in their order; together 1."""
        counts = np.bincount(self.y[self.unlabeled], minlength=len(self.classes))[np.unique(self.y[~self.unlabeled])]
        return counts / counts.sum()

    @property
    def marked(self) -> np.ndarray:
        """What the learner sees where names of classes are a tree."""
        return self.given if self.hierarchy is None else np.where(self.unlabeled, "-1", self.classes[self.y])


# ------------------------------------------------------------------ tasks
def by_class(y: np.ndarray, rng: np.random.Generator) -> Iterable[np.ndarray]:
    """The numbers of the rows of each class, shuffled."""
    return (rng.permutation(np.flatnonzero(y == c)) for c in range(int(y.max()) + 1))


def split(data: DataSet, rng: np.random.Generator) -> np.ndarray:
    """Which rows are the test: as published, or a quarter of each class."""
    if data.train is not None:
        return ~data.train
    test = np.zeros(len(data.y), dtype=bool)
    test[np.concatenate([rows[: max(1, len(rows) // 4)] for rows in by_class(data.y, rng)])] = True
    return test


def labeled_rows(y: np.ndarray, per_class: int, sampling: str, rng: np.random.Generator) -> np.ndarray:
    """So many rows of each class, at most half of them; or as many at random, drawn until they have two classes."""
    equal = np.concatenate([rows[: min(per_class, len(rows) // 2)] for rows in by_class(y, rng)])
    if sampling == "equal":
        return equal
    while len(np.unique(y[drawn := rng.permutation(len(y))[: len(equal)]])) < 2:
        pass
    return drawn


def draw(data: DataSet, per_class: int, sampling: str = "random", seed: int = 0) -> Task:
    """A task; those of one seed have the same training and test rows, and at least half of the former unlabeled."""
    test = split(data, np.random.default_rng((seed, 0)))
    y, rng = data.y[~test], np.random.default_rng((seed, per_class, sampling == "random"))
    given, labeled = np.full(len(y), UNLABELED), labeled_rows(y, per_class, sampling, rng)
    given[labeled] = y[labeled]
    name = f"{data.name}, {per_class} labels a class, {sampling} #{seed}"
    return Task(name, data.X[~test], y, given, data.X[test], data.y[test], data.classes, data.hierarchy)


def draw_shares(data: DataSet, per_class: int, seed: int, concentration: float | None = None) -> Task:
    """A task whose test is its unlabeled rows: all others, or at most `MOST_UNLABELED` with class shares drawn from
    Dirichlet(concentration); infinity is even shares. Tasks of one seed have the same shares."""
    rng = np.random.default_rng((seed, 8))
    rows, K = list(by_class(data.y, rng)), len(data.classes)
    free = np.array([len(one) - per_class for one in rows])
    if concentration is not None:
        shares = np.full(K, 1 / K) if np.isinf(concentration) else rng.dirichlet(np.full(K, concentration))
        free = np.maximum((min(MOST_UNLABELED, (free / shares).min()) * shares).astype(int), 1)
    labeled = np.concatenate([one[:per_class] for one in rows])
    kept = np.sort(np.concatenate([labeled, *(one[-n:] for one, n in zip(rows, free, strict=True))]))
    given = np.where(np.isin(kept, labeled), data.y[kept], UNLABELED)
    test = kept[given == UNLABELED]
    return Task(data.name, data.X[kept], data.y[kept], given, data.X[test], data.y[test], data.classes)
