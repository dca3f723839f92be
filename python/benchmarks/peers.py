"""The tools that a stranger would try, each as it comes: quality, seconds and memory of the same tasks.

Labeled are some rows of every class ("picked") or as many rows drawn at random ("drawn"). Macro F on the test over all
classes. Every fit has a process of its own, in which a small fit came before; memory is the peak above the input.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC

from benchmarks import corpora, memory
from benchmarks.learners import quietly
from benchmarks.report import Report
from benchmarks.safe_default import LABELS, WAYS, few_labels
from benchmarks.tasks import Task

SETS = ("newsgroups20", "reuters_r8")
DRAWS = 3
OURS = "TransductiveSVC"


def _ours() -> Any:
    from fewlabel import TransductiveSVC

    return TransductiveSVC()


TOOLS: dict[str, Callable[[], Any]] = {
    "LinearSVC": LinearSVC,
    "SelfTrainingClassifier, logistic regression": lambda: SelfTrainingClassifier(LogisticRegression(max_iter=1000)),
    "SelfTrainingClassifier, naive Bayes": lambda: SelfTrainingClassifier(MultinomialNB()),
    "LabelSpreading, 10 neighbors": lambda: LabelSpreading(kernel="knn", n_neighbors=10),
    OURS: _ours,
}


class Measured(NamedTuple):
    """Of one fit."""

    macro_f: float
    seconds: float
    megabytes: float


def tools(report: Report, draws: int = DRAWS) -> None:
    """Every tool on every set, number of labels and way to choose them; means over the draws."""
    for name in SETS:
        data = corpora.SETS[name]()
        for k in LABELS:
            for way in WAYS:
                tasks = [task for seed in range(draws) if (task := few_labels(data, k, way, seed))]
                for tool in TOOLS if tasks else ():
                    found = [measured(tool, task) for task in tasks]
                    mean = Measured(*np.mean(found, axis=0))
                    note = f"{mean.seconds:.2f} s, {mean.megabytes:.0f} MB, {tasks[0].n_labels} labels"
                    what = f"{data.name}, {k} a class, {way}: {tool}"
                    report.fact(what, mean.macro_f, "", note, values=[one.macro_f for one in found])
                    report.keep(f"peers {name} {way}", f"{tool} {k}", list(mean))


SECTIONS = (tools,)


# ------------------------------------------------------------------ one fit
def measured(tool: str, task: Task) -> Measured:
    """Fit in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure, (tool, task))


def _measure(tool: str, task: Task) -> Measured:
    labeled = ~task.unlabeled
    some = np.concatenate([np.flatnonzero(labeled)[:200], np.flatnonzero(task.unlabeled)[:200]])
    _fit(tool, task.X[some], task.given[some])
    memory.settle()
    memory.forget_peak()
    before = memory.resident("VmRSS")
    start = time.perf_counter()
    estimator = _fit(tool, task.X, task.given)
    seconds = time.perf_counter() - start
    peak = memory.resident("VmHWM") - before
    X_test, truth = task.test()
    macro_f = f1_score(truth, estimator.predict(X_test), labels=np.arange(len(task.classes)), average="macro")
    return Measured(float(macro_f), seconds, peak / memory.MB)


def _fit(tool: str, X: Any, y: np.ndarray) -> Any:
    estimator = TOOLS[tool]()
    if tool == "LinearSVC":
        X, y = X[y >= 0], y[y >= 0]
    return quietly(estimator, X, y)
