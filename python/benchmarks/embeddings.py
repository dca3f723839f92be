"""Embeddings of texts, tf-idf, and both side by side: macro F on the test with few labels drawn at random.

There are two kinds of embeddings. LSA, 200 components of the tf-idf rows of the whole set, is a stand-in for an encoder
that knows the subject. The encoder is WordLlama, the mean of pretrained vectors of a text's tokens, 256 numbers: its
package has the vectors in it, so that nothing is downloaded (`pip install wordllama`; the section is left out without
it). Rows of each kind have unit length, and so have those of tf-idf. Logistic regression on the labeled rows has the
strength of `STRENGTHS` that suits it best on the test. The scale of the embeddings beside tf-idf is chosen on draws
from 100 on.
"""

from __future__ import annotations

import functools
import importlib.util
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from benchmarks import corpora, learners, quality, recipe, tasks
from benchmarks.learners import Outcome
from benchmarks.report import Report
from benchmarks.tasks import DataSet, Task, data_set

COMPONENTS = 200
DRAWS = 3
LABELS = (100, 400)
SCALES = (0.25, 0.5, 1.0, 2.0, 4.0)
SCALE = 1.0  # chosen by `embedding_scale`
STRENGTHS = (1.0, 10.0, 100.0)


# ------------------------------------------------------------------ rows
def unit(rows: np.ndarray) -> np.ndarray:
    """Unit rows of float32, as encoders give them."""
    return normalize(rows).astype(np.float32)


@functools.cache
def lsa(make: Callable[[], DataSet]) -> tuple[DataSet, np.ndarray]:
    """The set and its LSA (n, COMPONENTS)."""
    data = make()
    return data, unit(TruncatedSVD(COMPONENTS, random_state=0).fit_transform(data.X))


def encode(texts: Iterable[str]) -> np.ndarray:
    """The vectors (n, 256) of WordLlama."""
    import wordllama

    folder = Path(wordllama.__file__).parent  # where the package has its files
    return unit(wordllama.WordLlama.load(cache_dir=folder, disable_download=True).embed(list(texts)))


def subjects() -> tuple[DataSet, np.ndarray]:
    """20 Newsgroups, subjects only: five words a text."""
    texts, groups = corpora.loader().newsgroups20("all")
    lines = [recipe.subject_and_body(text).split("\n", 1)[0] for text in texts]
    return data_set("20 Newsgroups, subjects", recipe.vectorize(lines), groups), encode(lines)


def joined(X: sp.csr_matrix, embedded: np.ndarray, scale: float = SCALE) -> sp.csr_matrix:
    """Both side by side, the embeddings times the scale."""
    return sp.hstack([X, scale * embedded], format="csr")


def forms(data: DataSet, embedded: np.ndarray, name: str) -> dict[str, Any]:
    """The rows of the set in each form."""
    return {"tf-idf": data.X, name: embedded, f"tf-idf and {name}": joined(data.X, embedded)}


def drawn(data: DataSet, X: Any, n_labels: int, seed: int) -> Task:
    """The task of this seed with these rows; labels and test do not depend on the form of the rows."""
    return tasks.draw(replace(data, X=X), n_labels, seed)


# ------------------------------------------------------------------ learners
def logistic(task: Task, C: float) -> Outcome:
    """Logistic regression on the labeled rows."""
    labeled = ~task.unlabeled
    return learners.timed(task, LogisticRegression(C=C, max_iter=1000), task.X[labeled], task.marked[labeled])


def transductive(task: Task, **settings: Any) -> Outcome:
    """`TransductiveSVC` as it comes, on one thread."""
    from fewlabel import TransductiveSVC

    return learners.fitted(task, TransductiveSVC, {"n_jobs": 1} | settings)


