"""Scores of a semi-supervised and a supervised estimator by number of labels."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing, check_consistent_length, check_random_state

from fewlabel import _progress
from fewlabel._inputs import _data, _labels, _numbers
from fewlabel.inspection import _linear_model

_TRIES = 1000  # at drawing labels until every class is among them


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
    n_draws = _numbers.check_count("n_draws", n_draws)
    if not isinstance(test_size, Real) or not 0 < float(test_size) < 1:
        raise ValueError(f"test_size must lie between 0 and 1, got {test_size!r}")
    marker = getattr(_linear_model.last(estimator), "unlabeled", "auto")
    if marker is None:
        raise ValueError("unlabeled=None means that all rows are labeled, so labels cannot be hidden")
    X, given = _data.admitted(X), _labels.read(y, marker)
    check_consistent_length(X, given.labeled)
    marker = None if isinstance(marker, str) and marker == "auto" else marker

    labeled_rows_only = supervised is not None
    if supervised is None:
        supervised = _linear_model.supervised(estimator)
    scores, supervised_scores = np.empty((2, len(sizes), n_draws))
    random = check_random_state(random_state)
    shown = max(map(_linear_model.verbosity, (estimator, supervised)))
    with _progress.several("learning curve", shown, 2 * n_draws * len(sizes)) as count:
        for draw in range(n_draws):
            test, drawn = _draw(given, sizes, float(test_size), random)
            rows = np.setdiff1d(np.arange(len(given.labeled)), test)
            X_test, truth = _safe_indexing(X, test), given.of(test)
            for k, size in enumerate(sizes):
                labeled = np.sort(drawn[:size])
                known = np.full(len(given.labeled), marker, dtype=object)
                known[labeled] = given.of(labeled)
                with_all = clone(estimator).fit(_safe_indexing(X, rows), known[rows])
                count()
                used, labels = (labeled, given.of(labeled)) if labeled_rows_only else (rows, known[rows])
                without = clone(supervised).fit(_safe_indexing(X, used), labels)
                count()
                scores[k, draw] = check_scoring(with_all, scoring)(with_all, X_test, truth)
                supervised_scores[k, draw] = check_scoring(without, scoring)(without, X_test, truth)
    return sizes, scores, supervised_scores


def _check_sizes(n_labels: Any) -> list[int]:
    sizes: list[Any] = list(n_labels)
    if not sizes or not all(isinstance(n, Integral) for n in sizes) or min(sizes) < 1 or sorted(set(sizes)) != sizes:
        raise ValueError(f"n_labels must be integers above 0, each larger than the one before, got {n_labels!r}")
    return [int(n) for n in sizes]


def _draw(
    given: _labels.Given, sizes: list[int], test_size: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Test rows and labeled training rows, with every class among the first sizes[0] of the latter."""
    pool, n_classes = np.flatnonzero(given.labeled), len(np.unique(given.values))
    n_test = round(test_size * len(pool))
    if n_test < 1 or len(pool) - n_test < sizes[-1]:
        raise ValueError(
            f"y has {len(pool)} labels, of which {n_test} are for testing: {sizes[-1]} of n_labels cannot be drawn"
        )
    for _ in range(_TRIES):
        order = random.permutation(pool)
        labeled = order[n_test : n_test + sizes[-1]]
        if len(np.unique(given.of(labeled[: sizes[0]]))) == n_classes:
            return order[:n_test], labeled
    raise ValueError(f"n_labels begins with {sizes[0]}, too few for all of the {n_classes} classes among them")
