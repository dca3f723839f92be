"""Labels and markers in every form that people have them in."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd
import pytest
from planted import text_like
from sklearn.model_selection import cross_val_score

from fewlabel import DataWarning, SequenceSVC, TransductiveSVC, estimate_class_prior
from fewlabel._inputs import _targets
from fewlabel._inputs._markers import objects
from fewlabel.inspection import check, compare, suspicious_labels
from fewlabel.labeling import Session
from fewlabel.labels import Soft, from_votes, keyword_votes, with_descriptions
from fewlabel.metrics import labeled_scorer
from fewlabel.model_selection import SemiSupervisedSplit, held_out_probabilities
from fewlabel.plotting import LearningCurveDisplay
from fewlabel.sequences import TokenVectorizer

CODES = [0, -1, 1, -1, 0, 1]
NUMBERS = [0, -1, 1, -1, 0, 1]
TEXTS = ["no", -1, "yes", -1, "no", "yes"]


def marked(values: list, marker: object) -> list:
    return [marker if value == -1 else value for value in values]


FORMS_OF_NUMBERS = {
    "list": NUMBERS,
    "int8": np.array(NUMBERS, dtype=np.int8),
    "int64": np.array(NUMBERS),
    "float -1": np.array(NUMBERS, dtype=float),
    "float NaN": np.array(marked(NUMBERS, np.nan)),
    "float32 NaN": np.array(marked(NUMBERS, np.nan), dtype=np.float32),
    "object -1": np.array(NUMBERS, dtype=object),
    "object None": np.array(marked(NUMBERS, None), dtype=object),
    "object NaN": np.array(marked(NUMBERS, float("nan")), dtype=object),
    "object NA": np.array(marked(NUMBERS, pd.NA), dtype=object),
    "list None": marked(NUMBERS, None),
    "series NaN": pd.Series(marked(NUMBERS, np.nan)),
    "series Int64": pd.Series(marked(NUMBERS, pd.NA), dtype="Int64"),
    "series -1": pd.Series(NUMBERS),
    "mixed markers": np.array([0, None, 1, pd.NA, 0, 1], dtype=object),
}


class Column:
    """A column of another library: values with nulls as a list, floats as an array."""

    dtype = "Int64"

    def __init__(self, values: list) -> None:
        self.values = values

    def to_list(self) -> list:
        return self.values

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return np.array([np.nan if value is None else value for value in self.values], dtype=dtype)


def masked(values: list, under: object, dtype: object = None) -> np.ndarray:
    hidden = [value == -1 for value in values]
    return np.ma.array(marked(values, under), mask=hidden, dtype=dtype)


FORMS_OF_NUMBERS |= {
    "masked": masked(NUMBERS, 1),
    "masked floats": masked(NUMBERS, 0.5, float),
    "masked objects": masked(NUMBERS, 0, object),
    "masked in a list": [np.ma.masked if value == -1 else value for value in NUMBERS],
    "list NaN": marked(NUMBERS, float("nan")),
    "another library": Column(marked(NUMBERS, None)),
    "lists": [[value] if value != -1 else [] for value in NUMBERS],
    "arrays in a series": pd.Series([np.array([value] if value != -1 else [], dtype=int) for value in NUMBERS]),
    "tuples in another library": Column([(value,) if value != -1 else () for value in NUMBERS]),
}
FORMS_OF_TEXTS = {
    "text": np.array(TEXTS),  # NumPy makes "-1" of -1
    "list": TEXTS,
    "list None": marked(TEXTS, None),
    "list NaN": marked(TEXTS, float("nan")),
    "object -1": np.array(TEXTS, dtype=object),
    "object text": np.array(TEXTS).astype(object),
    "object None": np.array(marked(TEXTS, None), dtype=object),
    "series None": pd.Series(marked(TEXTS, None)),
    "series NA": pd.Series(marked(TEXTS, pd.NA), dtype="string"),
    "categorical": pd.Series(marked(TEXTS, None), dtype="category"),
    "masked": masked(TEXTS, "no"),
    "lists": [[value] if value != -1 else [] for value in TEXTS],
    "lists of one": [[value] if value != -1 else [float("nan")] for value in TEXTS],
    "another library": Column(marked(TEXTS, None)),
}
if hasattr(getattr(np, "dtypes", None), "StringDType"):
    FORMS_OF_TEXTS["variable width"] = np.array(marked(TEXTS, "-1"), dtype=np.dtypes.StringDType())


def learned(y: object, unlabeled: object = "auto", *, prior: object = None, weights: object = None) -> _targets.Targets:
    return _targets.learned(_targets.one_a_row(y, unlabeled, sample_weight=weights), prior)


@pytest.mark.parametrize("y", FORMS_OF_NUMBERS.values(), ids=FORMS_OF_NUMBERS.keys())
def test_numbers_in_every_form(y: object) -> None:
    labels = learned(y)
    assert labels.classes.tolist() == [0, 1]
    assert labels.classes.dtype.kind in "if"
    assert labels.codes.tolist() == CODES
    assert labels.codes.dtype == np.int32


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("y", FORMS_OF_TEXTS.values(), ids=FORMS_OF_TEXTS.keys())
def test_texts_in_every_form(y: object) -> None:
    labels = learned(y)
    assert labels.classes.tolist() == ["no", "yes"]
    assert labels.codes.tolist() == CODES


@pytest.mark.parametrize(
    "y",
    [
        np.array([True, None, False], dtype=object),
        pd.Series([True, pd.NA, False], dtype="boolean"),
        [True, None, False],
    ],
)
def test_bools(y: object) -> None:
    labels = learned(y)
    assert labels.classes.tolist() == [False, True]
    assert labels.classes.dtype == bool
    assert labels.codes.tolist() == [1, -1, 0]


INT8 = {  # of Polars and Arrow, with nulls
    "polars": lambda polars, values: polars.Series(values, dtype=polars.Int8),
    "pyarrow": lambda pyarrow, values: pyarrow.chunked_array([values[:2], values[2:]], type=pyarrow.int8()),
}
CATEGORIES = {
    "polars": lambda polars, values: polars.Series(values, dtype=polars.Categorical),
    "pyarrow": lambda pyarrow, values: pyarrow.array(values).dictionary_encode(),
}


@pytest.mark.parametrize("name", INT8)
def test_columns_of_other_libraries(name: str) -> None:
    library = pytest.importorskip(name)
    numbers, texts = (
        learned(kinds[name](library, marked(values, None))) for kinds, values in ((INT8, NUMBERS), (CATEGORIES, TEXTS))
    )
    assert (numbers.classes.tolist(), numbers.classes.dtype.kind) == ([0, 1], "i")
    assert texts.classes.tolist() == ["no", "yes"]
    assert numbers.codes.tolist() == texts.codes.tolist() == CODES


IDS = [2**53, 2**53 + 1, 7, None]


FRAMES = {
    "categories": lambda: pd.Series(pd.Categorical(IDS)),
    "frame": lambda: pd.DataFrame({"y": pd.array(IDS, dtype="Int64")}),
    "frame of categories": lambda: pd.DataFrame({"y": pd.Categorical(IDS)}),
}


@pytest.mark.parametrize("kind", ["list", "another library", "polars", "pyarrow", *FRAMES])
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_large_integers_beside_nulls_stay_apart(kind: str) -> None:
    if kind == "polars":
        y = pytest.importorskip("polars").Series(IDS)
    elif kind == "pyarrow":
        y = pytest.importorskip("pyarrow").array(IDS)
    elif kind in FRAMES:
        y = FRAMES[kind]()
    else:
        y = IDS if kind == "list" else Column(IDS)
    labels = learned(y)
    assert labels.classes.tolist() == sorted(IDS[:3])
    assert labels.classes.dtype == np.int64
    assert labels.codes.tolist() == [1, 2, 0, -1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([2**63, 1, None], r"^y has the label 9223372036854775808: integers end at 9223372036854775807"),
        ([2**63, 1, -1], r"integers end at"),
        (np.array([-(2**63) - 1, 1, None], dtype=object), "integers end at"),
        ([{2**64, 1}, 2, 1], "integers end at"),
        (np.array([2.0**53, 1, np.nan]), r"^y has the label 9007199254740992 as float64.*in pandas dtype='Int64'"),
        (np.array([2.0**24, 1, -1], dtype=np.float32), "the label 16777216 as float32"),
        ([2**53 + 1, 2.0, None], "as float64"),
    ],
)
def test_integers_that_cannot_be_told_apart_are_refused(y: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _targets.read(y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([b"a", b"b", None], "^y: labels of type bytes are not supported: give texts, numbers or bools"),
        (np.array([b"a", b"b"]), "labels of type bytes are not supported"),
        ([Decimal(1), Decimal(2), None], "labels of type Decimal are not supported"),
        ([pd.Timestamp(0), pd.Timestamp(1), None], "labels of type Timestamp are not supported"),
        (np.array([1, 2], dtype="M8[D]"), "labels of type datetime64 are not supported"),
        (np.array([1, 2], dtype="m8[s]"), "labels of type timedelta64 are not supported"),
        ([{np.timedelta64(1, "s")}, None], "labels of type timedelta64 are not supported"),
        (np.array([1j, 2j]), "labels of type complex128 are not supported"),
    ],
)
def test_labels_of_other_types(y: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learned(y)


@pytest.mark.parametrize(
    "y",
    [
        [["sport"], ["news"], ["news", "sport"], []],
        [("sport",), ("news", "sport"), None, "news"],
        pd.Series([["sport"], ["news", "sport"], []]),
        pd.Series([np.array(["news", "sport"]), np.array(["news", "x"])]),
        Column([["news", "sport"], ["news", "x"]]),
    ],
)
def test_lists_of_several_labels_have_two_readings(y: object) -> None:
    with pytest.raises(
        ValueError, match=r"^y has the labels .* in row .*MultiLabelBinarizer.* -1 in the .*write a set"
    ):
        learned(y)


@pytest.mark.parametrize("y", [[["a", "b"], ["a", "c"]], [[1, 4], [4, 5]], np.array([["a", "b"], ["a", "c"]])])
def test_lists_of_two_labels_each_have_three_readings(y: object) -> None:
    with pytest.raises(
        ValueError, match=r"found .*MultiLabelBinarizer.*fewlabel\.labels\.Soft.*sets of classes as sets"
    ):
        _targets.read(y)


@pytest.mark.parametrize("marker", [None, np.nan, pd.NA, np.ma.masked])
def test_minus_one_is_a_class_where_none_marks_the_unlabeled_rows(marker: object) -> None:
    for y in [1, -1, "?", 1, -1], [1.0, -1.0, "?"], [-1, 0, 1, "?"], ["1", "-1", "?", "1"]:
        labels = learned([marker if value == "?" else value for value in y])
        known = [value for value in y if value != "?"]
        assert labels.classes.tolist() == sorted(set(known))
        assert labels.classes[labels.codes[labels.labeled]].tolist() == known
    assert _targets.one_a_row([{1, -1}, 1, -1, marker]).classes.tolist() == [-1, 1]
    with pytest.raises(ValueError, match="found -1 beside None or NaN, which mark unknown entries"):
        _targets.read([[1, -1], [0, marker]])


def test_a_model_with_class_minus_one_is_scored_for_it() -> None:
    X, y, truth = text_like()
    y, signs = np.where(y < 0, np.nan, 2 * y - 1), 2 * truth - 1
    model = TransductiveSVC().fit(X, y)
    assert model.classes_.tolist() == [-1, 1]
    assert model.score(X, signs) == labeled_scorer("accuracy")(model, X, signs) == np.mean(model.predict(X) == signs)
    assert cross_val_score(TransductiveSVC(), X, y, cv=SemiSupervisedSplit(2), error_score="raise").min() > 0.7
    tagger = SequenceSVC().fit(X, y)
    assert tagger.score(X, signs) == np.mean(tagger.predict(X) == signs)


def test_no_marker_when_unlabeled_is_none() -> None:
    labels = learned([-1, 1, 1, -1], unlabeled=None)
    assert labels.classes.tolist() == [-1, 1]
    assert labels.codes.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("y", "marker"),
    [
        ([1, 0, -1], 0),
        (np.array([1.0, 0.0, -1.0]), 0),
        (np.array([1, 0, -1], dtype=object), 0),
        (np.array([1.0, np.nan, -1.0]), np.nan),
        (np.array([1, None, -1], dtype=object), pd.NA),
        (np.array([1, 99, -1]), 99),
    ],
)
def test_own_marker(y: object, marker: object) -> None:
    labels = learned(y, unlabeled=marker)
    assert labels.classes.tolist() == [-1, 1]
    assert labels.codes.tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("y", "marker"),
    [
        (["a", "?", "b"], "?"),
        (["a", 0, "b"], 0),
        (np.array(["a", 0, "b"]), 0),
        (np.array(["0", "-1", "1"], dtype=object), -1),
    ],
)
def test_own_marker_among_texts(y: object, marker: object) -> None:
    assert learned(y, unlabeled=marker).codes.tolist() == [0, -1, 1]


def test_markers_of_svmlight_and_of_one_class() -> None:
    assert learned([1, -1, 0, 1], unlabeled=0).codes.tolist() == [1, 0, -1, 1]
    assert learned([1, None, np.nan, 1]).classes.tolist() == [1]  # NaN cannot be a class


def test_rows_of_weight_zero_do_not_count() -> None:
    labels = learned([0, 1, 2, -1], weights=np.array([1.0, 1.0, 0.0, 1.0]))
    assert labels.classes.tolist() == [0, 1]
    assert labels.codes.tolist() == [0, 1, -1, -1]


@pytest.mark.parametrize(
    ("y", "unlabeled", "message"),
    [
        ([-1, -1, -1], "auto", "no labeled row"),
        ([None, np.nan], "auto", "no labeled row"),
        ([0, 0, 0], 0, "no labeled row"),
        ([0.5, 1.25, 3.75], "auto", "Unknown label type"),
        ([0.0, np.inf, 1.0], "auto", "Input y contains infinity"),
        ([0.0, np.nan, 1.0], None, "Input y contains NaN"),
        ([0.0, np.nan, 1.0], 0, "Input y contains NaN"),
        ([0, None, 1], None, r"None in row 1, which is not the marker .* unlabeled=None \(every row is labeled\)"),
        (["a", None, "b"], "?", r"which is not the marker set by unlabeled='\?'. None and NaN are markers with"),
        (np.array(["a", 3, None], dtype=object), "auto", "several types: int, str"),
        (np.zeros((3, 2)), "auto", "several labels a row, which are not supported here"),
        ([[0, 1], [1, 0]], "auto", "several labels a row"),
    ],
)
def test_bad_labels(y: object, unlabeled: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learned(y, unlabeled)


def test_many_classes() -> None:
    labels = learned(["c", None, "a", "b", "a"])
    assert labels.classes.tolist() == ["a", "b", "c"]
    assert labels.codes.tolist() == [2, -1, 0, 1, 0]


@pytest.mark.parametrize("form", [list, lambda y: np.array(y, dtype=object), lambda y: pd.Series(y, dtype=object)])
def test_bools_beside_numbers_are_refused(form: Any) -> None:
    for y in ([True, 1, 2, None], [2, False, -1], [True, 0.0, None], [{True, 2}, 3]):
        with pytest.raises(ValueError, match=r"^y mixes labels of several types: bool, (int|float)\. Make them all"):
            learned(form(y))
    assert learned(form([True, False, -1])).classes.tolist() == [False, True]


@pytest.mark.parametrize(
    "y", [[1.0, -1, 1.5], np.array([0.0, np.nan, 1.5]), [0, None, 1.5], np.array([1, -1, 1.5, 2], "f4")]
)
def test_labels_that_are_not_whole_are_named(y: Any) -> None:
    for call in (
        learned,
        lambda y: TransductiveSVC().fit(np.eye(len(y)), y),
        lambda y: SequenceSVC().fit(np.eye(len(y)), y),
    ):
        with pytest.raises(ValueError, match=r"^y has the label 1\.5 in row 2, which is not whole .*write texts"):
            call(y)
    with pytest.raises(ValueError, match=r"^classes has the label 0\.5, which is not whole"):
        Soft(np.eye(2), [0.5, 1.0])
    with pytest.raises(ValueError, match=r"^class_prior has the label 0\.5, which is not whole"):
        TransductiveSVC(class_prior={1.0: 0.3, 2.0: 0.3, 0.5: 0.4}).fit(np.eye(4), [1.0, 2.0, -1, -1])


@pytest.mark.filterwarnings("error")
def test_many_classes_with_one_label_each_are_no_regression() -> None:
    labels = learned([*range(40), -1, -1])
    assert labels.classes.tolist() == list(range(40))


@pytest.mark.parametrize(
    ("y", "prior", "classes", "codes"),
    [
        ([3, 1, -1], {1: 0.5, 2: 0.1, 3: 0.4}, [1, 2, 3], [2, 0, -1]),
        ([3.0, 1.0, -1.0], {1: 0.5, 2: 0.1, 3: 0.4}, [1.0, 2.0, 3.0], [2, 0, -1]),
        (np.array(["b", "a", "-1"]), {"a": 0.5, "another": 0.1, "b": 0.4}, ["a", "another", "b"], [2, 0, -1]),
        (["b", "a", None], {"a": 0.5, "b": 0.4, "c": 0.1}, ["a", "b", "c"], [1, 0, -1]),
        ([3, 1, -1], {1: 0.5, 3: 0.5}, [1, 3], [1, 0, -1]),
        ([3, 1, -1], [0.2, 0.3, 0.5], [1, 3], [1, 0, -1]),
        ([3, 3, -1], {1: 0.5, 3: 0.5}, [1, 3], [1, 1, -1]),
    ],
)
def test_classes_that_the_prior_alone_names(y: object, prior: object, classes: list, codes: list) -> None:
    labels = learned(y, prior=prior)
    assert labels.classes.tolist() == classes
    assert labels.codes.tolist() == codes
    assert labels.codes.dtype == np.int32


def test_same_data_in_each_form_gives_the_same_model() -> None:
    X, y, _ = text_like()
    whole = y.astype(object)
    forms = {
        "int": y,
        "float": np.where(y == -1, np.nan, y),
        "none": np.where(y == -1, None, whole),
        "na": pd.Series(np.where(y == -1, None, whole), dtype="Int64"),
    }
    models = {name: TransductiveSVC().fit(X, form) for name, form in forms.items()}
    texts = np.array(["a", "b", "-1"])[y]  # index -1 is the last
    models["text"] = TransductiveSVC().fit(X, texts)
    models["text, None"] = TransductiveSVC().fit(X, np.where(y == -1, None, texts))
    for model in models.values():
        np.testing.assert_array_equal(model.coef_, models["int"].coef_)
        np.testing.assert_array_equal(model.intercept_, models["int"].intercept_)


@pytest.mark.parametrize(
    ("values", "marker"),
    [
        (np.array([3, 7], dtype=np.int16), -1),
        (np.array([3.0, 7.0]), np.nan),
        (np.array(["left", "right"]), "-1"),
        (np.array(["left", "right"], dtype=object), None),
    ],
)
def test_transduction_has_the_dtype_of_the_labels_and_no_marker(values: np.ndarray, marker: object) -> None:
    X, y, _ = text_like()
    given = values[np.maximum(y, 0)]
    given[y == -1] = marker
    model = TransductiveSVC().fit(X, given)
    assert model.classes_.tolist() == values.tolist()
    assert model.classes_.dtype == model.transduction_.dtype == given.dtype
    assert model.predict(X).dtype == given.dtype
    assert set(model.transduction_.tolist()) == set(values.tolist())
    np.testing.assert_array_equal(model.transduction_[y >= 0], given[y >= 0])
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == model.predict(X).tolist()


def rows_of(minus: int, zero: int, one: int) -> np.ndarray:
    return np.repeat([-1, 0, 1], [minus, zero, one])


OF_SVMLIGHT = {
    "1 and -1 alone": (rows_of(30, 0, 30), r"only 1 and -1.*ambiguous.*only class 1 has labels.*unlabeled=0"),
    "0 in most rows": (rows_of(40, 101, 60), r"40 rows of -1, 101 of 0 and 60 of 1.*unlabeled=-1.*SVMlight.*=0"),
}


@pytest.mark.parametrize("kind", [np.int64, np.float32, object, str])
@pytest.mark.parametrize(("y", "message"), OF_SVMLIGHT.values(), ids=OF_SVMLIGHT)
def test_labels_of_svmlight_are_refused(y: np.ndarray, message: str, kind: type) -> None:
    y = y.astype(kind)
    with pytest.raises(ValueError, match=message):
        learned(y)
    assert [str(name).removesuffix(".0") for name in learned(y, None).classes] == sorted({*y.astype(int).astype(str)})


@pytest.mark.parametrize("y", [rows_of(1, 180, 119), rows_of(2, 795, 703), rows_of(60, 101, 60)])
def test_a_majority_of_0_alone_is_no_sign_of_svmlight(y: np.ndarray) -> None:
    assert learned(y).classes.tolist() == [0, 1]


DOORS = {
    "fit": lambda X, y: TransductiveSVC().fit(X, y),
    "columns": lambda X, y: TransductiveSVC().fit(X, np.column_stack([np.where(y == 0, -1, y)] * 2)),
    "sequences": lambda X, y: SequenceSVC().fit(X, y),
    "split": lambda X, y: next(SemiSupervisedSplit(2).split(X, y)),
    "held out": lambda X, y: held_out_probabilities(TransductiveSVC(calibrate=True), X, y),
    "check": lambda X, y: check(TransductiveSVC(), X, y),
    "compare": lambda X, y: compare(TransductiveSVC(), X, y),
    "prior": lambda X, y: estimate_class_prior(X, y),
    "suspicious": lambda X, y: suspicious_labels(TransductiveSVC().fit(X, y % 2), X, y),
    "curve": lambda X, y: LearningCurveDisplay.from_estimator(TransductiveSVC(), X, y),
}


@pytest.mark.filterwarnings("ignore::fewlabel.FewlabelWarning")
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_labels_of_svmlight_are_refused_at_every_door(door: Callable[..., object]) -> None:
    for y, _ in OF_SVMLIGHT.values():
        with pytest.raises(ValueError, match="which is ambiguous"):
            door(np.eye(len(y)), y)


def test_parts_of_a_y_are_read_as_the_whole_was() -> None:
    X, y, truth = text_like()
    model, part = TransductiveSVC().fit(X, y), np.flatnonzero(y != 0)
    right = np.mean(model.predict(X[y == 1]) == 1)
    assert model.score(X[part], y[part]) == labeled_scorer("accuracy")(model, X[part], y[part]) == right
    most = np.concatenate([np.flatnonzero(truth == 0), np.flatnonzero(y != 0)[:20]])
    given = np.where(np.isin(np.arange(len(y)), most[:-20]), 0, y)
    assert model.score(X[most], given[most]) == labeled_scorer("accuracy")(model, X[most], given[most])


@pytest.mark.parametrize(
    "y",
    [
        rows_of(1000, 6, 4),
        rows_of(1000, 400, 100),
        rows_of(160, 100, 100),
        rows_of(30, 50, 50),
        rows_of(9, 300, 400),
        rows_of(2, 2, 2),
        np.repeat([-1, 0, 1, 2], 50),
        np.repeat([-1, 1, 2], 50),
        np.repeat([np.nan, 0, 1], [10, 90, 10]),
        ["a", "nan", "?", "-1"],
    ],
)
@pytest.mark.filterwarnings("error")
def test_ordinary_markers_are_neither_refused_nor_warned_of(y: np.ndarray) -> None:
    assert {-1, "-1"}.isdisjoint(learned(y).classes.tolist())


@pytest.mark.parametrize("sizes", [(40, 60, 60), (50, 50, 50), (70, 100, 90), (120, 100, 85)])
def test_three_values_that_are_about_as_frequent_are_warned_of(sizes: tuple[int, int, int]) -> None:
    y = rows_of(*sizes)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = TransductiveSVC(class_prior="labels").fit(np.eye(len(y)) + y[:, None] % 3, y)
        learned(y, -1)
        learned(y, None)
    found = [str(one.message) for one in caught if issubclass(one.category, DataWarning)]
    assert model.classes_.tolist() == [0, 1]
    assert len(found) == 1
    assert "three classes, pass unlabeled=None" in found[0]


def test_rows_of_weight_zero_are_not_counted() -> None:
    y = rows_of(50, 110, 50)
    labels = learned(y, weights=np.where(np.arange(210) < 120, 0.0, 1.0))
    assert labels.classes[labels.counts() > 0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("y", "unlabeled", "classes"),
    [
        (["a", "", "b"], "", ["a", "b"]),
        (["a", "", "b"], None, ["", "a", "b"]),
        (["a", "", None, "b"], "auto", ["", "a", "b"]),
        (["a", "", None, "b"], float("nan"), ["", "a", "b"]),
        (["a", "", "-1", "b"], "-1", ["", "a", "b"]),
    ],
)
def test_empty_texts_are_classes_or_the_marker(y: object, unlabeled: object, classes: list) -> None:
    assert learned(y, unlabeled).classes.tolist() == classes


@pytest.mark.parametrize(
    "y",
    [
        ["a\0", "a", None],
        ["a\0", "a"],
        np.array(["a\0b", "a"]),
        pd.Series(["a\0", "a"]),
        [{"a\0", "a"}, "a", "b"],
    ],
)
def test_a_nul_in_a_class_is_refused(y: object) -> None:
    for call in (
        lambda: learned(y),
        lambda: SequenceSVC().fit(np.eye(len(y)), y),
        lambda: TransductiveSVC(class_prior={"a": 0.5, "a\0": 0.5}).fit(np.eye(3), ["a", "a", None]),
        lambda: Soft(np.eye(2), ["a", "a\0"]),
    ):
        with pytest.raises(ValueError, match=r"a class in \w+ must not have a NUL character, got 'a\\x00"):
            call()


class Topic(str, Enum):
    SPORT = "sport"
    MONEY = "money"
    NONE = "none"


class Digit(int, Enum):
    ONE = 1


MEMBERS = [Topic.SPORT, Topic.MONEY, Topic.NONE, Topic.MONEY]


@pytest.mark.parametrize(
    "form", [list, objects, pd.Series, lambda y: ["sport", *y[1:]], lambda y: [{one} for one in y]]
)
@pytest.mark.parametrize("marker", [Topic.NONE, "none"])
def test_members_of_an_enum_of_texts_are_their_texts(form: Callable[[list], Any], marker: object) -> None:
    X, y = np.tile(np.eye(2), (2, 1)), form(MEMBERS)
    if not isinstance(y[0], set):
        model = TransductiveSVC(unlabeled=marker, class_prior={Topic.SPORT: 0.5, "money": 0.5}).fit(X, y)
        assert [*map(type, model.classes_.tolist())] == [str, str]
        assert model.classes_.tolist() == ["money", "sport"]
        assert model.score(X, ["sport", "money"] * 2) == model.score(X, objects([Topic.SPORT, Topic.MONEY] * 2)) == 1
    assert _targets.read(y, None).classes.tolist() == ["money", "none", "sport"]


def test_members_of_an_enum_are_their_values_at_every_door() -> None:
    X, tree = np.tile(np.eye(2), (2, 1)), {Topic.SPORT: Topic.NONE, Topic.MONEY: Topic.NONE, "else": None}
    prior = {"sport": 0.3, "money": 0.3, "else": 0.4}
    model = TransductiveSVC(hierarchy=tree, class_prior=prior).fit(X, ["sport", "else", None, Topic.MONEY])
    assert str(sorted(model.hierarchy_, key=str)) == "['else', 'money', 'none', 'sport']"
    assert Soft(np.eye(2), MEMBERS[:2]).classes.tolist() == ["sport", "money"]
    votes = keyword_votes(["a goal", "a vote"], {Topic.SPORT: ["goal"], Topic.MONEY: ["vote"]})
    assert from_votes(votes, y=["sport", None]).classes.tolist() == ["money", "sport"]
    assert str(votes.tolist()) == "[['sport', None], [None, 'money']]"
    session = Session(X, TransductiveSVC(), classes=MEMBERS[:1])
    session.label(1, Topic.MONEY)
    assert str(session.classes) == "['sport', 'money']"
    assert "token=sport" in TokenVectorizer().fit([[Topic.SPORT]]).get_feature_names_out()
    assert SequenceSVC().fit(X, [Topic.SPORT, "sport", Topic.MONEY, None]).classes_.tolist() == ["money", "sport"]
    assert learned(["1", "a", "b"], Digit.ONE).classes.tolist() == ["a", "b"]


def fits(y: list, unlabeled: object = "auto") -> list[str]:
    """DataWarnings of both kinds of estimators, without those of missing unlabeled rows."""
    messages = []
    for estimator in TransductiveSVC(unlabeled=unlabeled), SequenceSVC(unlabeled=unlabeled):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator.fit(np.eye(3)[np.arange(len(y)) % 3], y)
        messages += [str(one.message) for one in caught if issubclass(one.category, DataWarning)]
    return [message for message in messages if "unlabeled: the model" not in message]


@pytest.mark.parametrize("name", ["None", "nan", "NaN", "NA", "<NA>", "?", "null", "_", "", "  ", "\u200b"])
def test_a_class_that_reads_like_a_marker_is_warned_of_or_refused(name: str) -> None:
    few = ["a", "b", name] * 4
    found = fits(few)
    assert len(found) == 2
    assert found[0] == found[1]
    assert f"4 of 12 labels in y are {name!r}, which reads like a marker" in found[0]
    assert f"pass unlabeled={name!r}" in found[0]
    assert not fits(few, None) + fits(few, name) + fits(["a", "b", "unknown", "O"] * 3)
    beside = f"y has a class with the blank name {name!r}: write the marker of unlabeled rows, or a name."
    assert fits([*few, None]) == [beside] * 2 * (not name.strip(" \u200b"))
    for estimator in TransductiveSVC(), SequenceSVC():
        with pytest.raises(ValueError, match=r"^8 of 12 labels in y are .* reads like a marker\. .* unlabeled=None$"):
            estimator.fit(np.eye(12), ["a", name, name] * 4)


@pytest.mark.parametrize("name", ["", "  ", "\u200b"])
def test_blank_names_are_refused_or_warned_of_at_every_door(name: str) -> None:
    X, y, texts = np.eye(6), ["a", "b", "a", "b", None, None], ["a goal", "a vote"]
    tags, shares = SequenceSVC(class_prior={"a": 0.9, name: 0.1}), {"a": 0.4, "b": 0.4, name: 0.2}
    for what, call in (
        ("class_prior", lambda: TransductiveSVC(class_prior=shares).fit(X, y)),
        ("class_prior", lambda: tags.fit(X, y)),
        ("class_weight", lambda: TransductiveSVC(class_weight={"a": 1, "b": 1, name: 2}).fit(X, y)),
        ("hierarchy", lambda: TransductiveSVC(hierarchy={"a": name, "b": "c"}).fit(X, y)),
        ("descriptions", lambda: with_descriptions(texts, None, {"a": "goal", name: "vote"})),
        ("keywords", lambda: keyword_votes(texts, {"a": ["goal"], name: ["vote"]})),
    ):
        with pytest.raises(ValueError, match=re.escape(f"{what} names {name!r}, which is blank")):
            call()
    with pytest.raises(ValueError, match=r"^hierarchy='/': the class 'c/.*' has an empty part"):
        TransductiveSVC(hierarchy="/").fit(X, ["a", "b", f"c/{name}", "c/d", None, None])
    votes = [["a", "b"], [name, None], [None, "a"]]
    columns = pd.DataFrame([[1, 0], [0, 1], [-1, -1]], columns=["a", name])
    for what, call in (
        ("y", lambda: TransductiveSVC().fit(X, [{"a", name}, "b", "a", name, None, None])),
        ("y", lambda: TransductiveSVC().fit(np.eye(3), columns)),
        ("y", lambda: TransductiveSVC().fit(X, y).score(X, ["a", "b", name, "a", "b", "a"])),
        ("votes", lambda: from_votes(votes)),
    ):
        with pytest.warns(DataWarning, match=re.escape(f"{what} has a class with the blank name {name!r}: write")):
            call()


@pytest.mark.parametrize("name", ["None", "nan", "", "?"])
def test_votes_that_read_like_a_marker_are_refused_or_warned_of(name: str) -> None:
    few, most = np.array([["a", "b"], ["b", name]]), np.array([["a", name], [name, "b"], [name, name]])
    with pytest.warns(DataWarning, match=re.escape(f"1 of 4 labels in votes are {name!r}, which reads")):
        from_votes(few)
    with pytest.warns(DataWarning, match="1 of 3 labels in y are"):
        from_votes([["a"], ["b"], [None]], ["a", "b", name], unlabeled="auto")
    with pytest.raises(ValueError, match=r"4 of 6 labels in votes are .*pass unlabeled="):
        from_votes(most)
    assert from_votes(most, unlabeled=name).classes.tolist() == ["a", "b"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        from_votes(few, unlabeled=None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("caf\u00e9", "cafe\u0301"),
        ("eau", "eau "),
        ("eau", "\tEau\r"),
        ("eau", "eau\u200b"),
        ("the eau", "the  eau\x7f"),
        ("e\u00e4u", "\ufeffe\u00e4u\u00a0"),
    ],
)
def test_classes_that_look_the_same_are_warned_of(one: str, other: str) -> None:
    y = [one, "fin", other, None] * 3
    found = fits(y)
    assert len(found) == 2
    assert "have almost the same name: write one name if they are one class" in found[0]
    for name in one, other:
        assert any(spelled in found[0] for spelled in (repr(name), ascii(name)))
    assert not fits([one, "fin", "mer", None] * 3)
    assert not fits(["p\u00eache", "p\u00e9ch\u00e9", "mW", "MW", "resign", "re-sign", "a", "A", None])
    for estimator in TransductiveSVC(), SequenceSVC():
        model = estimator.fit(np.eye(3), [one, "fin", None])
        with pytest.warns(DataWarning, match="have almost the same name"):
            model.score(np.eye(3), [other, "fin", None])


def test_votes_and_columns_that_look_the_same_are_warned_of() -> None:
    with pytest.warns(DataWarning, match="have almost the same name"):
        from_votes(np.array([["e\u00e4u", "fin"], ["ea\u0308u", "fin"], ["fin", "e\u00e4u"]], dtype=object))
    columns = pd.DataFrame({"e\u00e4u": [1, 0, -1], "ea\u0308u": [0, 1, -1]})
    with pytest.warns(DataWarning, match="have almost the same name"):
        TransductiveSVC().fit(np.eye(3), columns)


def test_groups_that_look_the_same_are_warned_of() -> None:
    with pytest.warns(DataWarning, match="have almost the same name"):
        TransductiveSVC(hierarchy={"a": "mer", "b": "Mer"}).fit(np.eye(4), ["a", "b", "c", None])


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize(
    "measure",
    [
        lambda X, y: compare(TransductiveSVC(), X, y, ["annealing"], cv=2, verbose=0),
        lambda X, y: check(TransductiveSVC(), X, y, cv=2, verbose=0),
        lambda X, y: held_out_probabilities(TransductiveSVC(calibrate=True), X, y, cv=2),
        lambda X, y: LearningCurveDisplay.from_estimator(TransductiveSVC(), X, y, n_labels=[9], n_draws=1, verbose=0),
    ],
)
def test_fits_that_nobody_sees_warn_of_classes_that_look_the_same(measure: Any) -> None:
    X, y, _ = text_like()
    names = np.array(["mer", "fin", None], dtype=object)[y]
    names[np.flatnonzero(y == 0)[::2]] = "Mer"
    with pytest.warns(DataWarning, match="have almost the same name"):
        measure(X, names)


def test_many_classes_that_look_the_same_are_one_warning() -> None:
    (found, _) = fits(["eau", "mer", "fin", "sel", "Eau", "Mer", "Fin", "Sel", None])
    assert found.count("have almost the same name") == 3
    assert found.endswith("; and others: write one name if they are one class.")


@pytest.mark.parametrize(
    ("dtype", "labels", "kind"),
    [("Int64", [3, 7], "i"), ("Int32", [3, 7], "i"), ("UInt8", [3, 7], "iu"), ("boolean", [False, True], "b")],
)
def test_nullable_labels_of_pandas_keep_their_kind(dtype: str, labels: list, kind: str) -> None:
    X, y, truth = text_like()
    given = pd.Series(np.array(labels)[truth]).astype(dtype).mask(y < 0)
    model = TransductiveSVC().fit(X, given)
    assert model.classes_.tolist() == labels
    for found in (model.classes_, model.transduction_, model.predict(X)):
        assert found.dtype.kind in kind
    assert model.score(X, given) == TransductiveSVC().fit(X, y).score(X, y)


@pytest.mark.parametrize(
    ("names", "warned"),
    [
        (["p\u0430y", "pay"], True),  # of Cyrillic
        (["\u0421\u041e\u0420", "COP"], True),
        (["\u039f\u03a7", "OX"], True),  # of Greek
        (["\u0441\u043e\u0440", "\u0441\u043e\u043c"], False),
        (["\u03b1", "a"], False),
        (["A\u2013B", "A-B"], True),
        (["it\u2019s", "it's"], True),
    ],
)
def test_letters_of_other_alphabets_that_look_the_same(names: list[str], warned: bool) -> None:
    y = [names[i] if i < 2 else None for i in range(12)]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        TransductiveSVC().fit(np.eye(2)[np.arange(12) % 2], y)
    told = [str(one.message) for one in found if "almost the same name" in str(one.message)]
    assert (len(told) == 1) == warned
    assert not told or "\\u" in told[0]  # else both are printed alike
