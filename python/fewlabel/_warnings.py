"""Warning categories, which can be filtered separately."""


class FewlabelWarning(UserWarning):
    """Base class of the warnings of this package, except convergence warnings.

    A fit that did not converge warns by `sklearn.exceptions.ConvergenceWarning`.

    Examples
    --------
    >>> import warnings
    >>> from fewlabel import ClassPriorWarning, FewlabelWarning
    >>> warnings.simplefilter("error", FewlabelWarning)  # raise them
    >>> warnings.simplefilter("ignore", ClassPriorWarning)  # but for these: the shares are known and exact
    >>> warnings.simplefilter("default", FewlabelWarning)
    """


class ClassPriorWarning(FewlabelWarning):
    """The class shares, given or estimated, are doubtful, or the predictions do not match them."""


class DataWarning(FewlabelWarning):
    """The rows or labels are unsuitable: rows of very different length, only one class, no unlabeled row."""
