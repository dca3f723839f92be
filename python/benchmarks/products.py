"""Nanoseconds per non-zero of `X p` and `X' q`: the engine (by its Go benchmark) against scipy.sparse, one thread.

The engine works on packed rows: features renumbered by frequency, once in a fit. The products of the rows as the caller
has them are shown as well. All figures are processor time, so that other programs on the machine disturb them less.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks import corpora
from benchmarks.report import Report
from benchmarks.timing import seconds_per_call

ROOT = Path(__file__).parents[2]
NAMES = {"Times": "X p", "Transposed": "X' q"}
COMPARED = (("float64packed", "float64", 1.3), ("float32packed", "float32", 1.6), ("float64", "float64", None))

Figures = dict[str, float]  # product/type of the values -> nanoseconds


def products(report: Report, rounds: int = 7) -> None:
    """The rows of the products, on the rows of 20 Newsgroups; engine and scipy take turns."""
    X = corpora.comp(0).X
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder, X)
        program = build(folder)
        pattern = "^Benchmark(Times|Transposed|Gram|Pack)$"
        for _ in range(rounds):
            ours.append(parse(run(program, pattern, 100, f"-matrix={folder}"), "cpu-ns/nz"))
            theirs.append(scipy_figures(X))
    for product, name in NAMES.items():
        for kind, peer, bound in COMPARED:
            mine, other = ([found[f"{product}/{k}"] for found in all_] for k, all_ in ((kind, ours), (peer, theirs)))
            ratios = np.array(other) / mine
            what, value = f"products: {name} {kind}, scipy {peer} / ours", float(np.median(ratios))
            note = f"{np.median(other):.2f} / {np.median(mine):.2f} ns per non-zero"
            report.at_least(what, value, bound, note=note, values=ratios)
    both = np.median([sum(r[f"{p}/float64packed"] for p in NAMES) for r in ours])
    gram = np.median([r["Gram/float64packed"] for r in ours])
    report.fact("products: X' D X p together, ns per non-zero", gram, note=f"the two products: {both:.2f}")
    report.fact("products: packing the rows, once in a fit, ns per non-zero", np.median([r["Pack"] for r in ours]))


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


def run(program: Path, pattern: str, times: int, *options: str) -> str:
    """One round of a Go benchmark on one thread."""
    command = [str(program), "-test.run=^$", f"-test.bench={pattern}", f"-test.benchtime={times}x", "-test.cpu=1"]
    command += ["-threads=1", *options]
    return subprocess.run(command, cwd=program.parent, check=True, capture_output=True, text=True).stdout


def parse(text: str, unit: str) -> Figures:
    """The figures of this unit in the output of a Go benchmark."""
    line = re.compile(rf"^Benchmark(\S+?)(?:-\d+)?\s.*?\s([\d.e+-]+) {unit}\b", re.MULTILINE)
    figures = {name: float(value) for name, value in line.findall(text)}
    if not figures:
        raise RuntimeError(f"no benchmark figures in {unit} in the output: {text[:500]}")
    return figures


def scipy_figures(X: sp.csr_matrix, calls: int = 100) -> Figures:
    """The same products by scipy, of rows of either type with vectors of float64, as the engine computes them."""
    p, q = np.random.default_rng(0).normal(size=X.shape[1]), np.random.default_rng(1).normal(size=X.shape[0])
    figures: Figures = {}
    for kind in ("float64", "float32"):
        rows = X.astype(kind)
        figures[f"Times/{kind}"] = seconds_per_call(lambda m=rows: m @ p, calls) * 1e9 / X.nnz
        figures[f"Transposed/{kind}"] = seconds_per_call(lambda m=rows.T: m @ q, calls) * 1e9 / X.nnz
    return figures
