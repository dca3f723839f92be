"""What is known of the classes of rows, read once from every form of `y`.

Targets are the classes and, for each row, a sparse list of (class, probability): of a label one, of a set equal ones.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from fewlabel._inputs import _data, _hierarchy, _markers, _memory, _weights
from fewlabel._inputs._markers import listed
from fewlabel._inputs._soft import Description, Soft

UNLABELED = -1  # class number of a row without a label


class Targets(NamedTuple):
    """Labels, and in compressed row form the weakly labeled rows: sets and probabilities of classes."""

    classes: np.ndarray  # (K,) sorted names
    codes: np.ndarray  # (n,) int32, number k in `classes`; -1: no label; -2 - k: the row describes class k
    indptr: np.ndarray  # (n + 1,) int64, of the entries: two or more of a weakly labeled row, none of another one
    numbers: np.ndarray  # (n_entries,) int32, class of each entry
    probabilities: np.ndarray  # (n_entries,) above 0; a row sums to 1
    minus_one: bool  # unlabeled="auto" treats -1 as the marker
    weights: np.ndarray | None = None  # (n,) float64 of the rows; None: all 1. A row of weight 0 has no label

    @property
    def labeled(self) -> np.ndarray:
        return self.codes >= 0

    @property
    def described(self) -> np.ndarray:
        """Which rows describe a class (n,)."""
        return self.codes < UNLABELED

    @property
    def values(self) -> np.ndarray:
        """The labels, in the order of the rows."""
        return self.of(self.labeled)

    @property
    def weak(self) -> np.ndarray:
        """Which rows have a set or probabilities (n,)."""
        return np.diff(self.indptr) > 0

    @property
    def even(self) -> bool:
        """Whether all weakly labeled rows have sets."""
        sizes = np.diff(self.indptr)
        return np.array_equal(self.probabilities, np.repeat(1 / np.maximum(1, sizes), sizes))

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Labels of these rows, all of which are labeled."""
        return self.classes[self.codes[rows]]

    def or_none(self) -> np.ndarray:
        """Labels (n,), or None."""
        found = np.full(len(self.codes), None, dtype=object)
        found[self.labeled] = self.values
        return found

    def counts(self) -> np.ndarray:
        """Number (K,) of the labels of each class."""
        return np.bincount(self.codes[self.labeled], minlength=len(self.classes))

    def known(self) -> np.ndarray:
        """Which classes have a label or a description (K,)."""
        return np.isin(np.arange(len(self.classes)), class_numbers(self.codes))

    def frequencies(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Classes with labels or descriptions, their numbers of labels, and that of the rows where -1 is the marker."""
        known, counted = self.known(), True if self.weights is None else self.weights != 0
        unlabeled = (self.codes == UNLABELED) & ~self.weak & counted
        return self.classes[known], self.counts()[known], int(self.minus_one and np.sum(unlabeled))

    def totals(self) -> np.ndarray:
        """Total weight (K,) of the labeled rows of each class."""
        weights = None if self.weights is None else self.weights[self.labeled]
        return np.bincount(self.codes[self.labeled], weights, minlength=len(self.classes)).astype(float)

    def weighted(self, weights: np.ndarray | None) -> "Targets":
        """With weights of the rows, and without what is known of rows of weight 0."""
        targets = self._replace(weights=weights)
        return targets if weights is None or weights.all() else targets._only(weights != 0)

    def certain(self) -> "Targets":
        """Without weak labels."""
        return self._only(~self.weak)

    def without(self, names: Iterable[Any]) -> "Targets":
        """Without the labels that have one of these names."""
        names = set(names)
        out = np.isin(self.codes, [k for k, name in enumerate(self.classes.tolist()) if name in names])
        return self._only(~out) if out.any() else self

    def _only(self, kept: np.ndarray) -> "Targets":
        sizes = np.diff(self.indptr)
        entries = np.repeat(kept, sizes)
        return self._replace(
            codes=np.where(kept, self.codes, UNLABELED).astype(np.int32),
            indptr=_ends(sizes * kept),
            numbers=self.numbers[entries],
            probabilities=self.probabilities[entries],
        )

    def among(self, classes: np.ndarray) -> "Targets":
        """The same with these classes, which must have every name that a row has."""
        place = {name: k for k, name in enumerate(classes.tolist())}
        moved = np.array([place.get(name, UNLABELED) for name in self.classes.tolist()] + [UNLABELED], dtype=np.int32)
        codes, numbers = _describing(moved[class_numbers(self.codes)], self.described), moved[self.numbers]
        if (numbers < 0).any():
            entry = int((numbers < 0).argmax())
            name, row = self.classes[self.numbers[entry]], np.searchsorted(self.indptr, entry, side="right") - 1
            found = f"y names the class {name!s} among those of row {row}, but no row has this label"
            raise ValueError(f"{found}: label a row of it, or name it by a dict class_prior")
        return self._replace(classes=classes, codes=codes, numbers=numbers)


class Columns(NamedTuple):
    """Several labels a row."""

    codes: np.ndarray  # (n, k) int32: 1, 0, or -1: unknown; -3, -2: 1, 0 of a row with a description
    weights: np.ndarray | None = None  # (n,) float64; None: all 1


def class_numbers(codes: np.ndarray) -> np.ndarray:
    """Numbers of the classes that rows have as their label or describe; -1: none."""
    return _describing(codes, codes < UNLABELED)


def _describing(numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Class numbers as codes, if these `rows` are descriptions, and back. -1 stays."""
    return np.where(rows, -2 - numbers, numbers)


# ------------------------------------------------------------------ forms of y
def read(
    y: Any,
    unlabeled: Any = "auto",
    hierarchy: Any = None,
    class_prior: Any = None,
    sample_weight: Any = None,
    *,
    name: str = "y",
    whole: bool = True,
) -> Targets | Columns:
    """What `y` says: labels and markers, sets, groups of a class tree, `Soft`, or columns of 0, 1 and markers.

    If it is the `whole` y of a fit, it is refused where -1 may be a class, as in the files of SVMlight.
    """
    given = _of_soft(y) if isinstance(y, Soft) else _of_entries(_markers.table(y, name), unlabeled, name, whole)
    weights = _weights.of_rows(sample_weight, len(given.codes))
    if isinstance(given, Columns):
        return given._replace(weights=weights)
    targets = given.weighted(weights)
    if whole:
        every = not ((given.codes == UNLABELED) & ~given.weak).any()
        _markers.refuse_texts(given.classes, given.counts(), unlabeled, every)
        _markers.refuse_signs(*targets.frequencies())
        _markers.warn_of_three(*targets.frequencies())
    return with_groups(targets, hierarchy, class_prior)


def one_a_row(
    y: Any, unlabeled: Any = "auto", hierarchy: Any = None, sample_weight: Any = None, *, whole: bool = True
) -> Targets:
    """Labels of one class a row; rows of a set, a group or probabilities have none."""
    targets = read(y, unlabeled, hierarchy, sample_weight=sample_weight, whole=whole)
    if isinstance(targets, Columns):
        raise ValueError("y has several labels a row, which are not supported here: give one column of y at a time")
    return targets


def plain(y: Any, unlabeled: Any = "auto", name: str = "y") -> Targets:
    """Labels and markers alone."""
    targets = read(y, unlabeled, name=name, whole=False)
    if isinstance(targets, Columns) or targets.weak.any() or targets.described.any():
        found = "sets, probabilities or descriptions of classes or several columns"
        raise ValueError(f"{name} has {found}: give one label a row here")
    return targets


def _of_entries(values: np.ndarray, unlabeled: Any, name: str, whole: bool) -> Targets | Columns:
    if values.ndim == 2 and values.shape[1] > 1:
        return _of_columns(values, unlabeled, name, whole)
    return _of_labels(_markers.column(values, name), unlabeled, name)


def _of_labels(values: np.ndarray, unlabeled: Any, name: str) -> Targets:
    """Labels and markers, and sets and descriptions among them."""
    n, rows = len(values), np.arange(len(values))
    values, described = _without_descriptions(values)
    is_set = _each_is(values, set | frozenset)
    if is_set.any():
        sizes = [len(value) for value in values[is_set]]
        if 0 in sizes:
            row = rows[is_set][sizes.index(0)]
            raise ValueError(f"{name} has an empty set in row {row}: a set holds the classes that the row may have")
        _ask(sum(sizes))
        members = _markers.objects([element for value in values[is_set] for element in value])
        rows = np.append(rows[~is_set], np.repeat(rows[is_set], sizes))
        values = np.append(values[~is_set], members)
    marked, minus_one = _markers.marked(values, unlabeled)
    if (within := np.flatnonzero(marked & is_set[rows])).size:
        found, row = values[within[0]], rows[within[0]]
        raise ValueError(f"{name} has the marker {found!s} within a set of classes in row {row}")
    labels, kept = _markers.as_labels(values[~marked], rows[~marked], unlabeled, name), rows[~marked]
    classes, numbers = np.unique(labels, return_inverse=True)
    made = _made(classes, kept, numbers, None, n)._replace(minus_one=bool(minus_one.any()))
    if (wrong := described & (made.codes < 0)).any():
        why = "by a marker of unlabeled rows" if np.isin(wrong.argmax(), rows[marked]) else "of no one class"
        raise ValueError(f"{name} has a Description {why} in row {wrong.argmax()}: give it the name of a class")
    return made._replace(codes=_describing(made.codes, described))


def _without_descriptions(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The labels (n,), also of descriptions, and which are these (n,)."""
    if (described := _each_is(values, Description)).any():
        values = values.copy()
        values[described] = _markers.objects([one.label for one in values[described]])
    return values, described


def _each_is(values: np.ndarray, kind: Any) -> np.ndarray:
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.array([isinstance(value, kind) for value in values], dtype=bool)


def _of_soft(y: Soft) -> Targets:
    """Probabilities of classes; rows of zeros are unlabeled."""
    _ask(y.probabilities.size)
    P = sp.csr_array(y.probabilities)
    used, numbers = np.unique(P.indices, return_inverse=True)
    rows = np.repeat(np.arange(len(y)), np.diff(P.indptr))
    classes, order = np.unique(y.classes[used], return_inverse=True)
    return _made(classes, rows, order[numbers], P.data, len(y))


def _of_columns(values: np.ndarray, unlabeled: Any, name: str, whole: bool) -> Columns:
    """Several labels a row: a matrix of 0, 1 and markers, a column for each label."""
    flat, described = _without_descriptions(values.ravel())
    unknown, minus_one = _markers.marked(flat, unlabeled)
    known = flat[~unknown]
    numbers = known.dtype.kind in "biuf" or all(_markers.kind_of(value) not in (str, object) for value in known)
    wrong = known[(known != 0) & (known != 1)] if numbers else [v for v in known if isinstance(v, str)] or known
    if len(wrong):
        first = np.asarray(wrong).tolist()[0]
        beside = " beside None or NaN, which mark unknown entries" if first == -1 and unknown.any() else ""
        wanted = f"{name} has {values.shape[1]} columns, several labels a row, which must hold 0, 1 and markers; found"
        cure = "MultiLabelBinarizer makes it. Write probabilities as fewlabel.labels.Soft(y), sets of classes as sets"
        raise ValueError(f"{wanted} {first!r:.40}{beside}. {cure}")
    if (nothing := described & unknown).any():
        row = nothing.argmax() // values.shape[1]
        raise ValueError(f"{name} has a Description of neither 0 nor 1 in row {row}: Description(1) describes a column")
    drawn = flat[~unknown & ~described]
    if whole and minus_one.any() and drawn.size and not (drawn == 0).any():
        cure = "write 0 for no label, or pass unlabeled=-1 if it marks unknown entries"
        raise ValueError(f"{name} holds columns of 1 and -1 only, which is ambiguous: {cure}")
    codes = np.full(flat.shape, UNLABELED, dtype=np.int32)
    codes[~unknown] = known.astype(np.int32)
    of_descriptions: Any = described.reshape(values.shape).any(axis=1, keepdims=True)
    return Columns(_describing(codes.reshape(values.shape), of_descriptions))


def with_groups(targets: Targets, hierarchy: Any, class_prior: Any, names: Iterable[Any] = ()) -> Targets:
    """Groups of a class tree, as labels and within sets, as sets of the classes below them; `names`: other labels.

    For a fit, which has a class_prior, these are the classes with a label or a share, if there are any. The description
    of a group is that set.
    """
    known = targets.classes.tolist()
    below = _hierarchy.leaves(hierarchy, [*known, *names])
    if not (groups := [name for name in known if name in below]):
        return targets
    if not targets.even:
        raise ValueError(f"y has labels that are groups of hierarchy ({groups[0]!r}) beside probabilities")
    shares = class_prior if isinstance(class_prior, Mapping) else ()
    fitted = {*targets.classes[targets.known()].tolist(), *names, *shares} if class_prior is not None else set()
    _hierarchy.refuse_groups({group: below[group] for group in groups}, fitted - below.keys(), class_prior)
    below = {group: [name for name in leaves if name in fitted] or leaves for group, leaves in below.items()}
    members = [below.get(name, [name]) for name in known]
    labels = _markers.in_one_type(_markers.objects([name for each in members for name in each]), "y or hierarchy")
    labels = labels.astype(str) if targets.classes.dtype.kind == "U" else labels
    classes, places = np.unique(labels, return_inverse=True)
    ends = _ends(np.array([len(each) for each in members]))
    member = sp.csr_array((np.ones(len(places)), places, ends), shape=(len(known), len(classes)))
    codes = class_numbers(targets.codes)
    rows = np.append(np.flatnonzero(codes >= 0), np.repeat(np.arange(len(codes)), np.diff(targets.indptr)))
    found = member[np.append(codes[codes >= 0], targets.numbers)]
    pairs = np.unique(np.repeat(rows, np.diff(found.indptr)) * len(classes) + found.indices)  # overlaps once
    made = _made(classes, *np.divmod(pairs, len(classes)), None, len(codes))
    codes = _describing(made.codes, targets.described)
    return made._replace(codes=codes, weights=targets.weights, minus_one=targets.minus_one)


def _ask(n_entries: int) -> None:
    """Refuse sets and probabilities of classes with more entries than can be read."""
    _memory.need(90.0 * n_entries, f"{n_entries} classes of rows in y", "give fewer rows, or fewer classes to each")


def _made(
    classes: np.ndarray, rows: np.ndarray, numbers: np.ndarray, probabilities: np.ndarray | None, n: int
) -> Targets:
    """Targets of n rows from entries in any order; None: those of a row have equal probabilities."""
    counts = np.bincount(rows, minlength=n)
    codes = np.full(n, UNLABELED, dtype=np.int32)
    one = counts[rows] == 1
    codes[rows[one]] = numbers[one]
    weak = np.flatnonzero(~one)
    weak = weak[np.lexsort((numbers[weak], rows[weak]))]
    p = 1 / counts[rows[weak]] if probabilities is None else probabilities[weak]
    return Targets(classes, codes, _ends(np.where(counts > 1, counts, 0)), numbers[weak].astype(np.int32), p, False)


def _ends(sizes: np.ndarray) -> np.ndarray:
    return np.append(0, np.cumsum(sizes)).astype(np.int64)


# ------------------------------------------------------------------ classes of a fit
def learned(targets: Targets, class_prior: Any = None) -> Targets:
    """Among the classes of a fit: those with a label, else those of weak labels, and those that `class_prior` names."""
    known = targets.classes[targets.known()]
    if not len(known) and not len(known := targets.classes[np.unique(targets.numbers)]):
        raise ValueError("y has no labeled row: every label is the marker `unlabeled` or has a sample_weight of zero")
    classes = with_classes_of(class_prior, known, len(targets.codes))
    _markers.warn_of_names(classes.tolist())
    return targets.among(classes)


def with_classes_of(class_prior: Any, classes: np.ndarray, n_rows: int) -> np.ndarray:
    """The classes, and those that have no labeled row but an entry in the dict `class_prior`."""
    known, given = set(classes.tolist()), _data.plain(class_prior, "class_prior")
    given = given if isinstance(given, Mapping) else {}
    added = [_markers.plain(name) for name in given if name not in known]
    if not added:
        return classes
    kind = _markers.kind_of(classes[0])  # a name of another type is a mistake, not a class without labels
    if wrong := [name for name in added if not _markers.is_of_kind(name, kind)]:
        wanted = f"may have others than the classes with labeled rows ({listed(classes)}), with names of the same type"
        raise ValueError(f"class_prior {wanted}; unknown: {wrong!r:.200}")
    names = _markers.in_one_type(_markers.objects(added), "class_prior")
    names = names.astype(str) if classes.dtype.kind == "U" else names
    found = np.unique(_markers.in_one_type(np.concatenate([classes, names]), "y and class_prior"))
    if len(found) > n_rows:
        given = listed(_markers.objects(added))
        raise ValueError(f"class_prior names {given}: {len(found)} classes, more than the {n_rows} rows")
    return found


# ------------------------------------------------------------------ scores
def labeled_part(
    X: Any,
    y: Any,
    unlabeled: Any,
    sample_weight: Any = None,
    groups: Iterable[Any] = (),
    *,
    columns: bool = False,
    no_row: str = "no row to score: no row of y has a label. SemiSupervisedSplit tests labeled rows",
) -> tuple[Any, np.ndarray, Any]:
    """The rows with a label that is none of `groups`, their labels and their weights, for a score.

    Several labels a row, of which all are known, are labels if `columns`, and refused otherwise.
    """
    _data.check_order(X=X, y=y, sample_weight=sample_weight)
    targets = (read if columns else one_a_row)(y, unlabeled, sample_weight=sample_weight, whole=False)
    if isinstance(targets, Columns):
        labeled = targets.codes.min(axis=1) >= 0
        values = targets.codes[labeled]
    else:
        targets = targets.without(groups)
        labeled, values = targets.labeled, targets.values
    _data.check_lengths(X, labeled)
    X, weights = _data.admitted(X), targets.weights
    if not labeled.any():
        raise ValueError(f"{no_row} (see `unlabeled`)")
    if labeled.all():
        return X, values, weights
    rows = np.flatnonzero(labeled)
    return _safe_indexing(X, rows), values, None if weights is None else weights[rows]
