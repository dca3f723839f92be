"""Warnings for the caller of the package."""

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fewlabel._inputs._markers import FEWEST, listed, looks_missing
from fewlabel._inputs._targets import Targets
from fewlabel._warnings import ClassPriorWarning, DataWarning, FewlabelWarning

_OF_ROWS = ("dominant_features", "frequent_features")  # kinds that look at no label

# Category of each kind of warning of the library (docs/c.md).
_CATEGORIES: dict[str, type[Warning]] = {
    **dict.fromkeys(("no_unlabeled", "one_unlabeled", "one_class", *_OF_ROWS), DataWarning),
    **dict.fromkeys(("no_label", "small_share", "collapse", "balance"), ClassPriorWarning),
    **dict.fromkeys(("max_iter", "max_iter_distance", "max_iter_residual"), ConvergenceWarning),
    **dict.fromkeys(("unsettled", "not_converged", "not_stationary", "constraint"), ConvergenceWarning),
}

_WIDE = 0.8  # length of the intervals of both classes together


def warn(message: str, category: type[Warning] = FewlabelWarning) -> None:
    """Warn at the line of the caller, who may have called a pipeline or a search."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        ("fewlabel.", "sklearn.", "joblib.")
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def of_markers(classes: np.ndarray, unlabeled: Any) -> str:
    """What to do if no row of `y` has the marker; names a class that looks like one."""
    likely = [name for name in classes.tolist() if looks_missing(name)]
    if likely:
        text = f". If the class {likely[0]!r} stands for no label, set unlabeled={likely[0]!r}. Otherwise append "
    elif not isinstance(unlabeled, str) or unlabeled != "auto":
        text = f". The marker is unlabeled={unlabeled!r}, which y does not contain. Correct it, or append "
    else:
        text = ". Append "
    text += "unlabeled rows, marked by -1 or None in y, or set the parameter `unlabeled` to their marker"
    return f"{text}; unlabeled=None means that all rows are labeled"


def rare_marker(targets: Targets) -> None:
    """Warn if "auto" treats -1 as the marker although it is rarer than 0 and 1; or, beside None, as a class."""
    names = {str(name).removesuffix(".0") for name in targets.classes}
    if targets.auto and "-1" in names and names - {"-1", "0", "1"}:
        warn("-1 is a class of y, as None or NaN mark unlabeled rows. If -1 does too, replace it by None.", DataWarning)
    unlabeled = int(targets.minus_one.sum())
    if unlabeled >= FEWEST and targets.classes.tolist() == [0, 1]:
        counts = targets.counts()
        if unlabeled < counts.min():
            warn(
                f"{unlabeled} rows with -1 in y are treated as unlabeled, but 0 ({counts[0]} rows) and 1 ({counts[1]} "
                "rows) are more frequent. Pass unlabeled=-1 to confirm this, or unlabeled=None if all are classes.",
                DataWarning,
            )


def weak_share(name: Any, found: Any, n_labels: int, n_unlabeled: int) -> None:
    """Warn where the labels of the only class leave its share open; see `wide` in engine/sample/class_prior.go."""
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
        found = f"{listed(np.array(names, dtype=object))}, but no row has this label"
        cure = "Label some rows of it, or give its share by a dict class_prior."
        text = f"hierarchy has {found}: left out, and the classes are {listed(classes)}. {cure}"
        warn(text, ClassPriorWarning)


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
        if kind == "no_unlabeled":
            if not uses_unlabeled(model) or len(columns) < len(found):
                continue
            more = ". Mark unknown entries by -1, None or NaN; unlabeled=None means that all are known"
            text += more if several else of_markers(model.classes_, model.unlabeled)
        elif several and kind not in _OF_ROWS:
            names = listed(np.asarray(columns))
            which = f"{len(columns)} of {len(found)} columns of y ({names})" if columns[1:] else f"column {names} of y"
            text = f"{which}: {text}"
        elif category is ConvergenceWarning:
            steps = f"{model.n_iter_} step{'s' if model.n_iter_ > 1 else ''}"
            text += f". The fit took {steps}; the objective is {model.objective_:.6g}"
        warn(f"{text}.", category)


def uses_unlabeled(model: Any) -> bool:
    """Whether rows without a label are expected."""
    return model.unlabeled is not None and model.unlabeled_weight != 0
