"""The learners of many classes that are compared, each as a function of a task that gives a ClassOutcome."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.metrics import f1_score

from benchmarks.class_tasks import ClassTask
from benchmarks.learners import ALPHA, linear_svc

ALPHA_MAXENT = 1e-4
TEMPERATURES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)  # of the search for thresholds
STEPS = 40  # at each temperature


@dataclass
class ClassOutcome:
    """What a learner made of a task."""

    macro_f: float  # mean F over the classes, on the test of the task
    error: float  # percent, on the same rows
    shares: np.ndarray  # (K,) share of each class predicted among the unlabeled training rows
    seconds: float
    estimator: Any = field(default=None, repr=False)

    def off_share(self, told: np.ndarray) -> float:
        """The largest distance, in points, between a share predicted and the share told."""
        return float(np.max(np.abs(self.shares - told)) * 100)


def outcome(task: ClassTask, estimator: Any, seconds: float, thresholds: np.ndarray | None = None) -> ClassOutcome:
    """The outcome of a fitted estimator; with thresholds (K,) the class is that whose score is highest above its."""

    def predicted(X: Any) -> np.ndarray:
        if thresholds is not None:
            return np.argmax(estimator.decision_function(X) - thresholds, axis=1)
        return np.searchsorted(task.classes, estimator.predict(X))

    found, K = predicted(task.X_test), len(task.classes)
    macro_f = f1_score(task.y_test, found, labels=np.arange(K), average="macro", zero_division=0)
    shares = np.zeros(K)
    if task.unlabeled.any():
        shares = np.bincount(predicted(task.X[task.unlabeled]), minlength=K) / np.sum(task.unlabeled)
    return ClassOutcome(float(macro_f), float(np.mean(found != task.y_test) * 100), shares, seconds, estimator)


# ------------------------------------------------------------------ peers
def supervised(task: ClassTask, alpha: float = ALPHA) -> ClassOutcome:
    """scikit-learn's LinearSVC, one class against the rest, on the labeled rows only; it knows no hierarchy."""
    labeled = ~task.unlabeled
    start = time.perf_counter()
    estimator = quietly(linear_svc(task.n_labels, alpha), task.X[labeled], task.marked[labeled])
    return outcome(task, estimator, time.perf_counter() - start)


def moved_thresholds(task: ClassTask, plain: ClassOutcome | None = None) -> ClassOutcome:
    """A supervised outcome with its thresholds moved so that each class has its share: the honest baseline."""
    plain = plain or supervised(task)
    scores = plain.estimator.decision_function(task.X[task.unlabeled])
    return outcome(task, plain.estimator, plain.seconds, thresholds_for_shares(scores, task.shares))


def thresholds_for_shares(scores: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Thresholds (K,) with which each class wins its share of the rows, scores (n, K): with soft winners the threshold
    of a class rises by the log of its excess until the shares are met, while the temperature falls."""
    spread = float(scores.std()) or 1.0
    thresholds = np.zeros(len(shares))
    for temperature in np.array(TEMPERATURES) * spread:
        for _ in range(STEPS):
            soft = softmax((scores - thresholds) / temperature, axis=1).mean(axis=0)
            thresholds += temperature * np.log(np.maximum(soft, 1e-300) / np.maximum(shares, 1e-300))
    return thresholds


# ------------------------------------------------------------------ fewlabel
def transductive(task: ClassTask, **settings: Any) -> ClassOutcome:
    """fewlabel's TransductiveSVC with the class shares of the task; settings as its parameters. Unlabeled rows weigh
    as much as labeled ones, as in the paper."""
    from fewlabel import TransductiveSVC

    usual = {"alpha": ALPHA, "class_prior": task.class_prior, "unlabeled_weight": 1.0}
    return fitted(task, TransductiveSVC, usual | settings)


def maxent(task: ClassTask, **settings: Any) -> ClassOutcome:
    """The same of SemiSupervisedLogisticRegression, its probabilities not calibrated."""
    from fewlabel import SemiSupervisedLogisticRegression

    usual = {"alpha": ALPHA_MAXENT, "class_prior": task.class_prior, "unlabeled_weight": 1.0, "calibrate": False}
    return fitted(task, SemiSupervisedLogisticRegression, usual | settings)


def our_supervised(task: ClassTask, **settings: Any) -> ClassOutcome:
    """fewlabel's TransductiveSVC on the labeled rows only, with the hierarchy of the task."""
    from fewlabel import TransductiveSVC

    labeled = ~task.unlabeled
    usual = {"alpha": ALPHA, "unlabeled": None}
    return fitted(task, TransductiveSVC, usual | settings, task.X[labeled], task.marked[labeled])


def all_labels(task: ClassTask, **settings: Any) -> ClassOutcome:
    """The same told every label of the training rows."""
    from fewlabel import TransductiveSVC

    return fitted(task, TransductiveSVC, {"alpha": ALPHA, "unlabeled": None} | settings, task.X, task.named)


def fitted(task: ClassTask, kind: Any, settings: dict[str, Any], X: Any = None, y: Any = None) -> ClassOutcome:
    """The outcome of an estimator with just these settings and the hierarchy of the task."""
    if task.hierarchy is not None:
        settings = {"hierarchy": task.hierarchy} | settings
    X, y = (task.X, task.marked) if X is None else (X, y)
    start = time.perf_counter()
    estimator = quietly(kind(**settings), X, y)
    return outcome(task, estimator, time.perf_counter() - start)


def quietly(estimator: Any, X: Any, y: Any) -> Any:
    """Fit without warnings: shares far from the labels and no unlabeled rows are meant here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return estimator.fit(X, y)
