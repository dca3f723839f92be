"""The classifiers as estimators: scikit-learn's protocol, weights, warnings, what a fit leaves behind."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from checks import LABELS_AND_WEIGHTS, variants
from planted import text_like
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from fewlabel import (
    ClassPriorWarning,
    DataWarning,
    FewlabelWarning,
    SemiSupervisedLogisticRegression,
    TransductiveSVC,
    _advice,
)
from fewlabel.methods import Annealing

X, Y, TRUTH = text_like()
METHODS = ("annealing", "switching", "pair_switching", "gradient")
# The weights are off by the root of tol where a fit ends by the length of the gradient, and by less after Newton steps.
TIGHT = dict.fromkeys(METHODS, 1e-10) | {"gradient": 1e-14}


@pytest.mark.filterwarnings("ignore::fewlabel.FewlabelWarning")  # of a few rows, or all labeled
@variants([kind(unlabeled=None) for kind in (TransductiveSVC, SemiSupervisedLogisticRegression)], LABELS_AND_WEIGHTS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_method_of_the_returned_solution_is_known() -> None:
    found = TransductiveSVC(class_prior="labels").fit(X, Y)
    assert found.method_ in ("annealing", "switching")
    np.testing.assert_array_equal(
        found.coef_, TransductiveSVC(method=found.method_, class_prior="labels").fit(X, Y).coef_
    )
    assert TransductiveSVC(method="gradient").fit(X, Y).method_ == "gradient"


@pytest.fixture(scope="module")
def model() -> TransductiveSVC:
    return TransductiveSVC().fit(X, Y)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_every_method_finds_the_planted_classes(method: str, container: type) -> None:
    model = TransductiveSVC(method=method, class_prior=np.bincount(TRUTH) / len(TRUTH)).fit(container(X), Y)
    assert np.mean(model.transduction_ == TRUTH) > 0.95
    assert np.mean(model.predict(X) == TRUTH) > 0.95


def test_fitted_attributes(model: TransductiveSVC) -> None:
    n, d = X.shape
    assert model.classes_.tolist() == [0, 1]
    assert model.coef_.shape == (1, d)
    assert model.coef_.dtype == np.float64
    assert model.coef_.flags.c_contiguous
    assert model.intercept_.shape == (1,)
    assert model.class_prior_.shape == (2,)
    assert model.transduction_.shape == (n,)
    assert model.n_features_in_ == d
    assert not hasattr(model, "feature_names_in_")
    assert model.n_iter_ >= 1
    assert isinstance(model.termination_condition_, str)
    assert isinstance(model.objective_, float)
    lengths = {name: len(values) for name, values in model.history_.items()}
    assert {"objective", "temperature", "n_switched"} <= set(lengths)
    assert len(set(lengths.values())) == 1
    np.testing.assert_array_equal(model.transduction_[Y >= 0], Y[Y >= 0])
    if hasattr(model, "label_distributions_"):
        assert model.label_distributions_.shape == (n, 2)
        np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)


def test_the_values_of_automatic_parameters_are_known() -> None:
    labeled, unlabeled = np.sum(Y >= 0), np.sum(Y < 0)
    model = TransductiveSVC(method="switching").fit(X, Y)
    assert model.alpha_ == pytest.approx(1e-3 * min(1, np.sqrt(16384 / len(Y))))
    assert model.unlabeled_weight_ == pytest.approx(min(1, unlabeled / (20 * labeled)))
    few = TransductiveSVC(method="switching").fit(X[: 3 * labeled], np.r_[Y[Y >= 0], np.full(2 * labeled, -1)])
    assert few.unlabeled_weight_ == pytest.approx(0.1)
    given = TransductiveSVC(method="switching", alpha=0.01, unlabeled_weight=0.3).fit(X, Y)
    assert (given.alpha_, given.unlabeled_weight_, given.loss_) == (0.01, 0.3, "squared_hinge")


def test_predict_is_the_sign_of_the_decision(model: TransductiveSVC) -> None:
    decision = model.decision_function(X)
    assert decision.shape == (X.shape[0],)
    np.testing.assert_array_equal(model.predict(X), (decision > 0).astype(int))
    np.testing.assert_allclose(decision, X @ model.coef_[0] + model.intercept_[0])


@pytest.mark.parametrize("prior", ["labels", [0.6, 0.4], {1: 0.3, 0: 0.7}, np.array([0.55, 0.45])])
def test_class_share_is_kept(prior: Any) -> None:
    model = TransductiveSVC(class_prior=prior).fit(X, Y)
    share = model.predict(X[Y == -1]).mean()
    assert abs(share - model.class_prior_[1]) <= 0.01
    wanted = np.bincount(Y[Y >= 0]) / (Y >= 0).sum() if isinstance(prior, str) else [prior[0], prior[1]]
    np.testing.assert_allclose(model.class_prior_, wanted)


def test_parameters_are_stored_and_never_changed() -> None:
    prior, weight = {0: 0.6, 1: 0.4}, {0: 1.0, 1: 2.0}
    model = TransductiveSVC(class_prior=prior, class_weight=weight)
    before = model.get_params()
    model.fit(X, Y)
    assert model.get_params() == before
    assert model.class_prior is prior
    assert prior == {0: 0.6, 1: 0.4}
    assert clone(model).get_params()["alpha"] == "auto"


@pytest.mark.parametrize("method", METHODS)
def test_weight_k_is_the_row_k_times(method: str) -> None:
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 3, len(Y))
    settings = {"method": method, "class_prior": [0.6, 0.4], "tol": TIGHT[method]}
    weighted = TransductiveSVC(**settings).fit(X, Y, sample_weight=weights)
    repeated = TransductiveSVC(**settings).fit(X[np.repeat(np.arange(len(Y)), weights)], np.repeat(Y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)


def test_weight_k_of_a_labeled_row_is_the_row_k_times() -> None:
    weights = np.where(Y >= 0, 1 + np.arange(len(Y)) % 3, 1)
    weighted = TransductiveSVC(tol=1e-10).fit(X, Y, sample_weight=weights)
    repeated = TransductiveSVC(tol=1e-10).fit(X[np.repeat(np.arange(len(Y)), weights)], np.repeat(Y, weights))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_weight_zero_is_no_row(method: str) -> None:
    kept = np.arange(len(Y)) % 5 != 0
    kept[Y >= 0] = np.arange((Y >= 0).sum()) % 4 != 0
    settings = {"method": method, "tol": TIGHT[method]}
    weighted = TransductiveSVC(**settings).fit(X, Y, sample_weight=kept.astype(float))
    fewer = TransductiveSVC(**settings).fit(X[kept], Y[kept])
    np.testing.assert_allclose(weighted.coef_, fewer.coef_, atol=1e-5)
    np.testing.assert_allclose(weighted.intercept_, fewer.intercept_, atol=1e-5)
    np.testing.assert_array_equal(weighted.transduction_[kept], fewer.transduction_)


@pytest.mark.parametrize("factor", [2, 100, 0.1, 1e-30])
@pytest.mark.parametrize("weights", [np.ones(len(Y)), 1 + np.arange(len(Y)) % 3, 0.5 + np.arange(len(Y)) % 7 / 3])
@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_a_factor_of_all_weights_changes_nothing(kind: Any, weights: np.ndarray, factor: float) -> None:
    """Of an estimate of the shares, too, and of probabilities."""

    def fitted(weights: Any) -> np.ndarray:
        return kind(calibrate=True).fit(X, Y, sample_weight=weights).predict_proba(X)

    same = fitted(weights if np.ptp(weights) else None)
    np.testing.assert_allclose(fitted(factor * weights), same, rtol=1e-6)


def test_balanced_class_weight_counts_labeled_rows() -> None:
    counts = np.bincount(Y[Y >= 0])
    weights = {c: counts.sum() / (2 * counts[c]) for c in (0, 1)}
    balanced = TransductiveSVC(class_weight="balanced").fit(X, Y)
    by_hand = TransductiveSVC(class_weight=weights).fit(X, Y)
    np.testing.assert_array_equal(balanced.coef_, by_hand.coef_)
    for weight in "balanced", weights, None:  # estimates before a fit know nothing of the weights
        model = TransductiveSVC(method="annealing", class_weight=weight).fit(X, Y)
        np.testing.assert_array_equal(model.class_prior_, TransductiveSVC(method="annealing").fit(X, Y).class_prior_)
    assert (balanced.coef_ != TransductiveSVC().fit(X, Y).coef_).any()


def test_class_weight_auto_is_the_root_of_balanced_where_shares_are_estimated() -> None:
    y = np.where((Y == 1) & (np.arange(len(Y)) > 20), -1, Y)
    counts = np.bincount(y[y >= 0])
    assert counts[0] > counts[1] > 0
    roots = {c: 1 / np.sqrt(counts[c]) for c in (0, 1)}
    for settings, same in (({}, roots), ({"class_prior": "labels"}, None), ({"unlabeled_weight": 0}, None)):
        default, other = (TransductiveSVC(**settings, **more).fit(X, y) for more in ({}, {"class_weight": same}))
        np.testing.assert_allclose(default.coef_, other.coef_, atol=1e-9 * np.abs(other.coef_).max())
    assert (TransductiveSVC(class_weight=None).fit(X, y).coef_ != TransductiveSVC().fit(X, y).coef_).any()


@pytest.mark.parametrize("prior", ["labels", [0.6, 0.4]])
def test_parts_of_the_rows_have_the_class_weight_of_all(prior: Any) -> None:
    rng = np.random.default_rng(0)  # enough rows for a start at an eighth of them
    truth = rng.random(20_000) < 0.4
    rows = rng.normal(size=(20_000, 10)) + 0.5 * truth[:, None]
    y = np.where(np.arange(20_000) < 90, truth, -1)
    y[:60][truth[:60]] = -1
    for calibrate in False, True:
        models = [
            TransductiveSVC(class_prior=prior, class_weight=weight, calibrate=calibrate).fit(rows, y)
            for weight in ("auto", None)
        ]
        assert models[0].coef_.tobytes() == models[1].coef_.tobytes()
        assert models[0].label_distributions_.tobytes() == models[1].label_distributions_.tobytes()


def test_in_a_pipeline_and_a_grid_search() -> None:
    everything = TransductiveSVC(unlabeled=None)
    search = GridSearchCV(make_pipeline(TfidfTransformer(), everything), {"transductivesvc__alpha": [1e-3, 1e-1]}, cv=3)
    search.fit(X, TRUTH)
    assert search.best_score_ > 0.9


def test_refit_forgets_the_earlier_fit() -> None:
    model = TransductiveSVC().fit(X, Y)
    with pytest.warns(DataWarning, match="all labeled rows have class 3"):
        model.fit(X[:5], [3, 3, -1, -1, -1])
    assert model.classes_.tolist() == [3]
    assert model.predict(X).tolist() == [3] * X.shape[0]
    assert model.history_ == {}
    model.fit(X, Y)
    np.testing.assert_array_equal(model.coef_, TransductiveSVC().fit(X, Y).coef_)


def test_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        TransductiveSVC().predict(X)


def test_a_good_fit_warns_of_nothing_and_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TransductiveSVC().fit(X, Y)
        TransductiveSVC(unlabeled=None).fit(X, TRUTH)
    assert capfd.readouterr() == ("", "")


def test_warning_without_unlabeled_rows() -> None:
    with pytest.warns(DataWarning, match=r"no row is unlabeled.*unlabeled=None means") as caught:
        TransductiveSVC().fit(X, TRUTH)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_warning_without_unlabeled_rows_names_a_marker_that_was_set() -> None:
    with pytest.warns(DataWarning, match=r"no row is unlabeled.*The marker is unlabeled=-9, which y does not contain"):
        TransductiveSVC(unlabeled=-9).fit(X, TRUTH)


@pytest.mark.filterwarnings("error")
def test_a_supervised_fit_that_is_asked_for_does_not_warn_without_unlabeled_rows() -> None:
    TransductiveSVC(unlabeled_weight=0).fit(X, TRUTH)


def test_warning_when_one_class_is_labeled() -> None:
    one = np.where(Y == 1, -1, Y)
    with pytest.warns(
        DataWarning,
        match="all labeled rows have class 0, so the model predicts it.* name the class of the others by class_prior",
    ) as caught:
        model = TransductiveSVC().fit(X, one)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert set(model.predict(X)) == set(model.transduction_) == {0}
    assert (model.decision_function(X) < 0).all()


@pytest.mark.parametrize("prior", [[0.3, 0.7], "auto", "labels"])
def test_one_labeled_class_gives_a_constant_model_unless_the_prior_names_another(prior: Any) -> None:
    with pytest.warns(DataWarning, match="all labeled rows have class 0") as caught:
        model = TransductiveSVC(class_prior=prior, class_weight={0: 1, 1: 2}).fit(X, np.where(Y == 1, -1, Y))
    assert len(caught) == 1
    assert set(model.predict(X)) == set(model.transduction_) == {0}
    assert model.class_prior_.tolist() == [1.0]
    assert model.termination_condition_ == "one_class"
    assert not model.coef_.any()


@pytest.mark.filterwarnings("error")
def test_no_warning_when_a_true_prior_is_far_from_labels_that_were_picked() -> None:
    many = text_like(share=0.15)
    y = np.full(len(many.y), -1)
    for c in (0, 1):
        y[np.flatnonzero(many.truth == c)[:20]] = c
    TransductiveSVC(class_prior=[0.85, 0.15]).fit(many.X, y)


def test_warning_of_too_few_steps() -> None:
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter = 1 .* The fit took 1 step; the objective is 0\.\d+"
    ) as caught:
        model = TransductiveSVC(max_iter=1).fit(X, Y)
    assert model.termination_condition_ == "max_iter"
    assert {warning.category for warning in caught} == {ConvergenceWarning}
    assert caught[0].filename == __file__


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_max_iter_is_the_most_steps(method: str, max_iter: int) -> None:
    with pytest.warns(ConvergenceWarning, match=f"max_iter = {max_iter} "):
        model = TransductiveSVC(method=method, max_iter=max_iter).fit(X, Y)
    assert model.n_iter_ <= max_iter
    assert model.termination_condition_ == "max_iter"
    assert np.mean(model.predict(X) == TRUTH) > 0.6


def test_a_supervised_solve_keeps_max_iter_too() -> None:
    with pytest.warns(ConvergenceWarning, match="max_iter = 1 Newton steps .*raise max_iter or tol"):
        model = TransductiveSVC(unlabeled=None, max_iter=1).fit(X, TRUTH)
    assert (model.n_iter_, model.termination_condition_) == (1, "max_iter")


@pytest.mark.parametrize("unlabeled_weight", [0.0, 1.0])
def test_a_tol_out_of_reach_is_said_to_be_so(unlabeled_weight: float) -> None:
    with pytest.warns(ConvergenceWarning, match="more steps would not help: raise tol or alpha") as caught:
        model = TransductiveSVC(unlabeled_weight=unlabeled_weight, tol=1e-60).fit(X, Y)
    assert len(caught) == 1
    assert model.termination_condition_ == "not_converged"


def test_warnings_of_the_library() -> None:
    found = [
        {"kind": "moon", "values": {"class": 1}, "text": "the moon is full"},
        {"kind": "no_label", "values": {"class": 1}, "text": "class spam has none"},
        {"kind": "dominant_features", "values": {"feature": 2, "share": 0.5}, "text": "one is large"},
        {"kind": "max_iter", "values": {"max_iter": 5}, "text": "max_iter is low"},
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _advice.of_the_library([found], SimpleNamespace(classes_=np.arange(2), n_iter_=7, objective_=0.25))
    assert [(str(warning.message), warning.category) for warning in caught] == [
        ("the moon is full.", FewlabelWarning),
        ("class spam has none.", ClassPriorWarning),
        ("one is large.", DataWarning),
        ("max_iter is low. The fit took 7 steps; the objective is 0.25.", ConvergenceWarning),
    ]


def test_warning_of_a_collapse_has_the_names_of_the_classes() -> None:
    # Without an intercept the threshold cannot move; a large constant feature pushes all scores to one side.
    rows = sp.hstack([X, np.full((X.shape[0], 1), 30.0)], format="csr")
    model = TransductiveSVC(class_prior=[0.5, 0.5], fit_intercept=False, alpha=1.0, unlabeled_weight=1e-6)
    with pytest.warns(ClassPriorWarning, match=r"class (spam|ham) is predicted .* class prior is 50\.0%") as caught:
        model.fit(rows, np.array(["ham", "spam", "-1"])[Y])
    of_shares = [one for one in caught if one.category is ClassPriorWarning]
    assert len(of_shares) == 1  # nothing of a balance that was not asked for
    assert of_shares[0].filename == __file__


def test_one_unlabeled_row_is_no_collapse() -> None:
    labels = TRUTH.copy()
    labels[3] = -1
    with pytest.warns(
        DataWarning, match="only one row is unlabeled: the model is fitted on labeled rows only"
    ) as caught:
        TransductiveSVC(unlabeled=-1).fit(X, labels)
    assert len(caught) == 1


def test_a_balance_that_needs_an_intercept() -> None:
    with pytest.warns(ClassPriorWarning, match="set fit_intercept to true") as caught:
        TransductiveSVC(method=Annealing(balance="mean"), fit_intercept=False).fit(X, Y)
    assert len(caught) == 1


def test_the_categories_of_warnings_are_user_warnings() -> None:
    assert issubclass(ClassPriorWarning, FewlabelWarning)
    assert issubclass(DataWarning, FewlabelWarning)
    assert issubclass(FewlabelWarning, UserWarning)


def test_probabilities_that_are_not_there_name_the_parameter_that_makes_them() -> None:
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(TransductiveSVC(), name)
        assert hasattr(TransductiveSVC(calibrate=True), name)
        with pytest.raises(AttributeError, match=rf"TransductiveSVC has {name} only with calibrate=True"):
            getattr(TransductiveSVC(), name)
