"""Warnings that tell the caller of the package what to do."""

import re
import sys
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from fewlabel._examination import Examined
from fewlabel._labels import listed

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


def far_estimate(
    prior: np.ndarray, estimate: np.ndarray, interval: tuple[np.ndarray, np.ndarray], classes: np.ndarray
) -> None:
    """Warn when the given class prior is far from the estimated one: in sum, and a share outside its interval."""
    outside = (prior < interval[0]) | (prior > interval[1])
    apart = np.abs(prior - estimate)
    if apart.sum() > 0.2 and outside.any():
        most = np.sort(np.argsort(-apart * outside, kind="stable")[: min(_SHOWN, int(outside.sum()))])
        warn(
            f"class_prior is {_shares(prior[most], classes[most])}, but the estimate is "
            f"{_shares(estimate[most], classes[most])}. Look at some answers before you trust either."
        )


def held_shares(classes: np.ndarray, least: int) -> None:
    """Warn which classes keep the share that they were given, although the prior may give way."""
    if classes.size:
        warn(
            f"class_prior is held exactly for {listed(classes, _SHOWN)}, whatever prior_strength is: fewer than "
            f"{least} different labeled rows say too little of a share. Label more rows of these classes."
        )


def unlabeled_hurt(examined: Examined) -> None:
    """Warn when the answers for labeled rows that were held out were better without the unlabeled rows, in right ones
    or in macro F, or in one of them no better with unlabeled rows although many answers differ."""
    if examined.hurts or examined.helps_in_doubt:
        right, macro_f = examined.right, examined.macro_f
        found = "appear to hurt" if examined.hurts else "do not appear to help"
        warn(
            f"unlabeled rows {found}: of {examined.n_rows} labeled rows that were held out in turn, "
            f"{right.before:.1%} are right without unlabeled rows and {right.after:.1%} with them (macro F "
            f"{macro_f.before:.3f} and {macro_f.after:.3f}). Check class_prior and a few answers, or take the "
            "supervised model (unlabeled_weight=0)."
        )


def not_calibrated(n_labels: int) -> None:
    """Tell that probabilities are those of the scores as they are."""
    warn(
        f"the probabilities are not calibrated: fit held out no labeled rows for that. It needs {n_labels} different "
        "ones, of classes with at least two, and cross_fit=True."
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
