"""warm_start: a fit that goes on from the fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from planted import GROUP, many_topics, text_like
from sklearn.base import clone

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel.methods import Switching

X, Y, TRUTH = text_like()


def more_labels(y: np.ndarray, truth: np.ndarray, n: int = 5) -> np.ndarray:
    """Labels with the true ones of the last n rows besides."""
    added = y.copy()
    added[-n:] = truth[-n:]
    return added


def passes(model: Any) -> float:
    return model.history_["n_passes"][-1]


@pytest.mark.parametrize("many", [False, True])
def test_goes_on_pair_by_pair(many: bool) -> None:
    """With a limit of pairs it begins at the full weight, with the labels of the model."""
    rows, y, truth = many_topics() if many else (X, Y, TRUTH)
    model = TransductiveSVC(
        method=Switching(max_switches=20), class_prior="labels", unlabeled_weight=1.0, warm_start=True
    ).fit(rows, y)
    added = more_labels(y, truth)
    fresh = clone(model).fit(rows, added)
    assert passes(model.fit(rows, added)) < passes(fresh)
    assert set(model.history_["unlabeled_weight"]) == {1.0}
    assert np.mean(model.transduction_ == truth) > np.mean(fresh.transduction_ == truth) - 0.05


@pytest.mark.parametrize("make", [TransductiveSVC, SemiSupervisedLogisticRegression])
@pytest.mark.parametrize("many", [False, True])
def test_goes_on_after_more_labels(make: Any, many: bool) -> None:
    rows, y, truth = many_topics() if many else (X, Y, TRUTH)
    prior = {name: float(np.mean(truth == name)) for name in np.unique(truth)}
    model = make(warm_start=True, class_prior=prior).fit(rows, y)
    added = more_labels(y, truth)
    fresh = clone(model).fit(rows, added)
    assert model.fit(rows, added) is model
    assert passes(model) < 0.6 * passes(fresh)
    assert np.mean(model.transduction_ == truth) > np.mean(fresh.transduction_ == truth) - 0.05
    assert model.transduction_.shape == truth.shape
    assert model.label_distributions_.shape == (len(truth), len(model.classes_))


def test_goes_on_where_shares_are_estimated_and_no_row_has_some_feature() -> None:
    """Ten labels of each class, nine tenths of the rows are of one."""
    topics, _, truth = text_like(n=600, share=0.1)
    rows = sp.hstack([topics, sp.csr_array((len(truth), 5))]).tocsr()
    y = np.full(len(truth), -1)
    for name in (0, 1):
        y[np.flatnonzero(truth == name)[:10]] = name
    model = TransductiveSVC(warm_start=True).fit(rows, y)
    assert model.class_prior_[0] > 0.7
    assert model.fit(rows, y).class_prior_[0] > 0.7


@pytest.mark.parametrize("make", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_at_the_optimum_of_a_convex_problem_it_stays(make: Any) -> None:
    rows, _, truth = many_topics()
    model = make(warm_start=True, unlabeled=None, hierarchy=GROUP).fit(rows, truth)
    coef, objective = model.coef_.copy(), model.objective_
    model.fit(rows, truth)
    assert model.n_iter_ == 1
    assert passes(model) <= 6
    assert model.objective_ == pytest.approx(objective, rel=2 * model.tol)
    np.testing.assert_allclose(model.coef_, coef, atol=0.02 * np.abs(coef).max())


def test_first_fit_and_clones_begin_anew() -> None:
    first = TransductiveSVC(warm_start=True).fit(X, Y)
    np.testing.assert_array_equal(first.coef_, TransductiveSVC().fit(X, Y).coef_)
    np.testing.assert_array_equal(clone(first.fit(X, Y)).fit(X, Y).coef_, TransductiveSVC().fit(X, Y).coef_)


def test_off_it_begins_anew() -> None:
    model = TransductiveSVC().fit(X, Y)
    coef = model.coef_.copy()
    np.testing.assert_array_equal(model.fit(X, Y).coef_, coef)


def test_same_bits_on_any_number_of_threads() -> None:
    one, two = (TransductiveSVC(warm_start=True, n_jobs=n).fit(X, Y) for n in (1, 2))
    added = more_labels(Y, TRUTH)
    np.testing.assert_array_equal(one.fit(X, added).coef_, two.fit(X, added).coef_)


def test_parameters_may_change() -> None:
    rows, y, truth = many_topics()
    model = TransductiveSVC(warm_start=True).fit(rows, y)
    for change in ({"method": "switching"}, {"hierarchy": GROUP}, {"loss": "crammer_singer"}, {"fit_intercept": False}):
        model.set_params(**change).fit(rows, y)
        assert np.mean(model.transduction_ == truth) > 0.8


def test_other_classes_are_an_error() -> None:
    model = TransductiveSVC(warm_start=True).fit(X, Y)
    other = more_labels(Y, TRUTH)
    other[-1] = 7
    with pytest.raises(
        ValueError, match="continues from a model with the classes 0, 1, but y and class_prior have 0, 1, 7"
    ):
        model.fit(X, other)
    assert model.set_params(warm_start=False).fit(X, other).classes_.tolist() == [0, 1, 7]


def test_other_features_are_an_error() -> None:
    model = TransductiveSVC(warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="expecting"):
        model.fit(X[:, :-1], Y)
    assert model.n_features_in_ == X.shape[1]


def test_a_damaged_start_is_an_error() -> None:
    model = TransductiveSVC(warm_start=True).fit(X, Y)
    model.coef_[0, 2] = np.nan
    with pytest.raises(ValueError, match=r"coef\[2\] is NaN"):
        model.fit(X, Y)
