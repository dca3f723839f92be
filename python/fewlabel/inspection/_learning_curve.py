"""Scores by the number of labels, of a semi-supervised estimator and of a supervised one."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_consistent_length, check_random_state

from fewlabel._inputs import _labels

_TRIES = 1000  # at drawing labels until every class is among them


class Task(NamedTuple):
    """One fit and its test: row numbers."""

    rows: np.ndarray  # (n,) to learn from
    labeled: np.ndarray  # (m,) those of them whose labels are told
    test: np.ndarray  # (t,) to score


def compute(
    estimator: Any,
    X: Any,
    y: Any,
    n_labels: Any,
    n_draws: Any,
    test_size: Any,
    supervised: Any,
    scoring: Any,
    random_state: Any,
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Numbers of labels, and scores (n_sizes, n_draws) of both. The parameters are those of `LearningCurveDisplay`."""
    sizes = _check_sizes(n_labels)
    if not isinstance(n_draws, Integral) or isinstance(n_draws, bool) or n_draws < 1:
        raise ValueError(f"n_draws must be an integer of at least 1, got {n_draws!r}")
    if not isinstance(test_size, Real) or not 0 < float(test_size) < 1:
        raise ValueError(f"test_size must lie between 0 and 1, got {test_size!r}")
    marker = getattr(final(estimator), "unlabeled", "auto")
    if marker is None:
        raise ValueError("unlabeled=None says that all rows are labeled: labels could not be hidden")
    given = _labels.read(y, marker)
    check_consistent_length(X, given.labeled)
    marker = None if isinstance(marker, str) and marker == "auto" else marker

    def score(model: Any, task: Task, labels: np.ndarray) -> float:
        fitted = clone(model).fit(_safe_indexing(X, task.rows), labels)
        truth = _labels_of(given, task.test)
        return float(check_scoring(fitted, scoring)(fitted, _safe_indexing(X, task.test), truth))

    def with_all_rows(model: Any, task: Task) -> float:
        known = np.full(len(given.labeled), marker, dtype=object)
        known[task.labeled] = _labels_of(given, task.labeled)
        return score(model, task, known[task.rows])

    def with_labeled_rows(model: Any, task: Task) -> float:
        return score(model, task._replace(rows=task.labeled), _labels_of(given, task.labeled))

    beside: Callable[[Any, Task], float] = with_labeled_rows
    if supervised is None:
        supervised, beside = clone(estimator), with_all_rows
        final(supervised).set_params(unlabeled_weight=0)
    scores, supervised_scores = np.empty((2, len(sizes), int(n_draws)))
    random = check_random_state(random_state)
    for draw in range(int(n_draws)):
        test, labeled = _draw(given, sizes, float(test_size), random)
        rows = np.setdiff1d(np.arange(len(given.labeled)), test)
        for k, size in enumerate(sizes):
            task = Task(rows, np.sort(labeled[:size]), test)
            scores[k, draw] = with_all_rows(estimator, task)
            supervised_scores[k, draw] = beside(supervised, task)
    return sizes, scores, supervised_scores


def final(estimator: Any) -> Any:
    """The last step of a pipeline, of a search what it found, or the estimator itself."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _check_sizes(n_labels: Any) -> list[int]:
    sizes: list[Any] = list(n_labels)
    if not sizes or not all(isinstance(n, Integral) for n in sizes) or min(sizes) < 1 or sorted(set(sizes)) != sizes:
        raise ValueError(f"n_labels must be integers above 0, each larger than the one before, got {n_labels!r}")
    return [int(n) for n in sizes]


def _labels_of(given: _labels.Given, rows: np.ndarray) -> np.ndarray:
    """Labels of labeled rows."""
    return given.values[np.searchsorted(np.flatnonzero(given.labeled), rows)]


def _draw(
    given: _labels.Given, sizes: list[int], test_size: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to test, and rows whose labels are told, every class among the first sizes[0]."""
    pool, n_classes = np.flatnonzero(given.labeled), len(np.unique(given.values))
    n_test = round(test_size * len(pool))
    if n_test < 1 or len(pool) - n_test < sizes[-1]:
        raise ValueError(
            f"y has {len(pool)} labels, of which {n_test} are for testing: {sizes[-1]} of n_labels cannot be drawn"
        )
    for _ in range(_TRIES):
        order = random.permutation(pool)
        labeled = order[n_test : n_test + sizes[-1]]
        if len(np.unique(_labels_of(given, labeled[: sizes[0]]))) == n_classes:
            return order[:n_test], labeled
    raise ValueError(f"n_labels begins with {sizes[0]}, too few to have all of the {n_classes} classes among them")
