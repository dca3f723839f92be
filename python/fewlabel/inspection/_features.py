"""The features that contribute most to the score of a row, and those with the largest weights of each class."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewlabel._inputs import _data, _numbers
from fewlabel.inspection import _linear_model, _table


@dataclass(frozen=True, eq=False)
class Explanation(_table.Table):
    """Contributions to the score of a class, which is `contributions.sum() + rest + intercept`; `str()`: a table."""

    label: Any  #: the class that is explained
    score: float  #: decision for it; above 0, for one of two classes or against another one, means this class
    features: np.ndarray  #: (n,) names of the features with the largest contributions, most in favor first
    contributions: np.ndarray  #: (n,) weight times value of each; above 0: in favor of the class
    rest: float  #: sum of the contributions of all other features
    intercept: float  #: the same for every row

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "feature": [*self.features, "(other features)", "(intercept)"],
            f"contribution to {self.label}": [*map(float, self.contributions), self.rest, self.intercept],
        }

    def __str__(self) -> str:
        lines = [f"{value:+10.4f}  {name}" for name, value in zip(*self._columns().values(), strict=True)]
        return "\n".join([*lines, f"{self.score:+10.4f}  score of {self.label}"])


def explain(
    model: Any, row: Any, feature_names: Any = None, n: int = 10, *, label: Any = None, against: Any = None
) -> Explanation:
    """List the features that contribute most to the score of a row's class.

    Parameters
    ----------
    model : classifier, pipeline or search
        Fitted, and linear in its features: otherwise a TypeError.
    row : array-like of shape (n_features,) or (1, n_features), or what a pipeline takes for one row, as a text
        The row. A series is a row of a data frame: its index has the columns.
    feature_names : array-like of shape (n_features,) or None, default=None
        Names of the features of the classifier. None: those of the pipeline or data frame, without the names of steps
        if `row` is a text or no two are alike then, otherwise x0, x1, ...
    n : int, default=10
        Maximum number of features listed: those with the largest absolute contributions.
    label : label or None, default=None
        The class to explain. None: the predicted one.
    against : label or None, default=None
        With more than two classes: explain why `label` rather than this class. None: the score of `label` alone.
    """
    classifier = _linear_model.final(model)
    rows = _linear_model.rows_of(model, _one_row(row), "row")
    if not hasattr(rows, "columns") and np.shape(rows)[1:] not in ((), (classifier.n_features_in_,)):
        raise ValueError(f"row has {np.shape(rows)[1]} features, the model has {classifier.n_features_in_}")
    predicted = classifier.predict(rows)
    if len(predicted) != 1:
        raise ValueError(f"row must be one row, got {len(predicted)}")
    n = _numbers.check_count("n", n)
    names = _linear_model.feature_names(model, classifier, feature_names)
    if feature_names is None:
        words = _linear_model.without_steps(model, names)
        names = words if isinstance(row, str | list) or len({*words}) == len(words) else names
    k = _linear_model.class_number(classifier, predicted[0] if label is None else label, "label")
    weights, intercept = _difference(classifier, k, against)
    rows = sp.csr_array(rows, copy=True)
    rows.sum_duplicates()  # in place, so on a copy
    contributions = rows.data * weights[rows.indices]
    largest = np.argsort(-np.abs(contributions), kind="stable")[:n]
    largest = largest[np.argsort(-contributions[largest], kind="stable")]
    score, rest = float(contributions.sum() + intercept), float(np.delete(contributions, largest).sum())
    listed = names[rows.indices[largest]], contributions[largest]
    return Explanation(classifier.classes_.tolist()[k], score, *listed, rest, intercept)


def _one_row(row: Any) -> Any:
    if isinstance(row, str | bytes):
        return [row]
    row = _data.admitted(row, "row")
    if not (isinstance(row, list | tuple) or getattr(row, "shape", ()) != ()) or hasattr(row, "fit"):
        raise TypeError(f"row must be a text or a row of numbers, got {row!r:.60}")
    if getattr(row, "ndim", 2) == 1 and hasattr(row, "to_frame"):  # a row of a data frame
        return row.to_frame().T.infer_objects()
    if sp.issparse(row) and row.ndim == 1:
        return row.reshape(1, -1)
    numbers = isinstance(row, list | tuple | np.ndarray) and np.ndim(row) == 1 and np.asarray(row).dtype.kind in "biuf"
    return np.asarray(row)[None] if numbers else row


def _difference(classifier: Any, k: int, against: Any) -> tuple[np.ndarray, float]:
    """Weights (n_features,) and intercept of the explained score."""
    coef, intercept = classifier.coef_, np.broadcast_to(classifier.intercept_, len(classifier.coef_))
    other = None if against is None else _linear_model.class_number(classifier, against, "against")
    if other == k:
        raise ValueError(f"against={against!r} is the class that is explained")
    if len(coef) == 1:  # the score of the last class
        sign = 1 if k == len(classifier.classes_) - 1 and len(classifier.classes_) > 1 else -1
        return sign * coef[0], sign * float(intercept[0])
    if other is None:
        return coef[k], float(intercept[k])
    return coef[k] - coef[other], float(intercept[k] - intercept[other])


@dataclass(eq=False, repr=False)
class TopFeatures(_table.Table):
    """Result of `top_features`: for each class the features with the largest weights in its favor; `str()`: a table."""

    classes: np.ndarray  #: (n_classes,)
    features: list[np.ndarray]  #: names (n,) of the features of each class, the largest weight first
    weights: list[np.ndarray]  #: (n,) above 0

    def __str__(self) -> str:
        pairs = (zip(*both, strict=True) for both in zip(self.features, self.weights, strict=True))
        lines = (", ".join(f"{name} {weight:.2g}" for name, weight in each) for each in pairs)
        return "\n".join(f"{label}: {line}" for label, line in zip(self.classes, lines, strict=True))

    __repr__ = __str__

    def _columns(self) -> dict[str, list[Any]]:
        classes = np.repeat(self.classes, [len(names) for names in self.features])
        columns = {"class": classes, "feature": np.concatenate(self.features), "weight": np.concatenate(self.weights)}
        return {name: values.tolist() for name, values in columns.items()}

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
            axes = pyplot.figure(figsize=(8, rows * height), layout="constrained").subplots(rows, 2).ravel()
            for unused in axes[len(self.classes) :]:
                unused.set_axis_off()
        axes = _table.axes_of(np.ravel(np.asarray(axes, dtype=object))[: len(self.classes)], len(self.classes), "axes")
        for ax, label, names, weights in zip(axes, self.classes, self.features, self.weights, strict=True):
            ax.barh(range(len(names)), weights, color="C0")
            ax.set_yticks(range(len(names)), [str(name) for name in names], fontsize="small", parse_math=False)
            ax.invert_yaxis()
            ax.set_title(str(label), fontsize="medium", parse_math=False)
        return axes


def top_features(model: Any, feature_names: Any = None, n: int = 10) -> TopFeatures:
    """List the features with the largest weights of each class; `to_frame()` has a table, and `plot()` draws bars.

    Parameters
    ----------
    model : classifier, pipeline or search
        Fitted: any linear classifier with `coef_`, those of scikit-learn too; otherwise a TypeError.
    feature_names : as in `explain`
    n : int, default=10
        Maximum number of features of each class; those with weights above 0 are listed.
    """
    classifier, n = _linear_model.final(model), _numbers.check_count("n", n)
    if len(classifier.classes_) == 1:
        raise ValueError(f"the model has only one class, {classifier.classes_[0]}, so no feature is in its favor")
    names = _linear_model.feature_names(model, classifier, feature_names)
    coef = classifier.coef_ if len(classifier.coef_) > 1 else np.vstack([-classifier.coef_, classifier.coef_])
    order = [np.argsort(-weights, kind="stable")[: min(n, np.count_nonzero(weights > 0))] for weights in coef]
    weights = [weights[found] for found, weights in zip(order, coef, strict=True)]
    return TopFeatures(classifier.classes_, [names[found] for found in order], weights)
