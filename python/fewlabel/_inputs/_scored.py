"""Rows that have one certain label, for scores."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing, check_consistent_length

from fewlabel._inputs import _data, _targets, _weights


def labeled_part(
    X: Any, y: Any, unlabeled: Any, sample_weight: Any = None, groups: Iterable[Any] = (), *, columns: bool = False
) -> tuple[Any, np.ndarray, Any]:
    """The rows with a label that is none of `groups`, their labels and their weights, for a score.

    Several labels a row, of which all are known, are labels if `columns`, and refused otherwise.
    """
    targets = (_targets.read if columns else _targets.one_a_row)(y, unlabeled)
    if isinstance(targets, _targets.Columns):
        labeled = targets.codes.min(axis=1) >= 0
        values = targets.codes[labeled]
    else:
        targets = targets.without(groups)
        labeled, values = targets.labeled, targets.values
    check_consistent_length(X, labeled, sample_weight)
    X, weights = _data.admitted(X), _weights.read(sample_weight, len(labeled))
    if not labeled.any():
        raise ValueError(
            "no row to score: every label in y is a marker of unlabeled rows (see the parameter `unlabeled`). Split by "
            "SemiSupervisedSplit, which tests labeled rows only"
        )
    if labeled.all():
        return X, values, weights
    rows = np.flatnonzero(labeled)
    X = _safe_indexing(X.tocsr() if sp.issparse(X) else X, rows)  # a matrix of coordinates has no rows to take
    return X, values, None if weights is None else weights[rows]
