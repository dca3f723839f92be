"""The data sets of the benchmarks and the tasks of two classes that are drawn from them.

Data sets come from the folder named by FEWLABEL_DATA, through the `load.py` in it. Text goes through the recipe; term
counts get its weights and its limits on rare and frequent words; digits become unit rows of pixels. Matrices are kept
in `.cache`.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from benchmarks import recipe, tasks
from benchmarks.tasks import DataSet, Hierarchy, Task, data_set, mask_labels

CACHE = Path(__file__).parent / ".cache"
RESULTS = Path(__file__).parents[2] / "bench-results"  # git ignores it
MOST_ROWS = 16_000  # of RCV1 in `SETS`
DIGITS = 10_000  # training rows of MNIST that are used
SUBTREE = "CCAT"  # of the topics of RCV1

Rows = tuple[sp.csr_matrix, np.ndarray]


# ------------------------------------------------------------------ data and cache
@functools.cache
def loader() -> ModuleType:
    """The `load.py` of the data sets, imported by its path."""
    folder = os.environ.get("FEWLABEL_DATA")
    if not folder or not (Path(folder) / "load.py").is_file():
        raise SystemExit(f"FEWLABEL_DATA must name the folder of the data sets (with load.py in it), not {folder!r}")
    spec = importlib.util.spec_from_file_location("fewlabel_data_load", Path(folder) / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ignored_folder(folder: Path) -> Path:
    """Make a folder that git ignores."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    return folder


def cached(name: str, build: Callable[[], Rows], folder: Path | None = None) -> Rows:
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


# ------------------------------------------------------------------ two classes
def svmlin_example() -> Task:
    """The example that ships with SVMlin: 50 labels, 1,410 unlabeled rows, 486 test rows."""
    X, given, X_test, y_test = loader().svmlin_example()
    y = (loader().svmlin_example(truth=True)[1] > 0).astype(np.int64)
    test = (y_test > 0).astype(np.int64)
    return Task("svmlin example", X, y, mask_labels(y, given != 0), X_test=X_test, y_test=test)


def text1(split: int) -> Task:
    """Split 0 ... 9 of text1: 50 labels, the test is on the 1,896 unlabeled rows."""
    X, y, labeled = loader().lds("text1")
    y = (y > 0).astype(np.int64)
    return Task(f"text1 split {split}", X, y, mask_labels(y, labeled[split]))


def g50c(split: int) -> Task:
    """Split 0 ... 9 of g50c, two Gaussians in 50 dimensions: 50 labels, the test is on the 500 unlabeled rows."""
    X, y, labeled = loader().lds("g50c")
    y = (y > 0).astype(np.int64)
    return Task(f"g50c split {split}", X, y, mask_labels(y, labeled[split]))


def comp(seed: int, n_labels: int = 45) -> Task:
    """20 Newsgroups, comp.* (26 %) against the rest: 18,846 messages."""
    data = comp_set("(rest)")
    return tasks.held_out("comp.* / rest", data.X, data.y, n_labels, seed)


def pcmac(seed: int, n_labels: int = 37) -> Task:
    """20 Newsgroups, PC (1) against Mac hardware (0): 1,945 messages."""
    X, y = cached("pcmac", _pcmac_rows)
    return tasks.held_out("PC / Mac", X, y, n_labels, seed)


def _pcmac_rows() -> Rows:
    texts, y = loader().pcmac("all")
    return recipe.vectorize([recipe.subject_and_body(t) for t in texts], 3, True), np.where(y > 0, 1, 0)


def ccat(seed: int, n_labels: int = 45, topic: str = "CCAT") -> Task:
    """RCV1, CCAT against the rest: the 30,000 rows of the five subsets."""
    data = rcv1(topic)
    return tasks.held_out(data.name, data.X, data.y, n_labels, seed)


def gcat(seed: int) -> Task:
    """The same for GCAT."""
    return ccat(seed, topic="GCAT")


# Joachims' experiment
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


def reuters(seed: int, n_labels: int = 17) -> list[Task]:
    """One draw of Joachims' experiment: a task for each of the ten most frequent topics, over the same rows. The
    ModApte test documents are the unlabeled rows and the test; the vocabulary is that of these texts."""
    train, train_topics, test, test_topics = _reuters_rows()
    drawn = draw_covering(train_topics, reuters_topics(), n_labels, np.random.default_rng(seed))
    topics = [train_topics[i] for i in drawn] + test_topics
    X, _ = cached(
        f"reuters-{n_labels}-{seed}",
        lambda: (recipe.vectorize([train[i] for i in drawn] + test), np.zeros(len(topics))),
    )
    found = []
    for topic in reuters_topics():
        y = np.array([topic in have for have in topics], dtype=np.int64)
        found.append(Task(f"reuters {topic} #{seed}", X, y, mask_labels(y, np.arange(n_labels))))
    return found


