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
    method : {"annealing", "switching", "entropy", "expectation", "posterior"}, default="annealing"
        How unlabeled rows are learned from. By labels that are found for them: "annealing", soft labels that harden
        while a temperature falls; "switching", hard labels, many exchanged at a time, while the weight of the unlabeled
        rows rises. By their probabilities, see Notes: "entropy", which are to be sure and to have the class prior as
        their mean; "expectation", which have that mean only; "posterior", which are to be near labels with that mean.
        "entropy" is about as good as "annealing", the other two come between these and the supervised solution, in a
        fraction of the time.
    alpha : float, default=1e-4
        Strength of the regularization ½‖w‖², above 0. Losses are averaged, as in `SGDClassifier`. The smaller, the
        nearer are the probabilities to 0 and 1.
    unlabeled_weight : float, default=1.0
        Weight of the averaged loss of unlabeled rows, or of their entropy, 0 to 1e6; 0 gives the supervised solution.
        "expectation" and "posterior" have no such term: any number above 0 is the same.
    class_prior : array-like of shape (n_classes,), dict, "estimate" or None, default=None
        Share of each class among the unlabeled rows, in the order of `classes_` or as a dict from class to share; each
        above 0 and below 1, together 1. None takes the shares of the labeled rows, weighted by `sample_weight`. A dict
        can name a class without labeled rows: it is then one of `classes_`, with a warning, and gets the rows that fit
        the others least. A share that is less than one row can come to none. Not used where the labeled rows have one
        class. "estimate": for labels that were not drawn at random, as by `estimate_class_prior`; each class needs at
        least 3 different labeled rows.
    prior_strength : float or None, default=None
        How many labeled rows the shares in `class_prior` are worth, above 0; None: they are exact. With a number the
        shares give way to what the unlabeled rows say through the supervised model, which counts as much as the labels,
        and to the shares of the labels where these look drawn at random: a wrong class prior then does less harm, see
        Notes. `class_prior_` has the shares that were found; these are held exactly. Half as many as there are labels
        is a good choice for shares that may be off by a third. A class with fewer than 3 different labeled rows keeps
        its share, with a warning. The shares of the labels (None or "estimate") can have a strength, too; "estimate"
        with None takes half a row for each class.
    balance : {"auto", "share", "labels"}, default="auto"
        How labels hold the class prior ("annealing" and "switching"). "share", which "auto" is too: by the counts of
        labels, and at the end the intercepts move so that the model predicts the share. "labels": by the counts of
        labels only.
    constraint : {"equality", "penalty"}, default="equality"
        How "entropy" and "expectation" hold the class prior by the mean of the probabilities. "equality": exactly, by
        multipliers. "penalty": at a cost, as Mann and McCallum do, see Notes and `penalty_weight`. For a class prior
        that you are not sure of, `prior_strength` is safer: a cheap penalty lets the entropy choose the shares.
    penalty_weight : float, default=10.0
        Weight of the divergence of the mean probabilities from the class prior with constraint "penalty", above 0, in
        the unit of a row's loss.
    kl_weight : float, default=0.1
        Weight of the divergence between labels and probabilities in "posterior", above 0.
    hierarchy : dict, str or None, default=None
        Tree of the classes, which must be its leaves: a dict from child to parent over the names of classes and groups,
        or a separator that is found in the class names, as "." in "comp.graphics", which is then below "comp"
        ("a.b.c" below "a.b" below "a"). A class without a parent stands just below the top. Classes of one group share
        weights, which helps classes with few labels. Groups above all classes change nothing.
    fit_intercept : bool, default=True
        Whether the model has an intercept. Without one `balance` is as good as "labels".
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the labeled rows by class. "balanced" makes the classes equally heavy. As losses are
        averaged, only ratios matter. It does not change the class prior.
    max_switches : int, default=0
        Pairs of labels that "switching" exchanges at a time; 0: all that lower the objective.
    cross_fit : {"auto", True, False}, default="auto"
        Whether to fit five more times, each without a fifth of the labels and on at most 3,000 unlabeled rows, to see
        whether unlabeled rows hurt or do not help (a warning tells) and to calibrate `predict_proba`. It needs 20
        different labeled rows. "auto": if unlabeled rows take part.
    unlabeled : "auto", None or a label, default="auto"
        What marks an unlabeled row in `y`. "auto": -1 in numbers, NaN in floats, None, NaN, pandas.NA or -1 in objects,
        "-1" in texts. None: nothing does, every row is labeled. Anything else is the marker itself.
    max_iter : int, default=10000
        Largest number of outer steps: temperatures (annealing), relabelings (switching), weights of the entropy and
        renewals of the multipliers, of which the last one is always an exact solve for what was found so far. Without
        unlabeled rows: Newton steps, of which 200 are the most in any case.
    tol : float, default=1e-5
        The last solve ends when its objective is within this relative distance of the optimum. "entropy" and
        "posterior" are not convex: they end at a gradient as small as at that distance if they curved by `alpha`.
    n_jobs : int or None, default=None
        Number of threads. None: every core that the process may use, but 1 inside a joblib worker; -1: every core.
        The result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw numbers, which none of these does.
    warm_start : bool, default=False
        Whether `fit` goes on from what an earlier `fit` has found, as in `TransductiveSVC`.
    verbose : int, default=0
        Above 0: show the steps of a fit, in a progress bar if tqdm is installed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted, without the marker.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features), float64
        Weights of the features: one row for one or two classes, otherwise one a class. Those of groups are in them.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        Added to every score.
    class_prior_ : ndarray of shape (n_classes,)
        Share of each class among the unlabeled rows that was used.
    hierarchy_ : dict or None
        Parent of each class and group, None for those just below the top. None without `hierarchy`.
    transduction_ : ndarray of shape (n_rows,)
        Label of every training row: the given one, or the predicted one of an unlabeled row or a row of weight 0.
    label_distributions_ : ndarray of shape (n_rows, n_classes)
        Probability of each class for every training row. Only with unlabeled rows, and not
        with "switching"; those of "posterior" are its labels.
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
        Share of the unlabeled rows to which the supervised model of the same labels gives the same class. NaN where
        there is nothing to compare.
    cross_fit_scores_ : dict
        Of the answers for labeled rows that were held out: the share of right ones, "supervised" and
        "semi-supervised"; the mean F score over the classes of these rows, "supervised macro F" and "semi-supervised
        macro F"; all with the weights of the rows. "n_rows": how many rows that were. NaN and 0 without cross-fitting.
    temperature_ : float
        The probabilities are those of the scores divided by it: 1 where no unlabeled row took part. NaN: not
        calibrated, 1 is used.
    smoothing_ : float
        Share of the probability that is then spread evenly over the classes: the more, the fewer labels each has. 0
        where nothing was calibrated.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had them in `fit`.

    Warns
    -----
    UserWarning
        If no row is unlabeled, if one class only has labels, if `class_prior` is far from the labeled rows or names a
        class without any, if a class has too few labels for `prior_strength`, if a class is predicted for less than
        half of its share of the unlabeled rows, or if unlabeled rows appear to hurt or not to help (`cross_fit`).
    ConvergenceWarning
        If `max_iter` steps did not suffice, if labels did not settle or the last solve did not converge, or if the
        unlabeled rows do not allow the mean probabilities that `class_prior` asks for: it says how far they are.

    See Also
    --------
    TransductiveSVC : The same with large margins.
    sklearn.linear_model.LogisticRegression : The same model from labeled rows only.

    Notes
    -----
    With scores s_k(x) = w_k·x + b_k of the classes k, probabilities p_k = exp(s_k) / Σ_c exp(s_c), l labeled rows with
    classes y and u unlabeled rows, the objective is

        alpha/2 Σ_k ‖w_k‖²  -  1/l Σ_labeled log p_y  -  unlabeled_weight/u Σ_unlabeled max_k log p_k

    The intercept counts as the weight of a constant feature: ‖w‖² includes b². With `sample_weight` and `class_weight`
    both averages are weighted ones. `objective_` is the value at `coef_` and `intercept_`. For two classes it is the
    same, where `coef_` is the difference w_1 - w_0: the first term is then alpha/4 ‖`coef_`‖².

    That is for "annealing" and "switching". With the mean m_k = 1/u Σ_unlabeled p_k, the others have

        alpha/2 Σ_k ‖w_k‖²  -  1/l Σ_labeled log p_y  +  R

        "entropy"      R = -unlabeled_weight/u Σ_unlabeled Σ_k p_k log p_k,  where m = class_prior
        "expectation"  R = 0,                                                where m = class_prior
        "posterior"    R = kl_weight/u Σ_unlabeled min over q of Σ_k q_k log(q_k / p_k),  where mean q = class_prior

    The constraints hold within 1e-4, by an augmented Lagrangian, or by the best q. With constraint "penalty" there is
    none; instead R gets the term penalty_weight Σ_k prior_k log(prior_k / m_k).
    "entropy" is not convex: it starts at the solution of "expectation" and raises `unlabeled_weight`.

    Without unlabeled rows and without intercept it is the model of `LogisticRegression(C=1/(l*alpha))`, and for two
    classes that with `C=2/(l*alpha)`. (With intercept: `LogisticRegression` leaves b out of ‖w‖².)

    With `prior_strength` S the shares φ have the largest posterior probability under a Dirichlet prior: they maximize
    l/u Σ_unlabeled log Σ_k φ_k p_k / π_k + S Σ_k class_prior_k log φ_k, where l is the number of labels, π their shares
    and p the probabilities of a supervised model, calibrated on cross-fitted labels (Saerens, Latinne and Decaestecker
    2002 for S = 0). Where the labels look drawn at random, π counts as further rows beside `class_prior`. The labels
    that are found for unlabeled rows say nothing of φ: an uneven class prior lowers the objective, whether it is true
    or not.

    With `hierarchy` each group has weights too, ‖w‖² counts those of classes and groups, and the score of a class is
    the sum along its path from the top.

    A transductive fit looks for a boundary without rows near it, and `alpha` shrinks scores, so p_k can be nearer to 0
    and 1 than the share of right answers says, or farther. So `predict_proba` divides the scores by a temperature, the
    one with the least log loss on labeled rows that were held out in turn (`cross_fit`), which stays near 1 unless
    these speak against it, and spreads a small share evenly; order and predicted classes stay as they are.
    `sklearn.calibration.CalibrationDisplay` draws how far they can be trusted.

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

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import SemiSupervisedLogisticRegression
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [0.1, 1.1], [1.0, 0.1], [0.9, 0.0], [1.1, 0.2]])
    >>> y = np.array(["low", None, None, "high", None, None])
    >>> model = SemiSupervisedLogisticRegression(alpha=1e-2).fit(X, y)
    >>> model.transduction_.tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    >>> from sklearn.datasets import load_iris
    >>> X, species = load_iris(return_X_y=True)
    >>> y = np.where(np.arange(150) % 5 == 0, species, -1)
    >>> model = SemiSupervisedLogisticRegression().fit(X - X.mean(axis=0), y)
    >>> model.predict_proba(X[:1] - X.mean(axis=0)).round(2)
    array([[0.99, 0.01, 0.01]])
    """

    def __init__(
        self,
        *,
        method: str = "annealing",
        alpha: float = 1e-4,
        unlabeled_weight: float = 1.0,
        class_prior: Any = None,
        prior_strength: float | None = None,
        balance: str = "auto",
        constraint: str = "equality",
        penalty_weight: float = 10.0,
        kl_weight: float = 0.1,
        hierarchy: Any = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        max_switches: int = 0,
        cross_fit: Any = "auto",
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
        self.prior_strength = prior_strength
        self.balance = balance
        self.constraint = constraint
        self.penalty_weight = penalty_weight
        self.kl_weight = kl_weight
        self.hierarchy = hierarchy
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_switches = max_switches
        self.cross_fit = cross_fit
        self.unlabeled = unlabeled
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    def _cross_fits(self) -> bool:
        return True if isinstance(self.cross_fit, str) else super()._cross_fits()

    def _options(self) -> dict[str, Any]:
        own = {
            "constraint": self.constraint,
            "penalty_weight": self.penalty_weight,
            "kl_weight": self.kl_weight,
        }
        return super()._options() | own

    def _loss(self) -> str:
        return "maxent"
