"""Sequences: one matrix for each, or all tokens below each other with the lengths of the sequences."""

import itertools
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewlabel._inputs import _data, _markers, _memory, _targets

_TAGS = (list, tuple, np.ndarray)  # what can hold the tags of a sequence


def is_list(X: Any) -> bool:
    """X has a matrix, or an array with rows, for each sequence."""
    if not isinstance(X, list | tuple):
        return False
    first = next((part for part in X if n_tokens(part)), None)
    return first is None or sp.issparse(first) or np.ndim(first) == 2


def n_tokens(part: Any) -> int:
    return int(part.shape[0]) if len(getattr(part, "shape", ())) else len(part) if hasattr(part, "__len__") else 1


def flat(X: Any, y: Any, lengths: Any) -> tuple[Any, Any, Any]:
    """All sequences concatenated, and their lengths."""
    if is_list(X):
        if lengths is not None:
            raise ValueError("lengths must be None where X is a list of sequences: they have their lengths")
        lengths = [n_tokens(part) for part in X]
        parts = {k: _data.admitted(part, f"X[{k}]") for k, part in enumerate(X) if lengths[k]}
        _check_widths(parts)
        stack: Any = sp.vstack if any(map(sp.issparse, parts.values())) else np.concatenate
        X = stack([np.empty((0, 0)), *parts.values()][len(parts) > 0 :])
    y = y if sp.issparse(y) else _markers.unpacked(y)
    if y is not None and not sp.issparse(y) and any(isinstance(part, _TAGS) for part in y):
        own = _own_lengths(y)
        if lengths is None:
            lengths = own
        elif own != (given := np.ravel(lengths).tolist()):
            raise _differ(own, given)
        y = list(itertools.chain.from_iterable(part.tolist() if hasattr(part, "tolist") else part for part in y))
    return X, y, lengths


def _own_lengths(y: Any) -> list[int]:
    for k, part in enumerate(y):
        if not isinstance(part, _TAGS):
            raise ValueError(f"y has {part!r} for sequence {k}: give a list, with None for each token without a label")
    return [len(part) for part in y]


def _differ(own: list[int], given: list[int]) -> ValueError:
    """Message for `y` whose lengths differ from those of the sequences."""
    if len(own) != len(given):
        return ValueError(f"y has {len(own)} sequences, but there are {len(given)}")
    k = next(k for k in range(len(own)) if own[k] != given[k])
    return ValueError(f"y has {own[k]} tags for sequence {k}, which has {given[k]} tokens")


def _check_widths(parts: dict[int, Any]) -> None:
    widths = {k: np.shape(part)[1] if len(np.shape(part)) == 2 else -1 for k, part in parts.items()}
    first = next(iter(widths), 0)
    for k, width in widths.items():
        if width != widths[first]:
            what = f"{width} features" if width >= 0 else "no rows and columns"
            raise ValueError(
                f"X: sequence {k} has {what}, sequence {first} has {widths[first]} features: all need the same"
            )


def check_tokens(n_rows: int, labels: np.ndarray) -> None:
    if len(labels) != n_rows:
        raise ValueError(f"y has tags for {len(labels)} tokens, but X has {n_rows}")


def checked(lengths: Any, n_rows: int) -> np.ndarray:
    """Validated lengths for the library."""
    if lengths is None:
        return np.array([n_rows], dtype=np.int64)
    given = np.asarray(_data.plain(lengths, "lengths"), dtype=None if np.size(lengths) else int)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(f"lengths must be a list of whole numbers, the tokens of each sequence; got {lengths!r}")
    short = np.flatnonzero(given < 0)
    if short.size:
        raise ValueError(f"lengths[{short[0]}] is {given[short[0]]}: it must be 0 or more")
    long = np.flatnonzero(given > n_rows)
    if long.size:  # the sum could overflow
        raise ValueError(f"lengths[{long[0]}] is {given[long[0]]}, but X has {n_rows} tokens")
    if given.sum() != n_rows:
        raise ValueError(f"lengths sum to {given.sum()}, but X has {n_rows} tokens")
    return np.ascontiguousarray(given, dtype=np.int64)


def with_certain_tags(targets: _targets.Targets) -> _targets.Targets:
    """Among the tags that a token has as its label."""
    sizes = np.diff(targets.indptr)
    if (targets.probabilities != np.repeat(1 / np.maximum(1, sizes), sizes)).any():
        raise ValueError("y has probabilities of tags, which SequenceSVC does not take: give sets of tags")
    if len(targets.numbers) and not targets.labeled.any():
        raise ValueError("y has sets of tags, but no token with one certain tag: label a token of each tag")
    counts = targets.counts()
    if (unknown := targets.numbers[counts[targets.numbers] == 0]).size:
        name = targets.classes[unknown[0]]
        raise ValueError(f"y has the tag {name!r} within sets, but no token has it as its label: label one")
    return _targets.learned(targets)


def allowed_tags(targets: _targets.Targets) -> np.ndarray | None:
    """Tags that tokens may have, (n, K) uint8; None if there are no sets."""
    if not len(targets.numbers):
        return None
    shape = len(targets.codes), len(targets.classes)
    _memory.need(2.0 * shape[0] * shape[1], f"the tags of {shape[0]} tokens", "give fewer tokens or tags")
    allowed = np.repeat(~targets.weak[:, None], len(targets.classes), axis=1).astype(np.uint8)
    allowed[np.repeat(np.arange(len(allowed)), np.diff(targets.indptr)), targets.numbers] = 1
    return allowed


def mask(allowed: Any, shape: tuple[int, int]) -> np.ndarray:
    allowed = _data.plain(allowed, "allowed")
    if is_list(allowed):
        allowed = np.concatenate([np.empty((0, shape[1]), dtype=bool), *(part for part in allowed if n_tokens(part))])
    given = np.asarray(allowed)
    if given.shape != shape or given.dtype != bool:
        raise ValueError(
            f"allowed must be a bool array of shape ({shape[0]}, {shape[1]}), tokens by tags; got {given.dtype} of "
            f"shape {given.shape}"
        )
    return given


def as_given(X: Any, values: np.ndarray, lengths: np.ndarray) -> Any:
    return np.split(values, np.cumsum(lengths))[:-1] if is_list(X) else values
