"""Components from auxiliary problems, in the library."""

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fewlabel._inputs import _data
from fewlabel._native import _fit, _library
from fewlabel._native._signatures import Progress


class Structure(NamedTuple):
    """What the library found."""

    components: np.ndarray  # (h, d) those of all groups side by side
    strengths: np.ndarray  # (n_groups, h) singular values
    objective: np.ndarray  # (n_iter,)


def learn(
    X: Any,
    labels: sp.csr_array,
    hidden: sp.csr_array | None,
    hides: np.ndarray | None,
    groups: np.ndarray | None,
    n_components: int,
    options: Mapping[str, Any],
    watches: Sequence[Any] = (),
) -> Structure:
    """Components of `groups` (d,) from problems with `labels` (n, m); problem l does not see the set `hides[l]`."""
    rows, asked = _data.native(X), _data.native(labels)
    sets = None if hidden is None else _data.native(hidden)
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
            None if hides is None else hides.ctypes.data,
            None if groups is None else groups.ctypes.data,
            settings,
            ctypes.byref(progress),
            *(array.ctypes.data for array in (components, strengths, objective)),
            n_components,
        )

    _fit.run(task, progress, watches)
    return Structure(components, strengths, objective)
