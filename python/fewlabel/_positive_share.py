"""The share of the one labeled class among the unlabeled rows, the others being "the rest".

Problem  share p of the positive class among the unlabeled rows, where some positive rows alone have labels
Method   fits with each of CANDIDATES as share, in which a fold of the positive rows has no label, show two things:
         - a bound. Labeled positive rows are like the others, so that half of all positive rows are above the median of
           the held-out ones: if these above are a part t of all unlabeled rows, p is at most 2 t, and 2 t where no
           other row is above. The bound is the smallest 2 t, b;
         - agreement. Fits with too small a share each find another part of the positive rows; from p on they find the
           same rows. It is kappa k(c), over pairs of folds, of the rows above the cut at the candidate c.
         The estimate is the geometric mean of the candidates with weights exp(-(log c/b)^2 / 2 SPREAD^2) /
         (1.01 - k(c))^2
Source   the bound: Scott 2015, Garg et al. 2021 (best bin estimation), for scores of supervised models. Agreement as a
         choice of the number of clusters: Lange et al. 2004. Fits that use the unlabeled rows, and both together: ours
Interval normal for log p: the deviation of a bootstrap of the held-out rows, and WRONG for what is ranked wrongly
Cost     FOLDS fits a candidate, of MOST_ROWS rows, by switching
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from fewlabel._distinct import Distinct
from fewlabel._held_out import Fold, measured
from fewlabel._inputs._targets import UNLABELED, Targets

CANDIDATES = np.array([0.02, 0.03, 0.045, 0.07, 0.1, 0.15, 0.2, 0.28, 0.38, 0.5, 0.62])
FOLDS = 4
MOST_ROWS = 4000  # unlabeled rows that are ranked
FEWEST = 10  # positive rows: with fewer the interval is nearly 0 to 1
LARGEST = 0.95  # upper limit of the bound from which on the ranking shows no rest
SPREAD = 0.2  # deviation of log p from the logarithm of the bound
WRONG = 0.3  # deviation of log p by what is ranked wrongly
_LOOSE = 1e-3  # tolerance of the fits: ranks need no last digits


class Share(NamedTuple):
    """A share with its interval."""

    share: float
    lower: float
    upper: float


def of_labels(model: Any, X: Any, targets: Targets, times: int, level: float) -> Share:
    """Share of the only class among the unlabeled rows, by weight; `model` is a TransductiveSVC."""
    codes, weights = targets.codes, targets.weights
    counted = np.ones(len(codes), dtype=bool) if weights is None else weights != 0
    positive, unlabeled = np.flatnonzero((codes >= 0) & counted), np.flatnonzero((codes == UNLABELED) & counted)
    positive = positive[Distinct(X[positive]).first]  # a held-out copy of a labeled row is above all others
    if len(positive) < FEWEST:
        raise ValueError(f"the share cannot be estimated from {len(positive)} distinct rows: label {FEWEST} or more")
    if len(unlabeled) < 10 * FEWEST:
        raise ValueError(f"the share cannot be estimated from {len(unlabeled)} unlabeled rows")
    # By values, and then by weights: the order of the caller's rows has no effect
    keys = Distinct(X[unlabeled]).find(X[unlabeled])
    unlabeled = unlabeled[np.lexsort((keys if weights is None else weights[unlabeled], keys))]
    random = np.random.default_rng(0)
    folds, drawn = random.permutation(len(positive)) % FOLDS, random.permutation(unlabeled)[:MOST_ROWS]
    if weights is not None and np.ptp(weights[unlabeled]) > 0:  # rows that stand for others
        drawn = random.choice(unlabeled, len(drawn), p=weights[unlabeled] / weights[unlabeled].sum())
    taken = {name: getattr(model, name) for name in ("alpha", "fit_intercept", "n_jobs")}
    above, agreement = _ranks(type(model)(method="switching", tol=_LOOSE, **taken), X, positive, folds, drawn)
    samples = (above[:, random.integers(len(positive), size=len(positive))] for _ in range(times))
    bounds = np.array([_bound(sample) for sample in samples])
    if np.quantile(bounds, (1 + level) / 2) >= LARGEST:
        raise ValueError("the unlabeled rows cannot be told from those of the only labeled class: label others, too")
    share = _share(_bound(above), agreement)
    deviation = np.hypot(np.std([np.log(_share(bound, agreement)) for bound in bounds]), WRONG)
    width = float(np.exp(norm.ppf((1 + level) / 2) * deviation))
    return Share(share, share / width, min(1.0, share * width))


def _ranks(
    model: Any, X: Any, positive: np.ndarray, folds: np.ndarray, unlabeled: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Part of the unlabeled rows above each held-out row (candidates, positive), and agreement k (candidates,)."""
    above, agreement = np.empty((len(CANDIDATES), len(positive))), np.empty(len(CANDIDATES))
    for c, candidate in enumerate(CANDIDATES):
        model.set_params(class_prior={0: 1 - candidate, 1: candidate})
        found = np.empty((FOLDS, len(unlabeled)), dtype=bool)
        tried = [_without(model, positive, folds == fold, unlabeled) for fold in range(FOLDS)]
        for fold, scores in enumerate(measured("shares", tried, X, _scores)):
            held = folds == fold
            mine, others = np.split(scores, [int(held.sum())])
            above[c, held] = _above(mine, others)
            found[fold] = others > np.quantile(others, 1 - candidate)
        agreement[c] = _kappa(found, candidate)
    return above, agreement


def _without(model: Any, positive: np.ndarray, held: np.ndarray, unlabeled: np.ndarray) -> Fold:
    """A fit without the labels of the held rows; these and the unlabeled ones are measured."""
    test = np.concatenate([positive[held], unlabeled])
    labels = np.full(len(positive) + len(unlabeled), None, dtype=object)
    labels[: np.sum(~held)] = 1
    return Fold(model, np.concatenate([positive[~held], test]), labels, test)


def _scores(model: Any, rows: Any, _: Any) -> np.ndarray:
    return np.asarray(model.decision_function(rows))


def _above(scores: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Part of the other scores above each score."""
    others = np.sort(others)
    return 1 - (np.searchsorted(others, scores, "left") + np.searchsorted(others, scores, "right")) / 2 / len(others)


def _kappa(found: np.ndarray, share: float) -> float:
    """Agreement of the folds on the rows that they find, beyond chance: 1 on the same rows, 0 where none finds any."""
    if not found.any():  # equal scores at the cut
        return 0.0
    yes = found.sum(axis=0)
    no = len(found) - yes
    agree = np.mean(yes * (yes - 1) + no * (no - 1)) / (len(found) * (len(found) - 1))
    chance = share**2 + (1 - share) ** 2
    return float((agree - chance) / (1 - chance))


def _bound(above: np.ndarray) -> float:
    """The smallest of twice the medians, one a candidate; at least half a row of MOST_ROWS."""
    return float(np.clip(2 * np.median(above, axis=1).min(), 0.5 / MOST_ROWS, 1))


def _share(bound: float, agreement: np.ndarray) -> float:
    """Mean of the candidates: near the bound, and where the folds agree; the bound where it is below them all."""
    if bound < CANDIDATES[0]:
        return bound
    logs = -(np.log(CANDIDATES / bound) ** 2) / 2 / SPREAD**2 - 2 * np.log(1.01 - agreement)
    weights = np.exp(logs - logs.max())
    return float(np.exp(weights @ np.log(CANDIDATES) / weights.sum()))
