"""Model files: what comes back is what was saved, in Python and in the library."""

from __future__ import annotations

import ctypes
import hashlib
import json
import re
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from planted import GROUP, many_topics, text_like

from fewlabel import (
    ASOTransformer,
    SemiSupervisedLogisticRegression,
    SequenceSVC,
    TransductiveSVC,
    load_model,
    save_model,
)
from fewlabel._inputs import _data
from fewlabel._native import _fit, _library
from fewlabel._native._signatures import LINEAR

X, Y, _ = text_like()
MANY, MANY_LABELS, _ = many_topics()
PAGE = Path(__file__).resolve().parents[2] / "docs" / "model-file.md"


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


def reader() -> dict:
    """The functions of the reader in docs/model-file.md."""
    names: dict = {}
    exec(re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1], names)
    return names


class Sealed:
    """A file in parts that can be changed, and put together with a right checksum."""

    def __init__(self, file: bytes) -> None:
        length = struct.unpack_from("<I", file, 12)[0]
        self.header, self.data = file[24 : 24 + length], file[24 + length : -32]
        self.version, self.lengths = 3, [0, 0]  # what is added to the lengths in the file

    def file(self) -> bytes:
        length = 24 + len(self.header) + len(self.data) + 32
        lengths = (len(self.header) + self.lengths[0]) % 2**32, (length + self.lengths[1]) % 2**64
        file = struct.pack("<8sIIQ", b"\x89FWL\r\n\x1a\n", self.version, *lengths) + self.header + self.data
        return file + hashlib.sha256(file).digest()


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
@pytest.mark.parametrize("hierarchy", [None, GROUP, "."])
def test_many_classes_and_their_tree(path: Path, kind: type, hierarchy: object) -> None:
    labels = np.array(["a.one", "b.two", "a.six", "b.ten", "-1"])[MANY_LABELS] if hierarchy == "." else MANY_LABELS
    model = kind(hierarchy=hierarchy).fit(MANY, labels)
    save_model(model, path)
    again = load_model(path)
    assert type(again) is kind
    assert again.get_params() == model.get_params()
    assert again.hierarchy_ == model.hierarchy_
    assert again.decision_function(MANY).tobytes() == model.decision_function(MANY).tobytes()
    np.testing.assert_array_equal(again.class_prior_, model.class_prior_)
    np.testing.assert_array_equal(again.predict(MANY), model.predict(MANY))
    if hierarchy is not None:
        np.testing.assert_array_equal(again.predict_level(MANY, 1), model.predict_level(MANY, 1))
    if kind is SemiSupervisedLogisticRegression:
        np.testing.assert_array_equal(again.predict_proba(MANY), model.predict_proba(MANY))
    page = reader()
    read = page["read_model"](path)
    np.testing.assert_array_equal(read["coef"].T, model.coef_)
    np.testing.assert_array_equal(model.classes_[page["predict"](read, MANY)], model.predict(MANY))
    decisions, classes = library_decides(path, MANY, 4)
    np.testing.assert_array_equal(decisions, model.decision_function(MANY))
    np.testing.assert_array_equal(decisions, MANY @ model.coef_.T + model.intercept_)
    np.testing.assert_array_equal(model.classes_[classes], model.predict(MANY))


