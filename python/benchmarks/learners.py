"""The learners that are compared, each as a function of a task that gives an Outcome."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC

from benchmarks.tasks import Task

ALPHA = 1e-3  # Sindhwani & Keerthi 2006
ALPHA_MAXENT = 1e-4
TEMPERATURES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)  # of the search for thresholds
STEPS = 40  # at each temperature


@dataclass
class Outcome:
    """What a learner made of a task."""

    error: float  # percent, on the test of the task
    macro_f: float  # mean F over the classes, on the same rows
    shares: np.ndarray  # (K,) share of each class predicted among the unlabeled training rows
    seconds: float
    estimator: Any = field(default=None, repr=False)

    def off_share(self, given: np.ndarray) -> float:
        """The largest distance, in points, between a predicted and a given share."""
        return float(np.max(np.abs(self.shares - given)) * 100)


def outcome(task: Task, estimator: Any, seconds: float, thresholds: np.ndarray | float | None = None) -> Outcome:
    """The outcome of a fitted estimator; with thresholds (K,) the class is that whose score is highest above its."""

    def predicted(X: Any) -> np.ndarray:
        if thresholds is None:
            return np.searchsorted(task.classes, estimator.predict(X))
        above = estimator.decision_function(X) - thresholds
        return (above > 0).astype(int) if above.ndim == 1 else above.argmax(axis=1)

    unlabeled = predicted(task.X[task.unlabeled]) if task.unlabeled.any() else np.array([], int)
    return _judged(task, unlabeled if task.X_test is None else predicted(task.X_test), unlabeled, seconds, estimator)


def _judged(task: Task, found: np.ndarray, unlabeled: np.ndarray, seconds: float, estimator: Any) -> Outcome:
    """The outcome with these classes of the test and of the unlabeled rows."""
    truth, K = task.test()[1], len(task.classes)
    macro_f = f1_score(truth, found, labels=np.arange(K), average="macro", zero_division=0)
    shares = np.bincount(unlabeled, minlength=K) / max(len(unlabeled), 1)
    return Outcome(float(np.mean(found != truth) * 100), float(macro_f), shares, seconds, estimator)


def quietly(estimator: Any, X: Any, y: Any, **more: Any) -> Any:
    """Fit without warnings: shares far from the labels and no unlabeled rows are meant here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y, **more)


def timed(task: Task, estimator: Any, X: Any = None, y: Any = None) -> Outcome:
    """The outcome of an estimator fitted on the rows of the task or on others."""
    start = time.perf_counter()
    quietly(estimator, *((task.X, task.marked) if X is None else (X, y)))
    return outcome(task, estimator, time.perf_counter() - start)


# ------------------------------------------------------------------ peers
def linear_svc(n_rows: int, alpha: float = ALPHA, **settings: Any) -> LinearSVC:
    """scikit-learn's l2-SVM with the objective of `alpha` and losses averaged over n_rows."""
    return LinearSVC(**{"dual": False, "C": 1 / (2 * n_rows * alpha)} | settings)


def supervised(task: Task, alpha: float = ALPHA) -> Outcome:
    """A support vector machine on the labeled rows only, one class against the rest; it knows no hierarchy."""
    labeled = ~task.unlabeled
    return timed(task, linear_svc(task.n_labels, alpha), task.X[labeled], task.marked[labeled])


def moved_thresholds(task: Task, alpha: float = ALPHA, plain: Outcome | None = None) -> Outcome:
    """A supervised outcome with its thresholds moved so that each class has its share: the honest baseline."""
    plain = plain or supervised(task, alpha)
    scores = plain.estimator.decision_function(task.X[task.unlabeled])
    return outcome(task, plain.estimator, plain.seconds, thresholds_for_shares(scores, task.shares))


