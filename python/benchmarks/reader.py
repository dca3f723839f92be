"""The reader of svmlight files against scikit-learn's: 20 Newsgroups written out, plain and compressed with zstd."""

from __future__ import annotations

import inspect
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from benchmarks import corpora, timing
from benchmarks.report import Report
from fewlabel.datasets import dump_svmlight_file
from fewlabel.datasets import load_svmlight_file as load_ours

FASTER = 8  # bound: times faster than scikit-learn, on so many threads:
THREADS = 2
FILES = {"plain": "rows.svm", "zstd": "rows.svm.zst"}
COMPRESSED = {"plain": "", "gzip": ".gz", "zstd": ".zst"}  # kind: end of a name


def svmlight_reader(report: Report, rounds: int = 7) -> None:
    """Seconds for a whole file, in memory of the system; scikit-learn reads the plain one in any case. They take turns.
    One thread is shown as well, and the load before: two threads need two cores that are free."""
    from fewlabel import datasets

    data = corpora.newsgroups20()
    X = data.X.sorted_indices()  # scikit-learn reads no other order
    with tempfile.TemporaryDirectory() as folder:
        paths = {kind: str(Path(folder, name)) for kind, name in FILES.items()}
        for path in paths.values():
            datasets.dump_svmlight_file(X, data.y, path)
        theirs = load_svmlight_file(paths["plain"], zero_based=False)
        calls: dict[str, Any] = {"scikit-learn": lambda: load_svmlight_file(paths["plain"], zero_based=False)}
        for kind, path in paths.items():
            wrong = differing(datasets.load_svmlight_file(path, n_jobs=THREADS), theirs)
            what = f"reader, {kind}: arrays that differ from scikit-learn's"
            report.at_most(what, len(wrong), 0, note=", ".join(wrong) or f"{X.nnz:,} non-zeros")
            for threads in (1, THREADS):
                calls[f"{kind} {threads}"] = lambda p=path, t=threads: datasets.load_svmlight_file(p, n_jobs=t)
        load = f"load before {os.getloadavg()[0]:.1f}"
        seconds = timing.take_turns(calls, rounds)
        for kind, path in paths.items():
            _rows(report, kind, f"{Path(path).stat().st_size / 1e6:.1f} MB; {load}", seconds)


def _rows(report: Report, kind: str, remark: str, seconds: dict[str, np.ndarray]) -> None:
    for threads in (1, THREADS):
        ratios = timing.ratio(seconds, "scikit-learn", f"{kind} {threads}")
        medians = [np.median(seconds[name]) for name in ("scikit-learn", f"{kind} {threads}")]
        note = f"{medians[0]:.3f} s / {medians[1]:.3f} s; {remark}"
        note += "; scikit-learn reads the plain file: it cannot read zstd" if kind == "zstd" else ""
        what, value = f"reader, {kind}, threads {threads}: scikit-learn / ours", float(np.median(ratios))
        report.at_least(what, value, FASTER if threads == THREADS else None, "", note, ratios)


def differing(ours: tuple[Any, Any], theirs: tuple[Any, Any]) -> list[str]:
    """The names of the arrays in which two readings, each rows and labels, are not the same."""
    (X, y), (Z, z) = ours, theirs
    pairs = {name: (getattr(X, name), getattr(Z, name)) for name in ("indptr", "indices", "data", "shape")}
    return [name for name, (a, b) in (pairs | {"labels": (y, z)}).items() if not np.array_equal(a, b)]


def svmlight_expansion(report: Report) -> None:
    """Bytes of text for a byte of the compressed file, for the default of `max_expansion`."""
    most = inspect.signature(load_ours).parameters["max_expansion"].default
    words, digits = corpora.newsgroups20().X, corpora.mnist().X[:20000]
    sets = {"20 Newsgroups": words, "its words": words > 0, "MNIST, 20,000": digits, "its black pixels": digits > 0}
    for name, X in sets.items():
        for kind, ratio in expansions(X.astype(float)).items():
            report.at_most(f"reader, {kind}, text by compressed, {name}", ratio, most)


def expansions(X: Any) -> dict[str, float]:
    """Size of the svmlight text of rows by that of its compressed forms."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {kind: Path(folder, f"rows{ending}") for kind, ending in COMPRESSED.items()}
        for path in paths.values():
            dump_svmlight_file(X, np.zeros(X.shape[0]), path)
        sizes = {kind: path.stat().st_size for kind, path in paths.items()}
    return {kind: sizes["plain"] / size for kind, size in sizes.items() if kind != "plain"}


SECTIONS = (svmlight_reader, svmlight_expansion)
