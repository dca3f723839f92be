"""Many rows: what a row costs as rows are added, memory of a fit, and classes that few labels hardly show; planted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from benchmarks import drawing, measure
from benchmarks.drawing import Task
from benchmarks.measure import MB, Report

COLS = 200_000
ROW_LENGTH = 60  # distinct words in a row, on average
MORE = 1.03  # tokens, as one may repeat a word of the row
LABELS = 50  # of each class
SHARE = 0.3  # of class 1
TOPICAL_WORDS = 1000  # only words more frequent than this one depend on the class
BLOCK = 50_000  # rows that are made at once
STOP_WORDS = 20  # the most frequent words, which are not in the corpus
SIZES = (10_000, 100_000, 1_000_000)
PRODUCTS = 1.6  # of SciPy, that a pass over the largest corpus may take; few rows pay for vectors of features
WIDE = (500_000, 5_000_000, 16_700_000)  # rows of `size`
GROWTH = 1.25  # times the cost of a non-zero in the smallest corpus that one may cost in the largest
VECTORS = 20  # of length n or d that a fit may have beside half of the input
LEFT = 100  # MB that may remain after a fit

HIDDEN_ROWS = 100_000
SIGNALS = (0.1, 0.15, 0.08)  # probability that a word depends on the class
FOUND = SIGNALS[:2]
HIDDEN_LABELS = (60, 200)
ALPHAS = (1e-3, 1e-4, 1e-5)
EXPONENT = 1.05  # of Zipf's law
HIDDEN_LENGTH = 40  # words in a row
OWN_WORDS = 1000  # of each class
HIDDEN_ERROR = 3  # percent, with signals FOUND, where all labels find 1 %
HIDDEN_PRODUCTS = 1.5  # of SciPy, that a pass over a million of these rows may take
NEAR = 1.01  # times the objective from the true labels


def task(n: int, seed: int = 0, cols: int = COLS, row_length: int = ROW_LENGTH) -> Task:
    """The planted corpus with labels drawn equally of each class; the unlabeled rows are the test."""
    X, y = planted(n, cols, row_length, seed)
    labeled = drawing.labeled_rows(y, LABELS, "equal", np.random.default_rng(seed))
    given = np.full(n, drawing.UNLABELED)
    given[labeled] = y[labeled]
    return Task(f"planted, {n:,} rows", X, y, given, X[given < 0], y[given < 0], np.arange(2))


def million(report: Report, draws: int = len(SIZES)) -> None:
    """Time, memory and cost per non-zero of the default method with the shares given, on so many of the sizes."""
    costs = []
    for n in SIZES[:draws]:
        cost, passes, non_zeros, product, error = measure.in_fresh_process(fit, n)
        what, input_bytes = f"{n:,} rows", 12 * non_zeros + 4 * n
        costs.append(cost.processor / passes / non_zeros * 1e9)
        report.add(
            f"{what}: seconds", cost.seconds, " s", f"{passes:.0f} passes, {error:.2f} % errors on unlabeled rows"
        )
        most = {"at_most": PRODUCTS} if n == max(SIZES) else {}
        report.add(f"{what}: a pass, in products of SciPy", costs[-1] / product, **most)
        report.add(f"{what}: ns a non-zero and pass", costs[-1])
        bound = round((0.5 * input_bytes + VECTORS * 8 * max(n, COLS)) / MB)
        note = f"{cost.peak / input_bytes:.2f} times the input"
        report.add(f"{what}: peak above input", cost.peak / MB, " MB", note, at_most=bound)
        report.add(f"{what}: left after the fit", cost.left / MB, " MB", at_most=LEFT)
    report.add("cost of a non-zero and pass, largest / smallest corpus", costs[-1] / costs[0], at_most=GROWTH)


def fit(n: int) -> tuple[measure.Cost, float, int, float, float]:
    """Cost and passes of a fit, non-zeros of its rows, ns a non-zero of SciPy's products, and errors."""
    from fewlabel import TransductiveSVC

    small, rows = task(1000), task(n)
    measure.quietly(TransductiveSVC(n_jobs=1), small.X, small.given)
    model = TransductiveSVC(class_prior=rows.shares, n_jobs=1)
    cost, _ = measure.cost(lambda: measure.quietly(model, rows.X, rows.given))
    error = 100 * float(np.mean(model.transduction_[rows.unlabeled] != rows.y[rows.unlabeled]))
    return cost, float(model.history_["n_passes"][-1]), rows.X.nnz, product(rows.X), error


