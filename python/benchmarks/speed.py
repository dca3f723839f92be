"""Speed: passes over the data, time against supervised fits of the same rows, threads, products, memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import corpora, large, learners, memory, objective, timing
from benchmarks.learners import ALPHA, linear_svc, passes
from benchmarks.products import products
from benchmarks.methods_quality import CLASSES, PER_CLASS
from benchmarks.report import Report
from benchmarks.tasks import Task, half_unlabeled

METHODS = ("annealing", "switching")
PASSES = {"switching": (500, 2800), "annealing": (1000, 7000)}  # bound, SVMlin
RATIO = {"switching": 2.5, "annealing": 4.5}  # bound on the time in fits of LinearSVC
HEAVY = 8  # the same for annealing of CCAT where unlabeled rows weigh ten times as much
CLASS_RATIO = {"switching": 4, "annealing": 8}  # bound on the time in supervised fits of the same rows
TWICE = 1.6  # bound on how many times faster two threads are
FASTER = {1: 1.0, 2: 2.0}  # threads -> bound on the time of the faster peer in fits of ours
TOLERANCES = [10 ** (-k / 2) for k in range(17)]  # of the peers, 1 ... 1e-8
SLACK = 2.0  # a peer may end this many times as far from the optimum as we do


# ------------------------------------------------------------------ two classes
def passes_two_classes(report: Report) -> None:
    """Passes over the data on 20 Newsgroups: one product of X or X' with a vector, all rows, is one pass."""
    task = corpora.comp(0)
    for method, (bound, svmlin) in PASSES.items():
        found = learners.transductive(task, method=method)
        note = f"SVMlin about {svmlin}; {found.estimator.n_iter_} outer steps"
        report.at_most(f"passes over the data, comp.*: {method}", passes(found), bound, "", note)


def against_linear_svc(report: Report, rounds: int = 7) -> None:
    """Time in fits of LinearSVC with all labels of the same rows, by the faster of its two solvers; one thread each,
    taking turns."""
    fits = [(corpora.comp(0), m, 1.0, RATIO[m]) for m in METHODS] + [(corpora.ccat(0), "annealing", 10.0, HEAVY)]
    fits += [(make(0), m, 1.0, RATIO[m]) for make in (corpora.ccat, corpora.gcat, corpora.text1) for m in METHODS]
    for task, method, weight, bound in fits:
        calls = {
            "dual": lambda t=task: linear_svc(len(t.y), dual=True).fit(t.X, t.y),
            "primal": lambda t=task: linear_svc(len(t.y)).fit(t.X, t.y),
            "supervised": lambda t=task: learners.all_labels(t, n_jobs=1),
            method: lambda t=task, m=method, w=weight: learners.transductive(t, method=m, unlabeled_weight=w, n_jobs=1),
        }
        with threadpool_limits(1):
            seconds = timing.take_turns(calls, rounds)
        peer = min("dual", "primal", key=lambda name: float(np.median(seconds[name])))
        ratios, note = timing.ratio(seconds, method, peer), timing.note(seconds, method, peer, "supervised")
        weighs = "" if weight == 1 else f", unlabeled_weight {weight:g}"
        what = f"time, {task.name}: {method}{weighs} / LinearSVC with all labels"
        report.at_most(what, float(np.median(ratios)), bound, "", note, ratios)


def threads(report: Report, rounds: int = 7) -> None:
    """Two threads against one. A fit of comp.* takes a fifth of a second, of which reading the caller's arrays and the
    loops over rows keep their part; the larger corpus shows what the divided work gains. Other programs on the machine
    spoil these figures, so the note has the load before."""
    sets = ((corpora.comp(0), 1.0), (twenty_classes_task(), TWICE), (large.task(1_000_000), TWICE))
    for task, bound in sets:
        load = f"load before {os.getloadavg()[0]:.1f}"
        for method in METHODS:
            calls = {
                str(n): (lambda t=task, n=n, m=method: learners.transductive(t, method=m, n_jobs=n)) for n in (1, 2)
            }
            with threadpool_limits(1):
                seconds = timing.take_turns(calls, rounds)
            ratios, note = timing.ratio(seconds, "1", "2"), f"{timing.note(seconds, '1', '2')}; {load}"
            what, value = f"two threads, {task.name}: {method}, times faster", float(np.median(ratios))
            report.at_least(what, value, bound, "", note, ratios)


def peak_memory(report: Report) -> None:
    """Memory of a fit above its input, in a process of its own."""
    for method in METHODS:
        for make in (corpora.comp, corpora.ccat):
            memory.rows(report, f"memory, {make.__name__}: {method}", memory.of_task(make(0), {"method": method}))


# ------------------------------------------------------------------ many classes
def twenty_classes_task(tree: bool = False) -> Task:
    """The first draw of the quality benchmark."""
    return half_unlabeled(corpora.newsgroups20_tree() if tree else corpora.newsgroups20(), PER_CLASS, 0)


