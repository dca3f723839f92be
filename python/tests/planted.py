"""Small problems for the tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp


class Problem(NamedTuple):
    X: sp.csr_matrix  # (n, d) sparse rows of unit length
    y: np.ndarray  # (n,) 0, 1, ..., -1 where unlabeled
    truth: np.ndarray  # (n,) 0, 1, ...


def text_like(n: int = 300, d: int = 120, labeled: int = 12, share: float = 0.4, seed: int = 0) -> Problem:
    """Rows that draw words, four fifths of them from the half of the vocabulary that belongs to their class."""
    rng = np.random.default_rng(seed)
    truth = (np.arange(n) % 100 < round(share * 100)).astype(np.int64)
    counts = np.zeros((n, d))
    for i in range(n):
        own = rng.random(14) < 0.8
        words = rng.integers(0, d // 2, 14) + np.where(own == (truth[i] == 1), d // 2, 0)
        np.add.at(counts[i], words, 1)
    rows = np.log1p(counts)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    y = np.full(n, -1)
    for c in (0, 1):
        members = rng.permutation(np.flatnonzero(truth == c))
        chosen = members[: round(labeled * (share if c else 1 - share))]
        y[chosen] = c
    return Problem(sp.csr_matrix(rows), y, truth)


SHARES = (0.4, 0.25, 0.2, 0.15)  # of the classes of many_topics, which has its labels by these shares too
GROUP = {0: "even", 1: "odd", 2: "even", 3: "odd"}


def many_topics(n: int = 500, d: int = 240, labels: int = 20, seed: int = 0) -> Problem:
    """Four classes in two groups: a row draws words of its class (half of them), of its group and of any text."""
    rng = np.random.default_rng(seed)
    k = len(SHARES)
    truth = np.searchsorted(np.cumsum(SHARES), (np.arange(n) % 100 + 0.5) / 100)
    part = d // (k + 3)  # words of each class, of each group, and of any text
    counts = np.zeros((n, d))
    for i in range(n):
        kinds = rng.choice([truth[i], k + truth[i] % 2, k + 2], 14, p=[0.5, 0.2, 0.3])
        np.add.at(counts[i], kinds * part + rng.integers(0, part, 14), 1)
    rows = np.log1p(counts)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    y = np.full(n, -1)
    for c, share in enumerate(SHARES):
        y[rng.permutation(np.flatnonzero(truth == c))[: round(labels * share)]] = c
    return Problem(sp.csr_matrix(rows), y, truth)


def topic_shares(classes: int) -> np.ndarray:
    shares = np.arange(classes, 0, -1.0)
    return shares / shares.sum()


def topics(n: int = 400, classes: int = 4, seed: int = 0) -> Problem:
    """Rows of some topics, by topic_shares, over a common background, and labels of three rows a class."""
    random = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(3 * classes) % classes, random.choice(classes, n, p=topic_shares(classes))])
    X = random.poisson(0.15, (len(truth), 120)).astype(float)
    for row, y in zip(X, truth, strict=True):
        row[20 * y : 20 * y + 20] += random.poisson(0.35, 20)
    X /= np.maximum(np.linalg.norm(X, axis=1), 1e-9)[:, None]
    return Problem(sp.csr_matrix(X), np.where(np.arange(len(truth)) < 3 * classes, truth, -1), truth)
