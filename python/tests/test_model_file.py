"""Model files: what comes back is what was saved, in Python and in the library."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from planted import text_like

from fewlabel import TransductiveSVC, _data, _fit, _library, load_model, save_model

X, Y, _ = text_like()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.fewlabel"


def labeled_as(values: np.ndarray, marker: object) -> np.ndarray:
    given = values[np.maximum(Y, 0)]
    given[Y == -1] = marker
    return given


KINDS = {
    "int": labeled_as(np.array([2, 5]), -1),
    "int8": labeled_as(np.array([2, 5], dtype=np.int8), -1),
    "float": labeled_as(np.array([0.0, 1.0]), np.nan),
    "bool": labeled_as(np.array([False, True], dtype=object), None),
    "text": labeled_as(np.array(["ham", "spam"]), "-1"),
    "object": labeled_as(np.array(["α", "β"], dtype=object), None),
}


@pytest.mark.parametrize("y", KINDS.values(), ids=KINDS.keys())
def test_round_trip(path: Path, y: np.ndarray) -> None:
    model = TransductiveSVC(alpha=2e-3, class_weight="balanced", n_jobs=1).fit(X, y)
    save_model(model, path)
    again = load_model(path)
    assert again.get_params() == model.get_params()
    for name in ("classes_", "coef_", "intercept_", "class_prior_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
        assert getattr(again, name).dtype == getattr(model, name).dtype
    for name in ("n_iter_", "objective_", "termination_condition_", "n_features_in_"):
        assert getattr(again, name) == getattr(model, name)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert _library.live_handles() == 0


def test_parameters_of_every_shape(path: Path) -> None:
    settings = {
        "class_prior": {"a": 0.6, "b": 0.4},
        "class_weight": {"a": 1, "b": 2.5},
        "unlabeled": "?",
        "random_state": np.int64(7),
    }
    model = TransductiveSVC(**settings).fit(X, np.array(["a", "b", "?"])[Y])
    save_model(model, path)
    assert load_model(path).get_params() == model.get_params()
    save_model(model.set_params(unlabeled=float("nan"), class_prior=np.array([0.6, 0.4])), path)
    again = load_model(path)
    assert np.isnan(again.unlabeled)
    assert again.class_prior == [0.6, 0.4]


def test_names_of_features(path: Path) -> None:
    frame = pd.DataFrame(X.toarray(), columns=[f"word{j}" for j in range(X.shape[1])])
    save_model(TransductiveSVC().fit(frame, Y), path)
    assert load_model(path).feature_names_in_.tolist() == list(frame.columns)


def test_the_library_decides_as_python_does(path: Path) -> None:
    model = TransductiveSVC().fit(X, Y)
    save_model(model, path)
    handle = ctypes.c_int64()
    _library.call("fewlabel_load", str(path).encode(), ctypes.byref(handle))
    rows, decisions, classes = _data.native(X), np.empty(X.shape[0]), np.empty(X.shape[0], np.int32)
    with _library.released(handle.value) as loaded:
        _library.call("fewlabel_decision", loaded, ctypes.byref(rows.struct), 2, decisions.ctypes.data)
        _library.call("fewlabel_predict", loaded, ctypes.byref(rows.struct), 2, classes.ctypes.data)
        report = _fit.read(loaded).report
    np.testing.assert_allclose(decisions, model.decision_function(X), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(classes, model.predict(X))
    assert report["metadata"]["estimator"] == "TransductiveSVC"


def test_a_file_that_the_library_wrote_alone(path: Path) -> None:
    progress, model = _fit.Progress(), ctypes.c_int64()
    rows, codes = _data.native(X), Y.astype(np.int32)
    _library.call(
        "fewlabel_fit", ctypes.byref(rows.struct), codes.ctypes.data, None, None, ctypes.byref(progress),
        ctypes.byref(model),
    )  # fmt: skip
    with _library.released(model.value) as handle:
        _library.call("fewlabel_save", handle, str(path).encode(), None)
    again = load_model(path)
    assert again.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(again.predict(X), TransductiveSVC(n_jobs=1).fit(X, Y).predict(X))


@pytest.mark.filterwarnings("ignore:all labeled rows have class")
def test_constant_model(path: Path) -> None:
    save_model(TransductiveSVC().fit(X[:3], ["only", None, None]), path)
    assert load_model(path).predict(X[:2]).tolist() == ["only", "only"]


def test_an_objective_that_is_not_known_stays_unknown(path: Path) -> None:
    coef, handle = np.ones(3), ctypes.c_int64()
    arrays = [coef.ctypes.data] * 3
    _library.call("fewlabel_assemble", b'{"n_classes": 2, "n_features": 3}', *arrays, ctypes.byref(handle))
    with _library.released(handle.value) as loaded:
        _library.call("fewlabel_save", loaded, str(path).encode(), None)
    first = load_model(path)
    save_model(first, path)
    assert np.isnan([first.objective_, load_model(path).objective_]).all()


def test_what_cannot_be_saved(path: Path) -> None:
    with pytest.raises(TypeError, match="save_model takes TransductiveSVC, SemiSupervisedLogisticRegression, got int"):
        save_model(3, path)
    with pytest.raises(ValueError, match="not fitted"):
        save_model(TransductiveSVC(), path)
    model = TransductiveSVC().fit(X, Y)
    with pytest.raises(ValueError, match=r"random_state=.*cannot be kept in a model file"):
        save_model(model.set_params(random_state=np.random.RandomState(0)), path)
    model.set_params(random_state=None)
    model.classes_ = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")
    with pytest.raises(ValueError, match="texts, integers, floats or bools; these are date"):
        save_model(model, path)
    with pytest.raises(OSError, match="missing"):
        save_model(TransductiveSVC().fit(X, Y), path.parent / "missing" / "model")
    assert _library.live_handles() == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"estimator": "FutureSVC"},
            "model.fewlabel.* holds a 'FutureSVC', which this version of fewlabel does not know",
        ),
        ({"parameters": {"colour": 3}}, "metadata of the model file"),
        ({"classes": {"dtype": "V8", "values": [0, 1]}}, "metadata of the model file .*classes of type"),
        ({"classes": {"dtype": "int64", "values": [0, 1, 2]}}, "metadata of the model file .*3 names for 2"),
        ({"classes": None}, "metadata of the model file"),
    ],
)
def test_foreign_metadata(path: Path, change: dict, message: str) -> None:
    save_model(TransductiveSVC().fit(X, Y), path)
    handle = ctypes.c_int64()
    _library.call("fewlabel_load", str(path).encode(), ctypes.byref(handle))
    with _library.released(handle.value) as loaded:
        metadata = _fit.read(loaded).report["metadata"] | change
        _library.call("fewlabel_save", loaded, str(path).encode(), json.dumps(metadata).encode())
    with pytest.raises(ValueError, match=message):
        load_model(path)
