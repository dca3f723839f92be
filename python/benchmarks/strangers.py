"""The default where nobody chose its constants: kinds of data of which a stranger's may be.

`large`: one class has 85, 90 or 95 % of the rows, labels are picked class by class. `few`: 1 to 160 unlabeled rows
beside 5 to 60 labels a class; every classifier beside its own supervised fit. `tables`: small tables of numbers.
`faint`: vectors that hardly show the classes. `many`: classes of sentence vectors, beside TIM. `named`: methods that
have a name, with the shares given. All other rows are the test, but for `few` and `many`, where it is the unlabeled
rows or the rows that are left. `lost` is the part of the draws that are more than .02 of macro F below the best peer,
`warned` of these the part that warned of the shares.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import LinearSVC

from benchmarks import data, drawing, heads, quality
from benchmarks.drawing import DataSet, Task
from benchmarks.measure import Report
from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel.datasets import load_scipy_docs

FAINT = ("irony", "offensive", "mr", "mpqa")
MANY = ("fewrel", "atis", "clusters", "minilm")
FEW = ("newsgroups20", "minilm", "agnews_minilm", "ohsumed", "comp")
LARGE = ("agnews_words", "agnews_minilm", "topics4", "reuters_r8", "mnist")  # their first three classes
MOST_ROWS = 3000  # of `large`
ONES: dict[str, Any] = {
    "default": TransductiveSVC(n_jobs=1),
    "supervised": TransductiveSVC(unlabeled_weight=0.0, n_jobs=1),
    "LinearSVC": LinearSVC(),
    "logistic regression": LogisticRegression(C=10, max_iter=1000),
    "the same, C = 1": LogisticRegression(max_iter=1000),
}
FOUR = dict(list(ONES.items())[:4])
HINGED, LOGISTIC = ("auto", *quality.METHODS[:4]), ("posterior", *quality.METHODS[4:6])
LOST = -0.02  # of macro F


# ------------------------------------------------------------------ tasks
def with_large(rows: DataSet, share: float, rng: np.random.Generator) -> DataSet:
    """Rows of the first three classes, most of them of the first."""
    first, *others = [one[:MOST_ROWS] for one in drawing.by_class(rows.y, rng)][:3]
    n = min(len(first) / share, *(len(one) * 2 / (1 - share) for one in others))
    kept = np.sort(np.concatenate([first[: int(n * share)], *(one[: int(n * (1 - share) / 2)] for one in others)]))
    name = f"{rows.name}, {share:.0%} one class"
    return replace(data.some_rows(rows, kept), name=name, classes=rows.classes[:3], train=None)


def docstrings() -> DataSet:
    """SciPy's docstrings of three packages, by words."""
    texts, names = load_scipy_docs(("signal", "stats", "special"))
    return data.data_set("docstrings", data.vectorize(texts), names)


def some_unlabeled(task: Task, n: int, rng: np.random.Generator) -> Task:
    """The task with so many unlabeled rows."""
    kept = np.sort(
        np.concatenate([np.flatnonzero(~task.unlabeled), rng.permutation(np.flatnonzero(task.unlabeled))[:n]])
    )
    return replace(task, X=task.X[kept], y=task.y[kept], given=task.given[kept])


