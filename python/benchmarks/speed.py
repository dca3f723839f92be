"""Speed: passes over the data, time against LinearSVC on all labels of the same rows, and two threads."""

from __future__ import annotations

import itertools
import os
import time
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks import data, drawing, large, measure
from benchmarks.drawing import Task
from benchmarks.measure import Report

ALPHA = 1e-3  # Sindhwani & Keerthi 2006
METHODS = ("switching", "annealing")
PASSES = {"switching": 500, "annealing": 1000}  # bounds, where SVMlin needs about 2,800 and 7,000
SVMLIN_CCAT = ".5748 .5608 .6114, errors 13.1 12.7 10.3 %"
TWO = ("comp", "ccat", "gcat", "text1")  # sets of two classes


def drawn(name: str) -> Task:
    """A set with 44 labels drawn at random of two classes, or five of each of many."""
    rows = data.SETS[name]()
    return drawing.draw(rows, 22) if len(rows.classes) == 2 else drawing.draw(rows, 5, "equal")


def ours(task: Task, method: str, n_jobs: int = 1) -> Any:
    """A fit with the true class shares."""
    from fewlabel import TransductiveSVC

    model = TransductiveSVC(method=method, alpha=ALPHA, class_prior=task.shares, unlabeled_weight=1.0, n_jobs=n_jobs)
    return measure.quietly(model, task.X, task.given)


def all_labels(task: Task, dual: bool) -> Any:
    """LinearSVC with the same strength and all labels."""
    return measure.quietly(LinearSVC(dual=dual, C=1 / (2 * len(task.y) * ALPHA)), task.X, task.y)


def supervised(task: Task) -> Any:
    """Our fit with all labels."""
    from fewlabel import TransductiveSVC

    return measure.quietly(TransductiveSVC(alpha=ALPHA, unlabeled=None, n_jobs=1), task.X, task.y)


def ten_thousand(report: Report, draws: int = 3) -> None:
    """Seconds of the default for ten thousand texts, five labels of each class, one thread."""
    from fewlabel import TransductiveSVC

    for name in ("comp", "newsgroups20"):
        rows = data.SETS[name]()
        kept = np.random.default_rng(0).permutation(len(rows.y))[:13_333]  # a quarter is the test
        tasks = [drawing.draw(data.some_rows(rows, np.sort(kept)), 5, "equal", seed) for seed in range(draws)]
        model = TransductiveSVC(n_jobs=1)
        spent = [measure.seconds(lambda t=task, m=model: measure.quietly(m, t.X, t.given))[0] for task in tasks]
        report.add(f"{name}, {len(tasks[0].y)} texts, {len(tasks[0].classes)} classes, the default", spent, " s")


def linear_svc(report: Report, draws: int = 5) -> None:
    """Passes of a fit, and its time in fits of LinearSVC by the faster of its solvers; one thread, by turns."""
    for name in (*TWO, "newsgroups20"):
        task = drawn(name)
        peers = {dual: lambda dual=dual, t=task: all_labels(t, dual) for dual in (True, False)}
        fits = {"supervised, all labels": lambda t=task: supervised(t)}
        fits |= {method: lambda m=method, t=task: ours(t, m) for method in ("auto", *METHODS)}
        with threadpool_limits(1):
            spent = {one: np.median(seconds) for one, seconds in measure.turns(peers | fits, draws).items()}
        peer = min(spent[True], spent[False])
        for one, fit in fits.items():
            bound = {"at_most": PASSES[one]} if one in PASSES and name == "comp" else {}
            note = f"{spent[one]:.3f} s, LinearSVC {peer:.3f} s"
            report.add(f"{name}: {one}, passes", fit().history_["n_passes"][-1], **bound)
            report.add(f"{name}: {one}, time / LinearSVC with all labels", spent[one] / peer, note=note)


def ccat(report: Report, draws: int = 3) -> None:
    """CCAT with 44 labels drawn at random and an unlabeled weight of 10: objective, error, and time by turns."""
    from fewlabel import TransductiveSVC

    note = f"SVMlin's annealing on three draws that are lost: {SVMLIN_CCAT}"
    for k, method in itertools.product(range(draws), METHODS):
        task = drawing.draw(data.SETS["ccat"](), 22, "random", k)
        model = TransductiveSVC(method=method, alpha=ALPHA, class_prior=task.shares, unlabeled_weight=10.0, n_jobs=1)
        calls = {"ours": lambda m=model, t=task: measure.quietly(m, t.X, t.given)}
        spent = measure.turns(calls | {"peer": lambda t=task: all_labels(t, True)}, 1)
        error = 100 * np.mean(model.predict(task.X_test) != task.y_test)
        report.add(f"ccat #{k}: {method}, objective", model.objective_, note=note)
        report.add(f"ccat #{k}: {method}, errors", error, " %")
        report.add(f"ccat #{k}: {method}, time / LinearSVC with all labels", spent["ours"] / spent["peer"])


