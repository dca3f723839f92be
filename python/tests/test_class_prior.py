"""class_prior: "auto" finds the shares however labels were chosen, "labels" takes theirs, and what neither is."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from planted import many_topics, text_like
from sklearn.metrics import f1_score

from fewlabel import ClassPriorWarning, SemiSupervisedLogisticRegression, TransductiveSVC, estimate_class_prior
from fewlabel._inputs._targets import Columns
from fewlabel._native import _fit
from fewlabel.datasets import load_scipy_docs
from fewlabel.methods import Annealing
from fewlabel.preprocessing import text_vectorizer

both = pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])


def picked(truth: np.ndarray, per_class: Any, seed: int = 0) -> np.ndarray:
    """Labels of so many rows of each class."""
    rng = np.random.default_rng(seed)
    classes = np.unique(truth)
    y = np.full(len(truth), -1)
    for c, n in zip(classes, np.broadcast_to(per_class, len(classes)), strict=True):
        y[rng.permutation(np.flatnonzero(truth == c))[:n]] = c
    return y


def drawn(truth: np.ndarray, n: int, seed: int = 0) -> np.ndarray:
    """Labels of rows drawn at random."""
    rows = np.random.default_rng(seed).permutation(len(truth))[:n]
    y = np.full(len(truth), -1)
    y[rows] = truth[rows]
    return y


def shares(truth: np.ndarray, y: np.ndarray) -> np.ndarray:
    """True shares of the classes among the unlabeled rows."""
    return np.bincount(truth[y < 0], minlength=truth.max() + 1) / np.sum(y < 0)


def distance(one: Any, other: Any) -> float:
    return float(np.abs(np.asarray(one) - other).sum())


# --- "auto" -----------------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("share", [0.15, 0.3, 0.7])
def test_labels_picked_class_by_class(kind: Any, share: float) -> None:
    """As many of each class, which are as far from the true shares as here: the planted shares are found."""
    X, _, truth = text_like(n=1000, share=share)
    y = picked(truth, 20)
    model, told = (kind(class_prior=prior).fit(X, y) for prior in ("auto", "labels"))
    assert distance(model.class_prior_, shares(truth, y)) < 0.1
    np.testing.assert_allclose(told.class_prior_, [0.5, 0.5])
    hidden = y < 0
    right = [np.mean(m.transduction_[hidden] == truth[hidden]) for m in (model, told)]
    assert right[0] > 0.9
    assert right[0] > right[1]


@pytest.mark.parametrize("per_class", [5, 20])
def test_many_classes_picked_class_by_class(per_class: int) -> None:
    X, _, truth = many_topics(n=1500)
    draws = [picked(truth, per_class, seed) for seed in range(4)]
    off = np.mean([distance(TransductiveSVC().fit(X, y).class_prior_, shares(truth, y)) for y in draws])
    assert off < distance([0.25] * 4, shares(truth, draws[0])) / 2


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [20, 100])
def test_labels_drawn_at_random(n: int, seed: int) -> None:
    """The estimate is not much farther from the truth than the labels, whose shares are right but for chance."""
    X, _, truth = many_topics(n=1500)
    y = drawn(truth, n, seed)
    found = TransductiveSVC().fit(X, y).class_prior_
    of_labels = np.bincount(y[y >= 0], minlength=4) / n
    assert distance(found, shares(truth, y)) < distance(of_labels, shares(truth, y)) + 0.1


@pytest.mark.parametrize(("share", "per_class"), [(0.1, 5), (0.5, 5), (0.3, 20), (0.1, 80), (0.5, 80)])
def test_not_worse_than_the_supervised_model(share: float, per_class: int) -> None:
    """Mean over twelve draws: with five labels of a class single ones are worse."""
    scores = np.zeros((12, 2))
    for seed in range(12):
        X, _, truth = text_like(n=1000, share=share, seed=seed)
        y = picked(truth, per_class, seed)
        hidden = y < 0
        for k, weight in enumerate((0, "auto")):
            predicted = TransductiveSVC(unlabeled_weight=weight).fit(X, y).predict(X[hidden])
            scores[seed, k] = f1_score(truth[hidden], predicted, average="macro")
    before, after = scores.mean(axis=0)
    assert after > before - 0.01


@both
@pytest.mark.parametrize("per_class", [[1, 1, 1, 1], [1, 2, 1, 2], [1, 20, 20, 20], [2, 40, 1, 1]])
def test_a_class_with_one_or_two_labels_is_not_refused(kind: Any, per_class: list[int]) -> None:
    X, _, truth = many_topics()
    y = picked(truth, per_class)
    model = kind().fit(X, y)
    assert model.class_prior_.sum() == pytest.approx(1)
    assert (model.class_prior_ > 0).all()
    assert len(set(model.predict(X))) >= 3


def test_copies_of_one_row_count_as_one() -> None:
    """They cannot be held out of the training part that has the others."""
    X, _, truth = text_like()
    y = picked(truth, [1, 10])
    alone = np.flatnonzero(y == 0)[0]
    rows = sp.vstack([X, X[[alone] * 9]], format="csr")
    model = TransductiveSVC().fit(rows, np.append(y, [0] * 9))
    assert 0 < model.class_prior_[0] < 1


def test_without_labels_of_the_class_it_has_to_be_given() -> None:
    X, y, _ = many_topics()
    known = np.where(y == 3, -1, y)
    assert TransductiveSVC().fit(X, known).classes_.tolist() == [0, 1, 2]
    with pytest.warns(ClassPriorWarning, match="class 3 has a share in class_prior but no labeled row"):
        model = TransductiveSVC(class_prior={0: 0.4, 1: 0.25, 2: 0.2, 3: 0.15}).fit(X, known)
    assert model.classes_.tolist() == [0, 1, 2, 3]


def test_class_weight_and_method_do_not_change_it() -> None:
    X, _, truth = text_like(share=0.2)
    y = picked(truth, [10, 20])
    plain = TransductiveSVC(method="annealing").fit(X, y).class_prior_
    for settings in ({"class_weight": "balanced"}, {"class_weight": {0: 9.0, 1: 1.0}}, {"method": "switching"}):
        fitted = TransductiveSVC(**{"method": "annealing"} | settings).fit(X, y)
        np.testing.assert_array_equal(fitted.class_prior_, plain)


def test_on_topics_of_unequal_size_the_default_is_better_than_one_fit() -> None:
    """Nine topics of SciPy's docstrings, three labels each; the largest has eight times the texts of the smallest."""
    texts, truth = load_scipy_docs()
    X, right = text_vectorizer().fit_transform(texts), {"auto": 0.0, "annealing": 0.0}
    for seed in range(8):
        rng, y = np.random.default_rng(seed), np.full(len(truth), None, dtype=object)
        for topic in np.unique(truth):
            y[rng.choice(np.flatnonzero(truth == topic), 3, replace=False)] = topic
        rest = np.equal(y, None)
        for method in right:
            model = TransductiveSVC(method=method).fit(X, y)
            right[method] += float(np.mean(model.transduction_[rest] == truth[rest])) / 8
    assert right["auto"] > right["annealing"] + 0.01, right


