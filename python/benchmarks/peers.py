"""What a newcomer would try first, on the same tasks: quality, seconds and memory. The table of docs/comparison.md.

Every fit has a process of its own, in which a small fit came before; memory is the peak above the input. scikit-learn's
estimators stand twice: with their defaults and with the settings that were best on draws from 100 on, 20 labels a
class, both sets and ways to draw. Tried were LinearSVC with C of 0.1 to 100; self-training with naive Bayes (alpha
0.001 to 0.1, thresholds 0.5 to 0.95 or ten rounds of the most certain tenth), with logistic regression by SGD
(thresholds 0.3 to 0.9, or rounds); label spreading with 10 to 100 neighbors and alpha 0.05 to 0.8. fewlabel has its
defaults. Label spreading needs `kernel="knn"`: its default is an n x n matrix.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC

from benchmarks import data, drawing, measure, quality
from benchmarks.drawing import Task

SETS = {"newsgroups20": "20 Newsgroups", "reuters_r8": "R8"}
LABELS, SAMPLINGS = (5, 20, 80), ("equal", "random")
PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"
PLACE = re.compile(rf"### {SETS['newsgroups20']}\n.*?(?=^## )", re.DOTALL | re.MULTILINE)


def tools() -> dict[str, Any]:
    """Each tool, as it comes and with its better setting."""
    from fewlabel import TransductiveSVC

    sgd = SGDClassifier(loss="log_loss", alpha=1e-5, random_state=0)
    return {
        "LinearSVC": LinearSVC(),
        "SelfTraining, naive Bayes": SelfTrainingClassifier(MultinomialNB()),
        "SelfTraining, logistic regression": SelfTrainingClassifier(LogisticRegression(max_iter=1000)),
        "LabelSpreading": LabelSpreading(kernel="knn"),
        "TransductiveSVC": TransductiveSVC(),
        "LinearSVC with C=100": LinearSVC(C=100),
        "SelfTraining, naive Bayes with alpha=0.003": SelfTrainingClassifier(
            MultinomialNB(alpha=0.003), threshold=0.75
        ),
        "SelfTraining, SGD with alpha=1e-5, threshold=0.3": SelfTrainingClassifier(sgd, threshold=0.3),
        "LabelSpreading with n_neighbors=50, alpha=0.2": LabelSpreading("knn", n_neighbors=50, alpha=0.2, max_iter=100),
    }


def fit(name: str, task: Task) -> dict[str, float]:
    """What a tool makes of a task, in a process of its own."""
    labeled, tool = ~task.unlabeled, tools()[name]
    kept = labeled if isinstance(tool, LinearSVC) else np.full(len(labeled), True)
    some = np.concatenate([np.flatnonzero(labeled)[:200], np.flatnonzero(kept & ~labeled)[:200]])
    measure.quietly(tools()[name], task.X[some], task.given[some])
    rows, given = task.X[kept], task.given[kept]
    cost, _ = measure.cost(lambda: measure.quietly(tool, rows, given))
    F = quality.scores(task, tool.predict(task.X_test))["F"]
    return {"F": F, "seconds": cost.seconds, "processor": cost.processor, "MB": cost.peak / measure.MB}


def measured(draws: int, labels: list[int], names: list[str]) -> pd.DataFrame:
    """A line for each fit."""
    lines = []
    for name in SETS:
        rows = data.SETS[name]()
        for k, sampling, seed in np.ndindex(len(labels), len(SAMPLINGS), draws):
            task = drawing.draw(rows, labels[k], SAMPLINGS[sampling], seed)
            for tool in names:
                lines.append({"set": name, "labels": labels[k], "sampling": SAMPLINGS[sampling], "tool": tool})
                lines[-1] |= measure.in_fresh_process(fit, tool, task)
                print(*lines[-1].values(), flush=True)
    return pd.DataFrame(lines)


def table(found: pd.DataFrame) -> str:
    """The page's table: means of F, medians of the costs."""
    text = []
    for name, title in SETS.items():
        own = found[found["set"] == name]
        F = own.pivot_table(index="tool", columns=["sampling", "labels"], values="F", sort=False)
        F = F[sorted(F.columns)]
        costs = own.groupby("tool", sort=False)[["processor", "MB"]].median()
        heads = [f"{k} a class" if way == "equal" else f"{k}, at random" for way, k in F.columns]
        text += [f"### {title}", "", f"| | {' | '.join([*heads, *costs])} |", "|---|" + "---:|" * (len(heads) + 2)]
        best = F.max()
        for tool, row in F.iterrows():
            cells = [f"**{v:.3f}**" if v == best[cell] else f"{v:.3f}" for cell, v in row.items()]
            cells += [f"{costs.loc[tool, 'processor']:.1f}", f"{costs.loc[tool, 'MB']:.0f}"]
            text.append(f"| {tool} | {' | '.join(cells)} |")
        text.append("")
    what = "Macro F on the test rows, means over the draws; processor seconds and MB above the input, medians"
    return "\n".join([*text, f"{what} over the fits of a row. {measure.machine()}.", ""])


def main(arguments: list[str]) -> int:
    """The program."""
    parser = argparse.ArgumentParser(prog="benchmarks peers", description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--labels", type=lambda text: [int(k) for k in text.split(",")], default=list(LABELS))
    parser.add_argument("--tools", nargs="+", default=[*tools()])
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, help="write the table into docs/comparison.md")
    chosen = parser.parse_args(arguments)
    found = measured(chosen.draws, chosen.labels, chosen.tools)
    found.to_csv(data.ignored_folder(data.RESULTS) / "peers.csv", index=False)
    print(made := table(found))
    if chosen.page:
        text = chosen.page.read_text(encoding="utf-8")
        chosen.page.write_text(PLACE.sub(lambda _: f"{made}\n", text), encoding="utf-8")
    return 0
