"""Scores of a semi-supervised and a supervised estimator by number of labels."""

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing, check_consistent_length, check_random_state

from fewlabel import _held_out
from fewlabel._inputs import _markers, _numbers, _targets
from fewlabel._inputs._soft import Soft
from fewlabel.inspection import _linear_model

_SIZES = [10, 20, 40, 80]  # numbers of labels where none are given
_TRIES = 1000  # at drawing labels until every class is among them


def plan(
    estimator: Any, X: Any, y: Any, n_labels: Any, n_draws: Any, test_size: Any, supervised: Any, random_state: Any
) -> tuple[list[int], list[_held_out.Fold], _targets.Targets]:
    """Numbers of labels, and two fits for each and for each draw. Parameters are those of `LearningCurveDisplay`."""
    n_draws = _numbers.check_count("n_draws", n_draws)
    if not isinstance(test_size, Real) or not 0 < float(test_size) < 1:
        raise ValueError(f"test_size must lie between 0 and 1, got {test_size!r}")
    marker = getattr(_linear_model.last(estimator), "unlabeled", "auto")
    if marker is None:
        raise ValueError("unlabeled=None means that all rows are labeled, so labels cannot be hidden")
    given = _targets.one_a_row(y, marker, _linear_model.tree(estimator))
    check_consistent_length(X, given.labeled)
    _held_out.refuse_one_class(given)
    marker = None if isinstance(marker, str) and marker == "auto" else marker

    labeled_rows_only = supervised is not None
    if supervised is None:
        supervised = _linear_model.supervised(estimator)
    folds: list[_held_out.Fold] = []
    n_train = len(given.values) - round(float(test_size) * len(given.values))
    sizes = _usual_sizes(n_train) if n_labels is None else _check_sizes(n_labels)
    random = check_random_state(random_state)
    for _ in range(n_draws):
        test, drawn = _draw(given, sizes, float(test_size), random)
        rows = np.setdiff1d(np.arange(len(given.labeled)), test)
        for size in sizes:
            labeled = np.sort(drawn[:size])
            known = _safe_indexing(_hidden(y, given, labeled, marker), rows)
            used, labels = (labeled, given.of(labeled)) if labeled_rows_only else (rows, known)
            folds += [_held_out.Fold(estimator, rows, known, test), _held_out.Fold(supervised, used, labels, test)]
    return sizes, folds, given


def _hidden(y: Any, given: _targets.Targets, labeled: np.ndarray, marker: Any) -> Any:
    """y with the labels of some rows only; sets and probabilities stay."""
    kept = given.weak
    kept[labeled] = True
    if isinstance(y, Soft):
        return Soft(sp.csr_array(y.probabilities).multiply(kept[:, None]), y.classes)
    found = _markers.column(y, "y").astype(object)
    found[~kept] = marker
    return found


def score(model: Any, rows: Any, test: Any, given: _targets.Targets, scoring: Any) -> Any:
    return check_scoring(model, scoring)(model, rows, given.of(test))


def _usual_sizes(n_train: int) -> list[int]:
    """Those of `_SIZES` that can be drawn among so many labels; all, to be refused, if none can."""
    return [size for size in _SIZES if size <= n_train] or _SIZES


def _check_sizes(n_labels: Any) -> list[int]:
    sizes: list[Any] = list(n_labels)
    if not sizes or not all(isinstance(n, Integral) for n in sizes) or min(sizes) < 1 or sorted(set(sizes)) != sizes:
        raise ValueError(f"n_labels must be integers above 0, each larger than the one before, got {n_labels!r}")
    return [int(n) for n in sizes]


def _draw(
    given: _targets.Targets, sizes: list[int], test_size: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Test rows and labeled training rows, with every class among the first sizes[0] of the latter."""
    pool, n_classes = np.flatnonzero(given.labeled), len(np.unique(given.values))
    n_test = round(test_size * len(pool))
    if n_test < 1 or len(pool) - n_test < sizes[-1]:
        raise ValueError(f"y has {len(pool)} labels, {n_test} for testing: {sizes[-1]} of n_labels cannot be drawn")
    for _ in range(_TRIES):
        order = random.permutation(pool)
        labeled = order[n_test : n_test + sizes[-1]]
        if len(np.unique(given.of(labeled[: sizes[0]]))) == n_classes:
            return order[:n_test], labeled
    raise ValueError(f"n_labels begins with {sizes[0]}, too few for all of the {n_classes} classes among them")
