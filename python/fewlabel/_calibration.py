"""Temperature scaling: one number that brings the scores of a classifier to the scale of probabilities.

Problem
    softmax(scores / T) should say how often a class is right. T > 0 keeps the order of the classes and of the rows.
Source
    C. Guo, G. Pleiss, Y. Sun and K. Weinberger. On Calibration of Modern Neural Networks. ICML 2017, section 4.2.
    J. Platt. Probabilistic Outputs for Support Vector Machines. 1999, section 2.2: targets that are not quite 0 and 1,
    so that a few rows that are all right do not give certainty.
Cost
    A search over one number, each step linear in the labeled rows.
"""

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

LEAST = 20  # different labeled rows that can be held out, below which nothing is calibrated
_WIDEST = np.log(1e4)  # largest |log T| in units of the spread of the scores
_PULL = 10.0  # of the biases to 0, in rows


def temperature(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray, usual: float | None = None) -> float:
    """T with the least log loss on scores (n, K) of rows of the classes `codes`, whose weights (n,) add up to a
    number of rows. Where the gain over a `usual` T is less than one standard deviation, log T goes that part of the
    way from the usual one."""
    spread = float(scores.std()) or 1.0
    target = _smoothed(codes, weights, scores.shape[1])

    def losses(T: float) -> np.ndarray:
        return -np.sum(target * log_softmax(scores / T, axis=1), axis=1)

    def loss(log_temperature: float) -> float:
        return float(losses(spread * np.exp(log_temperature)).sum())

    best = spread * float(np.exp(minimize_scalar(loss, bounds=(-_WIDEST, _WIDEST), method="bounded").x))
    if usual is None:
        return best
    gain = losses(usual) - losses(best)
    certainty = gain.sum() / max(np.sqrt(len(gain)) * gain.std(), 1e-300)
    return float(usual * (best / usual) ** np.clip(certainty, 0, 1))


def temperature_and_biases(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """T and biases (K,) for softmax(scores / T + biases): bias-corrected temperature scaling (Alexandari et al. 2020),
    with ½·10·‖biases‖² added to the sum of the log losses, as few labels say little of them."""
    spread, pull = float(scores.std()) or 1.0, _PULL / weights.sum()
    weights = weights / weights.sum()
    target = weights[:, None] * (np.arange(scores.shape[1]) == codes[:, None])

    def loss(at: np.ndarray) -> tuple[float, np.ndarray]:
        factor, biases = np.exp(at[0]) / spread, at[1:]
        logs = log_softmax(scores * factor + biases, axis=1)
        excess = weights[:, None] * np.exp(logs) - target
        value = -np.sum(target * logs) + pull / 2 * (biases @ biases)
        return value, np.append(np.sum(excess * scores) * factor, excess.sum(axis=0) + pull * biases)

    start = np.zeros(1 + scores.shape[1])
    bounds = [(-_WIDEST, _WIDEST)] + [(None, None)] * scores.shape[1]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return float(spread / np.exp(found.x[0])), found.x[1:]


def _smoothed(codes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Weighted targets (n, K): the class of a row gets (N + 1)/(N + 2) of it for N rows, the others share the rest."""
    rest = 1 / (weights.sum() + 2)
    target = np.full((len(codes), n_classes), rest / (n_classes - 1))
    target[np.arange(len(codes)), codes] = 1 - rest
    return weights[:, None] * target
