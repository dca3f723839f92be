"""Text beside other columns: the default, with and without `BlockScaler`, and LinearSVC of the same columns.

    FEWLABEL_DATA=... python -m benchmarks tables [--draws N]

Texts are tf-idf rows of length 1 (or embeddings of that length), other columns one-hot or standardized as they come.
Labeled are five rows of each class; values are accuracies on the test, means of the draws from 100 on. The norm of the
scaler and the bound of the warning were chosen on draws 0 to 2 of the words of Reuters and of six newsgroups.
"""

from __future__ import annotations

import functools
import itertools
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from benchmarks import data, drawing
from benchmarks.drawing import Task
from benchmarks.measure import Report

LABELS, FIRST, DRAWS = 5, 100, 5
TOPICS = ("earn", "acq", "crude", "trade", "money-fx", "interest")
GROUPS = ("rec.autos", "rec.motorcycles", "rec.sport.baseball", "rec.sport.hockey", "sci.med", "sci.space")
BEHIND = 0.01  # of accuracy, by which the default may be below LinearSVC without a warning

Blocks = dict[str, Any]


def one_hot(values: Sequence[Any]) -> sp.csr_matrix:
    """A column for each value of five rows or more."""
    encoder = OneHotEncoder(handle_unknown="ignore", min_frequency=5)
    return sp.csr_matrix(encoder.fit_transform(np.array(values, dtype=object)[:, None]))


def standardized(values: Sequence[float]) -> sp.csr_matrix:
    """A column of mean 0 and standard deviation 1."""
    return sp.csr_matrix(StandardScaler().fit_transform(np.array(values, dtype=float)[:, None]))


@functools.cache
def reuters() -> tuple[np.ndarray, Blocks]:
    """Documents of one of six topics: text, country, type and length."""
    every = data.loader().reuters_rows("train") + data.loader().reuters_rows("test")
    rows = [row for row in every if len(row["labels"]) == 1 and row["labels"][0] in TOPICS]
    return np.array([row["labels"][0] for row in rows]), {
        "text": data.vectorize([f"{row['title']}\n{row['text']}" for row in rows]),
        "place": one_hot([(row["places"] or ["none"])[0] for row in rows]),
        "type": one_hot([row["type"] for row in rows]),
        "length": standardized([len(row["text"]) for row in rows]),
    }


@functools.cache
def newsgroups() -> tuple[np.ndarray, Blocks]:
    """Messages of six groups: subject and body, or its embedding; domain of the sender; lines."""
    messages, groups = data.loader().newsgroups20("all")
    domains = [re.search(r"^From:.*@\S*?([a-z]+)[>\s)]", text, re.MULTILINE | re.IGNORECASE) for text in messages]
    lines = [re.search(r"^Lines: (\d+)", text, re.MULTILINE) for text in messages]
    blocks = {
        "text": data.vectorize(map(data.subject_and_body, messages)),
        "domain": one_hot([found[1].lower() if found else "none" for found in domains]),
        "lines": standardized([np.log1p(float(found[1])) if found else 0.0 for found in lines]),
    }
    kept = np.isin(groups, GROUPS)
    return np.array(groups)[kept], {name: block[kept] for name, block in blocks.items()}


@functools.cache
def embeddings() -> tuple[np.ndarray, Blocks]:
    """Embeddings of the same messages in place of their words."""
    X, groups = data.loader().minilm()
    kept = np.isin(groups, GROUPS)
    y, blocks = newsgroups()
    assert np.array_equal(y, np.array(groups)[kept])
    return y, {"embedding": sp.csr_matrix(X[kept], dtype=np.float64)} | {k: v for k, v in blocks.items() if k != "text"}


@functools.cache
def abstracts() -> tuple[np.ndarray, Blocks]:
    """Abstracts of Ohsumed, with their length."""
    texts, topics = (a + b for a, b in zip(data.loader().ohsumed("train"), data.loader().ohsumed("test"), strict=True))
    return np.array(topics), {"text": data.vectorize(texts), "length": standardized([len(text) for text in texts])}


TABLES = {one.__name__: one for one in (reuters, newsgroups, embeddings, abstracts)}


def accuracies(task: Task, scaled: Task) -> dict[str, float]:
    """Of each learner, and whether the default warned of the columns."""
    from fewlabel import DataWarning, TransductiveSVC

    labeled, found = ~task.unlabeled, {}
    for name, one in (("default", task), ("scaled", scaled)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = TransductiveSVC(n_jobs=1).fit(one.X, one.given)
        found[name] = np.mean(model.predict(one.X_test) == one.y_test)
        found[f"{name} warned"] = any("features" in str(w.message) and w.category is DataWarning for w in caught)
    supervised = LinearSVC().fit(task.X[labeled], task.given[labeled])
    return found | {"LinearSVC": np.mean(supervised.predict(task.X_test) == task.y_test)}


def columns(report: Report, draws: int = DRAWS) -> None:
    """Each table, a block more in each line."""
    from fewlabel.preprocessing import BlockScaler

    for name, read in TABLES.items():
        y, blocks = read()
        for n in range(1, len(blocks) + 1):
            text, *others = itertools.islice(blocks.values(), n)
            alone = sp.hstack([text, *others], format="csr")
            scaled = sp.hstack([text, *(BlockScaler().fit_transform(block) for block in others)], format="csr")
            found = []
            for draw in range(FIRST, FIRST + draws):
                tasks = (drawing.draw(data.data_set(name, X, y), LABELS, "equal", draw) for X in (alone, scaled))
                found.append(accuracies(*tasks))
            means = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
            what, svc = f"{name}, {' + '.join(itertools.islice(blocks, n))}", means["LinearSVC"]
            warned = means["default warned"] == 1
            report.add(f"{what}: LinearSVC", svc)
            bound = {} if warned else {"at_least": svc - BEHIND}
            report.add(f"{what}: default", means["default"], note="warned" if warned else "", **bound)
            report.add(f"{what}: default, scaled", means["scaled"], at_least=svc)


SECTIONS = (columns,)
