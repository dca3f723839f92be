"""compare: what it holds out, what it prints and draws."""

from __future__ import annotations

import numpy as np
import pytest
from planted import many_topics
from sklearn.model_selection import cross_val_score

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC, compare
from fewlabel.model_selection import SemiSupervisedSplit

X, Y, TRUTH = many_topics(labels=40)


def test_scores_are_those_of_cross_validation(capsys: pytest.CaptureFixture[str]) -> None:
    found = compare(X, Y, ["annealing"], scoring="accuracy", cv=3)
    theirs = cross_val_score(TransductiveSVC(), X, Y, cv=SemiSupervisedSplit(3), scoring="accuracy")
    np.testing.assert_allclose(found.scores["annealing"], theirs)
    labeled = Y >= 0
    alone = TransductiveSVC(unlabeled=None)
    theirs = cross_val_score(alone, X[labeled], Y[labeled], cv=3, scoring="accuracy")
    np.testing.assert_allclose(found.scores["supervised"], theirs)
    printed = capsys.readouterr().out
    assert printed == f"{found}\n"
    assert "accuracy, mean over 3 test parts" in printed
    assert printed.count("against supervised") == 1


def test_texts_and_estimators_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    y = np.where(Y < 0, None, np.array(["a", "b", "c", "d"])[TRUTH])
    kinds = {"svm": TransductiveSVC(), "maxent": SemiSupervisedLogisticRegression(calibrate=False)}
    found = compare(X, y, kinds, cv=2, verbose=0)
    assert list(found.scores) == ["supervised", "svm", "maxent"]
    assert capsys.readouterr().out == ""
    assert found.scores["svm"].mean() > 0.7


def test_the_picture() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    found = compare(X, Y, ["annealing"], cv=2, verbose=0, ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(found.scores)
    assert ax.get_xlabel() == "f1_macro"


@pytest.mark.parametrize("methods", ["annealing", [], {"supervised": TransductiveSVC()}])
def test_bad_methods(methods: object) -> None:
    with pytest.raises(ValueError, match="methods must"):
        compare(X, Y, methods)
