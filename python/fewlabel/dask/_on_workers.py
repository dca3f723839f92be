"""Functions that run on the workers: the part of a rank in a fit."""

import concurrent.futures
import contextlib
import copy
import hmac
import itertools
import pickle
import secrets
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewlabel import spmd
from fewlabel._inputs import _data
from fewlabel._native._signatures import Progress
from fewlabel._progress import Watch

TOPIC = "fewlabel"  # of the events by which ranks send messages to the caller
WAIT = 5.0  # seconds that a rank waits for the others before it reports this, and between reports
_POLL = 0.05  # seconds between checks whether the fit is cancelled
_GRACE = 2.0  # seconds for closing the connections to the other ranks
_TIMEOUT = 6 * 3600  # seconds until XGBoost gives up on a slow rank; the caller detects lost workers earlier
_MOST = 1 << 28  # bytes that the ranks exchange at a time
SIZE = 32  # bytes of a secret, of a nonce and of a proof

_trackers: dict[str, Any] = {}  # of the fits whose first rank is on this worker
_cancelled: set[str] = set()  # fits that have failed on another worker, or that the user interrupted


def start(name: str, size: int) -> dict[str, Any]:
    """Start the tracker that connects the ranks; its address."""
    from distributed import get_worker
    from distributed.comm.addressing import get_address_host
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=size, host_ip=get_address_host(get_worker().address), sortby="task")
    tracker.start()
    _trackers[name] = tracker
    return tracker.worker_args() | {"dmlc_timeout": _TIMEOUT}


def stop(name: str) -> None:
    """Make the rank on this worker end."""
    _cancelled.add(name)


def free(name: str) -> None:
    if name in _trackers:
        with contextlib.suppress(ValueError):  # connections are still open
            _trackers.pop(name).free()


def partition(number: int, X: Any, y: Any, weight: Any = None) -> tuple[Any, Any, Any]:
    if not hasattr(X, "shape"):
        raise TypeError(f"X must have arrays, CSR matrices or data frames; part {number} is {type(X).__name__}")
    for name, part in (("y", y), ("sample_weight", weight)):
        if part is not None and np.shape(part)[:1] != X.shape[:1]:
            raise ValueError(f"{name} has {len(part)} rows in partition {number}, but X has {X.shape[0]}")
    return X, y, weight


def shape(partition: tuple[Any, Any, Any]) -> tuple[int, int]:
    if len(partition[0].shape) != 2:
        raise ValueError(f"X must have rows and features, found the shape {partition[0].shape}")
    return partition[0].shape


def fit_rank(
    model: Any, partitions: list[Any], network: dict[str, Any], secret: bytes, name: str, rank: int, size: int
) -> tuple[Any, list[Any], list[np.ndarray]]:
    """Model and warnings, from the first rank only, and the labels of the rows on this worker by partition."""
    from distributed import get_worker

    n_jobs, model = model.n_jobs, copy.copy(model)  # ranks of one process would share it
    model.n_jobs = get_worker().state.nthreads if n_jobs is None else n_jobs
    X, y, weight = (_joined(parts) for parts in zip(*partitions, strict=True))
    with warnings.catch_warnings(record=True) as warned, _Ranks(network, secret, name, rank, size) as comm:
        warnings.simplefilter("always")
        spmd.fit_with(model, X, y, weight, comm, comm.shown)
    ends = np.cumsum([part[0].shape[0] for part in partitions])[:-1]
    labels = np.split(vars(model).pop("transduction_"), ends)
    vars(model).pop("label_distributions_", None)
    model.n_jobs = n_jobs
    return (model, [each.message for each in warned], labels) if rank == 0 else (None, [], labels)


def _joined(parts: Sequence[Any]) -> Any:
    if parts[0] is None:
        return None
    parts = [_data.admitted(part) for part in parts if np.shape(part)[0]] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    if any(sp.issparse(part) for part in parts):
        return sp.vstack([sp.csr_array(part) for part in parts], format="csr")
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    return np.concatenate(parts)


