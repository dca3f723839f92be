"""Several labels a row: one fit for all columns of an indicator matrix, and what a fitted model does with them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.utils import check_consistent_length

from fewlabel import _advice, _progress, methods
from fewlabel._inputs import _data, _indicator, _weights
from fewlabel._native import _fit

CONSTANT = "one_class"  # why the fit of a column ended in which every label is the same


class Column(NamedTuple):
    """What is learned from the labels of a column."""

    coef: np.ndarray | None  # None: 0
    intercept: float
    share: float
    transduction: np.ndarray  # (n_rows,) 0 or 1
    distribution: np.ndarray | None  # (n_rows,) probability of 1
    history: dict[str, np.ndarray]
    report: dict[str, Any]


def fit(model: Any, X: Any, codes: np.ndarray, sample_weight: Any, method: methods.Method) -> None:
    """Fit a linear classifier to several columns of labels (n_rows, k) at once."""
    _refuse_parameters(model)
    _refuse_ambiguous(codes, model.unlabeled)
    rows = _data.training_rows(model, X, reset=True)
    check_consistent_length(rows, codes)
    weights = _weights.check_sample_weight(sample_weight, rows.shape[0])
    ones, zeros = (_totals(codes == label, weights) for label in (1, 0))
    if not (ones + zeros).any():
        raise ValueError(
            "y has no label: every entry is the marker (see the parameter `unlabeled`) or has sample_weight 0"
        )
    shares = _shares(model.class_prior, codes.shape[1])
    fitted = np.flatnonzero((ones > 0) & (zeros > 0) if shares is None else ones + zeros > 0)
    _warn(model, codes, ones, zeros, fitted)
    options = (
        model._options()
        | methods.options(method)
        | {"class_weight": _class_weight(model.class_weight, np.column_stack([zeros, ones])[fitted])}
    )
    options["class_prior"] = "labels"
    if shares is not None:
        options["class_prior"] = shares[fitted] if len(fitted) > 1 else np.append(1 - shares[fitted], shares[fitted])
    found: Sequence[_fit.Fitted] = ()
    if len(fitted):
        with _progress.shown(type(model).__name__, model.verbose, "columns") as show:
            labels = _fit.Labels(np.ascontiguousarray(codes[:, fitted]))
            found = _fit.fit(_data.native(rows), labels, weights, options, (show,))
    columns = [_constant(codes[:, k], bool(ones[k])) for k in range(codes.shape[1])]
    for k, one in zip(fitted, found, strict=True):
        columns[k] = _column(one)
    _keep(model, columns, rows.shape[1])
    _advice.of_columns([(int(k), one.report["warnings"]) for k, one in zip(fitted, found, strict=True)], len(columns))


def _refuse_parameters(model: Any) -> None:
    if model.hierarchy is not None:
        raise ValueError("hierarchy is given, but y has several labels a row: a column has the classes 0 and 1")
    if model._is_warm():
        raise ValueError("warm_start=True does not continue from several labels a row: set warm_start=False")


def _refuse_ambiguous(codes: np.ndarray, unlabeled: Any) -> None:
    """Reject a matrix that can hold the class of each row as well."""
    if unlabeled is not None and not (codes < 0).any() and (codes.sum(axis=1) <= 1).all():
        raise ValueError(
            "y has 0 and 1 in several columns, no unknown entry and no row with two labels, which is ambiguous. If "
            "rows may have several labels and all are known, pass unlabeled=None, or mark unknown entries by -1. "
            "If each row has the class of its 1 and rows of 0 are unlabeled, give one label or marker a row"
        )


def _class_weight(class_weight: Any, totals: np.ndarray) -> np.ndarray | None:
    """Factors on the weights of 0 and 1 of every column, one column after the other; `totals` (k, 2) are these."""
    factors = [_weights.class_factors(class_weight, np.array([0, 1]), column) for column in totals]
    return None if class_weight is None else np.concatenate([np.ones(0), *factors])


def _totals(chosen: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Total weight (k,) of the chosen entries (n, k)."""
    return chosen.sum(axis=0).astype(float) if weights is None else weights @ chosen


def _shares(class_prior: Any, n_columns: int) -> np.ndarray | None:
    """Share (k,) of 1 in each column, or None: those of its labels."""
    if isinstance(class_prior, str) and class_prior in _weights.PRIOR_RULES:
        return None
    if isinstance(class_prior, str | Mapping) or np.ndim(class_prior) != 1 or len(class_prior) != n_columns:
        raise ValueError(
            f"class_prior={class_prior!r:.80} is not supported with several labels a row: give 'auto' or 'labels' (the "
            f"shares of the labels), or the share of 1 in each of the {n_columns} columns"
        )
    shares = _weights.numbers("class_prior", class_prior)
    bad = np.flatnonzero(~((shares > 0) & (shares < 1)))
    if bad.size:
        raise ValueError(
            f"class_prior must hold shares above 0 and below 1; the share of column {bad[0]} is {shares[bad[0]]}"
        )
    return np.ascontiguousarray(shares)


