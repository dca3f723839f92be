"""Probabilities from scores, for the classifiers that have them."""

from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np
from scipy.special import log_softmax

from fewlabel import _advice


class Probabilities:
    """Adds `predict_proba` to a classifier with scores, and a calibration."""

    classes_: np.ndarray
    calibrate: bool
    calibration_temperature_: float
    calibration_smoothing_: float
    decision_function: Any

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class for each row: the softmax of the scores, calibrated if the fit was.

        Calibrated scores are divided by `calibration_temperature_`, and the share `calibration_smoothing_` of the
        probability is spread evenly over the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes), float64
            In the order of `classes_`; a row sums to 1.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithm of the probability of each class for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        logarithms : ndarray of shape (n_rows, n_classes), float64
            In the order of `classes_`.
        """
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.zeros((len(scores), 1))
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        if np.isnan(self.calibration_temperature_):
            if self.calibrate:
                _advice.not_calibrated()
            return log_softmax(scores, axis=1)
        logs = log_softmax(scores / self.calibration_temperature_, axis=1)
        with np.errstate(divide="ignore"):  # labeled rows of negligible weight: all of the probability is spread
            kept = np.log1p(-self.calibration_smoothing_)
            spread = np.log(self.calibration_smoothing_ / scores.shape[1])
        return np.logaddexp(kept + logs, spread)


class WhereCalibrated:
    """A method that exists only where the parameters ask for calibrated probabilities; else the error names the cure.

    scikit-learn's `available_if` does not let the message through.
    """

    def __init__(self, method: Callable[..., np.ndarray]) -> None:
        self.method = method

    def __get__(self, estimator: Any, owner: type | None = None) -> Callable[..., np.ndarray]:
        if estimator is None:
            return self.method
        if not estimator.calibrate:
            raise AttributeError(
                f"{type(estimator).__name__} has {self.method.__name__} only with calibrate=True: its "
                "probabilities are calibrated on labeled rows that `fit` holds out in turn"
            )
        return MethodType(self.method, estimator)
