"""Questions after `fit`: why this class, what to label next, which labels look wrong, what is new to the model.

All of them read the weights of a linear classifier. `model` is a fitted classifier with `coef_`, a pipeline that ends
in one, or a search (`GridSearchCV`) that found one; rows are what it predicts from: for a pipeline from texts, texts.
"""

import warnings
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import normalize
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from fewlabel import _labels

__all__ = ["explain", "rank_to_label", "suspicious_labels", "unseen_mass"]


class Explanation(NamedTuple):
    """What pushed a row to a class: `score` is `contributions.sum() + rest + intercept`. As text, a small table."""

    label: Any  #: the class that is explained
    score: float  #: decision for it; above 0, for one of two classes or against another one, means this class
    features: np.ndarray  #: (n,) names of the features with the largest contributions, most in favor first
    contributions: np.ndarray  #: (n,) weight times value of each; above 0 speaks for the class
    rest: float  #: sum of the contributions of all other features
    intercept: float  #: the same for every row

    def __str__(self) -> str:
        parts = [*zip(self.features, self.contributions, strict=True), ("(other features)", self.rest)]
        lines = [f"{value:+10.4f}  {name}" for name, value in [*parts, ("(intercept)", self.intercept)]]
        return "\n".join([*lines, f"{self.score:+10.4f}  score of {self.label}"])


class SuspiciousLabels(NamedTuple):
    """Labels that contradict what the other labels say, the most contradicted first."""

    rows: np.ndarray  #: (n,) numbers of the rows
    given: np.ndarray  #: (n,) their labels
    predicted: np.ndarray  #: (n,) what the model says instead
    margins: np.ndarray  #: (n,) by how much the score of the predicted class is above that of the given one


def explain(
    model: Any, row: Any, feature_names: Any = None, n: int = 10, *, label: Any = None, against: Any = None
) -> Explanation:
    """Tell which features pushed a row to its class.

    Parameters
    ----------
    model : classifier, pipeline or search
        Fitted.
    row : array-like of shape (n_features,) or (1, n_features), or what a pipeline takes for one row, as a text
        The row.
    feature_names : array-like of shape (n_features,) or None, default=None
        Names of the features that the classifier gets. None: those of the pipeline's transformers or of the data frame
        it was fitted on, otherwise x0, x1, and so on.
    n : int, default=10
        Most features that are named: those with the largest contributions, for the class or against it.
    label : label or None, default=None
        The class to explain. None: the predicted one.
    against : label or None, default=None
        With more than two classes: explain why `label` rather than this class. None: the score of `label` alone.

    Returns
    -------
    explanation : Explanation
        Names and contributions, which sum to the decision together with the intercept and the rest.

    Raises
    ------
    ValueError
        If `row` is not one row, a class is unknown, or names are too few or too many.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.inspection import explain
    >>> texts = ["red wine", "white wine", "red car", "fast car", "old wine", "old car"]
    >>> model = make_pipeline(CountVectorizer(), TransductiveSVC(alpha=0.1))
    >>> model = model.fit(texts, ["drink", None, "ride", None, None, None])
    >>> explanation = explain(model, "old red car", n=2)
    >>> explanation.label, explanation.features[0]
    ('ride', 'car')
    """
    classifier, rows = _final(model), _rows(model, _one_row(row))
    predicted = classifier.predict(rows)
    if len(predicted) != 1:
        raise ValueError(f"row must be one row, got {len(predicted)}")
    n = _at_least_one("n", n)
    names = _names(model, classifier, feature_names)
    k = _number(classifier, predicted[0] if label is None else label, "label")
    weights, intercept = _difference(classifier, k, against)
    rows = sp.csr_array(_matrix(rows), copy=True)
    rows.sum_duplicates()  # in place, so on a copy
    contributions = rows.data * weights[rows.indices]
    largest = np.argsort(-np.abs(contributions), kind="stable")[:n]
    largest = largest[np.argsort(-contributions[largest], kind="stable")]
    return Explanation(
        label=classifier.classes_.tolist()[k],
        score=float(contributions.sum() + intercept),
        features=names[rows.indices[largest]],
        contributions=contributions[largest],
        rest=float(np.delete(contributions, largest).sum()),
        intercept=float(intercept),
    )


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
    n = _at_least_one("n", n)
    if not isinstance(diversity, Real) or not 0 <= diversity < np.inf:
        raise ValueError(f"diversity must be a finite number of at least 0, got {diversity!r}")
    classifier, rows = _final(model), _rows(model, X)
    ordered = np.sort(_class_scores(classifier, rows), axis=1)
    margins = ordered[:, -1] - ordered[:, -2]
    free = np.ones(len(margins), dtype=bool)
    if y is not None:
        check_consistent_length(margins, y)
        free = ~_labels.read(y, getattr(classifier, "unlabeled", "auto")).labeled
    directions = normalize(_matrix(rows))
    resemblance, chosen = np.zeros(len(margins)), []
    for _ in range(min(n, int(free.sum()))):
        value = np.maximum(1 - resemblance, 0) ** diversity / (1 + margins)
        chosen.append(int(np.argmax(np.where(free, value, -1))))
        free[chosen[-1]] = False
        row = directions[[chosen[-1]]]
        cosines = directions @ (row.toarray() if sp.issparse(row) else row).ravel()
        resemblance = np.maximum(resemblance, cosines)
    return np.array(chosen, dtype=np.intp)


