"""Which rows suit a text: the parts of the recipe, LSA, embeddings, and both side by side.

`recipe` adds the parts of the recipe one after the other, for two questions of 20 Newsgroups with 20 labels a class.
`embeddings` has the groups of 20 Newsgroups with 5 labels a class: LSA stands for an encoder that knows the subject,
MiniLM for one that does not. Labels are drawn at random; learners are those of `quality`. Parts of joined rows have
unit length each; the factors 0.25, 0.5, 2 and 4 for the embeddings were no better on average (draws from 100 on,
WordLlama and LSA).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from benchmarks import data, quality
from benchmarks.data import DataSet
from benchmarks.measure import Report

LEARNERS = ("LinearSVC", "default", "true")
COMPONENTS = 200
QUESTIONS = {"pc or mac": ("comp.sys.ibm.pc", "comp.sys.mac"), "rec or sci": ("rec.", "sci.")}
PARTS: dict[str, dict[str, Any]] = {
    "counts of words": {"token_pattern": "[a-z][a-z]+", "use_idf": False, "norm": None},
    "+ unit rows": {"norm": "l2"},
    "+ stop words out": {"stop_words": "english"},
    "+ rare, frequent words out": {"min_df": 2, "max_df": 0.2},
    "+ 1 + log count": {"sublinear_tf": True},
    "+ idf": {"use_idf": True},
}


def table(report: Report, rows: DataSet, forms: Iterator[tuple[str, Any]], per_class: int, draws: int) -> None:
    """Macro F of each learner on each form of the rows; labels and test do not depend on the form."""
    for form, X in forms:
        drawn = [data.draw(replace(rows, X=X), per_class, "random", seed) for seed in range(draws)]
        for learner in LEARNERS:
            found = [quality.fit(task, learner) for task in drawn]
            error, spent = (np.mean([one[name] for one in found]) for name in ("error", "seconds"))
            note = f"error {error:.1f} %, {spent:.1f} s"
            report.add(f"{rows.name}, {form}: {learner}, macro F", [one["F"] for one in found], note=note)


def recipe(report: Report, draws: int = 3) -> None:
    """The parts of the recipe."""
    for question, pair in QUESTIONS.items():
        messages = [
            (text, group)
            for text, group in zip(*data.loader().newsgroups20("all"), strict=True)
            if group.startswith(pair)
        ]
        rows = data.data_set(
            question, np.zeros((len(messages), 1)), [group.startswith(pair[0]) for _, group in messages]
        )
        table(report, rows, recipe_forms([data.subject_and_body(text) for text, _ in messages]), 20, draws)


def recipe_forms(texts: list[str]) -> Iterator[tuple[str, Any]]:
    """Rows by one part of the recipe, by two, ..., by all."""
    settings: dict[str, Any] = {}
    for part, added in PARTS.items():
        settings |= added
        yield part, sp.csr_matrix(TfidfVectorizer(**settings).fit_transform(texts), dtype=np.float64)


def embeddings(report: Report, draws: int = 3) -> None:
    """Tf-idf, LSA and an encoder."""
    table(report, data.newsgroups20(), embedded_forms(data.newsgroups20().X), 5, draws)


def embedded_forms(X: sp.csr_matrix) -> Iterator[tuple[str, Any]]:
    """The rows of 20 Newsgroups, in float32 where they are embeddings, as encoders give them."""
    yield "tf-idf", X
    lsa = normalize(TruncatedSVD(COMPONENTS, random_state=0).fit_transform(X)).astype(np.float32)
    for name, rows in {"LSA": lsa, "MiniLM": data.loader().minilm()[0]}.items():
        yield name, rows
        yield f"tf-idf and {name}", sp.hstack([X, rows], format="csr")


SECTIONS = (recipe, embeddings)
