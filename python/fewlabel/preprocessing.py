"""Preparation of rows: texts, selectors of features, and the lengths of blocks of columns."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

from fewlabel._compat import BaseEstimator, OneToOneFeatureMixin, Self, TransformerMixin
from fewlabel._inputs import _data, _numbers, _targets

__all__ = ["BlockScaler", "labeled_only", "text_vectorizer"]


def text_vectorizer(**settings: Any) -> TfidfVectorizer:
    """Scikit-learn's `TfidfVectorizer` as texts need it, with unit rows; not fitted.

    Words of two letters or more, without English stop words, words of more than a fifth of the texts and words of a
    single text; 1 + log(count) times idf.

    Parameters
    ----------
    **settings : object
        Parameters of `TfidfVectorizer` in place of those of the recipe, such as the `stop_words` of another language.

    Examples
    --------
    >>> from fewlabel.preprocessing import text_vectorizer
    >>> text_vectorizer(min_df=1, max_df=0.5).fit(["the red wine", "a dry wine", "2 beers"]).get_feature_names_out()
    array(['beers', 'dry', 'red'], dtype=object)
    """
    letters = r"[^\W\d_]{2,}"  # of any script
    recipe = {"token_pattern": letters, "stop_words": "english", "max_df": 0.2, "min_df": 2, "sublinear_tf": True}
    return TfidfVectorizer(**recipe | settings)


def labeled_only(score_func: Callable[..., Any], *, unlabeled: Any = "auto") -> Callable[..., Any]:
    """Score of features by the labeled rows alone, for `SelectKBest` and other selectors by score.

    Scores such as `chi2` take the marker for a class, and keep the words that tell labeled from unlabeled rows. The
    result is a function of X and y with markers, -1 or None, as selectors refuse NaN. It needs a labeled row.

    Parameters
    ----------
    score_func : callable
        Called with the labeled rows and their labels, such as `chi2` or `mutual_info_classif`.
    unlabeled : as in `TransductiveSVC`
    """
    if not _numbers.is_function(score_func):
        raise ValueError(f"score_func must be a function of X and y, such as chi2, got {score_func!r:.60}")
    return partial(_of_labeled, score_func=score_func, unlabeled=unlabeled)  # can be pickled


def _of_labeled(X: Any, y: Any, score_func: Callable[..., Any], unlabeled: Any) -> Any:
    no_row = "y has no labeled row: no feature has a score"
    return score_func(*_targets.labeled_part(X, y, unlabeled, no_row=no_row)[:2])


@dataclass(kw_only=True, eq=False, repr=False)
class BlockScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale a block of columns so that its rows have a given root mean square length.

    For `ColumnTransformer`, behind the encoder of the columns beside a text: as long as the rows of tf-idf, they would
    make gaps that a transductive fit follows.

    Parameters
    ----------
    norm : float, default=0.1
        Root mean square length of the rows of the block, above 0.

    Attributes
    ----------
    scale_ : float
        Factor of the block; 1 if all its values are 0.
    n_features_in_, feature_names_in_ : number and names of the features

    Examples
    --------
    >>> from fewlabel.preprocessing import BlockScaler
    >>> BlockScaler().fit_transform([[1.0, 0.0], [0.0, 1.0]])
    array([[0.1, 0. ],
           [0. , 0.1]])
    """

    norm: float = 0.1

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the factor.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        y : not used
        """
        norm = _numbers.check_positive("norm", self.norm)
        X = _data.rows_of(self, X, reset=True)
        _data.check_finite(X)
        values = X
        if sp.issparse(X):
            values = sp.csr_array(X, copy=True)  # arrays may be longer than the rows, and entries given twice
            values.sum_duplicates()
            values = values.data
        values = np.abs(values, dtype=np.float64).ravel()
        if (largest := float(values.max(initial=0.0))) == 0:
            self.scale_ = 1.0
            return self
        with np.errstate(over="ignore"):
            length = np.linalg.norm(values / largest) / np.sqrt(X.shape[0])  # squares neither overflow nor vanish
            self.scale_ = float(norm / length / largest)
        if not np.isfinite(self.scale_):
            raise ValueError(f"X has no value above {largest!r}: too small to be scaled to norm={self.norm!r}")
        return self

    def transform(self, X: Any) -> Any:
        """A copy of the block, multiplied by the factor: an array or sparse matrix (n_rows, n_features).

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        """
        check_is_fitted(self)
        X = _data.rows_of(self, X, reset=False)
        _data.check_finite(X)
        return (X.astype(np.float64) * self.scale_).astype(X.dtype)  # factors of float32 may not be of this type

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
