"""Cross-fitting: scores of labeled rows from models that have not seen their labels.

Rows that are equal are in the same fold, whatever their order: a row of weight 2 is the same as the row twice.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fewlabel import _data, _fit, _hierarchy

FOLDS = 5
KEPT = -1  # fold of a row that is in every training part


def choose(X: Any, codes: np.ndarray, n_folds: int = FOLDS, seed: int = 0) -> np.ndarray:
    """Fold (n,) of each labeled row; KEPT: the row is unlabeled, or its class has too few different rows to hold one
    out. The different rows of a class are dealt out in the order of a random projection, of this seed."""
    fold = np.full(len(codes), KEPT)
    place = places(X, seed)
    for c in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes == c)
        different, number = np.unique(place[rows], return_inverse=True)
        if len(different) > 1:
            fold[rows] = (number + c) % n_folds  # another first fold for each class: few labels spread evenly
    return fold


def n_different(X: Any) -> int:
    """Number of different rows."""
    return len(np.unique(places(X)))


def places(X: Any, seed: int = 0) -> np.ndarray:
    """A random projection (n,) of the rows: that of equal rows is equal."""
    return np.asarray(X @ np.random.default_rng(seed).standard_normal(X.shape[1]))


class Model(NamedTuple):
    """A model that was fitted in the library."""

    coef: np.ndarray  # (d, n_outputs)
    intercept: np.ndarray  # (n_outputs,)

    def scores(self, X: Any) -> np.ndarray:
        """Scores (n, K)."""
        return by_class(np.asarray(X @ self.coef) + self.intercept)


def models(
    X: Any, codes: np.ndarray, weights: np.ndarray | None, fold: np.ndarray, options: Mapping[str, Any]
) -> Iterator[tuple[np.ndarray, Model]]:
    """For each fold which rows (n,) are in it, and the model that did not see them."""
    for number in np.unique(fold[fold != KEPT]):
        out = fold == number
        yield out, fitted(X[~out], codes[~out], _of(weights, ~out), options)


def scores(
    X: Any, codes: np.ndarray, weights: np.ndarray | None, fold: np.ndarray, options: Mapping[str, Any]
) -> np.ndarray:
    """Scores (n, K) of the rows that have a fold, each of the model that did not see its fold; 0 elsewhere."""
    found = np.zeros((len(codes), n_classes(options)))
    for out, model in models(X, codes, weights, fold, options):
        found[out] = model.scores(X[out])
    return found


def fitted(X: Any, codes: np.ndarray, weights: np.ndarray | None, options: Mapping[str, Any]) -> Model:
    """Fit a model in the library."""
    report, arrays = _fit.fit(_data.native(X), np.ascontiguousarray(codes, dtype=np.int32), weights, options)
    return Model(arrays["coef"].reshape(report["n_features"], report["n_outputs"]), arrays["intercept"])


def by_class(decision: np.ndarray) -> np.ndarray:
    """Decision values as scores (n, K), of which the largest decides and softmax gives the probabilities."""
    if decision.ndim == 1 or decision.shape[1] == 1:
        return np.column_stack([np.zeros(len(decision)), decision.ravel()])
    return decision


def class_options(prior: np.ndarray, tree: _hierarchy.Tree | None) -> dict[str, Any]:
    """The options of the library that depend on the classes; one class leaves nothing to say."""
    if len(prior) == 1:
        return {"class_prior": None, "hierarchy": None}
    return {"class_prior": prior, "hierarchy": _hierarchy.numbers(tree)}


def n_classes(options: Mapping[str, Any]) -> int:
    """Number of classes that options speak of."""
    return 1 if options["class_prior"] is None else len(options["class_prior"])


def some(rows: np.ndarray, most: int) -> np.ndarray:
    """At most so many of the row numbers, drawn with a fixed seed, in order."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


def taken(X: Any, rows: np.ndarray) -> Any:
    """Rows of sparse or dense X, as CSR: its products do not depend on which rows stand beside a row."""
    return X[rows] if sp.issparse(X) else sp.csr_array(X[rows])


def _of(weights: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if weights is None else np.ascontiguousarray(weights[rows])
