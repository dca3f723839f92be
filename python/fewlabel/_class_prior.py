"""The class shares of unlabeled rows, estimated where nobody knows how the labels were chosen.

Problem
    Find the scores from which `_label_shift` finds the shares, and say how far off these may be.
Source
    M. Newton and A. Raftery. Approximate Bayesian Inference with the Weighted Likelihood Bootstrap. Journal of the
    Royal Statistical Society B 1994: the interval.
Cost
    Sixteen supervised fits of the labeled rows, a truncated singular value decomposition of at most 20,000 rows; the
    interval one further fit for each time that weights are drawn.
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import t as student
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from fewlabel import _calibration, _cross_fit, _data, _label_shift, _labels, _weights
from fewlabel._label_shift import Belief, Evidence

ALPHA = 1e-3  # regularization of the supervised model
LEAST = 3  # different labeled rows of each class, so that two are left where one is held out
MOST_ROWS = 20_000  # unlabeled rows that are looked at: shares of them are known within 0.4 points
_BOOTSTRAP_ROWS = 2_000
_FOLDINGS = 3  # choices of folds, as the estimate depends on which rows are held out together
_COMPONENTS = 50  # of the rows, beside their features
_COMPONENTS_LENGTH = 0.5  # of the components of a row, times the mean length of a row
_LEAST_WEIGHT = 1e-100  # of all labeled rows
_LARGEST = 1e100  # prior_strength, as other parameters


class Rows(NamedTuple):
    """The rows that are looked at, with their leading components beside them."""

    labeled: Any  # (l, d + 50), CSR
    codes: np.ndarray  # (l,) their classes
    weights: np.ndarray  # (l,)
    unlabeled: Any  # (n, d + 50), CSR
    unlabeled_weights: np.ndarray  # (n,)


def estimate(
    X: Any, codes: np.ndarray, weights: np.ndarray | None, classes: np.ndarray, options: Mapping[str, Any]
) -> np.ndarray:
    """Share (K,) of each class among the unlabeled rows; where there are none, among the labeled ones."""
    check_labels(X, codes, weights, classes)
    if not unlabeled_rows(codes, weights).size:
        totals = np.bincount(codes[codes >= 0], None if weights is None else weights[codes >= 0])
        return totals / totals.sum()
    return _label_shift.shares(gather(X, codes, weights, options), "em")


def soften(
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray | None,
    prior: np.ndarray,
    strength: float,
    options: Mapping[str, Any],
) -> tuple[np.ndarray, np.ndarray]:
    """Shares (K,) where those given, `prior` (K,), are worth so many labeled rows; and which classes (K,) have too few
    labels to say more of: these keep the share that was given."""
    counts = label_counts(X, codes, weights, len(prior))
    held = counts < LEAST
    if not unlabeled_rows(codes, weights).size:
        return prior, np.zeros_like(held)
    if np.sum(~held) < 2:
        return prior, held
    known = np.flatnonzero(counts)
    number = np.full(len(prior) + 1, _labels.UNLABELED, dtype=np.int32)  # the last one is that of unlabeled rows
    number[known] = np.arange(len(known))
    totals, among = _weights.labeled_totals(codes, weights, len(prior)), prior[known].sum()
    belief = Belief(prior[known] / among, strength, totals[known], ~held[known])
    found = prior.copy()
    found[known] = among * _label_shift.shares(gather(X, number[codes], weights, options), "em", belief=belief)
    return found, held


def check_labels(X: Any, codes: np.ndarray, weights: np.ndarray | None, classes: np.ndarray) -> None:
    """Raise a ValueError that names the classes with too few different labeled rows, or of too little weight."""
    counts = label_counts(X, codes, weights, len(classes))
    few = np.flatnonzero(counts < LEAST)
    if few.size:
        have = ", ".join(f"class {classes[c]} has {counts[c]}" for c in few[:4]) + (", ..." if len(few) > 4 else "")
        raise ValueError(
            f"the class prior cannot be estimated: each class needs at least {LEAST} different labeled rows, but "
            f"{have}. Label more rows of these classes, or give class_prior"
        )
    _weights.resolve_class_prior(None, classes, _weights.labeled_totals(codes, weights, len(classes)))


def label_counts(X: Any, codes: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
    """Number (K,) of the different labeled rows of each class that count."""
    if sp.issparse(X):
        _data.check_structure(X)
    labeled = np.flatnonzero(codes >= 0 if weights is None else (codes >= 0) & (weights > 0))
    rows, known = _cross_fit.taken(X, labeled), codes[labeled]
    return np.array([_cross_fit.n_different(rows[np.flatnonzero(known == c)]) for c in range(n_classes)])


def unlabeled_rows(codes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Numbers of the unlabeled rows that count."""
    return np.flatnonzero(codes < 0 if weights is None else (codes < 0) & (weights > 0))


def gather(X: Any, codes: np.ndarray, weights: np.ndarray | None, options: Mapping[str, Any]) -> Evidence:
    """Cross-fit the supervised model; `options` are those of the library, without the classes."""
    return cross_fitted(looked_at(X, codes, weights), options)