def suspicious_labels(model: Any, X: Any, y: Any, *, margin: float = 0.5, cv: int | None = 10) -> SuspiciousLabels:
    """Find labels that the others contradict.

    A model that was told a wrong label mostly obeys it: with few labels each one pulls the boundary to its side. So the
    labels are hidden in turn, a tenth at a time, and copies of the model that have not seen them judge them.

    Parameters
    ----------
    model : classifier, pipeline or search
        Fitted.
    X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features), or what a pipeline takes
        Rows, labeled and unlabeled, best all that the model was fitted on.
    y : array-like of shape (n_rows,)
        Labels, with markers for the rows without one.
    margin : float, default=0.5
        A label is suspicious if the score of another class is at least so much above that of its own.
    cv : int or None, default=10
        In how many parts the labels are hidden; that many fits. None: no fit, the model itself judges, which is right
        for labels that it has not been fitted with.

    Returns
    -------
    found : SuspiciousLabels
        The most contradicted first. Rows that are the only one of their class cannot be judged and are not among them.

    Raises
    ------
    ValueError
        If no row is labeled, a label is not one of the model's classes, or a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.inspection import suspicious_labels
    >>> X = np.vstack([np.tile([1.0, 0.1], (6, 1)), np.tile([0.1, 1.0], (6, 1))])
    >>> y = np.array(["a", "a", "a", "b", None, None, "b", "b", "b", "b", None, None])  # the fourth is wrong
    >>> found = suspicious_labels(TransductiveSVC().fit(X, y), X, y, cv=4)
    >>> found.rows, found.given, found.predicted
    (array([3]), array(['b'], dtype=object), array(['a'], dtype=object))
    """
    if not isinstance(margin, Real) or not np.isfinite(margin):
        raise ValueError(f"margin must be a finite number, got {margin!r}")
    model = getattr(model, "best_estimator_", model)
    classifier = _final(model)
    given = _labels.read(y, getattr(classifier, "unlabeled", "auto"))
    if not given.labeled.any():
        raise ValueError("y has no labeled row")
    classes, labeled = classifier.classes_, np.flatnonzero(given.labeled)
    own = np.array([_number(classifier, label, "a label in y") for label in given.values.tolist()])
    if cv is None:
        judged = np.arange(len(labeled))
        scores = _class_scores(classifier, _rows(model, _safe_indexing(X, labeled)))
    else:
        judged, scores = _blind_scores(model, X, y, labeled, own, cv, classes)
    rows, own = labeled[judged], own[judged]
    own_scores = np.take_along_axis(scores, own[:, None], axis=1)[:, 0]
    np.put_along_axis(scores, own[:, None], -np.inf, axis=1)
    margins = scores.max(axis=1) - own_scores
    found = np.argsort(-margins, kind="stable")
    found = found[margins[found] >= margin]
    return SuspiciousLabels(rows[found], classes[own[found]], classes[scores.argmax(axis=1)[found]], margins[found])


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
    A feature counts as unseen if its weight is exactly 0 for every class, as it stays where no row moves it. Unlabeled
    rows move weights too, so that their features are seen. Not seen are features that occur only in rows that had no
    say: those of weight 0, unlabeled ones with `unlabeled_weight=0`, and with method "pair_switching" those that lie
    beyond the margin throughout.

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
    classifier, rows = _final(model), _rows(model, X)
    classifier.decision_function(rows)  # checks the rows
    sizes = abs(_matrix(rows))
    unseen = ~np.any(classifier.coef_, axis=0)
    totals = np.asarray(sizes.sum(axis=1), dtype=np.float64).ravel()
    shares = np.zeros(len(totals))
    np.divide(sizes @ unseen.astype(np.float64), totals, out=shares, where=totals > 0)
    return shares


