"""A million rows: a planted corpus of two classes, and what a row costs as rows are added."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from benchmarks import memory
from benchmarks.report import Report
from benchmarks.tasks import Task, draw_labels, mask_labels

COLS = 200_000
ROW_LENGTH = 60  # distinct words in a row, on average
SIZES = (10_000, 100_000, 1_000_000)
LABELS = 100
SHARE = 0.3  # of class 1
TOPICAL_WORDS = 1000  # only words more frequent than this one depend on the class
PRODUCTS = 1.6  # how many of them a pass may take
GROWTH = 1.25  # how many times the cost of a non-zero in the smallest corpus one may cost in the largest


def million(report: Report, sizes: tuple[int, ...] = SIZES) -> None:
    """Time, memory and cost per non-zero of the default method; one thread, costs by its processor time."""
    start = time.perf_counter()
    X, y = planted(max(sizes))
    report.fact("large: corpus made, seconds", time.perf_counter() - start, note=f"{X.shape}, {X.nnz:,} non-zeros")
    costs = []
    for n in sizes:
        figures = memory.of_task(_task(X[:n], y[:n]), {"n_jobs": 1})
        non_zeros = int(X.indptr[n])
        costs.append(figures.processor / figures.passes / non_zeros * 1e9)
        what = f"large, {n:,} rows"
        note = f"{figures.passes:.0f} passes; {figures.processor / non_zeros * 1e9:.0f} ns per non-zero in all"
        report.fact(f"{what}: annealing, seconds", figures.seconds, " s", note)
        note = f"class share {figures.share:.3f}, prior {np.mean(y[:n]):.3f}"
        report.fact(f"{what}: error on unlabeled rows", figures.error, " %", note)
        report.at_most(f"{what}: a pass, in products of SciPy", costs[-1] / _product(X[:n]), PRODUCTS)
        report.fact(f"{what}: ns per non-zero and pass", costs[-1])
        memory.rows(report, what, figures)
    what = "large: cost per non-zero and pass, largest / smallest corpus"
    report.at_most(what, costs[-1] / costs[0], GROWTH, values=costs)


def _product(X: sp.csr_matrix, repeats: int = 5) -> float:
    """Nanoseconds a non-zero of the mean of SciPy's X @ v and X.T @ q, the least of some repeats each."""
    v, q = np.random.default_rng(0).random(X.shape[1]), np.random.default_rng(1).random(X.shape[0])
    calls = (lambda: X @ v, lambda: X.T @ q)
    return sum(min(_seconds(call) for _ in range(repeats)) for call in calls) / len(calls) / X.nnz * 1e9


def _seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def task(n: int, **form: int) -> Task:
    """The planted corpus of n rows with its labels; settings as those of `planted`."""
    return _task(*planted(n, **form))


def _task(X: sp.csr_matrix, y: np.ndarray) -> Task:
    given = mask_labels(y, draw_labels(y, LABELS, np.random.default_rng(0)))
    return Task(f"planted, {len(y):,} rows", X, y, given)


SECTIONS = (million,)


# ------------------------------------------------------------------ the corpus
def planted(n: int, cols: int = COLS, row_length: int = ROW_LENGTH, share: float = SHARE, seed: int = 0):
    """Rows (n, cols) with about `row_length` distinct words each, and their classes 0 or 1.

    Word k has a probability of about 1/k. Words come in pairs of neighbours; in three of ten pairs of the frequent
    words, called topical, a document takes with probability 0.85 the word of its own class: the even one in class 0,
    the odd one in class 1. Rows are unit rows of idf times 1 + log count, made in blocks with a seed each.
    """
    y = np.random.default_rng(seed).random(n) < share
    topical = np.random.default_rng(seed + 1).random(cols // 2 + 1) < 0.3
    topical[TOPICAL_WORDS // 2 :] = False
    indices, counts, lengths = [], [], []
    block = 50_000
    for k, start in enumerate(range(0, n, block)):
        words, count, length = _block(y[start : start + block], topical, cols, row_length, (seed, k))
        indices.append(words)
        counts.append(count)
        lengths.append(length)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    indices, values = np.concatenate(indices), np.concatenate(counts)
    documents = np.bincount(indices, minlength=cols)
    values *= (np.log((1 + n) / (1 + documents)) + 1)[indices]
    norms = np.sqrt(np.add.reduceat(np.square(values), indptr[:-1]))
    values /= np.repeat(norms, np.diff(indptr))
    narrow = np.int32 if indptr[-1] < 2**31 else np.int64
    X = sp.csr_matrix((values, indices.astype(narrow), indptr.astype(narrow)), shape=(n, cols))
    return X, y.astype(np.int64)


def _block(y: np.ndarray, topical: np.ndarray, cols: int, row_length: int, seed: tuple[int, int]):
    """Words, 1 + log counts and lengths of some rows."""
    rng = np.random.default_rng(seed)
    tokens = int(row_length * 1.03)  # a token may repeat a word of the row
    shape = (len(y), tokens)
    stop_words = 20  # the most frequent words are not in the corpus
    rank = np.exp(rng.random(shape, dtype=np.float32) * np.float32(np.log(cols / stop_words)))
    words = np.minimum((rank * stop_words).astype(np.int32) - stop_words, cols - 1)
    odd = (rng.random(shape, dtype=np.float32) < 0.85) == y[:, None]
    of_class = (words & ~1) + odd
    words = np.where(topical[words >> 1], np.minimum(of_class, cols - 1), words).astype(np.int32)
    words.sort(axis=1)
    first = np.ones(shape, dtype=bool)
    first[:, 1:] = words[:, 1:] != words[:, :-1]
    starts = np.flatnonzero(first)
    count = np.diff(np.append(starts, first.size))
    return words.ravel()[starts], 1 + np.log(count), first.sum(axis=1)
