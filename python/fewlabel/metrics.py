"""Measures of what a classifier is worth."""

from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import column_or_1d

__all__ = ["precision_recall_breakeven"]


def precision_recall_breakeven(y_true: Any, y_score: Any, *, pos_label: Any = None) -> float:
    """Precision/recall break-even point of a ranking, the measure of Joachims (1998, 1999).

    Take as many of the highest scores as there are positive rows, P of them: then precision and recall are both the
    share of positive rows among those taken, TP / P. If equal scores straddle that cut, its value is the mean over all
    orders of the equal ones.

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

    References
    ----------
    T. Joachims. Transductive Inference for Text Classification using Support Vector Machines. ICML 1999.

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
    positive = truth == _positive_label(truth, pos_label)
    wanted = int(positive.sum())
    if wanted == 0:
        raise ValueError("y_true has no positive row: precision and recall have no break-even point")
    cut = np.sort(scores)[-wanted]
    above, tied = scores > cut, scores == cut
    hits = positive[above].sum() + (wanted - above.sum()) * positive[tied].mean()
    return float(hits / wanted)


def _positive_label(truth: np.ndarray, pos_label: Any) -> Any:
    if pos_label is not None:
        return pos_label
    values = set(np.unique(truth).tolist())
    if values <= {0, 1} or values <= {-1, 1}:
        return 1
    raise ValueError(f"y_true has the labels {sorted(values)[:6]}: say by pos_label which one is positive")
