"""Distinct rows in an order that depends on their values alone, so that the order of a caller's rows has no effect."""

import hashlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewlabel._inputs import _data

_DIGEST = 16  # bytes that stand for a row
_BLOCK = 1 << 24  # numbers in one chunk


class Distinct:
    """The distinct rows, by a hash of their values: a pseudorandom order."""

    def __init__(self, X: Any, zeros: bool = True):
        """`zeros`: whether rows of zeros count."""
        digests, none = np.array([*_digests(X), None], dtype=object)[:-1], _digest(b"")
        rows = np.flatnonzero([zeros or digest != none for digest in digests])
        order, first, counts = np.unique(digests[rows], return_index=True, return_counts=True)
        self.number = {digest: number for number, digest in enumerate(order)}  # of a distinct row
        self.first, self.counts = rows[first], counts.astype(np.float64)  # the first row with these values

    def find(self, X: Any) -> np.ndarray:
        """Number (n,) of the distinct row that equals each row; -1: none does."""
        return np.array([self.number.get(digest, -1) for digest in _digests(X)], dtype=np.intp)


def parts(n: int, width: int) -> list[slice]:
    """Slices of n rows of this width, at most _BLOCK numbers each."""
    step = max(1, _BLOCK // max(1, width))
    return [slice(start, start + step) for start in range(0, n, step)]


def _digests(X: Any) -> Iterator[bytes]:
    """Bytes for each row, the same for equal rows: of zeros, those of no bytes."""
    for part in [slice(None)] if sp.issparse(X) else parts(*X.shape):
        rows = _data.canonical(sp.csr_array(X[part], dtype=np.float64))
        indices = rows.indices.astype(np.int64)
        for begin, end in itertools.pairwise(rows.indptr.tolist()):
            yield _digest(indices[begin:end].tobytes() + rows.data[begin:end].tobytes())


def _digest(row: bytes) -> bytes:
    return hashlib.blake2b(row, digest_size=_DIGEST).digest()
