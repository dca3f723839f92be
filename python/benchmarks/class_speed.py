"""Speed with many classes, 20 Newsgroups: time against our own supervised fit, time of supervised fits against
scikit-learn's at the same accuracy of the solution, memory."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from benchmarks import class_learners as learners
from benchmarks import class_objective, class_tasks, memory, timing
from benchmarks.class_learners import ALPHA_MAXENT
from benchmarks.class_quality import PER_CLASS, SET
from benchmarks.class_tasks import ClassTask
from benchmarks.learners import ALPHA, linear_svc
from benchmarks.report import Report

RATIO = {"switching": 4, "annealing": 8}  # bound on the time in supervised fits of the same rows
FASTER = {1: 1.0, 2: 2.0}  # threads -> bound on the time of the faster peer in fits of ours
TOLERANCES = [10 ** (-k / 2) for k in range(17)]  # of the peers, 1 ... 1e-8
SLACK = 2.0  # a peer may end this many times as far from the optimum as we do


def task() -> ClassTask:
    """The first draw of the quality benchmark."""
    return class_tasks.half_unlabeled(class_tasks.newsgroups20(), PER_CLASS, 0)


def class_passes_and_time(report: Report, rounds: int = 3) -> None:
    """Time in our own supervised fits that are told all labels of the same rows, one thread; passes over the data."""
    rows = task()
    fits: dict[str, Callable[[], learners.ClassOutcome]] = {
        "supervised": lambda: learners.all_labels(rows, n_jobs=1),
        **{m: (lambda m=m: learners.transductive(rows, method=m, n_jobs=1)) for m in RATIO},
    }
    seconds: dict[str, list[float]] = {name: [] for name in fits}
    found: dict[str, learners.ClassOutcome] = {}
    with threadpool_limits(1):
        for k in range(rounds + 1):  # they take turns; the first round warms up
            for name, fit in fits.items():
                found[name] = fit()
                seconds[name] += [found[name].seconds] * (k > 0)
    passes = {name: float(o.estimator.history_["n_passes"][-1]) for name, o in found.items()}
    report.fact(f"{SET}: supervised with all labels, passes", passes["supervised"])
    for method, bound in RATIO.items():
        report.fact(f"{SET}: {method}, passes", passes[method], note=f"{found[method].estimator.n_iter_} outer steps")
        ratios = np.array(seconds[method]) / seconds["supervised"]
        note = f"{np.median(seconds[method]):.2f} s / {np.median(seconds['supervised']):.2f} s"
        report.at_most(f"time, {SET}: {method} / supervised", float(np.median(ratios)), bound, "", note, ratios)


def passes_of_trees_and_losses(report: Report) -> None:
    """Passes over the data of a class tree and of Crammer and Singer's loss, in those of flat classes with the squared
    hinge, on the same rows and labels."""
    flat, tree = task(), class_tasks.half_unlabeled(class_tasks.newsgroups20_tree(), PER_CLASS, 0)
    for method in RATIO:
        plain = _passes(learners.transductive(flat, method=method))
        others = {"tree": learners.transductive(tree, method=method)}
        if method == "switching":
            others["Crammer-Singer"] = learners.transductive(flat, method=method, loss="crammer_singer")
        for name, found in others.items():
            passes = _passes(found)
            report.fact(
                f"{SET}: {method}, {name}, times the passes", passes / plain, note=f"{passes:.0f} / {plain:.0f}"
            )


def _passes(found: learners.ClassOutcome) -> float:
    return float(found.estimator.history_["n_passes"][-1])


# ------------------------------------------------------------------ peers at the same accuracy
@dataclass
class Contest:
    """Supervised fits that minimize one objective of the same rows."""

    losses: class_objective.Losses
    X: sp.csr_matrix
    y: np.ndarray
    alpha: float
    ours: Callable[[int], Any]  # threads -> unfitted estimator
    peers: dict[str, Callable[[float], Any]]  # name -> (tolerance -> unfitted estimator)
    constant: bool = False  # the peers get a constant feature and no intercept, so that the intercept is regularized

    @functools.cached_property
    def rows_of_peers(self) -> sp.csr_matrix:
        """What the peers are given."""
        return sp.hstack([self.X, np.ones((self.X.shape[0], 1))], format="csr") if self.constant else self.X

    def weights(self, fitted: Any, peer: bool) -> tuple[np.ndarray, np.ndarray]:
        """Weights (K, d) and intercepts (K,) of a fitted estimator."""
        if peer and self.constant:
            return fitted.coef_[:, :-1], fitted.coef_[:, -1]
        return fitted.coef_, fitted.intercept_

    def value(self, fitted: Any, peer: bool = True) -> float:
        """The objective of a fitted estimator."""
        return class_objective.value(self.losses, self.X, self.y, *self.weights(fitted, peer), self.alpha)

    def certain_gap(self, fitted: Any) -> float:
        """A bound on how far a fitted peer is from the optimum."""
        return class_objective.certain_gap(self.losses, self.X, self.y, *self.weights(fitted, True), self.alpha)

    def fit_peer(self, name: str, tol: float) -> Any:
        """A peer at a tolerance."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self.peers[name](tol).fit(self.rows_of_peers, self.y)

    def fit_ours(self, threads: int) -> Any:
        """Our estimator at its default tolerance."""
        return learners.quietly(self.ours(threads), self.X, self.y)

    def matched(self, name: str, best: float, goal: float) -> tuple[float, float]:
        """The loosest tolerance at which a peer is within the relative gap `goal` of the optimum, and its gap there;
        the tightest if there is none."""
        for tol in TOLERANCES:
            gap = self.value(self.fit_peer(name, tol)) / best - 1
            if gap <= goal:
                break
        return tol, gap


