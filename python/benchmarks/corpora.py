"""The tasks of the benchmarks: rows, true classes, and the few labels that a learner sees.

Data sets come from the folder named by FEWLABEL_DATA, through the `load.py` in it. Matrices are kept in `.cache`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import scipy.sparse as sp

from benchmarks import recipe

CACHE = Path(__file__).parent / ".cache"
UNLABELED = -1


@dataclass(frozen=True)
class Task:
    """One problem of two classes, 0 and 1."""

    name: str
    X: sp.csr_matrix  # (n, d) training rows, labeled and unlabeled
    y: np.ndarray  # (n,) true classes
    given: np.ndarray  # (n,) what the learner sees: 0, 1, or -1: unlabeled
    prior: float  # share of class 1 that the learner is told
    X_test: sp.csr_matrix | None = None  # None: the unlabeled training rows are the test
    y_test: np.ndarray | None = None

    @property
    def unlabeled(self) -> np.ndarray:
        """Which training rows have no label, (n,) of bool."""
        return self.given == UNLABELED

    @property
    def n_labels(self) -> int:
        """Number of training rows with a label."""
        return int(np.sum(~self.unlabeled))

    @property
    def class_prior(self) -> dict[int, float]:
        """The prior as `TransductiveSVC` takes it."""
        return {0: 1 - self.prior, 1: self.prior}

    def test(self) -> tuple[sp.csr_matrix, np.ndarray]:
        """Rows and true classes on which an error is measured."""
        if self.X_test is not None:
            return self.X_test, self.y_test
        return self.X[self.unlabeled], self.y[self.unlabeled]


# ------------------------------------------------------------------ data and cache
def data_folder() -> Path:
    """The folder with the data sets."""
    folder = os.environ.get("FEWLABEL_DATA")
    if not folder or not (Path(folder) / "load.py").is_file():
        raise SystemExit(f"FEWLABEL_DATA must name the folder of the data sets (with load.py in it), not {folder!r}")
    return Path(folder)


@functools.cache
def loader() -> ModuleType:
    """The `load.py` of the data sets, imported by its path."""
    spec = importlib.util.spec_from_file_location("fewlabel_data_load", data_folder() / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ignored_folder(folder: Path) -> Path:
    """Make a folder that git ignores."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    return folder


