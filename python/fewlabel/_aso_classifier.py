"""ASOClassifier: a linear classifier on the features and on structure learned from unlabeled rows."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from fewlabel._aso_transformer import ASOTransformer
from fewlabel._docstrings import described_as
from fewlabel._inputs import _data, _labels, _scored, _weights
from fewlabel._native import _fit, _scores
from fewlabel._structure import Structure, canonical, is_indicator, read_labels

_FREE = 1e3  # times the weight of structure features that are hardly regularized


@described_as(ASOTransformer)
@dataclass(kw_only=True, eq=False, repr=False)
class ASOClassifier(ClassifierMixin, Structure):
    """Linear classifier on the features and on structure learned from unlabeled rows by auxiliary problems.

    First, `ASOTransformer` learns the structure from all rows. Then a linear support vector machine is fitted on the
    labeled rows, with the structure features added. No class shares are needed, and a row may have several labels.

    Parameters
    ----------
    n_components, auxiliary, max_problems, solver, auxiliary_alpha, n_iter, unit : see `ASOTransformer`
    feature_groups, structure_weight : see `ASOTransformer`
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`, as in `TransductiveSVC`, or of unlabeled entries in an indicator matrix.
    n_jobs, random_state, verbose : see `ASOTransformer`
    alpha : float, default=1e-3
        Regularization strength of the classifier, above 0, as in `TransductiveSVC`.
    regularize_structure : bool, default=True
        Whether the weights of the structure features are regularized too. False is equation 8 of the paper and is less
        accurate: see the guide.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        Classes, sorted, without the marker. For an indicator matrix, a list with the classes of each column.
    coef_ : ndarray of shape (n_outputs, n_features + n_added), float64
        Weights of the features of X and of the structure features; one row for two classes.
    intercept_ : ndarray of shape (n_outputs,), float64
        Intercept of each output.
    components_, strengths_, feature_groups_, n_problems_, objective_ : see `ASOTransformer`
    n_features_in_, feature_names_in_ : see `ASOTransformer`

    See Also
    --------
    ASOTransformer : The structure features for any other classifier.
    TransductiveSVC : More accurate if the class shares are known.

    Notes
    -----
    The classifier is `TransductiveSVC` without unlabeled rows, and `alpha` has the same meaning. For an indicator
    matrix, one classifier is fitted per column, on the rows that are labeled in that column. The regularization term is
    alpha/2 rms² (‖w‖² + ‖v‖²), with the weights w of X and v of the structure features.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ASOClassifier":
        """Learn the structure from all rows, then fit the classifier on the labeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Training rows, labeled and unlabeled.
        y : array-like of shape (n_rows,) or (n_rows, n_labels)
            Labels, with the marker of `unlabeled` for rows without one; or an indicator matrix of 0, 1 and markers. A
            row may be labeled in some columns only: each column is fitted on the rows that are labeled in it.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each labeled row in the loss of the classifier. It has no effect on the structure.

        Returns
        -------
        self : ASOClassifier
            The fitted classifier.

        Raises
        ------
        ValueError
            As in `ASOTransformer`, or if no row is labeled or a column has no label.
        """
        rows = canonical(_data.training_rows(self, X, y=y, reset=True))
        given = read_labels(y, self.unlabeled)
        check_consistent_length(rows, given[0].labeled)
        matrix = is_indicator(y)
        if not matrix:
            _labels.encode(given[0])  # refuses ambiguous labels
        weights = _weights.check_sample_weight(sample_weight, rows.shape[0])
        self._learn(rows, y, given)
        weight = 1.0 if self.regularize_structure else _FREE
        added = self._added(rows) * weight
        features = sp.csr_array(sp.hstack([sp.csr_array(rows), sp.csr_array(added)], format="csr"))
        alpha = self.alpha / (1 + (weight * self.structure_weight) ** 2) if added.shape[1] else self.alpha
        fitted = [self._column(features, column, weights, alpha) for column in given]
        self.classes_ = [column.classes for column in fitted] if matrix else fitted[0].classes
        self.coef_ = np.vstack([column.coef for column in fitted])
        self.coef_[:, rows.shape[1] :] *= weight
        self.intercept_ = np.concatenate([column.intercept for column in fitted])
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision score of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_rows,) or (n_rows, n_outputs), float64
            Two classes: a score above 0 means `classes_[1]`. More classes: the class with the largest score is
            predicted. Indicator matrix: a score above 0 means 1.
        """
        check_is_fitted(self)
        X = canonical(_data.rows_of(self, X, reset=False))
        scores = _scores.scores(X, self.coef_[:, : self.n_features_in_], self.intercept_, self.n_jobs)
        if (added := self._added(X)).shape[1]:
            structure = self.coef_[:, self.n_features_in_ :]
            scores += _scores.scores(added, structure, np.zeros(len(structure)), self.n_jobs)
        return scores if len(self.coef_) > 1 else scores[:, 0]

    def predict(self, X: Any) -> np.ndarray:
        """Predicted class of each row, or 0 and 1 for each column of an indicator matrix.

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
            True labels, with markers for unlabeled rows or entries.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row. Not supported for an indicator matrix.

        Returns
        -------
        score : float
            Weighted share of the labeled rows that are classified correctly.
        """
        check_is_fitted(self)
        if not isinstance(self.classes_, list):
            return float(super().score(*_scored.labeled_part(X, y, self.unlabeled, sample_weight)))
        found = self.predict(X)
        right = [found[g.labeled, k] == g.values for k, g in enumerate(read_labels(y, self.unlabeled))]
        return float(np.concatenate(right).mean())

    def _assemble(self) -> int:
        """Handle of the fitted model in the library."""
        return self._assemble_with(self.coef_, self.intercept_)

    def _keep_model(self, classes: Any, fitted: _fit.Fitted) -> None:
        """Set the attributes from a model file."""
        self._keep_structure(fitted)
        n_outputs, arrays = fitted.report["n_outputs"], fitted.arrays
        self.classes_, self.intercept_ = classes, arrays["intercept"]
        by_feature = [arrays[name].reshape(-1, n_outputs) for name in ("coef", "structure_coef")]
        self.coef_ = np.ascontiguousarray(np.vstack(by_feature).T)

    def _column(
        self, features: sp.csr_array, given: _labels.Given, weights: np.ndarray | None, alpha: float
    ) -> "_Column":
        """The classifier of one column of labels."""
        from fewlabel._transductive_svc import TransductiveSVC

        classes = np.unique(given.values)
        if len(classes) == 1:
            shift = np.array([1.0 if classes[0] else -1.0]) if classes.dtype.kind in "biuf" else np.zeros(1)
            return _Column(classes, np.zeros((1, features.shape[1])), shift)
        model = TransductiveSVC(unlabeled=None, alpha=alpha, n_jobs=self.n_jobs)
        labeled = np.flatnonzero(given.labeled)
        model.fit(features[labeled], given.values, None if weights is None else weights[labeled])
        return _Column(model.classes_, model.coef_, model.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class _Column(NamedTuple):
    classes: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
