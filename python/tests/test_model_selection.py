"""Cross-validation with unlabeled rows: what is learned from, what is tested, what is scored."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings, strategies as st
from planted import many_topics, text_like
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel.metrics import labeled_scorer
from fewlabel.model_selection import SemiSupervisedSplit

X, Y, TRUTH = text_like(labeled=30)
LABELED = np.flatnonzero(Y >= 0)


@settings(deadline=None)
@given(st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=8, max_size=40), st.integers(2, 4))
def test_unlabeled_rows_are_in_every_training_part_and_in_no_test(labels: list[int], folds: int) -> None:
    y = np.array(labels + [0, 1] * folds)
    labeled, unlabeled = np.flatnonzero(y >= 0), np.flatnonzero(y < 0)
    tested = []
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        if (np.bincount(y[labeled]) == 1).any():
            y[y == 2] = 1
        splits = list(SemiSupervisedSplit(folds, unlabeled=-1).split(y, y))
    for train, test in splits:
        assert set(unlabeled) <= set(train)
        assert not set(train) & set(test)
        assert set(train) | set(test) == set(range(len(y)))
        tested += test.tolist()
    assert len(splits) == folds
    assert sorted(tested) == labeled.tolist()


def test_the_labeled_rows_are_split_as_the_splitter_splits_them_alone() -> None:
    shuffled = StratifiedKFold(3, shuffle=True, random_state=1)
    alone = shuffled.split(LABELED, Y[LABELED])
    for (train, test), (_, wanted) in zip(SemiSupervisedSplit(shuffled).split(X, Y), alone, strict=True):
        np.testing.assert_array_equal(test, LABELED[wanted])
        np.testing.assert_array_equal(train, np.setdiff1d(np.arange(len(Y)), test))


MARKED = {
    "float": (np.where(Y >= 0, Y.astype(float), np.nan), "auto"),
    "object": (np.where(Y >= 0, Y.astype(object), None), "auto"),
    "text": (np.where(Y >= 0, np.array(["a", "b"])[Y], "-1"), "auto"),
    "pandas": (pd.Series(Y).astype("Int64").mask(Y < 0), "auto"),
    "own": (np.where(Y >= 0, Y, 7), 7),
}


@pytest.mark.parametrize(("y", "unlabeled"), MARKED.values(), ids=MARKED)
def test_every_marker_gives_the_same_splits_and_scores(y: Any, unlabeled: Any) -> None:
    splitter = SemiSupervisedSplit(3, unlabeled=unlabeled)
    for ours, wanted in zip(splitter.split(X, y), SemiSupervisedSplit(3).split(X, Y), strict=True):
        np.testing.assert_array_equal(ours[0], wanted[0])
        np.testing.assert_array_equal(ours[1], wanted[1])
    scoring = labeled_scorer("accuracy", unlabeled=unlabeled)  # numbers between None need it
    scores = cross_val_score(TransductiveSVC(unlabeled=unlabeled), X, y, cv=splitter, scoring=scoring)
    np.testing.assert_array_equal(scores, cross_val_score(TransductiveSVC(), X, Y, cv=SemiSupervisedSplit(3)))


def test_scores_are_those_of_a_loop_by_hand() -> None:
    scores = cross_val_score(TransductiveSVC(), X, Y, cv=SemiSupervisedSplit(3))
    by_hand = []
    for _, test in StratifiedKFold(3).split(X[LABELED], Y[LABELED]):
        kept = np.setdiff1d(np.arange(len(Y)), LABELED[test])
        by_hand.append(TransductiveSVC().fit(X[kept], Y[kept]).score(X[LABELED[test]], Y[LABELED[test]]))
    np.testing.assert_array_equal(scores, by_hand)
    assert scores.mean() > 0.8


def test_grid_search_over_a_pipeline() -> None:
    topics = many_topics(labels=40)
    pipeline = make_pipeline(TfidfTransformer(), SemiSupervisedLogisticRegression())
    grid = {"semisupervisedlogisticregression__alpha": [1e-3, 10.0]}
    search = GridSearchCV(pipeline, grid, cv=SemiSupervisedSplit(3), n_jobs=2, error_score="raise")
    search.fit(topics.X, topics.y)
    assert search.best_params_[next(iter(grid))] < 10
    assert search.best_estimator_.named_steps["semisupervisedlogisticregression"].classes_.tolist() == [0, 1, 2, 3]
    assert np.mean(search.predict(topics.X) == topics.truth) > 0.8


def test_groups_stay_together() -> None:
    groups = np.arange(len(Y)) % 7
    splits = list(SemiSupervisedSplit(GroupKFold(3)).split(X, Y, groups))
    assert len(splits) == 3
    for train, test in splits:
        assert not set(groups[np.intersect1d(train, LABELED)]) & set(groups[test])
        assert set(np.flatnonzero(Y < 0)) <= set(train)
    assert SemiSupervisedSplit(LeaveOneGroupOut()).get_n_splits(X, Y, groups) == len(set(groups[LABELED]))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_val_score(
            TransductiveSVC(), X, Y, cv=SemiSupervisedSplit(GroupKFold(3)), params={"groups": groups}
        )
    plain = [TransductiveSVC().fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in splits]
    np.testing.assert_array_equal(routed, plain)


@pytest.mark.parametrize("routed", [False, True])
def test_weights_reach_the_fits_and_scores_of_a_search(routed: bool) -> None:
    """With metadata routing and without; half of the rows have no weight."""
    weights = np.arange(len(Y)) % 2.0
    with sklearn.config_context(enable_metadata_routing=routed):
        model = TransductiveSVC()
        if routed:
            model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"alpha": [1e-3]}, cv=SemiSupervisedSplit(2)).fit(X, Y, sample_weight=weights)
        name = "sample_weight" if routed else "transductivesvc__sample_weight"
        pipeline = make_pipeline(MaxAbsScaler(), model).fit(X, Y, **{name: weights})
    scored = routed or hasattr(search, "_check_scorers_accept_sample_weight")  # older scikit-learn scores without
    half = TransductiveSVC(alpha=1e-3).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(search.best_estimator_.coef_, half.coef_)
    scaled = TransductiveSVC().fit(MaxAbsScaler().fit_transform(X), Y, sample_weight=weights)
    np.testing.assert_array_equal(pipeline[-1].coef_, scaled.coef_)
    parts = [
        TransductiveSVC(alpha=1e-3)
        .fit(X[train], Y[train], weights[train])
        .score(X[test], Y[test], weights[test] if scored else None)
        for train, test in SemiSupervisedSplit(2).split(X, Y)
    ]
    assert search.best_score_ == np.mean(parts)


@pytest.mark.parametrize(
    ("cv", "wanted"),
    [(4, 4), (KFold(3), 3), (StratifiedShuffleSplit(6, test_size=0.3), 6), (LeaveOneOut(), len(LABELED))],
)
def test_number_of_splits(cv: Any, wanted: int) -> None:
    splitter = SemiSupervisedSplit(cv)
    assert splitter.get_n_splits(X, Y) == wanted == len(list(splitter.split(X, Y)))
    if not isinstance(cv, LeaveOneOut):
        assert splitter.get_n_splits() == wanted
    assert repr(splitter).startswith("SemiSupervisedSplit(cv=")


def test_nothing_unlabeled_is_the_ordinary_split() -> None:
    for ours, wanted in zip(
        SemiSupervisedSplit(3, unlabeled=None).split(X, TRUTH), StratifiedKFold(3).split(X, TRUTH), strict=True
    ):
        np.testing.assert_array_equal(ours[0], wanted[0])
        np.testing.assert_array_equal(ours[1], wanted[1])


@pytest.mark.parametrize(
    ("cv", "y", "kind", "message"),
    [
        (5, [0, 1, 0, 1, -1], ValueError, "cv=5 is more than the labeled rows of any class .at most 2."),
        (2, ["a", "a", "a", "b", None], ValueError, "one labeled row only: class b"),
        (2, [-1, -1, -1, -1, -1], ValueError, "no labeled row"),
        (2, [0, 1, 0, 1], ValueError, "inconsistent numbers of samples"),
        (2, None, ValueError, "y is None"),
        (1, [0, 1, 0, 1, -1], ValueError, "cv must be an integer of at least 2, or a splitter, got 1"),
        (True, [0, 1, 0, 1, -1], TypeError, "cv must be an integer or a splitter .* got True"),
        ("kfold", [0, 1, 0, 1, -1], TypeError, "cv must be an integer or a splitter"),
        ([([0], [1])], [0, 1, 0, 1, -1], TypeError, "cv must be an integer or a splitter"),
        (SemiSupervisedSplit(2), [0, 1, 0, 1, -1], TypeError, "SemiSupervisedSplit already"),
    ],
)
def test_bad_input(cv: Any, y: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        list(SemiSupervisedSplit(cv).split(np.zeros((5, 1)), y))


def test_labeled_scorer_scores_the_labeled_rows() -> None:
    model = TransductiveSVC().fit(X, Y)
    wanted = accuracy_score(Y[LABELED], model.predict(X[LABELED]))
    for y, unlabeled in MARKED.values():
        fitted = TransductiveSVC(unlabeled=unlabeled).fit(X, y)
        assert labeled_scorer("accuracy", unlabeled=unlabeled)(fitted, X, y) == wanted
    assert labeled_scorer()(model, X, Y) == wanted
    assert model.score(X, Y) == wanted
    assert accuracy_score(Y, model.predict(X)) < 0.2  # the trap: the marker counts as a class
    several = labeled_scorer(["accuracy", "f1"])(model, X, Y)
    assert several["accuracy"] == wanted
    assert set(several) == {"accuracy", "f1"}


def test_labeled_scorer_hands_on_the_weights_of_the_labeled_rows() -> None:
    model = DummyClassifier(strategy="constant", constant=1).fit(np.zeros((4, 1)), [0, 1, 1, -1])
    score = labeled_scorer("accuracy")(model, np.zeros((4, 1)), [0, 1, 1, -1], sample_weight=[5, 1, 2, 100])
    assert score == pytest.approx(3 / 8)


@pytest.mark.parametrize(("scored", "steps"), [(True, []), (False, []), (True, [MaxAbsScaler()])])
def test_labeled_scorer_gets_the_weights_that_are_routed(scored: bool, steps: list[Any]) -> None:
    weight, splits = np.random.default_rng(0).integers(1, 9, len(Y)).astype(float), SemiSupervisedSplit(2)
    with sklearn.config_context(enable_metadata_routing=True):
        last = TransductiveSVC(alpha=10).set_fit_request(sample_weight=True).set_score_request(sample_weight=scored)
        accuracy = get_scorer("accuracy").set_score_request(sample_weight=scored)
        model = make_pipeline(*steps, last) if steps else last
        scorers = None, labeled_scorer(), labeled_scorer(accuracy), labeled_scorer({"a": accuracy})
        given: dict[str, Any] = {"cv": splits, "params": {"sample_weight": weight}}
        own, *others = [cross_validate(model, X, Y, scoring=scorer, **given) for scorer in scorers]
        last = clone(last).set_score_request(sample_weight=False)
        unweighted = make_pipeline(*steps, last) if steps else last
        plain = cross_validate(unweighted, X, Y, **given)["test_score"]
        search = GridSearchCV(model, {}, scoring=labeled_scorer(), cv=splits).fit(X, Y, sample_weight=weight)
        direct = labeled_scorer()(TransductiveSVC().fit(X, Y), X, Y, sample_weight=weight)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            cross_validate(model, X, Y, scoring=labeled_scorer("accuracy"), **given)
    for found in others:
        np.testing.assert_array_equal(found.get("test_score", found.get("test_a")), own["test_score"])
    assert (own["test_score"].tolist() != plain.tolist()) == scored
    assert search.best_score_ == own["test_score"].mean()
    assert direct == TransductiveSVC().fit(X, Y).score(X, Y, weight)
    search = GridSearchCV(TransductiveSVC(), {}, scoring={"a": labeled_scorer()}, refit="a", cv=splits)
    assert search.fit(X, Y, sample_weight=weight).best_score_ > 0.8


def test_labeled_scorer_with_an_ordinary_splitter() -> None:
    scorer = labeled_scorer()
    assert pickle.loads(pickle.dumps(scorer))(TransductiveSVC().fit(X, Y), X, Y) > 0.9
    assert repr(scorer) == "labeled_scorer(None, unlabeled='auto')"
    found = cross_validate(
        TransductiveSVC(), X, Y, cv=KFold(3), scoring=scorer, return_estimator=True, return_indices=True, n_jobs=2
    )
    for score, model, test in zip(found["test_score"], found["estimator"], found["indices"]["test"], strict=True):
        rows = np.intersect1d(test, LABELED)
        assert score == np.mean(model.predict(X[rows]) == Y[rows])
    search = GridSearchCV(TransductiveSVC(), {"alpha": [1e-3, 1e-2]}, scoring=scorer, cv=KFold(3)).fit(X, Y)
    assert search.best_score_ > 0.8


def test_labeled_scorer_takes_lists_of_texts_and_data_frames() -> None:
    y = ["a", None, "b"]
    for rows in (["one", "two", "three"], pd.DataFrame({"x": [1.0, 2.0, 3.0]})):
        model = DummyClassifier(strategy="constant", constant="a").fit(rows, ["a", "a", "b"])
        assert labeled_scorer("accuracy")(model, rows, y) == 0.5


def test_labeled_scorer_without_a_labeled_row() -> None:
    with pytest.raises(ValueError, match="no row to score"):
        labeled_scorer()(TransductiveSVC().fit(X, Y), X, np.full(len(Y), -1))


@pytest.mark.parametrize("scoring", [None, "accuracy", {"a": "accuracy"}])
def test_weights_of_a_score_can_have_another_name(scoring: Any) -> None:
    weight, splits = np.random.default_rng(0).integers(1, 9, len(Y)).astype(float), SemiSupervisedSplit(2)
    with sklearn.config_context(enable_metadata_routing=True):
        model = TransductiveSVC(alpha=10).set_fit_request(sample_weight=False).set_score_request(sample_weight="w")
        if isinstance(scoring, dict):
            scorer = labeled_scorer({"a": get_scorer("accuracy").set_score_request(sample_weight="w")})
        else:
            scorer = labeled_scorer(scoring).set_score_request(sample_weight="w")
        given: dict[str, Any] = {"cv": splits, "params": {"w": weight}}
        own = cross_validate(model, X, Y, **given)["test_score"]
        found = cross_validate(model, X, Y, scoring=scorer, **given)
        open_folds = cross_validate(
            model, X, Y, scoring=scorer, **given | {"cv": KFold(2, shuffle=True, random_state=0)}
        )
    np.testing.assert_array_equal(found.get("test_score", found.get("test_a")), own)
    assert np.isfinite(open_folds.get("test_score", open_folds.get("test_a"))).all()


def test_groups_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SemiSupervisedSplit(GroupKFold(2)).get_n_splits(X, Y, groups=[1, 2, 3])
