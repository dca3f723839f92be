"""Which rows to label next."""

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.utils import check_consistent_length

from fewlabel import _labels, _linear_model


def rank_to_label(model: Any, X: Any, n: int = 10, *, y: Any = None, diversity: float = 0.5) -> np.ndarray:
    """Choose the rows whose labels would help most: where the model is unsure, and not alike.

    One row after the other is chosen, with the largest of (1 - resemblance)^diversity / (1 + margin): the margin is the
    score of the predicted class above that of the next one; the resemblance is the largest cosine between the row and
    those chosen before, at least 0. So of many copies of an unsure row one is chosen.

    Parameters
    ----------
    model : classifier, pipeline or search
        Fitted.
    X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features), or what a pipeline takes
        Rows to choose from.
    n : int, default=10
        How many to choose; fewer if there are not as many.
    y : array-like of shape (n_rows,) or None, default=None
        Labels with markers: only rows without a label are chosen. None: any row.
    diversity : float, default=0.5
        At least 0, which takes the smallest margins whatever the rows look like. The larger, the less alike are they.

    Returns
    -------
    rows : ndarray of shape (n,), int
        Numbers of the rows in X, the first choice first.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the model has one class only.

    Notes
    -----
    With a handful of labels, rows drawn at random teach as much: the margins of such a model mean little.

    A choice costs one product with X. That margin and angle should be weighed against each other is Brinker's advice;
    he adds them, and a copy can then be chosen before a row that is surer of its class.

    References
    ----------
    K. Brinker. Incorporating Diversity in Active Learning with Support Vector Machines. ICML 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.inspection import rank_to_label
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.2, 0.8], [0.9, 0.1]])
    >>> model = TransductiveSVC().fit(X, [0, 1, -1, -1, -1, -1])
    >>> rank_to_label(model, X[2:], n=2)
    array([0, 3])
    """
    n = _linear_model.at_least_one("n", n)
    if not isinstance(diversity, Real) or not 0 <= diversity < np.inf:
        raise ValueError(f"diversity must be a finite number of at least 0, got {diversity!r}")
    classifier, rows = _linear_model.final(model), _linear_model.rows_of(model, X)
    ordered = np.sort(_linear_model.class_scores(classifier, rows), axis=1)
    margins = ordered[:, -1] - ordered[:, -2]
    free = np.ones(len(margins), dtype=bool)
    if y is not None:
        check_consistent_length(margins, y)
        free = ~_labels.read(y, getattr(classifier, "unlabeled", "auto")).labeled
    directions = normalize(_linear_model.matrix(rows))
    resemblance, chosen = np.zeros(len(margins)), []
    for _ in range(min(n, int(free.sum()))):
        value = np.maximum(1 - resemblance, 0) ** diversity / (1 + margins)
        chosen.append(int(np.argmax(np.where(free, value, -1))))
        free[chosen[-1]] = False
        row = directions[[chosen[-1]]]
        cosines = directions @ (row.toarray() if sp.issparse(row) else row).ravel()
        resemblance = np.maximum(resemblance, cosines)
    return np.array(chosen, dtype=np.intp)
