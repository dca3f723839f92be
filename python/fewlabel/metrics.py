"""Metrics and scorers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import column_or_1d

from fewlabel._inputs import _labels

__all__ = ["labeled_scorer", "precision_recall_breakeven"]


def labeled_scorer(scoring: Any = None, *, unlabeled: Any = "auto") -> Callable[..., Any]:
    """Scorer that ignores unlabeled rows, which other scorers would treat as a class.

    For `cross_val_score`, `GridSearchCV` and similar functions with an ordinary splitter, whose test folds contain
    unlabeled rows; those of `fewlabel.model_selection.SemiSupervisedSplit` do not. Numeric labels in an object array,
    for example beside None, are scored as numbers.

    Parameters
    ----------
    scoring : str, callable, list, tuple, dict or None, default=None
        Metric, as in `cross_validate`: the name of a metric, a scorer, or several. None: the estimator's `score`.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`, as in the estimator.

    Returns
    -------
    scorer : callable
        Called with an estimator, X, y and, if the metric supports it, `sample_weight`. It returns a float, or a dict
        from name to float for several metrics, and raises a ValueError if no row is labeled.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from fewlabel.metrics import labeled_scorer
    >>> X, y = np.zeros((6, 1)), np.array([0, 0, 0, 1, -1, -1])
    >>> model = DummyClassifier(strategy="constant", constant=0).fit(X, y)
    >>> model.score(X, y), labeled_scorer("accuracy")(model, X, y)
    (0.5, 0.75)
    """
    return _LabeledScorer(scoring, unlabeled)


def precision_recall_breakeven(y_true: Any, y_score: Any, *, pos_label: Any = None) -> float:
    """Precision/recall break-even point of a ranking (Joachims 1998, 1999).

    The share of positive rows among the n rows with the highest scores, where n is the number of positive rows: there,
    precision and recall are equal. If tied scores straddle this cut, the mean over all orders of the ties is used.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels, two values.
    y_score : array-like of shape (n_rows,)
        Scores, as from `decision_function`; higher means more positive. Finite.
    pos_label : label or None, default=None
        The positive class. None: the larger of {0, 1}, {-1, 1} or {False, True}.

    Returns
    -------
    breakeven : float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If no row is positive, if scores are not finite, or if `pos_label` is needed and not given.

    Examples
    --------
    >>> from fewlabel.metrics import precision_recall_breakeven
    >>> precision_recall_breakeven([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    0.5
    """
    truth, scores = column_or_1d(y_true), column_or_1d(y_score).astype(np.float64)
    check_consistent_length(truth, scores)
    if not np.isfinite(scores).all():
        raise ValueError("y_score must be finite")
    positive = truth == (_positive_label(truth) if pos_label is None else pos_label)
    wanted = int(positive.sum())
    if wanted == 0:
        raise ValueError("y_true has no positive row: precision and recall have no break-even point")
    cut = np.sort(scores)[-wanted]
    above, tied = scores > cut, scores == cut
    hits = positive[above].sum() + (wanted - above.sum()) * positive[tied].mean()
    return float(hits / wanted)


def _positive_label(truth: np.ndarray) -> int:
    values = set(np.unique(truth).tolist())
    if values <= {0, 1} or values <= {-1, 1}:
        return 1
    raise ValueError(f"y_true has the labels {sorted(values)[:6]}: set pos_label to the positive one")


@dataclass(eq=False, repr=False)
class _LabeledScorer:
    """Result of `labeled_scorer`: an object instead of a closure, so that it can be pickled."""

    scoring: Any
    unlabeled: Any

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, **parameters: Any) -> Any:
        rows, labels, weights = _labels.labeled_part(X, y, self.unlabeled, sample_weight)
        if weights is not None:
            parameters["sample_weight"] = weights
        return check_scoring(estimator, self.scoring)(estimator, rows, labels, **parameters)

    def __repr__(self) -> str:
        return f"labeled_scorer({self.scoring!r}, unlabeled={self.unlabeled!r})"
