"""Trees of classes: from dicts and from class names, in a fit, and asked for a level."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from planted import GROUP, many_topics, text_like

from fewlabel import ClassPriorWarning, SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel._inputs import _hierarchy
from fewlabel.methods import Annealing

X, Y, _ = many_topics()
NAMES = np.array(["comp.sys.mac", "rec.autos", "comp.sys.pc", "rec.cycles", "-1"])
LABELS = NAMES[Y]


def classes(*names: Any) -> np.ndarray:
    return np.array(sorted(names), dtype=object)


# --- reading ----------------------------------------------------------------------------------------------------------


def test_from_a_dict() -> None:
    tree = _hierarchy.read({"b": "left", "a": "left", "left": "more", "c": "more"}, classes("a", "b", "c", "d"))
    assert tree == {"a": "left", "b": "left", "c": "more", "d": None, "left": "more", "more": None}
    assert list(tree) == ["a", "b", "c", "d", "left", "more"]
    assert _hierarchy.numbers(tree).tolist() == [4, 4, 5, -1, 5, -1]


def test_from_names() -> None:
    tree = _hierarchy.read(".", classes("a.b.d", "a.b.c", "a.e", "f"))
    assert tree == {"a.b.c": "a.b", "a.b.d": "a.b", "a.e": "a", "f": None, "a.b": "a", "a": None}
    assert _hierarchy.numbers(tree).tolist() == [4, 4, 5, -1, 5, -1]
    assert _hierarchy.read("::", classes("a::b", "a::c")) == {"a::b": "a", "a::c": "a", "a": None}


def test_the_order_of_a_dict_does_not_matter() -> None:
    pairs = [("a", "x"), ("b", "x"), ("x", "z"), ("c", "y"), ("y", "z"), ("z", None), ("d", None)]
    trees = [_hierarchy.read(dict(order), classes("a", "b", "c", "d")) for order in (pairs, pairs[::-1])]
    assert list(trees[0].items()) == list(trees[1].items())


@pytest.mark.parametrize(
    "hierarchy",
    [None, {}, {0: None}, {0: "all", 1: "all", 2: "all"}, {0: "all", 1: "all", 2: "all", "all": None}],
)
def test_no_groups_are_no_tree(hierarchy: Any) -> None:
    assert _hierarchy.numbers(_hierarchy.read(hierarchy, np.arange(3))) is None


@pytest.mark.parametrize("depth", [20, 21, 5000])
def test_a_class_has_at_most_twenty_groups_above_it(depth: int) -> None:
    chain = {"a": "g0", "z": "z0"} | {f"g{k}": f"g{k + 1}" for k in range(depth - 1)}
    named = classes(".".join(map(str, range(depth + 1))), "z.y")
    for hierarchy, names in ((chain, classes("a", "z")), (".", named)):
        if depth == 20:
            assert len(_hierarchy.read(hierarchy, names)) == 23
        else:
            with pytest.raises(ValueError, match=r"hierarchy has more than 20 groups above '.*, one above the other"):
                _hierarchy.read(hierarchy, names)


@pytest.mark.parametrize("leaves", [[0, 1], [0, 1, -5], [0, 1, *range(-3000, 0)], range(10**5)])
def test_a_long_chain_is_refused_at_once(leaves: Any) -> None:
    chain = {f"g{k}": f"g{k + 1}" for k in range(10**5)}
    tree, began = {name: f"g{k}" for k, name in enumerate(leaves)} | chain, time.process_time()
    for read in (_hierarchy.read, _hierarchy.checked, _hierarchy.leaves):
        with pytest.raises(ValueError, match=r"hierarchy has more than 20 groups above .*, one above the other"):
            read(*((tree, [0, 1]) if read is _hierarchy.leaves else (tree, np.arange(2))))
    names = [".".join("a" * 10**5) + end for end in "xy"]
    for refused in (lambda: _hierarchy.read(".", classes(*names)), lambda: _hierarchy.leaves(".", names)):
        with pytest.raises(ValueError, match="hierarchy has more than 20 groups above "):
            refused()
    assert time.process_time() - began < 3


def test_names_of_numpy_types() -> None:
    tree = _hierarchy.read({np.int64(0): np.int64(10), np.int64(1): np.int64(10), 2: 11}, np.arange(3))
    assert tree == {0: 10, 1: 10, 2: 11, 10: None, 11: None}


@pytest.mark.parametrize(
    ("hierarchy", "names", "message"),
    [
        ({"a": "g", "b": "g", 3: "g"}, "abc", "hierarchy has 3 below 'g', but the classes are a, b, c"),
        ({"g": "a", "h": "b"}, "abc", "hierarchy has 'g' below 'a', but the classes are a, b, c"),
        ({"a": "g", "g": "h", "h": "g"}, "ab", "goes in a circle: 'g' -> 'h' -> 'g'"),
        ({"a": "a"}, "ab", "goes in a circle: 'a' -> 'a'"),
        ({"a": "g", "b": "a"}, "ab", "hierarchy has 'b' below 'a', which is a class: a class must be a leaf"),
        (
            {"a": ["g", "h"]},
            "ab",
            r"hierarchy gives 'a' the parents \['g', 'h'\]: write its one parent",
        ),
        (
            {"g": ["a", "b"]},
            "ab",
            r"hierarchy gives 'g' the parents \['a', 'b'\]: write its one parent",
        ),
        ([("a", "g"), ("a", "h")], "ab", "must be None, a dict from child to parent, or a separator"),
        ({"a": "g\0", "b": "g\0"}, "abc", "a group of hierarchy must not have a NUL character"),
        (3, "ab", "hierarchy=3 must be None, a dict"),
        ("/", "ab", "hierarchy='/' is a separator, but no class name has it: the classes are a, b"),
        ("", "ab", "hierarchy='' is a separator, but no class name has it"),
        (".", ["a", "a.b", "a.c"], "hierarchy has 'a.b' below 'a', which is a class"),
        (".", ["a.b", "a.", "c"], "the class 'a.' has an empty part"),
        (".", ["a..b", "c"], "the class 'a..b' has an empty part"),
        (".", [0, 1, 2], "'.' is a separator, which needs class names that are texts; the classes are 0, 1, 2"),
    ],
)
def test_trees_that_cannot_be_read(hierarchy: Any, names: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _hierarchy.read(hierarchy, classes(*names))


# --- levels -----------------------------------------------------------------------------------------------------------


def test_levels() -> None:
    names = classes("a.b.c", "a.b.d", "a.e", "f")
    tree = _hierarchy.read(".", names)
    assert _hierarchy.at_level(tree, names, 1).tolist() == ["a", "a", "a", "f"]
    assert _hierarchy.at_level(tree, names, 2).tolist() == ["a.b", "a.b", "a.e", "f"]
    assert _hierarchy.at_level(tree, names, np.int64(3)).tolist() == names.tolist()
    assert _hierarchy.at_level(tree, names, 9).tolist() == names.tolist()


def test_a_named_top_is_above_level_1() -> None:
    tree = _hierarchy.read({"a": "x", "b": "x", "c": "y", "x": "all", "y": "all"}, classes("a", "b", "c"))
    assert _hierarchy.at_level(tree, classes("a", "b", "c"), 1).tolist() == ["x", "x", "y"]


@pytest.mark.parametrize(
    ("names", "parents", "dtype"),
    [
        (np.array(["a", "b"]), {"a": "longer", "b": "longer", "longer": "top"}, "<U6"),
        (np.array(["a", "b"], dtype=object), {"a": "g", "b": None}, object),
        (np.array([0, 1], dtype=np.int16), {0: 7, 1: None}, np.int16),
        (np.array([0, 1]), {0: "g", 1: None}, object),
    ],
)
def test_dtype_of_a_level(names: np.ndarray, parents: dict, dtype: Any) -> None:
    tree = {child: parent for child, parent in parents.items() if child in names.tolist()}
    tree |= {parent: None for parent in tree.values() if parent is not None}
    assert _hierarchy.at_level(tree, names, 1).dtype == np.dtype(dtype)


@pytest.mark.parametrize("level", [0, -1, 1.5, "1", True, None])
def test_levels_that_are_none(level: Any) -> None:
    model = TransductiveSVC(hierarchy=GROUP).fit(X, Y)
    with pytest.raises(ValueError, match="level must be an integer of at least 1"):
        model.predict_level(X, level)


# --- in a fit ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_predict_level(kind: type) -> None:
    model = kind(hierarchy=".").fit(X, LABELS)
    assert model.hierarchy_["comp.sys.mac"] == "comp.sys"
    predicted = model.predict(X)
    assert model.predict_level(X, 1).tolist() == [name.split(".")[0] for name in predicted]
    assert model.predict_level(X, 2).tolist() == [".".join(name.split(".")[:2]) for name in predicted]
    assert model.predict_level(X, 3).tolist() == predicted.tolist()
    given = kind(hierarchy=model.hierarchy_).fit(X, LABELS)
    assert given.coef_.tobytes() == model.coef_.tobytes()
    with pytest.raises(ValueError, match="predict_level needs groups of classes"):
        kind().fit(X, LABELS).predict_level(X, 1)


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
@pytest.mark.parametrize("method", ["annealing", "switching"])
def test_a_tree_without_groups_is_no_tree(kind: type, method: str) -> None:
    for problem in (many_topics(), text_like()):
        flat = kind(method=method).fit(problem.X, problem.y)
        tree = kind(method=method, hierarchy=dict.fromkeys(range(4), "all") if problem.y.max() == 3 else {})
        assert tree.fit(problem.X, problem.y).coef_.tobytes() == flat.coef_.tobytes()
        assert tree.predict_level(problem.X, 1).tolist() == flat.predict(problem.X).tolist()


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_a_class_without_a_label_is_left_out_of_the_tree(kind: type) -> None:
    names = np.array([*"abcd", None], dtype=object)
    tree = {"a": "even", "b": "odd", "c": "even", "d": "odd", "even": "all", "odd": "all"}
    expected = kind(hierarchy=tree).fit(X, names[Y])
    with pytest.warns(ClassPriorWarning, match="hierarchy has e, f, but no row has this label.* are a, b, c, d"):
        found = kind(hierarchy=tree | {"e": "even", "f": "third", "third": "all"}).fit(X, names[Y])
    assert found.hierarchy_ == expected.hierarchy_
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    shares = dict.fromkeys("abcde", 0.2)
    with pytest.warns(ClassPriorWarning, match="class e has a share in class_prior but no labeled row"):
        found = kind(hierarchy=tree | {"e": "even"}, class_prior=shares).fit(X, names[Y])
    assert found.classes_.tolist() == [*"abcde"]
    one_group = np.where(Y % 2, None, names[Y])
    with pytest.warns(ClassPriorWarning, match="hierarchy has b, d, but"):
        assert set(kind(hierarchy=tree).fit(X, one_group).predict_level(X, 1)) == {"even"}


def test_a_group_stands_for_its_classes_with_a_label() -> None:
    names = np.array([*"abcd", None], dtype=object)
    tree = dict(zip("abcdef", ["even", "odd"] * 3, strict=True))
    y = names[Y]
    unknown = np.flatnonzero(Y < 0)[:2]
    y[unknown] = "even"
    with pytest.warns(ClassPriorWarning, match="hierarchy has e, f, but"):
        model = TransductiveSVC(hierarchy=tree).fit(X, y)
    assert set(model.transduction_[unknown]) <= {"a", "c"}
    y[y == "a"] = y[y == "c"] = None
    with pytest.raises(ValueError, match=r"^hierarchy has a, c, e below 'even', which is a label in y, but no row has"):
        TransductiveSVC(hierarchy=tree).fit(X, y)
    with pytest.raises(
        ValueError, match=r"^hierarchy has 0, 2 below 1, .* no row has the label of another class than 0"
    ):
        TransductiveSVC(hierarchy={0: 1, 2: 1}).fit(X, np.where(Y < 2, Y, -1))


@pytest.mark.filterwarnings("ignore:class 1 has a share of")
@pytest.mark.parametrize("missing", [np.nan, np.float32("nan"), pd.NA, pd.NaT])
def test_groups_have_names(missing: Any) -> None:
    for tree, found in (
        ({0: "a", 1: missing}, "1 below"),
        ({0: missing, 1: missing}, "0 below"),
        ({missing: "a"}, ".* 'a'"),
    ):
        with pytest.raises(ValueError, match=f"^hierarchy has {found}.*, which is no name: write None above"):
            TransductiveSVC(hierarchy=tree, unlabeled=-1).fit(X, Y)
    with pytest.raises(ValueError, match=r"^hierarchy names '-1', which marks rows"):
        TransductiveSVC(hierarchy="/").fit(np.eye(3), ["-1/a", "-1/b", "c"])
    signs = np.array([*[1, -1, 2] * 2, *[None] * 3], dtype=object)  # where -1 is a class
    tree = TransductiveSVC(hierarchy={1: "a", -1: "a"}, class_prior={1: 0.3, -1: 0.3, 2: 0.4}).fit(np.eye(9), signs)
    assert tree.hierarchy_ == {-1: "a", 1: "a", 2: None, "a": None}


def test_factors_of_all_classes_may_name_one_without_a_label() -> None:
    factors = {0: 1.0, 1: 2.0, 2: 3.0, 3: 1.0}
    expected = TransductiveSVC(class_weight=factors).fit(X, Y)
    assert TransductiveSVC(class_weight=factors | {9: 5.0}).fit(X, Y).coef_.tobytes() == expected.coef_.tobytes()


def test_two_classes_in_groups() -> None:
    problem = text_like()
    model = TransductiveSVC(hierarchy={0: "a", 1: "b"}, class_prior=[0.6, 0.4]).fit(problem.X, problem.y)
    assert model.coef_.shape == (1, problem.X.shape[1])
    assert model.score(problem.X, problem.truth) > 0.95
    assert set(model.predict_level(problem.X, 1)) == {"a", "b"}


@pytest.mark.filterwarnings("ignore:all labeled rows have class")
def test_one_class_of_a_tree() -> None:
    model = TransductiveSVC(hierarchy=GROUP).fit(X, np.where(Y == 2, 2, -1))
    assert set(model.predict_level(X, 1)) == {"even"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hierarchy": GROUP | {"x": "odd"}}, "hierarchy has 'x' below 'odd', but the classes are 0, 1, 2, 3"),
        ({"hierarchy": {0: "a", "a": 0}}, "circle"),
        ({"hierarchy": {0: 1}}, "hierarchy has 0 below 1, which is a class"),
        ({"hierarchy": "."}, "needs class names that are texts"),
        ({"hierarchy": [(0, "a")]}, "must be None, a dict"),
        ({"loss": "maxent"}, "loss='maxent' must be one of .*, crammer_singer; SemiSupervisedLogisticRegression has"),
        ({"hierarchy": {2: -1, 3: -1}}, "hierarchy names -1, which marks rows without a label"),
        ({"hierarchy": {2: "a", 3: "a", -1: "a"}}, "hierarchy names -1, which marks rows without a label"),
        ({"class_prior": dict.fromkeys([0, 1, 2, 3, -1], 0.2)}, "class_prior names -1, which marks rows"),
        ({"class_weight": dict.fromkeys([0, 1, 2, 3, -1], 1.0)}, "class_weight names -1, which marks rows"),
        (
            {"hierarchy": {2: "a", 3: "?", 9: "?"}, "unlabeled": -1.0, "class_prior": {-1: 1}},
            "class_prior names -1, wh",
        ),
        (
            {"hierarchy": {0: 1, 2: 1}, "class_prior": [0.25] * 4},
            "hierarchy has 0, 2 below 1, which is .* 4 shares, one",
        ),
        (
            {"hierarchy": {0: 1, 2: 1}, "class_prior": dict.fromkeys(range(4), 0.25)},
            "hierarchy has 0 below 1, which is a cl",
        ),
        ({"loss": "crammer_singer", "method": Annealing(balance="mean")}, 'balance is "mean".*use "share" or "labels"'),
        ({"class_prior": [0.5, 0.5]}, r"class_prior has 2 shares, but there are 4 classes \(0, 1, 2, 3\)"),
        ({"class_prior": {0: 0.5, 1: 0.3, 2: 0.2}}, r"missing: \[3\]"),
        ({"class_prior": [0.5, 0.7, 0.2, -0.4]}, "class_prior of class 3 is -0.4"),
        ({"class_prior": [0.5, 0.5, 0.2, 0.2]}, "it must sum to 1"),
    ],
)
def test_settings_that_do_not_go_with_many_classes(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TransductiveSVC(**settings).fit(X, Y)


@pytest.mark.parametrize("method", ["pair_switching", "gradient"])
def test_methods_that_logistic_regression_does_not_have(method: str) -> None:
    with pytest.raises(ValueError, match=f"method.*{method}"):
        SemiSupervisedLogisticRegression(method=method).fit(X, Y)


@pytest.mark.parametrize("method", ["entropy", "expectation", "posterior"])
def test_methods_that_need_probabilities(method: str) -> None:
    with pytest.raises(ValueError, match=f"method.*{method}"):
        TransductiveSVC(method=method).fit(X, Y)


def test_more_classes_than_rows() -> None:
    prior = {0: 0.4, 1: 0.3} | dict.fromkeys(range(2, 8), 0.05)
    with pytest.raises(ValueError, match=r"class_prior names 2, 3, .* 8 classes, more than the 5 rows"):
        TransductiveSVC(class_prior=prior).fit(X[:5], [0, 1, -1, -1, -1])
