"""What a fit finds out of itself: whether unlabeled rows helped, and how sure its probabilities may be.

Two looks. The cheap one, in the library: how often the supervised model of the same labels gives an unlabeled row the
same class. The dear one, cross-fitting: five further fits without a fifth of the labels, on few unlabeled rows; their
scores of the labels that they did not see are compared with those of supervised models, and give the temperature of
the probabilities.
"""

from typing import Any, NamedTuple

import numpy as np

from fewlabel import _calibration, _cross_fit, _gain
from fewlabel._gain import Gain

_MOST_ROWS = 3000  # unlabeled rows of a fit without a fifth of the labels
_ENOUGH = 25  # different rows that only one of two models has right, from which on no gain is a bad sign
_ROUGH = 1e-3  # its tolerance, at least: of what it finds only classes and rough confidence are used


class Examined(NamedTuple):
    """What was found; NaN where it was not looked for."""

    agreement: float = float("nan")  # share of the unlabeled rows with the same class as the supervised model gives
    right: Gain = Gain()  # share of right answers
    macro_f: Gain = Gain()  # F score, mean over the classes
    differ: int = 0  # different rows that only one of the two has right
    temperature: float = 1.0
    smoothing: float = 0.0
    n_rows: int = 0  # labeled rows that were held out; 0: no cross-fitting

    @property
    def hurts(self) -> bool:
        """Unlabeled rows cost right answers or macro F."""
        return self.right.lost or self.macro_f.lost

    @property
    def helps_in_doubt(self) -> bool:
        """Enough rows differ to see a gain, and none is seen."""
        return self.differ >= _ENOUGH and (self.right.unseen or self.macro_f.unseen)


def examine(
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray | None,
    options: dict[str, Any],
    agreement: float | None,
    cross_fit: bool,
) -> Examined:
    """Look at a fit with these options, of which the library has told the agreement; None: nothing to compare."""
    found = Examined() if agreement is None else Examined(agreement)
    if not cross_fit or _cross_fit.n_classes(options) < 2:
        return found
    return _cross_fitted(found, X, codes, weights, options)


def refuse_choice(cross_fit: Any) -> None:
    """Raise a ValueError for what the parameter `cross_fit` cannot be."""
    if not (isinstance(cross_fit, bool | np.bool_) or (isinstance(cross_fit, str) and cross_fit == "auto")):
        raise ValueError(f"cross_fit must be 'auto', True or False, got {cross_fit!r}")


def _cross_fitted(
    found: Examined, X: Any, codes: np.ndarray, weights: np.ndarray | None, options: dict[str, Any]
) -> Examined:
    labeled = np.flatnonzero(_counts(codes >= 0, weights))
    unlabeled = _cross_fit.some(np.flatnonzero(_counts(codes < 0, weights)), _MOST_ROWS)
    rows = np.concatenate([labeled, unlabeled])
    X, codes, weights = _cross_fit.taken(X, rows), np.ascontiguousarray(codes[rows]), _part(weights, rows)
    fold = _cross_fit.choose(X, codes)
    held = np.flatnonzero(fold != _cross_fit.KEPT)
    if _cross_fit.n_different(X[held]) < _calibration.LEAST:
        return found
    heavy = np.ones(len(held)) if weights is None else weights[held]
    rough = options | {"tol": max(options["tol"], _ROUGH)}
    scores = _cross_fit.scores(X, codes, weights, fold, rough)[held]
    first = slice(len(labeled))
    plain = scores
    if unlabeled.size:
        plain = _cross_fit.scores(X[first], codes[first], _part(weights, first), fold[first], options)[held]
    truth = codes[held]
    usual = _calibration.USUAL.get(options["loss"], _calibration.USUAL_OF_MARGINS)
    first_of, together = _together(X[held], truth, heavy)
    own, before, after = (classes[first_of] for classes in (truth, plain.argmax(axis=1), scores.argmax(axis=1)))
    return found._replace(
        right=_gain.of_right_answers(own, before, after, together),
        macro_f=_gain.of_macro_f(own, before, after, together),
        differ=int(np.sum((before == own) != (after == own))),
        temperature=_calibration.temperature(scores, truth, _shifted(truth, heavy, options), usual),
        smoothing=_calibration.smoothing(float(heavy.sum()), scores.shape[1]),
        n_rows=len(held),
    )


def _together(X: Any, codes: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each set of equal rows of a class, and their weight together. Equal rows have equal answers."""
    pairs = np.column_stack([_cross_fit.places(X), codes])
    _, first, number = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    return first, np.bincount(number.ravel(), weights)


def _shifted(codes: np.ndarray, weights: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """Weights with which the labeled rows have the class shares of the unlabeled ones; their sum stays."""
    totals = np.bincount(codes, weights, minlength=len(options["class_prior"]))
    changed = weights * (options["class_prior"] / np.maximum(totals, 1e-300))[codes]
    return changed * (weights.sum() / changed.sum())


def _counts(rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    return rows if weights is None else rows & (weights > 0)


def _part(weights: np.ndarray | None, rows: Any) -> np.ndarray | None:
    return None if weights is None else np.ascontiguousarray(weights[rows])
