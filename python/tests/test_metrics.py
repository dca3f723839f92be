"""Metrics: the precision/recall break-even point, several labels a row, positive labels alone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_score, recall_score

from fewlabel.metrics import multilabel_f1_score, positive_unlabeled_scores, precision_recall_breakeven


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


def test_f1_of_several_labels_counts_known_entries_alone() -> None:
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, (60, 4))
    for average in ("macro", "micro"):
        assert multilabel_f1_score(truth, predicted, average=average) == f1_score(truth, predicted, average=average)
    holes = np.where(rng.random(truth.shape) < 0.5, np.nan, truth)
    holes[:, 3] = np.nan
    columns = [f1_score(truth[known, k], predicted[known, k]) for k, known in enumerate(~np.isnan(holes[:, :3]).T)]
    np.testing.assert_allclose(multilabel_f1_score(holes, predicted, average=None), [*columns, np.nan])
    assert multilabel_f1_score(holes, predicted) == pytest.approx(np.mean(columns))
    known = ~np.isnan(holes)
    micro = f1_score(truth[known], predicted[known])
    assert multilabel_f1_score(holes, predicted, average="micro") == pytest.approx(micro)


def test_one_known_column_is_scored_for_its_ones() -> None:
    truth, predicted = [[1, -1], [1, -1], [0, -1], [0, -1]], [[1, 0], [0, 1], [0, 1], [0, 0]]
    for average in ("macro", "micro"):
        assert multilabel_f1_score(truth, predicted, average=average) == pytest.approx(2 / 3)
    np.testing.assert_allclose(multilabel_f1_score(truth, predicted, average=None), [2 / 3, np.nan])


@pytest.mark.parametrize(
    ("truth", "predicted", "parameters", "message"),
    [
        ([[0, 2], [1, 1]], [[0, 1], [1, 1]], {}, "y_true must be a matrix"),
        ([[0, 1], [1, 1]], [[0, -1], [1, 1]], {}, "y_pred must be a matrix"),
        ([0, 1], [0, 1], {}, "y_true must be a matrix"),
        ([[0, 1], [1, 1]], [[0, 1]], {}, r"the shape \(2, 2\), y_pred \(1, 2\)"),
        ([[-1, -1]], [[0, 1]], {}, "no known entry"),
        ([[0, 1]], [[0, 1]], {"average": "weighted"}, "average must be"),
    ],
)
def test_bad_matrices(truth: Any, predicted: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        multilabel_f1_score(truth, predicted, **parameters)


def test_scores_of_positive_labels_alone_are_those_of_all_labels() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(200_000) < 0.2
    predicted = np.where(rng.random(len(truth)) < 0.85, truth, ~truth)
    held_out = rng.random(len(truth)) < 0.2 * truth
    y = np.where(held_out, "yes", "-1")
    named = np.where(predicted, "yes", "no")
    found = positive_unlabeled_scores(y, named, share=truth[~held_out].mean(), pos_label="yes")
    assert found.recall == predicted[held_out].mean()
    assert found.precision == pytest.approx(precision_score(truth[~held_out], predicted[~held_out]), abs=0.01)
    assert found.f1 == pytest.approx(f1_score(truth[~held_out], predicted[~held_out]), abs=0.01)


def test_scores_of_positive_labels_at_their_ends() -> None:
    none = positive_unlabeled_scores([1, -1, -1], [0, 0, 0], share=0.5)
    assert (none.recall, none.f1) == (0, 0)
    assert np.isnan(none.precision)
    assert positive_unlabeled_scores([1, -1, -1], [1, 1, 0], share=0.9).precision == 1  # the share is too large


@pytest.mark.parametrize(
    ("y", "share", "message"),
    [
        ([1, 0, -1], 0.5, "2 of 3 rows have a label, 0 among them"),
        ([1, 1, 1], 0.5, "3 of 3 rows have a label"),
        ([-1, -1, -1], 0.5, "0 of 3 rows have a label"),
        ([1, -1, -1], 1.0, "share must be above 0 and below 1"),
    ],
)
def test_bad_positive_labels(y: list[int], share: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        positive_unlabeled_scores(y, [1, 1, 0], share=share)
