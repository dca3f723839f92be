"""Warnings for the caller of the package."""

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fewlabel._inputs._labels import FEWEST, Labels, listed
from fewlabel._warnings import ClassPriorWarning, DataWarning, FewlabelWarning

# Category of each kind of warning of the library (docs/c.md). None: not passed on, because `nothing_unlabeled` and
# `not_calibrated` give the same warning.
_CATEGORIES: dict[str, type[Warning] | None] = {
    **dict.fromkeys(("no_unlabeled", "calibration", "calibration_failed"), None),
    **dict.fromkeys(("one_unlabeled", "one_class", "dominant_features"), DataWarning),
    **dict.fromkeys(("no_label", "small_share", "collapse", "balance", "weak_prior"), ClassPriorWarning),
    **dict.fromkeys(("max_iter", "max_iter_distance", "max_iter_residual"), ConvergenceWarning),
    **dict.fromkeys(("unsettled", "not_converged", "not_stationary", "constraint"), ConvergenceWarning),
}

_WIDE = 0.8  # length of the intervals of both classes together

_OF_ROWS = ("dominant_features",)  # kinds that look at no label

# Texts that stand for a missing label, written by people or by a conversion to text.
_LIKELY_MARKERS = {"", "?", "na", "n/a", "<na>", "nan", "none", "null", "unknown", "unlabeled", "unlabelled"}

# Warnings that name a class. The others use the text of the library.
_SENTENCES = {
    "one_class": "all labeled rows have class {name}, so the model predicts it for every row. Label at least one row "
    'of another class, or give class_prior=estimate_class_prior(X, y, rest="other").as_dict()',
    "no_label": "class {name} has a share in class_prior but no labeled row, so it is assigned the rows that fit the "
    "other classes least. Label some rows of this class",
    "small_share": "class {name} has a share of {prior:.2g} in the class prior, which is less than one of the {rows} "
    "unlabeled rows: it may be predicted for none of them",
    "collapse": "class {name} is predicted for {share:.1%} of the unlabeled rows, but its share in the class "
    "prior is {prior:.1%}: the fit may have collapsed. Label more rows, or check class_prior and the preprocessing "
    "(remove stop words, use idf, scale rows to unit length)",
    "weak_prior": "few labels leave the estimated class prior uncertain: that of class {name} is {prior:.1%}, with a "
    "90% interval from {lower:.1%} to {upper:.1%}. Give class_prior if you know the shares, or label more rows: five "
    "more of each class would make the intervals about {narrower:.0f}% narrower",
}


