"""Components from auxiliary problems, in the library."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fewlabel._auxiliary import Problems
from fewlabel._inputs import _data
from fewlabel._native import _fit, _library
from fewlabel._native._signatures import STRUCTURE, Progress


def learn(
    X: Any,
    made: Problems,
    groups: np.ndarray | None,
    n_components: int,
    options: Mapping[str, Any],
    watches: _fit.Watches = (),
) -> _fit.Fitted:
    """Components of `groups` (d,) from auxiliary problems."""
    rows, asked, hides = _data.native(X), _data.native(made.labels), np.ascontiguousarray(made.hides)
    sets, settings = None if made.hidden is None else _data.native(made.hidden), _fit.options_text(options).encode()

    def task(_: int, progress: Progress, model: np.ndarray) -> None:
        problems = (rows.struct, asked.struct, None if sets is None else sets.struct, hides, groups)
        _library.call("fewlabel_structure_fit", *problems, n_components, settings, progress, model)

    return _fit.trained(task, watches)[0]


def assemble(components: np.ndarray, groups: np.ndarray) -> int:
    """Handle of a model from `components` (d, h) and `groups` (d,)."""
    d, n_components = components.shape
    sizes = {"n_features": d, "n_components": n_components, "n_groups": int(groups.max()) + 1}
    return _fit.assemble(STRUCTURE, sizes, {"components": components, "groups": groups})
