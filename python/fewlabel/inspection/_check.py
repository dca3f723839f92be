"""check: whether unlabeled rows help a model, by cross-validation with and without them, or labels where they differ.

Problem  Two classifiers differ on d of n unlabeled rows: which is right more often? How many labels would tell?
Rule     Labels of these d rows alone tell them apart. m random ones, of which one classifier gains b and loses c, give
         an interval of (gained - lost) / n: b + 1/2, c + 1/2 and the other rows are the expected split of those left
         (Dirichlet-multinomial). They are judged once half of the planned labels are there, as each look is another
         chance to be wrong; planned are as many as decide at the expected split: at first that of LEAD, later that so
         far with PRIOR labels of LEAD, and then at least as many again (Pocock, Biometrika 1977, plans looks, too).
Source   ours; measured in docs/notes/verdicts.md.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from fewlabel import _advice, _held_out, _warnings
from fewlabel._inputs import _data, _markers, _targets
from fewlabel.inspection import _linear_model, _table
from fewlabel.model_selection import SemiSupervisedSplit, at_most

CONFIDENCE = 0.9
REACH = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
NEGLIGIBLE = 0.01  # of accuracy
MUCH = 0.05
FEW = 30  # held-out rows: a share of fewer is no percentage
LEAD, ONE_RIGHT = 0.64, 0.8  # of the rows on which one is right the better one's part; the part of these in all
PRIOR = 10
DOUBTED = 0.5  # sum of the differences of given and estimated class shares


class _Differing(NamedTuple):
    """The rows on which two models differ."""

    predicted: np.ndarray  # (2, d) without and with unlabeled rows
    n_unlabeled: int
    marker: Any  # of rows without a label
    judged: int = 0  # labels that the interval is based on
    planned: int = 0  # labels that should give a verdict

    @property
    def least(self) -> float:
        """Labels that are judged next."""
        return max(1, (self.judged + self.planned) / 2)

    def plan(self, gained: int, lost: int, judged: int) -> "_Differing":
        """With the next number of labels."""
        d = self.predicted.shape[1]
        if not d:
            return self
        n = np.arange(max(1, min(2 * judged, d)), d + 1)
        more, sides = (n - judged) / (judged + PRIOR), ((max(gained, lost), LEAD), (min(gained, lost), 1 - LEAD))
        better, worse = (rows + more * (rows + PRIOR * ONE_RIGHT * part) for rows, part in sides)
        decided = _decided(*self.interval(better, worse, n))
        return self._replace(judged=judged, planned=int(n[decided.argmax()]))

    def interval(self, gained: Any, lost: Any, n: Any) -> tuple[Any, Any]:
        """Of the difference of the accuracies on the unlabeled rows, by n labels; of all, it is exact."""
        left, size = self.predicted.shape[1] - n, n + 1
        mean, square = (gained - lost) / size, (gained + lost + 1) / size
        spread = np.sqrt(np.maximum(0, left * (size + left) / (size + 1) * (square - mean**2)))
        middle, reach = gained - lost + left * mean, REACH * spread
        return (middle - reach) / self.n_unlabeled, (middle + reach) / self.n_unlabeled


@dataclass(frozen=True)
class Check(_table.Table):
    """Result of `check`. Accuracies weigh the held-out rows such that each class has its estimated share."""

    n_rows: int  #: held-out labeled rows
    supervised: float  #: accuracy without unlabeled rows
    semi_supervised: float  #: accuracy with unlabeled rows
    linear_svc: float  #: accuracy of scikit-learn's `LinearSVC` of the labeled rows
    difference: float  #: that of the accuracies with and without unlabeled rows, as the interval has it
    lower: float  #: end of the 90 % interval of their difference
    upper: float  #: end of the 90 % interval of their difference
    gained: int  #: rows that only the model with unlabeled rows classifies correctly
    lost: int  #: rows that only the model without unlabeled rows classifies correctly
    n_labels: int  #: labels given to `decide`
    disagreements: np.ndarray = field(repr=False, compare=False)  #: unlabeled rows of different predictions, shuffled
    _differing: _Differing = field(repr=False, compare=False)

    @property
    def verdict(self) -> str:
        """Whether unlabeled rows help: "no difference" within a point of accuracy, "helps", "hurts", "cannot tell"."""
        if not _decided(self.lower, self.upper):
            return "cannot tell"
        if max(-self.lower, self.upper) <= NEGLIGIBLE:
            return "no difference"
        return "hurts" if self.lower < 0 else "cannot tell" if self._svc_is_better else "helps"

    @property
    def _svc_is_better(self) -> bool:
        """Whether the reference, of the labeled rows alone, has the higher accuracy."""
        return not self._differing.judged and self.linear_svc > self.semi_supervised

    @property
    def needed(self) -> int:
        """Number of further labels of `disagreements` that should give a verdict; 0 if there is one."""
        open_ = self.verdict == "cannot tell" and not self.lower > 0
        return self._differing.planned - self.n_labels if open_ else 0

    def decide(self, labels: Any) -> "Check":
        """Judge the two models by labels of `disagreements`.

        Nothing is fitted: the models are those of the labels that `check` had.

        Parameters
        ----------
        labels : array-like of shape (n,)
            Labels of the first n of `disagreements`, in their order; a skipped row has the marker of unlabeled rows.

        Returns
        -------
        check : Check
            Its interval, `gained` and `lost` are those of the `n_labels` rows with a label. With fewer than half of the
            number that was `needed`, only `n_labels` and `needed` change.
        """
        if hasattr(labels, "set_axis") and len(labels) <= len(self.disagreements):
            _data.check_order(disagreements=labels.set_axis(self.disagreements[: len(labels)]), labels=labels)
        given = _targets.plain(labels, self._differing.marker, "labels")
        if (n := len(given.codes)) > len(self.disagreements):
            most = f"which are {len(self.disagreements)}, got {n} labels: of all rows pass y[disagreements[:n]]"
            raise ValueError(f"labels must be those of the first rows of `disagreements`, {most}")
        found = replace(self, n_labels=int(given.labeled.sum()))
        if found.n_labels < self._differing.least:
            return found
        right = self._differing.predicted[:, :n][:, given.labeled] == given.values
        gained, lost = int(np.sum(right[1] & ~right[0])), int(np.sum(right[0] & ~right[1]))
        lower, upper = map(float, self._differing.interval(gained, lost, found.n_labels))
        found = replace(found, difference=(lower + upper) / 2, lower=lower, upper=upper, gained=gained, lost=lost)
        return replace(found, _differing=self._differing.plan(gained, lost, found.n_labels))

    def _columns(self) -> dict[str, list[Any]]:
        names = [name for name in self.__dataclass_fields__ if not name.startswith(("_", "dis"))]
        return {"verdict": [self.verdict]} | {
            name.replace("_", " "): [getattr(self, name)] for name in [*names, "needed"]
        }

    def __str__(self) -> str:
        differ = f"{len(self.disagreements)} of {self._differing.n_unlabeled} unlabeled rows"
        interval = f"{self.difference:+.1%}, {CONFIDENCE:.0%} interval {self.lower:+.1%} to {self.upper:+.1%}"
        if self._differing.judged:
            found = f"{self._differing.judged} labels of rows on which the two models differ, {differ}: only without "
            found += f"unlabeled rows {self.lost} are right, only with them {self.gained}. Difference {interval}"
        elif self.n_rows < FEW:
            found = f"{self.n_rows} held-out labeled rows are too few for a percentage{self._counts}"
        else:
            found = f"Accuracy, with the estimated class shares, on {self.n_rows} held-out labeled rows: "
            found += f"{self.supervised:.1%} without unlabeled rows, {self.linear_svc:.1%} by LinearSVC of the labeled "
            found += f"ones; with unlabeled rows {interval}{self._counts}"
        behind = self.linear_svc - max(self.supervised, self.semi_supervised)
        if self._svc_is_better and (self.lower > 0 or behind > MUCH):
            found += ". LinearSVC of the labeled ones has the higher accuracy: scale the columns, or use it"
        if self.needed:
            found += f". To decide, label the next {self.needed} of `disagreements` ({differ}) and call `decide`"
        return f"unlabeled rows: {self.verdict}. {found}"

    @property
    def _counts(self) -> str:
        """Of rows; not where classes weigh so differently that they say another thing than the difference."""
        same = np.sign(self.gained - self.lost) == np.sign(self.difference)
        return f" ({self.gained} gained, {self.lost} lost)" if same else ""


def check(model: Any, X: Any, y: Any, *, cv: Any = 5, n_jobs: int | None = None, verbose: int = 1) -> Check:
    """Check by cross-validation on the labeled rows whether unlabeled rows help a model.

    It fits three models per fold: one on the other labeled rows and all unlabeled rows, to which the held-out rows
    belong then, and two on the labeled rows alone, one of them scikit-learn's `LinearSVC`. Held-out rows are weighted
    such that each class has its estimated share among the unlabeled rows. Models of all labels find the unlabeled rows
    whose labels would decide.

    Parameters
    ----------
    model : TransductiveSVC or SemiSupervisedLogisticRegression, or a pipeline that ends in one
        Clones are fitted. In both models, the other steps of a pipeline are fitted on the unlabeled rows too.
    X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features), or what a pipeline takes
    y : array-like of shape (n_rows,)
        Labels. Rows without one have the marker of the parameter `unlabeled` of the model.
    cv : int or splitter, default=5
        How the labeled rows are split, as in `SemiSupervisedSplit`; at most as many folds as a class has labels.
    n_jobs : int or None, default=None
        Number of fits at a time, in processes of joblib. None: one, with the threads of the model.
    verbose : int, default=1
        Above 0: show the progress of the fits, from the third second on.

    Returns
    -------
    check : Check
        `verdict`: "helps", "hurts", "no difference" or "cannot tell"; the accuracies `supervised` and
        `semi_supervised`; `disagreements`, unlabeled rows of which the labels decide by `decide`. `str()`: a summary.

    Warns
    -----
    DataWarning, ClassPriorWarning
        If no row is unlabeled, or the class shares given to the model are far from the estimated ones.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.inspection import check
    >>> X, y = load_digits(return_X_y=True)
    >>> y[100:] = -1
    >>> check(TransductiveSVC(), X, y).verdict
    'cannot tell'
    """
    X, given, splits = split(model, X, y, cv)
    classes, codes = _targets.learned(given.certain())[:2]
    whole = _linear_model.changed(model, calibrate=False)
    prior, free = _linear_model.last(model).class_prior, np.flatnonzero(~(given.labeled | given.described | given.weak))
    every = slice(None), y, free if len(free) else slice(0, 1)
    parts = [every, *(_hidden(y, len(codes), *rows, free) for rows in splits)]
    models = _linear_model.supervised(model), whole, _linear_model.reference(model)
    folds = [_held_out.Fold(one, *part) for part in parts for one in models]
    if estimated := not _markers.is_auto(prior):
        folds.append(_held_out.Fold(_linear_model.changed(whole, class_prior="auto"), slice(None), y, slice(0, 1)))
    measured = _held_out.measured("check", folds, X, partial(_answers, classes=classes), n_jobs, verbose)
    predicted, shares = [answers for answers, _ in measured], measured[-1 if estimated else 1][1]
    if not isinstance(prior, str):
        _doubt(measured[1][1], shares, classes)
    right, held = np.zeros((3, len(codes))), np.zeros(len(codes))
    for k, (_, test) in enumerate(splits, 1):
        held[test] += 1
        right[:, test] += [answer == classes[codes[test]] for answer in predicted[3 * k : 3 * k + 3]]
    rows = np.flatnonzero(held)
    marker = _markers.of_model(_linear_model.marker(model), classes)
    differ = np.random.default_rng(0).permutation(np.flatnonzero(predicted[0] != predicted[1])) if len(free) else free
    differing = _Differing(np.array([one[differ] for one in predicted[:2]]), len(free), marker).plan(0, 0, 0)
    return _judged(right[:, rows] / held[rows], codes[rows], shares, free[differ], differing)


def _hidden(y: Any, n_rows: int, train: np.ndarray, test: np.ndarray, free: np.ndarray) -> tuple[Any, Any, np.ndarray]:
    """Rows and labels of a fit, and its test rows, which are unlabeled rows of the fit."""
    if not len(free):
        return train, _safe_indexing(y, train), test
    rows = np.full(n_rows, free[0])
    rows[train] = train
    return slice(None), _safe_indexing(y, rows), test


def split(model: Any, X: Any, y: Any, cv: Any) -> tuple[Any, _targets.Targets, list[tuple[np.ndarray, np.ndarray]]]:
    """Checked rows and labels, and training and test rows for parts of the labeled ones."""
    unlabeled = _linear_model.marker(model)
    _data.check_order(X=X, y=y)
    X, given = _data.admitted(X), _targets.one_a_row(y, unlabeled, _linear_model.tree(model))
    _data.check_lengths(X, given.labeled)
    if (given.labeled | given.described).all():
        cure = _advice.of_markers(unlabeled)
        _warnings.warn(f"no row is unlabeled{cure}.", _warnings.DataWarning)  # nobody sees the warnings of the fits
    _held_out.refuse_one_class(given)
    split = SemiSupervisedSplit(at_most(cv, given), unlabeled=float("nan"))
    return X, given, list(split.split(given.labeled, given.or_none()))


def _answers(model: Any, rows: Any, _: Any, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The predictions, and the shares of the classes with labels among the unlabeled rows."""
    classifier, shares = _linear_model.last(model), np.empty(0)
    if hasattr(classifier, "class_prior_"):
        shares = classifier.class_prior_[np.isin(classifier.classes_, classes)]
    return np.asarray(model.predict(rows)), shares


