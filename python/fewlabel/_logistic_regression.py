"""SemiSupervisedLogisticRegression: probabilities from few labeled and many unlabeled rows."""

from dataclasses import dataclass, field
from typing import ClassVar

from fewlabel._base import LinearClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class SemiSupervisedLogisticRegression(LinearClassifier):
    """Logistic regression that also learns from unlabeled rows.

    The transductive method of `TransductiveSVC` with the loss of logistic regression, "maxent" in C: scores have
    probabilities, which sum to 1 over the classes. Two or more classes, which may form a tree.

    Parameters
    ----------
    method : {"annealing", "switching", "entropy", "expectation", "posterior"} or object, default="annealing"
        How unlabeled rows are learned from. By labels that are found for them: "annealing", soft labels that harden
        while a temperature falls; "switching", hard labels, many exchanged at a time. By their probabilities, see
        Notes: "entropy", certain ones that have the class prior as their mean; "expectation", with that mean only;
        "posterior", near labels with that mean. An object of `fewlabel.methods` is a method with options.
    alpha : float, default=1e-4
        Strength of the regularization ½‖w‖², above 0. Losses are averaged, as in `SGDClassifier`, and rows are measured
        in units of their root mean square length. The smaller, the nearer are the probabilities to 0 and 1.
    unlabeled_weight : float or "auto", default="auto"
        Weight of the averaged loss of unlabeled rows, or of their entropy, as in `TransductiveSVC`; 0 gives the
        supervised solution. "expectation" and "posterior" have no such term: any number above 0 is the same.
    class_prior : "auto", "labels", array-like of shape (n_classes,) or dict, default="auto"
        Share of each class among the unlabeled rows: estimated ("auto"), that of the labeled rows ("labels"), or given,
        as in `TransductiveSVC`.
    hierarchy : dict, str or None, default=None
        Tree whose leaves are the classes: a dict from child to parent, or a separator in the class names, as in
        `TransductiveSVC`.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the labeled rows by class; only their ratios matter. "balanced" gives the classes
        equal total weights. It does not change `class_prior_`.
    calibrate : bool, default=True
        Whether to calibrate probabilities on labeled rows that are held out in turn, at the cost of about one more fit.
        With False `predict_proba` is the softmax of the scores.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`. "auto": -1 and missing values, as in `TransductiveSVC`. None: every row is
        labeled. Anything else is the marker itself.
    max_iter : int, default=10000
        Largest number of outer steps: temperatures, relabelings, or weights of the entropy and updates of the
        multipliers. The last one is always an exact solve. Without unlabeled rows: Newton steps, at most 200.
    tol : float, default=1e-5
        The last solve ends when its objective is within this relative distance of the optimum. "entropy" and
        "posterior" are not convex: they end at a gradient as small as at that distance if they curved by `alpha`.
    n_jobs : int or None, default=None
        Number of threads. None: every core that the process may use, but 1 inside a joblib worker; -1: every core.
        The result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw numbers, which none of these does.
    warm_start : bool, default=False
        Whether `fit` continues from the fitted model, as in `TransductiveSVC`.
    verbose : int, default=0
        Above 0: show the steps of a fit, in a progress bar if tqdm is installed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted, without the marker.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features), float64
        Weights of the features: one row for one or two classes, otherwise one a class. Those of groups are included.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        Added to every score.
    class_prior_ : ndarray of shape (n_classes,)
        Share of each class among the unlabeled rows that was used.
    hierarchy_ : dict or None
        Parent of each class and group, None at the top level. None without `hierarchy`.
    transduction_ : ndarray of shape (n_rows,)
        Label of every training row: the given one, or the predicted one of an unlabeled row or a row of weight 0.
    label_distributions_ : ndarray of shape (n_rows, n_classes)
        Probability of each class for every training row. Only with unlabeled rows, and not with "switching"; those of
        "posterior" are its labels.
    objective_ : float
        Final value of the objective, see Notes.
    n_iter_ : int
        Outer steps done, at least 1.
    termination_condition_ : str
        Why the fit ended, as in `TransductiveSVC`. "entropy", "expectation" and "posterior" end with "converged" or
        "stopped", or with a warning: "constraint", the class prior was not met; "max_iter"; "not_converged".
    history_ : dict of str to ndarray of shape (n_steps,)
        Values of each outer step, as in `TransductiveSVC` with many classes. "entropy", "expectation" and "posterior"
        have for "share_distance" the "constraint_residual", the largest distance of a mean probability from its prior,
        and the "entropy" of the probabilities in bits a row.
    supervised_agreement_ : float
        Share of the unlabeled rows to which the supervised solution gives the same class, as in `TransductiveSVC`.
    calibration_temperature_ : float
        Number by which scores are divided before the softmax of `predict_proba`. NaN where not calibrated.
    calibration_smoothing_ : float
        Share of the probability that is then spread evenly over the classes. NaN where not calibrated.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had them in `fit`.

    Warns
    -----
    DataWarning, ClassPriorWarning, FewlabelWarning
        As `TransductiveSVC`.
    ConvergenceWarning
        If `max_iter` steps did not suffice, if labels did not settle or the last solve did not converge, or if the
        unlabeled rows do not allow the mean probabilities that `class_prior` asks for: it says how far they are.

    See Also
    --------
    TransductiveSVC : The same with large margins.
    fewlabel.inspection.check : Do unlabeled rows help here?
    fewlabel.estimate_class_prior : The shares of class_prior="auto", with an interval.
    sklearn.linear_model.LogisticRegression : The same model from labeled rows only.

    Notes
    -----
    With scores s_k(x) = w_k·x + b_k of the classes k, probabilities p_k = exp(s_k) / Σ_c exp(s_c), l labeled rows with
    classes y and u unlabeled rows, the objective is

        alpha/2 Σ_k (rms² ‖w_k‖² + b_k²)  -  1/l Σ_labeled log p_y  -  unlabeled_weight/u Σ_unlabeled max_k log p_k

    where rms is the root of the mean square length of the rows, labeled and unlabeled, that are not zero: 1 for rows of
    unit length. For two classes it is the same, with the difference w_1 - w_0 as `coef_`: the first term is then
    alpha/4 (rms² ‖`coef_`‖² + `intercept_`²). Weighted averages, `hierarchy` and labels that look picked are as in
    `TransductiveSVC`, and so is the advice to give rows of unit length.

    That is for "annealing" and "switching". The others have another third term: the weighted entropy, none, or the
    divergence of the probabilities from labels, all with the class prior as the mean of the probabilities, or of the
    labels, within 1e-4. The page "How it works" has the formulas.

    Without unlabeled rows and without intercept it is the model of `LogisticRegression(C=1/(l*alpha*rms**2))`, and
    for two classes that with `C=2/(l*alpha*rms**2)`. (With intercept: `LogisticRegression` does not regularize b.)

    Calibration changes neither the order of the scores nor predicted classes. How far probabilities can be trusted
    `sklearn.calibration.CalibrationDisplay` draws.

    References
    ----------
    Keerthi, Sundararajan and Shevade (COLING 2012), sections 4.1 to 4.3: the methods. Grandvalet and Bengio (NIPS
    2005): entropy. Mann and McCallum (ICML 2007): expectation.

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import SemiSupervisedLogisticRegression
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [0.1, 1.1], [1.0, 0.1], [0.9, 0.0], [1.1, 0.2]])
    >>> y = np.array(["low", None, None, "high", None, None])
    >>> model = SemiSupervisedLogisticRegression(alpha=1e-2, calibrate=False).fit(X, y)
    >>> model.transduction_.tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    >>> from sklearn.datasets import load_iris
    >>> X, species = load_iris(return_X_y=True)
    >>> y = np.where(np.arange(150) % 5 == 0, species, -1)
    >>> model = SemiSupervisedLogisticRegression().fit(X - X.mean(axis=0), y)
    >>> model.predict_proba(X[:1] - X.mean(axis=0)).round(1)
    array([[1., 0., 0.]])
    """

    alpha: float = 1e-4
    loss: str = field(default="maxent", init=False)
    calibrate: bool = True

    _methods: ClassVar = ("annealing", "switching", "entropy", "expectation", "posterior")
