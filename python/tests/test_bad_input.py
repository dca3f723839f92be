"""What people and programs get wrong: each case has its message, and the library stays usable after it."""

from __future__ import annotations

import ctypes
import gzip
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from planted import text_like
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

from fewlabel import (
    ASOTransformer,
    KernelFeatures,
    SequenceSVC,
    TransductiveSVC,
    estimate_class_prior,
    save_model,
    spmd,
)
from fewlabel._inputs._targets import Columns
from fewlabel._native import _fit, _library, _signatures as c, _views
from fewlabel.datasets import load_conll_file, load_scipy_docs
from fewlabel.inspection import check, compare, explain, suspicious_labels, top_features
from fewlabel.labeling import Session
from fewlabel.labels import Soft, from_votes, with_descriptions
from fewlabel.methods import Annealing, Switching
from fewlabel.metrics import labeled_scorer
from fewlabel.model_selection import SemiSupervisedSplit, held_out_probabilities
from fewlabel.plotting import HistoryDisplay, LearningCurveDisplay
from fewlabel.preprocessing import BlockScaler, labeled_only
from fewlabel.sequences import TokenVectorizer

X, Y, TRUTH = text_like(n=80, d=40)
CODES = Y.astype(np.int32)


@pytest.fixture(autouse=True)
def usable_afterwards() -> Iterator[None]:
    yield
    assert TransductiveSVC().fit(X, Y).n_iter_ >= 1
    assert _library.library().fewlabel_live_handles() == 0


def refused(
    message: str, settings: dict[str, Any], X: Any = X, y: Any = Y, kind: type = ValueError, **fit: Any
) -> None:
    with pytest.raises(kind, match=message):
        TransductiveSVC(**settings).fit(X, y, **fit)


# --- parameters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.0, 1.0], "class_prior of class 0 is 0: it must lie between 0 and 1"),
        ([-0.1, 1.1], "class_prior of class 0 is -0.1"),
        ([np.nan, 0.5], "class_prior must be finite, got nan"),
        ([0.5, 0.6], "class_prior sums to 1.1: it must sum to 1"),
        ([0.2, 0.3, 0.5], r"class_prior has 3 shares, but there are 2 classes \(0, 1\)"),
        ({0: 0.5}, r"one entry for each class.*missing: \[1\]"),
        ({0: 0.5, 1: 0.3, "2": 0.2}, r"unknown: \['2'\]"),
        ({0: 0.5, 2: 0.5}, r"missing: \[1\], without labeled rows: \[2\]"),
        ({0: 0.5, 1: 0.7, 2: -0.2}, "class_prior of class 2 is -0.2"),
        ({0: 0.5, 1: 0.4, None: 0.1}, "class_prior names None, which is no class"),
        ({0: 0.5, 1: 0.4, np.nan: 0.1}, "class_prior names nan, which is no class"),
        ({0: 0.5, 1: 0.4, pd.NA: 0.1}, "class_prior names <NA>, which is no class"),
        ({0: 0.5, 1: None}, "class_prior must hold real numbers, got None"),
        ({0: 0.5, 1: np.nan}, "class_prior must be finite, got nan"),
        ({0: 0.5, 1: 0.4, " ": 0.1}, "class_prior names ' ', which is blank"),
        ({0: 0.5} | {f"c{k}": 0.1 for k in range(999)}, r"^class_prior .*unknown: .{,300}$"),
        ({0: "auto", 1: "auto"}, "class_prior must hold real numbers, got 'auto'"),
        ({0: 0.5, np.int64(1): 0.3, np.float64(2.5): 0.2}, r"unknown: \[2\.5\]"),
        ({0: 0.5, 1: 0.3, 2**63: 0.2}, "class_prior has the label 9223372036854775808: integers end at"),
        (pd.Series({1: 0.6, 0: 0.4}), r"class_prior is a series, .*give class_prior\.to_dict\(\)"),
        (0.3, "class_prior=0.3 .*give 'auto', 'labels' .*an array .*or a dict"),
        ("estimate", 'class_prior is "estimate": it must be one of auto, labels, or an array'),
        (None, "class_prior=None is not supported: give 'auto', 'labels' .*an array .*or a dict"),
    ],
)
def test_class_prior(prior: Any, message: str) -> None:
    refused(message, {"class_prior": prior})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 0}, "alpha.*0"),
        ({"alpha": -1.0}, "alpha.*-1"),
        ({"unlabeled_weight": -0.5}, "unlabeled_weight.*-0.5"),
        ({"method": "anealing"}, "method.*anealing.*annealing"),
        ({"method": Annealing(balance="none")}, "balance.*none.*mean"),
        ({"loss": "hinge", "method": "gradient"}, "loss is .hinge., but method gradient supports"),
        ({"loss": "log"}, "loss.*log.*squared_hinge"),
        ({"max_iter": 0}, "max_iter.*0"),
        ({"max_iter": 2.5}, "max_iter.*2.5"),
        ({"method": Switching(max_switches=-1)}, "max_switches.*-1"),
        ({"unlabeled_weight": "none"}, "unlabeled_weight.*none.*auto"),
        ({"tol": 0.0}, "tol.*0"),
        ({"alpha": "much"}, "alpha.*much"),
        ({"alpha": None}, "alpha.*null"),
        ({"fit_intercept": "yes"}, "fit_intercept.*yes"),
        ({"alpha": np.nan}, "alpha must be finite, got nan"),
        ({"tol": np.inf}, "tol must be finite, got inf"),
        ({"alpha": 10**400}, "alpha must be within .*, got an integer of 1329 bits"),
        ({"alpha": -(10**5000)}, "alpha must be within"),
        ({"max_iter": 10**30}, "max_iter is 10+: it is too large"),
        ({"method": Switching(max_switches=10**400)}, "max_switches must be within"),
        ({"tol": np.longdouble("1e400") if np.finfo(np.longdouble).max > 1e308 else np.inf}, "tol must be finite"),
        ({"tol": Decimal("1e400")}, "tol must be finite"),
        ({"tol": Decimal("sNaN")}, "tol must be finite"),
        ({"tol": Fraction(10**400)}, "tol must be finite"),
        ({"alpha": np.True_}, "alpha is true: it must be a number"),
        ({"loss": "x"}, "loss='x' must be one of auto, squared_hinge, hinge, crammer_singer;"),
        ({"class_weight": {0: 10**400}}, "class_weight must be finite, got inf"),
        ({"class_prior": [10**400, 0]}, "class_prior must be finite, got inf"),
        ({"class_prior": {0: 0.4, 1: 0.4, -1: 0.2}}, "class_prior names -1, which marks rows without a label"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"class_weight": "even"}, "class_weight must be 'auto', 'balanced', None or a dict"),
        ({"class_weight": {0: 1, 7: 1}}, r"class_weight names \[7\]"),
        ({"class_weight": {0: -1}}, "class_weight of class 0 is -1: it must be above 0"),
    ],
)
def test_parameters_out_of_range(settings: dict[str, Any], message: str) -> None:
    refused(message, settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": -1.0}, "alpha.*-1"),
        ({"method": "anealing"}, "method.*anealing.*annealing"),
        ({"loss": "hinge", "method": "gradient"}, "loss is .hinge., but method gradient supports"),
        ({"class_prior": ["a", "b"]}, "class_prior must hold real numbers"),
        ({"class_prior": "estimate"}, 'class_prior is "estimate": it must be one of auto, labels'),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_parameters_are_checked_where_one_class_is_labeled_too(settings: dict[str, Any], message: str) -> None:
    refused(message, settings, y=np.where(Y == 1, -1, Y))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": [1e-3]}, "alpha must be a number, a text, a bool or None, got list"),
        ({"alpha": 1j}, "alpha must be a number, a text, a bool or None, got complex"),
        ({"alpha": np.timedelta64(3, "ns")}, "alpha must be a number, a text, a bool or None, got timedelta64"),
        ({"n_jobs": 1.5}, "n_jobs must be an integer or None"),
        ({"max_iter": "many", "n_jobs": "all"}, "n_jobs must be an integer or None"),
    ],
)
def test_parameters_of_a_wrong_type(settings: dict[str, Any], message: str) -> None:
    refused(message, settings, kind=TypeError)


