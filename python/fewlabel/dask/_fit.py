"""The caller's side of a fit: partitions, the workers that hold them, and one task on each; all tasks end together."""

import collections
import contextlib
import secrets
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from fewlabel import _progress, methods
from fewlabel._progress import Watch
from fewlabel.dask import _messages, _on_workers

_POLL = 0.05  # seconds between checks of the tasks
_CHECK_WORKERS = 1.0  # seconds between checks of the workers
_LOST_AFTER = 30.0  # seconds without a sign of life after which a worker is lost
_STALLED_AFTER = 60.0  # seconds that all ranks have waited for each other: something they sent was lost
_NOT_CONNECTED_AFTER = 10.0  # the same, before the ranks are connected
_GRACE = 2.0  # seconds for the other ranks to end by themselves after one has failed
_END = 10.0  # seconds for them to end after they were asked to

_inboxes: dict[str, collections.deque[dict[str, Any]]] = {}  # messages of the ranks of a fit


def fit(client: Any, model: Any, X: Any, y: Any, sample_weight: Any = None, *, trusted_network: bool = False) -> Any:
    """Fit an estimator to rows on the workers of a Dask cluster.

    The model is that of one machine with all rows, up to the rounding of sums. Rows stay where they are, with two
    exceptions: for class_prior="auto" every worker gets all labeled rows, and with at least 4,096 unlabeled rows a
    class an eighth of these, if they have at most a million non-zeros. Each worker that holds rows when `fit` begins
    runs one task, which cannot move, with all its threads. If a worker is lost, the fit fails. Two fits on the same
    workers wait for each other.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    model : TransductiveSVC or SemiSupervisedLogisticRegression
        Fitted in place. `calibrate` and scikit-learn's callbacks are for one machine. `n_jobs` is the number of threads
        on each worker; None: the threads that the worker has for tasks.
    X : dask.array.Array, dask.dataframe.DataFrame or list of Delayed or Future
        Training rows. A member of a list is a CSR matrix or array, a dense array or a data frame. Partitions may have 0
        rows.
    y : dask.array.Array, dask.dataframe.Series or list of Delayed or Future
        Labels, in partitions of the same rows as X.
    sample_weight : the same as y or None, default=None
        Weight of each row.
    trusted_network : bool, default=False
        The workers of a fit exchange sums, class names and labeled rows without encryption. A cluster with TLS is
        therefore refused, unless this is True: nobody else has access to the network of the workers.

    Returns
    -------
    model : estimator
        The fitted model. `transduction_` has the labels of all rows, in the order of the partitions;
        `label_distributions_` is left out.

    Raises
    ------
    ValueError
        If parameters or data are invalid, or the cluster encrypts and `trusted_network` is False.
    TypeError
        If a parameter has the wrong type, or X or y is not Dask's.
    RuntimeError
        If a worker is lost: the message has its address. The fit ends on all workers.
    KeyboardInterrupt
        If the user interrupts the fit. It ends on all workers, and the model is left unchanged.

    See Also
    --------
    fewlabel.spmd.fit : The same over MPI.

    Examples
    --------
    >>> model = fewlabel.dask.fit(client, TransductiveSVC(), X, y)  # doctest: +SKIP
    >>> X.map_blocks(model.predict, drop_axis=1, dtype=model.classes_.dtype)  # doctest: +SKIP
    """
    if hasattr(model, "_skl_callbacks"):
        raise ValueError("callbacks are for fits on one machine: the steps of this one are on the workers")
    method = methods.resolve(model.method, model._methods)
    if not trusted_network:
        _refuse_encrypted(client)
    parts = _partitions(X, y, sample_weight)
    with _progress.shown(type(model).__name__, model.verbose, method.name) as show:
        fitted, warned = _fit(client, model, parts, show)
    parameters = model.get_params(deep=False)
    vars(model).clear()
    vars(model).update(vars(fitted) | parameters)
    for warning in warned:
        warnings.warn(warning, stacklevel=2)
    return model


