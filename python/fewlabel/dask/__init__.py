"""Fits with rows on the workers of a Dask cluster.

It needs `pip install fewlabel[dask]`, in this process and on the workers.
"""

from fewlabel.dask._fit import fit

__all__ = ["fit"]