@pytest.mark.parametrize("half", [np.longdouble(0.5), Decimal("0.5"), Fraction(1, 2), np.array(0.5), np.float16(0.5)])
def test_numbers_of_other_types(half: Any) -> None:
    expected = TransductiveSVC(alpha=0.5, class_weight={0: 0.5}).fit(X, Y, np.full(len(Y), 0.5))
    found = TransductiveSVC(alpha=half, class_weight={0: half}).fit(X, Y, [half] * len(Y))
    assert found.coef_.tobytes() == expected.coef_.tobytes()


LARGE = [10**400, 10**5000, Fraction(10**400), Decimal("1e400"), Decimal("sNaN"), 1j, np.nan]


@pytest.mark.parametrize("large", LARGE, ids=range(len(LARGE)))
def test_numbers_that_no_float_holds_are_refused_by_their_name(large: Any) -> None:
    votes = np.arange(60).reshape(20, 3) % 7 % 2
    calls: dict[str, Callable[[], Any]] = {
        "sample_weight": lambda: TransductiveSVC().fit(X, Y, [large] * len(Y)),
        "accuracies": lambda: from_votes(votes, accuracies=[large, Decimal("0.5"), 0.5]) and None,
        "probabilities": lambda: Soft([[large, 0]]),
        "structure_weight": lambda: ASOTransformer(structure_weight=large).fit(X),
        "gamma": lambda: KernelFeatures(kernel="rbf", gamma=large).fit(X),
        "norm": lambda: BlockScaler(norm=large).fit(X),
        "n_components": lambda: KernelFeatures(n_components=large).fit(X),
        "window": lambda: TokenVectorizer(window=large).fit([["a"]]),
        "rho": lambda: SequenceSVC(rho=large).fit(X, Y),
        "confidence_level": lambda: estimate_class_prior(
            X, np.where(Y == 1, 1, -1), unlabeled=-1, rest=0, confidence_level=large
        ),
        "margin": lambda: suspicious_labels(TransductiveSVC().fit(X, Y), X, Y, margin=large),
        "test_size": lambda: LearningCurveDisplay.from_estimator(TransductiveSVC(), X, Y, test_size=large),
    }
    for name, call in calls.items():
        with pytest.raises((TypeError, ValueError), match=rf"^{name}\b"):
            call()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(3), r"sample_weight must have shape \(80,\)"),
        (np.ones((80, 2)), r"has shape \(80, 2\)"),
        (
            np.where(np.arange(80) == 7, -1.0, 1.0),
            r"sample_weight of row 7 is -1: it must be 0, or above 1e-300 and below 1e\+300",
        ),
        (np.where(np.arange(80) == 9, np.nan, 1.0), "sample_weight of row 9 is NaN"),
        (np.full(80, np.nan), "sample_weight of row 0 is NaN"),
        (-np.ones(80), "sample_weight of row 0 is -1: it must be 0"),
        (np.zeros(80), "no labeled row.*sample_weight of zero"),
        (np.where(Y >= 0, 0.0, 1.0), "no labeled row.*sample_weight of zero"),
        (
            np.where(Y == 1, 1e100, 1e-100),
            "sample_weight: .* class 1 have a share of .*less unequal, or give class_prior",
        ),
        (np.where(Y >= 0, 1e308, 1.0), r"sample_weight of row \d+ is 1e\+308"),
    ],
)
def test_sample_weight(weights: np.ndarray, message: str) -> None:
    refused(message, {}, sample_weight=weights)


