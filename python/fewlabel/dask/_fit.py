"""The caller's side of a fit: partitions, the workers that hold them, and one task on each; all tasks end together."""

import asyncio
import concurrent.futures
import contextlib
import itertools
import math
import time
import uuid
import warnings
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from fewlabel import _progress, methods
from fewlabel._base import LinearClassifier, check_own_classifier
from fewlabel._estimator import kind
from fewlabel.dask import _on_workers

_Classifier = TypeVar("_Classifier", bound=LinearClassifier)

_POLL = 0.05  # seconds between checks of the tasks
_CHECK_WORKERS = 1.0  # seconds between checks of the workers
_LOST_AFTER = 30.0  # seconds without a sign of life after which a worker is lost
_END = 5.0  # seconds in which the error of another rank, or a lost worker, can explain that of one


def fit(client: Any, model: _Classifier, X: Any, y: Any, sample_weight: Any = None) -> _Classifier:
    """Fit an estimator to rows on the workers of a Dask cluster.

    The model is that of one machine with all rows, up to the rounding of sums. Rows stay where they are, but for those
    that `fewlabel.spmd.fit` exchanges. Two fits on the same workers wait for each other. It returns the model:
    `transduction_` is in the order of the partitions; `label_distributions_` is left out.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    model : TransductiveSVC or SemiSupervisedLogisticRegression
        Fitted in place. `calibrate` and scikit-learn's callbacks are for one machine. `n_jobs` is the number of threads
        on each worker; None: the threads that the worker has for tasks.
    X : dask.array.Array, dask.dataframe.DataFrame or list of Delayed or Future
        Training rows. A member of a list is a CSR matrix or array, a dense array or a data frame, of 0 rows or more.
    y : dask.array.Array, dask.dataframe.Series or list of Delayed or Future
        Labels, in partitions of the same rows as X.
    sample_weight : the same as y or None, weight of each row

    Raises
    ------
    RuntimeError, KeyboardInterrupt
        If a worker is lost or the user interrupts. The fit ends on all workers, and the model is left unchanged.
    """
    _check_client(client)
    check_own_classifier("model", model)
    if hasattr(model, "_skl_callbacks"):
        raise ValueError("callbacks are for fits on one machine: the steps of this one are on the workers")
    method = methods.resolve(model.method, model._methods)
    _check_sent(model)
    parts = _partitions(X, y, sample_weight)
    with (
        _progress.shown(type(model).__name__, model.verbose, method.name) as show,
        _lost_data(client, parts) as computed,
    ):
        computed += client.compute(parts)
        fitted, warned = _fit(client, model, computed, show)
    parameters = model.get_params(deep=False)
    vars(model).clear()
    vars(model).update(vars(fitted) | parameters)
    _progress.tell(model)
    for warning in warned:
        warnings.warn(warning, stacklevel=2)
    return model


def _fit(client: Any, model: Any, partitions: list[Any], show: _progress.Watch) -> tuple[Any, list[Any]]:
    run = _Run(client, show)
    holders = _holders(run, partitions)
    for number, (_, _, width) in enumerate(holders):
        if width != holders[0][2]:
            raise ValueError(f"X has {width} features in partition {number}, but {holders[0][2]} in partition 0")
    ranks = _ranks(holders)
    run.addresses = [address for address, _ in ranks]
    with run.locked(), run.ended():
        run.start(model, [[partitions[number] for number in numbers] for _, numbers in ranks])
        found = run.gathered(run.tasks)
    fitted, warned, _ = found[0]
    order = np.argsort([number for _, numbers in ranks for number in numbers])
    parts = [labels for *_, of_rank in found for labels in of_rank]
    fitted.transduction_ = np.concatenate([parts[k] for k in order])
    return fitted, warned


def _check_client(client: Any) -> None:
    """Raise what names a client that cannot be used."""
    from distributed import Client

    if isinstance(client, type) or not isinstance(client, Client):
        cure = ": write Client(cluster)" if hasattr(client, "scheduler_address") else ""
        raise TypeError(f"client must be a distributed.Client, got {kind(client)}{cure}")
    if client.status in ("closing", "closed"):
        raise ValueError("client is closed: make a new one")
    if client.asynchronous:
        raise ValueError("client is asynchronous: give one that is not, in a thread where no event loop runs")


def _check_sent(model: Any) -> None:
    """Raise what names a parameter that cannot be sent to the workers."""
    from cloudpickle import dumps

    for name, value in model.get_params(deep=False).items():
        try:
            dumps(value)
        except Exception as reason:
            raise TypeError(f"{name} cannot be sent to the workers, got {value!r:.80}: {reason}") from reason


