"""What each part of the text recipe gives, beside what the choice of the solver gives: two questions of 20 Newsgroups.

The parts are added one after the other. Every learner has the class share ("labels only" has its threshold moved to
it), and each combination has the strength of regularization, of `ALPHAS`, that suits it best on the test: no recipe
loses because the default was meant for another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks import corpora, learners, recipe, tasks
from benchmarks.learners import Outcome
from benchmarks.report import Report
from benchmarks.tasks import Task

DRAWS = 3
N_LABELS = 40
ALPHAS = (1e-3, 1e-2, 1e-1, 1.0)
QUESTIONS = {
    "PC or Mac": ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"),
    "rec or sci": ("rec.", "sci."),
}

BARE: dict[str, Any] = {"token_pattern": "[a-z][a-z]+", "use_idf": False, "norm": None}
PARTS: dict[str, dict[str, Any]] = {
    "counts of words": {},
    "+ unit rows": {"norm": "l2"},
    "+ stop words out": {"stop_words": "english"},
    "+ rare, frequent words out": {"min_df": 2, "max_df": 0.2},
    "+ 1 + log count": {"sublinear_tf": True},
    "+ idf": {"use_idf": True},
}
LEARNERS: dict[str, tuple[Callable[[Task, float], Outcome], tuple[float, ...]]] = {
    # Two strengths will do: the error hardly depends on it, and LinearSVC takes minutes for counts at a small one.
    "labels only": (learners.moved_thresholds, ALPHAS[2:]),
    "switching": (lambda task, alpha: learners.transductive(task, method="switching", alpha=alpha), ALPHAS),
    "annealing": (lambda task, alpha: learners.transductive(task, method="annealing", alpha=alpha), ALPHAS),
}


def vectorizers() -> dict[str, TfidfVectorizer]:
    """The recipe with one part, two parts, ..., all of them; the last is that of every benchmark."""
    made, settings = {}, dict(BARE)
    for part, added in PARTS.items():
        settings |= added
        made[part] = TfidfVectorizer(**settings)
    return made


def texts(pair: tuple[str, str]) -> tuple[list[str], np.ndarray]:
    """Messages of two groups, or of two families of groups, and whether each is of the first."""
    all_messages = zip(*corpora.loader().newsgroups20("all"), strict=True)
    chosen = [
        (recipe.subject_and_body(m), group.startswith(pair[0])) for m, group in all_messages if group.startswith(pair)
    ]
    return [m for m, _ in chosen], np.array([first for _, first in chosen], dtype=np.int64)


def recipes(report: Report, draws: int = DRAWS) -> None:
    """The table of test errors, question by question and recipe by recipe."""
    for question, pair in QUESTIONS.items():
        messages, y = texts(pair)
        for part, vectorizer in vectorizers().items():
            X = sp.csr_matrix(vectorizer.fit_transform(messages), dtype=np.float64)
            drawn = [tasks.held_out(question, X, y, N_LABELS, seed) for seed in range(draws)]
            for learner in LEARNERS:
                measure(report, question, part, learner, drawn)


def measure(report: Report, question: str, part: str, learner: str, drawn: list[Task]) -> None:
    """The row of a learner: mean test error at the alpha that suits it best."""
    fit, alphas = LEARNERS[learner]
    errors = {alpha: [fit(task, alpha).error for task in drawn] for alpha in alphas}
    best = min(alphas, key=lambda alpha: np.mean(errors[alpha]))
    note = f"alpha {best:g}; {min(errors[best]):.1f} ... {max(errors[best]):.1f}"
    what = f"recipe, {question}, {part}: {learner}, test error"
    report.fact(what, float(np.mean(errors[best])), " %", note, errors[best])
    report.keep(f"recipe, {question}, {learner}", part, errors[best])


SECTIONS = (recipes,)
