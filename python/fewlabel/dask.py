"""Fits whose rows the workers of a Dask cluster share, and predictions for Dask's arrays and data frames.

It needs `pip install fewlabel[dask]`, here and on the workers; nothing else of the package does.
"""

import concurrent.futures
import contextlib
import copy
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from fewlabel import spmd
from fewlabel._inputs import _labels
from fewlabel._logistic_regression import SemiSupervisedLogisticRegression
from fewlabel._transductive_svc import TransductiveSVC

__all__ = ["DaskSemiSupervisedLogisticRegression", "DaskTransductiveSVC"]

_LOOK = 0.05  # seconds between two looks at what others do
_PRESENCE = 1.0  # seconds between two looks at which workers are there
_LAST_WORDS = 2.0  # seconds that ranks have to end by themselves once one has failed
_END = 10.0  # seconds that they have once told to end
_ROW_LABELS = ("transduction_", "label_distributions_")


class _Training(NamedTuple):
    """Where the labels of the training rows are."""

    tasks: list[Any]  # futures of the ranks: model and labels
    ranks: list[tuple[str, list[int]]]  # address of each, and the numbers of its partitions
    sizes: list[int]  # rows of each partition
    columns: tuple[str, ...]  # of _ROW_LABELS


class _OnDask:
    """What the estimators share: a fit on the workers that hold the rows, predictions block by block."""

    _local: ClassVar[type]
    client: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from labeled and unlabeled rows where they are: none goes to another worker.

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
            If parameters or data cannot be used.
        TypeError
            If a parameter has the wrong type, or X or y is not Dask's.
        RuntimeError
            If a worker is lost: the message has its address, and the fit ends on all.
        KeyboardInterrupt
            If the user interrupts: the fit ends on all workers, and the estimator keeps what it was before.
        """
        if hasattr(self, "_skl_callbacks"):
            raise ValueError("callbacks are for fits on one machine: the steps of this one are on the workers")
        client = self._client()
        partitions = client.compute(_partitions(X, y, sample_weight))
        holders = _holders(client, partitions)
        looks = [client.submit(_size, each, workers=[at]) for each, at in zip(partitions, holders, strict=True)]
        sizes = client.gather(looks)
        _check_width(sizes)
        ranks = _ranks(holders, sizes)
        (fitted, columns, told), tasks = _fit(client, self._model(self.warm_start), partitions, ranks)  # type: ignore[attr-defined]
        for name in _fitted(self):
            delattr(self, name)
        vars(self).update(_fitted(fitted))
        self._training = _Training(tasks, ranks, [n for n, _ in sizes], columns)
        for warning in told:
            warnings.warn(warning, stacklevel=2)
        return self

    def predict(self, X: Any) -> Any:
        """Class of each row: lazy for Dask's arrays and data frames, whose index it keeps; lists give an array."""
        return self._map("predict", X, self.classes_.dtype)  # type: ignore[attr-defined]

    def decision_function(self, X: Any) -> Any:
        """Score of each row, as that of the local class; lazy for Dask's arrays and data frames."""
        many = len(self.classes_) > 2  # type: ignore[attr-defined]
        return self._map("decision_function", X, np.dtype(float), many)

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
        if not _is_dask(X):
            return float(self.to_local().score(X, y, sample_weight))
        from dask.delayed import delayed

        client, model = self._client(), delayed(self.to_local())
        parts = [delayed(_hits)(model, part) for part in _partitions(X, y, sample_weight)]
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
        training = self.__dict__.get("_training")
        if training is None or name not in training.columns:
            raise AttributeError(f"{type(self).__name__} has no {name}: it is on the workers of the fit that finds it")
        import dask.array as da
        from dask.delayed import delayed

        gone = _gone(self._client(), [address for address, _ in training.ranks])
        if gone:
            raise RuntimeError(f"{name} of some rows was on {gone[0]}, which has left: fit again, or use `predict`")
        parts = {}
        for task, (_, numbers) in zip(training.tasks, training.ranks, strict=True):
            for place, number in enumerate(numbers):
                part = delayed(_row_labels)(task, name, place)
                parts[number] = da.from_delayed(part, (training.sizes[number], *columns), dtype)
        return da.concatenate([parts[number] for number in range(len(parts))])

    def _map(self, name: str, X: Any, dtype: np.dtype, many: bool = False, **options: Any) -> Any:
        """What a method of the local estimator gives for each block; `many`: a column for each class."""
        check_is_fitted(self)
        model = self.to_local()
        if not _is_dask(X):
            return getattr(model, name)(X, **options)
        getattr(model, name)  # predict_proba may not be there
        import dask.array as da
        from dask.delayed import delayed

        classes = self.classes_.tolist() if many else []  # type: ignore[attr-defined]
        task = {"model": delayed(model), "method": name, "n_columns": len(classes), "kind": dtype, "options": options}
        if isinstance(X, list | tuple):
            shape = (np.nan, len(classes)) if many else (np.nan,)
            parts = [delayed(_block)(part, **task) for part in X]
            return da.concatenate(
                [da.from_delayed(part, shape, dtype) for part in parts], allow_unknown_chunksizes=True
            )
        if hasattr(X, "map_partitions"):
            return X.map_partitions(_frame_block, classes=classes, meta=_meta(X, dtype, classes), **task)
        X = _one_column(X)
        meta = np.empty((0,) * (1 + many), dtype)
        if many:
            return X.map_blocks(_block, **task, chunks=(X.chunks[0], (len(classes),)), meta=meta)
        return X.map_blocks(_block, **task, drop_axis=1, meta=meta)

    def _client(self) -> Any:
        from distributed import get_client

        return self.client if self.client is not None else get_client()

    def _model(self, fitted: bool) -> Any:
        """The local estimator with the same parameters, and with what a fit has found."""
        names = [name for name in self.get_params(deep=False) if name != "client"]  # type: ignore[attr-defined]
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


