"""Many classes: unlabeled rows help, classes get their shares, and what is asked of two classes holds for more."""

from __future__ import annotations

import pickle
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from planted import GROUP, SHARES, many_topics, text_like
from scipy.special import softmax
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel.methods import Annealing

X, Y, TRUTH = many_topics()
UNLABELED = Y == -1
SETTINGS: list[tuple[type, dict[str, Any]]] = [
    (kind, {"method": method, **settings})
    for method in ("annealing", "switching")
    for kind, settings in (
        (TransductiveSVC, {}),
        (TransductiveSVC, {"loss": "crammer_singer"}),
        (TransductiveSVC, {"hierarchy": GROUP}),
        (SemiSupervisedLogisticRegression, {"alpha": 1e-3}),
        (SemiSupervisedLogisticRegression, {"alpha": 1e-3, "hierarchy": GROUP}),
    )
]
every = pytest.mark.parametrize(
    ("kind", "settings"), SETTINGS, ids=[f"{kind.__name__}-{'-'.join(map(str, s.values()))}" for kind, s in SETTINGS]
)


@every
@pytest.mark.filterwarnings("error")
def test_unlabeled_rows_help_and_every_class_gets_its_share(kind: type, settings: dict[str, Any]) -> None:
    supervised = kind(**settings, unlabeled_weight=0, calibrate=False).fit(X, Y)
    model = kind(**settings, class_prior=SHARES, calibrate=False).fit(X, Y)
    assert model.score(X, TRUTH) > max(0.96, supervised.score(X, TRUTH) + 0.05)
    shares = np.bincount(model.predict(X[UNLABELED]), minlength=4) / UNLABELED.sum()
    np.testing.assert_allclose(shares, model.class_prior_, atol=0.01)
    np.testing.assert_allclose(model.class_prior_, SHARES)
    np.testing.assert_array_equal(model.transduction_[UNLABELED], model.predict(X[UNLABELED]))
    np.testing.assert_array_equal(model.transduction_[~UNLABELED], Y[~UNLABELED])


@every
def test_fitted_attributes(kind: type, settings: dict[str, Any]) -> None:
    model = kind(**settings, class_prior=SHARES, calibrate=False).fit(X, Y)
    n, d = X.shape
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert (model.coef_.shape, model.intercept_.shape, model.class_prior_.shape) == ((4, d), (4,), (4,))
    assert model.coef_.flags.c_contiguous
    assert model.decision_function(X).shape == (n, 4)
    assert len({len(column) for column in model.history_.values()}) == 1
    assert {"objective", "n_switched", "share_distance", "n_passes"} < set(model.history_)
    assert model.history_["objective"][-1] > 0
    if settings["method"] == "annealing":
        assert model.label_distributions_.shape == (n, 4)
        np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
        np.testing.assert_array_equal(model.label_distributions_[~UNLABELED], np.eye(4)[Y[~UNLABELED]])
        np.testing.assert_allclose(model.label_distributions_[UNLABELED].mean(axis=0), SHARES, atol=1e-3)
    else:
        assert not hasattr(model, "label_distributions_")


@every
def test_a_row_has_the_same_score_alone_and_among_others(kind: type, settings: dict[str, Any]) -> None:
    model = kind(**settings).fit(X, Y)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, X @ model.coef_.T + model.intercept_)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    for rows in (X, X.toarray()):
        alone = np.vstack([model.decision_function(rows[i : i + 1]) for i in range(40)])
        assert alone.tobytes() == scores[:40].tobytes()


