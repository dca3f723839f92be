"""Models outside of fewlabel: as scikit-learn's own, and as tables of weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from planted import many_topics, text_like
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel.inspection import top_features

TWO, FOUR = text_like(labeled=40), many_topics(labels=60)
NAMES = np.array(["cars", "music", "space", "wine"])


def words(rows: Any) -> list[str]:
    """A text of each row: a word for every feature that is not 0."""
    return [" ".join(f"word{j}" for j in row.indices) for row in rows]


TEXTS = {2: words(TWO.X), 4: words(FOUR.X)}
LABELS = {k: np.where(data.y < 0, None, NAMES[data.truth]) for k, data in ((2, TWO), (4, FOUR))}


# ------------------------------------------------------------------ scikit-learn
@pytest.mark.parametrize("problem", [TWO, FOUR], ids=["two classes", "four"])
@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_the_model_of_scikit_learn_decides_the_same(kind: Any, problem: Any) -> None:
    model = kind(calibrate=False).fit(problem.X, problem.y)
    theirs = model.to_sklearn()
    assert type(theirs) is (LinearSVC if kind is TransductiveSVC else LogisticRegression)
    np.testing.assert_array_equal(theirs.decision_function(problem.X), model.decision_function(problem.X))
    np.testing.assert_array_equal(theirs.predict(problem.X), model.predict(problem.X))
    dense = problem.X.toarray()
    np.testing.assert_allclose(theirs.decision_function(dense), model.decision_function(dense), atol=1e-12)
    if kind is SemiSupervisedLogisticRegression:
        np.testing.assert_allclose(theirs.predict_proba(problem.X), model.predict_proba(problem.X), rtol=1e-9)
    theirs.coef_[:] = 0
    assert model.coef_.any()


def test_trees_names_and_pipelines_go_along() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(FOUR.X.toarray()).rename(columns=lambda j: f"word{j}")
    tree = {"cars": "machines", "space": "machines"}
    pipeline = make_pipeline(Normalizer().set_output(transform="pandas"), TransductiveSVC(hierarchy=tree))
    pipeline.fit(table, LABELS[4])
    shipped = Pipeline([*pipeline.steps[:-1], ("svc", pipeline[-1].to_sklearn())])
    assert shipped[-1].feature_names_in_.tolist() == list(table)
    np.testing.assert_array_equal(shipped.predict(table), pipeline.predict(table))


@pytest.mark.filterwarnings("ignore:all labeled rows have class")
def test_one_class_has_no_such_model() -> None:
    with pytest.raises(ValueError, match="only one class, a"):
        TransductiveSVC().fit(TWO.X, np.where(TWO.y < 0, None, "a")).to_sklearn()


# ------------------------------------------------------------------ the largest weights
@pytest.mark.parametrize("k", [2, 4])
def test_top_features_are_those_of_the_largest_weights(k: int) -> None:
    pipeline = make_pipeline(TfidfVectorizer(), TransductiveSVC()).fit(TEXTS[k], LABELS[k])
    found, names = top_features(pipeline, n=3), pipeline[0].get_feature_names_out()
    coef = pipeline[1].coef_ if k > 2 else np.vstack([-pipeline[1].coef_, pipeline[1].coef_])
    assert found.classes.tolist() == NAMES[:k].tolist()
    for row, best, weights in zip(coef, found.features, found.weights, strict=True):
        assert best.tolist() == names[np.argsort(-row)[:3]].tolist()
        np.testing.assert_array_equal(weights, np.sort(row)[::-1][:3])
    theirs = top_features(pipeline[1].to_sklearn(), names, n=3)
    assert str(theirs) == str(found)
    assert str(found).startswith(f"cars: {found.features[0][0]} {found.weights[0][0]:.2g}, ")
    assert found._repr_html_().count("<tr>") == 1 + 3 * k


def test_top_features_as_a_frame_and_a_picture() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    found = top_features(TransductiveSVC().fit(FOUR.X, FOUR.y), n=5)
    frame = found.to_frame()
    assert frame["class"].tolist() == [c for c in range(4) for _ in range(5)]
    assert frame["feature"].iloc[0] == found.features[0][0]
    axes = found.plot()
    assert [ax.get_title() for ax in axes] == ["0", "1", "2", "3"]
    assert [bar.get_width() for bar in axes[2].patches] == found.weights[2].tolist()


def test_features_without_weight_are_not_listed() -> None:
    model = LinearSVC().fit([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], ["a", "b"])
    assert [names.tolist() for names in top_features(model, ["x", "y", "z"]).features] == [["x"], ["y"]]
    with pytest.raises(ValueError, match="feature_names must have shape"):
        top_features(model, ["x"])
