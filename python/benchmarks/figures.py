"""The pictures of docs/."""

from __future__ import annotations

import argparse
import functools
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

FOLDER = Path(__file__).parents[2] / "docs" / "figures"
# Text stays text and carries no date, so that a figure changes only where its numbers do.
SETTINGS = {"svg.hashsalt": "fewlabel", "svg.fonttype": "none", "font.family": "sans-serif"} | {
    "font.sans-serif": ["Arial", "Helvetica", "DejaVu Sans"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
}


def models() -> dict[str, Any]:
    """Fits by the rows and by the graph."""
    from fewlabel import KernelFeatures, TransductiveSVC

    svc = TransductiveSVC(n_jobs=1)
    return {"TransductiveSVC": svc, "KernelFeatures": make_pipeline(KernelFeatures(), svc)}


def moons(name: str) -> plt.Figure:
    """Two moons with a label each, the stars, by one of the models."""
    X, moon = make_moons(200, noise=0.06, random_state=0)
    y = np.where(np.isin(np.arange(200), [np.argmax(X[:, 1]), np.argmin(X[:, 1])]), moon, -1)
    found = models()[name].fit(X, y).predict(X)
    figure, panel = plt.subplots(figsize=(2.75, 2.0), layout="constrained")
    panel.scatter(*X.T, c=np.where(found == 1, "#0072b2", "#d98c00"), s=8)
    panel.scatter(*X[y >= 0].T, c="black", s=120, marker="*")
    panel.set(title=f"{name}: {np.mean(found == moon):.0%}", aspect="equal", xticks=[], yticks=[])
    return figure


def digits() -> plt.Figure:
    """Ten digits, the only ones that have a label."""
    pixels, digit = load_digits(return_X_y=True)
    labeled = np.array([np.flatnonzero(digit == c)[0] for c in range(10)])
    y = np.where(np.isin(np.arange(len(digit)), labeled), digit, -1)
    fitted = {name: model.fit(normalize(pixels), y).predict(normalize(pixels)) for name, model in models().items()}
    figure, panels = plt.subplots(2, 5, figsize=(2.3, 2.0), layout="constrained")
    figure.suptitle("\n".join(f"{name}: {np.mean((f == digit)[y < 0]):.0%}" for name, f in fitted.items()), fontsize=10)
    for row, panel in zip(pixels[labeled], panels.flat, strict=True):
        panel.imshow(row.reshape(8, 8), cmap="gray_r", interpolation="nearest")
        panel.axis("off")
    return figure


FIGURES = {
    "moons_by_rows": functools.partial(moons, "TransductiveSVC"),
    "moons_by_graph": functools.partial(moons, "KernelFeatures"),
    "digits": digits,
}


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