# ------------------------------------------------------------------ sets
@functools.cache
def newsgroups20(hierarchy: Hierarchy = None) -> DataSet:
    """20 Newsgroups, subject and body of 18,846 messages."""
    X, names = cached("newsgroups20", _newsgroups20_rows)
    return data_set("20 Newsgroups" + (", tree" if hierarchy else ""), X, names, hierarchy=hierarchy)


def newsgroups20_tree() -> DataSet:
    """The same; the dots in the names of the groups are the tree."""
    return newsgroups20(".")


def _newsgroups20_rows() -> Rows:
    texts, groups = loader().newsgroups20("all")
    return recipe.vectorize(recipe.subject_and_body(t) for t in texts), np.array(groups)


@functools.cache
def comp_set(rest: str) -> DataSet:
    """20 Newsgroups, comp.* against the others, which are the first class if they are called "(rest)"."""
    whole = newsgroups20()
    computers = np.char.startswith(whole.classes.astype(str), "comp.")[whole.y]
    return data_set("20 Newsgroups comp.*", whole.X, np.where(computers, "comp.*", rest))


@functools.cache
def rcv1(topic: str, rest: str = "(rest)", once: bool = False) -> DataSet:
    """RCV1, a topic against the others as in `comp_set`; `once`: documents that occur twice are taken once."""
    X, y = cached(topic.lower() + "-once" * once, lambda: loader().rcv1_binary(topic, unique=once))
    return data_set(f"RCV1 {topic} / rest", X, np.where(y > 0, topic, rest))


@functools.cache
def reuters_r8() -> DataSet:
    """Reuters R8: the ModApte documents with one topic, of the eight most frequent ones."""
    X, names = cached("r8", lambda: _published_parts(lambda part: loader().reuters_single("R8", part)))
    return data_set("Reuters R8", X, names, n_train=5485)


@functools.cache
def ohsumed() -> DataSet:
    """Ohsumed: abstracts with one of 23 classes."""
    X, names = cached("ohsumed", lambda: _published_parts(loader().ohsumed))
    return data_set("Ohsumed", X, names, n_train=3357)


def _published_parts(read: Callable[[str], tuple[list[str], list[str]]]) -> Rows:
    train, test = read("train"), read("test")
    return recipe.vectorize(train[0] + test[0]), np.array(train[1] + test[1])


@functools.cache
def cluto(name: str) -> DataSet:
    """A set of CLUTO: term counts, stop words out and stems already, weighted as the recipe does."""
    counts, classes = loader().cluto(name)
    return data_set(name, tf_idf(counts), classes.astype(str))


def tf_idf(counts: sp.csr_matrix) -> sp.csr_matrix:
    """The weights of the recipe for term counts: words of one row or of more than a fifth of the rows out."""
    rows_with = np.bincount(counts.indices, minlength=counts.shape[1])
    kept = (rows_with >= 2) & (rows_with <= 0.2 * counts.shape[0])
    return sp.csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(counts[:, kept]), dtype=np.float64)


@functools.cache
def mnist() -> DataSet:
    """The first 10,000 training digits, the 10,000 of the published test, as unit rows of pixels."""
    (train, y_train), (test, y_test) = (loader().mnist(part, dense=True) for part in ("train", "test"))
    n_train = min(DIGITS, len(y_train))
    X = sp.csr_matrix(np.concatenate([train[:n_train], test]) / 255)
    return data_set("MNIST", normalize(X), np.concatenate([y_train[:n_train], y_test]).astype(str), n_train)


@functools.cache
def rcv1_subtree(top: str = SUBTREE) -> DataSet:
    """The leaf topics of RCV1 below a topic, over the documents with exactly one of them and no other part of the
    topics: of the four parts, CCAT has the most documents of this kind and a tree of four levels."""
    X, names = cached(f"rcv1-{top}", lambda: _subtree_rows(top))
    _, parents = loader().rcv1_topics()
    classes = data_set("", X, names).classes.tolist()
    tree = {node: parents[node] for leaf in classes for node in path_up(leaf, top, parents)}
    return data_set(f"RCV1 {top}", X, names, hierarchy=tree)


def _subtree_rows(top: str) -> Rows:
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


