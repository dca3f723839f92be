"""The class shares of unlabeled rows from scores: labels may have been picked, scores of a class are what they are.

Problem
    Labeled rows have the shares π of the classes, unlabeled rows have unknown shares φ; within a class both are drawn
    alike (label shift). Find φ from scores: of labeled rows by models that did not see them, and of unlabeled rows.
Symbols
    p_i(y)  probability of class y for the unlabeled row i, calibrated for the shares π
    n, l    unlabeled rows, labeled rows
    S, ψ    shares that are believed in, ψ, are worth S labeled rows
    ρ       chance that the labels were drawn at random (`at_random`)
    e       how hard the classes are to tell apart (`_difficulty`)
    C_ky    share of the labeled rows of class y for which k is predicted
Source
    M. Saerens, P. Latinne and C. Decaestecker. Adjusting the Outputs of a Classifier to New a Priori Probabilities.
    Neural Computation 2002, equation 2.9: φ(y) ← 1/n Σ_i p_i(y) φ(y)/π(y) / Σ_c p_i(c) φ(c)/π(c) =: r(y). Here with a
    Dirichlet prior, φ(y) ← (l r(y) + S ψ(y)) / (l + S): all that is known of the unlabeled rows came through l labels,
    so that they count as l rows, however many they are. Where nothing is believed ψ are the shares of the labels, and S
    is half a row a class.
    A. Alexandari, A. Kundaje and A. Shrikumar. Maximum Likelihood with Bias-Corrected Calibration is Hard-To-Beat at
    Label Shift Adaptation. ICML 2020: the p_i that it needs.
    Z. Lipton, Y.-X. Wang and A. Smola. Detecting and Correcting for Label Shift with Black Box Predictors. ICML 2018:
    C φ = shares of the predictions.
Rule
    Ours, for labels that may have been drawn at random: π count as ρ l e rows beside S, and p_i(y)/π(y) is a geometric
    mean, with weights ρ and 1-ρ, of two forms (`_log_ratios`): labels drawn at random must have the mean probability of
    their share. EM first takes the form for random labels and π as 0.05 l e rows; ρ follows from what it finds; then EM
    goes on.
Stops
    EM when no step changes the shares by more than 1e-6 in sum, or after 1,000 steps.
Cost
    Passes over the n K scores; nothing is fitted here.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls
from scipy.special import gammaln, log_softmax, softmax

from fewlabel import _calibration
from fewlabel._labels import listed

METHODS = ("em", "confusion")
_PULL = 0.5  # of the label shares where nothing is told, in labeled rows for each class
_SUSPICION = 0.05  # of what labels' shares are worth that were drawn at random, until it is known whether they were
_WORTH = 1 / 3  # of a labeled row, in rows from which the shares found would be known
_STEPS, _CHANGE = 1000, 1e-6


class Evidence(NamedTuple):
    """What cross-fitting says of the classes; m counts a labeled row once for each choice of folds."""

    scores: np.ndarray  # (m, K) of labeled rows, from models that did not see them
    codes: np.ndarray  # (m,) their classes
    weights: np.ndarray  # (m,), which add up to those of the labeled rows
    unlabeled: np.ndarray  # (n, K) scores of unlabeled rows, from the model of all labels
    unlabeled_weights: np.ndarray  # (n,)
    numbers: np.ndarray  # (m,) of the labeled rows

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


def shares(
    evidence: Evidence,
    method: str,
    start: np.ndarray | None = None,
    belief: Belief | None = None,
    biases: np.ndarray | None = None,
) -> np.ndarray:
    """Shares (K,) of the classes among the unlabeled rows, each above 0. EM begins at `start`, and its calibration
    expects `biases` (K,), without which it expects none."""
    if method == "confusion":
        return _of_confusion(evidence)
    return _of_maximization(evidence, start, belief, biases)


def _of_maximization(
    evidence: Evidence, start: np.ndarray | None, belief: Belief | None, expected: np.ndarray | None
) -> np.ndarray:
    """The fixed point of EM, with a belief as if its shares were those of some further rows. Where none is given it is
    a weak one in the label shares: with many classes and few labels of each the likelihood alone takes all rows from
    some. The more the labels look as if they were drawn at random from what is found, the more their shares count
    beside it, and the more the probabilities must agree with them (`_log_ratios`). Classes that are not free keep the
    share that is believed in."""
    K, weights = evidence.scores.shape[1], evidence.unlabeled_weights
    labels = _label_shares(evidence.totals if belief is None else belief.totals)
    if belief is None:
        belief = Belief(labels, _PULL * K, evidence.totals, np.ones(K, dtype=bool))
    picked = _log_ratios(evidence, labels, belief.free, expected, drawn=False)
    drawn = _log_ratios(evidence, labels, belief.free, expected, drawn=True)
    worth = belief.totals.sum() * _difficulty(evidence, labels)  # of the labels' shares if they were drawn at random
    found = _fixed_point(np.exp(drawn), weights, _beside(belief, labels, _SUSPICION * worth), start)
    chance = at_random(belief.totals, found)
    ratios = np.exp(chance * drawn + (1 - chance) * picked)
    return _fixed_point(ratios, weights, _beside(belief, labels, chance * worth), found)


def _beside(belief: Belief, labels: np.ndarray, worth: float) -> Belief:
    """A belief with the labels' shares (K,) beside what was believed of the free classes, worth that many rows."""
    shares, free = belief.shares.copy(), belief.free
    strength = belief.strength + worth
    among = labels[free] * (shares[free].sum() / labels[free].sum())
    shares[free] = (belief.strength / strength) * shares[free] + (worth / strength) * among
    return belief._replace(shares=shares, strength=strength)


