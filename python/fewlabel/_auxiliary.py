"""Auxiliary problems: binary problems whose labels come from the rows themselves.

A strategy is a function of rows, labels and a context that returns `Problems`. To add one, write a function here and
add its name to `_NAMED`, or pass a callable as the parameter `auxiliary`.
"""

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fewlabel._inputs import _data, _numbers

LEAST_POSITIVES = 2  # rows of the rarer answer: nothing can be learned from one


class Problems(NamedTuple):
    """Auxiliary problems over the same rows."""

    labels: sp.csr_array  # (n, m) not 0: the answer is yes
    hidden: sp.csr_array | None  # (sets, d) not 0: features hidden together; None: none
    hides: np.ndarray  # (m,) int32 set that is hidden from a problem, or -1


class Context(NamedTuple):
    """Input of a strategy, except the rows."""

    labels: np.ndarray | None  # (n, 1) class numbers, or (n, k) of several labels a row; -1: none. None: not given
    groups: np.ndarray | None  # (d,) group of each feature
    max_problems: int
    rng: np.random.RandomState
    n_jobs: int | None


Strategy = Callable[[sp.csr_array, Context], Problems]


def make(auxiliary: Any, X: sp.csr_array, y: Any, context: Context) -> Problems:
    """The problems of a strategy or of a list of strategies, without those whose answer is almost constant."""
    return _joined([_limited(_made(part, X, y, context), context) for part in listed(auxiliary)])


def needs_labels(auxiliary: Any) -> bool:
    return any(isinstance(part, str) and part.startswith(("top_", "multi_")) for part in listed(auxiliary))


def listed(auxiliary: Any) -> Sequence[Any]:
    return auxiliary if isinstance(auxiliary, list | tuple) and len(auxiliary) else [auxiliary]


def _made(auxiliary: Any, X: sp.csr_array, y: Any, context: Context) -> Problems:
    if isinstance(auxiliary, str) and auxiliary in _NAMED:
        return _NAMED[auxiliary](X, context)
    if isinstance(auxiliary, str):
        found = re.fullmatch(r"(top|multi)_(k|[1-9]\d*)", auxiliary)
        if not found:
            names = ", ".join(f'"{name}"' for name in (*_NAMED, "top_k", "multi_k"))
            raise ValueError(f"auxiliary is {auxiliary!r}: it must be one of {names}, a callable, a matrix or a list")
        k = {"top_k": 2, "multi_k": 3}.get(auxiliary) or int(found[2])
        return _choices(X, context, k, ordered=found[1] == "top")
    if _numbers.is_function(auxiliary):
        made = auxiliary(X, y)
        labels, hidden = made if isinstance(made, tuple) else (made, None)
        return _given(labels, hidden, X, "the callable in auxiliary returned")
    return _given(auxiliary, None, X, "auxiliary has")


def _mask(X: sp.csr_array, context: Context) -> Problems:
    """Predict whether a feature occurs, from the features of other groups or, without groups, from all others."""
    present = sp.csc_array(X != 0)
    counts = np.diff(present.indptr)
    chosen = _most(np.minimum(counts, X.shape[0] - counts), context.max_problems)
    labels = sp.csr_array(present[:, chosen])
    if context.groups is None:
        return Problems(labels, _sets([[j] for j in chosen], X.shape[1]), np.arange(len(chosen), dtype=np.int32))
    sets = [np.flatnonzero(context.groups == group) for group in range(context.groups.max() + 1)]
    return Problems(labels, _sets(sets, X.shape[1]), context.groups[chosen].astype(np.int32))


