"""The features with the largest weights of each class."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fewlabel._docstrings import Shared, described_as
from fewlabel._inputs import _numbers
from fewlabel.inspection import _linear_model, _table


@dataclass(eq=False, repr=False)
class TopFeatures(_table.Table):
    """Result of `top_features`: for each class the features with the largest weights in its favor. `str()` is a table.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    features : list of ndarray of shape (n,), str
        Names of the features of each class, the largest weight first.
    weights : list of ndarray of shape (n,)
        Their weights, above 0.
    """

    classes: np.ndarray
    features: list[np.ndarray]
    weights: list[np.ndarray]

    def __str__(self) -> str:
        pairs = (zip(*both, strict=True) for both in zip(self.features, self.weights, strict=True))
        lines = (", ".join(f"{name} {weight:.2g}" for name, weight in each) for each in pairs)
        return "\n".join(f"{label}: {line}" for label, line in zip(self.classes, lines, strict=True))

    __repr__ = __str__

    def _columns(self) -> dict[str, list[Any]]:
        classes = [label for label, names in zip(self.classes.tolist(), self.features, strict=True) for _ in names]
        return {
            "class": classes,
            "feature": np.concatenate(self.features).tolist(),
            "weight": np.concatenate(self.weights).tolist(),
        }

    def plot(self, axes: Any = None) -> Any:
        """Draw bars of the weights, a panel for each class, and return the array of Axes.

        Parameters
        ----------
        axes : array-like of matplotlib Axes, or None, default=None
            Where to draw, one for each class. None: a new figure.
        """
        if axes is None:
            from matplotlib import pyplot

            rows, height = -(-len(self.classes) // 2), 0.25 * max(map(len, self.features)) + 0.6
            figure = pyplot.figure(figsize=(8, rows * height), layout="constrained")
            axes = figure.subplots(rows, 2, squeeze=False).ravel()
            for unused in axes[len(self.classes) :]:
                unused.set_axis_off()
        axes = np.asarray(axes, dtype=object).ravel()[: len(self.classes)]
        for ax, label, names, weights in zip(axes, self.classes, self.features, self.weights, strict=True):
            ax.barh(range(len(names)), weights, color="C0")
            ax.set_yticks(range(len(names)), [str(name) for name in names], fontsize="small", parse_math=False)
            ax.invert_yaxis()
            ax.set_title(str(label), fontsize="medium", parse_math=False)
        return axes


@described_as(Shared)
def top_features(model: Any, feature_names: Any = None, n: int = 10) -> TopFeatures:
    """List the features with the largest weights of each class.

    Weights are comparable where the features have the same scale, as words of tf-idf rows have.

    Parameters
    ----------
    model : classifier, pipeline or search
        Fitted: any linear classifier with `coef_`, those of scikit-learn too.
    n : int, default=10
        Maximum number of features of each class; those with weights above 0 are listed.

    Returns
    -------
    found : TopFeatures
        `classes`, `features` and `weights`; `str()` is a table, `to_frame()` a data frame, and `plot()` draws bars.

    Raises
    ------
    ValueError
        If the model has only one class, or the number of names is wrong.
    TypeError
        If the model is not linear in its features.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.inspection import top_features
    >>> texts = ["red wine", "white wine", "red car", "fast car", "old wine", "old car"]
    >>> model = make_pipeline(CountVectorizer(), TransductiveSVC(class_prior=[0.5, 0.5]))
    >>> found = top_features(model.fit(texts, ["drink", None, "ride", None, None, None]), n=1)
    >>> [names.tolist() for names in found.features]
    [['wine'], ['car']]
    """
    classifier = _linear_model.final(model)
    n = _numbers.check_count("n", n)
    if len(classifier.classes_) == 1:
        raise ValueError(f"the model has only one class, {classifier.classes_[0]}, so no feature is in its favor")
    names = _linear_model.feature_names(model, classifier, feature_names)
    coef = classifier.coef_ if len(classifier.coef_) > 1 else np.vstack([-classifier.coef_, classifier.coef_])
    order = [np.argsort(-weights, kind="stable")[:n] for weights in coef]
    order = [found[weights[found] > 0] for found, weights in zip(order, coef, strict=True)]
    return TopFeatures(
        classifier.classes_,
        [names[found] for found in order],
        [weights[found] for found, weights in zip(order, coef, strict=True)],
    )