# ------------------------------------------------------------------ measuring
def fit(task: Task, estimator: Any) -> dict[str, float]:
    """Macro F of one learner, and whether it warned of its shares."""
    supervised = not (hasattr(estimator, "unlabeled_weight") or isinstance(estimator, LabelSpreading))
    rows = ~task.unlabeled if supervised else np.full(len(task.y), True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if callable(estimator):
            predicted = estimator(task.X, task.given)[task.unlabeled]
        else:
            predicted = clone(estimator).fit(task.X[rows], task.given[rows]).predict(task.X_test)
    return {"F": f1_score(task.y_test, predicted, average="macro"),
            "warned": float(any("shares" in str(one.message) for one in caught))}  # fmt: skip


def measure(report: Report, tasks: Iterator[tuple[dict[str, Any], Task]], ones: dict[str, Any]) -> pd.DataFrame:
    """A line of the report for each cell, macro F of each learner; the table of the fits."""
    lines = []
    for cell, group in itertools.groupby(tasks, key=lambda one: one[0]):
        found = [cell | {"draw": draw, "learner": name} | fit(task, one)
                 for draw, (_, task) in enumerate(group) for name, one in ones.items()]  # fmt: skip
        table = pd.DataFrame(found).pivot(index="draw", columns="learner", values="F")
        lead = table["default"] - table.drop(columns="default").max(axis=1)
        note = ", ".join(f"{name} {table[name].mean():.3f}" for name in ones)
        report.add(", ".join(map(str, cell.values())), lead.to_numpy(), note=note)
        lines += found
    return pd.DataFrame(lines)


def summary(report: Report, found: pd.DataFrame, kind: str) -> None:
    """Of all cells of a kind: the lead in the mean of a cell, draws lost, those of them that warned."""
    draws = [one for one in found.columns if one not in ("learner", "F", "warned")]
    table = found.pivot(index=draws, columns="learner", values="F")
    means = table.groupby(level=draws[:-1]).mean()
    lead, best = table["default"] - table.drop(columns="default").max(axis=1), means.drop(columns="default").max(axis=1)
    warned = found[found["learner"] == "default"].set_index(draws)["warned"]
    lost = lead < LOST
    report.add(f"{kind}: mean of a cell - best peer's", (means["default"] - best).to_numpy(),
               note=f"below -.01 in {sum(means['default'] - best < -0.01)} of {len(means)}")  # fmt: skip
    report.add(f"{kind}: draws lost", lost.mean(), note=f"worst {lead.min():.3f}, warned of {warned[lost].mean():.2f}, "
               f"of the others {warned[~lost].mean():.2f}")  # fmt: skip


# ------------------------------------------------------------------ kinds
def large(report: Report, draws: int = 5) -> None:
    """One very large class."""

    def tasks() -> Iterator[tuple[dict[str, Any], Task]]:
        for name, share, k in itertools.product((*LARGE, "docstrings"), (0.85, 0.9, 0.95), (2, 5, 20)):
            rows = docstrings() if name == "docstrings" else data.SETS[name]()
            for draw in range(draws):
                some = with_large(rows, share, np.random.default_rng((draw, 9)))
                yield {"set": some.name, "labels": k}, drawing.draw(some, k, "equal", draw)

    found = measure(report, tasks(), FOUR)
    summary(report, found, "large")


def tables(report: Report, draws: int = 5) -> None:
    """Small tables of numbers."""

    def tasks() -> Iterator[tuple[dict[str, Any], Task]]:
        for name, k, draw in itertools.product(("iris", "wine", "cancer", "digits"), (2, 5, 20), range(draws)):
            yield {"set": name, "labels": k}, drawing.draw(data.SETS[name](), k, "equal", draw)

    spreading = {"LabelSpreading": LabelSpreading("knn", n_neighbors=10, alpha=0.2, max_iter=100)}
    summary(report, measure(report, tasks(), FOUR | spreading), "tables")


def faint(report: Report, draws: int = 5) -> None:
    """Vectors that hardly show the classes."""

    def tasks() -> Iterator[tuple[dict[str, Any], Task]]:
        ways = ((8, "equal"), (32, "equal"), (25, "random"))
        for name, (k, sampling), draw in itertools.product(FAINT, ways, range(draws)):
            yield {"set": name, "labels": k, "way": sampling}, drawing.draw(data.SETS[name](), k, sampling, draw)

    summary(report, measure(report, tasks(), ONES), "faint")


def many(report: Report, draws: int = 5) -> None:
    """Many classes of sentence vectors, whose unlabeled rows are the test."""

    def tasks() -> Iterator[tuple[dict[str, Any], Task]]:
        for rows, k, draw in itertools.product([data.SETS[name]() for name in MANY], (1, 5, 10), range(draws)):
            yield {"set": rows.name, "labels": k}, drawing.draw_shares(rows, k, draw)

    ones = {"default": ONES["default"], "TIM": heads.tim, "logistic regression": ONES["logistic regression"]}
    summary(report, measure(report, tasks(), ones), "many")


def few(report: Report, draws: int = 5) -> None:
    """Few unlabeled rows beside many labels: each classifier and method beside the supervised fit of its loss."""
    ones = {name: TransductiveSVC(method=name, n_jobs=1) for name in HINGED} | {
        name: SemiSupervisedLogisticRegression(method=name, n_jobs=1) for name in LOGISTIC} | {
        "logistic, default": SemiSupervisedLogisticRegression(n_jobs=1)}  # fmt: skip
    lines = []
    for name, k, draw in itertools.product(FEW, (5, 20, 60), range(draws)):
        task = drawing.draw(data.SETS[name](), k, "equal", draw)
        own = {kind: fit(task, kind(unlabeled_weight=0.0, n_jobs=1))["F"]
               for kind in (TransductiveSVC, SemiSupervisedLogisticRegression)}  # fmt: skip
        for n in (1, 10, 40, 160):
            small = some_unlabeled(task, n, np.random.default_rng((draw, n)))
            for learner, one in ones.items():
                lead = fit(small, one)["F"] - own[type(one)]
                lines.append({"set": name, "labels": k, "rows": n, "draw": draw, "learner": learner, "lead": lead})
    found = pd.DataFrame(lines)
    for (learner, n), lead in found.groupby(["learner", "rows"], sort=False)["lead"]:
        report.add(f"few: {learner}, {n} rows", lead.to_numpy(), note=f"worst {lead.min():.3f}")
    cells = found.groupby(["set", "labels", "rows", "learner"])["lead"].min()
    report.add(
        "few: worst draw of a cell - supervised", cells.min(), note=f"below {LOST} in {(cells < LOST).mean():.2f}"
    )


def named(report: Report, draws: int = 6) -> None:
    """Methods that a user names, with the true shares: half of 20 Newsgroups, five labels a class."""
    rows = data.SETS["newsgroups20"]()
    lines = []
    for draw in range(draws):
        half = np.random.default_rng((draw, 7)).random(len(rows.y)) < 0.5
        task = drawing.draw(replace(rows, train=half), 5, "equal", draw)
        own: dict[str, Any] = {"class_prior": task.shares, "n_jobs": 1}
        ones = {"squared hinge": TransductiveSVC(method="annealing", **own),
                "switching": TransductiveSVC(method="switching", **own),
                "maxent": SemiSupervisedLogisticRegression(calibrate=False, **own)}  # fmt: skip
        lines += [{"learner": name, "F": fit(task, one)["F"]} for name, one in ones.items()]
    for learner, found in pd.DataFrame(lines).groupby("learner", sort=False)["F"]:
        report.add(f"named: {learner}", found.to_numpy())


SECTIONS = (large, tables, faint, many, few, named)