def _by_halves(X: sp.csr_array, context: Context, answers: Callable[[sp.csr_array], Any]) -> Problems:
    """Predict the answers that one half of the features gives, from the other half, in both directions."""
    if (d := X.shape[1]) < 2:
        raise ValueError(f"the features cannot be split in halves: there is {d}")
    order = context.rng.permutation(d)
    halves = [np.sort(order[: d // 2]), np.sort(order[d // 2 :])]
    labels = [answers(sp.csr_array(X[:, half])) for half in halves]
    hides = np.repeat(np.arange(2, dtype=np.int32), [each.shape[1] for each in labels])
    return Problems(sp.csr_array(sp.hstack(labels)), _sets(halves, d), hides)


def _frequent(X: sp.csr_array, context: Context) -> Problems:
    """Predict which feature of one half has the largest value."""

    def answers(half: sp.csr_array) -> Any:
        rows = np.flatnonzero(np.diff(half.indptr))
        largest = np.asarray(half.argmax(axis=1)).ravel()[rows]
        found = sp.csc_array((np.ones(len(rows)), (rows, largest)), shape=half.shape)
        return found[:, _most(np.diff(found.indptr), max(1, context.max_problems // 2))]

    return _by_halves(X, context, answers)


def _choices(X: sp.csr_array, context: Context, k: int, *, ordered: bool) -> Problems:
    """Predict the k first choices of a classifier of one half."""
    if context.labels is None:
        raise ValueError("the auxiliary strategies top_k and multi_k need labels: give y")

    def answers(half: sp.csr_array) -> Any:
        scores = _scores(half, context)
        n, n_classes = scores.shape
        if k > n_classes:
            raise ValueError(f"auxiliary asks for {k} choices, but there are {n_classes} classes")
        first = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        if ordered:
            return sp.csr_array((np.ones(n), (np.arange(n), np.unique(first, axis=0, return_inverse=True)[1].ravel())))
        return sp.csr_array((np.ones(n * k), (np.repeat(np.arange(n), k), first.ravel())), shape=(n, n_classes))

    return _by_halves(X, context, answers)


def _scores(X: sp.csr_array, context: Context) -> np.ndarray:
    """Scores (n, n_classes) of a supervised classifier, or of one for each column of several labels."""
    assert context.labels is not None
    scores = np.hstack([_decisions(X, codes, context) for codes in context.labels.T])
    return np.hstack([-scores, scores]) if context.labels.shape[1] == 1 and scores.shape[1] == 1 else scores


def _decisions(X: sp.csr_array, codes: np.ndarray, context: Context) -> np.ndarray:
    """Decisions (n, 1), or (n, n_classes) for more than two classes, learned from the labeled rows; 0 for one class."""
    from fewlabel._transductive_svc import TransductiveSVC

    labeled = np.flatnonzero(codes >= 0)
    if len(np.unique(codes[labeled])) < 2:
        return np.zeros((X.shape[0], 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TransductiveSVC(unlabeled=None, n_jobs=context.n_jobs).fit(X[labeled], codes[labeled])
    scores = model.decision_function(X)
    return scores[:, None] if scores.ndim == 1 else scores


_NAMED: dict[str, Strategy] = {"mask": _mask, "frequent": _frequent}


def _given(labels: Any, hidden: Any, X: sp.csr_array, who: str) -> Problems:
    """Validated labels and hidden features of each problem, as given by the caller."""
    n, d = X.shape
    labels = _data.admitted(labels, "auxiliary")
    labels = labels if sp.issparse(labels) else np.asarray(labels)
    if labels.ndim != 2 or labels.shape[0] != n or labels.dtype.kind not in "biuf":
        raise ValueError(f"{who} {labels.dtype} of shape {labels.shape}: it must be numbers, ({n}, n_problems)")
    answers = sp.csr_array(labels, dtype=np.float64)
    if not np.isfinite(answers.data).all():
        raise ValueError(f"{who} NaN or infinity: auxiliary labels are 0 or not 0")
    answers.eliminate_zeros()
    m = answers.shape[1]
    if hidden is None:
        return Problems(answers, None, np.full(m, -1, dtype=np.int32))
    if np.shape(hidden) != (m, d):
        raise ValueError(f"{who} hidden features of shape {np.shape(hidden)}: it must be ({m}, {d})")
    hidden = sp.csr_array(_data.admitted(hidden, "auxiliary's hidden features"), dtype=np.float64)
    return Problems(answers, hidden, np.arange(m, dtype=np.int32))


def _limited(made: Problems, context: Context) -> Problems:
    """The problems with the most rows of the rarer answer, in their original order."""
    counts = np.bincount(made.labels.indices, minlength=made.labels.shape[1])
    chosen = _most(np.minimum(counts, made.labels.shape[0] - counts), context.max_problems)
    labels = sp.csr_array(sp.csc_array(made.labels)[:, chosen], dtype=np.float32)
    return Problems(labels, made.hidden, made.hides[chosen])


def _most(positives: np.ndarray, most: int) -> np.ndarray:
    """The numbers of the problems with the most rows of the rarer answer, the most frequent first."""
    order = np.argsort(-positives, kind="stable")[:most]
    return order[positives[order] >= LEAST_POSITIVES]


def _joined(parts: Sequence[Problems]) -> Problems:
    sets = [part.hidden for part in parts if part.hidden is not None]
    firsts = np.cumsum([0, *(0 if part.hidden is None else part.hidden.shape[0] for part in parts)])
    hides = [np.where(part.hides >= 0, part.hides + first, -1) for part, first in zip(parts, firsts, strict=False)]
    labels = sp.csr_array(sp.hstack([part.labels for part in parts]))
    return Problems(labels, sp.csr_array(sp.vstack(sets)) if sets else None, np.concatenate(hides).astype(np.int32))


def _sets(sets: Sequence[Any], d: int) -> sp.csr_array:
    indptr = np.cumsum([0, *(len(features) for features in sets)])
    features = np.concatenate([np.empty(0, dtype=np.intp), *sets])
    return sp.csr_array((np.ones(len(features)), features, indptr), shape=(len(sets), d))