def test_labeled_weights_may_be_unequal_where_the_prior_is_given() -> None:
    model = TransductiveSVC(class_prior=[0.5, 0.5]).fit(X, Y, sample_weight=np.where(Y == 1, 1e-200, 1.0))
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(
    ("factor", "weight", "message"),
    [
        (1e308, 1.0, r"class_weight of class 0 is 1e\+308: it must be above 0 and at most"),
        (1e-308, 1e-100, "class_weight gives row .* the weight 0: make the weights less unequal"),
    ],
)
def test_class_weights_beyond_all_numbers(factor: float, weight: float, message: str) -> None:
    settings = {"class_weight": {0: factor, 1: 1}, "class_prior": [0.5, 0.5]}
    refused(message, settings, sample_weight=np.where(Y == 0, weight, 1.0))


# --- labels (more in test_labels.py) ---------------------------------------------------------------------------------


def test_labels() -> None:
    refused("requires y to be passed, but the target y is None", {}, y=None)
    refused("no labeled row", {}, y=np.full(80, -1))
    refused("y needs one for each row", {}, y=Y[:-1])
    refused("ambiguous.*unlabeled=0", {}, y=np.where(TRUTH == 1, 1, -1))


# --- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "spelled"), [(np.nan, "NaN"), (np.inf, r"\+inf"), (-np.inf, "-inf")])
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, np.asarray])
def test_values_that_are_not_finite_are_named_with_their_row(form: Any, value: float, spelled: str) -> None:
    dense = X.toarray()
    dense[17, 5] = value
    refused(f"X has {spelled} in row 17, column 5", {}, X=form(dense))
    model = TransductiveSVC().fit(X, Y)
    with pytest.raises(ValueError, match=f"X has {spelled} in row 17, column 5"):
        model.predict(form(dense))


def broken(**changes: Any) -> sp.csr_matrix:
    rows = X.copy()
    for name, change in changes.items():
        array = getattr(rows, name).copy()
        change(array)
        setattr(rows, name, array)
    return rows


def put(position: int, value: float) -> Any:
    return lambda array: array.__setitem__(position, value)


BROKEN = {
    "column too large": (broken(indices=put(3, 40)), "40"),
    "column negative": (broken(indices=put(3, -1)), "-1"),
    "indptr": (broken(indptr=put(10, 0)), "indptr"),
    "indptr begins above 0": (broken(indptr=put(0, 1)), "indptr"),
    "indptr negative": (broken(indptr=put(0, -1)), "indptr"),
    "indptr beyond the values": (broken(indptr=put(-1, 2**31 - 1)), "2147483647"),
}


