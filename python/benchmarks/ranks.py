"""Rows that ranks share: the model of one machine, what one rank costs, and what three of them exchange.

Three ranks run under mpirun (mpi4py and an MPI are needed). A rank alone has nothing to exchange, and does what one
machine does. Of several each has the weights of all features, where one machine may hold those of many classes as sums
of rows: that, and vectors that all ranks work on, is the processor time of three ranks beyond that of one machine.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpora, learners, tasks
from benchmarks.report import Report
from benchmarks.tasks import Task

RANKS = 3
ROUNDS = 7  # of one rank and alone, by turns; the least time of each counts
SETS: dict[str, Callable[[], Task]] = {
    "r8": lambda: tasks.draw(corpora.reuters_r8(), 40, 0),
    "newsgroups20": lambda: tasks.half_unlabeled(corpora.newsgroups20(), 5, 0),
    "comp": lambda: corpora.comp(0),
    "ccat": lambda: corpora.ccat(0),
    "gcat": lambda: corpora.gcat(0),
}
METHODS = ("annealing", "switching")
SAME = 1e-9  # relative difference of objectives
OVERHEAD = 1.03
LONG = 10_000  # numbers; vectors of features have more
VECTORS, SMALL = 150, 400


class Alone:
    """A communicator of one rank."""

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return 1

    def allgather(self, part: Any) -> list[Any]:
        return [part]

    def Allreduce(self, own: np.ndarray, sums: np.ndarray) -> None:
        sums[:] = own


class Counting:
    """Another communicator, with an account of its sums: their lengths, and the processor time that they took."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.lengths, self.waited = comm, [], 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.comm, name)

    def Allreduce(self, own: np.ndarray, sums: np.ndarray) -> None:
        start = time.process_time()
        self.comm.Allreduce(own, sums)
        self.lengths.append(len(own))
        self.waited += time.process_time() - start


def model(task: Task, method: str) -> Any:
    """The classifier."""
    from fewlabel import TransductiveSVC

    return TransductiveSVC(
        method=method, alpha=learners.ALPHA, class_prior=task.class_prior, unlabeled_weight=1.0, n_jobs=1
    )


def together(task: Task, method: str, comm: Any, rows: np.ndarray) -> Any:
    """The fit of ranks."""
    from fewlabel import spmd

    return spmd.fit(model(task, method), task.X[rows], task.marked[rows], comm=comm)


@dataclass
class Shared:
    """What the ranks have found together."""

    objective: float
    classes: list[Any]
    seconds: float  # of processor time, of all ranks
    lengths: list[int]  # of the sums of a rank


def work() -> None:
    """What a rank runs: all sets and methods; rank 0 prints the result of all."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    for name, make in SETS.items():
        task = make()
        rows = np.arange(len(task.marked)) % comm.size == comm.rank
        for method in METHODS:
            counting = Counting(comm)
            spent, found = seconds(lambda c=counting, m=method, r=rows: together(task, m, c, np.flatnonzero(r)))  # noqa: B023
            parts, spent = comm.gather(found.transduction_), comm.allreduce(spent - counting.waited)
            if comm.rank == 0:
                classes = np.empty(len(rows), dtype=found.transduction_.dtype)
                for rank, part in enumerate(parts):
                    classes[rank :: comm.size] = part
                shared = Shared(float(found.objective_), classes.tolist(), spent, counting.lengths)
                print(json.dumps([name, method, asdict(shared)]), flush=True)


def of_ranks() -> dict[tuple[str, str], Shared]:
    """What the ranks find."""
    folder = Path(sys.executable).parent
    program = shutil.which("mpirun", path=f"{folder}{os.pathsep}{os.environ.get('PATH', '')}")
    if program is None:
        raise RuntimeError("there is no mpirun")
    command = [
        program,
        "--oversubscribe",
        "-n",
        str(RANKS),
        sys.executable,
        "-c",
        "from benchmarks import ranks; ranks.work()",
    ]
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | allowed, timeout=900)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return {(name, method): Shared(**found) for name, method, found in lines}


def seconds(fit: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of a fit, and what it gives."""
    start = time.process_time()
    found = fit()
    return time.process_time() - start, found


def ranks_and_one_machine(report: Report) -> None:
    """The same fits on one machine, on one rank and on three."""
    shared = of_ranks()
    for name, make in SETS.items():
        task = make()
        rows = np.arange(len(task.marked))
        for method in METHODS:
            with_rank, without = [], []
            for _ in range(ROUNDS):
                with_rank.append(seconds(lambda: together(task, method, Alone(), rows))[0])  # noqa: B023
                spent, alone = seconds(lambda: learners.quietly(model(task, method), task.X, task.marked))  # noqa: B023
                without.append(spent)
            found, what = shared[name, method], f"{name}, {method}"
            differ = int((np.array(found.classes) != alone.transduction_).sum())
            note = f"{differ} rows of {len(rows)} with another class"
            report.at_most(
                f"{what}: {RANKS} ranks, objective apart", abs(found.objective / alone.objective_ - 1), SAME, note=note
            )
            vectors = [length for length in found.lengths if length > LONG]
            note = f"{sum(found.lengths) * 8 / 1e6:.1f} MB, {alone.history_['n_passes'][-1]:.0f} passes"
            bounds = (VECTORS, SMALL) if (name, method) == ("ccat", "annealing") else (None, None)
            report.at_most(f"{what}: long vectors of a rank", len(vectors), bounds[0], note=note)
            report.at_most(f"{what}: other sums of a rank", len(found.lengths) - len(vectors), bounds[1])
            report.at_most(f"{what}: processor time, one rank / one machine", min(with_rank) / min(without), OVERHEAD)
            report.fact(f"{what}: processor time, {RANKS} ranks / one machine", found.seconds / min(without))


SECTIONS = (ranks_and_one_machine,)
