"""Several labels a row: one fit for all columns of an indicator matrix."""

from __future__ import annotations

import pickle
import warnings
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from planted import text_like
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.utils import get_tags
from sklearn.utils.multiclass import type_of_target

import fewlabel
from fewlabel import (
    DataWarning,
    SemiSupervisedLogisticRegression,
    TransductiveSVC,
    inspection,
)
from fewlabel.metrics import labeled_scorer
from fewlabel.model_selection import SemiSupervisedSplit

X, FIRST, TRUTH = text_like(labeled=60)
N = len(FIRST)


def columns() -> np.ndarray:
    """The planted labels; others with unknown entries; labels of 0, of 1, and none."""
    rng = np.random.default_rng(0)
    second = np.where((FIRST >= 0) & (rng.random(N) < 0.7), 1 - TRUTH, -1)
    return np.column_stack([FIRST, second, np.where(FIRST >= 0, 0, -1), np.where(FIRST == 1, 1, -1), np.full(N, -1)])


Y = columns()
KINDS = [
    TransductiveSVC(),
    TransductiveSVC(method="switching", loss="crammer_singer"),
    TransductiveSVC(method="pair_switching", loss="hinge"),
    TransductiveSVC(calibrate=True, class_weight={0: 1, 1: 2}),
    SemiSupervisedLogisticRegression(),
    SemiSupervisedLogisticRegression(method="posterior"),
]


def quietly(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, sample_weight)


