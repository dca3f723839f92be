"""Models outside of fewlabel: as scikit-learn's own, as ONNX, by skops, and as tables of weights."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from planted import many_topics, text_like
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer
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


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_probabilities_are_calibrated_where_those_of_the_model_are(kind: Any, k: int) -> None:
    rows = {2: TWO, 4: FOUR}[k].X
    model = kind(calibrate=True).fit(rows, LABELS[k])
    theirs = model.to_sklearn()
    np.testing.assert_allclose(theirs.predict_proba(rows), model.predict_proba(rows), rtol=1e-9)
    np.testing.assert_array_equal(theirs.predict(rows), model.predict(rows))
    scores = model.to_sklearn(calibrated=False).decision_function(rows)
    np.testing.assert_array_equal(scores, model.decision_function(rows))


def test_skops_keeps_models() -> None:
    io = pytest.importorskip("skops.io")
    model = make_pipeline(TfidfVectorizer(), TransductiveSVC(calibrate=True)).fit(TEXTS[4], LABELS[4])
    kept = io.dumps(model)
    trusted = io.get_untrusted_types(data=kept)
    assert all(name.startswith("fewlabel.") for name in trusted)
    again = io.loads(kept, trusted=trusted)
    np.testing.assert_array_equal(again.predict_proba(TEXTS[4]), model.predict_proba(TEXTS[4]))
    theirs = io.dumps(model[-1].to_sklearn())
    assert not io.get_untrusted_types(data=theirs)
    np.testing.assert_array_equal(io.loads(theirs).classes_, model.classes_)


# ------------------------------------------------------------------ ONNX
SVC, LOGISTIC = TransductiveSVC, SemiSupervisedLogisticRegression
COMPOSITIONS: dict[str, tuple[Any, Callable[[Any, Any, Any], Any]]] = {  # of a fitted model and labeled rows
    "scores": (SVC(), lambda model, X, y: model),
    "calibrated": (SVC(calibrate=True), lambda model, X, y: model),
    "probabilities": (LOGISTIC(calibrate=False), lambda model, X, y: model),
    "pipeline": (LOGISTIC(), lambda model, X, y: Pipeline([("scaler", MaxAbsScaler().fit(X)), ("model", model)])),
    "sigmoid": (SVC(), lambda model, X, y: CalibratedClassifierCV(FrozenEstimator(model)).fit(X, y)),
    "isotonic": (
        LOGISTIC(),
        lambda model, X, y: CalibratedClassifierCV(FrozenEstimator(model), method="isotonic").fit(X, y),
    ),
    "one against rest": (
        LOGISTIC(unlabeled=None, calibrate=False),
        lambda model, X, y: OneVsRestClassifier(model).fit(X, y),
    ),
    "voting": (
        SVC(calibrate=True),
        lambda model, X, y: both(VotingClassifier, model, voting="soft", flatten_transform=False).fit(X, y),
    ),
    "stacking": (LOGISTIC(), lambda model, X, y: both(StackingClassifier, model, cv="prefit").fit(X, y)),
}


def both(kind: Any, model: Any, **settings: Any) -> Any:
    """An ensemble of the model and of one with half of its weights."""
    other = copy.deepcopy(model)
    other.coef_ = other.coef_ / 2
    return kind([("one", FrozenEstimator(model)), ("other", FrozenEstimator(other))], **settings)


def exported(model: Any) -> Any:
    """With scikit-learn's own models in place of ours, as docs/scikit-learn.md has it."""
    if hasattr(model, "to_sklearn"):
        return model.to_sklearn()
    model = copy.deepcopy(model)
    if isinstance(model, Pipeline):
        model.steps[-1] = ("model", model[-1].to_sklearn())
    elif isinstance(model, CalibratedClassifierCV):
        for part in model.calibrated_classifiers_:
            part.estimator = part.estimator.to_sklearn(calibrated=False)
    elif isinstance(model, OneVsRestClassifier):
        model.estimators_ = [part.to_sklearn(calibrated=False) for part in model.estimators_]
    else:
        model.estimators_ = [part.to_sklearn() for part in model.estimators_]
    return model


@pytest.mark.parametrize("classes", [NAMES, np.arange(2.0, 6.0)], ids=["texts", "floats"])
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("name", COMPOSITIONS)
def test_onnx_has_labels_and_probabilities(name: str, k: int, classes: np.ndarray) -> None:
    skl2onnx, runtime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    data = {2: TWO, 4: FOUR}[k]
    rows, truth = data.X.toarray().astype(np.float32), classes[data.truth]
    model, composed = COMPOSITIONS[name]
    y = truth if model.unlabeled is None else np.where(data.y < 0, None, truth)
    ours = composed(clone(model).fit(rows, y), rows, truth)
    theirs = exported(ours)
    options = {"zipmap": False} if hasattr(ours, "predict_proba") else None
    file = skl2onnx.to_onnx(theirs, rows[:1], options=options).SerializeToString()
    labels, second = runtime.InferenceSession(file).run(None, {"X": rows})
    assert labels.tolist() == ours.predict(rows).tolist()
    scores = ours.predict_proba if options else ours.decision_function
    np.testing.assert_allclose(second.reshape(scores(rows).shape), scores(rows), atol=2e-5)


@pytest.mark.parametrize("model", [SVC(), SVC(calibrate=True), LOGISTIC(calibrate=False), LOGISTIC()])
def test_onnx_of_texts(model: Any) -> None:
    skl2onnx, runtime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    types = pytest.importorskip("skl2onnx.common.data_types")
    texts = [f"{text} naïve_{k % 3} ½ Ⅷ नहीं" for k, text in enumerate(TEXTS[4])]
    ours = make_pipeline(TfidfVectorizer(), clone(model)).fit(texts, LABELS[4])
    theirs, given = exported(ours), [("text", types.StringTensorType([None, 1]))]
    arrays = {"zipmap": False} if hasattr(theirs, "predict_proba") else {}
    options = {type(theirs[-1]): arrays, TfidfVectorizer: {"locale": "C", "tokenexp": r"[\pL\pN_]{2,}"}}
    file = skl2onnx.to_onnx(theirs, initial_types=given, options=options).SerializeToString()
    labels, second = runtime.InferenceSession(file).run(None, {"text": np.array(texts)[:, None]})
    assert labels.tolist() == ours.predict(texts).tolist()
    scores = ours.predict_proba if arrays else ours.decision_function
    np.testing.assert_allclose(second, scores(texts), atol=2e-5)


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
