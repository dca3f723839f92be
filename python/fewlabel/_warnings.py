"""Categories of warnings, so that a program can silence or raise one kind of them."""


class FewlabelWarning(UserWarning):
    """Base class of the warnings of this package, except for those of convergence.

    A fit that did not converge warns by `sklearn.exceptions.ConvergenceWarning`.

    See Also
    --------
    ClassPriorWarning : The class shares are doubtful.
    DataWarning : The rows or their labels are unsuitable.

    Examples
    --------
    >>> import warnings
    >>> from fewlabel import FewlabelWarning
    >>> warnings.simplefilter("error", FewlabelWarning)  # raise them
    >>> warnings.simplefilter("default", FewlabelWarning)
    """


class ClassPriorWarning(FewlabelWarning):
    """The class shares, given or estimated, are doubtful, or the predictions do not have them.

    See Also
    --------
    FewlabelWarning : The base class.

    Examples
    --------
    >>> import warnings
    >>> from fewlabel import ClassPriorWarning
    >>> warnings.simplefilter("ignore", ClassPriorWarning)  # the shares are known and exact
    >>> warnings.simplefilter("default", ClassPriorWarning)
    """


class DataWarning(FewlabelWarning):
    """The rows or their labels are unsuitable: rows of very different length, one class only, no unlabeled row.

    See Also
    --------
    FewlabelWarning : The base class.

    Examples
    --------
    >>> import warnings
    >>> from fewlabel import DataWarning
    >>> warnings.simplefilter("error", DataWarning)  # unsuitable data ends the program
    >>> warnings.simplefilter("default", DataWarning)
    """
