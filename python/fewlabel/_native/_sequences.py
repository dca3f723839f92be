"""Label sequences in the library: a fit that Ctrl-C can interrupt, and decoding."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fewlabel._inputs import _data
from fewlabel._inputs._data import Rows
from fewlabel._native import _fit, _library
from fewlabel._native._signatures import SEQUENCE, Progress

_CHUNK = 1 << 22  # pairs of tags looked at in one piece


class Weights(NamedTuple):
    """Weights of a model of sequences."""

    coef: np.ndarray  # (K, d)
    transitions: np.ndarray  # (K, K), -inf where forbidden
    start: np.ndarray  # (K,)
    end: np.ndarray  # (K,)


def fit(
    rows: Rows,
    lengths: np.ndarray,
    codes: np.ndarray,
    options: Mapping[str, Any],
    watches: _fit.Watches = (),
    start: Callable[[], int] | None = None,
    allowed: np.ndarray | None = None,
) -> _fit.Fitted:
    """Train on tokens with tag numbers `codes` (int32; -1: none) in sequences of `lengths` (int64).

    `allowed` (n, K) uint8 is 0 where a token without a label cannot have a tag; None: it can have any.

    `start` creates in the library the model to continue from and returns its handle, which is freed here.
    """
    tokens, settings = (rows.struct, lengths, len(lengths), codes, allowed), _fit.options_text(options).encode()

    def task(begin: int, progress: Progress, model: np.ndarray) -> None:
        _library.call("fewlabel_sequence_fit", *tokens, begin, settings, progress, model)

    return _fit.trained(task, watches, start)[0]


def weights_of(fitted: _fit.Fitted) -> Weights:
    k, arrays = fitted.report["n_tags"], fitted.arrays
    coef = np.ascontiguousarray(arrays["coef"].reshape(-1, k).T)
    return Weights(coef, arrays["transitions"].reshape(k, k), arrays["start"], arrays["end"])


def assemble(report: Mapping[str, Any], weights: Weights) -> int:
    """Handle of a model in the library, built from its report (as in `fewlabel_report`) and weights."""
    n_tags, n_features = weights.coef.shape
    sizes, arrays = {"n_tags": n_tags, "n_features": n_features}, weights._asdict() | {"coef": weights.coef.T}
    return _fit.assemble(SEQUENCE, dict(report) | sizes, arrays)


def best_tags(scores: np.ndarray, weights: Weights, lengths: np.ndarray, n_threads: int) -> np.ndarray:
    """The best tags (n,) from unary scores (n, K); -inf where a token cannot have a tag, which the library does not
    know."""
    if _library.is_loaded() and not np.isneginf(scores).any():
        return decode(scores, weights, lengths, n_threads, ("tags",))["tags"]
    return _best_tags(scores, weights, lengths)


def decode(
    scores: np.ndarray, weights: Weights, lengths: np.ndarray, n_threads: int, wanted: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """Decode the requested outputs from unary scores (n, K): "tags" (n,), "scores" and "margins" (n_sequences,),
    "marginals" (n, K). The scores are the features of a model whose weights are the identity. A sequence without tokens
    has the score 0 and, as that of its only tags, an infinite margin."""
    n_rows, n_tags = scores.shape
    some = lengths > 0
    n_some = np.count_nonzero(some)
    shapes = {"tags": (n_rows,), "scores": (n_some,), "margins": (n_some,), "marginals": (n_rows, n_tags)}
    found = {name: np.empty(shapes[name], np.int32 if name == "tags" else np.float64) for name in wanted}
    if n_some:
        tokens = _data.native(scores).struct, lengths[some], n_some
        with _library.released(assemble({}, weights._replace(coef=np.eye(n_tags)))) as model:
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
    """Fill in the tags of sequences that begin at `starts` and return their scores; `lengths` are in descending
    order."""
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
