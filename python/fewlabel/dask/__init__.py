"""Fits with rows on the workers of a Dask cluster, and predictions for Dask's arrays and data frames.

It needs `pip install fewlabel[dask]`, in this process and on the workers.
"""

from fewlabel.dask._estimators import DaskSemiSupervisedLogisticRegression, DaskTransductiveSVC

__all__ = ["DaskSemiSupervisedLogisticRegression", "DaskTransductiveSVC"]
