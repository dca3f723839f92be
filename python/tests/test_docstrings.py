"""The examples in docstrings run, and the parameters described are those of the signatures."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
import re
from importlib import import_module
from typing import Any

import pytest

import fewlabel

MODULES = [
    module.name
    for module in pkgutil.walk_packages(fewlabel.__path__, "fewlabel.")
    if not module.ispkg and module.name != "fewlabel.libfewlabel"
]
PUBLIC = [getattr(fewlabel, name) for name in fewlabel.__all__ if callable(getattr(fewlabel, name))]
PUBLIC = [item for item in PUBLIC if not (inspect.isclass(item) and issubclass(item, Warning))]
PUBLIC_MODULES = (
    fewlabel.dask,
    fewlabel.datasets,
    fewlabel.inspection,
    fewlabel.labeling,
    fewlabel.methods,
    fewlabel.metrics,
    fewlabel.model_selection,
    fewlabel.plotting,
    fewlabel.preprocessing,
    fewlabel.spmd,
)
PUBLIC += [getattr(module, name) for module in PUBLIC_MODULES for name in module.__all__]
METHODS = ("fit", "predict", "predict_level", "decision_function", "score")
PUBLIC += [getattr(fewlabel.TransductiveSVC, name) for name in METHODS]
PUBLIC += [getattr(fewlabel.SemiSupervisedLogisticRegression, f"predict_{name}") for name in ("proba", "log_proba")]
PUBLIC += [getattr(fewlabel.model_selection.SemiSupervisedSplit, name) for name in ("split", "get_n_splits")]
LABELING = ("next", "label", "rule_out", "skip", "rename", "describe", "undo", "to_frame", "fit", "status", "widget")
PUBLIC += [getattr(fewlabel.labeling.Session, name) for name in LABELING]
PUBLIC += [getattr(fewlabel.plotting.HistoryDisplay, name) for name in ("from_estimator", "plot")]
PUBLIC += [getattr(fewlabel.plotting.LearningCurveDisplay, name) for name in ("from_estimator", "plot")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


@pytest.mark.parametrize("item", PUBLIC, ids=lambda item: item.__qualname__)
def test_parameters_are_described_in_order(item: Any) -> None:
    function = item.__init__ if inspect.isclass(item) else item
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    section = re.search(r"\nParameters\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)", inspect.getdoc(item), re.DOTALL)
    described = re.findall(r"^\**(\w+(?:, \w+)*) : ", section[1], re.MULTILINE) if section else []
    assert ", ".join(described).split(", ") == (names or [""])
