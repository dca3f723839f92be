"""estimate_class_prior: the class shares of unlabeled rows, with confidence intervals."""

import ctypes
import json
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from fewlabel import _advice, _interrupts, _positive_share
from fewlabel._inputs import _data, _markers, _numbers, _targets
from fewlabel._inputs._markers import listed
from fewlabel._native import _fit, _library, _views
from fewlabel._transductive_svc import TransductiveSVC
from fewlabel.inspection import _table

_ROOM = 4096  # bytes of the warnings


@dataclass(frozen=True, eq=False, repr=False)
class ClassPriorEstimate(_table.Table):
    """Result of `estimate_class_prior`; arrays are in the order of `classes`."""

    classes: np.ndarray
    class_prior: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    label_shares: np.ndarray

    def _columns(self) -> dict[str, list[Any]]:
        return {"class" if name == "classes" else name: values.tolist() for name, values in vars(self).items()}

    def as_dict(self) -> dict[Any, float]:
        """Dict from class to share, as for the parameter `class_prior` of the estimators."""
        return dict(zip(self.classes.tolist(), self.class_prior.tolist(), strict=True))


def estimate_class_prior(
    X: Any,
    y: Any,
    *,
    rest: Any = None,
    sample_weight: Any = None,
    n_bootstraps: int = 50,
    confidence_level: float = 0.9,
    unlabeled: Any = "auto",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> ClassPriorEstimate:
    """Estimate the share of each class among the unlabeled rows.

    These are the shares that the estimators use with `class_prior="auto"`, with confidence intervals. The labeled rows
    need not be a random sample, but within each class they must be representative.

    Parameters
    ----------
    X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        Rows, labeled and unlabeled. About 5,000 of the unlabeled rows are used, the same in any order.
    y : array-like of shape (n_rows,), labels and markers of the parameter `unlabeled`
    rest : label or None, default=None
        The class of all other rows, where one class alone has ten or more labels. This takes 44 fits.
    sample_weight : array-like of shape (n_rows,) or None, default=None
    n_bootstraps : int, default=50
        Number of bootstrap replications with random row weights, at least 2.
    confidence_level : float, default=0.9
        Confidence level of the intervals, between 0 and 1.
    unlabeled, n_jobs : as in `TransductiveSVC`
    random_state : int, RandomState instance or None, default=None
        Seed. None means a fixed seed.

    Returns
    -------
    estimate : ClassPriorEstimate
        Arrays (n_classes,): `classes`, sorted; `class_prior`, the shares, with sum 1; `lower` and `upper`, their
        confidence limits (0 and 1: unknown); `label_shares`, of the labeled rows. `as_dict()` is for `class_prior`.
        Printed it is a table.

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel.inspection import estimate_class_prior
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5)) + 2 * (np.arange(1000) < 800)[:, None]  # four fifths of class 1
    >>> y = np.full(1000, -1)
    >>> y[:20], y[-20:] = 1, 0  # as many labels of each class
    >>> bool(abs(estimate_class_prior(X, y).class_prior - [0.2, 0.8]).max() < 0.05)
    True
    """
    _data.check_order(X=X, y=y, sample_weight=sample_weight)
    rows = _data.training_rows(model := BaseEstimator(), X, reset=True)
    given = _targets.one_a_row(y, unlabeled, sample_weight=sample_weight)
    _data.check_lengths(rows, given.codes)
    known = _targets.learned(given.certain())
    classes = known.classes
    if rest is not None:
        if not isinstance(rest, Hashable):
            raise ValueError(f"rest must be a class, got {rest!r:.60}")
        _markers.refuse_names([rest], unlabeled, given.minus_one, "rest")
        return _of_positives(rows, known, rest, n_bootstraps, confidence_level, n_jobs)
    if len(classes) < 2:
        raise ValueError(f'class {classes[0]} alone has labels: name that of the other rows, as in rest="other"')
    seed = 0 if random_state is None else _numbers.seeded(random_state).randint(np.iinfo(np.int32).max)
    options = {"n_bootstraps": n_bootstraps, "confidence_level": confidence_level}
    options |= {"threads": _numbers.threads(n_jobs), "random_state": seed}
    shares, lower, upper = np.empty((3, len(classes)))
    said, room = ctypes.create_string_buffer(_ROOM), _ROOM
    inputs = _views.rows(rows), _views.labels(known), known.weights, _fit.options_text(options)
    _interrupts.interruptible(partial(_library.call, "fewlabel_class_prior", *inputs, shares, lower, upper, said, room))
    model.classes_ = classes
    _advice.of_the_library([json.loads(said.value)], model)
    totals = known.totals()
    return ClassPriorEstimate(classes, shares, lower, upper, totals / max(totals.sum(), np.finfo(float).tiny))


def _of_positives(
    rows: Any, targets: _targets.Targets, rest: Any, times: int, level: float, n_jobs: Any
) -> ClassPriorEstimate:
    """The shares of the only labeled class and of the rest."""
    codes, weights = targets.codes, targets.weights
    known = [name for name in targets.classes.tolist() if name != rest]
    if len(known) != 1 or rest in targets.classes[targets.counts() > 0].tolist():
        raise ValueError(f"rest={rest!r} is for labels of one other class alone, not of {listed(targets.classes)}")
    classes = _targets.with_classes_of({rest: None}, targets.classes, len(codes))
    _numbers.check_count("n_bootstraps", times, least=2)
    if not _numbers.is_real(level) or not 0 < _numbers.as_float(level) < 1:
        raise ValueError(f"confidence_level must lie between 0 and 1, got {_numbers.shown(level)}")
    found = _positive_share.of_labels(TransductiveSVC(n_jobs=n_jobs), rows, targets, times, float(level))
    unlabeled = (codes == _targets.UNLABELED) & (True if weights is None else weights != 0)
    _advice.weak_share(known[0], found, int(np.sum(codes >= 0)), int(np.sum(unlabeled)))
    positive, others = classes == known[0], (found.share, found.upper, found.lower)
    shares, lower, upper = (np.where(positive, share, 1 - other) for share, other in zip(found, others, strict=True))
    return ClassPriorEstimate(classes, shares, lower, upper, positive.astype(float))
