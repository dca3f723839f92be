"""Many fits: in several processes, with one progress bar, and without the warnings of fits that nobody sees."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing

from fewlabel import _advice, _progress
from fewlabel._inputs import _labels
from fewlabel._warnings import FewlabelWarning
from fewlabel.inspection import _linear_model

Call = tuple[Callable[..., Any], tuple[Any, ...]]


def run(title: str, calls: Sequence[Call], n_jobs: int | None, verbose: int) -> list[Any]:
    """The result of each call, in order; a call is a function, with a fit in it, and its arguments."""
    found: list[Any] = []
    with _progress.several(title, verbose, len(calls)) as count:
        for result in Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_quietly)(function, arguments) for function, arguments in calls
        ):
            found.append(result)
            count()
    return found


def fitted(model: Any, X: Any, y: Any, rows: Any = None) -> Any:
    """A clone that is fitted on some rows; None: on all."""
    copy = clone(model)
    if hasattr(_linear_model.last(copy), "verbose"):
        _linear_model.last(copy).set_params(verbose=0)
    return copy.fit(*((X, y) if rows is None else (_safe_indexing(X, rows), _safe_indexing(y, rows))))


def warn_of_nothing_unlabeled(given: _labels.Given, unlabeled: Any) -> None:
    """Warn here, as the fits are quiet."""
    if given.labeled.all():
        _advice.nothing_unlabeled(np.unique(given.values), unlabeled)


def refuse_one_class(given: _labels.Given) -> None:
    """Raise where held-out labels say nothing."""
    classes = set(given.values.tolist())
    if len(classes) == 1:
        raise ValueError(
            f"y has labels of one class alone, {classes.pop()!r}: a model that knows no other is right on all of "
            "them. For such labels use fewlabel.metrics.positive_unlabeled_scores"
        )


def _quietly(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewlabelWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        return function(*arguments)
