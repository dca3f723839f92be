"""The learners that are compared, each as a function of a task that gives an Outcome."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC

from benchmarks import objective
from benchmarks.corpora import Task

ALPHA = 1e-3  # Sindhwani & Keerthi 2006


@dataclass
class Outcome:
    """What a learner made of a task."""

    error: float  # percent, on the test of the task
    scores: np.ndarray  # decision values of the test
    seconds: float
    share: float | None = None  # share of class 1 predicted among the unlabeled training rows
    estimator: Any = field(default=None, repr=False)


def _outcome(task: Task, estimator: Any, seconds: float, threshold: float = 0.0) -> Outcome:
    X, y = task.test()
    scores = estimator.decision_function(X) - threshold
    unlabeled = task.X[task.unlabeled]
    share = float(np.mean(estimator.decision_function(unlabeled) > threshold)) if unlabeled.shape[0] else None
    return Outcome(objective.error(scores > 0, y), scores, seconds, share, estimator)


def linear_svc(n_rows: int, alpha: float = ALPHA, **settings: Any) -> LinearSVC:
    """scikit-learn's l2-SVM with the objective of `alpha` and losses averaged over n_rows."""
    return LinearSVC(dual=False, C=1 / (2 * n_rows * alpha), **settings)


def supervised(task: Task, alpha: float = ALPHA) -> Outcome:
    """A support vector machine on the labeled rows only."""
    labeled = ~task.unlabeled
    start = time.perf_counter()
    estimator = linear_svc(task.n_labels, alpha).fit(task.X[labeled], task.given[labeled])
    return _outcome(task, estimator, time.perf_counter() - start)


def moved_threshold(task: Task, alpha: float = ALPHA) -> Outcome:
    """The same with the threshold moved to the class share: the honest baseline."""
    plain = supervised(task, alpha)
    scores = plain.estimator.decision_function(task.X[task.unlabeled])
    return _outcome(task, plain.estimator, plain.seconds, objective.threshold_for_share(scores, task.prior))


def all_labels(task: Task, alpha: float = ALPHA) -> Outcome:
    """A support vector machine that is told every label of the training rows."""
    start = time.perf_counter()
    estimator = linear_svc(len(task.y), alpha).fit(task.X, task.y)
    return _outcome(task, estimator, time.perf_counter() - start)


def self_training(task: Task, alpha: float = ALPHA) -> Outcome:
    """scikit-learn's self-training: in ten rounds the most certain tenth of the rows gets labels."""
    base = LogisticRegression(C=1 / (task.n_labels * alpha), max_iter=1000)
    tenth = max(1, int(np.ceil(np.sum(task.unlabeled) / 10)))
    start = time.perf_counter()
    estimator = SelfTrainingClassifier(base, criterion="k_best", k_best=tenth, max_iter=10).fit(task.X, task.given)
    return _outcome(task, estimator, time.perf_counter() - start)


def label_spreading(task: Task) -> Outcome:
    """scikit-learn's label spreading over the graph of ten neighbours; for small sets."""
    X, y = task.test()
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (ConvergenceWarning, RuntimeWarning))
        estimator = LabelSpreading(kernel="knn", n_neighbors=10).fit(task.X, task.given)
        seconds = time.perf_counter() - start
        if task.X_test is None:
            scores = estimator.label_distributions_[task.unlabeled, 1] - 0.5
        else:
            scores = estimator.predict_proba(X)[:, 1] - 0.5
    share = float(np.mean(estimator.transduction_[task.unlabeled] == 1))
    return Outcome(objective.error(scores > 0, y), scores, seconds, share, estimator)


def transductive(task: Task, **settings: Any) -> Outcome:
    """fewlabel's TransductiveSVC with the class share of the task; settings as its parameters. Unlabeled rows weigh
    as much as labeled ones, as in the papers; pair switching has the hinge loss, as Joachims' does."""
    from fewlabel import TransductiveSVC

    usual = {"alpha": ALPHA, "class_prior": task.class_prior, "unlabeled_weight": 1.0}
    if settings.get("method") == "pair_switching":
        usual["loss"] = "hinge"
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a prior far from the labels is meant here
        estimator = TransductiveSVC(**(usual | settings)).fit(task.X, task.given)
    return _outcome(task, estimator, time.perf_counter() - start)
