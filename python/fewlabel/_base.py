"""What the linear classifiers share: a fit in the library, scores and classes without it."""

from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from fewlabel import (
    _advice,
    _class_prior,
    _cross_fit,
    _data,
    _examination,
    _fit,
    _hierarchy,
    _labels,
    _progress,
    _scores,
    _threads,
    _weights,
)
from fewlabel._compat import CallbackSupport, with_callbacks

_Classifier = TypeVar("_Classifier", bound="LinearClassifier")


class LinearClassifier(CallbackSupport, ClassifierMixin, BaseEstimator):
    """Linear classifier from labeled and unlabeled rows. A subclass has the parameters and says which loss it is."""

    method: str
    alpha: float
    unlabeled_weight: float
    class_prior: Any
    prior_strength: float | None
    balance: str
    hierarchy: Any
    fit_intercept: bool
    class_weight: Any
    max_switches: int
    cross_fit: Any
    unlabeled: Any
    max_iter: int
    tol: float
    n_jobs: int | None
    random_state: Any
    warm_start: bool
    verbose: int

    @with_callbacks
    def fit(self: _Classifier, X: Any, y: Any, sample_weight: Any = None) -> _Classifier:
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Training rows, labeled and unlabeled, best of unit length (see Notes). CSR of float32 or float64 is used
            where it is, without a copy; so is a dense array of these types with its rows in one piece each, if more
            than half of its values are not zero.
        y : array-like of shape (n_rows,)
            Labels; the parameter `unlabeled` says what marks a row without one.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row, labeled or not, at least 0. Weight k is the same as the row k times, 0 the same as
            no row. "pair_switching" and a limit `max_switches` exchange labels row for row whatever the weights, so
            that with unequal weights the weighted class share can drift; "switching" does so with more than two
            classes, too, but in the end keeps the weighted shares.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of range, X or y cannot be used, or no row is labeled.
        TypeError
            If a parameter has the wrong type.
        KeyboardInterrupt
            If the user interrupts; the estimator then keeps what it was before.
        MemoryError
            If the fit would need more memory than there is, where that can be foreseen (on Linux).
        RuntimeError
            If the native library cannot be loaded.
        """
        warm = self.warm_start and hasattr(self, "coef_")
        as_given, on_y = X, None if y is None else "no_validation"
        X = _data.check_rows(self, X, y=on_y, reset=not warm, dense_above=_data.MOSTLY)
        given = _labels.read(y, self.unlabeled)
        check_consistent_length(X, given.labeled)
        weights = _weights.check_sample_weight(sample_weight, X.shape[0])
        labels = _labels.with_classes_of(self.class_prior, _labels.encode(given, weights))
        tree = _hierarchy.read(self.hierarchy, labels.classes)
        start = self._start(labels.classes) if warm else None
        self._warn_before(given.labeled, weights)
        totals = _weights.labeled_totals(labels.codes, weights, len(labels.classes))
        _examination.refuse_choice(self.cross_fit)
        prior = self._prior(X, labels, weights, totals)
        task = _progress.FitTask(self, as_given, given, weights)
        weights = _weights.apply_class_weight(self.class_weight, labels.classes, labels.codes, weights)
        options = self._options() | _cross_fit.class_options(prior, tree)
        with _progress.shown(type(self).__name__, self.verbose, _progress.level_name(self.method)) as show:
            fitted = _fit.fit(_data.native(X), labels.codes, weights, options, (show, task.tell), start)
        supervised = not self._transductive(given.labeled, weights)
        cross_fit = self._cross_fits() and not (supervised and isinstance(self.cross_fit, str))
        agreement = fitted.report["supervised_agreement"]
        examined = _examination.examine(X, labels.codes, weights, options, agreement, cross_fit)
        self._keep(labels.classes, tree, fitted)
        self._keep_examined(examined, supervised)
        task.end()
        _advice.of_the_library(fitted.report["warnings"], self.classes_, self.n_iter_, self.objective_)
        _advice.unlabeled_hurt(examined)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Score of each row, w·x + b, unitless: of `classes_[1]` where there are two classes, otherwise of every class.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_rows,) or (n_rows, n_classes), float64
            Two classes: above 0 means `classes_[1]`. More: the largest is that of the predicted class. A row has the
            same score alone and among others.
        """
        check_is_fitted(self)
        X = _data.check_rows(self, X, reset=False, dense_above=-1, finite=False)
        scores = _scores.scores(X, self.coef_, self.intercept_, self.n_jobs)
        return scores[:, 0] if len(self.coef_) == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            Classes, in the dtype of `classes_`.
        """
        numbers = self._predicted(X)
        return self.classes_[numbers]

    def predict_level(self, X: Any, level: int) -> np.ndarray:
        """Group of each row at a level of `hierarchy`: where the predicted class belongs.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.
        level : int
            1: the groups just below the top; 2: those below them, and so on. A class that is less deep answers itself.
            The top is unnamed, or the one group above all others in a dict.

        Returns
        -------
        names : ndarray of shape (n_rows,)
            Names of groups and classes: texts where the classes are texts, otherwise in the dtype of `classes_` or as
            objects.

        Raises
        ------
        ValueError
            If the model was fitted without `hierarchy`, or `level` is not an integer of at least 1.
        """
        check_is_fitted(self)
        if self.hierarchy_ is None:
            raise ValueError("predict_level needs groups of classes: fit with the parameter `hierarchy`")
        return _hierarchy.at_level(self.hierarchy_, self.classes_, level)[self._predicted(X)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _predicted(self, X: Any) -> np.ndarray:
        """Class number (n_rows,) of each row."""
        scores = self.decision_function(X)
        return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)

    def _loss(self) -> str:
        raise NotImplementedError

    def _options(self) -> dict[str, Any]:
        """The options of the library that do not depend on the classes; the library checks their ranges."""
        options = {
            "method": self.method,
            "alpha": self.alpha,
            "unlabeled_weight": self.unlabeled_weight,
            "balance": self.balance,
            "loss": self._loss(),
            "fit_intercept": self.fit_intercept,
            "max_switches": self.max_switches,
            "max_iter": self.max_iter,
            "tol": self.tol,
            "threads": _threads.resolve(self.n_jobs),
        }
        if isinstance(self.random_state, np.random.RandomState):
            options["random_state"] = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        elif self.random_state is not None:
            options["random_state"] = self.random_state
        return options

    def _start(self, classes: np.ndarray) -> _fit.Start:
        """The fitted model, to go on from with the same classes."""
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start=True goes on from a model of the classes {_labels.listed(self.classes_)}, but y and "
                f"class_prior have {_labels.listed(classes)}: set warm_start=False to begin anew with other classes"
            )
        return _fit.Start(len(classes), self.coef_, self.intercept_, self.class_prior_)

    def _keep(self, classes: np.ndarray, tree: _hierarchy.Tree | None, fitted: _fit.Fitted) -> None:
        report, arrays = fitted
        self.classes_ = classes
        self.hierarchy_ = tree
        self.coef_ = np.ascontiguousarray(arrays["coef"].reshape(report["n_features"], report["n_outputs"]).T)
        self.intercept_ = arrays["intercept"]
        self.class_prior_ = arrays["class_prior"][: len(classes)]
        self.n_iter_ = report["n_iter"]
        self.objective_ = report["objective"]
        self.termination_condition_ = report["termination_condition"]
        self.history_ = _columns("history.", arrays)
        self.transduction_ = classes[arrays["transduction"].astype(np.intp)]
        self._keep_distributions(arrays.get("label_distributions"))

    def _keep_distributions(self, flat: np.ndarray | None) -> None:
        if flat is not None:
            self.label_distributions_ = flat.reshape(-1, len(self.classes_))
        elif hasattr(self, "label_distributions_"):
            del self.label_distributions_  # of an earlier fit

    def _prior(self, X: Any, labels: _labels.Labels, weights: np.ndarray | None, totals: np.ndarray) -> np.ndarray:
        """Share (K,) of each class among the unlabeled rows: given, of the labels, or estimated."""
        classes = labels.classes
        _class_prior.refuse_strength(self.prior_strength)
        estimates = _estimates(self.class_prior)
        fitting = {"alpha": _class_prior.ALPHA, "threads": _threads.resolve(self.n_jobs)}
        if estimates and len(classes) > 1 and self.prior_strength is None:
            return _class_prior.estimate(X, labels.codes, weights, classes, fitting)
        prior = _weights.resolve_class_prior(None if estimates else self.class_prior, classes, totals)
        if len(classes) == 1:
            return prior
        if estimates:
            _class_prior.check_labels(X, labels.codes, weights, classes)
        elif self.class_prior is not None:
            _advice.far_prior(prior, totals, classes)
        if self.prior_strength is None:
            return prior
        prior, held = _class_prior.soften(X, labels.codes, weights, prior, self.prior_strength, fitting)
        _advice.held_shares(classes[held], _class_prior.LEAST)
        return prior

    def _cross_fits(self) -> bool:
        """Whether `cross_fit` asks for cross-fitting."""
        return _estimates(self.class_prior) if isinstance(self.cross_fit, str) else bool(self.cross_fit)

    def _keep_examined(self, examined: _examination.Examined, supervised: bool) -> None:
        self.supervised_agreement_ = examined.agreement
        self.cross_fit_scores_ = {
            "supervised": examined.right.before,
            "semi-supervised": examined.right.after,
            "supervised macro F": examined.macro_f.before,
            "semi-supervised macro F": examined.macro_f.after,
            "n_rows": examined.n_rows,
        }
        likely = supervised and self._loss() == "maxent"  # maximum likelihood needs no temperature
        self.temperature_ = examined.temperature if examined.n_rows or likely else float("nan")
        self.smoothing_ = examined.smoothing

    def _transductive(self, labeled: np.ndarray, weights: np.ndarray | None) -> bool:
        """Whether unlabeled rows take part."""
        return self.unlabeled_weight > 0 and bool(_unlabeled(labeled, weights).any())

    def _warn_before(self, labeled: np.ndarray, weights: np.ndarray | None) -> None:
        if self.unlabeled is not None and not _unlabeled(labeled, weights).any():
            _advice.nothing_unlabeled()


def _unlabeled(labeled: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    return ~labeled if weights is None else ~labeled & (weights > 0)


def _estimates(class_prior: Any) -> bool:
    return isinstance(class_prior, str) and class_prior == "estimate"


def _columns(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}
