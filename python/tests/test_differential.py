"""The same problem in other clothes gives the same model, and three readers of a model give the same decisions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings, strategies as st
from planted import GROUP, many_topics, text_like
from test_library import PACKAGE, WAIT
from test_model_file import by_package, library_decides

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC, save_model

QUICK = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def exact(problem: Any) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows whose values are exact in float32, in canonical form, and their labels."""
    rows = problem.X.copy()
    rows.data = np.round(rows.data * 64) / 64
    rows.sort_indices()
    return rows, problem.y


PROBLEMS = {"two": exact(text_like(n=150, d=60)), "four": exact(many_topics(n=200, d=70))}
MODELS: dict[str, list[dict[str, Any]]] = {
    "two": [{"method": "annealing"}, {"method": "switching"}, {"method": "pair_switching"}],
    "four": [{"method": "annealing"}, {"method": "switching", "hierarchy": GROUP}],
}


def bits(model: TransductiveSVC) -> tuple[bytes, ...]:
    """All that a fit says of the numbers; the names of the classes are not part of it."""
    numbers = [
        model.coef_,
        model.intercept_,
        model.class_prior_,
        np.float64(model.objective_),
        *model.history_.values(),
    ]
    if hasattr(model, "label_distributions_"):
        numbers.append(model.label_distributions_)
    places = np.searchsorted(model.classes_, model.transduction_)
    return tuple(np.ascontiguousarray(array).tobytes() for array in [*numbers, places.astype(np.int64)])


REFERENCE = {
    (name, k): bits(TransductiveSVC(n_jobs=1, **chosen).fit(*PROBLEMS[name]))
    for name in PROBLEMS
    for k, chosen in enumerate(MODELS[name])
}
cases = st.sampled_from(list(REFERENCE))


# --- forms in which nothing is rounded: the same bits -----------------------------------------------------------------


def retyped(rows: sp.csr_matrix, index: type, indptr: type, value: type) -> sp.csr_matrix:
    copy = sp.csr_matrix(rows.shape, dtype=value)
    copy.data, copy.indices, copy.indptr = (
        rows.data.astype(value),
        rows.indices.astype(index),
        rows.indptr.astype(indptr),
    )
    return copy


def padded(rows: sp.csr_matrix) -> sp.csr_matrix:
    """With room behind the last row, as SciPy leaves it after some operations."""
    copy = rows.copy()
    copy.data, copy.indices = np.append(copy.data, [7.0, 8.0]), np.append(copy.indices, [0, 1]).astype(np.int32)
    return copy


FORMS = {
    "int64": lambda rows: retyped(rows, np.int64, np.int64, np.float64),
    "int64 bounds": lambda rows: retyped(rows, np.int32, np.int64, np.float64),
    "int64 indices": lambda rows: retyped(rows, np.int64, np.int32, np.float64),
    "float32": lambda rows: retyped(rows, np.int32, np.int32, np.float32),
    "float32, int64": lambda rows: retyped(rows, np.int64, np.int64, np.float32),
    "csr_array": sp.csr_array,
    "csc": sp.csc_matrix,
    "csc_array float32": lambda rows: sp.csc_array(rows).astype(np.float32),
    "coo": sp.coo_matrix,
    "bsr": lambda rows: sp.bsr_matrix(rows, blocksize=(1, 1)),
    "lil": sp.lil_matrix,
    "dok_array": sp.dok_array,
    "padded": padded,
}


def numbers(y: np.ndarray, dtype: type) -> np.ndarray:
    return y.astype(dtype)


def named(y: np.ndarray, marker: Any, dtype: Any = object) -> np.ndarray:
    """Names in the order of the numbers, which is then that of the classes."""
    names = np.append(np.array(["a", "b", "c", "d"], dtype=object), marker)
    return names[y].astype(dtype)


