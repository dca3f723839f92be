"""check: whether unlabeled rows help a model, by cross-validation with and without them."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_consistent_length
from sklearn.utils._indexing import _safe_indexing

from fewlabel import _progress
from fewlabel._inputs import _data, _labels
from fewlabel.inspection import _linear_model
from fewlabel.model_selection import SemiSupervisedSplit


class Check(NamedTuple):
    """Result of `check`."""

    n_rows: int
    supervised: float
    semi_supervised: float
    gained: int
    lost: int

    @property
    def verdict(self) -> str:
        """Whether unlabeled rows help.

        "helps" if more rows were gained than lost, "hurts" if fewer, by more than a standard error: the square root of
        their number (McNemar 1947). Otherwise "unclear".
        """
        gain = self.gained - self.lost
        if gain * gain <= self.gained + self.lost:
            return "unclear"
        return "helps" if gain > 0 else "hurts"

    def __str__(self) -> str:
        """The verdict and its reasons."""
        return (
            f"unlabeled rows: {self.verdict}. Accuracy on {self.n_rows} held-out labeled rows: {self.supervised:.1%} "
            f"without and {self.semi_supervised:.1%} with unlabeled rows ({self.gained} gained, {self.lost} lost)"
        )


def check(model: Any, X: Any, y: Any, *, cv: Any = 5) -> Check:
    """Check by cross-validation on the labeled rows whether unlabeled rows help a model.

    It fits two models per fold: one on the other labeled rows and all unlabeled rows, one on the labeled rows alone.

    Parameters
    ----------
    model : TransductiveSVC or SemiSupervisedLogisticRegression, or a pipeline that ends in one
        Fitted or not; clones are fitted. In both models, the other steps of a pipeline are fitted on the unlabeled rows
        too.
    X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features), or what a pipeline takes
        Rows, labeled and unlabeled; texts for a pipeline that starts with a vectorizer.
    y : array-like of shape (n_rows,)
        Labels. Rows without one have the marker of the parameter `unlabeled` of the model.
    cv : int or splitter, default=5
        How the labeled rows are split, as in `SemiSupervisedSplit`. Each class needs at least `cv` labeled rows.

    Returns
    -------
    check : Check
        `verdict`: "helps", "hurts" or "unclear"; `supervised` and `semi_supervised`, the accuracies on `n_rows` labeled
        rows; `gained` and `lost`, the numbers of rows that only one of the two models classifies correctly. `str()` is
        a summary.

    Raises
    ------
    ValueError
        If a class has fewer labeled rows than `cv`.
    TypeError
        If the model is of another type.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import normalize
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.inspection import check
    >>> X, digit = load_digits(return_X_y=True)
    >>> y = np.where(np.arange(len(X)) < 100, digit, -1)
    >>> found = check(TransductiveSVC(), normalize(X), y)
    >>> found.verdict  # with and without unlabeled rows 97 of 100 answers are right
    'unclear'
    """
    unlabeled = _linear_model.marker(model)
    X, given = _data.admitted(X), _labels.read(y, unlabeled)
    check_consistent_length(X, given.labeled)
    classes, codes = _labels.encode(given)
    right = np.zeros((2, len(codes)), dtype=bool)
    held = np.zeros(len(codes), dtype=bool)
    whole = clone(model)
    _linear_model.last(whole).set_params(calibrate=False, verbose=0)
    splits = list(SemiSupervisedSplit(cv, unlabeled=unlabeled).split(given.labeled, y))
    with _progress.several("check", _linear_model.verbosity(model), 2 * len(splits)) as count:
        for train, test in splits:
            held[test] = True
            for k, one in enumerate((_linear_model.supervised(model), whole)):
                fitted = clone(one).fit(_safe_indexing(X, train), _safe_indexing(y, train))
                right[k, test] = fitted.predict(_safe_indexing(X, test)) == classes[codes[test]]
                count()
    gained, lost = np.sum(right[1] & ~right[0]), np.sum(right[0] & ~right[1])
    supervised, semi_supervised = right[:, held].mean(axis=1)
    return Check(int(held.sum()), float(supervised), float(semi_supervised), int(gained), int(lost))
