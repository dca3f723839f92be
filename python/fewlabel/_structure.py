"""Base class of ASOTransformer and ASOClassifier: learning components from auxiliary problems, and applying them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from fewlabel import _advice, _auxiliary, _progress
from fewlabel._estimator import Estimator
from fewlabel._inputs import _data, _labels, _numbers
from fewlabel._native import _fit, _scores, _structure, _threads
from fewlabel._warnings import DataWarning

_MOST_ROUNDS = 10**6  # of the library's option n_iter


class Strongest(NamedTuple):
    """The features of a component with the largest and the smallest weights."""

    component: int
    positive: list[tuple[Any, float]]  # (name, weight), the largest first
    negative: list[tuple[Any, float]]  # (name, weight), the smallest first


@dataclass(kw_only=True, eq=False, repr=False)
class Structure(Estimator):
    """The parameters, and the first of the two steps."""

    n_components: int = 50
    auxiliary: Any = "mask"
    max_problems: int = 1000
    solver: str = "none"
    auxiliary_alpha: float = 1e-3
    n_iter: int = 1
    unit: bool = True
    feature_groups: Any = None
    structure_weight: float = 1.0
    unlabeled: Any = "auto"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def strongest_features(self, n_features: int = 10, feature_names: Any = None) -> list[Strongest]:
        """The features with the largest and the smallest weights of each component.

        Parameters
        ----------
        n_features : int, default=10
            Number of features of each sign.
        feature_names : array-like of shape (`n_features_in_`,) or None, default=None
            Names of the features. None: the names seen in `fit`, or x0, x1, ...

        Returns
        -------
        table : list of Strongest
            One entry per component, group by group: `component`, its index; `positive` and `negative`, lists of (name,
            weight).

        Raises
        ------
        ValueError
            If `n_features` is out of range or the number of names is wrong.
        """
        check_is_fitted(self)
        n_features = _numbers.check_count("n_features", n_features)
        names = np.asarray(_check_feature_names_in(self, None) if feature_names is None else feature_names)
        if names.shape != (self.n_features_in_,):
            raise ValueError(f"feature_names must have {self.n_features_in_} names, has shape {names.shape}")
        table: list[Strongest] = []
        for features, components in self._parts():
            for row in components:
                order = np.argsort(row, kind="stable")
                low, high = order[:n_features], order[::-1][:n_features]
                pairs = [[(names[features[j]], float(row[j])) for j in some] for some in (high, low)]
                table.append(Strongest(len(table), *pairs))
        return table

    def _learn(self, X: Any, y: Any, labels: Sequence[_labels.Given] | None) -> None:
        """Compute the components; X is already validated."""
        self._check_numbers()
        if X.shape[0] < 2:
            raise ValueError("X has n_samples = 1: auxiliary problems need two rows or more")
        groups = _groups(self.feature_groups, X.shape[1])
        random = check_random_state(0 if self.random_state is None else self.random_state)
        context = _auxiliary.Context(
            None if labels is None else list(labels), groups, self.max_problems, random, 1e-3, self.n_jobs
        )
        rows = sp.csr_array(X)
        made = _auxiliary.make(self.auxiliary, rows, y, context)
        self.n_problems_ = made.labels.shape[1]
        n_components = min(self.n_components, self.n_problems_)
        _warn_of_few(self.n_components, self.n_problems_)
        if not n_components:
            self._keep_nothing(X.shape[1], groups)
            return
        options = {
            "solver": self.solver,
            "alpha": self.auxiliary_alpha,
            "n_iter": self.n_iter,
            "unit": self.unit,
            "threads": _threads.resolve(self.n_jobs),
            "random_state": random.randint(np.iinfo(np.int32).max),
        }
        with _progress.shown(type(self).__name__, self.verbose, "structure") as show:
            fitted = _structure.learn(rows, made, groups, n_components, options, (show,))
        self._keep_structure(fitted)
        self.objective_ = fitted.arrays["history.objective"]
        strengths = fitted.arrays["strengths"].reshape(-1, n_components)
        self.strengths_: Any = strengths[0] if groups is None else list(strengths)

    def _assemble_with(self, coef: np.ndarray | None, intercept: np.ndarray | None) -> int:
        """Handle in the library of the components and of a classifier, if there is one."""
        if not len(self._parts()[0][1]):
            raise ValueError("there is no component to save: there was no auxiliary problem in fit")
        groups = np.zeros(self.n_features_in_, dtype=np.int32)
        components = np.empty((self.n_features_in_, len(self._parts()[0][1])))
        for number, (features, part) in enumerate(self._parts()):
            groups[features], components[features] = number, part.T
        return _structure.assemble(self.structure_weight, components, groups, coef, intercept)

    def _keep_structure(self, fitted: _fit.Fitted) -> None:
        """Set the components from a fit or a model file."""
        report, arrays = fitted.report, fitted.arrays
        self.n_features_in_ = report["n_features"]
        components = arrays["components"].reshape(self.n_features_in_, -1)
        grouped = self.feature_groups is not None or report["n_groups"] > 1
        self._keep_components(components, arrays["groups"] if grouped else None)

    def _keep_components(self, components: np.ndarray, groups: np.ndarray | None) -> None:
        """Set the components from an array (d, h)."""
        self.feature_groups_: list[np.ndarray] | None = None
        self.components_: Any = np.ascontiguousarray(components.T)
        if groups is not None:
            self.feature_groups_ = [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]
            self.components_ = [np.ascontiguousarray(components[part].T) for part in self.feature_groups_]

    def _keep_nothing(self, d: int, groups: np.ndarray | None) -> None:
        """A structure without components, which adds nothing to X."""
        self._keep_components(np.empty((d, 0)), groups)
        self.objective_ = np.empty(0)
        self.strengths_ = np.empty(0) if groups is None else [np.empty(0) for _ in self.components_]

    def _check_numbers(self) -> None:
        for name in ("n_components", "max_problems", "n_iter"):
            _numbers.check_count(name, getattr(self, name))
        if self.n_iter > _MOST_ROUNDS:
            raise ValueError(f"n_iter is {self.n_iter}: it must be at most {_MOST_ROUNDS}")
        _numbers.check_positive("structure_weight", self.structure_weight)

    def _parts(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The features and the components (h, d_g) of each group."""
        if self.feature_groups_ is None:
            return [(np.arange(self.n_features_in_), self.components_)]
        return list(zip(self.feature_groups_, self.components_, strict=True))

    def _projected(self, X: Any) -> np.ndarray:
        """X Θᵀ (n, h) of validated rows; the groups side by side."""
        return np.hstack([projected for _, projected in self._of_groups(X)])

    def _added(self, X: Any) -> np.ndarray:
        """The structure features: the projections, scaled in each group to c times the norm of the row's features in
        it."""
        found = []
        for rows, projected in self._of_groups(X):
            squares = rows.multiply(rows).sum(axis=1) if sp.issparse(rows) else (rows * rows).sum(axis=1)
            wanted = self.structure_weight * np.sqrt(np.asarray(squares, dtype=np.float64).ravel())
            lengths = np.linalg.norm(projected, axis=1)
            factor = np.divide(wanted, lengths, out=np.zeros_like(lengths), where=lengths > 0)
            found.append(projected * factor[:, None])
        return np.hstack(found)

    def _of_groups(self, X: Any) -> Iterator[tuple[Any, np.ndarray]]:
        """The features of each group and their projections (n, h)."""
        if self.feature_groups_ is None:
            yield X, self._projection(X, self.components_)
            return
        rows = sp.csc_array(X)
        for features, components in self._parts():
            part = sp.csr_array(rows[:, features])
            yield part, self._projection(part, components)

    def _projection(self, X: Any, components: np.ndarray) -> np.ndarray:
        if not len(components):
            return np.empty((X.shape[0], 0))
        return _scores.scores(X, components, np.zeros(len(components)), self.n_jobs)


