"""Several labels a row: one fit for all columns of an indicator matrix, and what a fitted model does with them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import check_consistent_length

from fewlabel import _advice, _progress, methods
from fewlabel._inputs import _data, _markers, _targets, _weights
from fewlabel._inputs._soft import column_names
from fewlabel._native import _fit

_OF_A_COLUMN = ["alpha", "unlabeled_weight", "loss", "termination_condition", "supervised_agreement"]
_OF_A_COLUMN += ["calibration_temperature", "calibration_smoothing"]


def fit(model: Any, rows: Any, targets: _targets.Columns, method: methods.Method) -> None:
    """Fit a linear classifier to several columns of labels (n_rows, k) at once."""
    if model.hierarchy is not None:
        raise ValueError("hierarchy is given, but y has several labels a row: a column has the classes 0 and 1")
    if model._is_warm():
        raise ValueError("warm_start=True does not continue from several labels a row: set warm_start=False")
    codes, weights = targets
    counted = True if weights is None else (weights != 0)[:, None]
    known, drawn = ((each & counted).any(axis=0) for each in (codes != _targets.UNLABELED, codes >= 0))
    if not known.any():
        raise ValueError("y has no label: every entry is the marker `unlabeled` or has a sample_weight of zero")
    if isinstance(model.class_prior, str) and (described := known & ~drawn).any():
        cure = "give class_prior, the share of 1 in each column, or label rows, drawn at random, in all columns"
        raise ValueError(f"columns {_markers.listed(np.flatnonzero(described))} of y have descriptions alone: {cure}")
    codes[:, ~known] = 0  # columns without a label: the model predicts 0
    options = model._options() | methods.options(method)
    options["class_prior"] = _shares(model.class_prior, codes.shape[1])
    options["class_weight"] = _weights.class_factors(model.class_weight, np.array([0, 1]))
    with _progress.shown(type(model).__name__, model.verbose, "columns") as show:
        found = _fit.fit(rows, targets, options, (show,))
    _keep(model, found)
    _advice.of_the_library([one.report["warnings"] for one in found], model)


def _shares(class_prior: Any, n_columns: int) -> Any:
    """The option of the library: a rule, or the share (k,) of 1 in each column."""
    if isinstance(class_prior, str):
        return class_prior
    if isinstance(class_prior, Mapping) or hasattr(class_prior, "to_dict") or np.shape(class_prior) != (n_columns,):
        cure = f"give 'auto', 'labels', or the share of 1 in each of the {n_columns} columns"
        raise ValueError(f"class_prior={class_prior!r:.80} is not for several labels a row: {cure}")
    return _weights.numbers("class_prior", class_prior)


def _keep(model: Any, found: list[_fit.Fitted]) -> None:
    reports, arrays = zip(*found, strict=True)
    model.classes_ = [np.array([0, 1]) for _ in found]
    model.hierarchy_ = None
    model.coef_ = np.stack([each["coef"] for each in arrays])
    model.intercept_ = np.array([each["intercept"][0] for each in arrays])
    model.class_prior_ = np.array([each["class_prior"][1] for each in arrays])
    model.transduction_ = np.column_stack([each["transduction"] for each in arrays]).astype(np.int64)
    model.history_ = [one.history for one in found]
    model._keep_trained(reports)
    model.n_iter_ = max(report["n_iter"] for report in reports)
    model.objective_ = float(np.nansum([report["objective"] for report in reports]))
    for name in _OF_A_COLUMN:
        setattr(model, f"{name}_", np.array([report[name] for report in reports]))
    model.method_ = np.array([report["returned"] for report in reports])
    if any("label_distributions" in each for each in arrays):
        given = (each.get("label_distributions", each["transduction"]) for each in arrays)
        model.label_distributions_ = np.column_stack([p.reshape(len(model.transduction_), -1)[:, -1] for p in given])


# ------------------------------------------------------------------ a fitted model
def several(model: Any) -> bool:
    """Whether a fitted model has several labels a row."""
    return isinstance(getattr(model, "classes_", None), list)


def refuse(model: Any, what: str) -> None:
    """Reject a model of several labels a row where one column is needed."""
    if several(model):
        raise ValueError(f"the model has several labels a row: {what} needs one. To keep it, pickle it")


def probabilities(model: Any, scores: np.ndarray) -> np.ndarray:
    """Probability (n, k) of 1 in each column."""
    temperature, smoothing = calibration(model)
    constant = model.termination_condition_ == "one_class"  # every label of the column is the same
    return np.where(constant, scores > 0, (1 - smoothing) * expit(scores / temperature) + smoothing / 2)


def calibration(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Temperature and smoothing; 1 and 0 of a model, or a column, that is not calibrated."""
    temperature, smoothing = model.calibration_temperature_, model.calibration_smoothing_
    return np.where(np.isnan(temperature), 1, temperature), np.where(np.isnan(smoothing), 0, smoothing)


def check_names(model: Any, y: Any) -> None:
    """Reject a y that has columns of those of the fit at other places: columns are taken by position."""
    names, fitted = column_names(y), getattr(model, "_names_of_y", None)
    if names is None or fitted is None:
        return
    place = {name: k for k, name in enumerate(fitted)}
    if moved := [name for k, name in enumerate(names) if place.get(name, k) != k]:
        found = f"y has the column {moved[0]!r} at another place than in fit, but columns are taken by position"
        raise ValueError(f"{found}: give the columns {[*fitted]} in this order")


def score(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Weighted share of the known entries of y that are predicted."""
    check_names(model, y)
    _data.check_order(X=X, y=y, sample_weight=sample_weight)
    targets, predicted = _targets.read(y, model.unlabeled, sample_weight=sample_weight, whole=False), model.predict(X)
    check_consistent_length(predicted, targets.codes)
    if (codes := targets.codes).shape != predicted.shape:
        raise ValueError(f"y must be a matrix of 0, 1 and markers with {len(model.classes_)} columns, as in fit")
    known = (codes >= 0) * (1.0 if targets.weights is None else targets.weights[:, None])
    if not known.any():
        raise ValueError("no entry to score: every entry of y is a marker (see the parameter `unlabeled`)")
    return float(np.average(predicted == codes, weights=known))
