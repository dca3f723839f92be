"""The data sets of the benchmarks.

FEWLABEL_DATA names the folder of the sets, with a `load.py` that reads them. Text goes through the recipe below; term
counts get its weights and its limits on rare and frequent words; digits become unit rows of pixels. Classes with fewer
than `LEAST_ROWS` rows cannot be in the labels, the unlabeled rows and the test of every draw and are left out. Matrices
are kept in `.cache`.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import StandardScaler, normalize

from benchmarks.drawing import DataSet
from fewlabel.preprocessing import text_vectorizer

CACHE = Path(__file__).parent / ".cache"
RESULTS = Path(__file__).parents[2] / "bench-results"
VERSION = 3  # raise with every change of what a matrix contains: those of other versions in the cache are not used
LEAST_ROWS = 10
DIGITS = 10_000  # training rows of MNIST that are used
MOST_ROWS = 16_000  # of RCV1

Rows = tuple[Any, np.ndarray]


def data_set(
    name: str, X: Any, names: Iterable[Any], n_train: int | None = None, hierarchy: str | None = None
) -> DataSet:
    """The rows of the classes that are frequent enough; the first `n_train` rows are the published training part."""
    names = np.asarray(names).astype(str)
    known, number, counts = np.unique(names, return_inverse=True, return_counts=True)
    kept = counts[number] >= LEAST_ROWS
    train = None if n_train is None else (np.arange(len(names)) < n_train)[kept]
    return DataSet(
        name, X[kept], np.unique(number[kept], return_inverse=True)[1], known[counts >= LEAST_ROWS], train, hierarchy
    )


def some_rows(data: DataSet, kept: np.ndarray) -> DataSet:
    """A part of a set without a published test."""
    return replace(data, X=data.X[kept], y=data.y[kept])


# ------------------------------------------------------------------ reading
@functools.cache
def loader() -> ModuleType:
    """The `load.py` of the data sets."""
    path = Path(os.environ.get("FEWLABEL_DATA", ""), "load.py")
    if not path.is_file():
        raise SystemExit("FEWLABEL_DATA must name the folder of the data sets, with load.py in it")
    spec = importlib.util.spec_from_file_location("fewlabel_data_load", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ignored_folder(folder: Path) -> Path:
    """Make a folder that git ignores."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    return folder


