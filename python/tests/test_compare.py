"""compare: what it holds out, what it prints and draws; the tables of what was asked of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from planted import many_topics
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from fewlabel import DataWarning, SemiSupervisedLogisticRegression, TransductiveSVC, estimate_class_prior
from fewlabel.inspection import check, compare, explain, suspicious_labels
from fewlabel.model_selection import SemiSupervisedSplit

X, Y, TRUTH = many_topics(labels=40)


def test_scores_are_those_of_cross_validation(capsys: pytest.CaptureFixture[str]) -> None:
    found = compare(TransductiveSVC(), X, Y, ["annealing"], scoring="accuracy", cv=3)
    theirs = cross_val_score(TransductiveSVC(), X, Y, cv=SemiSupervisedSplit(3), scoring="accuracy")
    np.testing.assert_allclose(found.scores["annealing"], theirs)
    labeled = Y >= 0
    alone = TransductiveSVC(unlabeled=None)
    theirs = cross_val_score(alone, X[labeled], Y[labeled], cv=3, scoring="accuracy")
    np.testing.assert_allclose(found.scores["supervised"], theirs)
    printed = str(found)
    assert capsys.readouterr().out == "", "a notebook would show the table twice"
    assert "accuracy, mean over 3 test parts" in printed
    assert printed.count("against supervised") == 2
    theirs = cross_val_score(LinearSVC(), X[labeled], Y[labeled], cv=3, scoring="accuracy")
    np.testing.assert_allclose(found.scores["LinearSVC"], theirs)
    of_probabilities = compare(SemiSupervisedLogisticRegression(), X, Y, ["annealing"], scoring="neg_log_loss", cv=2)
    assert list(of_probabilities.scores) == ["supervised", "annealing"]


def test_it_warns_if_no_row_is_unlabeled() -> None:
    with pytest.warns(DataWarning, match="no row is unlabeled"):
        found = compare(TransductiveSVC(), X[:90], TRUTH[:90], ["annealing"], verbose=0)
    np.testing.assert_array_equal(found.scores["annealing"], found.scores["supervised"])


def test_texts_and_estimators_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    y = np.where(Y < 0, None, np.array(["a", "b", "c", "d"])[TRUTH])
    kinds = {"svm": TransductiveSVC(), "maxent": SemiSupervisedLogisticRegression(calibrate=False)}
    found = compare(TransductiveSVC(), X, y, kinds, cv=2, verbose=0)
    assert list(found.scores) == ["supervised", "LinearSVC", "svm", "maxent"]
    assert capsys.readouterr().out == ""
    assert found.scores["svm"].mean() > 0.7


@pytest.mark.parametrize("methods", ["annealing", [], {"supervised": TransductiveSVC()}])
def test_bad_methods(methods: object) -> None:
    with pytest.raises(ValueError, match="methods must"):
        compare(TransductiveSVC(), X, Y, methods)


def test_estimators_without_names() -> None:
    with pytest.raises(ValueError, match="methods has an estimator: pass a dict from name to estimator"):
        compare(TransductiveSVC(), X, Y, [TransductiveSVC()])


def test_estimators_that_do_not_learn_from_unlabeled_rows() -> None:
    for ask in (lambda: check(LinearSVC(), X, Y), lambda: compare(LinearSVC(), X, Y)):
        with pytest.raises(TypeError, match=r"model, the first argument, must be TransductiveSVC or .* got LinearSVC"):
            ask()


def test_arguments_in_another_order_are_named() -> None:
    for ask in (check, compare):
        with pytest.raises(TypeError, match=r"model, the first argument, must be .* got ndarray|got csr"):
            ask(X, Y, TransductiveSVC())
        with pytest.raises(TypeError, match="got the class TransductiveSVC"):
            ask(TransductiveSVC, X, Y)
    with pytest.raises(TypeError, match="model, the first argument, must be a fitted estimator, got list"):
        suspicious_labels(["a", "text"], ["b", "c"], TransductiveSVC())


def words_of(rows: Any) -> list[str]:
    """A text of each row: its features as words, as often as they count."""
    counts = np.rint(rows.toarray() / np.maximum(rows.toarray().max(axis=1, keepdims=True), 1e-9) * 3).astype(int)
    return [" ".join(f"w{j}" for j in np.flatnonzero(row) for _ in range(row[j])) for row in counts]


def test_texts_through_a_pipeline() -> None:
    texts, y = words_of(X), np.where(Y < 0, None, np.array(["a", "b", "c", "d"])[TRUTH])
    pipeline = make_pipeline(TfidfVectorizer(), TransductiveSVC())
    found = compare(pipeline, texts, y, ["switching"], cv=2, verbose=0)
    again = compare(
        pipeline,
        texts,
        y,
        {"switching": make_pipeline(TfidfVectorizer(), TransductiveSVC(method="switching"))},
        cv=2,
        verbose=0,
    )
    np.testing.assert_array_equal(found.scores["switching"], again.scores["switching"])
    np.testing.assert_array_equal(found.scores["supervised"], again.scores["supervised"])
    assert pipeline[-1].method == "auto"
    told = check(pipeline, texts, y, cv=2)
    known = Y >= 0
    words = TfidfVectorizer().fit(texts)
    alone = cross_val_predict(TransductiveSVC(unlabeled=None), words.transform(texts)[known], Y[known], cv=2)
    assert abs(told.supervised - np.mean(alone == Y[known])) < 0.1


def test_tables_of_results() -> None:
    pandas = pytest.importorskip("pandas")
    found = compare(TransductiveSVC(), X, Y, ["annealing"], cv=2, verbose=0, scoring="accuracy")
    assert repr(found) == str(found)
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["accuracy"].tolist() == [
        found.scores[name].mean() for name in ("supervised", "LinearSVC", "annealing")
    ]
    model = TransductiveSVC().fit(X, Y)
    explained = explain(model, X[0], feature_names=[f"<w{j}>" for j in range(X.shape[1])], n=3)
    assert explained.to_frame().iloc[:, 1].sum() == pytest.approx(explained.score)
    assert "<td dir=auto>&lt;w" in explained._repr_html_()
    wrong = Y.copy()
    wrong[np.flatnonzero(Y == 0)[0]] = 1
    suspicious = suspicious_labels(TransductiveSVC().fit(X, wrong), X, wrong, margin=-9.0)
    assert suspicious.to_frame()["row"].tolist() == suspicious.rows.tolist()
    prior = estimate_class_prior(X, Y, n_bootstraps=2)
    assert prior.to_frame()["class_prior"].sum() == pytest.approx(1)
    checked = check(model, X, Y, cv=2)
    assert checked.to_frame()["semi supervised"].tolist() == [checked.semi_supervised]
    assert repr(prior).split()[:5] == str(prior).split()[:5] == [*prior.to_frame()]
    assert repr(suspicious).split()[:4] == ["row", "given", "predicted", "margin"]
    for table in (found, suspicious, prior, checked):
        assert table._repr_html_().count("<tr>") == 1 + len(table.to_frame())


def test_without_methods_those_of_the_estimator_are_compared() -> None:
    found = compare(TransductiveSVC(), X, Y, cv=2, verbose=0)
    assert list(found.scores) == ["supervised", "LinearSVC", "auto", "annealing", "switching"]
    assert list(compare(SemiSupervisedLogisticRegression(), X, Y, cv=2, verbose=0).scores)[2] == "annealing"