LABELS = {
    "int8": lambda y: (numbers(y, np.int8), "auto"),
    "int32": lambda y: (numbers(y, np.int32), "auto"),
    "float32, NaN": lambda y: (np.where(y < 0, np.nan, y).astype(np.float32), "auto"),
    "float64, -1": lambda y: (numbers(y, np.float64), "auto"),
    "object, None": lambda y: (named(y, None), "auto"),
    "object, NA": lambda y: (named(y, pd.NA), "auto"),
    "object, -1": lambda y: (named(y, -1), "auto"),
    "object, numbers and None": lambda y: (np.where(y < 0, None, y.astype(object)), "auto"),
    "text, -1": lambda y: (named(y, "-1", str), "auto"),
    "text, ?": lambda y: (named(y, "?", str), "?"),
    "bytes of a marker": lambda y: (named(y, "", str), ""),
    "list": lambda y: (y.tolist(), "auto"),
    "series": lambda y: (pd.Series(y), "auto"),
    "series, Int64": lambda y: (pd.array(np.where(y < 0, 0, y), dtype="Int64"), "masked"),
    "larger numbers": lambda y: (np.where(y < 0, 0, 10 * y + 10), 0),
}


def labeled(form: str, y: np.ndarray) -> tuple[Any, Any]:
    given, marker = LABELS[form](y)
    if marker == "masked":
        given[np.flatnonzero(y < 0)] = pd.NA
        return pd.Series(given), "auto"
    return given, marker


@QUICK
@given(case=cases, form=st.sampled_from(list(FORMS)), labels=st.sampled_from(list(LABELS)), n_jobs=st.integers(-2, 5))
def test_forms_that_round_nothing_give_the_same_bits(
    case: tuple[str, int], form: str, labels: str, n_jobs: int
) -> None:
    name, k = case
    rows, y = PROBLEMS[name]
    given_y, marker = labeled(labels, y)
    chosen = dict(MODELS[name][k])
    if "hierarchy" in chosen:
        classes = np.unique(np.asarray([label for label, code in zip(given_y, y, strict=True) if code >= 0]))
        chosen["hierarchy"] = {classes[code].item(): group for code, group in GROUP.items()}
    model = TransductiveSVC(n_jobs=n_jobs or None, unlabeled=marker, **chosen).fit(FORMS[form](rows), given_y)
    assert bits(model) == REFERENCE[case], (form, labels, n_jobs)


# --- forms in which sums are taken in another order -------------------------------------------------------------------


@st.composite
def disguised(draw: st.DrawFn) -> tuple[str, Any]:
    """A problem's rows with entries out of order, split in two and with zeros, or written out."""
    name = draw(st.sampled_from(list(PROBLEMS)))
    rows = PROBLEMS[name][0]
    written = draw(st.sampled_from(["entries", "dense", "dense float32", "Fortran", "frame", "sparse frame"]))
    if written != "entries":
        dense = rows.toarray()
        return name, {
            "dense": dense,
            "dense float32": dense.astype(np.float32),
            "Fortran": np.asfortranarray(dense),
            "frame": pd.DataFrame(dense),
            "sparse frame": pd.DataFrame.sparse.from_spmatrix(rows),
        }[written]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    entries = rows.tocoo()
    zeros, split = draw(st.integers(0, 200)), draw(st.sampled_from([0.0, 0.25, 1.0]))
    i = np.concatenate([entries.row, entries.row, rng.integers(0, rows.shape[0], zeros)])
    j = np.concatenate([entries.col, entries.col, rng.integers(0, rows.shape[1], zeros)])
    v = np.concatenate([entries.data * (1 - split), entries.data * split, np.zeros(zeros)])
    order = rng.permutation(len(i))
    order = order[np.argsort(i[order], kind="stable")]  # rows in order, entries of a row in any
    index = draw(st.sampled_from([np.int32, np.int64]))
    container = draw(st.sampled_from([sp.csr_matrix, sp.csr_array]))(rows.shape)
    container.data = v[order].astype(draw(st.sampled_from([np.float32, np.float64])))
    container.indices = j[order].astype(index)
    container.indptr = np.searchsorted(i[order], np.arange(rows.shape[0] + 1)).astype(index)
    return name, container


