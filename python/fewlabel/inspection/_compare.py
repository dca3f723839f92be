"""compare: cross-validated scores of methods and of the supervised model."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils._indexing import _safe_indexing

from fewlabel import _held_out
from fewlabel._inputs import _markers, _numbers
from fewlabel.inspection import _linear_model, _table
from fewlabel.inspection._check import split

SUPERVISED, SVC = "supervised", "LinearSVC"
METHODS = ("auto", "annealing", "switching")  # the default, as far as the estimator has them


@dataclass(eq=False, repr=False)
class Comparison(_table.Table):
    """Result of `compare`."""

    scores: dict[str, np.ndarray]  #: score (n_splits,) on each test fold, by name; first the supervised ones
    scoring: str  #: what the scores are

    def __str__(self) -> str:
        wide = max(len(name) for name in self.scores)
        lines = [f"{self.scoring}, mean over {len(self.scores[SUPERVISED])} test parts ± standard error"]
        for name, values in self.scores.items():
            gain = values - self.scores[SUPERVISED]
            against = f"   {gain.mean():+.3f} ± {_error(gain):.3f} against supervised" * (name != SUPERVISED)
            lines.append(f"{name:{wide}}  {values.mean():.3f} ± {_error(values):.3f}{against}")
        return "\n".join(lines)

    __repr__ = __str__

    def _columns(self) -> dict[str, list[Any]]:
        gains = [values - self.scores[SUPERVISED] for values in self.scores.values()]
        return {
            "method": list(self.scores),
            self.scoring: [float(values.mean()) for values in self.scores.values()],
            "standard error": [_error(values) for values in self.scores.values()],
            "against supervised": [float(gain.mean()) for gain in gains],
            "its standard error": [_error(gain) for gain in gains],
        }


def compare(
    model: Any,
    X: Any,
    y: Any,
    methods: Any = None,
    *,
    scoring: str = "f1_macro",
    cv: Any = 5,
    n_jobs: int | None = None,
    verbose: int = 1,
) -> Comparison:
    """Compare methods with the supervised model by cross-validation on the labeled rows.

    A gain of less than two standard errors is not significant.

    Parameters
    ----------
    model : TransductiveSVC or SemiSupervisedLogisticRegression, or a pipeline that ends in one
        Clones are fitted, with other values of `method`, and with `unlabeled_weight=0` as the supervised model. With
        scikit-learn's `LinearSVC` in its place it is a reference, except for scores of probabilities.
    X, y : as in `check`
    methods : list of str, dict of str to estimator, or None, default=None
        Values of `method`, or a dict from name to estimator. None: "auto", "annealing" and "switching" if known.
    scoring : str, default="f1_macro"
        Name of a scorer of scikit-learn.
    cv, n_jobs, verbose : as in `check`

    Returns
    -------
    comparison : Comparison
        `scores`, a dict from name to array (n_splits,); `str()` is a table, `to_frame()` a data frame.
    """
    _linear_model.marker(model)
    chosen, scorer = _chosen(methods, model), _held_out.scorer(model, scoring)
    X, given, splits = split(model, X, y, cv)
    _markers.warn_of_names(given.classes.tolist())  # nobody sees the warnings of the fits
    models = {SUPERVISED: _linear_model.supervised(model)}
    if getattr(scorer, "_response_method", None) != "predict_proba":
        models[SVC] = _linear_model.reference(model)
    models |= chosen
    every = models.values()
    folds = [_held_out.Fold(one, rows, _safe_indexing(y, rows), test) for rows, test in splits for one in every]
    measure = partial(_held_out.score, given=given, scoring=scorer)
    scored = _held_out.measured("compare", folds, X, measure, n_jobs, verbose)
    scores = np.reshape(scored, (len(splits), len(models)))
    return Comparison(dict(zip(models, scores.T, strict=True)), scoring)


def _chosen(methods: Any, model: Any) -> dict[str, Any]:
    if methods is None:
        methods = [name for name in METHODS if name in _linear_model.last(model)._methods]
    if not _numbers.has_entries(methods):
        raise ValueError(f"methods must be a list of methods or a dict from name to estimator, got {methods!r}")
    if isinstance(methods, Mapping):
        chosen = dict(methods)
        for name, one in chosen.items():
            _held_out.check_classifier(f"methods[{name!r}]", one)
    else:
        methods = list(methods)
        if not all(isinstance(method, Hashable) for method in methods):
            raise ValueError(f"methods must be a list of names of methods, got {methods!r:.60}")
        if any(hasattr(method, "fit") for method in methods):
            raise ValueError("methods has an estimator: pass a dict from name to estimator, {'name': estimator, ...}")
        chosen = {name: _linear_model.changed(model, method=name) for name in methods}
    if not chosen or SUPERVISED in chosen:
        raise ValueError(f"methods must name at least one method, none of them {SUPERVISED!r}; got {list(chosen)}")
    return chosen


def _error(values: np.ndarray) -> float:
    """Standard error of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