def _doubt(given: np.ndarray, estimated: np.ndarray, classes: np.ndarray) -> None:
    """Warn where the given class shares are far from the estimated ones."""
    if np.abs(given - estimated).sum() > DOUBTED:
        worst = np.abs(given - estimated).argmax()
        found = f"class_prior gives class {classes[worst]!s} a share of {given[worst]:.1%}"
        other = f"the labeled and the unlabeled rows together suggest {estimated[worst]:.1%}"
        _warnings.warn(f'{found}, but {other}: check class_prior, or use "auto"', _warnings.ClassPriorWarning)


def _decided(lower: Any, upper: Any) -> Any:
    """Whether an interval has a verdict."""
    return (lower > 0) | (upper < 0) | ((lower >= -NEGLIGIBLE) & (upper <= NEGLIGIBLE))


def _judged(
    right: np.ndarray, codes: np.ndarray, shares: np.ndarray, disagreements: np.ndarray, differing: _Differing
) -> Check:
    """Compare models by which rows (3, n) they classify correctly, each class weighted to its share."""
    weights = shares[codes] / np.bincount(codes, minlength=len(shares))[codes]
    weights /= weights.sum()
    (without, both, svc), difference = (right @ weights).tolist(), right[1] - right[0]
    squares = np.sum(weights**2)  # also the weight of half a row gained and half a row lost (Agresti and Min 2005)
    gain = weights @ difference / (1 + 2 * squares)
    second = weights**2 @ (difference - gain) ** 2 + squares**2
    reach, most = REACH * np.sqrt(second) / (1 + 2 * squares), len(disagreements) / max(1, differing.n_unlabeled)
    middle, lower, upper = (np.clip([gain, gain - reach, gain + reach], -most, most) + 0.0).tolist()  # not -0.0
    counts = int(np.sum(difference > 0)), int(np.sum(difference < 0))
    return Check(len(codes), without, both, svc, middle, lower, upper, *counts, 0, disagreements, differing)
