"""Base class of all estimators: sparse input, options of the library, and the start and end of a fit."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fewlabel._compat import BaseEstimator
from fewlabel._inputs import _numbers
from fewlabel._inputs._markers import listed

_ENDS = ("n_iter", "objective", "termination_condition")


def kind(value: Any) -> str:
    """What a value is, for messages."""
    return f"the class {value.__name__}: write {value.__name__}()" if isinstance(value, type) else type(value).__name__


class Estimator(BaseEstimator):
    n_jobs: Any
    warm_start: bool
    classes_: Any
    n_iter_: int
    n_features_in_: int
    feature_names_in_: np.ndarray
    objective_: Any
    termination_condition_: str
    _assemble: Callable[[], int]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _library_options(self, names: Sequence[str]) -> dict[str, Any]:
        """Parameters that are options of the library, and threads. The library checks their ranges."""
        return {name: getattr(self, name) for name in names} | {"threads": _numbers.threads(self.n_jobs)}

    def _is_warm(self) -> bool:
        return _numbers.check_flag("warm_start", self.warm_start) and hasattr(self, "coef_")

    def _start(self, classes: np.ndarray, kind: str = "classes") -> Callable[[], int] | None:
        """What makes the model from which the fit continues, which must have these classes; None: it begins anew."""
        if not self._is_warm():
            return None
        if not np.array_equal(classes, self.classes_):
            found = f"{listed(self.classes_)}, but y and class_prior have {listed(classes)}"
            raise ValueError(f"warm_start=True continues from a model with the {kind} {found}: set warm_start=False")
        return self._assemble

    def _keep_end(self, report: dict[str, Any]) -> None:
        for name in _ENDS:
            setattr(self, f"{name}_", report[name])

    def _report(self, method: str) -> dict[str, Any]:
        """How the last fit ended, for the library."""
        ends = {name: getattr(self, f"{name}_") for name in _ENDS}
        return ends | {"method": method, "objective": self.objective_ if np.isfinite(self.objective_) else None}
