"""Numbers and texts that are parameters."""

import os
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_count(name: str, value: Any, least: int = 1, otherwise: str = "") -> int:
    """An integer of at least `least`; `otherwise` names other valid values in the error message."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}{otherwise}, got {value!r}")
    return int(value)


def check_positive(name: str, value: Any, otherwise: str = "") -> float:
    """A finite number above 0; `otherwise` names other valid values in the error message."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name} must be {otherwise}a number above 0 and finite, got {value!r}")
    return float(value)


def check_text(name: str, value: Any) -> Any:
    """A text or a path without a NUL, at which a text ends in C."""
    if "\0" in os.fsdecode(value):
        raise ValueError(f"{name} must not have a NUL character, got {value!r:.80}")
    return value
