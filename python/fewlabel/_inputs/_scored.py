"""Rows that have one certain label, for scores."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing, check_consistent_length

from fewlabel._inputs import _data, _targets


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
    if not labeled.any():
        raise ValueError(
            "no row to score: every label in y is a marker of unlabeled rows (see the parameter `unlabeled`). Split by "
            "SemiSupervisedSplit, which tests labeled rows only"
        )
    if labeled.all():
        return X, values, sample_weight
    rows = np.flatnonzero(labeled)
    X = _data.admitted(X)  # of any kind: a matrix of coordinates, for example, has no rows to take
    weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
    return _safe_indexing(X.tocsr() if sp.issparse(X) else X, rows), values, weights
