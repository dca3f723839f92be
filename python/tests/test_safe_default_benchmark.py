"""The benchmark of the default: how its rows are labeled, what it demands by hand, and its sections on planted rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import safe_default, tasks
from benchmarks.report import Report
from benchmarks.safe_default import Draw

SIZES = (300, 60, 40)


def planted() -> tasks.DataSet:
    """Rows around a centre for each class, of very different size, with a hierarchy that is to be left out."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(3), SIZES))
    X = rng.normal(size=(len(y), 12))
    X[np.arange(len(y)), y] += 3
    names = np.array(["a.x", "a.y", "b"])[y]
    return tasks.data_set("planted", sp.csr_matrix(X / np.linalg.norm(X, axis=1)[:, None]), names, hierarchy=".")


def n_labels(task: tasks.Task) -> list[int]:
    return np.bincount(task.y[~task.unlabeled], minlength=3).tolist()


# ------------------------------------------------------------------ tasks
def test_as_many_rows_are_drawn_as_are_picked() -> None:
    picked, drawn = (safe_default.few_labels(planted(), 20, way, 0) for way in safe_default.WAYS)
    assert n_labels(picked) == [20, 20, 15]  # half of the 30 training rows of the smallest class
    assert sum(n_labels(drawn)) == 55
    assert n_labels(drawn)[0] > 30
    assert picked.hierarchy is None
    assert (picked.X != drawn.X).nnz == 0
    for task in (picked, drawn):
        assert (task.given[~task.unlabeled] == task.y[~task.unlabeled]).all()
        assert len(task.y_test) == 100


def test_a_cell_with_few_unlabeled_rows_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert safe_default.few_labels(planted(), 80, "picked", 0) is not None
    monkeypatch.setattr(safe_default, "LEAST_UNLABELED", 0.7)
    assert safe_default.few_labels(planted(), 20, "picked", 0) is not None
    assert safe_default.few_labels(planted(), 80, "picked", 0) is None


def test_the_given_shares_are_those_of_the_classes_with_labels() -> None:
    task = safe_default.few_labels(planted(), 20, "picked", 0)
    assert safe_default.given_shares(task) == pytest.approx(task.class_prior)
    task.given[task.y == 2] = -1
    total = task.class_prior["a.x"] + task.class_prior["a.y"]
    given = {name: task.class_prior[name] / total for name in ("a.x", "a.y")}
    assert safe_default.given_shares(task) == pytest.approx(given)


# ------------------------------------------------------------------ report
def test_what_the_cells_come_to_by_hand() -> None:
    cells = {
        "good": [Draw(0.5, 0.6, 0.7, 1.0, None), Draw(0.5, 0.8, 0.7, 2.0, None)],
        "bad": [Draw(0.9, 0.88, 0.9, 1.0, 3.0), Draw(0.9, 0.88, 0.9, 3.0, 2.0)],
    }
    found = Report(quiet=True)
    for what, draws in cells.items():
        safe_default.row(found, what, draws)
    safe_default.default_verdicts(found)
    good, bad, worst, gain, time, time_maxent = found.rows
    assert (worst.measured, worst.ok, worst.note) == ("-0.02000", False, "bad")
    assert worst.values == pytest.approx([0.2, -0.02])
    assert (float(gain.measured), gain.ok) == (pytest.approx(0.9), True)  # (0.2 - 0.02) of (0.2 + 0)
    assert (time.values, time.ok) == ([1.5, 2.0], False)
    assert (time_maxent.values, time_maxent.ok) == ([2.5], True)
    assert good.note == "0.500, default 0.700, true shares 0.700 (+0.200); time 1.50"
    assert bad.note == "0.900, default 0.880, true shares 0.900 (+0.000); time 2.00, maxent 2.50"


def test_a_set_has_a_row_for_each_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(safe_default.SETS, "k1b", lambda seed: planted())
    found = Report(quiet=True)
    safe_default.section("k1b")(found, draws=1)
    safe_default.default_verdicts(found)
    cells = [f"planted, {k} a class, {way}" for k in (5, 20, 80) for way in ("picked", "drawn")]
    assert [row.what for row in found.rows[:-4]] == [f"{cell}: default - supervised" for cell in cells]
    assert ["maxent" in row.note for row in found.rows[:-4]] == [False, False, True, True, False, False]
    assert len(found.rows[-1].values) == 2
