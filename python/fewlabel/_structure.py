"""ASOTransformer and ASOClassifier: structure that auxiliary problems over unlabeled rows share."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from fewlabel import _auxiliary
from fewlabel._compat import as_chosen_sparse
from fewlabel._inputs import _data, _labels
from fewlabel._native import _scores, _structure, _threads

_FREE = 1e3  # times the weight of structure features that are hardly regularized


class Strongest(NamedTuple):
    """The features of a component with the largest and the smallest weights."""

    component: int
    positive: list[tuple[Any, float]]  # (name, weight), the largest first
    negative: list[tuple[Any, float]]  # (name, weight), the smallest first


@dataclass(kw_only=True, eq=False, repr=False)
class _Structure(BaseEstimator):
    """What the transformer and the classifier share: the parameters, and the first of the two steps."""

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

    def strongest_features(self, n_features: int = 10, feature_names: Any = None) -> list[Strongest]:
        """The features with the largest and the smallest weights in each component.

        Parameters
        ----------
        n_features : int, default=10
            How many of either sign.
        feature_names : array-like of shape (n_features_in_,) or None, default=None
            Names of the features. None: those that X had in `fit`, or x0, x1, ...

        Returns
        -------
        table : list of Strongest
            For each component, those of all groups one behind the other: `component`, its number; `positive` and
            `negative`, lists of (name, weight).
        """
        check_is_fitted(self)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _learn(self, X: Any, y: Any, labels: Sequence[_labels.Given] | None) -> None:
        """Find the components; X is checked."""
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
        options = {
            "solver": self.solver,
            "alpha": self.auxiliary_alpha,
            "n_iter": self.n_iter,
            "unit": self.unit,
            "threads": _threads.resolve(self.n_jobs),
            "random_state": random.randint(np.iinfo(np.int32).max),
        }
        found = _structure.learn(
            rows, made.labels, made.hidden, np.ascontiguousarray(made.hides), groups, self.n_components, options
        )
        self.n_problems_ = made.labels.shape[1]
        self.objective_ = found.objective[np.isfinite(found.objective)]
        self.components_: Any = found.components
        self.strengths_: Any = found.strengths[0]
        self.feature_groups_: list[np.ndarray] | None = None
        if groups is not None:
            self.feature_groups_ = [np.flatnonzero(groups == group) for group in range(len(found.strengths))]
            self.components_ = [np.ascontiguousarray(found.components[:, part]) for part in self.feature_groups_]
            self.strengths_ = list(found.strengths)

    def _check_numbers(self) -> None:
        for name in ("n_components", "max_problems"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
        weight = self.structure_weight
        if not isinstance(weight, Real) or isinstance(weight, bool) or not 0 < weight < np.inf:
            raise ValueError(f"structure_weight must be a number above 0 and finite, got {weight!r}")

    def _parts(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The features and the components (h, d_g) of each group."""
        if self.feature_groups_ is None:
            return [(np.arange(self.n_features_in_), self.components_)]
        return list(zip(self.feature_groups_, self.components_, strict=True))

    def _projected(self, X: Any) -> np.ndarray:
        """X Θᵀ (n, h) of checked rows; those of the groups side by side."""
        if self.feature_groups_ is None:
            return _scores.scores(X, self.components_, np.zeros(len(self.components_)), self.n_jobs)
        rows = sp.csc_array(X)
        parts = [
            _scores.scores(sp.csr_array(rows[:, features]), components, np.zeros(len(components)), self.n_jobs)
            for features, components in self._parts()
        ]
        return np.hstack(parts)

    def _added(self, X: Any) -> np.ndarray:
        """The structure features (n, h): the projections, each row as long as that of X, times `structure_weight`."""
        features = self._projected(X)
        squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else (X * X).sum(axis=1)
        wanted = np.sqrt(np.asarray(squares, dtype=np.float64).ravel())
        lengths = np.linalg.norm(features, axis=1)
        factor = np.divide(wanted, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return features * (self.structure_weight * factor)[:, None]


def _groups(feature_groups: Any, d: int) -> np.ndarray | None:
    """The number of each feature's group (d,), from a list of lists of features or from such numbers."""
    if feature_groups is None:
        return None
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


def _is_indicator(y: Any) -> bool:
    """Whether y has several columns."""
    shape = np.asarray(y).shape
    return len(shape) > 1 and shape[1] > 1


def _read_labels(y: Any, unlabeled: Any) -> list[_labels.Given]:
    """Labels column by column; one column unless y is an indicator matrix."""
    if sp.issparse(y):
        raise ValueError("y is sparse: give an indicator matrix as an array, in which unlabeled entries can be marked")
    if not _is_indicator(y):
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


@dataclass(kw_only=True, eq=False, repr=False)
class ASOTransformer(TransformerMixin, _Structure):
    """Features from what the answers to many made-up questions about unlabeled rows have in common.

    Each question, an auxiliary problem, is answered by the rows themselves: does this word occur, judged by the other
    words? The weights of the answers span a subspace of few dimensions (Ando and Zhang 2005). The rows' coordinates in
    it are further features, which help any classifier that has few labels.

    Parameters
    ----------
    n_components : int, default=50
        Dimensions of the subspace, at most as many as problems.
    auxiliary : str, callable, array of shape (n_rows, n_problems) or list of these, default="mask"
        The problems. "mask": does a feature occur, judged by the others (by those of the other groups, if there are
        `feature_groups`). "frequent": which feature of one half is the largest, judged by the other half. "top_k",
        "multi_k": the first k choices of a classifier of the labels, trained on one half of the features, judged by the
        other half: all k in their order, or class by class whether it is among them; they need `y`; k is 2 and 3, or a
        number in its place, as in "top_1". An array: not 0 where the answer is yes. A callable gets X (CSR) and y and
        returns such an array, or with it an array (n_problems, n_features) that is not 0 at the features hidden from
        a problem. Of a list all problems are taken.
    max_problems : int, default=1000
        Of each strategy, those whose rarer answer has the most rows.
    solver : {"none", "squared"}, default="none"
        "none": the components of the masked, centered co-occurrences of features and answers. "squared": those of the
        weights that solve the problems with the squared loss, nearly: four steps of conjugate gradients each. It takes
        several times as long.
    auxiliary_alpha : float, default=1e-3
        Strength of the regularization of these weights, as `alpha` of `TransductiveSVC`. Not used by "none".
    n_iter : int, default=1
        Alternations of solving the problems and finding the components. Not used by "none".
    unit : bool, default=True
        Whether each problem counts the same, whatever the length of its weights; False is the paper's objective.
    feature_groups : list of arrays, array-like of shape (n_features,) or None, default=None
        Groups of features, as the numbers of those in each or as the group of each feature. Every group has components
        of its own.
    structure_weight : float, default=1.0
        Length of the added features of a row, in lengths of the row.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`, as in `TransductiveSVC`.
    n_jobs : int or None, default=None
        Number of threads, as in `TransductiveSVC`. The result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves and of the search for components. None is a fixed seed.
    output : {"both", "structure"}, default="both"
        What `transform` gives: the features of X and the added ones, as CSR, or the coordinates alone, as an array.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features), or list of ndarray
        The subspace, orthonormal rows. With `feature_groups` one array (n_components, features of the group) a group.
    strengths_ : ndarray of shape (n_components,), or list of ndarray
        Singular values, which tell how much of the problems each component has.
    feature_groups_ : list of ndarray or None
        Numbers of the features of each group.
    n_problems_ : int
        Number of auxiliary problems.
    objective_ : ndarray of shape (n_iter,)
        Equation 6 of the paper after each alternation; empty with solver "none".
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had them in `fit`.

    See Also
    --------
    ASOClassifier : The same with a classifier on top.

    References
    ----------
    Ando and Zhang (JMLR 2005): A framework for learning predictive structures from multiple tasks and unlabeled data.

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import ASOTransformer
    >>> X = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0], [1, 1, 0, 0]])
    >>> ASOTransformer(n_components=1).fit_transform(X).shape
    (6, 5)
    """

    output: str = "both"

    def fit(self, X: Any, y: Any = None) -> "ASOTransformer":
        """Find the components.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows; none needs a label.
        y : array-like of shape (n_rows,) or (n_rows, n_labels), or None, default=None
            Labels, for the strategies that need them; others ignore it.

        Returns
        -------
        self : ASOTransformer
            The fitted transformer.

        Raises
        ------
        ValueError
            If a parameter is out of range, X cannot be used, no problem is left, there are fewer problems than
            components, or a strategy needs labels and has none.
        """
        if self.output not in ("both", "structure"):
            raise ValueError(f'output must be "both" or "structure", got {self.output!r}')
        rows = _data.training_rows(self, X, reset=True)
        labels = None
        if y is not None and _needs_labels(self.auxiliary):
            labels = _read_labels(y, self.unlabeled)
            check_consistent_length(rows, *(given.labeled for given in labels))
        self._learn(rows, y, labels)
        return self

    def transform(self, X: Any) -> Any:
        """Add the structure features, or give the coordinates alone.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        features : CSR of shape (n_rows, n_features + n_added), or ndarray of shape (n_rows, n_added)
            As `output` says; n_added is `n_components` times the number of groups.
        """
        check_is_fitted(self)
        X = _data.rows_of(self, X, reset=False)
        _data.check_finite(X)
        if self.output == "structure":
            return self._projected(X)
        return as_chosen_sparse(sp.hstack([sp.csr_array(X), sp.csr_array(self._added(X))], format="csr"))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features of `transform`.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features of X. None: those that X had in `fit`, or x0, x1, ...

        Returns
        -------
        names : ndarray of str
            Those of X, unless `output` is "structure", and asotransformer0, asotransformer1, ...
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        n_added = sum(len(components) for _, components in self._parts())
        added = np.array([f"asotransformer{k}" for k in range(n_added)], dtype=object)
        return added if self.output == "structure" else np.concatenate([names, added])


def _needs_labels(auxiliary: Any) -> bool:
    parts = auxiliary if isinstance(auxiliary, list | tuple) else [auxiliary]
    return any(isinstance(part, str) and part.startswith(("top_", "multi_")) for part in parts)


@dataclass(kw_only=True, eq=False, repr=False)
class ASOClassifier(ClassifierMixin, _Structure):
    """Linear classifier on features and on structure that auxiliary problems over unlabeled rows share.

    First `ASOTransformer` learns the structure from all rows, then a linear support vector machine learns from the
    labeled ones, with the structure features added. It needs no class shares, and takes several labels a row.

    Parameters
    ----------
    n_components : int, default=50
        Dimensions of the structure, as the following ones in `ASOTransformer`.
    auxiliary : str, callable, array of shape (n_rows, n_problems) or list of these, default="mask"
        The auxiliary problems.
    max_problems : int, default=1000
        Of each strategy, those whose rarer answer has the most rows.
    solver : {"none", "squared"}, default="none"
        Whether the problems are solved.
    auxiliary_alpha : float, default=1e-3
        Strength of the regularization of their weights.
    n_iter : int, default=1
        Alternations of solving the problems and finding the components.
    unit : bool, default=True
        Whether each problem counts the same.
    feature_groups : list of arrays, array-like of shape (n_features,) or None, default=None
        Groups of features.
    structure_weight : float, default=1.0
        Length of the added features of a row, in lengths of the row.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`, as in `TransductiveSVC`; of unlabeled entries in an indicator matrix.
    n_jobs : int or None, default=None
        Number of threads, as in `TransductiveSVC`.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves and of the search for components. None is a fixed seed.
    alpha : float, default=1e-3
        Strength of the regularization of the classifier, above 0; as in `TransductiveSVC`, of the weights of X.
    regularize_structure : bool, default=True
        Whether the weights of the structure features are regularized, too. False is equation 8 of the paper, which
        costs accuracy: see the guide.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        Classes, sorted, without the marker; of an indicator matrix those of each column.
    coef_ : ndarray of shape (n_outputs, n_features + n_added), float64
        Weights of the features of X and of the structure features; one row for two classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Added to every score.
    components_, strengths_, feature_groups_, n_problems_, objective_ : see `ASOTransformer`
        The structure.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had them in `fit`.

    See Also
    --------
    ASOTransformer : The structure features for any other classifier.
    TransductiveSVC : More accurate where the class shares are known.

    Notes
    -----
    The classifier is `TransductiveSVC` without unlabeled rows, whose `alpha` means the same here and there; an
    indicator matrix has one for each column, from the rows that are labeled in it. Of the weights w of X and v of the
    structure features, alpha/2 rms² (‖w‖² + ‖v‖²) is added to the averaged losses.

    References
    ----------
    Ando and Zhang (JMLR 2005), section 4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import ASOClassifier
    >>> X = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0], [1, 1, 0, 0]])
    >>> ASOClassifier(n_components=1).fit(X, [0, -1, -1, 1, -1, -1]).predict(X)
    array([0, 0, 0, 1, 1, 0])
    """

    alpha: float = 1e-3
    regularize_structure: bool = True

    def fit(self, X: Any, y: Any) -> "ASOClassifier":
        """Find the structure, then learn from the labeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Training rows, labeled and unlabeled.
        y : array-like of shape (n_rows,) or (n_rows, n_labels)
            Labels, with the marker of `unlabeled` for rows without one; or an indicator matrix of 0, 1 and markers. A
            row may be labeled in some columns only: each column learns from the rows that it has labels for.

        Returns
        -------
        self : ASOClassifier
            The fitted classifier.

        Raises
        ------
        ValueError
            As in `ASOTransformer`, or if no row is labeled or a column has no label.
        """
        expected = None if y is None else "no_validation"  # None: scikit-learn says that y is missing
        rows = _data.training_rows(self, X, y=expected, reset=True)
        given = _read_labels(y, self.unlabeled)
        check_consistent_length(rows, given[0].labeled)
        matrix = _is_indicator(y)
        if not matrix:
            _labels.encode(given[0])  # refuses labels that can be read in two ways
        self._learn(rows, y, given)
        weight = 1.0 if self.regularize_structure else _FREE
        added = self._added(rows) * weight
        features = sp.csr_array(sp.hstack([sp.csr_array(rows), sp.csr_array(added)], format="csr"))
        alpha = self.alpha / (1 + (weight * self.structure_weight) ** 2)
        fitted = [self._column(features, column, alpha) for column in given]
        self.classes_ = [column.classes for column in fitted] if matrix else fitted[0].classes
        self.coef_ = np.vstack([column.coef for column in fitted])
        self.coef_[:, rows.shape[1] :] *= weight
        self.intercept_ = np.concatenate([column.intercept for column in fitted])
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Score of each row, unitless.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_rows,) or (n_rows, n_outputs), float64
            Two classes: above 0 means `classes_[1]`. More: the largest is that of the predicted class. Of an indicator
            matrix: above 0 means 1.
        """
        check_is_fitted(self)
        X = _data.rows_of(self, X, reset=False)
        scores = _scores.scores(X, self.coef_[:, : self.n_features_in_], self.intercept_, self.n_jobs)
        structure = _scores.scores(
            self._added(X), self.coef_[:, self.n_features_in_ :], np.zeros(len(self.coef_)), self.n_jobs
        )
        scores += structure
        return scores if len(self.coef_) > 1 else scores[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row, or 0 and 1 for each column of an indicator matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_rows,) or (n_rows, n_labels)
            Classes, in the dtype of `classes_`.
        """
        scores = self.decision_function(X)
        if isinstance(self.classes_, list):
            return (scores > 0).astype(np.int64)
        if len(self.classes_) == 1:
            return self.classes_[np.zeros(len(scores), dtype=np.intp)]
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of the predictions for the labeled rows, or for the labeled entries of an indicator matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,) or (n_rows, n_labels)
            True labels, with markers where there is none.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row; not with an indicator matrix.

        Returns
        -------
        score : float
            Share of the labeled rows, by weight, that get their label.
        """
        check_is_fitted(self)
        if not isinstance(self.classes_, list):
            return float(super().score(*_labels.labeled_part(X, y, self.unlabeled, sample_weight)))
        found = self.predict(X)
        right = [found[g.labeled, k] == g.values for k, g in enumerate(_read_labels(y, self.unlabeled))]
        return float(np.concatenate(right).mean())

    def _column(self, features: sp.csr_array, given: _labels.Given, alpha: float) -> "_Column":
        """The classifier of one column of labels."""
        from fewlabel._transductive_svc import TransductiveSVC

        classes = np.unique(given.values)
        if len(classes) == 1:
            shift = np.array([1.0 if classes[0] else -1.0]) if classes.dtype.kind in "biuf" else np.zeros(1)
            return _Column(classes, np.zeros((1, features.shape[1])), shift)
        model = TransductiveSVC(unlabeled=None, alpha=alpha, n_jobs=self.n_jobs)
        model.fit(features[np.flatnonzero(given.labeled)], given.values)
        return _Column(model.classes_, model.coef_, model.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class _Column(NamedTuple):
    classes: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
