"""check: whether unlabeled rows help, from answers for labeled rows that were held out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from planted import many_topics, text_like
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

from fewlabel import ClassPriorWarning, DataWarning, SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel.inspection import check, compare
from fewlabel.model_selection import SemiSupervisedSplit, held_out_probabilities


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


def planned(truth: np.ndarray, gained: list[int], lost: list[int], labeled: int = 200) -> np.ndarray:
    """Rows whose answers are right, but those gained without, those lost with, and every second of the rows that are
    not labeled with or without unlabeled rows."""
    before, after = truth.copy(), truth.copy()
    before[[*gained, *range(labeled, len(truth), 2)]] ^= 1
    after[[*lost, *range(labeled + 1, len(truth), 2)]] ^= 1
    return np.column_stack([before, after])


def differing(n: int, gained: int, lost: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels of the first 20 and all classes: unlabeled rows come, of these differ so many, those lost first."""
    truth = np.arange(20 + n) % 2
    rows = list(range(20, 20 + gained + lost))
    return planned(truth, rows[lost:], rows[:lost], len(truth)), np.where(np.arange(len(truth)) < 20, truth, -1), truth


@pytest.mark.parametrize(
    ("gained", "lost", "verdict"),
    [
        (0, 0, "cannot tell"),
        (1, 0, "cannot tell"),
        (3, 0, "cannot tell"),
        (4, 0, "helps"),
        (0, 4, "hurts"),
        (12, 8, "cannot tell"),
        (15, 5, "helps"),
    ],
)
def test_the_verdict(gained: int, lost: int, verdict: str) -> None:
    truth = np.arange(200) % 2
    X = planned(truth, list(range(gained)), list(range(gained, gained + lost)), labeled=150)
    found = check(Planned(), X, np.where(np.arange(200) < 150, truth, -1))
    assert (found.n_rows, found.gained, found.lost) == (150, gained, lost)
    assert (found.supervised, found.semi_supervised) == pytest.approx((1 - gained / 150, 1 - lost / 150))
    assert found.verdict == verdict
    assert str(found).startswith(f"unlabeled rows: {verdict}. Accuracy, with the estimated class shares, on 150 held-")
    assert f"{found.difference:+.1%}, 90% interval {found.lower:+.1%} to {found.upper:+.1%} ({gained} gained" in str(
        found
    )


def test_the_sentence_does_not_contradict_itself() -> None:
    truth = np.arange(200) % 2
    y = np.where(np.arange(200) < 40, truth, -1)
    X = planned(truth, [1, 3, 5, 7], list(range(0, 14, 2)), 196)  # the models differ on four of 160 unlabeled rows
    found = check(Planned(shares=[0.2, 0.8]), X, y)
    assert found.lower <= found.difference <= found.upper
    assert abs(found.semi_supervised - found.supervised) > found.upper, "the interval is cut"
    assert f"{found.semi_supervised:.1%} with" not in str(found)
    # classes weigh differently: fewer rows are gained than lost, but accuracy is
    assert ("gained" in str(found), "gained" in str(replace(found, gained=9))) == (False, True)
    few = check(Planned(), X, np.where(np.arange(200) < 29, truth, -1))
    assert "%" not in str(few)
    assert "29 held-out labeled rows are too few for a percentage" in str(few)


def test_unlabeled_rows_do_not_help_where_linear_svc_is_better() -> None:
    truth = np.arange(200) % 2
    found = check(
        Planned(), planned(truth, list(range(15)), [], labeled=150), np.where(np.arange(200) < 150, truth, -1)
    )
    assert (found.verdict, found.linear_svc <= found.semi_supervised) == ("helps", True)
    better = replace(found, semi_supervised=0.9, linear_svc=0.95)
    assert (better.verdict, better.needed) == ("cannot tell", 0)
    assert "LinearSVC of the labeled ones has the higher accuracy: scale the columns" in str(better)


@pytest.mark.parametrize("labels", [2, 3, 7])
def test_folds_are_at_most_as_many_as_a_class_has_labels(labels: int) -> None:
    truth = np.arange(60) % 3
    y, X = np.where(np.arange(60) < 3 * labels, truth, -1), np.eye(3)[truth]
    for model in TransductiveSVC(), SemiSupervisedLogisticRegression():
        assert check(model, X, y, verbose=0).n_rows == 3 * labels
        assert len(compare(model, X, y, ["annealing"], verbose=0).scores["LinearSVC"]) == min(5, labels)
    probabilities = held_out_probabilities(SemiSupervisedLogisticRegression(), X, y)
    assert np.isfinite(probabilities[y >= 0]).all()


