"""LearningCurveDisplay: scores by number of labels."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from fewlabel import _held_out
from fewlabel._docstrings import described_as
from fewlabel._inputs import _data
from fewlabel.inspection import _learning_curve
from fewlabel.plotting import _axes


@described_as()
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
        estimator : estimator or pipeline
            Semi-supervised estimator; clones are fitted.
        X : {array-like, sparse matrix, data frame} of shape (n_rows, n_features), or what a pipeline takes
            Rows.
        y : array-like of shape (n_rows,)
            Labels, with or without markers. Labels beyond `n_labels` are hidden; their rows are used as unlabeled rows.
        n_labels : sequence of int, default=None
            Numbers of labeled rows; None: those of 10, 20, 40 and 80 for which there are labels. In each draw the
            larger sets contain the smaller ones.
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
        _axes.need_matplotlib("LearningCurveDisplay.from_estimator")
        X = _data.admitted(X)
        sizes, folds, given = _learning_curve.plan(
            estimator, X, y, n_labels, n_draws, test_size, supervised, random_state
        )
        measure = partial(_learning_curve.score, given=given, scoring=scoring)
        scored = _held_out.measured("learning curve", folds, X, measure, n_jobs, verbose)
        scores, supervised_scores = np.reshape(scored, (n_draws, len(sizes), 2)).T
        name = "accuracy" if scoring is None else scoring.replace("_", " ") if isinstance(scoring, str) else "score"
        return cls(sizes, scores, supervised_scores, score_name=name).plot(ax=ax)

    def plot(self, ax: Any = None) -> "LearningCurveDisplay":
        """Draw.

        Returns
        -------
        display : LearningCurveDisplay
            Itself.
        """
        _axes.need_matplotlib("LearningCurveDisplay.plot")
        from matplotlib import pyplot as plt

        self.ax_ = plt.subplots(figsize=(6, 4), layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        self.lines_: list[Any] = []
        self.fill_between_: list[Any] = []
        both = (
            (self.scores, "labeled and unlabeled rows", _axes.BLUE, "o-"),
            (self.supervised_scores, "labeled rows only", _axes.ORANGE, "s--"),
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
        self.ax_.grid(alpha=0.3)
        self.ax_.legend(loc="best")
        return self
