"""Rows in every legal form: the same model, and the caller's objects stay as they were."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from planted import text_like

from fewlabel import TransductiveSVC
from fewlabel._inputs import _data
from fewlabel._native import _library, _scores, _views

X, Y, _ = text_like(n=120, d=60)
X.data = np.round(X.data * 64) / 64  # exact in float32
EXACT = {"n_jobs": 1, "tol": 1e-13}  # the last solve ends close to the optimum, whatever way it took
REFERENCE = TransductiveSVC(**EXACT).fit(X, Y)


def int64_indices(rows: sp.csr_matrix) -> sp.csr_matrix:
    copy = rows.copy()
    copy.indices, copy.indptr = copy.indices.astype(np.int64), copy.indptr.astype(np.int64)
    return copy


def mixed_indices(rows: sp.csr_matrix) -> sp.csr_matrix:
    copy = rows.copy()
    copy.indptr = copy.indptr.astype(np.int64)
    return copy


FORMS = {
    "csr_array": sp.csr_array,
    "int64 indices": int64_indices,
    "int64 indptr only": mixed_indices,
    "float32": lambda rows: rows.astype(np.float32),
    "big endian": lambda rows: sp.csr_matrix((rows.data.astype(">f8"), rows.indices, rows.indptr), rows.shape),
    "csc": sp.csc_matrix,
    "coo_array": sp.coo_array,
    "lil": sp.lil_matrix,
    "dense": lambda rows: rows.toarray(),
    "dense, Fortran": lambda rows: np.asfortranarray(rows.toarray()),
    "dense float32": lambda rows: rows.toarray().astype(np.float32),
    "list": lambda rows: rows.toarray().tolist(),
    "data frame": lambda rows: pd.DataFrame(rows.toarray()),
    "sparse data frame": pd.DataFrame.sparse.from_spmatrix,
    "sparse columns filled by NaN": lambda rows: pd.DataFrame(rows.toarray()).astype(pd.SparseDtype(float)),
}


def same_model(model: TransductiveSVC) -> None:
    np.testing.assert_allclose(model.coef_, REFERENCE.coef_, rtol=0, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, REFERENCE.intercept_, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(model.transduction_, REFERENCE.transduction_)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_every_form_gives_the_same_model(form) -> None:
    rows = form(X)
    model = TransductiveSVC(**EXACT).fit(rows, Y)
    same_model(model)
    np.testing.assert_allclose(model.decision_function(rows), REFERENCE.decision_function(X), rtol=0, atol=1e-5)


def test_integers_and_bools() -> None:
    counts = ((X > 0) @ sp.diags_array(np.minimum(np.arange(X.shape[1]), 1.0))).astype(
        np.int32
    )  # a column without values
    frame = pd.DataFrame(counts.toarray() > 0).astype(pd.SparseDtype(bool))
    mixed = frame.astype({0: pd.SparseDtype(int, 0), 1: pd.SparseDtype(float, 0.0), 2: pd.SparseDtype(bool, True)})
    forms = [*(counts.astype(dtype) for dtype in (np.float64, np.int32, np.uint8, bool)), frame, mixed]
    models = [TransductiveSVC().fit(rows, Y) for rows in forms]
    np.testing.assert_array_equal(models[0].predict(mixed), models[0].predict(counts))
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
    assert models[0].coef_.dtype == np.float64


@st.composite
def disguises(draw: st.DrawFn) -> sp.csr_matrix | sp.csr_array:
    """The matrix X with shuffled indices, split and zero entries, in any type."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pieces: list[tuple[np.ndarray, np.ndarray]] = []
    parts, zeros = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    for i in range(X.shape[0]):
        row = X[i]
        indices = np.concatenate([np.tile(row.indices, parts), rng.integers(0, X.shape[1], zeros)])
        values = np.concatenate([np.tile(row.data / 4, parts - 1), row.data * (1 - (parts - 1) / 4), np.zeros(zeros)])
        order = rng.permutation(len(indices)) if draw(st.booleans()) else np.arange(len(indices))
        pieces.append((indices[order], values[order]))
    index = draw(st.sampled_from([np.int32, np.int64]))
    value = draw(st.sampled_from([np.float32, np.float64]))
    indptr = np.cumsum([0] + [len(indices) for indices, _ in pieces]).astype(index)
    container = draw(st.sampled_from([sp.csr_matrix, sp.csr_array]))
    rows = container(X.shape)
    rows.indptr = indptr
    rows.indices = np.concatenate([indices for indices, _ in pieces]).astype(index)
    rows.data = np.concatenate([values for _, values in pieces]).astype(value)
    if draw(st.booleans()):
        for array in (rows.data, rows.indices, rows.indptr):
            array.flags.writeable = False
    return rows