def warn(message: str, category: type[Warning] = FewlabelWarning) -> None:
    """Warn at the line of the caller, who may have called a pipeline or a search."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        ("fewlabel.", "sklearn.", "joblib.")
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def nothing_unlabeled(classes: np.ndarray, unlabeled: Any) -> None:
    """Warn that no row in `y` has the marker; name a class that looks like one."""
    text = "y has no unlabeled row, so the model is fitted on labeled rows only. "
    likely = [name for name in classes.tolist() if isinstance(name, str) and name.strip().lower() in _LIKELY_MARKERS]
    if likely:
        text += f"If the class {likely[0]!r} stands for no label, set unlabeled={likely[0]!r}. Otherwise append "
    elif not isinstance(unlabeled, str) or unlabeled != "auto":
        text += f"The marker is unlabeled={unlabeled!r}, which y does not contain. Correct it, or append "
    else:
        text += "Append "
    text += "unlabeled rows, marked by -1 or None in y, or set the parameter `unlabeled` to their marker; "
    warn(f"{text}unlabeled=None means that all rows are labeled.", DataWarning)


def rare_marker(labels: Labels, unlabeled: int) -> None:
    """Warn if "auto" treats -1 as the marker although it is rarer than 0 and 1, and so may be a class."""
    if unlabeled >= FEWEST and labels.classes.tolist() == [0, 1]:
        counts = np.bincount(labels.codes[labels.codes >= 0], minlength=2)
        if unlabeled < counts.min():
            warn(
                f"{unlabeled} rows with -1 in y are treated as unlabeled, but 0 ({counts[0]} rows) and 1 ({counts[1]} "
                "rows) are more frequent. Pass unlabeled=-1 to confirm this, or unlabeled=None if -1, 0 and 1 are "
                "classes.",
                DataWarning,
            )


def nothing_unknown() -> None:
    """Warn that no entry of a matrix of labels has the marker."""
    warn(
        "y is a matrix of 0 and 1, several labels a row, and has no unknown entry, so the columns are fitted on "
        "labeled rows only. Mark unknown entries by -1, None or NaN; unlabeled=None means that all are known.",
        DataWarning,
    )


def constant_columns(columns: np.ndarray, kind: str, n_columns: int) -> None:
    """Warn of the columns of labels without a positive or a negative one."""
    if len(columns):
        warn(
            f"{_of_columns(columns, n_columns)}: no {kind} label, so the model predicts {int(kind == 'negative')} for "
            "every row. Label such a row, or give the shares of 1 by class_prior.",
            DataWarning,
        )


def _of_columns(columns: Any, n_columns: int) -> str:
    names = listed(np.asarray(columns))
    return f"column {names} of y" if len(columns) == 1 else f"{len(columns)} of {n_columns} columns of y ({names})"


def of_columns(found: list[tuple[int, list[dict[str, Any]]]], n_columns: int) -> None:
    """Issue the warnings of the library for several columns: one for each kind, with the sentence of the first."""
    kinds: dict[tuple[str, float | None], list[tuple[int, dict[str, Any]]]] = {}
    for column, given in found:
        for warning in given:
            kinds.setdefault((warning["kind"], warning["values"].get("class")), []).append((column, warning))
    for (kind, _), same in kinds.items():
        category = _CATEGORIES.get(kind, FewlabelWarning)
        if category is None:
            continue
        values, text = same[0][1]["values"], same[0][1]["text"]
        if kind in _SENTENCES:
            text = _SENTENCES[kind].format(name=int(values["class"]), **values)
        if kind not in _OF_ROWS:
            text = f"{_of_columns([column for column, _ in same], n_columns)}: {text}"
        warn(f"{text}.", category)


def weak_share(name: Any, found: Any, n_labels: int, n_unlabeled: int) -> None:
    """Warn where the labels of the only class leave its share open; see `wide` in engine/sample/class_prior.go."""
    if found.share * n_unlabeled < n_labels:
        advice = f"is that of fewer rows than the {n_labels} labeled ones: these may be more alike than others"
    elif 2 * (found.upper - found.lower) > _WIDE:
        advice = f"is uncertain: its 90% interval goes from {found.lower:.1%} to {found.upper:.1%}"
    else:
        return
    warn(
        f"the estimated share of class {name!r}, {found.share:.1%}, {advice}. If you can, count that class in a "
        "hundred random unlabeled rows and give class_prior.",
        ClassPriorWarning,
    )


def not_calibrated(needed: int = 20) -> None:
    """Warn that the probabilities are the softmax of uncalibrated scores."""
    warn(
        f"the probabilities are not calibrated: calibration needs {needed} distinct labeled rows from classes with at "
        "least 2. Label more rows, or set calibrate=False."
    )


def of_the_library(found: list[dict[str, Any]], classes: np.ndarray, steps: int, objective: float) -> None:
    """Issue the warnings of the library, with class names in place of class numbers."""
    for warning in found:
        kind, values, text = warning["kind"], warning["values"], warning["text"]
        category = _CATEGORIES.get(kind, FewlabelWarning)
        if category is None:
            continue
        if kind in _SENTENCES:
            text = _SENTENCES[kind].format(name=classes[values["class"]], **values)
        if category is ConvergenceWarning:
            text += f". The fit took {steps} {'step' if steps == 1 else 'steps'}; the objective is {objective:.6g}"
        warn(f"{text}.", category)
