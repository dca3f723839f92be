"""The share of the one labeled class among the unlabeled rows, the others being "the rest".

Problem  share p of the positive class among the unlabeled rows, where some positive rows alone have labels
Method   fits in which a fold of the positive rows has no label rank these among the unlabeled rows. Labeled positive
         rows are like the others, so that half of all positive rows are above the median of the held-out ones: if these
         above are a part t of all unlabeled rows, p is at most 2 t, and 2 t where no other row is above. The ranking is
         that of fits with the shares of CANDIDATES; the estimate is the mean of the two smallest 2 t, as the smallest
         alone is too low by chance
Source   the bound: Scott 2015, Garg et al. 2021 (best bin estimation), for scores of supervised models. Fits that use
         the unlabeled rows as ranking are ours
Measured on MCAT and rec. against sci., 20 positive rows, shares .05, .1, .2, .5: off by .045 in the mean of 24 draws,
         within .05 in 16; F1 with the estimate is .92 of that with the true share. From supervised scores of positive
         against unlabeled rows, 16 draws: Elkan & Noto 2008 is off by .41 in the mean, best bin estimation by .12, the
         ratio at the median by .11, a mixture of two normals by .12
Interval a bootstrap of the held-out rows, which does not see what the fits rank wrongly: at level .9 it has 23 of 32
         shares of crude, GCAT, comp. and mideast (.05 to .5, two draws)
Cost     FOLDS fits a candidate, of MOST_ROWS rows
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from fewlabel import _advice
from fewlabel._inputs import _labels

CANDIDATES = (0.02, 0.05, 0.1, 0.2, 0.5)
FOLDS = 4
MOST_ROWS = 4000  # unlabeled rows that are ranked
FEWEST = 10  # positive rows: with fewer the interval is nearly 0 to 1
LARGEST = 0.95  # upper limit from which on the ranking shows no rest
TIMES = 200  # bootstrap replications
LEVEL = 0.9  # of the interval
_LOOSE = 1e-3  # tolerance of the fits: ranks need no last digits


class Share(NamedTuple):
    """A share with its interval."""

    share: float
    lower: float
    upper: float


def resolved(class_prior: Any, model: Any, X: Any, labels: _labels.Labels, weights: np.ndarray | None) -> Any:
    """The parameter `class_prior`, in which "auto" for a class without labels is replaced by its estimate."""
    if not isinstance(class_prior, Mapping) or not any(isinstance(share, str) for share in class_prior.values()):
        return class_prior
    known = labels.classes.tolist()
    named = [name for name in class_prior if name not in known]
    if len(known) > 1 or len(named) != 1 or set(class_prior.values()) != {"auto"}:
        raise ValueError(
            f'class_prior={dict(class_prior)!r}: "auto" within a dict is for one labeled class and one other, '
            'class_prior={"rest": "auto"}; here the labels are ' + _labels.listed(labels.classes)
        )
    found = of_labels(model, X, labels.codes, weights)
    _advice.weak_share(known[0], found, int(np.sum(labels.codes >= 0)))
    return {known[0]: found.share, named[0]: 1 - found.share}


def of_labels(
    model: Any, X: Any, codes: np.ndarray, weights: np.ndarray | None, times: int = TIMES, level: float = LEVEL
) -> Share:
    """Share of the only class among the unlabeled rows, those with code -1; rows of weight 0 are left out."""
    counted = np.ones(len(codes), dtype=bool) if weights is None else weights > 0
    positive, unlabeled = (np.flatnonzero(((codes >= 0) == has) & counted) for has in (True, False))
    return estimate(model, X, positive, unlabeled, times, level)


def estimate(
    model: Any, X: Any, positive: np.ndarray, unlabeled: np.ndarray, times: int = TIMES, level: float = LEVEL
) -> Share:
    """Share of the positive class among the unlabeled rows; `model` is an unfitted classifier, rows are numbers."""
    if len(positive) < FEWEST:
        raise ValueError(
            f"the share of the only labeled class cannot be estimated from {len(positive)} rows: label {FEWEST} or "
            "more, or give class_prior with shares, for example from a count of 100 rows drawn at random"
        )
    if len(unlabeled) < 10 * FEWEST:
        raise ValueError(
            f"the share of the only labeled class cannot be estimated from {len(unlabeled)} unlabeled rows"
        )
    random = np.random.default_rng(0)
    folds, drawn = random.permutation(len(positive)) % FOLDS, random.permutation(unlabeled)[:MOST_ROWS]
    model = clone(model).set_params(unlabeled="auto", hierarchy=None, class_weight=None, calibrate=False)
    model.set_params(warm_start=False, verbose=0, tol=max(model.tol, _LOOSE))
    above = np.array([[0.0] * len(positive)] * len(CANDIDATES))
    for c, candidate in enumerate(CANDIDATES):
        for fold in range(FOLDS):
            above[c, folds == fold] = _above(
                model, X, positive[folds != fold], positive[folds == fold], drawn, candidate
            )
    found = _ratio(above)
    draws = [_ratio(above[:, random.integers(len(positive), size=len(positive))]) for _ in range(times)]
    lower, upper = np.quantile(draws, ((1 - level) / 2, (1 + level) / 2))
    if upper >= LARGEST:
        raise ValueError(
            "class_prior: the unlabeled rows cannot be told from those of the only labeled class, so that its share "
            "cannot be estimated: give class_prior with shares, or label some rows of another class"
        )
    return Share(found, min(float(lower), found), max(float(upper), found))


def _above(
    model: Any, X: Any, labeled: np.ndarray, held: np.ndarray, unlabeled: np.ndarray, share: float
) -> np.ndarray:
    """Part of the unlabeled rows above each held-out row."""
    rows = np.concatenate([labeled, held, unlabeled])
    y = np.full(len(rows), None, dtype=object)
    y[: len(labeled)] = 1
    fitted = clone(model).set_params(class_prior={0: 1 - share, 1: share}).fit(X[rows], y)
    scores = fitted.decision_function(X[rows[len(labeled) :]])
    mine, others = scores[: len(held)], np.sort(scores[len(held) :])
    return 1 - (np.searchsorted(others, mine, "left") + np.searchsorted(others, mine, "right")) / 2 / len(others)


def _ratio(above: np.ndarray) -> float:
    """Mean of the two smallest of twice the medians, one a candidate; at least half a row."""
    twice = np.sort(2 * np.median(above, axis=1))
    return float(np.clip(twice[:2].mean(), 0.5 / MOST_ROWS, 1))