@settings(max_examples=25, deadline=None, derandomize=True)
@given(disguises())
def test_any_legal_csr_gives_the_same_model(rows: sp.csr_matrix) -> None:
    before = [array.copy() for array in (rows.data, rows.indices, rows.indptr)]
    model = TransductiveSVC(**EXACT).fit(rows, Y)
    model.predict(rows)
    for array, old in zip((rows.data, rows.indices, rows.indptr), before, strict=True):
        np.testing.assert_array_equal(array, old)
        assert array.dtype == old.dtype
    same_model(model)


def test_empty_rows_and_columns_change_nothing() -> None:
    wide = sp.hstack([sp.csr_matrix((X.shape[0], 3)), X, sp.csr_matrix((X.shape[0], 2))], format="csr")
    model = TransductiveSVC(**EXACT).fit(wide, Y)
    assert not model.coef_[0, :3].any()
    assert not model.coef_[0, -2:].any()
    np.testing.assert_allclose(model.coef_[:, 3:-2], REFERENCE.coef_, rtol=0, atol=1e-5)
    tall = sp.vstack([X, sp.csr_matrix((2, X.shape[1]))], format="csr")
    TransductiveSVC().fit(tall, np.append(Y, [-1, -1]))


def test_read_only_memory_map(tmp_path: Path) -> None:
    arrays = []
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(X, name))
        arrays.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    rows = sp.csr_matrix(X.shape)
    rows.data, rows.indices, rows.indptr = arrays
    model = TransductiveSVC(**EXACT).fit(rows, Y)
    np.testing.assert_array_equal(model.coef_, REFERENCE.coef_)


def test_csr_is_not_copied() -> None:
    for rows in (X.astype(np.float32), X, int64_indices(X), mixed_indices(X)):
        view = _views.rows(_data.training_rows(TransductiveSVC(), rows, reset=True))
        for seen, own in zip(view.arrays, (rows.indptr, rows.indices, rows.data), strict=True):
            assert np.shares_memory(seen, own)


def test_a_row_is_scored_the_same_alone_and_among_others() -> None:
    together = REFERENCE.decision_function(X)
    for rows in (X, X.toarray(), np.asfortranarray(X.toarray())):
        alone = [REFERENCE.decision_function(rows[i : i + 1])[0] for i in range(20)]
        np.testing.assert_array_equal(alone, together[:20])


@settings(max_examples=15, deadline=None, derandomize=True)
@given(disguises(), st.sampled_from([1, 2, 3, 8, 25]), st.sampled_from([1, 2, None]))
def test_scores_are_the_same_without_the_library(rows: sp.csr_matrix, k: int, n_jobs: int | None) -> None:
    """To the bit, where SciPy does not fuse multiplication and addition; few rows, and enough for all weights."""
    rng = np.random.default_rng(k)
    coef, intercept = rng.normal(size=(k, rows.shape[1])), rng.normal(size=k)
    for some in (rows, rows[:1], rows[:0:-1]):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_library, "is_loaded", lambda: True)
            ours = _scores.scores(some, coef, intercept, n_jobs)
            patch.setattr(_library, "is_loaded", lambda: False)
            theirs = _scores.scores(some, coef, intercept, n_jobs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
        if platform.machine() == "x86_64":
            assert ours.tobytes() == theirs.tobytes()


def test_texts_in_sparse_columns_are_refused() -> None:
    frame = pd.DataFrame({"sparse": ["a", "0"]}).astype(pd.SparseDtype(object, "0"))
    with pytest.raises(ValueError, match="X holds texts"):
        TransductiveSVC().fit(frame, [0, 1])


def test_names_of_features() -> None:
    frame = pd.DataFrame(X.toarray(), columns=[f"word{j}" for j in range(X.shape[1])])
    model = TransductiveSVC().fit(frame, Y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
