"""Metrics and scorers."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.metrics import check_scoring, f1_score
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length

from fewlabel._docstrings import Shared, described_as
from fewlabel._inputs import _data, _markers, _targets

__all__ = ["labeled_scorer", "multilabel_f1_score", "positive_unlabeled_scores"]


@described_as(Shared)
def labeled_scorer(scoring: Any = None, *, unlabeled: Any = "auto") -> Callable[..., Any]:
    """Scorer that ignores unlabeled rows, which other scorers would treat as a class.

    For `cross_val_score`, `GridSearchCV` and similar functions with an ordinary splitter, whose test folds contain
    unlabeled rows. Of several labels a row, the rows that are known in all columns are scored.

    Parameters
    ----------
    scoring : str, callable, list, tuple, dict or None, default=None
        Metric, as in `cross_validate`: the name of a metric, a scorer, or several. None: the estimator's `score`.

    Returns
    -------
    scorer : callable
        As those of scikit-learn; a ValueError if no row is labeled.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from fewlabel.metrics import labeled_scorer
    >>> X, y = [[0], [0], [0], [0], [0], [0]], [0, 0, 0, 1, -1, -1]
    >>> labeled_scorer("accuracy")(DummyClassifier(strategy="constant", constant=0).fit(X, y), X, y)
    0.75
    """
    return _LabeledScorer(scoring, unlabeled)


@described_as(Shared)
def multilabel_f1_score(
    y_true: Any, y_pred: Any, *, average: Literal["macro", "micro"] | None = "macro", unlabeled: Any = "auto"
) -> Any:
    """F1 score of several labels a row, over the known entries.

    `sklearn.metrics.make_scorer(multilabel_f1_score)` is a scorer.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_rows, n_columns)
        True labels, 0 and 1, with markers for unknown entries.
    y_pred : array-like or sparse matrix of shape (n_rows, n_columns)
        Predictions, 0 and 1.
    average : {"macro", "micro"} or None, default="macro"
        "macro": mean of the scores of the columns; columns without a known entry are left out. "micro": one score of
        all entries. None: the score of each column, NaN for columns without a known entry.

    Returns
    -------
    score : float or ndarray of shape (n_columns,)
        Between 0 and 1; 0 for a column without a true or predicted 1. A ValueError if no entry is known.

    Examples
    --------
    >>> from fewlabel.metrics import multilabel_f1_score
    >>> multilabel_f1_score([[1, 0], [1, 1], [0, -1]], [[1, 0], [0, 1], [0, 1]], average=None)
    array([0.66666667, 1.        ])
    """
    if average not in ("macro", "micro", None):
        raise ValueError(f"average must be 'macro', 'micro' or None, got {average!r}")
    truth, predicted = _codes("y_true", y_true, unlabeled), _codes("y_pred", y_pred, None)
    if truth.shape != predicted.shape:
        raise ValueError(f"y_true has the shape {truth.shape}, y_pred {predicted.shape}")
    known = truth >= 0
    if not known.any():
        raise ValueError("y_true has no known entry: every one is a marker (see the parameter `unlabeled`)")
    # An entry of 0 in both changes no count that F1 depends on.
    truth, predicted, some = truth * known, predicted * known, known.any(axis=0)
    if average == "micro":
        return float(f1_score(truth, predicted, average="micro", zero_division=0))
    scores = np.where(some, f1_score(truth, predicted, average=None, zero_division=0), np.nan)
    return scores if average is None else float(scores[some].mean())


def _codes(name: str, y: Any, unlabeled: Any) -> np.ndarray:
    targets = _targets.read(y, unlabeled, name=name)
    if not isinstance(targets, _targets.Columns):
        raise ValueError(f"{name} must be a matrix of 0 and 1 with two or more columns")
    return targets.codes


class PositiveScores(NamedTuple):
    """Scores of the positive class where no other row has a label."""

    recall: float
    precision: float
    f1: float


@described_as(Shared)
def positive_unlabeled_scores(
    y_true: Any, y_pred: Any, *, share: float, pos_label: Any = 1, unlabeled: Any = "auto"
) -> PositiveScores:
    """Recall, precision and F1 of the positive class, from held-out positive labels and the class's share.

    Precision follows from recall: of the unlabeled rows, the part recall * share is positive and predicted so.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        The positive label for rows that were not in `fit`, or had no label there, and markers for the unlabeled rows.
        The positive rows must be a random sample of their class.
    y_pred : array-like of shape (n_rows,)
        Predictions for the same rows.
    share : float
        Share of the positive class among the unlabeled rows, between 0 and 1, such as that in `class_prior_`.
    pos_label : label, default=1
        The positive class.

    Returns
    -------
    scores : PositiveScores
        The fields `recall`, `precision` (at most 1; NaN if no unlabeled row is predicted positive) and `f1`, their
        harmonic mean. Precision is proportional to `share`, and has its error.

    References
    ----------
    Lee and Liu (ICML 2003): the performance of classifiers from positive and unlabeled rows.

    Examples
    --------
    >>> from fewlabel.metrics import positive_unlabeled_scores
    >>> scores = positive_unlabeled_scores([1, 1, -1, -1, -1, -1], [1, 1, 1, 0, 1, 0], share=0.4)
    >>> scores.recall, scores.precision
    (1.0, 0.8)
    """
    if not isinstance(share, Real) or not 0 < share < 1:
        raise ValueError(f"share must be above 0 and below 1, got {share!r}")
    given = _targets.plain(y_true, unlabeled, "y_true")
    predicted = _markers.column(_data.plain(y_pred, "y_pred"), "y_pred") == pos_label
    check_consistent_length(given.labeled, predicted)
    others = given.values[given.values != pos_label]
    if len(others) or not given.labeled.any() or given.labeled.all():
        raise ValueError(
            f"y_true must have the label {pos_label!r} on held-out rows and the marker on unlabeled rows, and no other "
            f"label: {given.labeled.sum()} of {len(predicted)} rows have a label"
            + (f", {others.tolist()[0]!r} among them" if len(others) else "")
        )
    recall, positive = float(predicted[given.labeled].mean()), float(predicted[~given.labeled].mean())
    if not positive:
        return PositiveScores(recall, float("nan"), 0.0)
    precision = min(1.0, recall * share / positive)
    both = recall + precision
    return PositiveScores(recall, precision, 2 * recall * precision / both if both else 0.0)


@dataclass(eq=False, repr=False)
class _LabeledScorer:
    """Result of `labeled_scorer`, which can be pickled."""

    scoring: Any
    unlabeled: Any

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, **parameters: Any) -> Any:
        model = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
        classes = getattr(model, "classes_", ()) if hasattr(model, "unlabeled") else ()  # others may count the marker
        marker = _markers.of_model(self.unlabeled, classes)
        rows, labels, weights = _targets.labeled_part(X, y, marker, sample_weight, columns=True)
        if weights is not None:
            parameters["sample_weight"] = weights
        return check_scoring(estimator, self.scoring)(estimator, rows, labels, **parameters)

    def __repr__(self) -> str:
        return f"labeled_scorer({self.scoring!r}, unlabeled={self.unlabeled!r})"
