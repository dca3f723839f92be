"""Questions after a fit: sums that agree with the decision, copies that are not chosen twice, wrong labels found."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from planted import GROUP, many_topics, text_like
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC

from fewlabel import (
    SemiSupervisedLogisticRegression,
    TransductiveSVC,
)
from fewlabel.inspection import explain, suspicious_labels, top_features
from fewlabel.model_selection import SemiSupervisedSplit
from fewlabel.plotting import HistoryDisplay

TWO, FOUR = text_like(labeled=40), many_topics(labels=40)
KINDS = (TransductiveSVC, SemiSupervisedLogisticRegression, lambda: TransductiveSVC(loss="crammer_singer"))
TEXTS = ["red wine", "white wine", "red car", "fast car", "old wine", "old car", "wine and wine", "a car"]
DRINKS = np.array(["drink", None, "ride", None, None, None, None, None])


def words() -> Pipeline:
    return make_pipeline(TfidfVectorizer(), TransductiveSVC(alpha=0.05)).fit(TEXTS, DRINKS)


# ------------------------------------------------------------------ explain


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("problem", [TWO, FOUR], ids=["two classes", "four"])
@pytest.mark.parametrize("n", [1, 5, 1000])
def test_contributions_sum_to_the_decision(kind: Any, problem: Any, n: int) -> None:
    model = kind().fit(problem.X, problem.y)
    for i in (0, 7, 31):
        row = problem.X[[i]]
        found = explain(model, row, n=n)
        assert found.label == model.predict(row)[0]
        decision = model.decision_function(row)[0]
        wanted = decision[found.label] if np.ndim(decision) else (decision if found.label == 1 else -decision)
        assert found.score == pytest.approx(wanted, abs=1e-12)
        assert found.contributions.sum() + found.rest + found.intercept == pytest.approx(wanted, abs=1e-12)
        assert len(found.features) == len(found.contributions) == min(n, row.nnz)
        assert (np.diff(found.contributions) <= 0).all()
        if n >= row.nnz:
            assert found.rest == 0


def test_the_named_features_have_the_largest_contributions() -> None:
    model = TransductiveSVC().fit(TWO.X, TWO.y)
    row = TWO.X[[3]].toarray()[0]
    everything = row * model.coef_[0] * (1 if model.predict([row])[0] == 1 else -1)
    found = explain(model, row, n=4)
    largest = np.argsort(-np.abs(everything))[:4]
    assert set(found.features) == {f"x{j}" for j in largest}
    for name, value in zip(found.features, found.contributions, strict=True):
        assert value == pytest.approx(everything[int(name[1:])])


def test_why_this_class_and_not_that() -> None:
    model = TransductiveSVC(hierarchy=GROUP).fit(FOUR.X, FOUR.y)
    row = FOUR.X[[5]]
    scores = model.decision_function(row)[0]
    assert explain(model, row, label=2).score == pytest.approx(scores[2])
    assert explain(model, row, label=2, against=0).score == pytest.approx(scores[2] - scores[0])
    two = TransductiveSVC().fit(TWO.X, TWO.y)
    assert explain(two, row=TWO.X[[0]], label=0).score == -explain(two, TWO.X[[0]], label=1).score
    assert str(explain(two, TWO.X[[0]], label=0, against=1)) == str(explain(two, TWO.X[[0]], label=0))


def test_a_row_of_a_table_is_a_series() -> None:
    table = pd.DataFrame({"text": ["red wine", "old car"] * 4, "age": np.arange(8.0)})
    columns = ColumnTransformer([("text", TfidfVectorizer(), "text"), ("age", MaxAbsScaler(), ["age"])])
    model = make_pipeline(columns, TransductiveSVC()).fit(table, ["drink", "ride"] + [None] * 6)
    assert str(explain(model, table.iloc[3])) == str(explain(model, table.iloc[[3]]))


def test_forms_of_one_row() -> None:
    model = TransductiveSVC().fit(TWO.X, TWO.y)
    dense = TWO.X[[3]].toarray()
    forms = [dense, dense[0], dense[0].tolist(), TWO.X[[3]], sp.csr_array(TWO.X)[[3]], sp.csc_matrix(dense)]
    texts = {str(explain(model, form)) for form in forms}
    assert len(texts) == 1
    doubled = sp.csr_matrix((np.array([0.5, 0.25, 1.0]), np.array([4, 4, 2]), np.array([0, 3])), shape=(1, 120))
    assert str(explain(model, doubled)) == str(explain(model, doubled.toarray()))
    assert doubled.nnz == 3  # the caller's row is as it was
    empty = explain(model, np.zeros(120))
    assert (len(empty.features), empty.rest) == (0, 0)
    assert empty.score == empty.intercept


@pytest.mark.filterwarnings("ignore:.*may have collapsed")  # three columns say little
def test_names_of_a_pipeline_a_frame_and_of_ones_own() -> None:
    found = explain(words(), "old red car", n=2)
    assert found.label == "ride"
    assert found.features[0] == "car"
    assert explain(words(), ["old red car"], n=2).features.tolist() == found.features.tolist()
    frame = pd.DataFrame(TWO.X[:, :3].toarray() + 0.1, columns=["a", "b", "c"])
    model = TransductiveSVC().fit(frame, TWO.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(explain(model, frame.iloc[[0]]).features) == {"a", "b", "c"}
    assert set(explain(model, frame.iloc[[0]], ["k", "l", "m"]).features) == {"k", "l", "m"}
    hashed = make_pipeline(HashingVectorizer(n_features=64), TransductiveSVC(alpha=0.05)).fit(TEXTS, DRINKS)
    assert all(name.startswith("x") for name in explain(hashed, "old red car").features)
    scaled = make_pipeline(MaxAbsScaler(), TransductiveSVC()).fit(frame, TWO.y)
    assert set(explain(scaled, frame.iloc[[0]]).features) == {"a", "b", "c"}


def test_an_explanation_reads_as_a_table() -> None:
    lines = str(explain(words(), "old red car", n=2)).splitlines()
    assert len(lines) == 5
    assert lines[0].endswith("car")
    assert lines[-1].endswith("score of ride")
    total = sum(float(line.split()[0]) for line in lines[:-1])
    assert total == pytest.approx(float(lines[-1].split()[0]), abs=3e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"row": TWO.X[:2]}, "row must be one row, got 2"),
        ({"row": [1.0, 2.0]}, f"row has 2 features, the model has {TWO.X.shape[1]}"),
        ({"row": TWO.X[:1, :3]}, f"row has 3 features, the model has {TWO.X.shape[1]}"),
        ({"row": [[1.0]]}, f"row has 1 features, the model has {TWO.X.shape[1]}"),
        ({"n": 0}, "n must be an integer of at least 1, got 0"),
        ({"label": 7}, "label is 7, which is not a class: these are 0, 1"),
        ({"label": 1, "against": 1}, "against=1 is the class that is explained"),
        ({"feature_names": ["a", "b"]}, r"feature_names must have shape \(120,\), one name a feature; it has \(2,\)"),
        ({"row": np.zeros(7)}, "7 features"),
    ],
)
def test_bad_questions(arguments: dict[str, Any], message: str) -> None:
    model = TransductiveSVC().fit(TWO.X, TWO.y)
    with pytest.raises(ValueError, match=message):
        explain(model, **({"row": TWO.X[[0]]} | arguments))


def test_models_that_cannot_answer() -> None:
    with pytest.raises(NotFittedError):
        explain(TransductiveSVC(), TWO.X[[0]])
    with pytest.raises(TypeError, match="linear classifier with coef_"):
        explain(RandomForestClassifier(2).fit(TWO.X, TWO.truth), TWO.X[[0]])


@pytest.mark.parametrize(
    "model",
    [
        SVC(kernel="linear").fit(np.eye(6), [0, 1, 2] * 2),  # a row for each pair of classes, also three
        SVC(kernel="linear").fit(sp.csr_array(np.eye(6)), [0, 1] * 3),
        SGDClassifier().fit(np.eye(6), [0, 1] * 3).sparsify(),
    ],
)
def test_coefficients_of_something_else_than_classes(model: Any) -> None:
    for ask in (top_features, lambda model: explain(model, np.eye(6)[:1])):
        with pytest.raises(
            TypeError, match=r"coef_ with a row of weights for each class .* coef_ of S\w+ is another matrix"
        ):
            ask(model)


def test_dollars_are_drawn_as_they_are() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    names = ["$\\foo$", "$x^$", "a_b$", "$"]
    model = TransductiveSVC(class_prior=[0.5, 0.5]).fit(np.eye(4), np.array(["$\\a$", "$_$", None, None]))
    for ax in top_features(model, names).plot():
        ax.figure.canvas.draw()
        assert {label.get_text() for label in ax.get_yticklabels()} <= {*names}
    HistoryDisplay.from_estimator(model).figure_.canvas.draw()
    pyplot.close("all")


# ------------------------------------------------------------------ labels that look wrong


@pytest.mark.parametrize("problem", [text_like(labeled=100), many_topics(labels=100)], ids=["two classes", "four"])
@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_wrong_labels_are_found(problem: Any, kind: Any) -> None:
    y = problem.y.copy()
    wrong = np.flatnonzero(y >= 0)[3::10]
    y[wrong] = (y[wrong] + 1) % (problem.truth.max() + 1)
    found = suspicious_labels(kind().fit(problem.X, y), problem.X, y)
    assert len(wrong) == 10
    assert np.isin(wrong, found.rows).sum() >= 8  # a fifth of the words of a row are those of another class
    assert np.isin(found.rows[:10], wrong).sum() >= 7
    np.testing.assert_array_equal(found.given, y[found.rows])
    assert (found.given != found.predicted).all()
    assert (np.diff(found.margins) <= 0).all()
    assert found.margins.min() >= 0.5


def test_labels_that_the_model_has_not_seen_need_no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    model = TransductiveSVC().fit(TWO.X, TWO.y)
    monkeypatch.setattr(TransductiveSVC, "fit", None)
    y = TWO.truth.copy()
    y[::10] = 1 - y[::10]
    found = suspicious_labels(model, TWO.X, y, cv=None, margin=0)
    np.testing.assert_array_equal(np.sort(found.rows), np.flatnonzero(model.predict(TWO.X) != y))
    np.testing.assert_allclose(found.margins, np.abs(model.decision_function(TWO.X))[found.rows])


def test_the_only_label_of_a_class_is_not_judged() -> None:
    y = np.where(FOUR.y == 3, -1, FOUR.y)
    alone = np.flatnonzero(FOUR.truth == 3)[0]
    y[alone] = 3
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*its share")
        model = TransductiveSVC().fit(FOUR.X, y)
        found = suspicious_labels(model, FOUR.X, y, margin=-1e9)
    assert sorted(found.rows) == sorted(set(np.flatnonzero(y >= 0)) - {alone})
    with pytest.raises(ValueError, match="every class has one labeled row only"):
        suspicious_labels(words(), TEXTS, DRINKS)


def test_other_linear_models_pipelines_and_searches() -> None:
    y = np.where(TWO.y >= 0, TWO.y, 0)
    found = suspicious_labels(LogisticRegression().fit(TWO.X, TWO.truth), TWO.X, TWO.truth, cv=3)
    assert set(found.rows) <= set(range(len(y)))
    search = GridSearchCV(TransductiveSVC(), {"alpha": [1e-3, 1e-2]}, cv=SemiSupervisedSplit(2)).fit(TWO.X, TWO.y)
    assert str(explain(search, TWO.X[[0]])) == str(explain(search.best_estimator_, TWO.X[[0]]))
    assert len(suspicious_labels(search, TWO.X, TWO.y, cv=2, margin=-1e9).rows) == (TWO.y >= 0).sum()
    labels = np.array(["drink", "drink", "ride", "ride", None, None, "drink", "drink"])  # the last one is wrong
    classifier = TransductiveSVC(alpha=0.05, class_prior="labels", unlabeled_weight=1.0)
    model = make_pipeline(TfidfVectorizer(), classifier).fit(TEXTS, labels)
    assert suspicious_labels(model, TEXTS, labels, margin=0).rows.tolist()[0] == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": np.full(300, -1)}, "no labeled row"),
        ({"y": TWO.y[:-1]}, "X has 300 rows, but y has 299 entries"),
        ({"y": np.where(TWO.y == 1, 5, TWO.y)}, "a label in y is 5, which is not a class"),
        ({"margin": np.nan}, "margin must be a finite number"),
        ({"cv": 1}, "cv must be an integer of at least 2, or None"),
    ],
)
def test_bad_labels(arguments: dict[str, Any], message: str) -> None:
    model = TransductiveSVC().fit(TWO.X, TWO.y)
    with pytest.raises(ValueError, match=message):
        suspicious_labels(model, **({"X": TWO.X, "y": TWO.y} | arguments))
