"""Fits that do not see the labels of some rows, on which they are then measured: in processes, with one bar."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from sklearn.base import RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from fewlabel import _progress, _warnings
from fewlabel._estimator import kind
from fewlabel._inputs import _numbers
from fewlabel._inputs._targets import Targets

Measure = Callable[[Any, Any, Any], Any]


class Fold(NamedTuple):
    """A fit, and the rows on which it is measured."""

    model: Any  # is cloned
    rows: Any  # of the fit; slice(None): all
    labels: Any  # of these rows
    test: Any  # rows


def check_classifier(name: str, model: Any, method: str = "predict") -> None:
    """Raise what names an argument that is no classifier, or pipeline that ends in one, with this method."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    found = kind(last) if last is model else f"a pipeline that ends in {kind(last)}"
    if isinstance(last, type | RegressorMixin) or not all(hasattr(last, each) for each in ("fit", "get_params")):
        raise TypeError(f"{name} must be a classifier, or a pipeline that ends in one, got {found}")
    if not hasattr(last, method):
        cure = ": set calibrate=True" if hasattr(last, "calibrate") else ""
        raise TypeError(f"{name} must be a classifier with a method {method}, got {found} without it{cure}")


def measured(
    title: str, folds: Sequence[Fold], X: Any, measure: Measure, n_jobs: int | None = None, verbose: int = 0
) -> list[Any]:
    """measure(fitted model, rows of X, their numbers) of each fold, in order."""
    _numbers.threads(n_jobs)  # refuses what is none
    tasks, found = (delayed(_measured)(fold, X, measure) for fold in folds), []
    with _progress.several(title, verbose, len(folds)) as count:
        for result in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
            found.append(result)
            count()
    return found


def _measured(fold: Fold, X: Any, measure: Measure) -> Any:
    model = clone(fold.model)
    classifier = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if hasattr(classifier, "verbose"):
        classifier.set_params(verbose=0)
    with warnings.catch_warnings():  # nobody sees these fits
        for category in (_warnings.FewlabelWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", category)
        model.fit(_safe_indexing(X, fold.rows), fold.labels)
        return measure(model, _safe_indexing(X, fold.test), fold.test)


def score(model: Any, rows: Any, test: Any, given: Targets, scoring: Any) -> float:
    """Score of a fitted model on held-out rows, whose labels are among those given."""
    found = scorer(model, scoring)(model, rows, given.of(test))
    if not _numbers.is_real(found):
        raise TypeError(f"scoring must give a number, got {_numbers.shown(found)}")
    return float(found)


def scorer(model: Any, scoring: Any) -> Any:
    """That of scikit-learn, which takes what is no metric for none where there are several."""
    for one in scoring.values() if isinstance(scoring, Mapping) else (scoring,):
        if isinstance(one, type) or (isinstance(scoring, Mapping) and not (isinstance(one, str) or callable(one))):
            raise TypeError(f"scoring must be the name of a metric or a scorer, or several, got {kind(one)}")
    try:
        return check_scoring(model, scoring)
    except (TypeError, ValueError) as reason:
        raise ValueError(f"scoring={scoring!r:.60}: {reason}") from reason


def refuse_one_class(targets: Targets) -> None:
    """Raise where held-out labels say nothing."""
    classes = set(targets.values.tolist())
    if len(classes) == 1:
        found = f"y has labels of one class alone, {classes.pop()!r}: a model that knows no other is always right"
        raise ValueError(f'{found}. Measure the recall instead (documentation, "Positive labels alone")')
