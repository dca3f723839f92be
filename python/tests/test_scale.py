"""Rows in units of their root mean square length: their scale changes nothing, and a small alpha does no harm."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from planted import GROUP, many_topics, text_like
from sklearn.svm import LinearSVC

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel.methods import Annealing, PairSwitching, Switching

TWO, FOUR = text_like(n=400, d=150, labeled=60), many_topics(n=400, labels=60)
LENGTHS = np.random.default_rng(0).uniform(0.5, 30, 400)  # of rows that nobody has normalized
ALPHAS = (1e-6, 1e-4, 1e-2, 1.0, 10.0)

WAYS: list[tuple[type, Any, dict[str, object]]] = [
    *[(TransductiveSVC, TWO, {"method": m}) for m in ("annealing", "switching", "pair_switching", "gradient")],
    (TransductiveSVC, TWO, {"method": "pair_switching", "loss": "hinge"}),
    (TransductiveSVC, TWO, {"method": Annealing(balance="labels")}),
    (TransductiveSVC, TWO, {"fit_intercept": False}),
    (TransductiveSVC, TWO, {"unlabeled_weight": 0}),
    *[(TransductiveSVC, FOUR, {"method": m}) for m in ("annealing", "switching", "gradient")],
    (TransductiveSVC, FOUR, {"loss": "crammer_singer"}),
    (TransductiveSVC, FOUR, {"hierarchy": GROUP}),
    *[(SemiSupervisedLogisticRegression, FOUR, {"method": m}) for m in ("annealing", "switching")],
    *[(SemiSupervisedLogisticRegression, FOUR, {"method": m}) for m in ("entropy", "expectation", "posterior")],
]


def of_lengths(X: sp.csr_matrix) -> sp.csr_matrix:
    return sp.csr_matrix(sp.diags(LENGTHS) @ X)


def unit(X: sp.csr_matrix, weights: np.ndarray | None = None) -> float:
    """The root of the weighted mean square length of the rows that are not zero."""
    squares = np.ravel(X.power(2).sum(axis=1))
    kept = squares > 0
    return float(np.sqrt(np.average(squares[kept], weights=None if weights is None else weights[kept])))


def fitted(kind: type, settings: dict[str, object], X: Any, y: np.ndarray, **more: Any) -> Any:
    model = kind(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, y, **more)


@pytest.mark.parametrize(("number", "way"), [*enumerate(WAYS)])
def test_the_scale_of_the_rows_changes_nothing(number: int, way: tuple[type, Any, dict[str, object]]) -> None:
    """Sparse and dense rows by turns."""
    kind, problem, settings = way
    X = of_lengths(problem.X)
    X, settings = X.toarray() if number % 2 else X, settings | {"class_prior": "labels"}
    one = fitted(kind, settings, X, problem.y)
    for factor in (1000.0, 1e-3, 1e-200, 1e200, 2.0**30):
        other = fitted(kind, settings, factor * X, problem.y)
        np.testing.assert_array_equal(other.transduction_, one.transduction_)
        if factor == 2.0**30:
            assert (other.coef_ * factor).tobytes() == one.coef_.tobytes()
            assert other.intercept_.tobytes() == one.intercept_.tobytes()
            assert other.objective_ == one.objective_


@pytest.mark.parametrize("problem", [TWO, FOUR])
def test_shares_found_do_not_depend_on_the_scale(problem: Any) -> None:
    """But for rounding: of 400 rows one may have another label."""
    X = of_lengths(problem.X)
    one = TransductiveSVC().fit(X, problem.y)
    for factor in (1000.0, 1e-3, 1e200):
        other = TransductiveSVC().fit(factor * X, problem.y)
        np.testing.assert_allclose(other.class_prior_, one.class_prior_, atol=1e-4)
        assert np.sum(other.transduction_ != one.transduction_) <= 1


def test_a_warm_start_is_a_model_of_the_rows_as_they_are() -> None:
    X = of_lengths(TWO.X)
    models = []
    for factor in (1.0, 1024.0):
        model = TransductiveSVC(method="annealing", warm_start=True)
        fitted_first = model.fit(factor * X, TWO.y).n_iter_
        models.append(model.fit(factor * X, TWO.y))
        assert model.n_iter_ < fitted_first
    assert (models[1].coef_ * 1024).tobytes() == models[0].coef_.tobytes()
    # rows of another length: the start is the same decisions, not the same weights times something
    again = TransductiveSVC(method="annealing", warm_start=True).fit(X, TWO.y)
    again.fit(sp.vstack([X, 50 * X]).tocsr(), np.concatenate([TWO.y, TWO.y]))
    assert np.mean(again.predict(X) == models[0].predict(X)) > 0.9


@pytest.mark.parametrize(("kind", "settings"), [(TransductiveSVC, {}), (TransductiveSVC, {"method": "switching"})])
def test_rows_that_do_not_count_do_not_set_the_unit(kind: type, settings: dict[str, object]) -> None:
    X = of_lengths(TWO.X)
    alone = fitted(kind, settings, X, TWO.y)
    far = sp.vstack([X, 1e6 * X[:50], sp.csr_matrix((7, X.shape[1]))]).tocsr()
    y = np.concatenate([TWO.y, np.full(57, -1)])
    weights = np.concatenate([np.ones(400), np.zeros(57)])
    both = fitted(kind, settings, far, y, sample_weight=weights)
    np.testing.assert_array_equal(both.predict(X), alone.predict(X))
    assert both.objective_ == pytest.approx(alone.objective_, rel=alone.tol)  # features come in another order


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2])
def test_without_unlabeled_rows_it_is_linear_svc_in_these_units(alpha: float, weighted: bool) -> None:
    X, y = of_lengths(TWO.X), TWO.truth
    weights = 0.5 + np.arange(len(y)) % 4 if weighted else np.ones(len(y))
    rms = unit(X, weights)
    model = TransductiveSVC(unlabeled=None, alpha=alpha, tol=1e-12).fit(X, y, sample_weight=weights)
    peer = LinearSVC(
        dual=False, C=1 / (2 * weights.sum() * alpha * rms**2), intercept_scaling=rms, tol=1e-12, max_iter=100_000
    ).fit(X, y, sample_weight=weights)

    def value(found: Any) -> float:
        slack = np.maximum(0, 1 - np.where(y == 1, 1, -1) * found.decision_function(X))
        squares = rms**2 * np.sum(found.coef_**2) + np.sum(found.intercept_**2)
        return float(alpha / 2 * squares + np.average(slack**2, weights=weights) / 2)

    assert value(model) == pytest.approx(value(peer), rel=1e-6)
    assert model.objective_ == pytest.approx(value(model), rel=1e-9)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("kind", [Annealing, Switching, PairSwitching])
@pytest.mark.parametrize("balance", ["share", "mean", "labels"])
def test_objective_recomputed_from_rows_of_any_length(kind: type, balance: str) -> None:
    X, y = of_lengths(TWO.X), TWO.y
    settings = {"method": kind(balance=balance), "class_prior": "labels", "unlabeled_weight": 1.0, "alpha": 1e-3}
    model = fitted(TransductiveSVC, settings, X, y)
    f, labeled = model.decision_function(X), y >= 0
    slack = np.maximum(0, 1 - np.where(labeled, np.where(y == 1, f, -f), np.abs(f))) ** 2 / 2
    squares = unit(X) ** 2 * np.sum(model.coef_**2) + (balance != "mean") * model.intercept_[0] ** 2
    value = model.alpha / 2 * squares + slack[labeled].mean() + slack[~labeled].mean()
    assert model.objective_ == pytest.approx(value, rel=1e-9)


def counts(n_classes: int, seed: int = 0) -> tuple[sp.csr_matrix, np.ndarray, np.ndarray]:
    """Counts in which 20 features of each class are frequent, three labels of each class: trivially separable."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(400) % n_classes)
    rates = np.full((n_classes, 20 * n_classes + 20), 0.2)
    for c in range(n_classes):
        rates[c, 20 * c : 20 * c + 20] = 3
    y = np.full(400, -1)
    for c in range(n_classes):
        y[np.flatnonzero(truth == c)[:3]] = c
    return sp.csr_matrix(rng.poisson(rates[truth]).astype(float)), y, truth


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_planted_counts_are_found_at_any_alpha(alpha: float, n_classes: int) -> None:
    X, y, truth = counts(n_classes)
    for kind in TransductiveSVC, SemiSupervisedLogisticRegression:
        model = fitted(kind, {"alpha": alpha}, X, y)
        assert np.mean(model.transduction_ == truth) >= 0.99


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("problem", [TWO, FOUR], ids=["two", "four"])
def test_annealing_is_never_far_above_switching(alpha: float, problem: Any) -> None:
    """With three class shares; at 1e-6 in their mean, as the minima of one problem differ by 17 % either way."""
    counts = np.bincount(problem.truth)
    ratios = []
    for prior in "auto", counts / counts.sum(), np.full(len(counts), 1 / len(counts)):
        soft, hard = (
            fitted(
                TransductiveSVC,  # class_weight: the papers' objective
                {"alpha": alpha, "method": kind(balance="labels"), "class_weight": None, "class_prior": prior},
                problem.X,
                problem.y,
            )
            for kind in (Annealing, Switching)
        )
        ratios.append(soft.objective_ / hard.objective_)
        assert len(soft.history_["objective"]) == soft.n_iter_
    assert np.mean(ratios) <= 1.02
    if alpha > 1e-6:
        assert max(ratios) <= 1.02
