"""Base class of the linear classifiers: `fit` calls the library, scores and classes do not need it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted

from fewlabel import _advice, _columns, _export, _progress, methods
from fewlabel._compat import CallbackSupportMixin, ClassifierMixin, Self, with_callbacks
from fewlabel._estimator import Estimator, kind
from fewlabel._inputs import _data, _hierarchy, _markers, _numbers, _targets, _weights
from fewlabel._inputs._soft import column_names
from fewlabel._native import _fit, _scores, _signatures

# Parameters that are options of the library and do not depend on the classes.
_OPTIONS = ("alpha", "unlabeled_weight", "loss", "fit_intercept", "calibrate", "max_iter", "tol")


class Plan(NamedTuple):
    """A fit, except its rows."""

    classes: np.ndarray
    tree: _hierarchy.Tree | None
    options: dict[str, Any]
    start: Callable[[], int] | None  # returns a handle of the model from which the fit continues


class _WhereCalibrated:
    """A method only with calibrate=True, if `_needs_calibration`; `available_if` would hide the message."""

    def __init__(self, method: Callable[..., np.ndarray]) -> None:
        self.method = method

    def __get__(self, estimator: Any, owner: type | None = None) -> Callable[..., np.ndarray]:
        if estimator is None:
            return self.method
        if estimator._needs_calibration and not estimator.calibrate:
            raise AttributeError(f"{type(estimator).__name__} has {self.method.__name__} only with calibrate=True")
        return MethodType(self.method, estimator)


@dataclass(kw_only=True, eq=False, repr=False)
class LinearClassifier(CallbackSupportMixin, ClassifierMixin, Estimator):
    """Linear classifier from labeled and unlabeled rows. A subclass describes the parameters, with its defaults."""

    method: Any = "auto"
    alpha: float | Literal["auto"] = "auto"
    unlabeled_weight: float | Literal["auto"] = "auto"
    class_prior: Literal["auto", "labels"] | Sequence[float] | np.ndarray | Mapping[Any, float] = "auto"
    loss: Any = "auto"
    hierarchy: Mapping[Any, Any] | str | None = None
    fit_intercept: bool = True
    class_weight: Mapping[Any, float] | Literal["auto", "balanced"] | None = "auto"
    calibrate: bool = False
    unlabeled: Any = "auto"
    max_iter: int = 10000
    tol: float = 1e-5
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0

    _methods: ClassVar[tuple[str, ...]]  # names that `method` can have
    _needs_calibration: ClassVar[bool] = False  # to have probabilities

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Training rows, labeled and unlabeled, preferably of unit length. CSR of float32 or float64 is
            not copied, nor is a dense array of these types with contiguous rows and mostly nonzero values.
        y : array-like of shape (n_rows,) or (n_rows, n_columns), or fewlabel.labels.Soft
            Labels, markers of unlabeled rows, sets of the classes that a row may have, groups of `hierarchy`, and
            descriptions. Two or more columns of 0, 1 and markers are several labels a row. `Soft` holds probabilities.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row, labeled or not, at least 0; 0: ignored. A factor of all weights changes nothing.
            Multiples of the smallest weight, at most 4 times it on average, are numbers of copies: k times that weight
            gives the fit of k copies of the row, up to rounding.
        """
        method = methods.resolve(self.method, self._methods)
        _data.check_order(X=X, y=y, sample_weight=sample_weight)
        rows = _data.training_rows(self, X, y=y, reset=not self._is_warm())
        targets = _targets.read(y, self.unlabeled, self.hierarchy, self.class_prior, sample_weight)
        _data.check_lengths(rows, targets.codes)
        _advice.of_a_search(self.unlabeled)
        if isinstance(targets, _targets.Columns):
            _columns.fit(self, rows, targets, method)
            self._names_of_y = column_names(y)
            names = [] if self._names_of_y is None else [*self._names_of_y]
            _markers.warn_of_names(names)
            _markers.warn_of_blanks(names)
            _progress.tell(self)
            return self
        self._check_names(targets)
        targets = _targets.learned(targets, self.class_prior)
        with _progress.shown(type(self).__name__, self.verbose, method.name) as show:
            plan = self._plan(method, targets.classes, targets.totals())
            task = _progress.FitTask(self, X, targets)
            fitted = _fit.fit(rows, targets, plan.options, (show, task.report), plan.start)[0]
            self._keep(plan, fitted)
            task.end()
        _progress.tell(self)
        _advice.of_the_library([fitted.report["warnings"]], self)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision scores w·x + b: (n_rows,) of `classes_[1]` for two classes, or (n_rows, n_classes or n_columns).

        A score above 0 means `classes_[1]`, or 1 in its column; of more classes that of the largest score is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        """
        check_is_fitted(self)
        X = _data.rows_of(self, X, reset=False)
        scores = _scores.scores(X, self.coef_, self.intercept_, self.n_jobs)
        return scores[:, 0] if len(self.coef_) == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Predicted classes (n_rows,) in the dtype of `classes_`; 0 and 1 (n_rows, n_columns) of several labels a row.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        """
        if _columns.several(self):
            return (self.decision_function(X) > 0).astype(np.int64)
        numbers = self._predicted(X)
        return self.classes_[numbers]

    @_WhereCalibrated
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class for each row: the softmax of the scores, calibrated if `calibrate` was True.

        An array (n_rows, n_classes) in the order of `classes_`, whose rows sum to 1; of several labels a row that of 1
        in each column. This is for new rows: the fit has moved its boundary away from its own unlabeled rows, whose
        calibrated probabilities are in `label_distributions_`.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        """
        if _columns.several(self):
            return _columns.probabilities(self, self.decision_function(X))
        return np.exp(self.predict_log_proba(X))

    @_WhereCalibrated
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities of `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        """
        if _columns.several(self):
            with np.errstate(divide="ignore"):  # a column without positive labels
                return np.log(self.predict_proba(X))
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.zeros((len(scores), 1))
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        temperature, smoothing = _columns.calibration(self)
        logs = log_softmax(scores / temperature, axis=1)
        with np.errstate(divide="ignore"):  # log(0): nothing is spread, or, where labels weigh next to nothing, all
            return np.logaddexp(np.log1p(-smoothing) + logs, np.log(smoothing / scores.shape[1]))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy on the rows with one label. Rows with the marker of `unlabeled`, a set or a group are left out.

        Of several labels a row the weighted share of the known entries that are right. A ValueError if there is none.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        y : array-like of shape (n_rows,) or (n_rows, n_columns)
            True labels, with markers for the rows without one.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row.
        """
        check_is_fitted(self)
        if _columns.several(self):
            return _columns.score(self, X, y, sample_weight)
        groups, marker = (self.hierarchy_ or {}).values(), _markers.of_model(self.unlabeled, self.classes_)
        X, y, weights = _targets.labeled_part(X, y, marker, sample_weight, groups)
        _markers.warn_of_names(y.tolist(), self.classes_.tolist())
        return float(super().score(X, y, weights))

    def predict_level(self, X: Any, level: int) -> np.ndarray:
        """Groups (n_rows,) of the predicted classes at a level of `hierarchy`, in their dtype or as objects.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        level : int
            1: the top-level groups; 2: the groups below them, and so on. A class above this level is returned itself.
        """
        check_is_fitted(self)
        if self.hierarchy_ is None:
            raise ValueError("predict_level needs groups of classes: fit with the parameter `hierarchy`")
        return _hierarchy.at_level(self.hierarchy_, self.classes_, level)[self._predicted(X)]

    def to_sklearn(self, *, calibrated: bool = True) -> Any:
        """The same model as an estimator of scikit-learn, which needs no fewlabel where it is used.

        A fitted `LinearSVC`, for `SemiSupervisedLogisticRegression` a `LogisticRegression`, with the same weights.
        If the model's probabilities are calibrated: a `VotingClassifier` with the same probabilities and no scores. A
        ValueError for a model of only one class or of several labels a row.

        Parameters
        ----------
        calibrated : bool, default=True
            Whether probabilities are calibrated if those of the model are. False: with the scores of the model.
        """
        check_is_fitted(self)
        _columns.refuse(self, "to_sklearn")
        return _export.as_sklearn(self, _numbers.check_flag("calibrated", calibrated))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _plan(self, method: methods.Method, classes: np.ndarray, totals: np.ndarray) -> Plan:
        """The fit of these classes; `totals` are the total weights of their labeled rows."""
        tree = _hierarchy.read(self.hierarchy, classes)
        groups = {**(tree or {}), **(self.hierarchy if isinstance(self.hierarchy, Mapping) else {})}.values()
        _markers.refuse_names((name for name in groups if name is not None), self.unlabeled, True, "hierarchy")
        _markers.warn_of_names(groups)
        if tree is not None and len(classes) > 1:
            _advice.leaves_without_label(_hierarchy.without_label(self.hierarchy, tree), classes)
        start = self._start(classes)
        options = self._options() | methods.options(method) | {"class_names": classes.astype(str)}
        options["class_prior"] = _weights.shares(self.class_prior, classes, totals)
        factors = _weights.class_factors(self.class_weight, classes)
        if len(classes) > 1:
            options |= {"class_weight": factors, "hierarchy": _hierarchy.numbers(tree)}
        return Plan(classes, tree, options, start)

    def _check_names(self, targets: _targets.Targets) -> None:
        """Refuse parameters that name no class: what marks rows without a label here, or True for 1."""
        for what in "class_prior", "class_weight", "hierarchy":
            if isinstance(names := _data.plain(getattr(self, what), what), Mapping):
                _markers.check_keys(names, targets.classes, self.unlabeled, targets.minus_one, what)

    def _predicted(self, X: Any) -> np.ndarray:
        """Class number (n_rows,) of each row."""
        scores = self.decision_function(X)
        if len(self.classes_) == 1:  # regardless of the scores in a model file
            return np.zeros(len(scores), dtype=np.intp)
        return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)

    def _options(self) -> dict[str, Any]:
        return self._library_options(_OPTIONS)

    def _assemble(self) -> int:
        """Handle of the fitted model in the library."""
        method = self.method.name if isinstance(self.method, methods.Method) else _markers.plain(self.method)
        report = self._report(method)
        arrays = {"coef": self.coef_.T, "intercept": self.intercept_, "class_prior": self.class_prior_}
        sizes = {"n_classes": len(self.classes_), "n_features": self.coef_.shape[1], "n_outputs": len(self.coef_)}
        return _fit.assemble(_signatures.LINEAR, report | sizes, arrays)

    def _keep(self, plan: Plan, fitted: _fit.Fitted) -> None:
        (report, arrays), classes = fitted, plan.classes
        self._keep_model(classes, fitted)
        self.hierarchy_ = plan.tree
        self._keep_trained([report])
        self.method_ = report["returned"]
        self.alpha_, self.unlabeled_weight_, self.loss_ = (report[key] for key in ("alpha", "unlabeled_weight", "loss"))
        self.supervised_agreement_ = report["supervised_agreement"]
        self.calibration_temperature_ = report["calibration_temperature"]
        self.calibration_smoothing_ = report["calibration_smoothing"]
        self.history_ = fitted.history
        self.transduction_ = classes[arrays["transduction"].astype(np.intp)]
        if "label_distributions" in arrays:
            self.label_distributions_ = arrays["label_distributions"].reshape(-1, len(classes))

    def _keep_trained(self, reports: Sequence[dict[str, Any]]) -> None:
        vars(self).pop("label_distributions_", None)  # of an earlier fit
        self._weights = [(report["committee_weight"], report["shares_carried"]) for report in reports]
        self._trained = [stage for report in reports for stage in report["trained"]]
        self.n_fits_ = sum(stage["n_models"] for stage in self._trained)

    def _keep_model(self, classes: np.ndarray, fitted: _fit.Fitted) -> None:
        """Set the attributes that come from a fit or from a model file."""
        report, arrays = fitted
        self.classes_ = classes
        self.coef_ = np.ascontiguousarray(arrays["coef"].reshape(report["n_features"], report["n_outputs"]).T)
        self.intercept_ = arrays["intercept"]
        self.class_prior_ = arrays["class_prior"][: len(classes)]
        self._keep_end(report)


def check_own_classifier(name: str, model: Any) -> None:
    """Raise what names an argument that is no classifier of this package."""
    if not isinstance(model, LinearClassifier):
        cure = ": transform the rows first, and fit its last step" if hasattr(model, "steps") else ""
        wanted = "TransductiveSVC or SemiSupervisedLogisticRegression"
        raise TypeError(f"{name} must be a classifier of fewlabel, {wanted}, got {kind(model)}{cure}")
