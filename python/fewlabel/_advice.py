"""Warnings for the caller of the package."""

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fewlabel._inputs._labels import FEWEST, Labels
from fewlabel._warnings import ClassPriorWarning, DataWarning, FewlabelWarning

# By the kinds of the library's warnings, which docs/c.md explains. Those of None are left out: `nothing_unlabeled` and
# `not_calibrated` warn of the same in other terms.
_CATEGORIES: dict[str, type[Warning] | None] = {
    **dict.fromkeys(("no_unlabeled", "calibration", "calibration_failed"), None),
    **dict.fromkeys(("one_unlabeled", "one_class", "row_lengths", "column_scales"), DataWarning),
    **dict.fromkeys(("no_label", "small_share", "collapse", "balance", "class_prior"), ClassPriorWarning),
    **dict.fromkeys(("max_iter", "max_iter_distance", "max_iter_residual"), ConvergenceWarning),
    **dict.fromkeys(("unsettled", "not_converged", "not_stationary", "constraint"), ConvergenceWarning),
}

# Those that name a class; the others have the words of the library.
_SENTENCES = {
    "one_class": "all labeled rows have class {name}: the model gives every row this class. Label a row of another "
    "class",
    "no_label": "class {name} has a share in class_prior but no labeled row, so it gets the rows that fit the other "
    "classes least. Label some rows of this class",
    "small_share": "class {name} has a share of {prior:.2g} in the class prior, which is less than one of the {rows} "
    "unlabeled rows: none need be predicted as this class",
    "collapse": "class {name} is predicted for {share:.1%} of the unlabeled rows, where the class prior says "
    "{prior:.1%}: the fit may have collapsed. Label more rows, or check class_prior and the preprocessing (stop words "
    "out, idf, rows of unit length)",
    "class_prior": "class_prior gives class {name} a share of {prior:.1%}, but the labeled and the unlabeled rows "
    'together suggest {found:.1%}: check class_prior, or use "auto"',
}


def warn(message: str, category: type[Warning] = FewlabelWarning) -> None:
    """Warn at the line of the caller, who may have called a pipeline or a search."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        ("fewlabel.", "sklearn.", "joblib.")
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def nothing_unlabeled() -> None:
    """`y` was searched for markers and has none."""
    warn(
        "y has no unlabeled row, so this is the supervised solution. Append unlabeled rows, marked by -1 or None in y, "
        "or give their marker as the parameter `unlabeled`; unlabeled=None means that all rows are labeled.",
        DataWarning,
    )


def rare_marker(labels: Labels, unlabeled: int) -> None:
    """Warn where "auto" takes -1 for the marker, but fewer rows have it than 0 and 1 each: it may be a class."""
    if unlabeled >= FEWEST and labels.classes.tolist() == [0, 1]:
        counts = np.bincount(labels.codes[labels.codes >= 0], minlength=2)
        if unlabeled < counts.min():
            warn(
                f"{unlabeled} rows of -1 in y are taken as unlabeled, fewer than those of 0 ({counts[0]}) and of 1 "
                f"({counts[1]}). Pass unlabeled=-1 to confirm this, unlabeled=None if -1, 0 and 1 are three classes.",
                DataWarning,
            )


def not_calibrated(needed: int = 20) -> None:
    """Warn that probabilities are those of the scores as they are."""
    warn(
        f"the probabilities are not calibrated: that takes {needed} different labeled rows of classes with at least 2. "
        "Label more rows, or set calibrate=False."
    )


def of_the_library(found: list[dict[str, Any]], classes: np.ndarray, steps: int, objective: float) -> None:
    """Pass on the warnings of the library, with the names of the classes in place of their numbers."""
    for warning in found:
        kind, values, text = warning["kind"], warning["values"], warning["text"]
        category = _CATEGORIES.get(kind, FewlabelWarning)
        if category is None:
            continue
        if kind in _SENTENCES:
            text = _SENTENCES[kind].format(name=classes[values["class"]], **values)
        if category is ConvergenceWarning:
            text += f". It did {steps} steps; the objective is {objective:.6g}"
        warn(f"{text}.", category)
