"""Model files: what comes back is what was saved, in Python, in the library and in the safetensors package."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from planted import GROUP, many_topics, text_like
from safetensors import safe_open
from safetensors.numpy import save_file

import fewlabel
from fewlabel import ASOTransformer, SequenceSVC, TransductiveSVC, _model_file, load_model, save_model
from fewlabel._native import _fit, _library, _views
from fewlabel._native._signatures import LINEAR
from fewlabel.datasets import load_conll_file
from fewlabel.labeling import Session

X, Y, _ = text_like()
MANY, MANY_LABELS, _ = many_topics()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.safetensors"


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
    save_alone(model, path)
    alone = load_model(path)
    assert alone.classes_.tolist() == [0, 1]
    assert model.classes_[alone.predict(X)].tolist() == model.predict(X).tolist()
    np.testing.assert_array_equal(library_decides(path, X, 1)[1], alone.predict(X))
    assert _library.library().fewlabel_live_handles() == 0


def by_package(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The tensors and the metadata, as the safetensors package reads them."""
    with safe_open(path, "numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118


def save_alone(model: object, path: Path) -> None:
    """Save without Python's metadata."""
    with _library.released(model._assemble()) as handle:
        _library.call("fewlabel_save", handle, str(path).encode(), None)


@pytest.mark.parametrize("hierarchy", [None, GROUP, "."])
def test_many_classes_their_tree_and_probabilities(path: Path, hierarchy: object) -> None:
    labels = np.array(["a.one", "b.two", "a.six", "b.ten", "-1"])[MANY_LABELS] if hierarchy == "." else MANY_LABELS
    model = fewlabel.SemiSupervisedLogisticRegression(hierarchy=hierarchy, calibrate=hierarchy is None)
    save_model(model.fit(MANY, labels), path)
    again = load_model(path)
    assert again.get_params() == model.get_params()
    assert again.hierarchy_ == model.hierarchy_
    assert again.predict_proba(MANY).tobytes() == model.predict_proba(MANY).tobytes()
    np.testing.assert_array_equal(again.predict(MANY), model.predict(MANY))
    if hierarchy is not None:
        np.testing.assert_array_equal(again.predict_level(MANY, 1), model.predict_level(MANY, 1))
    decisions, classes = library_decides(path, MANY, 4)
    np.testing.assert_array_equal(decisions, model.decision_function(MANY))
    np.testing.assert_array_equal(model.classes_[classes], model.predict(MANY))


def library_decides(path: Path, rows: sp.csr_matrix, n_outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Decisions (n, n_outputs) and class numbers (n,) of the library for a model file."""
    handle, given = ctypes.c_int64(), _views.rows(rows)
    decisions, classes = np.empty((rows.shape[0], n_outputs)), np.empty(rows.shape[0], np.int32)
    _library.call("fewlabel_load", str(path).encode(), handle)
    with _library.released(handle.value) as loaded:
        _library.call("fewlabel_predict", loaded, given, 2, classes, decisions)
    return decisions, classes


FORBIDDEN = [("O", "I"), (None, "I")]


def tagged() -> tuple[sp.csr_matrix, np.ndarray, list[int]]:
    """Rows of sequences of B, I and O, every seventh without a tag."""
    y = np.array(["B", "I", "O", "B", "O"] * 24)
    y[::7] = "?"
    return X[: len(y)], y, [5] * 24


def test_a_chain_from_a_file_tags_to_the_same_bits(path: Path) -> None:
    rows, y, lengths = tagged()
    model = SequenceSVC(alpha=1e-3, forbidden_transitions=FORBIDDEN, unlabeled="?", n_jobs=2).fit(rows, y, lengths)
    save_model(model, path)
    again = load_model(path)
    assert list(map(tuple, again.forbidden_transitions)) == FORBIDDEN
    assert again.get_params() | {"forbidden_transitions": FORBIDDEN} == model.get_params()
    assert np.isneginf(again.transitions_).sum() == 1
    for name in ("classes_", "coef_", "transitions_", "start_", "end_"):
        assert getattr(again, name).tobytes() == getattr(model, name).tobytes(), name
    for name in ("n_iter_", "objective_", "termination_condition_", "n_features_in_"):
        assert getattr(again, name) == getattr(model, name), name
    for call in ("predict", "decision_function", "predict_marginals"):
        assert getattr(again, call)(rows, lengths).tobytes() == getattr(model, call)(rows, lengths).tobytes(), call
    save_alone(model, path)
    alone = load_model(path)
    assert (alone.loss, alone.classes_.tolist()) == ("softmax_margin", [0, 1, 2])
    assert model.classes_[alone.predict(rows, lengths)].tolist() == model.predict(rows, lengths).tolist()
    on = model.set_params(warm_start=True).fit(rows, y, lengths)
    assert again.set_params(warm_start=True).fit(rows, y, lengths).coef_.tobytes() == on.coef_.tobytes()
    assert _library.library().fewlabel_live_handles() == 0


@pytest.mark.parametrize("groups", [None, np.arange(X.shape[1]) % 2])
def test_a_structure_from_a_file_gives_the_same_bits(path: Path, groups: np.ndarray | None) -> None:
    model = ASOTransformer(n_components=2, feature_groups=groups, structure_weight=2.5).fit(X)
    save_model(model, path)
    again = load_model(path)
    assert again.get_params() | {"feature_groups": 0} == model.get_params() | {"feature_groups": 0}
    assert (again.transform(X) - model.transform(X)).nnz == 0
    save_alone(model, path)
    alone = load_model(path).set_params(structure_weight=2.5)
    assert (alone.transform(X) - model.transform(X)).nnz == 0
    assert _library.library().fewlabel_live_handles() == 0


KINDS_OF_FILES = {  # and their tensors, as in docs/c.md
    "linear": "coef [n_features, n_outputs], intercept [n_outputs], class_prior [n_classes]",
    "chain": "coef [n_features, n_tags], transitions [n_tags, n_tags], start [n_tags], end [n_tags]",
    "structure": "components [n_features, n_components], groups [n_features]",
}


@pytest.mark.parametrize(("kind", "listed"), KINDS_OF_FILES.items())
def test_the_safetensors_package_reads_and_writes_model_files(path: Path, kind: str, listed: str) -> None:
    models = {"linear": TransductiveSVC(), "chain": SequenceSVC(unlabeled="?"), "structure": ASOTransformer()}
    model = models[kind].fit(*(tagged() if kind == "chain" else (MANY, MANY_LABELS)))
    save_model(model, path)
    tensors, metadata = by_package(path)
    sizes = json.loads(metadata["description"])
    assert (metadata["kind"], sizes["metadata"]["estimator"]) == (kind, type(model).__name__)
    page = Path(__file__).resolve().parents[2] / "docs" / "c.md"
    assert listed in page.read_text(encoding="utf-8").replace("`", "")
    for name, shape in (entry.split(" [") for entry in listed.rstrip("]").split("], ")):
        assert tensors[name].shape == tuple(sizes[size] for size in shape.split(", "))
    with _library.released(model._assemble()) as handle:
        arrays = _fit.read(handle).arrays
    assert {name: a.tobytes() for name, a in tensors.items()} == {name: a.tobytes() for name, a in arrays.items()}
    save_file(tensors, path.with_name("again"), metadata)
    one, other = vars(load_model(path.with_name("again"))), vars(load_model(path))
    assert {name: str(value) for name, value in one.items()} == {name: str(value) for name, value in other.items()}


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
@pytest.mark.parametrize(
    "kind", ["directory", "pipe", "link to a pipe", "socket", "/dev/zero", "/dev/null", "/dev/full"]
)
def test_only_files_are_read_and_written(tmp_path: Path, kind: str) -> None:
    path, model = tmp_path / "it", TransductiveSVC().fit(X, Y)
    if kind == "directory":
        path.mkdir()
    elif kind == "socket":
        bound = socket.socket(socket.AF_UNIX)
        bound.bind(str(path))
        bound.close()
    elif kind.endswith("pipe"):
        os.mkfifo(path)
    if kind.startswith("link"):
        (tmp_path / "link").symlink_to(path)
        path = tmp_path / "link"
    path = Path(kind) if kind.startswith("/") else path
    found = f"{path}: it is a {'device' if kind.startswith('/') else kind.split()[-1]}: give the path of a file"
    with pytest.raises(OSError, match=f"cannot write {found}"):
        save_model(model, path)
    for read in (load_model, lambda path: _model_file._of_linear(path, RuntimeError()), load_conll_file):
        with pytest.raises(OSError, match=f"cannot read {found}"):
            read(path)
    handle, sizes = ctypes.c_int64(), np.zeros(4, np.int64)
    with pytest.raises(OSError, match=f"cannot read {found}"):
        _library.call("fewlabel_svmlight_read", os.fsencode(path), None, 0, 0, 0, None, handle, sizes)


def test_a_save_that_is_killed_leaves_nothing(path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("files without a name are Linux's")
    save_model(TransductiveSVC().fit(X, Y), path)
    before = path.read_bytes()
    program = """
import sys
import numpy as np
from fewlabel._native import _fit, _library
from fewlabel._native._signatures import LINEAR
arrays = {"coef": np.zeros(300_000), "intercept": [0.0], "class_prior": [0.5, 0.5]}
model = _fit.assemble(LINEAR, {"n_classes": 2, "n_features": 300_000}, arrays)
print("saving", flush=True)
while True:
    _library.call("fewlabel_save", model, sys.argv[1].encode(), None)
"""
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05)
        process.kill()
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert path.read_bytes() == before or load_model(path).n_features_in_ == 300_000


def test_a_model_that_another_program_made(path: Path) -> None:
    tensors = {"class_prior": np.array([0.5, 0.5]), "coef": np.array([[1.0], [-1.0]]), "intercept": np.array([0.25])}
    data = b"".join(tensors[name].tobytes() for name in sorted(tensors))
    metadata = {"kind": "linear", "description": '{"n_classes": 2, "n_features": 2}'}
    save_file(tensors, path, metadata | {"sha256": hashlib.sha256(data).hexdigest()})
    model = load_model(path)
    assert model.predict([[1, 0], [0, 1]]).tolist() == [1, 0]
    assert np.isnan(model.objective_)
    for wrong in (metadata, metadata | {"sha256": hashlib.sha256(data[:-1]).hexdigest()}, metadata | {"format": "np"}):
        save_file(tensors, path, wrong)
        with pytest.raises(ValueError, match=f"{path} is not a valid model file"):
            load_model(path)


def test_parameters_of_every_shape_and_names_of_features(path: Path) -> None:
    frame = pd.DataFrame(X.toarray(), columns=[f"word{j}" for j in range(X.shape[1])])
    settings = {"class_prior": {"a": 0.6, "b": 0.4}, "class_weight": {"a": 1, "b": 2.5}, "unlabeled": "?"}
    model = TransductiveSVC(**settings, max_iter=np.int64(700)).fit(frame, np.array(["a", "b", "?"])[Y])
    save_model(model, path)
    assert load_model(path).get_params() == model.get_params()
    assert load_model(path).feature_names_in_.tolist() == list(frame.columns)
    save_model(model.set_params(unlabeled=float("nan"), class_prior=np.array([0.6, 0.4])), path)
    again = load_model(path)
    assert np.isnan(again.unlabeled)
    assert again.class_prior == [0.6, 0.4]


def test_a_name_that_is_no_unicode_can_be_fitted_but_not_saved(path: Path) -> None:
    model = TransductiveSVC().fit(X, np.where(Y == 1, "\ud800", np.where(Y == 0, "a", "-1")))
    assert model.predict(X[np.flatnonzero(Y == 1)[:1]]).tolist() == ["\ud800"]
    with pytest.raises(ValueError, match=r"the model has a class or a name that is no Unicode: .*: use joblib"):
        save_model(model, path)


@pytest.mark.parametrize("kind", [str, os.fsencode, Path])
def test_a_path_with_a_nul_is_refused_and_no_file_is_written(tmp_path: Path, kind: Callable[[str], Any]) -> None:
    (tmp_path / "thesis.txt").write_text("text")
    path = kind(str(tmp_path / "thesis.txt\0.safetensors"))
    for call in (
        lambda: save_model(TransductiveSVC().fit(X, Y), path),
        lambda: load_model(path),
        lambda: _library.call("fewlabel_load", os.fsencode(path), ctypes.c_int64()),
        lambda: Session(X, TransductiveSVC(), path=path),
        lambda: load_conll_file(path),
    ):
        with pytest.raises((TypeError, ValueError), match=r"NUL character, got|path must be that of a file, got b"):
            call()
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("thesis.txt", "text")]


def test_what_cannot_be_saved(path: Path) -> None:
    with pytest.raises(TypeError, match=r"save_model takes TransductiveSVC, .*, ASOTransformer, got int"):
        save_model(3, path)
    for unfitted in (TransductiveSVC(), ASOTransformer()):
        with pytest.raises(ValueError, match="not fitted"):
            save_model(unfitted, path)
    with pytest.raises(ValueError, match=r"auxiliary=.*cannot be kept in a model file"):
        save_model(ASOTransformer(n_components=2, auxiliary=lambda rows, _: rows.toarray() != 0).fit(X), path)
    model = TransductiveSVC().fit(X, Y)
    with pytest.raises(ValueError, match=r"class_weight=.*cannot be kept in a model file"):
        save_model(model.set_params(class_weight=np.random.RandomState(0)), path)
    model.set_params(class_weight=None)
    model.classes_ = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")
    with pytest.raises(ValueError, match=r"classes=.*cannot be kept in a model file"):
        save_model(model, path)
    named = TransductiveSVC().fit(pd.DataFrame(X.toarray()).add_prefix("\0"), Y)
    with pytest.raises(ValueError, match="feature_names must not have a NUL character"):
        save_model(named, path)
    with pytest.raises(OSError, match="missing"):
        save_model(TransductiveSVC().fit(X, Y), path.parent / "missing" / "model")
    assert _library.library().fewlabel_live_handles() == 0


def test_one_class_has_every_row_whatever_the_scores(path: Path) -> None:
    arrays = {"coef": np.ones(3), "intercept": [1.0], "class_prior": [1.0]}
    with _library.released(_fit.assemble(LINEAR, {"n_classes": 1, "n_features": 3}, arrays)) as loaded:
        _library.call("fewlabel_save", loaded, str(path).encode(), None)
    assert load_model(path).predict([[1.0, 1.0, 1.0]]).tolist() == [0]
    assert library_decides(path, sp.csr_matrix(np.ones((1, 3))), 1)[1].tolist() == [0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimator": "FutureSVC"}, "does not know 'FutureSVC'"),
        ({"estimator": "SequenceSVC"}, "not those of a SequenceSVC"),
        ({"parameters": {"colour": 3}}, ""),
        ({"classes": {"dtype": "V8", "values": [0, 1]}}, "classes of type"),
        ({"classes": {"dtype": "int64", "values": [0, 1, 2]}}, "3 names for 2"),
        ({"classes": {"dtype": "int64", "values": [1, 0]}}, "not sorted"),
        ({"classes": {"dtype": "int64", "values": [0.5, 1]}}, "classes is "),
        ({"classes": None}, ""),
        ({"hierarchy": {"dict": [[0, "a"], [1, "b"]]}}, "no tree of the classes"),
        ({"hierarchy": {"dict": [[0, "a"], ["a", 0]]}}, "a class must be a leaf"),
        ({"feature_names": ["a", "b"]}, "feature_names are 2 for"),
        ({"temperature": "0.8"}, "temperature is "),
        ({"more": None}, "more"),
    ],
)
def test_foreign_metadata(path: Path, change: dict, message: str) -> None:
    save_model(TransductiveSVC().fit(X, Y), path)
    tensors, metadata = by_package(path)
    description = json.loads(metadata["description"])
    description["metadata"] |= change
    save_file(tensors, path, metadata | {"description": json.dumps(description)})
    with pytest.raises(ValueError, match=f"metadata of the model file .*{message}") as refusal:
        load_model(path)
    for advice in ("written by fewlabel ", ", this is fewlabel ", "install the version that wrote it"):
        assert advice in str(refusal.value)
