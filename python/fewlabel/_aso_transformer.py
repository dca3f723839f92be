"""ASOTransformer: features learned from unlabeled rows by auxiliary problems."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import TransformerMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from fewlabel._compat import as_chosen_sparse
from fewlabel._inputs import _data
from fewlabel._structure import Structure, canonical, read_labels


@dataclass(kw_only=True, eq=False, repr=False)
class ASOTransformer(TransformerMixin, Structure):
    """Features learned from unlabeled rows by alternating structure optimization.

    An auxiliary problem has labels that come from the rows themselves, for example: predict from the other words
    whether this word occurs. The weights that solve many such problems lie near a subspace of few dimensions (Ando and
    Zhang 2005). The coordinates of the rows in this subspace are additional features, which help any classifier trained
    on few labels.

    Parameters
    ----------
    n_components : int, default=50
        Number of dimensions of the subspace. If there are fewer auxiliary problems, there are as many components.
    auxiliary : str, callable, array of shape (n_rows, n_problems) or list of these, default="mask"
        The auxiliary problems. "mask": predict whether a feature occurs from all other features (with `feature_groups`,
        from those of the other groups). "frequent": predict which feature of one half is the largest from the features
        of the other half. "top_k" and "multi_k": a classifier of the labels is trained on one half of the features, and
        its first k choices are predicted from the other half, either all k in order or, for each class, whether it is
        among them. Both need `y`; k is 2 and 3 unless a number is given, as in "top_1". An array: nonzero entries are
        positive examples. A callable takes X (CSR) and y and returns such an array, optionally with an array
        (n_problems, n_features) whose nonzero entries are the features hidden from each problem. A list combines the
        problems of its entries.
    max_problems : int, default=1000
        Largest number of problems per strategy. The problems whose rarer answer has the most rows are kept.
    solver : {"none", "squared"}, default="none"
        "none": components of the masked, centered co-occurrences of features and answers. "squared": components of the
        weights that approximately solve the problems with squared loss (four conjugate gradient steps each). It takes
        several times as long.
    auxiliary_alpha : float, default=1e-3
        Regularization strength of the auxiliary problems, as `alpha` of `TransductiveSVC`. Not used by "none".
    n_iter : int, default=1
        Number of alternations between solving the problems and computing the components. Not used by "none".
    unit : bool, default=True
        Whether every problem has the same weight, regardless of the norm of its solution. False is the paper's
        objective.
    feature_groups : list of arrays, array-like of shape (n_features,) or None, default=None
        Groups of features, given as a list of feature indices per group or as the group of each feature. Every group
        gets its own components.
    structure_weight : float, default=1.0
        Norm of the structure features of a row, relative to the norm of the row. With groups, both norms are taken
        within each group.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`, as in `TransductiveSVC`.
    n_jobs : int or None, default=None
        Number of threads, as in `TransductiveSVC`. The result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the feature halves and of the computation of the components. None means a fixed seed.
    verbose : int, default=0
        Above 0: show the progress of `fit`, in a progress bar if tqdm is installed.
    output : {"both", "structure"}, default="both"
        Output of `transform`. "both": the features of X and the structure features, as CSR if X is sparse.
        "structure": the structure features alone, as an array.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features), or list of ndarray
        Orthonormal basis of the subspace. With `feature_groups`, one array (n_components, features of the group) per
        group.
    strengths_ : ndarray of shape (n_components,), or list of ndarray
        Singular value of each component.
    feature_groups_ : list of ndarray or None
        Feature indices of each group.
    n_problems_ : int
        Number of auxiliary problems.
    objective_ : ndarray of shape (n_iter,)
        Objective (equation 6 of the paper) after each alternation. Empty with solver "none".
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had names in `fit`.

    See Also
    --------
    ASOClassifier : The same features with a linear classifier.

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
        """Compute the components.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows. No labels are needed.
        y : array-like of shape (n_rows,) or (n_rows, n_labels), or None, default=None
            Labels, for strategies that need them. Ignored otherwise.

        Returns
        -------
        self : ASOTransformer
            The fitted transformer.

        Raises
        ------
        ValueError
            If a parameter is out of range, X cannot be used, or a strategy needs labels and has none.

        Warns
        -----
        DataWarning
            If there are fewer auxiliary problems than components; without any, nothing is added to X.
        """
        if self.output not in ("both", "structure"):
            raise ValueError(f'output must be "both" or "structure", got {self.output!r}')
        rows = canonical(_data.training_rows(self, X, reset=True))
        labels = None
        if y is not None and _needs_labels(self.auxiliary):
            labels = read_labels(y, self.unlabeled)
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
        features : CSR or ndarray of shape (n_rows, n_features + n_added), or ndarray of shape (n_rows, n_added)
            According to `output`; n_added is `n_components` times the number of groups. CSR if X is sparse.
        """
        check_is_fitted(self)
        X = canonical(_data.rows_of(self, X, reset=False))
        if self.output == "structure":
            return self._projected(X)
        if not sp.issparse(X):
            return np.hstack([X, self._added(X)])
        return as_chosen_sparse(sp.hstack([X, sp.csr_array(self._added(X))], format="csr"))

    def _assemble(self) -> int:
        """Handle of the components in the library."""
        return self._assemble_with(None, None)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features of `transform`.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features of X. None: the names seen in `fit`, or x0, x1, ...

        Returns
        -------
        names : ndarray of str
            Names of the features of X, unless `output` is "structure", followed by asotransformer0, asotransformer1,
            ...
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        n_added = sum(len(components) for _, components in self._parts())
        added = np.array([f"asotransformer{k}" for k in range(n_added)], dtype=object)
        return added if self.output == "structure" else np.concatenate([names, added])


def _needs_labels(auxiliary: Any) -> bool:
    parts = auxiliary if isinstance(auxiliary, list | tuple) else [auxiliary]
    return any(isinstance(part, str) and part.startswith(("top_", "multi_")) for part in parts)
