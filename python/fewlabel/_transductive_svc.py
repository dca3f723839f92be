"""TransductiveSVC: a large-margin classifier from few labeled and many unlabeled rows."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from fewlabel._base import LinearClassifier
from fewlabel._docstrings import Shared, described_as
from fewlabel.methods import Annealing, Auto, Gradient, PairSwitching, Switching

_Method = Literal["auto", "annealing", "switching", "pair_switching", "gradient"]


@described_as(Shared)
@dataclass(kw_only=True, eq=False, repr=False)
class TransductiveSVC(LinearClassifier):
    """Linear support vector machine that also learns from unlabeled rows.

    It finds hyperplanes that separate the labeled rows with a large margin, pass through regions with few unlabeled
    rows, and assign each class its share of the unlabeled rows. Two or more classes, optionally with a class tree.

    Parameters
    ----------
    method : {"auto", "annealing", "switching", "pair_switching", "gradient"} or object, default="auto"
        How labels of unlabeled rows are found. "auto": by annealing, averaged with two other classifiers if the class
        shares are estimated, see Notes, and otherwise by switching, too: the lower objective is returned.
        "annealing": soft labels that become hard as a temperature decreases. "switching": hard labels, many exchanged
        at a time, while the weight of the unlabeled rows increases. "pair_switching": Joachims' algorithm, one pair at
        a time. "gradient": a smooth loss in place of labels. An object of `fewlabel.methods` has options.
    alpha : float or "auto", default="auto"
        Strength of the regularization ½‖w‖², above 0. Losses are averaged, as in `SGDClassifier`, and rows are scaled
        by their root mean square norm, so that `alpha` does not depend on the scale of X, see Notes. "auto":
        1e-3 min(1, √(16384/n)) for n labeled and unlabeled rows.
    unlabeled_weight : float or "auto", default="auto"
        Weight of the averaged loss of u unlabeled rows, 0 (supervised) to 1e6. "auto": min(1, u/(20 l)) for l labels.
    class_prior : "auto", "labels", array-like of shape (n_classes,) or dict, default="auto"
        Share of each class among the unlabeled rows. "auto": estimated as by `estimate_class_prior`. "labels": the
        shares of the labeled rows, by weight. Otherwise shares in the order of `classes_`, or a dict from class to
        share; each above 0 and below 1, together 1. A dict can name a class without labeled rows; it is assigned the
        rows that fit the other classes least. If one class alone has labels, `estimate_class_prior` finds such a dict.
    loss : {"squared_hinge", "hinge", "crammer_singer"}, default="squared_hinge"
        Loss of a row. "squared_hinge": ½max(0, 1-m)² of its margin m, summed over more than two classes, one against
        the rest. "hinge": max(0, 1-m), likewise. "crammer_singer": the largest of 0 and 1 + s_k - s_y over the other
        classes k, with the score s_y of its own class. The last two are smoothed, and slower. "gradient" uses its own
        losses, see Notes: leave the default.
    hierarchy : dict, str or None, default=None
        Tree whose leaves are the classes: a dict from child to parent over the names of classes and groups, or a
        separator in the class names: with "." the class "a.b.c" is below "a.b", which is below "a". Classes of one
        group share weights. Those of the dict without a label or a share in `class_prior` are left out, with a warning.
    fit_intercept : bool, default=True
        Whether the model has an intercept. Without one, the threshold is 0 regardless of the `balance` of the method.
    class_weight : dict, "auto", "balanced" or None, default="auto"
        Factor of each class on the weights of its labeled rows; only the ratios matter. "balanced" gives all classes
        equal total weight, None leaves the weights as they are. "auto": half of the way, the roots of the factors of
        "balanced", where the class shares are estimated; elsewhere, and for several columns of labels, as None. It does
        not change `class_prior_`. A dict that has every class may name others.
    calibrate : bool, default=False
        Whether to calibrate probabilities by cross-validation, for about one more fit, and have `predict_proba`.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`. "auto": None, NaN, pandas.NA, nulls of Arrow and Polars and masked entries; if
        `y` has none of these, -1 and the text "-1". None: every row is labeled. Any other value is the marker, for
        example 0 for labels from SVMlight and SVMlin files. If "auto" is ambiguous, `fit` raises a ValueError.
    max_iter : int, default=10000
        Maximum number of outer steps: temperatures or relabelings. Without unlabeled rows: Newton steps, at most 200.
    tol : float, default=1e-5
        Tolerance of the last solve: relative distance of its objective from the optimum.
    n_jobs : int or None, default=None
        Number of threads. None: every core that the process may use, but 1 inside a joblib worker; -1: every core.
        Results are bitwise identical for any number of threads.
    warm_start : bool, default=False
        Whether `fit` continues from the fitted model, at a low temperature or at the full weight of the unlabeled rows.
        Features and classes must be the same; all parameters may change.
    verbose : see `Shared`

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes, sorted, without the marker.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features), float64
        Weights of the features: one row for one or two classes, otherwise one row per class.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        Intercept of each score.
    alpha_ : float
        The value of `alpha` that was used. Not in a loaded model.
    unlabeled_weight_ : float
        The value of `unlabeled_weight` that was used. Not in a loaded model.
    class_prior_ : ndarray of shape (n_classes,)
        Share of each class among the unlabeled rows, as used in the last fit.
    hierarchy_ : dict or None
        Parent of each class and group, None at the top level. None without `hierarchy`.
    transduction_ : ndarray of shape (n_rows,)
        Label of every training row: the given label, or the predicted label if the row is unlabeled or has weight 0.
    label_distributions_ : ndarray of shape (n_rows, n_classes)
        Probability of each class for every training row: with `calibrate` it is calibrated for rows of the fit, which
        `predict_proba` is not. Otherwise the soft labels of "auto" and "annealing", if there are unlabeled rows.
    objective_ : float
        Final value of the objective, see Notes.
    method_ : str
        Method whose solution the fit returned: with "auto" that is "annealing" or "switching". Not in a loaded model.
    n_iter_ : int
        Number of outer steps, at least 1.
    n_fits_ : int
        Number of models that were trained, those for shares and probabilities included. Not in a loaded model.
    termination_condition_ : str
        Why the fit stopped. "entropy", "temperature" (annealing): the soft labels are hard, or the lowest temperature
        was reached; "no_switch" (the others): no exchange of labels lowers the objective; "converged": the supervised
        optimum was reached; "stationary" (gradient): the gradient norm is within `tol`, at a local minimum;
        "one_class": all labels have one class; "stopped": by a callback. With a warning: "max_iter"; "unsettled":
        labels still changed at the full weight; "not_converged": the last solve could not reach `tol`.
    history_ : dict of str to ndarray of shape (n_steps,)
        Values of each outer step: "objective"; "temperature" (annealing) or "unlabeled_weight" (the others);
        "n_switched", the number of labels changed; "positive_share", the share of unlabeled rows with a score above 0,
        or with more classes "share_distance", the largest difference between a class's share and its prior; "n_passes",
        the passes over the data so far; "entropy" of the soft labels in bits per row (annealing).
    supervised_agreement_ : float
        Share of the unlabeled rows for which the supervised model, with the same `class_weight`, predicts the same
        class. NaN after a warm start.
    calibration_temperature_ : float
        Temperature by which `predict_proba` divides scores before the softmax, for new rows. NaN if not calibrated.
    calibration_smoothing_ : float
        Share of the probability that `predict_proba` spreads evenly over the classes. NaN if not calibrated.
    n_features_in_, feature_names_in_ : see `Shared`

    Warns
    -----
    DataWarning
        If no row is unlabeled, all labels have one class, ten features carry more than a fifth of the variance of
        sparse rows or frequent words more than 5% of their squared length, or -1 is treated as the marker but is rarer
        than the labels 0 and 1.
    ClassPriorWarning
        If the rows contradict the given `class_prior`, a class has no labeled row, a class is predicted for less than
        half of its given share or that is less than one row, or the `balance` of the method needs an intercept.
    FewlabelWarning
        If `calibrate` has so few labels that the mean of the probabilities may be off by more than 10 points, or no
        class with two distinct ones: then they are not calibrated.
    ConvergenceWarning
        If `max_iter` was reached, labels did not settle, or the last solve did not converge.

    Notes
    -----
    With scores f(x) = w·x + b, l labeled rows with y in {-1, 1} and u unlabeled rows, the objective is

        alpha/2 (rms² ‖w‖² + b²)  +  1/l Σ_labeled ξ(y f)  +  unlabeled_weight/u Σ_unlabeled min(ξ(f), ξ(-f))

    where ξ is the loss, for example ξ(m) = ½max(0, 1-m)², and rms is the root mean square norm of the nonzero rows,
    labeled and unlabeled: 1 for rows of unit length. Hence X and 100 X give the same predictions. The term b² is
    omitted if the mean score is constrained (balance "mean" of `fewlabel.methods.Annealing`). With `sample_weight` and
    `class_weight`, all averages are weighted. Without unlabeled rows, the objective equals `alpha` rms² times that of
    `LinearSVC(C=1/(2*l*alpha*rms**2), intercept_scaling=rms)`, or, with more classes, the sum over the classes.

    With more than two classes each class k has a score s_k(x) = w_k·x + b_k, and the objective is

        alpha/2 Σ_k (rms² ‖w_k‖² + b_k²)  +  1/l Σ_labeled ξ(s, y)  +  unlabeled_weight/u Σ_unlabeled min_k ξ(s, k)

    where ξ(s, y) = ½max(0, 1-s_y)² + Σ_{k≠y} ½max(0, 1+s_k)². "hinge" is smoothed from 0.003 below the margin 1 to
    0.003 above it, at most 0.00075 above the hinge. The loss "crammer_singer" (smoothed, at most 0.001
    log(n_classes) above the hinge) and `hierarchy` use this objective for two classes as well; `coef_` is then the
    difference w_1 - w_0. With `hierarchy`, groups have weights too, which the first term includes, and the score of a
    class is the sum along its path from the top.

    "gradient" uses ξ(m) = 1-m up to m = 0.7, 0 from m = 1.3, and a parabola in between. The loss of an unlabeled row is
    1 where f is at most 0.4 from 0, 0 where it is 1 or more, and two parabolas in between. With more classes, m is s_y
    minus 0.1 log Σ_{k≠y} exp(10 s_k); for an unlabeled row y is the class with the largest score.

    If "auto" estimates shares, the classifier is a weighted sum of the solution of annealing, the supervised one and a
    mixture of all rows (Nigam et al. 2000), see "the committee of auto" in "How it works"; `history_` and `objective_`
    are those of annealing. Otherwise the last row of `history_` is the comparison of annealing with switching.

    Several labels a row, `y` a matrix of 0, 1 and markers: each column is a problem of two classes. `classes_` and
    `history_` are lists with an entry for each column; `coef_` and `intercept_` have a row, `transduction_` and
    `label_distributions_` (the probability of 1) a column, other attributes a number for it, but for `n_iter_`, the
    largest, and `n_fits_` and `objective_`, the sums. `class_prior` is "auto" or "labels", both the shares of the
    column's labels, or the share of 1 in each column. A column of equal labels, or of none (then it is 0), is constant,
    unless its share is given. `hierarchy` and `warm_start` are not supported.

    Use rows of unit length, as `Normalizer` makes them: "annealing" may separate long rows from short ones.

    References
    ----------
    Joachims (ICML 1999), Sindhwani and Keerthi (SIGIR 2006), Chapelle and Zien (AISTATS 2005), Zien et al. (ICML 2007):
    the methods. Keerthi et al. (COLING 2012): many classes and trees. Crammer and Singer (JMLR 2001): their loss.

    Examples
    --------
    >>> from fewlabel import TransductiveSVC
    >>> X = [[0.0, 1.0], [0.2, 0.9], [0.1, 1.1], [1.0, 0.1], [0.9, 0.0], [1.1, 0.2]]
    >>> model = TransductiveSVC().fit(X, [0, -1, -1, 1, -1, -1])
    >>> model.transduction_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict([[0.0, 0.8]])
    array([0])
    """

    method: _Method | Auto | Annealing | Switching | PairSwitching | Gradient = "auto"
    loss: Literal["squared_hinge", "hinge", "crammer_singer"] = "squared_hinge"

    _methods: ClassVar = get_args(_Method)
    _needs_calibration: ClassVar = True

    def _options(self) -> dict[str, Any]:
        if str(self.loss) == "maxent":
            raise ValueError("loss='maxent' is that of SemiSupervisedLogisticRegression: use it instead")
        return super()._options()
