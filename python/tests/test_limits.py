"""Limits in which the answer is known, and answers recomputed from the data."""

from __future__ import annotations

import functools
import re
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from planted import text_like
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import LinearSVC

from fewlabel import SemiSupervisedLogisticRegression, SequenceSVC, TransductiveSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.methods import Annealing, PairSwitching, Switching
from fewlabel.preprocessing import text_vectorizer

X, Y, TRUTH = text_like(n=400, d=150, labeled=60)
KINDS = {kind.name: kind for kind in (Annealing, Switching, PairSwitching)}
METHODS = tuple(KINDS)
TOLD = {"class_prior": "labels", "unlabeled_weight": 1.0}  # as in the papers
LABELED = Y >= 0


def linear_svc(rows: sp.csr_matrix, labels: np.ndarray, alpha: float, intercept: bool = True) -> LinearSVC:
    solver = LinearSVC(
        loss="squared_hinge",
        dual=False,
        C=1 / (2 * len(labels) * alpha),
        tol=1e-12,
        max_iter=100_000,
        fit_intercept=intercept,
    )
    return solver.fit(rows, labels)


def linear_svc_objective(model, rows: sp.csr_matrix, labels: np.ndarray, alpha: float) -> float:
    """½|w|² + ½b² + C Σ max(0, 1 - y f)²."""
    f = rows @ model.coef_[0] + np.ravel(model.intercept_)[0]
    margins = np.maximum(0, 1 - np.where(labels == 1, 1, -1) * f)
    squares = np.sum(model.coef_**2) + np.sum(np.square(model.intercept_))
    return float(squares / 2 + np.sum(margins**2) / (2 * len(labels) * alpha))