@QUICK
@given(disguise=disguised(), n_jobs=st.integers(1, 4))
def test_any_legal_rows_give_the_same_model(disguise: tuple[str, Any], n_jobs: int) -> None:
    name, rows = disguise
    plain, y = PROBLEMS[name]
    sharp = {"tol": 1e-13, "n_jobs": n_jobs}
    model, reference = TransductiveSVC(**sharp).fit(rows, y), TransductiveSVC(**sharp).fit(plain, y)
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=0, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, reference.intercept_, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(model.transduction_, reference.transduction_)


# --- threads ----------------------------------------------------------------------------------------------------------


def test_more_threads_than_cores_give_the_same_bits() -> None:
    """Go runs as many threads at a time as GOMAXPROCS says when the process starts: in a process of its own."""
    script = """
import hashlib, sys
import numpy as np
from fewlabel import TransductiveSVC
from planted import many_topics, text_like
for problem, settings in [
    (text_like(n=3000, d=400), {}),
    (text_like(n=3000, d=400), {"method": "switching"}),
    (many_topics(n=2500, d=400), {"max_iter": 8, "tol": 1e-3}),
]:
    found = set()
    for n_jobs in (1, 2, 3, 8):
        model = TransductiveSVC(n_jobs=n_jobs, **settings).fit(problem.X, problem.y)
        found.add((model.coef_.tobytes(), model.intercept_.tobytes(), model.objective_))
    assert len(found) == 1, settings
print("same")
"""
    paths = f"{PACKAGE.parent}:{Path(__file__).parent}"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={"PYTHONPATH": paths, "GOMAXPROCS": "8"},
        capture_output=True,
        text=True,
        timeout=WAIT,
    )
    assert done.stdout == "same\n", done.stderr


# --- three readers of a model -----------------------------------------------------------------------------------------


@st.composite
def linear_models(draw: st.DrawFn) -> tuple[Any, sp.csr_matrix]:
    """A fitted estimator with weights of any size, ties among them, and rows for it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes, features = draw(st.sampled_from([2, 3, 4, 9, 17])), draw(st.integers(1, 40))
    model = draw(st.sampled_from([TransductiveSVC, SemiSupervisedLogisticRegression]))()
    outputs = 1 if classes == 2 else classes
    scale = draw(st.sampled_from([1.0, 2.0**-500, 2.0**500]))
    model.coef_ = scale * np.ascontiguousarray(rng.integers(-3, 4, (outputs, features)) / 4)
    model.intercept_ = scale * rng.integers(-1, 2, outputs) / 4
    model.classes_, model.class_prior_ = np.arange(classes), np.full(classes, 1 / classes)
    model.hierarchy_, model.n_features_in_ = None, features
    model.n_iter_, model.objective_, model.termination_condition_ = 1, 0.5, "converged"
    model.calibration_temperature_ = model.calibration_smoothing_ = float("nan")
    rows = sp.random(draw(st.integers(1, 30)), features, 0.4, format="csr", random_state=rng)
    rows.data = np.round(rows.data * 8) / 8  # sums are exact in any order, so that ties stay ties
    if draw(st.booleans()):
        rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return model, rows


@QUICK
@given(given_model=linear_models())
def test_python_the_library_and_the_tensors_of_a_file_decide_alike(
    given_model: tuple[Any, sp.csr_matrix], tmp_path_factory: pytest.TempPathFactory
) -> None:
    model, rows = given_model
    path = tmp_path_factory.mktemp("models") / "model"
    save_model(model, path)
    tensors = by_package(path)[0]
    outputs = len(model.coef_)
    decisions, by_library = library_decides(path, rows, outputs)
    of_python = model.decision_function(rows).reshape(-1, outputs)
    np.testing.assert_array_equal(decisions, of_python)
    np.testing.assert_array_equal(rows @ tensors["coef"] + tensors["intercept"], of_python)
    np.testing.assert_array_equal(by_library, model.predict(rows))