def run(report: Report, title: str, contest: Contest, reference: str, rounds: int = 3) -> None:
    """The rows of a contest: how exact each is, then the ratio of times. `reference` is the peer of the tight run."""
    tight = contest.fit_peer(reference, 1e-10)
    ours = contest.value(contest.fit_ours(1), peer=False)
    best = min(contest.value(tight), ours)
    note = f"value {best:.9f}; the reference is within {contest.certain_gap(tight):.1e} for certain"
    our_gap = ours / best - 1
    report.fact(f"{title}: ours, relative distance from the optimum", our_gap, note=note)
    floor = max(our_gap, contest.certain_gap(tight))
    tolerances = {}
    for name in contest.peers:
        tolerances[name], gap = contest.matched(name, best, SLACK * floor)
        report.fact(f"{title}: {name}, relative distance from the optimum", gap, note=f"tol={tolerances[name]:.1e}")
    for threads, bound in FASTER.items():
        calls = {name: (lambda n=name: contest.fit_peer(n, tolerances[n])) for name in contest.peers}
        calls["ours"] = lambda threads=threads: contest.fit_ours(threads)
        with threadpool_limits(threads):
            seconds = timing.take_turns(calls, rounds)
        _faster(report, f"{title}, threads {threads}", seconds, bound)


def _faster(report: Report, what: str, seconds: dict[str, np.ndarray], bound: float) -> None:
    """How many times faster than the faster peer."""
    medians = {name: float(np.median(values)) for name, values in seconds.items()}
    peer = min((name for name in medians if name != "ours"), key=medians.__getitem__)
    ratios = timing.ratio(seconds, peer, "ours")
    note = "; ".join(f"{name} {value:.2f} s" for name, value in medians.items())
    report.at_least(f"{what}: {peer} / ours", float(np.median(ratios)), bound, "", note, ratios)


def supervised_squared_hinge(report: Report) -> None:
    """All 18,846 rows labeled, one class against the rest: LinearSVC in its primal and its dual form."""
    from fewlabel import TransductiveSVC

    data = class_tasks.newsgroups20()
    n = len(data.y)

    def dual(tol: float) -> Any:
        return linear_svc(n, tol=tol, max_iter=10_000, random_state=0).set_params(dual=True)

    contest = Contest(
        losses=class_objective.one_vs_rest,
        X=data.X,
        y=data.y,
        alpha=ALPHA,
        ours=lambda threads: TransductiveSVC(alpha=ALPHA, unlabeled=None, n_jobs=threads),
        peers={"LinearSVC": lambda tol: linear_svc(n, tol=tol, max_iter=10_000), "LinearSVC(dual)": dual},
    )
    run(report, "20 classes, all labels, squared hinge", contest, reference="LinearSVC")


def supervised_maxent(report: Report) -> None:
    """The same with the maxent loss: LogisticRegression."""
    from fewlabel import SemiSupervisedLogisticRegression

    data = class_tasks.newsgroups20()
    contest = Contest(
        losses=class_objective.maxent,
        X=data.X,
        y=data.y,
        alpha=ALPHA_MAXENT,
        ours=lambda threads: SemiSupervisedLogisticRegression(alpha=ALPHA_MAXENT, unlabeled=None, n_jobs=threads),
        peers={"LogisticRegression": lambda tol: logistic_regression(len(data.y), ALPHA_MAXENT, tol)},
        constant=True,
    )
    run(report, "20 classes, all labels, maxent", contest, reference="LogisticRegression")


def logistic_regression(n_rows: int, alpha: float, tol: float) -> LogisticRegression:
    """scikit-learn's logistic regression with the objective of `alpha`, for rows with a constant feature."""
    C = 1 / (n_rows * alpha)
    return LogisticRegression(solver="lbfgs", C=C, tol=tol, fit_intercept=False, max_iter=10_000)


# ------------------------------------------------------------------ memory
def class_memory(report: Report) -> None:
    """Peak of a fit above its input, in a process of its own, beside the bytes of the weights and of the scores."""
    rows = task()
    (n, d), K = rows.X.shape, len(rows.classes)
    weights, scores = d * K * 8, n * K * 8
    for method in RATIO:
        figures = memory.of_task("classes", rows, {"method": method})
        note = f"input {figures.input / memory.MB:.0f} MB, weights {weights / memory.MB:.1f}"
        note += f", scores {scores / memory.MB:.1f}; {figures.peak / (weights + scores):.1f} times weights and scores"
        report.fact(f"memory, {SET}: {method}, peak above input", figures.peak / memory.MB, " MB", note)
        report.fact(f"memory, {SET}: {method}, left after fit", figures.left / memory.MB, " MB")


SECTIONS = (
    class_passes_and_time,
    passes_of_trees_and_losses,
    supervised_squared_hinge,
    supervised_maxent,
    class_memory,
)
