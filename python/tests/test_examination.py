"""What a fit finds out of itself: temperature of the probabilities, and whether unlabeled rows helped."""

from __future__ import annotations

import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from planted import GROUP, Problem, many_topics, text_like
from scipy.special import log_softmax, softmax
from sklearn.metrics import f1_score

from fewlabel import (
    SemiSupervisedLogisticRegression,
    TransductiveSVC,
    _advice,
    _calibration,
    _cross_fit,
    _examination,
    load_model,
    save_model,
)
from fewlabel._examination import Examined
from fewlabel._gain import Gain

TWO = text_like(labeled=40)
TOPICS = many_topics(labels=60)


def drawn(n: int, K: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores and classes that were drawn with their softmax."""
    rng = np.random.default_rng(seed)
    scores = 2 * rng.normal(size=(n, K))
    return scores, np.array([rng.choice(K, p=p) for p in softmax(scores, axis=1)])


@pytest.mark.parametrize("K", [2, 5])
@pytest.mark.parametrize("scale", [0.01, 1.0, 300.0])
def test_the_temperature_is_found_at_any_scale(K: int, scale: float) -> None:
    scores, codes = drawn(4000, K)
    found = _calibration.temperature(scale * scores, codes, np.ones(len(codes)))
    assert found == pytest.approx(scale, rel=0.1)


def test_it_has_the_least_log_loss() -> None:
    scores, codes = drawn(3000, 3)
    scores = 5 * scores

    def loss(T: float) -> float:
        return float(-log_softmax(scores / T, axis=1)[np.arange(len(codes)), codes].mean())

    found = _calibration.temperature(scores, codes, np.ones(len(codes)))
    assert loss(found) <= min(loss(0.95 * found), loss(1.05 * found)) + 1e-4
    assert loss(found) < loss(1.0)


def test_the_temperature_stays_near_the_usual_one_unless_labels_speak_against_it() -> None:
    for seed in range(20):
        scores, codes = drawn(60, 2, seed)
        assert abs(np.log(_calibration.temperature(1.2 * scores, codes, np.ones(60)))) < 0.15, seed
        for factor in 0.1, 10:
            scores, codes = drawn(200, 2, seed)
            off = np.log(_calibration.temperature(factor * scores, codes, np.ones(200)))
            assert off == pytest.approx(np.log(factor), abs=0.5), seed


def test_the_usual_temperature_is_the_unit_of_the_scores() -> None:
    scores, codes = drawn(100, 3)
    found = _calibration.temperature(scores, codes, np.ones(100))
    assert _calibration.temperature(0.2 * scores, codes, np.ones(100), 0.2) == pytest.approx(0.2 * found, rel=1e-3)


def test_weights_of_labels_are_repeated_rows() -> None:
    scores, codes = drawn(80, 3)
    weights = 1 + np.arange(80) % 3
    again = np.repeat(np.arange(80), weights)
    found = _calibration.temperature(3 * scores[again], codes[again], np.ones(len(again)))
    assert _calibration.temperature(3 * scores, codes, weights.astype(float)) == pytest.approx(found)


def test_rows_that_are_all_right_give_no_certainty() -> None:
    scores, codes = 10 * np.eye(3)[np.arange(30) % 3], np.arange(30) % 3
    T = _calibration.temperature(scores, codes, np.ones(30))
    largest = np.exp(_calibration.log_probabilities(scores, T, _calibration.smoothing(30, 3))).max()
    assert largest == pytest.approx((30 + 0.2) / (30 + 0.6), abs=1e-3)


@pytest.mark.filterwarnings("error")
def test_labels_of_next_to_no_weight_say_nothing() -> None:
    nothing = _calibration.smoothing(1e-90, 4)
    spread = np.exp(_calibration.log_probabilities(drawn(40, 4)[0], 2.0, nothing))
    np.testing.assert_allclose(spread, 0.25)


def test_smoothing_is_a_fifth_of_a_row_of_each_class() -> None:
    assert _calibration.smoothing(100, 20) == pytest.approx(4 / 104)
    assert _calibration.smoothing(1e6, 2) < 1e-6
    scores, _ = drawn(50, 4)
    even = _calibration.smoothing(40, 4)
    smooth = np.exp(_calibration.log_probabilities(scores, 2.0, even))
    np.testing.assert_allclose(smooth.sum(axis=1), 1)
    np.testing.assert_allclose(smooth, (40 * softmax(scores / 2, axis=1) + 0.2) / 40.8)


def test_maximum_likelihood_stays_as_it_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SemiSupervisedLogisticRegression(unlabeled_weight=0).fit(TOPICS.X, TOPICS.y)
    assert (model.temperature_, model.smoothing_) == (1.0, 0.0)
    np.testing.assert_allclose(model.predict_proba(TOPICS.X), softmax(model.decision_function(TOPICS.X), axis=1))


def test_biases_correct_shifted_scores() -> None:
    scores, codes = drawn(5000, 3)
    shift = np.array([1.0, 0.0, -1.0])
    T, biases = _calibration.temperature_and_biases(scores - shift, codes, np.ones(len(codes)))
    assert pytest.approx(1, rel=0.1) == T
    np.testing.assert_allclose(biases - biases.mean(), shift, atol=0.15)


def test_biases_that_are_expected_stay_where_labels_say_little() -> None:
    scores, codes = drawn(6, 3)
    expected = np.array([1.0, 0.0, -1.0])
    _, biases = _calibration.temperature_and_biases(scores, codes, np.full(6, 1e-6), expected)
    np.testing.assert_allclose(biases, expected, atol=1e-3)
    some = np.array([_calibration.random_biases(3, np.random.default_rng(seed)) for seed in range(500)])
    assert some.std() == pytest.approx(5**-0.5, rel=0.1)


def test_folds() -> None:
    X, y = TOPICS.X, TOPICS.y
    fold = _cross_fit.choose(X, y)
    assert (fold[y < 0] == _cross_fit.KEPT).all()
    for c in range(4):
        counts = np.bincount(fold[y == c], minlength=5)
        assert counts.max() - counts.min() <= 1
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_array_equal(_cross_fit.choose(X[order], y[order]), fold[order])
    twice = _cross_fit.choose(sp.vstack([X, X]).tocsr(), np.concatenate([y, y]))
    np.testing.assert_array_equal(twice, np.concatenate([fold, fold]))
    alone = np.where(np.arange(len(y)) == np.flatnonzero(y == 0)[0], 0, -1)
    assert (_cross_fit.choose(X, alone) == _cross_fit.KEPT).all()


def test_scores_are_of_models_that_did_not_see_the_label() -> None:
    labeled = TWO.y >= 0
    X, y = TWO.X[labeled], np.ascontiguousarray(TWO.y[labeled], dtype=np.int32)
    fold = _cross_fit.choose(X, y)
    options = {"alpha": 1e-3, "class_prior": np.array([0.6, 0.4]), "hierarchy": None}
    found = _cross_fit.scores(X, y, None, fold, options)
    for number in range(5):
        out = fold == number
        model = TransductiveSVC(unlabeled=None).fit(X[~out], y[~out])
        np.testing.assert_allclose(found[out, 1], model.decision_function(X[out]), atol=1e-6)


COMPARED = [
    (TransductiveSVC, TWO, {}),
    (TransductiveSVC, TWO, {"method": "switching", "fit_intercept": False}),
    (TransductiveSVC, TWO, {"method": "pair_switching"}),
    (TransductiveSVC, TWO, {"method": "pair_switching", "loss": "hinge"}),
    (TransductiveSVC, TOPICS, {"balance": "labels"}),
    (TransductiveSVC, TOPICS, {"method": "switching", "hierarchy": GROUP}),
    (TransductiveSVC, TOPICS, {"loss": "crammer_singer", "class_weight": "balanced"}),
    *[(SemiSupervisedLogisticRegression, TOPICS, {"method": m}) for m in ("annealing", "entropy", "posterior")],
    (SemiSupervisedLogisticRegression, TWO, {"method": "expectation"}),
]


@pytest.mark.parametrize(("kind", "problem", "settings"), COMPARED)
@pytest.mark.parametrize("weighted", [False, True])
def test_agreement_is_that_with_the_supervised_model(
    kind: type, problem: Problem, settings: dict[str, object], weighted: bool
) -> None:
    X, y, truth = problem
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float) if weighted else np.ones(len(y))
    prior = [float(np.mean(truth == c)) for c in np.unique(truth)]
    model = kind(class_prior=prior, warm_start=True, tol=1e-7, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.set_params(**{"cross_fit": False}).fit(X, y, sample_weight=weights)
        labeled, asked = y >= 0, (y < 0) & (weights > 0)
        supervised = kind(unlabeled=None, class_prior=prior, tol=1e-7, cross_fit=False, **settings)
        supervised.fit(X[labeled], y[labeled], sample_weight=weights[labeled])
        for _ in range(2):  # fresh and warm
            share = np.mean(supervised.predict(X[asked]) == model.transduction_[asked])
            assert model.supervised_agreement_ == pytest.approx(share, abs=1.5 / asked.sum())
            model.fit(X, y, sample_weight=weights)


@pytest.mark.filterwarnings("ignore:unlabeled rows appear to hurt")
@pytest.mark.parametrize("problem", [TWO, TOPICS], ids=["two", "four"])
def test_probabilities_are_calibrated_and_monotone(problem: object) -> None:
    for model in SemiSupervisedLogisticRegression(), TransductiveSVC(cross_fit=True):
        model.fit(problem.X, problem.y)
        probabilities = model.predict_proba(problem.X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        decision = model.decision_function(problem.X)
        if decision.ndim == 1:
            order = np.argsort(decision)
            assert (np.diff(probabilities[order, 1]) >= 0).all()
            assert ((probabilities[:, 1] > 0.5) == (decision > 0)).all()
        else:
            np.testing.assert_array_equal(probabilities.argmax(axis=1), decision.argmax(axis=1))
        unlabeled, T, cost = problem.y < 0, model.temperature_, -np.log1p(-model.smoothing_)
        at = np.flatnonzero(unlabeled), problem.truth[unlabeled]
        model.temperature_, model.smoothing_ = 1.0, 0.0
        assert np.log(probabilities[at]).mean() >= np.log(model.predict_proba(problem.X)[at]).mean() - cost, T


def test_few_labels_are_told_of() -> None:
    few = text_like(labeled=12)
    model = SemiSupervisedLogisticRegression().fit(few.X, few.y)
    assert np.isnan(model.temperature_)
    assert model.cross_fit_scores_["n_rows"] == 0
    with pytest.warns(UserWarning, match="not calibrated.*needs 20 different"):
        probabilities = model.predict_proba(few.X)
    np.testing.assert_allclose(probabilities[:, 1], 1 / (1 + np.exp(-model.decision_function(few.X))))


def test_the_usual_fit_of_a_support_vector_machine_does_not_cross_fit() -> None:
    model = TransductiveSVC().fit(TWO.X, TWO.y)
    assert model.cross_fit_scores_["n_rows"] == 0
    supervised = TransductiveSVC(unlabeled=None).fit(TWO.X[TWO.y >= 0], TWO.y[TWO.y >= 0])
    rows = TWO.X[TWO.y < 0]
    assert model.supervised_agreement_ == pytest.approx(np.mean(supervised.predict(rows) == model.predict(rows)))


def test_harm_is_told_of() -> None:
    """The gap between the groups has nothing to do with the classes, which a weak feature tells."""
    rng = np.random.default_rng(0)
    n = 600
    truth, group = rng.integers(0, 2, n), rng.integers(0, 2, n)
    X = rng.normal(size=(n, 8))
    X[:, 0] += 6 * (2 * group - 1)
    X[:, 1] = 1.5 * (2 * truth - 1) + 0.8 * rng.normal(size=n)
    y = np.where(np.arange(n) < 60, truth, -1)
    X /= 10
    with pytest.warns(UserWarning, match="unlabeled rows appear to hurt: of 60 labeled rows"):
        model = TransductiveSVC(cross_fit=True, alpha=0.1, unlabeled_weight=10).fit(X, y)
    assert model.cross_fit_scores_["semi-supervised"] < model.cross_fit_scores_["supervised"]


LOST, UNSEEN, SEEN = Gain(0.7, 0.6, 0.05), Gain(0.7, 0.7, 0.05), Gain(0.7, 0.8, 0.05)


@pytest.mark.parametrize(
    ("right", "macro_f", "differ", "said"),
    [
        (SEEN, SEEN, 40, None),
        (SEEN, LOST, 2, "appear to hurt"),
        (LOST, SEEN, 2, "appear to hurt"),
        (SEEN, UNSEEN, 25, "do not appear to help"),
        (UNSEEN, SEEN, 25, "do not appear to help"),
        (UNSEEN, UNSEEN, 24, None),
        (Gain(), Gain(), 0, None),
    ],
)
def test_what_is_said_of_rows_held_out(right: Gain, macro_f: Gain, differ: int, said: str | None) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _advice.unlabeled_hurt(Examined(0.9, right, macro_f, differ, n_rows=200))
    assert [re.match("unlabeled rows (.*?):", str(w.message))[1] for w in caught] == [said] * (said is not None)


@pytest.mark.filterwarnings("ignore:unlabeled rows appear to hurt")
def test_scores_are_those_of_the_rows_held_out() -> None:
    """Found again with the models that did not see them; a row that both have wrong is none that differs."""
    order = np.argsort(TOPICS.y < 0, kind="stable")  # labeled rows first, as a product depends on the order
    X, codes = sp.csr_array(TOPICS.X)[order], TOPICS.y[order].astype(np.int32)
    codes[:60:4] = (codes[:60:4] + 1) % 4  # wrong labels
    rough = TransductiveSVC(tol=1e-3)._options() | _cross_fit.class_options(np.full(4, 0.25), None)
    found = _examination.examine(X, codes, None, rough, 0.5, True)
    labeled, n = np.arange(60), np.arange(len(codes))
    fold, truth = _cross_fit.choose(X, codes), codes[:60]
    before, after = (
        _cross_fit.scores(X[rows], codes[rows], None, fold[rows], rough)[:60].argmax(axis=1) for rows in (labeled, n)
    )
    right = np.mean(before == truth), np.mean(after == truth)
    macro_f = [f1_score(truth, answers, average="macro") for answers in (before, after)]
    assert found.right[:2] == pytest.approx(right)
    assert found.macro_f[:2] == pytest.approx(macro_f)
    assert found.differ == np.sum((before == truth) != (after == truth)) < np.sum(before != after)
    model = TransductiveSVC(class_prior=[0.25] * 4, cross_fit=True, tol=1e-3, n_jobs=1).fit(X, codes)
    assert model.cross_fit_scores_ == {
        "supervised": found.right.before,
        "semi-supervised": found.right.after,
        "supervised macro F": found.macro_f.before,
        "semi-supervised macro F": found.macro_f.after,
        "n_rows": 60,
    }


def test_equal_rows_of_a_class_count_as_one_heavy_row() -> None:
    X = sp.csr_array(np.array([[1.0, 2], [3, 4], [1, 2], [1, 2], [3, 4]]))
    first, weights = _examination._together(X, np.array([0, 1, 0, 1, 1]), np.array([1.0, 2, 3, 4, 5]))
    np.testing.assert_array_equal(np.sort(first), [0, 1, 3])
    np.testing.assert_array_equal(weights[np.argsort(first)], [4, 7, 4])


def test_help_is_not() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TransductiveSVC(cross_fit=True).fit(TOPICS.X, TOPICS.y)


def test_the_temperature_is_kept(tmp_path: Path) -> None:
    model = SemiSupervisedLogisticRegression().fit(TOPICS.X, TOPICS.y)
    save_model(model, tmp_path / "model")
    for again in pickle.loads(pickle.dumps(model)), load_model(tmp_path / "model"):
        assert (again.temperature_, again.smoothing_) == (model.temperature_, model.smoothing_)
        np.testing.assert_array_equal(again.predict_proba(TOPICS.X), model.predict_proba(TOPICS.X))


def test_bad_choice() -> None:
    with pytest.raises(ValueError, match="cross_fit must be 'auto', True or False, got 3"):
        TransductiveSVC(cross_fit=3).fit(TWO.X, TWO.y)
