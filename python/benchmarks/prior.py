"""The class prior: estimated where the labels have as many rows of each class, and what the estimate is worth.

A hundred labels, equal numbers a class; L1 distances to the true shares of the unlabeled rows, macro F on a test.
Where the true shares are nearly equal, as those of RCV1 CCAT, there is next to nothing to gain and the way from the
label shares to the true prior is a ratio of small numbers: its note has the gain with its standard error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import class_learners as learners
from benchmarks import class_tasks
from benchmarks.class_tasks import ClassSet, ClassTask
from benchmarks.corpora import cached, mask_labels, rcv1_rows
from benchmarks.report import Report

DRAWS = 10
OVERLAPPING_DRAWS = 24
LABELS = 100
MOST_ROWS = 16_000  # of a set, a quarter of them the test
DISTANCE = 0.35  # of the distance of the label shares, at most
CONFIDENCE = 0.9  # of the interval
WAY = 0.8  # from the macro F with label shares to that with the true prior, at least


def equal_labels(data: ClassSet, n_labels: int, seed: int) -> ClassTask:
    """The task with equally many labels of each class; what is left over goes to classes drawn at random."""
    rng = np.random.default_rng((seed, 2))
    test = class_tasks.held_out(data.y, rng) if data.train is None else ~data.train
    X, y, K = data.X[~test], data.y[~test], len(data.classes)
    wanted = np.full(K, n_labels // K)
    wanted[rng.permutation(K)[: n_labels - wanted.sum()]] += 1
    labeled = np.concatenate([own[:n] for own, n in zip(class_tasks.by_class(y, rng), wanted, strict=True)])
    name = f"{data.name}, {n_labels} equal labels #{seed}"
    given = mask_labels(y, labeled)
    return ClassTask(name, X, y, given, data.classes, data.X[test], data.y[test], data.hierarchy)


def part(data: ClassSet, kept: np.ndarray) -> ClassSet:
    """Some rows of a set."""
    return ClassSet(data.name, data.X[kept], data.y[kept], data.classes)


def uneven_newsgroups(seed: int) -> ClassSet:
    """20 Newsgroups with one class whole, half of another, a third of a third, and so on, in random order."""
    data, rng = class_tasks.newsgroups20(), np.random.default_rng((seed, 3))
    members = list(class_tasks.by_class(data.y, rng))
    ranks = rng.permutation(len(members)) + 1
    kept = np.concatenate([rows[: len(rows) // rank] for rows, rank in zip(members, ranks, strict=True)])
    return part(ClassSet("20 Newsgroups, uneven", data.X, data.y, data.classes), np.sort(kept))


def rcv1(topic: str, seed: int) -> ClassSet:
    """RCV1, a topic against the rest, some of the rows."""
    X, y = cached(topic.lower(), lambda: rcv1_rows(topic))
    kept = np.sort(np.random.default_rng((seed, 4)).choice(len(y), MOST_ROWS, replace=False))
    return ClassSet(f"RCV1 {topic}", X[kept], y[kept], np.array(["(rest)", topic]))


def _measure(report: Report, make: Callable[[int], ClassSet]) -> None:
    from fewlabel import estimate_class_prior

    tasks = [equal_labels(make(seed), LABELS, seed) for seed in range(DRAWS)]
    name = tasks[0].name.partition(",")[0] if "uneven" not in tasks[0].name else "20 Newsgroups, uneven"
    labels, found, inside = [], [], []
    ours: dict[str, list[float]] = {"label shares": [], "estimate": [], "true prior": []}
    for task in tasks:
        given = task.given[~task.unlabeled]
        shares = np.bincount(given, minlength=len(task.classes)) / len(given)
        estimated = learners.transductive(task, class_prior="auto")
        labels.append(_distance(shares, task))
        found.append(_distance(estimated.estimator.class_prior_, task))
        inside.append(_inside(estimate_class_prior(task.X, task.given, confidence_level=CONFIDENCE), task))
        ours["label shares"].append(learners.transductive(task, class_prior="labels").macro_f)
        ours["estimate"].append(estimated.macro_f)
        ours["true prior"].append(learners.transductive(task).macro_f)
    report.fact(f"{name}: L1 distance of the label shares", np.mean(labels), values=labels)
    ratio = np.mean(found) / np.mean(labels)
    note = f"{np.mean(found):.3f} of {np.mean(labels):.3f}"
    report.at_most(
        f"{name}: L1 distance of the estimate / of the label shares", ratio, DISTANCE, note=note, values=found
    )
    what = f"{name}: true shares inside the {CONFIDENCE:.0%} interval"
    report.fact(what, np.mean(inside), note=f"of {len(inside)} draws, {len(task.classes)} shares each", values=inside)
    _way(report, name, ours)


def _way(report: Report, name: str, ours: dict[str, list[float]]) -> None:
    """The part of what the true prior gains that the estimate gains."""
    for what, values in ours.items():
        report.fact(f"{name}: macro F with the {what}", np.mean(values), values=values)
    low, middle, high = (np.array(values) for values in ours.values())
    way = np.mean(middle - low) / np.mean(high - low)
    error = np.std(high - low, ddof=1) / np.sqrt(len(low)) if len(low) > 1 else np.nan
    note = f"of {np.mean(high - low):.3f} to gain, standard error {error:.3f}"
    report.at_least(f"{name}: way from label shares to true prior", way, WAY, note=note)


def _distance(shares: np.ndarray, task: ClassTask) -> float:
    return float(np.abs(shares - task.shares).sum())


def _inside(found: Any, task: ClassTask) -> float:
    """The part of the true shares that lie in their interval."""
    return float(np.mean((found.lower <= task.shares) & (task.shares <= found.upper)))


# ------------------------------------------------------------------ sections
def prior_r8(report: Report) -> None:
    """Reuters R8, of which half of the rows are one class."""
    _measure(report, lambda seed: class_tasks.reuters_r8())


def prior_ccat(report: Report) -> None:
    """RCV1, CCAT against the rest."""
    _measure(report, lambda seed: rcv1("CCAT", seed))


def prior_gcat(report: Report) -> None:
    """RCV1, GCAT against the rest."""
    _measure(report, lambda seed: rcv1("GCAT", seed))


def prior_newsgroups(report: Report) -> None:
    """20 Newsgroups, twenty classes of very different size."""
    _measure(report, uneven_newsgroups)


def prior_overlapping(report: Report) -> None:
    """Planted classes that overlap, one of them rare, and labels drawn at random: does a class draw all rows to it?"""
    for labels in 50, 150:
        for apart in 0.3, 0.6, 1.0, 2.0:
            drawn = [_overlapping(apart, labels, seed) for seed in range(OVERLAPPING_DRAWS)]
            of_labels, found = np.array([distances for distances in drawn if distances]).T
            what = f"overlapping classes {apart:g} apart, {labels} random labels: L1 distance of the"
            report.fact(f"{what} label shares", np.mean(of_labels), values=of_labels)
            report.fact(f"{what} estimate", np.mean(found), note=f"at most {np.max(found):.3f}", values=found)


def _overlapping(apart: float, labels: int, seed: int) -> tuple[float, float] | None:
    """Distances of the label shares and of the estimate; None if a class has no label. A class is a standard
    normal distribution in ten dimensions, with its centre on an axis of its own."""
    from fewlabel import TransductiveSVC

    rng = np.random.default_rng((seed, labels))
    truth = rng.choice(3, 2000, p=(0.6, 0.3, 0.1))
    X = rng.normal(size=(2000, 10))
    X[np.arange(2000), truth] += apart
    given, hidden = (np.bincount(part, minlength=3) for part in (truth[:labels], truth[labels:]))
    if not given.all():
        return None
    model = TransductiveSVC().fit(X, np.where(np.arange(2000) < labels, truth, -1))
    true = hidden / hidden.sum()
    return float(np.abs(given / labels - true).sum()), float(np.abs(model.class_prior_ - true).sum())


SECTIONS = (prior_r8, prior_ccat, prior_gcat, prior_newsgroups, prior_overlapping)
