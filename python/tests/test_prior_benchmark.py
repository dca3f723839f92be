"""The benchmark of the class prior on planted rows: equal labels, uneven classes, and what it tells."""

import numpy as np
import pytest
from planted import many_topics

from benchmarks import class_tasks, prior, strength
from benchmarks.report import Report

TOPICS = many_topics(n=1200, seed=3)
NAMES = np.array(["a", "b", "c", "d"])
ROWS = class_tasks.class_set("planted", TOPICS.X, NAMES[TOPICS.truth])


def test_equal_labels_say_nothing_of_the_shares() -> None:
    task = prior.equal_labels(ROWS, 42, seed=1)
    counts = np.bincount(task.given[~task.unlabeled])
    assert sorted(counts.tolist()) == [10, 10, 11, 11]
    assert (task.given[~task.unlabeled] == task.y[~task.unlabeled]).all()
    assert task.X.shape[0] + task.X_test.shape[0] == 1200


def test_uneven_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_tasks, "newsgroups20", lambda: ROWS)
    whole, some = np.bincount(ROWS.y), np.bincount(prior.uneven_newsgroups(0).y)
    assert sorted(some / whole) == pytest.approx([1 / 4, 1 / 3, 1 / 2, 1], abs=0.02)


def test_a_section(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_tasks, "reuters_r8", lambda: ROWS)
    monkeypatch.setattr(prior, "DRAWS", 2)
    monkeypatch.setattr(prior, "LABELS", 40)
    report = Report(quiet=True)
    prior.prior_r8(report)
    found = {row.what.removeprefix("planted: "): row for row in report.rows}
    distances = found["L1 distance of the estimate / of the label shares"]
    assert distances.ok
    assert len(distances.values) == 2
    assert max(distances.values) < min(found["L1 distance of the label shares"].values)
    further = found["L1 distance with 40 further labels"].values
    assert max(further) < min(found["L1 distance of the label shares"].values)
    inside = found["true shares inside the 90% interval"]
    assert inside.note == "of 2 draws, 4 shares each"
    assert float(inside.measured) > 0.5
    way = found["way from label shares to true prior"]
    assert way.note.startswith("of 0.")
    assert way.ok


def test_the_way_and_its_gain() -> None:
    report = Report(quiet=True)
    prior._way(report, "x", {"label shares": [0.5, 0.6], "estimate": [0.7, 0.7], "true prior": [0.7, 0.8]})
    last = report.rows[-1]
    assert (last.measured, last.ok, last.note) == ("0.7500", False, "of 0.200 to gain, standard error 0.000")


def test_the_mean_loss_is_judged() -> None:
    report = Report(quiet=True)
    strength.strength_mean(report)
    assert not report.rows
    for held, soft in (0.2, 0.12), (0.1, 0.02):
        report.fact(f"x, {strength.HELD}", held)
        report.fact(f"x, {strength.SOFT}", soft)
    strength.strength_mean(report)
    last = report.rows[-1]
    assert float(last.measured) == pytest.approx(0.07)
    assert last.ok
    assert last.note == "of 2"


def test_overlapping_classes_are_told_with_the_worst_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prior, "OVERLAPPING_DRAWS", 3)
    distances = {0: (0.1, 0.2), 1: None, 2: (0.3, 0.6)}
    monkeypatch.setattr(prior, "_overlapping", lambda apart, labels, seed: distances[seed])
    report = Report(quiet=True)
    prior.prior_overlapping(report)
    assert len(report.rows) == 16
    of_labels, found = report.rows[:2]
    assert (of_labels.values, found.values) == ([0.1, 0.3], [0.2, 0.6])
    assert found.note == "at most 0.600"


def test_a_draw_of_overlapping_classes() -> None:
    of_labels, found = prior._overlapping(4.0, 150, 0)
    assert 0 < of_labels < 0.3
    assert 0 < found < 0.1
    assert prior._overlapping(1.0, 10, 0) is None
