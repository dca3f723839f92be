"""Plots of a fit and of the gain from unlabeled rows. matplotlib is imported when a plot is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewlabel import methods
from fewlabel.inspection import _learning_curve, _linear_model

__all__ = ["ComponentDisplay", "HistoryDisplay", "LearningCurveDisplay"]

# Blue and vermilion of Okabe and Ito, distinguishable with any color vision; line and marker differ as well.
_BLUE, _ORANGE, _GRAY = "#0072B2", "#D55E00", "0.45"
_SHARES = {  # columns of a history about class shares, and the name of the axis unless it depends on a class
    "positive_share": None,
    "share_distance": "shares off by up to",
    "constraint_residual": "means off by up to",
}
_MARKED = 60  # steps up to which each has a marker


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
        ax : matplotlib Axes, array-like of 4 matplotlib Axes, or None, default=None
            Where to draw. A single Axes is replaced by the four panels. None: a new figure.

        Returns
        -------
        display : HistoryDisplay
            The picture.
        """
        model = _linear_model.last(estimator)
        check_is_fitted(model)
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

        Parameters
        ----------
        ax : matplotlib Axes, array-like of 4 matplotlib Axes, or None, default=None
            Where to draw, as in `from_estimator`.

        Returns
        -------
        display : HistoryDisplay
            Itself.
        """
        _need_matplotlib("HistoryDisplay.plot")
        self.axes_ = _panels(ax, 4)
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
            steps, marker = np.arange(1, len(values) + 1), "." if len(values) <= _MARKED else ""
            self.lines_ += axes.plot(steps, values, color=_BLUE, marker=marker)
            axes.set_ylabel(label)
            axes.grid(alpha=0.3)
            _whole(axes.xaxis)
        self.axes_[-1].set_xlabel("outer step")
        _scale_level(self.axes_[1], np.asarray(self.history[level]))
        _whole(self.axes_[2].yaxis)
        _scale_share(self.axes_[3], self.wanted_share)
        if self.name is not None:
            self.axes_[0].set_title(self.name)
        self.figure_.align_ylabels(list(self.axes_))
        return self


@dataclass(eq=False, repr=False)
class LearningCurveDisplay:
    """Learning curves: scores by number of labels, of a semi-supervised and a supervised estimator.

    Parameters
    ----------
    n_labels : array-like of shape (n_sizes,), int
        Numbers of labeled rows.
    scores : ndarray of shape (n_sizes, n_draws)
        Test scores of the semi-supervised estimator, for each draw of the labels.
    supervised_scores : ndarray of shape (n_sizes, n_draws)
        Test scores of the supervised estimator.
    score_name : str, default="score"
        Name of the score.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure with them.
    lines_ : list of 2 matplotlib Line2D
        Means over the draws: semi-supervised, supervised.
    fill_between_ : list of 2 matplotlib collections
        One standard deviation over the draws around each mean.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.datasets import load_digits
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.plotting import LearningCurveDisplay
    >>> X, y = load_digits(n_class=2, return_X_y=True)
    >>> display = LearningCurveDisplay.from_estimator(TransductiveSVC(), X / 16, y, n_labels=[4, 8], n_draws=2)
    >>> display.scores.shape
    (2, 2)
    """

    n_labels: Any
    scores: Any
    supervised_scores: Any
    score_name: str = field(default="score", kw_only=True)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_labels: Sequence[int] = (10, 20, 40, 80),
        n_draws: int = 5,
        test_size: float = 0.25,
        supervised: Any = None,
        scoring: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 1,
        ax: Any = None,
    ) -> "LearningCurveDisplay":
        """Fit with increasing numbers of labels, score on held-out labeled rows, and draw.

        Parameters
        ----------
        estimator : estimator or pipeline
            Semi-supervised estimator; clones are fitted.
        X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features), or what a pipeline takes
            Rows.
        y : array-like of shape (n_rows,)
            Labels, with or without markers. Labels beyond `n_labels` are hidden; their rows are used as unlabeled rows.
        n_labels : sequence of int, default=(10, 20, 40, 80)
            Numbers of labeled rows. In each draw the larger sets contain the smaller ones.
        n_draws : int, default=5
            Number of random draws of test rows and labels. Every class is among the fewest labels.
        test_size : float, default=0.25
            Share of the labeled rows that is held out.
        supervised : estimator, pipeline or None, default=None
            Estimator that is fitted on the labeled rows only. None: a clone of the estimator with `unlabeled_weight=0`,
            to which the unlabeled rows are passed too, so that the transformers of a pipeline are the same.
        scoring : str, callable or None, default=None
            Metric. None: the `score` method of the estimator, which is accuracy.
        random_state : int, RandomState instance or None, default=0
            Seed of the draws.
        n_jobs : int or None, default=None
            Number of fits at a time, in processes of joblib, as in `cross_val_score`. None: one, with the threads of
            the estimator.
        verbose : int, default=1
            Above 0: show the progress of the fits, from the third second on.
        ax : matplotlib Axes or None, default=None
            Where to draw. None: a new figure.

        Returns
        -------
        display : LearningCurveDisplay
            The picture.

        Raises
        ------
        ValueError
            If there are too few labels to draw from.
        """
        _need_matplotlib("LearningCurveDisplay.from_estimator")
        sizes, scores, supervised_scores = _learning_curve.compute(
            estimator, X, y, n_labels, n_draws, test_size, supervised, scoring, random_state, n_jobs, verbose
        )
        name = "accuracy" if scoring is None else scoring.replace("_", " ") if isinstance(scoring, str) else "score"
        return cls(sizes, scores, supervised_scores, score_name=name).plot(ax=ax)

    def plot(self, ax: Any = None) -> "LearningCurveDisplay":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw. None: a new figure.

        Returns
        -------
        display : LearningCurveDisplay
            Itself.
        """
        _need_matplotlib("LearningCurveDisplay.plot")
        from matplotlib import pyplot as plt

        self.ax_ = plt.subplots(figsize=(6, 4), layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        self.lines_: list[Any] = []
        self.fill_between_: list[Any] = []
        both = (
            (self.scores, "labeled and unlabeled rows", _BLUE, "o-"),
            (self.supervised_scores, "labeled rows only", _ORANGE, "s--"),
        )
        for scores, label, color, style in both:
            mean, deviation = np.mean(scores, axis=1), np.std(scores, axis=1)
            self.lines_ += self.ax_.plot(self.n_labels, mean, style, label=label, color=color)
            low, high = mean - deviation, mean + deviation
            band = self.ax_.fill_between(self.n_labels, low, high, color=color, alpha=0.15, linewidth=0)
            self.fill_between_.append(band)
        self.ax_.set(xscale="log", xticks=self.n_labels, xticklabels=[str(size) for size in self.n_labels])
        self.ax_.minorticks_off()
        self.ax_.set(xlabel="labeled rows", ylabel=f"{self.score_name} on unseen rows")
        if max(np.max(self.scores), np.max(self.supervised_scores)) <= 1:
            self.ax_.set_ylim(top=min(self.ax_.get_ylim()[1], 1.02))  # a deviation can reach beyond any score
        self.ax_.grid(alpha=0.3)
        self.ax_.legend(loc="best")
        return self


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
        _need_matplotlib("ComponentDisplay.plot")
        self.axes_ = np.atleast_1d(_panels(ax, len(self.table)))
        self.figure_ = self.axes_[0].figure
        self.bars_: list[Any] = []
        for axes, row in zip(self.axes_, self.table, strict=True):
            pairs = [*row.positive, *reversed(row.negative)]
            weights = [weight for _, weight in pairs]
            colors = [_BLUE if weight > 0 else _ORANGE for weight in weights]
            self.bars_.append(axes.barh(range(len(pairs)), weights, color=colors))
            axes.set_yticks(range(len(pairs)), [str(name) for name, _ in pairs], fontsize="small")
            axes.invert_yaxis()
            axes.set_title(f"component {row.component}", fontsize="medium")
            axes.axvline(0, color=_GRAY, linewidth=0.8)
        self.axes_[-1].set_xlabel("weight")
        return self


def _need_matplotlib(caller: str) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as reason:
        raise ImportError(f"{caller} needs matplotlib: pip install 'fewlabel[plot]', or matplotlib alone") from reason


def _panels(ax: Any, n: int) -> np.ndarray:
    """Axes (n,) from top to bottom: new Axes, Axes in place of a single one, or the given Axes."""
    from matplotlib import pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpecFromSubplotSpec

    if ax is None:
        return plt.subplots(n, figsize=(6, 1.9 * n), sharex=True, layout="constrained")[1]
    if not isinstance(ax, Axes):
        given = np.asarray(ax, dtype=object).ravel()
        if len(given) != n:
            raise ValueError(f"ax must be one matplotlib Axes or {n} of them, got {len(given)}")
        return given
    ax.set_axis_off()
    place: Any = ax.get_subplotspec()
    if place is None:
        raise ValueError("ax has no place in a grid that could be divided: give Axes of plt.subplots, or several Axes")
    places = GridSpecFromSubplotSpec(n, 1, subplot_spec=place)
    top = ax.figure.add_subplot(places[0])
    panels = [top, *(ax.figure.add_subplot(places[k], sharex=top) for k in range(1, n))]
    for panel in panels[:-1]:
        panel.tick_params(labelbottom=False)  # as plt.subplots with sharex
    return np.array(panels)


def _whole(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, nbins="auto", min_n_ticks=1))


def _scale_level(axes: Any, level: np.ndarray) -> None:
    """Log scale for temperatures and weights, without the temperature 0 at the end."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    if not (level > 0).any():
        return
    axes.set_yscale("log", nonpositive="mask")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    if level[-1] == 0:
        axes.annotate("then 0", (np.count_nonzero(level), level[level > 0][-1]), (6, 0), textcoords="offset points")


def _scale_share(axes: Any, wanted: float | None) -> None:
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.4g}%")
    if wanted is not None:
        axes.axhline(wanted, color=_GRAY, linestyle="--", linewidth=1, label="wanted")
        axes.legend(loc="best")
