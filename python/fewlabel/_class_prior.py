"""The class shares of unlabeled rows, estimated where the labels were not drawn at random.

Problem
    Labeled rows have the shares π of the classes, unlabeled rows have unknown shares φ; within a class both are drawn
    alike (label shift). Find φ.
Symbols
    p_i(y)  probability of class y for the unlabeled row i, calibrated for the shares π
    n, l    unlabeled rows, labeled rows
    S, ψ    shares that are believed in, ψ, are worth S labeled rows
    C_ky    share of the labeled rows of class y for which k is predicted
Source
    M. Saerens, P. Latinne and C. Decaestecker. Adjusting the Outputs of a Classifier to New a Priori Probabilities.
    Neural Computation 2002, equation 2.9: φ(y) ← 1/n Σ_i p_i(y) φ(y)/π(y) / Σ_c p_i(c) φ(c)/π(c) =: r(y). Here with a
    Dirichlet prior, φ(y) ← (l r(y) + S ψ(y)) / (l + S): all that is known of the unlabeled rows came through l labels,
    so that they count as l rows, however many they are.
    A. Alexandari, A. Kundaje and A. Shrikumar. Maximum Likelihood with Bias-Corrected Calibration is Hard-To-Beat at
    Label Shift Adaptation. ICML 2020: the p_i that it needs.
    Z. Lipton, Y.-X. Wang and A. Smola. Detecting and Correcting for Label Shift with Black Box Predictors. ICML 2018:
    C φ = shares of the predictions.
Cost
    Six supervised fits of the labeled rows, a truncated singular value decomposition of at most 20,000 rows.
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls
from scipy.special import softmax
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from fewlabel import _calibration, _cross_fit, _data, _labels, _weights
from fewlabel._labels import listed

METHODS = ("em", "confusion")
ALPHA = 1e-3  # regularization of the supervised model
LEAST = 3  # labeled rows of each class, so that two are left where one is held out
_MOST_ROWS = 20_000  # unlabeled rows that are looked at: shares of them are known within 0.4 points
_BOOTSTRAP_ROWS = 2_000
_COMPONENTS = 50  # of the rows, beside their features
_PULL = 0.5  # of the label shares where nothing is told, in labeled rows for each class
_STEPS, _CHANGE = 1000, 1e-6


class Evidence(NamedTuple):
    """What cross-fitting says of the classes."""

    scores: np.ndarray  # (l, K) of labeled rows, from models that did not see them
    codes: np.ndarray  # (l,) their classes
    weights: np.ndarray  # (l,)
    unlabeled: np.ndarray  # (n, K) scores of unlabeled rows, from the model of all labels
    unlabeled_weights: np.ndarray  # (n,)

    @property
    def totals(self) -> np.ndarray:
        """Weight (K,) of the labeled rows of each class."""
        return np.bincount(self.codes, self.weights, minlength=self.scores.shape[1])


class Belief(NamedTuple):
    """Shares that were given, and what they are worth."""

    shares: np.ndarray  # (K,)
    strength: float  # in labeled rows
    totals: np.ndarray  # (K,) weight of the labeled rows of each class, held out or not
    free: np.ndarray  # (K,) whether the class has labels enough to leave its share


def estimate(
    X: Any, codes: np.ndarray, weights: np.ndarray | None, classes: np.ndarray, options: Mapping[str, Any]
) -> np.ndarray:
    """Share (K,) of each class among the unlabeled rows; where there are none, among the labeled ones."""
    check_labels(codes, weights, classes)
    if not unlabeled_rows(codes, weights).size:
        totals = np.bincount(codes[codes >= 0], None if weights is None else weights[codes >= 0])
        return totals / totals.sum()
    return shares(gather(X, codes, weights, options), "em")


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
    counts = label_counts(codes, weights, len(prior))
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
    found[known] = among * shares(gather(X, number[codes], weights, options), "em", belief=belief)
    return found, held


def check_labels(codes: np.ndarray, weights: np.ndarray | None, classes: np.ndarray) -> None:
    """Raise a ValueError that names the classes with too few labeled rows."""
    counts = label_counts(codes, weights, len(classes))
    few = np.flatnonzero(counts < LEAST)
    if few.size:
        have = ", ".join(f"class {classes[c]} has {counts[c]}" for c in few[:4]) + (", ..." if len(few) > 4 else "")
        raise ValueError(
            f"the class prior cannot be estimated: each class needs at least {LEAST} labeled rows, but {have}. Label "
            "more rows of these classes, or give class_prior"
        )


def label_counts(codes: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
    """Number (K,) of the labeled rows of each class that count."""
    counted = codes >= 0 if weights is None else (codes >= 0) & (weights > 0)
    return np.bincount(codes[counted], minlength=n_classes)


def unlabeled_rows(codes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Numbers of the unlabeled rows that count."""
    return np.flatnonzero(codes < 0 if weights is None else (codes < 0) & (weights > 0))


def gather(X: Any, codes: np.ndarray, weights: np.ndarray | None, options: Mapping[str, Any]) -> Evidence:
    """Cross-fit the supervised model, whose rows get their leading components as further features: these come from
    unlabeled rows too, and few labels go further with them."""
    if sp.issparse(X):
        _data.check_structure(X)
    weights = np.ones(len(codes)) if weights is None else weights
    labeled = np.flatnonzero((codes >= 0) & (weights > 0))
    unlabeled = _cross_fit.some(unlabeled_rows(codes, weights), _MOST_ROWS)
    rows = with_components(_cross_fit.taken(X, np.concatenate([labeled, unlabeled])))
    X_l, X_u = rows[: len(labeled)], rows[len(labeled) :]
    given, heavy = np.ascontiguousarray(codes[labeled]), np.ascontiguousarray(weights[labeled])
    totals = np.bincount(given, heavy)
    fitting = dict(options) | _cross_fit.class_options(totals / totals.sum(), None)
    fold = _cross_fit.choose(X_l, given)
    held = fold != _cross_fit.KEPT
    found = _cross_fit.scores(X_l, given, heavy, fold, fitting)
    whole = _cross_fit.fitted_scores(X_l, given, heavy, fitting, X_u)
    return Evidence(found[held], given[held], heavy[held], whole, weights[unlabeled])