def library_decides(path: Path, rows: sp.csr_matrix, n_outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Decisions (n, n_outputs) and class numbers (n,) of the library for a model file."""
    handle, given = ctypes.c_int64(), _data.native(rows)
    decisions, classes = np.empty((rows.shape[0], n_outputs)), np.empty(rows.shape[0], np.int32)
    _library.call("fewlabel_load", str(path).encode(), handle)
    with _library.released(handle.value) as loaded:
        _library.call("fewlabel_predict", loaded, given.struct, 2, classes, decisions)
    return decisions, classes


FORBIDDEN = [("O", "I"), (None, "I")]


def tagged() -> tuple[sp.csr_matrix, np.ndarray, list[int]]:
    """Rows of sequences of B, I and O, every seventh without a tag."""
    y = np.array(["B", "I", "O", "B", "O"] * 24)
    y[::7] = "?"
    return X[: len(y)], y, [5] * 24


def test_a_chain_from_a_file_tags_to_the_same_bits(path: Path) -> None:
    rows, _, lengths = given = tagged()
    model = SequenceSVC(alpha=1e-3, forbidden_transitions=FORBIDDEN, unlabeled="?", n_jobs=2).fit(*given)
    save_model(model, path)
    again = load_model(path)
    assert type(again) is SequenceSVC
    assert list(map(tuple, again.forbidden_transitions)) == FORBIDDEN
    assert again.get_params() | {"forbidden_transitions": FORBIDDEN} == model.get_params()
    assert np.isneginf(again.transitions_).sum() == 1
    for name in ("classes_", "coef_", "transitions_", "start_", "end_"):
        assert getattr(again, name).tobytes() == getattr(model, name).tobytes(), name
        assert getattr(again, name).dtype == getattr(model, name).dtype
    for name in ("n_iter_", "objective_", "termination_condition_", "n_features_in_"):
        np.testing.assert_equal(getattr(again, name), getattr(model, name), name)
    for call in ("predict", "decision_function", "predict_marginals"):
        assert getattr(again, call)(rows, lengths).tobytes() == getattr(model, call)(rows, lengths).tobytes(), call
    on = model.set_params(warm_start=True).fit(*given)
    assert again.set_params(warm_start=True).fit(*given).coef_.tobytes() == on.coef_.tobytes()
    assert _library.live_handles() == 0


def test_the_library_and_the_page_read_chains(path: Path) -> None:
    rows, y, lengths = tagged()
    model = SequenceSVC(forbidden_transitions=FORBIDDEN, unlabeled="?").fit(rows, y, lengths)
    save_model(model, path)
    read = reader()["read_model"](path)
    assert read["coef"].T.tobytes() == model.coef_.tobytes()
    for name in ("transitions", "start", "end"):
        assert read[name].tobytes() == getattr(model, f"{name}_").tobytes()
    assert (read["kind"], read["method"], read["n_iter"]) == ("chain", "softmax_margin", 10)
    handle, given, tags = ctypes.c_int64(), _data.native(rows), np.empty(len(y), np.int32)
    tokens = np.array(lengths, dtype=np.int64)
    _library.call("fewlabel_load", str(path).encode(), handle)
    with _library.released(handle.value) as loaded:
        sequences = (given.struct, tokens, len(tokens), 2)
        _library.call("fewlabel_sequence_decode", loaded, *sequences, tags, None, None, None)
    assert model.classes_[tags].tolist() == model.predict(rows, lengths).tolist()


def test_a_chain_that_the_library_wrote_alone_has_the_classes_0_1_and_so_on(path: Path) -> None:
    rows, y, lengths = tagged()
    model = SequenceSVC(loss="crf", unlabeled="?").fit(rows, y, lengths)
    with _library.released(model._assemble()) as handle:
        _library.call("fewlabel_save", handle, str(path).encode(), None)
    again = load_model(path)
    assert (again.loss, again.classes_.tolist()) == ("crf", [0, 1, 2])
    assert model.classes_[again.predict(rows, lengths)].tolist() == model.predict(rows, lengths).tolist()


def test_an_estimator_of_another_kind_of_numbers(path: Path) -> None:
    rows, y, lengths = tagged()
    for model, other in [
        (SequenceSVC(unlabeled="?").fit(rows, y, lengths), "TransductiveSVC"),
        (TransductiveSVC().fit(X, Y), "SequenceSVC"),
    ]:
        save_model(model, path)
        rewrite(path, {"estimator": other})
        with pytest.raises(ValueError, match=f"metadata of the model file .*not those of a {other}"):
            load_model(path)


STRUCTURES = {
    "features": ASOTransformer(n_components=3, output="structure"),
    "features of groups": ASOTransformer(
        n_components=2, feature_groups=[j % 2 for j in range(X.shape[1])], structure_weight=2.5
    ),
}


@pytest.mark.parametrize("model", STRUCTURES.values(), ids=STRUCTURES.keys())
def test_a_structure_from_a_file_gives_the_same_bits(path: Path, model: ASOTransformer) -> None:
    save_model(model.fit(X), path)
    again = load_model(path)
    assert type(again) is ASOTransformer
    assert again.get_params() == model.get_params()
    for own, other in zip(model._parts(), again._parts(), strict=True):
        assert [array.tobytes() for array in own] == [array.tobytes() for array in other]
    assert (sp.csr_array(again.transform(X)) - sp.csr_array(model.transform(X))).nnz == 0
    assert again.strongest_features(3) == model.strongest_features(3)
    save_model(again, path)
    read = reader()["read_model"](path)
    for group, (features, components) in enumerate(model._parts()):
        assert (read["groups"].ravel()[features] == group).all()
        assert read["components"][features].T.tobytes() == components.tobytes()
    assert _library.live_handles() == 0


def test_a_structure_that_the_library_wrote_alone(path: Path) -> None:
    model = STRUCTURES["features"].fit(X)
    with _library.released(model._assemble()) as handle:
        _library.call("fewlabel_save", handle, str(path).encode(), None)
    again = load_model(path)
    assert (type(again), again.n_components, again.structure_weight) == (ASOTransformer, 3, 1.0)
    assert again.components_.tobytes() == model.components_.tobytes()


def test_foreign_metadata_of_a_structure(path: Path) -> None:
    save_model(ASOTransformer(n_components=2).fit(X), path)
    rewrite(path, {"estimator": "SequenceSVC"})
    with pytest.raises(ValueError, match=r"metadata of the model file.*not those of a SequenceSVC"):
        load_model(path)


def test_parameters_of_every_shape(path: Path) -> None:
    settings = {
        "class_prior": {"a": 0.6, "b": 0.4},
        "class_weight": {"a": 1, "b": 2.5},
        "unlabeled": "?",
        "max_iter": np.int64(70),
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
    decisions, classes = library_decides(path, X, 1)
    np.testing.assert_allclose(decisions[:, 0], model.decision_function(X), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(classes, model.predict(X))


def test_a_file_that_the_library_wrote_alone(path: Path) -> None:
    progress, model = _fit.Progress(), ctypes.c_int64()
    rows, codes = _data.native(X), Y.astype(np.int32)
    _library.call("fewlabel_fit", rows.struct, _fit.Labels(codes).native(), None, 0, None, progress, None, model)
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
    arrays = {"coef": np.ones(3), "intercept": [1.0], "class_prior": [0.5, 0.5]}
    with _library.released(_fit.assemble(LINEAR, {"n_classes": 2, "n_features": 3}, arrays)) as loaded:
        _library.call("fewlabel_save", loaded, str(path).encode(), None)
    first = load_model(path)
    save_model(first, path)
    assert np.isnan([first.objective_, load_model(path).objective_]).all()


def test_what_cannot_be_saved(path: Path) -> None:
    takes = "save_model takes TransductiveSVC, SemiSupervisedLogisticRegression, SequenceSVC, ASOTransformer, got"
    with pytest.raises(TypeError, match=f"{takes} int"):
        save_model(3, path)
    with pytest.raises(TypeError, match=f"{takes} ndarray"):
        save_model(np.ones(3), path)
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
    with pytest.raises(ValueError, match="texts, integers, floats or bools; these are date"):
        save_model(model, path)
    with pytest.raises(OSError, match="missing"):
        save_model(TransductiveSVC().fit(X, Y), path.parent / "missing" / "model")
    assert _library.live_handles() == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"spam"', b'"sp\xe9m"', "byte [0-9]+ is not UTF-8"),
        (b'"ham"', b'"\\ud83d"', "half of a surrogate pair"),
        (b'"smoothing"', b'"temperature"', '\'?"?temperature"? stands twice'),
        (b'"metadata"', b'"Metadata"', 'unknown field "Metadata"'),
    ],
)
def test_headers_that_readers_would_take_differently(path: Path, old: bytes, new: bytes, message: str) -> None:
    save_model(TransductiveSVC().fit(X, KINDS["text"]), path)
    sealed = Sealed(path.read_bytes())
    sealed.header = sealed.header.replace(old, new)
    path.write_bytes(sealed.file())
    with pytest.raises(ValueError, match=f"{path} is not a valid model file: .*{message}"):
        load_model(path)
    with pytest.raises(ValueError, match=r"."):
        reader()["read_model"](path)


def test_metadata_that_is_not_utf8_is_not_saved(path: Path) -> None:
    model = TransductiveSVC().fit(X, Y)
    with _library.released(model._assemble()) as handle, pytest.raises(ValueError, match="byte 4 is not UTF-8"):
        _library.call("fewlabel_save", handle, str(path).encode(), '"café"'.encode("latin-1"))
    assert not path.exists()


def test_a_symbolic_link_stays_and_its_target_is_written(path: Path) -> None:
    for name in ("there", "not yet there"):
        link, target = path.parent / f"link to {name}", path.parent / name
        link.symlink_to(target.name)
        if name == "there":
            target.write_text("old")
        save_model(TransductiveSVC().fit(X, Y), link)
        assert link.is_symlink()
        assert not target.is_symlink()
        assert load_model(target).classes_.tolist() == [0, 1]


def test_one_class_has_every_row_whatever_the_scores(path: Path) -> None:
    arrays = {"coef": np.ones(3), "intercept": [1.0], "class_prior": [1.0]}
    with _library.released(_fit.assemble(LINEAR, {"n_classes": 1, "n_features": 3}, arrays)) as loaded:
        _library.call("fewlabel_save", loaded, str(path).encode(), None)
    assert load_model(path).predict([[1.0, 1.0, 1.0]]).tolist() == [0]
    assert library_decides(path, sp.csr_matrix(np.ones((1, 3))), 1)[1].tolist() == [0]


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
        ({"classes": {"dtype": "int64", "values": [1, 0]}}, "metadata of the model file .*not sorted"),
        ({"classes": {"dtype": "int64", "values": [0.5, 1]}}, "metadata of the model file .*classes is "),
        ({"classes": None}, "metadata of the model file"),
        ({"hierarchy": {"dict": [[0, "a"], [1, "b"]]}}, "metadata of the model file .*no tree of the classes"),
        ({"hierarchy": {"dict": [[0, "a"], ["a", 0]]}}, "metadata of the model file .*goes in a circle"),
        ({"feature_names": ["a", "b"]}, "metadata of the model file .*2 names for"),
        ({"temperature": "0.8"}, "metadata of the model file .*temperature is "),
        ({"more": None}, "metadata of the model file .*the fields more"),
    ],
)
def test_foreign_metadata(path: Path, change: dict, message: str) -> None:
    save_model(TransductiveSVC().fit(X, Y), path)
    rewrite(path, change)
    with pytest.raises(ValueError, match=message) as refusal:
        load_model(path)
    for advice in ("written by fewlabel ", ", this is fewlabel ", "install the version that wrote it"):
        assert advice in str(refusal.value)


def rewrite(path: Path, change: dict) -> None:
    """Change the metadata of a file."""
    handle = ctypes.c_int64()
    _library.call("fewlabel_load", str(path).encode(), handle)
    with _library.released(handle.value) as loaded:
        metadata = _fit.read(loaded).report["metadata"] | change
        _library.call("fewlabel_save", loaded, str(path).encode(), json.dumps(metadata).encode())
