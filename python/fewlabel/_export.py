"""A fitted linear model as an estimator of scikit-learn."""

from typing import Any

import numpy as np
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import LabelEncoder
from sklearn.svm import LinearSVC

_COPIED = ("n_features_in_", "feature_names_in_", "n_iter_")


def as_sklearn(model: Any, calibrated: bool) -> Any:
    """LinearSVC or LogisticRegression with the weights of a model, or a VotingClassifier with its probabilities."""
    if len(model.classes_) < 2:
        raise ValueError(f"the model has only one class, {model.classes_[0]}: scikit-learn has no such linear model")
    if calibrated and model.calibrate and np.isfinite(model.calibration_temperature_):
        return _calibrated(model)
    kind = LogisticRegression if model.loss == "maxent" else LinearSVC
    return _linear(kind(fit_intercept=model.fit_intercept), model, model.classes_, 1.0)


def _linear(copy: Any, model: Any, classes: np.ndarray, scale: float) -> Any:
    """An estimator with the weights of a model times a number."""
    copy.classes_, copy.coef_, copy.intercept_ = classes.copy(), model.coef_ * scale, model.intercept_ * scale
    vars(copy).update({name: value for name, value in vars(model).items() if name in _COPIED})
    return copy


def _calibrated(model: Any) -> Any:
    """The mean of the scaled scores' probabilities and of equal ones, weighted by the smoothing."""
    numbers, smoothing = np.arange(len(model.classes_)), model.calibration_smoothing_
    scales = {"model": 1 / model.calibration_temperature_, "uniform": 0.0}
    parts = {name: _linear(LogisticRegression(), model, numbers, scale) for name, scale in scales.items()}
    vote = VotingClassifier(list(parts.items()), voting="soft", flatten_transform=False)
    vote.weights = np.array([1 - smoothing, smoothing])  # skl2onnx takes no list
    vote.estimators_, vote.le_ = list(parts.values()), LabelEncoder().fit(model.classes_)
    vote.classes_ = vote.le_.classes_
    if hasattr(model, "feature_names_in_"):
        vote.feature_names_in_ = model.feature_names_in_
    return vote