def test_weight_2_is_the_row_twice() -> None:
    X, _, truth = text_like(n=200)
    y = picked(truth, [8, 12])
    weights = 1 + np.arange(len(y)) % 2
    again = np.repeat(np.arange(len(y)), weights)
    weighted = TransductiveSVC(tol=1e-8).fit(X, y, sample_weight=weights)
    repeated = TransductiveSVC(tol=1e-8).fit(X[again], y[again])
    np.testing.assert_allclose(weighted.class_prior_, repeated.class_prior_, atol=1e-3)


def test_the_order_and_the_scale_of_rows_hardly_matter() -> None:
    X, _, truth = text_like(n=600, share=0.2)
    y = picked(truth, 15)
    plain = TransductiveSVC().fit(X, y).class_prior_
    order = np.random.default_rng(1).permutation(len(y))
    np.testing.assert_allclose(TransductiveSVC().fit(X[order], y[order]).class_prior_, plain, atol=0.01)
    for scale in 1000, 5, 11:
        np.testing.assert_allclose(TransductiveSVC().fit(scale * X, y).class_prior_, plain, atol=1e-6)


def test_same_shares_on_any_number_of_threads() -> None:
    X, _, truth = many_topics(n=4000)
    y = picked(truth, 10)
    one, two = (TransductiveSVC(n_jobs=n).fit(X, y).class_prior_ for n in (1, 2))
    assert one.tobytes() == two.tobytes()


@pytest.mark.filterwarnings("ignore:all labeled rows have class")
def test_one_class_has_all_rows() -> None:
    X, y, _ = text_like()
    assert TransductiveSVC().fit(X, np.where(y == 1, -1, y)).class_prior_.tolist() == [1.0]


