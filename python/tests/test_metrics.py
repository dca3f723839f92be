"""The precision/recall break-even point."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_score, recall_score

from fewlabel.metrics import precision_recall_breakeven


def test_perfect_and_worst() -> None:
    assert precision_recall_breakeven([0, 0, 1, 1], [1, 2, 3, 4]) == 1
    assert precision_recall_breakeven([1, 1, 0, 0], [1, 2, 3, 4]) == 0


@settings(deadline=None)  # of a busy machine
@given(st.lists(st.booleans(), min_size=1, max_size=30).filter(any), st.randoms(use_true_random=False))
def test_precision_and_recall_meet_there(truth: list[bool], random) -> None:
    scores = np.array(random.sample(range(len(truth)), len(truth)), dtype=float)
    taken = scores >= np.sort(scores)[-sum(truth)]
    value = precision_recall_breakeven(truth, scores)
    assert value == pytest.approx(precision_score(truth, taken, zero_division=0))
    assert value == pytest.approx(recall_score(truth, taken))


@settings(deadline=None)  # of a busy machine
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=1, max_size=6).filter(lambda r: any(y for y, _ in r))
)
def test_equal_scores_count_as_the_mean_over_their_orders(rows: list[tuple[bool, int]]) -> None:
    positive = sum(y for y, _ in rows)
    orders = [sorted(order, key=lambda row: -row[1]) for order in itertools.permutations(rows)]
    mean = np.mean([sum(y for y, _ in order[:positive]) / positive for order in orders])
    truth, scores = zip(*rows, strict=True)
    assert precision_recall_breakeven(truth, scores) == pytest.approx(mean)


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True)])
def test_larger_label_is_positive(labels: tuple) -> None:
    truth = np.array(labels)[[0, 1, 1]]
    assert precision_recall_breakeven(truth, [0.1, 0.2, 0.3]) == 1


def test_named_class() -> None:
    assert precision_recall_breakeven(["ham", "spam"], [0, 1], pos_label="spam") == 1


@pytest.mark.parametrize(
    ("truth", "scores", "message"),
    [
        ([0, 0], [1, 2], "no positive row"),
        (["a", "b"], [1, 2], "pos_label"),
        ([0, 1], [1, np.nan], "finite"),
        ([0, 1, 1], [1, 2], "inconsistent numbers of samples"),
    ],
)
def test_bad_input(truth: list, scores: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        precision_recall_breakeven(truth, scores)