def _label_shares(totals: np.ndarray) -> np.ndarray:
    """Shares (K,) of the labeled rows, none of them 0."""
    return (totals + 1e-9 * totals.sum()) / (totals.sum() * (1 + 1e-9 * len(totals)))


def _difficulty(evidence: Evidence, labels: np.ndarray) -> float:
    """How much the labels' shares (K,) know beside the unlabeled rows, both from the same labels: the share of wrong
    answers on rows held out, from which the variance of the estimate comes, over the variance of the labels' shares,
    each summed over the classes and times the number of labels. 0: no answer is wrong; 1: answers are guesses."""
    wrong = np.average(evidence.scores.argmax(axis=1) != evidence.codes, weights=evidence.weights)
    return float(min(1.0, wrong / (1 - labels @ labels)))


def at_random(totals: np.ndarray, found: np.ndarray) -> float:
    """Probability that labeled rows of the weights `totals` (K,) were drawn at random from shares `found` (K,).

    Against two other stories, all three as likely beforehand: they were picked, as many of each class or as few more as
    the number demands; or they were picked somehow, any shares being as likely as any other. The shares that were found
    count as known from a third as many rows as have labels.
    """
    n, K = totals.sum(), len(totals)

    def log_likelihood(rows: np.ndarray) -> float:
        """Of the totals, shares being distributed as after so many rows of each class (Dirichlet-multinomial)."""
        terms = gammaln(totals + rows) - gammaln(rows) - gammaln(totals + 1)
        return float(gammaln(n + 1) + gammaln(rows.sum()) - gammaln(n + rows.sum()) + terms.sum())

    remainder = n - K * np.floor(n / K)
    ways = gammaln(K + 1) - gammaln(remainder + 1) - gammaln(K - remainder + 1)
    equal = -ways if np.ptp(totals) <= 1 + 1e-9 else -np.inf  # sums are rounded
    stories = np.array([log_likelihood(found * n * _WORTH), log_likelihood(np.ones(K)), equal])
    return float(softmax(stories)[0])


def _fixed_point(
    ratios: np.ndarray, unlabeled_weights: np.ndarray, belief: Belief, start: np.ndarray | None
) -> np.ndarray:
    """Shares (K,) from the probabilities (n, K) of unlabeled rows, divided by the shares that these stand for."""
    target, free = belief.shares, belief.free
    weights, pull = unlabeled_weights / unlabeled_weights.sum(), belief.strength / belief.totals.sum()
    prior = target if start is None else start
    for _ in range(_STEPS):
        joint = ratios * prior
        new = weights @ (joint / joint.sum(axis=1, keepdims=True)) + pull * target
        new = np.where(free, new * (target[free].sum() / new[free].sum()), target)
        change, prior = np.abs(new - prior).sum(), new
        if change < _CHANGE:
            break
    return prior / prior.sum()


def _log_ratios(
    evidence: Evidence, labels: np.ndarray, free: np.ndarray, expected: np.ndarray | None, drawn: bool
) -> np.ndarray:
    """Logarithms (n, K) of the probabilities of unlabeled rows, divided by the shares that these stand for. They are
    calibrated on the labeled rows of the classes that are free (K,).

    If labels were drawn at random, rare classes have few, of which a model makes low scores that are nearly the same
    for all rows. Then one number more is fitted, for how much the share of a class moves its bias; and each class is
    divided by its mean probability on the rows held out, not by its share of them: a class of which the model knows
    nothing must have the ratio 1, as a little more, in all rows, would draw them all to it. Where labels were picked,
    as many of each class, that mean differs from the share by chance, and the share measures better.
    """
    rows, column = free[evidence.codes], np.cumsum(free) - 1
    scores, codes, weights = evidence.scores[rows][:, free], column[evidence.codes[rows]], evidence.weights[rows]
    some = None if expected is None else expected[free]
    along = np.log(labels[free]) if drawn else None
    T, found = _calibration.temperature_and_biases(scores, codes, weights, some, along)
    biases, shares = np.zeros(len(free)), labels.copy()
    biases[free] = found
    if drawn:
        mean = weights @ softmax(scores / T + found, axis=1) / weights.sum()
        shares[free] = labels[free].sum() * np.maximum(mean, 1e-100)
    return log_softmax(evidence.unlabeled / T + biases, axis=1) - np.log(shares)


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


def refuse_method(method: Any) -> None:
    """Raise a ValueError for a method that is not known."""
    if method not in METHODS:
        raise ValueError(f"method={method!r} is not known: choose from {listed(np.array(METHODS))}")
