"""What is known of rows without a label: sets of the classes that they may have, and probabilities of the classes."""

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

_TOLERANCE = 1e-6  # of a sum of probabilities


class Weak(NamedTuple):
    """Rows without a label of which something is known."""

    rows: np.ndarray  # (m,)
    classes: np.ndarray  # (k,) names
    probabilities: np.ndarray  # (m, k); 0 where the row cannot have the class

    def names(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Sorted classes that a row with a weight can have."""
        known = self.probabilities if weights is None else self.probabilities[weights[self.rows] > 0]
        return np.unique(self.classes[known.any(axis=0)])


class Separated(NamedTuple):
    """Labels in which sets are replaced by None, and the sets."""

    values: np.ndarray  # (n,)
    rows: np.ndarray  # (m,) rows with sets of several classes
    sets: list[list[Any]]  # (m,)


def of_lists(y: Any) -> Any:
    """A list of rows of two or more numbers or markers as an array of numbers, or else of objects; others unchanged."""
    if not isinstance(y, list | tuple) or not all(isinstance(row, list | tuple | np.ndarray) for row in y):
        return y
    widths = {len(row) if getattr(row, "ndim", 1) == 1 else 0 for row in y}
    if len(widths) != 1 or min(widths) < 2:
        return y
    values = np.empty((len(y), *widths), dtype=object)
    values[:] = [list(row) for row in y]
    try:
        return values if any(isinstance(value, str) for value in values.ravel()) else values.astype(np.float64)
    except (TypeError, ValueError):
        return values


def is_matrix(y: Any) -> bool:
    """Whether y has rows of several columns."""
    return getattr(y, "ndim", 1) == 2 and y.shape[1] > 1


def of_matrix(y: Any) -> tuple[np.ndarray, np.ndarray, Weak]:
    """Rows with a label (n,), their labels, and the other rows, of probabilities (n, k).

    Names of classes are those of the columns of a data frame, else 0 ... k-1.
    """
    names = np.asarray(y.columns) if hasattr(y, "columns") else np.arange(y.shape[1])
    if len({isinstance(name, str) for name in names.tolist()}) > 1:
        raise ValueError(f"y has columns with names of several types, {names.tolist()!r:.80}: classes have one type")
    if len(set(names.tolist())) < len(names):
        raise ValueError(f"y has two columns for one class: {names.tolist()}")
    try:
        values = np.asarray(y.toarray() if sp.issparse(y) else y)
        if texts := [value for value in values.ravel() if isinstance(value, str)]:
            raise TypeError(f"found the text {str(texts[0])!r}")
        given = values.astype(np.float64)
    except (TypeError, ValueError) as reason:
        raise ValueError(
            f"y has {y.shape[1]} columns, which must hold 0, 1 and markers, or probabilities of classes: {reason}"
        ) from reason
    totals = given.sum(axis=1)
    bad = ~((given >= 0).all(axis=1) & ((abs(totals - 1) <= _TOLERANCE) | (totals == 0)))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"y has {y.shape[1]} columns and not only 0, 1 and markers, as several labels a row have, so its rows are "
            "probabilities of classes: each must be nonnegative and sum to 1, or be 0 (unlabeled); row "
            f"{row} is {given[row].tolist()!r:.80}. For sets of possible classes divide each row by its sum"
        )
    possible = np.count_nonzero(given, axis=1)
    labeled, rows = possible == 1, np.flatnonzero(possible > 1)
    return labeled, names[given[labeled].argmax(axis=1)], Weak(rows, names, given[rows])


def separate(values: np.ndarray) -> Separated | None:
    """The sets of an array of objects, taken out; None if there are none. A set of one class is a label."""
    if values.dtype.kind != "O":
        return None
    rows = [i for i, value in enumerate(values) if isinstance(value, set | frozenset)]
    if not rows:
        return None
    values, weak, sets = values.copy(), [], []
    for i in rows:
        members = list(values[i])
        if not members:
            raise ValueError(f"y has an empty set in row {i}: a set holds the classes that the row may have")
        values[i] = members[0] if len(members) == 1 else None
        if len(members) > 1:
            weak.append(i)
            sets.append(members)
    return Separated(values, np.array(weak, dtype=np.intp), sets)


def of_sets(rows: np.ndarray, sets: list[list[Any]], members: np.ndarray) -> Weak:
    """The rows of sets; `members` are the elements of all sets, one after the other, in one dtype."""
    classes, numbers = np.unique(members, return_inverse=True)
    sizes = np.array([len(each) for each in sets], dtype=np.intp)
    probabilities = np.zeros((len(rows), len(classes)))
    probabilities[np.repeat(np.arange(len(rows)), sizes), numbers] = np.repeat(1 / sizes, sizes)
    return Weak(rows, classes, probabilities)


def entries(weak: Weak, n_rows: int, classes: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, ...] | None:
    """In compressed row form, ends of rows, numbers in `classes` and probabilities; None if no row has a weight."""
    if weights is not None:
        counts = weights[weak.rows] > 0
        weak = Weak(weak.rows[counts], weak.classes, weak.probabilities[counts])
    if not len(weak.rows):
        return None
    place = {name: k for k, name in enumerate(classes.tolist())}
    named = np.any(weak.probabilities, axis=0).tolist()
    for k, name in enumerate(weak.classes.tolist()):
        if named[k] and name not in place:
            row = weak.rows[weak.probabilities[:, k].argmax()]
            raise ValueError(
                f"y names the class {name!r} among those of row {row}, but no row has this label and class_prior does "
                "not name it: label a row of it, or give its share by a dict class_prior"
            )
    known = [k for k in range(len(weak.classes)) if named[k]]
    columns = [
        place[weak.classes[k].item() if isinstance(weak.classes[k], np.generic) else weak.classes[k]] for k in known
    ]
    table = np.zeros((len(weak.rows), len(classes)))
    table[:, columns] = weak.probabilities[:, known]
    counts = np.zeros(n_rows + 1, dtype=np.int64)
    counts[weak.rows + 1] = np.count_nonzero(table, axis=1)
    rows, numbers = np.nonzero(table)
    return np.cumsum(counts), numbers.astype(np.int32), table[rows, numbers]


def leaves(hierarchy: Any, labels: list[Any]) -> dict[Any, list[Any]]:
    """Classes below each group with several of a tree, given as a dict from child to parent or as a separator."""
    below: dict[Any, list[Any]] = {}
    if isinstance(hierarchy, str) and hierarchy:
        separator, hierarchy = hierarchy, {}
        for name in labels:
            while isinstance(name, str) and separator in name:
                hierarchy[name] = name.rpartition(separator)[0]
                name = hierarchy[name]
    if not isinstance(hierarchy, Mapping) or not all(isinstance(name, Hashable) for name in hierarchy.values()):
        return below  # such a hierarchy is refused later
    parents = set(hierarchy.values())
    for name in hierarchy:
        group, seen = hierarchy[name], {name}
        while name not in parents and group is not None and group not in seen:
            seen.add(group)
            below.setdefault(group, []).append(name)
            group = hierarchy.get(group)
    return {group: names for group, names in below.items() if len(names) > 1}
