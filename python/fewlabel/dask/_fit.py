"""A fit as the caller sees it: partitions, the workers that hold them, and a task on each, which end together."""

import collections
import contextlib
import secrets
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from fewlabel._progress import Watch
from fewlabel.dask import _messages, _on_workers

_LOOK = 0.05  # seconds between two looks at the tasks
_PRESENCE = 1.0  # seconds between two looks at the workers
_SILENCE = 30.0  # seconds after which a worker that gives no sign of life is lost
_STANDSTILL = 60.0  # seconds after which nothing will come if every rank waits for another
_RENDEZVOUS = 10.0  # seconds after which the ranks will not find each other if every one of them waits
_LAST_WORDS = 2.0  # seconds that ranks have to end by themselves once one has failed
_END = 10.0  # seconds that they have once asked to end

_inboxes: dict[str, collections.deque[dict[str, Any]]] = {}  # messages of the ranks of a fit


class Training(NamedTuple):
    """Where the labels of the training rows are."""

    tasks: list[Any]  # futures of the ranks: model and labels
    ranks: list[tuple[str, list[int]]]  # address of each, and the numbers of its partitions
    sizes: list[int]  # rows of each partition
    columns: tuple[str, ...]  # of ROW_LABELS


def fit(client: Any, model: Any, partitions: list[Any], show: Watch) -> tuple[Any, list[Any], Training]:
    """The fitted model, warnings, and where the labels of the rows are."""
    partitions = client.compute(partitions)
    holders = _holders(client, partitions)
    looks = [client.submit(_on_workers.shape, each, workers=[at]) for each, at in zip(partitions, holders, strict=True)]
    shapes = _gathered(client, looks, holders)
    for number, (_, width) in enumerate(shapes):
        if width != shapes[0][1]:
            raise ValueError(f"X has {width} features in partition {number}, but {shapes[0][1]} in partition 0")
    ranks = _ranks(holders, shapes)
    run = _Run(client, [address for address, _ in ranks])
    with run.locked(), run.ended(), run.subscribed():
        run.start(model, [[partitions[number] for number in numbers] for _, numbers in ranks])
        run.wait(show)
        first = client.submit(itemgetter(0), run.tasks[0], workers=run.addresses[:1], pure=False)
        fitted, columns, warned = first.result()
    return fitted, warned, Training(run.tasks, ranks, [n for n, _ in shapes], columns)


def refuse_encrypted(client: Any) -> None:
    """Raise a ValueError where the caller expects that everything between machines is encrypted."""
    address = client.scheduler.address
    if address.startswith(("tls://", "wss://")) or client.security.require_encryption:
        raise ValueError(
            f"the cluster at {address} encrypts what it sends, but a fit sends sums over rows, class names and, for "
            'class_prior="auto", labeled rows between its workers without encryption (Dask itself carries the rows and '
            "the model, encrypted). If nobody else reaches the network of the workers, set trusted_network to True"
        )


def is_dask(X: Any) -> bool:
    """Whether rows or labels are an array or data frame of Dask, or a list of its parts."""
    return hasattr(X, "to_delayed") or (isinstance(X, list | tuple) and bool(X) and all(map(_is_part, X)))


def _is_part(part: Any) -> bool:
    from dask.delayed import Delayed
    from distributed import Future

    return isinstance(part, Delayed | Future)


def one_column(X: Any) -> Any:
    """The array with all features of a row in one chunk."""
    return X.rechunk({1: -1}) if X.ndim == 2 and X.numblocks[1] > 1 else X


def partitions(X: Any, y: Any, sample_weight: Any) -> list[Any]:
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
    if not is_dask(given):
        raise TypeError(
            f"{name} must be an array or data frame of Dask or a list of Delayed or Future, got "
            f"{type(given).__name__}: use dask.array.from_array, or [dask.delayed(part), ...] for sparse parts"
        )
    if isinstance(given, list | tuple):
        return list(given)
    return list(np.ravel((one_column(given) if hasattr(given, "rechunk") else given).to_delayed()))


