"""Calibration: how far `predict_proba` can be trusted with a hundred labels, on rows held out for the test."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax

from benchmarks import corpora, learners, tasks
from benchmarks.report import Report
from benchmarks.tasks import DataSet, Task

DRAWS = 5
TIMED = 1  # draws that are also fitted without calibration, to compare times
LABELS = 100
BINS = 15
LARGEST = 0.08  # expected calibration error, mean over the draws
WORSE = 0.01  # than the uncalibrated one, at most, in any draw


def expected_calibration_error(probabilities: np.ndarray, truth: np.ndarray, bins: int = BINS) -> float:
    """Mean over the rows of |share of right answers - mean confidence| of their bin, bins of equal width."""
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    number = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = np.bincount(number, right - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / len(truth))


def log_loss(probabilities: np.ndarray, truth: np.ndarray) -> float:
    """Mean of -log of the probability of the true class."""
    return float(-np.log(np.maximum(probabilities[np.arange(len(truth)), truth], 1e-300)).mean())


def _measure(report: Report, data: DataSet, kind: str, draws: int) -> None:
    learner = getattr(learners, kind)
    found: dict[str, list[float]] = {}
    for seed in range(draws):
        task = tasks.draw(data, LABELS, seed)
        calibrated = learner(task, calibrate=True)
        for name, probabilities in _probabilities(calibrated.estimator, task).items():
            found.setdefault(f"{name}, expected calibration error", []).append(
                expected_calibration_error(probabilities, task.y_test)
            )
            found.setdefault(f"{name}, log loss", []).append(log_loss(probabilities, task.y_test))
        found.setdefault("temperature", []).append(calibrated.estimator.calibration_temperature_)
        if seed < TIMED:
            plain = learner(task, calibrate=False)
            found.setdefault("time of a fit / without calibration", []).append(calibrated.seconds / plain.seconds)
    what = f"{data.name}, {LABELS} labels, {kind}"
    error, before = (np.array(found.pop(f"{n}, expected calibration error")) for n in ("calibrated", "as scored"))
    report.at_most(f"{what}: expected calibration error", error.mean(), LARGEST, values=error)
    report.fact(f"{what}: uncalibrated", before.mean(), values=before)
    if kind == "maxent":
        report.at_most(f"{what}: largest loss by calibration", (error - before).max(), WORSE, values=error - before)
    for name, values in found.items():
        report.fact(f"{what}: {name}", np.mean(values), values=values)


def _probabilities(estimator: Any, task: Task) -> dict[str, np.ndarray]:
    scores = estimator.decision_function(task.X_test)
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    return {"calibrated": estimator.predict_proba(task.X_test), "as scored": softmax(scores, axis=1)}


# ------------------------------------------------------------------ sections
def calibration_newsgroups(report: Report, draws: int = DRAWS) -> None:
    """Twenty classes."""
    _measure(report, corpora.newsgroups20(), "maxent", draws)


def calibration_comp(report: Report, draws: int = DRAWS) -> None:
    """Two classes."""
    _measure(report, corpora.comp_set("(rest)"), "maxent", draws)


def calibration_svc(report: Report, draws: int = DRAWS) -> None:
    """The same of the support vector machine, of whose scores nothing was said."""
    for data in (corpora.newsgroups20(), corpora.comp_set("(rest)")):
        _measure(report, data, "transductive", draws)


SECTIONS = (calibration_newsgroups, calibration_comp, calibration_svc)