def with_components(X: Any) -> Any:
    """Rows (n, d + 50) with their leading components, of the same mean length, beside them; few features stay alone."""
    if min(X.shape) <= 2 * _COMPONENTS:
        return X
    left, values, _ = randomized_svd(X, _COMPONENTS, n_iter=3, random_state=0)
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).mean())
    return sp.csr_matrix(sp.hstack([X, sp.csr_matrix(length * normalize(left * values))]))


def shares(
    evidence: Evidence, method: str, start: np.ndarray | None = None, belief: Belief | None = None
) -> np.ndarray:
    """Shares (K,) of the classes among the unlabeled rows, each above 0."""
    if method == "confusion":
        return _of_confusion(evidence)
    return _of_maximization(evidence, start, belief)


def _of_maximization(evidence: Evidence, start: np.ndarray | None, belief: Belief | None) -> np.ndarray:
    """The fixed point of EM, with a belief as if its shares were those of some further rows. Where none is given it is
    a weak one in the label shares: with many classes and few labels of each the likelihood alone takes all rows from
    some. Classes that are not free keep the share that is believed in."""
    totals = evidence.totals if belief is None else belief.totals
    labels = (totals + 1e-9 * totals.sum()) / (totals.sum() * (1 + 1e-9 * len(totals)))
    target, rows = (labels, _PULL * len(labels)) if belief is None else (belief.shares, belief.strength)
    free = np.ones(len(labels), dtype=bool) if belief is None else belief.free
    ratios = _calibrated(evidence, free) / labels
    weights = evidence.unlabeled_weights / evidence.unlabeled_weights.sum()
    pull = rows / totals.sum()
    prior = target if start is None else start
    for _ in range(_STEPS):
        joint = ratios * prior
        new = weights @ (joint / joint.sum(axis=1, keepdims=True)) + pull * target
        new = np.where(free, new * (target[free].sum() / new[free].sum()), target)
        change, prior = np.abs(new - prior).sum(), new
        if change < _CHANGE:
            break
    return prior / prior.sum()


def _calibrated(evidence: Evidence, free: np.ndarray) -> np.ndarray:
    """Probabilities (n, K) of the unlabeled rows, calibrated on the labeled rows of the classes that are free (K,)."""
    rows, column = free[evidence.codes], np.cumsum(free) - 1
    scores, codes = evidence.scores[rows][:, free], column[evidence.codes[rows]]
    T, found = _calibration.temperature_and_biases(scores, codes, evidence.weights[rows])
    biases = np.zeros(len(free))
    biases[free] = found
    return softmax(evidence.unlabeled / T + biases, axis=1)


def _of_confusion(evidence: Evidence) -> np.ndarray:
    """Least squares over shares of at least 0 for C φ = shares of the predictions; none is less than half a row."""
    K = evidence.scores.shape[1]
    answers = evidence.scores.argmax(axis=1)
    confusion = np.zeros((K, K))
    np.add.at(confusion, (answers, evidence.codes), evidence.weights)
    confusion /= np.maximum(evidence.totals, 1e-300)
    predicted = np.bincount(evidence.unlabeled.argmax(axis=1), evidence.unlabeled_weights, minlength=K)
    predicted = predicted / predicted.sum()
    heavy = 1e3  # of the equation that the shares add up to 1
    found, _ = nnls(np.vstack([confusion, np.full(K, heavy)]), np.append(predicted, heavy))
    found = np.maximum(found, 0.5 / len(evidence.unlabeled))
    return found / found.sum()


def bootstrap(evidence: Evidence, method: str, times: int, rng: np.random.Generator) -> np.ndarray:
    """Shares (times, K) with labeled rows drawn anew within each class, and unlabeled rows drawn anew."""
    whole = shares(evidence, method)
    members = [np.flatnonzero(evidence.codes == c) for c in range(len(whole))]
    found = np.empty((times, len(whole)))
    for i in range(times):
        rows = np.concatenate([rng.choice(own, len(own)) for own in members])
        drawn = rng.integers(len(evidence.unlabeled), size=min(len(evidence.unlabeled), _BOOTSTRAP_ROWS))
        again = Evidence(
            evidence.scores[rows],
            evidence.codes[rows],
            evidence.weights[rows],
            evidence.unlabeled[drawn],
            evidence.unlabeled_weights[drawn],
        )
        found[i] = shares(again, method, whole)
    return found


def refuse_strength(strength: Any) -> None:
    """Raise an error for what the parameter `prior_strength` cannot be."""
    if strength is None:
        return
    if not isinstance(strength, Real) or isinstance(strength, bool):
        raise TypeError(f"prior_strength must be a number of rows or None, got {strength!r}")
    if not 0 < float(strength) < np.inf:
        raise ValueError(f"prior_strength must be a finite number of rows above 0, or None, got {strength!r}")


def refuse_method(method: Any) -> None:
    """Raise a ValueError for a method that is not known."""
    if method not in METHODS:
        raise ValueError(f"method={method!r} is not known: choose from {listed(np.array(METHODS))}")
