"""A row of weight k and the row k times: the same fit, by every method, on planted and on real rows.

Whole weights 1 to 3, at random; the objective of the fit with weights against that of the fit of the copies. The paths
are not convex, so that a difference that is more than rounding ends in another minimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from benchmarks import corpora, tasks
from benchmarks.learners import quietly
from benchmarks.report import Report
from benchmarks.tasks import DataSet, Task, mask_labels

PLANTED = 10  # draws of two classes, and of four
DRAWS = 3  # of each real set
ROWS = 1000  # of each real set
PER_CLASS = 4
SAME = 1e-6  # relative difference of objectives

SETS: tuple[Callable[[], DataSet], ...] = (
    lambda: corpora.comp_set("(rest)"),
    lambda: corpora.rcv1("GCAT"),
    lambda: tasks.data_set("PC / Mac", *corpora.cached("pcmac", corpora._pcmac_rows)),
    corpora.reuters_r8,
    corpora.newsgroups20,
    corpora.newsgroups20_tree,
    corpora.ohsumed,
    corpora.k1b,
    corpora.fbis,
    corpora.mnist,
)


class Way(NamedTuple):
    """A method of one of the estimators."""

    name: str
    make: Callable[..., Any]
    settings: dict[str, Any]
    classes: int = 1000  # at most


def ways() -> tuple[Way, ...]:
    """All methods, and losses that have a path of their own."""
    from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC

    svc, logistic = TransductiveSVC, SemiSupervisedLogisticRegression
    return (
        *(Way(f"{m}", svc, {"method": m}) for m in ("annealing", "switching")),
        Way("annealing, shares of the labels", svc, {"class_prior": "labels"}),
        Way("pair_switching", svc, {"method": "pair_switching"}, 2),
        Way("switching, crammer_singer", svc, {"method": "switching", "loss": "crammer_singer"}, 4),
        *(
            Way(f"{m}, maxent", logistic, {"method": m})
            for m in ("annealing", "switching", "entropy", "expectation", "posterior")
        ),
    )


def planted(classes: int, seed: int, rows: int = 400, per_class: int = PER_CLASS) -> Task:
    """Rows that draw about half of their 14 words from their class, the others from any."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % classes)
    own = rng.random((rows, 14)) < 0.5
    words = np.where(own, 40 * y[:, None] + rng.integers(0, 40, own.shape), rng.integers(0, 40 * classes, own.shape))
    X = sp.csr_matrix((np.ones(words.size), words.ravel(), np.arange(0, words.size + 1, 14)), (rows, 40 * classes))
    labeled = np.concatenate([np.flatnonzero(y == c)[:per_class] for c in range(classes)])
    return Task(f"planted, {classes} classes #{seed}", normalize(X), y, mask_labels(y, labeled), np.arange(classes))


def real(make: Callable[[], DataSet], seed: int) -> Task:
    """Some rows of a set with as many labels of each class."""
    data = tasks.some_rows(make(), ROWS, (seed, 2))
    kept = np.flatnonzero(np.bincount(data.y, minlength=len(data.classes)) > PER_CLASS)
    data = tasks.part(data, np.isin(data.y, kept))
    y = np.searchsorted(kept, data.y)
    labeled = np.concatenate([np.flatnonzero(y == c)[:PER_CLASS] for c in range(len(kept))])
    return Task(f"{data.name} #{seed}", data.X, y, mask_labels(y, labeled), data.classes[kept])


def problems() -> Iterable[Task]:
    """20 planted and 30 real ones."""
    yield from (planted(classes, seed) for seed in range(PLANTED) for classes in (2, 4))
    yield from (real(make, seed) for make in SETS for seed in range(DRAWS))


def objective(way: Way, task: Task, rows: np.ndarray, factor: float = 1, **more: Any) -> float:
    """Of the fit of these rows, times a factor."""
    model = way.make(n_jobs=1, **way.settings)
    return quietly(model, factor * task.X[rows], task.given[rows], **more).objective_


def weights_and_copies(report: Report) -> None:
    """Every problem by every method; the problems that differ are named. As a control the copies times 3, which is the
    same problem by other roundings."""
    given = [(task, np.random.default_rng(5).integers(1, 4, len(task.y))) for task in problems()]
    for way in ways():
        some = [(t, w, np.repeat(np.arange(len(w)), w)) for t, w in given if len(t.classes) <= way.classes]
        copied = np.array([objective(way, t, again) for t, _, again in some])
        weighted = [objective(way, t, np.arange(len(w)), sample_weight=w) for t, w, _ in some]
        control = [objective(way, t, again, 3) for t, _, again in some]
        apart, rounding = weighted / copied - 1, control / copied - 1
        differ = np.abs(apart) > SAME
        named = "; ".join(f"{some[k][0].name} {apart[k]:+.1e}" for k in np.flatnonzero(differ))
        note = f"of {len(some)}, times 3 {np.sum(np.abs(rounding) > SAME)}; the others by at most"
        note = f"{note} {np.max(np.abs(apart[~differ]), initial=0):.0e}. {named}".rstrip()
        report.fact(f"copies, {way.name}: problems that differ", int(differ.sum()), note=note, values=apart.tolist())


SECTIONS = (weights_and_copies,)
