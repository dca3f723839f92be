"""What a newcomer would try first, on the same tasks: quality, seconds and memory. The table and the picture of
docs/comparison.md.

    FEWLABEL_DATA=... python -m benchmarks.run --only peers
    python -m benchmarks.peers bench-results/peers.json docs/comparison.md     writes the table into the page

Labeled are some rows of every class (equal) or as many rows drawn at random ("random"). Macro F on the test over all
classes. Every fit has a process of its own, in which a small fit came before; memory is the peak above the input.

scikit-learn's estimators stand twice: with their defaults and with the settings that `--only peers_choice` found on
draws from 100 on. fewlabel has its defaults. Label spreading needs `kernel="knn"`: the default is an n x n matrix.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC

from benchmarks import corpora, memory
from benchmarks.learners import quietly
from benchmarks.report import Report
from benchmarks.quality import draw
from benchmarks.tasks import Task

SETS = {"newsgroups20": "20 Newsgroups", "reuters_r8": "R8"}
LABELS, WAYS = (5, 20, 80), ("equal", "random")
DRAWS = 3
FIRST_CHOICE, CHOICE_DRAWS, CHOICE_LABELS = 100, 1, 20  # draws and labels a class that settings are chosen on
ROUNDS = 10  # of self-training with `k_best`
PREFIX = "peers, "
LOAD = "load"
BUSY = 1.0  # programs that wait for a processor before the first fit
TABLE = re.compile(r"(<!-- table: python -m benchmarks.peers -->\n).*?(<!-- end of table -->)", re.DOTALL)

Make = Callable[[int], Any]  # an estimator, of the number of unlabeled rows


# ------------------------------------------------------------------ tools
def linear_svc(**settings: Any) -> Make:
    """It sees the labeled rows only."""
    return lambda n: LinearSVC(**settings)


def self_training(base: Any, **settings: Any) -> Make:
    """Labels for rows whose class is certain enough."""
    return lambda n: SelfTrainingClassifier(base, **settings)


def self_training_by_rank(base: Any) -> Make:
    """In ten rounds the most certain tenth of the rows gets labels: no threshold on probabilities."""
    return lambda n: SelfTrainingClassifier(base, criterion="k_best", k_best=max(1, -(-n // ROUNDS)), max_iter=ROUNDS)


def label_spreading(**settings: Any) -> Make:
    """Over the graph of nearest neighbors."""
    return lambda n: LabelSpreading(kernel="knn", **settings)


def _ours(n: int) -> Any:
    from fewlabel import TransductiveSVC

    return TransductiveSVC()


def _logistic(alpha: float) -> SGDClassifier:
    """As in scikit-learn's example of self-training on texts; other solvers need minutes for 20 classes."""
    return SGDClassifier(loss="log_loss", alpha=alpha, random_state=0)


OURS = "TransductiveSVC"
DEFAULTS: dict[str, Make] = {
    "LinearSVC": linear_svc(),
    "SelfTraining, naive Bayes": self_training(MultinomialNB()),
    "SelfTraining, logistic regression": self_training(LogisticRegression(max_iter=1000)),
    "LabelSpreading": label_spreading(),
    OURS: _ours,
}
CANDIDATES: dict[str, dict[str, Make]] = {
    "LinearSVC": {f"C={C:g}": linear_svc(C=C) for C in (0.1, 1, 10, 100)},
    "SelfTraining, naive Bayes": {
        **{
            f"alpha={a:g}, threshold={t:g}": self_training(MultinomialNB(alpha=a), threshold=t)
            for a in (0.001, 0.003, 0.01, 0.1)
            for t in (0.5, 0.75, 0.95)
        },
        **{f"alpha={a:g}, k_best": self_training_by_rank(MultinomialNB(alpha=a)) for a in (0.001, 0.01, 0.1)},
    },
    "LabelSpreading": {
        f"n_neighbors={n}, alpha={a:g}": label_spreading(n_neighbors=n, alpha=a, max_iter=100)
        for n in (10, 20, 50, 100)
        for a in (0.05, 0.2, 0.8)
    },
    "SelfTraining, logistic regression": {
        **{
            f"SGD, alpha=1e-5, threshold={t:g}": self_training(_logistic(1e-5), threshold=t)
            for t in (0.3, 0.4, 0.6, 0.75, 0.9)
        },
        **{f"SGD, alpha={a:g}, k_best": self_training_by_rank(_logistic(a)) for a in (1e-5, 1e-4)},
    },
}
CHOSEN = {  # the setting of each tool that `peers_choice` found
    "LinearSVC": "C=100",
    "SelfTraining, naive Bayes": "alpha=0.003, threshold=0.75",
    "SelfTraining, logistic regression": "SGD, alpha=1e-5, threshold=0.3",
    "LabelSpreading": "n_neighbors=50, alpha=0.2",
}
TOOLS = [*((tool, "") for tool in DEFAULTS), *CHOSEN.items()]  # with the setting; "" is as it comes


