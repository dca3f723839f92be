"""Cross-validation for partly labeled data."""

from collections.abc import Iterator
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import column_or_1d

from fewlabel import _held_out
from fewlabel._compat import BaseCrossValidator
from fewlabel._inputs import _data, _numbers, _targets
from fewlabel._inputs._markers import listed, warn_of_names

__all__ = ["SemiSupervisedSplit", "held_out_probabilities"]


class SemiSupervisedSplit(BaseCrossValidator):
    """Cross-validation over the labeled rows. Unlabeled rows are in every training set and in no test set.

    For `cross_val_score`, `GridSearchCV` and every other function with a parameter `cv`. Most metrics would count the
    marker as a class.

    Parameters
    ----------
    cv : int or splitter, default=5
        How the labeled rows are split. An int: number of folds of `StratifiedKFold`, in the order of the rows. A
        splitter, such as `StratifiedShuffleSplit(10, test_size=0.2)` or `GroupKFold()`, is called with the labels and
        groups of the labeled rows, and with an array of zeros in place of X.
    unlabeled : as in `TransductiveSVC`

    Notes
    -----
    scikit-learn's metrics refuse numbers beside None, as in [0, 1, None]; `fewlabel.metrics.labeled_scorer` does not.

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
            Rows; only their number is used.
        y : array-like of shape (n_rows,) or (n_rows, n_columns)
            Labels and markers. Of several labels a row, rows with a known entry are labeled, and folds are `KFold`'s.
        groups : array-like of shape (n_rows,) or None, default=None
            Group of each row, for a splitter that uses groups. Groups of unlabeled rows are ignored.

        Yields
        ------
        train : ndarray of shape (n_train,), int
            Indices of the training rows, sorted.
        test : ndarray of shape (n_test,), int
            Indices of the test rows, in the order of the splitter; only labeled rows.
        """
        if y is None:
            raise ValueError("y is None, but the labels are needed to find the rows that can be tested")
        self._check_lengths(X=X, y=y, groups=groups)
        _data.check_order(X=X, y=y, groups=groups)
        has_label, inner, given = self._read(y, groups)
        labeled, unlabeled = np.flatnonzero(has_label), np.flatnonzero(~has_label)
        if not labeled.size:
            raise ValueError("y has no labeled row, so nothing can be tested (see the parameter `unlabeled`)")
        if isinstance(inner, StratifiedKFold) and inner is not self.cv:
            _refuse_scarce_classes(given[1], self.cv)
        for train, test in inner.split(*given):
            yield np.sort(np.concatenate([labeled[train], unlabeled])), labeled[test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of splits; some splitters, such as `LeaveOneOut`, need the labels or groups for it.

        Parameters
        ----------
        X, y, groups : as in `split`; X is not used
        """
        if y is None:
            return int(self._inner().get_n_splits())
        self._check_lengths(y=y, groups=groups)
        _data.check_order(X=X, y=y, groups=groups)
        _, inner, given = self._read(y, groups)
        return int(inner.get_n_splits(*given))

    def _check_lengths(self, **named: Any) -> None:
        sizes = {name: _data.number_of_rows(one, name) for name, one in named.items() if one is not None}
        if len({*sizes.values()}) > 1:
            found = ", ".join(f"{name} {n}" for name, n in sizes.items())
            raise ValueError(f"found input variables with inconsistent numbers of samples: {found}")

    def _read(self, y: Any, groups: Any) -> tuple[np.ndarray, Any, tuple[Any, ...]]:
        """Whether each row has a label, the splitter, and what it gets of the rows that have one."""
        targets = _targets.read(y, self.unlabeled)
        if isinstance(targets, _targets.Columns):
            labeled = targets.codes.max(axis=1) >= 0
            values = targets.codes[labeled]
        else:
            labeled, values = targets.labeled, targets.values
        groups = None if groups is None else column_or_1d(_data.plain(groups, "groups"))[labeled]
        return labeled, self._inner(values.ndim), (np.zeros((len(values), 1)), values, groups)

    def _inner(self, dimensions: int = 1) -> Any:
        if _is_count(self.cv):
            folds = _numbers.check_count("cv", self.cv, 2, ", or a splitter")
            return StratifiedKFold(folds) if dimensions == 1 else KFold(folds)
        if not hasattr(self.cv, "split") or isinstance(self.cv, str | bytes | type):
            raise TypeError(f"cv must be an integer or a splitter with a method `split`, got {self.cv!r}")
        if isinstance(self.cv, SemiSupervisedSplit):
            raise TypeError(f"cv is a SemiSupervisedSplit already: {self.cv!r}")
        return self.cv


def held_out_probabilities(
    estimator: Any, X: Any, y: Any, *, cv: Any = 5, n_jobs: int | None = None, verbose: int = 0, unlabeled: Any = "auto"
) -> np.ndarray:
    """Probabilities of the classes for each labeled row, by a fit without its label.

    Replaces `cross_val_predict(method="predict_proba")`, to which the marker is a class. Fits see all unlabeled rows.
    An array (n_rows, n_classes) with a column for each class with a label or a description, sorted: NaN in rows that no
    fit held out, the mean where several did.

    Parameters
    ----------
    estimator : estimator or pipeline with a method `predict_proba`
        Clones are fitted.
    X, y, cv, n_jobs, verbose : as in `fewlabel.inspection.check`
    unlabeled : as in `TransductiveSVC`
    """
    _held_out.check_classifier("estimator", estimator, "predict_proba")
    targets, X = _targets.one_a_row(y, unlabeled), _data.admitted(X)
    _data.check_lengths(X, targets.codes)
    classes = targets.classes[targets.known()]
    warn_of_names(classes.tolist())
    splits = SemiSupervisedSplit(at_most(cv, targets), unlabeled=unlabeled).split(X, y)
    folds = [_held_out.Fold(estimator, train, _safe_indexing(y, train), test) for train, test in splits]
    sums, times = np.zeros((len(targets.codes), len(classes))), np.zeros((len(targets.codes), 1))
    measure = partial(_probabilities, classes=classes)
    for fold, found in zip(folds, _held_out.measured("held-out rows", folds, X, measure, n_jobs, verbose), strict=True):
        sums[fold.test] += found
        times[fold.test] += 1
    return np.divide(sums, times, out=np.full(sums.shape, np.nan), where=times > 0)


def _probabilities(model: Any, X: Any, test: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Probabilities of these classes for held-out rows, 0 of one that the fit has not."""
    if not np.isin(model.classes_, classes).all():
        raise ValueError(f"the fit has the classes {listed(model.classes_)}, but the labels of y {listed(classes)}")
    found = np.zeros((len(test), len(classes)))
    found[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X)
    return found


def _is_count(cv: Any) -> bool:
    return isinstance(cv, Integral) and not isinstance(cv, bool)


def at_most(cv: Any, given: _targets.Targets) -> Any:
    """Not more folds than the largest class has labels, of which two are the least; a splitter as it is."""
    if not _is_count(cv):
        return cv
    return min(_numbers.check_count("cv", cv, 2, ", or a splitter"), max(2, int(given.counts().max(initial=0))))


def _refuse_scarce_classes(labels: np.ndarray, folds: int) -> None:
    classes, counts = np.unique(labels, return_counts=True)
    if (alone := classes[counts == 1]).size:
        raise ValueError(f"one labeled row only: class {listed(alone)}. Label another one, or leave the class out")
    if counts.max() < folds:
        raise ValueError(f"cv={folds} is more than the labeled rows of any class (at most {counts.max()}): take fewer")