def _warn_of_few(n_components: int, n_problems: int) -> None:
    """Warn if there are fewer problems than components."""
    if not n_problems:
        _advice.warn(
            "no auxiliary problem is left, so no structure is added to X: each of the two answers of a problem needs "
            f'at least {_auxiliary.LEAST_POSITIVES} rows. For "mask" a feature must be 0 in some rows and not 0 in '
            "others: give a callable as auxiliary for other data.",
            DataWarning,
        )
    elif n_problems < n_components:
        _advice.warn(
            f"n_components is {n_components}, but there are {n_problems} auxiliary problems, so there are as many "
            "components.",
            DataWarning,
        )


def canonical(X: Any) -> Any:
    """X, or a copy with sorted indices and without duplicates or zeros: SciPy would change the caller's arrays. Values
    are checked."""
    _data.check_finite(X, below=_data.HUGE)
    if not sp.issparse(X):
        return X
    rows = sp.csr_array(X)
    if not (rows.has_canonical_format and rows.data.all()):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def _groups(feature_groups: Any, d: int) -> np.ndarray | None:
    """Group number (d,) of each feature, from a list of features per group or from the group of each feature."""
    if feature_groups is None:
        return None
    if not np.iterable(feature_groups) or any(part is None for part in feature_groups):
        raise ValueError(
            f"feature_groups must have a name or number for each of the {d} features, or a list of features for each "
            f"group, got {feature_groups!r}"
        )
    parts = list(feature_groups)
    if all(np.ndim(part) == 0 for part in parts):
        numbers = np.unique(np.asarray(parts), return_inverse=True)[1]
        if len(numbers) != d:
            raise ValueError(f"feature_groups has {len(numbers)} entries, but X has {d} features")
        return numbers.astype(np.int32)
    groups = np.full(d, -1, dtype=np.int32)
    for number, part in enumerate(parts):
        features = np.asarray(part)
        if features.dtype.kind not in "iu" or features.ndim != 1 or ((features < 0) | (features >= d)).any():
            raise ValueError(f"feature_groups[{number}] must list features 0 ... {d - 1}, got {part!r}")
        twice = features[groups[features] >= 0]
        if len(twice) or len(np.unique(features)) < len(features):
            raise ValueError(f"feature_groups overlap: feature {twice[0] if len(twice) else features[0]} is in two")
        groups[features] = number
    if (groups < 0).any():
        raise ValueError(
            f"feature_groups miss {np.sum(groups < 0)} of {d} features, for example {np.flatnonzero(groups < 0)[0]}: "
            "every feature must be in one group"
        )
    return groups


