"""Which rows to label next."""

import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils import check_consistent_length

from fewlabel._inputs import _numbers, _scored
from fewlabel.inspection import _linear_model

# Twenty labels on top of forty, chosen against random, macro F on the test, six draws: Reuters R8 .853 and .761, 20
# Newsgroups (20 classes) .741 and .738.
ROUNDS = 20  # of the clustering
MOST_ROWS = 20_000  # that are clustered


def rank_to_label(model: Any, X: Any, n: int = 10, *, y: Any = None, unsure: float = 0.5) -> np.ndarray:
    """Choose rows to label next: rows of low margin that are representative of many others.

    The half of the rows with the smallest margins is clustered by direction into `n` clusters, and the row nearest to
    each center is chosen. Of more than 20,000 such rows, an evenly spaced subset is used.

    Parameters
    ----------
    model : classifier, pipeline or search
        Fitted.
    X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features), or what a pipeline takes
        Rows to choose from. Empty rows are not chosen.
    n : int, default=10
        Number of rows to choose; fewer are returned if there are fewer candidates.
    y : array-like of shape (n_rows,) or None, default=None
        Labels with markers; only unlabeled rows are chosen. None: any row can be chosen.
    unsure : float, default=0.5
        Share of the rows that are candidates, above 0 and at most 1: those with the smallest margins between the two
        highest class scores. With 1 the model has no influence.

    Returns
    -------
    rows : ndarray of shape (n,), int
        Row indices in X, ordered by cluster size, the largest first.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the model has only one class.
    TypeError
        If the model is no linear classifier of rows.

    Notes
    -----
    In six draws, twenty rows chosen this way in addition to forty labels improved the macro F more than twenty random
    rows: by 0.09 ± 0.04 on Reuters R8 and by 0.00 ± 0.03 on 20 Newsgroups. With few labels, choosing the smallest
    margins alone is a poor strategy.

    References
    ----------
    Xu et al. Representative Sampling for Text Classification Using Support Vector Machines. ECIR 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.inspection import rank_to_label
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.4, 0.6], [0.9, 0.1], [0.1, 0.9], [0.8, 0.1]])
    >>> model = TransductiveSVC().fit(X, [0, 1, -1, -1, -1, -1, -1, -1])
    >>> rank_to_label(model, X[2:], n=1)
    array([0])
    """
    if np.ndim(n):
        raise ValueError("n must be the number of rows to choose, got an array or list: pass labels as y=...")
    n = _numbers.check_count("n", n)
    if not isinstance(unsure, Real) or not 0 < unsure <= 1:
        raise ValueError(f"unsure must be a share above 0 and at most 1, got {unsure!r}")
    classifier, rows = _linear_model.final(model), _linear_model.rows_of(model, X)
    ordered = np.sort(_linear_model.class_scores(classifier, rows), axis=1)
    margins = ordered[:, -1] - ordered[:, -2]
    directions = normalize(_linear_model.matrix(rows))
    free = np.asarray(abs(directions).sum(axis=1)).ravel() > 0
    if y is not None:
        check_consistent_length(margins, y)
        free &= ~_scored.one_a_row(y, getattr(classifier, "unlabeled", "auto"), _linear_model.tree(classifier)).labeled
    candidates = np.flatnonzero(free)
    candidates = candidates[np.argsort(margins[candidates], kind="stable")]
    if len(candidates) <= n:
        return candidates
    candidates = candidates[: max(n, int(np.ceil(unsure * len(candidates))))]
    few = min(len(candidates), max(MOST_ROWS, n))
    candidates = candidates[np.arange(few) * len(candidates) // few]
    return _typical(candidates, directions, n)


def _typical(candidates: np.ndarray, directions: Any, n: int) -> np.ndarray:
    """The row nearest to each of n cluster centers, the largest cluster first; filled up with the first candidates if
    rows coincide."""
    rows = directions[candidates]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters
        found = KMeans(n, n_init=1, max_iter=ROUNDS, random_state=0).fit(rows)
    nearness = np.asarray(rows @ found.cluster_centers_.T)
    own = nearness[np.arange(len(candidates)), found.labels_]
    sizes = np.bincount(found.labels_, minlength=n)
    clusters = [k for k in np.argsort(-sizes, kind="stable") if sizes[k]]
    chosen = [int(np.argmax(np.where(found.labels_ == k, own, -np.inf))) for k in clusters]
    rest = np.setdiff1d(np.arange(len(candidates)), chosen)
    return candidates[[*chosen, *rest][:n]]
