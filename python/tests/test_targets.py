"""The same labels in two forms are the same targets."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from fewlabel._inputs import _targets
from fewlabel.labels import Soft

NAMES = ["a.x", "a.y", "b.x", "b.y"]
PARENTS = {name: name[0] for name in NAMES}
ROWS = st.lists(st.sets(st.sampled_from(NAMES)), min_size=1, max_size=9)  # the classes of each row; none: unlabeled
MATRICES = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(st.sampled_from([0, 1, -1]), min_size=3, max_size=3), min_size=n, max_size=n)
)


def read(y: Any, hierarchy: Any = None) -> list[Any]:
    """Targets as lists: classes, and of each row its names and probabilities."""
    targets = _targets.one_a_row(y, hierarchy=hierarchy)
    entries = np.split(np.arange(len(targets.numbers)), targets.indptr[1:-1])
    names = targets.classes.tolist()
    weak = [[(names[targets.numbers[k]], round(float(targets.probabilities[k]), 12)) for k in each] for each in entries]
    return [[(names[code], 1.0)] if code >= 0 else found for code, found in zip(targets.codes, weak, strict=True)]


def objects(rows: list[Any]) -> np.ndarray:
    y = np.empty(len(rows), dtype=object)
    y[:] = rows
    return y


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_sets_are_equal_probabilities_and_sets_of_one_are_labels(rows: list[set[str]]) -> None:
    expected = [[(name, round(1 / len(row), 12)) for name in sorted(row)] for row in rows]
    P = np.array([[(name in row) / max(1, len(row)) for name in NAMES] for row in rows])
    labels = [next(iter(row)) if len(row) == 1 else row or None for row in rows]
    for y in ([row or None for row in rows], objects(labels), Soft(P, NAMES), Soft(sp.csr_array(P), NAMES)):
        assert read(y) == expected


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_groups_are_the_sets_of_their_classes(rows: list[set[str]]) -> None:
    known = [{name} for name in NAMES]
    sets = objects([row or None for row in [*known, *rows]])
    within = [{name[0] for name in row if {f"{name[0]}.x", f"{name[0]}.y"} <= row} for row in rows]
    grouped = [
        {name for name in row if name[0] not in groups} | groups for row, groups in zip(rows, within, strict=True)
    ]
    short = [next(iter(row)) if len(row) == 1 else row or None for row in grouped]
    for hierarchy in (PARENTS, "."):
        assert read(objects([*NAMES, *short]), hierarchy) == read(sets, hierarchy) == read(sets)


@settings(max_examples=60, deadline=None)
@given(MATRICES)
def test_every_form_of_several_columns(matrix: list[list[int]]) -> None:
    y = np.array([[1, 0, 0], *matrix], dtype=np.int32)
    missing = np.where(y < 0, None, y.astype(object))
    for form in (y, y.tolist(), y.astype(float), sp.csr_array(y), sp.coo_matrix(y), missing, missing.tolist()):
        targets = _targets.read(form)
        assert isinstance(targets, _targets.Columns)
        np.testing.assert_array_equal(targets.codes, y)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.data())
def test_rows_without_weight_are_unlabeled(rows: list[set[str]], data: Any) -> None:
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=len(rows), max_size=len(rows))))
    y = objects([*NAMES, *[row or None for row in rows]])
    targets = _targets.one_a_row(y, sample_weight=np.append(np.ones(4), weights))
    kept = objects([*NAMES, *[row if row and w else None for row, w in zip(rows, weights, strict=True)]])
    for one, other in zip(targets[:6], _targets.one_a_row(kept)[:6], strict=True):
        np.testing.assert_array_equal(one, other)


def test_soft_gives_its_rows() -> None:
    P = np.array([[0.5, 0.5], [0, 1], [0, 0], [1, 0]])
    for soft in (Soft(P), Soft(sp.csr_array(P))):
        assert (len(soft), soft.shape, soft.classes.tolist()) == (4, (4,), [0, 1])
        for rows in ([1, 3], np.array([1, 3]), np.array([False, True, False, True]), slice(1, 4, 2)):
            assert read(soft[rows]) == [[(1, 1.0)], [(0, 1.0)]]


@pytest.mark.parametrize(
    ("P", "classes", "message"),
    [
        ([0.5, 0.5], None, r"must have shape \(n_rows, n_classes\)"),
        ([["a", "b"]], None, "must hold real numbers, got 'a'"),
        ([[0.5, 0.5]], ["a"], "must have 2 names, one a column"),
        ([[0.5, 0.5]], ["a", "a"], "have a name twice"),
    ],
)
def test_bad_probabilities(P: Any, classes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Soft(P, classes)


def test_names_are_plain_texts() -> None:
    given = _targets.one_a_row([np.str_("a"), None, "b"])
    assert [type(name) for name in given.classes] == [str, str]
