"""scikit-learn's checks of variants of an estimator: with its defaults test_estimator_checks.py has them all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

LABELS_AND_WEIGHTS = (
    "check_classifiers_classes",
    "check_classifiers_one_label",
    "check_classifiers_one_label_sample_weights",
    "check_classifiers_regression_target",
    "check_classifiers_train",
    "check_class_weight_classifiers",
    "check_decision_proba_consistency",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_supervised_y_2d",
)
ROWS = (
    "check_estimator_sparse_array",
    "check_estimators_dtypes",
    "check_estimators_nan_inf",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_transformer_general",
)


def variants(estimators: Iterable[Any], checks: tuple[str, ...]) -> pytest.MarkDecorator:
    """Parameters `estimator` and `check`: the checks named, the first form of each."""
    pairs = []
    for number, estimator in enumerate(estimators):
        found: dict[str, Any] = {}
        for made, check in estimator_checks_generator(estimator):
            found.setdefault(check.func.__name__, (made, check))
        pairs += [pytest.param(*found[name], id=f"{number}-{name}") for name in checks]
    return pytest.mark.parametrize(("estimator", "check"), pairs)
