"""Warnings that tell the caller of the package what to do."""

import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

# How the library's texts begin: see collapsed, nothing_unlabeled, one_class.
_SAID_HERE = ("class ", "there are 0 unlabeled rows", "all labeled rows have one class")

_NOT_CONVERGED = ("max_iter", "the last solve", "labels still changed")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called into the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("fewlabel."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def nothing_unlabeled() -> None:
    """`y` was looked through for markers and has none."""
    warn(
        "y has no unlabeled row, so this is the supervised solution. Append unlabeled rows, with -1 or None in y, or "
        "tell how they are marked by the parameter `unlabeled`; unlabeled=None says that all rows are labeled."
    )


def one_class(name: object) -> None:
    """Only one class has labeled rows."""
    warn(f"all labeled rows have class {name}: the model gives every row this class. Label a row of another class.")


def far_prior(prior: np.ndarray, totals: np.ndarray, classes: np.ndarray) -> None:
    """Warn when the labeled rows can hardly have been drawn with the given class prior.

    That is: the share of a class differs by more than 0.1 and by more than three standard deviations of the share of a
    class among that many rows drawn at random.
    """
    shares = totals / totals.sum()
    deviation = np.sqrt(prior * (1 - prior) / totals.sum())
    if (np.abs(shares - prior) > np.maximum(0.1, 3 * deviation)).any():
        warn(
            f"class_prior is {_shares(prior, classes)}, but the labeled rows have {_shares(shares, classes)}. If they "
            "were drawn at random, check class_prior (its order is that of classes_); if they were chosen class by "
            "class, this is as it should be."
        )


def of_the_library(messages: list[str], steps: int, objective: float) -> None:
    """Pass on what the library warns of, except what is said here with the names of the classes."""
    for message in messages:
        if message.startswith(_SAID_HERE):
            continue
        if message.startswith(_NOT_CONVERGED):
            warn(f"{message}. It did {steps} steps; the objective is {objective:.6g}.", ConvergenceWarning)
        else:
            warn(message)


def collapsed(classes: np.ndarray, predicted: np.ndarray, prior: np.ndarray) -> None:
    """Warn of each class that is predicted for less than half of its share of the unlabeled rows."""
    for name, share, wanted in zip(classes, predicted, prior, strict=True):
        if share < wanted / 2:
            warn(
                f"class {name} is predicted for {share:.1%} of the unlabeled rows, where class_prior_ says "
                f"{wanted:.1%}: the fit may have collapsed. Use balance='share', label more rows, or check class_prior "
                "and the preprocessing (stop words out, idf, rows of unit length)."
            )


def _shares(shares: np.ndarray, classes: np.ndarray) -> str:
    return ", ".join(f"{share:.1%} of class {name}" for share, name in zip(shares, classes, strict=True))
