"""What a fit finds out of itself: whether unlabeled rows helped, and how sure its probabilities may be.

Two looks. The cheap one, in the library: how often the supervised model of the same labels gives an unlabeled row the
same class. The dear one, cross-fitting: five further fits without a fifth of the labels, on few unlabeled rows; their
scores of the labels that they did not see are compared with those of supervised models, and give the temperature of
the probabilities.
"""

from typing import Any, NamedTuple

import numpy as np

from fewlabel import _calibration, _cross_fit

_MOST_ROWS = 3000  # unlabeled rows of a fit without a fifth of the labels
_ENOUGH = 25  # rows that only one of two models has right, from which on no gain is a bad sign
_SEEN = 0.75  # of its error, from which on a gain counts as one
_COINS = 200  # times that coins are thrown for the answers
_ROUNDING = 1e-6  # relative: one lost row is just one error
_ROUGH = 1e-3  # its tolerance, at least: of what it finds only classes and rough confidence are used


class Gain(NamedTuple):
    """What unlabeled rows added to a score of rows that were held out. Its error is the standard deviation that it
    would have if a fair coin said for each row which of its two answers is that of which model."""

    before: float = float("nan")  # score without unlabeled rows
    after: float = float("nan")  # score with them
    error: float = float("nan")

    @property
    def lost(self) -> bool:
        """A loss that is seen: of more than one error; not of an unknown score."""
        return self.before - self.after > self.error * (1 + _ROUNDING)

    @property
    def unseen(self) -> bool:
        """No gain is seen: it is less than most of an error."""
        return self.after - self.before < _SEEN * self.error * (1 - _ROUNDING)


class Examined(NamedTuple):
    """What was found; NaN where it was not looked for."""

    agreement: float = float("nan")  # share of the unlabeled rows with the same class as the supervised model gives
    right: Gain = Gain()  # share of right answers
    macro_f: Gain = Gain()  # F score, mean over the classes
    differ: int = 0  # rows that only one of the two has right
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
    before, after = plain.argmax(axis=1), scores.argmax(axis=1)
    return found._replace(
        right=gain_of_answers(truth, before, after, heavy),
        macro_f=gain_of_macro_f(truth, before, after, heavy),
        differ=int(np.sum((before == truth) != (after == truth))),
        temperature=_calibration.temperature(scores, truth, _shifted(truth, heavy, options), usual),
        smoothing=_calibration.smoothing(float(heavy.sum()), scores.shape[1]),
        n_rows=len(held),
    )


def gain_of_answers(truth: np.ndarray, before: np.ndarray, after: np.ndarray, weights: np.ndarray) -> Gain:
    """Gain in right answers, from classes (n,): true ones, and answers without and with unlabeled rows."""
    was, now = before == truth, after == truth
    error = np.sqrt(weights**2 @ (was != now)) / weights.sum()
    return Gain(float(np.average(was, weights=weights)), float(np.average(now, weights=weights)), float(error))


def gain_of_macro_f(truth: np.ndarray, before: np.ndarray, after: np.ndarray, weights: np.ndarray) -> Gain:
    """Gain in the mean F score of the classes that rows have, as `gain_of_answers`."""
    rng, differ, gains = np.random.default_rng(0), before != after, np.zeros(_COINS)
    for i in range(_COINS if differ.any() else 0):
        swapped = differ & (rng.random(len(truth)) < 0.5)
        one, other = np.where(swapped, after, before), np.where(swapped, before, after)
        gains[i] = _macro_f(truth, other, weights) - _macro_f(truth, one, weights)
    error = float(np.sqrt(np.mean(gains**2)))
    return Gain(_macro_f(truth, before, weights), _macro_f(truth, after, weights), error)


def _macro_f(truth: np.ndarray, answers: np.ndarray, weights: np.ndarray) -> float:
    """Mean of F_c = 2 Σ_i w_i [a_i = t_i = c] / Σ_i w_i ([a_i = c] + [t_i = c])."""
    K = int(max(truth.max(), answers.max())) + 1
    own, answered = (np.bincount(classes, weights, minlength=K) for classes in (truth, answers))
    hit = np.bincount(truth, weights * (answers == truth), minlength=K)
    return float(np.mean(2 * hit[own > 0] / (own + answered)[own > 0]))


def _shifted(codes: np.ndarray, weights: np.ndarray, options: dict[str, Any]) -> np.ndarray:
    """Weights with which the labeled rows have the class shares of the unlabeled ones; their sum stays."""
    totals = np.bincount(codes, weights, minlength=len(options["class_prior"]))
    changed = weights * (options["class_prior"] / np.maximum(totals, 1e-300))[codes]
    return changed * (weights.sum() / changed.sum())


def _counts(rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    return rows if weights is None else rows & (weights > 0)


def _part(weights: np.ndarray | None, rows: Any) -> np.ndarray | None:
    return None if weights is None else np.ascontiguousarray(weights[rows])
