"""SemiSupervisedLogisticRegression: probabilities from few labeled and many unlabeled rows."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from fewlabel._base import LinearClassifier
from fewlabel.methods import Annealing, Posterior, Switching

_Method = Literal["annealing", "switching", "entropy", "expectation", "posterior"]


@dataclass(kw_only=True, eq=False, repr=False)
class SemiSupervisedLogisticRegression(LinearClassifier):
    """Logistic regression that also learns from unlabeled rows.

    The transductive methods of `TransductiveSVC` with the loss of logistic regression ("maxent" in C), and methods that
    use the class probabilities of unlabeled rows. "How it works" has the objectives.

    Parameters
    ----------
    method : {"annealing", "switching", "entropy", "expectation", "posterior"} or object, default="annealing"
        "annealing" and "switching" assign labels. "entropy" minimizes the entropy of the probabilities, with the class
        prior as their mean; "expectation" only requires that mean; "posterior" minimizes their divergence from labels
        with that mean. An object of `fewlabel.methods` has options.
    alpha : float, default=1e-4
        Strength of the regularization, as in `TransductiveSVC`. Small values: probabilities closer to 0 and 1.
    unlabeled_weight : float or "auto", default="auto"
        As in `TransductiveSVC`. "expectation" and "posterior" have no such term: all values above 0 are equivalent.
    class_prior, hierarchy, fit_intercept, class_weight : as in `TransductiveSVC`
    calibrate : bool, default=True
        Whether to calibrate probabilities, for about one more fit. False: `predict_proba` is the softmax of the scores.
    unlabeled : as in `TransductiveSVC`
    max_iter : int, default=10000
        Maximum number of outer steps; of Newton steps without unlabeled rows, at most 200.
    tol : float, default=1e-5
        Tolerance of the last solve, as in `TransductiveSVC`; of "entropy" and "posterior" that of the gradient norm.
    n_jobs, warm_start, verbose : as in `TransductiveSVC`

    Attributes
    ----------
    classes_, coef_, intercept_, alpha_, unlabeled_weight_, loss_, class_prior_, hierarchy_ : as in `TransductiveSVC`
    transduction_, method_, objective_, n_iter_, n_fits_, termination_condition_, history_ : as in `TransductiveSVC`
    label_distributions_ : ndarray of shape (n_rows, n_classes)
        Probabilities of the training rows, calibrated with `calibrate`; else the soft labels ("switching" has none).
    supervised_agreement_, calibration_temperature_, calibration_smoothing_ : as in `TransductiveSVC`
    n_features_in_, feature_names_in_ : number and names of the features

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import SemiSupervisedLogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, species = load_iris(return_X_y=True)
    >>> y = np.where(np.arange(150) % 5 == 0, species, -1)
    >>> model = SemiSupervisedLogisticRegression().fit(X - X.mean(axis=0), y)
    >>> model.predict_proba(X[:1] - X.mean(axis=0)).round(1)
    array([[1., 0., 0.]])
    """

    method: _Method | Annealing | Switching | Posterior = "annealing"
    alpha: float = 1e-4
    loss: Literal["maxent"] = field(default="maxent", init=False)
    calibrate: bool = True

    _methods: ClassVar = get_args(_Method)
