"""Choosing parameters when most rows have no label: splits for cross-validation."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold
from sklearn.utils import indexable

from fewlabel._inputs import _labels

__all__ = ["SemiSupervisedSplit"]


class SemiSupervisedSplit(BaseCrossValidator):
    """Cross-validation over the labeled rows; every unlabeled row is in each training part and in no test part.

    For `cross_val_score`, `GridSearchCV` and whatever else takes `cv`. An ordinary splitter hides unlabeled rows from
    training and tests on them, where most scores count the markers as a class.

    Parameters
    ----------
    cv : int or splitter, default=5
        What splits the labeled rows. An int: that many folds of `StratifiedKFold`, in the order of the rows. A
        splitter, such as `StratifiedShuffleSplit(10, test_size=0.2)` or `GroupKFold()`: it gets the labels and groups
        of the labeled rows, and in place of X an array of zeros of that length.
    unlabeled : "auto", None or a label, default="auto"
        What marks an unlabeled row in `y`, as in the estimator.

    Notes
    -----
    Test parts have the labels as they stand in `y`. The classifiers' own `score` takes numbers in an object array, as
    in [0, 1, None]; scikit-learn's scores do not: use `fewlabel.metrics.labeled_scorer` for these.

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel.model_selection import SemiSupervisedSplit
    >>> y = np.array([0, 1, 0, 1, -1, -1])
    >>> for train, test in SemiSupervisedSplit(2).split(np.zeros((6, 1)), y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 4 5] [2 3]
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012 (scikit-learn looks for this form)

    def __init__(self, cv: Any = 5, *, unlabeled: Any = "auto") -> None:
        self.cv = cv
        self.unlabeled = unlabeled

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Pairs of training and test rows.

        Parameters
        ----------
        X : array-like of length n_rows
            Rows; only their number is looked at.
        y : array-like of shape (n_rows,)
            Labels, with markers for the rows without one.
        groups : array-like of shape (n_rows,) or None, default=None
            Group of each row, for a splitter that keeps groups together; those of unlabeled rows do not count.

        Yields
        ------
        train : ndarray of shape (n_train,), int
            Numbers of the rows to learn from, in order: the unlabeled ones and the labeled ones of this split.
        test : ndarray of shape (n_test,), int
            Numbers of the rows to score, as the splitter gives them: labeled ones only.

        Raises
        ------
        ValueError
            If no row is labeled, or an int `cv` is more than there are labeled rows of any class, or a class has one
            labeled row only, which cannot be in training and in a test.
        """
        if y is None:
            raise ValueError("y is None: the labels tell which rows can be tested")
        indexable(X, y, groups)
        given = _labels.read(y, self.unlabeled)
        labeled, unlabeled = np.flatnonzero(given.labeled), np.flatnonzero(~given.labeled)
        if not labeled.size:
            raise ValueError("y has no labeled row, so nothing can be tested (see the parameter `unlabeled`)")
        if _is_folds(self.cv):
            _refuse_scarce_classes(given.values, self.cv)
        groups = None if groups is None else np.asarray(groups)[labeled]
        for train, test in self._inner().split(np.zeros((len(labeled), 1)), given.values, groups):
            yield np.sort(np.concatenate([labeled[train], unlabeled])), labeled[test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of pairs that `split` gives.

        Parameters
        ----------
        X : object, default=None
            Not looked at.
        y : array-like of shape (n_rows,) or None, default=None
            Labels with markers; only some splitters, such as `LeaveOneOut`, need them here.
        groups : array-like of shape (n_rows,) or None, default=None
            Groups; only some splitters, such as `LeaveOneGroupOut`, need them (and y) here.

        Returns
        -------
        n_splits : int
            At least 1.
        """
        if y is None:
            return int(self._inner().get_n_splits())
        given = _labels.read(y, self.unlabeled)
        groups = None if groups is None else np.asarray(groups)[given.labeled]
        return int(self._inner().get_n_splits(np.zeros((len(given.values), 1)), given.values, groups))

    def _inner(self) -> Any:
        if _is_folds(self.cv):
            return StratifiedKFold(int(self.cv))
        if not hasattr(self.cv, "split") or isinstance(self.cv, str):
            raise TypeError(f"cv must be an integer or a splitter with a method `split`, got {self.cv!r}")
        if isinstance(self.cv, SemiSupervisedSplit):
            raise TypeError(f"cv is a SemiSupervisedSplit already: {self.cv!r}")
        return self.cv


def _is_folds(cv: Any) -> bool:
    return isinstance(cv, Integral) and not isinstance(cv, bool)


def _refuse_scarce_classes(labels: np.ndarray, folds: int) -> None:
    """Folds need two labeled rows of each class, and of one class as many as there are folds."""
    classes, counts = np.unique(labels, return_counts=True)
    if counts.max() < folds:
        raise ValueError(
            f"cv={folds} is more than the labeled rows of any class (at most {counts.max()}): take fewer folds, or a "
            "splitter that draws, such as StratifiedShuffleSplit"
        )
    alone = classes[counts == 1]
    if alone.size:
        raise ValueError(
            f"one labeled row only: class {_labels.listed(alone)}. Every class needs two, one to learn from and one to "
            "test: label another one, or leave the class out"
        )
