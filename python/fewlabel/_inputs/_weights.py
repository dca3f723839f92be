"""Weights of rows and shares of classes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fewlabel._inputs import _data, _numbers
from fewlabel._inputs._markers import listed


def of_rows(sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Weights (n_rows,) as float64, or None: all 1."""
    if sample_weight is None:
        return None
    weights = numbers("sample_weight", sample_weight)
    weights = np.full(n_rows, float(weights)) if weights.ndim == 0 else np.ascontiguousarray(weights)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), one weight a row; it has shape {weights.shape}")
    if (wrong := ~((weights == 0) | (weights > 1e-300) & (weights < 1e300))).any():
        row = int(wrong.argmax())
        found = "NaN" if np.isnan(weights[row]) else f"{weights[row].item()!r}".removesuffix(".0")
        raise ValueError(f"sample_weight of row {row} is {found}: it must be 0, or above 1e-300 and below 1e+300")
    return weights


def numbers(name: str, values: Any) -> np.ndarray:
    """As float64; a ValueError for anything but real numbers, including texts that contain one."""
    try:
        given = np.asarray(_data.plain(values, name))
    except ValueError as reason:  # of NumPy, about lists of several lengths
        raise reason if name in str(reason) else ValueError(f"{name}: {reason}") from reason
    if given.dtype.kind not in "biuf":
        for value in given.flat:
            if not _numbers.is_real(value):
                raise ValueError(f"{name} must hold real numbers, got {np.array(value).tolist()!r:.80}")
        given = np.array([*map(_numbers.as_float, given.flat)]).reshape(given.shape)
    with np.errstate(over="ignore"):
        return given.astype(np.float64)


def shares(class_prior: Any, classes: np.ndarray, totals: np.ndarray) -> np.ndarray | str:
    """The parameter as the option of the library, which checks it: a rule, or shares in the order of the classes."""
    class_prior = _data.plain(class_prior, "class_prior")
    if hasattr(class_prior, "to_dict") and np.ndim(class_prior) == 1:  # sorted by count, say, as value_counts does
        raise ValueError("class_prior is a series, whose index would be ignored: give class_prior.to_dict()")
    if isinstance(class_prior, str):
        return class_prior
    if isinstance(class_prior, Mapping):
        class_prior = _by_class(class_prior, classes, totals)
    elif np.ndim(class_prior) != 1:
        cure = f"'auto', 'labels' (shares of the labels), an array in the order of {listed(classes)}, or a dict"
        raise ValueError(f"class_prior={class_prior!r} is not supported: give {cure}")
    given = numbers("class_prior", class_prior)
    return "auto" if len(classes) == 1 else given


def class_factors(class_weight: Any, classes: np.ndarray) -> np.ndarray | str:
    """The parameter as the option of the library: a rule, or the factors in the order of the classes."""
    if class_weight is None:
        return "none"
    if isinstance(class_weight, str) and class_weight in ("auto", "balanced"):
        return class_weight
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight must be 'auto', 'balanced', None or a dict of weights, got {class_weight!r}")
    known = dict.fromkeys(classes.tolist())
    unknown = [name for name in class_weight if name not in known]
    if unknown and len(classes) > 1 and not all(name in class_weight for name in known):
        found = f"class_weight names {unknown!r:.200}"
        raise ValueError(f"{found}, but the classes with labeled rows are {listed(classes)}")
    factors = dict(zip(class_weight, numbers("class_weight", list(class_weight.values())), strict=True))
    return np.array([factors.get(name, 1.0) for name in known])


def _by_class(values: Mapping[Any, float], classes: np.ndarray, totals: np.ndarray) -> list[float]:
    """Values in the order of the classes. Every class needs a value."""
    known = classes.tolist()
    if len(values) == 1 == len(known):
        cure = 'name a class without labels too, as in {"this": 0.1, "rest": 0.9}'
        raise ValueError(f"class_prior names {listed(classes)} alone, the only class with labels: {cure}")
    if missing := [key for key in known if key not in values]:
        others = classes[totals == 0].tolist() if totals.any() else []
        which = f"with labeled rows ({listed(classes[totals > 0])})" if totals.any() else "that y names"
        more = f", without labeled rows: {others!r:.200}" if others else ""
        raise ValueError(f"class_prior must have one entry for each class {which}; missing: {missing!r:.200}{more}")
    return [values[key] for key in known]
