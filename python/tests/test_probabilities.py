"""The methods that learn from probabilities: entropy, expectation and posterior."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from planted import text_like, topic_shares, topics
from sklearn.exceptions import ConvergenceWarning

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel._inputs._targets import Columns
from fewlabel._native import _fit
from fewlabel.methods import Posterior

METHODS = ["entropy", "expectation", "posterior"]
HELD = METHODS[:2]


def fitted(method: Any, X: Any, y: Any, **settings: Any) -> SemiSupervisedLogisticRegression:
    settings = {"alpha": 1e-3} | settings
    return SemiSupervisedLogisticRegression(method=method, **settings).fit(X, y)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("method", HELD)
def test_mean_probabilities_are_the_class_prior(method: str, classes: int) -> None:
    X, y, _ = topics(classes=classes)
    model = fitted(method, X, y, class_prior=topic_shares(classes), calibrate=False)
    means = model.label_distributions_[y == -1].mean(axis=0)
    assert np.abs(means - model.class_prior_).max() <= 1e-3
    assert model.termination_condition_ == "converged"
    assert model.history_["constraint_residual"][-1] <= 1e-3
    assert {"objective", "unlabeled_weight", "n_passes", "n_switched", "entropy"} <= set(model.history_)


def test_better_than_the_labeled_rows_alone() -> None:
    X, y, truth = topics(n=800)
    rows = y == -1
    right = {
        m: fitted(m, X, y, class_prior=topic_shares(4)).score(X[rows], truth[rows]) for m in [*METHODS, "annealing"]
    }
    supervised = fitted("annealing", X, y, class_prior=topic_shares(4), unlabeled_weight=0).score(X[rows], truth[rows])
    assert right["entropy"] > supervised + 0.05
    assert right["entropy"] >= right["annealing"] - 0.03
    assert min(right["expectation"], right["posterior"]) > supervised - 0.01


def test_entropy_raised_from_0_ends_lower_than_at_once() -> None:
    """A fit that goes on from the supervised model has the whole weight at once."""
    objectives, wrong = np.zeros(2), np.zeros(2)
    for seed in range(5):
        X, y, truth = topics(n=200, seed=seed)
        settings = {"class_prior": topic_shares(4), "alpha": 1e-4}
        at_once = SemiSupervisedLogisticRegression(
            method="entropy", unlabeled_weight=0, warm_start=True, **settings
        ).fit(X, y)
        at_once.set_params(unlabeled_weight=1).fit(X, y)
        models = (fitted("entropy", X, y, unlabeled_weight=1, **settings), at_once)
        objectives += [model.objective_ for model in models]
        wrong += [np.sum(model.transduction_ != truth) for model in models]
    assert objectives[0] < 0.92 * objectives[1]
    assert wrong[0] < 0.75 * wrong[1]


def test_posterior_draws_the_probabilities_to_the_class_prior() -> None:
    away, right = np.zeros(2), np.zeros(2)
    for seed in range(4):
        X, y, truth = topics(seed=seed)
        settings = {"class_prior": topic_shares(4)}
        models = (fitted("posterior", X, y, **settings), fitted("posterior", X, y, unlabeled_weight=0, **settings))
        for k, model in enumerate(models):
            scores = np.exp(model.decision_function(X[y < 0]))
            means = (scores / scores.sum(axis=1, keepdims=True)).mean(axis=0)
            away[k] += np.abs(means - model.class_prior_).max() / 4
            right[k] += model.score(X[y < 0], truth[y < 0]) / 4
    assert away[0] < away[1] / 2
    assert right[0] > right[1] + 0.02


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_repeated_rows(method: str) -> None:
    X, y, _ = topics(n=60)
    weights = 1 + np.arange(len(y)) % 3
    settings = {"tol": 1e-8, "class_prior": topic_shares(4)}
    weighted = SemiSupervisedLogisticRegression(method=method, alpha=1e-2, **settings).fit(X, y, sample_weight=weights)
    again = np.repeat(np.arange(len(y)), weights)
    repeated = SemiSupervisedLogisticRegression(method=method, alpha=1e-2, **settings).fit(X[again], y[again])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_class_trees(method: str) -> None:
    X, y, _ = topics()
    names = np.array(["a.x", "a.y", "b.x", "b.y"], dtype=object)
    model = fitted(method, X, np.where(y < 0, None, names[y]), hierarchy=".", class_prior=topic_shares(4))
    assert model.termination_condition_ == "converged"
    assert set(model.predict_level(X, 1)) <= {"a", "b"}
    assert model.label_distributions_.shape == (len(y), 4)
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)


@pytest.mark.parametrize("method", METHODS)
def test_a_class_without_labels_is_warned_about(method: str) -> None:
    X, y, _ = topics()
    y = np.where(y == 3, -1, y)
    with pytest.warns(UserWarning, match="class 3 has a share in class_prior but no labeled row"):
        model = fitted(method, X, y, class_prior=dict(enumerate(topic_shares(4).tolist())))
    assert model.classes_.tolist() == [0, 1, 2, 3]


def test_a_prior_that_rows_do_not_allow_is_a_warning_with_the_residual() -> None:
    X, y, _ = topics(classes=2)
    empty = sp.csr_matrix(np.where((y >= 0)[:, None], X.toarray(), 0.0))
    with pytest.warns(ConvergenceWarning, match=r"stay 0\.4 away from class_prior"):
        model = fitted("expectation", empty, y, class_prior=[0.9, 0.1], fit_intercept=False)
    assert model.termination_condition_ == "constraint"


@pytest.mark.parametrize("method", METHODS)
def test_without_unlabeled_rows_it_is_supervised(method: str) -> None:
    X, _, truth = topics(n=60)
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
    X, y, _ = topics(n=40)
    with pytest.raises(ValueError, match=message):
        fitted(method, X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "entropy", "balance": "mean"}, "balance is .*mean.*loss of margins"),
        ({"method": "entropy", "loss": "squared_hinge"}, "method entropy supports maxent"),
    ],
)
def test_options_of_the_library_that_do_not_go_together(options: dict[str, Any], message: str) -> None:
    X, y, _ = topics(n=40)
    with pytest.raises(ValueError, match=message):
        _fit.fit(X, Columns(y.astype(np.int32)[:, None]), {"loss": "maxent"} | options)


def test_large_margins_have_no_probabilities() -> None:
    X, y, _ = text_like(n=60, d=30)
    with pytest.raises(
        ValueError,
        match=r"method='entropy' is not one of 'auto', 'annealing', 'switching', 'pair_switching', 'gradient', nor",
    ):
        TransductiveSVC(method="entropy").fit(X, y)
