"""Plots of a fit and of the gain from unlabeled rows. matplotlib is imported when a plot is drawn."""

from fewlabel.plotting._history import HistoryDisplay
from fewlabel.plotting._learning_curve import LearningCurveDisplay

__all__ = ["HistoryDisplay", "LearningCurveDisplay"]
