"""A fitted linear model as an estimator of scikit-learn."""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

_COPIED = ("classes_", "coef_", "intercept_", "n_features_in_", "feature_names_in_", "n_iter_")


def as_sklearn(model: Any) -> Any:
    """LinearSVC or LogisticRegression with the weights of a model."""
    if len(model.classes_) < 2:
        raise ValueError(f"the model has only one class, {model.classes_[0]}: scikit-learn has no such linear model")
    kind = LogisticRegression if model.loss == "maxent" else LinearSVC
    copy = kind(fit_intercept=model.fit_intercept)
    for name in _COPIED:
        if hasattr(model, name):
            value = getattr(model, name)
            setattr(copy, name, value.copy() if isinstance(value, np.ndarray) else value)
    return copy
