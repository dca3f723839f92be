"""Probabilities from scores, for the classifiers that have them."""

from typing import Any

import numpy as np

from fewlabel import _advice, _calibration, _cross_fit


class Probabilities:
    """Adds `predict_proba` to a classifier with scores, a temperature and a smoothing."""

    classes_: np.ndarray
    temperature_: float
    smoothing_: float
    decision_function: Any

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class for each row: the softmax of the scores divided by `temperature_`, of which
        `smoothing_` is spread evenly over the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes), float64
            In the order of `classes_`; a row sums to 1.

        Warns
        -----
        UserWarning
            If the probabilities are not calibrated, as fewer than 20 labeled rows could be held out or `cross_fit` is
            False.
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

        Warns
        -----
        UserWarning
            As `predict_proba`.
        """
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.zeros((len(scores), 1))
        temperature = self.temperature_
        if np.isnan(temperature):
            _advice.not_calibrated(_calibration.LEAST)
            temperature = 1.0
        return _calibration.log_probabilities(_cross_fit.by_class(scores), temperature, self.smoothing_)
