"""Numbers, texts and paths that are parameters."""

import os
from collections.abc import Iterable
from decimal import Decimal
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from joblib import cpu_count
from joblib.parallel import get_active_backend

_LARGEST = 2**63 - 1  # that the library and NumPy hold


def is_real(value: Any) -> bool:
    return isinstance(value, Real | Decimal) and not isinstance(value, np.timedelta64)  # which is an integer for NumPy


def as_float(value: Any) -> float:
    """A real number; infinite where it is too large for a float."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
    except ValueError:  # a NaN of Decimal
        return np.nan


def shown(value: Any) -> str:
    """A value for messages."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"an integer of {value.bit_length()} bits"
    try:
        return f"{value!r:.80}"
    except ValueError:  # within it an integer of more than 4,300 digits
        return f"{type(value).__name__} of large numbers"


def check_count(name: str, value: Any, least: int = 1, otherwise: str = "") -> int:
    """An integer of at least `least`; `otherwise` names other valid values in the error message."""
    whole = isinstance(value, Integral) and is_real(value) and not isinstance(value, bool)
    if not whole or not least <= value <= _LARGEST:
        below = " and below 2**63" if whole and value > least else ""
        raise ValueError(f"{name} must be an integer of at least {least}{below}{otherwise}, got {shown(value)}")
    return int(value)


def check_flag(name: str, value: Any) -> bool:
    """A parameter that is True, False or a number."""
    if not isinstance(value, np.bool_) and not is_real(value):
        raise TypeError(f"{name} must be True, False or a number, got {shown(value)}")
    return bool(value)


def has_entries(values: Any) -> bool:
    """Whether it can be listed, and is no text."""
    return isinstance(values, Iterable) and not isinstance(values, str | bytes) and getattr(values, "ndim", 1) > 0


def is_function(value: Any) -> bool:
    """Whether it can be called, and is no class."""
    return callable(value) and not isinstance(value, type)


def seeded(random_state: Any) -> np.random.RandomState:
    """The generator of a parameter `random_state`; None: of a fixed seed."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    found = 0 if random_state is None else random_state
    others = " and below 2**32, a RandomState instance or None"
    if check_count("random_state", found, 0, others) >= 2**32:
        raise ValueError(f"random_state must be an integer of at least 0{others}, got {shown(found)}")
    return np.random.RandomState(found)


def threads(n_jobs: int | None) -> int:
    """Number of threads: None means all cores, but 1 inside a joblib worker; -1 means all cores, -2 all but one."""
    if n_jobs is None:
        return 1 if get_active_backend()[0].nesting_level else cpu_count()
    if not isinstance(n_jobs, Integral) or not is_real(n_jobs) or isinstance(n_jobs, bool):
        raise TypeError(f"n_jobs must be an integer or None, got {shown(n_jobs)}")
    if n_jobs == 0 or abs(n_jobs) >= 2**31:
        wanted = "a number of threads below 2**31, -1 for all cores, or None"
        raise ValueError(f"n_jobs must not be {shown(n_jobs)}: give {wanted}")
    return int(n_jobs) if n_jobs > 0 else max(1, cpu_count() + 1 + int(n_jobs))


def check_positive(name: str, value: Any, otherwise: str = "") -> float:
    """A finite number above 0; `otherwise` names other valid values in the error message."""
    if not is_real(value) or isinstance(value, bool) or not 0 < as_float(value) < np.inf:
        raise ValueError(f"{name} must be {otherwise}a number above 0 and finite, got {shown(value)}")
    return float(value)


def check_text(name: str, value: Any) -> Any:
    """A text or a path without a NUL, at which a text ends in C."""
    if not isinstance(value, str | bytes | os.PathLike):
        raise TypeError(f"{name} must be a text, bytes or a path, got {shown(value)}")
    if "\0" in os.fsdecode(value):
        raise ValueError(f"{name} must not have a NUL character, got {value!r:.80}")
    return value


def regular(path: Any) -> Path:
    """The path of a file. Others are refused: to open a pipe can wait for ever, and a device need not end."""
    file = Path(os.fsdecode(path))
    if not file.is_file() and file.exists():
        of_kinds = {"directory": file.is_dir(), "pipe": file.is_fifo(), "socket": file.is_socket(), "device": True}
        found = next(kind for kind, is_it in of_kinds.items() if is_it)
        raise OSError(f"cannot read {file}: it is a {found}: give the path of a file")
    return file


def once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which no name stands twice."""
    if len(by_name := dict(members)) < len(members):
        raise ValueError("a name stands twice in an object")
    return by_name