def test_the_interval_is_that_of_agresti_and_min_where_classes_have_their_shares() -> None:
    truth = np.arange(200) % 2
    found = check(Planned(), planned(truth, [1, 2, 3], [4], 100), np.where(np.arange(200) < 100, truth, -1))
    # Agresti and Min (2005): 1/2 added to each of the four counts of 100 pairs
    n, b, c = 102, 3.5, 1.5
    reach = 1.6448536 * np.sqrt((b + c) - (b - c) ** 2 / n) / n
    assert [found.lower, found.upper] == pytest.approx([(b - c) / n - reach, (b - c) / n + reach], abs=2e-5)


def test_rows_of_a_rare_class_weigh_little() -> None:
    truth = np.arange(200) % 2
    y = np.where(np.arange(200) < 30, truth, -1)
    X = planned(truth, [0], [1, 3, 5, 7], 30)  # the four lost rows are of class 1
    for shares, difference in (([0.5, 0.5], -0.1), ([0.95, 0.05], 0.05)):
        found = check(Planned(shares=shares), X, y)
        assert found.semi_supervised - found.supervised == pytest.approx(difference)
        assert found.lower < difference < found.upper


def test_a_row_that_is_held_out_often_counts_as_one() -> None:
    truth = np.arange(200) % 2
    y, X = np.where(np.arange(200) < 60, truth, -1), planned(truth, [0, 1, 2], [3], 60)
    once, often = (check(Planned(), X, y, cv=cv) for cv in (5, RepeatedStratifiedKFold(n_splits=5, n_repeats=3)))
    assert replace(once, linear_svc=0.0) == pytest.approx(replace(often, linear_svc=0.0))


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_every_labeled_row_is_held_out_once_as_an_unlabeled_row_and_the_weight_is_the_difference(kind: type) -> None:
    X, y, _ = many_topics(labels=40)
    model, split = kind(class_prior="labels"), SemiSupervisedSplit(4)
    found = check(model, X, y, cv=4)
    assert found.n_rows == np.sum(y >= 0)
    sizes = [len(test) for _, test in split.split(X, y)]
    without = clone(model).set_params(unlabeled_weight=0)
    right = [np.average(cross_val_score(without, X, y, cv=split), weights=sizes) * found.n_rows, 0]
    for _, test in split.split(X, y):
        hidden = np.where(np.isin(np.arange(len(y)), test), -1, y)
        right[1] += np.sum(clone(model).fit(X, hidden).predict(X[test]) == y[test])
    assert found.gained - found.lost == round(right[1] - right[0])
    assert not hasattr(model, "coef_")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_it_warns_of_nothing(kind: type) -> None:
    X, y, _ = text_like(labeled=40)
    assert check(kind(), X, y).verdict != "hurts"


def test_it_warns_if_no_row_is_unlabeled() -> None:
    X, _, truth = text_like(labeled=40)
    with pytest.warns(DataWarning, match="no row is unlabeled"):
        found = check(TransductiveSVC(), X[:60], truth[:60], verbose=0)
    assert (found.verdict, found.needed, len(found.disagreements)) == ("no difference", 0, 0)
    assert found.decide([]) == found


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


@pytest.mark.filterwarnings("ignore:class_prior gives class")
def test_disagreements_are_the_unlabeled_rows_that_the_two_models_classify_differently() -> None:
    X, y, _ = text_like(labeled=20)
    y = np.roll(y, 7)
    X = X[np.roll(np.arange(len(y)), 7)]
    model = TransductiveSVC(class_prior=[0.3, 0.7])
    found = check(model, X, y)
    predicted = [clone(model).set_params(unlabeled_weight=weight).fit(X, y).predict(X) for weight in (0, "auto")]
    expected = np.flatnonzero((y == -1) & (predicted[0] != predicted[1]))
    assert len(expected) > 10
    assert sorted(found.disagreements) == expected.tolist() != found.disagreements.tolist()


