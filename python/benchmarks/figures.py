"""The pictures of README.md and docs/, drawn from what other benchmarks found.

    python -m benchmarks quality --sets comp,newsgroups20 --sampling random --draws 2 --labels 2,5,10,20,40,80 \\
        --learners default,true,LinearSVC --output bench-results/few-labels.csv
    python -m benchmarks peers --page
    python -m benchmarks figures [NAME ...]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from benchmarks import data

FOLDER = Path(__file__).parents[2] / "docs" / "figures"
QUESTIONS = {"comp": "Computers or not?", "newsgroups20": "Which of 20 groups?"}
LEARNERS = {  # name in the legend, color, marker
    "true": ("TransductiveSVC with the class shares given", "#009e73", "s"),
    "default": ("TransductiveSVC()", "#0072b2", "D"),
    "LinearSVC": ("LinearSVC on the labeled rows", "#777777", "o"),
}
TOOLS = {  # in peers.csv, with the better setting
    "LinearSVC; C=100": ("#777777", "o"),
    "SelfTraining, naive Bayes; alpha=0.003": ("#d98c00", "s"),
    "SelfTraining, SGD; alpha=1e-5, threshold=0.3": ("#cc79a7", "v"),
    "LabelSpreading; n_neighbors=50, alpha=0.2": ("#009e73", "^"),
    "TransductiveSVC": ("#0072b2", "D"),
}
# Text stays text and carries no date, so that a figure changes only where its numbers do.
SETTINGS = {"svg.hashsalt": "fewlabel", "svg.fonttype": "none", "font.family": "sans-serif"} | {
    "font.sans-serif": ["Arial", "Helvetica", "DejaVu Sans"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
}


def lines(
    panel: plt.Axes, found: pd.DataFrame, title: str, looks: dict[str, tuple[str, str, str]], column: str
) -> None:
    """Means over the draws against the number of labels, a line for each learner."""
    for name, (word, color, marker) in looks.items():
        means = found[found[column] == name].groupby("labels")["F"].mean()
        panel.plot(means.index, means, marker=marker, markersize=4, color=color, label=word)
    panel.set(xscale="log", xlabel="labels a class")
    panel.set_title(title, fontsize=10)
    numbers = sorted(found["labels"].unique())
    panel.set_xticks(numbers, map(str, numbers), fontsize=8)
    panel.set_xticks([], minor=True)
    panel.grid(axis="y", alpha=0.3)


def few_labels() -> plt.Figure:
    """Macro F against the number of labels."""
    found = pd.read_csv(data.RESULTS / "few-labels.csv")
    figure, axes = plt.subplots(1, len(QUESTIONS), figsize=(8.4, 3.6), layout="constrained")
    for panel, (name, title) in zip(axes, QUESTIONS.items(), strict=True):
        lines(panel, found[found["set"] == name], title, LEARNERS, "learner")
    return with_legend(figure, axes)


def comparison() -> plt.Figure:
    """Macro F against the number of labels: every tool with its better setting on the page."""
    found = pd.read_csv(data.RESULTS / "peers.csv")
    figure, axes = plt.subplots(1, 4, figsize=(8.4, 3.6), layout="constrained", sharey=True)
    looks = {tool: (tool.partition(";")[0], *look) for tool, look in TOOLS.items()}
    for panel, ((name, sampling), cell) in zip(axes, found.groupby(["set", "sampling"]), strict=True):
        lines(panel, cell, f"{name},\n{sampling}", looks, "tool")
    return with_legend(figure, axes)


def with_legend(figure: plt.Figure, axes: Any) -> plt.Figure:
    """The figure with one legend below."""
    axes[0].set_ylabel("macro F")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)
    return figure


def curves() -> plt.Figure:
    """Two moons, with a label each, and ten digits, the only ones that have a label; by rows and by the graph."""
    from fewlabel import KernelFeatures, TransductiveSVC

    figure = plt.figure(figsize=(8.4, 2.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(3, 1))
    svc = TransductiveSVC(n_jobs=1)
    models = {"TransductiveSVC": svc, "KernelFeatures": make_pipeline(KernelFeatures(), svc)}
    X, moon = make_moons(200, noise=0.06, random_state=0)
    y = np.where(np.isin(np.arange(200), [np.argmax(X[:, 1]), np.argmin(X[:, 1])]), moon, -1)
    for panel, (name, model) in zip(left.subplots(1, 2, sharey=True), models.items(), strict=True):
        found = model.fit(X, y).predict(X)
        panel.scatter(*X.T, c=np.where(found == 1, "#0072b2", "#d98c00"), s=8)
        panel.scatter(*X[y >= 0].T, c="black", s=120, marker="*")
        panel.set(title=f"{name}: {np.mean(found == moon):.0%}", aspect="equal", xticks=[], yticks=[])
    pixels, digit = load_digits(return_X_y=True)
    labeled = np.array([np.flatnonzero(digit == c)[0] for c in range(10)])
    y = np.where(np.isin(np.arange(len(digit)), labeled), digit, -1)
    fitted = {name: model.fit(normalize(pixels), y).predict(normalize(pixels)) for name, model in models.items()}
    right.suptitle("\n".join(f"{name}: {np.mean((f == digit)[y < 0]):.0%}" for name, f in fitted.items()), fontsize=10)
    for row, panel in zip(pixels[labeled], right.subplots(2, 5).flat, strict=True):
        panel.imshow(row.reshape(8, 8), cmap="gray_r", interpolation="nearest")
        panel.axis("off")
    return figure


FIGURES = {"few-labels": few_labels, "comparison": comparison, "curves": curves}


def main(arguments: list[str]) -> int:
    """The program."""
    parser = argparse.ArgumentParser(prog="benchmarks figures", description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help=f"of {', '.join(FIGURES)}; all if there is none")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    chosen = parser.parse_args(arguments)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(SETTINGS):
        for name in chosen.name or FIGURES:
            path = chosen.folder / f"{name}.svg"
            FIGURES[name]().savefig(path, metadata={"Date": None})
            print(path)
    return 0
