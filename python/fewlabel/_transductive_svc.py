"""TransductiveSVC: a large-margin classifier from few labeled and many unlabeled rows."""

from typing import Any

from fewlabel._base import LinearClassifier
from fewlabel._probabilities import Probabilities, WhereCalibrated


class TransductiveSVC(LinearClassifier):
    """Linear support vector machine that also learns from unlabeled rows.

    It looks for hyperplanes that separate the labeled rows, pass where unlabeled rows are few, and give each class its
    share of the unlabeled rows. Two or more classes, which may form a tree.

    Parameters
    ----------
    method : {"annealing", "switching", "pair_switching"} or object, default="annealing"
        How labels of unlabeled rows are found. "annealing": soft labels that harden while a temperature falls.
        "switching": hard labels, many exchanged at a time, while the weight of the unlabeled rows rises.
        "pair_switching": Joachims' algorithm, one pair exchanged at a time; two classes only. A method with options is
        `Annealing`, `Switching` or `PairSwitching` of `fewlabel.methods`.
    alpha : float, default=1e-3
        Strength of the regularization ½‖w‖², above 0. Losses are averaged, as in `SGDClassifier`, and rows are measured
        in units of their root mean square length: it means the same for rows of any scale, see Notes.
    unlabeled_weight : float or "auto", default="auto"
        Weight of the averaged loss of unlabeled rows, 0 to 1e6; 0 gives the supervised solution. "auto": 1, or
        u/(20 l) where l labeled rows have fewer than 20 l unlabeled ones (u).
    class_prior : "auto", "labels", array-like of shape (n_classes,) or dict, default="auto"
        Share of each class among the unlabeled rows. "auto": estimated from the labeled and the unlabeled rows; labels
        may be drawn at random or picked class by class, see Notes. "labels": the shares of the labeled rows, weighted
        by `sample_weight`. Otherwise shares in the order of `classes_`, or a dict from class to share; each above 0 and
        below 1, together 1. A dict can name a class without labeled rows: it is then one of `classes_`, with a warning,
        and gets the rows that fit the others least. A share of less than one row may round to zero rows. Not used where
        the labeled rows have one class.
    loss : {"squared_hinge", "hinge", "crammer_singer"}, default="squared_hinge"
        Loss of a row. "squared_hinge": ½max(0, 1-m)² of its margin m; with more than two classes the sum over all
        classes, one against the rest. "hinge": max(0, 1-m), for "pair_switching" only (as in Joachims 1999).
        "crammer_singer": the largest of 0 and 1 + s_k - s_y over the other classes k, for the score s_y of its class;
        it is smoothed and slower. (The library's "maxent" is `SemiSupervisedLogisticRegression`.)
    hierarchy : dict, str or None, default=None
        Tree of the classes, which must be its leaves: a dict from child to parent over the names of classes and groups,
        or a separator in the class names, such as "." in "comp.graphics", which is then below "comp" ("a.b.c" below
        "a.b" below "a"). A class without a parent is at the top level. Classes of one group share weights, which helps
        classes with few labels. A group that contains every class has no effect.
    fit_intercept : bool, default=True
        Whether the model has an intercept. Without one the threshold stays at 0 whatever the `balance` of the method.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the labeled rows by class. "balanced" gives the classes equal total weights. As losses
        are averaged, only ratios matter. It does not change `class_prior_`.
    calibrate : bool, default=False
        Whether to calibrate probabilities on labeled rows that are held out in turn, at the cost of about one more fit.
        `predict_proba` exists only with True.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`. "auto": -1 in numbers, NaN in floats, None, NaN, pandas.NA or -1 in objects,
        "-1" in texts. None: every row is labeled. Anything else is the marker itself, for example 0 for labels from
        SVMlight's and SVMlin's files. Where "auto" could be read in two ways `fit` raises a ValueError.
    max_iter : int, default=10000
        Largest number of outer steps: temperatures (annealing), relabelings (switching), or solves and exchanged pairs
        (pair switching), of which the last one is always an exact solve for the labels found so far. Without unlabeled
        rows: Newton steps, at most 200 in any case; "pair_switching" then needs one step.
    tol : float, default=1e-5
        The last solve ends when its objective is within this relative distance of the optimum.
    n_jobs : int or None, default=None
        Number of threads. None: every core that the process may use, but 1 inside a joblib worker; -1: every core.
        The result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw numbers. None is a fixed seed: the same input gives the same model.
    warm_start : bool, default=False
        Whether `fit` continues from the fitted model, for example after labels were added: annealing then begins at a
        low temperature and switching at the full weight of the unlabeled rows, with labels from the scores of the
        model. Features and classes must be the same, all parameters may change. Without unlabeled rows the solution is
        the same from any start.
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
        Values of each outer step: "objective"; "temperature" (annealing) or "unlabeled_weight" (the others);
        "n_switched", the labels changed; "positive_share", the share of unlabeled rows with a score above 0, or with
        more classes "share_distance", the largest distance of a class's share from its prior; "n_passes", the passes
        over the data so far; "entropy" of the soft labels in bits a row (annealing).
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
        If `max_iter` steps did not suffice, if labels did not settle or if the last solve did not converge.

    See Also
    --------
    SemiSupervisedLogisticRegression : The same with probabilities.
    fewlabel.inspection.check : Do unlabeled rows help here?
    fewlabel.estimate_class_prior : The shares of class_prior="auto", with an interval.
    sklearn.svm.LinearSVC : The same model from labeled rows only.

    Notes
    -----
    With scores f(x) = w·x + b, l labeled rows with y in {-1, 1} and u unlabeled rows, the objective is

        alpha/2 (rms² ‖w‖² + b²)  +  1/l Σ_labeled ξ(y f)  +  unlabeled_weight/u Σ_unlabeled min(ξ(f), ξ(-f))

    where ξ is the loss, for example ξ(m) = ½max(0, 1-m)², and rms is the root of the mean square length of the rows,
    labeled and unlabeled, that are not zero: 1 for rows of unit length. So X and 100 X give the same predictions. The
    intercept counts as the weight of a constant feature; b² is left out where the mean score is constrained
    (balance "mean" of `fewlabel.methods.Annealing`). With `sample_weight` and `class_weight` all averages are weighted.
    `objective_` is the value at `coef_` and `intercept_`. Without unlabeled rows it is `alpha` rms² times the objective
    of `LinearSVC(loss="squared_hinge", C=1/(2*l*alpha*rms**2), intercept_scaling=rms)`.

    With more than two classes each class k has a score s_k(x) = w_k·x + b_k, and the objective is

        alpha/2 Σ_k (rms² ‖w_k‖² + b_k²)  +  1/l Σ_labeled ξ(s, y)  +  unlabeled_weight/u Σ_unlabeled min_k ξ(s, k)

    where ξ(s, y) = ½max(0, 1-s_y)² + Σ_{k≠y} ½max(0, 1+s_k)². Without unlabeled rows it is `alpha` rms² times the sum
    of the classes' objectives in that `LinearSVC`; with loss "crammer_singer" it is close to that of
    `LinearSVC(multi_class="crammer_singer", C=1/(l*alpha*rms**2), intercept_scaling=rms)`: the smoothed hinge is at
    most 0.001 log(n_classes) above the hinge. That loss and `hierarchy` have the objective of many classes for two as
    well; `coef_` is then the difference w_1 - w_0.

    With class_prior="auto" five supervised fits, each without a fifth of the labels, give calibrated probabilities of
    rows whose labels they have not seen (Alexandari et al. 2020), and EM finds the shares of the unlabeled rows from
    these (Saerens et al. 2002). The shares of the labels count as far as the labels look drawn at random. Where they
    look picked instead, thresholds are not moved to the estimated shares at the end (balance "labels").

    With `hierarchy` each group has weights too, the first term counts those of classes and groups, and the score is
    the sum along the path of the class from the top.

    Give rows of unit length: `TfidfVectorizer` makes them, `Normalizer` makes them of any rows. The unit of X does not
    matter, but a score grows with the length of its row: where lengths vary widely the emptiest gap may be the one
    between long and short rows, and "annealing" then finds that instead of the classes, at any `alpha`. Logarithms of
    counts alone do not prevent it, equal lengths do.

    At its end "annealing" is compared with "switching", run as far as it is needed to tell which objective is lower,
    and the lower one is returned. The last row of `history_` is that comparison.

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

    A. Alexandari, A. Kundaje and A. Shrikumar. Maximum Likelihood with Bias-Corrected Calibration is Hard-To-Beat at
    Label Shift Adaptation. ICML 2020.

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

    A method with options:

    >>> from fewlabel.methods import Switching
    >>> TransductiveSVC(method=Switching(max_switches=1)).fit(X, y).transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    _methods = ("annealing", "switching", "pair_switching")

    def __init__(
        self,
        *,
        method: Any = "annealing",
        alpha: float = 1e-3,
        unlabeled_weight: Any = "auto",
        class_prior: Any = "auto",
        loss: str = "squared_hinge",
        hierarchy: Any = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        calibrate: bool = False,
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
        self.loss = loss
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

    predict_proba = WhereCalibrated(Probabilities.predict_proba)
    predict_log_proba = WhereCalibrated(Probabilities.predict_log_proba)

    def _loss(self) -> str:
        if self.loss == "maxent":
            raise ValueError(f"loss={self.loss!r} is that of SemiSupervisedLogisticRegression: use it instead")
        return self.loss
