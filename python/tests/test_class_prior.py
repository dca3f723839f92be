"""The class prior: the fixed point, the confusion matrix, the estimate of shares that labels do not have."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from planted import many_topics, text_like
from scipy.optimize import minimize
from scipy.special import softmax

from fewlabel import (
    SemiSupervisedLogisticRegression,
    TransductiveSVC,
    _calibration,
    _class_prior,
    _cross_fit,
    _label_shift,
    estimate_class_prior,
)

TOPICS = many_topics(n=1200, seed=3)


def equally_labeled(problem: Any, per_class: int) -> np.ndarray:
    """Labels of as many rows of each class."""
    y, rng = np.full(len(problem.truth), -1), np.random.default_rng(0)
    for c in range(problem.truth.max() + 1):
        y[rng.permutation(np.flatnonzero(problem.truth == c))[:per_class]] = c
    return y


Y = equally_labeled(TOPICS, 10)
SHARES = np.bincount(TOPICS.truth[Y < 0]) / np.sum(Y < 0)
both = pytest.mark.parametrize("estimator", [TransductiveSVC, SemiSupervisedLogisticRegression])


def planted_evidence(shares: tuple[float, ...], n: int = 4000, seed: int = 0) -> _label_shift.Evidence:
    """Scores that are log likelihoods, so that softmax is calibrated for equal shares."""
    rng, K = np.random.default_rng(seed), len(shares)

    def scores(codes: np.ndarray) -> np.ndarray:
        at = rng.normal(size=(len(codes), K)) + 1.5 * np.eye(K)[codes]
        return 1.5 * at

    codes, hidden = np.arange(600) % K, rng.choice(K, n, p=shares)
    return _label_shift.Evidence(scores(codes), codes, np.ones(600), scores(hidden), np.ones(n), np.arange(600))


@pytest.mark.parametrize("method", ["em", "confusion"])
@pytest.mark.parametrize("shares", [(0.9, 0.1), (0.6, 0.3, 0.1)])
def test_planted_shares(method: str, shares: tuple[float, ...]) -> None:
    found = _label_shift.shares(planted_evidence(shares), method)
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, shares, atol=0.05)


@pytest.mark.parametrize("scale", [1, 5])
def test_labels_that_look_drawn_at_random(scale: int) -> None:
    shares, rng = np.array([0.5, 0.3, 0.15, 0.05]), np.random.default_rng(0)
    drawn = [_label_shift.at_random(scale * rng.multinomial(100, shares).astype(float), shares) for _ in range(50)]
    assert np.quantile(drawn, 0.1) > 0.9
    assert _label_shift.at_random(scale * np.array([25.0, 25, 25, 25]), shares) < 0.01
    assert _label_shift.at_random(scale * np.array([10.0, 10, 30, 50]), shares) < 0.01


def test_equal_numbers_look_picked_whatever_was_found() -> None:
    for totals in ([10.0, 10, 10], [4.0, 4, 3]):
        assert _label_shift.at_random(np.array(totals), np.full(3, 1 / 3)) < 0.3


def test_equal_numbers_are_told_in_spite_of_rounding() -> None:
    rounded = np.bincount(np.repeat(np.arange(4), 9), np.repeat([5 / 9, 6 / 9, 5 / 9, 6 / 9], 9))
    assert np.ptp(rounded) > 1
    exact = _label_shift.at_random(np.array([5.0, 6, 5, 6]), np.full(4, 0.25))
    assert _label_shift.at_random(rounded, np.full(4, 0.25)) == pytest.approx(exact)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("classes", [[0], [0, 1, 2, 3]])
def test_equal_rows_count_once(classes: list[int], dense: bool) -> None:
    rows = TOPICS.X.toarray()
    for c in classes:
        own = np.flatnonzero(c == Y)
        rows[own] = rows[own[0]]
    X = rows if dense else sp.csr_array(rows)
    with pytest.raises(ValueError, match="at least 3 different labeled rows, but class 0 has 1"):
        estimate_class_prior(X, Y)
    with pytest.raises(ValueError, match="at least 3 different labeled rows, but class 0 has 1"):
        TransductiveSVC(class_prior="estimate").fit(X, Y)
    with pytest.warns(UserWarning, match="class_prior is held exactly for"):
        model = TransductiveSVC(class_prior=SHARES, prior_strength=10).fit(X, Y)
    np.testing.assert_allclose(model.class_prior_[classes], SHARES[classes])


def randomly_labeled(spread: float) -> tuple[_label_shift.Evidence, np.ndarray]:
    """Planted evidence with labels drawn at random, by chance not quite of the shares; and the shares of the labels."""
    evidence, rng = planted_evidence((0.6, 0.3, 0.1)), np.random.default_rng(1)
    codes = rng.choice(3, 600, p=(0.56, 0.32, 0.12))
    scores = 1.5 * (rng.normal(size=(600, 3)) * spread + 1.5 * np.eye(3)[codes])
    return evidence._replace(scores=scores, codes=codes), np.bincount(codes) / 600


def shares_of_picked(evidence: _label_shift.Evidence, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """The estimate if labels are believed to have been picked."""
    with monkeypatch.context() as patch:
        patch.setattr(_label_shift, "at_random", lambda totals, found: 0.0)
        return _label_shift.shares(evidence, "em")


def test_shares_of_labels_drawn_at_random_count(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence, labels = randomly_labeled(1.0)
    far = np.abs(shares_of_picked(evidence, monkeypatch) - labels).sum()
    near = np.abs(_label_shift.shares(evidence, "em") - labels).sum()
    assert near < 0.9 * far


def test_they_do_not_where_no_answer_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence, labels = randomly_labeled(0.0)
    picked = shares_of_picked(evidence, monkeypatch)
    assert np.abs(picked - labels).max() > 0.03
    np.testing.assert_allclose(_label_shift.shares(evidence, "em"), picked, atol=1e-3)


def margins(codes: np.ndarray, K: int, rng: np.random.Generator, clear: float) -> np.ndarray:
    """Scores (n, K) as of margins: near 1 for a row's class, near -1 else; but only a part of the rows is clear, the
    others look like no class, and so do all rows of the last class."""
    own = np.eye(K)[codes] * ((codes < K - 1) & (rng.random(len(codes)) < clear))[:, None]
    return 2 * own - 1 + 0.3 * rng.normal(size=(len(codes), K)) * np.append(np.ones(K - 1), 0.1)


def of_margins(counts: list[int], shares: list[float], seed: int, clear: float) -> _label_shift.Evidence:
    """Evidence of so many labeled rows of each class, and unlabeled ones of these shares."""
    K, rng = len(counts), np.random.default_rng(seed)
    codes = np.repeat(np.arange(K), counts)
    scores = margins(codes, K, rng, clear)
    unlabeled = margins(rng.choice(K, 4000, p=shares), K, rng, clear)
    return _label_shift.Evidence(scores, codes, np.ones(len(codes)), unlabeled, np.ones(4000), np.arange(len(codes)))


FOUR = [0.6, 0.3, 0.09, 0.01]
SEVEN = [0.35, 0.25, 0.15, 0.1, 0.08, 0.06, 0.01]


def test_a_rare_class_that_looks_like_nothing_does_not_take_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = of_margins([360, 180, 54, 6], FOUR, 0, clear=0.75)
    assert shares_of_picked(evidence, monkeypatch)[3] > 0.05  # where nothing else is known of the labels
    np.testing.assert_allclose(_label_shift.shares(evidence, "em"), FOUR, atol=0.02)


def test_labels_are_suspected_to_be_drawn_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = of_margins([350, 250, 150, 100, 80, 60, 10], SEVEN, 1, clear=0.2)
    assert np.abs(_label_shift.shares(evidence, "em") - SEVEN).sum() < 0.1
    monkeypatch.setattr(_label_shift, "_SUSPICION", 0.0)
    assert np.abs(_label_shift.shares(evidence, "em") - SEVEN).sum() > 1


def test_and_not_too_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = of_margins([80, 60, 40, 20], FOUR, 0, clear=0.75)  # picked, fewer of the frequent ones
    assert np.abs(_label_shift.shares(evidence, "em") - FOUR).sum() < 0.08
    monkeypatch.setattr(_label_shift, "_SUSPICION", 1.0)
    assert np.abs(_label_shift.shares(evidence, "em") - FOUR).sum() > 0.12


def test_ratios_of_labels_drawn_at_random_have_the_mean_1_where_rows_were_held_out() -> None:
    evidence = of_margins([360, 180, 54, 6], FOUR, 0, clear=0.75)
    held = evidence._replace(unlabeled=evidence.scores)
    labels, free = np.array(FOUR), np.ones(4, dtype=bool)
    drawn = _label_shift._log_ratios(held, labels, free, None, drawn=True)
    np.testing.assert_allclose(np.exp(drawn).mean(axis=0), 1, atol=1e-9)
    picked = _label_shift._log_ratios(held, labels, free, None, drawn=False)
    assert abs(np.exp(picked).mean(axis=0)[3] - 1) > 0.1


def test_the_share_of_a_class_moves_its_bias_only_where_labels_were_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    evidence, seen = planted_evidence((0.6, 0.3, 0.1)), []
    plain = _calibration.temperature_and_biases

    def watched(*given: object) -> tuple[float, np.ndarray]:
        seen.append(given[4])
        return plain(*given)

    monkeypatch.setattr(_calibration, "temperature_and_biases", watched)
    labels, free = np.array([0.5, 0.3, 0.2]), np.array([True, False, True])
    for drawn in True, False:
        _label_shift._log_ratios(evidence, labels, free, None, drawn)
    np.testing.assert_allclose(seen[0], np.log([0.5, 0.2]))
    assert seen[1] is None


def test_shares_of_the_labels_stand_beside_what_is_believed_of_free_classes() -> None:
    free, labels = np.array([True, True, False]), np.array([0.2, 0.3, 0.5])
    believed = _label_shift.Belief(np.array([0.6, 0.2, 0.2]), 30.0, 100 * labels, free)
    beside = _label_shift._beside(believed, labels, 10.0)
    assert beside.strength == 40
    np.testing.assert_allclose(beside.shares, [0.75 * 0.6 + 0.25 * 0.32, 0.75 * 0.2 + 0.25 * 0.48, 0.2])
    assert not np.isnan(_label_shift._beside(believed._replace(strength=5e-324), labels, 0.0).shares).any()


def test_a_held_class_keeps_its_share_whatever_the_labels_are() -> None:
    evidence = planted_evidence((0.6, 0.3, 0.1))
    free, told = np.array([True, False, True]), np.array([0.3, 0.3, 0.4])
    belief = _label_shift.Belief(told, 10.0, np.bincount(evidence.codes).astype(float), free)
    found = _label_shift.shares(evidence, "em", belief=belief)
    assert found[1] == pytest.approx(0.3)
    assert found[0] > 0.45


def test_a_class_of_next_to_no_weight_keeps_its_rows() -> None:
    heavy = planted_evidence((0.4, 0.3, 0.3))
    weights = np.where(heavy.codes == 2, 1e-15, 1.0)
    with np.errstate(all="raise", under="ignore"):
        found = _label_shift.shares(heavy._replace(weights=weights), "em")
    assert found[2] > 1e-4


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_weights_from_which_no_share_can_be_found() -> None:
    weights = np.where(Y >= 0, 1e-310, 1.0)
    with pytest.raises(ValueError, match=r"total weight .*e-30\d, which counts as a number of rows"):
        estimate_class_prior(TOPICS.X, Y, sample_weight=weights)
    weights = np.where(Y == 0, 1.0, np.where(Y > 0, 1e-300, 1.0))
    with pytest.raises(ValueError, match=r"sample_weight gives the labeled rows of the classes .* no class prior"):
        estimate_class_prior(TOPICS.X, Y, sample_weight=weights)


def test_along_adds_a_multiple_that_costs_nothing() -> None:
    evidence = planted_evidence((0.6, 0.3, 0.1))
    given = (evidence.scores, evidence.codes, evidence.weights)
    along = np.array([2.0, -1.0, 0.5])
    T, biases = _calibration.temperature_and_biases(evidence.scores + 30 * along, *given[1:], along=along)
    T_plain, biases_plain = _calibration.temperature_and_biases(*given, along=along)
    assert pytest.approx(T_plain, rel=1e-3) == T
    moved = biases + 30 * along / T
    np.testing.assert_allclose(moved - moved.mean(), biases_plain - biases_plain.mean(), atol=2e-3)
    off = softmax(evidence.scores / T_plain + biases_plain, axis=1) - np.eye(3)[evidence.codes]
    assert abs(evidence.weights @ off @ (along - along.mean())) < 1e-2  # nothing pulls the multiple


def test_the_fixed_point_is_the_largest_likelihood() -> None:
    evidence = planted_evidence((0.7, 0.2, 0.1), n=500)
    T, biases = _calibration.temperature_and_biases(evidence.scores, evidence.codes, evidence.weights)
    ratios = softmax(evidence.unlabeled / T + biases, axis=1) * 3
    pull = 0.5 * 3 / 600

    def minus_log(free: np.ndarray) -> float:
        prior = softmax(np.append(free, 0))
        return -np.mean(np.log(ratios @ prior)) - pull * np.mean(np.log(prior))

    best = softmax(np.append(minimize(minus_log, np.zeros(2), tol=1e-12).x, 0))
    np.testing.assert_allclose(_label_shift.shares(evidence, "em"), best, atol=1e-4)


def test_weight_two_is_the_row_twice() -> None:
    evidence = planted_evidence((0.7, 0.3), n=200)
    heavy = evidence._replace(weights=evidence.weights * 2, unlabeled_weights=evidence.unlabeled_weights * 2)
    twice = _label_shift.Evidence(*(np.concatenate([part, part]) for part in evidence))
    for method in _label_shift.METHODS:
        np.testing.assert_allclose(_label_shift.shares(heavy, method), _label_shift.shares(twice, method), atol=1e-3)


def test_shares_that_the_labels_do_not_have() -> None:
    found = estimate_class_prior(TOPICS.X, Y)
    far, near = (np.abs(shares - SHARES).sum() for shares in (found.label_shares, found.class_prior))
    assert near <= 0.35 * far
    assert (found.lower <= found.class_prior).all()
    assert (found.class_prior <= found.upper).all()
    assert ((found.lower <= SHARES) & (found.upper >= SHARES)).sum() >= 3  # 90 % intervals of four classes
    assert found.as_dict() == dict(enumerate(found.class_prior.tolist()))


def test_the_interval_narrows_with_labels() -> None:
    for method in _label_shift.METHODS:
        few, many = (
            estimate_class_prior(TOPICS.X, equally_labeled(TOPICS, n), method=method, n_bootstraps=8, n_jobs=1)
            for n in (4, 40)
        )
        assert np.sum(many.upper - many.lower) < np.sum(few.upper - few.lower)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    inside = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = (np.arange(300) < 210).astype(int)
        X = rng.normal(size=(300, 5)) + 0.8 * truth[:, None]  # nearly one row in five lies on the other side
        y = np.full(300, -1)
        y[:20], y[-20:] = 1, 0
        found = estimate_class_prior(X, y, confidence_level=0.8, n_bootstraps=12, n_jobs=1)
        inside.append(found.lower[1] <= np.mean(truth[y < 0]) <= found.upper[1])
    assert 0.6 <= np.mean(inside) <= 0.95


def test_the_interval_has_the_spread_around_the_estimate() -> None:
    found, drawn = np.array([0.02, 0.3, 0.68]), np.array([[0.02, 0.2, 0.78], [0.06, 0.2, 0.74], [0.02, 0.3, 0.68]])
    lower, upper = _class_prior.interval(found, drawn, 0.9)
    reach = 2.92 * np.sqrt([0.04**2 / 3, 2 * 0.1**2 / 3, (0.1**2 + 0.06**2) / 3])  # Student's quantile, 2 degrees
    np.testing.assert_allclose(lower, [0, *(found - reach)[1:]], atol=1e-3)
    np.testing.assert_allclose(upper, found + reach, atol=1e-3)


@pytest.mark.parametrize(("apart", "labels", "seed"), [(0.6, 150, 9), (1.0, 50, 4)])
def test_a_rare_class_that_few_labels_tell_apart_does_not_take_rows(
    apart: float, labels: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores of the model of all labels are narrower than those of the rows held out."""
    rng = np.random.default_rng((seed, labels))
    truth = rng.choice(3, 2000, p=(0.6, 0.3, 0.1))
    X = rng.normal(size=(2000, 10))
    X[np.arange(2000), truth] += apart
    codes = np.where(np.arange(2000) < labels, truth, -1)

    def distance() -> float:
        evidence = _class_prior.gather(X, codes, None, {"alpha": 1e-3, "threads": 1})
        return float(np.abs(_label_shift.shares(evidence, "em") - np.bincount(truth[labels:]) / (2000 - labels)).sum())

    assert distance() < 0.25
    monkeypatch.setattr(_class_prior, "_with_spread", lambda scores, own, wanted: scores)
    assert distance() > 0.6


