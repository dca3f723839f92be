"""What a wrong class prior costs: held exactly, and worth half as many rows as there are labels (`prior_strength`).

`--only strength`. Of every other class, in a drawn order, 30 % more is told than its true share among the unlabeled
rows, of the others 30 % less. Macro F on a test, against that with the true shares.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks import class_learners as learners
from benchmarks import class_tasks
from benchmarks.class_tasks import ClassTask
from benchmarks.expectation import comp
from benchmarks.prior import equal_labels, rcv1
from benchmarks.report import Report

DRAWS = 5
WRONG = 0.3  # relative
HALF = 0.5  # of what the exact prior loses, at most
HELD = "wrong prior held exactly, macro F lost"
SOFT = "wrong prior worth half the labels, macro F lost"
LEARNERS = {"annealing": learners.transductive, "maxent annealing": learners.maxent}


def wrong_prior(task: ClassTask, seed: int) -> dict[str, float]:
    """The class prior with every other class above its share and the others below."""
    above = np.random.default_rng(seed).permutation(len(task.classes)) % 2 == 0
    told = task.shares * np.where(above, 1 + WRONG, 1 - WRONG)
    return dict(zip(task.classes.tolist(), (told / told.sum()).tolist(), strict=True))


def _measure(report: Report, labels: str, draw: Callable[[int], ClassTask]) -> None:
    drawn = [draw(seed) for seed in range(DRAWS)]
    told = [wrong_prior(task, seed) for seed, task in enumerate(drawn)]
    strength = drawn[0].n_labels / 2
    where = f"{drawn[0].name.rpartition(',')[0]}, {drawn[0].n_labels} {labels} labels"
    for name, learner in LEARNERS.items():
        settings = {"cross_fit": False}
        right = [learner(t, **settings).macro_f for t in drawn]
        sure = [learner(t, prior_strength=strength, **settings).macro_f for t in drawn]
        hard = [learner(t, class_prior=p, **settings).macro_f for t, p in zip(drawn, told, strict=True)]
        soft = [
            learner(t, class_prior=p, prior_strength=strength, **settings) for t, p in zip(drawn, told, strict=True)
        ]
        off = [float(np.abs(o.estimator.class_prior_ - t.shares).sum()) for o, t in zip(soft, drawn, strict=True)]
        report.fact(f"{where}: {name}, true prior, macro F", np.mean(right), values=right)
        lost = np.mean(right) - np.mean(sure)
        report.fact(f"{where}: {name}, true prior worth {strength:g} rows, macro F lost", lost, values=sure)
        lost_exactly = np.mean(right) - np.mean(hard)
        report.fact(f"{where}: {name}, {HELD}", lost_exactly, values=hard)
        report.at_most(
            f"{where}: {name}, {SOFT}",
            np.mean(right) - np.mean([o.macro_f for o in soft]),
            HALF * max(0.0, lost_exactly),
            note=f"shares off by {np.mean(off):.3f}, as told by {_off(told, drawn):.3f}",
            values=[o.macro_f for o in soft],
        )


def _off(told: list[dict[str, float]], drawn: list[ClassTask]) -> float:
    """Mean L1 distance of the shares told from the true ones."""
    return float(np.mean([np.abs(list(p.values()) - t.shares).sum() for p, t in zip(told, drawn, strict=True)]))


# ------------------------------------------------------------------ sections
def strength_comp(report: Report) -> None:
    """The five groups comp.* of 20 Newsgroups."""
    _measure(report, "random", lambda seed: class_tasks.draw(comp(), 50, seed))
    _measure(report, "equal", lambda seed: equal_labels(comp(), 50, seed))


def strength_r8(report: Report) -> None:
    """Reuters R8: shares from 0.7 to 52 %."""
    _measure(report, "random", lambda seed: class_tasks.draw(class_tasks.reuters_r8(), 40, seed))
    _measure(report, "equal", lambda seed: equal_labels(class_tasks.reuters_r8(), 40, seed))


def strength_rcv1(report: Report) -> None:
    """RCV1, GCAT and CCAT against the rest."""
    for topic in ("GCAT", "CCAT"):
        _measure(report, "random", lambda seed, topic=topic: class_tasks.draw(rcv1(topic, seed), 40, seed))
        _measure(report, "equal", lambda seed, topic=topic: equal_labels(rcv1(topic, seed), 40, seed))


def strength_newsgroups(report: Report) -> None:
    """20 Newsgroups, twenty classes."""
    _measure(report, "random", lambda seed: class_tasks.draw(class_tasks.newsgroups20(), 100, seed))


def strength_mean(report: Report) -> None:
    """The mean over all of the above that were measured."""
    held, soft = ([float(row.measured) for row in report.rows if row.what.endswith(e)] for e in (HELD, SOFT))
    if soft:
        bound = HALF * max(0.0, float(np.mean(held)))
        report.at_most("mean over data, labels and methods, macro F lost", np.mean(soft), bound, note=f"of {len(soft)}")


SECTIONS = (strength_comp, strength_r8, strength_rcv1, strength_newsgroups, strength_mean)