def thresholds_for_shares(scores: np.ndarray, shares: np.ndarray) -> np.ndarray | float:
    """The threshold of two classes, or thresholds (K,) with which each class wins its share of the rows, scores (n, K):
    with soft winners the threshold of a class rises by the log of its excess until the shares are met, while the
    temperature falls."""
    if scores.ndim == 1:
        positive = int(round(shares[1] * len(scores)))
        ordered = np.concatenate([[scores.max() + 1], np.sort(scores)[::-1], [scores.min() - 1]])
        return float(ordered[positive : positive + 2].mean())
    spread = float(scores.std()) or 1.0
    thresholds = np.zeros(len(shares))
    for temperature in np.array(TEMPERATURES) * spread:
        for _ in range(STEPS):
            soft = softmax((scores - thresholds) / temperature, axis=1).mean(axis=0)
            thresholds += temperature * np.log(np.maximum(soft, 1e-300) / np.maximum(shares, 1e-300))
    return thresholds


def self_training(task: Task, alpha: float = ALPHA) -> Outcome:
    """scikit-learn's self-training: in ten rounds the most certain tenth of the rows gets labels."""
    base = LogisticRegression(C=1 / (task.n_labels * alpha), max_iter=1000)
    tenth = max(1, int(np.ceil(np.sum(task.unlabeled) / 10)))
    return timed(task, SelfTrainingClassifier(base, criterion="k_best", k_best=tenth, max_iter=10))


def label_spreading(task: Task) -> Outcome:
    """scikit-learn's label spreading over the graph of ten neighbours; for small sets."""
    start = time.perf_counter()
    estimator = quietly(LabelSpreading(kernel="knn", n_neighbors=10), task.X, task.given)
    seconds = time.perf_counter() - start
    unlabeled = estimator.transduction_[task.unlabeled]
    found = unlabeled if task.X_test is None else estimator.predict(task.X_test)
    return _judged(task, found, unlabeled, seconds, estimator)


# ------------------------------------------------------------------ fewlabel
def transductive(task: Task, **settings: Any) -> Outcome:
    """fewlabel's TransductiveSVC with the class shares of the task; settings as its parameters. Unlabeled rows weigh
    as much as labeled ones, as in the papers; pair switching has the hinge loss, as Joachims' does."""
    from fewlabel import TransductiveSVC

    usual = {"alpha": ALPHA, "class_prior": task.class_prior, "unlabeled_weight": 1.0}
    if settings.get("method") == "pair_switching":
        usual["loss"] = "hinge"
    return fitted(task, TransductiveSVC, usual | settings)


def maxent(task: Task, **settings: Any) -> Outcome:
    """The same of SemiSupervisedLogisticRegression, its probabilities not calibrated."""
    from fewlabel import SemiSupervisedLogisticRegression

    usual = {"alpha": ALPHA_MAXENT, "class_prior": task.class_prior, "unlabeled_weight": 1.0, "calibrate": False}
    return fitted(task, SemiSupervisedLogisticRegression, usual | settings)


def our_supervised(task: Task, **settings: Any) -> Outcome:
    """fewlabel's TransductiveSVC on the labeled rows only, with the hierarchy of the task."""
    from fewlabel import TransductiveSVC

    labeled = ~task.unlabeled
    usual = {"alpha": ALPHA, "unlabeled": None}
    return fitted(task, TransductiveSVC, usual | settings, task.X[labeled], task.marked[labeled])


def all_labels(task: Task, **settings: Any) -> Outcome:
    """The same with every label of the training rows."""
    from fewlabel import TransductiveSVC

    return fitted(task, TransductiveSVC, {"alpha": ALPHA, "unlabeled": None} | settings, task.X, task.named)


def fitted(task: Task, kind: Any, settings: dict[str, Any], X: Any = None, y: Any = None) -> Outcome:
    """The outcome of an estimator with just these settings and the hierarchy of the task."""
    if task.hierarchy is not None:
        settings = {"hierarchy": task.hierarchy} | settings
    return timed(task, kind(**settings), X, y)


def passes(found: Outcome) -> float:
    """Passes over the data of a fit."""
    return float(found.estimator.history_["n_passes"][-1])