@pytest.mark.parametrize(("rows", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_csr(rows: sp.csr_matrix, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(message, {}, X=rows)
    models = TransductiveSVC().fit(X, Y), TransductiveSVC(unlabeled=None).fit(X, np.arange(X.shape[0]) % 3)
    for loaded in (True, False):
        monkeypatch.setattr(_library, "is_loaded", lambda loaded=loaded: loaded)
        for model in models:
            with pytest.raises(ValueError, match=r"X\.ind"):
                model.predict(rows)


def test_promise_of_two_to_the_31_values() -> None:
    rows = X.copy()
    rows.indptr = rows.indptr.astype(np.int64)
    rows.indices = rows.indices.astype(np.int64)
    rows.indptr[-1] = 2**31
    refused("2147483648", {}, X=rows)


def test_shapes() -> None:
    refused("0 sample", {}, X=sp.csr_matrix((0, 4)), y=[])
    refused("0 feature", {}, X=sp.csr_matrix((80, 0)))
    refused("Expected 2D array", {}, X=np.arange(80.0))
    model = TransductiveSVC().fit(X, Y)
    with pytest.raises(ValueError, match="X has 39 features, but TransductiveSVC is expecting 40"):
        model.predict(X[:, :39])


@pytest.mark.parametrize(
    "texts",
    [
        ["red wine", "fast car"],
        ("red wine", "fast car"),
        np.array(["red wine", "fast car"]),
        [["red", "wine"], ["car"]],
        np.array([["red", "wine"], ["car"]], dtype=object),
    ],
)
def test_texts_where_numbers_belong(texts: Any) -> None:
    refused("X holds texts, but must hold numbers: use a vectorizer first", {}, X=texts, y=[0, 1])
    vectors = np.fromiter([np.zeros(2), np.ones(2)], dtype=object, count=2)
    refused(r"X has an array in each entry: .* numpy.stack", {}, X=vectors, y=[0, 1])
    with pytest.raises(ValueError, match=r"X holds texts, .*TokenVectorizer"):
        SequenceSVC().fit(texts, [0, 1])
    with pytest.raises(ValueError, match="X holds texts"):
        TransductiveSVC().fit(X, Y).predict(texts)


def test_objects_where_numbers_belong() -> None:
    for value in {}, len:
        with pytest.raises(TypeError, match=r"^X: "):
            TransductiveSVC().fit([[1.0, value]] * 60, GIVEN)


DAYS = np.datetime64("2026-01-01") + np.arange(60)
TIMES = DAYS - DAYS[0]


@pytest.mark.parametrize("days", [DAYS, TIMES, np.where(np.arange(60) == 3, np.datetime64("NaT"), DAYS)])
@pytest.mark.parametrize(
    "form",
    [
        lambda days: np.c_[days, days],
        lambda days: np.ma.array(np.c_[days, days]),
        lambda days: np.array([[day, 1.0] for day in days], dtype=object),
        lambda days: [[day, 1.0] for day in days],
        lambda days: [*np.c_[days, days]],
        lambda days: np.c_[days, days].astype("M8[us]" if days.dtype.kind == "M" else "m8[us]").astype(object),
        lambda days: pd.DataFrame({"a": days}),
        lambda days: pd.DataFrame({"a": days, "b": 1.0}),
        lambda days: pd.DataFrame({"a": pd.Series(days).astype(object), "b": 1.0}),
        lambda days: pd.DataFrame({"a": pd.arrays.SparseArray(days.astype(f"{days.dtype.kind}8[ns]"))}),
        lambda days: pytest.importorskip("polars").DataFrame({"a": in_ms(days), "b": np.ones(60)}),
        lambda days: pytest.importorskip("pyarrow").table({"a": in_ms(days), "b": np.ones(60)}),
        lambda days: pytest.importorskip("pyarrow").table({"a": in_ms(days)}).to_pandas(types_mapper=pd.ArrowDtype),
    ],
)
def test_dates_and_times_are_no_numbers(form: Callable[[Any], Any], days: np.ndarray) -> None:
    rows = form(days)
    for call in (lambda: TransductiveSVC().fit(rows, GIVEN), lambda: TransductiveSVC().fit(X, Y).predict(rows)):
        with pytest.raises(ValueError, match=r"^X holds dates or times \(.*, such as the days since a date"):
            call()


def in_ms(days: np.ndarray) -> np.ndarray:
    return days.astype(f"{days.dtype.kind}8[ms]")


@pytest.mark.parametrize(
    "door",
    [
        lambda: aso().fit(np.c_[TIMES, TIMES]),
        lambda: by_kernel("graph", np.c_[TIMES, TIMES]),
        lambda: SequenceSVC().fit([np.c_[TIMES, TIMES], SMALL[:, :2].astype(int)], [[0, 1] * 30] * 2),
        lambda: SequenceSVC().fit(SMALL, [0, 1] * 30).predict(np.tile(DAYS[:, None], 12)),
        lambda: estimate_class_prior(np.c_[TIMES, TIMES], GIVEN),
        lambda: Soft(np.c_[TIMES[:2], TIMES[1::-1]]),
        lambda: with_descriptions(np.c_[TIMES, TIMES], GIVEN, {0: [0, 1], 1: [1, 0]}),
        lambda: with_descriptions(SMALL[:, :2], GIVEN, {0: TIMES[:2], 1: [1, 0]}),
        lambda: Session(np.c_[DAYS, DAYS], LogisticRegression()),
        lambda: weighted(TIMES),
        lambda: weighted([*TIMES]),
        lambda: TransductiveSVC(class_weight={0: TIMES[1], 1: 1}).fit(SMALL, GIVEN),
        lambda: TransductiveSVC().fit(SMALL, np.eye(60, 2, dtype="m8[D]")),
    ],
)
def test_dates_and_times_are_no_numbers_at_any_door(door: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"holds? dates or times|must hold (0, 1|real numbers)"):
        door()


def test_texts_in_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    for texts in pandas.Series(["red wine", "fast car"]), pandas.DataFrame({"text": ["red wine", "fast car"]}):
        refused("X holds texts, but must hold numbers", {}, X=texts, y=[0, 1])


# --- the C interface, called directly ---------------------------------------------------------------------------------


def status_of(function: str, *arguments: Any) -> tuple[int, str]:
    error = ctypes.create_string_buffer(500)
    return getattr(_library.library(), function)(*arguments, error, 500), error.value.decode()


def fit_status(struct: c.Rows | None = None, codes: Any = CODES, options: dict | str | None = None) -> tuple[int, str]:
    rows = _views.rows(X)
    text = options if options is None or isinstance(options, str) else json.dumps(options)
    model = ctypes.c_int64()
    status, message = status_of(
        "fewlabel_fit",
        ctypes.byref(rows if struct is None else struct),
        None if codes is None else ctypes.byref(_views.labels(Columns(codes[:, None]))),
        None,
        0,
        None if text is None else text.encode(),
        None,
        None,
        ctypes.byref(model),
    )
    assert model.value == 0
    return status, message


def struct_with(**changes: Any) -> c.Rows:
    struct = _views.rows(X)
    for name, value in changes.items():
        setattr(struct, name, value)
    return struct


@pytest.mark.parametrize(
    ("changes", "status", "word"),
    [
        ({"indptr": None}, c.BAD_ARGUMENT, "indptr"),
        ({"indices": None}, c.BAD_ARGUMENT, "indices"),
        ({"values": None}, c.BAD_ARGUMENT, "values"),
        ({"indptr": 8}, None, "indptr"),
        ({"values": 1 << 40}, None, ""),
        ({"kind": 9}, c.BAD_ARGUMENT, "rows.kind is 9"),
        ({"indptr_type": 9}, c.BAD_ARGUMENT, "indptr_type"),
        ({"index_type": 9}, c.BAD_ARGUMENT, "index_type"),
        ({"value_type": 1}, c.BAD_ARGUMENT, "value_type"),
        ({"n_rows": -1}, None, "n_rows"),
        ({"n_rows": 0}, None, ""),
        ({"n_features": -1}, None, "n_features"),
        ({"n_features": 3}, c.BAD_DATA, "row"),
        ({"n_values": 5}, c.BAD_DATA, "5"),
        ({"n_values": 1 << 62}, None, "n_values"),
    ],
)
def test_structs_that_cannot_be_right(changes: dict[str, Any], status: int | None, word: str) -> None:
    answer, message = fit_status(struct_with(**changes))
    assert answer in ([c.BAD_ARGUMENT, c.BAD_DATA] if status is None else [status]), message
    assert word in message


def test_null_pointers() -> None:
    assert fit_status(codes=None) == (c.BAD_ARGUMENT, fit_status(codes=None)[1])
    assert "labels" in fit_status(codes=None)[1]
    error = ctypes.create_string_buffer(100)
    library = _library.library()
    model = ctypes.c_int64()
    labels = ctypes.byref(_views.labels(Columns(CODES[:, None])))
    assert (
        library.fewlabel_fit(None, labels, None, 0, None, None, None, ctypes.byref(model), error, 100) == c.BAD_ARGUMENT
    )
    assert b"rows" in error.value
    rows = ctypes.byref(_views.rows(X))
    assert library.fewlabel_fit(rows, labels, None, 0, None, None, None, None, error, 100) == c.BAD_ARGUMENT
    assert b"model" in error.value
    assert library.fewlabel_fit(None, None, None, 0, None, None, None, None, None, 0) == c.BAD_ARGUMENT


def test_message_is_cut_to_the_buffer() -> None:
    error = ctypes.create_string_buffer(b"x" * 20, 20)
    assert _library.library().fewlabel_free(99, error, 10) == c.BAD_HANDLE
    assert len(error.value) == 9
    assert error.raw[10:] == b"x" * 10


@pytest.mark.parametrize("handle", [0, -1, 12345, 1 << 60])
def test_bad_handles(handle: int) -> None:
    needed = ctypes.c_int64()
    rows, out = _views.rows(X), np.empty(X.shape[0])
    calls = [
        ("fewlabel_free", handle),
        ("fewlabel_report", handle, None, 0, ctypes.byref(needed)),
        ("fewlabel_array", handle, b"coef", c.FLOAT64, out.ctypes.data, 1),
        ("fewlabel_predict", handle, ctypes.byref(rows), 1, None, out.ctypes.data),
        ("fewlabel_save", handle, b"/tmp/never", None),
    ]
    for function, *arguments in calls:
        status, message = status_of(function, *arguments)
        assert status == c.BAD_HANDLE, function
        assert "handle" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpa": 1}, "alpa.*alpha"),
        ({"unlabelled_weight": 1}, "unlabelled_weight.*unlabeled_weight"),
        ({"threads": 0}, "threads"),
        ({"class_prior": [0.5]}, "class_prior"),
        ("[1]", "JSON"),
        ("{", "JSON"),
        ({"alpha": True}, "alpha"),
    ],
)
def test_options(options: dict | str, message: str) -> None:
    import re

    status, text = fit_status(options=options)
    assert status == c.BAD_ARGUMENT
    assert re.search(message, text), text


def test_labels_out_of_range() -> None:
    codes = CODES.copy()
    codes[4] = 80
    status, message = fit_status(codes=codes)
    assert status == c.BAD_DATA
    assert "labels of row 4 is 80" in message
    codes[4] = 5
    assert fit_status(codes=codes) == (c.BAD_DATA, fit_status(codes=codes)[1])
    assert "class 2 has no labeled row" in fit_status(codes=codes)[1]
    codes[4] = -82
    assert fit_status(codes=codes)[0] == c.BAD_DATA


def test_values_of_the_struct_are_checked_too() -> None:
    rows = X.copy()
    rows.data[rows.indptr[6]] = np.nan
    status, message = fit_status(_views.rows(rows))
    assert status == c.BAD_DATA
    assert "row 6" in message


# --- model files ------------------------------------------------------------------------------------------------------


def load_status(content: bytes, path: Path) -> tuple[int, str]:
    path.write_bytes(content)
    handle = ctypes.c_int64()
    return status_of("fewlabel_load", str(path).encode(), ctypes.byref(handle))


@pytest.fixture
def model_file(tmp_path: Path) -> bytes:
    rows, model = _views.rows(X), ctypes.c_int64()
    _library.call("fewlabel_fit", rows, _views.labels(Columns(CODES[:, None])), None, 0, *3 * [None], model)
    with _library.released(model.value) as handle:
        _library.call("fewlabel_save", handle, str(tmp_path / "good").encode(), b'{"by": "a test"}')
    return (tmp_path / "good").read_bytes()


def test_model_file_cut_short(model_file: bytes, tmp_path: Path) -> None:
    for length in {0, 1, 7, 8, 12, 20, len(model_file) // 2, len(model_file) - 1}:
        status, message = load_status(model_file[:length], tmp_path / "cut")
        assert status == c.BAD_DATA, length
        assert message


def test_model_file_that_is_something_else(tmp_path: Path) -> None:
    status, message = load_status(b"label,text\n1,hello\n" * 50, tmp_path / "table.csv")
    assert status == c.BAD_DATA
    assert "model" in message
    assert status_of("fewlabel_load", b"/nowhere/at/all", ctypes.byref(ctypes.c_int64()))[0] == c.IO_ERROR


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_classes": 0}, "n_classes is 0"),
        ({"n_features": -3}, "n_features is -3"),
        ({"n_features": "three"}, "description"),
        ({"n_features": 2**62}, "n_features"),
    ],
)
def test_models_that_cannot_be_assembled(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assembled({"n_classes": 2, "n_features": 3} | changes)


def assembled(sizes: dict[str, Any], **arrays: Any) -> int:
    usual = {"coef": np.ones(3), "intercept": np.zeros(1), "class_prior": [0.5, 0.5]}
    return _fit.assemble(c.LINEAR, sizes, usual | arrays)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"coef": [1.0, np.nan, 1.0]}, r"coef\[1\] is NaN"),
        ({"coef": np.ones(2)}, "coef has 2 values and should have 3"),
        ({"bias": np.ones(1)}, r'arrays has "bias": a model of kind linear has coef, intercept, class_prior'),
    ],
)
def test_arrays_that_cannot_be_assembled(arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assembled({"n_classes": 2, "n_features": 3}, **arrays)
    assert _library.library().fewlabel_live_handles() == 0


SMALL = np.random.default_rng(0).random((60, 12)).clip(0.3) - 0.3  # some 0
GIVEN = np.where(np.arange(60) < 20, np.arange(60) % 2, -1)
HUGE = np.where(np.arange(12) == 2, 1e300, SMALL)
NUMBERS = {"n_components": 2, "max_problems": 5}


def aso(**given: Any) -> Any:
    return ASOTransformer(**(NUMBERS | given))


def by_kernel(kernel: Any, X: Any = SMALL) -> Any:
    return KernelFeatures(kernel=kernel, n_components=4).fit(X)


def of_lengths(lengths: Any) -> Any:
    return SequenceSVC().fit(SMALL, np.arange(60) % 2, lengths=lengths)


def weighted(weights: Any, method: str = "switching") -> Any:
    return TransductiveSVC(method=method).fit(SMALL, GIVEN, sample_weight=weights)


TOO_LARGE = r"X has \+1e\+300 in row 0, column 2: every value must be below 1e\+100"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: aso().fit(HUGE), TOO_LARGE),
        (lambda: aso().fit(SMALL).transform(HUGE), TOO_LARGE),
        (lambda: by_kernel("rbf", HUGE), TOO_LARGE),
        (lambda: by_kernel("graph", HUGE), TOO_LARGE),
        (lambda: by_kernel("precomputed", np.eye(60) * 1e300), r"X has \+1e\+300 in row 0, column 0"),
        (lambda: aso(n_iter=-1, solver="squared").fit(SMALL), "n_iter is -1: it must be at least 1"),
        (
            lambda: aso(n_iter=2**31, solver="squared").fit(SMALL),
            r"n_iter is 2\.147483648e\+09: it must be at most 1e\+06",
        ),
        (lambda: of_lengths([2**62] * 4), r"lengths\[0\] is 4611686018427387904, but X has 60 tokens"),
        (lambda: of_lengths(np.array([60, 2**63], np.uint64)), r"lengths\[1\] is 9223372036854775808"),
        (lambda: by_kernel(lambda A, B: (A @ B.T) + 0j), r"kernel\(X, Y\) must return numbers, got complex128"),
        (lambda: by_kernel(lambda A, B: (A @ B.T).astype(str)), r"kernel\(X, Y\) must return numbers, got <U"),
        (lambda: weighted(np.ones(60) + 1j), "sample_weight must hold real numbers"),
        (lambda: weighted(["1.5"] * 60), "sample_weight must hold real numbers, got '1.5'"),
        (lambda: weighted([None] * 60), "sample_weight must hold real numbers, got None"),
        (lambda: weighted(np.full(60, 5e-324)), "sample_weight of row 0 is 5e-324: it must be 0, or above 1e-300"),
        (lambda: weighted(np.geomspace(1e-200, 1e200, 60)), "sample_weight: the smallest is 1e-200, the largest 1e"),
        (lambda: TransductiveSVC(class_weight={0: "2", 1: 1}).fit(SMALL, GIVEN), "class_weight must hold real numbers"),
        (lambda: TransductiveSVC(class_prior=[0.5j, 0.5]).fit(SMALL, GIVEN), "class_prior must hold real numbers"),
        (
            lambda: SequenceSVC().fit(np.eye(1001), np.arange(1001)),
            "y has 1001 tags, and every pair of tags has a weight",
        ),
        (lambda: estimate_class_prior(SMALL, np.arange(60) % 2), "^y has 0 unlabeled rows: class shares are estimated"),
        (lambda: TransductiveSVC(unlabeled_weight=0).fit(SMALL, [{0, 1}] * 60), "^y: no row has a label, and sets"),
        (lambda: TransductiveSVC(class_prior=[".5", ".5"]).fit(SMALL, GIVEN), "class_prior must hold real numbers"),
        (lambda: TransductiveSVC(unlabeled=[-1]).fit(SMALL, GIVEN), r"unlabeled must be the one marker .* got \[-1\]"),
        (lambda: TransductiveSVC(unlabeled=np.array([-1, 0])).fit(SMALL, GIVEN), "unlabeled must be the one marker"),
        (lambda: TransductiveSVC(loss="hinge\0").fit(SMALL, GIVEN), r"loss=.hinge.x00. must be one of"),
        (lambda: SequenceSVC(method="x\0").fit(SMALL, GIVEN), "method must not have a NUL character"),
        (lambda: aso().fit([[1.0, 10**400]] * 60), "^X: int too large to convert to float"),
        (lambda: aso().fit([[1.0, "red"]] * 60), "^X holds texts, but must hold numbers"),
    ],
)
def test_the_argument_is_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("method", ["annealing", "switching", "pair_switching", "gradient"])
def test_the_least_and_the_largest_weights_give_a_model(method: str) -> None:
    for labeled, others in ((1.1e-300, 1.0), (1.0, 1.1e-300), (1.1e-150, 9e149), (9e149, 1.1e-150)):
        model = weighted(np.where(GIVEN >= 0, labeled, others), method)
        assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda model: check(model, X, Y), "model"),
        (lambda model: compare(model, X, Y), "model"),
        (lambda model: compare(TransductiveSVC(), X, Y, {"other": model}), r"methods\['other'\]"),
        (lambda model: suspicious_labels(model, X, Y), "model"),
        (top_features, "model"),
        (lambda model: explain(model, X[0]), "model"),
        (lambda model: held_out_probabilities(model, X, Y), "estimator"),
        (lambda model: Session(X, model), "model"),
        (HistoryDisplay.from_estimator, "estimator"),
        (lambda model: LearningCurveDisplay.from_estimator(model, X, Y), "estimator"),
        (lambda model: LearningCurveDisplay.from_estimator(TransductiveSVC(), X, Y, supervised=model), "supervised"),
        (lambda model: save_model(model, "model"), "save_model takes"),
        (lambda model: LearningCurveDisplay.from_estimator(TransductiveSVC(), X, Y, ax=model), "ax"),
        (lambda model: HistoryDisplay.from_estimator(TransductiveSVC().fit(X, Y), ax=[model] * 4), "ax"),
        (lambda model: top_features(TransductiveSVC().fit(X, Y)).plot([model] * 2), "axes"),
    ],
)
@pytest.mark.parametrize("model", [3, TransductiveSVC, make_pipeline(MaxAbsScaler(), None), Session(X, LinearSVC())])
def test_what_is_no_model_is_named(call: Callable[[Any], Any], model: Any, name: str) -> None:
    pytest.importorskip("matplotlib", reason="no matplotlib")
    with pytest.raises((TypeError, ValueError), match=f"^{name}.* got "):
        call(model)