def class_passes_and_time(report: Report, rounds: int = 3) -> None:
    """Time in our own supervised fits with all labels of the same rows, one thread; passes over the data."""
    rows, found = twenty_classes_task(), {}

    def fit(method: str) -> learners.Outcome:
        how = {} if method == "supervised" else {"method": method}
        learner = learners.transductive if how else learners.all_labels
        found[method] = learner(rows, n_jobs=1, **how)
        return found[method]

    with threadpool_limits(1):
        calls = {method: (lambda m=method: fit(m)) for method in ("supervised", *CLASS_RATIO)}
        seconds = timing.take_turns(calls, rounds)
    for method, outcome in found.items():
        note = f"{outcome.estimator.n_iter_} outer steps"
        report.fact(f"{CLASSES}: {method}, passes", passes(outcome), note=note)
    for method, bound in CLASS_RATIO.items():
        ratios, note = timing.ratio(seconds, method, "supervised"), timing.note(seconds, method, "supervised")
        what = f"time, {CLASSES}: {method} / supervised with all labels"
        report.at_most(what, float(np.median(ratios)), bound, "", note, ratios)


def passes_of_trees_and_losses(report: Report) -> None:
    """Passes over the data of a class tree and of Crammer and Singer's loss, in those of flat classes with the squared
    hinge, on the same rows and labels."""
    flat, tree = twenty_classes_task(), twenty_classes_task(tree=True)
    for method in METHODS:
        plain = passes(learners.transductive(flat, method=method))
        others = {"tree": learners.transductive(tree, method=method)}
        if method == "switching":
            others["Crammer-Singer"] = learners.transductive(flat, method=method, loss="crammer_singer")
        for name, found in others.items():
            note = f"{passes(found):.0f} / {plain:.0f}"
            report.fact(f"{CLASSES}: {method}, {name}, times the passes", passes(found) / plain, note=note)


def supervised_squared_hinge(report: Report, rounds: int = 3) -> None:
    """All 18,846 rows labeled, one class against the rest: how many times faster we are than the faster of LinearSVC's
    primal and dual form, each at the loosest tolerance with which it ends as near to the optimum as we do."""
    from fewlabel import TransductiveSVC

    data, title = corpora.newsgroups20(), "20 classes, all labels, squared hinge"

    def ours(n_jobs: int) -> Any:
        return learners.quietly(TransductiveSVC(alpha=ALPHA, unlabeled=None, n_jobs=n_jobs), data.X, data.y)

    def peer(dual: bool, tol: float) -> Any:
        return learners.quietly(
            linear_svc(len(data.y), dual=dual, tol=tol, max_iter=10_000, random_state=0), data.X, data.y
        )

    def value(fitted: Any) -> float:
        return objective.one_vs_rest(data.X, data.y, fitted.coef_, fitted.intercept_, ALPHA)

    values = value(ours(1)), value(peer(False, 1e-10))
    best = min(values)
    report.fact(f"{title}: ours, relative distance from the optimum", values[0] / best - 1, note=f"value {best:.9f}")
    goal = SLACK * (max(values) / best - 1)
    calls: dict[str, Callable[[], Any]] = {}
    for name, dual in {"LinearSVC": False, "LinearSVC(dual)": True}.items():
        gaps = ((tol, value(peer(dual, tol)) / best - 1) for tol in TOLERANCES)
        tol, gap = next(((t, g) for t, g in gaps if g <= goal or t == TOLERANCES[-1]))
        report.fact(f"{title}: {name}, relative distance from the optimum", gap, note=f"tol={tol:.1e}")
        calls[name] = lambda dual=dual, tol=tol: peer(dual, tol)
    for n_jobs, bound in FASTER.items():
        with threadpool_limits(n_jobs):
            seconds = timing.take_turns(calls | {"ours": lambda n=n_jobs: ours(n)}, rounds)
        faster = min(calls, key=lambda name, s=seconds: np.median(s[name]))
        ratios, note = timing.ratio(seconds, faster, "ours"), timing.note(seconds, *calls, "ours")
        what = f"{title}, threads {n_jobs}: {faster} / ours"
        report.at_least(what, float(np.median(ratios)), bound, "", note, ratios)


def class_memory(report: Report) -> None:
    """Peak of a fit above its input, in a process of its own, beside the bytes of the weights and of the scores."""
    rows = twenty_classes_task()
    (n, d), K = rows.X.shape, len(rows.classes)
    weights, scores = d * K * 8, n * K * 8
    for method in METHODS:
        figures = memory.of_task(rows, {"method": method})
        note = f"input {figures.input / memory.MB:.0f} MB, weights {weights / memory.MB:.1f}"
        note += f", scores {scores / memory.MB:.1f}; {figures.peak / (weights + scores):.1f} times weights and scores"
        report.fact(f"memory, {CLASSES}: {method}, peak above input", figures.peak / memory.MB, " MB", note)
        report.fact(f"memory, {CLASSES}: {method}, left after fit", figures.left / memory.MB, " MB")


SECTIONS = (passes_two_classes, against_linear_svc, threads, products, peak_memory)
CLASS_SECTIONS = (class_passes_and_time, passes_of_trees_and_losses, supervised_squared_hinge, class_memory)
