"""Preparation of rows: the lengths of blocks of columns, embeddings smoothed by their neighbors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted, validate_data

from fewlabel._inputs import _numbers
from fewlabel._interrupts import interruptible

__all__ = ["BlockScaler", "NeighborSmoother"]


@dataclass(kw_only=True, eq=False, repr=False)
class BlockScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale a block of columns so that its rows have a given root mean square length.

    For `ColumnTransformer`, behind the encoder of the columns beside a text. Rows of tf-idf have length 1. One-hot
    columns of length 1 or a standardized number beside them make gaps that are wider than those between the classes,
    and a transductive fit follows the widest gap. At a tenth of the length of the text they add what they know.

    Parameters
    ----------
    norm : float, default=0.1
        Root mean square length of the rows of the block, above 0.

    Attributes
    ----------
    scale_ : float
        Factor of the block; 1 if all its values are 0.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns, if X had names in `fit`.

    See Also
    --------
    sklearn.preprocessing.Normalizer : Gives every row the same length.

    Notes
    -----
    All columns get the same factor. Zeros remain zeros, so sparse blocks remain sparse.

    Examples
    --------
    >>> from sklearn.compose import ColumnTransformer
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder, StandardScaler
    >>> from fewlabel.preprocessing import BlockScaler
    >>> columns = ColumnTransformer([
    ...     ("text", TfidfVectorizer(), "text"),
    ...     ("place", make_pipeline(OneHotEncoder(handle_unknown="ignore"), BlockScaler()), ["place"]),
    ...     ("length", make_pipeline(StandardScaler(), BlockScaler()), ["length"]),
    ... ])
    >>> BlockScaler().fit_transform([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    array([[0.1, 0. ],
           [0. , 0.1],
           [0.1, 0. ]])
    """

    norm: float = 0.1

    def fit(self, X: Any, y: Any = None) -> "BlockScaler":
        """Find the factor.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            The block.
        y : object, default=None
            Not used.

        Returns
        -------
        self : BlockScaler
            The fitted transformer.

        Raises
        ------
        ValueError
            If `norm` is not a number above 0, or X is invalid.
        """
        _numbers.check_positive("norm", self.norm)
        X = validate_data(self, X, accept_sparse=("csr", "csc", "coo"), dtype=(np.float64, np.float32))
        values = X.data if sp.issparse(X) else X
        length = float(np.linalg.norm(values)) / np.sqrt(X.shape[0])
        self.scale_ = float(self.norm / length) if length > 0 else 1.0
        return self

    def transform(self, X: Any) -> Any:
        """Multiply the block by the factor.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            The block.

        Returns
        -------
        X_scaled : {ndarray, sparse matrix or array} of shape (n_rows, n_features)
            A copy.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc", "coo"), dtype=(np.float64, np.float32), reset=False)
        return X * self.scale_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class NeighborSmoother(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Add to each embedding the mean of its nearest neighbors.

    An embedding has the subject of a text and much else. What neighbors have in common is the subject: their mean has
    less of the rest. With few labels of many classes that is worth as much as more labels, with and without unlabeled
    rows. Fit it on all rows, labeled and unlabeled.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of rows of `fit` in the mean; all if there are fewer. A row of `fit` is among its own neighbors.
    n_jobs : int or None, default=None
        Number of threads of the neighbor search, as in scikit-learn.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had names in `fit`.

    See Also
    --------
    fewlabel.GraphKernelFeatures : Features of a neighbor graph alone, for rows that lie along curves.

    Notes
    -----
    With rows x of length 1, and m the mean of the n_neighbors rows of `fit` with the largest inner products with x, the
    result is x + m / |m|, at length 1. It has the type of X, float32 or float64, and needs as much memory as X; the
    search for neighbors compares all pairs of rows.

    References
    ----------
    Wu, Souza, Zhang, Fifty, Yu and Weinberger (ICML 2019), simple graph convolution: rows averaged over a given graph.
    Here the graph is that of the nearest neighbors, and rows count as much as their neighbors.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.preprocessing import NeighborSmoother
    >>> model = make_pipeline(NeighborSmoother(), TransductiveSVC())
    >>> NeighborSmoother(n_neighbors=2).fit_transform([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]]).round(2)
    array([[ 0.97,  0.23],
           [ 0.77,  0.64],
           [ 0.38, -0.92]])
    """

    n_neighbors: int = 10
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> "NeighborSmoother":
        """Keep the rows.

        Parameters
        ----------
        X : {array-like, data frame} of shape (n_rows, n_features)
            All rows, labeled and unlabeled.
        y : object, default=None
            Not used.

        Returns
        -------
        self : NeighborSmoother
            The fitted transformer.

        Raises
        ------
        ValueError
            If `n_neighbors` is not a count, or X is invalid.
        """
        _numbers.check_count("n_neighbors", self.n_neighbors)
        rows = normalize(validate_data(self, X, dtype=(np.float64, np.float32)))
        self._neighbors = NearestNeighbors(n_neighbors=min(self.n_neighbors, len(rows)), n_jobs=self.n_jobs).fit(rows)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Smooth rows by their neighbors among the rows of `fit`.

        Parameters
        ----------
        X : {array-like, data frame} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        X_smooth : ndarray of shape (n_rows, n_features)
            Rows of length 1.
        """
        check_is_fitted(self)
        rows = normalize(validate_data(self, X, dtype=(np.float64, np.float32), reset=False))
        near = interruptible(lambda: self._neighbors.kneighbors(rows, return_distance=False))
        known, sums = self._neighbors._fit_X, np.zeros_like(rows)
        for column in near.T:
            sums += known[column]
        return normalize(rows + normalize(sums), copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