@pytest.mark.filterwarnings("ignore:one row only is unlabeled")
def test_where_unlabeled_rows_take_no_part_they_are_those_of_the_labels() -> None:
    X, y, truth = text_like()
    of_labels = np.bincount(y[y >= 0]) / np.sum(y >= 0)
    np.testing.assert_allclose(TransductiveSVC(unlabeled_weight=0).fit(X, y).class_prior_, of_labels)
    np.testing.assert_allclose(TransductiveSVC(unlabeled=None).fit(X, truth).class_prior_, [0.6, 0.4])


@pytest.mark.parametrize("draw", [lambda truth: picked(truth, 15), lambda truth: drawn(truth, 60)])
def test_estimate_class_prior_has_the_shares_of_one_fit(draw: Any) -> None:
    X, _, truth = many_topics(n=800)
    y = draw(truth)
    estimate = estimate_class_prior(X, y)
    np.testing.assert_array_equal(estimate.class_prior, TransductiveSVC(method="annealing").fit(X, y).class_prior_)
    assert estimate.as_dict() == dict(enumerate(estimate.class_prior.tolist()))
    assert (estimate.lower <= estimate.class_prior).all()
    assert (estimate.class_prior <= estimate.upper).all()
    np.testing.assert_allclose(estimate.label_shares, np.bincount(y[y >= 0]) / np.sum(y >= 0))


def test_two_labels_of_each_class_leave_a_wide_interval() -> None:
    X, _, truth = text_like(n=1000, share=0.3)
    estimate = estimate_class_prior(X, picked(truth, 2))
    assert (estimate.upper - estimate.lower > 0.3).all()


def test_there_are_no_shares_to_estimate_without_unlabeled_rows() -> None:
    X, _, truth = text_like()
    with pytest.raises(ValueError, match="y has 0 unlabeled rows: class shares are estimated from two or more"):
        estimate_class_prior(X, truth, unlabeled=None)


def test_shares_that_leave_the_range_of_numbers_are_refused() -> None:
    X, y, _ = text_like()
    with pytest.raises(ValueError, match="scale your features"):
        estimate_class_prior(X * 1e-310, y)


def test_intervals_of_five_labels_of_each_class_hold_the_true_shares() -> None:
    inside = []
    for seed in range(20):
        X, _, truth = many_topics(n=800)
        y = picked(truth, 5, seed)
        estimate = estimate_class_prior(X, y)
        inside += [(estimate.lower <= shares(truth, y)) & (shares(truth, y) <= estimate.upper)]
    assert np.mean(inside) >= 0.85


# --- balance ----------------------------------------------------------------------------------------------------------


def test_thresholds_stay_where_labels_look_picked() -> None:
    """Balance "auto" is then "labels", but for new rows; where labels look drawn at random the model predicts the
    shares."""
    X, _, truth = text_like(n=1000, share=0.3)
    y = picked(truth, 20)
    auto, given = (TransductiveSVC(method=Annealing(balance=balance)).fit(X, y) for balance in ("auto", "labels"))
    assert auto.predict(X).tobytes() == given.predict(X).tobytes()
    assert auto.coef_.tobytes() == given.coef_.tobytes()
    y = drawn(truth, 100)
    model = TransductiveSVC().fit(X, y)
    assert np.mean(model.predict(X[y < 0])) == pytest.approx(model.class_prior_[1], abs=2 / 900)


# --- "labels" and given shares ----------------------------------------------------------------------------------------


def test_labels_are_those_of_the_labeled_rows_by_weight() -> None:
    X, y, _ = text_like()
    weights = 1.0 + np.arange(len(y)) % 3
    model = TransductiveSVC(class_prior="labels").fit(X, y, sample_weight=weights)
    totals = np.bincount(y[y >= 0], weights[y >= 0])
    np.testing.assert_allclose(model.class_prior_, totals / totals.sum())


def test_given_shares_are_used_as_they_are() -> None:
    X, y, _ = text_like()
    for prior in ([0.7, 0.3], {1: 0.3, 0: 0.7}):
        np.testing.assert_array_equal(TransductiveSVC(class_prior=prior).fit(X, y).class_prior_, [0.7, 0.3])


