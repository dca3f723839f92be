"""One fit in the library, from arrays to arrays, that Ctrl-C can interrupt: it sets the flag that the library polls."""

import ctypes
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fewlabel._inputs._data import Rows
from fewlabel._interrupts import interruptible
from fewlabel._native import _library
from fewlabel._native import _signatures as c
from fewlabel._native._signatures import Group, Named, Progress

# Of a report: null stands for NaN.
_NUMBERS = ("objective", "supervised_agreement", "calibration_temperature", "calibration_smoothing")

Watches = Sequence[Callable[[Progress], None]]


class Fitted(NamedTuple):
    """Result of a fit: the report, and arrays by name."""

    report: dict[str, Any]
    arrays: dict[str, np.ndarray]


class Labels(NamedTuple):
    """Labels of rows, as `fewlabel_labels` describes them."""

    codes: np.ndarray  # (n_rows,) or (n_rows, n_columns) int32
    n_classes: int = 0
    indptr: np.ndarray | None = None  # (n_rows + 1,) int64
    classes: np.ndarray | None = None  # (n_entries,) int32
    probabilities: np.ndarray | None = None  # (n_entries,) float64

    def native(self) -> c.Labels:
        """The struct for the library, which points to the arrays."""
        addresses = [None if array is None else array.ctypes.data for array in self[2:]]
        n_columns = self.codes.shape[1] if self.codes.ndim == 2 else 1
        return c.Labels(self.codes.ctypes.data, n_columns, self.n_classes, *addresses)


def fit(
    rows: Rows,
    labels: Labels,
    weights: np.ndarray | None,
    options: Mapping[str, Any],
    watches: Watches = (),
    start: Callable[[], int] | None = None,
    group: Group | None = None,
) -> list[Fitted]:
    """Train a classifier for every column of labels, with `weights` (n_rows,) float64 or None: all 1.

    `start` creates in the library the model to continue from and returns its handle, which is freed here. `group`: the
    ranks that share the rows; None if this process has all of them.
    """
    settings, known = options_text(options).encode(), labels.native()

    def task(begin: int, progress: Progress, models: np.ndarray) -> None:
        _library.call("fewlabel_fit", rows.struct, known, weights, begin, settings, progress, group, models)

    return trained(task, watches, start, known.n_columns)


def trained(
    task: Callable[[int, Progress, np.ndarray], None],
    watches: Watches = (),
    start: Callable[[], int] | None = None,
    n_models: int = 1,
) -> list[Fitted]:
    """Run a task that gets the handle of the model to continue from, or 0, and an array for those of new models."""
    progress, models = Progress(), np.zeros(n_models, dtype=np.int64)

    def look() -> None:
        for watch in watches:
            watch(progress)

    with _library.released(0 if start is None else start()) as begin:
        try:
            interruptible(lambda: task(begin, progress, models), look, lambda: setattr(progress, "cancel", 1))
            return [read(int(model)) for model in models]
        finally:
            for model in models[models > 0]:
                _library.call("fewlabel_free", int(model))


def assemble(kind: int, description: Mapping[str, Any], arrays: Mapping[str, Any]) -> int:
    """Handle of a model in the library, built from its description and arrays as `fewlabel_assemble` wants them."""
    values = [np.ascontiguousarray(array, dtype=np.float64) for array in arrays.values()]
    named = (Named(name.encode(), a.ctypes.data, a.size) for name, a in zip(arrays, values, strict=True))
    parts, handle = (Named * len(values))(*named), ctypes.c_int64()
    text = json.dumps(description, allow_nan=False).encode()
    _library.call("fewlabel_assemble", kind, text, parts, len(parts), handle)
    return handle.value


def read(model: int) -> Fitted:
    """Report and arrays of a model in the library."""
    report = json.loads(_library.text("fewlabel_report", model))
    for name in _NUMBERS:
        report[name] = float("nan" if report.get(name) is None else report[name])  # JSON has no NaN
    return Fitted(report, {name: _library.array(model, name, length) for name, length in report["arrays"].items()})


def options_text(options: Mapping[str, Any]) -> str:
    """Options as JSON, from Python's and NumPy's scalars. Texts that are no Unicode get "?" in place of what is not."""
    plain = {name: _plain(name, value) for name, value in options.items()}
    return json.dumps(plain, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace").decode()


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(name, item) for item in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if value is not None and not isinstance(value, str | bool | int | float):
        raise TypeError(f"{name} must be a number, a text, a bool or None, got {type(value).__name__}")
    if isinstance(value, float) and not np.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    return value
