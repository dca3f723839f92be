"""How much of a row the model has never seen."""

from typing import Any

import numpy as np

from fewlabel.inspection import _linear_model


def unseen_mass(model: Any, X: Any) -> np.ndarray:
    """Share of each row that the model knows nothing of: features that no training row had.

    Where it is large the model answers from the little it knows; where it grows over time the rows are drifting away.

    Parameters
    ----------
    model : classifier, pipeline or search
        Fitted.
    X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features), or what a pipeline takes
        Rows. A vectorizer with a vocabulary drops unknown words before they can be counted; `HashingVectorizer` does
        not.

    Returns
    -------
    shares : ndarray of shape (n_rows,), float64
        Sum of the absolute values on such features by that on all features, from 0 to 1; 0 for an empty row.

    Notes
    -----
    A feature counts as unseen if its weight is exactly 0 for every class, as it stays where no row, labeled or not,
    moves it. Rows that move nothing are those of weight 0, unlabeled ones with `unlabeled_weight=0`, and with method
    "pair_switching" those that lie beyond the margin throughout.

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
    sizes = abs(_linear_model.matrix(rows))
    unseen = ~np.any(classifier.coef_, axis=0)
    totals = np.asarray(sizes.sum(axis=1), dtype=np.float64).ravel()
    shares = np.zeros(len(totals))
    np.divide(sizes @ unseen.astype(np.float64), totals, out=shares, where=totals > 0)
    return shares
