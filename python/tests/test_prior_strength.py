"""A class prior that is worth some labeled rows only: its shares give way to what the unlabeled rows say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from planted import many_topics, text_like
from scipy.optimize import minimize
from scipy.special import softmax

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC, _calibration, _label_shift

TOPICS = many_topics(n=700, seed=3)
K = TOPICS.truth.max() + 1
Y = np.where(np.arange(len(TOPICS.truth)) % 8 == 0, TOPICS.truth, -1)
SHARES = np.bincount(TOPICS.truth[Y < 0], minlength=K) / np.sum(Y < 0)
WRONG = SHARES * np.where(np.arange(K) % 2 == 0, 1.3, 0.7) / np.sum(SHARES * np.where(np.arange(K) % 2 == 0, 1.3, 0.7))
ANY = pytest.mark.filterwarnings("ignore::UserWarning")


def distance(shares: np.ndarray) -> float:
    return float(np.abs(shares - SHARES).sum())


def planted_evidence(shares: tuple[float, ...], n: int = 1000) -> _label_shift.Evidence:
    """Scores that are log likelihoods, so that softmax is calibrated for equal shares."""
    rng, k = np.random.default_rng(0), len(shares)

    def scores(codes: np.ndarray) -> np.ndarray:
        return 1.5 * (rng.normal(size=(len(codes), k)) + 1.5 * np.eye(k)[codes])

    codes, hidden = np.arange(600) % k, rng.choice(k, n, p=shares)
    return _label_shift.Evidence(scores(codes), codes, np.ones(600), scores(hidden), np.ones(n), np.arange(600))


def test_the_shares_have_the_largest_posterior() -> None:
    evidence, told = planted_evidence((0.7, 0.2, 0.1)), np.array([0.3, 0.3, 0.4])
    T, biases = _calibration.temperature_and_biases(evidence.scores, evidence.codes, evidence.weights)
    ratios = softmax(evidence.unlabeled / T + biases, axis=1) * 3
    strength = 150.0  # beside unlabeled rows that count as the 600 labels

    def minus_log(free: np.ndarray) -> float:
        shares = softmax(np.append(free, 0))
        return -np.mean(np.log(ratios @ shares)) - strength / 600 * (told @ np.log(shares))

    best = softmax(np.append(minimize(minus_log, np.zeros(2), tol=1e-12).x, 0))
    belief = _label_shift.Belief(told, strength, evidence.totals, np.ones(3, dtype=bool))
    np.testing.assert_allclose(_label_shift.shares(evidence, "em", belief=belief), best, atol=1e-4)


@ANY
def test_from_what_rows_say_to_what_was_told() -> None:
    found = {}
    for strength in (1e-3, 5, 50, 500, 1e9):
        found[strength] = TransductiveSVC(class_prior=WRONG, prior_strength=strength).fit(TOPICS.X, Y).class_prior_
        assert found[strength].sum() == pytest.approx(1)
    told = [float(np.abs(shares - WRONG).sum()) for shares in found.values()]
    assert told == sorted(told, reverse=True)
    assert told[-1] < 1e-6
    assert distance(found[1e-3]) < 0.4 * distance(WRONG)


@ANY
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (TransductiveSVC, {}),
        (TransductiveSVC, {"method": "switching"}),
        (TransductiveSVC, {"balance": "mean"}),
        (TransductiveSVC, {"method": "switching", "max_switches": 50}),
        (TransductiveSVC, {"hierarchy": {0: "a", 1: "a", 2: "b", 3: "b"}}),
        (SemiSupervisedLogisticRegression, {"cross_fit": False}),
        *((SemiSupervisedLogisticRegression, {"method": m}) for m in ("entropy", "expectation", "posterior")),
    ],
)
def test_every_method_takes_the_shares(kind: type, settings: dict[str, Any]) -> None:
    hard = kind(class_prior=WRONG, alpha=1e-3, **settings).fit(TOPICS.X, Y)
    soft = kind(class_prior=WRONG, alpha=1e-3, prior_strength=50, **settings).fit(TOPICS.X, Y)
    np.testing.assert_allclose(hard.class_prior_, WRONG)
    assert distance(soft.class_prior_) < 0.7 * distance(WRONG)
    again = kind(class_prior=soft.class_prior_, alpha=1e-3, **settings).fit(TOPICS.X, Y)
    # Shares given are made to sum to 1 anew: with another last bit, solves end elsewhere within their tolerance.
    np.testing.assert_allclose(soft.coef_, again.coef_, rtol=0, atol=soft.tol)


@ANY
def test_pair_switching_takes_the_shares() -> None:
    X, y, truth = text_like(n=400, d=60, labeled=20)
    wrong = np.array([0.25, 0.75]) if np.mean(truth == truth.max()) < 0.5 else np.array([0.75, 0.25])
    hard, soft = (
        TransductiveSVC(method="pair_switching", class_prior=wrong, prior_strength=s).fit(X, y) for s in (None, 5)
    )
    rows = y == -1
    assert soft.score(X[rows], truth[rows]) > hard.score(X[rows], truth[rows])


@ANY
def test_of_label_shares_and_of_estimates() -> None:
    """None and "estimate" with a strength: the shares of the labels are worth so many rows."""
    found = [
        TransductiveSVC(class_prior=p, prior_strength=1e9).fit(TOPICS.X, Y).class_prior_ for p in (None, "estimate")
    ]
    labels = np.bincount(Y[Y >= 0]) / np.sum(Y >= 0)
    for shares in found:
        np.testing.assert_allclose(shares, labels, atol=1e-6)


@ANY
def test_weight_two_is_the_row_twice() -> None:
    heavy = np.where(np.arange(len(Y)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(Y)), heavy.astype(int))
    settings: dict[str, Any] = {"class_prior": WRONG, "prior_strength": 20}
    weighted = TransductiveSVC(**settings).fit(TOPICS.X, Y, sample_weight=heavy).class_prior_
    repeated = TransductiveSVC(**settings).fit(TOPICS.X[twice], Y[twice]).class_prior_
    np.testing.assert_allclose(weighted, repeated, atol=0.02)


def test_a_class_with_few_labels_keeps_its_share() -> None:
    y = Y.copy()
    y[np.flatnonzero(y == 2)[2:]] = -1
    with pytest.warns(UserWarning, match=r"class_prior is held exactly for 2, .*fewer than 3 different labeled rows"):
        model = TransductiveSVC(class_prior=WRONG, prior_strength=20).fit(TOPICS.X, y)
    assert model.class_prior_[2] == pytest.approx(WRONG[2])
    assert np.abs(model.class_prior_ - WRONG).sum() > 0.05


def test_a_class_without_labels_keeps_its_share() -> None:
    y = np.where(Y == 1, -1, Y)
    with pytest.warns(UserWarning, match=r"class_prior is held exactly for 1, "):
        model = TransductiveSVC(class_prior=dict(enumerate(WRONG)), prior_strength=20).fit(TOPICS.X, y)
    assert model.class_prior_[1] == pytest.approx(WRONG[1])
    assert model.class_prior_.sum() == pytest.approx(1)


def test_where_all_classes_have_few_labels_the_prior_is_held() -> None:
    rows = np.concatenate([np.flatnonzero(c == Y)[:2] for c in range(K)])
    y = np.full(len(Y), -1)
    y[rows] = Y[rows]
    with pytest.warns(UserWarning, match=r"class_prior is held exactly for 0, 1, 2, "):
        model = TransductiveSVC(class_prior=WRONG, prior_strength=1).fit(TOPICS.X, y)
    np.testing.assert_allclose(model.class_prior_, WRONG)


@pytest.mark.filterwarnings("ignore:y has no unlabeled row")
def test_without_unlabeled_rows_nothing_gives_way() -> None:
    model = TransductiveSVC(class_prior=WRONG, prior_strength=1).fit(TOPICS.X, TOPICS.truth)
    np.testing.assert_allclose(model.class_prior_, WRONG)


@pytest.mark.parametrize("strength", [0, -1.0, float("inf"), float("nan")])
def test_strengths_out_of_range(strength: float) -> None:
    with pytest.raises(
        ValueError, match=r"prior_strength must be a number of rows above 0 and at most 1e\+100, or None, got"
    ):
        TransductiveSVC(prior_strength=strength).fit(TOPICS.X, Y)


@pytest.mark.parametrize("strength", ["strong", True, [1.0]])
def test_strengths_of_another_kind(strength: Any) -> None:
    with pytest.raises(TypeError, match=r"prior_strength must be a number of rows or None, got"):
        TransductiveSVC(prior_strength=strength).fit(TOPICS.X, Y)