@pytest.mark.parametrize("prior", [None, "estimate", "label", 0.5, [[0.5, 0.5]], True])
def test_what_is_none_of_these_names_both_words(prior: Any) -> None:
    X, y, _ = text_like(n=60, d=30)
    with pytest.raises(ValueError, match=r"class_prior.*auto.*labels"):
        TransductiveSVC(class_prior=prior).fit(X, y)


# --- unlabeled_weight -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "labeled", "weight"), [(500, 20, 1.0), (500, 100, 400 / 2000), (220, 10, 1.0)])
def test_unlabeled_weight_auto(n: int, labeled: int, weight: float) -> None:
    X, y, _ = text_like(n=n, labeled=labeled)
    auto, given = (
        TransductiveSVC(class_prior="labels", unlabeled_weight=chosen).fit(X, y) for chosen in ("auto", weight)
    )
    assert auto.coef_.tobytes() == given.coef_.tobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = TransductiveSVC(class_prior="labels", unlabeled_weight=weight / 2).fit(X, y)
    assert auto.coef_.tobytes() != other.coef_.tobytes()


def test_unlabeled_weight_auto_counts_weights() -> None:
    X, y, _ = text_like(labeled=60)  # 240 unlabeled rows
    weights = np.where(y < 0, 2.0, 1.0)
    auto, given = (
        TransductiveSVC(class_prior="labels", unlabeled_weight=chosen).fit(X, y, sample_weight=weights)
        for chosen in ("auto", 480 / 1200)
    )
    np.testing.assert_allclose(auto.coef_, given.coef_, rtol=1e-9)


@pytest.mark.parametrize("many", [False, True])
def test_without_options_the_library_gives_the_same_bits(many: bool) -> None:
    """As a C program calls it: with the labels and nothing else."""
    X, _, truth = many_topics() if many else text_like(share=0.2)
    y = picked(truth, 15)
    model = TransductiveSVC(n_jobs=2).fit(X, y)
    report, arrays = _fit.fit(X, Columns(y.astype(np.int32)[:, None]), {})[0]
    coef = arrays["coef"].reshape(report["n_features"], report["n_outputs"]).T
    assert np.ascontiguousarray(coef).tobytes() == model.coef_.tobytes()
    for name in ("intercept", "class_prior"):
        assert arrays[name].tobytes() == getattr(model, f"{name}_").tobytes()
    assert report["objective"] == model.objective_
    np.testing.assert_array_equal(arrays["transduction"], model.transduction_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"class_prior": {True: 0.5, 0: 0.5}}, "class_prior names True, but the classes are 0, 1"),
        ({"class_prior": {True: 0.5, 0: 0.3, 2: 0.2}}, "class_prior names True, but the classes are 0, 1"),
        ({"class_weight": {np.True_: 2.0, 0: 1.0}}, "class_weight names True, but the classes are 0, 1"),
        ({"hierarchy": {True: "a", 0: "b"}}, "hierarchy names True, but the classes are 0, 1"),
    ],
)
def test_bools_are_no_names_of_numbers(given: dict[str, Any], message: str) -> None:
    X, unlabeled = np.eye(2)[[0, 1, 0, 1, 0, 1]], [None] * 4
    with pytest.raises(ValueError, match=message):
        TransductiveSVC(**given).fit(X, [0, 1, *unlabeled])
    (name,) = given
    with pytest.raises(ValueError, match=f"{name} .*(names (0|1), but|than) the classes .*False, True"):
        TransductiveSVC(**given).fit(X, [False, True, *unlabeled])


@pytest.mark.parametrize("wrap", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_an_estimate_warns_as_a_fit_does(wrap: Any) -> None:
    """Of shares that few picked labels leave open, and of a column that hides the others: the same words."""
    X, _, truth = text_like(n=1000, share=0.1)
    table, said = wrap(np.column_stack([X.toarray(), 40 * np.random.default_rng(0).normal(size=1000)])), []
    if isinstance(table, pd.DataFrame):
        table.columns = [f"column {k}" for k in table]
    for find in (estimate_class_prior, TransductiveSVC(n_jobs=1).fit):
        for rows in (X, table):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                find(rows, picked(truth, 2))
            said.append([(one.category, str(one.message)) for one in caught])
    assert said[:2] == said[2:]
    assert [[text[:28] for _, text in one] for one in said[:2]] == [
        ["the class shares are a guess"],
        ["few columns carry 97% of the", "the class shares are a guess"],
    ]
