"""estimate_class_prior: the class shares of unlabeled rows, with an interval."""

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, check_random_state

from fewlabel import _advice, _class_prior, _data, _label_shift, _labels, _threads, _weights


class ClassPriorEstimate(NamedTuple):
    """What `estimate_class_prior` found; arrays are in the order of `classes`."""

    classes: np.ndarray
    class_prior: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    label_shares: np.ndarray

    def as_dict(self) -> dict[Any, float]:
        """Class to share, as the parameter `class_prior` of the estimators takes it."""
        return dict(zip(self.classes.tolist(), self.class_prior.tolist(), strict=True))


def estimate_class_prior(
    X: Any,
    y: Any,
    *,
    method: str = "em",
    class_prior: Any = None,
    sample_weight: Any = None,
    alpha: float = _class_prior.ALPHA,
    n_bootstraps: int = 50,
    confidence_level: float = 0.9,
    unlabeled: Any = "auto",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> ClassPriorEstimate:
    """Estimate the share of each class among the unlabeled rows.

    For labeled rows that may not have been drawn at random from all rows: people label what is easy to find, often the
    same number of each class. What is asked of them is that they are typical of their class. Where they look as if they
    had been drawn at random after all, their shares count as well.

    Parameters
    ----------
    X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        Rows, labeled and unlabeled. Of more than 20,000 unlabeled ones so many are drawn.
    y : array-like of shape (n_rows,)
        Labels; the parameter `unlabeled` says what marks a row without one. At least 3 different rows
        of each class need one.
    method : {"em", "confusion"}, default="em"
        "em": maximum likelihood by fixed-point iteration on probabilities that were calibrated on cross-fitted labeled
        rows, pulled towards the label shares where labels are few or look drawn at random. "confusion": the confusion
        matrix of the cross-fitted labeled rows, inverted. "em" measures better; with few labels of many classes much
        better.
    class_prior : array-like of shape (n_classes,), dict or None, default=None
        Shares to compare with the estimate: a warning tells if they disagree strongly.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weight of each row, at least 0.
    alpha : float, default=1e-3
        Regularization of the supervised model, as in `TransductiveSVC`.
    n_bootstraps : int, default=50
        How often labeled rows are weighed and unlabeled rows drawn anew for the interval, at least 2. Each time a model
        is fitted.
    confidence_level : float, default=0.9
        Of the interval, between 0 and 1.
    unlabeled : "auto", None or a label, default="auto"
        What marks an unlabeled row in `y`, as in `TransductiveSVC`.
    n_jobs : int or None, default=None
        Number of threads of the fits, as in `TransductiveSVC`.
    random_state : int, RandomState instance or None, default=None
        Seed of the interval. None is a fixed seed.

    Returns
    -------
    estimate : ClassPriorEstimate
        `classes` (n_classes,), sorted; `class_prior` (n_classes,), the shares, which add up to 1; `lower` and `upper`
        (n_classes,), the ends of the interval of each share; `label_shares` (n_classes,), the shares of the labeled
        rows; `as_dict()`, from class to share.

    Raises
    ------
    ValueError
        If a class has fewer than 3 different labeled rows, if one class only has labels, if no row is unlabeled, or if
        a parameter is out of range.

    Warns
    -----
    UserWarning
        If `class_prior` is far from the estimate: together more than 0.2 off, with a share outside its interval.

    Notes
    -----
    A supervised model (`TransductiveSVC` on the labeled rows) is fitted to the rows and their 50 leading singular
    components: fifteen times without a fifth of the labels, with three choices of the fifths, and once with all. Its
    scores of the unlabeled rows are given the mean and spread, class by class, of those of the fifteen. The interval is
    the estimate and on each side Student's quantile times the root mean square distance of further estimates from it:
    with random weights of the labeled rows (Newton and Raftery 1994), a model fitted anew for each, and with what few
    labels leave to the penalty of the calibration drawn at random (with two classes and labels that look drawn at
    random nothing is left to it). It tells what few labels leave open, not what labels of an untypical choice get
    wrong.

    References
    ----------
    M. Saerens, P. Latinne and C. Decaestecker. Adjusting the Outputs of a Classifier to New a Priori Probabilities: A
    Simple Procedure. Neural Computation 2002.

    Z. Lipton, Y.-X. Wang and A. Smola. Detecting and Correcting for Label Shift with Black Box Predictors. ICML 2018.

    A. Alexandari, A. Kundaje and A. Shrikumar. Maximum Likelihood with Bias-Corrected Calibration is Hard-To-Beat at
    Label Shift Adaptation. ICML 2020.

    M. Newton and A. Raftery. Approximate Bayesian Inference with the Weighted Likelihood Bootstrap. Journal of the
    Royal Statistical Society B 1994.

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import estimate_class_prior
    >>> rng = np.random.default_rng(0)
    >>> truth = (np.arange(1000) < 800).astype(int)  # four fifths of class 1
    >>> X = rng.normal(size=(1000, 5)) + 2 * truth[:, None]
    >>> y = np.full(1000, -1)
    >>> y[:20], y[-20:] = 1, 0  # as many labels of each class
    >>> estimate = estimate_class_prior(X, y)
    >>> estimate.label_shares
    array([0.5, 0.5])
    >>> bool(abs(estimate.class_prior - [0.2, 0.8]).max() < 0.05)
    True
    """
    _label_shift.refuse_method(method)
    if not isinstance(n_bootstraps, Integral) or n_bootstraps < 2:
        raise ValueError(f"n_bootstraps must be an integer of at least 2, got {n_bootstraps!r}")
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must be between 0 and 1, both excluded, got {confidence_level!r}")
    rows = _data.check_rows(BaseEstimator(), X, reset=True)
    given = _labels.read(y, unlabeled)
    check_consistent_length(rows, given.labeled)
    weights = _weights.check_sample_weight(sample_weight, rows.shape[0])
    classes, codes = _labels.encode(given, weights)
    if len(classes) < 2:
        raise ValueError(f"only class {classes[0]} has labeled rows: the shares of one class need no estimate")
    _class_prior.check_labels(rows, codes, weights, classes)
    if not _class_prior.unlabeled_rows(codes, weights).size:
        raise ValueError("y has no unlabeled row whose class shares could be estimated (see the parameter `unlabeled`)")
    options = {"alpha": alpha, "threads": _threads.resolve(n_jobs)}
    looked_at = _class_prior.looked_at(rows, codes, weights)
    known = _class_prior.cross_fitted(looked_at, options)
    found = _label_shift.shares(known.evidence, method)
    seed = 0 if random_state is None else check_random_state(random_state).randint(np.iinfo(np.int32).max)
    rng = np.random.default_rng(seed)
    drawn = _class_prior.bootstrap(looked_at, known, method, n_bootstraps, options, rng)
    lower, upper = _class_prior.interval(found, drawn, confidence_level)
    totals = _weights.labeled_totals(codes, weights, len(classes))
    estimate = ClassPriorEstimate(classes, found, lower, upper, totals / totals.sum())
    if class_prior is not None:
        told = _weights.resolve_class_prior(class_prior, classes, totals)
        _advice.far_estimate(told, found, (estimate.lower, estimate.upper), classes)
    return estimate
