"""Rows that ranks share: the model of one machine, what they exchange, and what one rank costs.

Three ranks run under mpirun (mpi4py and an MPI are needed). A rank alone has nothing to exchange and does what one
machine does.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import measure, speed
from benchmarks.drawing import Task
from benchmarks.measure import Report

RANKS = 3
ROUNDS = 5  # by turns; the least time of each counts
SETS = ("reuters_r8", "newsgroups20", "comp", "ccat", "gcat")
METHODS = ("annealing", "switching")
SAME = 1e-9  # relative difference of objectives
OVERHEAD = 1.03
LONG = 10_000  # numbers; vectors of features have more


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
    """A communicator with an account of its sums: their lengths, and the processor time that they took."""

    def __init__(self, comm: Any) -> None:
        self.comm, self.lengths, self.waited = comm, [], 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.comm, name)

    def Allreduce(self, own: np.ndarray, sums: np.ndarray) -> None:
        """The sums over the ranks."""
        spent, _ = measure.seconds(lambda: self.comm.Allreduce(own, sums))
        self.lengths.append(len(own))
        self.waited += spent


def model(task: Task, method: str) -> Any:
    """The classifier."""
    from fewlabel import TransductiveSVC

    return TransductiveSVC(method=method, alpha=speed.ALPHA, class_prior=task.shares, unlabeled_weight=1.0, n_jobs=1)


def work() -> None:
    """What a rank runs: all sets and methods; rank 0 prints what they found together."""
    from mpi4py import MPI

    from fewlabel import spmd

    comm = MPI.COMM_WORLD
    for name, method in json.loads(sys.argv[1]):
        task, counting = speed.drawn(name), Counting(comm)
        rows = np.flatnonzero(np.arange(len(task.y)) % comm.size == comm.rank)
        fit = lambda t=task, m=method, c=counting, r=rows: spmd.fit(model(t, m), t.X[r], t.given[r], comm=c)  # noqa: E731
        spent, found = measure.seconds(fit)
        found_by_all, spent = comm.gather(found.transduction_.tolist()), comm.allreduce(spent - counting.waited)
        if comm.rank == 0:
            print(json.dumps([found.objective_, found_by_all, spent, counting.lengths]), flush=True)


def mpirun(n: int, tasks: list[tuple[str, str]]) -> list[Any]:
    """What n ranks find."""
    program = shutil.which("mpirun", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if program is None:
        raise SystemExit("there is no mpirun")
    script = "from benchmarks import ranks; ranks.work()"
    command = [program, "--oversubscribe", "-n", str(n), sys.executable, "-c", script, json.dumps(tasks)]
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | allowed)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


def mpi(report: Report, draws: int = len(SETS)) -> None:
    """The same fits on one machine, on one rank and on three, for so many of the sets."""
    from fewlabel import spmd

    tasks = list(itertools.product(SETS[:draws], METHODS))
    for (name, method), found in zip(tasks, mpirun(RANKS, tasks), strict=True):
        task, what = speed.drawn(name), f"{name}, {method}"
        alone = model(task, method)
        calls = {
            "machine": lambda: measure.quietly(alone, task.X, task.given),  # noqa: B023
            "rank": lambda: spmd.fit(model(task, method), task.X, task.given, comm=Alone()),  # noqa: B023
        }
        spent = {who: values.min() for who, values in measure.turns(calls, ROUNDS).items()}
        objective, parts, seconds, lengths = found
        classes = np.empty(len(task.y), dtype=np.int64)
        for rank, part in enumerate(parts):
            classes[rank::RANKS] = part
        note = f"{np.sum(classes != alone.transduction_)} of {len(classes)} rows with another class"
        report.add(
            f"{what}: {RANKS} ranks, objective apart", abs(objective / alone.objective_ - 1), "", note, at_most=SAME
        )
        long = sum(length > LONG for length in lengths)
        report.add(f"{what}: long vectors of a rank", long, note=f"{len(lengths) - long} other sums")
        report.add(
            f"{what}: processor time, one rank / one machine", spent["rank"] / spent["machine"], at_most=OVERHEAD
        )
        report.add(f"{what}: processor time, {RANKS} ranks / one machine", seconds / spent["machine"])


SECTIONS = (mpi,)
