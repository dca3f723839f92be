"""The pictures of README.md and docs/, drawn from what the benchmarks found. `make figures` runs all.

python -m benchmarks.figures bench-results/few.json bench-results/recipe.json bench-results/figure5.json \\
    bench-results/galaxy.json bench-results/aso_components.json bench-results/workers_simulated.json \\
    bench-results/peers.json docs/figures
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.preprocessing import normalize

from benchmarks import aso, dask_ranks, few_labels, figure5, kernels, peers, recipes, report
from fewlabel import KernelTransductiveSVC, TransductiveSVC

STYLES = {  # learner -> color, marker
    "labels only": ("#777777", "o"),
    "default": ("#0072b2", "D"),
    "shares given": ("#009e73", "s"),
    "switching": ("#d98c00", "s"),
    "annealing": ("#0072b2", "D"),
    "entropy": ("#009e73", "^"),
    "expectation": ("#cc79a7", "v"),
    "posterior": ("#d98c00", "s"),
    figure5.SUPERVISED: ("#777777", "o"),
    figure5.MOVED: ("#000000", "x"),
}
WORDS = {  # as the legends say it
    "labels only": "LinearSVC on the labeled rows",
    "default": "TransductiveSVC()",
    "shares given": "TransductiveSVC with the class shares given",
}
# Text stays text and carries no date, so that a figure changes only where its numbers do.
SETTINGS = {
    "svg.hashsalt": "fewlabel",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["Arial", "Helvetica", "DejaVu Sans"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
}


def _label_numbers(panel: plt.Axes, labels: list[float]) -> None:
    panel.set_xticks(labels, [f"{n:g}" for n in labels], fontsize=8)
    panel.set_xticks([], minor=True)
    panel.grid(axis="y", alpha=0.3)


def few(found: dict[str, Any]) -> plt.Figure:
    """Accuracy against the number of labels."""
    figure, axes = plt.subplots(1, len(few_labels.QUESTIONS), figsize=(8.4, 3.6), layout="constrained")
    for panel, question in zip(axes, few_labels.QUESTIONS, strict=True):
        curves = found[few_labels.PREFIX + question]
        every = curves["all labels"]
        panel.axhline(every["accuracy"][0], color="black", linestyle=":", label="LinearSVC with all labels")
        for learner, word in WORDS.items():
            color, marker = STYLES[learner]
            labels, accuracy = curves[learner]["labels"], curves[learner]["accuracy"]
            panel.plot(labels, accuracy, marker=marker, markersize=4, color=color, label=word)
        panel.set(xscale="log", title=f"{question.capitalize()}?", xlabel="labeled messages")
        _label_numbers(panel, every["labels"])
    axes[0].set_ylabel("accuracy, percent")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles[::-1], names[::-1], loc="outside lower center", ncols=2, frameon=False)
    return figure


def recipe(found: dict[str, Any]) -> plt.Figure:
    """Test error as the recipe grows, for each solver."""
    parts = list(recipes.PARTS)
    figure, axes = plt.subplots(1, len(recipes.QUESTIONS), figsize=(8.4, 3.4), layout="constrained", sharey=True)
    for panel, question in zip(axes, recipes.QUESTIONS, strict=True):
        for learner in recipes.LEARNERS:
            color, marker = STYLES[learner]
            samples = found[f"recipe, {question}, {learner}"]
            means = [np.mean(samples[part]) for part in parts]
            panel.plot(means, range(len(parts)), marker=marker, markersize=5, color=color, label=learner)
        panel.set(title=f"{question}?", xlabel="test error, percent", xlim=(0, None))
        panel.grid(axis="x", alpha=0.3)
    axes[0].set_yticks(range(len(parts)), parts)
    axes[0].invert_yaxis()
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    return figure


def methods(found: dict[str, Any]) -> plt.Figure:
    """F of the first class against the number of labels, for each method; bars of one standard error."""
    sets = {task: curves for task, curves in found.items() if figure5.MEASURE in curves.get("all labels", ())}
    figure, axes = plt.subplots(1, len(sets), figsize=(8.4, 3.8), layout="constrained", sharey=True)
    for panel, (task, curves) in zip(axes, sets.items(), strict=True):
        panel.axhline(curves["all labels"][figure5.MEASURE][0], color="black", linestyle=":", label="all labels")
        for method in figure5.METHODS:
            color, marker = STYLES[method]
            labels, values, error = (curves[method][c] for c in ("labels", figure5.MEASURE, "standard error"))
            panel.errorbar(labels, values, error, marker=marker, markersize=4, capsize=2, color=color, label=method)
        panel.set(xscale="log", title=task, xlabel="labels", ylim=(0, 1))
        _label_numbers(panel, labels)
    axes[0].set_ylabel(figure5.MEASURE)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    return figure


def galaxy(found: dict[str, Any]) -> plt.Figure:
    """Error of the tags against the number of labeled sequences; bars of one standard error."""
    figure, panel = plt.subplots(figsize=(4.6, 3.2), layout="constrained")
    for name, (color, marker) in {"RBF": STYLES["posterior"], "graph": STYLES["annealing"]}.items():
        errors = [np.array(found["galaxy"][f"{name}, {n}"]) for n in kernels.GALAXY_LABELED]
        bars = [report.standard_error(values) for values in errors]
        means = [values.mean() for values in errors]
        panel.errorbar(
            kernels.GALAXY_LABELED, means, bars, marker=marker, markersize=4, capsize=2, color=color, label=name
        )
    panel.set(xscale="log", xlabel="labeled sequences", ylabel="wrong tags, percent", ylim=(0, None))
    _label_numbers(panel, list(kernels.GALAXY_LABELED))
    panel.legend(frameon=False)
    return figure


def curves(_: dict[str, Any]) -> plt.Figure:
    """Two moons, with a label each, and ten digits, the only ones that have a label; by rows and by the graph."""
    figure = plt.figure(figsize=(8.4, 2.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(3, 1))
    models = {"TransductiveSVC": TransductiveSVC(n_jobs=1), "KernelTransductiveSVC": KernelTransductiveSVC(n_jobs=1)}
    X, moon = make_moons(200, noise=0.06, random_state=0)
    y = np.where(np.isin(np.arange(200), [np.argmax(X[:, 1]), np.argmin(X[:, 1])]), moon, -1)
    for panel, (name, model) in zip(left.subplots(1, 2, sharey=True), models.items(), strict=True):
        found = model.fit(X, y).transduction_
        panel.scatter(*X.T, c=np.where(found == 1, "#0072b2", "#d98c00"), s=8)
        panel.scatter(*X[y >= 0].T, c="black", s=120, marker="*")
        panel.set(title=f"{name}: {np.mean(found == moon):.0%}", aspect="equal", xticks=[], yticks=[])
    pixels, digit = load_digits(return_X_y=True)
    labeled = np.array([np.flatnonzero(digit == c)[0] for c in range(10)])
    y = np.where(np.isin(np.arange(len(digit)), labeled), digit, -1)
    right_rows = [f"{name}: {_share(model, normalize(pixels), y, digit):.0%}" for name, model in models.items()]
    for row, panel in zip(pixels[labeled], right.subplots(2, 5).flat, strict=True):
        panel.imshow(row.reshape(8, 8), cmap="gray_r", interpolation="nearest")
        panel.axis("off")
    right.suptitle("\n".join(right_rows), fontsize=10)
    return figure


def _share(model: Any, X: np.ndarray, y: np.ndarray, truth: np.ndarray) -> float:
    """Of the rows without a label, those that get theirs."""
    return float(np.mean((model.fit(X, y).transduction_ == truth)[y < 0]))


def components(found: dict[str, Any]) -> plt.Figure:
    """Accuracy against the number of components, for each number of labels."""
    figure, panel = plt.subplots(figsize=(5.4, 3.6), layout="constrained")
    curves = found[aso.COMPONENTS]
    for features, name, line in (("mask", "ASOTransformer", "-"), ("LSA", "SVD", ":")):
        means = np.array([np.mean(curves[f"{features}, {h}"], axis=0) for h in aso.NUMBERS])
        for k, (n, column) in enumerate(zip(aso.LABELS, means.T, strict=True)):
            panel.plot(
                aso.NUMBERS, column, line, marker="o", markersize=4, color=f"C{k}", label=f"{name}, {n:,} labels"
            )
    panel.set(xscale="log", xlabel="components", ylabel="accuracy, percent")
    _label_numbers(panel, list(aso.NUMBERS))
    figure.legend(loc="outside right center", frameon=False, fontsize=8)
    return figure


def workers(found: dict[str, Any]) -> plt.Figure:
    """Simulated: the share of their time that workers compute, as there are more of them and more rows."""
    figure, panel = plt.subplots(figsize=(5.4, 3.2), layout="constrained")
    for name, shares in found[dask_ranks.SIMULATED].items():
        color, marker = STYLES["annealing" if name.startswith("2 ") else "switching"]
        line = "-" if name.endswith("MPI") else ":"
        panel.plot(dask_ranks.COUNTS, shares, line, marker=marker, markersize=4, color=color, label=name)
    panel.set(xscale="log", xlabel="workers (simulated)", ylabel="efficiency (simulated)", ylim=(0, 1.02))
    _label_numbers(panel, list(dask_ranks.COUNTS))
    figure.legend(loc="outside right center", frameon=False, fontsize=8)
    return figure


def comparison(found: dict[str, Any]) -> plt.Figure:
    """Macro F against the number of labels of a class: every tool with its better setting on the page."""
    chosen = {tool: peers.named(tool, peers.CHOSEN.get(tool, "")) for tool in peers.DEFAULTS}
    looks = [("#777777", "o"), ("#d98c00", "s"), ("#cc79a7", "v"), ("#009e73", "^"), ("#0072b2", "D")]
    figure, axes = plt.subplots(1, 4, figsize=(8.4, 3.6), layout="constrained", sharey=True)
    cells = [(name, way) for name in peers.SETS for way in peers.WAYS]
    for panel, (name, way) in zip(axes, cells, strict=True):
        for (tool, setting), (color, marker) in zip(chosen.items(), looks, strict=True):
            means = [peers.macro_f(found, name, way, k, setting) for k in peers.LABELS]
            panel.plot(peers.LABELS, means, marker=marker, markersize=4, color=color, label=tool)
        chosen_how = "each class" if way == "equal" else "at random"
        panel.set(xscale="log", xlabel="labels a class")
        panel.set_title(f"{peers.SETS[name]},\n{chosen_how}", fontsize=10)
        _label_numbers(panel, list(peers.LABELS))
    axes[0].set_ylabel("macro F")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False)
    return figure


FIGURES: dict[str, Callable[[dict[str, Any]], plt.Figure]] = {
    "few-labels": few,
    "recipe": recipe,
    "methods": methods,
    "galaxy": galaxy,
    "curves": curves,
    "components": components,
    "workers": workers,
    "comparison": comparison,
}


def main(arguments: list[str] | None = None) -> int:
    """The program."""
    parser = argparse.ArgumentParser(prog="benchmarks.figures", description=__doc__.splitlines()[0])
    parser.add_argument(
        "found",
        type=Path,
        nargs="+",
        help="the JSON files of `benchmarks.run --only few`, `recipe`, `figure5`, `peers` and of `--section galaxy`, "
        "`aso_components`, `workers_simulated`",
    )
    parser.add_argument("--only", choices=FIGURES, help="one picture, from its own JSON file")
    parser.add_argument("folder", type=Path, help="where the pictures go")
    chosen = parser.parse_args(arguments)
    found: dict[str, Any] = {}
    for path in chosen.found:
        found |= json.loads(path.read_text(encoding="utf-8"))["data"]
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(SETTINGS):
        for name, draw in FIGURES.items() if chosen.only is None else [(chosen.only, FIGURES[chosen.only])]:
            path = chosen.folder / f"{name}.svg"
            draw(found).savefig(path, metadata={"Date": None})
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