@every
def test_same_bits_for_any_number_of_threads(kind: type, settings: dict[str, Any]) -> None:
    big = many_topics(n=4000, d=280, labels=40)
    models = [kind(**settings, n_jobs=n).fit(big.X, big.y) for n in (1, 3)]
    for name in ("coef_", "intercept_"):
        assert getattr(models[0], name).tobytes() == getattr(models[1], name).tobytes()
    assert models[0].history_["objective"].tobytes() == models[1].history_["objective"].tobytes()


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_labels_of_any_type(kind: type) -> None:
    expected = kind().fit(X, Y)
    for values, marker in (
        (np.array(["one", "six", "ten", "two"]), "-1"),
        (np.array(["a", "b", "c", "d"], dtype=object), None),
        (np.array([2.0, 3.0, 5.0, 7.0]), np.nan),
    ):
        given = values[np.maximum(Y, 0)]
        given[UNLABELED] = marker
        model = kind().fit(X, given)
        assert model.classes_.tolist() == values.tolist()
        assert model.coef_.tobytes() == expected.coef_.tobytes()
        assert model.transduction_.dtype == given.dtype
        np.testing.assert_array_equal(model.predict(X), values[expected.predict(X)])


@every
@pytest.mark.filterwarnings("ignore:the last solve ended at a relative distance")
def test_weight_k_is_the_row_k_times(kind: type, settings: dict[str, Any]) -> None:
    weights = np.random.default_rng(1).integers(0, 3, len(Y))
    weights[~UNLABELED] = np.maximum(1, weights[~UNLABELED])
    settings = settings | {"class_prior": SHARES, "tol": 1e-9}
    weighted = kind(**settings).fit(X, Y, sample_weight=weights)
    repeated = kind(**settings).fit(X[np.repeat(np.arange(len(Y)), weights)], np.repeat(Y, weights))
    if settings["method"] == "annealing" and settings.get("loss") != "crammer_singer":
        soft = weighted.label_distributions_[np.repeat(np.arange(len(Y)), weights)]
        np.testing.assert_allclose(soft, repeated.label_distributions_, atol=1e-6)
    if settings.get("loss") == "crammer_singer":  # rounding decides between its optima
        assert np.mean(weighted.predict(X) == repeated.predict(X)) >= 0.95
    else:
        np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    shares = np.bincount(weighted.predict(X), weights=weights * UNLABELED) / weights[UNLABELED].sum()
    np.testing.assert_allclose(shares, SHARES, atol=0.01)
    assert weighted.score(X, TRUTH) > 0.95


@every
def test_weight_zero_is_no_row(kind: type, settings: dict[str, Any]) -> None:
    kept = (np.arange(len(Y)) % 5 != 0) | ~UNLABELED
    settings = settings | {"tol": 1e-9}
    weighted = kind(**settings).fit(X, Y, sample_weight=kept.astype(float))
    fewer = kind(**settings).fit(X[kept], Y[kept])
    if settings.get("loss") == "crammer_singer":  # rounding decides between its optima
        assert np.mean(weighted.predict(X) == fewer.predict(X)) >= 0.98
    else:
        np.testing.assert_allclose(weighted.coef_, fewer.coef_, atol=1e-4)
        np.testing.assert_array_equal(weighted.transduction_[kept], fewer.transduction_)


def test_balanced_class_weight_counts_the_labeled_rows() -> None:
    counts = np.bincount(Y[~UNLABELED])
    by_hand = {c: counts.sum() / (4 * counts[c]) for c in range(4)}
    models = [TransductiveSVC(class_weight=weight).fit(X, Y) for weight in ("balanced", by_hand, None)]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=1e-12)
    assert (models[0].coef_ != models[2].coef_).any()


