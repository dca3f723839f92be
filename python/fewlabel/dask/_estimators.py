"""The estimators: a fit on the workers that hold the rows, predictions block by block."""

import inspect
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewlabel import _progress, methods
from fewlabel._docstrings import described_as
from fewlabel._logistic_regression import SemiSupervisedLogisticRegression
from fewlabel._transductive_svc import TransductiveSVC
from fewlabel.dask import _fit, _on_workers

_Class = TypeVar("_Class", bound=type)


class _OnDask:
    """Base class of the estimators."""

    _local: ClassVar[Any]
    client: Any
    trusted_network: bool
    method: Any  # this and the following belong to the other base class
    warm_start: bool
    verbose: int
    classes_: np.ndarray
    get_params: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from labeled and unlabeled rows on the workers that hold them.

        Parameters
        ----------
        X : dask.array.Array, dask.dataframe.DataFrame or list of Delayed or Future
            Training rows. A member of a list is a CSR matrix or array, a dense array or a data frame. Partitions may
            have 0 rows.
        y : dask.array.Array, dask.dataframe.Series or list of Delayed or Future
            Labels, in partitions of the same rows as X.
        sample_weight : the same as y or None, default=None
            Weight of each row.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If parameters or data are invalid, or the cluster encrypts and `trusted_network` is False.
        TypeError
            If a parameter has the wrong type, or X or y is not Dask's.
        RuntimeError
            If a worker is lost: the message has its address. The fit ends on all workers.
        KeyboardInterrupt
            If the user interrupts the fit. It ends on all workers, and the estimator is left unchanged.
        """
        if hasattr(self, "_skl_callbacks"):
            raise ValueError("callbacks are for fits on one machine: the steps of this one are on the workers")
        method = methods.resolve(self.method, self._local._methods)
        with _progress.shown(type(self).__name__, self.verbose, method.name) as show:
            if not self.trusted_network:
                _fit.refuse_encrypted(self._client())
            parts = _fit.partitions(X, y, sample_weight)
            fitted, warned, training = _fit.fit(self._client(), self._model(self.warm_start), parts, show)
        for name in _fitted(self):
            delattr(self, name)
        self.__dict__.update(_fitted(fitted))
        self._training = training
        for warning in warned:
            warnings.warn(warning, stacklevel=2)
        return self

    def predict(self, X: Any) -> Any:
        """Predicted class of each row: lazy for Dask's arrays and data frames, with the index of a data frame."""
        check_is_fitted(self)
        return self._map("predict", X, self.classes_.dtype)

    def decision_function(self, X: Any) -> Any:
        """Decision score of each row, as of the local class; lazy for Dask's arrays and data frames."""
        check_is_fitted(self)
        return self._map("decision_function", X, np.dtype(float), len(self.classes_) > 2)

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class for each row; lazy for Dask's arrays and data frames."""
        return self._map("predict_proba", X, np.dtype(float), True)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of the probability of each class for each row; lazy for Dask's arrays and data frames."""
        return self._map("predict_log_proba", X, np.dtype(float), True)

    def predict_level(self, X: Any, level: int) -> Any:
        """Group of each row at a level of `hierarchy`; lazy for Dask's arrays and data frames."""
        return self._map("predict_level", X, np.dtype(object), level=level)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of the predictions for the labeled rows, by weight, computed on the workers."""
        check_is_fitted(self)
        if not _fit.is_dask(X):
            return float(self.to_local().score(X, y, sample_weight))
        from dask.delayed import delayed

        client, model = self._client(), delayed(self.to_local())
        parts = [delayed(_on_workers.hits)(model, part) for part in _fit.partitions(X, y, sample_weight)]
        hits, total = np.sum(client.gather(client.compute(parts)), axis=0)
        if not total:
            raise ValueError("no row to score: every label in y is a marker of unlabeled rows")
        return float(hits / total)

    def to_local(self) -> Any:
        """The fitted estimator of the local class, without the labels of the training rows."""
        return self._model(True)

    @property
    def transduction_(self) -> Any:
        """Label of every training row, in the order of the partitions: a lazy array whose parts are on the workers."""
        return self._labels_of_rows("transduction_", self.__dict__.get("classes_", np.zeros(0)).dtype, ())

    @property
    def label_distributions_(self) -> Any:
        """Probability of each class for every training row, likewise."""
        return self._labels_of_rows("label_distributions_", np.dtype(float), (len(self.__dict__.get("classes_", ())),))

    def _labels_of_rows(self, name: str, dtype: np.dtype, columns: tuple[int, ...]) -> Any:
        training: _fit.Training | None = self.__dict__.get("_training")
        if training is None or name not in training.columns:
            raise AttributeError(f"{type(self).__name__} has no {name}: it is on the workers of the last fit")
        import dask.array as da
        from dask.delayed import delayed

        for address, what in _fit.lost(self._client(), [address for address, _ in training.ranks]).items():
            raise RuntimeError(f"{name} of some rows is on {address}, which {what}: fit again, or use `predict`")
        parts = {}
        for task, (_, numbers) in zip(training.tasks, training.ranks, strict=True):
            for place, number in enumerate(numbers):
                part = delayed(_on_workers.row_labels)(task, name, place)
                parts[number] = da.from_delayed(part, (training.sizes[number], *columns), dtype)
        return da.concatenate([parts[number] for number in range(len(parts))])

    def _map(self, name: str, X: Any, dtype: np.dtype, many: bool = False, **options: Any) -> Any:
        """Results of a method of the local estimator, block by block; `many`: a column for each class."""
        check_is_fitted(self)
        model = self.to_local()
        if not _fit.is_dask(X):
            return getattr(model, name)(X, **options)
        getattr(model, name)  # predict_proba may be missing
        import dask.array as da
        from dask.delayed import delayed

        classes = self.classes_.tolist() if many else []
        task = {"model": delayed(model), "method": name, "n_columns": len(classes), "kind": dtype, "options": options}
        if isinstance(X, list | tuple):
            shape = (np.nan, len(classes)) if many else (np.nan,)
            parts = [da.from_delayed(delayed(_on_workers.block)(part, **task), shape, dtype) for part in X]
            return da.concatenate(parts, allow_unknown_chunksizes=True)
        if hasattr(X, "map_partitions"):
            return X.map_partitions(_on_workers.frame_block, classes=classes, meta=_meta(X, dtype, classes), **task)
        X = _fit.one_column(X)
        meta = np.empty((0,) * (1 + many), dtype)
        axes = {"chunks": (X.chunks[0], (len(classes),))} if many else {"drop_axis": 1}
        return X.map_blocks(_on_workers.block, **task, **axes, meta=meta)

    def _client(self) -> Any:
        from distributed import get_client

        return self.client if self.client is not None else get_client()

    def _model(self, fitted: bool) -> Any:
        """The local estimator with the same parameters, and with the fitted attributes if `fitted`."""
        names = [name for name in self.get_params(deep=False) if name not in ("client", "trusted_network")]
        model = self._local(**{name: getattr(self, name) for name in names})
        vars(model).update(_fitted(self) if fitted else {})
        return model

    def __sklearn_clone__(self) -> Any:
        client, self.client = self.client, None  # it cannot be copied
        try:
            made = super().__sklearn_clone__()  # type: ignore[misc]
        finally:
            self.client = client
        made.client = client
        return made

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_training"} | {"client": None}


def _fitted(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_") and name[0] != "_"}


def _meta(X: Any, dtype: np.dtype, classes: list[Any]) -> Any:
    """An empty data frame or series, like the results of the blocks."""
    import pandas as pd

    index = X._meta.index[:0]
    return pd.DataFrame(columns=classes, dtype=dtype, index=index) if classes else pd.Series(dtype=dtype, index=index)


_DESCRIPTION = """{summary}

