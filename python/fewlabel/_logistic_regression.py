"""SemiSupervisedLogisticRegression: probabilities from few labeled and many unlabeled rows."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from fewlabel._base import LinearClassifier
from fewlabel._docstrings import described_as
from fewlabel._transductive_svc import TransductiveSVC
from fewlabel.methods import Annealing, Posterior, Switching

_Method = Literal["annealing", "switching", "entropy", "expectation", "posterior"]


@described_as(TransductiveSVC)
@dataclass(kw_only=True, eq=False, repr=False)
class SemiSupervisedLogisticRegression(LinearClassifier):
    """Logistic regression that also learns from unlabeled rows.

    The transductive methods of `TransductiveSVC` with the loss of logistic regression ("maxent" in C), and methods that
    use the class probabilities of unlabeled rows. Two or more classes, optionally with a class tree.

    Parameters
    ----------
    method : {"annealing", "switching", "entropy", "expectation", "posterior"} or object, default="annealing"
        How unlabeled rows are used. "annealing" and "switching" assign labels, as in `TransductiveSVC`. Three methods
        use probabilities (see Notes): "entropy" minimizes their entropy, with the class prior as their mean;
        "expectation" only requires that mean; "posterior" minimizes their divergence from labels with that mean. An
        object of `fewlabel.methods` has options.
    alpha : float, default=1e-4
        Strength of the regularization ½‖w‖², as in `TransductiveSVC`. Small values: probabilities closer to 0 and 1.
    unlabeled_weight : float or "auto", default="auto"
        Weight of the averaged loss of unlabeled rows, or of their entropy, as in `TransductiveSVC`; 0 fits a supervised
        model. "expectation" and "posterior" have no such term: all values above 0 are equivalent.
    class_prior, hierarchy, fit_intercept, class_weight : see `TransductiveSVC`
    calibrate : bool, default=True
        Whether to calibrate probabilities by cross-validation on the labeled rows, at the cost of about one more fit.
        With False, `predict_proba` is the softmax of the scores.
    unlabeled : see `TransductiveSVC`
    max_iter : int, default=10000
        Maximum number of outer steps: temperatures, relabelings, or weights of the entropy and updates of the
        multipliers. Without unlabeled rows: Newton steps, at most 200.
    tol : float, default=1e-5
        Tolerance of the last solve: relative distance of its objective from the optimum. "entropy" and "posterior" are
        not convex; their last solve stops at the gradient norm that corresponds to this distance at curvature `alpha`.
    n_jobs, warm_start, verbose : see `TransductiveSVC`

    Attributes
    ----------
    classes_, coef_, intercept_, alpha_, unlabeled_weight_, class_prior_ : see `TransductiveSVC`
    hierarchy_, transduction_ : see `TransductiveSVC`
    label_distributions_ : ndarray of shape (n_rows, n_classes)
        Probability of each class for every training row: with `calibrate` it is calibrated for rows of the fit, which
        `predict_proba` is not. Otherwise, with unlabeled rows, the soft labels ("switching" has none; those of
        "posterior" are the auxiliary labels q).
    method_, objective_, n_iter_, n_fits_ : see `TransductiveSVC`
    termination_condition_ : str
        Why the fit stopped, as in `TransductiveSVC`. For "entropy", "expectation" and "posterior": "converged" or
        "stopped"; with a warning, "constraint" (the class prior was not met), "max_iter" or "not_converged".
    history_ : dict of str to ndarray of shape (n_steps,)
        Values of each outer step, as in `TransductiveSVC` with many classes. With "entropy", "expectation" and
        "posterior", "share_distance" is replaced by "constraint_residual", the largest difference between a mean
        probability and its prior, and "entropy" is the entropy of the probabilities in bits per row.
    supervised_agreement_, calibration_temperature_, calibration_smoothing_ : see `TransductiveSVC`
    n_features_in_, feature_names_in_ : see `TransductiveSVC`

    Warns
    -----
    DataWarning, ClassPriorWarning, FewlabelWarning, ConvergenceWarning
        As `TransductiveSVC`, and if the mean probabilities of the unlabeled rows do not meet `class_prior`.

    Notes
    -----
    With scores s_k(x) = w_k·x + b_k of the classes k, probabilities p_k = exp(s_k) / Σ_c exp(s_c), l labeled rows with
    classes y and u unlabeled rows, the objective is

        alpha/2 Σ_k (rms² ‖w_k‖² + b_k²)  -  1/l Σ_labeled log p_y  -  unlabeled_weight/u Σ_unlabeled max_k log p_k

    where rms is the root of the mean square length of the rows, labeled and unlabeled, that are not zero: 1 for rows of
    unit length. For two classes it is the same, with the difference w_1 - w_0 as `coef_`: the first term is then
    alpha/4 (rms² ‖`coef_`‖² + `intercept_`²). Weighted averages, `hierarchy`, labels that look picked, several
    labels a row and the advice on rows of unit length are as in `TransductiveSVC`.

    This is the objective of "annealing" and "switching". In the other methods the third term is the weighted entropy
    ("entropy"), absent ("expectation"), or the divergence of the probabilities from labels ("posterior"). The mean of
    the probabilities, or of these labels, is constrained to the class prior within 1e-4, see "How it works".

    Without unlabeled rows and without intercept, the model equals `LogisticRegression(C=1/(l*alpha*rms**2))`, or for
    two classes `C=2/(l*alpha*rms**2)`. (With intercept they differ: `LogisticRegression` does not regularize b.)

    Calibration changes neither the order of the scores nor the predicted classes.

    References
    ----------
    Keerthi et al. (COLING 2012), sections 4.1 to 4.3: the methods. Grandvalet and Bengio (NIPS 2005): entropy. Mann and
    McCallum (ICML 2007): expectation.

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
