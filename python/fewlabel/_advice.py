"""Warnings for the caller of the package."""

import contextlib
import functools
import re
import sys
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fewlabel._inputs import _targets
from fewlabel._inputs._markers import is_auto, listed
from fewlabel._warnings import ClassPriorWarning, DataWarning, FewlabelWarning, warn

_OF_ROWS = ("dominant_features", "long_features", "frequent_features")  # kinds that look at no label

# Category of each kind of warning of the library (docs/c.md).
_CATEGORIES: dict[str, type[Warning]] = {
    **dict.fromkeys(("no_unlabeled", "one_unlabeled", "one_class", "empty_descriptions", *_OF_ROWS), DataWarning),
    **dict.fromkeys(("no_label", "guessed_shares", "small_share", "collapse", "balance"), ClassPriorWarning),
    **dict.fromkeys(("max_iter", "max_iter_distance", "max_iter_residual"), ConvergenceWarning),
    **dict.fromkeys(("unsettled", "not_converged", "not_stationary", "constraint"), ConvergenceWarning),
}

_WIDE = 0.8  # length of the intervals of both classes together


def of_markers(unlabeled: Any) -> str:
    """What to do if no row of `y` has the marker."""
    marker = "" if is_auto(unlabeled) else f". The marker is unlabeled={unlabeled!r}, which y does not contain"
    cure = "Append unlabeled rows, marked by -1 or None in y, or set the parameter `unlabeled` to their marker"
    return f"{marker}. {cure}; unlabeled=None means that all rows are labeled"


def weak_share(name: Any, found: Any, n_labels: int, n_unlabeled: int) -> None:
    """Warn where the labels of the only class leave its share open."""
    if found.share * n_unlabeled < n_labels:
        advice = f"is that of fewer rows than the {n_labels} labeled ones: these may be more alike than others"
    elif 2 * (found.upper - found.lower) > _WIDE:
        advice = f"is uncertain: its 90% interval goes from {found.lower:.1%} to {found.upper:.1%}"
    else:
        return
    cure = "If you can, count that class in a hundred random unlabeled rows and give class_prior."
    warn(f"the estimated share of class {name!r}, {found.share:.1%}, {advice}. {cure}", ClassPriorWarning)


def leaves_without_label(names: list[Any], classes: np.ndarray) -> None:
    """Warn of classes of a dict `hierarchy` that no row has."""
    if names:
        found = f"hierarchy has {listed(np.array(names, dtype=object))}, but no row has this label: left out"
        warn(f"{found}, and the classes are {listed(classes)}. A dict class_prior can name it.", ClassPriorWarning)


def of_the_library(found: list[list[dict[str, Any]]], model: Any) -> None:
    """Issue the warnings of the library for the columns of a fitted model: each kind once, as the first one says it."""
    kinds: dict[tuple[str, float | None], list[tuple[int, str]]] = {}
    for column, given in enumerate(found):
        for warning in given:
            key = warning["kind"], warning["values"].get("class")
            kinds.setdefault(key, []).append((column, warning["text"]))
    several = isinstance(model.classes_, list)
    for (kind, _), same in kinds.items():
        columns, text = [column for column, _ in same], same[0][1]
        category = _CATEGORIES.get(kind, FewlabelWarning)
        if kind in _OF_ROWS and hasattr(model, "feature_names_in_"):
            text = re.sub(r"(?<=\bfeature )\d+", lambda found: repr(model.feature_names_in_[int(found[0])]), text)
        if kind == "no_unlabeled":
            if model.unlabeled is None or model.unlabeled_weight == 0 or len(columns) < len(found):
                continue
            more = ". Mark unknown entries by -1, None or NaN; unlabeled=None means that all are known"
            text += more if several else of_markers(model.unlabeled)
        elif several and kind not in _OF_ROWS:
            names = listed(np.asarray(columns))
            which = f"{len(columns)} of {len(found)} columns of y ({names})" if columns[1:] else f"column {names} of y"
            text = f"{which}: {text}"
        elif category is ConvergenceWarning:
            steps = f"{model.n_iter_} step{'s' if model.n_iter_ > 1 else ''}"
            text += f". The fit took {steps}; the objective is {model.objective_:.6g}"
        warn(f"{text}.", category)


def of_a_search(unlabeled: Any) -> None:
    """Warn in a fit of scikit-learn's cross-validation whose metric will count markers of test rows; once a metric."""
    frame = sys._getframe()
    while frame.f_code.co_name != "_fit_and_score" or "sklearn." not in frame.f_globals.get("__name__", ""):
        if (frame := frame.f_back) is None:  # type: ignore[assignment]
            return
    y, test, scorer = (frame.f_locals.get(name) for name in ("y", "test", "scorer"))
    if not any(hasattr(one, "_score_func") for one in getattr(scorer, "_scorers", {"": scorer}).values()):
        return  # the estimator's own score, or one that knows markers
    with contextlib.suppress(TypeError, ValueError):  # of an estimator around this one
        if np.min(_targets.read(y, unlabeled, whole=False).codes[test]) < 0:
            _tell_of_markers(repr(scorer))


@functools.cache  # every fold is another call of scikit-learn's
def _tell_of_markers(_: str) -> None:
    found = "the metric of this search or cross-validation counts the markers of unlabeled rows as a class"
    warn(f"{found}. Give cv=SemiSupervisedSplit(5), or scoring=labeled_scorer(...)", DataWarning)
