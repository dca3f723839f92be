"""The methods that learn from probabilities: entropy, expectation and posterior."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from planted import text_like
from sklearn.exceptions import ConvergenceWarning

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel._inputs import _data
from fewlabel._native import _fit
from fewlabel.methods import Posterior

METHODS = ["entropy", "expectation", "posterior"]
HELD = METHODS[:2]


def topics(n: int = 400, classes: int = 4, seed: int = 0) -> tuple[sp.csr_matrix, np.ndarray, np.ndarray]:
    """Rows of some topics over a common background, true classes, and labels of three rows a class."""
    random = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(3 * classes) % classes, random.choice(classes, n, p=_shares(classes))])
    X = random.poisson(0.15, (len(truth), 120)).astype(float)
    for row, y in zip(X, truth, strict=True):
        row[20 * y : 20 * y + 20] += random.poisson(0.35, 20)
    X /= np.maximum(np.linalg.norm(X, axis=1), 1e-9)[:, None]
    return sp.csr_matrix(X), truth, np.where(np.arange(len(truth)) < 3 * classes, truth, -1)


def _shares(classes: int) -> np.ndarray:
    shares = np.arange(classes, 0, -1.0)
    return shares / shares.sum()


def fitted(method: Any, X: Any, y: Any, **settings: Any) -> SemiSupervisedLogisticRegression:
    settings = {"alpha": 1e-3} | settings
    return SemiSupervisedLogisticRegression(method=method, **settings).fit(X, y)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("method", HELD)
def test_mean_probabilities_are_the_class_prior(method: str, classes: int) -> None:
    X, _, y = topics(classes=classes)
    model = fitted(method, X, y, class_prior=_shares(classes))
    scores = model.decision_function(X[y == -1])
    if classes == 2:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    means = (np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)).mean(axis=0)
    assert np.abs(means - model.class_prior_).max() <= 1e-3
    assert model.termination_condition_ == "converged"
    assert model.history_["constraint_residual"][-1] <= 1e-3
    assert {"objective", "unlabeled_weight", "n_passes", "n_switched", "entropy"} <= set(model.history_)


def test_better_than_the_labeled_rows_alone() -> None:
    X, truth, y = topics(n=800)
    rows = y == -1
    right = {m: fitted(m, X, y, class_prior=_shares(4)).score(X[rows], truth[rows]) for m in [*METHODS, "annealing"]}
    supervised = fitted("annealing", X, y, class_prior=_shares(4), unlabeled_weight=0).score(X[rows], truth[rows])
    assert right["entropy"] > supervised + 0.05
    assert right["entropy"] >= right["annealing"] - 0.03
    assert min(right["expectation"], right["posterior"]) > supervised - 0.01


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_repeated_rows(method: str) -> None:
    X, _, y = topics(n=60)
    weights = 1 + np.arange(len(y)) % 3
    settings = {"tol": 1e-8, "class_prior": _shares(4)}
    weighted = SemiSupervisedLogisticRegression(method=method, alpha=1e-2, **settings).fit(X, y, sample_weight=weights)
    again = np.repeat(np.arange(len(y)), weights)
    repeated = SemiSupervisedLogisticRegression(method=method, alpha=1e-2, **settings).fit(X[again], y[again])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_class_trees(method: str) -> None:
    X, _, y = topics()
    names = np.array(["a.x", "a.y", "b.x", "b.y"], dtype=object)
    model = fitted(method, X, np.where(y < 0, None, names[y]), hierarchy=".", class_prior=_shares(4))
    assert model.termination_condition_ == "converged"
    assert set(model.predict_level(X, 1)) <= {"a", "b"}
    assert model.label_distributions_.shape == (len(y), 4)
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)


@pytest.mark.parametrize("method", METHODS)
def test_a_class_without_labels_is_warned_about(method: str) -> None:
    X, _, y = topics()
    y = np.where(y == 3, -1, y)
    with pytest.warns(UserWarning, match="class 3 has a share in class_prior but no labeled row"):
        model = fitted(method, X, y, class_prior=dict(enumerate(_shares(4).tolist())))
    assert model.classes_.tolist() == [0, 1, 2, 3]


def test_a_prior_that_rows_do_not_allow_is_a_warning_with_the_residual() -> None:
    X, _, y = topics(classes=2)
    empty = sp.csr_matrix(np.where((y >= 0)[:, None], X.toarray(), 0.0))
    with pytest.warns(ConvergenceWarning, match=r"stay 0\.4 away from class_prior"):
        model = fitted("expectation", empty, y, class_prior=[0.9, 0.1], fit_intercept=False)
    assert model.termination_condition_ == "constraint"


@pytest.mark.parametrize("method", METHODS)
def test_without_unlabeled_rows_it_is_supervised(method: str) -> None:
    X, truth, _ = topics(n=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = fitted(method, X, truth)
        usual = fitted("annealing", X, truth)
    np.testing.assert_array_equal(ours.coef_, usual.coef_)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (Posterior(kl_weight=0.0), "kl_weight is 0"),
    ],
)
def test_options_out_of_range(method: Any, message: str) -> None:
    X, _, y = topics(n=40)
    with pytest.raises(ValueError, match=message):
        fitted(method, X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "entropy", "balance": "labels"}, "balance is .*labels.*leave balance"),
        ({"method": "entropy", "loss": "squared_hinge"}, "method entropy supports maxent"),
    ],
)
def test_options_of_the_library_that_do_not_go_together(options: dict[str, Any], message: str) -> None:
    X, _, y = topics(n=40)
    with pytest.raises(ValueError, match=message):
        _fit.fit(_data.native(X), _fit.Labels(y.astype(np.int32)), None, {"loss": "maxent"} | options)


def test_large_margins_have_no_probabilities() -> None:
    X, y, _ = text_like(n=60, d=30)
    with pytest.raises(
        ValueError,
        match=r"method='entropy' is not one of 'auto', 'annealing', 'switching', 'pair_switching', 'gradient', nor",
    ):
        TransductiveSVC(method="entropy").fit(X, y)
