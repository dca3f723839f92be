"""Warnings that tell the caller of the package what to do."""

import re
import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fewlabel._inputs._labels import FEWEST, Labels
from fewlabel._warnings import ClassPriorWarning, DataWarning, FewlabelWarning

# The warnings of the library begin with their kind. A kind without a category is left out, as `nothing_unlabeled` warns
# of the same in terms of y.
_CATEGORIES: dict[str, type[Warning] | None] = {
    "no_unlabeled": None,
    "calibration": None,  # predict_proba warns, see not_calibrated
    "one_unlabeled": DataWarning,
    "one_class": DataWarning,
    "row_lengths": DataWarning,
    "column_scales": DataWarning,
    "no_label": ClassPriorWarning,
    "small_share": ClassPriorWarning,
    "collapse": ClassPriorWarning,
    "balance": ClassPriorWarning,
    "class_prior": ClassPriorWarning,
    "convergence": ConvergenceWarning,
}


def warn(message: str, category: type[Warning] = FewlabelWarning) -> None:
    """Warn at the line that called into the package."""
    level, frame = 1, sys._getframe()
    ours = ("fewlabel.", "sklearn.callback.")  # the latter wraps `fit`
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(ours):
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


def named(text: str, classes: np.ndarray) -> str:
    """A text of the library with the names of classes and arguments that Python's callers know."""
    text = re.sub(r"\bclass (\d+)\b", lambda found: f"class {classes[int(found[1])]}", text)
    return re.sub(r"^weights\b", "sample_weight", text)


def of_the_library(messages: list[str], classes: np.ndarray, steps: int, objective: float) -> None:
    """Pass on the warnings of the library, with the names of the classes in place of their numbers."""
    for message in messages:
        kind, _, text = message.partition(": ")
        category = _CATEGORIES.get(kind, FewlabelWarning)
        if category is None:
            continue
        text = named(text, classes)
        if category is ConvergenceWarning:
            text += f". It did {steps} steps; the objective is {objective:.6g}"
        warn(f"{text}.", category)
