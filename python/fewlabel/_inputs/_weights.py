"""Weights of rows and shares of classes."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from fewlabel._inputs._labels import listed

PRIOR_RULES = ("auto", "labels")
_LEAST, _MOST = 1e-300, 1e300  # of a weight: beyond them sums and quotients leave the range of numbers


def check_sample_weight(sample_weight: Any, n_rows: int, *, part: bool = False) -> np.ndarray | None:
    """Weights (n_rows,) as float64, or None: all 1. Those of a part of the rows may all be 0."""
    if sample_weight is None:
        return None
    weights = numbers("sample_weight", sample_weight)
    weights = np.full(n_rows, float(weights)) if weights.ndim == 0 else np.ascontiguousarray(weights)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), one weight a row; it has shape {weights.shape}")
    bad = np.flatnonzero(~((weights == 0) | (weights > _LEAST) & (weights < _MOST)))
    if bad.size:
        raise ValueError(
            f"sample_weight must be 0, or above {_LEAST} and below {_MOST}: row {bad[0]} has {weights[bad[0]]}"
        )
    if not (part or weights.any()):
        raise ValueError("sample_weight is zero in every row: at least one labeled row of each class needs a weight")
    return weights


def numbers(name: str, values: Any) -> np.ndarray:
    """As float64; a ValueError for anything but real numbers, including texts that contain one."""
    given = np.asarray(values)
    if given.dtype.kind not in "biuf" and not all(isinstance(value, Real) for value in given.flat):
        raise ValueError(f"{name} must hold real numbers, got {given.tolist()!r:.80}")
    return given.astype(np.float64)


def labeled_totals(codes: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
    """Total weight (n_classes,) of the labeled rows of each class."""
    labeled = codes >= 0
    return np.bincount(codes[labeled], None if weights is None else weights[labeled], minlength=n_classes).astype(float)


def resolve_class_prior(class_prior: Any, classes: np.ndarray, totals: np.ndarray) -> np.ndarray | str:
    """Share (K,) of each class among the unlabeled rows, with sum 1, or the name of a rule of the library.

    If all labels have one class, `class_prior` is only validated, as the other classes that it names are unknown.
    """
    one_class = len(classes) == 1
    if isinstance(class_prior, str) and class_prior in PRIOR_RULES:
        shares = totals / (totals.sum() or 1)
        bad = np.flatnonzero((shares == 0) | (shares == 1))
        if bad.size and totals.any() and not one_class:
            raise ValueError(
                f"sample_weight: the labeled rows of class {classes[bad[0]]} have a share of {shares[bad[0]]:.3g} of "
                "the labeled weight, which cannot be the class prior: make the weights less unequal or give class_prior"
            )
        return class_prior
    if (
        hasattr(class_prior, "to_dict") and np.ndim(class_prior) == 1
    ):  # its order is seldom that of the classes: value_counts sorts by count
        raise ValueError("class_prior is a series, whose index would be ignored: give class_prior.to_dict()")
    if isinstance(class_prior, Mapping):
        shares = list(class_prior.values()) if one_class else _by_class(class_prior, classes, totals)
        prior = numbers("class_prior", shares)
    elif isinstance(class_prior, str) or np.ndim(class_prior) != 1:
        raise ValueError(
            f"class_prior={class_prior!r} is not supported: give 'auto', 'labels' (the shares of the labeled rows), an "
            f"array with one share for each of classes_ ({listed(classes)}), or a dict from class to share"
        )
    else:
        prior = numbers("class_prior", class_prior)
    if prior.shape != (len(classes),) and not one_class:
        raise ValueError(
            f"class_prior has {len(prior)} shares, but {len(classes)} classes have labeled rows ({listed(classes)}). "
            "Only a dict from class to share can name a class without labeled rows."
        )
    bad = np.flatnonzero(~(np.isfinite(prior) & (prior > 0) & (prior < 1)))
    if bad.size:
        name = f"of class {classes[bad[0]]} " if not one_class else ""
        raise ValueError(f"class_prior must hold shares above 0 and below 1; the share {name}is {prior[bad[0]]}")
    if abs(prior.sum() - 1) > 1e-6:
        rest = '. Name a class without labels too, as in {"this": 0.1, "rest": 0.9}' if len(prior) == 1 else ""
        raise ValueError(f"class_prior must sum to 1; {prior.tolist()} sums to {prior.sum():.6g}{rest}")
    return "auto" if one_class else prior / prior.sum()


def class_factors(class_weight: Any, classes: np.ndarray, totals: np.ndarray) -> np.ndarray | None:
    """Factor (K,) on the weights of the labeled rows of each class, whose total weights are `totals` (K,); None: 1."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        if not totals.any():
            return None  # no labels, which it would weigh
        with np.errstate(all="ignore"):
            factors = totals.sum() / (np.count_nonzero(totals) * np.where(totals > 0, totals, totals.sum()))
        if not np.isfinite(factors).all():
            raise ValueError(
                f"class_weight='balanced' divides by the total weights of the classes, which are {totals.tolist()}: "
                "make sample_weight less unequal"
            )
        return factors
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict from class to weight, got {class_weight!r}")
    known = {name: class_weight.get(name, 1.0) for name in classes.tolist()}
    unknown = [name for name in class_weight if name not in known]
    if unknown and len(classes) > 1:
        raise ValueError(f"class_weight names {unknown}, but the classes with labeled rows are {listed(classes)}")
    given = numbers("class_weight", list(class_weight.values()))
    if not (np.isfinite(given) & (given > 0)).all():
        raise ValueError(f"class_weight must hold finite weights above 0; got {class_weight!r}")
    return np.array(list(known.values()), dtype=np.float64)


def _by_class(values: Mapping[Any, float], classes: np.ndarray, totals: np.ndarray) -> list[float]:
    """Values in the order of the classes. Every class needs a value."""
    known = classes.tolist()
    missing = [key for key in known if key not in values]
    if missing:
        others = classes[totals == 0].tolist() if totals.any() else []
        which = f"with labeled rows ({listed(classes[totals > 0])})" if totals.any() else "that y names"
        raise ValueError(
            f"class_prior must have one entry for each class {which}; missing: {missing}"
            + (f", without labeled rows: {others}" if others else "")
        )
    return [values[key] for key in known]
