"""A labeling session: rows to label, answers, the file that keeps them, estimates and the hint to stop."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
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
from sklearn.pipeline import make_pipeline

from fewlabel import TransductiveSVC
from fewlabel.labeling import Session, _choose, _status
from fewlabel.labeling._journal import Journal

X, _, TRUTH = many_topics()
NAMES = np.array(["sport", "trade", "war", "law", "art", "food", "sea", "air"])
TEXTS = [f"{a} {b}" for a in ("red", "old", "fast", "cold") for b in ("wine", "car", "beer", "bus")]
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
    found = _choose.class_prior(Z, [0, 1, 80, 112], ["a", "a", "b", "a"])
    assert found == pytest.approx({"a": (90 + 3) / (122 + 4), "b": (32 + 1) / (122 + 4)})
    assert isinstance(_choose.class_prior(Z, [*range(71, 90)], ["a"] * 9 + ["b"] * 10), dict)
    assert _choose.class_prior(Z, [*range(71, 91)], ["a"] * 9 + ["b"] * 11) == "auto"
    assert _choose.class_prior(Z, [0, 1], ["a", "a"]) == "auto"


def test_a_fit_gets_these_shares_unless_the_model_has_others() -> None:
    def prior(**settings: Any) -> Any:
        one = Session(X, TransductiveSVC(n_jobs=1, **settings))
        for _ in range(2):
            answer(one, 8)
        return one.fit().class_prior, [one._positions[row] for row in one._known()]

    found, rows = prior()
    assert found == _choose.class_prior(_choose.coordinates(X), rows, NAMES[TRUTH[rows]].tolist())
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
    assert sorted(seen) == list(range(23))


def test_rows_that_are_all_the_same_can_be_asked_for() -> None:
    one = Session(np.ones((30, 2)), TransductiveSVC())
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
    assert set(rows.index[[label is not None for label in one.y]]) == set(one._answers())


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
    labeled = {*one._known()}
    others = [row for row in range(60) if row not in labeled]
    one.rule_out(others[0], one.classes[0])
    assert isinstance(one.fit().class_prior, dict)
    for row in others[1:]:
        one.rule_out(row, one.classes[0])
    assert one.fit().class_prior == "auto"


def test_a_label_is_checked_before_it_is_kept() -> None:
    one = session()
    one.label(0, "sport")
    for wrong, message in (
        (None, "cannot be a class"),
        (-1, "cannot be a class"),
        (3, "several types"),
        (["a"], "must be a text"),
        ("", "must not be an empty text"),
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
    assert len(one._journal.fits()) == 2  # a fit to the same answers is not another one
    one.label(3, "food")
    one.next()
    assert one.fit() is one._fitted.model


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
    assert [_status.hint(fits[:k], MANY)[0] for k in range(6)] == [False, False, False, False, False, True]
    assert "29.0%" in _status.hint(fits[:4], MANY)[1]
    assert "9.5%" in _status.hint(fits, MANY)[1]
    ones = [{"fit": k, "changed": 0.003} for k in range(10, 60)]
    assert not _status.hint(ones[:30], MANY)[0]  # 29 labels since the first fit
    assert _status.hint(ones[:31], MANY)[0]
    ones[25]["changed"] = None  # after a restart
    assert not _status.hint(ones, MANY)[0]
    assert _status.hint([], {})[1].startswith("go on: there is no model")


def test_the_hint_does_not_stop_while_several_classes_have_one_label() -> None:
    fits = [{"fit": 10 * k, "changed": 0.01 if k > 1 else None} for k in range(1, 6)]
    assert _status.hint(fits, {"a": 99, "b": 1, "c": 0}) == (
        True,
        "stop: the last 30 labels changed 3.0% of the predictions",
    )
    assert _status.hint(fits, {"a": 99, "b": 1, "c": 1}) == (False, "go on: there is one label only of b, c")


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
    assert again._answers() == one._answers()
    assert again.next(5) == one.next(5)
    assert again.status()[:-1] == one.status()[:-1]
    first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert set(first) == {"row", "class"}


def test_a_file_that_ends_anywhere_loses_at_most_the_answer_being_written(tmp_path: Path) -> None:
    path, texts = tmp_path / "answers.jsonl", pd.Series(TEXTS, index=[f"Zeile ä{k}" for k in range(16)])
    one = Session(texts, make_pipeline(CountVectorizer(), TransductiveSVC(alpha=0.1, n_jobs=1)), path=path)
    ends = {0: []}
    for k, row in enumerate(one.next(12)):
        one.undo() if k == 5 else one.skip(row) if k == 7 else one.label(row, KINDS[texts[row]] + " ü\n")
        ends[path.stat().st_size] = one._journal.answers()
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        again = Journal(path)
        assert again.answers() == ends[max(end for end in ends if end <= length)]
        again.append({"row": "one more", "skip": True})
        assert Journal(path).events == again.events


def test_every_answer_is_on_the_disk_when_the_process_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    program = f"""if True:
        import os, numpy as np
        from fewlabel import TransductiveSVC
        from fewlabel.labeling import Session
        session = Session(np.eye(9), TransductiveSVC(), path={str(path)!r})
        for row in session.next(4):
            session.label(row, "a")
        os.kill(os.getpid(), 9)
        """
    subprocess.run([sys.executable, "-c", program], check=False, timeout=120)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4


@pytest.mark.parametrize("line", ['{"row": 5000, "class": "a"}', "{", "[1]", '{"other": 1}', '{"row": null}'])
def test_a_file_of_something_else_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"row": 0, "class": "a"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"answers\.jsonl(, line 2| has answers of other rows: there is no row)"):
        session(path=path)


@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [
        ([], {}, "rows is empty"),
        (X[:0], {}, "rows is empty"),
        ("a text", {}, "rows must be a list, a data frame or a matrix, got str"),
        (iter(TEXTS), {}, "rows must be a list, a data frame or a matrix, got list_iterator"),
        (X, {"model": None}, "model must be a classifier, .* got NoneType"),
        (X, {"model": TransductiveSVC}, r"got the class TransductiveSVC: write TransductiveSVC\(\)"),
        (X, {"classes": "ab"}, "classes must be a list of classes, got the text 'ab'"),
        (X, {"show": "text"}, "show must be a column of the data frame rows, a function or None, got 'text'"),
        (X, {"path": "nowhere/answers.jsonl"}, "there is no folder nowhere for the file"),
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
    with pytest.raises(ValueError, match="does not end as the file of a session"):
        session(path=path)
    assert path.read_text(encoding="utf-8") == "1,2,3"


# ------------------------------------------------------------------ the widget, without a browser
@pytest.fixture
def shown() -> Any:
    """A widget of texts, and what JavaScript would send for the row that it shows."""
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    texts = pd.Series(TEXTS, index=[f"id{k}" for k in range(16)])
    one = Session(texts, make_pipeline(CountVectorizer(), TransductiveSVC(alpha=0.1, n_jobs=1)), classes=["ride"])
    widget = one.widget(n=4)

    def send(action: str, value: Any = None, row: Any = None) -> None:
        widget._receive(widget, {"do": action, "value": value, "row": row or widget.state["row"]}, [])

    return one, widget, send


def test_the_widget_labels_the_row_that_it_shows_and_goes_on(shown: Any) -> None:
    one, widget, send = shown
    assert widget.state["classes"] == [["ride", 0]]
    assert widget.state["predicted"] is None
    rows = []
    for _ in range(6):
        rows.append(widget.state["row"])
        kind = KINDS[widget.state["text"]]
        names = [name for name, _ in widget.state["classes"]]
        send("label", names.index(kind)) if kind in names else send("new", kind)
    assert list(one._answers()) == rows
    assert widget.state["labels"] == 6
    assert widget.state["predicted"] in ("ride", "drink")
    assert set(widget.state["reasons"]) <= set(widget.state["text"].split())
    send("undo")
    assert (widget.state["row"], widget.state["labels"]) == (rows[-1], 5)
    send("skip")
    send("not", 0)
    assert one.status().n_skipped == 2
    json.dumps(widget.state, allow_nan=False)


def test_an_answer_for_a_row_that_is_no_longer_shown_is_ignored(shown: Any) -> None:
    one, widget, send = shown
    first = widget.state["row"]
    send("label", 0)
    send("label", 0, row=first)
    assert list(one._answers()) == [first]


def test_the_widget_shows_a_wrong_answer_as_a_message(shown: Any) -> None:
    _, widget, send = shown
    send("undo")
    assert widget.state["message"] == "there is no answer to undo"
    send("new", "-1")
    assert "cannot be a class" in widget.state["message"]
    send("label", 0)
    assert widget.state["message"] == ""


def test_the_widget_ends_when_every_row_has_an_answer(shown: Any) -> None:
    _, widget, send = shown
    for k in range(16):
        send("new", "drink") if k == 8 else send("label", 0)
    assert widget.state["row"] is None
    send("undo", row=None)
    assert widget.state["row"] is not None


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
    state = one.widget().state
    assert state["text"] in TEXTS
    assert all(name.startswith("words__") for name in state["reasons"])
