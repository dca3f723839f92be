"""HistoryDisplay: the outer steps of a fit."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewlabel import _columns, methods
from fewlabel._docstrings import described_as
from fewlabel.inspection import _linear_model
from fewlabel.plotting import _axes

_SHARES = {  # columns of a history about class shares, and the name of the axis unless it depends on a class
    "positive_share": None,
    "share_distance": "shares off by up to",
    "constraint_residual": "means off by up to",
}


@described_as()
@dataclass(eq=False, repr=False)
class HistoryDisplay:
    """Plot of the outer steps of a fit: objective, temperature or weight, labels changed, class shares.

    Parameters
    ----------
    history : dict of str to ndarray of shape (n_steps,)
        The attribute `history_` of an estimator.
    wanted_share : float or None, default=None
        Share of the second of two classes in the class prior.
    name : str or None, default=None
        Title of the picture.

    Attributes
    ----------
    axes_ : ndarray of shape (4,) of matplotlib Axes
        The panels, top to bottom.
    figure_ : matplotlib Figure
        The figure with them.
    lines_ : list of 4 matplotlib Line2D
        The line of each panel.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.plotting import HistoryDisplay
    >>> model = TransductiveSVC().fit([[0.0], [0.2], [0.1], [0.9], [0.8], [1.0]], [0, -1, -1, -1, -1, 1])
    >>> display = HistoryDisplay.from_estimator(model)
    >>> [axes.get_ylabel() for axes in display.axes_]
    ['objective', 'temperature', 'labels changed', 'share of class 1']
    """

    history: Any
    wanted_share: float | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)
    _share: str = field(default="share of the second class", init=False)

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None, ax: Any = None) -> "HistoryDisplay":
        """Draw the history of a fitted estimator.

        Parameters
        ----------
        estimator : TransductiveSVC, SemiSupervisedLogisticRegression, or a pipeline or search that ends in one
            Fitted estimator. Model files do not save the history.
        name : str or None, default=None
            Title. None: the class and the method of the estimator.
        ax : array-like of 4 matplotlib Axes, or None, default=None
            Where to draw. None: a new figure.

        Returns
        -------
        display : HistoryDisplay
            The picture.
        """
        model = _linear_model.last(estimator)
        check_is_fitted(model)
        _columns.refuse(model, "HistoryDisplay")
        if not getattr(model, "history_", None):
            raise ValueError(f"{type(model).__name__} has no history: it was read from a file, or took no step")
        method = methods.resolve(model.method, model._methods).name
        display = cls(model.history_, name=f"{type(model).__name__}, {method}" if name is None else name)
        if "positive_share" in model.history_:
            display.wanted_share = float(model.class_prior_[-1])
            display._share = f"share of class {model.classes_[-1]}"
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> "HistoryDisplay":
        """Draw.

        Returns
        -------
        display : HistoryDisplay
            Itself.
        """
        _axes.need_matplotlib("HistoryDisplay.plot")
        from matplotlib.ticker import PercentFormatter

        self.axes_ = _axes.panels(ax, 4)
        self.figure_ = self.axes_[0].figure
        level = "temperature" if "temperature" in self.history else "unlabeled_weight"
        share = next(column for column in _SHARES if column in self.history)
        labels = {
            "objective": "objective",
            level: level.replace("_", " "),
            "n_switched": "labels changed",
            share: _SHARES[share] or self._share,
        }
        self.lines_: list[Any] = []
        for axes, (column, label) in zip(self.axes_, labels.items(), strict=True):
            values = np.asarray(self.history[column], dtype=np.float64)
            self.lines_ += axes.plot(np.arange(1, len(values) + 1), values, color=_axes.BLUE, marker=".")
            axes.set_ylabel(label, parse_math=False)
            axes.grid(alpha=0.3)
            _axes.whole(axes.xaxis)
        self.axes_[-1].set_xlabel("outer step")
        if np.any(np.asarray(self.history[level]) > 0):
            self.axes_[1].set_yscale("log", nonpositive="mask")
        _axes.whole(self.axes_[2].yaxis)
        self.axes_[3].yaxis.set_major_formatter(PercentFormatter(1))
        if self.wanted_share is not None:
            self.axes_[3].axhline(self.wanted_share, color=_axes.GRAY, linestyle="--", linewidth=1, label="wanted")
            self.axes_[3].legend(loc="best")
        if self.name is not None:
            self.axes_[0].set_title(self.name)
        self.figure_.align_ylabels(list(self.axes_))
        return self
