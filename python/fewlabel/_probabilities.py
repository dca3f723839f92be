"""Probabilities from scores, and the methods that depend on calibration."""

from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np
from scipy.special import log_softmax


def log_probabilities(scores: np.ndarray, temperature: float, smoothing: float) -> np.ndarray:
    """Log-softmax (n, K) of scores (n, K), calibrated unless the temperature is NaN.

    Calibrated scores are divided by the temperature, and the share `smoothing` of the probability is spread evenly.
    """
    if np.isnan(temperature):
        return log_softmax(scores, axis=1)
    logs = log_softmax(scores / temperature, axis=1)
    with np.errstate(divide="ignore"):  # labeled rows of negligible weight: all of the probability is spread
        return np.logaddexp(np.log1p(-smoothing) + logs, np.log(smoothing / scores.shape[1]))


class WhereCalibrated:
    """A method that an estimator with `_needs_calibration` has only with calibrate=True; the error explains it.

    scikit-learn's `available_if` would hide the message.
    """

    def __init__(self, method: Callable[..., np.ndarray]) -> None:
        self.method = method

    def __get__(self, estimator: Any, owner: type | None = None) -> Callable[..., np.ndarray]:
        if estimator is None:
            return self.method
        if estimator._needs_calibration and not estimator.calibrate:
            raise AttributeError(f"{type(estimator).__name__} has {self.method.__name__} only with calibrate=True")
        return MethodType(self.method, estimator)
