"""Fits whose rows the workers of a Dask cluster share, and predictions for Dask's arrays and data frames.

It needs `pip install fewlabel[dask]`, here and on the workers; nothing else of the package does.
"""

from fewlabel.dask._estimators import DaskSemiSupervisedLogisticRegression, DaskTransductiveSVC

__all__ = ["DaskSemiSupervisedLogisticRegression", "DaskTransductiveSVC"]
