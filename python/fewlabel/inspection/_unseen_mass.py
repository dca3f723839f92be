"""The share of a row that lies on features unseen in training."""

from typing import Any

import numpy as np

from fewlabel._inputs import _data
from fewlabel.inspection import _linear_model


def unseen_mass(model: Any, X: Any) -> np.ndarray:
    """Share of each row that lies on features that no training row has.

    If it is large, the prediction relies on few features. If it grows over time, the data drifts.

    Parameters
    ----------
    model : classifier, pipeline or search
        Fitted.
    X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features), or what a pipeline takes
        Rows. A vectorizer with a vocabulary drops unknown words, so they are not counted; `HashingVectorizer` keeps
        them.

    Returns
    -------
    shares : ndarray of shape (n_rows,), float64
        Sum of the absolute values on unseen features divided by the sum over all features, from 0 to 1; 0 for an empty
        row.

    Notes
    -----
    A feature counts as unseen if its weight is exactly 0 for every class. Rows that do not change weights are rows of
    weight 0, unlabeled rows with `unlabeled_weight=0`, and, with method "pair_switching", rows that stay beyond the
    margin.

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.inspection import unseen_mass
    >>> X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.9, 0.1, 0.0], [0.1, 0.9, 0.0]])
    >>> model = TransductiveSVC().fit(X, [0, 1, -1, -1])
    >>> unseen_mass(model, [[1.0, 0.0, 3.0], [0.5, 0.5, 0.0]])
    array([0.75, 0.  ])
    """
    classifier, rows = _linear_model.final(model), _linear_model.rows_of(model, X)
    classifier.decision_function(rows)  # checks the rows
    rows = _linear_model.matrix(rows)
    _data.check_finite(rows, below=_data.HUGE)
    sizes = abs(rows)
    unseen = ~np.any(classifier.coef_, axis=0)
    totals = np.asarray(sizes.sum(axis=1), dtype=np.float64).ravel()
    shares = np.zeros(len(totals))
    np.divide(sizes @ unseen.astype(np.float64), totals, out=shares, where=totals > 0)
    return shares
