"""Pictures of a report: the course of the objective, errors with bars, the cost of a row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.report import Report

SIZE = (7.0, 4.2)


def write(report: Report, folder: Path, where: str) -> list[Path]:
    """Draw what the report has; gives the paths."""
    return [path for draw in (_objective, _errors, _cost) for path in draw(report, folder, where)]


def _objective(report: Report, folder: Path, where: str) -> Iterator[Path]:
    for task, methods in report.curves.items():
        if not all("objective" in columns for columns in methods.values()):
            continue
        figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
        for method, columns in methods.items():
            axes.plot(columns["passes"], columns["objective"], marker=".", label=method)
        axes.set(xlabel="passes over the data", ylabel="objective", title=f"{task}: course of the objective")
        axes.legend()
        yield _save(figure, folder / f"objective-{_slug(task)}.png", where)


def _errors(report: Report, folder: Path, where: str) -> Iterator[Path]:
    for task, learners in report.samples.items():
        figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
        names = list(learners)[::-1]
        mean = [np.mean(learners[name]) for name in names]
        low = [np.mean(learners[name]) - np.min(learners[name]) for name in names]
        high = [np.max(learners[name]) - np.mean(learners[name]) for name in names]
        axes.errorbar(mean, names, xerr=[low, high], fmt="o", capsize=3)
        axes.set(xlabel="error, percent: mean, smallest and largest over the draws", title=task, xlim=(0, None))
        axes.grid(axis="x", alpha=0.3)
        yield _save(figure, folder / f"errors-{_slug(task)}.png", where)


def _cost(report: Report, folder: Path, where: str) -> Iterator[Path]:
    columns = report.curves.get("large", {}).get("cost")
    if columns:
        figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
        axes.semilogx(columns["rows"], columns["ns"], marker="o")
        axes.set(xlabel="rows", ylabel="ns per non-zero and pass", title="cost of annealing", ylim=(0, None))
        yield _save(figure, folder / "cost-large.png", where)


def _save(figure: plt.Figure, path: Path, where: str) -> Path:
    figure.supxlabel(where, fontsize=7, color="gray")
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


def _slug(text: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in text.lower()).strip("-")