def named(tool: str, setting: str) -> str:
    """A tool with its setting."""
    return f"{tool}; {setting}" if setting else tool


NAMES = [named(*tool) for tool in TOOLS]


class Measured(NamedTuple):
    """Of one fit."""

    macro_f: float
    seconds: float
    processor: float  # seconds of all threads
    megabytes: float


# ------------------------------------------------------------------ sections
def peers(report: Report, draws: int = DRAWS) -> None:
    """Every tool on every set, number of labels and way to choose them; means over the draws."""
    report.keep(PREFIX + LOAD, "before", os.getloadavg()[0])
    for name in SETS:
        data = corpora.SETS[name]()
        for k in LABELS:
            for way in WAYS:
                tasks = [draw(data, k, way, seed) for seed in range(draws)]
                for tool, setting in TOOLS:
                    found = [measured(tool, setting, task) for task in tasks]
                    mean = Measured(*np.mean(found, axis=0))
                    note = f"{mean.seconds:.2f} s ({mean.processor:.2f} s of processors), {mean.megabytes:.0f} MB"
                    what = f"{data.name}, {k} a class, {way}: {named(tool, setting)}"
                    report.fact(what, mean.macro_f, "", note, values=[one.macro_f for one in found])
                    report.keep(f"{PREFIX}{name} {way} {k}", named(tool, setting), [list(one) for one in found])
    report.keep(PREFIX + LOAD, "draws", draws)


def peers_choice(report: Report, draws: int = CHOICE_DRAWS) -> None:
    """The mean of every candidate over sets and ways to label, on other draws than those of the comparison."""
    tasks = [
        draw(data, CHOICE_LABELS, way, seed)
        for data in (corpora.SETS[name]() for name in SETS)
        for way in WAYS
        for seed in range(FIRST_CHOICE, FIRST_CHOICE + draws)
    ]
    for tool, candidates in CANDIDATES.items():
        means = {}
        for setting in candidates:
            values = [measured(tool, setting, task).macro_f for task in tasks]
            means[setting] = float(np.mean(values))
            report.fact(named(tool, setting), means[setting], values=values)
        report.fact(f"chosen: {tool}", max(means.values()), note=max(means, key=means.__getitem__))


SECTIONS = (peers,)
CHOICES = (peers_choice,)


