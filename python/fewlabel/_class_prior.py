"""The class shares of unlabeled rows, estimated where nobody knows how the labels were chosen.

Problem
    Find the scores from which `_label_shift` finds the shares, and say how far off these may be.
Source
    M. Newton and A. Raftery. Approximate Bayesian Inference with the Weighted Likelihood Bootstrap. Journal of the
    Royal Statistical Society B 1994: the interval.
Rule
    Ours: the calibration is that of models that held labels out. The scores that the model of all labels gives
    unlabeled rows get, class by class, the mean and the standard deviation of those that these models give them
    (`_with_spread`).
Cost
    Sixteen supervised fits of the labeled rows, fifteen passes over 2,000 rows, a truncated singular value
    decomposition of at most 20,000 rows; the interval one further fit for each time that weights are drawn.
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
_SPREAD_ROWS = 2_000  # whose scores show where those of a model lie
_TAIL = 0.01  # of the rows at each end, whose scores count as those of the next rows
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


class Spread(NamedTuple):
    """Where the scores of unlabeled rows lie."""

    mean: np.ndarray  # (K,)
    deviation: np.ndarray  # (K,) standard deviation


class CrossFitted(NamedTuple):
    """Evidence, and the spread of unlabeled rows' scores on which it rests."""

    evidence: Evidence
    spread: Spread  # by the models that held labels out, on average
    whole: Spread  # by the model of all labels


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
    return cross_fitted(looked_at(X, codes, weights), options).evidence


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


def cross_fitted(rows: Rows, options: Mapping[str, Any]) -> CrossFitted:
    """Scores of labeled rows that were held out, for each choice of folds, and of the unlabeled rows."""
    fitting = fit_options(rows, options)
    given = rows.labeled, rows.codes, rows.weights
    some = _cross_fit.some(np.arange(rows.unlabeled.shape[0]), _SPREAD_ROWS)
    looked_at, weights = rows.unlabeled[some], rows.unlabeled_weights[some]
    found, numbers, spreads = [], [], []
    for seed in range(_FOLDINGS):
        fold = _cross_fit.choose(rows.labeled, rows.codes, seed=seed)
        scores = np.zeros((len(fold), _cross_fit.n_classes(fitting)))
        for out, model in _cross_fit.models(*given, fold, fitting):
            scores[out] = model.scores(rows.labeled[out])
            spreads.append(_spread(model.scores(looked_at), weights))
        numbers.append(np.flatnonzero(fold != _cross_fit.KEPT))
        found.append(scores[numbers[-1]])
    unlabeled = _cross_fit.fitted(*given, fitting).scores(rows.unlabeled)
    whole = _spread(unlabeled[some], weights)
    spread = Spread(*(np.mean(part, axis=0) for part in zip(*spreads, strict=True)))
    row = np.concatenate(numbers)
    evidence = Evidence(
        np.concatenate(found),
        rows.codes[row],
        rows.weights[row] / _FOLDINGS,
        _with_spread(unlabeled, whole, spread),
        rows.unlabeled_weights,
        row,
    )
    return CrossFitted(evidence, spread, whole)


def _spread(scores: np.ndarray, weights: np.ndarray) -> Spread:
    """Of the scores (n, K), drawn in to the range of all but the lowest and the highest hundredth of each class: a few
    rows of huge scores say nothing of the others."""
    low, high = _range(scores, weights)
    weights, inside = weights / weights.sum(), np.clip(scores, low, high)
    mean = weights @ inside
    return Spread(mean, np.sqrt(weights @ (inside - mean) ** 2))


def _range(scores: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The scores (K,) below which, and above which, lies a hundredth of the weight."""
    order = np.argsort(scores, axis=0, kind="stable")
    ordered, below = np.take_along_axis(scores, order, axis=0), np.cumsum(weights[order], axis=0)
    first, last = (np.sum(below < part * below[-1], axis=0) for part in (_TAIL, 1 - _TAIL))
    columns = np.arange(scores.shape[1])
    return ordered[first, columns], ordered[last, columns]


def _with_spread(scores: np.ndarray, own: Spread, wanted: Spread) -> np.ndarray:
    """Scores (n, K) of a model of all labels, given the spread of the models that held labels out, for which the
    calibration holds. With a quarter more labels scores lie closer together; a rare class is then a little more
    probable than its share, in all rows if few labels tell it apart, and would draw them all to it."""
    size = np.max(np.abs(own.mean) + np.abs(wanted.mean))
    wide = own.deviation > 1e-9 * np.maximum(size, wanted.deviation)  # with two classes the scores of one are all 0
    factor = np.where(wide, wanted.deviation / np.where(wide, own.deviation, 1.0), 1.0)
    return (scores - own.mean) * factor + wanted.mean


def fit_options(rows: Rows, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the library with those that the classes of the rows add."""
    totals = np.bincount(rows.codes, rows.weights)
    return dict(options) | _cross_fit.class_options(totals / totals.sum(), None)


def bootstrap(
    rows: Rows, known: CrossFitted, method: str, times: int, options: Mapping[str, Any], rng: np.random.Generator
) -> np.ndarray:
    """Shares (times, K), each with a model fitted anew. Labeled rows get random weights, exponentially distributed,
    with the same total in each class; unlabeled rows are drawn anew; the calibration expects random biases, from the
    distribution that its penalty stands for: few labels leave open what the penalty decides."""
    evidence, fitting = known.evidence, fit_options(rows, options)
    start, totals = _label_shift.shares(evidence, method), np.bincount(rows.codes, rows.weights)
    n, K = rows.unlabeled.shape[0], len(start)
    found = np.empty((times, K))
    for i in range(times):
        luck = rng.exponential(size=len(rows.codes))
        luck *= (totals / np.bincount(rows.codes, rows.weights * luck))[rows.codes]
        drawn = rng.integers(n, size=min(n, _BOOTSTRAP_ROWS))
        model = _cross_fit.fitted(rows.labeled, rows.codes, rows.weights * luck, fitting)
        again = evidence._replace(
            weights=evidence.weights * luck[evidence.numbers],
            unlabeled=_with_spread(model.scores(rows.unlabeled[drawn]), known.whole, known.spread),
            unlabeled_weights=rows.unlabeled_weights[drawn],
        )
        found[i] = _label_shift.shares(again, method, start, biases=_calibration.random_biases(K, rng))
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
