"""ASOTransformer: features from structure that auxiliary problems over unlabeled rows share."""

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
        Length of the added features of a row, in lengths of the row; with groups of those of each group, in lengths of
        the row's features of this group.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`, as in `TransductiveSVC`.
    n_jobs : int or None, default=None
        Number of threads, as in `TransductiveSVC`. The result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves and of the search for components. None is a fixed seed.
    verbose : int, default=0
        Above 0 a bar, or lines where tqdm is not installed, show the progress of `fit`.
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
        features : CSR of shape (n_rows, n_features + n_added), or ndarray of shape (n_rows, n_added)
            As `output` says; n_added is `n_components` times the number of groups.
        """
        check_is_fitted(self)
        X = canonical(_data.rows_of(self, X, reset=False))
        _data.check_finite(X)
        if self.output == "structure":
            return self._projected(X)
        return as_chosen_sparse(sp.hstack([sp.csr_array(X), sp.csr_array(self._added(X))], format="csr"))

    def _assemble(self) -> int:
        """Handle of the components in the library."""
        return self._assemble_with(None, None)

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
