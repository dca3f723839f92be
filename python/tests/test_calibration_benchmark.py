"""The benchmark of calibration: its measures by hand, and its sections on planted rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from planted import many_topics
from scipy.special import softmax

from benchmarks import calibration, corpora, tasks
from benchmarks.report import Report


def test_expected_calibration_error_by_hand() -> None:
    probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.5, 0.5]])
    truth = np.array([0, 1, 1, 0])
    # bins of 15: two rows at 0.9, half of them right; one at 0.6, right; one at 0.5, right
    assert calibration.expected_calibration_error(probabilities, truth) == pytest.approx((0.8 + 0.4 + 0.5) / 4)
    assert calibration.expected_calibration_error(probabilities, truth, bins=1) == pytest.approx(0.025)
    assert calibration.expected_calibration_error(np.eye(2), np.array([0, 1])) == 0


def test_what_is_drawn_with_its_probabilities_is_calibrated() -> None:
    rng = np.random.default_rng(0)
    probabilities = softmax(2 * rng.normal(size=(20_000, 4)), axis=1)
    truth = np.array([rng.choice(4, p=p) for p in probabilities])
    sharp = softmax(3 * np.log(probabilities), axis=1)
    assert calibration.expected_calibration_error(probabilities, truth) < 0.02
    assert calibration.expected_calibration_error(sharp, truth) > 0.1
    assert calibration.log_loss(probabilities, truth) < calibration.log_loss(sharp, truth)


def test_log_loss_by_hand() -> None:
    assert calibration.log_loss(np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([0, 0])) == pytest.approx(-np.log(0.1) / 2)


def test_the_comp_groups_are_the_second_class(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["comp.graphics", "rec.autos", "soc.comp"] * 12
    data = tasks.data_set("planted", many_topics().X[:36], names)
    monkeypatch.setattr(corpora, "newsgroups20", lambda: data)
    found = corpora.comp_set.__wrapped__("(rest)")
    np.testing.assert_array_equal(found.y, [1, 0, 0] * 12)
    assert "comp" in found.classes[1]


def test_sections_measure_what_the_estimators_say(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = many_topics(n=600)
    data = tasks.data_set("planted", problem.X, problem.truth.astype(str))
    monkeypatch.setattr(corpora, "newsgroups20", lambda: data)
    monkeypatch.setattr(calibration, "LABELS", 60)
    report = Report(quiet=True)
    calibration.calibration_newsgroups(report, draws=2)
    rows = {row.what.removeprefix("planted, 60 labels, maxent: "): row for row in report.rows}
    assert rows["expected calibration error"].bound == "≤ 0.08"
    assert len(rows["expected calibration error"].values) == len(rows["temperature"].values) == 2
    assert len(rows["time of a fit / without calibration"].values) == 1
    losses = np.subtract(rows["expected calibration error"].values, rows["uncalibrated"].values)
    np.testing.assert_allclose(rows["largest loss by calibration"].values, losses)
    assert rows["largest loss by calibration"].ok == (losses.max() <= 0.01)


@pytest.mark.parametrize("worse", [0.005, 0.02])
def test_calibration_that_does_harm_is_short(monkeypatch: pytest.MonkeyPatch, worse: float) -> None:
    """Rows of which 0.7 are right: as scored they say so, calibrated they say more."""
    data = tasks.data_set("planted", many_topics().X, many_topics().truth.astype(str))
    monkeypatch.setattr(calibration.learners, "maxent", _learner_that_says(0.7 + worse))
    monkeypatch.setattr(tasks, "draw", lambda *_: SimpleNamespace(X_test=None, y_test=np.arange(1000) % 10 // 7))
    report = Report(quiet=True)
    calibration._measure(report, data, "maxent", calibration.DRAWS)
    row = next(row for row in report.rows if "largest loss" in row.what)
    assert row.values == pytest.approx([worse] * calibration.DRAWS)
    assert row.ok == (worse < 0.01)


def _learner_that_says(confidence: float) -> Any:
    estimator = SimpleNamespace(
        calibration_temperature_=1.0,
        decision_function=lambda X: np.full(1000, np.log(0.3 / 0.7)),
        predict_proba=lambda X: np.tile([confidence, 1 - confidence], (1000, 1)),
    )
    return lambda task, **settings: SimpleNamespace(estimator=estimator, seconds=1.0)
