"""Labeling sessions: labels needed beside random labeling, when the hint says stop, what a round costs.

A session begins without labels and asks for ten rows at a time; the answers are the true classes. Beside it as many
labels are drawn at random. Both fit `TransductiveSVC()`; accuracies are those of the test rows. The rule that chooses
rows was chosen on 4,000 rows of the five sets, draws from 100 on.

`sessions`: ten rounds, up to fifteen where the session needs more. The goal is 90 % of the accuracy of `LinearSVC` with
all labels or, where random labeling does not reach that with 100 labels, what it reaches with them. Labels needed are
read from the mean curve of the draws, made monotone, with straight lines between its points.
`stopping`: thirty rounds. The curve is flat from the first round on after which the mean of three rounds rises by at
most .02 until the end; the hint should stop within 20 % of its labels.
`shares`: the largest error of the class shares that `fit` uses, after six rounds.
`rounds`: processor time of the next ten rows after a refit, from 140 labels on, and of a fit to the same labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks import data, drawing, measure
from benchmarks.drawing import DataSet, Task
from benchmarks.measure import Report
from fewlabel.preprocessing import text_vectorizer

FIVE = ("comp.graphics", "misc.forsale", "rec.autos", "sci.med", "talk.politics.mideast")
SETS: dict[str, Callable[[], DataSet]] = {
    "Reuters R8": data.SETS["reuters_r8"],
    "Ohsumed": data.SETS["ohsumed"],
    "20 Newsgroups, 5 classes": lambda: data.some_classes(data.newsgroups20(), *FIVE),
    "20 Newsgroups": data.SETS["newsgroups20"],
    "MiniLM": data.SETS["minilm"],
}
MOST_ROWS = 4_000  # of each set
BATCH = 10
ROUNDS = 10
MOST_ROUNDS = 15
GOAL = 0.9
RISE = 0.02  # of accuracy; less counts as flat
NEAR = 0.2


def pool(rows: DataSet, seed: int) -> Task:
    """At most `MOST_ROWS` training rows, none of them labeled, and a test."""
    test = drawing.split(rows, np.random.default_rng((seed, 0)))
    kept = np.flatnonzero(~test)[np.random.default_rng((seed, 5)).permutation(np.count_nonzero(~test))[:MOST_ROWS]]
    unlabeled = np.full(len(kept), drawing.UNLABELED)
    return Task(rows.name, rows.X[kept], rows.y[kept], unlabeled, rows.X[test], rows.y[test], rows.classes)


def accuracy(task: Task, model: Any) -> float:
    """Of the test rows."""
    return float(np.mean(model.predict(task.X_test) == task.y_test))


def learner() -> Any:
    """The classifier of a session."""
    from fewlabel import TransductiveSVC

    return TransductiveSVC(n_jobs=1)


# ------------------------------------------------------------------ sessions
def simulated(task: Task, seed: int, n_rounds: int) -> tuple[np.ndarray, list[Any]]:
    """Accuracy (n_rounds,) after each round, and the status at that time. Rows are in another order for each seed."""
    from fewlabel.labeling import Session

    order = np.random.default_rng((seed, 1)).permutation(len(task.y))
    session, truth = Session(task.X[order], learner()), task.y[order]
    found, statuses, rows = [], [], session.next(BATCH)
    for _ in range(n_rounds):
        for row in rows:
            session.label(row, truth[row])
        rows = session.next(BATCH)
        statuses.append(session.status())
        found.append(accuracy(task, session.fit()) if len(session.classes) > 1 else np.mean(task.y_test == truth[row]))
    return np.array(found), statuses


def random_curve(task: Task, seed: int, sizes: Sequence[int]) -> np.ndarray:
    """Accuracy with so many random labels, each of which include those before."""
    order = np.random.default_rng((seed, 2)).permutation(len(task.y))
    found = []
    for size in sizes:
        given = np.full(len(task.y), drawing.UNLABELED)
        given[order[:size]] = task.y[order[:size]]
        found.append(accuracy(task, measure.quietly(learner(), task.X, given)))
    return np.array(found)


def needed(curve: np.ndarray, sizes: Sequence[int], goal: float) -> float:
    """Labels with which a curve, made monotone, reaches the goal; NaN if it does not."""
    best = np.maximum.accumulate(curve)
    if best[-1] < goal:
        return np.nan
    k = int(np.argmax(best >= goal))
    if k == 0:
        return float(sizes[0])
    return float(sizes[k - 1] + (sizes[k] - sizes[k - 1]) * (goal - best[k - 1]) / (best[k] - best[k - 1]))


def sessions(report: Report, draws: int = 2) -> None:
    """Labels needed beside random labeling."""
    sizes = [BATCH * k for k in range(1, ROUNDS + 1)]
    ratios = []
    for name, make in SETS.items():
        tasks = [pool(make(), seed) for seed in range(draws)]
        chosen = np.mean([simulated(task, seed, MOST_ROUNDS)[0] for seed, task in enumerate(tasks)], axis=0)
        random = np.mean([random_curve(task, seed, sizes) for seed, task in enumerate(tasks)], axis=0)
        whole = np.mean([accuracy(task, LinearSVC().fit(task.X, task.y)) for task in tasks])
        goal = min(GOAL * whole, random.max())
        most = [BATCH * k for k in range(1, MOST_ROUNDS + 1)]
        ratios.append(needed(chosen, most, goal) / needed(random, sizes, goal))
        note = f"goal {goal:.3f}, all labels {whole:.3f}, with 50 and 100 labels: session {chosen[4]:.3f} "
        note += f"{chosen[9]:.3f}, random {random[4]:.3f} {random[9]:.3f}"
        report.add(f"{name}: labels needed / random labeling", ratios[-1], note=note, at_most=1)
    report.add("mean over the sets", ratios, at_most=0.6)


# ------------------------------------------------------------------ stopping
def flat_from(curve: np.ndarray) -> int:
    """Number of rounds after which the mean of three rounds rises by at most `RISE` until the end."""
    smooth = np.convolve(curve, np.ones(3) / 3, mode="valid")  # of the rounds k, k + 1, k + 2
    return int(np.argmax(smooth + RISE >= smooth.max())) + 1


def stopping(report: Report, draws: int = 1) -> None:
    """Where the hint stops, and where the curve is flat."""
    for name, make in SETS.items():
        for seed in range(draws):
            curve, statuses = simulated(pool(make(), seed), seed, 3 * ROUNDS)
            stops = [k for k, status in enumerate(statuses, 1) if status.stop]
            at, flat = stops[0] if stops else 3 * ROUNDS, flat_from(curve)
            inside = np.mean([s.lower <= a <= s.upper for s, a in zip(statuses[10:], curve[10:], strict=True)])
            note = f"flat from {BATCH * flat} labels, stop {'at' if stops else 'not before'} {BATCH * at}, accuracy "
            note += f"{curve[at - 1]:.3f}, best {curve.max():.3f}; in the interval of status: {inside:.0%} of rounds"
            report.add(f"{name}: labels at the stop / where flat", at / flat, note=note, at_least=1 - NEAR,
                       at_most=1 + NEAR)  # fmt: skip


# ------------------------------------------------------------------ shares
def shares(report: Report, draws: int = 2) -> None:
    """Errors of the class shares after 60 answers."""
    for name, make in SETS.items():
        errors = [share_errors(pool(make(), seed), seed) for seed in range(draws)]
        note = f"half of the sum of all errors {np.mean([each.sum() / 2 for each in errors]):.3f}"
        report.add(f"{name}: largest error of a share", [each.max() for each in errors], note=note, at_most=0.05)


def share_errors(task: Task, seed: int) -> np.ndarray:
    """Error of the share (n_classes,) of each class; classes without a label have the share 0."""
    from fewlabel.labeling import Session

    order = np.random.default_rng((seed, 1)).permutation(len(task.y))
    session, truth = Session(task.X[order], learner()), task.y[order]
    for _ in range(6):
        for row in session.next(BATCH):
            session.label(row, truth[row])
    model, errors = session.fit(), -np.bincount(truth, minlength=len(task.classes)) / len(truth)
    errors[model.classes_] += model.class_prior_
    return np.abs(errors)


# ------------------------------------------------------------------ cost
def rounds(report: Report, draws: int = 3) -> None:
    """A round of 20 classes from texts."""
    from fewlabel.labeling import Session

    texts, groups = data.loader().newsgroups20("all")
    messages, note = list(map(data.subject_and_body, texts)), "processor time, one thread"
    session = Session(messages, make_pipeline(text_vectorizer(), learner()))
    for row in session.next(BATCH * ROUNDS):
        session.label(row, groups[row])
    for row in session.next(3 * BATCH):  # those that are drawn; the first fit does not continue
        session.label(row, groups[row])
    spent, what = np.array([one_round(session, groups) for _ in range(draws)]), f"{len(texts):,} texts, 20 classes"
    report.add(f"a round, {what}", spent[:, 0], "s", note, at_most=0.3)
    report.add("a round / a fit of its own", spent[:, 0] / spent[:, 1], note=note, at_most=0.1)
    report.add("the choice of rows, part of a round", spent[:, 2], "s", note)


def one_round(session: Any, truth: Sequence[str]) -> tuple[float, float, float]:
    """Seconds of a refit with the choice of the next rows, of a fit to the same labels, and of the choice alone."""
    for row in session.next(BATCH):
        session.label(row, truth[row])
    both, choice = (measure.seconds(lambda: session.next(BATCH))[0] for _ in range(2))
    return both, measure.seconds(lambda: measure.quietly(learner(), session._learner.X, session.y))[0], choice


SECTIONS = (sessions, stopping, shares, rounds)
