"""Unlabeled rows inside scikit-learn's own meta-estimators: the table of docs/scikit-learn.md."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from planted import text_like
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SelectKBest, chi2
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import SelfTrainingClassifier

from fewlabel import DataWarning, SemiSupervisedLogisticRegression, TransductiveSVC, _advice
from fewlabel.metrics import labeled_scorer
from fewlabel.model_selection import SemiSupervisedSplit, held_out_probabilities
from fewlabel.preprocessing import labeled_only

X, Y, TRUTH = text_like(labeled=40)
LABELED = np.flatnonzero(Y >= 0)
NAMES = np.array(["ham", "spam"])
NO_LABELS = np.full(len(Y), -1)

FORMS = {
    "-1": (Y, TRUTH),
    "-1 as float": (Y.astype(float), TRUTH),
    "NaN": (np.where(Y < 0, np.nan, Y), TRUTH),
    "None": (np.where(Y < 0, None, Y.astype(object)), TRUTH),
    "text": (np.where(Y < 0, "-1", NAMES[Y]), NAMES[TRUTH]),
    "text, None": (np.where(Y < 0, None, NAMES[Y].astype(object)), NAMES[TRUTH]),
}
each_form = pytest.mark.parametrize(("y", "truth"), FORMS.values(), ids=FORMS)


# ------------------------------------------------------------------ score
@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
@each_form
def test_score_is_the_accuracy_of_the_labeled_rows(kind: type, y: np.ndarray, truth: np.ndarray) -> None:
    model = kind().fit(X, y)
    right = model.predict(X) == truth
    assert model.score(X, y) == right[LABELED].mean()
    assert model.score(X, truth) == right.mean()
    weights = np.arange(1.0, len(Y) + 1)
    assert model.score(X, y, sample_weight=weights) == pytest.approx(
        np.average(right[LABELED], weights=weights[LABELED])
    )
    assert model.score(X.toarray().tolist(), list(y)) == model.score(X, y)


def test_score_of_labeled_rows_is_that_of_scikit_learn() -> None:
    model = TransductiveSVC(alpha=1.0).fit(X, Y)
    other = 1 - TRUTH
    assert model.score(X, other) == accuracy_score(other, model.predict(X))
    everything = TransductiveSVC(unlabeled=None).fit(X[LABELED], np.where(Y[LABELED] == 1, 1, -1))
    assert everything.score(X, np.where(TRUTH == 1, 1, -1)) > 0.8


def test_score_takes_the_marker_of_the_estimator() -> None:
    y = np.where(Y < 0, 0, 2 * Y - 1)
    model = TransductiveSVC(unlabeled=0).fit(X, y)
    assert model.score(X, y) == np.mean(model.predict(X[LABELED]) == y[LABELED])


@pytest.mark.parametrize("y", [NO_LABELS, np.full(len(Y), np.nan), [None] * len(Y), ["-1"] * len(Y)])
def test_score_without_a_labeled_row_is_an_error(y: Any) -> None:
    with pytest.raises(ValueError, match="no row to score"):
        TransductiveSVC().fit(X, Y).score(X, y)


def test_score_wants_a_label_for_each_row() -> None:
    with pytest.raises(ValueError, match="y needs one for each row"):
        TransductiveSVC().fit(X, Y).score(X, Y[:-1])


# ------------------------------------------------------------------ splits and searches, with the default score
@pytest.mark.parametrize("splitter", [KFold(3), StratifiedKFold(3)])
@pytest.mark.parametrize("form", ["-1", "-1 as float", "text"])
def test_cross_validation_needs_no_splitter_of_ours(splitter: Any, form: str) -> None:
    y, truth = FORMS[form]
    scores = cross_val_score(TransductiveSVC(), X, y, cv=splitter, error_score="raise")
    for score, (train, test) in zip(scores, splitter.split(X, y), strict=True):
        tested = np.intersect1d(test, LABELED)
        model = TransductiveSVC().fit(X[train], y[train])
        assert score == np.mean(model.predict(X[tested]) == truth[tested])
    assert scores.mean() > 0.8


@each_form
def test_a_search_needs_no_scorer_of_ours(y: np.ndarray, truth: np.ndarray) -> None:
    for splitter in KFold(3), SemiSupervisedSplit(3):
        pipeline = make_pipeline(TfidfTransformer(), TransductiveSVC())
        search = GridSearchCV(pipeline, {"transductivesvc__alpha": [1e-3, 1e-2]}, cv=splitter, error_score="raise")
        search.fit(X, y)
        assert (search.cv_results_["mean_test_score"] > 0.8).all()
        assert search.score(X, y) > 0.9
        assert np.mean(search.predict(X) == truth) > 0.9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize(
    ("scoring", "cv", "warned"),
    [
        ("f1_macro", StratifiedKFold(3), 1),
        (["accuracy", "f1_macro"], KFold(3), 1),
        ("f1_macro", SemiSupervisedSplit(3), 0),
        (labeled_scorer("f1_macro"), StratifiedKFold(3), 0),
        (None, StratifiedKFold(3), 0),
    ],
)
@pytest.mark.parametrize("search", [True, False])
def test_a_metric_that_counts_markers_is_warned_of_once(scoring: Any, cv: Any, warned: int, search: bool) -> None:
    _advice._tell_of_markers.cache_clear()
    model = make_pipeline(TfidfTransformer(), TransductiveSVC(method="switching", class_prior="labels"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if search:
            GridSearchCV(model, {"transductivesvc__alpha": [1e-3, 1e-2]}, scoring=scoring, cv=cv, refit=False).fit(X, Y)
        else:
            cross_validate(model, X, Y, scoring=scoring, cv=cv)
    found = [one for one in caught if "counts the markers of unlabeled rows" in str(one.message)]
    assert [(one.category, one.filename) for one in found] == [(DataWarning, __file__)] * warned


def test_a_fold_without_a_labeled_row_has_no_score() -> None:
    first = np.argsort(Y < 0, kind="stable")  # all labeled rows come first
    with pytest.warns(UserWarning, match=r"no row to score"):
        scores = cross_val_score(TransductiveSVC(class_prior=[0.6, 0.4]), X[first][20:], Y[first][20:], cv=KFold(3))
    assert np.isnan(scores).tolist() == [True, True, True]  # the first fold leaves no label to learn from
    with pytest.raises(ValueError, match="no row to score"):
        cross_val_score(TransductiveSVC(), X[first], Y[first], cv=[(range(100), range(200, 300))], error_score="raise")


def test_a_fold_with_one_class_is_scored() -> None:
    zeros = np.flatnonzero(Y == 0)[:5]
    train = np.setdiff1d(np.arange(len(Y)), zeros)
    scores = cross_val_score(TransductiveSVC(), X, Y, cv=[(train, zeros)], error_score="raise")
    assert scores[0] == np.mean(TransductiveSVC().fit(X[train], Y[train]).predict(X[zeros]) == 0)
    one = np.concatenate([np.flatnonzero(Y == 0), np.flatnonzero(Y < 0)])
    with pytest.warns(DataWarning, match="all labeled rows have class 0"):
        scores = cross_val_score(TransductiveSVC(), X, Y, cv=[(one, LABELED)], error_score="raise")
    assert scores[0] == np.mean(Y[LABELED] == 0)


def test_what_calls_score_works() -> None:
    sizes, _, scores = learning_curve(TransductiveSVC(), X, Y, cv=3, train_sizes=[0.5, 1.0], error_score="raise")
    assert len(sizes) == 2
    assert scores.mean() > 0.8
    model = TransductiveSVC().fit(X, Y)
    assert permutation_importance(model, X.toarray(), Y, n_repeats=1, random_state=0).importances_mean.max() >= 0
    assert np.mean(cross_val_predict(TransductiveSVC(), X, Y, cv=3) == TRUTH) > 0.8


@each_form
def test_probabilities_of_held_out_labels(y: np.ndarray, truth: np.ndarray) -> None:
    model = SemiSupervisedLogisticRegression(calibrate=False)
    found = held_out_probabilities(model, X, y, cv=2)
    wanted = np.full((len(Y), 2), np.nan)
    for train, test in SemiSupervisedSplit(2).split(X, y):
        wanted[test] = clone(model).fit(X[train], y[train]).predict_proba(X[test])
    np.testing.assert_array_equal(found, wanted)
    assert np.flatnonzero(~np.isnan(found[:, 0])).tolist() == LABELED.tolist()
    assert np.mean(np.unique(truth)[found[LABELED].argmax(axis=1)] == truth[LABELED]) > 0.8


def test_rows_held_out_several_times_have_the_mean_and_a_missing_class_has_0() -> None:
    model, test = SemiSupervisedLogisticRegression(calibrate=False), LABELED[:4]
    y = np.where(Y == 1, 2, Y)
    y[LABELED[TRUTH[LABELED] == 1][-1]] = 1  # is in one of the fits alone
    last = int(np.flatnonzero(y[LABELED] == 1)[0])
    rest = np.setdiff1d(np.arange(len(LABELED)), range(4))
    splits = [(rest, np.arange(4)), (np.setdiff1d(rest, last), np.arange(3))]
    found = held_out_probabilities(model, X, y, cv=_Splits(splits))
    fits = [model.fit(X[rows], y[rows]).predict_proba(X[test]) for rows in (np.setdiff1d(np.arange(len(Y)), test),)]
    hidden = np.setdiff1d(np.arange(len(Y)), [*test, LABELED[last]])
    fits.append(np.insert(model.fit(X[hidden], y[hidden]).predict_proba(X[test]), 1, 0, axis=1))
    # The splitter leaves the label of the rare class out: its row takes part in no way.
    np.testing.assert_allclose(found[test[:3]], (fits[0] + fits[1])[:3] / 2)
    np.testing.assert_allclose(found[test[3]], fits[0][3])


class _Splits:
    def __init__(self, splits: list) -> None:
        self.splits = splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> list:
        return self.splits

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return len(self.splits)


def test_numbers_that_NaN_becomes_are_refused() -> None:
    with np.errstate(invalid="ignore"):
        y = np.full(len(Y), np.iinfo(np.int64).min)
    y[LABELED] = Y[LABELED]
    with pytest.raises(ValueError, match="the label -9223372036854775808, which NaN becomes"):
        TransductiveSVC().fit(X, y)


# ------------------------------------------------------------------ selectors
@pytest.mark.parametrize("form", [form for form in FORMS if form != "NaN"])  # which selectors refuse
def test_selectors_see_the_labeled_rows_alone(form: str) -> None:
    y = FORMS[form][0]
    selector = SelectKBest(labeled_only(chi2), k=20).fit(X, y)
    wanted = SelectKBest(chi2, k=20).fit(X[LABELED], Y[LABELED])
    np.testing.assert_array_equal(selector.scores_, wanted.scores_)
    again = pickle.loads(pickle.dumps(clone(selector))).fit(X.toarray(), y)
    np.testing.assert_allclose(again.scores_, wanted.scores_)
    with pytest.raises(ValueError, match="y has no labeled row: no feature has a score"):
        SelectKBest(labeled_only(chi2), k=20).fit(X, NO_LABELS)
    with pytest.raises(ValueError, match="score_func must be a function of X and y, such as chi2, got 'chi2'"):
        labeled_only("chi2")
    with pytest.raises(ValueError, match="rows, but y has 5 entries"):
        labeled_only(chi2)(X, y[:5])


@each_form
def test_halving_searches_work_with_a_number_of_rows(y: np.ndarray, truth: np.ndarray) -> None:
    search = HalvingGridSearchCV(
        TransductiveSVC(class_prior="labels"), {"alpha": [1e-3, 1e-2]}, cv=SemiSupervisedSplit(2), min_resources=len(Y)
    )
    assert np.mean(search.fit(X, y).predict(X) == truth) > 0.8


# ------------------------------------------------------------------ meta-estimators that work
@each_form
def test_selecting_features_works(y: np.ndarray, truth: np.ndarray) -> None:
    if y.dtype.kind != "f" or not np.isnan(y).any():  # RFE refuses NaN in y
        assert np.mean(RFE(TransductiveSVC(), n_features_to_select=60, step=20).fit(X, y).predict(X) == truth) > 0.8
    selected = make_pipeline(SelectFromModel(TransductiveSVC()), TransductiveSVC()).fit(X, y)
    assert np.mean(selected.predict(X) == truth) > 0.8


@pytest.mark.filterwarnings("ignore::fewlabel.ClassPriorWarning")  # of few features
def test_eliminating_features_by_cross_validation_needs_the_scorer() -> None:
    found = RFECV(TransductiveSVC(), cv=SemiSupervisedSplit(3), step=40).fit(X, Y)
    assert found.cv_results_["mean_test_score"].max() > 0.8
    scored = RFECV(TransductiveSVC(), cv=KFold(3), step=40, scoring=labeled_scorer()).fit(X, Y)
    assert scored.cv_results_["mean_test_score"].max() > 0.8
    trap = RFECV(TransductiveSVC(), cv=KFold(3), step=40).fit(X, Y)
    assert trap.cv_results_["mean_test_score"].max() < 0.3


def test_several_outputs_work() -> None:
    both = np.column_stack([Y, np.where(np.arange(len(Y)) % 2 == 0, Y, -1)])
    found = MultiOutputClassifier(TransductiveSVC()).fit(X, both).predict(X)
    assert (found == TRUTH[:, np.newaxis]).mean() > 0.8


def test_self_training_works_but_shows_the_estimator_no_unlabeled_row() -> None:
    with pytest.warns(DataWarning, match="no row is unlabeled"):
        model = SelfTrainingClassifier(SemiSupervisedLogisticRegression()).fit(X, Y)
    assert model.classes_.tolist() == [0, 1]
    assert np.mean(model.predict(X) == TRUTH) > 0.8


# ------------------------------------------------------------------ those that make the marker a class
def pair() -> list[tuple[str, Any]]:
    return [("svc", TransductiveSVC()), ("logistic", SemiSupervisedLogisticRegression())]


MAKES_A_CLASS: dict[str, Callable[[], Any]] = {
    "CalibratedClassifierCV": lambda: CalibratedClassifierCV(TransductiveSVC(), cv=3),
    "OneVsRestClassifier": lambda: OneVsRestClassifier(TransductiveSVC()),
    "OneVsOneClassifier": lambda: OneVsOneClassifier(TransductiveSVC()),
    "VotingClassifier": lambda: VotingClassifier(pair()),
    "BaggingClassifier": lambda: BaggingClassifier(TransductiveSVC(), 3, random_state=0),
    "StackingClassifier": lambda: StackingClassifier(pair(), cv=3),
}
RAISES = {
    "AdaBoostClassifier": (lambda: AdaBoostClassifier(TransductiveSVC()), "worse than random"),
    "OutputCodeClassifier": (lambda: OutputCodeClassifier(TransductiveSVC()), "only 1 and -1"),
    "FixedThresholdClassifier": (lambda: FixedThresholdClassifier(TransductiveSVC()), "Only binary"),
    "TunedThresholdClassifierCV": (lambda: TunedThresholdClassifierCV(TransductiveSVC()), "Only binary"),
}


@pytest.mark.filterwarnings("ignore:no row is unlabeled")
@pytest.mark.parametrize("make", MAKES_A_CLASS.values(), ids=MAKES_A_CLASS)
def test_minus_one_is_a_class_of_these(make: Callable[[], Any]) -> None:
    model = make().fit(X, Y)
    assert model.classes_.tolist() == [-1, 0, 1]
    assert np.mean(model.predict(X) == TRUTH) < 0.7


@pytest.mark.parametrize("make", [MAKES_A_CLASS[name] for name in MAKES_A_CLASS if name != "CalibratedClassifierCV"])
def test_these_are_noticed_by_a_warning(make: Callable[[], Any]) -> None:
    with pytest.warns(DataWarning, match="no row is unlabeled"):
        make().fit(X, Y)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("make", MAKES_A_CLASS.values(), ids=MAKES_A_CLASS)
def test_they_raise_where_the_marker_is_nan_or_none(make: Callable[[], Any]) -> None:
    for form, message in ("NaN", "contains NaN"), ("None", "unknown|NoneType"), ("text, None", "NoneType"):
        with pytest.raises((ValueError, TypeError), match=message):
            make().fit(X, FORMS[form][0])


@pytest.mark.parametrize(("make", "message"), RAISES.values(), ids=RAISES)
def test_these_raise(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make().fit(X, Y)


# ------------------------------------------------------------------ the cures
@pytest.mark.parametrize("names", [np.array([0, 1]), NAMES])
def test_a_fitted_estimator_can_be_frozen_in_them(names: np.ndarray) -> None:
    later = np.arange(0, len(Y), 7)  # labeled rows that the estimator was not fitted on
    given = np.where(Y < 0, None, names[Y].astype(object))
    given[later] = None
    models = [kind.fit(X, given) for kind in (TransductiveSVC(calibrate=True), SemiSupervisedLogisticRegression())]
    frozen = [(type(model).__name__, FrozenEstimator(model)) for model in models]
    for meta in (
        CalibratedClassifierCV(frozen[0][1]),
        VotingClassifier(frozen, voting="soft"),
        StackingClassifier(frozen, cv="prefit"),
        FixedThresholdClassifier(frozen[1][1], threshold=0.4, pos_label=names[1]),
    ):
        meta.fit(X[later], names[TRUTH[later]])
        assert meta.classes_.tolist() == names.tolist()
        assert np.mean(meta.predict(X) == names[TRUTH]) > 0.9