def _warn(model: Any, codes: np.ndarray, ones: np.ndarray, zeros: np.ndarray, fitted: np.ndarray) -> None:
    if model.unlabeled is not None and model.unlabeled_weight != 0 and not (codes < 0).any():
        _advice.nothing_unknown()
    constant = np.setdiff1d(np.arange(codes.shape[1]), fitted)
    _advice.constant_columns(constant[ones[constant] == 0], "positive", codes.shape[1])
    _advice.constant_columns(constant[ones[constant] > 0], "negative", codes.shape[1])


def _constant(codes: np.ndarray, positive: bool) -> Column:
    """The classifier of a column in which every label is the same, or that has none: then it is 0."""
    filled = np.where(codes < 0, int(positive), codes).astype(np.int64)
    report = {
        "n_iter": 1,
        "objective": 0.0,
        "alpha": np.nan,
        "unlabeled_weight": np.nan,
        "termination_condition": CONSTANT,
        "returned": CONSTANT,
        "supervised_agreement": np.nan,
        "calibration_temperature": 1.0,
        "calibration_smoothing": 0.0,
    }
    return Column(None, 1.0 if positive else -1.0, float(positive), filled, filled.astype(float), {}, report)


def _column(fitted: _fit.Fitted) -> Column:
    report, arrays = fitted
    distributions = arrays.get("label_distributions")
    return Column(
        arrays["coef"],
        float(arrays["intercept"][0]),
        float(arrays["class_prior"][1]),
        arrays["transduction"].astype(np.int64),
        None if distributions is None else distributions.reshape(-1, 2)[:, 1],
        {name.removeprefix("history."): arrays[name] for name in arrays if name.startswith("history.")},
        report,
    )


def _keep(model: Any, columns: list[Column], n_features: int) -> None:
    reports = [column.report for column in columns]
    model.classes_ = [np.array([0, 1]) for _ in columns]
    model.hierarchy_ = None
    model.coef_ = np.zeros((len(columns), n_features))
    for k, column in enumerate(columns):
        if column.coef is not None:
            model.coef_[k] = column.coef
    model.intercept_ = np.array([column.intercept for column in columns])
    model.class_prior_ = np.array([column.share for column in columns])
    model.transduction_ = np.column_stack([column.transduction for column in columns])
    model.history_ = [column.history for column in columns]
    model.n_iter_ = max(report["n_iter"] for report in reports)
    model.objective_ = float(np.nansum([report["objective"] for report in reports]))
    for name, key in (
        ("alpha_", "alpha"),
        ("unlabeled_weight_", "unlabeled_weight"),
        ("termination_condition_", "termination_condition"),
        ("method_", "returned"),
        ("supervised_agreement_", "supervised_agreement"),
        ("calibration_temperature_", "calibration_temperature"),
        ("calibration_smoothing_", "calibration_smoothing"),
    ):
        setattr(model, name, np.array([report[key] for report in reports]))
    model.__dict__.pop("label_distributions_", None)  # of an earlier fit
    distributions = [column.distribution for column in columns if column.distribution is not None]
    if len(distributions) == len(columns):
        model.label_distributions_ = np.column_stack(distributions)


# ------------------------------------------------------------------ a fitted model
def several(model: Any) -> bool:
    """Whether a fitted model has several labels a row."""
    return isinstance(getattr(model, "classes_", None), list)


def refuse(model: Any, what: str) -> None:
    """Reject a model of several labels a row where one column is needed."""
    if several(model):
        raise ValueError(
            f"the model has several labels a row: {what} needs one. Fit a column of y alone; to keep this model, "
            "pickle it"
        )


def probabilities(model: Any, scores: np.ndarray) -> np.ndarray:
    """Probability (n, k) of 1 in each column."""
    temperature, smoothing = model.calibration_temperature_, model.calibration_smoothing_
    constant = model.termination_condition_ == CONSTANT
    if model.calibrate and np.isnan(temperature[~constant]).any():
        _advice.not_calibrated()
    found = expit(scores / np.where(np.isnan(temperature), 1, temperature))
    spread = np.where(np.isnan(smoothing), 0, smoothing)
    return np.where(constant, scores > 0, (1 - spread) * found + spread / 2)


def score(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Weighted share of the known entries of y that are predicted."""
    codes = _indicator.read(y, model.unlabeled)
    if codes is None or codes.shape[1] != len(model.classes_):
        raise ValueError(f"y must be a matrix of 0, 1 and markers with {len(model.classes_)} columns, as in fit")
    predicted = model.predict(X)
    check_consistent_length(predicted, codes)
    weights = _weights.check_sample_weight(sample_weight, len(codes))
    known = (codes >= 0) * (1.0 if weights is None else weights[:, None])
    if not known.any():
        raise ValueError("no entry to score: every entry of y is a marker (see the parameter `unlabeled`)")
    return float(np.average(predicted == codes, weights=known))