@every
def test_pickle_joblib_and_clone(kind: type, settings: dict[str, Any], tmp_path: Any) -> None:
    model = kind(**settings).fit(X, Y)
    joblib.dump(model, tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert clone(model).get_params() == model.get_params()
    results = joblib.Parallel(n_jobs=2)(joblib.delayed(clone(model).fit)(X, Y) for _ in range(2))
    assert [other.coef_.tobytes() for other in results] == [model.coef_.tobytes()] * 2


def test_in_a_grid_search() -> None:
    search = GridSearchCV(SemiSupervisedLogisticRegression(unlabeled=None), {"alpha": [1e-4, 1e-2]}, cv=3)
    search.set_params(scoring="neg_log_loss").fit(X, TRUTH)
    assert search.best_estimator_.score(X, TRUTH) > 0.95


# --- the prior --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
@pytest.mark.parametrize("prior", [[0.3, 0.3, 0.2, 0.2], {3: 0.2, 0: 0.3, 2: 0.2, 1: 0.3}])
def test_a_given_prior_is_held(kind: type, prior: Any) -> None:
    model = kind(class_prior=prior).fit(X, Y)
    np.testing.assert_allclose(model.class_prior_, [0.3, 0.3, 0.2, 0.2])
    shares = np.bincount(model.predict(X[UNLABELED])) / UNLABELED.sum()
    np.testing.assert_allclose(shares, model.class_prior_, atol=0.01)


@pytest.mark.parametrize("method", ["annealing", "switching"])
@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_a_class_that_the_prior_alone_names(kind: type, method: str) -> None:
    names = np.array(["a", "b", "c", "d", "-1"])
    given = names[np.where(Y == 3, -1, Y)]
    prior = dict(zip("abcd", SHARES, strict=True))
    with pytest.warns(
        UserWarning, match="class d has a share in class_prior but no labeled row, so it is assigned"
    ) as caught:
        model = kind(method=method, class_prior=prior, calibrate=False).fit(X, given)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    shares = np.mean(model.predict(X[given == "-1"])[:, None] == model.classes_, axis=0)
    np.testing.assert_allclose(shares, SHARES, atol=0.01)
    balanced = kind(class_prior=prior, class_weight="balanced")
    with pytest.warns(UserWarning, match="class d has a share"):
        assert np.isfinite(balanced.fit(X, given).coef_).all()


def test_a_share_of_less_than_one_row() -> None:
    prior = [0.4, 0.3, 0.2995, 0.0005]
    with pytest.warns(UserWarning, match=r"class 3 has a share of 0\.05% .* one of the 480 unlabeled rows") as caught:
        model = TransductiveSVC(class_prior=prior).fit(X, Y)
    assert sum("less than one" in str(warning.message) for warning in caught) == 1
    assert 3 not in model.predict(X[UNLABELED])


# --- probabilities ----------------------------------------------------------------------------------------------------


def test_probabilities_of_many_classes() -> None:
    model = SemiSupervisedLogisticRegression().fit(X, Y)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (len(Y), 4)
    sharp, even = (
        softmax(model.decision_function(X) / model.calibration_temperature_, axis=1),
        model.calibration_smoothing_,
    )
    np.testing.assert_allclose(probabilities, (1 - even) * sharp + even / 4)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(probabilities))
    np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(X))


def test_probabilities_of_two_classes() -> None:
    two = text_like()
    model = SemiSupervisedLogisticRegression(alpha=1e-3, calibrate=False).fit(two.X, two.y)
    assert np.isnan([model.calibration_temperature_, model.calibration_smoothing_]).all()
    decision = model.decision_function(two.X)
    assert decision.shape == (len(two.y),)
    assert model.coef_.shape == (1, two.X.shape[1])
    np.testing.assert_allclose(model.predict_proba(two.X)[:, 1], 1 / (1 + np.exp(-decision)))
    np.testing.assert_allclose(model.predict_proba(two.X).sum(axis=1), 1)
    assert model.score(two.X, two.truth) > 0.9
    assert model.predict_log_proba(1e6 * two.X).min() > -np.inf  # no logarithm of 0


@pytest.mark.filterwarnings("ignore:all labeled rows have class")
def test_probabilities_of_one_class() -> None:
    model = SemiSupervisedLogisticRegression().fit(X[:5], [3, 3, -1, -1, -1])
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((len(Y), 1)))
    assert model.predict(X[:2]).tolist() == [3, 3]


