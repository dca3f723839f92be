"""What a learner is given: rows, the labels of a few, and a test; and how they are drawn from a data set.

Classes with fewer than `LEAST_ROWS` rows cannot be in the labels, the unlabeled rows and the test of every draw: their
rows are left out, and `DataSet.dropped` says which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

LEAST_ROWS = 10
UNLABELED = -1

Hierarchy = str | dict[str, str] | None


@dataclass(frozen=True)
class Task:
    """One problem of K classes, numbered 0 ... K-1 in the order of their names."""

    name: str
    X: sp.csr_matrix  # (n, d) training rows, labeled and unlabeled
    y: np.ndarray  # (n,) true classes
    given: np.ndarray  # (n,) what the learner sees: a class or -1: unlabeled
    classes: np.ndarray = field(default_factory=lambda: np.arange(2))  # (K,) names, sorted
    X_test: sp.csr_matrix | None = None  # None: the unlabeled training rows are the test
    y_test: np.ndarray | None = None
    hierarchy: Hierarchy = None  # as `TransductiveSVC` takes it

    @property
    def unlabeled(self) -> np.ndarray:
        """Which training rows have no label, (n,) of bool."""
        return self.given == UNLABELED

    @property
    def n_labels(self) -> int:
        """Number of training rows with a label."""
        return int(np.sum(~self.unlabeled))

    @property
    def shares(self) -> np.ndarray:
        """True share (K,) of each class among the unlabeled rows, which the learner is given."""
        return np.bincount(self.y[self.unlabeled], minlength=len(self.classes)) / np.sum(self.unlabeled)

    @property
    def class_prior(self) -> dict:
        """The shares as `TransductiveSVC` takes them."""
        return dict(zip(self.classes.tolist(), self.shares.tolist(), strict=True))

    @property
    def named(self) -> np.ndarray:
        """Name (n,) of the true class of each training row."""
        return self.classes[self.y]

    @property
    def marked(self) -> np.ndarray:
        """Name (n,) of the class of each labeled row, -1 in the others."""
        return np.where(self.unlabeled, np.array(UNLABELED, self.classes.dtype), self.named)

    def test(self) -> tuple[sp.csr_matrix, np.ndarray]:
        """Rows and true classes on which an error is measured."""
        if self.X_test is not None:
            return self.X_test, self.y_test
        return self.X[self.unlabeled], self.y[self.unlabeled]


@dataclass(frozen=True)
class DataSet:
    """Rows and classes from which tasks are drawn."""

    name: str
    X: sp.csr_matrix
    y: np.ndarray  # (n,) numbers into `classes`
    classes: np.ndarray
    train: np.ndarray | None = None  # (n,) of bool; None: each draw holds out a quarter for the test
    hierarchy: Hierarchy = None
    dropped: dict[str, int] = field(default_factory=dict)  # class -> rows that were left out

    def __str__(self) -> str:
        given = "" if self.train is None else f", {np.sum(~self.train):,} of them the test as published"
        text = f"{self.X.shape[0]:,} rows{given}; {len(self.classes)} classes"
        if self.dropped:
            classes = ", ".join(f"{name} {rows}" for name, rows in self.dropped.items())
            text += f"; left out, fewer than {LEAST_ROWS} rows: {classes}"
        return text


def data_set(
    name: str, X: sp.csr_matrix, names: Iterable[str], n_train: int | None = None, hierarchy: Hierarchy = None
) -> DataSet:
    """The rows of the classes that are frequent enough; the first `n_train` rows are the published training part."""
    names = np.asarray(names)
    counts = Counter(names.tolist())
    dropped = {c: n for c, n in sorted(counts.items()) if n < LEAST_ROWS}
    kept = ~np.isin(names, list(dropped))
    train = None if n_train is None else (np.arange(len(names)) < n_train)[kept]
    classes, y = np.unique(names[kept], return_inverse=True)
    rows = sp.csr_matrix(X[kept]) if sp.issparse(X) else X[kept]
    return DataSet(name, rows, y, classes, train, hierarchy, dropped)


def part(data: DataSet, kept: np.ndarray) -> DataSet:
    """Some rows of a set."""
    return DataSet(data.name, data.X[kept], data.y[kept], data.classes)


def some_rows(data: DataSet, most: int, seed: tuple[int, int]) -> DataSet:
    """A draw of the rows, if there are more than enough."""
    if len(data.y) <= most:
        return data
    return part(data, np.sort(np.random.default_rng(seed).choice(len(data.y), most, replace=False)))


# ------------------------------------------------------------------ draws
def mask_labels(y: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    """The classes of the rows in `labeled`, -1 elsewhere."""
    given = np.full(len(y), UNLABELED, dtype=np.int64)
    given[labeled] = y[labeled]
    return given


def by_class(y: np.ndarray, rng: np.random.Generator) -> Iterable[np.ndarray]:
    """The numbers of the rows of each class, shuffled."""
    for c in range(int(y.max()) + 1):
        rows = np.flatnonzero(y == c)
        if len(rows) < 2:
            raise ValueError(f"class {c} has {len(rows)} rows: it cannot be labeled and unlabeled at once")
        yield rng.permutation(rows)


def split(data: DataSet, rng: np.random.Generator) -> np.ndarray:
    """Which rows are the test, (n,) of bool: as published, or a quarter of each class, at least one row."""
    if data.train is not None:
        return ~data.train
    test = np.zeros(len(data.y), dtype=bool)
    for rows in by_class(data.y, rng):
        test[rows[: max(1, len(rows) // 4)]] = True
    return test


def task_of(data: DataSet, name: str, test: np.ndarray, labeled: np.ndarray) -> Task:
    """The task with these test rows and these of the others labeled."""
    X, y = data.X[~test], data.y[~test]
    given = mask_labels(y, labeled)
    return Task(f"{data.name}, {name}", X, y, given, data.classes, data.X[test], data.y[test], data.hierarchy)


def label_order(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The rows in the order in which they get labels: at random, but one row of each class comes first, and one of each
    class last, so that it is among the labeled and among the unlabeled rows. More labels contain the fewer."""
    shuffled = list(by_class(y, rng))
    first, last = np.array([rows[0] for rows in shuffled]), np.array([rows[-1] for rows in shuffled])
    between = np.concatenate([rows[1:-1] for rows in shuffled])
    return np.concatenate([rng.permutation(first), rng.permutation(between), last])


