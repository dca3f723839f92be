"""Functions that run on the workers: the part of a rank in a fit."""

import asyncio
import concurrent.futures
import contextlib
import copy
import functools
import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewlabel import _progress, spmd
from fewlabel._inputs import _data
from fewlabel._native._signatures import Progress

_POLL = 0.05  # seconds between checks whether the fit is cancelled

_open: dict[tuple[str, int], tuple[dict[int, Any], Any]] = {}  # exchanges on the worker of a first rank


def start() -> None:
    """Let the ranks of fits exchange parts on this worker."""
    from distributed import get_worker

    get_worker().handlers["fewlabel"] = _sent


async def _sent(part: Any, **about: Any) -> Any:
    """The handler of messages of other ranks."""
    from distributed.protocol.serialize import to_serialize

    return to_serialize(await _exchange(part=_received(part), **about))


def _received(message: Any) -> Any:
    """What a message brings; between workers in one process it comes as it was sent."""
    from distributed.protocol.serialize import Serialize

    return message.data if isinstance(message, Serialize) else message


async def _exchange(name: str, number: int, rank: int, size: int, part: Any) -> Any:
    """The parts of all ranks, or the sum of arrays, once the last one is here."""
    parts, found = _open.setdefault((name, number), ({}, asyncio.get_running_loop().create_future()))
    parts[rank] = part
    if len(parts) == size:
        every = [parts[each] for each in range(size)]
        found.set_result(functools.reduce(np.add, every) if isinstance(part, np.ndarray) else every)
    try:
        return await found  # which ends with the first rank, for all ranks
    finally:
        _open.pop((name, number), None)


def partition(number: int, X: Any, y: Any, weight: Any = None) -> tuple[Any, Any, Any]:
    if not hasattr(X, "shape"):
        raise TypeError(f"X must have arrays, CSR matrices or data frames; part {number} is {type(X).__name__}")
    for name, part in (("y", y), ("sample_weight", weight)):
        if part is not None and np.shape(part)[:1] != X.shape[:1]:
            found, wanted = ((*each, "no")[0] for each in (np.shape(part), X.shape))
            raise ValueError(f"{name} has {found} rows in partition {number}, but X has {wanted}")
    return X, y, weight


def place(partition: tuple[Any, Any, Any]) -> tuple[str, int, int]:
    """Address of this worker, and numbers of rows and features."""
    from distributed import get_worker

    if len(partition[0].shape) != 2:
        raise ValueError(f"X must have rows and features, found the shape {partition[0].shape}")
    return get_worker().address, *partition[0].shape


def fit_rank(
    model: Any, partitions: list[Any], name: str, first: str, rank: int, size: int
) -> tuple[Any, list[Any], list[np.ndarray]]:
    """Model and warnings, from the first rank only, and the labels of the rows on this worker by partition."""
    from distributed import get_worker

    n_jobs, model = model.n_jobs, copy.copy(model)  # ranks of one process would share it
    model.n_jobs = get_worker().state.nthreads if n_jobs is None else n_jobs
    X, y, weight = (_joined(parts) for parts in zip(*partitions, strict=True))
    comm = _Ranks(name, first, rank, size)
    with warnings.catch_warnings(record=True) as warned:
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
    """A communicator for `spmd`: the ranks send their parts to the worker of the first one, as Dask sends data."""

    def __init__(self, name: str, first: str, rank: int, size: int) -> None:
        from distributed import get_worker

        self.name, self.first, self.rank, self.size = name, first, rank, size
        self.numbers = itertools.count()
        self.worker: Any = get_worker()

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return self.size

    def allgather(self, part: Any) -> list[Any]:
        found: list[Any] = self._exchanged((part,))
        return [each for (each,) in found]

    def Allreduce(self, own: np.ndarray, sums: np.ndarray) -> None:
        sums[:] = self._exchanged(own)

    def _exchanged(self, part: Any) -> Any:
        from distributed.protocol.serialize import to_serialize

        about: dict[str, Any] = {"name": self.name, "number": next(self.numbers), "rank": self.rank, "size": self.size}
        if self.rank:
            found = self.worker.rpc(self.first).fewlabel(**about, part=to_serialize(part))
        else:
            found = _exchange(**about, part=part)
        done = asyncio.run_coroutine_threadsafe(found, self.worker.loop.asyncio_loop)
        while self._is_over() or not concurrent.futures.wait([done], _POLL).done:
            if self._is_over():
                done.cancel()
                raise ConnectionError("another worker has failed, or the fit was interrupted")
        try:
            return _received(done.result())
        except (OSError, concurrent.futures.CancelledError) as failure:
            raise ConnectionError(f"the exchange with the other workers has ended: {failure}") from None

    def _is_over(self) -> bool:
        """Whether the task of this rank was cancelled."""
        task = self.worker.state.tasks.get(f"{self.name}-{self.rank}")
        return task is None or task.state == "cancelled"

    @contextlib.contextmanager
    def shown(self, title: str, verbose: int, method: str) -> Iterator[_progress.Watch]:
        """In place of `_progress.shown`: sends the progress to the caller."""
        last = 0

        def send(progress: Progress) -> None:
            nonlocal last
            if verbose and progress.step != last:
                last = progress.step
                names = ("step", "objective", "level", "n_switched")
                self.worker.log_event(self.name, {name: getattr(progress, name) for name in names})

        yield send
