"""The tasks of many classes: rows, true classes, the few labels that a learner sees, and rows held out for the test.

Text goes through the recipe; term counts get its weights and its limits on rare and frequent words; digits become unit
rows of pixels. Classes with fewer than `LEAST_ROWS` rows cannot be in the labels, the unlabeled rows and the test of
every draw: their rows are left out, and `ClassSet.dropped` says which.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from benchmarks import recipe
from benchmarks.corpora import UNLABELED, cached, loader, mask_labels

LEAST_ROWS = 10
MARKER = "-1"  # of unlabeled rows, where classes are names
DIGITS = 10_000  # training rows of MNIST that are used
SUBTREE = "CCAT"  # of the topics of RCV1

Hierarchy = str | dict[str, str] | None


@dataclass(frozen=True)
class ClassTask:
    """One problem of K classes, numbered 0 ... K-1 in the order of their names."""

    name: str
    X: sp.csr_matrix  # (n, d) training rows, labeled and unlabeled
    y: np.ndarray  # (n,) true classes
    given: np.ndarray  # (n,) what the learner sees: a class or -1: unlabeled
    classes: np.ndarray  # (K,) names, sorted
    X_test: sp.csr_matrix
    y_test: np.ndarray
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
        """True share (K,) of each class among the unlabeled rows, which the learner is told."""
        return np.bincount(self.y[self.unlabeled], minlength=len(self.classes)) / np.sum(self.unlabeled)

    @property
    def class_prior(self) -> dict[str, float]:
        """The shares as `TransductiveSVC` takes them."""
        return dict(zip(self.classes.tolist(), self.shares.tolist(), strict=True))

    @property
    def named(self) -> np.ndarray:
        """Name (n,) of the true class of each training row."""
        return self.classes[self.y]

    @property
    def marked(self) -> np.ndarray:
        """Name (n,) of the class of each labeled row, the marker in the others."""
        return np.where(self.unlabeled, MARKER, self.named)


@dataclass(frozen=True)
class ClassSet:
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


def class_set(
    name: str, X: sp.csr_matrix, names: Iterable[str], n_train: int | None = None, hierarchy: Hierarchy = None
) -> ClassSet:
    """The rows of the classes that are frequent enough; the first `n_train` rows are the published training part."""
    names = np.asarray(names)
    counts = Counter(names.tolist())
    dropped = {c: n for c, n in sorted(counts.items()) if n < LEAST_ROWS}
    kept = ~np.isin(names, list(dropped))
    train = None if n_train is None else (np.arange(len(names)) < n_train)[kept]
    classes, y = np.unique(names[kept], return_inverse=True)
    return ClassSet(name, sp.csr_matrix(X[kept]), y, classes, train, hierarchy, dropped)


# ------------------------------------------------------------------ draws
def held_out(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Which rows are the test, (n,) of bool: a quarter of each class, at least one row."""
    test = np.zeros(len(y), dtype=bool)
    for rows in by_class(y, rng):
        test[rows[: max(1, len(rows) // 4)]] = True
    return test


def label_order(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The rows in the order in which they get labels: at random, but one row of each class comes first, and one of each
    class last, so that it is among the labeled and among the unlabeled rows. More labels contain the fewer."""
    shuffled = list(by_class(y, rng))
    first, last = np.array([rows[0] for rows in shuffled]), np.array([rows[-1] for rows in shuffled])
    between = np.concatenate([rows[1:-1] for rows in shuffled])
    return np.concatenate([rng.permutation(first), rng.permutation(between), last])


def by_class(y: np.ndarray, rng: np.random.Generator) -> Iterable[np.ndarray]:
    """The numbers of the rows of each class, shuffled."""
    for c in range(int(y.max()) + 1):
        rows = np.flatnonzero(y == c)
        if len(rows) < 2:
            raise ValueError(f"class {c} has {len(rows)} rows: it cannot be labeled and unlabeled at once")
        yield rng.permutation(rows)


def draw(data: ClassSet, n_labels: int, seed: int) -> ClassTask:
    """The task with that many labels of a draw. Tasks of one seed have the same training and test rows."""
    test = held_out(data.y, np.random.default_rng((seed, 0))) if data.train is None else ~data.train
    X, y = data.X[~test], data.y[~test]
    most = len(y) - len(data.classes)
    if not len(data.classes) <= n_labels <= most:
        raise ValueError(f"{n_labels} labels for {len(data.classes)} classes: give {len(data.classes)} to {most}")
    given = mask_labels(y, label_order(y, np.random.default_rng((seed, 1)))[:n_labels])
    name = f"{data.name}, {n_labels} labels #{seed}"
    return ClassTask(name, X, y, given, data.classes, data.X[test], data.y[test], data.hierarchy)


def half_unlabeled(data: ClassSet, per_class: int, seed: int) -> ClassTask:
    """Half of all rows unlabeled, so many labels of each class, the rest for the test."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data.y))
    unlabeled, others = order[: len(order) // 2], order[len(order) // 2 :]
    labeled = np.concatenate([others[data.y[others] == c][:per_class] for c in range(len(data.classes))])
    test = np.setdiff1d(others, labeled)
    train = np.concatenate([labeled, unlabeled])
    given = mask_labels(data.y[train], np.arange(len(labeled)))
    name = f"{data.name}, {per_class} labels a class #{seed}"
    return ClassTask(
        name, data.X[train], data.y[train], given, data.classes, data.X[test], data.y[test], data.hierarchy
    )


# ------------------------------------------------------------------ sets
@functools.cache
def newsgroups20(hierarchy: Hierarchy = None) -> ClassSet:
    """20 Newsgroups, subject and body of 18,846 messages."""
    X, names = cached("newsgroups20", _newsgroups20_rows)
    return class_set("20 Newsgroups" + (", tree" if hierarchy else ""), X, names, hierarchy=hierarchy)


def newsgroups20_tree() -> ClassSet:
    """The same; the dots in the names of the groups are the tree."""
    return newsgroups20(".")


def _newsgroups20_rows() -> tuple[sp.csr_matrix, np.ndarray]:
    texts, groups = loader().newsgroups20("all")
    return recipe.vectorize(recipe.subject_and_body(t) for t in texts), np.array(groups)


@functools.cache
def reuters_r8() -> ClassSet:
    """Reuters R8: the ModApte documents with one topic, of the eight most frequent ones."""
    X, names = cached("r8", lambda: _published_parts(lambda part: loader().reuters_single("R8", part)))
    return class_set("Reuters R8", X, names, n_train=5485)


@functools.cache
def ohsumed() -> ClassSet:
    """Ohsumed: abstracts with one of 23 classes."""
    X, names = cached("ohsumed", lambda: _published_parts(loader().ohsumed))
    return class_set("Ohsumed", X, names, n_train=3357)


def _published_parts(read: Callable[[str], tuple[list[str], list[str]]]) -> tuple[sp.csr_matrix, np.ndarray]:
    train, test = read("train"), read("test")
    return recipe.vectorize(train[0] + test[0]), np.array(train[1] + test[1])


@functools.cache
def cluto(name: str) -> ClassSet:
    """A set of CLUTO: term counts, stop words out and stems already, weighted as the recipe does."""
    counts, classes = loader().cluto(name)
    return class_set(name, tf_idf(counts), classes.astype(str))


def fbis() -> ClassSet:
    """CLUTO's fbis: news of the Foreign Broadcast Information Service, 17 classes."""
    return cluto("fbis")


def k1b() -> ClassSet:
    """CLUTO's k1b: web pages under six headings of Yahoo."""
    return cluto("k1b")


def wap() -> ClassSet:
    """CLUTO's wap: web pages under twenty headings of Yahoo."""
    return cluto("wap")


def tf_idf(counts: sp.csr_matrix) -> sp.csr_matrix:
    """The weights of the recipe for term counts: words of one row or of more than a fifth of the rows out."""
    rows_with = np.bincount(counts.indices, minlength=counts.shape[1])
    kept = (rows_with >= 2) & (rows_with <= 0.2 * counts.shape[0])
    return sp.csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(counts[:, kept]), dtype=np.float64)


@functools.cache
def mnist() -> ClassSet:
    """The first 10,000 training digits, the 10,000 of the published test, as unit rows of pixels."""
    (train, y_train), (test, y_test) = (loader().mnist(part, dense=True) for part in ("train", "test"))
    n_train = min(DIGITS, len(y_train))
    X = sp.csr_matrix(np.concatenate([train[:n_train], test]) / 255)
    return class_set("MNIST", normalize(X), np.concatenate([y_train[:n_train], y_test]).astype(str), n_train)


@functools.cache
def rcv1_subtree(top: str = SUBTREE) -> ClassSet:
    """The leaf topics of RCV1 below a topic, over the documents with exactly one of them and no other part of the
    topics: of the four parts, CCAT has the most documents of this kind and a tree of four levels."""
    X, names = cached(f"rcv1-{top}", lambda: _subtree_rows(top))
    _, parents = loader().rcv1_topics()
    data = class_set(f"RCV1 {top}", X, names)
    tree = {node: parents[node] for leaf in data.classes.tolist() for node in path_up(leaf, top, parents)}
    return class_set(data.name, X, names, hierarchy=tree)


def _subtree_rows(top: str) -> tuple[sp.csr_matrix, np.ndarray]:
    codes, parents = loader().rcv1_topics()
    X, topics = loader().rcv1()
    below = {code for code in codes if path_up(code, top, parents)}
    leaves = below - set(parents.values())
    found = {i: leaves & set(have) for i, have in enumerate(topics) if set(have) <= below | {top}}
    rows = [i for i, some in found.items() if len(some) == 1]
    return X[rows], np.array([next(iter(found[i])) for i in rows])


def path_up(code: str, top: str, parents: dict[str, str]) -> list[str]:
    """The topic and those above it, below `top`; nothing if `top` is not above it."""
    path = []
    while code in parents and code != top:
        path.append(code)
        code = parents[code]
    return path if code == top else []


SETS: dict[str, Callable[[], ClassSet]] = {
    make.__name__: make
    for make in (newsgroups20, newsgroups20_tree, reuters_r8, ohsumed, fbis, k1b, wap, mnist, rcv1_subtree)
}
