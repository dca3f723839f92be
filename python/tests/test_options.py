"""The library's options are the parameters of the estimators, with the same defaults and ranges."""

from __future__ import annotations

import inspect
import json
from typing import Any

import numpy as np
import pytest
from planted import text_like

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC, _fit, _library

X, Y, _ = text_like(n=60, d=30)
IN_PYTHON_ONLY = {"class_weight", "cross_fit", "prior_strength", "unlabeled", "n_jobs", "verbose", "warm_start"}
OF_TRANSDUCTIVE = {"loss"}
OF_PROBABILITIES = {"constraint", "penalty_weight", "kl_weight"}
RENAMED = {"threads": "n_jobs"}
both = pytest.mark.parametrize("estimator", [TransductiveSVC, SemiSupervisedLogisticRegression])


def options(estimator: type = TransductiveSVC) -> list[dict[str, Any]]:
    listed = json.loads(_library.text("fewlabel_options"))
    other = OF_TRANSDUCTIVE if estimator is SemiSupervisedLogisticRegression else OF_PROBABILITIES
    return [o for o in listed if o["name"] not in other]


def signature_defaults(estimator: type) -> dict[str, Any]:
    parameters = inspect.signature(estimator.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


@both
def test_every_parameter_is_keyword_only(estimator: type) -> None:
    parameters = list(inspect.signature(estimator.__init__).parameters.values())[1:]
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters)


@both
def test_same_names(estimator: type) -> None:
    names = {RENAMED.get(option["name"], option["name"]) for option in options(estimator)}
    assert names | IN_PYTHON_ONLY == set(signature_defaults(estimator))


@both
def test_same_defaults(estimator: type) -> None:
    python = signature_defaults(estimator)
    own = {"alpha"} if estimator is SemiSupervisedLogisticRegression else set()
    for option in options(estimator):
        name = option["name"]
        assert {"name", "type", "default", "meaning"} <= set(option)
        if name == "threads" or name in own:
            continue  # the library's 1 thread; Python's None means all cores
        if name == "random_state":
            assert python[name] is None  # stands for the library's fixed seed
            continue
        assert option["default"] == python[name], name
        assert isinstance(python[name], type(option["default"])) or option["type"] == "number"


@both
def test_defaults_named_in_the_docstring(estimator: type) -> None:
    lines = [line.strip() for line in inspect.getdoc(estimator).splitlines()]
    for name, default in signature_defaults(estimator).items():
        entry = next(line for line in lines if line.startswith(f"{name} : "))
        written = entry.rsplit("default=", 1)[1]
        assert eval(written) == default, entry


def out_of_range(option: dict[str, Any]) -> list[Any]:
    if "choices" in option:
        return ["annealling"]
    if option["type"] in ("number", "integer") and "minimum" in option:
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
    assert {"method", "alpha", "unlabeled_weight", "balance", "max_iter", "tol"} <= checked


def test_every_choice_is_in_the_docstring() -> None:
    text = inspect.getdoc(TransductiveSVC) + inspect.getdoc(SemiSupervisedLogisticRegression)
    for option in options() + options(SemiSupervisedLogisticRegression):
        for choice in option.get("choices", []):
            assert f'"{choice}"' in text, option["name"]


def test_unknown_option_suggests_the_nearest() -> None:
    from fewlabel import _data

    rows = _data.native(X)
    with pytest.raises(ValueError, match=r"unlabelled_weight.*unlabeled_weight"):
        _fit.fit(rows, Y.astype(np.int32), None, {"unlabelled_weight": 1.0})


def test_scalars_of_numpy_are_plain_numbers() -> None:
    text = _fit.options_text({"a": np.float32(0.5), "b": np.int64(3), "c": np.bool_(True), "d": np.array([0.25, 0.75])})
    assert json.loads(text) == {"a": 0.5, "b": 3, "c": True, "d": [0.25, 0.75]}
