"""ComponentDisplay: the components of a structure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewlabel.plotting import _axes


@dataclass(eq=False, repr=False)
class ComponentDisplay:
    """Plot of the features with the largest and the smallest weights in some components of a structure.

    Parameters
    ----------
    table : list of Strongest
        Result of `ASOTransformer.strongest_features`, one entry per panel.

    Attributes
    ----------
    axes_ : ndarray of shape (n_panels,) of matplotlib Axes
        The panels, top to bottom.
    figure_ : matplotlib Figure
        The figure with them.
    bars_ : list of matplotlib BarContainer
        The bars of each panel, with the largest weight at the top.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from fewlabel import ASOTransformer
    >>> from fewlabel.plotting import ComponentDisplay
    >>> X = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0], [1, 1, 0, 0]])
    >>> model = ASOTransformer(n_components=2).fit(X)
    >>> display = ComponentDisplay.from_estimator(model, feature_names=["hit", "run", "orbit", "launch"], n_features=2)
    >>> [axes.get_title() for axes in display.axes_]
    ['component 0', 'component 1']
    """

    table: Any

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        components: Sequence[int] | None = None,
        n_features: int = 6,
        feature_names: Any = None,
        ax: Any = None,
    ) -> "ComponentDisplay":
        """Draw components of a fitted estimator.

        Parameters
        ----------
        estimator : ASOTransformer or ASOClassifier
            Fitted.
        components : sequence of int or None, default=None
            Indices of the components. None: the first four.
        n_features : int, default=6
            Number of features of each sign.
        feature_names : array-like of shape (`n_features_in_`,) or None, default=None
            Names of the features, as in `strongest_features`.
        ax : matplotlib Axes, array-like of matplotlib Axes, or None, default=None
            Where to draw. A single Axes is replaced by the panels. None: a new figure.

        Returns
        -------
        display : ComponentDisplay
            The picture.
        """
        table = estimator.strongest_features(n_features, feature_names)
        return cls([table[k] for k in components] if components is not None else table[:4]).plot(ax=ax)

    def plot(self, ax: Any = None) -> "ComponentDisplay":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, array-like of matplotlib Axes, or None, default=None
            Where to draw, as in `from_estimator`.

        Returns
        -------
        display : ComponentDisplay
            Itself.
        """
        _axes.need_matplotlib("ComponentDisplay.plot")
        self.axes_ = np.atleast_1d(_axes.panels(ax, len(self.table)))
        self.figure_ = self.axes_[0].figure
        self.bars_: list[Any] = []
        for axes, row in zip(self.axes_, self.table, strict=True):
            pairs = [*row.positive, *reversed(row.negative)]
            weights = [weight for _, weight in pairs]
            colors = [_axes.BLUE if weight > 0 else _axes.ORANGE for weight in weights]
            self.bars_.append(axes.barh(range(len(pairs)), weights, color=colors))
            axes.set_yticks(range(len(pairs)), [str(name) for name, _ in pairs], fontsize="small")
            axes.invert_yaxis()
            axes.set_title(f"component {row.component}", fontsize="medium")
            axes.axvline(0, color=_axes.GRAY, linewidth=0.8)
        self.axes_[-1].set_xlabel("weight")
        return self