def cached(name: str, build: Callable[[], tuple[sp.csr_matrix, np.ndarray]], folder: Path | None = None):
    """What `build()` gives, (rows, classes), kept in a file named after the version of the recipe."""
    path = ignored_folder(folder or CACHE) / f"{name}-v{recipe.VERSION}.npz"
    if path.exists():
        with np.load(path) as z:
            return sp.csr_matrix((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"])), z["y"]
    X, y = build()
    part = path.with_suffix(f".{os.getpid()}.tmp.npz")
    np.savez(part, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    part.replace(path)
    return X, y


# ------------------------------------------------------------------ draws
def draw_labels(y: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of n rows drawn at random, again until both classes are among them."""
    for _ in range(1000):
        rows = rng.choice(len(y), n, replace=False)
        if len(np.unique(y[rows])) == len(np.unique(y)):
            return rows
    raise ValueError(f"no draw of {n} rows has all classes")


def mask_labels(y: np.ndarray, labeled: np.ndarray) -> np.ndarray:
    """The classes of the rows in `labeled`, -1 elsewhere."""
    given = np.full(len(y), UNLABELED, dtype=np.int64)
    given[labeled] = y[labeled]
    return given


def held_out(name: str, X: sp.csr_matrix, y: np.ndarray, n_labels: int, seed: int) -> Task:
    """A quarter of the rows held out for the test, labels drawn from the others."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    train, test = order[: len(y) * 3 // 4], order[len(y) * 3 // 4 :]
    given = mask_labels(y[train], draw_labels(y[train], n_labels, rng))
    prior = float(y[train][given == UNLABELED].mean())
    return Task(f"{name} #{seed}", X[train], y[train], given, prior, X[test], y[test])


# ------------------------------------------------------------------ tasks
def svmlin_example() -> Task:
    """The example that ships with SVMlin: 50 labels, 1,410 unlabeled rows, 486 test rows, r = 0.5."""
    X, given, X_test, y_test = loader().svmlin_example()
    y = loader().svmlin_example(truth=True)[1]
    classes = np.where(y > 0, 1, 0)
    return Task("svmlin example", X, classes, mask_labels(classes, given != 0), 0.5, X_test, np.where(y_test > 0, 1, 0))


def text1(split: int) -> Task:
    """Split 0 ... 9 of text1: 50 labels, the test is on the 1,896 unlabeled rows."""
    X, y, labeled = loader().lds("text1")
    classes = np.where(y > 0, 1, 0)
    given = mask_labels(classes, labeled[split])
    return Task(f"text1 split {split}", X, classes, given, float(classes[given == UNLABELED].mean()))


def text1_held_out(seed: int, n_labels: int = 37) -> Task:
    """text1 with a quarter held out: the form in which SVMlight was measured."""
    X, y, _ = loader().lds("text1")
    return held_out("text1", X, np.where(y > 0, 1, 0), n_labels, seed)


def _comp_rows() -> tuple[sp.csr_matrix, np.ndarray]:
    texts, groups = loader().newsgroups20("all")
    X = recipe.vectorize(recipe.subject_and_body(t) for t in texts)
    return X, np.array([g.startswith("comp.") for g in groups], dtype=np.int64)


def comp(seed: int, n_labels: int = 45) -> Task:
    """20 Newsgroups, comp.* (26 %) against the rest: 18,846 messages."""
    X, y = cached("comp", _comp_rows)
    return held_out("comp.* / rest", X, y, n_labels, seed)


def _pcmac_rows() -> tuple[sp.csr_matrix, np.ndarray]:
    texts, y = loader().pcmac("all")
    return recipe.vectorize([recipe.subject_and_body(t) for t in texts], 3, True), np.where(y > 0, 1, 0)


def pcmac(seed: int, n_labels: int = 37) -> Task:
    """20 Newsgroups, PC (1) against Mac hardware (0): 1,945 messages."""
    X, y = cached("pcmac", _pcmac_rows)
    return held_out("PC / Mac", X, y, n_labels, seed)


def rcv1_rows(topic: str = "CCAT") -> tuple[sp.csr_matrix, np.ndarray]:
    """RCV1, a topic (1) against the rest (0)."""
    X, y = loader().rcv1_binary(topic, unique=False)
    return X, np.where(y > 0, 1, 0)


def ccat(seed: int, n_labels: int = 45) -> Task:
    """RCV1, CCAT against the rest: the 30,000 rows of the five subsets."""
    X, y = cached("ccat", rcv1_rows)
    return held_out("rcv1 ccat", X, y, n_labels, seed)


# ------------------------------------------------------------------ Joachims' experiment
@functools.cache
def _reuters_rows() -> tuple[list[str], list[frozenset], list[str], list[frozenset]]:
    train, train_topics = loader().reuters_modapte("train", "all")
    test, test_topics = loader().reuters_modapte("test", "all")
    return train, [frozenset(t) for t in train_topics], test, [frozenset(t) for t in test_topics]


@functools.cache
def reuters_topics(n: int = 10) -> list[str]:
    """The most frequent topics of the training documents."""
    counts = Counter(t for topics in _reuters_rows()[1] for t in topics)
    return [t for t, _ in sorted(counts.items(), key=lambda p: (-p[1], p[0]))[:n]]


def draw_covering(topics: list[frozenset], wanted: list[str], n: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of n documents drawn at random, again until every wanted topic occurs among them."""
    has = np.array([[topic in have for topic in wanted] for have in topics])  # (documents, wanted)
    for _ in range(100_000):
        drawn = rng.choice(len(topics), n, replace=False)
        if has[drawn].any(axis=0).all():
            return drawn
    raise ValueError(f"no draw of {n} documents has every topic of {', '.join(wanted)}")


def reuters(seed: int, n_labels: int = 17) -> dict[str, Task]:
    """One draw of Joachims' experiment: a task for each of the ten most frequent topics, over the same rows. The
    ModApte test documents are the unlabeled rows and the test; the vocabulary is that of these texts."""
    train, train_topics, test, test_topics = _reuters_rows()
    drawn = draw_covering(train_topics, reuters_topics(), n_labels, np.random.default_rng(seed))
    topics = [train_topics[i] for i in drawn] + test_topics
    X, _ = cached(
        f"reuters-{n_labels}-{seed}",
        lambda: (recipe.vectorize([train[i] for i in drawn] + test), np.zeros(len(topics))),
    )
    tasks = {}
    for topic in reuters_topics():
        y = np.array([topic in have for have in topics], dtype=np.int64)
        given = mask_labels(y, np.arange(n_labels))
        tasks[topic] = Task(f"reuters {topic} #{seed}", X, y, given, float(y[n_labels:].mean()))
    return tasks