class _Ranks:
    """A communicator for `spmd` that uses XGBoost's, which belongs to the thread that creates it."""

    def __init__(self, network: dict[str, Any], secret: bytes, name: str, rank: int, size: int) -> None:
        from distributed import get_worker

        self.network, self.secret, self.name, self.rank, self.size = network, secret, name, rank, size
        self.starting, self.worker = True, get_worker()
        self.thread = concurrent.futures.ThreadPoolExecutor(1)

    def __enter__(self) -> "_Ranks":
        from xgboost import collective

        try:
            self._do(lambda: collective.init(**self.network, dmlc_task_id=f"{self.rank:08}"))
            self._authenticate()
            self.starting = False
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        from xgboost import collective

        ended = self.thread.submit(collective.finalize)
        concurrent.futures.wait([ended], _GRACE)
        self.thread.shutdown(wait=False)

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return self.size

    def allgather(self, part: Any) -> list[Any]:
        """The parts of all ranks. Without a proof none is unpickled: anyone who reaches the port could have sent it."""
        text = pickle.dumps(part)
        own = self._proof(self.rank, text) + text
        lengths = np.zeros(self.size, dtype=np.int64)
        lengths[self.rank] = len(own)
        lengths = self._sums(lengths)
        if lengths[self.rank] != len(own) or lengths.min() < 0 or lengths.max() > _MOST / self.size:
            raise ConnectionError(f"the lengths of the messages of the ranks are {lengths.tolist()}")
        parts = self._exchange(own, np.cumsum([0, *lengths]).tolist())
        for rank, each in enumerate(parts):
            if not hmac.compare_digest(each[:SIZE], self._proof(rank, each[SIZE:])):
                raise ConnectionError(f"a message of rank {rank} has changed on its way")
        return [pickle.loads(each[SIZE:]) for each in parts]

    def _authenticate(self) -> None:
        """Refuse a process that is not a rank of the fit: it does not have its secret."""
        bounds = [SIZE * rank for rank in range(self.size + 1)]
        own = secrets.token_bytes(SIZE)
        drawn = self._exchange(own, bounds)
        self.nonces = b"".join(drawn)
        for rank, given in enumerate(self._exchange(self._proof(self.rank), bounds)):
            if drawn[self.rank] != own or not hmac.compare_digest(given, self._proof(rank)):
                raise ConnectionError(f"a process that does not belong to the fit has taken the place of rank {rank}")

    def _proof(self, rank: int, text: bytes = b"") -> bytes:
        """Proof that a rank has the secret of this fit, for a text and the nonces of all ranks."""
        return hmac.digest(self.secret, rank.to_bytes(8, "little") + self.nonces + text, "sha256")

    def _exchange(self, own: bytes, bounds: list[int]) -> list[bytes]:
        """The bytes of all ranks, with these bounds, given the own bytes."""
        together = np.zeros(bounds[-1], dtype=np.uint8)
        together[bounds[self.rank] : bounds[self.rank + 1]] = np.frombuffer(own, np.uint8)
        found = self._sums(together).tobytes()
        return [found[begin:end] for begin, end in itertools.pairwise(bounds)]

    def Allreduce(self, own: np.ndarray, sums: np.ndarray) -> None:
        sums[:] = self._sums(own)

    def _sums(self, own: np.ndarray) -> np.ndarray:
        from xgboost import collective

        found: np.ndarray = self._do(lambda: collective.allreduce(own, collective.Op.SUM))
        return found

    @contextlib.contextmanager
    def shown(self, title: str, verbose: int, method: str) -> Iterator[Watch]:
        """In place of `_progress.shown`: sends the progress to the caller."""
        last = 0

        def send(progress: Progress) -> None:
            nonlocal last
            if verbose and progress.step != last:
                last = progress.step
                names = ("step", "objective", "level", "n_switched")
                self._send({name: getattr(progress, name) for name in names})

        yield send

    def _send(self, what: dict[str, Any]) -> None:
        self.worker.log_event(TOPIC, {"fit": self.name, "rank": self.rank} | what)

    def _do(self, task: Callable[[], Any]) -> Any:
        from xgboost.core import XGBoostError

        self._check_running()  # otherwise the tracker could connect it with ranks that have left
        done, begin, reported = self.thread.submit(task), time.monotonic(), 0.0
        while not concurrent.futures.wait([done], _POLL).done:
            self._check_running()
            waited = time.monotonic() - begin
            if waited > reported + WAIT:
                reported = waited
                self._send({"waited": waited, "starting": self.starting})
        self._check_running()
        try:
            return done.result()
        except XGBoostError as failure:
            words = str(failure).partition("Stack trace")[0].strip()
            raise ConnectionError(f"the connection to another worker is lost: {words}") from None

    def _check_running(self) -> None:
        if self.name in _cancelled:
            raise ConnectionError("another worker has failed, or the fit was interrupted")