def test_labels_of_disagreements_decide() -> None:
    X, y, truth = differing(1000, gained=150, lost=50)
    found = check(Planned(), X, y)
    assert (found.verdict, found.n_labels, len(found.disagreements)) == ("cannot tell", 0, 200)
    assert f"label the next {found.needed} of `disagreements` (200 of 1000 unlabeled rows) and call `dec" in str(found)
    decided = found.decide(truth[found.disagreements[: found.needed]])
    assert (decided.verdict, decided.needed, decided.n_labels) == ("helps", 0, found.needed)
    assert decided.gained + decided.lost == found.needed
    rows = pd.Series(truth)[found.disagreements[: found.needed]]
    assert found.decide(rows) == decided
    with pytest.raises(ValueError, match=r"^labels has the index of disagreements in another order"):
        found.decide(rows.sort_index())
    assert str(decided).startswith(f"unlabeled rows: helps. {found.needed} labels of rows on which the two models dif")
    exact = decided.decide(truth[found.disagreements])
    assert (exact.lower, exact.upper, exact.gained, exact.lost) == (0.1, 0.1, 150, 50)


def test_rows_on_which_neither_is_right_and_rows_that_were_skipped() -> None:
    X, y, truth = differing(1000, gained=30, lost=10)
    found = check(Planned(), X, y)
    labels = truth[found.disagreements]
    assert found.decide(np.where(np.arange(40) < 7, 2, labels)).n_labels == 40  # a class that no model knows
    left = found.decide([-1] * 4 + [2] * 3 + labels[7:].tolist())
    assert (left.n_labels, left.gained + left.lost) == (36, 33)


def test_minus_one_is_a_class_where_others_mark_rows_without_a_label() -> None:
    X, y, _ = text_like(labeled=20)
    names = np.array([-1, 1, None], dtype=object)[y]
    found = check(TransductiveSVC(class_prior="labels", unlabeled="auto"), X, names)
    assert found.decide([-1, 1, None]).n_labels == 2


def test_labels_are_not_judged_before_half_of_those_needed_are_there() -> None:
    X, y, truth = differing(1000, gained=200, lost=0)
    found = check(Planned(), X, y)
    few = found.decide(truth[found.disagreements[: (found.needed - 1) // 2]])
    assert (few.verdict, few.needed, few.lower, few.upper) == (
        "cannot tell",
        found.needed - (found.needed - 1) // 2,
        found.lower,
        found.upper,
    )
    assert found.decide(truth[found.disagreements[: (found.needed + 1) // 2]]).verdict == "helps"


def test_as_many_labels_again_are_needed_where_the_models_are_close() -> None:
    X, y, truth = differing(1000, gained=190, lost=200)
    found = check(Planned(), X, y)
    then = found.decide(truth[found.disagreements[: found.needed]])
    assert (then.verdict, then.n_labels) == ("cannot tell", found.needed)
    assert then.needed >= found.needed
    assert then.decide(truth[found.disagreements]).verdict == "no difference"


def test_few_disagreements_are_no_difference() -> None:
    X, y, _ = differing(1000, gained=10, lost=0)
    found = check(Planned(), X, y)
    assert (found.verdict, found.lower, found.upper) == ("no difference", -0.01, 0.01)


def test_decide_takes_labels_of_disagreements() -> None:
    X, y, truth = differing(100, gained=20, lost=0)
    with pytest.raises(ValueError, match=r"first rows of `disagreements`, which are 20, got 120 labels: of all rows"):
        check(Planned(), X, y).decide(truth)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.75])
def test_the_number_needed_decides_and_the_verdict_is_right(share: float) -> None:
    right, near = [], []
    for n in range(20):
        X, y, truth = differing(2000, gained=round(share * 300), lost=300 - round(share * 300))
        rows = np.random.default_rng(n).permutation(len(y) - 20) + 20
        X[20:], truth[20:] = X[rows], truth[rows]
        found = check(Planned(), X, y)
        told = found.decide(truth[found.disagreements[: 2 * found.needed]]).verdict
        near.append(told != "cannot tell")
        right.append(told in ("cannot tell", "helps" if share > 0.5 else "hurts"))
    assert np.mean(near) >= 0.9
    assert np.mean(right) >= 0.95


def test_too_few_labels() -> None:
    X, y, _ = text_like(labeled=6)
    y[np.flatnonzero(y == 0)[1:]] = -1
    with pytest.raises(ValueError, match="one labeled row only: class 0"):
        check(TransductiveSVC(), X, y)


def test_given_shares_that_labels_and_rows_contradict_are_doubted() -> None:
    many = text_like(labeled=100)
    with pytest.warns(ClassPriorWarning, match=r"class_prior gives class \d a share of (5|95)\.0%, but .* suggest"):
        check(TransductiveSVC(class_prior=[0.05, 0.95]), many.X, many.y, verbose=0)
