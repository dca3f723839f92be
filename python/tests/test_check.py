"""check: whether unlabeled rows help, from answers for labeled rows that were held out."""

from __future__ import annotations

import numpy as np
import pytest
from planted import many_topics, text_like
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import cross_val_score

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel.inspection import Check, check
from fewlabel.model_selection import SemiSupervisedSplit


class Planned(ClassifierMixin, BaseEstimator):
    """Answers that are planned: the first column of X without unlabeled rows, the second with them."""

    def __init__(
        self, unlabeled: object = -1, unlabeled_weight: float = 1.0, calibrate: bool = True, verbose: int = 0
    ) -> None:
        self.unlabeled = unlabeled
        self.unlabeled_weight = unlabeled_weight
        self.calibrate = calibrate
        self.verbose = verbose

    def fit(self, X: np.ndarray, y: np.ndarray) -> Planned:
        assert (y == self.unlabeled).any()
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X[:, int(self.unlabeled_weight > 0)].astype(int)


@pytest.mark.parametrize(
    ("gained", "lost", "verdict"),
    [(0, 0, "unclear"), (1, 0, "unclear"), (2, 0, "helps"), (0, 2, "hurts"), (12, 8, "unclear"), (13, 7, "helps")],
)
def test_the_verdict(gained: int, lost: int, verdict: str) -> None:
    truth = np.arange(200) % 2
    before, after = truth.copy(), truth.copy()
    before[:gained] ^= 1
    after[gained : gained + lost] ^= 1
    y = np.where(np.arange(200) < 150, truth, -1)
    found = check(Planned(), np.column_stack([before, after]), y)
    assert found == Check(150, 1 - gained / 150, 1 - lost / 150, gained, lost)
    assert found.verdict == verdict
    assert str(found).startswith(f"unlabeled rows: {verdict}. Accuracy on 150 held-out labeled rows: ")
    assert str(found).endswith(f"{gained} gained, {lost} lost)")


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_every_labeled_row_is_held_out_once_and_the_weight_is_the_difference(kind: type) -> None:
    X, y, _ = many_topics(labels=40)
    model, split = kind(class_prior="labels"), SemiSupervisedSplit(4)
    found = check(model, X, y, cv=4)
    assert found.n_rows == np.sum(y >= 0)
    sizes = [len(test) for _, test in split.split(X, y)]
    without = clone(model).set_params(unlabeled_weight=0)
    for one, share in ((without, found.supervised), (model, found.semi_supervised)):
        assert np.average(cross_val_score(one, X, y, cv=split), weights=sizes) == pytest.approx(share)
    assert found.gained - found.lost == round((found.semi_supervised - found.supervised) * found.n_rows)
    assert not hasattr(model, "coef_")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_it_warns_of_nothing(kind: type) -> None:
    X, y, _ = text_like(labeled=40)
    assert check(kind(), X, y).verdict in ("helps", "unclear")


@pytest.mark.filterwarnings("ignore:class_prior gives class")
def test_a_wrong_prior_is_seen() -> None:
    X, y, _ = text_like(n=1000, labeled=100, share=0.5)
    assert check(TransductiveSVC(class_prior=[0.15, 0.85]), X, y).verdict == "hurts"


def test_texts_as_labels() -> None:
    X, y, _ = text_like(labeled=30)
    names = np.array(["ham", "spam", None], dtype=object)[y]
    assert check(TransductiveSVC(), X, names) == check(TransductiveSVC(), X, y)


def test_too_few_labels() -> None:
    X, y, _ = text_like(labeled=6)
    with pytest.raises(ValueError, match=r"cv|n_splits"):
        check(TransductiveSVC(), X, y)