# ------------------------------------------------------------------ sets of `quality`
def groups(first: str, second: str) -> DataSet:
    """20 Newsgroups, the groups below a part against those below another; as second part (rest) has all others."""
    whole = newsgroups20()
    names = whole.classes.astype(str)[whole.y]
    of_first, of_second = (np.char.startswith(names, part) for part in (first, second))
    kept = of_first | of_second | (second == "(rest)")
    return data_set(f"20 Newsgroups {first} / {second}", whole.X[kept], np.where(of_first, first, second)[kept])


def pcmac_set() -> DataSet:
    """20 Newsgroups, PC against Mac hardware."""
    X, y = cached("pcmac", _pcmac_rows)
    return data_set("PC / Mac", X, np.where(y > 0, "pc", "mac"))


@functools.cache
def reuters_r52() -> DataSet:
    """Reuters R52, those classes with enough rows."""
    X, names = cached("r52", lambda: _published_parts(lambda part: loader().reuters_single("R52", part)))
    return data_set("Reuters R52", X, names, n_train=6532)


def rcv1_part(topic: str) -> DataSet:
    """RCV1, a topic against the rest, some of the documents."""
    return tasks.some_rows(rcv1(topic, once=True), MOST_ROWS, (0, 4))


def topics4() -> DataSet:
    """RCV1, the documents with exactly one of the four parts of the topics, some of them."""
    X, names = cached("topics4", _topics4_rows)
    return tasks.some_rows(data_set("RCV1 four topics", X, names), MOST_ROWS, (0, 4))


def _topics4_rows() -> Rows:
    X, topics = loader().rcv1()
    parts = [sorted({"CCAT", "ECAT", "GCAT", "MCAT"} & set(have)) for have in topics]
    rows = [i for i, some in enumerate(parts) if len(some) == 1]
    return X[rows], np.array([parts[i][0] for i in rows])


def text1_set() -> DataSet:
    """text1 without its splits: Windows against Mac."""
    X, y, _ = loader().lds("text1")
    return data_set("text1", X, np.where(y > 0, "windows", "mac"))


def g50c_set() -> DataSet:
    """g50c without its splits: two Gaussians in 50 dimensions."""
    X, y, _ = loader().lds("g50c")
    return data_set("g50c", X, np.where(y > 0, "first", "second"))


def minilm() -> DataSet:
    """Embeddings of the messages of 20 Newsgroups, dense float32."""
    X, names = loader().minilm()
    return data_set("MiniLM", X, names)


def digits(*some: str) -> DataSet:
    """MNIST, some of the digits."""
    whole = mnist()
    kept = np.isin(whole.classes[whole.y], some)
    names = whole.classes[whole.y[kept]]
    return data_set(f"MNIST {' '.join(some)}", whole.X[kept], names, n_train=int(np.sum(whole.train & kept)))


def rare(data: DataSet, name: str, percent: int) -> DataSet:
    """The set with some rows of a class, so that it has this share."""
    first = data.classes[data.y] == name
    some = np.random.default_rng((0, 5)).permutation(np.flatnonzero(first))
    kept = np.concatenate([np.flatnonzero(~first), some[: round(percent / (100 - percent) * np.sum(~first))]])
    part = tasks.part(data, np.sort(kept))
    return tasks.DataSet(f"{data.name}, {percent} % {name}", part.X, part.y, part.classes)


CLUTO = ("classic", "fbis", "hitech", "k1b", "re0", "tr11", "tr12", "tr23", "tr31", "tr41", "tr45", "wap")

SETS: dict[str, Callable[[], DataSet]] = {
    **{make.__name__: make for make in (newsgroups20, reuters_r8, reuters_r52, ohsumed, mnist, topics4, minilm)},
    "newsgroups20_tree": newsgroups20_tree,
    "rcv1_subtree": rcv1_subtree,
    "comp": lambda: groups("comp.", "(rest)"),
    "recsci": lambda: groups("rec.", "sci."),
    "pcmac": pcmac_set,
    "text1": text1_set,
    "g50c": g50c_set,
    "mnist_49": lambda: digits("4", "9"),
    "mnist_38": lambda: digits("3", "8"),
    **{name: functools.partial(cluto, name) for name in CLUTO},
    **{topic.lower(): functools.partial(rcv1_part, topic) for topic in ("CCAT", "GCAT", "MCAT")},
    **{f"gcat_{p}": lambda p=p: rare(rcv1_part("GCAT"), "GCAT", p) for p in (5, 2)},
    **{f"recsci_{p}": lambda p=p: rare(groups("rec.", "sci."), "rec.", p) for p in (5, 2)},
}