def _fit(client: Any, model: Any, partitions: list[Any], show: Watch) -> tuple[Any, list[Any]]:
    """The fitted model, and its warnings."""
    partitions = client.compute(partitions)
    holders = _holders(client, partitions)
    tasks = [client.submit(_on_workers.shape, each, workers=[at]) for each, at in zip(partitions, holders, strict=True)]
    shapes = _gathered(client, tasks, holders)
    for number, (_, width) in enumerate(shapes):
        if width != shapes[0][1]:
            raise ValueError(f"X has {width} features in partition {number}, but {shapes[0][1]} in partition 0")
    ranks = _ranks(holders, shapes)
    run = _Run(client, [address for address, _ in ranks])
    with run.locked(), run.ended(), run.subscribed():
        run.start(model, [[partitions[number] for number in numbers] for _, numbers in ranks])
        run.wait(show)
        found = _gathered(client, run.tasks, run.addresses)
    fitted, warned, _ = found[0]
    of_partition = {
        number: labels
        for (_, numbers), (*_, parts) in zip(ranks, found, strict=True)
        for number, labels in zip(numbers, parts, strict=True)
    }
    fitted.transduction_ = np.concatenate([of_partition[number] for number in range(len(of_partition))])
    return fitted, warned


def _refuse_encrypted(client: Any) -> None:
    """Raise a ValueError if the cluster encrypts its connections."""
    address = client.scheduler.address
    if address.startswith(("tls://", "wss://")) or client.security.require_encryption:
        raise ValueError(
            f"the cluster at {address} encrypts its connections, but a fit sends sums over rows, class names and, for "
            'class_prior="auto", labeled rows between its workers without encryption (Dask itself carries the rows and '
            "the model, encrypted). If nobody else reaches the network of the workers, pass trusted_network=True"
        )


def _is_dask(X: Any) -> bool:
    """Whether rows or labels are an array or data frame of Dask, or a list of its parts."""
    return hasattr(X, "to_delayed") or (isinstance(X, list | tuple) and bool(X) and all(map(_is_part, X)))


def _is_part(part: Any) -> bool:
    from dask.delayed import Delayed
    from distributed import Future

    return isinstance(part, Delayed | Future)


def _one_column(X: Any) -> Any:
    """The array with all features of a row in one chunk."""
    return X.rechunk({1: -1}) if X.ndim == 2 and X.numblocks[1] > 1 else X


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
    if not _is_dask(given):
        raise TypeError(
            f"{name} must be an array or data frame of Dask or a list of Delayed or Future, got "
            f"{type(given).__name__}: use dask.array.from_array, or [dask.delayed(part), ...] for sparse parts"
        )
    if isinstance(given, list | tuple):
        return list(given)
    return list(np.ravel((_one_column(given) if hasattr(given, "rechunk") else given).to_delayed()))


def _gathered(client: Any, tasks: list[Any], addresses: list[str]) -> list[Any]:
    """Results of tasks that are pinned to these workers; a RuntimeError if one is lost."""
    checked = time.monotonic()
    while any(task.status == "pending" for task in tasks):
        time.sleep(_POLL)
        if time.monotonic() > checked + _CHECK_WORKERS:
            checked = time.monotonic()
            _refuse_lost(client, addresses)
    try:
        return list(client.gather(tasks))
    except Exception:
        _refuse_lost(client, addresses)
        raise


def _refuse_lost(client: Any, addresses: list[str]) -> None:
    if gone := _lost(client, addresses):
        time.sleep(_CHECK_WORKERS)  # and stay lost
        gone = {address: what for address, what in _lost(client, addresses).items() if address in gone}
    if gone:
        raise RuntimeError(_ended(gone))


def _ended(gone: dict[str, str]) -> str:
    return "the fit has ended on all workers: " + ", ".join(f"{address} {what}" for address, what in gone.items())


