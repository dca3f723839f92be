"""Fits that do not see the labels of some rows, on which they are then measured: in processes, with one bar."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from fewlabel import _advice, _distinct, _progress, _warnings
from fewlabel._inputs import _markers
from fewlabel._inputs._targets import Targets

Measure = Callable[[Any, Any, Any], Any]

_ALIKE = 0.65  # area under the ROC curve below which rows are too like the others for a class
_WIDTH = 0.475  # over the root of the number of these: half of the area's interval of 90 %, for rows that are alike
_MOST_ROWS = 2000  # of a side
_FOLDS = 5


class Fold(NamedTuple):
    """A fit, and the rows on which it is measured."""

    model: Any  # is cloned
    rows: Any  # of the fit; slice(None): all
    labels: Any  # of these rows
    test: Any  # rows


def measured(
    title: str, folds: Sequence[Fold], X: Any, measure: Measure, n_jobs: int | None = None, verbose: int = 0
) -> list[Any]:
    """measure(fitted model, rows of X, their numbers) of each fold, in order."""
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
    return float(check_scoring(model, scoring)(model, rows, given.of(test)))


def refuse_one_class(targets: Targets) -> None:
    """Raise where held-out labels say nothing."""
    classes = set(targets.values.tolist())
    if len(classes) == 1:
        found = f"y has labels of one class alone, {classes.pop()!r}: a model that knows no other is always right"
        raise ValueError(f'{found}. Measure the recall instead (documentation, "Positive labels alone")')


def refuse_encoded(model: Any, X: Any, targets: Targets, weights: np.ndarray | None) -> None:
    """Reject labels of all rows among which the marker has become a class; where that is not certain, warn."""
    number = _markers.likely_encoded(targets.classes, targets.totals(weights))
    if number is None:
        return
    others, name = targets.codes != number, targets.classes.tolist()[number]
    # Rows of a class differ from the others, unlabeled rows do not.
    area, width = _area(model, X, others, np.ones(len(others)) if weights is None else weights)
    if area - width >= _ALIKE:
        return
    found = f"no row of y is unlabeled, and {np.sum(~others)} of {len(others)} rows have the class {name!r}, which "
    if _markers.looks_missing(name):
        cure = f"If it is one, pass unlabeled={name!r}, or replace it by None. If it is a class, pass unlabeled=None"
        raise ValueError(f"{found}reads like a marker. {cure}: every row is labeled.")
    sure = area + width < _ALIKE
    text = (
        f"{found}may be the marker: {'they do not differ from the others, and ' if sure else ''}scikit-learn's "
        "cross_val_predict (method='predict_proba') and meta-estimators such as VotingClassifier number the classes, "
        "and the marker with them. For probabilities of labeled rows take "
        "fewlabel.model_selection.held_out_probabilities; for meta-estimators fit first, on all rows, and pass "
        f"FrozenEstimator(model) and labeled rows. If {name!r} is a class, pass unlabeled=None: every row is labeled."
    )
    if sure:
        raise ValueError(text)
    _advice.warn(text, _warnings.DataWarning)


def _area(model: Any, X: Any, others: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Area under the ROC curve of held-out rows, which of them are `others`, and half of its interval."""
    random, sides = np.random.default_rng(0), [(others == side) & (weights > 0) for side in (False, True)]
    drawn = np.concatenate([random.permutation(np.flatnonzero(side))[:_MOST_ROWS] for side in sides])
    rows = drawn[_distinct.Distinct(X[drawn]).first]  # a held-out copy would be recognized
    least = int(min(np.bincount(others[rows], minlength=2)))
    if least < 2:
        return 0.5, 0.5
    plain = {"class_prior": "auto", "hierarchy": None, "class_weight": None, "calibrate": False, "warm_start": False}
    supervised = clone(model).set_params(unlabeled=None, unlabeled_weight=0, **plain)
    split = StratifiedKFold(min(_FOLDS, least)).split(rows, others[rows])
    folds = [Fold(supervised, rows[train], others[rows[train]], rows[test]) for train, test in split]

    def area(model: Any, X: Any, test: np.ndarray) -> float:
        return float(roc_auc_score(others[test], model.decision_function(X)))

    return float(np.mean(measured("", folds, X, area))), _WIDTH / np.sqrt(least)
