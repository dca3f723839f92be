"""Warnings that tell the caller of the package what to do."""

import re
import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

# The library's warnings begin with their kind. These are said here, in Python's words: see nothing_unlabeled.
_SAID_HERE = ("no_unlabeled",)
_SHOWN = 4  # classes whose shares are named


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called into the package."""
    level, frame = 1, sys._getframe()
    ours = ("fewlabel.", "sklearn.callback.")  # the latter wraps `fit`
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(ours):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def nothing_unlabeled() -> None:
    """`y` was looked through for markers and has none."""
    warn(
        "y has no unlabeled row, so this is the supervised solution. Append unlabeled rows, with -1 or None in y, or "
        "tell how they are marked by the parameter `unlabeled`; unlabeled=None says that all rows are labeled."
    )


def far_prior(prior: np.ndarray, totals: np.ndarray, classes: np.ndarray) -> None:
    """Warn when the labeled rows can hardly have been drawn with the given class prior.

    That is: the share of a class differs by more than 0.1 and by more than three standard deviations of the share of a
    class among that many rows drawn at random. Classes without labeled rows have a warning of their own.
    """
    known = totals > 0
    shares, prior = totals[known] / totals.sum(), prior[known] / prior[known].sum()
    excess = np.abs(shares - prior) - np.maximum(0.1, 3 * np.sqrt(prior * (1 - prior) / totals.sum()))
    if (excess > 0).any():
        most = np.sort(np.argsort(-excess, kind="stable")[:_SHOWN])
        names = classes[known][most]
        warn(
            f"class_prior is {_shares(prior[most], names)}, but the labeled rows have {_shares(shares[most], names)}. "
            "If they were drawn at random, check class_prior (its order is that of classes_); if they were chosen "
            "class by class, this is as it should be."
        )


def of_the_library(messages: list[str], classes: np.ndarray, steps: int, objective: float) -> None:
    """Pass on what the library warns of, with the names of the classes for their numbers."""
    for message in messages:
        kind, _, text = message.partition(": ")
        if kind in _SAID_HERE:
            continue
        text = re.sub(r"\bclass (\d+)\b", lambda found: f"class {classes[int(found[1])]}", text)
        if kind == "convergence":
            warn(f"{text}. It did {steps} steps; the objective is {objective:.6g}.", ConvergenceWarning)
        else:
            warn(f"{text}.")


def _shares(shares: np.ndarray, classes: np.ndarray) -> str:
    return ", ".join(f"{share:.1%} of class {name}" for share, name in zip(shares, classes, strict=True))
