"""Which rows to label next: twenty more labels chosen by `rank_to_label`, against as many drawn at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks import corpora, learners, tasks
from benchmarks.report import Report, standard_error
from benchmarks.tasks import DataSet, Task

DRAWS = 6
LABELS, MORE = 40, 20


def labeled_too(task: Task, rows: np.ndarray) -> Task:
    """The task with the labels of these rows, too."""
    given = task.given.copy()
    given[rows] = task.y[rows]
    return replace(task, given=given)


def _measure(report: Report, data: DataSet, draws: int) -> None:
    from fewlabel.inspection import rank_to_label

    found: dict[str, list[float]] = {"40 labels": [], "20 more at random": [], "20 more by rank_to_label": []}
    for seed in range(draws):
        task = tasks.draw(data, LABELS, seed)
        begin = learners.transductive(task)
        unlabeled = np.flatnonzero(task.unlabeled)
        drawn = np.random.default_rng((seed, 5)).choice(unlabeled, MORE, replace=False)
        ranked = rank_to_label(begin.estimator, task.X, MORE, y=task.marked)
        outcomes = [begin, *(learners.transductive(labeled_too(task, rows)) for rows in (drawn, ranked))]
        for values, outcome in zip(found.values(), outcomes, strict=True):
            values.append(outcome.macro_f)
    for what, values in found.items():
        report.fact(f"{data.name}: macro F, {what}", np.mean(values), values=values)
    _, drawn_scores, ranked_scores = map(np.array, found.values())
    gains = ranked_scores - drawn_scores
    note = f"± {standard_error(gains):.3f}; better in {np.sum(gains > 0)} of {draws} draws"
    report.fact(f"{data.name}: macro F, rank_to_label - at random", gains.mean(), note=note, values=gains)


# ------------------------------------------------------------------ sections
def next_newsgroups(report: Report, draws: int = DRAWS) -> None:
    """20 Newsgroups, two labels a class on average."""
    _measure(report, corpora.newsgroups20(), draws)


def next_r8(report: Report, draws: int = DRAWS) -> None:
    """Reuters R8, five labels a class on average."""
    _measure(report, corpora.reuters_r8(), draws)


SECTIONS = (next_newsgroups, next_r8)