def looked_at(X: Any, codes: np.ndarray, weights: np.ndarray | None) -> Rows:
    """The rows get their leading components as further features: these come from unlabeled rows too, and few labels go
    further with them."""
    weights = np.ones(len(codes)) if weights is None else weights
    labeled = np.flatnonzero((codes >= 0) & (weights > 0))
    total = weights[labeled].sum()
    if total < _LEAST_WEIGHT:
        raise ValueError(
            f"sample_weight gives the labeled rows the total weight {total:.3g}, which counts as a number of rows "
            "where class shares are found: multiply sample_weight by a constant"
        )
    unlabeled = _cross_fit.some(unlabeled_rows(codes, weights), MOST_ROWS)
    rows = with_components(_cross_fit.taken(X, np.concatenate([labeled, unlabeled])))
    given = np.ascontiguousarray(codes[labeled])
    heavy = np.ascontiguousarray(weights[labeled])
    return Rows(rows[: len(labeled)], given, heavy, rows[len(labeled) :], weights[unlabeled])


def with_components(X: Any) -> Any:
    """Rows (n, d + 50) with their leading components, of half the mean length, beside them; few features stay alone."""
    if min(X.shape) <= 2 * _COMPONENTS:
        return X
    left, values, _ = randomized_svd(X, _COMPONENTS, n_iter=3, random_state=0)
    length = _COMPONENTS_LENGTH * np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).mean())
    return sp.csr_matrix(sp.hstack([X, sp.csr_matrix(length * normalize(left * values))]))


def cross_fitted(rows: Rows, options: Mapping[str, Any]) -> Evidence:
    """Scores of labeled rows that were held out, for each choice of folds, and of the unlabeled rows."""
    fitting = fit_options(rows, options)
    found, numbers = [], []
    for seed in range(_FOLDINGS):
        fold = _cross_fit.choose(rows.labeled, rows.codes, seed=seed)
        held = np.flatnonzero(fold != _cross_fit.KEPT)
        found.append(_cross_fit.scores(rows.labeled, rows.codes, rows.weights, fold, fitting)[held])
        numbers.append(held)
    whole = _cross_fit.fitted_scores(rows.labeled, rows.codes, rows.weights, fitting, rows.unlabeled)
    row = np.concatenate(numbers)
    weights = rows.weights[row] / _FOLDINGS
    return Evidence(np.concatenate(found), rows.codes[row], weights, whole, rows.unlabeled_weights, row)


def fit_options(rows: Rows, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the library with those that the classes of the rows add."""
    totals = np.bincount(rows.codes, rows.weights)
    return dict(options) | _cross_fit.class_options(totals / totals.sum(), None)


def bootstrap(
    rows: Rows, evidence: Evidence, method: str, times: int, options: Mapping[str, Any], rng: np.random.Generator
) -> np.ndarray:
    """Shares (times, K), each with a model fitted anew. Labeled rows get random weights, exponentially distributed,
    with the same total in each class; unlabeled rows are drawn anew; the calibration expects random biases, from the
    distribution that its penalty stands for: few labels leave open what the penalty decides."""
    whole, fitting = _label_shift.shares(evidence, method), fit_options(rows, options)
    totals, n = np.bincount(rows.codes, rows.weights), rows.unlabeled.shape[0]
    found = np.empty((times, len(whole)))
    for i in range(times):
        luck = rng.exponential(size=len(rows.codes))
        luck *= (totals / np.bincount(rows.codes, rows.weights * luck))[rows.codes]
        drawn = rng.integers(n, size=min(n, _BOOTSTRAP_ROWS))
        again = evidence._replace(
            weights=evidence.weights * luck[evidence.numbers],
            unlabeled=_cross_fit.fitted_scores(
                rows.labeled, rows.codes, rows.weights * luck, fitting, rows.unlabeled[drawn]
            ),
            unlabeled_weights=rows.unlabeled_weights[drawn],
        )
        found[i] = _label_shift.shares(again, method, whole, biases=_calibration.random_biases(len(whole), rng))
    return found


def interval(found: np.ndarray, drawn: np.ndarray, confidence_level: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends (K,) of the interval around shares `found` (K,), by the mean square distance from them of those `drawn`
    (times, K): what the estimate is off on average counts as what it is off by chance."""
    apart = np.sqrt(np.mean((drawn - found) ** 2, axis=0))
    reach = student.ppf((1 + confidence_level) / 2, len(drawn) - 1) * apart
    return np.maximum(found - reach, 0), np.minimum(found + reach, 1)


def refuse_strength(strength: Any) -> None:
    """Raise an error for what the parameter `prior_strength` cannot be."""
    if strength is None:
        return
    if not isinstance(strength, Real) or isinstance(strength, bool):
        raise TypeError(f"prior_strength must be a number of rows or None, got {strength!r}")
    if not 0 < float(strength) <= _LARGEST:
        raise ValueError(
            f"prior_strength must be a number of rows above 0 and at most {_LARGEST:g}, or None, got {strength!r}"
        )
