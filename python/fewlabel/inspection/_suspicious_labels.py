"""Labels that contradict the predictions of models fitted without them."""

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from fewlabel import _held_out
from fewlabel._inputs import _data, _markers, _numbers, _targets
from fewlabel.inspection import _linear_model, _table


@dataclass(frozen=True, eq=False, repr=False)
class SuspiciousLabels(_table.Table):
    """Suspicious labels, the largest contradiction first."""

    rows: np.ndarray  #: (n,) numbers of the rows
    given: np.ndarray  #: (n,) their labels
    predicted: np.ndarray  #: (n,) predicted labels
    margins: np.ndarray  #: (n,) by how much the score of the predicted class is above that of the given one

    def _columns(self) -> dict[str, list[Any]]:
        return {name.removesuffix("s"): values.tolist() for name, values in vars(self).items()}


def suspicious_labels(
    model: Any, X: Any, y: Any, *, margin: float = 0.5, cv: int | None = 10, n_jobs: int | None = None, verbose: int = 1
) -> SuspiciousLabels:
    """Find labels that may be wrong.

    Each label is compared with the prediction of a clone that was fitted without it, if it is not the only one of its
    class. The largest contradiction comes first.

    Parameters
    ----------
    model : classifier, pipeline or search
        Fitted, preferably on these rows.
    X, y : as in `check`
    margin : float, default=0.5
        A label is suspicious if the score of another class exceeds the score of its own class by at least this value.
    cv : int or None, default=10
        Number of folds. None: the predictions of the model itself, for labels that it was not fitted on.
    n_jobs, verbose : as in `check`
    """
    if not _numbers.is_real(margin) or not np.isfinite(_numbers.as_float(margin)):
        raise ValueError(f"margin must be a finite number, got {_numbers.shown(margin)}")
    margin = float(margin)
    _data.check_order(X=X, y=y)
    model = getattr(model, "best_estimator_", model)
    classifier, X = _linear_model.final(model), _data.admitted(X)
    marker = _markers.of_model(getattr(classifier, "unlabeled", "auto"), classifier.classes_)
    given = _targets.one_a_row(y, marker, _linear_model.tree(classifier))
    _data.check_lengths(X, given.labeled)
    if not given.labeled.any():
        raise ValueError("y has no labeled row")
    classes, labeled = classifier.classes_, np.flatnonzero(given.labeled)
    own = np.array([_linear_model.class_number(classifier, label, "a label in y") for label in given.values.tolist()])
    if cv is None:
        tested = np.arange(len(labeled))
        scores = _linear_model.class_scores(classifier, _linear_model.rows_of(model, _safe_indexing(X, labeled)))
    else:
        tested, parts = _parts(own, cv)
        tests = [labeled[tested[hidden]] for hidden in parts]
        rest = [np.setdiff1d(np.arange(len(given.labeled)), test) for test in tests]
        kept = zip(rest, tests, strict=True)
        folds = [_held_out.Fold(model, rows, _safe_indexing(y, rows), test) for rows, test in kept]
        measure = partial(_blind_scores, classes=classes)
        scores = np.empty((len(tested), len(classes)))
        found = _held_out.measured("suspicious labels", folds, X, measure, n_jobs, verbose)
        for hidden, each in zip(parts, found, strict=True):
            scores[hidden] = each
    rows, own = labeled[tested], own[tested]
    own_scores = np.take_along_axis(scores, own[:, None], axis=1)[:, 0]
    np.put_along_axis(scores, own[:, None], -np.inf, axis=1)
    margins = scores.max(axis=1) - own_scores
    order = np.argsort(-margins, kind="stable")
    order = order[margins[order] >= margin]
    return SuspiciousLabels(rows[order], classes[own[order]], classes[scores.argmax(axis=1)[order]], margins[order])


def _parts(own: np.ndarray, parts: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """The labels that can be tested, and the parts of these that are hidden together."""
    parts = _numbers.check_count("cv", parts, least=2, otherwise=", or None")
    counts = np.bincount(own)
    tested = np.flatnonzero(counts[own] > 1)  # without its only label a class would be gone
    if not tested.size:
        raise ValueError("every class has one labeled row only: none can be hidden")
    folds = StratifiedKFold(min(parts, int(counts.max())), shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return tested, [hidden for _, hidden in folds.split(tested, own[tested])]


def _blind_scores(model: Any, X: Any, test: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Scores (n_test, n_classes) of rows by a model that has not seen them; -inf where it has no such class."""
    classifier, rows = _linear_model.final(model), _linear_model.rows_of(model, X)
    scores = np.full((len(test), len(classes)), -np.inf)
    scores[:, np.searchsorted(classes, classifier.classes_)] = _linear_model.class_scores(classifier, rows)
    return scores
