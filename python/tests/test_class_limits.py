"""Many classes in limits in which the answer is known, and answers recomputed from the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from planted import GROUP, many_topics, text_like
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel.methods import Annealing, Switching

X, Y, TRUTH = many_topics(n=400, labels=60)
LABELED = Y >= 0
ONES = np.ones((X.shape[0], 1))


def squared_hinges(scores: np.ndarray) -> np.ndarray:
    """Loss (n, K) of each class: ½max(0, 1-s_y)² + Σ_{k≠y} ½max(0, 1+s_k)²."""
    against = np.maximum(0, 1 + scores) ** 2 / 2
    return np.maximum(0, 1 - scores) ** 2 / 2 + against.sum(axis=1, keepdims=True) - against


def hinges(scores: np.ndarray) -> np.ndarray:
    """Loss (n, K) of Crammer and Singer: the largest of 0 and 1 + s_k - s_y over k ≠ y."""
    n_classes = scores.shape[1]
    losses = 1 - np.eye(n_classes) + scores[:, None, :] - scores[:, :, None]  # [row, y, k]
    return losses.max(axis=2)


def maxents(scores: np.ndarray) -> np.ndarray:
    """Loss (n, K) -log p_y."""
    return logsumexp(scores, axis=1, keepdims=True) - scores


def of_labels(losses: np.ndarray, labels: np.ndarray) -> float:
    return float(np.mean(losses[np.arange(len(labels)), labels]))


def squares(model: Any, with_intercept: bool = True) -> float:
    return float(np.sum(model.coef_**2) + with_intercept * np.sum(model.intercept_**2))


# --- no unlabeled rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "intercept"), [(1e-4, True), (1e-2, False)])
def test_it_is_linear_svc_one_against_the_rest(alpha: float, intercept: bool) -> None:
    settings = {"C": 1 / (2 * len(TRUTH) * alpha), "tol": 1e-12, "max_iter": 100_000, "fit_intercept": intercept}
    theirs = LinearSVC(dual=False, **settings).fit(X, TRUTH)
    model = TransductiveSVC(alpha=alpha, unlabeled=None, fit_intercept=intercept, tol=1e-8).fit(X, TRUTH)
    both = [
        alpha / 2 * squares(m, intercept) + of_labels(squared_hinges(m.decision_function(X)), TRUTH)
        for m in (model, theirs)
    ]
    assert both[0] == pytest.approx(both[1], rel=1e-7)
    assert model.objective_ == pytest.approx(both[0], rel=1e-9)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=2e-3)


@pytest.mark.parametrize("alpha", [1e-3, 1e-2])
def test_it_is_near_linear_svc_of_crammer_and_singer(alpha: float) -> None:
    settings = {"C": 1 / (len(TRUTH) * alpha), "tol": 1e-6, "max_iter": 1_000_000, "random_state": 0}
    theirs = LinearSVC(multi_class="crammer_singer", **settings).fit(X, TRUTH)
    model = TransductiveSVC(loss="crammer_singer", alpha=alpha, unlabeled=None).fit(X, TRUTH)
    ours, least = (alpha / 2 * squares(m) + of_labels(hinges(m.decision_function(X)), TRUTH) for m in (model, theirs))
    above = 1e-3 * np.log(4)  # what the smoothing adds at most
    assert least * (1 - 1e-4) <= ours <= (least + above) * (1 + 1e-4)
    assert ours * (1 - 1e-9) <= model.objective_ <= ours + above


@pytest.mark.parametrize(("alpha", "intercept"), [(1e-4, True), (1e-2, False)])
@pytest.mark.parametrize("n_classes", [4, 2])
def test_it_is_logistic_regression(alpha: float, intercept: bool, n_classes: int) -> None:
    """Theirs gets the constant feature as a column, as ours regularizes the intercept."""
    rows, _, labels = (X, Y, TRUTH) if n_classes == 4 else text_like(n=400)
    settings = {"alpha": alpha, "fit_intercept": intercept, "tol": 1e-10}
    model = SemiSupervisedLogisticRegression(unlabeled=None, calibrate=False, **settings).fit(rows, labels)
    factor = 1 if n_classes == 4 else 2  # two classes have weights ±½w each
    theirs = LogisticRegression(
        C=factor / (len(labels) * alpha), fit_intercept=False, solver="newton-cg", tol=1e-10, max_iter=10_000
    )
    wide = sp.hstack([rows, ONES], format="csr") if intercept else rows
    theirs.fit(wide, labels)
    coef = np.hstack([model.coef_, model.intercept_[:, None]]) if intercept else model.coef_
    np.testing.assert_allclose(coef, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(model.predict_proba(rows), theirs.predict_proba(wide), atol=1e-4)
    losses = -model.predict_log_proba(rows)
    regularizer = alpha / 2 / factor * squares(model)
    assert model.objective_ == pytest.approx(regularizer + of_labels(losses, labels), rel=1e-9)


@pytest.mark.parametrize(
    ("model", "losses"),
    [
        (TransductiveSVC(alpha=1e-2, unlabeled=None, hierarchy=GROUP, tol=1e-9), squared_hinges),
        (SemiSupervisedLogisticRegression(alpha=1e-2, unlabeled=None, hierarchy=GROUP, tol=1e-9), maxents),
    ],
)
def test_a_tree_is_the_least_objective_over_weights_of_classes_and_groups(model: Any, losses: Any) -> None:
    wide = sp.hstack([X, ONES], format="csr")
    paths = np.zeros((6, 4))  # which nodes a class sums up: itself and its group
    paths[[0, 1, 2, 3], [0, 1, 2, 3]] = paths[[4, 5, 4, 5], [0, 1, 2, 3]] = 1

    def objective(flat: np.ndarray) -> float:
        nodes = flat.reshape(wide.shape[1], 6)
        return 1e-2 / 2 * np.sum(nodes**2) + of_labels(losses(wide @ (nodes @ paths)), TRUTH)

    def gradient(flat: np.ndarray) -> np.ndarray:
        scores = wide @ (flat.reshape(wide.shape[1], 6) @ paths)
        if losses is maxents:
            slopes = np.exp(-maxents(scores)) - np.eye(4)[TRUTH]
        else:
            slopes = np.where(np.eye(4)[TRUTH] == 1, -np.maximum(0, 1 - scores), np.maximum(0, 1 + scores))
        return 1e-2 * flat + np.ravel(wide.T @ (slopes @ paths.T) / len(TRUTH))

    start = np.zeros(wide.shape[1] * 6)
    found = minimize(objective, start, jac=gradient, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-15})
    model.fit(X, TRUTH)
    assert model.objective_ == pytest.approx(found.fun, rel=1e-6)
    nodes = found.x.reshape(wide.shape[1], 6) @ paths
    np.testing.assert_allclose(model.coef_, nodes[:-1].T, atol=5e-3)


# --- unlabeled rows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["annealing", "switching"])
def test_unlabeled_weight_zero_is_the_fit_of_the_labeled_rows(method: str) -> None:
    for kind in (TransductiveSVC, SemiSupervisedLogisticRegression):
        model = kind(method=method, unlabeled_weight=0, tol=1e-9).fit(X, Y)
        only = kind(method=method, unlabeled=None, tol=1e-9).fit(X[LABELED], Y[LABELED])
        np.testing.assert_allclose(model.coef_, only.coef_, atol=1e-3)


@pytest.mark.parametrize(("method", "weight"), [("annealing", 1.0), ("switching", 0.2)])
@pytest.mark.parametrize(
    ("kind", "settings", "losses"),
    [
        (TransductiveSVC, {"balance": "mean"}, squared_hinges),
        (TransductiveSVC, {"balance": "share"}, squared_hinges),
        (TransductiveSVC, {"balance": "labels"}, squared_hinges),
        (TransductiveSVC, {"balance": "share", "loss": "crammer_singer"}, hinges),
        (TransductiveSVC, {"balance": "labels", "loss": "crammer_singer"}, hinges),
        (SemiSupervisedLogisticRegression, {"balance": "share", "alpha": 1e-3}, maxents),
        (SemiSupervisedLogisticRegression, {"balance": "labels", "alpha": 1e-3}, maxents),
    ],
)
def test_objective_recomputed_from_the_data(
    kind: type, settings: dict[str, Any], losses: Any, weight: float, method: str
) -> None:
    settings = {"class_prior": "labels", "unlabeled_weight": weight, "alpha": 1e-3} | settings
    balance = settings.pop("balance")
    chosen = {"annealing": Annealing, "switching": Switching}[method](balance=balance)
    model = kind(method=chosen, **settings).fit(X, Y)
    each = losses(model.decision_function(X))
    value = model.alpha / 2 * squares(model, balance != "mean") + of_labels(each[LABELED], Y[LABELED])
    value += weight * np.mean(each[~LABELED].min(axis=1))
    smoothed = (1 + weight) * 1e-3 * np.log(4) if losses is hinges else 0
    assert value * (1 - 1e-9) <= model.objective_ <= value * (1 + 1e-9) + smoothed
    if balance == "labels":
        assert model.history_["objective"][-1] == pytest.approx(model.objective_, rel=1e-6, abs=2 * smoothed)


@pytest.mark.parametrize("method", ["annealing", "switching"])
@pytest.mark.parametrize("weight", [0.0, 0.1])
def test_two_classes_as_many_are_two_classes(method: str, weight: float) -> None:
    """In groups of one class each: the sum of a class's and its group's weights costs half as much as one weight. With
    many labels, so that there is one solution to find; rows at the border may still change places."""
    rows, labels, _ = text_like(labeled=150)
    settings = {"method": method, "tol": 1e-9, "unlabeled_weight": weight, "class_prior": "labels"}
    plain = TransductiveSVC(alpha=1e-2, **settings).fit(rows, labels)
    groups = TransductiveSVC(alpha=2e-2, hierarchy={0: "a", 1: "b"}, **settings).fit(rows, labels)
    assert groups.objective_ == pytest.approx(2 * plain.objective_, rel=1e-3 if weight else 1e-6)
    assert np.mean(groups.transduction_ != plain.transduction_) <= (0.01 if weight else 0)
    if not weight:
        np.testing.assert_allclose(groups.coef_, 2 * plain.coef_, atol=1e-3)


def test_relabeled_classes_give_the_same_model() -> None:
    order = np.array([2, 0, 3, 1])
    settings = {"class_prior": "labels", "tol": 1e-9}
    model = TransductiveSVC(**settings).fit(X, Y)
    other = TransductiveSVC(**settings).fit(X, np.append(order, -1)[Y])
    np.testing.assert_allclose(other.coef_[order], model.coef_, atol=1e-4)
