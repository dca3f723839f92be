"""Metrics: several labels a row, positive labels alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_score

from fewlabel.metrics import multilabel_f1_score, positive_unlabeled_scores


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
        ([[0, 2], [1, 1]], [[0, 1], [1, 1]], {}, "must hold 0, 1 and markers; found 2"),
        ([[0, 1], [1, 1]], [[0, -1], [1, 1]], {}, "must hold 0, 1 and markers; found -1"),
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
        ([1, -1, -1], "0.5", "share must be above 0 and below 1"),
    ],
)
def test_bad_positive_labels(y: list[int], share: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        positive_unlabeled_scores(y, [1, 1, 0], share=share)
