"""SemiSupervisedLogisticRegression: probabilities from few labeled and many unlabeled rows."""

from typing import Any

from fewlabel._base import LinearClassifier
from fewlabel._probabilities import Probabilities


class SemiSupervisedLogisticRegression(Probabilities, LinearClassifier):
    """Logistic regression that also learns from unlabeled rows.

    The transductive method of `TransductiveSVC` with the loss of logistic regression (maximum entropy): scores have
    probabilities, which sum to 1 over the classes. Two or more classes, which may form a tree.

    Parameters
    ----------
    method : {"annealing", "switching", "entropy", "expectation", "posterior"} or object, default="annealing"
        How unlabeled rows are learned from. By labels that are found for them: "annealing", soft labels that harden
        while a temperature falls; "switching", hard labels, many exchanged at a time, while the weight of the unlabeled
        rows rises. By their probabilities, see Notes: "entropy", certain ones that have the class prior as their mean;
        "expectation", with that mean only; "posterior", near labels with that mean. "entropy" is about as good as
        "annealing"; the other two come between these and the supervised solution, in a fraction of the time. A method
        with options is `Annealing`, `Switching`, `Entropy`, `Expectation` or `Posterior` of `fewlabel.methods`.
    alpha : float, default=1e-4
        Strength of the regularization ½‖w‖², above 0, for rows in units of their root mean square length, see Notes.
        Losses are averaged, as in `SGDClassifier`. The smaller, the nearer are the probabilities to 0 and 1.
    unlabeled_weight : float or "auto", default="auto"
        Weight of the averaged loss of unlabeled rows, or of their entropy, 0 to 1e6; 0 gives the supervised solution.
        "auto": 1, or u/(20 l) where l labeled rows have fewer than 20 l unlabeled ones (u). "expectation" and
        "posterior" have no such term: any number above 0 is the same.
    class_prior : "auto", "labels", array-like of shape (n_classes,) or dict, default="auto"
        Share of each class among the unlabeled rows. "auto": estimated from the labeled and the unlabeled rows; labels
        may be drawn at random or picked class by class, see Notes. "labels": the shares of the labeled rows, weighted
        by `sample_weight`. Otherwise shares in the order of `classes_`, or a dict from class to share; each above 0 and
        below 1, together 1. A dict can name a class without labeled rows: it is then one of `classes_`, with a warning,
        and gets the rows that fit the others least. A share of less than one row may round to zero rows. Not used where
        the labeled rows have one class.
    hierarchy : dict, str or None, default=None
        Tree of the classes, which must be its leaves: a dict from child to parent over the names of classes and groups,
        or a separator in the class names, such as "." in "comp.graphics", which is then below "comp" ("a.b.c" below
        "a.b" below "a"). A class without a parent is at the top level. Classes of one group share weights, which helps
        classes with few labels. A group that contains every class has no effect.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the labeled rows by class. "balanced" gives the classes equal total weights. As losses
        are averaged, only ratios matter. It does not change `class_prior_`.
    calibrate : bool, default=True
        Whether to calibrate probabilities on labeled rows that are held out in turn, at the cost of about one more fit.
        With False `predict_proba` is the softmax of the scores.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`. "auto": -1 in numbers, NaN in floats, None, NaN, pandas.NA or -1 in objects,
        "-1" in texts. None: every row is labeled. Anything else is the marker itself. Where "auto" could be read
        in two ways `fit` raises a ValueError.
    max_iter : int, default=10000
        Largest number of outer steps: temperatures (annealing), relabelings (switching), weights of the entropy and
        updates of the multipliers, of which the last one is always an exact solve for what was found so far. Without
        unlabeled rows: Newton steps, at most 200 in any case.
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
        What happened in each outer step, as in `TransductiveSVC` with many classes. "entropy", "expectation" and
        "posterior" have "constraint_residual", the largest distance of a mean probability from its prior, for
        "share_distance", and the "entropy" of the probabilities in bits a row.
    supervised_agreement_ : float
        Share of the unlabeled rows to which the supervised solution, where the method begins, gives the same class. NaN
        after a warm start and where there is nothing to compare.
    calibration_temperature_ : float
        Number by which scores are divided before the softmax of `predict_proba`. NaN where not calibrated.
    calibration_smoothing_ : float
        Share of the probability that is then spread evenly over the classes: larger with fewer labels. NaN where not
        calibrated.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had them in `fit`.

    Warns
    -----
    DataWarning
        If no row is unlabeled, if one class only has labels, if unlabeled rows have very different lengths or features
        very different scales, or if -1 is taken for the marker but is rarer than the labels 0 and 1.
    ClassPriorWarning
        If labeled and unlabeled rows contradict a given `class_prior`, if it names a class without labels, if a class
        has a share of less than one row, if a class is predicted for less than half of its share of the unlabeled
        rows, or if the `balance` of the method needs an intercept and there is none.
    FewlabelWarning
        If `calibrate` has too few labels: it needs 20 different labeled rows, of classes with at least two. The two
        above are kinds of it.
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
    unit length. The intercept counts as the weight of a constant feature. With `sample_weight` and `class_weight` all
    averages are weighted. `objective_` is the value at `coef_` and `intercept_`. For two classes it is the same,
    where `coef_` is the difference w_1 - w_0: the first term is then alpha/4 (rms² ‖`coef_`‖² + `intercept_`²).

    That is for "annealing" and "switching". With the mean m_k = 1/u Σ_unlabeled p_k, the others have

        alpha/2 Σ_k (rms² ‖w_k‖² + b_k²)  -  1/l Σ_labeled log p_y  +  R

        "entropy"      R = -unlabeled_weight/u Σ_unlabeled Σ_k p_k log p_k,  where m = class_prior
        "expectation"  R = 0,                                                where m = class_prior
        "posterior"    R = kl_weight/u Σ_unlabeled min over q of Σ_k q_k log(q_k / p_k),  where mean q = class_prior

    The constraints hold within 1e-4, by an augmented Lagrangian, or by the best q. `kl_weight` is an option of
    `fewlabel.methods.Posterior`. `Entropy` and `Expectation` there have constraint="penalty", with which m is not
    constrained and R gets the term penalty_weight Σ_k prior_k log(prior_k / m_k). "entropy" is not convex: it starts at
    the solution of "expectation" and raises `unlabeled_weight`.

    Without unlabeled rows and without intercept it is the model of `LogisticRegression(C=1/(l*alpha*rms**2))`, and
    for two classes that with `C=2/(l*alpha*rms**2)`. (With intercept: `LogisticRegression` does not regularize b.)

    With class_prior="auto" five supervised fits, each without a fifth of the labels, give calibrated probabilities of
    rows whose labels they have not seen (Alexandari et al. 2020), and EM finds the shares of the unlabeled rows from
    these (Saerens et al. 2002). The shares of the labels count as far as the labels look drawn at random. Where they
    look picked instead, thresholds are not moved to the estimated shares at the end (balance "labels").

    With `hierarchy` each group has weights too, the first term counts those of classes and groups, and the score is
    the sum along the path of the class from the top.

    A transductive fit looks for a boundary without rows near it, and `alpha` shrinks scores, so the softmax of the
    scores can be nearer to 0 and 1 than the share of right answers, or farther. With `calibrate` the scores are divided
    by `calibration_temperature_`, found on labeled rows that were held out in turn, and the share
    `calibration_smoothing_` of the probability is spread evenly; order and predicted classes stay the same.
    `sklearn.calibration.CalibrationDisplay` draws how far probabilities can be trusted.

    Give rows of unit length, as for `TransductiveSVC`. Predicting and unpickling do not need the native library.

    References
    ----------
    S. S. Keerthi, S. Sundararajan and S. Shevade. Extension of TSVM to Multi-Class and Hierarchical Text Classification
    Problems With General Losses. COLING 2012. Sections 4.1 to 4.3: entropy, expectation, posterior.

    Y. Grandvalet and Y. Bengio. Semi-supervised Learning by Entropy Minimization. NIPS 2005.

    G. S. Mann and A. McCallum. Simple, Robust, Scalable Semi-supervised Learning via Expectation Regularization. ICML
    2007.

    M. Saerens, P. Latinne and C. Decaestecker. Adjusting the Outputs of a Classifier to New a Priori Probabilities: A
    Simple Procedure. Neural Computation 2002.

    A. Alexandari, A. Kundaje and A. Shrikumar. Maximum Likelihood with Bias-Corrected Calibration is Hard-To-Beat at
    Label Shift Adaptation. ICML 2020.

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

    _methods = ("annealing", "switching", "entropy", "expectation", "posterior")

    def __init__(
        self,
        *,
        method: Any = "annealing",
        alpha: float = 1e-4,
        unlabeled_weight: Any = "auto",
        class_prior: Any = "auto",
        hierarchy: Any = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        calibrate: bool = True,
        unlabeled: Any = "auto",
        max_iter: int = 10000,
        tol: float = 1e-5,
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.alpha = alpha
        self.unlabeled_weight = unlabeled_weight
        self.class_prior = class_prior
        self.hierarchy = hierarchy
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.unlabeled = unlabeled
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    def _loss(self) -> str:
        return "maxent"