def size(report: Report, draws: int = len(WIDE)) -> None:
    """Time and memory of the default method with the shares given on 3e7, 3e8 and 1e9 non-zeros in float32, two
    threads."""
    costs = []
    for n in WIDE[:draws]:
        cost, passes, non_zeros, error = measure.in_fresh_process(fit_single, n)
        costs.append(cost.processor / non_zeros * 1e9)
        note = f"{cost.seconds:.0f} s on the clock, {passes:.0f} passes, {error:.2f} % errors on unlabeled rows"
        report.add(f"{non_zeros:.1e} non-zeros: processor seconds", cost.processor, " s", note)
        report.add(f"{non_zeros:.1e} non-zeros: ns a non-zero", costs[-1])
        report.add(
            f"{non_zeros:.1e} non-zeros: peak above input", cost.peak / MB, " MB", f"input {8 * non_zeros / MB:.0f}"
        )
    report.add("cost of a non-zero, largest / smallest", costs[-1] / costs[0])


def fit_single(n: int) -> tuple[measure.Cost, float, int, float]:
    """Cost and passes of a fit of rows in float32, their non-zeros, and errors."""
    from fewlabel import TransductiveSVC

    X, y = planted(n, dtype=np.float32)
    given = np.full(n, drawing.UNLABELED)
    labeled = drawing.labeled_rows(y, LABELS, "equal", np.random.default_rng(0))
    given[labeled] = y[labeled]
    small = task(1000)
    measure.quietly(TransductiveSVC(n_jobs=1), small.X, small.given)
    model = TransductiveSVC(class_prior=[1 - y.mean(), y.mean()], n_jobs=2)
    cost, _ = measure.cost(lambda: measure.quietly(model, X, given))
    error = 100 * float(np.mean(model.transduction_[given < 0] != y[given < 0]))
    return cost, float(model.history_["n_passes"][-1]), X.nnz, error


def product(X: sp.csr_matrix, repeats: int = 5) -> float:
    """Nanoseconds a non-zero of the mean of SciPy's X @ v and X.T @ q, the least of some repeats each."""
    v, q = np.random.default_rng(0).random(X.shape[1]), np.random.default_rng(1).random(X.shape[0])
    least = [min(measure.seconds(call)[0] for _ in range(repeats)) for call in (lambda: X @ v, lambda: X.T @ q)]
    return sum(least) / 2 / X.nnz * 1e9


def hidden(report: Report, draws: int = 3) -> None:
    """Errors of the default with the shares given, and its objectives beside those of fits from the true labels."""
    for seed, signal, labels in itertools.product(range(draws), SIGNALS, HIDDEN_LABELS):
        rows, what = hidden_task(HIDDEN_ROWS, signal, labels, seed), f"signal {signal}, {labels} labels #{seed}"
        error, _, passes, seconds = shares_given(rows)
        most = {"at_most": HIDDEN_ERROR} if signal in FOUND else {}
        report.add(f"{what}: errors", error, " %", f"{passes:.0f} passes, {seconds:.1f} s", **most)
        for alpha in ALPHAS:
            error, objective, *_ = shares_given(rows, alpha=alpha)
            right, bound, *_ = shares_given(rows, from_truth=True, alpha=alpha)
            note = f"{objective:.4f}, {bound:.4f}; errors {error:.1f}, {right:.1f} %"
            most = {"at_most": NEAR} if signal in FOUND and alpha < max(ALPHAS) else {}
            report.add(f"{what}, alpha {alpha}: objective / from the true labels", objective / bound, "", note, **most)


