"""Rows on the workers of a Dask cluster: the model of one machine, a worker's memory, and a simulation of many workers.

Three processes of this machine are the workers (dask.distributed and xgboost are needed).
"""

from __future__ import annotations

import itertools
import math
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from benchmarks import corpora, large, learners, memory, ranks, tasks
from benchmarks.report import Report
from benchmarks.tasks import Task

WORKERS = 3
ROUNDS = 3  # of a fit whose processor time is measured
SIMULATED = "simulation of workers"
COUNTS = (1, 2, 4, 8, 16, 32, 64)
# What is simulated: rows of 10⁹ non-zeros and 10⁶ features on 16 workers, and as many rows a worker on more or fewer.
NON_ZEROS = 10**9 / 16  # of a worker
FEATURES = 10**6
CLASSES: dict[int, Callable[[], Task]] = {  # fits whose sums are counted; 20 classes have fewer features: faster passes
    2: lambda: large.task(100_000, cols=FEATURES),
    20: lambda: tasks.half_unlabeled(corpora.newsgroups20(), 5, 0),
}
CORES = 8  # of one core is the speed of a worker, which has 16
BANDWIDTH = 10e9 / 8  # bytes a second, of a network of 10 Gbit/s
LATENCY = 50e-6  # seconds of a message between machines
EFFICIENCY = 0.8  # of 16 workers, two classes
TRANSPORTS: dict[str, Callable[[int], int]] = {  # messages one after the other of a sum over so many workers
    "Dask": lambda workers: 2 * (workers - 1),  # XGBoost's ring
    "MPI": lambda workers: math.ceil(math.log2(workers)),  # recursive doubling
}
MANY_ROWS = 300_000  # of the corpus on which memory is measured


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """A client of that many processes with a thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as local,
        Client(local, set_as_default=False) as client,
    ):
        yield client


def parts_of(client: Any, whole: Any) -> list[Any]:
    """A part of rows or labels on each worker, as futures."""
    workers = sorted(client.nthreads())
    ends = [whole.shape[0] * k // len(workers) for k in range(len(workers) + 1)]
    parts = [whole[start:end] for start, end in itertools.pairwise(ends)]
    return [client.scatter([part], workers=[at], hash=False)[0] for part, at in zip(parts, workers, strict=True)]


def model(task: Task, method: str, client: Any) -> Any:
    """The classifier of `ranks.model` on Dask."""
    from fewlabel.dask import DaskTransductiveSVC

    return DaskTransductiveSVC(**ranks.model(task, method).get_params(), client=client)


# ------------------------------------------------------------------ the model of one machine
def dask_and_one_machine(report: Report) -> None:
    """The same fits on one machine and on three workers."""
    with cluster(WORKERS) as client:
        for name, make in ranks.SETS.items():
            task = make()
            parts = parts_of(client, task.X), parts_of(client, task.marked)
            for method in ranks.METHODS:
                found = learners.quietly(model(task, method, client), *parts)
                with client.as_current():
                    classes = found.transduction_.compute()
                alone = learners.quietly(ranks.model(task, method), task.X, task.marked)
                apart, differ = (
                    abs(found.objective_ / alone.objective_ - 1),
                    int((classes != alone.transduction_).sum()),
                )
                what = f"{name}, {method}: {WORKERS} workers of Dask, one machine"
                report.at_most(f"{what}, objective apart", apart, ranks.SAME)
                report.at_most(f"{what}, rows with another class", differ, 0, note=f"of {len(classes)} rows")


# ------------------------------------------------------------------ memory of a worker
def memory_of_a_worker(report: Report) -> None:
    """Peak of a worker above its rows, for the same rows on one, two and three workers."""
    task = large.task(MANY_ROWS)
    whole = bytes_of(task.X)
    for n_workers in (1, 2, 3):
        with cluster(n_workers) as client:
            peak, left = peaks(client, task)
        alone = memory.of_task(large.task(MANY_ROWS // n_workers), {"n_jobs": 1})
        own = whole / n_workers / memory.MB
        what = f"{MANY_ROWS:,} rows, {whole / memory.MB:.0f} MB, on {n_workers} workers"
        bound, note = round(alone.peak / memory.MB), f"bound: one machine with as many rows; its rows {own:.0f} MB"
        report.at_most(f"{what}: peak of a worker above its rows", peak / memory.MB, bound, " MB", note)
        report.at_most(f"{what}: left after the fit", left / memory.MB, 100, " MB")


def bytes_of(X: Any) -> int:
    """Of the three arrays of CSR."""
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


def peaks(client: Any, task: Task) -> tuple[int, int]:
    """Largest peak and remainder of a worker in a fit, above what it has before, rows included."""
    small = Task(
        "", task.X[:400], np.arange(400) % 2, np.where(np.arange(400) < 40, np.arange(400) % 2, tasks.UNLABELED)
    )
    learners.quietly(model(small, "annealing", client), parts_of(client, small.X), parts_of(client, small.marked))
    parts = parts_of(client, task.X), parts_of(client, task.marked)
    for settle in memory.settle, memory.forget_peak:
        client.run(settle)
    before = client.run(memory.resident, "VmRSS")
    learners.quietly(model(task, "annealing", client), *parts)
    peak, left = client.run(memory.resident, "VmHWM"), client.run(memory.resident, "VmRSS")
    return max(peak[at] - before[at] for at in before), max(left[at] - before[at] for at in before)


# ------------------------------------------------------------------ many workers, simulated
class Linked:
    """A communicator of two processes, by a pipe between them."""

    def __init__(self, rank: int, pipe: Connection) -> None:
        self.rank, self.pipe = rank, pipe

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return 2

    def allgather(self, part: Any) -> list[Any]:
        if self.rank == 0:
            self.pipe.send(part)
            return [part, self.pipe.recv()]
        first = self.pipe.recv()
        self.pipe.send(part)
        return [first, part]

    def Allreduce(self, own: np.ndarray, sums: np.ndarray) -> None:
        sums[:] = sum(self.allgather(own))


def _without_rows(n_classes: int, pipe: Connection, fits: int) -> None:
    """What the other rank does."""
    task = CLASSES[n_classes]()
    for _ in range(fits):
        ranks.together(task, "annealing", Linked(1, pipe), np.array([], int))


class Costs:
    """What a fit of some number of classes takes, measured on a rank with all rows and with a quarter of them. Another
    rank without rows makes it exchange its sums, in a process of its own."""

    def __init__(self, n_classes: int) -> None:
        task = CLASSES[n_classes]()
        self.columns = 1 if n_classes == 2 else n_classes
        quarter = np.flatnonzero((np.arange(len(task.y)) % 4 == 0) | ~task.unlabeled)
        processes = multiprocessing.get_context("spawn")
        self.pipe, theirs = processes.Pipe()
        other = processes.Process(target=_without_rows, args=(n_classes, theirs, 2 * ROUNDS))
        other.start()
        few, many = (self._of_rows(task, rows) for rows in (quarter, np.arange(len(task.marked))))
        other.join()
        self.of_non_zero = (many - few) / (task.X.nnz - task.X[quarter].nnz)  # seconds a pass
        self.of_weight = max(many - self.of_non_zero * task.X.nnz, 0.0) / (task.X.shape[1] * self.columns)
        self.vectors = sum(self.lengths) / (task.X.shape[1] * self.columns)  # that the fit of all rows adds up
        self.calls = len(self.lengths)

    def _of_rows(self, task: Task, rows: np.ndarray) -> float:
        """Processor time of a pass of the rank with these rows, its exchanges left out."""
        seconds = []
        for _ in range(ROUNDS):
            comm = ranks.Counting(Linked(0, self.pipe))
            took, found = ranks.seconds(lambda comm=comm: ranks.together(task, "annealing", comm, rows))
            self.passes = float(found.history_["n_passes"][-1])
            seconds.append((took - comm.waited) / self.passes)
        self.lengths = comm.lengths
        return statistics.median(seconds)


def fit_seconds(costs: Costs, workers: int, messages: int, call: float, message: float) -> tuple[float, float]:
    """Seconds of computing and of exchanging in a simulated fit; a worker sends its vectors almost twice."""
    weights = FEATURES * costs.columns
    computing = costs.passes * (costs.of_non_zero * NON_ZEROS / CORES + costs.of_weight * weights)
    sent = 8 * costs.vectors * weights * 2 * (workers - 1) / workers
    return computing, costs.calls * (call + messages * message) + sent / BANDWIDTH


def exchange_seconds(n_workers: int, calls: int = 300) -> float:
    """Time of a small sum over the workers of a cluster of this machine."""
    from fewlabel.dask import _on_workers

    with cluster(n_workers) as client:
        addresses, name = sorted(client.nthreads()), f"exchange-{n_workers}"
        network = client.run(_on_workers.start, name, n_workers, workers=addresses[:1])[addresses[0]]
        timed = [
            client.submit(_time_sums, network, name, rank, n_workers, calls, workers=[at], pure=False)
            for rank, at in enumerate(addresses)
        ]
        found = max(client.gather(timed))
        client.run(_on_workers.free, name, workers=addresses[:1])
    return found


def _time_sums(network: dict[str, Any], name: str, rank: int, size: int, calls: int) -> float:
    from fewlabel.dask import _on_workers

    own, seconds = np.ones(64), []
    with _on_workers._Ranks(network, name, rank, size) as comm:
        for _ in range(calls):
            start = time.perf_counter()
            comm.Allreduce(own, own.copy())
            seconds.append(time.perf_counter() - start)
    return min(seconds)  # others use this machine as well, and only add


def workers_simulated(report: Report) -> None:
    """How much of their time up to 64 workers would compute: measured costs, counted sums, a ring of 10 Gbit/s."""
    call, two = exchange_seconds(1), exchange_seconds(2)
    hop = (two - call) / 2
    report.fact("a small sum of one worker of Dask", call * 1e6, " µs")
    report.fact("a message between two on this machine", hop * 1e6, " µs", f"and {LATENCY * 1e6:.0f} µs of network")
    for n_classes in CLASSES:
        costs = Costs(n_classes)
        what = f"{n_classes} classes"
        report.fact(
            f"{what}: a pass, of a non-zero", costs.of_non_zero * 1e9, " ns", f"{costs.passes:.0f} passes a fit"
        )
        report.fact(f"{what}: a pass, of a weight", costs.of_weight * 1e9, " ns")
        report.at_least(f"{what}: calls of a fit", costs.calls, 1, note=f"{costs.vectors:.0f} vectors of weights")
        simulate(report, f"{what}, Dask", costs, TRANSPORTS["Dask"], call, hop + LATENCY)
        simulate(report, f"{what}, MPI", costs, TRANSPORTS["MPI"], 0.0, LATENCY)


def simulate(
    report: Report, what: str, costs: Costs, messages: Callable[[int], int], call: float, message: float
) -> None:
    """Rows of the table, and the curve."""
    shares = []
    for workers in COUNTS:
        computing, exchanging = fit_seconds(costs, workers, messages(workers), call, message)
        shares.append(computing / (computing + exchanging))
        if workers in (16, 64):
            bound = EFFICIENCY if (workers, costs.columns) == (16, 1) else None
            note = f"{computing:.1f} s computing, {exchanging:.1f} s exchanging"
            report.at_least(f"{what}: simulated efficiency of {workers} workers", shares[-1], bound, note=note)
    report.keep(SIMULATED, what, shares)


SECTIONS = (dask_and_one_machine, memory_of_a_worker, workers_simulated)