# ------------------------------------------------------------------ one fit
def measured(tool: str, setting: str, task: Task) -> Measured:
    """Fit in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure, (tool, setting, task))


def _measure(tool: str, setting: str, task: Task) -> Measured:
    make = CANDIDATES[tool][setting] if setting else DEFAULTS[tool]
    labeled = ~task.unlabeled
    some = np.concatenate([np.flatnonzero(labeled)[:200], np.flatnonzero(task.unlabeled)[:200]])
    _fit(make, task.X[some], task.given[some])
    memory.settle()
    memory.forget_peak()
    before = memory.resident("VmRSS")
    start, processor = time.perf_counter(), time.process_time()
    estimator = _fit(make, task.X, task.given)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    peak = memory.resident("VmHWM") - before
    X_test, truth = task.test()
    macro_f = f1_score(truth, estimator.predict(X_test), labels=np.arange(len(task.classes)), average="macro")
    return Measured(float(macro_f), seconds, processor, peak / memory.MB)


def _fit(make: Make, X: Any, y: np.ndarray) -> Any:
    estimator = make(int(np.sum(y < 0)))
    if isinstance(estimator, LinearSVC):
        X, y = X[y >= 0], y[y >= 0]
    return quietly(estimator, X, y)


# ------------------------------------------------------------------ the page
def table(found: dict[str, Any], machine: dict[str, str]) -> str:
    """The table of docs/comparison.md from the values that `peers` kept."""
    columns = [f"{k} a class" for k in LABELS] + [f"{k}, at random" for k in LABELS]
    heads = ["", *columns, "seconds", "processor", "MB"]
    lines = []
    for name, title in SETS.items():
        lines += [f"**{title}**", "", f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
        scores = {tool: [macro_f(found, name, way, k, tool) for way in WAYS for k in LABELS] for tool in NAMES}
        best = np.max(list(scores.values()), axis=0)
        for tool in NAMES:
            shown = [_cell(f, top) for f, top in zip(scores[tool], best, strict=True)]
            seconds, processor, megabytes = _costs(found, name, tool)
            cost = [f"{seconds:.1f}", f"{processor:.1f}", f"{megabytes:.0f}"]
            lines.append(f"| {' | '.join([tool, *shown, *cost])} |")
        lines.append("")
    return "\n".join([*lines, _conditions(found, machine), ""])


def macro_f(found: dict[str, Any], name: str, way: str, k: int, tool: str) -> float:
    """Mean over the draws; NaN for a cell with too few unlabeled rows."""
    fits = found.get(f"{PREFIX}{name} {way} {k}", {}).get(tool, [])
    return float(np.mean([fit[0] for fit in fits])) if fits else float("nan")


def _cell(value: float, best: float) -> str:
    if np.isnan(value):
        return "–"
    return f"**{value:.3f}**" if value == best else f"{value:.3f}"


def _costs(found: dict[str, Any], name: str, tool: str) -> np.ndarray:
    """Medians over all fits of a tool on a set: seconds, seconds of processors, MB."""
    fits = [fit[1:] for cell, tools in found.items() if cell.startswith(f"{PREFIX}{name} ") for fit in tools[tool]]
    return np.median(fits, axis=0)


def _conditions(found: dict[str, Any], machine: dict[str, str]) -> str:
    load = found[PREFIX + LOAD]
    draws = "one draw" if load["draws"] == 1 else f"means of {load['draws']} draws"
    busy = ""
    if load["before"] > BUSY:
        busy = f" **The machine was busy with other work (load {load['before']:.1f}): the seconds are too large, those "
        busy += "of processors less so.**"
    versions = f"{machine['cores']} cores, {machine['processor']}, scikit-learn {machine['scikit-learn']}"
    what = "seconds, seconds of processors and MB above the input are medians over the fits of a row"
    return f"Macro F on the test rows, {draws}; {what}. {versions}.{busy}"


def main(arguments: list[str] | None = None) -> int:
    """The program."""
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description="Write the table into the page.")
    parser.add_argument("found", type=Path, help="the JSON file of `benchmarks.run --only peers`")
    parser.add_argument("page", type=Path, help="docs/comparison.md")
    chosen = parser.parse_args(arguments)
    content = json.loads(chosen.found.read_text(encoding="utf-8"))
    page, made = chosen.page.read_text(encoding="utf-8"), table(content["data"], content["machine"])
    written, n = TABLE.subn(lambda place: place[1] + "\n" + made + "\n" + place[2], page)
    if n != 1:
        parser.error(f"{chosen.page} must have one place for the table, it has {n}")
    chosen.page.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