def _final(model: Any) -> Any:
    """The classifier of a pipeline or search, or the model itself."""
    model = getattr(model, "best_estimator_", model)
    classifier = model.steps[-1][1] if isinstance(model, Pipeline) else model
    check_is_fitted(classifier)
    if not hasattr(classifier, "coef_") or not hasattr(classifier, "classes_"):
        raise TypeError(f"model must be a linear classifier with coef_, or a pipeline that ends in one, got {model!r}")
    return classifier


def _rows(model: Any, X: Any) -> Any:
    """The rows that reach the classifier."""
    model = getattr(model, "best_estimator_", model)
    return model[:-1].transform(X) if isinstance(model, Pipeline) and len(model.steps) > 1 else X


def _matrix(rows: Any) -> Any:
    """Rows, which the classifier has taken, as CSR or as an array."""
    return sp.csr_array(rows) if sp.issparse(rows) else np.asarray(rows)


def _one_row(row: Any) -> Any:
    if isinstance(row, str | bytes):
        return [row]
    if sp.issparse(row):
        return row.reshape(1, -1) if row.ndim == 1 else row
    if isinstance(row, list | tuple | np.ndarray) and np.ndim(row) == 1 and np.asarray(row).dtype.kind in "biuf":
        return np.asarray(row).reshape(1, -1)
    return row


def _class_scores(classifier: Any, rows: Any) -> np.ndarray:
    """Score of each class (n_rows, n_classes); of two the first has 0, as only the difference counts."""
    if len(classifier.classes_) == 1:
        raise ValueError(f"the model has one class only, {classifier.classes_[0]}: no score is near that of another")
    scores = classifier.decision_function(rows)
    return np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores


def _difference(classifier: Any, k: int, against: Any) -> tuple[np.ndarray, float]:
    """Weights (n_features,) and intercept whose score is explained."""
    coef, intercept = classifier.coef_, np.broadcast_to(classifier.intercept_, len(classifier.coef_))
    other = None if against is None else _number(classifier, against, "against")
    if other == k:
        raise ValueError(f"against={against!r} is the class that is explained")
    if len(coef) == 1:  # the score of the last class
        sign = 1 if k == len(classifier.classes_) - 1 and len(classifier.classes_) > 1 else -1
        return sign * coef[0], sign * float(intercept[0])
    if other is None:
        return coef[k], float(intercept[k])
    return coef[k] - coef[other], float(intercept[k] - intercept[other])


def _number(classifier: Any, label: Any, what: str) -> int:
    classes = classifier.classes_.tolist()
    if label not in classes:
        raise ValueError(f"{what} is {label!r}, which is not a class: these are {_labels.listed(classifier.classes_)}")
    return int(classes.index(label))


def _names(model: Any, classifier: Any, feature_names: Any) -> np.ndarray:
    """Names (n_features,) of what the classifier gets."""
    model, n_features = getattr(model, "best_estimator_", model), classifier.coef_.shape[1]
    if feature_names is None and isinstance(model, Pipeline) and len(model.steps) > 1:
        try:
            feature_names = model[:-1].get_feature_names_out()
        except AttributeError:  # a HashingVectorizer, for one, has no names
            feature_names = None
    if feature_names is None:
        feature_names = getattr(classifier, "feature_names_in_", None)
    if feature_names is None:
        feature_names = [f"x{j}" for j in range(n_features)]
    names = np.asarray(feature_names, dtype=object)
    if names.shape != (n_features,):
        raise ValueError(f"feature_names must have shape ({n_features},), one name a feature; it has {names.shape}")
    return names


def _at_least_one(name: str, value: Any) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
    return int(value)


def _blind_scores(
    model: Any, X: Any, y: Any, labeled: np.ndarray, own: np.ndarray, parts: Any, classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which labels were judged, as positions in `labeled`, and their scores by models that have not seen them."""
    if not isinstance(parts, Integral) or isinstance(parts, bool) or parts < 2:
        raise ValueError(f"cv must be an integer of at least 2, or None, got {parts!r}")
    counts = np.bincount(own)
    judged = np.flatnonzero(counts[own] > 1)  # without its only label a class would be gone
    if not judged.size:
        raise ValueError("every class has one labeled row only: none can be hidden")
    scores = np.full((len(labeled), len(classes)), -np.inf)  # a class without labels in y has no score
    folds = StratifiedKFold(min(int(parts), int(counts.max())), shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        splits = list(folds.split(judged, own[judged]))
    for _, hidden in splits:
        test = labeled[judged[hidden]]
        train = np.setdiff1d(np.arange(len(y)), test)
        blind = clone(model).fit(_safe_indexing(X, train), _safe_indexing(y, train))
        columns = np.searchsorted(classes, _final(blind).classes_)
        scores[judged[hidden][:, None], columns] = _class_scores(_final(blind), _rows(blind, _safe_indexing(X, test)))
    return judged, scores[judged]
