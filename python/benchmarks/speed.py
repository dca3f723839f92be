"""Speed: passes over the data, time against LinearSVC and against ourselves on two threads, products, memory."""

from __future__ import annotations

import os

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import corpora, large, learners, memory, products, timing
from benchmarks.report import Report

METHODS = ("annealing", "switching")
PASSES = {"switching": (500, 2800), "annealing": (1000, 7000)}  # bound, SVMlin
RATIO = {"switching": 3, "annealing": 7}  # bound on the time in fits of LinearSVC


def passes(report: Report) -> None:
    """Passes over the data on 20 Newsgroups: one product of X or X' with a vector, all rows, is one pass."""
    task = corpora.comp(0)
    for method, (bound, svmlin) in PASSES.items():
        fitted = learners.transductive(task, method=method).estimator
        history = fitted.history_
        count = history["n_passes"][-1]
        note = f"SVMlin about {svmlin}; {fitted.n_iter_} outer steps"
        report.at_most(f"passes over the data, comp.*: {method}", count, bound, "", note)
        x = {"passes": history["n_passes"], "objective": history["objective"]}
        report.curve("comp.*", method, x)


def against_linear_svc(report: Report, rounds: int = 7) -> None:
    """Time in fits of LinearSVC(dual=False) that is told all labels of the same rows; one thread each, taking turns."""
    task = corpora.comp(0)
    calls = {
        "LinearSVC": lambda: learners.linear_svc(len(task.y)).fit(task.X, task.y),
        **{m: (lambda m=m: learners.transductive(task, method=m, n_jobs=1)) for m in METHODS},
    }
    with threadpool_limits(1):
        seconds = timing.take_turns(calls, rounds)
    for method in METHODS:
        ratios = timing.ratio(seconds, method, "LinearSVC")
        note = f"{np.median(seconds[method]):.3f} s / {np.median(seconds['LinearSVC']):.3f} s"
        what = f"time, comp.*: {method} / LinearSVC with all labels"
        report.at_most(what, float(np.median(ratios)), RATIO[method], "", note, ratios)


def threads(report: Report, rounds: int = 7) -> None:
    """Two threads against one. A fit of comp.* takes a fifth of a second, of which reading the caller's arrays and the
    loops over rows keep their part; the larger corpus shows what the divided work gains. Other programs on the machine
    spoil these figures, so the note tells the load before."""
    for task, bounds in ((corpora.comp(0), {}), (large.task(100_000), {"annealing": 1.7})):
        load = f"load before {os.getloadavg()[0]:.1f}"
        for method in METHODS:
            calls = {
                str(n): (lambda t=task, n=n, m=method: learners.transductive(t, method=m, n_jobs=n)) for n in (1, 2)
            }
            with threadpool_limits(1):
                seconds = timing.take_turns(calls, rounds)
            ratios = timing.ratio(seconds, "1", "2")
            note = f"{np.median(seconds['1']):.3f} s / {np.median(seconds['2']):.3f} s; {load}"
            what, value = f"two threads, {task.name}: {method}, times faster", float(np.median(ratios))
            if method in bounds:
                report.at_least(what, value, bounds[method], "", note, ratios)
            else:
                report.fact(what, value, note=note, values=ratios)


def peak_memory(report: Report) -> None:
    """Memory of a fit above its input, in a process of its own."""
    for method in METHODS:
        for name in ("comp", "ccat"):
            memory.rows(report, f"memory, {name}: {method}", memory.measure(name, {"method": method}))


SECTIONS = (passes, against_linear_svc, threads, products.measure, peak_memory)
