"""Pictures of a report: the course of the objective, errors with bars, the cost of a row, learning curves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.report import Report

SIZE = (7.0, 4.2)
LEARNING = {"macro F": "learning-curves.png", "F of the first class": "figure5.svg"}  # measure -> picture


def write(report: Report, folder: Path, where: str) -> list[Path]:
    """Draw what the report has; gives the paths."""
    return [path for draw in (_objective, _errors, _cost, _learning) for path in draw(report, folder, where)]


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


def _learning(report: Report, folder: Path, where: str) -> Iterator[Path]:
    """One panel a data set: a measure against labels, bars of one standard error, a line for all labels."""
    for measure, picture in LEARNING.items():
        sets = {task: methods for task, methods in report.curves.items() if measure in methods.get("all labels", ())}
        if sets:
            yield _save(_panels(sets, measure), folder / picture, where)


def _panels(sets: dict[str, dict[str, dict[str, list[float]]]], measure: str) -> plt.Figure:
    columns = min(3, len(sets))
    rows = -(-len(sets) // columns)
    shape = (4.2 * columns, 3.3 * rows + 0.4)
    figure, axes = plt.subplots(rows, columns, figsize=shape, layout="constrained", squeeze=False)
    for panel, (task, methods) in zip(axes.flat, sets.items(), strict=False):
        _learning_panel(panel, task, methods, measure)
    for panel in axes.flat[len(sets) :]:
        panel.set_axis_off()
    handles, names = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), fontsize=8)
    return figure


def _learning_panel(panel: plt.Axes, task: str, methods: dict[str, dict[str, list[float]]], measure: str) -> None:
    for method, columns in methods.items():
        if method == "all labels":
            panel.axhline(columns[measure][0], color="gray", linestyle="--", label=method)
        else:
            panel.errorbar(
                columns["labels"], columns[measure], columns["standard error"], marker=".", capsize=2, label=method
            )
    panel.set(xscale="log", xlabel="labels", ylabel=measure, title=task)
    ticks = methods["supervised"]["labels"] if "supervised" in methods else []
    panel.set_xticks(ticks, [f"{n:.0f}" for n in ticks], fontsize=7)
    panel.set_xticks([], minor=True)
    panel.grid(alpha=0.3)


def _save(figure: plt.Figure, path: Path, where: str) -> Path:
    figure.supxlabel(where, fontsize=7, color="gray")
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return path


def _slug(text: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in text.lower()).strip("-")
