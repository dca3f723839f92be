"""A labeling session: rows to label, answers, the file that keeps them, estimates and the hint to stop."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections import Counter
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from planted import many_topics
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler

from fewlabel import ASOTransformer, KernelFeatures, TransductiveSVC
from fewlabel._inputs import _markers
from fewlabel.inspection import explain
from fewlabel.labeling import Session, _answers, _choose, _journal, _learner, _status
from fewlabel.labeling._journal import Journal

X, _, TRUTH = many_topics()
NAMES = np.array(["sport", "trade", "war", "law", "art", "food", "sea", "air"])
TEXTS = [f"{a} {b}" for a in ("red", "old", "fast", "cold") for b in ("wine", "car", "beer", "bus")]
MODEL = make_pipeline(CountVectorizer(), TransductiveSVC())
KINDS = {text: "drink" if text.endswith(("wine", "beer")) else "ride" for text in TEXTS}


def session(**settings: Any) -> Session:
    return Session(X, TransductiveSVC(n_jobs=1), **settings)


def answer(one: Session, n: int) -> list[Any]:
    """Label some rows with their true classes."""
    rows = one.next(n)
    for row in rows:
        one.label(row, NAMES[TRUTH[row]])
    return rows


# ------------------------------------------------------------------ rows to label
def test_the_first_rows_are_spread_over_the_clusters_of_the_data() -> None:
    centers = np.eye(6)[np.repeat(np.arange(6), 20)] + np.random.default_rng(0).normal(0, 0.01, (120, 6))
    chosen = Session(centers, TransductiveSVC()).next(6)
    assert sorted(row // 20 for row in chosen) == list(range(6))


def test_a_batch_goes_to_the_clusters_with_the_fewest_answers_the_largest_first() -> None:
    Z = np.repeat(np.eye(3, dtype=np.float32), (80, 32, 10), axis=0)
    answered = np.zeros(122, dtype=bool)
    assert np.argmax(Z[_choose.batch(Z, answered, 4)], axis=1).tolist() == [0, 1, 2, 0]
    answered[:2] = answered[112] = True
    assert np.argmax(Z[_choose.batch(Z, answered, 4)], axis=1).tolist() == [1, 1, 2, 0]
    answered[80:] = True
    assert np.argmax(Z[_choose.batch(Z, answered, 4)], axis=1).tolist() == [0, 0, 0, 0]


def test_class_shares_are_those_of_the_rows_that_each_label_is_nearest_to() -> None:
    Z = np.repeat(np.eye(4, dtype=np.float32), (80, 32, 10, 1), axis=0)
    Z[-1] = 0  # a row without values has no nearest label
    found = _choose.guessed(Z, [0, 1, 80, 112], ["a", "a", "b", "a"])
    assert found == pytest.approx({"a": (90 + 3) / (122 + 4), "b": (32 + 1) / (122 + 4)})


def test_answers_of_drawn_rows_correct_this_guess_as_far_as_the_difference_is_hardly_chance() -> None:
    guess = {"a": 0.5, "b": 0.3, "c": 0.2}
    assert _choose.corrected(guess, Counter()) == guess
    assert 0 < _choose.corrected(guess, Counter(c=1))["a"] < 0.5
    assert _choose.corrected(guess, Counter(a=16, b=8, c=6)) == guess
    found = _choose.corrected(guess, Counter(a=5, b=10, c=15))
    assert sum(found.values()) == pytest.approx(1)
    assert 1 / 6 < found["a"] < 0.25
    assert 0.42 < found["c"] < 0.5


def test_a_draw_has_its_share_of_every_predicted_class_and_every_row_the_same_chance() -> None:
    strata, free = ["a"] * 50 + ["b"] * 30 + ["c"] * 20 + ["a"] * 100, np.arange(200) < 100
    counts, first = np.zeros(200), np.zeros(200)
    for seed in range(2000):
        rows = _choose.drawn(strata, free, 10, seed)
        assert [np.count_nonzero(np.array(strata)[rows] == name) for name in "abc"] == [5, 3, 2]
        counts[rows] += 1
        first[rows[0]] += 1
    assert set(np.flatnonzero(counts)) == set(range(100))
    assert np.abs(counts[:100] / 2000 - 0.1).max() < 0.04  # six standard errors
    assert 0.35 < first[:50].sum() / 2000 < 0.65  # whoever stops early has a random part
    assert sorted(_choose.drawn(strata, free, 300, 0)) == list(range(100))


def test_a_session_draws_rows_at_random_between_typical_ones(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    one = session(path=path)
    for _ in range(3):
        answer(one, 10)
    assert one._read().drawn == []
    rows = one.next(12)
    assert rows == one._read().drawn[:12]
    one.skip(rows[0])
    for row in rows[1:4]:
        one.label(row, NAMES[TRUTH[row]])
    assert one.next(2) == rows[4:6]
    assert session(path=path).next(6) == rows[4:10]
    answer(one, 26)
    assert set(one.next(5)).isdisjoint(one._read().drawn)
    assert len(one._read().drawn) == 30


def test_drawn_rows_correct_the_shares_that_the_fit_would_have() -> None:
    """Labels that were not proposed by the session say that all classes are equally frequent."""
    one, drawn = session(), [int(row) for row in np.random.default_rng(0).permutation(len(TRUTH))[:40]]
    for row in np.concatenate([np.flatnonzero(c == TRUTH)[:12] for c in range(4)]):
        one.label(row, NAMES[TRUTH[row]])
    assert one.fit().class_prior == "auto"
    one._journal.append({"draw": drawn})
    for row in drawn[:-1]:
        one.label(row, NAMES[0])
    assert one.fit().class_prior == "auto"  # the first ones are no sample of all rows
    one.label(drawn[-1], NAMES[0])
    shares = one.fit().class_prior
    assert shares["sport"] > 0.8
    assert one.fit().class_prior_[list(one.fit().classes_).index("sport")] == pytest.approx(shares["sport"])
    with_own = Session(X, TransductiveSVC(n_jobs=1, class_prior="labels"))
    for _ in range(4):
        answer(with_own, 10)
    assert with_own._read().drawn == []


def test_a_fit_between_two_batches_gets_these_shares_unless_the_model_has_others() -> None:
    def prior(**settings: Any) -> Any:
        one = Session(X, TransductiveSVC(n_jobs=1, **settings))
        for _ in range(2):
            answer(one, 8)
        one.next()
        return one._fitted.model.class_prior, [one._positions[row] for row in one._read().known]

    found, rows = prior()
    assert found == _choose.guessed(_choose.coordinates(X), rows, NAMES[TRUTH[rows]].tolist())
    assert prior(class_prior="labels")[0] == "labels"
    groups = {name: "land" if name != "sea" else "water" for name in np.unique(NAMES[TRUTH])}
    assert prior(hierarchy=groups)[0] == "auto"


def test_every_row_with_values_comes_once_and_none_twice() -> None:
    rows = np.vstack([np.random.default_rng(0).normal(size=(23, 4)), np.zeros((2, 4))])
    one = Session(rows, TransductiveSVC())
    seen: list[int] = []
    while batch := one.next(5):
        for row in batch:
            one.label(row, int(rows[row, 0] > 0))
        seen += batch
    assert sorted(seen[:23]) == list(range(23))
    assert seen[23:] == [23, 24]  # empty ones come last


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_of_numpy_can_be_asked_for() -> None:
    assert sorted(Session(np.matrix(np.eye(3)), TransductiveSVC()).next(9)) == [
        0,
        1,
        2,
    ]  # its rows have rows without end


@pytest.mark.parametrize("value", [1.0, 0.0, 1e-60, 1e60])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("width", [1, 2])
def test_rows_that_are_all_the_same_can_be_asked_for(value: float, form: Any, width: int) -> None:
    one = Session(form(np.full((30, width), value)), TransductiveSVC())
    assert len(set(one.next(10))) == 10


def test_next_gives_the_same_rows_until_there_is_an_answer() -> None:
    one = session()
    assert one.next(5) == one.next(5)
    first = one.next(1)
    one.skip(first[0])
    assert first[0] not in one.next(5)


def test_labels_of_a_session_are_worth_more_than_random_ones() -> None:
    """On planted topics, mean over draws of accuracy with 24 labels."""
    chosen, random = [], []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(TRUTH))
        one = Session(X[order], TransductiveSVC(n_jobs=1))
        for _ in range(3):
            for row in one.next(8):
                one.label(row, int(TRUTH[order][row]))
        chosen.append(np.mean(one.fit().predict(X) == TRUTH))
        y = np.where(np.arange(len(TRUTH)) < 24, TRUTH[order], -1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            random.append(np.mean(TransductiveSVC(n_jobs=1).fit(X[order], y).predict(X) == TRUTH))
    assert np.mean(chosen) > np.mean(random)


# ------------------------------------------------------------------ answers
def test_rows_keep_the_index_of_a_data_frame() -> None:
    rows = pd.DataFrame({"text": TEXTS}, index=[f"id{k}" for k in range(16)])
    one = Session(rows["text"], make_pipeline(CountVectorizer(), TransductiveSVC(alpha=0.1)))
    for row in one.next(6):
        one.label(row, KINDS[rows.loc[row, "text"]])
    model = one.fit()
    assert model.predict(["old wine", "new bus"]).tolist() == ["drink", "ride"]
    assert set(rows.index[[label is not None for label in one.y]]) == set(one._read().rows)


def test_a_class_may_be_new_at_any_time_and_an_answer_replaced_or_withdrawn() -> None:
    one = session(classes=["law"])
    one.label(0, "sport")
    one.label(1, "trade")
    first = one.fit()
    one.label(np.int64(2), np.str_("war"))
    one.label(0, "art")
    assert one.classes == ["law", "trade", "war", "art"]
    assert one.fit() is not first
    assert one.fit() is one.fit()
    assert sorted(one.fit().classes_) == ["art", "trade", "war"]
    assert one.undo() == 0
    assert one.y[:4].tolist() == ["sport", "trade", "war", None]
    one.skip(3)
    one.rule_out(4, "war")
    assert one.status().n_skipped == 2
    assert [one.undo() for _ in range(5)] == [4, 3, 2, 1, 0]
    with pytest.raises(ValueError, match="no answer to undo"):
        one.undo()
    assert one.status().classes == {"law": 0}


def test_classes_keep_the_order_in_which_they_first_came() -> None:
    one = session(classes=["law"])
    for row, name in enumerate(["sport", "trade", "war"]):
        one.label(row, name)
    one.label(0, "sport")
    one.label(1, "war")
    assert one.classes == ["law", "sport", "war"]
    one.undo()
    one.skip(0)
    one.undo()
    assert one.classes == ["law", "sport", "trade", "war"]


def test_classes_that_are_ruled_out_leave_a_set_of_the_others() -> None:
    one = session()
    for row, name in enumerate(["sport", "trade", "war", "law"]):
        one.label(row, name)
    one.fit()
    one.rule_out(4, "war")
    one.rule_out(4, "law")
    with pytest.raises(ValueError, match=r"label must be one of the classes .*'sport', .*, got 'wra'"):
        one.rule_out(4, "wra")
    assert one.y[4] == {"sport", "trade"}
    assert one.fit().transduction_[4] in ("sport", "trade")
    one.rule_out(4, "sport")
    assert one.y[4] is None
    one.undo()
    assert one.y[4] == {"sport", "trade"}
    one.label(4, "war")
    assert one.y[4] == "war"
    supervised = Session(X, LogisticRegression())
    supervised.label(0, "sport")
    supervised.label(1, "trade")
    supervised.label(2, "war")
    supervised.rule_out(3, "war")
    assert sorted(supervised.fit().classes_) == ["sport", "trade", "war"]


def test_class_shares_do_not_contradict_what_is_ruled_out() -> None:
    one, names = Session(X[:60], TransductiveSVC(n_jobs=1)), NAMES[TRUTH[:60]]
    for name in np.unique(names):
        for row in np.flatnonzero(names == name)[:2]:
            one.label(int(row), str(name))
    labeled = {*one._read().known}
    others = [row for row in range(60) if row not in labeled]
    one.rule_out(others[0], one.classes[0])
    one.next()
    assert isinstance(one._fitted.model.class_prior, dict)
    for row in others[1:]:
        one.rule_out(row, one.classes[0])
    one.next()
    assert one._fitted.model.class_prior == "auto"


def test_classes_are_renamed_and_merged_with_all_their_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    one = session(classes=["law", "Sport"], path=path)
    for row, name in enumerate(["Sport", "trade", "war", "trade"]):
        one.label(row, name)
    one.rule_out(4, "Sport")
    one.fit()
    one.label(5, one._fitted.predicted[5])
    one.rename("Sport", "sport")
    assert one.classes == ["law", "sport", "trade", "war"]
    assert one._read().known | {5: None} == {0: "sport", 1: "trade", 2: "war", 3: "trade", 5: None}
    assert one.y[4] == {"trade", "war"}
    assert one.status().accuracy == 1
    one.rename("trade", "war")
    assert one.y[4] is None  # of one class that is left it is not certain
    assert [one._read().known[row] for row in range(4)] == ["sport", "war", "war", "war"]
    one.rule_out(6, "war")
    one.rename("sport", "war")
    assert 4 not in one._read().rows  # not sport says nothing of both
    assert 6 not in one._read().rows
    assert one.classes == ["law", "war"]
    again = session(classes=["law", "Sport"], path=path)
    assert (again._read().rows, again.classes) == (one._read().rows, one.classes)
    assert one.undo() is None
    assert one.undo() == 6
    assert one.undo() is None
    assert one.classes == ["law", "sport", "trade", "war"]
    one.label(7, "Sport")  # after the renaming it is a class of its own
    assert one.classes[-1] == "Sport"
    for wrong, new, message in (
        ("wra", "war", "must be one of"),
        ("war", 3, "several types"),
        ("war", -1, "marks rows"),
    ):
        with pytest.raises(ValueError, match=message):
            one.rename(wrong, new)


def test_a_renaming_changes_no_prediction() -> None:
    one = session()
    answer(one, 10)
    one.next()
    one.rename(one.classes[0], "another")
    one.label(one.next(1)[0], "another")
    one.next()
    assert one._journal.fits[-1]["changed"] < 0.5


def test_the_answers_become_a_data_frame() -> None:
    rows = pd.DataFrame({"text": TEXTS}, index=pd.Index([f"id{k}" for k in range(16)], name="id"))
    one = Session(rows["text"], make_pipeline(CountVectorizer(), TransductiveSVC(alpha=0.1)))
    one.label("id0", "drink")
    one.label("id1", "ride")
    one.rule_out("id2", "ride")
    one.skip("id3")
    frame = one.to_frame()
    assert frame["label"].tolist()[:4] == ["drink", "ride", None, None]
    assert frame["ruled_out"].tolist()[:4] == [None, None, ["ride"], None]
    assert frame["skipped"].tolist() == [False] * 3 + [True] + [False] * 12
    assert frame["predicted"].isna().all()
    one.fit()
    one.rename("ride", "drive")
    assert one.to_frame()["predicted"].tolist() == [name.replace("ride", "drive") for name in one._fitted.predicted]
    assert one.to_frame().index.identical(rows.index)
    assert Session(TEXTS, make_pipeline(CountVectorizer(), TransductiveSVC())).to_frame().index.tolist() == [*range(16)]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Earn", "earn", "grain"], [["Earn", "earn"]]),
        (["no_fly", "No fly", "nofly"], [["no_fly", "No fly", "nofly"]]),
        (["résumé", "resume", "type 1", "Type1", "type 2"], [["résumé", "resume"], ["type 1", "Type1"]]),
        (["caf\u00e9", "cafe\u0301", "eau", "eau "], [["caf\u00e9", "cafe\u0301"], ["eau", "eau "]]),
        (["fin\u200b", "fin", "x\ufe0f", "x"], [["fin\u200b", "fin"], ["x\ufe0f", "x"]]),
        (["C", "C++", "C#", "A", "A-", "1-5", "15", "-1", "1"], []),
        ([1, 2, True], []),
    ],
)
def test_classes_that_are_probably_one_are_found(names: list[Any], expected: list[list[str]]) -> None:
    assert _markers.alike(names) == expected
    if isinstance(names[0], str):
        warned = session(classes=[name for name in names if name != "-1"]).status().warnings
        assert len(warned) == len(expected)


def test_a_label_is_checked_before_it_is_kept() -> None:
    one = session()
    one.label(0, "sport")
    for wrong, message in (
        (None, "cannot be a class"),
        (-1, "cannot be a class"),
        (3, "several types"),
        (["a"], "must be a text"),
        ("", "must not be an empty text"),
        (" \u00a0\t", "must not be an empty text or blanks alone"),
        ("\u200b", "must not be an empty text or blanks alone"),
        ("\u3164", "must not be an empty text or blanks alone"),
        ("a\0", "a class must not have a NUL character"),
        (2**63, "must be whole and below 2"),
        (np.uint64(2**64 - 1), "must be whole and below 2"),
        (-(10**400), "must be whole and below 2"),
        (0.5, "must be whole and below 2"),
        (float("inf"), "must be whole and below 2"),
    ):
        with pytest.raises(ValueError, match=message):
            one.label(1, wrong)
    for row in (len(TRUTH), -1, "0", True, 1.0, None):
        with pytest.raises(ValueError, match="there is no row"):
            one.label(row, "sport")
    with pytest.raises(ValueError, match="n must be an integer"):
        one.next(0)
    with pytest.raises(ValueError, match="two classes, there are 1"):
        one.fit()
    assert one.status().classes == {"sport": 1}


def test_numbers_are_classes_too() -> None:
    one = Session(X, TransductiveSVC(unlabeled=0, n_jobs=1))
    one.label(0, np.int32(1))
    one.label(1, -1)
    assert one.fit().classes_.tolist() == [-1, 1]
    assert one.y[:3].tolist() == [1, -1, 0]
    with pytest.raises(ValueError, match="0 marks rows without a label"):
        one.label(2, 0)


@pytest.mark.parametrize("index", [[0, 0, 1], [0, 1, 2.5], [0, 1, None], [0, 1, True]])
def test_an_index_that_the_file_cannot_name_is_refused(index: list[Any]) -> None:
    rows = pd.DataFrame(np.eye(3), index=pd.Index(index, dtype=object))
    with pytest.raises(ValueError, match="the index of rows must"):
        Session(rows, TransductiveSVC())


# ------------------------------------------------------------------ the model
class Counting(TransformerMixin, BaseEstimator):
    """Passes rows on, and counts how often it is fitted or used."""

    calls = 0

    def fit(self, X: Any, y: Any = None) -> Counting:
        return self

    def transform(self, X: Any) -> Any:
        type(self).calls += 1
        return X


def test_the_steps_before_the_classifier_run_once() -> None:
    one = Session(X, make_pipeline(Counting(), TransductiveSVC(n_jobs=1)))
    for _ in range(3):
        answer(one, 5)
    assert Counting.calls == 1
    direct = TransductiveSVC(n_jobs=1, class_prior=one.fit()[-1].class_prior)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        direct.fit(X, one.y)
    np.testing.assert_array_equal(one.fit()[-1].coef_, direct.coef_)


def test_next_continues_while_no_class_is_new_and_fit_begins_anew() -> None:
    one = Session(X, TransductiveSVC(n_jobs=1))
    for row in (0, 1, 25, 45, 80, 95):
        one.label(row, NAMES[TRUTH[row]])
    first = one.fit()
    one.label(2, "sport")
    one.next()
    assert np.isnan(one._fitted.model.supervised_agreement_)  # as after every warm start
    again = one.fit()
    assert again is not first
    assert not np.isnan(again.supervised_agreement_)
    assert not again.warm_start
    assert len(one._journal.fits) == 2  # a fit to the same answers is not another one
    one.label(3, "food")
    one.next()
    before = one._fitted.model
    assert one.fit() is not before
    assert one.fit() is one._fitted.model


def test_a_round_fits_a_part_of_the_rows_and_those_with_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_learner, "PART", 50)
    one = session()
    answer(one, 20)
    one.next()
    model = one._fitted.model
    assert 50 <= len(model.transduction_) <= 70
    assert len(one._fitted.predicted) == len(TRUTH)
    assert np.isin([*one._read().known.values()], model.transduction_).all()
    assert len(one.fit().transduction_) == len(TRUTH)
    assert one.fit() is one._fitted.model


def test_a_fit_that_cannot_be_recorded_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    one = session()
    one.label(0, "sport")
    one.label(1, "trade")
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            one.fit()
    one.fit()
    assert [event["fit"] for event in one._journal.fits] == [2]


def test_a_supervised_classifier_is_fitted_to_the_labeled_rows() -> None:
    one = Session(sp.csr_array(X), LogisticRegression())
    answer(one, 20)
    labeled = [label is not None for label in one.y]
    expected = LogisticRegression().fit(X[labeled], one.y[labeled].astype(str))
    np.testing.assert_allclose(one.fit().decision_function(X), expected.decision_function(X), atol=1e-3)


def test_warnings_of_a_fit_are_in_the_status_and_nowhere_else() -> None:
    one = session()
    one.label(0, "sport")
    one.label(1, "trade")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one.fit()
    assert all(isinstance(message, str) for message in one.status().warnings)


def test_classes_with_names_of_markers_and_twins_are_left_to_the_user() -> None:
    one = session()
    for row in range(len(TRUTH)):
        one.label(row, "none" if row > 2 else "None" if row else "sport")
    model = one.fit()
    assert model.unlabeled == "auto"
    assert [text for text in one.status().warnings if "name" in text or "marker" in text] == [
        "the classes 'None', 'none' have almost the same name: `rename` merges them"
    ]
    one.rename("None", "none")
    assert not [text for text in one.status().warnings if "name" in text]


def test_the_status_prints_its_warnings_and_why_there_is_no_model() -> None:
    one = session()
    one.label(0, "sport")
    assert "a fit needs labels of two classes" in str(one.status())
    one.label(1, "Sport")
    printed = str(one.status())
    assert "there is no model yet, the next rows come with the first one" in printed
    assert "'Sport', 'sport' have almost the same name" in printed.replace("'sport', 'Sport'", "'Sport', 'sport'")


# ------------------------------------------------------------------ estimate and hint
def test_the_estimate_is_of_answers_that_had_been_predicted() -> None:
    one = session()
    answer(one, 10)
    assert np.isnan(one.status().accuracy)
    rows = one.next(10)
    predicted = one.fit().predict(X)[rows]
    for row in rows:
        one.label(row, NAMES[TRUTH[row]])
    correct = int(np.sum(predicted == NAMES[TRUTH[rows]]))
    status = one.status()
    expected = binomtest(correct, 10).proportion_ci(0.9, "wilson")
    assert (status.n_held_out, status.accuracy) == (10, correct / 10)
    assert (status.lower, status.upper) == pytest.approx((expected.low, expected.high))
    one.fit()
    one.label(rows[0], "war" if predicted[0] == NAMES[TRUTH[rows[0]]] else predicted[0])  # the fit knows this row
    assert one.status().n_held_out == 9


def test_the_change_is_the_share_of_other_predictions() -> None:
    one = session()
    answer(one, 10)
    before = one.fit().predict(X)
    assert np.isnan(one.status().changed)
    answer(one, 10)
    after = one.fit().predict(X)
    assert one.status().changed == np.mean(after != before)


MANY = {"a": 25, "b": 25}


def test_the_hint_stops_when_the_last_thirty_labels_changed_little_in_batches_of_any_size() -> None:
    fits = [{"fit": 10 * k, "changed": change} for k, change in enumerate((None, 0.2, 0.05, 0.04, 0.005), 1)]
    assert [_status.hint(fits[:k], MANY, 2)[0] for k in range(6)] == [False, False, False, False, False, True]
    assert "29.0%" in _status.hint(fits[:4], MANY, 2)[1]
    assert "9.5%" in _status.hint(fits, MANY, 2)[1]
    ones = [{"fit": k, "changed": 0.003} for k in range(10, 60)]
    assert _status.hint(ones[:30], MANY, 2) == (False, "go on: about 1 more answers until I can say whether to stop")
    assert _status.hint(ones[:31], MANY, 2)[0]
    ones[25]["changed"] = None  # after a restart
    assert _status.hint(ones, MANY, 2) == (False, "go on: about 6 more answers until I can say whether to stop")
    assert _status.hint([], {}, 0)[1].startswith("go on: there is no model")


def test_the_hint_does_not_stop_while_several_classes_have_one_label() -> None:
    fits = [{"fit": 10 * k, "changed": 0.01 if k > 1 else None} for k in range(1, 6)]
    assert _status.hint(fits, {"a": 99, "b": 1, "c": 0}, 3) == (
        True,
        "stop: the last 30 labels changed 3.0% of the predictions",
    )
    assert _status.hint(fits, {"a": 99, "b": 1, "c": 1}, 3) == (False, "go on: there is one label only of b, c")


def test_a_status_can_be_read() -> None:
    one = session(classes=["<b>"])
    assert "0 labels of" in str(one.status())
    answer(one, 10)
    answer(one, 10)
    assert "of the last 10 answers" in str(one.status())
    assert "&lt;b&gt;" in one.status()._repr_html_()


def test_a_session_says_how_far_it_is() -> None:
    one = session()
    answer(one, 8)
    assert repr(one) == f"<Session: {len(one.y)} rows, 8 with answers, classes {one.classes}>"


# ------------------------------------------------------------------ the file
def test_a_session_goes_on_after_the_last_answer(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    one = session(path=path)
    answer(one, 8)
    answer(one, 8)
    one.rule_out(one.next(1)[0], "war")
    one.undo()
    again = session(path=path)
    assert again._read().rows == one._read().rows
    assert again.next(5) == one.next(5)
    assert again.status()[:-1] == one.status()[:-1]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0]) == {"version": 1}
    assert set(json.loads(lines[1])) == {"row", "class"}


def test_a_session_keeps_its_file_where_the_folder_of_work_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    one = session(path="answers.jsonl")
    monkeypatch.chdir("other")
    one.label(3, "drink")
    assert session(path=tmp_path / "answers.jsonl").y[3] == "drink"


def test_a_file_that_ends_anywhere_loses_at_most_the_answer_being_written(tmp_path: Path) -> None:
    path, texts = tmp_path / "answers.jsonl", pd.Series(TEXTS, index=[f"Zeile ä{k}" for k in range(16)])
    one = Session(texts, make_pipeline(CountVectorizer(), TransductiveSVC(alpha=0.1, n_jobs=1)), path=path)
    ends = {0: []}
    for k, row in enumerate(one.next(12)):
        one.undo() if k == 5 else one.skip(row) if k == 7 else one.label(row, KINDS[texts[row]] + " ü\n")
        ends[path.stat().st_size] = [*one._journal.standing]
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        again = Journal(path)
        assert again.standing == ends[max(end for end in ends if end <= length + 1)]  # the newline may be missing
        again.append({"row": "one more", "skip": True})
        assert Journal(path).events == again.events


def test_a_full_disk_loses_at_most_the_answer_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Disk(FileIO):
        room = 10**9

        def write(self, content: Any) -> int:
            written = super().write(content[: self.room])
            Disk.room -= written
            if Disk.room == 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return written

    monkeypatch.setattr(_journal, "FileIO", Disk)
    path = tmp_path / "answers.jsonl"
    journal = Journal(path)
    for room in range(45):
        before = path.read_bytes() if path.exists() else b""
        Disk.room = room
        with pytest.raises(OSError, match="No space"):
            journal.append({"row": room, "class": "a" * 45})
        assert path.read_bytes() in (before, b'{"version": 1}\n')
        Disk.room = 10**9
        if room % 3 == 2:
            journal.append({"row": room, "class": "b"})
        assert Journal(path).standing == journal.standing == [
            {"row": k, "class": "b"} for k in range(2, room + 1, 3)
        ]  # fmt: skip


def test_a_file_is_for_one_session_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    one = session(path=path)
    one.label(0, "sport")
    other = session(path=path)
    other.label(1, "trade")
    with pytest.raises(ValueError, match=r"answers\.jsonl has changed, as another session writes to it: make a new"):
        one.label(2, "war")
    assert list(one._read().rows) == [0]
    other.skip(3)
    assert session(path=path)._read().rows == other._read().rows


def test_a_file_that_something_else_has_cut_or_removed_takes_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    one = session(path=path)
    one.label(0, "sport")
    for change in lambda: path.write_bytes(b""), path.unlink:
        change()
        with pytest.raises(ValueError, match="has changed"):
            one.label(1, "sport")
    assert list(one._read().rows) == [0]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_folder_a_pipe_or_a_device_is_no_file_of_a_session(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/null"):
        with pytest.raises(OSError, match=r"cannot read .*: it is a (directory|pipe|device): give the path of a file"):
            session(path=path)
    one = session(path=tmp_path / "later")
    os.mkfifo(tmp_path / "later")
    with pytest.raises(OSError, match=r"it is a (directory|pipe|device)"):
        one.label(0, "sport")


def test_names_of_rows_that_are_no_unicode_come_back(tmp_path: Path) -> None:
    path, rows = tmp_path / "answers.jsonl", pd.Series(TEXTS[:3], index=pd.Index(["\ud800", "?", "a"], dtype=object))
    for _ in range(2):
        one = Session(rows, make_pipeline(CountVectorizer(), TransductiveSVC()), path=path)
        one.label("\ud800", "x")
        one.label("?", "y")
    assert one._read().known == {"\ud800": "x", "?": "y"}


def test_a_class_that_is_no_unicode_is_refused_wherever_it_enters(tmp_path: Path) -> None:
    path, one = tmp_path / "answers.jsonl", session(classes=["?"])
    path.write_text('{"row": 0, "class": "a\\udfff"}\n', encoding="utf-8")
    widget, send = widget_of(one)
    send("new", "\ud800")
    assert "a class must be Unicode text" in widget.state["message"]
    for enter in (
        lambda: one.label(0, "\ud800"),
        lambda: one.rename("?", "\udc80"),
        lambda: session(classes=["\ud800"]),
        lambda: session(path=path),
    ):
        with pytest.raises(ValueError, match=r"a class must be Unicode text, got '.*\\ud.* half of a character"):
            enter()
    assert one.status().classes == {"?": 0}


@pytest.mark.parametrize("seed", range(5))
def test_what_is_read_event_by_event_is_what_all_events_come_to(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, one, added = np.random.default_rng(seed), Session(TEXTS, MODEL, descriptions={"a": "wine"}), []
    add = _answers.Reader._add
    monkeypatch.setattr(_answers.Reader, "_add", lambda *given: added.append(given) or add(*given))
    for _ in range(150):
        row, name = int(rng.integers(6)), str(rng.choice([*"abcd"]))
        old = str(rng.choice(one.classes))
        action = rng.choice(
            ["label", "skip", "rule_out", "rename", "describe", "undo"], p=[0.4, 0.1, 0.15, 0.05, 0.05, 0.25]
        )
        added.clear()
        with contextlib.suppress(ValueError):  # there may be nothing to undo
            given = {"label": (row, name), "skip": (row,), "rule_out": (row, old), "rename": (old, name)}
            getattr(one, action)(*given.get(action, (name, "a car") if action == "describe" else ()))
        found = one._read()
        assert len(added) <= 1 or action == "undo"
        expected = _answers.Reader(one._given, one._journal).answers()
        assert [*found.rows.items()] == [*expected.rows.items()]
        assert (*found[1:4], +found.counts) == (*expected[1:4], Counter(expected.known.values()))
    one._journal.append({"draw": [3, 1]})
    assert [*one._read().drawn] == [3, 1]


def test_every_answer_is_on_the_disk_when_the_process_is_killed(tmp_path: Path) -> None:
    """`make stress` kills more processes. Each goes on with the file of the one before."""
    path, kills = tmp_path / "answers.jsonl", int(os.environ.get("FEWLABEL_KILLS", "3"))
    n = 100 * kills
    program = f"""if True:
        import scipy.sparse as sp
        from fewlabel import TransductiveSVC
        from fewlabel.labeling import Session
        session = Session(sp.eye_array({n}, format="csr"), TransductiveSVC(), path={str(path)!r})
        for row in range(sum(session.status().classes.values()), {n}):
            session.label(row, "ab"[row % 2])
            if row % 10 == 9:
                session.undo()
                session.label(row, "ab"[row % 2])
            print(row, flush=True)
        """
    rng, told = np.random.default_rng(int(os.environ.get("FEWLABEL_SEED", "1"))), 0
    for _ in range(kills):
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
            first = process.stdout.readline()
            time.sleep(rng.uniform(0, 0.05))
            process.kill()
            lines = [first, *process.stdout.read().splitlines(keepends=True)]
        told = max([told, *(int(line) + 1 for line in lines if line.endswith("\n"))])
        y = Session(sp.eye_array(n, format="csr"), TransductiveSVC(), path=path).y.tolist()
        assert y[:told] == ["ab"[row % 2] for row in range(told)]
        assert y[told:].count(None) >= n - told - 1  # one may have been written, and not told
    print(f"{kills} sessions killed, {told} answers, none lost")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[1]",
        "null",
        "[" * 100_000,
        '{"other": 1}',
        '{"version": 1}',
        '{"version": 2}',
        '{"row": null, "skip": true}',
        '{"row": 5000, "class": "a"}',
        '{"row": "0", "class": "a"}',
        '{"row": 1.0, "class": "a"}',
        '{"row": true, "class": "a"}',
        '{"row": [1], "class": "a"}',
        '{"row": 1}',
        '{"row": 1, "class": 3}',
        '{"row": 1, "class": ""}',
        '{"row": 1, "class": "-1"}',
        '{"row": 1, "class": ["a"]}',
        '{"row": 1, "class": null}',
        '{"row": 1, "class": "a", "predicted": 3}',
        '{"row": 1, "class": "a", "note": "?"}',
        '{"row": 1, "not": 3}',
        '{"row": 1, "skip": false}',
        '{"draw": 3}',
        '{"draw": [5000]}',
        '{"draw": [0, true]}',
        '{"rename": "a"}',
        '{"rename": "a", "to": 3}',
        '{"rename": "a", "to": ""}',
        '{"undo": 1}',
        '{"undo": true}\n{"undo": true}',
        '{"fit": "20", "changed": null, "estimate": null}',
        '{"fit": -1, "changed": null, "estimate": null}',
        '{"fit": 20, "changed": "much", "estimate": null}',
        '{"fit": 20, "changed": NaN, "estimate": null}',
        '{"fit": 20, "changed": null, "estimate": [0.5, 0.4]}',
        '{"fit": 20, "changed": null, "estimate": [0.5, 0.4, "<b>"]}',
        '{"fit": 20}',
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, line: str) -> None:
    path, number = tmp_path / "answers.jsonl", 4 if line.count("undo") > 1 else 3
    cut_off = line in ("", "{") or "[[" in line  # without an end, a line that was not written to its end
    for end in ["\n"] if cut_off else ["\n", ""]:
        content = '{"version": 1}\n{"row": 0, "class": "a"}\n' + line + end
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match=rf"answers\.jsonl, line {number}: "):
            Session(X[:20], TransductiveSVC(unlabeled="-1"), path=path)
        assert path.read_text(encoding="utf-8") == content


def test_a_file_without_a_version_is_of_the_first_one(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"row": 0, "class": "a"}\n', encoding="utf-8")
    assert session(path=path).classes == ["a"]
    path.write_text('{"version": 2}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 1: 2 cannot be .* this fewlabel reads version 1"):
        session(path=path)


@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [
        ([], {}, "rows is empty"),
        (X[:0], {}, "rows is empty"),
        (np.array(1.0), {}, "rows must be a list, a data frame or a matrix, got ndarray"),
        (np.ones(3), {}, "rows: Expected 2D array"),
        (np.full((3, 2), np.nan), {}, "rows: Input contains NaN"),
        ("a text", {}, "rows must be a list, a data frame or a matrix, got str"),
        (iter(TEXTS), {}, "rows must be a list, a data frame or a matrix, got list_iterator"),
        (X, {"model": None}, "model must be a classifier, .* got NoneType"),
        (X, {"model": TransductiveSVC}, r"got the class TransductiveSVC: write TransductiveSVC\(\)"),
        (X, {"classes": "ab"}, "classes must be a list of classes, got 'ab'"),
        (X, {"classes": 5}, "classes must be a list of classes, got 5"),
        (X, {"classes": [1, True]}, "classes must be .* or all bools, got several types: 1 and True"),
        (X, {"path": 3}, "path must be that of a file, got 3"),
        (X, {"show": "text"}, "show must be a column of the data frame rows, a function or None, got 'text'"),
        (X, {"path": "nowhere/answers.jsonl"}, "there is no folder .*nowhere for the file"),
    ],
)
def test_wrong_arguments_are_named(rows: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError, OSError), match=message):
        Session(rows, **{"model": TransductiveSVC(), **settings})


def test_texts_need_a_vectorizer() -> None:
    with pytest.raises(ValueError, match="rows hold texts, so model must be a pipeline"):
        Session(TEXTS, TransductiveSVC())


def test_the_last_line_of_another_file_is_not_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("1,2,3", encoding="utf-8")
    with pytest.raises(ValueError, match=r"table\.csv, line 1: b'1,2,3' is not JSON"):
        session(path=path)
    assert path.read_text(encoding="utf-8") == "1,2,3"


def test_a_line_that_has_a_field_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"version": 1}\n{"row": 1, "row": 2, "class": "a"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 2: .* a name stands twice"):
        session(path=path)


# ------------------------------------------------------------------ the widget, without a browser
def widget_of(one: Session, n: int = 4) -> tuple[Any, Any]:
    """A widget, and what JavaScript would send for the row that it shows."""
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    widget = one.widget(n)

    def send(action: str, value: Any = None, row: Any = None) -> None:
        widget._receive(widget, {"do": action, "value": value, "row": row or widget.state["row"]}, [])

    return widget, send


@pytest.fixture
def shown() -> Any:
    texts = pd.Series(TEXTS, index=[f"id{k}" for k in range(16)])
    one = Session(texts, make_pipeline(CountVectorizer(), TransductiveSVC(alpha=0.1, n_jobs=1)), classes=["ride"])
    return one, *widget_of(one)


def test_the_widget_labels_the_row_that_it_shows_and_goes_on(shown: Any) -> None:
    one, widget, send = shown
    assert widget.state["classes"] == [["ride", 0]]
    assert widget.state["predicted"] is None
    rows = []
    for _ in range(6):
        rows.append(widget.state["row"])
        kind = KINDS[widget.state["text"]]
        send("label" if [kind, 0] in widget.state["classes"] else "new", kind)
    assert list(one._read().rows) == rows
    assert widget.state["labels"] == 6
    assert widget.state["predicted"] in ("ride", "drink")
    assert set(widget.state["reasons"]) <= set(widget.state["text"].split())
    send("undo")
    assert (widget.state["row"], widget.state["labels"]) == (rows[-1], 5)
    send("skip")
    send("not", "ride")
    assert one.status().n_skipped == 2
    json.dumps(widget.state, allow_nan=False)


def test_the_widget_lists_answers_that_can_be_changed(shown: Any) -> None:
    one, widget, send = shown
    seen = []
    for kind in ("drink", "ride", "drink", "skip", "ride", "ride"):
        seen.append([widget.state["row"], "skipped" if kind == "skip" else kind, widget.state["text"]])
        send(*(("skip",) if kind == "skip" else ("new", kind)))
    assert widget.state["answers"] == seen[::-1]
    after = widget.state["row"]
    send("show", seen[1][0])
    assert (widget.state["row"], widget.state["answer"]) == (seen[1][0], "ride")
    send("label", "drink")
    assert (widget.state["row"], widget.state["answer"]) == (after, None)
    assert one._read().known[seen[1][0]] == "drink"
    send("show", "no row")
    assert widget.state["row"] == after
    again, _ = widget_of(one)
    assert again.state["answers"] == widget.state["answers"]


def test_the_widget_renames_merges_and_takes_it_back(shown: Any) -> None:
    one, widget, send = shown
    for kind in ("drink", "ride", "Drinks"):
        send("new", kind)
    row = widget.state["row"]
    send("rename", ["Drinks", "drink"])
    assert (widget.state["classes"], widget.state["row"]) == ([["ride", 1], ["drink", 2]], row)
    send("undo")
    assert (one.classes, widget.state["row"]) == (["ride", "drink", "Drinks"], row)
    send("rename", ["Drinks", "-1"])
    assert "marks rows without a label" in widget.state["message"]
    send("rename", ["no class", "drink"])
    assert "there is no class 'no class'" in widget.state["message"]


def test_the_widget_asks_before_a_class_comes_beside_one_of_almost_the_same_name(shown: Any) -> None:
    one, widget, send = shown
    row = widget.state["row"]
    send("new", "Ride")
    assert (widget.state["ask"], widget.state["row"], one._read().known) == (["Ride", "ride"], row, {})
    send("label", "ride")
    assert widget.state["ask"] is None
    send("new", "RIDE")
    send("add", "RIDE")
    send("new", "RIDE")  # now it is a class
    assert one.classes == ["ride", "RIDE"]
    assert one.status().classes == {"ride": 1, "RIDE": 2}


def test_an_answer_for_a_row_that_is_no_longer_shown_is_ignored(shown: Any) -> None:
    one, widget, send = shown
    first = dict(widget.state)
    send("label", "ride")
    send("label", "ride", row=first["row"])
    assert list(one._read().rows) == [first["row"]]
    send("undo")
    widget._receive(widget, {"do": "label", "value": "ride", "row": first["row"], "step": first["step"]}, [])
    assert list(one._read().rows) == []


def test_the_widget_shows_a_wrong_answer_as_a_message(shown: Any) -> None:
    one, widget, send = shown
    for action, value, message in (
        ("undo", None, "there is no answer to undo"),
        ("undo", None, "there is no answer to undo"),
        ("new", "-1", "cannot be a class"),
        ("label", "car", "there is no class 'car'"),
        ("label", 0, "there is no class 0"),
        ("label", None, "there is no class None"),
        ("not", "car", "there is no class 'car'"),
        ("lable", "ride", "there is no action 'lable'"),
    ):
        step = widget.state["step"]
        send(action, value)
        assert message in widget.state["message"]
        assert (widget.state["step"], widget.state["busy"]) == (step + 1, False)  # the front end waits for a change
    for message in ({}, None, {"row": widget.state["row"]}):
        widget._receive(widget, message, [])
    assert one._read().rows == {}
    send("label", "ride")
    assert widget.state["message"] == ""


def test_the_widget_ends_when_every_row_has_an_answer(shown: Any) -> None:
    _, widget, send = shown
    for k in range(16):
        send("new", "drink") if k == 8 else send("label", "ride")
    assert widget.state["row"] is None
    send("label", "ride")
    assert "there is no row" in widget.state["message"]
    send("undo")
    assert widget.state["row"] is not None


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize("reason", [ValueError, OSError, IndexError, MemoryError, KeyboardInterrupt, Mute])
@pytest.mark.parametrize(
    "step",
    ["fewlabel.labeling._widget._content", "fewlabel.labeling._widget.explain", "fewlabel.labeling._choose.batch"]
    + [f"fewlabel.labeling._session.{step}" for step in ("Session._fit", "Session.status", "Journal.append")],
)
def test_whatever_fails_an_answer_is_for_the_row_and_class_on_the_screen(
    shown: Any, monkeypatch: pytest.MonkeyPatch, step: str, reason: type[BaseException]
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise reason("no")

    one, widget, send = shown
    send("new", "drink")
    for k in range(24):
        before, seen, answers = widget.state["step"], dict(widget.state), one._read().rows
        with contextlib.suppress(KeyboardInterrupt), monkeypatch.context() as patch:
            if k % 3:
                patch.setattr(step, fails)
            send(*[("label", "ride"), ("label", "drink"), ("undo",), ("skip",), ("not", "ride")][k % 5])
        assert (widget.state["step"], widget.state["busy"]) == (before + 1, False)
        assert [widget.state["row"]] == [*widget._queue, None][:1]
        given = {row: event for row, event in one._read().rows.items() if answers.get(row) != event}
        assert k % 5 == 2 or set(given) <= {seen["row"]}
        assert {event.get("class", event.get("not", ["ride"])[-1]) for event in given.values()} <= {"ride", "drink"}
        assert not seen["hidden"] or k % 5 in (2, 3) or not given
    send("label", "ride")
    assert widget.state["message"] in ("", "a row that cannot be shown can only be skipped")
    assert (widget.state["hidden"], len(one._read().rows) > 2) == (widget.state["text"].startswith("this row"), True)


@pytest.mark.parametrize("reason", [ValueError, OSError, MemoryError, KeyboardInterrupt])
def test_the_widget_goes_on_without_a_fit_that_fails(
    monkeypatch: pytest.MonkeyPatch, reason: type[BaseException]
) -> None:
    def fails(*_: Any) -> None:
        raise reason("no")

    one = session(classes=["x", "y"])
    with monkeypatch.context() as patch:
        patch.setattr(Session, "_fit", fails)
        widget, send = widget_of(one, 1)
        for name in ("x", "y", "x"):
            assert widget.state["row"] not in map(str, one._read().rows)
            send("label", name)
        assert widget.state["message"].startswith("the answers are kept, but there is no new fit: ")
        assert one.widget(1).state["message"] == widget.state["message"]  # of a cell that runs again
    send("label", "x")
    assert (widget.state["message"], len(one._read().known)) == ("", 4)
    assert one._fitted is not None


def test_a_row_that_cannot_be_shown_is_said_to_be_so_and_can_only_be_skipped() -> None:
    rows = X[:20].toarray()
    bad = Session(rows, TransductiveSVC()).next(6)[2]

    def show(row: Any) -> str:
        if (row == rows[bad]).all():
            raise ValueError("cannot decode this row")
        return str(row)

    one = Session(rows, TransductiveSVC(), classes=["x", "y"], show=show)
    widget, send = widget_of(one, 6)
    send("label", "x")
    send("label", "y")
    assert (widget.state["row"], widget.state["hidden"]) == (str(bad), True)
    assert widget.state["text"] == "this row cannot be shown: cannot decode this row"
    for action in ("label", "new", "not"):
        send(action, "x")
        assert widget.state["message"] == "a row that cannot be shown can only be skipped"
    send("skip")
    assert not widget.state["hidden"]
    assert one._read().rows[bad] == {"row": bad, "skip": True}


def test_two_widgets_of_a_session_answer_what_each_shows(shown: Any) -> None:
    one, widget, send = shown
    other, send_other = widget_of(one)
    assert other.state["row"] == widget.state["row"]
    row = widget.state["row"]
    send_other("new", "drink")
    send("label", "ride")
    assert one._read().known == {row: "ride"}
    seen = [widget.state["row"], other.state["row"]]
    send_other("undo")
    send("label", "drink")
    assert one._read().known == {row: "drink", seen[0]: "drink"}
    assert other.state["row"] == row
    for _ in range(4):
        send_other("skip")
    seen = widget._queue[0], *one._read().rows
    send("label", "drink")
    assert widget.state["row"] not in seen  # rows that the other one has answered do not come again


def test_typed_classes_are_read_as_the_others_are(shown: Any) -> None:
    for classes, typed, expected in (
        ([True], "False", False),
        ([True, False], "false", "a class must be True or False, as the others are, got 'false'"),
        ([0, 1], "7", 7),
        ([0, 1], "many", "a class must be a number"),
        ([0, 1], str(2**64), "below 2**63"),
        ([0.0], "3", 3.0),
        ([], "False", "False"),
    ):
        one = session(classes=classes)
        widget, send = widget_of(one)
        send("new", typed)
        if isinstance(expected, str) and classes:
            assert expected in widget.state["message"]
        else:
            assert [*one._read().known.values()] == [expected]
            assert type(one.classes[-1]) is type(expected)


def test_names_of_rows_are_sent_as_texts() -> None:
    rows = pd.DataFrame(X[:20].toarray(), index=range(2**53 + 1, 2**53 + 21))
    one = Session(rows, TransductiveSVC(), classes=["x"])
    widget, send = widget_of(one)
    row = widget.state["row"]
    send("label", "x")
    assert [str(name) for name in one._read().known] == [row]


def test_a_session_goes_on_while_a_leaf_of_its_class_tree_has_no_label() -> None:
    tree = {name: "land" if name != "sea" else "water" for name in NAMES}
    one = Session(X, TransductiveSVC(n_jobs=1, hierarchy=tree), classes=NAMES)
    widget, send = widget_of(one, 2)
    for _ in range(4):
        send("label", NAMES[TRUTH[int(widget.state["row"])]])
        assert widget.state["message"] == ""
    assert one._fitted is not None
    assert any("hierarchy has" in message for message in one.status().warnings)
    assert sorted(one.status().classes.values())[0] == 0
    assert len(one.next(3)) == 3


@pytest.mark.parametrize(
    "steps",
    [
        (ASOTransformer(n_components=2), TransductiveSVC()),
        (FunctionTransformer(lambda X: X.toarray()), KernelFeatures(n_components=4), TransductiveSVC()),
        (FunctionTransformer(lambda X: X[:, :3], feature_names_out="one-to-one"), TransductiveSVC()),
        (KNeighborsClassifier(),),
    ],
)
def test_the_widget_needs_no_model_that_can_be_explained(steps: tuple[Any, ...]) -> None:
    one = Session(TEXTS, make_pipeline(CountVectorizer(), *steps))
    for row in one.next(8):
        one.label(row, KINDS[TEXTS[row]])
    widget, send = widget_of(one)
    assert widget.state["predicted"] in ("drink", "ride")
    assert widget.state["message"] == ""
    send("label", "ride")
    assert len(one._read().known) == 9


def test_very_long_texts_are_cut() -> None:
    texts = ["".join(["wine "] * 1_000_000), "\ud800 beer", *TEXTS]
    widget, send = widget_of(Session(texts, make_pipeline(CountVectorizer(), TransductiveSVC()), classes=["x"]), 18)
    while widget.state["row"] is not None:
        assert len(widget.state["text"].encode()) < 51_000
        assert (" … cut after 50,000 of 5,000,000 characters" in widget.state["text"]) == (widget.state["row"] == "0")
        send("label", "x")


def test_the_widget_shows_pixels_columns_and_functions() -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    pytest.importorskip("PIL", reason="Pillow is not installed")
    images = np.random.default_rng(0).random((12, 16))
    one = Session(images, TransductiveSVC(), show=lambda row: row.reshape(4, 4))
    assert one.widget().state["image"].startswith("iVBOR")  # PNG in base64
    table = pd.DataFrame({"text": TEXTS, "number": range(16)})
    pipeline = make_pipeline(ColumnTransformer([("words", CountVectorizer(), "text")]), TransductiveSVC(alpha=0.1))
    one = Session(table, pipeline, show="text")
    for row in one.next(8):
        one.label(row, KINDS[TEXTS[row]])
    assert one.widget().state["text"] in TEXTS


def lengths(texts: Any) -> Any:
    """What has no names of features, as an encoder of texts."""
    return np.array([[len(text)] for text in texts]) / 100


@pytest.mark.parametrize(
    ("steps", "of_table"),
    [
        ((FeatureUnion([("words", CountVectorizer()), ("chars", CountVectorizer(analyzer="char"))]),), False),
        ((FeatureUnion([("words", CountVectorizer()), ("lengths", FunctionTransformer(lengths))]),), False),
        ((FeatureUnion([("a", FeatureUnion([("b", CountVectorizer())])), ("b", CountVectorizer())]),), False),
        ((ColumnTransformer([("words", CountVectorizer(), "text")], remainder="passthrough"),), True),
        ((ColumnTransformer([(name, CountVectorizer(), "text") for name in "ab"]), MaxAbsScaler()), True),
    ],
)
def test_words_are_listed_without_the_steps_that_count_them(steps: tuple[Any, ...], of_table: bool) -> None:
    rows = pd.DataFrame({"text": TEXTS, "number": 0.0}) if of_table else TEXTS
    one = Session(rows, make_pipeline(*steps, TransductiveSVC(alpha=0.1)), show="text" if of_table else None)
    for row in range(4, 16):
        one.label(row, KINDS[TEXTS[row]])
    one.fit()
    one.undo()
    state = one.widget().state
    assert {*state["text"].split()} & {*state["reasons"]}
    assert not any("__" in name for name in state["reasons"])
    found = explain(one.fit(), rows.iloc[[3]] if of_table else TEXTS[3])
    alike = len(steps) == 2  # words of two columns keep the name of theirs
    assert {name.partition("__")[0] for name in found.features} >= ({"a", "b"} if alike else {*TEXTS[3].split()})


def frame_of(kind: str, columns: dict[str, list[Any]]) -> Any:
    module, made = kind.split(".")
    return getattr(pytest.importorskip(module), made)(columns)


FRAMES = ["pandas.DataFrame", "polars.DataFrame", "pyarrow.table", "pyarrow.record_batch"]


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_of_any_data_frame_go_through_a_column_transformer(kind: str) -> None:
    rows = frame_of(kind, {"text": TEXTS, "number": [*map(float, range(16))]})
    for column in "text", 0:
        steps = ColumnTransformer([("words", CountVectorizer(), column)], remainder="passthrough")
        one = Session(rows, make_pipeline(steps, TransductiveSVC(alpha=0.1)), show="text")
        for row in range(4, 16):
            one.label(row, KINDS[TEXTS[row]])
        one.fit()
        one.undo()
        state = one.widget().state
        assert state["text"] in TEXTS
        assert {*state["text"].split()} & {*state["reasons"]}
        assert len(one.to_frame()) == 16


@pytest.mark.parametrize("kind", FRAMES)
def test_a_row_of_any_data_frame_is_shown_whole(kind: str) -> None:
    long, numbers = [text + " and so on" * 30 for text in TEXTS], [*range(16)]
    rows = frame_of(kind, {"text": long, "number": numbers})
    words = FunctionTransformer(lambda frame: CountVectorizer().fit_transform([*map(str, frame["text"])]))
    for show, expected in (
        ("text", "{0}"),
        (lambda row: row["text"], "{0}"),
        ("number", "{1}"),
        (None, "text: {0}\nnumber: {1}"),
    ):
        one = Session(rows, make_pipeline(words, TransductiveSVC()), show=show)
        widget, send = widget_of(one)
        k = int(widget.state["row"])
        assert widget.state["text"] == expected.format(long[k], numbers[k])
        assert widget.state["descriptions"] is None
        send("new", "x")
        assert widget.state["answers"][0][2] == expected.format(long[k], numbers[k])[:60]
    with pytest.raises(TypeError, match="descriptions need rows that are texts or vectors, got a data frame"):
        Session(rows, make_pipeline(words, TransductiveSVC()), descriptions={"a": "red"})


@pytest.mark.parametrize("kind", FRAMES[:3])  # of a batch scikit-learn reads no names
def test_a_row_of_any_data_frame_is_explained(kind: str) -> None:
    rows = frame_of(kind, {"a": [0.0, 0.1, 1.0, 0.9], "b": [1.0, 0.9, 0.0, 0.2]})
    one = Session(rows, TransductiveSVC(), show="a")
    for row in range(4):
        one.label(row, "x" if row > 1 else "y")
    one.fit()
    one.undo()
    widget, _ = widget_of(one)
    assert {*widget.state["reasons"]} <= {"a", "b"}
    assert widget.state["reasons"]


def test_nearest_labels_of_many_answers_take_little_memory() -> None:
    Z = np.random.default_rng(0).normal(size=(30_000, 2)).astype(np.float32)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    tracemalloc.start()
    found = _choose.guessed(Z, [*range(15_000)], [*(Z[:15_000, 0] > 0)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[True] == pytest.approx(0.5, abs=0.02)
    assert peak < 3e8  # the matrix of all cosines has 1.2 GB


def test_many_renames_and_their_withdrawal_take_no_time(tmp_path: Path) -> None:
    path, n = tmp_path / "answers.jsonl", 2_000
    answers = [json.dumps({"row": k, "class": "a0" if k % 2 else "z"}) for k in range(n)]
    renames = [json.dumps({"rename": f"a{k}", "to": f"a{k + 1}"}) for k in range(2_000)]
    path.write_text("\n".join(['{"version": 1}', *answers, *renames, ""]), encoding="utf-8")
    begin = time.process_time()
    one = Session(np.arange(2.0 * n).reshape(n, 2), TransductiveSVC(), path=path)
    assert one.status().classes == {"a2000": n // 2, "z": n // 2}
    one.undo()
    assert one.status().classes == {"a1999": n // 2, "z": n // 2}
    assert time.process_time() - begin < 5  # to change all answers at each rename takes a minute
