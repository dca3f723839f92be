"""Categories of warnings, so that a program can silence or raise one kind of them."""


class FewlabelWarning(UserWarning):
    """Base class of the warnings of this package, except for those of convergence.

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
    """The class shares, given or estimated, are doubtful, or the predictions do not have them."""


class DataWarning(FewlabelWarning):
    """The rows or their labels are unsuitable: rows of very different length, one class only, no unlabeled row."""
