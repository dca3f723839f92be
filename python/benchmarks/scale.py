"""Rows of any scale: the same answers for X, 100 X and X/1000, and the accuracy on rows that nobody has normalized.

Annealing gets the true class shares; `LinearSVC` has its defaults. Ten labels of each class, the rest of the rows is
unlabeled and the test.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from benchmarks import corpora, recipe
from benchmarks.learners import quietly
from benchmarks.report import Report
from benchmarks.tasks import UNLABELED, mask_labels

GROUPS = ("comp.graphics", "rec.sport.baseball", "sci.med", "talk.politics.guns")
PER_CLASS = 10
DRAWS = (2, 3, 4)  # 0 and 1 are those on which the method was chosen
DIGITS = 5_000  # rows of MNIST that are used
FACTORS = (100.0, 1e-3)
METHODS = ("annealing", "switching")


def newsgroups(report: Report) -> None:
    """Four newsgroups as counts, logarithms of counts, and tf-idf."""
    texts, groups = four_groups()
    y = np.unique(groups, return_inverse=True)[1]
    counts = sp.csr_matrix(CountVectorizer(stop_words="english", min_df=2).fit_transform(texts), dtype=float)
    tf_idf = recipe.vectorize(texts)
    for name, X in {
        "raw counts": counts,
        "log counts": counts.log1p(),
        "tf-idf": tf_idf,
        "tf-idf x 100": 100 * tf_idf,
    }.items():
        _measure(report, f"4 newsgroups, {name}", X, y)


def digits(report: Report) -> None:
    """MNIST as pixels of 0 to 255, of 0 to 1, and as unit rows."""
    pixels, y = corpora.loader().mnist("train", dense=True)
    X, y = np.asarray(pixels[:DIGITS], dtype=np.float64), np.asarray(y[:DIGITS]).astype(np.int64)
    for name, rows in {"0 to 255": X, "0 to 1": X / 255, "unit rows": normalize(X)}.items():
        _measure(report, f"MNIST, {name}", rows, y)


SECTIONS = (newsgroups, digits)


@functools.cache
def four_groups() -> tuple[list[str], list[str]]:
    """Messages of four newsgroups, subject and body, with the group of each."""
    texts, groups = corpora.loader().newsgroups20("all")
    kept = [i for i, g in enumerate(groups) if g in GROUPS]
    return [recipe.subject_and_body(texts[i]) for i in kept], [groups[i] for i in kept]


# ------------------------------------------------------------------ helpers
def _measure(report: Report, name: str, X: sp.csr_matrix | np.ndarray, y: np.ndarray) -> None:
    accuracy: dict[str, list[float]] = {"LinearSVC": [], **{method: [] for method in METHODS}}
    same = []
    for seed in DRAWS:
        given = _draw(y, np.random.default_rng(seed))
        asked = given == UNLABELED
        peer = LinearSVC(random_state=0).fit(X[~asked], given[~asked])
        accuracy["LinearSVC"].append(float(np.mean(peer.predict(X[asked]) == y[asked])))
        for method in METHODS:
            found = _classes(X, y, given, method)
            accuracy[method].append(float(np.mean(found[asked] == y[asked])))
            if method == "annealing":
                same += [float(np.mean(_classes(factor * X, y, given, method) == found)) for factor in FACTORS]
    ours, peers = accuracy.pop("annealing"), float(np.mean(accuracy["LinearSVC"]))
    others = ", ".join(f"{who} {np.mean(values):.3f}" for who, values in accuracy.items())
    report.at_least(f"{name}: accuracy of annealing", np.mean(ours), peers, note=others, values=ours)
    report.at_least(f"{name}: same answers for X, 100 X, X/1000", min(same), 0.999)


def _draw(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The classes of a few rows of each class."""
    labeled = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:PER_CLASS] for c in np.unique(y)])
    return mask_labels(y, labeled)


def _classes(X: sp.csr_matrix | np.ndarray, y: np.ndarray, given: np.ndarray, method: str) -> np.ndarray:
    """The classes of all rows by a fit with the true shares."""
    from fewlabel import TransductiveSVC

    shares = np.bincount(y[given == UNLABELED]) / np.sum(given == UNLABELED)
    return quietly(TransductiveSVC(method=method, class_prior=shares), X, given).predict(X)
