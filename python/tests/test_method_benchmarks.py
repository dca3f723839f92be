"""The benchmark that compares methods: figure 5 of the paper, on planted rows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import figure5, tasks
from benchmarks.report import Report


def planted(names: tuple[str, ...], n: int = 300, apart: float = 3.0) -> tasks.DataSet:
    """Rows around a centre for each class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, len(names), n)
    X = rng.normal(size=(n, 12))
    X[np.arange(n), y] += apart
    return tasks.data_set("planted", sp.csr_matrix(X / np.linalg.norm(X, axis=1)[:, None]), np.array(names)[y])


def two() -> tasks.DataSet:
    return planted(("first", figure5.REST))


# ------------------------------------------------------------------ figure 5
def test_figure5_has_a_row_for_each_point() -> None:
    found = Report(quiet=True)
    figure5.measure(found, two(), draws=2, labels=(16, 32))
    points = [row for row in found.rows if " labels: " in row.what]
    assert len(points) == 2 * len(figure5.METHODS)
    assert all(len(row.values) == 2 and 0 < row.values[0] <= 1 for row in points)
    assert found.data["planted"]["entropy"]["labels"] == (16, 32)
    assert found.data["planted"]["all labels"][figure5.MEASURE] == [np.mean(found.rows[0].values)]
    assert [row.ok is None for row in found.rows] == [True] * (1 + len(points)) + [False] * 4 + [True] * 4


def test_f_is_that_of_the_first_class() -> None:
    task = tasks.draw(two(), 16, 0)
    first = SimpleNamespace(predict=lambda X: np.full(X.shape[0], "first"))
    share = np.mean(task.classes[task.y_test] == "first")
    assert figure5.first_f(task, first) == pytest.approx(2 * share / (1 + share))
    assert figure5.first_f(task, SimpleNamespace(predict=lambda X: np.full(X.shape[0], figure5.REST))) == 0


def test_the_order_is_judged_by_the_mean_over_the_label_counts() -> None:
    level = dict(zip(figure5.METHODS, (0.5, 0.55, 0.6, 0.4, 0.8, 0.61), strict=True))
    found = Report(quiet=True)
    points = {m: [np.array([v - 0.1, v - 0.1]), np.array([v + 0.1, v + 0.1])] for m, v in level.items()}
    figure5._order(found, "x", points)
    verdicts = {row.what.removeprefix("x: ").partition(" - ")[0]: row.ok for row in found.rows if row.ok is not None}
    moved = [float(row.measured) for row in found.rows if row.what.endswith(figure5.MOVED)]
    assert moved == pytest.approx([level[m] - 0.55 for m in (*figure5.LOWER, *figure5.UPPER)], abs=1e-4)
    assert verdicts == {"entropy": True, "annealing": False, "expectation": True, "posterior": False}


def test_the_moved_threshold_predicts_the_shares() -> None:
    task = tasks.draw(planted(("first", figure5.REST), apart=1.0), 16, 0)
    moved = figure5.learned(task, figure5.MOVED)
    predicted = np.mean(moved.predict(task.X[task.unlabeled]) == task.classes[1])
    assert predicted == pytest.approx(task.shares[1], abs=1 / task.unlabeled.sum())


def test_large_sets_are_drawn_from() -> None:
    a, b = tasks.some_rows(two(), 100, (0, 5)), tasks.some_rows(two(), 100, (1, 5))
    assert a.X.shape[0] == b.X.shape[0] == 100
    assert (a.X != b.X).nnz > 0
