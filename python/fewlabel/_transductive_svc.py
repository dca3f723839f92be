"""TransductiveSVC: a large-margin classifier from few labeled and many unlabeled rows."""

from dataclasses import dataclass
from typing import Any, ClassVar

from fewlabel._base import LinearClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class TransductiveSVC(LinearClassifier):
    """Linear support vector machine that also learns from unlabeled rows.

    It looks for hyperplanes that separate the labeled rows, pass where unlabeled rows are few, and give each class its
    share of the unlabeled rows. Two or more classes, which may form a tree.

    Parameters
    ----------
    method : {"annealing", "switching", "pair_switching", "gradient"} or object, default="annealing"
        How labels of unlabeled rows are found. "annealing": soft labels that harden while a temperature falls.
        "switching": hard labels, many exchanged at a time, while the weight of the unlabeled rows rises.
        "pair_switching": Joachims' algorithm, one pair exchanged at a time; two classes only.
        "gradient": no labels, but a smooth loss of the margin between the best and the second-best class. An object of
        `fewlabel.methods` is a method with options.
    alpha : float, default=1e-3
        Strength of the regularization ½‖w‖², above 0. Losses are averaged, as in `SGDClassifier`, and rows are measured
        in units of their root mean square length: it means the same for rows of any scale, see Notes.
    unlabeled_weight : float or "auto", default="auto"
        Weight of the averaged loss of unlabeled rows, 0 to 1e6; 0 gives the supervised solution. "auto": 1, or
        u/(20 l) where l labeled rows have fewer than 20 l unlabeled ones (u).
    class_prior : "auto", "labels", array-like of shape (n_classes,) or dict, default="auto"
        Share of each class among the unlabeled rows. "auto": estimated as by `estimate_class_prior`. "labels": the
        shares of the labeled rows, by weight. Otherwise shares in the order of `classes_`, or a dict from class to
        share; each above 0 and below 1, together 1. A dict can name a class without labeled rows, which then gets the
        rows that fit the others least. Not used where the labeled rows have one class.
    loss : {"squared_hinge", "hinge", "crammer_singer"}, default="squared_hinge"
        Loss of a row. "squared_hinge": ½max(0, 1-m)² of its margin m, summed over more than two classes, one against
        the rest. "hinge": max(0, 1-m), for "pair_switching" only. "crammer_singer": the largest of 0 and
        1 + s_k - s_y over the other classes k, for the score s_y of its class; it is smoothed and slower.
        "gradient" has losses of its own, see Notes: leave the default.
    hierarchy : dict, str or None, default=None
        Tree whose leaves are the classes: a dict from child to parent over the names of classes and groups, or a
        separator in the class names: with "." the class "a.b.c" is below "a.b", and that below "a". What has no parent
        is at the top level. Classes of one group share weights, which helps classes with few labels.
    fit_intercept : bool, default=True
        Whether the model has an intercept. Without one the threshold stays at 0 whatever the `balance` of the method.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the labeled rows by class; only their ratios matter. "balanced" gives the classes
        equal total weights. It does not change `class_prior_`.
    calibrate : bool, default=False
        Whether to calibrate probabilities on labeled rows that are held out in turn, at the cost of about one more fit.
        `predict_proba` exists only with True.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`. "auto": -1 in numbers, NaN in floats, None, NaN, pandas.NA or -1 in objects,
        "-1" in texts. None: every row is labeled. Anything else is the marker itself, for example 0 for labels from
        SVMlight's and SVMlin's files. Where "auto" could be read in two ways `fit` raises a ValueError.
    max_iter : int, default=10000
        Largest number of outer steps: temperatures, relabelings, or solves and exchanged pairs. The last one is always
        an exact solve for the labels found so far. Without unlabeled rows: Newton steps, at most 200 in any case.
    tol : float, default=1e-5
        The last solve ends when its objective is within this relative distance of the optimum.
    n_jobs : int or None, default=None
        Number of threads. None: every core that the process may use, but 1 inside a joblib worker; -1: every core.
        The result has the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw numbers. None is a fixed seed: the same input gives the same model.
    warm_start : bool, default=False
        Whether `fit` continues from the fitted model, at a low temperature or at the full weight of the unlabeled rows,
        for example after labels were added. Features and classes must be the same, all parameters may change.
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
        "stationary" (gradient): the gradient is as short as `tol` asks, at a minimum that need not be the lowest;
        "one_class": nothing to learn; "stopped": by a callback. With a warning: "max_iter"; "unsettled", labels went on
        changing at the full weight; "not_converged", the last solve did not reach `tol` and would not with more steps.
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
        Share of the probability that is then spread evenly over the classes. NaN where not calibrated.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had them in `fit`.

    Warns
    -----
    DataWarning
        If no row is unlabeled, one class only has labels, unlabeled rows have very different lengths or features very
        different scales, or -1 is taken for the marker but is rarer than the labels 0 and 1.
    ClassPriorWarning
        If the rows contradict a given `class_prior`, a class has no label or a share of less than one row, a class is
        predicted for less than half of its share, or the `balance` of the method needs an intercept.
    FewlabelWarning
        If `calibrate` has too few labels: it needs 20 different labeled rows, of classes with at least two.
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
    labeled and unlabeled, that are not zero: 1 for rows of unit length. So X and 100 X give the same predictions. b² is
    left out where the mean score is constrained (balance "mean" of `fewlabel.methods.Annealing`). With `sample_weight`
    and `class_weight` all averages are weighted. Without unlabeled rows it is `alpha` rms² times the objective of
    `LinearSVC(C=1/(2*l*alpha*rms**2), intercept_scaling=rms)`, or with more classes the sum of the classes' objectives.

    With more than two classes each class k has a score s_k(x) = w_k·x + b_k, and the objective is

        alpha/2 Σ_k (rms² ‖w_k‖² + b_k²)  +  1/l Σ_labeled ξ(s, y)  +  unlabeled_weight/u Σ_unlabeled min_k ξ(s, k)

    where ξ(s, y) = ½max(0, 1-s_y)² + Σ_{k≠y} ½max(0, 1+s_k)². The loss "crammer_singer", at most 0.001 log(n_classes)
    above its hinge, and `hierarchy` have this objective for two classes as well; `coef_` is then the difference
    w_1 - w_0. With `hierarchy` groups have weights too, the first term counts them all, and a score is the sum along
    the path of the class from the top.

    "gradient" has ξ(m) = 1-m up to m = 0.7, 0 from m = 1.3 and a parabola between, and for an unlabeled row 1 up to a
    score 0.4 away from 0, 0 from 1 away and two parabolas between. With more classes m is s_y less
    0.1 log Σ_{k≠y} exp(10 s_k), for an unlabeled row with the class of the largest score in place of y.

    With class_prior="auto" and labels that look picked and not drawn at random, thresholds are not moved to the
    estimated shares at the end (balance "labels"). "annealing" is compared with "switching" at its end, and the one of
    the lower objective is returned; the last row of `history_` is that comparison.

    Give rows of unit length: `TfidfVectorizer` makes them, `Normalizer` makes them of any rows. Where lengths vary
    widely "annealing" may find the gap between long and short rows instead of the classes.

    `predict` and unpickling do not need the native library.

    References
    ----------
    Joachims (ICML 1999), Sindhwani and Keerthi (SIGIR 2006), Chapelle and Zien (AISTATS 2005), Zien, Brefeld and
    Scheffer (ICML 2007): the methods. Keerthi,
    Sundararajan and Shevade (COLING 2012): many classes and trees. Crammer and Singer (JMLR 2001): their loss.

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

    _methods: ClassVar = ("annealing", "switching", "pair_switching", "gradient")
    _needs_calibration: ClassVar = True

    def _options(self) -> dict[str, Any]:
        if self.loss == "maxent":
            raise ValueError(f"loss={self.loss!r} is that of SemiSupervisedLogisticRegression: use it instead")
        return super()._options()