def _gathered(client: Any, tasks: list[Any], addresses: list[str]) -> list[Any]:
    """Results of tasks that are pinned to workers of these; a RuntimeError if one is lost."""
    looked = time.monotonic()
    while any(task.status == "pending" for task in tasks):
        time.sleep(_LOOK)
        if time.monotonic() > looked + _PRESENCE:
            looked = time.monotonic()
            _refuse_lost(client, addresses)
    try:
        return list(client.gather(tasks))
    except Exception:
        _refuse_lost(client, addresses)
        raise


def _refuse_lost(client: Any, addresses: list[str]) -> None:
    if gone := lost(client, addresses):
        time.sleep(_PRESENCE)  # not for a moment
        gone = {address: what for address, what in lost(client, addresses).items() if address in gone}
    if gone:
        raise RuntimeError(_ended(gone))


def _ended(gone: dict[str, str]) -> str:
    return "the fit has ended on all workers: " + ", ".join(f"{address} {what}" for address, what in gone.items())


def _holders(client: Any, partitions: list[Any]) -> list[str]:
    """Address of a worker that holds each partition, once all are there."""
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
    """The workers that hold partitions, with the numbers of these; those with rows come first."""
    found: dict[str, list[int]] = {}
    for number in sorted(range(len(holders)), key=lambda number: shapes[number][0] == 0):
        found.setdefault(holders[number], []).append(number)
    return list(found.items())


def lost(client: Any, addresses: list[str]) -> dict[str, str]:
    """What has happened to the workers of these that are not there any more, by address.

    The clock of signs of life is that of the scheduler, which is read off the worker that gave the last one.
    """
    there = client.scheduler_info(n_workers=-1)["workers"]
    now = max((worker["last_seen"] for worker in there.values()), default=0.0)
    silent = f"has given no sign of life for {_SILENCE:.0f} s"
    found = {
        address: silent for address in addresses if address in there and now > there[address]["last_seen"] + _SILENCE
    }
    return found | {address: "has left" for address in addresses if address not in there}


class _Failed(Exception):
    """A rank has failed, or a worker is lost."""