@pytest.mark.parametrize("model", KINDS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_have_the_bits_of_their_separate_fits(model: Any, weighted: bool) -> None:
    weights = np.random.default_rng(1).integers(1, 3, N) if weighted else None
    together = quietly(clone(model).set_params(n_jobs=2), X, Y, weights)
    scores = together.decision_function(X)
    for k in (0, 1):
        alone = quietly(clone(model).set_params(class_prior="labels"), X, Y[:, k], weights)
        np.testing.assert_array_equal(together.coef_[k], alone.coef_[0])
        assert together.intercept_[k] == alone.intercept_[0]
        assert together.class_prior_[k] == alone.class_prior_[1]
        assert (together.alpha_[k], together.unlabeled_weight_[k]) == (alone.alpha_, alone.unlabeled_weight_)
        np.testing.assert_array_equal(scores[:, k], alone.decision_function(X))
        np.testing.assert_array_equal(together.transduction_[:, k], alone.transduction_)
        np.testing.assert_array_equal(together.predict(X)[:, k], alone.predict(X))
        assert together.termination_condition_[k] == alone.termination_condition_
        np.testing.assert_array_equal(together.history_[k]["objective"], alone.history_["objective"])
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(together.predict_proba(X)[:, k], alone.predict_proba(X)[:, 1], rtol=1e-12)
            np.testing.assert_allclose(
                together.predict_log_proba(X)[:, k], alone.predict_log_proba(X)[:, 1], rtol=1e-9, atol=1e-12
            )


def test_balanced_weights_are_those_of_each_column() -> None:
    model = TransductiveSVC(class_weight="balanced")
    together = quietly(clone(model), X, Y)
    for k in (0, 1):
        alone = quietly(clone(model).set_params(class_prior="labels"), X, Y[:, k])
        np.testing.assert_array_equal(together.coef_[k], alone.coef_[0])
    assert not np.array_equal(together.coef_, quietly(TransductiveSVC(), X, Y).coef_)


def test_columns_with_given_shares_are_those_of_separate_fits() -> None:
    shares = [0.4, 0.6, 0.1, 0.5, 0.2]
    together = quietly(TransductiveSVC(class_prior=shares), X, Y)
    assert together.class_prior_.tolist() == shares
    for k, prior in enumerate(shares[:2]):
        alone = quietly(TransductiveSVC(class_prior=[1 - prior, prior]), X, Y[:, k])
        np.testing.assert_array_equal(together.coef_[k], alone.coef_[0])
    alone = quietly(TransductiveSVC(class_prior={0: 0.5, 1: 0.5}), X, np.where(Y[:, 3] == 1, 1.0, np.nan))
    np.testing.assert_array_equal(together.coef_[3], alone.coef_[0])  # labels of 1 alone


def test_every_form_of_the_matrix_gives_the_same_model() -> None:
    y = Y[:, :2]
    plain = TransductiveSVC().fit(X, y)
    missing = np.where(y < 0, np.nan, y)
    objects = np.where(y < 0, None, y.astype(object))
    frame = pd.DataFrame(np.where(y < 0, pd.NA, y.astype(object)), columns=["a", "b"])
    for form in (
        y.astype(float),
        missing,
        objects,
        sp.csr_array(y),
        y.tolist(),
        list(y),
        objects.tolist(),
        frame,
        frame.astype("Int64"),
        pd.DataFrame(missing),
    ):
        np.testing.assert_array_equal(TransductiveSVC().fit(X, form).coef_, plain.coef_)
    nine = TransductiveSVC(unlabeled=9).fit(X, np.where(y < 0, 9, y))
    np.testing.assert_array_equal(nine.coef_, plain.coef_)
    dense = TransductiveSVC().fit(X.toarray(), y)
    np.testing.assert_allclose(dense.coef_, plain.coef_, rtol=1e-6, atol=1e-9)


def test_what_a_fit_leaves_behind() -> None:
    model = quietly(TransductiveSVC(calibrate=True), X, Y)
    k, d = Y.shape[1], X.shape[1]
    assert [each.tolist() for each in model.classes_] == [[0, 1]] * k
    assert model.coef_.shape == (k, d)
    assert model.intercept_.shape == model.class_prior_.shape == (k,)
    assert model.transduction_.shape == model.label_distributions_.shape == (N, k)
    known = Y >= 0
    np.testing.assert_array_equal(model.transduction_[known], Y[known])
    np.testing.assert_array_equal(model.label_distributions_[known], Y[known])
    assert model.n_iter_ >= 1
    assert isinstance(model.objective_, float)
    assert len(model.history_) == k
    for method in ("predict", "decision_function", "predict_proba"):
        assert getattr(model, method)(X).shape == (N, k)
    assert type_of_target(model.predict(X)) == "multilabel-indicator"
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    one = TransductiveSVC().fit(X, FIRST)  # a fit of another kind forgets the columns
    np.testing.assert_array_equal(model.set_params(calibrate=False).fit(X, FIRST).coef_, one.coef_)
    assert model.predict(X).ndim == 1


def test_columns_of_one_label_are_constant_with_one_warning_for_all() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model = TransductiveSVC().fit(X, np.hstack([Y, Y[:, 2:3]]))
    texts = sorted(str(one.message) for one in found if one.category is DataWarning)
    assert len(texts) == 2
    assert texts[0].startswith("3 of 6 columns of y (2, 4, 5): all labeled rows have class 0, so the model predicts it")
    assert texts[1].startswith("column 3 of y: all labeled rows have class 1, so the model predicts it for every row")
    np.testing.assert_array_equal(model.predict(X)[:, 2:], np.tile([0, 1, 0, 0], (N, 1)))
    assert model.termination_condition_[2] == "one_class"
    logistic = quietly(SemiSupervisedLogisticRegression(), X, Y)
    np.testing.assert_array_equal(logistic.predict_proba(X)[:, 2:], np.tile([0, 1, 0], (N, 1)))


def test_known_columns_warn_and_are_supervised() -> None:
    y = np.column_stack([TRUTH, TRUTH])
    with pytest.warns(DataWarning, match="no row is unlabeled.*Mark unknown entries"):
        model = TransductiveSVC().fit(X, y)
    alone = TransductiveSVC(unlabeled=None).fit(X, TRUTH)
    np.testing.assert_array_equal(model.coef_[1], alone.coef_[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TransductiveSVC(unlabeled=None).fit(X, y)


def test_warnings_of_columns_name_them() -> None:
    rows = sp.hstack([X, np.full((N, 1), 30.0)], format="csr")  # pushes all scores to one side
    model = TransductiveSVC(class_prior=[0.5, 0.5], fit_intercept=False, alpha=1.0, unlabeled_weight=1e-6)
    with pytest.warns(fewlabel.ClassPriorWarning, match=r"2 of 2 columns of y \(0, 1\): class \d is predicted"):
        model.fit(rows, np.column_stack([FIRST, FIRST]))


@pytest.mark.parametrize(
    ("y", "parameters", "message"),
    [
        (
            np.eye(2)[TRUTH] / 2,
            {},
            r"must hold 0, 1 and markers; found .*0\.5.*Write probabilities as .*Soft",
        ),
        (np.full((N, 3), "1"), {}, "has 3 columns, .* must hold 0, 1 and markers; found '1'"),
        (np.where(Y[:, :2] == 0, -1, Y[:, :2]), {}, "1 and -1 only, which is ambiguous"),
        (Y, {"class_prior": [0.5, 0.5]}, "share of 1 in each of the 5 columns"),
        (Y, {"class_prior": {0: 0.5, 1: 0.5}}, "several labels a row"),
        (Y, {"class_prior": [0.5, 1.5, 0.5, 0.5, 0.5]}, "class_prior of column 1 is 1.5"),
        (Y, {"hierarchy": {0: "g", 1: "g"}}, "hierarchy is given, but y has several labels a row"),
        (np.full((N, 2), -1), {}, "y has no label"),
        (Y[:-1], {}, "y needs one for each row"),
    ],
)
def test_bad_input(y: np.ndarray, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TransductiveSVC(**parameters).fit(X, y)


def test_what_does_not_take_several_labels_says_so(tmp_path: Any) -> None:
    assert get_tags(TransductiveSVC()).classifier_tags.multi_label
    model = quietly(TransductiveSVC(warm_start=True), X, Y)
    for refused in (
        lambda: model.to_sklearn(),
        lambda: fewlabel.save_model(model, tmp_path / "model"),
        lambda: inspection.top_features(model, [f"f{j}" for j in range(X.shape[1])]),
        lambda: quietly(model, X, Y),
    ):
        with pytest.raises(ValueError, match="several labels a row"):
            refused()
    with pytest.raises(ValueError, match="several labels a row"):
        inspection.check(TransductiveSVC(), X, Y)


def test_score_is_the_accuracy_of_the_known_entries() -> None:
    model = quietly(TransductiveSVC(), X, Y[:, :2])
    y = np.column_stack([TRUTH, np.where(np.arange(N) % 2, 1 - TRUTH, -1)])
    known = y >= 0
    assert model.score(X, y) == pytest.approx((model.predict(X) == y)[known].mean())
    weights = np.arange(N)
    expected = np.average((model.predict(X) == y)[known], weights=np.repeat(weights[:, None], 2, axis=1)[known])
    assert model.score(X, y, weights) == pytest.approx(expected)
    for bad, message in ((TRUTH, "with 2 columns"), (np.column_stack([y, y]), "with 2 columns"), (y + 2, "markers")):
        with pytest.raises(ValueError, match=message):
            model.score(X, bad)
    with pytest.raises(ValueError, match="no entry to score"):
        model.score(X, np.full((N, 2), -1))


def test_cross_validation_scores_the_labeled_rows() -> None:
    y = Y[:, :2]
    found = cross_val_score(TransductiveSVC(), X, y, cv=SemiSupervisedSplit(3), error_score="raise")
    assert found.mean() > 0.8
    y = np.column_stack([FIRST, np.where(FIRST >= 0, 1 - TRUTH, -1)])
    scorer = labeled_scorer("f1_macro")
    assert cross_val_score(TransductiveSVC(), X, y, cv=SemiSupervisedSplit(3), scoring=scorer).mean() > 0.8
    model = TransductiveSVC().fit(X, y)
    labeled = FIRST >= 0
    assert scorer(model, X, y) == f1_score(y[labeled], model.predict(X)[labeled], average="macro")


@pytest.mark.parametrize("y", [FIRST, Y[:, :2]], ids=["one label", "columns"])
def test_rows_of_a_matrix_of_coordinates_are_scored(y: np.ndarray) -> None:
    model, coordinates = TransductiveSVC().fit(X, y), sp.coo_matrix(X)
    assert model.score(coordinates, y) == model.score(X, y)
    assert labeled_scorer()(model, coordinates, y) == labeled_scorer()(model, X, y)


@pytest.mark.parametrize("y", [Y[:, :2], np.ones((N, 2), int)], ids=["unknown entries", "two labels a row"])
def test_a_model_of_one_label_a_row_does_not_score_several(y: np.ndarray) -> None:
    model = TransductiveSVC().fit(X, FIRST)
    with pytest.raises(ValueError, match="y has several labels a row, which are not supported here"):
        model.score(X, y)


def test_several_labels_a_row_are_scored_without_predictions() -> None:
    def shape(_: Any, rows: Any, labels: Any) -> float:
        return len(labels) + np.shape(labels)[1] / 10

    y = np.column_stack([FIRST, np.where(FIRST >= 0, 1 - TRUTH, -1)])
    transformer = TfidfTransformer().fit(X)
    assert labeled_scorer(shape)(transformer, X, y) == pytest.approx(np.sum(FIRST >= 0) + 0.2)


def test_scikit_learns_wrapper_gives_the_same_predictions() -> None:
    y = Y[:, :2]
    wrapped = MultiOutputClassifier(TransductiveSVC(class_prior="labels")).fit(X, y)
    np.testing.assert_array_equal(wrapped.predict(X), TransductiveSVC().fit(X, y).predict(X))


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_a_column_is_warned_of_its_own_unlabeled_rows(order: list[int]) -> None:
    rng = np.random.default_rng(0)
    rows = (rng.random((4000, 300)) < 0.05).astype(float)
    y = (rows[:, :2] > 0).astype(int)
    y[20:2000, 0] = -1  # with a heavy feature
    y[2020:, 1] = -1
    rows[:2000, 7] *= 30
    with pytest.warns(DataWarning, match="feature 7 and few others"):
        TransductiveSVC(n_jobs=1).fit(sp.csr_array(rows), y[:, order])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_in_another_order_are_refused(frame: Any) -> None:
    y = frame({name: np.where(FIRST >= 0, column, -1) for name, column in zip("abc", columns().T, strict=False)})
    model = TransductiveSVC().fit(X, y)
    given = model.score(X, y), labeled_scorer()(model, X, y)
    assert given == (model.score(X, np.array(y)), labeled_scorer()(model, X, np.array(y)))
    for score in model.score, partial(labeled_scorer(), model):
        with pytest.raises(ValueError, match=r"y has the column '[abc]' at another place than in fit.*'a', 'b', 'c'"):
            score(X, y[["b", "c", "a"]])
