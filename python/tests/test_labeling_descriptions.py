"""A labeling session that starts with descriptions of its classes: predictions, drawn rows, the file, the widget."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import binomtest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from test_labeling import widget_of

from fewlabel import TransductiveSVC
from fewlabel.labeling import Session, _session
from fewlabel.labels import with_descriptions

RNG = np.random.default_rng(0)
WORDS = {
    "sport": ["goal", "match", "team", "coach", "league", "player"],
    "money": ["bank", "stock", "market", "share", "price", "loan"],
    "food": ["bread", "soup", "cook", "salt", "dish", "taste"],
}
TRUTH = RNG.choice(list(WORDS), 150, p=[0.5, 0.3, 0.2])
TEXTS = [" ".join(RNG.choice([*WORDS[name], "the", "of", "today", "new"], 8)) for name in TRUTH]
NAMES = {"sport": "team goal", "money": "bank price", "food": "soup dish"}
VECTORIZER = TfidfVectorizer()
X = VECTORIZER.fit_transform(TEXTS)
VECTORS = {name: VECTORIZER.transform([text]) for name, text in NAMES.items()}


def pipeline() -> Any:
    return make_pipeline(TfidfVectorizer(), TransductiveSVC(n_jobs=1))


def session(descriptions: Any = NAMES, **settings: Any) -> Session:
    return Session(TEXTS, pipeline(), descriptions=descriptions, **settings)


def answer(one: Session, n: int) -> list[Any]:
    rows = one.next(n)
    for row in rows:
        one.label(row, str(TRUTH[row]))
    return rows


def by_hand(y: Any, descriptions: dict[str, str], **settings: Any) -> Any:
    rows, labels = with_descriptions(X, y, {name: VECTORIZER.transform([text]) for name, text in descriptions.items()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TransductiveSVC(n_jobs=1, **settings).fit(rows, labels)


# ------------------------------------------------------------------ fits
def test_it_predicts_before_the_first_answer_as_a_fit_by_hand() -> None:
    one = session()
    assert one.classes == ["sport", "money", "food"]
    assert one.to_frame()["predicted"].isna().all()
    one.next()
    expected = by_hand(None, NAMES)
    assert one.to_frame()["predicted"].tolist() == expected.predict(X).tolist()
    np.testing.assert_array_equal(one.fit()[-1].coef_, expected.coef_)
    assert np.mean(one.fit().predict(TEXTS) == TRUTH) > 0.9
    assert len(one.y) == len(one.to_frame()) == len(TEXTS)


def test_every_fit_has_the_descriptions_of_its_time() -> None:
    one = session()
    answer(one, 10)
    answer(one, 10)
    one.rule_out(one.next(1)[0], "food")
    one.describe("food", "cook bread")
    model, edited = one.fit()[-1], NAMES | {"food": "cook bread"}
    expected = by_hand(one.y, edited, class_prior=model.class_prior)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert one.fit().predict(TEXTS).tolist() == expected.predict(X).tolist()
    assert len(model.transduction_) == len(TEXTS) + 3
    one.undo()
    again = one.fit()[-1]
    np.testing.assert_array_equal(again.coef_, by_hand(one.y, NAMES, class_prior=again.class_prior).coef_)
    assert np.abs(model.coef_ - again.coef_).max() > 1e-3


def test_what_is_ruled_out_leaves_classes_that_have_descriptions_alone() -> None:
    one = session()
    one.rule_out(0, "food")
    assert one.y[0] == {"sport", "money"}
    assert one.fit()[-1].transduction_[0] in ("sport", "money")


def test_a_data_frame_with_texts_has_no_descriptions() -> None:
    frame = pd.DataFrame({"text": TEXTS})
    one = Session(frame, make_pipeline(ColumnTransformer([("words", TfidfVectorizer(), "text")]), TransductiveSVC()))
    with pytest.raises(ValueError, match="cannot be edited"):
        one.describe("sport", "goal")


def test_a_session_without_descriptions_has_none() -> None:
    one = session(None)
    assert (one._read().descriptions, one.classes, one._read().drawn) == ({}, [], [])
    assert one.status().descriptions is None
    answer(one, 12)
    one.next()
    assert one.status().descriptions is None
    with pytest.raises(ValueError, match="descriptions of two classes, there are 1"):
        session({"sport": "goal"}).fit()
    assert session({"sport": "goal"})._choose(3)


@pytest.mark.parametrize("form", [sp.csr_array, lambda rows: rows.toarray(), lambda rows: rows.toarray().tolist()])
def test_vectors_take_vectors_of_the_same_encoder(form: Any) -> None:
    given = {name: form(row) if form is sp.csr_array else form(row)[0] for name, row in VECTORS.items()}
    one = Session(form(X), TransductiveSVC(n_jobs=1), descriptions=given)
    one.next()
    assert np.mean(one.to_frame()["predicted"] == TRUTH) > 0.9
    np.testing.assert_allclose(one.fit().coef_, by_hand(None, NAMES).coef_, atol=1e-6)
    one.rename("food", "meal")
    assert sorted(one.fit().classes_) == ["meal", "money", "sport"]
    for name, other in (("meal", "x"), ("sport", "meal"), ("x", "sport")):  # two names change places
        one.rename(name, other)
    moved = pd.Series(TRUTH).map({"food": "sport", "sport": "meal", "money": "money"})
    assert np.mean(one.fit().predict(X) == moved) > 0.9
    with pytest.raises(ValueError, match="no texts cannot be edited"):
        one.describe("sport", "goal")


def test_a_supervised_classifier_learns_from_descriptions_as_from_labels() -> None:
    one = Session(TEXTS, make_pipeline(TfidfVectorizer(), LogisticRegression()), descriptions=NAMES)
    rows = answer(one, 10)
    expected = LogisticRegression().fit(sp.vstack([X[rows], *VECTORS.values()]), [*TRUTH[rows], *NAMES])
    np.testing.assert_allclose(one.fit()[-1].coef_, expected.coef_, atol=1e-3)


def test_numbers_of_classes_and_a_series_of_texts() -> None:
    texts = pd.Series(TEXTS, index=[f"id{k}" for k in range(150)])
    one = Session(texts, pipeline(), descriptions={np.int64(7): "team goal", 3: "bank price", 5: "soup dish"})
    assert one.classes == [7, 3, 5]
    assert all(row in texts.index for row in one.next(4))
    assert set(one.fit().predict(TEXTS)) == {3, 5, 7}
    assert type(one.classes[0]) is int


def test_class_trees_take_descriptions() -> None:
    tree = {"sport": "other", "money": "other", "food": "home"}
    model = make_pipeline(TfidfVectorizer(), TransductiveSVC(n_jobs=1, hierarchy=tree))
    one = Session(TEXTS, model, descriptions=NAMES)
    assert one.next(7) == one._read().drawn[:7]
    answer(one, 10)
    assert np.mean(one.fit().predict(TEXTS) == TRUTH) > 0.75


# ------------------------------------------------------------------ rows to label
def test_the_first_thirty_rows_are_drawn_at_random_and_later_ones_are_not() -> None:
    one = session()
    rows = one.next(30)
    assert rows == one._read().drawn == one.next(12) + one.next(30)[12:]
    strata, seen = np.array(one._predicted(one._fitted)), Counter()
    for row in rows:
        seen[strata[row]] += 1
    for name in WORDS:  # of every predicted class its share
        assert abs(seen[name] - 30 * np.mean(strata == name)) < 1
    answer(one, 10)
    answer(one, 20)
    later = one.next(5)
    assert one._read().drawn == rows
    assert later == _session._choose.batch(one._learner.coordinates, one._mask(rows), 5)
    assert set(later) < set(range(150))  # no description is asked about


def test_every_row_has_the_same_chance_to_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, seeds, drawn = np.zeros(150), iter(range(300)), _session._choose.drawn
    one = session()
    fitted = one._refit(whole=False)
    monkeypatch.setattr(_session._choose, "drawn", lambda strata, free, n, seed: drawn(strata, free, n, next(seeds)))
    for _ in range(300):
        one._draw(fitted)
        counts[one._journal.events.pop()["draw"]] += 1
    assert counts.sum() == 9000
    assert np.all(np.abs(counts / 300 - 30 / 150) < 0.14)  # six standard errors


def test_a_large_batch_has_thirty_rows_at_random_and_typical_ones_after_them() -> None:
    one = session()
    rows = one.next(40)
    assert (len(one._read().drawn), rows[:30]) == (30, one._read().drawn)
    assert len(set(rows)) == 40


def test_answers_of_the_drawn_rows_correct_the_class_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Counter[str]] = []

    def corrected(guess: dict[str, float], drawn: Counter[str]) -> dict[str, float]:
        found.append(drawn)
        return guess if not drawn else {"sport": 0.2, "money": 0.2, "food": 0.6}

    monkeypatch.setattr(_session._choose, "corrected", corrected)
    one = session()
    rows = one.next(30)
    for row in rows[:-1]:
        one.label(row, "sport")
    assert one.fit()[-1].class_prior == "auto"  # the first answers of a draw are no sample
    one.label(rows[-1], "money")
    assert one.fit()[-1].class_prior["food"] == 0.6
    assert found == [Counter(), Counter(), Counter(sport=29, money=1)]


# ------------------------------------------------------------------ status
def test_the_status_counts_answers_alone() -> None:
    one = session()
    one.next()
    status = one.status()
    assert status.classes == {"sport": 0, "money": 0, "food": 0}
    assert (status.n_rows, status.n_skipped, status.n_held_out, status.descriptions) == (150, 0, 0, None)
    assert str(status).startswith("0 labels of 150 rows")
    assert repr(one).startswith("<Session: 150 rows, 0 with answers")
    answer(one, 10)
    assert sum(one.status().classes.values()) == one.status().n_held_out == 10


def test_the_status_of_a_new_session_knows_that_descriptions_are_enough_for_a_fit() -> None:
    assert "there is no model yet, the next rows come with the first one" in session().status().reason
    one = session({"sport": "goal"})
    assert "a fit needs labels of two classes" in one.status().reason
    one.label(0, "money")
    assert "the next rows come with the first one" in one.status().reason


def test_the_status_has_the_accuracy_of_descriptions_alone_at_rows_drawn_at_random() -> None:
    one = session()
    rows = one.next(30)
    alone = by_hand(None, NAMES).predict(X)
    one.label(next(row for row in range(150) if row not in rows), "sport")  # was not drawn
    one.skip(rows[0])
    one.rule_out(rows[1], "food")
    given = {row: str(TRUTH[row]) for row in rows[2:12]} | {rows[2]: "food" if alone[rows[2]] != "food" else "sport"}
    for row, name in given.items():
        one.label(row, name)
    right = sum(alone[row] == name for row, name in given.items())
    interval = binomtest(right, 10).proportion_ci(0.9, "wilson")
    expected = pytest.approx((10, right / 10, interval.low, interval.high))
    assert right < 10
    for change in one.status, one.next, one.fit, lambda: one.rename("food", "meal"), one.fit:
        change()  # other fits are another model's
        assert one.status().descriptions == expected
    assert f"by descriptions alone: {right / 10:.0%} ({interval.low:.0%} to" in str(one.status())


def test_an_edit_changes_what_descriptions_alone_predict() -> None:
    one = session({"sport": "team goal", "money": "soup dish", "food": "bank price"})  # two in each other's place
    answer(one, 30)
    assert one.status().descriptions[1] < 0.7
    one.describe("money", NAMES["money"])
    one.describe("food", NAMES["food"])
    assert one.status().descriptions[1] > 0.9
    one.undo()
    one.undo()
    assert one.status().descriptions[1] < 0.7


def test_a_fit_without_answers_is_the_first_of_the_course() -> None:
    one = session()
    one.next()
    assert one._journal.fits == [{"fit": 0, "changed": None, "estimate": None}]
    one.fit()
    assert len(one._journal.fits) == 1
    answer(one, 10)
    one.next()
    assert one._journal.fits[1]["changed"] < 0.3
    assert one.status().reason.startswith("go on: about 20 more answers")


# ------------------------------------------------------------------ edits and the file
def test_a_session_has_its_descriptions_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    one = session(path=path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines == [{"version": 1}, *({"given": name, "text": text} for name, text in NAMES.items())]
    answer(one, 10)
    one.describe("food", "cook")
    one.describe("law", "today new")
    one.describe("money", "loan")
    one.undo()
    one.rename("sport", "sports")
    descriptions = {"sports": "team goal", "money": "bank price", "food": "cook", "law": "today new"}
    before = path.read_bytes()
    for again in (one, session(None, path=path), session(path=path)):
        assert again._read().descriptions == descriptions
        assert again.classes == ["sports", "money", "food", "law"]
    assert path.read_bytes() == before  # the same call is no edit
    assert str(one.status()).startswith(str(again.status()))  # before the warnings of its fit
    assert again.next(6) == again._choose(6)
    one = session(None, path=path)
    assert one.next(6) == again._choose(6)
    assert one.to_frame().equals(again.to_frame())
    again = one
    for expected in (["sport", "money", "food", "law"], ["sport", "money", "food"], ["sport", "money", "food"]):
        assert (again.undo(), again.classes) == (None, expected)
    rows = [again.undo() for _ in range(10)]
    assert rows == again._read().drawn[:10][::-1]
    with pytest.raises(ValueError, match="no answer to undo"):  # those of the call stand
        again.undo()
    assert again._read().descriptions == NAMES


def test_the_last_change_stands_whether_of_a_call_or_of_the_session(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    one = session(path=path)
    one.describe("sport", "league")
    one.describe("food", "cook")
    one.rename("money", "cash")
    changed = NAMES | {"sport": "player", "money": "loan"}
    for _ in range(2):
        one = session(changed, path=path)
        assert one._read().descriptions == {"sport": "player", "cash": "loan", "food": "cook"}
    one.describe("sport", "coach")
    assert session(changed, path=path)._read().descriptions["sport"] == "coach"


def renamed(path: Path, *renames: str, descriptions: Any = None) -> None:
    """A session with answers "a" and "b", some renames and an answer "a" after them; two letters are a rename."""
    one = session(descriptions, path=path)
    one.label(0, "a")
    one.label(1, "b")
    for old, new in renames:
        one.rename(old, new)
    one.label(2, "a")


@pytest.mark.parametrize("renames", [["ab"], ["ax", "ba", "xb"], ["ax", "by"]])
def test_renames_before_the_first_call_with_a_class_do_not_apply_to_it(tmp_path: Path, renames: list[str]) -> None:
    path, given = tmp_path / "answers.jsonl", {"b": "bank", "a": "goal"}
    renamed(path, *renames)
    for edited in (given, given, given | {"a": "match"}):
        one = session(edited, path=path)
        assert one._read().descriptions == edited
        assert one.classes[:2] == ["b", "a"]
    one.rename("a", "c")
    one = session(given | {"c": "soup"}, path=path)  # a name that another class has by now
    assert one._read().descriptions == {"b": "bank", "c": "soup"}
    assert session(given | {"a": "team", "c": "soup"}, path=path)._read().descriptions["c"] == "soup"


def test_after_a_merge_a_call_edits_the_class_that_stays_by_its_name_alone(tmp_path: Path) -> None:
    path, given = tmp_path / "answers.jsonl", {"a": "goal", "b": "bank"}
    renamed(path, "ab", descriptions=given)
    assert session(given | {"a": "match"}, path=path)._read().descriptions == {"b": "bank"}
    one = session({"a": "match", "b": "price"}, path=path)
    assert (one._read().descriptions, one.classes) == ({"b": "price"}, ["b", "a"])
    one.undo()
    one.undo()
    assert one._read().descriptions == {"a": "match", "b": "price"}


def test_a_merge_with_a_class_without_a_description_moves_the_name_of_the_call(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    renamed(path, "ab", descriptions={"a": "goal"})
    assert session({"a": "match"}, path=path)._read().descriptions == {"b": "match"}


def test_a_call_may_have_more_classes_but_not_fewer(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    session(path=path).label(0, "sport")
    assert session(NAMES | {"law": "court"}, path=path).classes == ["sport", "money", "food", "law"]
    for wrong in ({"sport": "goal", "law": "court"}, {"sports": "goal"}):
        with pytest.raises(ValueError, match=r"descriptions must .* or more: .*jsonl has one of 'money'"):
            session(wrong | {"sport": "goal"}, path=path)
    assert session(None, path=path).classes == ["sport", "money", "food", "law"]


def test_answers_come_before_descriptions(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    answer(session(None, path=path), 8)
    one = session(path=path)
    assert one._read().descriptions == NAMES
    assert one.next(5) == one._read().drawn[:5]
    with pytest.raises(ValueError, match="several types"):
        session({1: "goal"}, path=path)


def test_vectors_are_given_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    one = Session(X, TransductiveSVC(n_jobs=1), descriptions=VECTORS, path=path)
    answer(one, 6)
    assert '{"given": "sport"}\n' in path.read_text(encoding="utf-8")
    coef = one.fit().coef_
    again = Session(X, TransductiveSVC(n_jobs=1), descriptions=VECTORS, path=path)
    np.testing.assert_array_equal(again.fit().coef_, coef)
    for wrong in (None, {"sport": VECTORS["sport"]}):
        with pytest.raises(ValueError, match=r"has one of '(sport|money)'"):
            Session(X, TransductiveSVC(n_jobs=1), descriptions=wrong, path=path)
    with pytest.raises(ValueError, match="line 2: a description must be a text where the rows are texts"):
        session(None, path=path)


def test_classes_that_are_merged_keep_the_description_of_the_one_that_stays() -> None:
    one = session()
    one.label(0, "law")
    one.rename("food", "money")
    assert one._read().descriptions == {"sport": "team goal", "money": "bank price"}
    one.rename("sport", "law")
    assert one._read().descriptions == {"law": "team goal", "money": "bank price"}
    assert sorted(one.fit().classes_) == ["law", "money"]
    one.undo()
    one.undo()
    assert one._read().descriptions == NAMES


def test_a_class_without_a_description_comes_beside_them() -> None:
    one = session({"sport": "team goal", "money": "bank price"})
    answer(one, 30)
    assert one.classes == ["sport", "money", "food"]
    assert np.mean(one.fit().predict(TEXTS) == TRUTH) > 0.9
    one.describe("food", "soup")
    assert list(one._read().descriptions) == ["sport", "money", "food"]
    one.fit()
    for row in range(150):
        one.label(row, "sport")
    assert sorted(one.fit().classes_) == ["food", "money", "sport"]  # also without a label


@pytest.mark.parametrize(
    "line",
    [
        '{"given": "sport", "text": 3}',
        '{"given": "sport", "text": null}',
        '{"given": 3, "text": "goal"}',
        '{"given": null, "text": "goal"}',
        '{"given": ["a"]}',
        '{"given": "sport", "text": ""}',
        '{"describe": "sport", "text": " "}',
        '{"describe": "sport"}',
        '{"describe": 3, "text": "goal"}',
        '{"describe": "", "text": "goal"}',
        '{"describe": "sport", "text": "goal", "row": 1}',
        '{"text": "goal"}',
    ],
)
def test_other_lines_are_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"version": 1}\n{"row": 0, "class": "sport"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"answers\.jsonl, line 3: "):
        session(None, path=path)
    with pytest.raises(ValueError, match=r"answers\.jsonl, line 3: "):
        Session(X, TransductiveSVC(), path=path)


def test_texts_are_no_descriptions_of_vectors_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    session(path=path)
    with pytest.raises(ValueError, match="line 2: a description must be a text where the rows are texts"):
        Session(X, TransductiveSVC(), path=path)


@pytest.mark.parametrize(
    ("rows", "descriptions", "message"),
    [
        (TEXTS, {}, "descriptions must be a dict from class to its description, got {}"),
        (TEXTS, ["sport"], r"descriptions must be a dict .*, got \['sport'\]"),
        (TEXTS, "sport", "descriptions must be a dict .*, got 'sport'"),
        (TEXTS, {"sport": 3}, "descriptions must have a text for class 'sport', as the rows, got 3"),
        (TEXTS, {"sport": " "}, "descriptions must have a text for class 'sport', as the rows, got ' '"),
        (TEXTS, {"sport": np.ones(3)}, "descriptions must have a text for class 'sport', as the rows, got array"),
        (TEXTS, {"sport": "goal", 3: "bank"}, "classes must be texts, numbers .* 'sport' and 3"),
        (TEXTS, {None: "goal"}, "descriptions names None, which marks rows without a label"),
        (pd.DataFrame({"text": TEXTS}), NAMES, "descriptions need rows .* got a data frame: give its column"),
        (X, NAMES, f"descriptions must have {X.shape[1]} numbers for class 'sport', .* got 'team goal'"),
        (np.eye(3), {"sport": [1, 2]}, r"descriptions must have 3 numbers for class 'sport', .* shape \(1, 2\)"),
        (np.eye(3).tolist(), {"sport": [1, 2]}, r"descriptions must have 3 numbers for class 'sport'"),
    ],
)
def test_wrong_descriptions_are_named(rows: Any, descriptions: Any, message: str) -> None:
    model = pipeline() if rows is TEXTS else TransductiveSVC()
    with pytest.raises((TypeError, ValueError), match=message):
        Session(rows, model, descriptions=descriptions)


def test_a_wrong_edit_is_not_kept() -> None:
    one = session()
    for label, text, message in (
        ("sport", "", "descriptions must have a text for class 'sport'"),
        ("sport", None, "descriptions must have a text for class 'sport'"),
        (3, "goal", "several types"),
        (None, "goal", "marks rows"),
    ):
        with pytest.raises(ValueError, match=message):
            one.describe(label, text)
    assert (one._read().descriptions, one._journal.standing) == (NAMES, [])


# ------------------------------------------------------------------ the widget, without a browser
def test_the_widget_shows_and_edits_descriptions() -> None:
    one = session(NAMES | {"food": "<b>bank</b>"})
    widget, send = widget_of(one, 5)
    assert widget.state["classes"] == [["sport", 0], ["money", 0], ["food", 0]]
    assert widget.state["descriptions"] == ["team goal", "bank price", "<b>bank</b>"]
    assert widget.state["predicted"] in NAMES
    row, shown = widget.state["row"], widget.state["step"]
    before = one.to_frame()["predicted"]
    send("describe", ["food", "soup dish"])
    assert (widget.state["descriptions"][2], widget.state["message"]) == ("soup dish", "")
    assert (widget.state["row"], widget.state["step"], widget.state["busy"]) == (row, shown + 1, False)
    assert not one.to_frame()["predicted"].equals(before)  # there is a fit to it
    send("undo")
    assert widget.state["descriptions"][2] == "<b>bank</b>"
    send("label", "sport")
    assert widget.state["classes"][0] == ["sport", 1]
    json.dumps(widget.state, allow_nan=False)


def test_the_widget_takes_no_nonsense_for_a_description() -> None:
    one = session()
    widget, send = widget_of(one, 5)
    row = widget.state["row"]
    for value, message in (
        (["car", "goal"], "there is no class 'car'"),
        (["sport", ""], "descriptions must have a text for class 'sport'"),
        (["sport", None], "descriptions must have a text for class 'sport'"),
        (["sport", ["goal"]], "descriptions must have a text for class 'sport'"),
        ([None, "goal"], "there is no class None"),
        (["sport"], "IndexError"),
        (None, "TypeError"),
        ({}, "KeyError"),
    ):
        send("describe", value)
        assert message in widget.state["message"]
        assert widget.state["row"] == row
    send("describe", ["sport", "\ud800 goal"])
    assert widget.state["descriptions"][0].encode() == b"? goal"
    widget._receive(widget, {"do": "describe", "value": ["sport", "x"], "row": "another"}, [])
    assert one._read().descriptions["sport"] == "\ud800 goal"


@pytest.mark.parametrize("vectors", [False, True])
def test_the_widget_reads_the_answers_as_often_for_many_classes(vectors: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    reads, read, found = [], Session._read, []
    monkeypatch.setattr(Session, "_read", lambda one: reads.append(one) or read(one))
    for n in (0, 20):
        names = [f"class {k}" for k in range(n)]
        one = Session(X, TransductiveSVC(), classes=names, descriptions=VECTORS) if vectors else session(classes=names)
        widget, _ = widget_of(one, 5)
        reads.clear()
        assert len(widget._course()["classes"]) == n + 3
        found.append(len(reads))
    assert found[0] == found[1]


def test_the_widget_edits_no_vectors() -> None:
    one = Session(X, TransductiveSVC(n_jobs=1), descriptions=VECTORS)
    widget, send = widget_of(one, 5)
    assert widget.state["descriptions"] is None
    assert [name for name, _ in widget.state["classes"]] == list(VECTORS)
    send("describe", ["sport", "goal"])
    assert "cannot be edited" in widget.state["message"]


def test_the_widget_describes_classes_of_texts_that_had_no_descriptions() -> None:
    one = session(None, classes=["sport", "money"])
    widget, send = widget_of(one, 5)
    assert widget.state["descriptions"] == ["", ""]
    for name in ("sport", "money"):
        send("describe", [name, NAMES[name]])
    assert widget.state["predicted"] in ("sport", "money")
    assert widget._queue == one._read().drawn[:5]
