"""The benchmarks that compare methods: figure 5 of the paper, and the search for harm, both on planted rows."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score

from benchmarks import class_tasks, figure5, never_worse, plots
from benchmarks.report import Report


def planted(names: tuple[str, ...], n: int = 300, apart: float = 3.0) -> class_tasks.ClassSet:
    """Rows around a centre for each class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, len(names), n)
    X = rng.normal(size=(n, 12))
    X[np.arange(n), y] += apart
    return class_tasks.class_set("planted", sp.csr_matrix(X / np.linalg.norm(X, axis=1)[:, None]), np.array(names)[y])


def two() -> class_tasks.ClassSet:
    return planted(("first", figure5.REST))


def four() -> class_tasks.ClassSet:
    return planted(("a", "b", "c", "d"))


# ------------------------------------------------------------------ figure 5
def test_figure5_has_a_row_for_each_point_and_a_picture(tmp_path) -> None:
    found = Report(quiet=True)
    figure5.measure(found, two(), draws=2, most=32)
    points = [row for row in found.rows if " labels: " in row.what]
    assert len(points) == 2 * len(figure5.METHODS)
    assert all(len(row.values) == 2 and 0 < row.values[0] <= 1 for row in points)
    assert found.curves["planted"]["entropy"]["labels"] == [16, 32]
    assert [row.ok is None for row in found.rows] == [True] * (1 + len(points)) + [False] * 4 + [True] * 4
    assert [p.name for p in plots.write(found, tmp_path, "here")] == ["figure5.svg"]


def test_f_is_that_of_the_first_class() -> None:
    task = class_tasks.draw(two(), 16, 0)
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
    task = class_tasks.draw(planted(("first", figure5.REST), apart=1.0), 16, 0)
    moved = figure5.learned(task, figure5.MOVED)
    predicted = np.mean(moved.predict(task.X[task.unlabeled]) == task.classes[1])
    assert predicted == pytest.approx(task.shares[1], abs=1 / task.unlabeled.sum())


def test_large_sets_are_drawn_from(monkeypatch) -> None:
    monkeypatch.setattr(figure5, "MOST_ROWS", 100)
    a, b = figure5._some_rows(two(), 0), figure5._some_rows(two(), 1)
    assert a.X.shape[0] == b.X.shape[0] == 100
    assert (a.X != b.X).nnz > 0


def test_programs_refuse_unknown_sets(capsys) -> None:
    for program, known in (figure5, "gcat"), (never_worse, "k1b"):
        with pytest.raises(SystemExit):
            program.main(["--sets", "nothing"])
        told = capsys.readouterr().err
        assert "unknown set 'nothing': choose from" in told
        assert known in told


# ------------------------------------------------------------------ harm
def test_harm_silence_and_false_alarms_are_counted(monkeypatch) -> None:
    monkeypatch.setattr(class_tasks, "SETS", {"four": four})
    monkeypatch.setattr(never_worse.learners, "our_supervised", lambda task: SimpleNamespace(macro_f=0.8))
    fits = iter([(0.7, True), (0.7, False), (0.75, False), (0.795, True), None, (0.9, False)])
    outcomes = (fit and (SimpleNamespace(macro_f=fit[0]), fit[1]) for fit in fits)
    monkeypatch.setattr(never_worse, "_fitted", lambda task, method: next(outcomes))
    monkeypatch.setattr(never_worse, "by_chance", lambda task, plain, ours: 0.04)
    monkeypatch.setattr(never_worse.learners, "transductive", lambda task, method: SimpleNamespace(macro_f=0.85))
    found = Report(quiet=True)
    never_worse.search(found, ["four"], draws=(0, 1, 2), most=80, methods=["annealing"])
    said = ("the fit warned", "no warning", "no warning")
    notes = [f"{what}; told the true shares +0.0500; by chance ± 0.0400" for what in said]
    assert [row.note for row in found.rows[:-2]] == notes
    silent, beyond_chance = found.rows[-2:]
    assert (silent.measured, silent.ok) == ("2.000", False)
    assert silent.note == "of 5; 3 cases of harm; 1 warnings without; 1 draws with too few labels"
    assert beyond_chance.measured == "1.000"


def test_chance_is_that_of_all_coins() -> None:
    """Two of six test rows differ: the four ways to swap them."""
    data = planted(("a", "b", "c", "d"))
    task = dataclasses.replace(class_tasks.draw(data, 40, 0), X_test=np.arange(6), y_test=np.array([0, 0, 1, 1, 2, 3]))
    before, after = np.array(list("aabbcd")), np.array(list("abbbcc"))
    gains = []
    for swapped in ((), (1,), (5,), (1, 5)):
        one, other = before.copy(), after.copy()
        one[list(swapped)], other[list(swapped)] = after[list(swapped)], before[list(swapped)]
        f = [f1_score(np.array(list("aabbcd")), answers, average="macro", zero_division=0) for answers in (one, other)]
        gains.append(f[1] - f[0])
    plain, ours = (
        SimpleNamespace(estimator=SimpleNamespace(predict=lambda rows, told=told: told)) for told in (before, after)
    )
    assert never_worse.by_chance(task, plain, ours) == pytest.approx(np.sqrt(np.mean(np.square(gains))), rel=0.15)


def test_classes_that_lie_far_apart_come_to_no_harm(monkeypatch) -> None:
    monkeypatch.setattr(class_tasks, "SETS", {"four": lambda: planted(("a", "b", "c", "d"), apart=8.0)})
    found = Report(quiet=True)
    never_worse.search(found, ["four"], draws=(0,), most=40, methods=["annealing", "switching"])
    assert [row.measured for row in found.rows] == ["0", "0"]
    assert found.rows[0].ok
    assert found.rows[0].note.startswith("of 2; 0 cases of harm; 0 warnings")


def test_a_fit_tells_that_it_warned_and_that_it_refused() -> None:
    data = planted(("a", "b", "c", "d"), apart=8.0)
    found, warned = never_worse._fitted(class_tasks.draw(data, 80, 0), "annealing")
    assert found.macro_f > 0.9
    assert not warned
    assert never_worse._fitted(class_tasks.draw(data, 4, 0), "annealing") is None
