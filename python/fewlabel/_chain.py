"""Sequences, one matrix for each or all tokens with the lengths; their fits and best tags in the library."""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fewlabel._inputs import _data, _markers, _memory, _targets
from fewlabel._inputs._soft import Soft
from fewlabel._native import _fit, _library, _signatures, _views

_TAGS = (list, tuple, np.ndarray)  # what can hold the tags of a sequence
_IOB = re.compile(r"([BIMELSU])(?:-(.*))?", re.DOTALL)
_OTHER_FORM = re.compile(r"[BIMELSU][\W_].*|.*[\W_][BIMELSU]", re.DOTALL | re.IGNORECASE)
_CHUNK = 1 << 22  # pairs of tags looked at in one piece


def is_list(X: Any) -> bool:
    """X has a matrix, or an array with rows, for each sequence."""
    if not isinstance(X, list | tuple):
        return False
    first = next((part for part in X if n_tokens(part)), None)
    return first is None or sp.issparse(first) or np.ndim(first) == 2


def n_tokens(part: Any) -> int:
    shape = getattr(part, "shape", None)
    return int((*shape, 1)[0]) if isinstance(shape, tuple) else len(part) if hasattr(part, "__len__") else 1


def flat(X: Any, y: Any, lengths: Any) -> tuple[Any, Any, Any]:
    """All sequences concatenated, and their lengths."""
    _data.check_order(X=X, y=y)
    X = _data.plain(X, "X") if isinstance(X, list) else X
    if isinstance(y, list | tuple):
        for k, (part, tags) in enumerate(zip(X, y, strict=False) if is_list(X) else ()):
            _data.check_order(**{f"X[{k}]": part, f"y[{k}]": tags})
        y = [_markers.column(tags, f"y[{k}]") if hasattr(tags, "to_list") else tags for k, tags in enumerate(y)]
    if is_list(X):
        if lengths is not None:
            raise ValueError("lengths must be None where X is a list of sequences: they have their lengths")
        lengths = [n_tokens(part) for part in X]
        parts = {k: _data.admitted(part, f"X[{k}]") for k, part in enumerate(X) if lengths[k]}
        for k, part in parts.items():
            _data.refuse_dates(part, f"X[{k}]")
        widths = {k: np.shape(part)[1] if len(np.shape(part)) == 2 else -1 for k, part in parts.items()}
        first = next(iter(widths), 0)
        for k in [k for k, width in widths.items() if width != widths[first]]:
            what = f"{widths[k]} features" if widths[k] >= 0 else "no rows and columns"
            raise ValueError(f"X: sequence {k} has {what}, sequence {first} has {widths[first]} features: not the same")
        stack: Any = sp.vstack if any(map(sp.issparse, parts.values())) else np.concatenate
        X = stack([np.empty((0, 0)), *parts.values()][len(parts) > 0 :])
    y = y if sp.issparse(y) else _markers.unpacked(y)
    if np.iterable(y) and not (sp.issparse(y) or isinstance(y, Soft)) and any(isinstance(part, _TAGS) for part in y):
        lengths = _own_lengths(y, lengths)
        y = list(itertools.chain.from_iterable(part.tolist() if hasattr(part, "tolist") else part for part in y))
    return X, y, lengths


def _own_lengths(y: Any, lengths: Any) -> list[int]:
    """Number of tags of each sequence of y, which must be the lengths, if they are given."""
    for k, part in enumerate(y):
        if not isinstance(part, _TAGS):
            raise ValueError(f"y has {part!r} for sequence {k}: give a list, with None for each token without a label")
    own = [len(part) for part in y]
    given = own if lengths is None else np.ravel(lengths).tolist()
    if len(own) != len(given):
        raise ValueError(f"y has {len(own)} sequences, but there are {len(given)}")
    for k, (tags, tokens) in enumerate(zip(own, given, strict=True)):
        if tags != tokens:
            raise ValueError(f"y has {tags} tags for sequence {k}, which has {tokens} tokens")
    return own


def check_tokens(n_rows: int, labels: np.ndarray) -> None:
    if len(labels) != n_rows:
        raise ValueError(f"y has tags for {len(labels)} tokens, but X has {n_rows}")


def checked(lengths: Any, n_rows: int) -> np.ndarray:
    if lengths is None:
        return np.array([n_rows], dtype=np.int64)
    given = np.asarray(_data.plain(lengths, "lengths"), dtype=None if np.size(lengths) else int)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(f"lengths must be a list of whole numbers, the tokens of each sequence; got {lengths!r}")
    for k in np.flatnonzero((given < 0) | (given > n_rows)):  # the sum could overflow
        found = ": it must be 0 or more" if given[k] < 0 else f", but X has {n_rows} tokens"
        raise ValueError(f"lengths[{k}] is {given[k]}{found}")
    if given.sum() != n_rows:
        raise ValueError(f"lengths sum to {given.sum()}, but X has {n_rows} tokens")
    return np.ascontiguousarray(given, dtype=np.int64)


def with_certain_tags(targets: _targets.Targets) -> _targets.Targets:
    """Among the tags that a token has as its label."""
    if not targets.even:
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


