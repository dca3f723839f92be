"""The class prior: estimated where the labels have as many rows of each class, and what the estimate is worth.

A hundred labels, equal numbers a class; L1 distances to the true shares of the unlabeled rows, macro F on a test.
Where the true shares are nearly equal, as those of RCV1 CCAT, there is next to nothing to gain and the way from the
label shares to the true prior is a ratio of small numbers: its note has the gain with its standard error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import corpora, learners, tasks
from benchmarks.report import Report, standard_error
from benchmarks.tasks import DataSet, Task

DRAWS = 10
LABELS = 100
MOST_ROWS = 16_000  # of a set, a quarter of them the test
DISTANCE = 0.35  # of the distance of the label shares, at most
CONFIDENCE = 0.9  # of the interval
WAY = 0.8  # from the macro F with label shares to that with the true prior, at least


def equal_labels(data: DataSet, n_labels: int, seed: int) -> Task:
    """The task with equally many labels of each class; what is left over goes to classes drawn at random."""
    rng = np.random.default_rng((seed, 2))
    test = tasks.split(data, rng)
    y, K = data.y[~test], len(data.classes)
    wanted = np.full(K, n_labels // K)
    wanted[rng.permutation(K)[: n_labels - wanted.sum()]] += 1
    labeled = np.concatenate([own[:n] for own, n in zip(tasks.by_class(y, rng), wanted, strict=True)])
    return tasks.task_of(data, f"{n_labels} equal labels #{seed}", test, labeled)


def uneven_newsgroups(seed: int) -> DataSet:
    """20 Newsgroups with one class whole, half of another, a third of a third, and so on, in random order."""
    data, rng = corpora.newsgroups20(), np.random.default_rng((seed, 3))
    members = list(tasks.by_class(data.y, rng))
    ranks = rng.permutation(len(members)) + 1
    kept = np.concatenate([rows[: len(rows) // rank] for rows, rank in zip(members, ranks, strict=True)])
    return replace(tasks.part(data, np.sort(kept)), name="20 Newsgroups, uneven")


def rcv1(topic: str, seed: int) -> DataSet:
    """RCV1, a topic against the rest, some of the rows."""
    return tasks.some_rows(corpora.rcv1(topic), MOST_ROWS, (seed, 4))


def _measure(report: Report, make: Callable[[int], DataSet], draws: int) -> None:
    from fewlabel import estimate_class_prior

    sets = [make(seed) for seed in range(draws)]
    name, K = sets[0].name, len(sets[0].classes)
    labels, found, inside = [], [], []
    ours: dict[str, list[float]] = {"label shares": [], "estimate": [], "true prior": []}
    for seed, data in enumerate(sets):
        task = equal_labels(data, LABELS, seed)
        labels.append(_distance(np.bincount(task.given[~task.unlabeled], minlength=K) / task.n_labels, task))
        estimated = learners.transductive(task, class_prior="auto")
        found.append(_distance(estimated.estimator.class_prior_, task))
        inside.append(_inside(estimate_class_prior(task.X, task.given, confidence_level=CONFIDENCE), task))
        ours["label shares"].append(learners.transductive(task, class_prior="labels").macro_f)
        ours["estimate"].append(estimated.macro_f)
        ours["true prior"].append(learners.transductive(task).macro_f)
    report.fact(f"{name}: L1 distance of the label shares", np.mean(labels), values=labels)
    what, note = "L1 distance of the estimate / of the label shares", f"{np.mean(found):.3f} of {np.mean(labels):.3f}"
    report.at_most(f"{name}: {what}", np.mean(found) / np.mean(labels), DISTANCE, note=note, values=found)
    what = f"{name}: true shares inside the {CONFIDENCE:.0%} interval"
    report.fact(what, np.mean(inside), note=f"of {draws} draws, {K} shares each", values=inside)
    for what, values in ours.items():
        report.fact(f"{name}: macro F with the {what}", np.mean(values), values=values)
    low, middle, high = (np.array(values) for values in ours.values())
    way = np.mean(middle - low) / np.mean(high - low)
    note = f"of {np.mean(high - low):.3f} to gain, standard error {standard_error(high - low):.3f}"
    report.at_least(f"{name}: way from label shares to true prior", way, WAY, note=note)


def _distance(shares: np.ndarray, task: Task) -> float:
    return float(np.abs(shares - task.shares).sum())


def _inside(found: Any, task: Task) -> float:
    """The part of the true shares that lie in their interval."""
    return float(np.mean((found.lower <= task.shares) & (task.shares <= found.upper)))


# ------------------------------------------------------------------ sections
def prior_r8(report: Report, draws: int = DRAWS) -> None:
    """Reuters R8, of which half of the rows are one class."""
    _measure(report, lambda seed: corpora.reuters_r8(), draws)


def prior_ccat(report: Report, draws: int = DRAWS) -> None:
    """RCV1, CCAT against the rest."""
    _measure(report, lambda seed: rcv1("CCAT", seed), draws)


def prior_gcat(report: Report, draws: int = DRAWS) -> None:
    """RCV1, GCAT against the rest."""
    _measure(report, lambda seed: rcv1("GCAT", seed), draws)


def prior_newsgroups(report: Report, draws: int = DRAWS) -> None:
    """20 Newsgroups, twenty classes of very different size."""
    _measure(report, uneven_newsgroups, draws)


SECTIONS = (prior_r8, prior_ccat, prior_gcat, prior_newsgroups)
