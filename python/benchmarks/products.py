"""Nanoseconds per non-zero of `X p` and `X' q`: the engine (by its Go benchmark) against scipy.sparse, one thread.

The engine works on packed rows: features renumbered by frequency, once in a fit. The products of the rows as the caller
has them are shown as well. All figures are processor time, so that other programs on the machine disturb them less.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks import corpora
from benchmarks.report import Report
from benchmarks.timing import seconds_per_call

ROOT = Path(__file__).parents[2]
NAMES = {"Times": "X p", "Transposed": "X' q"}
LINE = re.compile(r"^Benchmark(\w+?)(?:/(float\d\d(?:packed)?))?(?:-\d+)?\s.*?([\d.e+-]+) cpu-ns/nz", re.MULTILINE)

Figures = dict[tuple[str, str], float]  # (product, type of the values) -> nanoseconds per non-zero


def measure(report: Report, rounds: int = 7) -> None:
    """The rows of the products, on the rows of 20 Newsgroups; engine and scipy take turns."""
    X = corpora.comp(0).X
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder), X)
        program = build(Path(folder))
        for _ in range(rounds):
            ours.append(run(program, Path(folder)))
            theirs.append(scipy_figures(X))
    for product, name in NAMES.items():
        _ratio(report, name, "float64packed", "float64", product, ours, theirs, 1.3)
        _ratio(report, name, "float32packed", "float32", product, ours, theirs, None)
        _ratio(report, name, "float32packed", "float32 x float64", product, ours, theirs, 1.6)
        _ratio(report, name, "float64", "float64", product, ours, theirs, None)
        _ratio(report, name, "float32", "float64", product, ours, theirs, None)
    both = np.median([sum(r[p, "float64packed"] for p in NAMES) for r in ours])
    gram = np.median([r["Gram", "float64packed"] for r in ours])
    report.fact("products: X' D X p together, ns per non-zero", gram, note=f"the two products: {both:.2f}")
    pack = np.median([r["Pack", ""] for r in ours])
    report.fact("products: packing the rows, once in a fit, ns per non-zero", pack)


def write_rows(folder: Path, X: sp.csr_matrix) -> None:
    """The matrix as raw files that the Go benchmark reads."""
    X.indptr.astype("<i4").tofile(folder / "indptr")
    X.indices.astype("<i4").tofile(folder / "indices")
    X.data.astype("<f8").tofile(folder / "values")
    (folder / "cols").write_text(f"{X.shape[1]}\n", encoding="ascii")


def build(folder: Path) -> Path:
    """Compile the benchmark of engine/csr."""
    program = folder / "csr.test"
    subprocess.run(["go", "test", "-c", "-o", str(program), "./engine/csr"], cwd=ROOT, check=True)
    return program


def run(program: Path, folder: Path) -> Figures:
    """One round of the Go benchmark on one thread."""
    command = [
        str(program),
        "-test.run=^$",
        "-test.bench=^Benchmark(Times|Transposed|Gram|Pack)",
        "-test.benchtime=100x",
        "-test.cpu=1",
        "-threads=1",
    ]
    done = subprocess.run([*command, f"-matrix={folder}"], cwd=folder, check=True, capture_output=True, text=True)
    return parse(done.stdout)


def parse(text: str) -> Figures:
    """The figures in the output of a Go benchmark."""
    figures = {(name, kind): float(value) for name, kind, value in LINE.findall(text)}
    if not figures:
        raise RuntimeError(f"no benchmark figures in the output: {text[:500]}")
    return figures


def scipy_figures(X: sp.csr_matrix, calls: int = 100) -> Figures:
    """The same products by scipy. "float32 x float64" is a float32 matrix times a float64 vector, which is what the
    engine computes; "float32" has float32 vectors and sums."""
    X = sp.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)
    small = X.astype(np.float32)
    p, q = np.random.default_rng(0).normal(size=X.shape[1]), np.random.default_rng(1).normal(size=X.shape[0])
    figures: Figures = {}
    for kind, rows, vector in (
        ("float64", X, np.float64),
        ("float32", small, np.float32),
        ("float32 x float64", small, np.float64),
    ):
        figures["Times", kind] = _per_non_zero(X, calls, _product(rows, p.astype(vector)))
        figures["Transposed", kind] = _per_non_zero(X, calls, _product(rows.T, q.astype(vector)))
    return figures


def _product(rows: sp.spmatrix, vector: np.ndarray) -> Callable[[], np.ndarray]:
    return lambda: rows @ vector


def _per_non_zero(X: sp.csr_matrix, calls: int, call: Callable[[], object]) -> float:
    return seconds_per_call(call, calls) * 1e9 / X.nnz


def _ratio(report, name, kind, peer, product, ours, theirs, bound) -> None:
    """How many times faster; the median over rounds of the ratio inside a round."""
    ratios = [t[product, peer] / o[product, kind] for o, t in zip(ours, theirs, strict=True)]
    mine, other = (np.median([r[product, k] for r in figures]) for figures, k in ((ours, kind), (theirs, peer)))
    what, note = f"products: {name} {kind}, scipy {peer} / ours", f"{other:.2f} / {mine:.2f} ns per non-zero"
    if bound is None:
        report.fact(what, float(np.median(ratios)), note=note, values=ratios)
    else:
        report.at_least(what, float(np.median(ratios)), bound, note=note, values=ratios)
