"""ASOTransformer: features learned from unlabeled rows by auxiliary problems."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from fewlabel import _auxiliary, _progress, _warnings
from fewlabel._compat import Self, TransformerMixin, as_chosen_sparse
from fewlabel._estimator import Estimator
from fewlabel._inputs import _data, _numbers, _targets
from fewlabel._native import _fit, _library, _scores, _signatures, _views


class Strongest(NamedTuple):
    """The features of a component with the largest and the smallest weights."""

    component: int
    positive: list[tuple[Any, float]]  # (name, weight), the largest first
    negative: list[tuple[Any, float]]  # (name, weight), the smallest first


@dataclass(kw_only=True, eq=False, repr=False)
class ASOTransformer(TransformerMixin, Estimator):
    """Features learned from unlabeled rows by alternating structure optimization.

    An auxiliary problem has labels that come from the rows themselves, for example: predict from the other words
    whether this word occurs. The weights that solve many such problems lie near a subspace of few dimensions (Ando and
    Zhang, JMLR 2005). The coordinates of the rows in this subspace are further features, which help if labels are few.

    Parameters
    ----------
    n_components : int, default=50
        Number of dimensions of the subspace. If there are fewer auxiliary problems, there are as many components.
    auxiliary : str, callable, array of shape (n_rows, n_problems) or list of these, default="mask"
        The auxiliary problems. "mask": predict whether a feature occurs from all others (or those of other groups).
        "frequent": predict which feature of one half is the largest from the other half. "top_k" and "multi_k": predict
        the first k choices of a classifier of one half from the other half, in order, or for each class whether it is
        among them. Both need `y`; k is 2 and 3 unless a number is given, as in "top_1". An array: nonzero entries are
        positive examples. A callable takes X (CSR) and y and returns such an array, optionally with an array
        (n_problems, n_features) whose nonzero entries are the features hidden from each problem. A list: all of these.
    max_problems : int, default=1000
        Largest number of problems per strategy. The problems whose rarer answer has the most rows are kept.
    solver : {"none", "squared"}, default="none"
        "none": components of the masked, centered co-occurrences of features and answers. "squared": components of the
        weights that approximately solve the problems with squared loss (four conjugate gradient steps each).
    auxiliary_alpha : float, default=1e-3
        Strength of their regularization, as `alpha` of `TransductiveSVC`. Not used by "none".
    n_iter : int, default=1
        Number of alternations between solving the problems and computing the components. Not used by "none".
    unit : bool, default=True
        Whether every problem has the same weight, whatever the norm of its solution. False: the paper's objective.
    feature_groups : array-like of shape (n_features,) or None, default=None
        Name or number of the group of each feature. Every group gets its own components.
    structure_weight : float, default=1.0
        Norm of the structure features of a row, relative to the norm of the row, within each group.
    unlabeled, n_jobs : as in `TransductiveSVC`
    random_state : int, RandomState instance or None, default=None
        Seed. None means a fixed seed.
    verbose : as in `TransductiveSVC`
    output : {"both", "structure"}, default="both"
        Output of `transform`. "both": the features of X and the structure features, as CSR if X is sparse.
        "structure": the structure features alone, as an array.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features), or list of ndarray
        Orthonormal basis of the subspace. With `feature_groups`, an array (n_components, features of the group) each.
    strengths_ : ndarray of shape (n_components,), or list of ndarray, singular values of the components
    feature_groups_ : list of ndarray or None, feature indices of each group
    n_problems_ : int, number of auxiliary problems
    objective_ : ndarray of shape (n_iter,), of equation 6 of the paper; empty with solver "none"
    n_features_in_, feature_names_in_ : number and names of the features

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import ASOTransformer
    >>> X = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0], [1, 1, 0, 0]])
    >>> ASOTransformer(n_components=1).fit_transform(X).shape
    (6, 5)
    """

    n_components: int = 50
    auxiliary: Any = "mask"
    max_problems: int = 1000
    solver: Literal["none", "squared"] = "none"
    auxiliary_alpha: float = 1e-3
    n_iter: int = 1
    unit: bool = True
    feature_groups: Any = None
    structure_weight: float = 1.0
    unlabeled: Any = "auto"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    output: Literal["both", "structure"] = "both"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the components.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows. No labels are needed.
        y : as in `TransductiveSVC.fit`, for strategies that need labels, or None
        """
        self._check_parameters()
        for part in _auxiliary.listed(self.auxiliary):
            reads = callable(part) or _auxiliary.needs_labels(part)
            _data.check_order(X=X, y=y if reads else None, auxiliary=part)
        _data.check_order(**{"the columns of X": getattr(X, "columns", None), "feature_groups": self.feature_groups})
        rows = _data.canonical(_data.training_rows(self, X, reset=True))
        if rows.shape[0] < 2:
            raise ValueError("X has n_samples = 1: auxiliary problems need two rows or more")
        groups = _groups(self.feature_groups, rows.shape[1])
        random = _numbers.seeded(self.random_state)
        made = self._problems(sp.csr_array(rows), _data.admitted(y, "y") if sp.issparse(y) else y, groups, random)
        n_components = min(self.n_components, made.labels.shape[1])
        if not n_components:
            text = f"each of the two answers of a problem needs {_auxiliary.LEAST_POSITIVES} rows."
            _warnings.warn(f"no auxiliary problem is left, so no structure is added: {text}", _warnings.DataWarning)
        elif n_components < self.n_components:
            text = f"n_components is {self.n_components}, but there are {n_components} auxiliary problems."
            _warnings.warn(text, _warnings.DataWarning)
        components, objective = np.empty((rows.shape[1], 0)), np.empty(0)
        strengths = np.empty((1 if groups is None else 1 + groups.max(), 0))
        if n_components:
            options = self._library_options(("solver", "n_iter", "unit")) | {"alpha": self.auxiliary_alpha}
            options["random_state"] = random.randint(np.iinfo(np.int32).max)
            with _progress.shown(type(self).__name__, self.verbose, "structure") as show:
                matrices = (None if each is None else _views.rows(each) for each in (rows, made.labels, made.hidden))
                given = *matrices, np.ascontiguousarray(made.hides), groups, n_components
                call = partial(_library.call, "fewlabel_structure_fit", *given)
                arrays = _fit.trained(lambda _, *rest: call(*rest), options, (show,))[0].arrays
            objective, strengths = arrays["history.objective"], arrays["strengths"].reshape(-1, n_components)
            components = arrays["components"].reshape(-1, n_components)
        self._keep_components(components, groups)
        self.n_problems_, self.objective_ = made.labels.shape[1], objective
        self.strengths_: Any = strengths[0] if groups is None else list(strengths)
        return self

    def transform(self, X: Any) -> Any:
        """Add the structure features, or give the coordinates alone, as `output` says; CSR if X is sparse.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        """
        check_is_fitted(self)
        X = _data.canonical(_data.rows_of(self, X, reset=False))
        if self.output == "structure":
            return np.hstack([projected for _, projected in self._of_groups(X)])
        if not sp.issparse(X):
            return np.hstack([X, self._added(X)])
        return as_chosen_sparse(sp.hstack([X, sp.csr_array(self._added(X))], format="csr"))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features of X, unless `output` is "structure", and asotransformer0, asotransformer1, ...

        Parameters
        ----------
        input_features : array-like of str, names of the features of X, or None: those seen in `fit`, or x0, x1, ...
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        n_added = sum(len(components) for _, components in self._parts())
        added = np.array([f"asotransformer{k}" for k in range(n_added)], dtype=object)
        return added if self.output == "structure" else np.concatenate([names, added])

    def strongest_features(self, n_features: int = 10, feature_names: Any = None) -> list[Strongest]:
        """The features with the largest and the smallest weights of each component: a list of `Strongest`.

        Group by group: `component`, its index; `positive` and `negative`, pairs (name, weight).

        Parameters
        ----------
        n_features : int, default=10, number of features of each sign
        feature_names : array-like of shape (`n_features_in_`,), or None: the names seen in `fit`, or x0, x1, ...
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
                ends = order[::-1][:n_features], order[:n_features]
                pairs = [[(names[features[j]], float(row[j])) for j in end] for end in ends]
                table.append(Strongest(len(table), *pairs))
        return table

    def _check_parameters(self) -> None:
        if not (isinstance(self.output, str) and self.output in ("both", "structure")):
            raise ValueError(f'output must be "both" or "structure", got {self.output!r:.80}')
        for name in ("n_components", "max_problems"):
            _numbers.check_count(name, getattr(self, name))
        _numbers.check_positive("structure_weight", self.structure_weight)

    def _problems(
        self, rows: sp.csr_array, y: Any, groups: np.ndarray | None, random: np.random.RandomState
    ) -> _auxiliary.Problems:
        """The auxiliary problems; y is read only by strategies that need it."""
        codes = None
        if y is not None and _auxiliary.needs_labels(self.auxiliary):
            targets = _targets.read(y, self.unlabeled)
            one = None if isinstance(targets, _targets.Columns) else _targets.learned(targets.certain())
            codes = _targets.class_numbers(targets.codes if one is None else one.codes[:, None])
            _data.check_lengths(rows, codes)
        context = _auxiliary.Context(codes, groups, self.max_problems, random, self.n_jobs)
        return _auxiliary.make(self.auxiliary, rows, y, context)

    def _assemble(self) -> int:
        parts = self._parts()
        if not len(parts[0][1]):
            raise ValueError("there is no component to save: there was no auxiliary problem in fit")
        groups = np.zeros(self.n_features_in_, dtype=np.int32)
        components = np.empty((self.n_features_in_, len(parts[0][1])))
        for number, (features, part) in enumerate(parts):
            groups[features], components[features] = number, part.T
        sizes = {"n_features": len(components), "n_components": components.shape[1], "n_groups": len(parts)}
        return _fit.assemble(_signatures.STRUCTURE, sizes, {"components": components, "groups": groups})

    def _keep_model(self, _: None, fitted: _fit.Fitted) -> None:
        report, arrays = fitted.report, fitted.arrays
        self.n_features_in_ = report["n_features"]
        grouped = self.feature_groups is not None or report["n_groups"] > 1
        components = arrays["components"].reshape(self.n_features_in_, -1)
        self._keep_components(components, arrays["groups"] if grouped else None)

    def _keep_components(self, components: np.ndarray, groups: np.ndarray | None) -> None:
        """Set the components from an array (d, h)."""
        self.feature_groups_: list[np.ndarray] | None = None
        self.components_: Any = np.ascontiguousarray(components.T)
        if groups is not None:
            self.feature_groups_ = [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]
            self.components_ = [np.ascontiguousarray(components[part].T) for part in self.feature_groups_]

    def _parts(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The features and the components (h, d_g) of each group."""
        if self.feature_groups_ is None:
            return [(np.arange(self.n_features_in_), self.components_)]
        return list(zip(self.feature_groups_, self.components_, strict=True))

    def _added(self, X: Any) -> np.ndarray:
        """The projections, scaled in each group to `structure_weight` times the norm of the row's features in it."""
        found = []
        for rows, projected in self._of_groups(X):
            squares = rows.power(2, np.float64) if sp.issparse(rows) else np.square(rows, dtype=np.float64)
            wanted = float(self.structure_weight) * np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
            lengths = np.linalg.norm(projected, axis=1)
            factor = np.divide(wanted, lengths, out=np.zeros_like(lengths), where=lengths > 0)
            found.append(projected * factor[:, None])
        return np.hstack(found)

    def _of_groups(self, X: Any) -> Iterator[tuple[Any, np.ndarray]]:
        """The features of each group and their projections (n, h)."""
        columns = None if self.feature_groups_ is None else sp.csc_array(X)
        for features, components in self._parts():
            part, n_added = X if columns is None else sp.csr_array(columns[:, features]), len(components)
            scores = _scores.scores(part, components, np.zeros(n_added), self.n_jobs) if n_added else None
            yield part, np.empty((X.shape[0], 0)) if scores is None else scores


def _groups(feature_groups: Any, d: int) -> np.ndarray | None:
    """Group number (d,) of each feature."""
    if feature_groups is None:
        return None
    given = np.asarray(_data.plain(feature_groups, "feature_groups"))
    if given.shape != (d,) or any(group is None for group in given):
        raise ValueError(f"feature_groups must have a name or number for each of {d} features, got {given!r:.60}")
    return np.unique(given, return_inverse=True)[1].astype(np.int32)
