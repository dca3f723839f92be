"""One fit in the library, from arrays to arrays, that Ctrl-C can interrupt: it sets the flag that the library polls."""

import ctypes
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fewlabel._inputs import _markers, _numbers
from fewlabel._inputs._targets import Columns, Targets
from fewlabel._interrupts import interruptible
from fewlabel._native import _library, _signatures as c, _views

# Of a report: null stands for NaN.
_NUMBERS = ("objective", "supervised_agreement", "calibration_temperature", "calibration_smoothing")

Watches = Sequence[Callable[[c.Progress], None]]


class Fitted(NamedTuple):
    """Result of a fit: the report, and arrays by name."""

    report: dict[str, Any]
    arrays: dict[str, np.ndarray]

    @property
    def history(self) -> dict[str, np.ndarray]:
        starts = "history."
        return {name.removeprefix(starts): self.arrays[name] for name in self.arrays if name.startswith(starts)}


def fit(
    X: Any,
    targets: Targets | Columns,
    options: Mapping[str, Any],
    watches: Watches = (),
    start: Callable[[], int] | None = None,
    group: c.Group | None = None,
) -> list[Fitted]:
    """Train a classifier for every column of labels; `start` makes the model to continue from, which is freed here."""

    rows, labels = _views.rows(X), _views.labels(targets)

    def train(begin: int, settings: bytes, progress: c.Progress, models: np.ndarray) -> None:
        _library.call("fewlabel_fit", rows, labels, targets.weights, begin, settings, progress, group, models)

    return trained(train, options, watches, start, labels.n_columns)


def trained(
    train: Callable[[int, bytes, c.Progress, np.ndarray], None],
    options: Mapping[str, Any],
    watches: Watches,
    start: Callable[[], int] | None = None,
    n_models: int = 1,
) -> list[Fitted]:
    """Call what trains models, given the handle of one to continue from, or 0, and an array for those of new ones."""
    settings, progress, models = options_text(options), c.Progress(), np.zeros(n_models, dtype=np.int64)

    def look() -> None:
        for watch in watches:
            watch(progress)

    with _library.released(0 if start is None else start()) as begin:
        try:
            task = partial(train, begin, settings, progress, models)
            interruptible(task, look, lambda: setattr(progress, "cancel", 1))
            return [read(int(model)) for model in models]
        finally:
            for model in models[models > 0]:
                _library.call("fewlabel_free", int(model))


def assemble(kind: int, description: Mapping[str, Any], arrays: Mapping[str, Any]) -> int:
    """Handle of a model in the library, built from its description and arrays as `fewlabel_assemble` wants them."""
    values = [np.ascontiguousarray(array, dtype=np.float64) for array in arrays.values()]
    named = (c.Named(name.encode(), a.ctypes.data, a.size) for name, a in zip(arrays, values, strict=True))
    parts, handle = (c.Named * len(values))(*named), ctypes.c_int64()
    text = json.dumps(description, allow_nan=False).encode()
    _library.call("fewlabel_assemble", kind, text, parts, len(parts), handle)
    return handle.value


def read(model: int) -> Fitted:
    """Report and arrays of a model in the library."""
    report = json.loads(_library.text("fewlabel_report", model))
    for name in _NUMBERS:
        report[name] = float("nan" if report.get(name) is None else report[name])  # JSON has no NaN
    arrays = {name: np.empty(length) for name, length in report["arrays"].items()}
    for name, values in arrays.items():
        _library.call("fewlabel_array", model, name.encode(), c.FLOAT64, values, len(values))
    return Fitted(report, arrays)


def options_text(options: Mapping[str, Any]) -> bytes:
    """Options as JSON, from Python's and NumPy's scalars. Texts that are no Unicode get "?" in place of what is not."""
    plain = {name: _plain(name, value) for name, value in options.items()}
    return json.dumps(plain, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim:
        return [_plain(name, item) for item in value.tolist()]
    if isinstance(value, np.ndarray):
        value = value[()]
    if not isinstance(value, np.timedelta64):  # an integer for NumPy
        value = _markers.plain(value)
    if isinstance(value, str):
        return _numbers.check_text(name, value)
    if value is None or isinstance(value, bool):
        return value
    if not _numbers.is_real(value):
        raise TypeError(f"{name} must be a number, a text, a bool or None, got {type(value).__name__}")
    if not np.isfinite(number := _numbers.as_float(value)):
        wanted = "within ±1.8e308, as floats are" if isinstance(value, int) else "finite"
        raise ValueError(f"{name} must be {wanted}, got {_numbers.shown(value)}")
    return value if isinstance(value, int) else number
