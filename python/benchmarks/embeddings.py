"""Which rows suit a text: the parts of the recipe, embeddings, both; and embeddings beside what else one would do.

`recipe` adds the parts of the recipe one after the other, for two questions of 20 Newsgroups with 20 labels a class,
drawn at random. `both` has the groups of 20 Newsgroups with 5 and 20 labels a class: LSA stands for an encoder that
knows the subject, MiniLM for one that does not. Joined to words of unit length, embeddings have the length BESIDE: on
draws 100 and 101 of PART messages lengths of 0.25, 0.5 and 1 gave .705, .682 and .677 of macro F with 5 labels a class,
.786, .774 and .730 with 20, words alone .632 and .745. Learners are those of `quality`.

`equal` and `random` have embeddings by MiniLM with 1 to 20 labels a class. The strength of logistic regression is
chosen by cross-validation of the labels. Self-training has for each number of labels the threshold, of 0.15 to 0.9,
that was best on draws 100 and 101 of PART messages; label spreading the number of neighbors, 10 to 50, and alpha, 0.2
to 0.8, that were best there on average. These two take long: they have no fit of all messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC

from benchmarks import data, quality
from benchmarks.data import DataSet, Task
from benchmarks.measure import Report, quietly

LEARNERS = ("LinearSVC", "default", "true")
COMPONENTS = 200
PART = 4000  # messages
BESIDE = 0.25  # length of embeddings beside words
EXAMPLE = Path(__file__).parents[2] / "examples" / "embeddings.npz"
QUESTIONS = {"pc or mac": ("comp.sys.ibm.pc", "comp.sys.mac"), "rec or sci": ("rec.", "sci.")}
PARTS: dict[str, dict[str, Any]] = {
    "counts of words": {"token_pattern": "[a-z][a-z]+", "use_idf": False, "norm": None},
    "+ unit rows": {"norm": "l2"},
    "+ stop words out": {"stop_words": "english"},
    "+ rare, frequent words out": {"min_df": 2, "max_df": 0.2},
    "+ 1 + log count": {"sublinear_tf": True},
    "+ idf": {"use_idf": True},
}


def table(
    report: Report,
    rows: DataSet,
    forms: Iterable[tuple[str, Any]],
    per_class: int,
    draws: int,
    learners: tuple[str, ...] = LEARNERS,
) -> None:
    """Macro F of each learner on each form of the rows; labels and test do not depend on the form."""
    for form, X in forms:
        drawn = [data.draw(replace(rows, X=X), per_class, "random", seed) for seed in range(draws)]
        for learner in learners:
            found = [quality.fit(task, learner) for task in drawn]
            error, spent = (np.mean([one[name] for one in found]) for name in ("error", "seconds"))
            note = f"error {error:.1f} %, {spent:.1f} s"
            report.add(
                f"{rows.name}, {per_class} a class, {form}: {learner}, macro F", [one["F"] for one in found], note=note
            )


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


def both(report: Report, draws: int = 3) -> None:
    """Tf-idf, LSA, an encoder, and tf-idf beside the encoder; of all messages and of fewer."""
    whole = data.newsgroups20()
    for kept in (np.arange(len(whole.y)), part_of(whole)):
        rows = replace(data.some_rows(whole, kept), name=f"{len(kept)} messages")
        for per_class in (5, 20):
            table(report, rows, embedded_forms(rows.X, kept), per_class, draws, LEARNERS[:2])


def part_of(rows: DataSet) -> np.ndarray:
    """The numbers of PART messages, ascending."""
    return np.sort(np.random.default_rng((0, 6)).permutation(len(rows.y))[:PART])


def embedded_forms(X: sp.csr_matrix, kept: np.ndarray) -> Iterator[tuple[str, Any]]:
    """These messages, in float32 where they are embeddings, as encoders give them."""
    yield "tf-idf", X
    yield "LSA", normalize(TruncatedSVD(COMPONENTS, random_state=0).fit_transform(X)).astype(np.float32)
    rows = data.loader().minilm()[0][kept]
    yield "MiniLM", rows
    yield f"tf-idf and {BESIDE} MiniLM", sp.hstack([X, BESIDE * rows], format="csr")


# ------------------------------------------------------------------ an encoder, and what else one would do
THRESHOLDS = {1: 0.9, 2: 0.15, 5: 0.3, 10: 0.3, 20: 0.5}  # of self-training, by labels a class
NEAR = 0.005  # of macro F
FAST = ("default", "smooth", "logistic regression", "LinearSVC")
SLOW = ("self-training", "LabelSpreading")


def equal(report: Report, draws: int = 5) -> None:
    """As many labels of each class."""
    encoder(report, draws, "equal")


def random(report: Report, draws: int = 5) -> None:
    """Labels of rows drawn at random, as many as classes times labels."""
    encoder(report, draws, "random")


def encoder(report: Report, draws: int, sampling: str) -> None:
    """Macro F beside the best of the others."""
    for k in THRESHOLDS:
        ahead = []
        for rows, learners in encoded():
            drawn = [data.draw(rows, k, sampling, seed) for seed in range(draws)]
            F = {one: np.mean([encoded_F(task, one, k) for task in drawn]) for one in learners}
            ahead.append(F["default"] - max(F[one] for one in learners[2:]))
            note = ", ".join(f"{one} {value:.3f}" for one, value in F.items() if one != "default")
            report.add(f"{rows.name}, {k} labels a class, {sampling}: default", F["default"], note=note)
        behind = f"more than {NEAR} behind in {sum(one < -NEAR for one in ahead)} of {len(ahead)}"
        report.add(f"{k} labels a class, {sampling}: default - best of the others", ahead, note=behind)


def encoded() -> Iterator[tuple[DataSet, tuple[str, ...]]]:
    """Sets, and who learns them."""
    whole = replace(data.minilm(), name="20 Newsgroups")
    yield whole, FAST
    yield replace(data.some_rows(whole, part_of(whole)), name=f"20 Newsgroups, {PART} messages"), FAST + SLOW
    for part in ("comp.", "sci."):
        kept = np.flatnonzero(np.char.startswith(whole.classes[whole.y], part))
        yield data.data_set(f"20 Newsgroups, {part}*", whole.X[kept], whole.classes[whole.y[kept]]), FAST + SLOW
    with np.load(EXAMPLE) as file:
        yield data.data_set("SciPy", normalize(file["rows"].astype(np.float32)), file["topic"]), FAST + SLOW


def encoded_F(task: Task, name: str, k: int) -> float:
    """Macro F of a learner; "smooth" is the default on rows with their neighbors, as the page has it."""
    if name == "smooth":
        task = replace(task, X=smooth(task.X, task.X), X_test=smooth(task.X_test, task.X))
    rows = ~task.unlabeled if name in FAST[2:] else np.full(len(task.y), True)
    model = quietly(encoded_learner(task, name, k), task.X[rows], task.given[rows])
    return quality.scores(task, model.predict(task.X_test))["F"]


def smooth(rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Rows plus the mean of their ten nearest known rows."""
    near = NearestNeighbors(n_neighbors=10).fit(known).kneighbors_graph(rows)
    return normalize(rows + normalize(near @ known)).astype(np.float32)


def encoded_learner(task: Task, name: str, k: int) -> Any:
    """The estimator of a name, not fitted."""
    from fewlabel import TransductiveSVC

    return {
        "default": TransductiveSVC(n_jobs=1),
        "smooth": TransductiveSVC(n_jobs=1),
        "logistic regression": tuned(task, LogisticRegression(max_iter=1000)),
        "LinearSVC": LinearSVC(),
        "self-training": SelfTrainingClassifier(LogisticRegression(C=10, max_iter=1000), threshold=THRESHOLDS[k]),
        "LabelSpreading": LabelSpreading("knn", n_neighbors=20, alpha=0.2, max_iter=100),
    }[name]


def tuned(task: Task, estimator: Any) -> Any:
    """Its strength chosen by cross-validation of the labeled rows, if there are two of a class."""
    folds = min(quality.FOLDS, int(np.bincount(task.y[~task.unlabeled]).max()))
    strengths = {"C": [10, 1, 100, 0.1]}  # the first of equals is taken
    if folds == 1:
        return estimator.set_params(C=strengths["C"][0])
    return GridSearchCV(estimator, strengths, scoring="f1_macro", cv=folds)


SECTIONS = (recipe, both, equal, random)
