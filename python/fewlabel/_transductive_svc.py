"""TransductiveSVC: a large-margin classifier from few labeled and many unlabeled rows."""

from typing import Any

from sklearn.utils.metaestimators import available_if

from fewlabel._base import LinearClassifier
from fewlabel._probabilities import Probabilities


class TransductiveSVC(LinearClassifier):
    """Linear support vector machine that also learns from unlabeled rows.

    It looks for hyperplanes that separate the labeled rows, pass where unlabeled rows are few, and give each class its
    share of the unlabeled rows. Two or more classes, which may form a tree.

    Parameters
    ----------
    method : {"annealing", "switching", "pair_switching"}, default="annealing"
        How the labels of unlabeled rows are found. "annealing": soft labels that harden while a temperature falls.
        "switching": hard labels, many exchanged at a time, while the weight of the unlabeled rows rises.
        "pair_switching": Joachims' algorithm, one pair exchanged at a time; two classes only.
    alpha : float, default=1e-3
        Strength of the regularization ½‖w‖², above 0. Losses are averaged, as in `SGDClassifier`.
    unlabeled_weight : float, default=1.0
        Weight of the averaged loss of unlabeled rows, 0 to 1e6; 0 gives the supervised solution.
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
    balance : {"auto", "share", "mean", "labels"}, default="auto"
        How the class prior is held. "share": by the counts of labels, and at the end the threshold moves so that the
        model predicts the share. "mean": besides by a linear constraint on the mean score of the unlabeled rows, for
        each class. "labels": as in the papers, by the counts of labels only, with the threshold at 0. "auto": what
        measured best, "mean" for "annealing" with the squared hinge and "share" for all else.
    loss : {"squared_hinge", "hinge", "crammer_singer"}, default="squared_hinge"
        Loss of a row. "squared_hinge": ½max(0, 1-m)² of its margin m; with more than two classes the sum over all
        classes, one against the rest. "hinge": max(0, 1-m), which "pair_switching" alone can use (and Joachims did).
        "crammer_singer": the largest of 0 and 1 + s_k - s_y over the other classes k, for the score s_y of its class;
        it is smoothed a little and takes longer. (The library's "maxent" is `SemiSupervisedLogisticRegression`.)
    hierarchy : dict, str or None, default=None
        Tree of the classes, which must be its leaves: a dict from child to parent over the names of classes and groups,
        or a separator that is found in the class names, as "." in "comp.graphics", which is then below "comp"
        ("a.b.c" below "a.b" below "a"). A class without a parent stands just below the top. Classes of one group share
        weights, which helps classes with few labels. Groups above all classes change nothing.
    fit_intercept : bool, default=True
        Whether the model has an intercept. Without one the threshold is at 0, so `balance` is as good as "labels".
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the labeled rows by class. "balanced" makes the classes equally heavy. As losses are
        averaged, only ratios matter. It does not change the class prior.
    max_switches : int, default=0
        Pairs of labels that "switching" exchanges at a time; 0: all that lower the objective.
    cross_fit : {"auto", True, False}, default="auto"
        Whether to fit five more times, each without a fifth of the labels and on at most 3,000 unlabeled rows, to see
        whether unlabeled rows hurt or do not help (a warning tells) and to calibrate `predict_proba`. It needs 20
        different labeled rows. "auto": only with class_prior="estimate". There is no `predict_proba` without it.
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
    warm_start : bool, default=False
        Whether `fit` goes on from what an earlier `fit` has found, best after some labels were added: annealing then
        begins at a low temperature and switching at the full weight of the unlabeled rows, with labels from the scores
        of the fitted model, in a small part of the time. Features and classes must be the same, all parameters may
        change. Without unlabeled rows the solution is the same from any start.
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
        Probability of each class for every training row. Only with "annealing" and unlabeled rows.
    objective_ : float
        Final value of the objective, see Notes.
    n_iter_ : int
        Outer steps done, at least 1.
    termination_condition_ : str
        Why the fit ended. "entropy", "temperature" (annealing): the soft labels are hard, or as hard as they get;
        "no_switch" (the others): no exchange of labels helps; "converged": the supervised solution is reached;
        "one_class": there was nothing to learn; "stopped": a callback asked for it. The rest come with a warning:
        "max_iter"; "unsettled": labels went on changing at the full weight; "not_converged": the last solve did not
        reach `tol` and would not with more steps.
    history_ : dict of str to ndarray of shape (n_steps,)
        What happened in each outer step: "objective"; "temperature" (annealing) or "unlabeled_weight" (the others);
        "n_switched", the labels changed; "positive_share", the share of unlabeled rows with a score above 0, or with
        more classes "share_distance", the largest distance of a class's share from its prior; "n_passes", the passes
        over the data so far; "entropy" of the soft labels in bits a row (annealing).
    supervised_agreement_ : float
        Share of the unlabeled rows to which the supervised model of the same labels gives the same class. NaN where
        there is nothing to compare.
    cross_fit_scores_ : dict
        Of the answers for labeled rows that were held out: the share of right ones, "supervised" and
        "semi-supervised"; the mean F score over the classes of these rows, "supervised macro F" and "semi-supervised
        macro F"; all with the weights of the rows. "n_rows": how many rows that were. NaN and 0 without cross-fitting.
    temperature_ : float
        The probabilities are those of the scores divided by it. NaN: not calibrated, 1 is used.
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
        If `max_iter` steps did not suffice, or if labels did not settle or the last solve did not converge.

    See Also
    --------
    SemiSupervisedLogisticRegression : The same with probabilities.
    sklearn.svm.LinearSVC : The same model from labeled rows only.

    Notes
    -----
    With scores f(x) = w·x + b, l labeled rows with y in {-1, 1} and u unlabeled rows, the objective is

        alpha/2 ‖w‖²  +  1/l Σ_labeled ξ(y f)  +  unlabeled_weight/u Σ_unlabeled min(ξ(f), ξ(-f))

    where ξ is the loss, for example ξ(m) = ½max(0, 1-m)². The intercept counts as the weight of a constant feature:
    ‖w‖² includes b², except where the mean score is constrained (`balance="mean"`). With `sample_weight` and
    `class_weight` both averages are weighted ones. `objective_` is the value at `coef_` and `intercept_`. Without
    unlabeled rows it is `alpha` times the objective of `LinearSVC(loss="squared_hinge", C=1/(2*l*alpha))`.

    With more than two classes each class k has a score s_k(x) = w_k·x + b_k, and the objective is

        alpha/2 Σ_k ‖w_k‖²  +  1/l Σ_labeled ξ(s, y)  +  unlabeled_weight/u Σ_unlabeled min_k ξ(s, k)

    where ξ(s, y) = ½max(0, 1-s_y)² + Σ_{k≠y} ½max(0, 1+s_k)². Without unlabeled rows it is `alpha` times the sum of
    the classes' objectives in that `LinearSVC`; with loss "crammer_singer" it is close to that of
    `LinearSVC(multi_class="crammer_singer", C=1/(l*alpha))`: the hinge is smoothed, and is in the end at most
    0.001 log(n_classes) above it. That loss and `hierarchy` have the objective of many classes for two as well;
    `coef_` is then the difference w_1 - w_0.

    With `prior_strength` S the shares φ have the largest posterior probability under a Dirichlet prior: they maximize
    l/u Σ_unlabeled log Σ_k φ_k p_k / π_k + S Σ_k class_prior_k log φ_k, where l is the number of labels, π their shares
    and p the probabilities of a supervised model, calibrated on cross-fitted labels (Saerens, Latinne and Decaestecker
    2002 for S = 0). Where the labels look drawn at random, π counts as further rows beside `class_prior`. The labels
    that are found for unlabeled rows say nothing of φ: an uneven class prior lowers the objective, whether it is true
    or not.

    With `hierarchy` each group has weights too, ‖w‖² counts those of classes and groups, and the score of a class is
    the sum along its path from the top.

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

    S. S. Keerthi, S. Sundararajan and S. Shevade. Extension of TSVM to Multi-Class and Hierarchical Text Classification
    Problems With General Losses. COLING 2012.

    K. Crammer and Y. Singer. On the Algorithmic Implementation of Multiclass Kernel-based Vector Machines. JMLR 2001.

    M. Saerens, P. Latinne and C. Decaestecker. Adjusting the Outputs of a Classifier to New a Priori Probabilities: A
    Simple Procedure. Neural Computation 2002.

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
        prior_strength: float | None = None,
        balance: str = "auto",
        loss: str = "squared_hinge",
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
        self.loss = loss
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

    predict_proba = available_if(LinearClassifier._cross_fits)(Probabilities.predict_proba)
    predict_log_proba = available_if(LinearClassifier._cross_fits)(Probabilities.predict_log_proba)

    def _loss(self) -> str:
        if self.loss == "maxent":
            raise ValueError(f"loss={self.loss!r} is that of SemiSupervisedLogisticRegression: use it instead")
        return self.loss
