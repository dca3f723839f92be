"""Components from auxiliary problems, in the library."""

import ctypes
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fewlabel._auxiliary import Problems
from fewlabel._inputs import _data
from fewlabel._native import _fit, _library
from fewlabel._native._signatures import Progress


class Structure(NamedTuple):
    """Components found by the library."""

    components: np.ndarray  # (h, d) those of all groups side by side
    strengths: np.ndarray  # (n_groups, h) singular values
    objective: np.ndarray  # (n_iter,)


def learn(
    X: Any,
    made: Problems,
    groups: np.ndarray | None,
    n_components: int,
    options: Mapping[str, Any],
    watches: Sequence[Any] = (),
) -> Structure:
    """Components of `groups` (d,) from auxiliary problems."""
    rows, asked, hides = _data.native(X), _data.native(made.labels), np.ascontiguousarray(made.hides)
    sets = None if made.hidden is None else _data.native(made.hidden)
    n_groups = 1 if groups is None else int(groups.max()) + 1
    components = np.zeros((n_components, X.shape[1]))
    strengths, objective = np.zeros((n_groups, n_components)), np.zeros(int(options["n_iter"]))
    progress, settings = Progress(), _fit.options_text(options).encode()

    def task() -> None:
        _library.call(
            "fewlabel_structure",
            ctypes.byref(rows.struct),
            ctypes.byref(asked.struct),
            None if sets is None else ctypes.byref(sets.struct),
            hides.ctypes.data,
            None if groups is None else groups.ctypes.data,
            settings,
            ctypes.byref(progress),
            *(array.ctypes.data for array in (components, strengths, objective)),
            n_components,
        )

    _fit.run(task, progress, watches)
    return Structure(components, strengths, objective)


def assemble(
    report: Mapping[str, Any],
    components: np.ndarray,
    groups: np.ndarray,
    coef: np.ndarray | None,
    intercept: np.ndarray | None,
) -> int:
    """Handle of a model from `components` (d, h), `groups` (d,) and, of a classifier, `coef` (K, d + added)."""
    d, n_components = components.shape
    sizes = {"n_features": d, "n_components": n_components, "n_groups": int(groups.max()) + 1}
    weights: list[np.ndarray | None] = [None, None, None]
    if coef is not None and intercept is not None:
        sizes["n_outputs"] = len(coef)
        weights = [np.ascontiguousarray(coef[:, :d].T), np.ascontiguousarray(coef[:, d:].T), intercept]
    handle, description = ctypes.c_int64(), json.dumps(dict(report) | sizes, allow_nan=False).encode()
    pointers = [None if part is None else part.ctypes.data for part in (components, groups, *weights)]
    _library.call("fewlabel_structure_assemble", description, *pointers, ctypes.byref(handle))
    return handle.value