def measure(report: Report, what: str, drawn: list[Task]) -> None:
    """The rows of one form of the data and one number of labels; seconds are processor time, prediction included."""
    tried = {C: [clocked(logistic, task, C=C) for task in drawn] for C in STRENGTHS}
    found = {
        "logistic regression": max(tried.values(), key=lambda outcomes: np.mean([o.macro_f for o, _ in outcomes])),
        "TransductiveSVC": [clocked(transductive, task) for task in drawn],
        "TransductiveSVC, shares given": [clocked(transductive, task, class_prior=task.class_prior) for task in drawn],
    }
    for learner, outcomes in found.items():
        scores, seconds = [o.macro_f for o, _ in outcomes], [s for _, s in outcomes]
        note = f"{np.median(seconds):.2f} s"
        report.fact(f"{what}, {learner}: macro F", float(np.mean(scores)), note=note, values=scores)


def clocked(learner: Callable[..., Outcome], task: Task, **settings: Any) -> tuple[Outcome, float]:
    """The outcome, and the processor time that it took."""
    start = time.process_time()
    found = learner(task, **settings)
    return found, time.process_time() - start


def curves(report: Report, data: DataSet, rows: dict[str, Any], draws: int) -> None:
    """All forms of the rows and numbers of labels."""
    for n in LABELS:
        for form, X in rows.items():
            measure(report, f"{data.name}, {n} labels, {form}", [drawn(data, X, n, seed) for seed in range(draws)])


# ------------------------------------------------------------------ sections
def embeddings_newsgroups(report: Report, draws: int = DRAWS) -> None:
    """20 Newsgroups and its LSA: 20 classes."""
    data, embedded = lsa(corpora.newsgroups20)
    curves(report, data, forms(data, embedded, "LSA"), draws)


def embeddings_picked(report: Report, draws: int = DRAWS) -> None:
    """20 Newsgroups, LSA, five labels of each class."""
    data, embedded = lsa(corpora.newsgroups20)
    rows = replace(data, X=embedded)
    picked = [quality.draw(rows, 5, "equal", seed) for seed in range(draws)]
    measure(report, f"{data.name}, 5 labels of each class, LSA", picked)


def embeddings_ohsumed(report: Report, draws: int = DRAWS) -> None:
    """Ohsumed and its LSA: abstracts of 23 diseases, some of them rare."""
    data, embedded = lsa(corpora.ohsumed)
    curves(report, data, forms(data, embedded, "LSA"), draws)


def embeddings_encoder(report: Report, draws: int = DRAWS) -> None:
    """20 Newsgroups and an encoder that has not seen it."""
    if not _has_encoder(report):
        return
    data = corpora.newsgroups20()
    rows = forms(data, encode(map(recipe.subject_and_body, corpora.loader().newsgroups20("all")[0])), "encoder")
    del rows["tf-idf"]  # measured by `embeddings_newsgroups`
    curves(report, data, rows, draws)


def embeddings_subjects(report: Report, draws: int = DRAWS) -> None:
    """Short texts: the subjects alone."""
    if _has_encoder(report):
        data, embedded = subjects()
        curves(report, data, forms(data, embedded, "encoder"), draws)


def _has_encoder(report: Report) -> bool:
    if importlib.util.find_spec("wordllama"):
        return True
    report.fact("an encoder: left out, there is no wordllama here", 0.0)
    return False


def embedding_scale(report: Report, draws: int = 2) -> None:
    """The scale of the embeddings beside tf-idf, on draws that are not reported."""
    for data, embedded in map(lsa, (corpora.newsgroups20, corpora.ohsumed)):
        for n in LABELS:
            for scale in SCALES:
                X = joined(data.X, embedded, scale)
                found = [transductive(drawn(data, X, n, 100 + seed)).macro_f for seed in range(draws)]
                report.fact(f"{data.name}, {n} labels, scale {scale:g}: macro F", float(np.mean(found)), values=found)


SECTIONS = (embeddings_newsgroups, embeddings_picked, embeddings_ohsumed, embeddings_encoder, embeddings_subjects)
CHOICES = (embedding_scale,)