def hidden_speed(report: Report, draws: int = 3) -> None:
    """A million such rows, by turns, one thread: time in fits of LinearSVC (dual) with all labels, and of a pass in
    products of SciPy."""
    for labels, most in ((60, 1.5), (2000, 0.6)):
        rows = hidden_task(1_000_000, SIGNALS[0], labels, 0)
        passes = shares_given(rows)[2]
        calls = {
            "ours": lambda rows=rows: shares_given(rows),
            "peer": lambda rows=rows: LinearSVC(dual=True).fit(rows.X, rows.y),
            "product": lambda X=rows.X: (X @ np.ones(X.shape[1]), X.T @ np.ones(X.shape[0])),
        }
        spent = measure.turns(calls, draws)
        medians = {one: np.median(seconds) for one, seconds in spent.items()}
        note = f"{medians['ours']:.1f} and {medians['peer']:.1f} s"
        report.add(
            f"{labels} labels: time / LinearSVC", np.median(spent["ours"] / spent["peer"]), "", note, at_most=most
        )
        per_pass, note = np.median(spent["ours"] / spent["product"]) * 2 / passes, f"{passes:.0f} passes"
        report.add(f"{labels} labels: a pass, in products of SciPy", per_pass, "", note, at_most=HIDDEN_PRODUCTS)


def shares_given(rows: Task, from_truth: bool = False, **parameters) -> tuple[float, float, float, float]:
    """Errors on the unlabeled rows in percent, objective, passes and seconds of a fit, maybe from the true labels."""
    from fewlabel import TransductiveSVC

    model = TransductiveSVC(class_prior=rows.shares, n_jobs=1, warm_start=from_truth, **parameters)
    if from_truth:
        measure.quietly(model.set_params(unlabeled_weight=0), rows.X, rows.y)
        model.set_params(unlabeled_weight="auto")
    seconds = measure.seconds(lambda: measure.quietly(model, rows.X, rows.given))[0]
    error = 100 * float(np.mean(model.transduction_[rows.unlabeled] != rows.y[rows.unlabeled]))
    return error, model.objective_, float(model.history_["n_passes"][-1]), seconds


SECTIONS = (million, size, hidden, hidden_speed)


# ------------------------------------------------------------------ the corpus
def planted(
    n: int, cols: int = COLS, row_length: int = ROW_LENGTH, seed: int = 0, dtype: type = np.float64
) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows (n, cols) with about `row_length` distinct words each, and their classes 0 or 1.

    Word k has a probability of about 1/k. Words come in pairs of neighbours; in three of ten pairs of the frequent
    words, called topical, a document takes with probability 0.85 the word of its own class: the even one in class 0,
    the odd one in class 1. Rows are unit rows of idf times 1 + log count, made in blocks with a seed each.
    """
    y = np.random.default_rng(seed).random(n) < SHARE
    topical = np.random.default_rng(seed + 1).random(cols // 2 + 1) < 0.3
    topical[TOPICAL_WORDS // 2 :] = False
    starts = range(0, n, BLOCK)
    blocks = (_block(y[start : start + BLOCK], topical, cols, row_length, (seed, k)) for k, start in enumerate(starts))
    room = n * int(row_length * MORE)
    X = _unit_rows(blocks, lambda rows_with: np.log((1 + n) / (1 + rows_with)) + 1, cols, room, dtype)
    return X, y.astype(np.int64)


def _block(y: np.ndarray, topical: np.ndarray, cols: int, row_length: int, seed: tuple[int, int]):
    """Words, 1 + log counts and lengths of some rows."""
    rng = np.random.default_rng(seed)
    shape = (len(y), int(row_length * MORE))
    rank = np.exp(rng.random(shape, dtype=np.float32) * np.float32(np.log(cols / STOP_WORDS)))
    words = np.minimum((rank * STOP_WORDS).astype(np.int32) - STOP_WORDS, cols - 1)
    odd = (rng.random(shape, dtype=np.float32) < 0.85) == y[:, None]
    of_class = (words & ~1) + odd
    words = np.where(topical[words >> 1], np.minimum(of_class, cols - 1), words).astype(np.int32)
    return _counted(words)


def _counted(words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct words, 1 + log counts and lengths of rows of words (rows, tokens), which it sorts."""
    words.sort(axis=1)
    first = np.ones(words.shape, dtype=bool)
    first[:, 1:] = words[:, 1:] != words[:, :-1]
    starts = np.flatnonzero(first)
    count = np.diff(np.append(starts, first.size))
    return words.ravel()[starts], 1 + np.log(count), first.sum(axis=1)


