"""Calibration: scores of a classifier as probabilities, by one temperature and a little smoothing.

Problem
    (1 - e) softmax(scores / T) + e/K should say how often a class is right. It keeps the order of the classes and of
    the rows.
Symbols
    K classes, n labeled rows that were held out, T > 0 temperature, e smoothing: c K / (n + c K) with c = 0.2.
Rule
    e is what c rows of each class, added to the n, would do to shares: with few labels of a class no row is certain,
    and with many it goes to 0. T is the mode of the posterior of log T: the log loss of the rows held out, and around
    the usual T a Cauchy prior of width 0.1. Its middle is narrow, so that T leaves the usual one only if the labels
    demand it; its tails are so flat that they then decide nearly alone. Both numbers were chosen on other draws than
    those of the benchmarks.
Source
    C. Guo, G. Pleiss, Y. Sun and K. Weinberger. On Calibration of Modern Neural Networks. ICML 2017, section 4.2.
    J. Platt. Probabilistic Outputs for Support Vector Machines. 1999, section 2.2: that few rows that are all right do
    not give certainty.
    A. Gelman, A. Jakulin, M. Pittau and Y. Su. A Weakly Informative Default Prior Distribution for Logistic and Other
    Regression Models. Annals of Applied Statistics 2008: the Cauchy prior.
Cost
    A search over one number, each step linear in the labeled rows.
"""

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

LEAST = 20  # different labeled rows that can be held out, below which nothing is calibrated
USUAL = {"maxent": 1.0}  # T by the loss: the scores of this one are logarithms of odds
USUAL_OF_MARGINS = 0.2  # of the other losses, whose margins end near 1
_WIDTH = 0.1  # of the prior of log T
_ROWS = 0.2  # c: rows of each class that smooth
_STEPS = np.linspace(-12, 12, 121)  # of log T from the usual one, between which the best is looked for
_WIDEST = np.log(1e4)  # largest |log T| in units of the spread of the scores
_PULL = 5.0  # of the biases, in rows: 1 / variance that biases were seen to have on text of 8 and 20 classes


def temperature(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray, usual: float = 1.0) -> float:
    """T of scores (n, K) of rows of the classes `codes`, whose weights (n,) add up to a number of rows."""
    share = smoothing(float(weights.sum()), scores.shape[1])
    rows = np.arange(len(codes))

    def loss(step: float) -> float:
        logs = log_probabilities(scores, usual * np.exp(step), share)[rows, codes]
        return float(np.log1p((step / _WIDTH) ** 2) - weights @ logs)

    start = _STEPS[np.argmin([loss(step) for step in _STEPS])]
    near = (start - _STEPS[1] + _STEPS[0], start + _STEPS[1] - _STEPS[0])
    return float(usual * np.exp(minimize_scalar(loss, bounds=near, method="bounded").x))


def smoothing(n_rows: float, n_classes: int) -> float:
    """Share e of the probability that is spread over all classes, with that many labeled rows."""
    return _ROWS * n_classes / (n_rows + _ROWS * n_classes)


def log_probabilities(scores: np.ndarray, temperature: float, smoothing: float) -> np.ndarray:
    """Logarithms (n, K) of the probabilities of scores (n, K)."""
    logs = log_softmax(scores / temperature, axis=1)
    if smoothing == 0:
        return logs
    with np.errstate(divide="ignore"):  # labeled rows of next to no weight: all of it is spread, and nothing left
        left = np.log1p(-smoothing)
    return np.logaddexp(left + logs, np.log(smoothing / scores.shape[1]))


def temperature_and_biases(
    scores: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    expected: np.ndarray | None = None,
    along: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:
    """T and biases (K,) for softmax(scores / T + biases): bias-corrected temperature scaling (Alexandari et al. 2020),
    with ½·5·‖biases - expected‖² added to the sum of the log losses, as few labels say little of them; nothing else
    said, 0 is expected. A multiple of `along` (K,) is added to the biases, which costs nothing."""
    K, spread, pull = scores.shape[1], float(scores.std()) or 1.0, _PULL / weights.sum()
    weights = weights / weights.sum()
    target = weights[:, None] * (np.arange(K) == codes[:, None])
    center = np.zeros(K) if expected is None else expected
    line = np.zeros(K) if along is None else along - along.mean()

    def loss(at: np.ndarray) -> tuple[float, np.ndarray]:
        factor, multiple, biases = np.exp(at[0]) / spread, at[1], at[2:]
        logs = log_softmax(scores * factor + biases + multiple * line, axis=1)
        excess = weights[:, None] * np.exp(logs) - target
        apart, sums = biases - center, excess.sum(axis=0)
        value = -np.sum(target * logs) + pull / 2 * (apart @ apart)
        return value, np.concatenate([[np.sum(excess * scores) * factor, sums @ line], sums + pull * apart])

    start = np.concatenate([[0.0, 0.0], center])
    bounds = [(-_WIDEST, _WIDEST)] + [(None, None)] * (K + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(spread / np.exp(found[0])), found[2:] + found[1] * line


def random_biases(n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Biases (K,) from the normal distribution whose log density is the penalty of `temperature_and_biases`."""
    return rng.normal(scale=_PULL**-0.5, size=n_classes)
