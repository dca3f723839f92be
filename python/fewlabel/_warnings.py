"""Warning categories, which can be filtered separately."""

import sys
import warnings


class FewlabelWarning(UserWarning):
    """Base class of the warnings of this package, except `sklearn.exceptions.ConvergenceWarning`."""


class ClassPriorWarning(FewlabelWarning):
    """The class shares, given or estimated, are doubtful, or the predictions do not match them."""


class DataWarning(FewlabelWarning):
    """The rows or labels are unsuitable: columns of very different scales, only one class, no unlabeled row."""


def warn(message: str, category: type[Warning] = FewlabelWarning) -> None:
    """Warn at the line of the caller, who may have called a pipeline or a search."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        ("fewlabel.", "sklearn.", "joblib.")
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