class _Run:
    """The tasks of one fit and the workers that they are pinned to."""

    def __init__(self, client: Any, addresses: list[str]) -> None:
        self.client, self.addresses = client, addresses
        self.name = f"fewlabel-{client.id}-{uuid.uuid4().hex}"
        self.tasks: list[Any] = []
        self.gone: dict[str, str] = {}  # workers that are lost, and what has happened to them
        self.waited: dict[int, tuple[float, float, bool]] = {}  # seconds that a rank has waited, when it said so, where
        self.secret = secrets.token_bytes(_messages.SIZE)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """No other fit on these workers, nor one of XGBoost or LightGBM: ranks would wait for each other's threads."""
        from distributed import MultiLock

        lock = MultiLock(self.addresses, self.client)
        lock.id = self.name
        while not lock.acquire(timeout=_PRESENCE):  # for ever, an interrupt would leave the request behind
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
            self._settle(_LAST_WORDS)
            raise self._reason() from None
        finally:
            if failed:
                self._run_on(_on_workers.stop, self.addresses)
                self._settle(_END)
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
        """Start a task on each worker, whose results stay where they are."""
        first, size = self.addresses[0], len(self.addresses)
        begun = self.client.submit(_on_workers.start, self.name, size, workers=[first], pure=False)
        (network,) = _gathered(self.client, [begun], self.addresses)
        for rank, address in enumerate(self.addresses):
            where: dict[str, Any] = {"workers": [address], "allow_other_workers": False, "retries": 0, "pure": False}
            given = (model, parts[rank], network, self.secret, self.name, rank, size)
            self.tasks.append(self.client.submit(_on_workers.fit_rank, *given, key=f"{self.name}-{rank}", **where))

    def wait(self, show: Watch) -> None:
        """Wait for all ranks, and show how far the first one is."""
        looked, gone = time.monotonic(), dict[str, str]()
        while any(task.status == "pending" for task in self.tasks):
            time.sleep(_LOOK)
            self._hear(show)
            if time.monotonic() > looked + _PRESENCE:
                looked, before, gone = time.monotonic(), gone, lost(self.client, self.addresses)
                self.gone = {address: what for address, what in gone.items() if address in before}  # not for a moment
                if self.gone or self._standing():
                    raise _Failed
            if any(task.status in ("error", "lost", "cancelled") for task in self.tasks):
                break
        if any(task.status != "finished" for task in self.tasks):
            raise _Failed
        self._hear(show)

    def _hear(self, show: Watch) -> None:
        inbox = _inboxes[self.name]
        while inbox:
            message = inbox.popleft()
            if "waited" in message:
                self.waited[message["rank"]] = message["waited"], time.monotonic(), message["starting"]
            else:
                show(SimpleNamespace(**message))  # type: ignore[arg-type]

    def _standing(self) -> bool:
        """Whether all ranks have waited for each other for long."""
        recent = time.monotonic() - 2 * _on_workers.WAIT
        waited = [seconds for seconds, when, _ in self.waited.values() if when > recent]
        return len(waited) == len(self.addresses) and min(waited) > self._patience()

    def _patience(self) -> float:
        starting = any(starting for _, _, starting in self.waited.values())
        return _RENDEZVOUS if starting else _STANDSTILL

    def _settle(self, seconds: float) -> None:
        """Wait for the ranks whose workers are there."""
        last = time.monotonic() + seconds
        while time.monotonic() < last:
            gone = lost(self.client, self.addresses)
            tasks = zip(self.tasks, self.addresses, strict=False)
            if all(task.status != "pending" or address in gone for task, address in tasks):
                return
            time.sleep(_LOOK)

    def _reason(self) -> BaseException:
        """The error to raise: wrong data or parameters, a worker that is lost, or what the first rank says."""
        tasks = zip(self.tasks, self.addresses, strict=True)
        failures = [(task.exception(), address) for task, address in tasks if task.status == "error"]
        for failure, _ in failures:
            if not isinstance(failure, RuntimeError | ConnectionError):
                return failure
        if gone := self.gone | lost(self.client, self.addresses):
            return RuntimeError(_ended(gone))
        if self._standing():
            return RuntimeError(
                f"the fit has ended on all workers: they have waited for each other for {self._patience():.0f} "
                "s, so what one of them has sent was lost, or another process has taken the place of one"
            )
        if not failures:
            return RuntimeError("the fit was cancelled")
        failure, address = min(failures, key=lambda each: "has failed on rank" in str(each[0]))
        return RuntimeError(f"the fit has failed on {address}: {failure}")

    def _run_on(self, function: Callable[[str], None], addresses: list[str]) -> None:
        """Run a function on the workers of these that answer."""
        gone = lost(self.client, self.addresses)
        there = [address for address in addresses if address not in gone]

        def run() -> None:
            with contextlib.suppress(Exception):  # a worker may leave meanwhile
                self.client.run(function, self.name, workers=there, on_error="ignore")

        thread = threading.Thread(target=run, daemon=True)  # one that is frozen answers never
        thread.start()
        thread.join(_END)


def _put(event: tuple[float, dict[str, Any]]) -> None:
    if event[1]["fit"] in _inboxes:
        _inboxes[event[1]["fit"]].append(event[1])


def _release_of_others(dask_scheduler: Any) -> None:
    """Release the workers that a fit has locked whose caller is not there any more."""
    locks = dask_scheduler.extensions["multi_locks"]
    for name in list(locks.requests):
        if name.startswith("fewlabel-") and not any(client in name for client in dask_scheduler.clients):
            locks.release(name)