@contextlib.contextmanager
def _lost_data(client: Any, partitions: list[Any]) -> Iterator[list[Any]]:
    """Name the workers that have left with data of partitions, or of the list of futures that this yields."""
    from distributed.scheduler import KilledWorker

    computed: list[Any] = []
    try:
        yield computed
    except (concurrent.futures.CancelledError, KilledWorker) as reason:
        keys = {str(future.key) for future in computed}
        for task in itertools.chain(*(dict(each.__dask_graph__()).values() for each in partitions)):
            keys.update(map(str, task.dependencies))
        events = [event for _, event in client.get_events("all") if "lost-scattered-tasks" in event]
        lost = ("lost-scattered-tasks", "lost-computed-tasks", "processing-tasks")
        gone = [each["worker"] for each in events if keys & {str(key) for name in lost for key in each[name]}]
        if not gone and isinstance(reason, KilledWorker):
            raise
        if not gone:
            found = "a Future of X, y or sample_weight was cancelled, or the scheduler has left"
            raise RuntimeError(f"the fit has ended on all workers: {found} ({reason})") from None
        raise RuntimeError(f"the fit has ended on all workers: {' and '.join(gone)} has left with rows") from None


def _partitions(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """A delayed tuple of rows, labels and weights for each partition."""
    from dask.delayed import delayed

    named = {"X": X, "y": y} | ({} if sample_weight is None else {"sample_weight": sample_weight})
    chunks = {name: _chunks(name, given) for name, given in named.items()}
    for name, parts in chunks.items():
        if len(parts) != len(chunks["X"]):
            raise ValueError(f"{name} has {len(parts)} partitions, but X has {len(chunks['X'])}")
    numbered = zip(range(len(chunks["X"])), *chunks.values(), strict=True)
    return [delayed(_on_workers.partition)(*parts) for parts in numbered]


def _chunks(name: str, given: Any) -> list[Any]:
    """The partitions, with all features of a row in one."""
    from dask.delayed import Delayed
    from distributed import Future

    if isinstance(given, list | tuple) and given and all(isinstance(part, Delayed | Future) for part in given):
        return list(given)
    if isinstance(given, Delayed | Future | list | tuple) or not callable(getattr(given, "to_delayed", None)):
        wanted = "an array or data frame of Dask, or a list, not empty, of Delayed or Future"
        parts = ", ".join(sorted({*map(kind, given)})) if isinstance(given, list | tuple) else ""
        found = f"a list of {parts or 'nothing'}" if isinstance(given, list | tuple) else kind(given)
        raise TypeError(f"{name} must be {wanted}, got {found}: use dask.array.from_array, or make such a list")
    return list(np.ravel((given.rechunk({1: -1}) if getattr(given, "numblocks", ())[1:] else given).to_delayed()))


def _holders(run: "_Run", partitions: list[Any]) -> list[tuple[str, int, int]]:
    """Address of a worker that holds each partition, once all are computed, and its numbers of rows and features."""
    return run.gathered(run.client.map(_on_workers.place, partitions, pure=False))


def _silences(keys: list[Any], addresses: list[str], dask_scheduler: Any) -> dict[str, float]:
    """Seconds since the last sign of life of these workers and of those that tasks need; inf: it has left.

    A task that waits for any worker needs the one that was heard last.
    """
    from distributed.metrics import time

    needed, tasks = set(addresses), [dask_scheduler.tasks[key] for key in keys if key in dask_scheduler.tasks]
    seen = set(tasks)
    for task in tasks:  # which grow
        worker = task.processing_on
        needed |= {each.address for each in ([worker] if worker else task.who_has or ())}
        needed |= (task.worker_restrictions or set()) if task.state == "no-worker" else set()
        if not task.who_has:
            inputs = {each for each in task.dependencies if worker is None or worker not in (each.who_has or ())}
            tasks += inputs - seen
            seen |= inputs
    known, now = dask_scheduler.workers, time()
    if known and any(task.state in ("queued", "no-worker") and not task.worker_restrictions for task in tasks):
        needed.add(max(known, key=lambda address: known[address].last_seen))
    return {address: now - known[address].last_seen if address in known else math.inf for address in needed}


def _ranks(holders: list[tuple[str, int, int]]) -> list[tuple[str, list[int]]]:
    """The workers that hold partitions, with the numbers of their partitions; workers with rows come first."""
    found: dict[str, list[int]] = {}
    for number in sorted(range(len(holders)), key=lambda number: holders[number][1] == 0):
        found.setdefault(holders[number][0], []).append(number)
    return list(found.items())


class _Run:
    """The tasks of one fit, and the workers to which they are pinned; it ends with an error if a worker is lost."""

    def __init__(self, client: Any, show: _progress.Watch) -> None:
        self.client, self.show = client, show
        self.name = f"fewlabel-{client.id}-{uuid.uuid4().hex}"
        self.workers = list(client.nthreads())
        self.addresses: list[str] = []
        self.tasks: list[Any] = []

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Exclude other fits on these workers, of XGBoost and LightGBM too: ranks would wait for each other."""
        from distributed import MultiLock

        lock = MultiLock(self.addresses, self.client)
        lock.id = self.name
        # Without a timeout, an interrupt would leave the request behind.
        while not lock.acquire(timeout=_CHECK_WORKERS):
            self.client.run_on_scheduler(_release_of_others)
            self.refuse_lost()
        try:
            yield
        finally:
            lock.release()

    @contextlib.contextmanager
    def ended(self) -> Iterator[None]:
        """Show the progress of the first rank, and end all ranks if anything is raised."""
        show: Any = self.show
        self.client.subscribe_topic(self.name, lambda event: show(SimpleNamespace(**event[1])))
        try:
            yield
        except BaseException as raised:
            reason = self._reason(raised)
            self.client.cancel(self.tasks, force=True)
            raise reason from None
        finally:
            self.client.unsubscribe_topic(self.name)

    def gathered(self, tasks: list[Any]) -> list[Any]:
        """Results of tasks; a RuntimeError if a worker that they need is lost."""

        async def outcome() -> tuple[Any, Exception | None]:  # a CancelledError of Dask is no cancel of this
            try:
                return await self.client.gather(tasks, asynchronous=True), None
            except Exception as raised:
                return None, raised

        outcomes = asyncio.run_coroutine_threadsafe(outcome(), self.client.loop.asyncio_loop)
        try:
            while not concurrent.futures.wait([outcomes], _CHECK_WORKERS).done:
                self.refuse_lost(tasks)
        finally:
            outcomes.cancel()
        found, failure = outcomes.result()
        if failure is not None:
            self.refuse_lost(tasks)
            raise failure
        return list(found)

    def refuse_lost(self, tasks: Sequence[Any] = ()) -> None:
        """Raise a RuntimeError if a worker of the fit is lost, or one that tasks need."""
        gone = self._lost(tasks)
        if gone:
            time.sleep(_CHECK_WORKERS)  # and stay lost
            gone = {address: what for address, what in self._lost(tasks).items() if address in gone}
        if not gone and self.workers and not self.client.nthreads():
            try:
                self.client.wait_for_workers(1, _LOST_AFTER)  # which may begin anew
            except asyncio.TimeoutError:
                gone = dict.fromkeys(self.workers, "has left")
        if gone:
            found = ", ".join(f"{address} {what}" for address, what in gone.items())
            raise RuntimeError(f"the fit has ended on all workers: {found}")

    def _lost(self, tasks: Sequence[Any]) -> dict[str, str]:
        """Why workers are lost, by address."""
        needed = self.client.run_on_scheduler(_silences, [task.key for task in tasks], self.addresses)
        why = f"has given no sign of life for {_LOST_AFTER:.0f} s"
        return {address: "has left" if t == math.inf else why for address, t in needed.items() if t > _LOST_AFTER}

    def start(self, model: Any, parts: list[list[Any]]) -> None:
        """Start a task on each worker; results stay on the workers."""
        first, size = self.addresses[0], len(self.addresses)
        self.gathered([self.client.submit(_on_workers.start, workers=[first], pure=False)])
        for rank, address in enumerate(self.addresses):
            where: dict[str, Any] = {"workers": [address], "allow_other_workers": False, "retries": 0, "pure": False}
            given = (model, parts[rank], self.name, first, rank, size)
            self.tasks.append(self.client.submit(_on_workers.fit_rank, *given, key=f"{self.name}-{rank}", **where))

    def _reason(self, raised: BaseException) -> BaseException:
        """The error to raise: invalid data or parameters, a lost worker, or the error of a rank."""
        end = time.monotonic() + _END
        while isinstance(raised, Exception):
            tasks = zip(self.tasks, self.addresses, strict=False)
            failures = [(task.exception(), address) for task, address in tasks if task.status == "error"]
            for failure, _ in failures:
                if not isinstance(failure, RuntimeError | ConnectionError):
                    return failure
            try:
                self.refuse_lost()
            except RuntimeError as lost:
                return lost
            if not failures:
                return RuntimeError(str(raised))
            if time.monotonic() > end:
                failure, address = min(failures, key=lambda each: "has failed" in str(each[0]))
                return RuntimeError(f"the fit has failed on {address}: {failure}")
            time.sleep(_POLL)
        return raised


def _release_of_others(dask_scheduler: Any) -> None:
    """Release workers that were locked by a fit whose caller has left."""
    locks = dask_scheduler.extensions["multi_locks"]
    for name in list(locks.requests):
        if name.startswith("fewlabel-") and not any(client in name for client in dask_scheduler.clients):
            locks.release(name)
