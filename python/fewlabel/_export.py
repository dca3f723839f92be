"""A fitted linear model as an estimator of scikit-learn."""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

_COPIED = ("classes_", "coef_", "intercept_", "n_features_in_", "feature_names_in_", "n_iter_")


def as_sklearn(model: Any) -> Any:
    """LinearSVC or LogisticRegression with the weights of a model, behind the transformer of a kernel."""
    if len(model.classes_) < 2:
        raise ValueError(f"the model has only one class, {model.classes_[0]}: scikit-learn has no such linear model")
    kind = LogisticRegression if model.loss == "maxent" else LinearSVC
    copy = kind(fit_intercept=model.fit_intercept)
    features = getattr(model, "features_", None)
    for name in _COPIED:
        if hasattr(model, name) and (features is None or not name.endswith("in_")):
            value = getattr(model, name)
            setattr(copy, name, value.copy() if isinstance(value, np.ndarray) else value)
    if features is None:
        return copy
    copy.n_features_in_ = model.coef_.shape[1]
    return make_pipeline(features, copy)