def _holders(client: Any, partitions: list[Any]) -> list[str]:
    """Address of a worker that holds each partition, after all have been computed."""
    for partition in partitions:
        failure = partition.exception()  # waits
        if failure is not None:
            raise failure
    found = client.who_has(partitions)
    for number, partition in enumerate(partitions):
        if not found.get(partition.key):
            raise RuntimeError(f"partition {number} was on a worker that has left")
    return [min(found[partition.key]) for partition in partitions]


def _ranks(holders: Sequence[str], shapes: Sequence[tuple[int, int]]) -> list[tuple[str, list[int]]]:
    """The workers that hold partitions, with the numbers of their partitions; workers with rows come first."""
    found: dict[str, list[int]] = {}
    for number in sorted(range(len(holders)), key=lambda number: shapes[number][0] == 0):
        found.setdefault(holders[number], []).append(number)
    return list(found.items())


def _lost(client: Any, addresses: list[str]) -> dict[str, str]:
    """Which of these workers are lost, and why, by address.

    Signs of life have the time of the scheduler, whose clock is taken from the most recent one.
    """
    known = client.scheduler_info(n_workers=-1)["workers"]
    now = max((worker["last_seen"] for worker in known.values()), default=0.0)
    silent = f"has given no sign of life for {_LOST_AFTER:.0f} s"
    found = {
        address: silent for address in addresses if address in known and now > known[address]["last_seen"] + _LOST_AFTER
    }
    return found | {address: "has left" for address in addresses if address not in known}


class _Failed(Exception):
    """A rank has failed, or a worker is lost."""