@pytest.mark.parametrize("alpha", [1e-4, 1e-3, 1e-1])
@pytest.mark.parametrize("intercept", [True, False])
def test_without_unlabeled_rows_it_is_linear_svc(alpha: float, intercept: bool) -> None:
    model = TransductiveSVC(alpha=alpha, unlabeled=None, fit_intercept=intercept, tol=1e-7).fit(X, TRUTH)
    ours = linear_svc_objective(model, X, TRUTH, alpha)
    theirs = linear_svc_objective(linear_svc(X, TRUTH, alpha, intercept), X, TRUTH, alpha)
    assert ours == pytest.approx(theirs, rel=1e-6)
    assert model.objective_ == pytest.approx(alpha * ours, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("balance", ["share", "mean", "labels"])
def test_unlabeled_weight_zero_is_linear_svc_on_the_labeled_rows(method: str, balance: str) -> None:
    model = TransductiveSVC(method=KINDS[method](balance=balance), unlabeled_weight=0).fit(X, Y)
    ours = linear_svc_objective(model, X[LABELED], Y[LABELED], 1e-3)
    theirs = linear_svc_objective(linear_svc(X[LABELED], Y[LABELED], 1e-3), X[LABELED], Y[LABELED], 1e-3)
    assert ours == pytest.approx(theirs, rel=1e-6)


def test_weights_are_those_of_linear_svc() -> None:
    weights = 0.5 + np.arange(len(TRUTH)) % 4
    model = TransductiveSVC(unlabeled=None, tol=1e-12).fit(X, TRUTH, sample_weight=weights)
    solver = LinearSVC(dual=False, C=1 / (2 * weights.sum() * 1e-3), tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(model.coef_, solver.fit(X, TRUTH, sample_weight=weights).coef_, atol=1e-4)


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_gradient_at_the_supervised_solution_is_small(tol: float) -> None:
    """α is the modulus of strong convexity, so the objective is within |g|²/(2α) of its minimum."""
    alpha = 1e-3
    model = TransductiveSVC(alpha=alpha, unlabeled=None, tol=tol).fit(X, TRUTH)
    rows = sp.hstack([X, np.ones((X.shape[0], 1))], format="csr")
    w = np.append(model.coef_[0], model.intercept_)
    sign = np.where(TRUTH == 1, 1.0, -1.0)
    margins = np.maximum(0, 1 - sign * (rows @ w))
    gradient = alpha * w - rows.T @ (sign * margins) / len(sign)
    objective = alpha / 2 * w @ w + np.mean(margins**2) / 2
    assert gradient @ gradient / (2 * alpha) <= tol * objective
    assert model.objective_ == pytest.approx(objective, rel=1e-9)


def smoothed_hinge(margins: np.ndarray, band: float = 0.003) -> np.ndarray:
    """The hinge with a parabola where margins are within the band around 1."""
    return np.where(margins < 1 - band, 1 - margins, np.clip(1 + band - margins, 0, None) ** 2 / (4 * band))


@pytest.mark.parametrize("alpha", [1e-2, 1e-3])
def test_hinge_is_that_of_linear_svc_but_for_the_smoothing(alpha: float) -> None:
    told = {"alpha": alpha, "unlabeled": None, "tol": 1e-7, "fit_intercept": False}
    model = TransductiveSVC(loss="hinge", **told).fit(X, TRUTH)
    solver = LinearSVC(loss="hinge", C=1 / (len(TRUTH) * alpha), tol=1e-8, max_iter=1_000_000, fit_intercept=False)

    def value(coef: np.ndarray) -> float:
        margins = np.where(TRUTH == 1, 1, -1) * (X @ coef)
        return float(alpha / 2 * coef @ coef + np.mean(np.maximum(0, 1 - margins)))

    ours, best = value(model.coef_[0]), value(solver.fit(X, TRUTH).coef_[0])
    assert best * (1 - 1e-6) <= ours <= best + 0.003 / 4
    assert ours <= model.objective_ <= best + 0.003 / 4


def objective(model: TransductiveSVC, with_intercept: bool) -> float:
    """α/2 |w|² + 1/l Σ ξ(y f) + λ'/u Σ ξ(|f|) with ξ(m) = ½max(0, 1-m)² or the smoothed hinge; |w|² with b² or not."""
    f = X @ model.coef_[0] + model.intercept_[0]
    margins = np.where(LABELED, np.where(Y == 1, f, -f), np.abs(f))
    losses = smoothed_hinge(margins) if model.loss == "hinge" else np.maximum(0, 1 - margins) ** 2 / 2
    squares = np.sum(model.coef_**2) + with_intercept * model.intercept_[0] ** 2
    value = model.alpha / 2 * squares + np.mean(losses[LABELED])
    return float(value + model.unlabeled_weight * np.mean(losses[~LABELED]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("balance", ["share", "mean", "labels"])
def test_objective_recomputed_from_the_data(method: str, balance: str) -> None:
    for loss, weight in (("squared_hinge", 1.0), ("hinge", 0.1), ("squared_hinge", 0.1)):
        told = TOLD | {"method": KINDS[method](balance=balance), "unlabeled_weight": weight, "alpha": 1e-3}
        model = TransductiveSVC(loss=loss, **told).fit(X, Y)
        assert model.objective_ == pytest.approx(objective(model, balance != "mean"), rel=1e-9)
        if balance == "labels":
            assert model.history_["objective"][-1] == pytest.approx(model.objective_, rel=1e-6)


@pytest.mark.parametrize(
    ("method", "chosen"), [("annealing", "mean"), ("switching", "share"), ("pair_switching", "share")]
)
def test_balance_auto_is_what_the_docstring_says(method: str, chosen: str) -> None:
    models = [TransductiveSVC(method=KINDS[method](balance=b), **TOLD).fit(X, Y) for b in ("auto", chosen)]
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_transduction_is_what_the_model_predicts(method: str) -> None:
    model = TransductiveSVC(method=method).fit(X, Y)
    np.testing.assert_array_equal(model.transduction_[~LABELED], model.predict(X[~LABELED]))


@pytest.mark.parametrize("method", METHODS)
def test_same_bits_for_any_number_of_threads(method: str) -> None:
    big = text_like(n=6000, d=400, labeled=40)
    size = 800 if method == "pair_switching" else 6000
    models = [TransductiveSVC(method=method, n_jobs=n).fit(big.X[:size], big.y[:size]) for n in (1, 2, 4)]
    for model in models[1:]:
        assert model.coef_.tobytes() == models[0].coef_.tobytes()
        assert model.intercept_.tobytes() == models[0].intercept_.tobytes()
        for name, column in model.history_.items():
            assert column.tobytes() == models[0].history_[name].tobytes(), name


@pytest.mark.parametrize("method", METHODS)
def test_same_input_same_bits(method: str) -> None:
    first, second = (TransductiveSVC(method=method).fit(X, Y).coef_ for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("method", METHODS)
def test_swapping_the_classes_mirrors_the_model(method: str) -> None:
    swapped = np.where(LABELED, 1 - Y, -1)
    settings = {"method": method, "tol": 1e-10, "class_prior": [0.5, 0.5]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        one, other = (TransductiveSVC(**settings).fit(X, y) for y in (Y, swapped))
    assert np.mean(one.predict(X) != other.predict(X)) >= 0.98


@pytest.mark.filterwarnings("ignore::fewlabel.FewlabelWarning")
@pytest.mark.parametrize("value", [1.7e308, 1e304, 1e300, 1e-305, 1e-310, 5e-324])
@pytest.mark.parametrize("everywhere", [False, True])
def test_values_of_any_size_give_a_finite_model_or_an_error(value: float, everywhere: bool) -> None:
    """A value near the ends of float64, or rows of nothing else."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(40, 6)), np.where(np.arange(40) < 12, np.arange(40) % 3, -1)
    if everywhere:
        rows = np.sign(rows) * value
    rows[7, 3] = value
    for model in TransductiveSVC(), SemiSupervisedLogisticRegression(), SequenceSVC(), SequenceSVC(method="posterior"):
        told = {"lengths": [8] * 5} if isinstance(model, SequenceSVC) else {}
        try:
            model.fit(rows, y, **told)
        except ValueError as reason:
            if re.match(
                "(the fit overflowed|rows of X are too short or too long for a fit): scale", str(reason)
            ) and f"{value:.4g} in row" in str(reason):
                continue
            raise
        assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("model", [TransductiveSVC(calibrate=True), SemiSupervisedLogisticRegression()])
def test_decisions_that_overflow_are_refused(model: Any, form: Any) -> None:
    model.fit(X, Y)
    with pytest.raises(
        ValueError, match=r"decisions overflow: scale .* features \(the largest value of X is 1.7e\+308 in row 0"
    ):
        model.predict_proba(form(np.full(X.shape, 1.7e308)))


def test_duplicates_that_add_up_to_infinity_are_refused() -> None:
    rows = sp.csr_array(X)
    arrays = np.r_[rows.data, 1e308, 1e308], np.r_[rows.indices, 0, 0], np.r_[rows.indptr, rows.nnz + 2]
    shape = (X.shape[0] + 1, X.shape[1])
    with pytest.raises(ValueError, match=rf"row {X.shape[0]} has the value \+Inf at feature 0"):
        TransductiveSVC().fit(sp.csr_array(arrays, shape), np.r_[Y, -1])


@functools.cache
def a_set(name: str) -> tuple[Any, np.ndarray]:
    if name == "cancer":
        rows, truth = load_breast_cancer(return_X_y=True)
        return StandardScaler().fit_transform(rows), truth
    rows, truth = load_digits(return_X_y=True)
    return normalize(rows), truth


def eight_of_each(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    y = np.full(len(truth), -1)
    for k in range(truth.max() + 1):
        y[rng.choice(np.flatnonzero(truth == k), 8, replace=False)] = k
    return y


ESTIMATORS = {
    TransductiveSVC: ("auto", "annealing", "switching", "pair_switching", "gradient"),
    SemiSupervisedLogisticRegression: ("annealing", "entropy", "expectation", "posterior"),
}


MODELS = pytest.mark.parametrize(
    "model", [kind(method=m) for kind, methods in ESTIMATORS.items() for m in methods], ids=repr
)


@MODELS
def test_the_order_of_words_and_classes_moves_no_prediction(model: Any) -> None:
    """Also of words that have the largest and smallest value in common."""
    texts, truth = load_scipy_docs()[:2]
    rows, truth = text_vectorizer().fit_transform(texts), np.unique(truth, return_inverse=True)[1]
    rng, (n, width), classes = np.random.default_rng(0), rows.shape, truth.max() + 1
    y = eight_of_each(truth, rng)
    order, columns, names = rng.permutation(n), rng.permutation(width), rng.permutation(classes)
    expected = model.fit(rows, y).predict(rows)
    for found, wanted in (
        (model.fit(rows[order], y[order]).predict(rows), expected),
        (model.fit(rows[:, columns], y).predict(rows[:, columns]), expected),
        (model.fit(rows, np.append(names, -1)[y]).predict(rows), names[expected]),
    ):
        assert np.mean(found != wanted) <= 0.005


@pytest.mark.filterwarnings("ignore::fewlabel.FewlabelWarning")
@pytest.mark.parametrize("name", ["cancer", "digits"])
@MODELS
def test_what_means_nothing_moves_no_prediction(model: Any, name: str) -> None:
    """The order of rows, columns and classes, a unit, weights of one size, copies given as weights."""
    rng, (rows, truth) = np.random.default_rng(0), a_set(name)
    truth = truth % 2 if model.method == "pair_switching" else truth
    n, width, classes = len(truth), rows.shape[1], rng.permutation(truth.max() + 1)
    y = eight_of_each(truth, rng)
    order, columns, weights = rng.permutation(n), rng.permutation(width), 1 + (np.arange(n) % 5 == 0)
    copies = np.repeat(np.arange(n), weights)
    expected, weighted = model.fit(rows, y).predict(rows), model.fit(rows, y, sample_weight=weights).predict(rows)
    for found, wanted in (
        (model.fit(rows[order], y[order]).predict(rows), expected),
        (model.fit(rows[:, columns], y).predict(rows[:, columns]), expected),
        (model.fit(rows, np.append(classes, -1)[y]).predict(rows), classes[expected]),
        (model.fit(3.7 * rows, y).predict(3.7 * rows), expected),
        (model.fit(rows, y, sample_weight=np.full(n, 7.3)).predict(rows), expected),
        (model.fit(rows, y, sample_weight=0.37 * weights).predict(rows), weighted),
        (model.fit(rows[copies], y[copies]).predict(rows), weighted),
    ):
        assert np.mean(found != wanted) <= 0.005


@pytest.mark.parametrize("method", ["auto", "switching"])
def test_the_order_of_classes_with_equal_shares_moves_no_prediction(method: str) -> None:
    """The number of rows is not a multiple of that of classes: some get one more."""
    rows, truth = a_set("digits")
    y, names = eight_of_each(truth, np.random.default_rng(2)), np.arange(10)[::-1]
    model = TransductiveSVC(method=method, class_prior="labels")
    expected = model.fit(rows, y).predict(rows)
    assert np.mean(model.fit(rows, np.append(names, -1)[y]).predict(rows) != names[expected]) <= 0.005
