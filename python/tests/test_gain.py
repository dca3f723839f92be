"""Whether unlabeled rows helped, from answers of two models for the same rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from fewlabel import _gain
from fewlabel._gain import Gain, of_macro_f, of_right_answers

SCORES = (of_right_answers, of_macro_f)
Answers = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def changed(better: int, worse: int, weight: float = 1.0, n: int = 200) -> Answers:
    """Two equal classes in random order, of which one model has some rows right and the other some."""
    truth = np.arange(n) % 2
    before, after = truth.copy(), truth.copy()
    before[:better] ^= 1
    after[better : better + worse] ^= 1
    order = np.random.default_rng(better * worse).permutation(n)
    return truth[order], before[order], after[order], np.full(n, weight)


def random_answers(seed: int, n: int = 60, classes: int = 4, wrong: float = 0.15) -> Answers:
    """Answers that are right more often than not."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    before, after = (np.where(rng.random(n) < wrong, rng.integers(0, classes, n), truth) for _ in range(2))
    return truth, before, after, rng.uniform(0.2, 3, n)


@pytest.mark.parametrize(
    ("better", "worse", "lost", "unseen"),
    [
        (4, 8, True, True),
        (1, 3, False, True),  # just one error
        (3, 6, False, True),
        (8, 4, False, False),
        (13, 12, False, True),
        (15, 25, True, True),
        (22, 17, False, False),
        (20, 16, False, True),
    ],
)
@pytest.mark.parametrize("weight", [1.0, 0.3, 1e-170, 1e160])
@pytest.mark.parametrize("score", SCORES)
def test_what_is_seen(score: object, better: int, worse: int, lost: bool, unseen: bool, weight: float) -> None:
    gain = score(*changed(better, worse, weight))
    assert (gain.lost, gain.unseen) == (lost, unseen)


def test_what_is_not_known_is_neither() -> None:
    assert not Gain().lost
    assert not Gain().unseen


@pytest.mark.parametrize("score", SCORES)
def test_the_same_answers_are_no_loss(score: object) -> None:
    truth, before, _, weights = random_answers(0)
    gain = score(truth, before, before, weights)
    assert gain.error == 0
    assert not gain.lost
    assert not gain.unseen


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("light", [1e-4, 1e-12, 1e-15])
def test_a_row_of_next_to_no_weight_is_no_loss(score: object, light: float) -> None:
    truth, before, after, weights = changed(0, 2)
    weights[before != after] = light
    assert not score(truth, before, after, weights).lost


def test_macro_f_falls_with_a_small_class() -> None:
    """More right answers, at the cost of a class of ten rows."""
    truth = np.repeat([0, 1, 2], [95, 95, 10])
    before, after = truth.copy(), truth.copy()
    before[:10], after[190:198] = 1, 0
    assert not of_right_answers(truth, before, after, np.ones(200)).lost
    assert of_macro_f(truth, before, after, np.ones(200)).lost


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_scikit_learn(weighted: bool) -> None:
    truth, before, after, weights = random_answers(1, wrong=0.7)
    truth[truth == 3] = 0  # class 3 is answered only
    weights = weights if weighted else np.ones(60)
    known = {"labels": [0, 1, 2], "average": "macro", "sample_weight": weights}
    right, macro_f = (score(truth, before, after, weights) for score in SCORES)
    assert right.before == pytest.approx(accuracy_score(truth, before, sample_weight=weights))
    assert right.after == pytest.approx(accuracy_score(truth, after, sample_weight=weights))
    assert macro_f.before == pytest.approx(f1_score(truth, before, **known))
    assert macro_f.after == pytest.approx(f1_score(truth, after, **known))


def by_all_coins(truth: np.ndarray, before: np.ndarray, after: np.ndarray, weights: np.ndarray) -> float:
    """Standard deviation of the gain in macro F over all ways to swap the answers to rows that differ."""
    differ, gains = np.flatnonzero(before != after), []
    assert 3 <= len(differ) <= 10
    for coins in itertools.product([False, True], repeat=len(differ)):
        swapped = differ[list(coins)]
        one, other = before.copy(), after.copy()
        one[swapped], other[swapped] = after[swapped], before[swapped]
        known = {"labels": np.unique(truth), "average": "macro", "sample_weight": weights}
        gains.append(f1_score(truth, other, **known) - f1_score(truth, one, **known))
    return float(np.sqrt(np.mean(np.square(gains))))


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_error_of_macro_f_is_that_of_all_coins(seed: int) -> None:
    answers = random_answers(seed, n=40, wrong=0.1)
    assert of_macro_f(*answers).error == pytest.approx(by_all_coins(*answers), rel=0.03)


@pytest.mark.parametrize("wrong", [[0], [0, 1], [0, 1, 2]])
def test_error_of_macro_f_with_a_class_of_three(wrong: list[int]) -> None:
    truth = np.repeat([0, 1], [3, 30])
    before, after = truth.copy(), truth.copy()
    before[wrong], before[10], after[[20, 21]] = 1, 0, 0
    answers = truth, before, after, np.ones(33)
    assert of_macro_f(*answers).error == pytest.approx(by_all_coins(*answers), rel=0.2)


def test_a_change_is_that_of_one_row_alone() -> None:
    truth, before, after, weights = random_answers(5, wrong=0.6)
    truth[truth == 3] = 0
    weights /= weights.sum()
    found = _gain._changes(truth, before, after, weights)
    known = {"labels": [0, 1, 2], "average": "macro", "sample_weight": weights}
    for i in range(60):
        alone = before.copy()
        alone[i] = after[i]
        expected = f1_score(truth, alone, **known) - f1_score(truth, before, **known)
        assert found[i] == pytest.approx(expected, abs=1e-12)


def test_a_heavy_row_that_leaves_a_light_class() -> None:
    """The right answer that is left to the class is not lost by rounding."""
    truth, before, after = np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([0, 1, 1])
    gain = of_macro_f(truth, before, after, np.array([1e-20, 1.0, 1.0]))
    assert np.isfinite(gain.error)
    assert gain.error == pytest.approx((gain.after - gain.before), rel=1e-6)
