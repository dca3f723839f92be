"""TransductiveSVC: a large-margin classifier from few labeled and many unlabeled rows."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from fewlabel import _advice, _data, _fit, _labels, _progress, _threads, _weights


class TransductiveSVC(ClassifierMixin, BaseEstimator):
    """Linear support vector machine that also learns from unlabeled rows.

    It looks for the hyperplane that separates the labeled rows, passes where unlabeled rows are few, and gives each
    class its share of the unlabeled rows. Two classes are supported so far.

    Parameters
    ----------
    method : {"annealing", "switching", "pair_switching"}, default="annealing"
        How the labels of unlabeled rows are found. "annealing": soft labels that harden while a temperature falls.
        "switching": hard labels, many exchanged at a time, while the weight of the unlabeled rows rises.
        "pair_switching": Joachims' algorithm, one pair exchanged at a time.
    alpha : float, default=1e-3
        Strength of the regularization ½‖w‖², above 0. Losses are averaged, as in `SGDClassifier`.
    unlabeled_weight : float, default=1.0
        Weight of the averaged loss of unlabeled rows, at least 0; 0 gives the supervised solution.
    class_prior : array-like of shape (2,), dict or None, default=None
        Share of each class among the unlabeled rows, in the order of `classes_` or as a dict from class to share; each
        above 0 and below 1, together 1. None takes the shares of the labeled rows, weighted by `sample_weight`. Not
        used where the labeled rows have one class.
    balance : {"auto", "share", "mean", "labels"}, default="auto"
        How the class prior is held. "share": by the counts of labels, and at the end the threshold moves so that the
        model predicts the share. "mean": besides by a linear constraint on the mean score of the unlabeled rows.
        "labels": as in the papers, by the counts of labels only, with the threshold at 0. "auto": what measured best
        for the method, "mean" for "annealing" and "share" for the others.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Loss of a row with margin m: ½max(0, 1-m)², or max(0, 1-m), which "pair_switching" alone can use (and Joachims
        did).
    fit_intercept : bool, default=True
        Whether the model has an intercept. Without one the threshold is at 0, so `balance` is as good as "labels".
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the labeled rows by class. "balanced" makes the classes equally heavy. As losses are
        averaged, only ratios matter. It does not change the class prior.
    max_switches : int, default=0
        Pairs of labels that "switching" exchanges at a time; 0: all that lower the objective.
    unlabeled : "auto", None or a label, default="auto"
        What marks an unlabeled row in `y`. "auto": -1 in numbers, NaN in floats, None, NaN, pandas.NA or -1 in objects,
        "-1" in texts. None: nothing does, every row is labeled. Anything else is the marker itself, for example 0 for
        labels from SVMlight's and SVMlin's files.
    max_iter : int, default=10000
        Largest number of outer steps: temperatures (annealing), relabelings (switching), or solves and exchanged pairs
        (pair switching), of which the last one is always an exact solve for the labels found so far. Without unlabeled
        rows: Newton steps, of which 200 are the most in any case; "pair_switching" then needs one step.
    tol : float, default=1e-5
        The last solve ends when its objective is within this relative distance of the optimum.
    n_jobs : int or None, default=None
        Number of threads. None: every core that the process may use, but 1 inside a joblib worker; -1: every core.
        The result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw numbers. None is a fixed seed: the same input gives the same model.
    verbose : int, default=0
        Above 0: show the steps of a fit, in a progress bar if tqdm is installed.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Classes, sorted, without the marker. Shape (1,) if the labeled rows have one class.
    coef_ : ndarray of shape (1, n_features), float64
        Weights of the features.
    intercept_ : ndarray of shape (1,), float64
        Added to every score.
    class_prior_ : ndarray of shape (2,)
        Share of each class among the unlabeled rows that was used.
    transduction_ : ndarray of shape (n_rows,)
        Label of every training row: the given one, or the predicted one of an unlabeled row or a row of weight 0.
    label_distributions_ : ndarray of shape (n_rows, 2)
        Probability of each class for every training row. Only with "annealing" and unlabeled rows.
    objective_ : float
        Final value of the objective, see Notes.
    n_iter_ : int
        Outer steps done, at least 1.
    termination_condition_ : str
        Why the fit ended. "entropy", "temperature" (annealing): the soft labels are hard, or as hard as they get;
        "no_switch" (the others): no exchange of labels helps; "converged": the supervised solution is reached;
        "one_class": there was nothing to learn. The rest come with a warning: "max_iter"; "unsettled": labels went on
        changing at the full weight; "not_converged": the last solve did not reach `tol` and would not with more steps.
    history_ : dict of str to ndarray of shape (n_steps,)
        What happened in each outer step: "objective"; "temperature" (annealing) or "unlabeled_weight" (the others);
        "n_switched", the labels changed; "positive_share", the share of unlabeled rows with a score above 0;
        "n_passes", the passes over the data so far; "entropy" of the soft labels in bits a row (annealing).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had them in `fit`.

    Warns
    -----
    UserWarning
        If no row is unlabeled, if one class only has labels, if `class_prior` is far from the labeled rows, or if a
        class is predicted for less than half of its share of the unlabeled rows.
    ConvergenceWarning
        If `max_iter` steps did not suffice, or if labels did not settle or the last solve did not converge.

    See Also
    --------
    sklearn.svm.LinearSVC : The same model from labeled rows only.

    Notes
    -----
    With scores f(x) = w·x + b, l labeled rows with y in {-1, 1} and u unlabeled rows, the objective is

        alpha/2 ‖w‖²  +  1/l Σ_labeled ξ(y f)  +  unlabeled_weight/u Σ_unlabeled min(ξ(f), ξ(-f))

    where ξ is the loss, for example ξ(m) = ½max(0, 1-m)². The intercept counts as the weight of a constant feature:
    ‖w‖² includes b², except where the mean score is constrained (`balance="mean"`). With `sample_weight` and
    `class_weight` both averages are weighted ones. `objective_` is the value at `coef_` and `intercept_`. Without
    unlabeled rows it is `alpha` times the objective of `LinearSVC(loss="squared_hinge", C=1/(2*l*alpha))`.

    Give rows of unit length: `TfidfVectorizer` makes them, `Normalizer` makes them of any rows. The default of `alpha`
    is meant for these; raw counts need a much larger one. And a score grows with the length of its row: where lengths
    vary widely the emptiest gap may be the one between long and short rows, and "annealing" then finds that instead of
    the classes, at any `alpha`. Logarithms of counts alone do not prevent it, equal lengths do.

    `predict` and unpickling do not need the native library.

    References
    ----------
    T. Joachims. Transductive Inference for Text Classification using Support Vector Machines. ICML 1999.

    V. Sindhwani and S. S. Keerthi. Large Scale Semi-supervised Linear SVMs. SIGIR 2006.

    O. Chapelle and A. Zien. Semi-Supervised Classification by Low Density Separation. AISTATS 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import TransductiveSVC
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [0.1, 1.1], [1.0, 0.1], [0.9, 0.0], [1.1, 0.2]])
    >>> y = np.array([0, -1, -1, 1, -1, -1])
    >>> model = TransductiveSVC().fit(X, y)
    >>> model.transduction_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.0, 0.8]])
    array([0])
    """

    def __init__(
        self,
        *,
        method: str = "annealing",
        alpha: float = 1e-3,
        unlabeled_weight: float = 1.0,
        class_prior: Any = None,
        balance: str = "auto",
        loss: str = "squared_hinge",
        fit_intercept: bool = True,
        class_weight: Any = None,
        max_switches: int = 0,
        unlabeled: Any = "auto",
        max_iter: int = 10000,
        tol: float = 1e-5,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.alpha = alpha
        self.unlabeled_weight = unlabeled_weight
        self.class_prior = class_prior
        self.balance = balance
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_switches = max_switches
        self.unlabeled = unlabeled
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "TransductiveSVC":
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Training rows, labeled and unlabeled, best of unit length (see Notes). CSR of float32 or float64 is used
            where it is, without a copy.
        y : array-like of shape (n_rows,)
            Labels; the parameter `unlabeled` says what marks a row without one.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row, labeled or not, at least 0. Weight k is the same as the row k times, 0 the same as
            no row. "pair_switching" and a limit `max_switches` exchange labels row for row whatever the weights, so
            that with unequal weights the weighted class share can drift.

        Returns
        -------
        self : TransductiveSVC
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is out of range, X or y cannot be used, or no row is labeled.
        TypeError
            If a parameter has the wrong type.
        KeyboardInterrupt
            If the user interrupts; the estimator then keeps what it was before.
        RuntimeError
            If the native library cannot be loaded.
        """
        X = _data.check_rows(self, X, y=None if y is None else "no_validation", reset=True)
        given = _labels.read(y, self.unlabeled)
        check_consistent_length(X, given.labeled)
        weights = _weights.check_sample_weight(sample_weight, X.shape[0])
        labels = _labels.encode(given, weights)
        self._warn_before(given.labeled, weights)
        totals = _weights.labeled_totals(labels.codes, weights, len(labels.classes))
        prior = _weights.resolve_class_prior(self.class_prior, labels.classes, totals)
        if self.class_prior is not None and len(labels.classes) > 1:
            _advice.far_prior(prior, totals, labels.classes)
        weights = _weights.apply_class_weight(self.class_weight, labels.classes, labels.codes, weights)
        with _progress.shown(type(self).__name__, self.verbose) as watch:
            fitted = _fit.fit(_data.native(X), labels.codes, weights, self._options(prior), watch)
        self._keep(labels, fitted)
        _advice.of_the_library(fitted.report["warnings"], self.classes_, self.n_iter_, self.objective_)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Score of each row: w·x + b, unitless; above 0 means `classes_[1]`.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_rows,), float64
            A row has the same score alone and among others.
        """
        check_is_fitted(self)
        X = _data.check_rows(self, X, reset=False)
        _data.check_structure(X)
        return np.asarray(X @ self.coef_[0]) + self.intercept_[0]

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
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def _options(self, prior: np.ndarray) -> dict[str, Any]:
        """The options of the library, which checks their ranges."""
        options = {
            "method": self.method,
            "alpha": self.alpha,
            "unlabeled_weight": self.unlabeled_weight,
            "class_prior": prior if len(prior) > 1 else None,
            "balance": self.balance,
            "loss": self.loss,
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

    def _keep(self, labels: _labels.Labels, fitted: _fit.Fitted) -> None:
        report, arrays = fitted
        self.classes_ = labels.classes
        self.coef_ = np.ascontiguousarray(arrays["coef"].reshape(report["n_features"], report["n_outputs"]).T)
        self.intercept_ = arrays["intercept"]
        self.class_prior_ = arrays["class_prior"][: len(labels.classes)]
        self.n_iter_ = report["n_iter"]
        self.objective_ = report["objective"]
        self.termination_condition_ = report["termination_condition"]
        self.history_ = _columns("history.", arrays)
        self.transduction_ = labels.classes[arrays["transduction"].astype(np.intp)]
        self._keep_distributions(arrays.get("label_distributions"))

    def _keep_distributions(self, flat: np.ndarray | None) -> None:
        if flat is not None:
            self.label_distributions_ = flat.reshape(-1, len(self.classes_))
        elif hasattr(self, "label_distributions_"):
            del self.label_distributions_  # of an earlier fit

    def _warn_before(self, labeled: np.ndarray, weights: np.ndarray | None) -> None:
        unlabeled = ~labeled if weights is None else ~labeled & (weights > 0)
        if self.unlabeled is not None and not unlabeled.any():
            _advice.nothing_unlabeled()


def _columns(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}