def cached(name: str, build: Callable[[], Rows], folder: Path = CACHE) -> Rows:
    """What `build()` gives, (CSR rows, names of their classes), kept in a file."""
    path = ignored_folder(folder) / f"{name}-v{VERSION}.npz"
    if path.exists():
        with np.load(path) as z:
            return sp.csr_matrix((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"])), z["y"]
    X, y = build()
    part = path.with_suffix(f".{os.getpid()}.tmp.npz")
    np.savez(part, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    part.replace(path)
    return X, y


# ------------------------------------------------------------------ the recipe
def subject_and_body(message: str) -> str:
    """The subject and the body of a message of a newsgroup; other headers say too much about the group."""
    head, _, body = message.replace("\r\n", "\n").partition("\n\n")
    subjects = [line.partition(":")[2].strip() for line in head.split("\n") if line.lower().startswith("subject:")]
    return "\n".join([*subjects, body])


def vectorize(texts: Iterable[str], **settings: Any) -> sp.csr_matrix:
    """Rows of texts; the vocabulary is that of these texts."""
    return sp.csr_matrix(text_vectorizer(**settings).fit_transform(texts), dtype=np.float64)


def tf_idf(counts: sp.csr_matrix) -> sp.csr_matrix:
    """The same of term counts, whose stop words are out already."""
    rows_with = np.bincount(counts.indices, minlength=counts.shape[1])
    kept = (rows_with >= 2) & (rows_with <= 0.2 * counts.shape[0])
    return sp.csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(counts[:, kept]), dtype=np.float64)


# ------------------------------------------------------------------ sets of text
@functools.cache
def newsgroups20(hierarchy: str | None = None) -> DataSet:
    """20 Newsgroups, subject and body of 18,846 messages; the dots in the names of the groups may be a tree."""

    def read() -> Rows:
        texts, groups = loader().newsgroups20("all")
        return vectorize(map(subject_and_body, texts)), np.array(groups)

    return data_set("20 Newsgroups" + (", tree" if hierarchy else ""), *cached("newsgroups20", read), None, hierarchy)


def groups(first: str, second: str) -> DataSet:
    """The groups below a part of 20 Newsgroups against those below another, or against the "(rest)"."""
    whole = newsgroups20()
    names = whole.classes[whole.y]
    of_first, of_second = (np.char.startswith(names, part) for part in (first, second))
    kept = of_first | of_second | (second == "(rest)")
    return data_set(f"20 Newsgroups {first}* / {second}", whole.X[kept], np.where(of_first, first, second)[kept])


def pcmac() -> DataSet:
    """20 Newsgroups, PC against Mac hardware; words have digits."""

    def read() -> Rows:
        texts, y = loader().pcmac("all")
        rows = vectorize(map(subject_and_body, texts), min_df=3, token_pattern="[a-z0-9][a-z0-9]+")
        return rows, np.where(y > 0, 1, 0)

    X, y = cached("pcmac", read)
    return data_set("PC / Mac", X, np.where(y > 0, "pc", "mac"))


def published(title: str, file: str, n_train: int, read: Callable[[str], tuple[list[str], list[str]]]) -> DataSet:
    """A set of texts with a published test."""

    def both() -> Rows:
        train, test = read("train"), read("test")
        return vectorize(train[0] + test[0]), np.array(train[1] + test[1])

    return data_set(title, *cached(file, both), n_train)


def reuters(name: str, n_train: int) -> DataSet:
    """Reuters R8 or R52: the ModApte documents with one topic."""
    return published(f"Reuters {name}", name.lower(), n_train, lambda part: loader().reuters_single(name, part))


def texts(name: str) -> tuple[list[str], np.ndarray]:
    """Texts and classes of a set, before the recipe."""
    if name == "reuters_r8":
        parts = [loader().reuters_single("R8", part) for part in ("train", "test")]
        return [text for part in parts for text in part[0]], np.concatenate([part[1] for part in parts])
    read = loader().pcmac if name == "pcmac" else loader().newsgroups20
    messages, names = read("all")
    bodies, names = [subject_and_body(message) for message in messages], np.asarray(names).astype(str)
    if name in ("comp", "recsci"):
        kept = [name == "comp" or group.startswith(("rec.", "sci.")) for group in names]
        names = np.where([group.startswith("comp." if name == "comp" else "rec.") for group in names], "a", "b")
        bodies, names = list(itertools.compress(bodies, kept)), names[kept]
    return bodies, names


def cluto(name: str) -> DataSet:
    """A set of CLUTO: term counts, weighted as the recipe does."""
    counts, classes = loader().cluto(name)
    return data_set(name, tf_idf(counts), classes)


# ------------------------------------------------------------------ RCV1
def fewer(data: DataSet) -> DataSet:
    """A draw of the rows, where there are more than enough."""
    rows = np.random.default_rng((0, 4)).permutation(len(data.y))[:MOST_ROWS]
    return some_rows(data, np.sort(rows))


@functools.cache
def rcv1(topic: str) -> DataSet:
    """A topic against the rest; documents that occur twice are taken once."""
    X, y = cached(f"{topic.lower()}-once", lambda: loader().rcv1_binary(topic))
    return fewer(data_set(f"RCV1 {topic} / rest", X, np.where(y > 0, topic, "(rest)")))


def with_one_of(wanted: set[str], others: set[str]) -> Rows:
    """The documents with exactly one of these topics and none but some others."""
    X, topics = loader().rcv1()
    rows = [i for i, have in enumerate(topics) if len(wanted & set(have)) == 1 and set(have) <= wanted | others]
    return X[rows], np.array([next(iter(wanted & set(topics[i]))) for i in rows])


def rcv1_topics() -> tuple[Any, np.ndarray]:
    """RCV1 and an indicator matrix of its 101 topics, those of the source."""

    def read() -> Rows:
        X, topics = loader().rcv1(mcat=False)
        return X, np.array([" ".join(have) for have in topics])

    X, topics = cached("rcv1-topics", read)
    rows = np.random.default_rng((0, 4)).permutation(len(topics))[:MOST_ROWS]
    Y = CountVectorizer(analyzer=str.split).fit_transform(topics).toarray()
    return X[rows], Y[rows]


def reuters_topics() -> tuple[Any, np.ndarray, list[str]]:
    """The documents of Reuters with one of the ten largest topics, an indicator matrix of these, and their names."""

    def read() -> Rows:
        train, test = (loader().reuters_modapte(part, 10) for part in ("train", "test"))
        return vectorize(train[0] + test[0]), np.array([" ".join(have) for have in train[1] + test[1]])

    X, topics = cached("reuters-topics", read)
    columns = CountVectorizer(analyzer=str.split, binary=True)
    Y = columns.fit_transform(topics).toarray()
    return X, Y, columns.get_feature_names_out().tolist()


def topics4() -> DataSet:
    """RCV1, the four parts of the topics."""
    codes, _ = loader().rcv1_topics()
    parts = {"CCAT", "ECAT", "GCAT", "MCAT"}
    return fewer(data_set("RCV1 four topics", *cached("topics4", lambda: with_one_of(parts, set(codes)))))


def rcv1_leaves() -> DataSet:
    """RCV1, the leaf topics below CCAT, of the documents with no other part of the topics."""

    def read() -> Rows:
        _, parents = loader().rcv1_topics()
        below = {"CCAT"}
        while more := {code for code, parent in parents.items() if parent in below} - below:
            below |= more
        leaves = below - set(parents.values())
        return with_one_of(leaves, below - leaves)

    return data_set("RCV1 CCAT, leaves", *cached("rcv1-leaves", read))


# ------------------------------------------------------------------ other sets
@functools.cache
def mnist() -> DataSet:
    """The first 10,000 training digits and the published test, as unit rows of pixels."""
    (train, y_train), (test, y_test) = (loader().mnist(part, dense=True) for part in ("train", "test"))
    X = sp.csr_matrix(np.concatenate([train[:DIGITS], test]) / 255)
    return data_set("MNIST", normalize(X), np.concatenate([y_train[:DIGITS], y_test]), DIGITS)


def chapelle(name: str) -> DataSet:
    """A set of Chapelle & Zien without its splits: text1 (Windows against Mac) or g50c (two Gaussians)."""
    X, y, _ = loader().lds(name)
    return data_set(name, X, y)


def minilm() -> DataSet:
    """Embeddings of the messages of 20 Newsgroups, dense float32."""
    return data_set("MiniLM", *loader().minilm())


def clusters() -> DataSet:
    """The same embeddings, in 77 clusters."""
    rows = minilm()
    found = KMeans(77, n_init=1, random_state=0).fit_predict(rows.X)
    return replace(rows, name=f"{rows.name}, 77 clusters", y=found, classes=np.arange(77), train=None)


def short(name: str) -> DataSet:
    """Embeddings of short texts, dense float32."""
    return data_set(f"{name} by MiniLM", *loader().short(name))


def agnews(encoder: str | None = None) -> DataSet:
    """The test of AG News: words, or dense float32 by an encoder."""
    rows, names = loader().agnews(encoder)
    return data_set(f"AG News by {encoder or 'words'}", rows if encoder else vectorize(rows), names)


def galaxy() -> DataSet:
    """Points on two arms of a spiral, most of them apart from its core."""
    with np.load(Path(os.environ["FEWLABEL_DATA"]) / "galaxy" / "galaxy-clean.npz") as file:
        return data_set("galaxy", StandardScaler().fit_transform(file["X"].reshape(-1, 2)), file["y"].ravel())


def some_classes(data: DataSet, *some: str) -> DataSet:
    """The rows of some of the classes."""
    names = data.classes[data.y]
    kept = np.isin(names, some)
    n_train = None if data.train is None else int(np.sum(data.train & kept))
    return data_set(f"{data.name} {' '.join(some)}", data.X[kept], names[kept], n_train)


def small(name: str, rows: Rows) -> DataSet:
    """A set of scikit-learn."""
    X = normalize(rows[0]) if name == "digits" else StandardScaler().fit_transform(rows[0])
    return data_set(name, X, rows[1])


def rare(data: DataSet, name: str, percent: int) -> DataSet:
    """The set with some rows of a class, so that it has this share."""
    first = data.classes[data.y] == name
    some = np.random.default_rng((0, 5)).permutation(np.flatnonzero(first))
    kept = np.concatenate([np.flatnonzero(~first), some[: round(percent / (100 - percent) * np.sum(~first))]])
    return replace(some_rows(data, np.sort(kept)), name=f"{data.name}, {percent} % {name}")


SHORT = ("atis", "fewrel", "irony", "mpqa", "mr", "offensive")
CLUTO = ("classic", "fbis", "hitech", "k1b", "re0", "tr11", "tr12", "tr23", "tr31", "tr41", "tr45", "wap")
SMALL: dict[str, Callable[[], Rows]] = {
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "moons": lambda: datasets.make_moons(600, noise=0.1, random_state=0),
    "circles": lambda: datasets.make_circles(600, noise=0.05, factor=0.6, random_state=0),
}
SETS: dict[str, Callable[[], DataSet]] = {
    **{make.__name__: make for make in (newsgroups20, pcmac, topics4, rcv1_leaves, mnist, minilm, clusters)},
    **{name: functools.partial(short, name) for name in SHORT},
    "newsgroups20_tree": lambda: newsgroups20("."),
    "comp": lambda: groups("comp.", "(rest)"),
    "recsci": lambda: groups("rec.", "sci."),
    "ohsumed": lambda: published("Ohsumed", "ohsumed", 3357, loader().ohsumed),
    "reuters_r8": lambda: reuters("R8", 5485),
    "reuters_r52": lambda: reuters("R52", 6532),
    "text1": lambda: chapelle("text1"),
    "g50c": lambda: chapelle("g50c"),
    "mnist_38": lambda: some_classes(mnist(), "3", "8"),
    "mnist_49": lambda: some_classes(mnist(), "4", "9"),
    "mnist_27": lambda: some_classes(mnist(), "2", "7"),
    "mnist_56": lambda: some_classes(mnist(), "5", "6"),
    "minilm_religion": lambda: some_classes(minilm(), "soc.religion.christian", "alt.atheism"),
    "minilm_hardware": lambda: some_classes(minilm(), "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    "galaxy": galaxy,
    **{f"agnews_{encoder or 'words'}": functools.partial(agnews, encoder) for encoder in (None, "minilm", "bge")},
    **{name: functools.partial(cluto, name) for name in CLUTO},
    **{topic.lower(): functools.partial(rcv1, topic) for topic in ("CCAT", "GCAT", "MCAT")},
    **{name: lambda name=name: small(name, SMALL[name]()) for name in SMALL},
    **{f"gcat_{p}": lambda p=p: rare(rcv1("GCAT"), "GCAT", p) for p in (5, 2)},
    **{f"recsci_{p}": lambda p=p: rare(groups("rec.", "sci."), "rec.", p) for p in (5, 2)},
}