def _unit_rows(
    blocks: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]],
    weight: Callable[[np.ndarray], np.ndarray],
    cols: int,
    room: int,
    dtype: type = np.float64,
) -> sp.csr_matrix:
    """The rows of the blocks, in arrays with room for so many non-zeros; a word has a weight by the number of rows
    with it."""
    indices, values = np.empty(room, np.int32), np.empty(room, dtype)
    ends, rows_with, lengths = [0], np.zeros(cols, np.int64), []
    for words, counts, block_lengths in blocks:
        indices[ends[-1] : ends[-1] + len(words)], values[ends[-1] : ends[-1] + len(words)] = words, counts
        rows_with += np.bincount(words, minlength=cols)
        ends.append(ends[-1] + len(words))
        lengths.append(block_lengths)
    weights = weight(rows_with)
    for begin, end, of_rows in zip(ends, ends[1:], lengths, strict=False):
        block = values[begin:end] * weights[indices[begin:end]]
        starts = np.cumsum(of_rows) - of_rows
        values[begin:end] = block / np.repeat(np.sqrt(np.add.reduceat(np.square(block), starts)), of_rows)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    narrow = np.int32 if indptr[-1] < 2**31 else np.int64
    parts = (values[: ends[-1]], indices[: ends[-1]].astype(narrow, copy=False), indptr.astype(narrow))
    return sp.csr_matrix(parts, shape=(len(indptr) - 1, cols), copy=False)


def hidden_task(n: int, signal: float, labels: int, seed: int) -> Task:
    """Rows (n, COLS) of 40 words drawn by Zipf's law, two classes, as many labels of each.

    A word is replaced with probability `signal` by one of the 1,000 words of the row's class; these have random ranks.
    Rows are unit rows of log inverse frequency times 1 + log count, made in blocks with a seed each.
    """
    y = np.random.default_rng((seed, 1)).integers(0, 2, n)
    own = np.random.default_rng((seed, 2)).permutation(COLS)[: 2 * OWN_WORDS].reshape(2, OWN_WORDS)
    ranks = np.cumsum(np.arange(1, COLS + 1) ** -EXPONENT)
    blocks = []
    for k, start in enumerate(range(0, n, BLOCK)):
        rng, of = np.random.default_rng((seed, 3, k)), y[start : start + BLOCK]
        shape = (len(of), HIDDEN_LENGTH)
        words = np.searchsorted(ranks, ranks[-1] * rng.random(shape))
        topical = own[of[:, None], rng.integers(0, OWN_WORDS, shape)]
        blocks.append(_counted(np.where(rng.random(shape) < signal, topical, words).astype(np.int32)))
    X = _unit_rows(blocks, lambda rows_with: np.log(n / np.maximum(1, rows_with)), COLS, n * HIDDEN_LENGTH)
    labeled = drawing.labeled_rows(y, labels // 2, "equal", np.random.default_rng((seed, 4)))
    given = np.full(n, drawing.UNLABELED)
    given[labeled] = y[labeled]
    return Task(f"hidden, {n:,} rows", X, y, given, X[given < 0], y[given < 0], np.arange(2))
