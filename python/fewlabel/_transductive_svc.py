"""TransductiveSVC: a large-margin classifier from few labeled and many unlabeled rows."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from fewlabel._base import LinearClassifier
from fewlabel._inputs import _markers
from fewlabel._inputs._numbers import shown
from fewlabel.methods import Annealing, Auto, Gradient, PairSwitching, Switching

_Method = Literal["auto", "annealing", "switching", "pair_switching", "gradient"]
_Loss = Literal["auto", "squared_hinge", "hinge", "crammer_singer"]


@dataclass(kw_only=True, eq=False, repr=False)
class TransductiveSVC(LinearClassifier):
    """Linear support vector machine that also learns from unlabeled rows.

    The default estimates the class shares of the unlabeled rows and is the mean of three classifiers: a supervised one,
    a mixture, and a transductive one, whose boundary passes where unlabeled rows are few. `objective_` and `history_`
    are those of the transductive one; with given shares it is returned alone. For an optimum of one objective set
    method="annealing", "switching", "pair_switching" or "gradient": "How it works" has the objectives.

    Parameters
    ----------
    method : {"auto", "annealing", "switching", "pair_switching", "gradient"} or object, default="auto"
        "auto": annealing, averaged as above, or where shares are given, compared with switching: the lower objective is
        returned. "annealing": soft labels that harden. "switching": hard labels, many exchanged at a time;
        "pair_switching": one pair (Joachims). "gradient": a smooth loss. An object of `fewlabel.methods` has options.
    alpha : float or "auto", default="auto"
        Strength of the regularization, above 0; for X of any scale. "auto": 1e-3 min(1, √(16384/n)) for n rows.
    unlabeled_weight : float or "auto", default="auto"
        Weight of the mean loss of u unlabeled rows, 0 (supervised) to 1e6. "auto": min(1, u/(20 l)) for l labels.
    class_prior : "auto", "labels", array-like of shape (n_classes,) or dict, default="auto"
        Share of each class among the unlabeled rows. "auto": estimated, as by `estimate_class_prior`. "labels": those
        of the labeled rows. A dict from class to share can name a class without labels. Shares sum to 1.
    loss : {"auto", "squared_hinge", "hinge", "crammer_singer"}, default="auto"
        Loss of a row. The last two are smoothed, and slower. "auto": "crammer_singer" for more than two classes of rows
        with fewer than 16 features and than two a class, else "squared_hinge". "gradient" has its own.
    hierarchy : dict, str or None, default=None
        Class tree: a dict from child to parent, or a separator in class names: with "." "a.b" is below "a". Classes of
        one group share weights. Leaves without a label or a share are left out, with a warning.
    fit_intercept : bool, default=True
        Whether the model has an intercept. Without one the threshold is 0.
    class_weight : dict, "auto", "balanced" or None, default="auto"
        Factors on the weights of labeled rows, by class. "balanced": equal totals; None: no factors. "auto": roots of
        the factors of "balanced" where shares are estimated, else and for several labels a row None.
    calibrate : bool, default=False
        Whether to calibrate probabilities, for about one more fit, and have `predict_proba`.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`. "auto": None, NaN, pandas.NA, nulls and masked entries; if `y` has none of
        these, -1 and the text "-1". None: every row is labeled. Labels as in SVMlight's files are refused.
    max_iter : int, default=10000
        Maximum number of outer steps: temperatures or relabelings; of Newton steps without unlabeled rows, at most 200.
    tol : float, default=1e-5
        Tolerance of the last solve: relative distance of its objective from the optimum.
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it. None: all cores, 1 inside a joblib worker; -1: all cores.
    warm_start : bool, default=False
        Whether `fit` continues from the fitted model, with the same features and classes.
    verbose : int, default=0
        Above 0: show the steps of a fit, in a progress bar if tqdm is installed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), sorted, without the marker
    coef_, intercept_ : ndarray of shape (1 or n_classes, n_features) and (1 or n_classes,), one row for two classes
    alpha_, unlabeled_weight_, loss_ : float, float and str, as used
    class_prior_ : ndarray of shape (n_classes,), as used
    hierarchy_ : dict from class or group to parent, or None
    transduction_ : ndarray of shape (n_rows,), given or predicted labels
    label_distributions_ : ndarray of shape (n_rows, n_classes)
        Probabilities of the training rows, calibrated with `calibrate`; else the soft labels of annealing.
    objective_, n_iter_, n_fits_ : last objective; number of outer steps; number of models trained
    method_ : str, whose solution was returned: with "auto" that is "annealing" or "switching"
    termination_condition_ : str
        Why the fit stopped, see "How it works".
    history_ : dict of str to ndarray of shape (n_steps,), values of each outer step
    supervised_agreement_ : float, share of the unlabeled rows of which the supervised model predicts the same class
    calibration_temperature_, calibration_smoothing_ : float, of `predict_proba`; NaN if not calibrated
    n_features_in_, feature_names_in_ : number and names of the features

    Examples
    --------
    >>> from fewlabel import TransductiveSVC
    >>> X = [[0.0, 1.0], [0.2, 0.9], [0.1, 1.1], [1.0, 0.1], [0.9, 0.0], [1.1, 0.2]]
    >>> model = TransductiveSVC().fit(X, [0, -1, -1, 1, -1, -1])
    >>> model.transduction_
    array([0, 0, 0, 1, 1, 1])
    """

    method: _Method | Auto | Annealing | Switching | PairSwitching | Gradient = "auto"
    loss: _Loss = "auto"

    _methods: ClassVar = get_args(_Method)
    _needs_calibration: ClassVar = True

    def _options(self) -> dict[str, Any]:
        if _markers.text(self.loss) not in (known := get_args(_Loss)):
            others = "SemiSupervisedLogisticRegression has the loss of logistic regression"
            raise ValueError(f"loss={shown(self.loss)} must be one of {', '.join(known)}; {others}")
        return super()._options()
