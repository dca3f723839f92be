"""A fitted linear classifier, alone or at the end of a pipeline or search: its input and scores."""

import contextlib
from collections.abc import Hashable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from fewlabel import _columns
from fewlabel._estimator import kind
from fewlabel._inputs import _data, _markers, _targets


def last(model: Any) -> Any:
    """The last step of a pipeline, the best estimator of a search, or the model itself."""
    model = getattr(model, "best_estimator_", model)
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def marker(model: Any, name: str = "model, the first argument,") -> Any:
    classifier = last(model)
    if isinstance(classifier, type) or not hasattr(classifier, "unlabeled") or not hasattr(classifier, "calibrate"):
        wanted = "TransductiveSVC or SemiSupervisedLogisticRegression, or a pipeline that ends in one"
        raise TypeError(f"{name} must be {wanted}, got {kind(classifier)}")
    return classifier.unlabeled


def tree(model: Any) -> Any:
    return getattr(last(model), "hierarchy", None)


def changed(model: Any, **parameters: Any) -> Any:
    """A clone with other parameters of its last step."""
    copy = clone(model)
    last(copy).set_params(**parameters)
    return copy


def supervised(model: Any) -> Any:
    """A clone with `unlabeled_weight=0`. The other steps of a pipeline still see the unlabeled rows."""
    return changed(model, unlabeled_weight=0, calibrate=False)


class LabeledSVC(ClassifierMixin, BaseEstimator):
    """`LinearSVC` of the labeled rows, a reference that has nothing of this package."""

    def __init__(self, unlabeled: Any = "auto", hierarchy: Any = None) -> None:
        self.unlabeled = unlabeled
        self.hierarchy = hierarchy

    def fit(self, X: Any, y: Any) -> "LabeledSVC":
        given = _targets.learned(_targets.one_a_row(y, self.unlabeled, self.hierarchy).certain())
        rows = np.flatnonzero(given.labeled)
        self.classes_, codes = given.classes, given.codes[rows]
        one = len(self.classes_) == 1
        self.svc_ = (DummyClassifier() if one else LinearSVC()).fit(_safe_indexing(X, rows), codes)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        return np.asarray(self.svc_.decision_function(X))

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.classes_[self.svc_.predict(X)])


def reference(model: Any) -> Any:
    """The model with a `LabeledSVC` as its last step."""
    classifier = last(model)
    svc, copy = LabeledSVC(classifier.unlabeled, tree(model)), clone(model)
    if not isinstance(copy, Pipeline):
        return svc
    copy.steps[-1] = (copy.steps[-1][0], svc)
    return copy


def final(model: Any) -> Any:
    """The same, if it is a fitted linear classifier."""
    classifier = last(model)
    if isinstance(classifier, type) or not isinstance(classifier, BaseEstimator):
        raise TypeError(f"model, the first argument, must be a fitted estimator, got {kind(classifier)}")
    check_is_fitted(classifier)
    if hasattr(classifier, "transitions_"):
        cure = "for sequences take `decision_function`, which has margins, and `predict_marginals`"
        raise TypeError(f"model labels the tokens of a sequence together, and this function is for rows: {cure}")
    if not all(hasattr(classifier, name) for name in ("coef_", "classes_")):
        wanted = "a linear classifier with coef_, or a pipeline that ends in one"
        raise TypeError(f"model must be {wanted}, got {kind(classifier)}")
    _columns.refuse(classifier, "this function")
    coef, n_classes = classifier.coef_, len(classifier.classes_)
    n_features = getattr(classifier, "n_features_in_", coef.shape[-1])
    of_pairs = n_classes > 2 and hasattr(classifier, "dual_coef_")  # SVC(kernel="linear")
    heights = (1, n_classes) if n_classes <= 2 else (n_classes,)
    if of_pairs or sp.issparse(coef) or coef.shape not in {(height, n_features) for height in heights}:
        found = f"coef_ of {type(classifier).__name__} is another matrix"
        raise TypeError(f"model must have a dense coef_ with a row of weights for each class (one for two); {found}")
    return classifier


def rows_of(model: Any, X: Any, name: str = "X") -> Any:
    """The rows that reach the classifier."""
    model, X = getattr(model, "best_estimator_", model), _data.admitted(X, name)
    return model[:-1].transform(X) if isinstance(model, Pipeline) and len(model.steps) > 1 else X


def class_scores(classifier: Any, rows: Any) -> np.ndarray:
    """Score of each class (n_rows, n_classes); 0 for the first of two, as only the difference matters."""
    if len(classifier.classes_) == 1:
        raise ValueError(f"the model has only one class, {classifier.classes_[0]}, so there are no margins")
    scores = classifier.decision_function(rows)
    return np.column_stack([np.zeros(len(scores)), scores]) if scores.ndim == 1 else scores


def class_number(classifier: Any, label: Any, what: str) -> int:
    """Index of a label in `classes_`; `what` names the label in the error message."""
    classes = classifier.classes_.tolist()
    if not isinstance(label, Hashable) or label not in classes:
        known = _markers.listed(classifier.classes_)
        raise ValueError(f"{what} is {label!r:.80}, which is not a class: these are {known}")
    return int(classes.index(label))


def feature_names(model: Any, classifier: Any, names: Any) -> np.ndarray:
    """Names (n_features,) of the features of the classifier."""
    model, n_features = getattr(model, "best_estimator_", model), classifier.coef_.shape[1]
    if names is None and isinstance(model, Pipeline) and len(model.steps) > 1:
        names = _named(model[:-1], n_features)
    if names is None:
        names = getattr(classifier, "feature_names_in_", [f"x{j}" for j in range(n_features)])
    names = np.asarray(np.frompyfunc(_markers.plain, 1, 1)(np.asarray(names, dtype=object)))
    if names.shape != (n_features,):
        raise ValueError(f"feature_names must have shape ({n_features},), one name a feature; it has {names.shape}")
    return names


def _named(step: Any, n_features: int) -> Any:
    """Names of the features of a step; None: a HashingVectorizer, for one, has none. A part of a union may be so."""
    with contextlib.suppress(AttributeError, ValueError):
        return step.get_feature_names_out()
    last = step[-1] if isinstance(step, Pipeline) else step
    parts = [(name, _named(part, 0)) for name, part in getattr(last, "transformer_list", ()) if hasattr(part, "fit")]
    left = n_features - sum(len(names) for _, names in parts if names is not None)
    if sum(names is None for _, names in parts) != 1 or len(parts) == 1 or left < 0:
        return None
    each = [(name, [f"x{j}" for j in range(left)] if names is None else names) for name, names in parts]
    return [f"{name}__{feature}" for name, names in each for feature in names]


def without_steps(model: Any, names: np.ndarray) -> np.ndarray:
    """Names of features, without those of the steps of a ColumnTransformer or FeatureUnion before them."""
    parts = [getattr(model, "best_estimator_", model)]
    parts += getattr(parts[0], "get_params", dict)().values()
    lists = [getattr(part, "transformer_list", getattr(part, "transformers", None)) or () for part in parts]
    steps = {step[0] for one in lists for step in one} | {"remainder"} if any(lists) else set()

    def plain(name: Any) -> Any:
        step, _, rest = str(name).partition("__")
        return plain(rest) if rest and step in steps else name

    return _markers.objects([*map(plain, names)]) if steps else names
