"""Fits that do not see the labels of some rows, on which they are then measured: in processes, with one bar."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from fewlabel import _advice, _progress
from fewlabel._inputs._targets import Targets
from fewlabel._warnings import FewlabelWarning


class Fold(NamedTuple):
    """A fit, and the rows on which it is measured."""

    model: Any  # is cloned
    rows: Any  # of the fit; slice(None): all
    labels: Any  # of these rows
    test: Any  # rows


def measured(
    title: str,
    folds: Sequence[Fold],
    X: Any,
    measure: Callable[[Any, Any, Any], Any],
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Any]:
    """measure(fitted model, rows of X, their numbers) of each fold, in order."""
    found: list[Any] = []
    with _progress.several(title, verbose, len(folds)) as count:
        for result in Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_measured)(fold, X, measure) for fold in folds
        ):
            found.append(result)
            count()
    return found


def _measured(fold: Fold, X: Any, measure: Callable[[Any, Any, Any], Any]) -> Any:
    model = clone(fold.model)
    classifier = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if hasattr(classifier, "verbose"):
        classifier.set_params(verbose=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewlabelWarning)  # nobody sees these fits
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(_safe_indexing(X, fold.rows), fold.labels)
        return measure(model, _safe_indexing(X, fold.test), fold.test)


def warn_of_nothing_unlabeled(targets: Targets, unlabeled: Any) -> None:
    """Warn here, as the fits are quiet."""
    if targets.labeled.all():
        _advice.nothing_unlabeled(targets.classes, unlabeled)


def refuse_one_class(targets: Targets) -> None:
    """Raise where held-out labels say nothing."""
    classes = set(targets.values.tolist())
    if len(classes) == 1:
        raise ValueError(
            f"y has labels of one class alone, {classes.pop()!r}: a model that knows no other is right on all of "
            "them. For such labels use fewlabel.metrics.positive_unlabeled_scores"
        )