def draw(data: DataSet, n_labels: int, seed: int) -> Task:
    """The task with that many labels of a draw. Tasks of one seed have the same training and test rows."""
    test = split(data, np.random.default_rng((seed, 0)))
    y = data.y[~test]
    most = len(y) - len(data.classes)
    if not len(data.classes) <= n_labels <= most:
        raise ValueError(f"{n_labels} labels for {len(data.classes)} classes: give {len(data.classes)} to {most}")
    labeled = label_order(y, np.random.default_rng((seed, 1)))[:n_labels]
    return task_of(data, f"{n_labels} labels #{seed}", test, labeled)


def half_unlabeled(data: DataSet, per_class: int, seed: int) -> Task:
    """Half of all rows unlabeled, so many labels of each class, the rest for the test."""
    order = np.random.default_rng(seed).permutation(len(data.y))
    unlabeled, others = order[: len(order) // 2], order[len(order) // 2 :]
    labeled = np.concatenate([others[data.y[others] == c][:per_class] for c in range(len(data.classes))])
    test = np.setdiff1d(others, labeled)
    train = np.concatenate([labeled, unlabeled])
    given = mask_labels(data.y[train], np.arange(len(labeled)))
    name = f"{data.name}, {per_class} labels a class #{seed}"
    return Task(name, data.X[train], data.y[train], given, data.classes, data.X[test], data.y[test], data.hierarchy)


def draw_labels(y: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of n rows drawn at random, again until both classes are among them."""
    for _ in range(1000):
        rows = rng.choice(len(y), n, replace=False)
        if len(np.unique(y[rows])) == len(np.unique(y)):
            return rows
    raise ValueError(f"no draw of {n} rows has all classes")


def held_out(name: str, X: sp.csr_matrix, y: np.ndarray, n_labels: int, seed: int) -> Task:
    """Two classes: a quarter of the rows, drawn at random, held out for the test, labels drawn from the others."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    train, test = order[: len(y) * 3 // 4], order[len(y) * 3 // 4 :]
    given = mask_labels(y[train], draw_labels(y[train], n_labels, rng))
    return Task(f"{name} #{seed}", X[train], y[train], given, X_test=X[test], y_test=y[test])