class _Run:
    """The tasks of one fit, and the workers to which they are pinned."""

    def __init__(self, client: Any, addresses: list[str]) -> None:
        self.client, self.addresses = client, addresses
        self.name = f"fewlabel-{client.id}-{uuid.uuid4().hex}"
        self.tasks: list[Any] = []
        self.gone: dict[str, str] = {}  # lost workers, and why
        self.waited: dict[
            int, tuple[float, float, bool]
        ] = {}  # seconds that a rank has waited, time of the report, whether it is starting
        self.secret = secrets.token_bytes(_messages.SIZE)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Exclude other fits on these workers, of XGBoost and LightGBM too: ranks would wait for each other."""
        from distributed import MultiLock

        lock = MultiLock(self.addresses, self.client)
        lock.id = self.name
        while not lock.acquire(
            timeout=_CHECK_WORKERS
        ):  # without a timeout, an interrupt would leave the request behind
            self.client.run_on_scheduler(_release_of_others)
        try:
            yield
        finally:
            lock.release()

    @contextlib.contextmanager
    def ended(self) -> Iterator[None]:
        """End the ranks if anything is raised."""
        failed = True
        try:
            yield
            failed = False
        except _Failed:
            self._wait_for_end(_GRACE)
            raise self._reason() from None
        finally:
            if failed:
                self._run_on(_on_workers.stop, self.addresses)
                self._wait_for_end(_END)
                self.client.cancel(self.tasks, force=True)
            self._run_on(_on_workers.free, self.addresses[:1])

    @contextlib.contextmanager
    def subscribed(self) -> Iterator[None]:
        """Receive the messages of the ranks."""
        _inboxes[self.name] = collections.deque()
        self.client.subscribe_topic(_on_workers.TOPIC, _put)
        try:
            yield
        finally:
            del _inboxes[self.name]

    def start(self, model: Any, parts: list[list[Any]]) -> None:
        """Start a task on each worker; results stay on the workers."""
        first, size = self.addresses[0], len(self.addresses)
        begun = self.client.submit(_on_workers.start, self.name, size, workers=[first], pure=False)
        (network,) = _gathered(self.client, [begun], self.addresses)
        for rank, address in enumerate(self.addresses):
            where: dict[str, Any] = {"workers": [address], "allow_other_workers": False, "retries": 0, "pure": False}
            given = (model, parts[rank], network, self.secret, self.name, rank, size)
            self.tasks.append(self.client.submit(_on_workers.fit_rank, *given, key=f"{self.name}-{rank}", **where))

    def wait(self, show: Watch) -> None:
        """Wait for all ranks, and show the progress of the first."""
        checked, gone = time.monotonic(), dict[str, str]()
        while any(task.status == "pending" for task in self.tasks):
            time.sleep(_POLL)
            self._receive(show)
            if time.monotonic() > checked + _CHECK_WORKERS:
                checked, before, gone = time.monotonic(), gone, _lost(self.client, self.addresses)
                self.gone = {address: what for address, what in gone.items() if address in before}  # and stay lost
                if self.gone or self._stalled():
                    raise _Failed
            if any(task.status in ("error", "lost", "cancelled") for task in self.tasks):
                break
        if any(task.status != "finished" for task in self.tasks):
            raise _Failed
        self._receive(show)

    def _receive(self, show: Watch) -> None:
        inbox = _inboxes[self.name]
        while inbox:
            message = inbox.popleft()
            if "waited" in message:
                self.waited[message["rank"]] = message["waited"], time.monotonic(), message["starting"]
            else:
                show(SimpleNamespace(**message))  # type: ignore[arg-type]

    def _stalled(self) -> bool:
        """Whether all ranks have waited for each other too long."""
        recent = time.monotonic() - 2 * _on_workers.WAIT
        waited = [seconds for seconds, when, _ in self.waited.values() if when > recent]
        return len(waited) == len(self.addresses) and min(waited) > self._allowed_wait()

    def _allowed_wait(self) -> float:
        starting = any(starting for _, _, starting in self.waited.values())
        return _NOT_CONNECTED_AFTER if starting else _STALLED_AFTER

    def _wait_for_end(self, seconds: float) -> None:
        """Wait for the ranks whose workers are not lost."""
        last = time.monotonic() + seconds
        while time.monotonic() < last:
            gone = _lost(self.client, self.addresses)
            tasks = zip(self.tasks, self.addresses, strict=False)
            if all(task.status != "pending" or address in gone for task, address in tasks):
                return
            time.sleep(_POLL)

    def _reason(self) -> BaseException:
        """The error to raise: invalid data or parameters, a lost worker, or the error of a rank."""
        tasks = zip(self.tasks, self.addresses, strict=True)
        failures = [(task.exception(), address) for task, address in tasks if task.status == "error"]
        for failure, _ in failures:
            if not isinstance(failure, RuntimeError | ConnectionError):
                return failure
        if gone := self.gone | _lost(self.client, self.addresses):
            return RuntimeError(_ended(gone))
        if self._stalled():
            return RuntimeError(
                f"the fit has ended on all workers: they have waited for each other for {self._allowed_wait():.0f} "
                "s, so a message was lost, or another process has taken the place of one"
            )
        if not failures:
            return RuntimeError("the fit was cancelled")
        failure, address = min(failures, key=lambda each: "has failed on rank" in str(each[0]))
        return RuntimeError(f"the fit has failed on {address}: {failure}")

    def _run_on(self, function: Callable[[str], None], addresses: list[str]) -> None:
        """Run a function on those of these workers that are not lost."""
        gone = _lost(self.client, self.addresses)
        running = [address for address in addresses if address not in gone]

        def run() -> None:
            with contextlib.suppress(Exception):  # a worker may leave meanwhile
                self.client.run(function, self.name, workers=running, on_error="ignore")

        thread = threading.Thread(target=run, daemon=True)  # a frozen worker never answers
        thread.start()
        thread.join(_END)


def _put(event: tuple[float, dict[str, Any]]) -> None:
    if event[1]["fit"] in _inboxes:
        _inboxes[event[1]["fit"]].append(event[1])


def _release_of_others(dask_scheduler: Any) -> None:
    """Release workers that were locked by a fit whose caller has left."""
    locks = dask_scheduler.extensions["multi_locks"]
    for name in list(locks.requests):
        if name.startswith("fewlabel-") and not any(client in name for client in dask_scheduler.clients):
            locks.release(name)
