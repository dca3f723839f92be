"""Warning categories, which can be filtered separately."""


class FewlabelWarning(UserWarning):
    """Base class of the warnings of this package, except `sklearn.exceptions.ConvergenceWarning`."""


class ClassPriorWarning(FewlabelWarning):
    """The class shares, given or estimated, are doubtful, or the predictions do not match them."""


class DataWarning(FewlabelWarning):
    """The rows or labels are unsuitable: rows of very different length, only one class, no unlabeled row."""
