"""What unlabeled rows added to the answers for labeled rows that were held out, and whether chance could have added it.

Problem
    Two models answered the same rows, one without unlabeled rows and one with them. Is the second better, or worse?
Symbols
    t_i, w_i  true class and weight of row i
    a_i, b_i  its answers, without and with unlabeled rows
    F_c       2 Σ_i w_i [a_i = t_i = c] / Σ_i w_i ([a_i = c] + [t_i = c])
    δ_i       what the score gains if row i alone goes from a_i to b_i: the mean of two gains, among the a and among the
              b of the other rows
Source
    A randomization test of paired answers (R. Fisher, The Design of Experiments, 1935): if the models are equally good,
    a fair coin might have said for each row which answer is whose. The variance of the gain is then Σ_i δ_i²: exactly
    for right answers; for macro F as far as rows add up. The error is then off by a few per cent where classes have
    five rows or more, of like weight; by up to a sixth with three rows; by more if weights are very unequal.
Cost
    A pass over the rows.
"""

from typing import NamedTuple

import numpy as np

_SEEN = 0.75  # of its error, from which on a gain counts as one
_LEAST = 1e-3  # a loss of less is none
_NEAR = 0.01  # relative: one lost row is just one error, in macro F nearly so


class Gain(NamedTuple):
    """A score of rows that were held out, before and after unlabeled rows came in."""

    before: float = float("nan")
    after: float = float("nan")
    error: float = float("nan")  # standard deviation that the difference would have by chance

    @property
    def lost(self) -> bool:
        """A loss that is seen: of more than one error; not of an unknown score."""
        return self.before - self.after > max(self.error * (1 + _NEAR), _LEAST)

    @property
    def unseen(self) -> bool:
        """No gain is seen: it is less than most of an error."""
        return self.after - self.before < _SEEN * self.error * (1 - _NEAR)


def of_right_answers(truth: np.ndarray, before: np.ndarray, after: np.ndarray, weights: np.ndarray) -> Gain:
    """Gain in the share of right answers, from classes (n,): true ones, and answers without and with unlabeled rows."""
    weights = _at_most_one(weights)
    was, now, total = before == truth, after == truth, weights.sum()
    error = np.linalg.norm(weights[was != now]) / total
    return Gain(float(weights @ was / total), float(weights @ now / total), float(error))


def of_macro_f(truth: np.ndarray, before: np.ndarray, after: np.ndarray, weights: np.ndarray) -> Gain:
    """Gain in the mean F_c of the classes that rows have, as `of_right_answers`."""
    weights = _at_most_one(weights)
    there = _changes(truth, before, after, weights)
    back = _changes(truth, after, before, weights)
    error = float(np.linalg.norm((there - back) / 2))
    return Gain(_macro_f(truth, before, weights), _macro_f(truth, after, weights), error)


def _at_most_one(weights: np.ndarray) -> np.ndarray:
    """Weights so scaled that neither their sum nor their squares leave the range of numbers."""
    return weights / weights.max()


class _Counts(NamedTuple):
    """Weights (K,) for each class, of which F_c = 2 right / (own + answered)."""

    right: np.ndarray
    own: np.ndarray
    answered: np.ndarray


def _counted(truth: np.ndarray, answers: np.ndarray, weights: np.ndarray, n_classes: int) -> _Counts:
    right = np.bincount(truth, weights * (answers == truth), minlength=n_classes)
    return _Counts(right, *(np.bincount(classes, weights, minlength=n_classes) for classes in (truth, answers)))


def _macro_f(truth: np.ndarray, answers: np.ndarray, weights: np.ndarray) -> float:
    right, own, answered = _counted(truth, answers, weights, int(max(truth.max(), answers.max())) + 1)
    known = own > 0
    return float(np.mean(2 * right[known] / (own + answered)[known]))


def _changes(truth: np.ndarray, old: np.ndarray, new: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Change (n,) of macro F if one row alone goes from its old answer to its new one: the F of these two move."""
    counts = _counted(truth, old, weights, int(max(truth.max(), old.max(), new.max())) + 1)
    known = counts.own > 0

    def change(c: np.ndarray, more: np.ndarray) -> np.ndarray:
        """Change (n,) of F_c for a class c (n,) that is answered with the weight `more` (n,) more."""
        right, own, answered = (of_class[c] for of_class in counts)
        own = np.where(known[c], own, 1.0)
        right_then = np.maximum(right + more * (c == truth), 0)
        answered_then = np.maximum(answered + more, right_then)  # what rounding left of it is not less
        return known[c] * (2 * right_then / (own + answered_then) - 2 * right / (own + answered))

    return np.where(old == new, 0.0, change(old, -weights) + change(new, weights)) / known.sum()