def is_indicator(y: Any) -> bool:
    """Whether y has several columns."""
    try:
        shape = np.asarray(y).shape
    except ValueError as reason:
        raise ValueError(
            "y holds lists of different lengths: give an indicator matrix of 0 and 1, such as that of scikit-learn's "
            "MultiLabelBinarizer, with markers where an entry has no label"
        ) from reason
    return len(shape) > 1 and shape[1] > 1


def read_labels(y: Any, unlabeled: Any) -> list[_labels.Given]:
    """Labels column by column; one column unless y is an indicator matrix."""
    if sp.issparse(y):
        raise ValueError("y is sparse: give an indicator matrix as an array, in which unlabeled entries can be marked")
    if not is_indicator(y):
        return [_labels.read(y, unlabeled)]
    matrix = np.asarray(y)
    if matrix.ndim > 2:
        raise ValueError(f"y must have one dimension, or two as an indicator matrix, got {matrix.ndim}")
    columns = [_labels.read(matrix[:, k], unlabeled) for k in range(matrix.shape[1])]
    for k, given in enumerate(columns):
        wrong = given.values[~np.isin(given.values, [0, 1])]
        if len(wrong):
            raise ValueError(f"y is an indicator matrix of 0, 1 and markers, but column {k} has {wrong[0]}")
        if not len(given.values):
            raise ValueError(f"column {k} of y has no labeled row: label one, or leave the column out")
    return columns