def dense(report: Report, draws: int = 3) -> None:
    """Sentence embeddings of 20 and of 77 classes: time in fits of logistic regression (lbfgs, float32) on all labels;
    one thread, by turns."""
    for task in drawn("minilm"), drawn("clusters"):
        beside(report, task, "logistic regression", LogisticRegression(max_iter=1000), draws)


def clusters(report: Report, draws: int = 1) -> None:
    """The same for clusters of news as classes, 1, 5 and 10 labels each."""
    rows = data.SETS["agnews_minilm"]()
    for k in (64, 150):
        y = KMeans(k, n_init=1, random_state=0).fit_predict(rows.X)
        large = np.flatnonzero(np.bincount(y) >= LARGE)
        kept = np.flatnonzero(np.isin(y, large))
        names, numbers = np.unique(y[kept], return_inverse=True)
        some = replace(data.some_rows(rows, kept), y=numbers, classes=names, train=None)
        for labels in (1, 5, 10):
            task = replace(drawing.draw(some, labels, "equal"), name=f"{k} clusters of news, {labels} labels")
            beside(report, task, "logistic regression", LogisticRegression(max_iter=1000), draws)


LARGE = 20  # rows of a cluster


def words(report: Report, draws: int = 1) -> None:
    """Hundreds of topics of planted words, ten rows and four labels each: time in fits of LinearSVC on all labels."""
    for n_topics in (100, 200, 500, 1000):
        rng, d, n = np.random.default_rng(n_topics), 3000, 10 * n_topics
        common, y = 1 / np.arange(1, d + 1), np.repeat(np.arange(n_topics), 10)
        X = np.zeros((n, d))
        for k in range(n_topics):
            topic = common.copy()
            topic[rng.choice(d, 30, replace=False)] += common.sum() / 60  # a third of the words are the topic's
            X[y == k] = rng.multinomial(rng.integers(10, 60, 10), topic / topic.sum())
        X = TfidfTransformer(sublinear_tf=True).fit_transform(sp.csr_array(X))
        given = np.where(np.arange(n) % 10 < 4, y, drawing.UNLABELED)
        task = Task(f"planted, {n_topics} topics", X, y, given, X[:0], y[:0], np.arange(n_topics))
        beside(report, task, "LinearSVC", LinearSVC(), draws)


def beside(report: Report, task: Task, name: str, peer: Any, draws: int) -> None:
    """The default, methods with the true shares and the logistic estimator, in fits of a peer with all labels."""
    from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC

    models = {
        "default": TransductiveSVC(n_jobs=1),
        "true shares": TransductiveSVC(class_prior=task.shares, n_jobs=1),
        "switching": TransductiveSVC(method="switching", class_prior=task.shares, n_jobs=1),
        "annealing": TransductiveSVC(method="annealing", class_prior=task.shares, n_jobs=1),
        "logistic estimator": SemiSupervisedLogisticRegression(class_prior=task.shares, n_jobs=1),
    }
    calls = {one: lambda m=model: measure.quietly(m, task.X, task.given) for one, model in models.items()}
    with threadpool_limits(1):
        calls["peer"] = lambda: measure.quietly(peer, task.X, task.y)
        spent = {one: np.median(seconds) for one, seconds in measure.turns(calls, draws).items()}
    for one in models:
        note = f"{spent[one]:.2f} s, {name} {spent['peer']:.2f} s"
        report.add(f"{task.name}: {one}, time / {name}", spent[one] / spent["peer"], note=note)


SIZES = ((14_143, 384, 20), (100_000, 384, 20), (10_000, 1536, 100))  # rows, features, classes
SPREAD = 6.0  # length of the noise beside a center of length 1
GROWTH = 1.3  # times the time of a number in the first size that one may take


def sizes(report: Report, draws: int = len(SIZES)) -> None:
    """Planted embeddings, five labels a class, annealing: time of a number in a pass for one class, beside NumPy's
    products in float32, and memory above the rows, in copies of the scores in float64."""
    times = []
    for n, d, k in SIZES[:draws]:
        cost, passes, product, right = measure.in_fresh_process(fit_planted, n, d, k)
        what, numbers = f"{n:,} x {d:,}, {k} classes", n * d * k
        times.append(cost.processor / passes / numbers * 1e12)
        note = f"{cost.processor:.1f} s, {passes:.0f} passes, {right:.1%} right"
        report.add(f"{what}: ps a number, pass and class", times[-1], note=note, at_most=GROWTH * times[0])
        report.add(f"{what}: a pass, in products of NumPy", cost.processor / passes / product, at_most=1.5)
        report.add(f"{what}: peak above the rows, in copies of the scores", cost.peak / (8 * n * k))


def fit_planted(n: int, d: int, k: int) -> tuple[measure.Cost, float, float, float]:
    """Cost and passes of a fit, seconds of a product of NumPy, and the part of the unlabeled rows that is right."""
    small, task = planted(500, d, 2), planted(n, d, k)
    ours(small, "annealing")
    cost, model = measure.cost(lambda: ours(task, "annealing"))
    right = np.mean(model.transduction_[task.unlabeled] == task.y[task.unlabeled])
    W, Q = np.ones((d, k), np.float32), np.ones((n, k), np.float32)
    with threadpool_limits(1):
        spent = measure.turns({"scores": lambda: task.X @ W, "sums": lambda: task.X.T @ Q}, 5)
    return cost, float(model.history_["n_passes"][-1]), float(sum(map(np.median, spent.values())) / 2), float(right)


