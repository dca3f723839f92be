"""Rows that have one certain label, for tests and inspection."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing, check_consistent_length

from fewlabel._inputs import _data, _indicator, _labels


def one_a_row(y: Any, unlabeled: Any, hierarchy: Any = None) -> _labels.Given:
    """Labels of one class a row; rows of a set, a group of a class tree or probabilities have none."""
    if _indicator.read(y, unlabeled) is not None:
        refuse_columns()
    return _labels.with_groups(_labels.read(y, unlabeled, weak=True), hierarchy)


def refuse_columns() -> None:
    """Raise the ValueError for several labels a row."""
    raise ValueError("y has several labels a row, which are not supported here: give one column of y at a time")


def refuse_several(codes: np.ndarray | None) -> None:
    """Raise the same for a matrix (n, k) of 0, 1 and -1 (unknown) that holds no class of each row."""
    if codes is not None and ((codes < 0).any() or (codes.sum(axis=1) > 1).any()):
        refuse_columns()


def labeled_part(
    X: Any, y: Any, unlabeled: Any, sample_weight: Any = None, groups: Iterable[Any] = (), *, columns: bool = False
) -> tuple[Any, np.ndarray, Any]:
    """The rows with a label that is none of `groups`, their labels and their weights, for a score.

    A matrix of 0, 1 and markers has several labels a row if `columns`, or else probabilities.
    """
    codes = _indicator.read(y, unlabeled)
    if not columns:
        refuse_several(codes)
    if columns and codes is not None:
        known = codes.min(axis=1) >= 0
        given = _labels.Given(codes[known], known, np.zeros(len(known), dtype=bool), False)
    else:
        given = _labels.read(y, unlabeled, weak=True)
    given = with_one_class(given, groups)
    check_consistent_length(X, given.labeled, sample_weight)
    if not given.labeled.any():
        raise ValueError(
            "no row to score: every label in y is a marker of unlabeled rows (see the parameter `unlabeled`). Split by "
            "SemiSupervisedSplit, which tests labeled rows only"
        )
    if given.labeled.all():
        return X, given.values, sample_weight
    rows = np.flatnonzero(given.labeled)
    weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
    return rows_at(X, rows), given.values, weights


def rows_at(X: Any, rows: Any) -> Any:
    """Some rows of X, of any kind: a matrix of coordinates, for example, has no rows to take."""
    X = _data.admitted(X)
    return _safe_indexing(X.tocsr() if sp.issparse(X) else X, rows)


def with_one_class(given: _labels.Given, groups: Iterable[Any]) -> _labels.Given:
    """The labels that are none of `groups`."""
    if not (groups := set(groups)):
        return given
    one, labeled = np.array([name not in groups for name in given.values.tolist()], bool), given.labeled.copy()
    labeled[labeled] = one
    return given._replace(values=given.values[one], labeled=labeled)