def test_a_support_vector_machine_has_probabilities_on_demand() -> None:
    assert not hasattr(TransductiveSVC(), "predict_proba")
    model = TransductiveSVC(calibrate=True).fit(X, Y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(X))


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
@pytest.mark.parametrize("problem", [text_like(labeled=40), many_topics(labels=40)], ids=["two classes", "four"])
def test_calibration_changes_probabilities_only(kind: type, problem: Any) -> None:
    plain, calibrated = (kind(calibrate=on).fit(problem.X, problem.y) for on in (False, True))
    assert calibrated.coef_.tobytes() == plain.coef_.tobytes()
    assert calibrated.calibration_temperature_ > 0
    assert 0 < calibrated.calibration_smoothing_ < 0.5


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
@pytest.mark.parametrize("make", [text_like, many_topics], ids=["two classes", "four"])
def test_rows_of_the_fit_and_new_rows_are_as_sure_as_they_are_right(kind: type, make: Any) -> None:
    problem = make(labeled=40) if make is text_like else make(labels=40)
    rows, new = np.arange(len(problem.y)) % 2 == 0, np.arange(len(problem.y)) % 2 == 1
    X, y = problem.X[rows | (problem.y != -1)], problem.y[rows | (problem.y != -1)]
    truth = problem.truth[rows | (problem.y != -1)]
    new &= problem.y == -1
    model, hidden = kind(calibrate=True).fit(X, y), y == -1
    found = model.label_distributions_
    np.testing.assert_array_equal(found[~hidden], np.eye(len(model.classes_))[y[~hidden]])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found.argmax(axis=1), model.transduction_)
    assert abs(found[hidden].max(axis=1).mean() - np.mean(model.transduction_ == truth)) < 0.1
    probabilities = model.predict_proba(problem.X[new])
    assert abs(probabilities.max(axis=1).mean() - model.score(problem.X[new], problem.truth[new])) < 0.1
    # The fit has pushed its rows away from the boundary: as new rows they would seem too sure.
    assert found[hidden].max(axis=1).mean() < model.predict_proba(X[hidden]).max(axis=1).mean()


@pytest.mark.parametrize("d", [1, 3, 5, 6])
def test_the_usual_loss_depends_on_the_number_of_features(d: int) -> None:
    rng = np.random.default_rng(d)
    for K, loss in ((2, "squared_hinge"), (3, "crammer_singer" if d < 6 else "squared_hinge")):
        truth = rng.integers(K, size=120)
        X, y = rng.normal(size=(120, d)) + 3 * truth[:, None], np.where(np.arange(120) < 30, truth, -1)
        usual, same = (TransductiveSVC(loss=one).fit(X, y) for one in ("auto", loss))
        assert usual.coef_.tobytes() == same.coef_.tobytes()
        assert usual.loss_ == same.loss_ == loss
        for padded in (np.hstack([X, np.zeros((120, 9))]), sp.csr_array(np.hstack([np.zeros((120, 9)), X]))):
            more = clone(usual).fit(padded, y).coef_
            np.testing.assert_allclose(more[:, (more != 0).any(axis=0)], usual.coef_, rtol=1e-6)
    with pytest.raises(ValueError, match='balance is "mean", which needs a loss of margins'):
        TransductiveSVC(loss="crammer_singer", method=Annealing(balance="mean")).fit(X, y)
    TransductiveSVC(method=Annealing(balance="mean")).fit(X, y)
    TransductiveSVC(method="gradient").fit(X, y)


@pytest.mark.parametrize("d", [15, 16])
def test_the_usual_loss_of_many_classes(d: int) -> None:
    rng = np.random.default_rng(d)
    truth = rng.integers(9, size=120)
    X, y = rng.normal(size=(120, d)) + 3 * truth[:, None], np.where(np.arange(120) < 30, truth, -1)
    losses = ("auto", "crammer_singer", "squared_hinge")
    usual, *both = (TransductiveSVC(loss=one).fit(X, y).coef_.tobytes() for one in losses)
    assert [usual == one for one in both] == [d < 16, d >= 16]


def test_classes_between_others_are_found() -> None:
    """On a line no threshold has one of them alone on its side."""
    rng = np.random.default_rng(0)
    truth = np.arange(500) % 5
    X, y = rng.normal(truth, 0.1)[:, None], np.where(np.arange(500) < 25, truth, -1)
    supervised, default, rest = ({"unlabeled_weight": 0}, {}, {"loss": "squared_hinge"})
    scores = [TransductiveSVC(**one).fit(X, y).score(X, truth) for one in (supervised, default, rest)]
    assert min(scores[:2]) > 0.98
    assert scores[2] < 0.95