def planted(n: int, d: int, k: int) -> Task:
    """Unit rows in float32 about a center a class."""
    rng = np.random.default_rng(0)
    y, centers = rng.integers(0, k, n), rng.normal(size=(k, d)).astype(np.float32) / np.sqrt(d)
    X = centers[y] + SPREAD / np.sqrt(d) * rng.standard_normal((n, d), np.float32)
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    given = np.full(n, drawing.UNLABELED)
    labeled = drawing.labeled_rows(y, 5, "equal", rng)
    given[labeled] = y[labeled]
    return Task(f"planted, {n:,} x {d:,}", X, y, given, X[:0], y[:0], np.arange(k))


def shapes(report: Report, draws: int = 3) -> None:
    """Many classes, one feature: time in fits of LinearSVC (default) on all labels, by turns."""
    from fewlabel import TransductiveSVC

    for name, (X, y, labeled, most) in shaped(np.random.default_rng(0)).items():
        given = np.where(np.arange(len(y)) < labeled, y, drawing.UNLABELED)
        calls = {"peer": lambda X=X, y=y: measure.quietly(LinearSVC(), X, y)} | {
            method: lambda m=method, X=X, y=given: measure.quietly(TransductiveSVC(method=m, n_jobs=1), X, y)
            for method in METHODS
        }
        with threadpool_limits(1):
            spent = {one: np.median(seconds) for one, seconds in measure.turns(calls, draws).items()}
        for method in METHODS:
            bound = {"at_most": most} if method == "annealing" else {}
            note = f"{spent[method]:.2f} s, LinearSVC {spent['peer']:.2f} s"
            report.add(f"{name}: {method}, time / LinearSVC", spent[method] / spent["peer"], note=note, **bound)


def shaped(rng: np.random.Generator) -> dict[str, tuple[np.ndarray, np.ndarray, int, float]]:
    """Rows, classes, number of labeled rows, and most LinearSVC fits that annealing may take."""
    many = np.concatenate([np.arange(1000), rng.integers(0, 1000, 1000)])
    near = rng.normal(size=(1000, 50))[many] + 0.5 * rng.normal(size=(2000, 50))
    two = rng.integers(0, 2, 1_000_000)
    return {
        "2,000 x 50, 1,000 classes": (near / np.linalg.norm(near, axis=1, keepdims=True), many, 1000, 8),
        "1,000,000 x 1": ((2 * two - 1 + rng.normal(size=len(two)))[:, None], two, 100, 4),
    }


def overlapping(report: Report, draws: int = 1) -> None:
    """Planted classes that overlap, eight labels each: seconds, passes and accuracy of the default, one thread."""
    from fewlabel import TransductiveSVC

    for n, d, k, apart in ((200_000, 20, 10, 1.0), (400_000, 384, 5, 0.9), (1_000_000, 3, 3, 1.2)):
        rng, centers = np.random.default_rng(0), np.zeros((k, d))
        centers[:, :8] = rng.standard_normal((k, min(d, 8))) * apart
        y = rng.integers(0, k, n)
        X = (centers[y] + rng.standard_normal((n, d))).astype(np.float32)
        given = np.full(n, drawing.UNLABELED)
        for one in range(k):
            given[np.flatnonzero(y == one)[:8]] = one
        spent, model = measure.seconds(lambda X=X, y=given: measure.quietly(TransductiveSVC(n_jobs=1), X, y))
        note = f"{model.history_['n_passes'][-1]:.0f} passes, {np.mean(model.transduction_ == y):.1%} right"
        report.add(f"{n:,} x {d}, {k} classes that overlap: the default", spent, " s", note=note)


def threads(report: Report, draws: int = 5) -> None:
    """Two threads against one, on the clock; other programs on the machine spoil this."""
    two_threads(report, draws, drawn("comp"), drawn("newsgroups20"), large.task(1_000_000))


def dense_threads(report: Report, draws: int = 5) -> None:
    """The same for sentence embeddings."""
    two_threads(report, draws, drawn("minilm"))


def two_threads(report: Report, draws: int, *tasks: Task) -> None:
    """How many times faster a fit on two threads is."""
    for task in tasks:
        for method in METHODS:
            calls = {str(n): lambda n=n, t=task, m=method: ours(t, m, n) for n in (1, 2)}
            spent = measure.turns(calls, draws, time.perf_counter)
            note = f"load {os.getloadavg()[0]:.1f}"
            report.add(
                f"{task.name}: {method}, two threads, times faster", np.median(spent["1"] / spent["2"]), note=note
            )


SECTIONS = (ten_thousand, linear_svc, ccat, dense, clusters, words, sizes, shapes, overlapping, threads, dense_threads)