def forbidden_by_iob(tags: Sequence[Any]) -> list[tuple[str | None, str | None]]:
    """Pairs of tags that IOB2, BIOES and BILOU forbid, such as "I-X" after "O"; None is the start or the end.

    "I-X", "E-X" and "L-X" may follow only "B-X" or "I-X". Where a type has tags of its last token, "E-X" or "L-X", only
    they and "I-X" may follow "B-X" and "I-X". Tags without this form, such as "X", are like "O".
    """
    parts: dict[str | None, tuple[Any, ...]] = {
        tag: found.groups() for tag in tags if isinstance(tag, str) and (found := _IOB.fullmatch(tag))
    }
    for tag in tags:
        if tag not in parts and tag != "O" and (not parts or _OTHER_FORM.fullmatch(tag)):
            raise ValueError(f'forbidden_transitions="iob" needs tags of the form O, B-PER, I-PER; y has {tag!r}')
    closed = {kind for mark, kind in parts.values() if mark in "EL"}
    pairs = []
    for before, after in itertools.product([None, *tags], [*tags, None]):
        (mark, kind), (next_mark, next_kind) = (parts.get(tag, ("O", None)) for tag in (before, after))
        opened, continues = mark in "BIM", next_mark in "IMEL"
        if ((opened and kind in closed) or continues) and not (opened and continues and kind == next_kind):
            pairs.append((before, after))
    return pairs


def mask(allowed: Any, shape: tuple[int, int]) -> np.ndarray:
    allowed = _data.plain(allowed, "allowed")
    if is_list(allowed):
        allowed = np.concatenate([np.empty((0, shape[1]), dtype=bool), *(part for part in allowed if n_tokens(part))])
    given = np.asarray(allowed)
    if given.shape != shape or given.dtype != bool:
        raise ValueError(f"allowed must be a bool array of shape {shape}, tokens by tags; got {given.shape}")
    return given


def as_given(X: Any, values: np.ndarray, lengths: np.ndarray) -> Any:
    return np.split(values, np.cumsum(lengths))[:-1] if is_list(X) else values


# ------------------------------------------------------------------ the library
class Weights(NamedTuple):
    coef: np.ndarray  # (K, d)
    transitions: np.ndarray  # (K, K), -inf where forbidden
    start: np.ndarray  # (K,)
    end: np.ndarray  # (K,)


def assemble(report: Mapping[str, Any], weights: Weights) -> int:
    """Handle of a model in the library, built from its report (as in `fewlabel_report`) and weights."""
    n_tags, n_features = weights.coef.shape
    sizes, arrays = {"n_tags": n_tags, "n_features": n_features}, weights._asdict() | {"coef": weights.coef.T}
    return _fit.assemble(_signatures.SEQUENCE, dict(report) | sizes, arrays)


def best_tags(scores: np.ndarray, weights: Weights, lengths: np.ndarray, n_threads: int) -> np.ndarray:
    """The best tags (n,) from scores (n, K); -inf where a token cannot have a tag, which the library does not know."""
    if _library.is_loaded() and not np.isneginf(scores).any():
        return decode(scores, weights, lengths, n_threads, ("tags",))["tags"]
    return _best_tags(scores, weights, lengths)


def decode(
    scores: np.ndarray, weights: Weights, lengths: np.ndarray, n_threads: int, wanted: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """ "tags" (n,), "scores" and "margins" (n_sequences,) or "marginals" (n, K) of unary scores (n, K)."""
    n_rows, n_tags = scores.shape
    some = lengths > 0  # others have the score 0 and, as that of their only tags, an infinite margin
    n_some = np.count_nonzero(some)
    shapes = {"tags": (n_rows,), "scores": (n_some,), "margins": (n_some,), "marginals": (n_rows, n_tags)}
    found = {name: np.empty(shapes[name], np.int32 if name == "tags" else np.float64) for name in wanted}
    if n_some:
        tokens = _views.rows(scores), lengths[some], n_some
        with _library.released(assemble({}, weights._replace(coef=np.eye(n_tags)))) as model:  # scores as features
            _library.call("fewlabel_sequence_decode", model, *tokens, n_threads, *map(found.get, shapes))
    for name, of_none in ("scores", 0.0), ("margins", np.inf):
        if name in found:
            of_some, found[name] = found[name], np.full(len(lengths), of_none)
            found[name][some] = of_some
    return found


def _best_tags(scores: np.ndarray, weights: Weights, lengths: np.ndarray) -> np.ndarray:
    """Viterbi's algorithm for many sequences in parallel, with sums in the order of the library."""
    n_tags, ends = scores.shape[1], np.cumsum(lengths)
    tags = np.empty(len(scores), dtype=np.int32)
    order = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
    size = max(1, _CHUNK // n_tags**2)
    for begin in range(0, len(order), size):
        chosen = order[begin : begin + size]
        last = _best_of_some(scores, weights, ends[chosen] - lengths[chosen], lengths[chosen], tags)
        if (none := np.flatnonzero(np.isneginf(last))).size:
            raise ValueError(f"sequence {chosen[none].min()} has no path: too much is forbidden or not allowed")
    return tags


def _best_of_some(
    scores: np.ndarray, weights: Weights, starts: np.ndarray, lengths: np.ndarray, tags: np.ndarray
) -> np.ndarray:
    """Fill in the tags of sequences that begin at `starts`, the longest first, and return their scores."""
    best, back = scores[starts] + weights.start, []
    for t in range(1, int(lengths[0])):
        on = int(np.searchsorted(-lengths, -t))  # so many are longer than t
        candidates = best[:on, :, None] + weights.transitions
        back.append(candidates.argmax(axis=1))
        best[:on] = candidates.max(axis=1) + scores[starts[:on] + t]
    last = best + weights.end
    state = last.argmax(axis=1)
    for t in range(int(lengths[0]) - 1, -1, -1):
        on = int(np.searchsorted(-lengths, -t))
        tags[starts[:on] + t] = state[:on]
        if t:
            state[:on] = back[t - 1][np.arange(on), state[:on]]
    return np.asarray(last.max(axis=1))
