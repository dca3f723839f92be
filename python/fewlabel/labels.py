"""Probabilities of classes as labels, and what gives them: several sources, such as keyword rules and annotators."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from fewlabel._inputs import _markers, _memory, _targets, _weights
from fewlabel._inputs._soft import Soft

__all__ = ["Soft", "from_votes", "keyword_votes"]

# Accuracy, beyond that by chance, of a source of which nothing is known, and the votes for which that counts. Keywords
# that were found in the labeled rows are right there, and less often elsewhere. Measured on k1b and wap, two draws,
# macro F with three words a class: 0.736 (about 0.3 in all), 0.710 (0.5), 0.713 (0.7 for one vote); labels alone 0.717.
# Where keywords come from the labeled rows better accuracies help little: with the true ones rules change macro F of
# labels alone by -0.07 (20 Newsgroups), 0 (Ohsumed) and +0.01 (Reuters R8), with the estimated ones by -0.03, -0.01 and
# +0.04, two draws.
_FIRST = 0.25
_PSEUDO = 10.0
_HIGHEST = 0.9  # accuracy that is estimated: no source alone is nearly certain, or worse than chance
_ROUNDS = 100
_TOLERANCE = 1e-6


def keyword_votes(texts: Iterable[str], keywords: Mapping[Any, Iterable[str]]) -> np.ndarray:
    """Votes of keyword rules: each word votes for its class in the texts that contain it.

    Parameters
    ----------
    texts : iterable of str
        Texts, one a row.
    keywords : dict from class to iterable of str
        Words or phrases of each class, compared without case, as whole words.

    Returns
    -------
    votes : ndarray of shape (n_rows, n_words), object
        The class of the word where the text contains it, else None.

    Raises
    ------
    ValueError
        If there is no word, a text stands in place of a list, `keywords` is no dict, or a row of `texts` is no text.
    """
    if isinstance(texts, str):
        raise ValueError("texts must be a list of texts, got one text")
    texts = list(texts)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"texts must hold texts, got {text!r} in row {i}: write an empty text where there is none")
    if not isinstance(keywords, Mapping):
        raise ValueError(f"keywords must be a dict from class to words, got {keywords!r:.80}")
    for name, words in keywords.items():
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise ValueError(f"keywords must have a list of words for class {name!r}, got {words!r}")
    rules = [(name, word) for name, words in keywords.items() for word in words]
    if not rules:
        raise ValueError("keywords holds no word")
    for name, word in rules:
        if _markers.marked(_markers.objects([name]), np.nan)[0].any():
            raise ValueError(f"keywords has the class {name!r}, which marks texts without a vote: give it a name")
        if not isinstance(word, str) or not word.strip():
            raise ValueError(f"keywords must hold words, got {word!r} for class {name!r}")
    found = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE) for _, word in rules]
    rows = [
        [name if pattern.search(text) else None for (name, _), pattern in zip(rules, found, strict=True)]
        for text in texts
    ]
    votes = np.full((len(rows), len(rules)), None, dtype=object)
    for i, row in enumerate(rows):
        votes[i] = row
    return votes


def from_votes(votes: Any, y: Any = None, *, accuracies: Any = "auto", unlabeled: Any = "auto") -> Soft:
    """Probabilities of the classes from the votes of several sources.

    A source of accuracy a votes for the true class with probability a, and for each other one with (1 - a) / (K - 1).
    Sources are taken as independent. Accuracies that are not given are estimated from the labeled rows and from the
    rows with several votes, by expectation-maximization (Dawid & Skene 1979, with one number a source).

    Parameters
    ----------
    votes : array-like of shape (n_rows, n_sources)
        The class that each source votes for, or a marker where it does not vote.
    y : array-like of shape (n_rows,), default=None
        Labels, with markers; labeled rows have probability 1 of their class.
    accuracies : "auto" or array-like of shape (n_sources,), default="auto"
        Probability that a vote of the source is right, above 0 and below 1.
    unlabeled : object, default="auto"
        Marker, as for the classifiers.

    Returns
    -------
    votes : Soft
        A `y`, with `probabilities` (n_rows, n_classes), 0 in rows without a vote, `classes` (n_classes,), sorted, and
        `accuracies` (n_sources,). Classes are assumed to have equal shares: their shares are the `class_prior` of the
        classifier.

    Raises
    ------
    ValueError
        If no source votes, the classes are fewer than two, or accuracies are not between 0 and 1.

    References
    ----------
    A. P. Dawid, A. M. Skene (1979). Maximum likelihood estimation of observer error-rates using the EM algorithm.
    Applied Statistics 28, 20-28.
    """
    columns = _markers.table(votes, "votes")
    if columns.ndim != 2 or not columns.size:
        raise ValueError(f"votes must have shape (n_rows, n_sources), has {columns.shape}")
    given = _targets.plain(columns.ravel(), unlabeled, "votes")
    if not given.labeled.any():
        raise ValueError("votes has no vote: every entry is a marker (see the parameter `unlabeled`)")
    known = _targets.plain(np.full(len(columns), None) if y is None else y, "auto" if y is None else unlabeled)
    if len(known.codes) != len(columns):
        raise ValueError(f"y has {len(known.codes)} labels, but votes has {len(columns)} rows")
    classes = _classes(given.classes, known.classes)
    if len(classes) < 2:
        raise ValueError(f"votes and y name one class only, {classes.tolist()[0]!r}: at least two are needed")
    votes, truth = given.among(classes).codes.reshape(columns.shape), known.among(classes).codes
    return _estimate(votes, truth, classes, accuracies)


def _classes(of_votes: np.ndarray, of_y: np.ndarray) -> np.ndarray:
    """Those of both, sorted."""
    if not len(of_y):
        return of_votes
    words = {"O": "texts", "U": "texts", "b": "bools"}
    found = [words.get(classes.dtype.kind, "numbers") for classes in (of_votes, of_y)]
    if found[0] != found[1]:
        raise ValueError(f"votes are {found[0]}, and y has {found[1]}: write the classes in one type")
    return _markers.in_one_type(np.unique(np.concatenate([of_votes, of_y])), "votes and y")


def _estimate(votes: np.ndarray, truth: np.ndarray, classes: np.ndarray, accuracies: Any) -> Soft:
    """From numbers of classes; -1 is no vote, no label."""
    a = np.full(votes.shape[1], _FIRST + 1 / len(classes))
    if not isinstance(accuracies, str):
        a = _weights.numbers("accuracies", [] if isinstance(accuracies, Mapping) else accuracies)
        if a.shape != (votes.shape[1],) or not ((a > 0) & (a < 1)).all():
            raise ValueError(f"accuracies must be {votes.shape[1]} numbers above 0 and below 1, got {accuracies!r:.60}")
    elif accuracies != "auto":
        raise ValueError(f"accuracies={accuracies!r} must be 'auto' or an array")
    else:
        telling = ((votes >= 0).sum(axis=1) > 1) | (truth >= 0)
        for _ in range(_ROUNDS):
            before, a = a, _right(votes[telling], _posterior(votes[telling], truth[telling], a, len(classes)))
            if abs(a - before).max() <= _TOLERANCE:
                break
    found = Soft(_posterior(votes, truth, a, len(classes)), classes)
    found.accuracies = a
    return found


def _posterior(votes: np.ndarray, truth: np.ndarray, a: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities of the classes at these accuracies."""
    _memory.need(32.0 * len(votes) * n_classes, f"votes on {n_classes} classes of {len(votes)} rows", "give fewer rows")
    logs = np.zeros((len(votes), n_classes))
    gains = np.log(a) - np.log((1 - a) / (n_classes - 1))
    for j, gain in enumerate(gains):
        rows = np.flatnonzero(votes[:, j] >= 0)
        logs[rows, votes[rows, j]] += gain
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[(votes < 0).all(axis=1)] = 0
    labeled = np.flatnonzero(truth >= 0)
    p[labeled] = 0
    p[labeled, truth[labeled]] = 1
    return p


def _right(votes: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Share of the votes of each source that are right, at least that by chance: where sources vote for one class each,
    their agreement can show a good one as a bad one."""
    found, chance = np.empty(votes.shape[1]), 1 / p.shape[1]
    for j in range(votes.shape[1]):
        rows = np.flatnonzero(votes[:, j] >= 0)
        right = p[rows, votes[rows, j]].sum()
        found[j] = (right + _PSEUDO * (_FIRST + chance)) / (len(rows) + _PSEUDO)
    return np.clip(found, chance, _HIGHEST)