# --- of the caller ----------------------------------------------------------------------------------------------------


def _is_dask(X: Any) -> bool:
    return hasattr(X, "to_delayed") or (isinstance(X, list | tuple) and bool(X) and all(map(_is_one, X)))


def _is_one(part: Any) -> bool:
    from dask.delayed import Delayed
    from distributed import Future

    return isinstance(part, Delayed | Future)


def _one_column(X: Any) -> Any:
    return X.rechunk({1: -1}) if X.ndim == 2 and X.numblocks[1] > 1 else X


def _chunks(name: str, given: Any) -> list[Any]:
    if not _is_dask(given):
        raise TypeError(
            f"{name} must be an array or data frame of Dask or a list of Delayed or Future, got {type(given).__name__}"
        )
    if isinstance(given, list | tuple):
        return list(given)
    return list(np.ravel((_one_column(given) if hasattr(given, "rechunk") else given).to_delayed()))


def _partitions(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """A delayed tuple of rows, labels and weights for each partition."""
    from dask.delayed import delayed

    named = {"X": X, "y": y} | ({} if sample_weight is None else {"sample_weight": sample_weight})
    chunks = {name: _chunks(name, given) for name, given in named.items()}
    for name, parts in chunks.items():
        if len(parts) != len(chunks["X"]):
            raise ValueError(f"{name} has {len(parts)} partitions, but X has {len(chunks['X'])}")
    return [delayed(_partition)(*parts) for parts in zip(range(len(chunks["X"])), *chunks.values(), strict=False)]


def _check_width(sizes: Sequence[tuple[int, int]]) -> None:
    for number, (_, width) in enumerate(sizes):
        if width != sizes[0][1]:
            raise ValueError(f"X has {width} features in partition {number}, but {sizes[0][1]} in partition 0")


def _holders(client: Any, partitions: list[Any]) -> list[str]:
    """Address of a worker that holds each partition, once all are there."""
    for partition in partitions:
        failure = partition.exception()  # waits
        if failure is not None:
            raise failure
    found = client.who_has(partitions)
    return [min(found[partition.key]) for partition in partitions]


def _ranks(holders: Sequence[str], sizes: Sequence[tuple[int, int]]) -> list[tuple[str, list[int]]]:
    """The workers that hold partitions, with the numbers of these; those with rows come first."""
    found: dict[str, list[int]] = {}
    for number in sorted(range(len(holders)), key=lambda number: sizes[number][0] == 0):
        found.setdefault(holders[number], []).append(number)
    return list(found.items())


def _fit(client: Any, model: Any, partitions: list[Any], ranks: list[tuple[str, list[int]]]) -> tuple[Any, list[Any]]:
    """What the first rank reports of the fit, and the tasks of all, whose results stay where they are."""
    name, addresses = f"fewlabel-{uuid.uuid4().hex}", [address for address, _ in ranks]
    with _locked(client, addresses), _ended(client, name, addresses) as tasks:
        network = client.run(_start, name, len(ranks), workers=addresses[:1])[addresses[0]]
        for rank, (address, numbers) in enumerate(ranks):
            given = (model, [partitions[number] for number in numbers], network, name, rank, len(ranks))
            where: dict[str, Any] = {"workers": [address], "allow_other_workers": False, "retries": 0, "pure": False}
            tasks.append(client.submit(_fit_rank, *given, key=f"{name}-{rank}", **where))
        _wait(client, tasks, addresses)
        return client.submit(itemgetter(0), tasks[0], workers=addresses[:1], pure=False).result(), list(tasks)


@contextlib.contextmanager
def _locked(client: Any, addresses: list[str]) -> Iterator[None]:
    """No other fit on these workers, nor one of XGBoost or LightGBM: ranks would wait for each other's threads."""
    from distributed import MultiLock

    lock = MultiLock(addresses, client)
    while not lock.acquire(timeout=_PRESENCE):  # for ever, an interrupt would leave the request behind
        continue
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _ended(client: Any, name: str, addresses: list[str]) -> Iterator[list[Any]]:
    """A list for the tasks of the ranks, which are ended if anything is raised."""
    tasks: list[Any] = []
    failed = True
    try:
        yield tasks
        failed = False
    except _Failed:
        _settle(client, tasks, addresses, _LAST_WORDS)
        raise _reason(client, tasks, addresses) from None
    finally:
        if failed:
            client.run(_stop, name, workers=_here(client, addresses), on_error="ignore")
            _settle(client, tasks, addresses, _END)
            client.cancel(tasks, force=True)
        client.run(_free, name, workers=_here(client, addresses[:1]), on_error="ignore")


class _Failed(Exception):
    """A rank has failed, or a worker has left."""


def _wait(client: Any, tasks: list[Any], addresses: list[str]) -> None:
    looked = time.monotonic()
    while any(task.status == "pending" for task in tasks):
        time.sleep(_LOOK)
        if time.monotonic() > looked + _PRESENCE:
            looked = time.monotonic()
            if _gone(client, addresses):
                raise _Failed
        if any(task.status in ("error", "lost", "cancelled") for task in tasks):
            break
    if any(task.status != "finished" for task in tasks):
        raise _Failed


def _settle(client: Any, tasks: list[Any], addresses: list[str], seconds: float) -> None:
    """Wait for the ranks whose workers are there."""
    last = time.monotonic() + seconds
    while time.monotonic() < last:
        here = set(_here(client, addresses))
        if all(task.status != "pending" or at not in here for task, at in zip(tasks, addresses, strict=False)):
            return
        time.sleep(_LOOK)


def _reason(client: Any, tasks: list[Any], addresses: list[str]) -> BaseException:
    """What to tell: wrong data or parameters, a worker that has left, or what the first rank says."""
    told = [
        (task.exception(), address) for task, address in zip(tasks, addresses, strict=True) if task.status == "error"
    ]
    for failure, _ in told:
        if not isinstance(failure, RuntimeError | ConnectionError):
            return failure
    gone = _gone(client, addresses)
    if gone:
        return RuntimeError(f"the fit has ended on all workers: {', '.join(gone)} has left")
    if not told:
        return RuntimeError("the fit was cancelled")
    failure, address = min(told, key=lambda each: "has failed on rank" in str(each[0]))
    return RuntimeError(f"the fit has failed on {address}: {failure}")


def _here(client: Any, addresses: list[str]) -> list[str]:
    there = client.nthreads()
    return [address for address in addresses if address in there]


def _gone(client: Any, addresses: list[str]) -> list[str]:
    here = _here(client, addresses)
    return [address for address in addresses if address not in here]


def _fitted(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_") and name[0] != "_"}


def _meta(X: Any, dtype: np.dtype, classes: list[Any]) -> Any:
    """An empty data frame or series as the blocks give them."""
    import pandas as pd

    index = X._meta.index[:0]
    return pd.DataFrame(columns=classes, dtype=dtype, index=index) if classes else pd.Series(dtype=dtype, index=index)


# --- on the workers ---------------------------------------------------------------------------------------------------

_trackers: dict[str, Any] = {}  # of the fits whose first rank is here
_to_end: set[str] = set()  # fits that have failed elsewhere, or that the user interrupted


def _start(name: str, size: int, dask_worker: Any) -> dict[str, Any]:
    """Start what lets ranks find each other; its address."""
    from distributed.comm.addressing import get_address_host
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=size, host_ip=get_address_host(dask_worker.address), sortby="task")
    tracker.start()
    _trackers[name] = tracker
    return dict(tracker.worker_args())


def _stop(name: str) -> None:
    _to_end.add(name)


def _free(name: str) -> None:
    if name in _trackers:
        with contextlib.suppress(ValueError):  # XGBoost says so of connections that are still open
            _trackers.pop(name).free()


def _partition(number: int, X: Any, y: Any, weight: Any = None) -> tuple[Any, Any, Any]:
    for name, part in (("y", y), ("sample_weight", weight)):
        if part is not None and np.shape(part)[:1] != X.shape[:1]:
            raise ValueError(f"{name} has {len(part)} rows in partition {number}, but X has {X.shape[0]}")
    return X, y, weight


def _size(partition: tuple[Any, Any, Any]) -> tuple[int, int]:
    if len(partition[0].shape) != 2:
        raise ValueError(f"X must have rows and features, found the shape {partition[0].shape}")
    return partition[0].shape


def _joined(parts: Sequence[Any]) -> Any:
    if parts[0] is None:
        return None
    parts = [part for part in parts if np.shape(part)[0]] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    if any(sp.issparse(part) for part in parts):
        return sp.vstack([sp.csr_array(part) for part in parts], format="csr")
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    return np.concatenate(parts)


def _fit_rank(
    model: Any, partitions: list[Any], network: dict[str, Any], name: str, rank: int, size: int
) -> tuple[Any, dict[str, list[np.ndarray]]]:
    """What the first rank reports, and the labels of the rows here by partition."""
    from distributed import get_worker

    model = copy.copy(model)  # ranks of one process would share it
    model.n_jobs = get_worker().state.nthreads if model.n_jobs is None else model.n_jobs
    X, y, weight = (_joined(parts) for parts in zip(*partitions, strict=True))
    with warnings.catch_warnings(record=True) as told, _Ranks(network, name, rank, size) as comm:
        warnings.simplefilter("always")
        spmd.fit(model, X, y, weight, comm=comm)
    ends = np.cumsum([part[0].shape[0] for part in partitions])[:-1]
    labels = {column: np.split(vars(model).pop(column), ends) for column in _ROW_LABELS if column in vars(model)}
    model.n_jobs = None
    return (model, tuple(labels), [each.message for each in told]) if rank == 0 else None, labels


class _Ranks:
    """What `spmd.fit` asks of a communicator, over that of XGBoost, which belongs to the thread that makes it."""

    def __init__(self, network: dict[str, Any], name: str, rank: int, size: int) -> None:
        self.network, self.name, self.rank, self.size = network, name, rank, size
        self.thread = concurrent.futures.ThreadPoolExecutor(1)

    def __enter__(self) -> "_Ranks":
        from xgboost import collective

        try:
            self._do(lambda: collective.init(**self.network, dmlc_task_id=f"{self.rank:08}"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        from xgboost import collective

        ended = self.thread.submit(collective.finalize)
        concurrent.futures.wait([ended], _LAST_WORDS)
        self.thread.shutdown(wait=False)

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return self.size

    def allgather(self, part: Any) -> list[Any]:
        from xgboost import collective

        def exchange() -> list[Any]:
            return [collective.broadcast((part,) if root == self.rank else None, root) for root in range(self.size)]

        return [found[0] for found in self._do(exchange)]

    def Allreduce(self, own: np.ndarray, sums: np.ndarray) -> None:
        from xgboost import collective

        sums[:] = self._do(lambda: collective.allreduce(own, collective.Op.SUM))

    def _do(self, task: Callable[[], Any]) -> Any:
        from xgboost.core import XGBoostError

        done = self.thread.submit(task)
        while not concurrent.futures.wait([done], _LOOK).done:
            if self.name in _to_end:
                raise ConnectionError("another worker has failed, or the fit was interrupted")
        if self.name in _to_end:
            raise ConnectionError("another worker has failed, or the fit was interrupted")
        try:
            return done.result()
        except XGBoostError as failure:
            raise ConnectionError(f"the connection to another worker is lost: {failure}") from None


def _row_labels(result: tuple[Any, dict[str, list[np.ndarray]]], name: str, place: int) -> np.ndarray:
    return result[1][name][place]


def _block(X: Any, model: Any, method: str, n_columns: int, kind: np.dtype, options: dict[str, Any]) -> np.ndarray:
    """What a method gives for the rows of a block, which may be none."""
    if not X.shape[0]:
        return np.empty((0, n_columns) if n_columns else (0,), kind)
    return np.asarray(getattr(model, method)(X, **options), kind)


def _frame_block(X: Any, classes: list[Any], **task: Any) -> Any:
    import pandas as pd

    found = _block(X, **task)
    return pd.DataFrame(found, X.index, classes) if classes else pd.Series(found, X.index)


def _hits(model: Any, partition: tuple[Any, Any, Any]) -> tuple[float, float]:
    """Weight of the rows with the right class, and of all rows with a label."""
    X, y, weight = partition
    given = _labels.read(y, model.unlabeled)
    if not given.labeled.any():
        return 0.0, 0.0
    X, y, weight = _labels.labeled_part(X, y, model.unlabeled, weight)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight)
    return float(weight[model.predict(X) == y].sum()), float(weight.sum())


# --- the estimators ---------------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False, repr=False)
class DaskTransductiveSVC(_OnDask, TransductiveSVC):  # type: ignore[override]
    """`TransductiveSVC` with its rows on the workers of a Dask cluster.

    It finds the same model, up to the rounding of sums.

    Ranks are the workers that hold rows when `fit` begins. Each runs one task, which cannot move, with all its threads.
    A worker that is lost ends the fit. Two fits on the same workers wait for each other.

    Where nothing else is said parameters mean what they mean for `TransductiveSVC`.

    Parameters
    ----------
    method : str or object, default="annealing"
        How labels of unlabeled rows are found: "annealing", "switching", "gradient" or an object of `fewlabel.methods`.
    alpha : float, default=1e-3
        Strength of the regularization.
    unlabeled_weight : float or "auto", default="auto"
        Weight of the averaged loss of unlabeled rows.
    class_prior : "labels", array-like of shape (n_classes,) or dict, default="labels"
        Share of each class among the unlabeled rows. "auto" is refused, as it needs all rows on one machine: give the
        shares that `fewlabel.estimate_class_prior` finds on a sample, unless labels were drawn at random.
    loss : {"squared_hinge", "crammer_singer"}, default="squared_hinge"
        Loss of a row.
    hierarchy : dict, str or None, default=None
        Tree whose leaves are the classes.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the labeled rows by class.
    calibrate : bool, default=False
        True is refused: labeled rows would have to be held out on all workers in turn.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`.
    max_iter : int, default=10000
        Largest number of outer steps.
    tol : float, default=1e-5
        The last solve ends when its objective is within this relative distance of the optimum.
    n_jobs : int or None, default=None
        Number of threads on each worker. None: those that the worker has for tasks.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw numbers.
    warm_start : bool, default=False
        Whether `fit` continues from the fitted model.
    verbose : int, default=0
        Above 0: the first worker shows the steps of a fit in its log.
    client : distributed.Client or None, default=None
        The cluster. None: the current client. It is not pickled.

    Attributes
    ----------
    transduction_ : dask.array.Array of shape (n_rows,)
        Label of every training row, lazy, in the order of the partitions. The parts are on the workers; a pickle is
        without them.
    label_distributions_ : dask.array.Array of shape (n_rows, n_classes)
        Probability of each class for every training row, likewise, where `TransductiveSVC` has it.

    See Also
    --------
    TransductiveSVC : The other attributes, and the objective.
    fewlabel.spmd.fit : The same over MPI.

    Notes
    -----
    `predict` and the like are lazy for arrays and data frames of Dask and for lists of Delayed; a data frame keeps its
    index. Anything else is predicted here. `to_local` gives a `TransductiveSVC`.

    Method "pair_switching", `max_switches`, scikit-learn's callbacks and what is refused above are for one machine.

    Examples
    --------
    >>> from fewlabel.dask import DaskTransductiveSVC  # doctest: +SKIP
    >>> model = DaskTransductiveSVC(client=client).fit(X, y)  # doctest: +SKIP
    >>> model.predict(X).compute()  # doctest: +SKIP
    """

    _local: ClassVar = TransductiveSVC

    class_prior: Any = "labels"
    client: Any = None


@dataclass(kw_only=True, eq=False, repr=False)
class DaskSemiSupervisedLogisticRegression(_OnDask, SemiSupervisedLogisticRegression):  # type: ignore[override]
    """`SemiSupervisedLogisticRegression` with its rows on the workers of a Dask cluster.

    It finds the same model, up to the rounding of sums.

    Ranks are the workers that hold rows when `fit` begins. Each runs one task, which cannot move, with all its threads.
    A worker that is lost ends the fit. Two fits on the same workers wait for each other.

    Where nothing else is said parameters mean what they mean for `SemiSupervisedLogisticRegression`.

    Parameters
    ----------
    method : str or object, default="annealing"
        How unlabeled rows are learned from: "annealing", "switching", "entropy", "expectation", "posterior" or an
        object of `fewlabel.methods`.
    alpha : float, default=1e-4
        Strength of the regularization.
    unlabeled_weight : float or "auto", default="auto"
        Weight of the averaged loss of unlabeled rows.
    class_prior : "labels", array-like of shape (n_classes,) or dict, default="labels"
        Share of each class among the unlabeled rows. "auto" is refused, as it needs all rows on one machine: give the
        shares that `fewlabel.estimate_class_prior` finds on a sample, unless labels were drawn at random.
    hierarchy : dict, str or None, default=None
        Tree whose leaves are the classes.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the labeled rows by class.
    calibrate : bool, default=False
        True is refused: labeled rows would have to be held out on all workers in turn.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`.
    max_iter : int, default=10000
        Largest number of outer steps.
    tol : float, default=1e-5
        The last solve ends when its objective is within this relative distance of the optimum.
    n_jobs : int or None, default=None
        Number of threads on each worker. None: those that the worker has for tasks.
    random_state : int, RandomState instance or None, default=None
        Seed of methods that draw numbers.
    warm_start : bool, default=False
        Whether `fit` continues from the fitted model.
    verbose : int, default=0
        Above 0: the first worker shows the steps of a fit in its log.
    client : distributed.Client or None, default=None
        The cluster. None: the current client. It is not pickled.

    Attributes
    ----------
    transduction_ : dask.array.Array of shape (n_rows,)
        Label of every training row, lazy, in the order of the partitions. The parts are on the workers; a pickle is
        without them.
    label_distributions_ : dask.array.Array of shape (n_rows, n_classes)
        Probability of each class for every training row, likewise, where `SemiSupervisedLogisticRegression` has it.

    See Also
    --------
    SemiSupervisedLogisticRegression : The other attributes, and the objective.
    fewlabel.spmd.fit : The same over MPI.

    Notes
    -----
    `predict` and the like are lazy for arrays and data frames of Dask and for lists of Delayed; a data frame keeps its
    index. Anything else is predicted here. `to_local` gives a `SemiSupervisedLogisticRegression`.

    The option `max_switches`, scikit-learn's callbacks and what is refused above are for one machine.

    Examples
    --------
    >>> from fewlabel.dask import DaskSemiSupervisedLogisticRegression  # doctest: +SKIP
    >>> model = DaskSemiSupervisedLogisticRegression(client=client).fit(X, y)  # doctest: +SKIP
    >>> model.predict(X).compute()  # doctest: +SKIP
    """

    _local: ClassVar = SemiSupervisedLogisticRegression

    class_prior: Any = "labels"
    calibrate: bool = False
    client: Any = None
