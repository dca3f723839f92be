"""The library's options are parameters of the estimators and of their methods, with the same defaults and ranges."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from planted import text_like

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC, methods
from fewlabel._inputs._targets import Columns
from fewlabel._native import _fit, _library
from fewlabel._native._signatures import LINEAR

X, Y, _ = text_like(n=60, d=30)
IN_PYTHON_ONLY = {"unlabeled", "n_jobs", "verbose", "warm_start"}
OF_METHODS = {"balance", "kl_weight", "max_switches"}
RENAMED = {"threads": "n_jobs"}
KINDS = [getattr(methods, name) for name in methods.__all__]
both = pytest.mark.parametrize("estimator", [TransductiveSVC, SemiSupervisedLogisticRegression])


def options(estimator: type = TransductiveSVC) -> list[dict[str, Any]]:
    """The library's options that are parameters of the estimator."""
    other = {"class_names"} | ({"loss"} if estimator is SemiSupervisedLogisticRegression else set())
    return [o for o in json.loads(_library.text("fewlabel_options", LINEAR)) if o["name"] not in OF_METHODS | other]


def options_of_methods() -> dict[str, dict[str, Any]]:
    listed = json.loads(_library.text("fewlabel_options", LINEAR))
    return {option["name"]: option for option in listed if option["name"] in OF_METHODS}


def signature_defaults(estimator: type) -> dict[str, Any]:
    parameters = inspect.signature(estimator.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


@both
def test_every_parameter_is_keyword_only(estimator: type) -> None:
    parameters = list(inspect.signature(estimator.__init__).parameters.values())[1:]
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters)


@both
def test_sixteen_parameters_at_most(estimator: type) -> None:
    assert len(signature_defaults(estimator)) <= 16


@both
def test_same_names(estimator: type) -> None:
    names = {RENAMED.get(option["name"], option["name"]) for option in options(estimator)}
    assert names | IN_PYTHON_ONLY == set(signature_defaults(estimator))


def test_every_option_of_a_method_is_one_of_the_library() -> None:
    assert {field.name for kind in KINDS for field in fields(kind)} == set(options_of_methods())


@both
def test_same_defaults(estimator: type) -> None:
    python = signature_defaults(estimator)
    own = {"alpha", "calibrate", "method"} if estimator is SemiSupervisedLogisticRegression else set()
    for option in options(estimator):
        name = option["name"]
        assert {"name", "type", "default", "meaning"} <= set(option)
        if name == "threads" or name in own:
            continue  # the library's 1 thread; Python's None means all cores
        assert option["default"] == python[name], name
        assert isinstance(python[name], type(option["default"])) or option["type"] == "number"


@pytest.mark.parametrize("kind", KINDS)
def test_same_defaults_of_a_method(kind: Any) -> None:
    for name, value in methods.options(kind()).items():
        if name == "method":
            assert value == kind.name
        else:
            assert options_of_methods()[name]["default"] == value, name


def written_defaults(described: Any, names: Any) -> dict[str, Any]:
    """What the docstring says the defaults of these parameters are, or that of TransductiveSVC for it."""
    text = f"{inspect.getdoc(described)}\n{inspect.getdoc(TransductiveSVC)}"
    entries = {name: re.search(rf"^{name} : .*default=(.*)$", text, re.MULTILINE) for name in names}
    return {name: eval(entry[1]) for name, entry in entries.items()}


@both
def test_defaults_named_in_the_docstring(estimator: type) -> None:
    defaults = signature_defaults(estimator)
    assert written_defaults(estimator, defaults) == defaults


@pytest.mark.parametrize("kind", KINDS)
def test_defaults_of_a_method_named_in_its_docstring(kind: Any) -> None:
    defaults = {field.name: field.default for field in fields(kind)}
    assert written_defaults(kind, defaults) == defaults


def out_of_range(option: dict[str, Any]) -> list[Any]:
    if "choices" in option:
        return ["annealling"]
    if option["type"] in ("number", "number or auto", "integer") and "minimum" in option:
        low = [option["minimum"]] if option.get("exclusive_minimum") else [option["minimum"] - 1]
        return low + ([2 * option["maximum"]] if "maximum" in option else [])
    return []


@both
def test_values_out_of_range_are_refused_by_name(estimator: type) -> None:
    checked = set()
    for option in options(estimator):
        for value in out_of_range(option) if option["name"] != "threads" else []:
            checked.add(option["name"])
            with pytest.raises(ValueError, match=option["name"]):
                estimator(**{option["name"]: value}).fit(X, Y)
    assert {"method", "alpha", "unlabeled_weight", "class_prior", "max_iter", "tol"} <= checked


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_a_method_out_of_range_are_refused_by_name(kind: Any) -> None:
    estimator = TransductiveSVC if kind.name in TransductiveSVC._methods else SemiSupervisedLogisticRegression
    for field in fields(kind):
        for value in out_of_range(options_of_methods()[field.name]):
            with pytest.raises(ValueError, match=field.name):
                estimator(method=kind(**{field.name: value})).fit(X, Y)


def test_every_choice_is_in_a_docstring() -> None:
    kinds = [TransductiveSVC, SemiSupervisedLogisticRegression, *KINDS]
    text = "".join(inspect.getdoc(kind) for kind in kinds)
    for option in [*options(), *options_of_methods().values()]:
        for choice in option.get("choices", []):
            assert (f'"{choice}"' if choice != "none" else '"balanced" or None') in text, option["name"]


def test_unknown_option_suggests_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"unlabelled_weight.*unlabeled_weight"):
        _fit.fit(X, Columns(Y.astype(np.int32)[:, None]), {"unlabelled_weight": 1.0})


def test_scalars_of_numpy_are_plain_numbers() -> None:
    text = _fit.options_text({"a": np.float32(0.5), "b": np.int64(3), "c": np.bool_(True), "d": np.array([0.25, 0.75])})
    assert json.loads(text) == {"a": 0.5, "b": 3, "c": True, "d": [0.25, 0.75]}


@pytest.mark.parametrize(("n", "alpha"), [(3000, 1e-3), (65536, 5e-4)])
def test_alpha_auto_falls_with_the_root_of_many_rows(n: int, alpha: float) -> None:
    X = np.random.default_rng(0).normal(size=(n, 2))
    y = np.where(np.arange(n) < 20, (X[:, 0] > 0).astype(int), -1)
    models = [TransductiveSVC(alpha=one, class_prior=[0.5, 0.5]).fit(X, y) for one in ("auto", alpha)]
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()