def test_scores_get_the_spread_of_the_models_that_held_labels_out() -> None:
    rng = np.random.default_rng(0)
    weights, scores = rng.uniform(0.1, 2, 50), np.column_stack([np.zeros(50), 3 * rng.normal(size=(50, 2)) - 1])
    own = _class_prior._spread(scores, weights)
    wanted = _class_prior.Spread(np.array([0.0, -1.0, 2.0]), np.array([0.0, 0.5, 4.0]))
    moved = _class_prior._with_spread(scores, own, wanted)
    for found, expected in zip(_class_prior._spread(moved, weights), wanted, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(moved[:, 0], 0)
    np.testing.assert_allclose(_class_prior._with_spread(scores, own, own), scores)
    twice = np.repeat(np.arange(50), 2)
    for found, expected in zip(_class_prior._spread(scores[twice], weights[twice] / 2), own, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_scores_that_are_all_equal_are_moved_only() -> None:
    weights = np.random.default_rng(0).uniform(0.1, 2, 340)
    scores = np.full((340, 3), [-0.1, 0.7, -1.3])
    own, wanted = (_class_prior._spread(scores + shift, weights) for shift in (0.0, 0.1))
    np.testing.assert_allclose(_class_prior._with_spread(scores[:5] + 1, own, wanted), scores[:5] + 1.1)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_row_of_huge_length_does_not_move_the_others(sign: int) -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(3, 1500, p=(0.7, 0.2, 0.1))
    X = rng.normal(size=(1500, 10))
    X[np.arange(1500), truth] += 2
    codes = np.full(1500, -1)
    for c in range(3):
        codes[np.flatnonzero(truth == c)[:20]] = c
    with_one = np.vstack([X, sign * 1e4 * rng.normal(size=10)]), np.append(codes, -1)
    usual, found = (
        _label_shift.shares(_class_prior.gather(*given, None, {"alpha": 1e-3, "threads": 1}), "em")
        for given in ((X, codes), with_one)
    )
    np.testing.assert_allclose(found, usual, atol=0.01)


def test_another_seed_holds_out_other_rows_together() -> None:
    rows = _class_prior.looked_at(TOPICS.X, Y, None)
    folds = [_cross_fit.choose(rows.labeled, rows.codes, seed=seed) for seed in (0, 1)]
    assert (folds[0] != folds[1]).any()
    for c in range(4):
        assert [np.bincount(fold[rows.codes == c]).tolist() for fold in folds] == [[2] * 5] * 2
    evidence = _class_prior.cross_fitted(rows, {"alpha": 1e-3, "threads": 1}).evidence
    np.testing.assert_allclose(evidence.totals, 10)
    np.testing.assert_array_equal(np.bincount(evidence.numbers), 3)


@both
def test_every_estimator_takes_the_estimate(estimator: type) -> None:
    model = estimator(class_prior="estimate").fit(TOPICS.X, Y)
    np.testing.assert_allclose(model.class_prior_, estimate_class_prior(TOPICS.X, Y).class_prior)
    assert np.mean(model.transduction_ == TOPICS.truth) > 0.95
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the label shares are wrong here
        by_labels = estimator(cross_fit=False).fit(TOPICS.X, Y)
    assert model.score(TOPICS.X, TOPICS.truth) > by_labels.score(TOPICS.X, TOPICS.truth)


@both
def test_too_few_labels_of_a_class(estimator: type) -> None:
    y = Y.copy()
    y[np.flatnonzero(y == 2)[2:]] = -1
    message = "each class needs at least 3 different labeled rows, but class 2 has 2"
    with pytest.raises(ValueError, match=message):
        estimator(class_prior="estimate").fit(TOPICS.X, y)
    with pytest.raises(ValueError, match=message):
        estimate_class_prior(TOPICS.X, y)


def test_without_unlabeled_rows() -> None:
    with pytest.raises(ValueError, match="y has no unlabeled row"):
        estimate_class_prior(TOPICS.X, TOPICS.truth)
    with pytest.warns(UserWarning, match="no unlabeled row"):
        model = TransductiveSVC(class_prior="estimate").fit(TOPICS.X, TOPICS.truth)
    np.testing.assert_allclose(model.class_prior_, np.bincount(TOPICS.truth) / len(TOPICS.truth))


def test_given_shares_far_from_the_estimate() -> None:
    with pytest.warns(UserWarning, match=r"class_prior is .*70\.0% of class 3.*, but the estimate is"):
        estimate_class_prior(TOPICS.X, Y, class_prior=[0.1, 0.1, 0.1, 0.7])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate_class_prior(TOPICS.X, Y, class_prior=SHARES)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "guess"}, "method='guess' is not known: choose from em, confusion"),
        ({"n_bootstraps": 1}, "n_bootstraps must be an integer of at least 2, got 1"),
        ({"confidence_level": 1.0}, "confidence_level must be between 0 and 1"),
        ({"class_prior": [0.5, 0.5]}, "class_prior has 2 shares, but 4 classes"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_class_prior(TOPICS.X, Y, **settings)


def test_one_class() -> None:
    with pytest.raises(ValueError, match="only class 1 has labeled rows"):
        estimate_class_prior(TOPICS.X, np.where(Y == 1, 1, -1), unlabeled=-1)


def test_text_labels_few_features_and_untouched_rows() -> None:
    rows = text_like(n=200, d=30)
    y = np.where(equally_labeled(rows, 8) < 0, None, np.where(rows.truth == 1, "yes", "no"))
    dense = rows.X.toarray()
    dense.flags.writeable = False
    found = estimate_class_prior(dense, y)
    assert found.classes.tolist() == ["no", "yes"]
    np.testing.assert_allclose(found.class_prior, estimate_class_prior(sp.csr_array(rows.X), y).class_prior)