The model is that of one machine with all rows, up to the rounding of sums.

Rows stay where they are, with two exceptions: for class_prior="auto" every worker gets all labeled rows, and with at
least 4,096 unlabeled rows a class an eighth of these, if they have at most a million non-zeros. Each worker that holds
rows when `fit` begins runs one task, which cannot move, with all its threads. If a worker is lost, the fit fails. Two
fits on the same workers wait for each other.

Parameters
----------
method, alpha, unlabeled_weight, class_prior, {loss}hierarchy, fit_intercept, class_weight : see `{local}`
calibrate : bool, default=False
    True is refused: labeled rows would have to be held out on all workers in turn.
unlabeled, max_iter, tol : see `{local}`
n_jobs : int or None, default=None
    Number of threads on each worker. None: the threads that the worker has for tasks.
warm_start, verbose : see `{local}`
client : distributed.Client or None, default=None
    The cluster. None: the current client. It is not pickled.
trusted_network : bool, default=False
    The workers of a fit exchange sums, class names and labeled rows without encryption. A cluster with TLS is therefore
    refused, unless this is True: nobody else has access to the network of the workers.

Attributes
----------
transduction_ : dask.array.Array of shape (n_rows,)
    Label of every training row, lazy, in the order of the partitions. The parts are on the workers; they are not
    pickled.
label_distributions_ : dask.array.Array of shape (n_rows, n_classes)
    Probability of each class for every training row, likewise, where `{local}` has it.

See Also
--------
{local} : The other attributes, and the notes.
fewlabel.spmd.fit : The same over MPI.

Notes
-----
`predict` and the like are lazy for arrays and data frames of Dask and for lists of Delayed; a data frame keeps its
index. Other input is predicted by this process. `to_local` returns a `{local}`.

Method "pair_switching", `max_switches`, scikit-learn's callbacks and what is refused above are for one machine.

Examples
--------
>>> from fewlabel.dask import {name}  # doctest: +SKIP
>>> model = {name}(client=client).fit(X, y)  # doctest: +SKIP
>>> model.predict(X).compute()  # doctest: +SKIP
"""


def _described(kind: _Class) -> _Class:
    """Describe a class by the template and by its local class."""
    local = kind._local  # type: ignore[attr-defined]
    loss = "loss, " if "loss" in inspect.signature(local).parameters else ""
    kind.__doc__ = _DESCRIPTION.format(local=local.__name__, name=kind.__name__, summary=kind.__doc__, loss=loss)
    return described_as(local)(kind)


@_described
@dataclass(kw_only=True, eq=False, repr=False)
class DaskTransductiveSVC(_OnDask, TransductiveSVC):  # type: ignore[override]
    """`TransductiveSVC` with its rows on the workers of a Dask cluster."""

    _local: ClassVar = TransductiveSVC
    _takes_columns: ClassVar = False

    client: Any = None
    trusted_network: bool = False


@_described
@dataclass(kw_only=True, eq=False, repr=False)
class DaskSemiSupervisedLogisticRegression(_OnDask, SemiSupervisedLogisticRegression):  # type: ignore[override]
    """`SemiSupervisedLogisticRegression` with its rows on the workers of a Dask cluster."""

    _local: ClassVar = SemiSupervisedLogisticRegression
    _takes_columns: ClassVar = False

    calibrate: bool = False
    client: Any = None
    trusted_network: bool = False
