"""check: whether unlabeled rows help, from answers for labeled rows that were held out."""

from __future__ import annotations

import numpy as np
import pytest
from planted import many_topics, text_like
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

from fewlabel import ClassPriorWarning, DataWarning, SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel.inspection import check
from fewlabel.model_selection import SemiSupervisedSplit


class Planned(ClassifierMixin, BaseEstimator):
    """Answers that are planned: the first column of X without unlabeled rows, the second with them."""

    def __init__(
        self,
        unlabeled: object = -1,
        unlabeled_weight: float = 1.0,
        calibrate: bool = True,
        class_prior: object = None,
        shares: object = (0.5, 0.5),
    ) -> None:
        self.unlabeled = unlabeled
        self.unlabeled_weight = unlabeled_weight
        self.calibrate = calibrate
        self.class_prior = class_prior
        self.shares = shares

    def fit(self, X: np.ndarray, y: np.ndarray) -> Planned:
        assert (y == self.unlabeled).any()
        self.classes_ = np.array([0, 1])
        self.class_prior_ = np.array(self.shares)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X[:, int(self.unlabeled_weight > 0)].astype(int)


def planned(truth: np.ndarray, gained: list[int], lost: list[int]) -> np.ndarray:
    """Rows whose answers are right, but those gained without and those lost with unlabeled rows."""
    before, after = truth.copy(), truth.copy()
    before[gained] ^= 1
    after[lost] ^= 1
    return np.column_stack([before, after])


@pytest.mark.parametrize(
    ("gained", "lost", "verdict"),
    [
        (0, 0, "cannot tell"),
        (1, 0, "cannot tell"),
        (4, 0, "helps"),
        (0, 4, "hurts"),
        (12, 8, "cannot tell"),
        (15, 5, "helps"),
    ],
)
def test_the_verdict(gained: int, lost: int, verdict: str) -> None:
    truth = np.arange(200) % 2
    X = planned(truth, list(range(gained)), list(range(gained, gained + lost)))
    found = check(Planned(), X, np.where(np.arange(200) < 150, truth, -1))
    assert (found.n_rows, found.gained, found.lost) == (150, gained, lost)
    assert (found.supervised, found.semi_supervised) == pytest.approx((1 - gained / 150, 1 - lost / 150))
    assert found.verdict == verdict
    assert str(found).startswith(f"unlabeled rows: {verdict}. Accuracy, with the estimated class shares, on 150 held-")
    assert f"({gained} gained, {lost} lost). 80% interval of the difference: " in str(found)


def test_the_interval_is_that_of_agresti_and_min_where_classes_have_their_shares() -> None:
    truth = np.arange(200) % 2
    found = check(Planned(), planned(truth, [1, 2, 3], [4]), np.where(np.arange(200) < 100, truth, -1))
    # Agresti and Min (2005): 1/2 added to each of the four counts of 100 pairs
    n, b, c = 102, 3.5, 1.5
    reach = 1.2815516 * np.sqrt((b + c) - (b - c) ** 2 / n) / n
    assert [found.lower, found.upper] == pytest.approx([(b - c) / n - reach, (b - c) / n + reach], abs=2e-5)


def test_rows_of_a_rare_class_weigh_little() -> None:
    truth = np.arange(200) % 2
    y = np.where(np.arange(200) < 30, truth, -1)
    X = planned(truth, [0], [1, 3, 5, 7])  # the four lost rows are of class 1
    for shares, difference in (([0.5, 0.5], -0.1), ([0.95, 0.05], 0.05)):
        found = check(Planned(shares=shares), X, y)
        assert found.semi_supervised - found.supervised == pytest.approx(difference)
        assert found.lower < difference < found.upper


def test_a_row_that_is_held_out_often_counts_as_one() -> None:
    truth = np.arange(200) % 2
    y, X = np.where(np.arange(200) < 60, truth, -1), planned(truth, [0, 1, 2], [3])
    once, often = (check(Planned(), X, y, cv=cv) for cv in (5, RepeatedStratifiedKFold(n_splits=5, n_repeats=3)))
    assert once == pytest.approx(often)


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_every_labeled_row_is_held_out_once_and_the_weight_is_the_difference(kind: type) -> None:
    X, y, _ = many_topics(labels=40)
    model, split = kind(class_prior="labels"), SemiSupervisedSplit(4)
    found = check(model, X, y, cv=4)
    assert found.n_rows == np.sum(y >= 0)
    sizes = [len(test) for _, test in split.split(X, y)]
    without = clone(model).set_params(unlabeled_weight=0)
    scores = [np.average(cross_val_score(one, X, y, cv=split), weights=sizes) for one in (without, model)]
    assert found.gained - found.lost == round((scores[1] - scores[0]) * found.n_rows)
    assert not hasattr(model, "coef_")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_it_warns_of_nothing(kind: type) -> None:
    X, y, _ = text_like(labeled=40)
    assert check(kind(), X, y).verdict in ("helps", "cannot tell")


def test_it_warns_if_no_row_is_unlabeled() -> None:
    X, _, truth = text_like(labeled=40)
    with pytest.warns(DataWarning, match="no row is unlabeled"):
        assert check(TransductiveSVC(), X[:60], truth[:60], verbose=0).verdict == "cannot tell"


@pytest.mark.filterwarnings("ignore:class_prior gives class")
def test_a_wrong_prior_is_seen() -> None:
    X, y, _ = text_like(n=1000, labeled=100, share=0.5)
    assert check(TransductiveSVC(class_prior=[0.15, 0.85]), X, y).verdict == "hurts"


def test_texts_as_labels() -> None:
    X, y, _ = text_like(labeled=30)
    names = np.array(["ham", "spam", None], dtype=object)[y]
    assert check(TransductiveSVC(), X, names) == check(TransductiveSVC(), X, y)


@pytest.mark.filterwarnings("ignore::fewlabel.ClassPriorWarning")
def test_a_tree_and_shares_may_name_a_class_without_a_label() -> None:
    X, y, _ = many_topics()
    expected = check(TransductiveSVC(hierarchy={0: 10, 1: 10, 2: 11, 3: 11}), X, y, cv=3)
    tree, shares = {0: 10, 1: 10, 2: 11, 3: 11, 4: 11}, dict.fromkeys(range(5), 0.2)
    assert check(TransductiveSVC(hierarchy=tree), X, y, cv=3) == expected
    y[np.flatnonzero(y < 0)[:3]] = 11  # the rows are of class 2, 3 or 4
    for model in TransductiveSVC(hierarchy=tree), TransductiveSVC(hierarchy=tree, class_prior=shares):
        assert check(model, X, y, cv=3).n_rows == expected.n_rows


def test_too_few_labels() -> None:
    X, y, _ = text_like(labeled=6)
    with pytest.raises(ValueError, match=r"cv|n_splits"):
        check(TransductiveSVC(), X, y)


def test_given_shares_that_labels_and_rows_contradict_are_doubted() -> None:
    many = text_like(labeled=100)
    with pytest.warns(ClassPriorWarning, match=r"class_prior gives class \d a share of (5|95)\.0%, but .* suggest"):
        check(TransductiveSVC(class_prior=[0.05, 0.95]), many.X, many.y, verbose=0)