@pytest.mark.parametrize("model", [KernelFeatures(), LinearRegression()])
def test_what_does_not_classify_is_named(model: Any) -> None:
    for ask in (lambda: Session(X, model), lambda: compare(TransductiveSVC(), X, Y, {"other": model})):
        with pytest.raises(TypeError, match=f"must be a classifier.* got {type(model).__name__}"):
            ask()
    with pytest.raises(TypeError, match="a method predict_proba, got TransductiveSVC without it: set calibrate=True"):
        held_out_probabilities(TransductiveSVC(), X, Y)


FAR = 10**400
WHOLE = np.r_[np.zeros((20, 2)), np.ones((20, 2))] + np.eye(2)[np.arange(40) % 2]
HALF = np.where(np.arange(40) % 2 == 0, np.arange(40) // 20, -1)
SVC = TransductiveSVC


@pytest.mark.parametrize("value", [FAR, -FAR])
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("cv", lambda v: list(SemiSupervisedSplit(v).split(WHOLE, HALF))),
        ("cv", lambda v: SemiSupervisedSplit(v).get_n_splits(WHOLE, HALF)),
        ("cv", lambda v: check(SVC(), WHOLE, HALF, cv=v, verbose=0)),
        ("cv", lambda v: compare(SVC(), WHOLE, HALF, cv=v, verbose=0)),
        ("n_jobs", lambda v: SVC(n_jobs=v).fit(WHOLE, HALF)),
        ("n_jobs", lambda v: KernelFeatures(n_jobs=v).fit(WHOLE)),
        ("n_jobs", lambda v: estimate_class_prior(WHOLE, HALF, n_jobs=v)),
        ("n_jobs", lambda v: check(SVC(), WHOLE, HALF, cv=2, n_jobs=v, verbose=0)),
        ("n_jobs", lambda v: suspicious_labels(SVC().fit(WHOLE, HALF), WHOLE, HALF, n_jobs=v, verbose=0)),
        ("random_state", lambda v: estimate_class_prior(WHOLE, HALF, random_state=v)),
        ("random_state", lambda v: ASOTransformer(random_state=v).fit(WHOLE)),
        ("random_state", lambda v: SequenceSVC(random_state=v).fit(WHOLE, HALF)),
    ],
)
def test_numbers_that_are_far_too_large_are_named_and_not_printed(name: str, call: Any, value: int) -> None:
    with pytest.raises(ValueError, match=f"^{name} must .*an integer of 1329 bits") as raised:
        call(value)
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize("missing", [pd.NaT, pd.NA])
@pytest.mark.parametrize("call", [lambda X: SVC().fit(X, HALF), lambda X: SVC().fit(WHOLE, HALF).predict(X)])
def test_missing_values_among_objects(missing: Any, call: Any) -> None:
    rows = WHOLE.astype(object)
    rows[3, 1] = missing
    for X in rows, pd.DataFrame(rows):
        with pytest.raises(ValueError, match=r"X has (NaT|NA), a missing value, but every value must be finite: fill"):
            call(X)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load_scipy_docs(np.eye(2)), "topics must be subpackages of SciPy"),
        (lambda: Session({0: 1}, SVC()), "rows must be a list, a data frame or a matrix, got dict"),
    ],
)
def test_no_error_comes_from_within(call: Any, message: str) -> None:
    SVC(unlabeled=Decimal("sNaN")).fit(WHOLE, [Decimal("sNaN") if i % 2 else i // 20 for i in range(40)])
    with pytest.raises((ValueError, TypeError), match=message):
        call()


FITTED = SVC().fit(WHOLE, HALF)


@pytest.mark.parametrize(
    ("name", "values", "call"),
    [
        ("X", [3, None, SVC, FITTED], lambda v: FITTED.score(v, HALF)),
        ("X", [3, None, SVC, FITTED], lambda v: check(SVC(), v, HALF, verbose=0)),
        ("X", [3, None, SVC, FITTED], lambda v: compare(SVC(), v, HALF, verbose=0)),
        ("X", [3, SVC, FITTED, "x"], lambda v: list(SemiSupervisedSplit(2).split(v, HALF))),
        ("y", [3, SVC, FITTED, "x"], lambda v: list(SemiSupervisedSplit(2).split(WHOLE, v))),
        ("X", [3, None, SVC, FITTED], lambda v: held_out_probabilities(SVC(calibrate=True), v, HALF)),
        ("X", [3, None, SVC, FITTED], lambda v: labeled_scorer("accuracy")(FITTED, v, HALF)),
        ("X", [3, None, SVC, FITTED, "x", [3]], lambda v: TokenVectorizer().fit(v)),
        ("row", [3, None, SVC, FITTED, np.array(3), {"a": 1}], lambda v: explain(FITTED, v)),
        ("label", [WHOLE, [1], {}], lambda v: explain(FITTED, WHOLE[0], label=v)),
        ("against", [WHOLE, [1], {}], lambda v: explain(FITTED, WHOLE[0], against=v)),
        ("rest", [WHOLE, [1], {}], lambda v: estimate_class_prior(WHOLE, HALF, rest=v)),
        ("rows", [SVC(), {1}, SVC, None], lambda v: Session(v, SVC())),
        ("classes", [3, None, SVC, np.array(3), "ab"], lambda v: Session(WHOLE, SVC(), classes=v)),
        ("show", [3, SVC, "x", {}], lambda v: Session(WHOLE, SVC(), show=v)),
        ("methods", [3, SVC, np.array(3), [WHOLE], "annealing"], lambda v: compare(SVC(), WHOLE, HALF, v, verbose=0)),
        (
            "scoring",
            [SVC, 3, [3], {"a": 1}, lambda *_: None],
            lambda v: compare(SVC(), WHOLE, HALF, scoring=v, verbose=0),
        ),
        ("scoring", [SVC, 3, [3], {}, "x", {"a": 1}, {"a": None}, {"a": SVC}], labeled_scorer),
        ("balance", [3, iter("ab"), {}.keys(), np], lambda v: SVC(method=Annealing(balance=v)).fit(WHOLE, HALF)),
        ("max_switches", ["x", (v for v in [1])], lambda v: SVC(method=Switching(max_switches=v)).fit(WHOLE, HALF)),
        ("unlabeled", [iter([-1]), {-1}, (v for v in [-1])], lambda v: SVC(unlabeled=v).fit(WHOLE, HALF)),
        ("unlabeled", [iter([-1])], lambda v: labeled_scorer(unlabeled=v)(FITTED, WHOLE, HALF)),
        ("cv", [b"x", SVC, KFold, 3.0], lambda v: list(SemiSupervisedSplit(v).split(WHOLE, HALF))),
        ("columns", [3, None, (), "ab", ("a",), np.eye(2), (0.0,)], lambda v: load_conll_file(__file__, columns=v)),
        ("topics", [3, None, SVC, np.array(3)], load_scipy_docs),
        ("comments", ["x", [], SVC], lambda v: load_conll_file(__file__, comments=v)),
        ("sources", [3, SVC, np.array(3), "ab", {"a", "b"}], lambda v: from_votes([[0, 1]], sources=v)),
        ("forbidden_transitions", [3, None, np.array(3), "ab", np.zeros((2, 2, 2))], lambda v: tags(v)),
        ("comm", [WHOLE, None, SVC], lambda v: spmd.fit(SVC(), WHOLE, HALF, comm=v)),
        ("kernel", [SVC, 3, "x"], lambda v: KernelFeatures(kernel=v).fit(WHOLE)),
        ("auxiliary", [SVC, 3, "x"], lambda v: ASOTransformer(auxiliary=v).fit(WHOLE)),
        ("output", [WHOLE, 3, "x"], lambda v: ASOTransformer(output=v).fit(WHOLE)),
        ("score_func", [SVC, 3, "x"], labeled_only),
        ("calibrated", [WHOLE, "x", None], lambda v: FITTED.to_sklearn(calibrated=v)),
        ("warm_start", [WHOLE, "x", None], lambda v: SVC(warm_start=v).fit(WHOLE, HALF)),
        ("warm_start", [WHOLE, "x", None], lambda v: SequenceSVC(warm_start=v).fit(WHOLE, HALF)),
        ("verbose", [WHOLE, "x", None], lambda v: SVC(verbose=v).fit(WHOLE, HALF)),
        ("verbose", [WHOLE, "x", None], lambda v: check(SVC(), WHOLE, HALF, cv=2, verbose=v)),
        ("n_labels", [3, SVC, np.array(3), "ab"], lambda v: curve(n_labels=v)),
    ],
)
def test_an_argument_of_another_kind_is_named(name: str, values: list[Any], call: Any) -> None:
    pytest.importorskip("matplotlib", reason="no matplotlib")
    for value in values:
        with pytest.raises((TypeError, ValueError), match=rf"(^|samples: (X \d+, )?){name}\b"):
            call(value)


def curve(**given: Any) -> LearningCurveDisplay:
    return LearningCurveDisplay.from_estimator(SVC(), WHOLE, HALF, verbose=0, **given)


def tags(forbidden: Any) -> SequenceSVC:
    return SequenceSVC(forbidden_transitions=forbidden).fit(WHOLE, HALF)


@pytest.mark.parametrize(
    ("name", "content"), [("a.conll", b"a\xe0 O\n"), ("a.gz", b"a O\n"), ("a.gz", gzip.compress(b"a O", mtime=0)[:-9])]
)
def test_a_damaged_file_of_tokens_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"{name}( is damaged|$)"):
        load_conll_file(tmp_path / name)


@pytest.mark.parametrize("form", [pa.array, lambda texts: pa.chunked_array([texts[:9], texts[9:]])])
def test_columns_of_arrow_are_texts(form: Any) -> None:
    texts = [f"goal match {i}" if i < 20 else f"vote law {i}" for i in range(40)]
    with pytest.raises(ValueError, match="X holds texts, but must hold numbers"):
        SVC().fit(form(texts), HALF)
    model = make_pipeline(TfidfVectorizer(), SVC())
    assert explain(model.fit(texts, HALF), form(texts)[:1]).label == 0
    assert with_descriptions(form(texts), None, {"a": "goal"})[0] == [*texts, "goal"]
    session = Session(form(texts), model)
    for row, name in (0, "a"), (39, "b"):
        session.label(row, name)
    assert session.fit().predict(["goal match 3"]) == ["a"]
