"""Plots of a fit and of the gain from unlabeled rows. matplotlib is imported when a plot is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils.validation import check_is_fitted

from fewlabel import _columns, _held_out, methods
from fewlabel._base import check_own_classifier
from fewlabel._inputs import _data, _markers, _numbers, _targets
from fewlabel._inputs._soft import Soft
from fewlabel.inspection import _linear_model, _table

__all__ = ["HistoryDisplay", "LearningCurveDisplay"]

# Blue and vermilion of Okabe and Ito, distinguishable with any color vision; line and marker differ as well.
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "0.45"
_SHARES = {  # columns of a history about class shares, and the name of the axis unless it depends on a class
    "positive_share": None,
    "share_distance": "shares off by up to",
    "constraint_residual": "means off by up to",
}
_SIZES = [10, 20, 40, 80]  # numbers of labels where none are given
_TRIES = 1000  # at drawing labels until every class is among them


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
    axes_ : ndarray of shape (4,) of matplotlib Axes, top to bottom
    figure_, lines_ : matplotlib Figure, and list of 4 Line2D
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
        ax : as in `plot`
        """
        check_own_classifier("estimator", model := _linear_model.last(estimator))
        check_is_fitted(model)
        _columns.refuse(model, "HistoryDisplay")
        if not getattr(model, "history_", None):
            raise ValueError(f"{type(model).__name__} has no history: it was read from a file, or took no step")
        method = methods.resolve(model.method, model._methods).name
        display = cls(model.history_, name=f"{type(model).__name__}, {method}" if name is None else name)
        if "positive_share" in model.history_:
            display.wanted_share, display._share = float(model.class_prior_[-1]), f"share of class {model.classes_[-1]}"
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> "HistoryDisplay":
        """Draw, and return the display.

        Parameters
        ----------
        ax : array-like of 4 matplotlib Axes, or None: a new figure
        """
        check_matplotlib_support("HistoryDisplay.plot")
        from matplotlib import pyplot as plt
        from matplotlib.ticker import MaxNLocator, PercentFormatter

        if ax is None:
            ax = plt.subplots(4, figsize=(6, 7.6), sharex=True, layout="constrained")[1]
        self.axes_ = _table.axes_of(ax, 4)
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
            self.lines_ += axes.plot(np.arange(1, len(values) + 1), values, color=BLUE, marker=".")
            axes.set_ylabel(label, parse_math=False)
            axes.grid(alpha=0.3)
        self.axes_[-1].set_xlabel("outer step")
        if np.any(np.asarray(self.history[level]) > 0):
            self.axes_[1].set_yscale("log", nonpositive="mask")
        for axis in (*(axes.xaxis for axes in self.axes_), self.axes_[2].yaxis):
            axis.set_major_locator(MaxNLocator(integer=True, nbins="auto", min_n_ticks=1))
        self.axes_[3].yaxis.set_major_formatter(PercentFormatter(1))
        if self.wanted_share is not None:
            self.axes_[3].axhline(self.wanted_share, color=GRAY, linestyle="--", linewidth=1, label="wanted")
            self.axes_[3].legend(loc="best")
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
    scores, supervised_scores : ndarray of shape (n_sizes, n_draws)
        Test scores of the semi-supervised and of the supervised estimator, for each draw of the labels.
    score_name : str, default="score"
        Name of the score.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_, fill_between_ : lists of 2 matplotlib artists
        Means over the draws, and one standard deviation around them: semi-supervised, supervised.
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
        n_labels: Sequence[int] | None = None,
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
        estimator : semi-supervised estimator or pipeline, of which clones are fitted
        X, y : as in `fewlabel.inspection.check`; labels beyond `n_labels` are hidden, and their rows unlabeled
        n_labels : sequence of int, default=None
            Numbers of labeled rows; None: those of 10, 20, 40 and 80 for which there are labels.
        n_draws : int, default=5
            Number of random draws of test rows and labels. Every class is among the fewest labels.
        test_size : float, default=0.25
            Share of the labeled rows that is held out.
        supervised : estimator, pipeline or None, default=None
            Estimator that is fitted on the labeled rows only. None: a clone with `unlabeled_weight=0`, fitted on all.
        scoring : str, callable or None, default=None
            Metric. None: the `score` method of the estimator, which is accuracy.
        random_state : int, RandomState instance or None, default=0
        n_jobs, verbose : as in `fewlabel.inspection.check`
        ax : as in `plot`
        """
        check_matplotlib_support("LearningCurveDisplay.from_estimator")
        _held_out.check_classifier("estimator", estimator)
        if supervised is None:
            _linear_model.marker(estimator, "estimator")
        else:
            _held_out.check_classifier("supervised", supervised)
        if ax is not None:
            _table.axes_of(ax, 1)
        X = _data.admitted(X)
        sizes, folds, given = _plan(estimator, X, y, n_labels, n_draws, test_size, supervised, random_state)
        measure = partial(_held_out.score, given=given, scoring=scoring)
        scored = _held_out.measured("learning curve", folds, X, measure, n_jobs, verbose)
        scores, supervised_scores = np.reshape(scored, (n_draws, len(sizes), 2)).T
        name = "accuracy" if scoring is None else scoring.replace("_", " ") if isinstance(scoring, str) else "score"
        return cls(sizes, scores, supervised_scores, score_name=name).plot(ax=ax)

    def plot(self, ax: Any = None) -> "LearningCurveDisplay":
        """Draw, and return the display.

        Parameters
        ----------
        ax : matplotlib Axes, or None: a new figure
        """
        check_matplotlib_support("LearningCurveDisplay.plot")
        from matplotlib import pyplot as plt

        (self.ax_,) = _table.axes_of(plt.subplots(figsize=(6, 4), layout="constrained")[1] if ax is None else ax, 1)
        self.figure_ = self.ax_.figure
        self.lines_, self.fill_between_ = list[Any](), list[Any]()
        semi_supervised = self.scores, "labeled and unlabeled rows", BLUE, "o-"
        supervised = self.supervised_scores, "labeled rows only", ORANGE, "s--"
        for scores, label, color, style in (semi_supervised, supervised):
            mean, deviation = np.mean(scores, axis=1), np.std(scores, axis=1)
            self.lines_ += self.ax_.plot(self.n_labels, mean, style, label=label, color=color)
            ends = mean - deviation, mean + deviation
            band = self.ax_.fill_between(self.n_labels, *ends, color=color, alpha=0.15, linewidth=0)
            self.fill_between_.append(band)
        self.ax_.set(xlabel="labeled rows", ylabel=f"{self.score_name} on unseen rows", xscale="log")
        self.ax_.set_xticks(self.n_labels, [str(size) for size in self.n_labels])
        self.ax_.minorticks_off()
        self.ax_.grid(alpha=0.3)
        self.ax_.legend(loc="best")
        return self


def _plan(
    estimator: Any, X: Any, y: Any, n_labels: Any, n_draws: Any, test_size: Any, supervised: Any, random_state: Any
) -> tuple[list[int], list[_held_out.Fold], _targets.Targets]:
    """Numbers of labels, and two fits for each and for each draw. Parameters are those of `LearningCurveDisplay`."""
    n_draws = _numbers.check_count("n_draws", n_draws)
    if not _numbers.is_real(test_size) or not 0 < _numbers.as_float(test_size) < 1:
        raise ValueError(f"test_size must lie between 0 and 1, got {_numbers.shown(test_size)}")
    marker = getattr(_linear_model.last(estimator), "unlabeled", "auto")
    if marker is None:
        raise ValueError("unlabeled=None means that all rows are labeled, so labels cannot be hidden")
    _data.check_order(X=X, y=y)
    given = _targets.one_a_row(y, marker, _linear_model.tree(estimator))
    _data.check_lengths(X, given.labeled)
    _held_out.refuse_one_class(given)
    _markers.warn_of_names(given.classes.tolist())
    marker = None if _markers.is_auto(marker) else marker
    other = _linear_model.supervised(estimator) if supervised is None else supervised
    n_train = len(given.values) - round(float(test_size) * len(given.values))
    if n_labels is not None and not _numbers.has_entries(n_labels):
        raise TypeError(f"n_labels must be a list of integers, got {n_labels!r:.60}")
    sizes = list(([size for size in _SIZES if size <= n_train] or _SIZES) if n_labels is None else n_labels)
    if not sizes or sorted({_numbers.check_count("n_labels", n) for n in sizes}) != sizes:
        raise ValueError(f"n_labels must be integers above 0, each larger than the one before, got {n_labels!r}")
    random, folds = _numbers.seeded(random_state), list[_held_out.Fold]()
    for _ in range(n_draws):
        test, drawn = _draw(given, sizes, float(test_size), random)
        rows = np.setdiff1d(np.arange(len(given.labeled)), test)
        for size in sizes:
            labeled = np.sort(drawn[:size])
            known = rows, _safe_indexing(_hidden(y, given, labeled, marker), rows)
            used: tuple[Any, Any] = known if supervised is None else (labeled, given.of(labeled))
            folds += [_held_out.Fold(estimator, *known, test), _held_out.Fold(other, *used, test)]
    return sizes, folds, given


def _hidden(y: Any, given: _targets.Targets, labeled: np.ndarray, marker: Any) -> Any:
    """y with the labels of some rows only; sets, probabilities and descriptions stay."""
    kept = given.weak | given.described
    kept[labeled] = True
    if isinstance(y, Soft):
        return Soft(sp.csr_array(y.probabilities).multiply(kept[:, None]), y.classes)
    found = _markers.column(y, "y").astype(object)
    found[~kept] = marker
    return found


def _draw(
    given: _targets.Targets, sizes: list[int], test_size: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Test rows and labeled training rows, with every class among the first sizes[0] of the latter."""
    pool, n_classes = np.flatnonzero(given.labeled), len(np.unique(given.values))
    n_test = round(test_size * len(pool))
    if n_test < 1 or len(pool) - n_test < sizes[-1]:
        raise ValueError(f"y has {len(pool)} labels, {n_test} for testing: {sizes[-1]} of n_labels cannot be drawn")
    for _ in range(_TRIES):
        order = random.permutation(pool)
        labeled = order[n_test : n_test + sizes[-1]]
        if len(np.unique(given.of(labeled[: sizes[0]]))) == n_classes:
            return order[:n_test], labeled
    raise ValueError(f"n_labels begins with {sizes[0]}, too few for all of the {n_classes} classes among them")
