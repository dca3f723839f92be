"""Rows that ranks share: the model of one machine, what one rank costs, and what three of them exchange.

Three ranks run under mpirun (mpi4py and an MPI are needed). Weights of many classes are held as sums of rows by one
machine where there are fewer rows than features, and never by ranks: "one rank" is the same fit without others.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpora, learners, tasks
from benchmarks.report import Report
from benchmarks.tasks import Task

RANKS = 3
ROUNDS = 3  # of one rank and alone, by turns
SETS: dict[str, Callable[[], Task]] = {
    "r8": lambda: tasks.draw(corpora.reuters_r8(), 40, 0),
    "newsgroups20": lambda: tasks.half_unlabeled(corpora.newsgroups20(), 5, 0),
    "ccat": lambda: corpora.ccat(0),
}
METHODS = ("annealing", "switching")
SAME = 1e-9  # relative difference of objectives
OVERHEAD = 1.03


class Alone:
    """A communicator of one rank, which counts; Python's part of a call is left out of its own seconds."""

    calls = numbers = 0

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return 1

    def allgather(self, part: Any) -> list[Any]:
        return [part]

    def Allreduce(self, own: np.ndarray, sums: np.ndarray) -> None:
        sums[:] = own
        self.calls, self.numbers = self.calls + 1, self.numbers + len(own)


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


def work() -> None:
    """What a rank runs: all sets and methods; rank 0 tells what all have found."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    for name, make in SETS.items():
        task = make()
        rows = np.arange(len(task.marked)) % comm.size == comm.rank
        for method in METHODS:
            found = together(task, method, comm, np.flatnonzero(rows))
            parts = comm.gather(found.transduction_)
            if comm.rank == 0:
                classes = np.empty(len(rows), dtype=found.transduction_.dtype)
                for rank, part in enumerate(parts):
                    classes[rank :: comm.size] = part
                print(json.dumps([name, method, float(found.objective_), classes.tolist()]), flush=True)


def of_ranks() -> dict[tuple[str, str], tuple[float, np.ndarray]]:
    """Objective and classes that the ranks find."""
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
    return {(name, method): (objective, np.array(classes)) for name, method, objective, classes in lines}


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
            ratios = []
            for _ in range(ROUNDS):
                comm = Alone()
                with_rank, one = seconds(lambda comm=comm: together(task, method, comm, rows))  # noqa: B023
                without, alone = seconds(lambda: learners.quietly(model(task, method), task.X, task.marked))  # noqa: B023
                ratios.append(with_rank / without)
            objective, classes = shared[name, method]
            what = f"{name}, {method}"
            for other, of in (("one machine", alone), ("one rank", one)):
                apart, differ = abs(objective / of.objective_ - 1), int((classes != of.transduction_).sum())
                bound = SAME if other == "one rank" else None
                note = f"{differ} rows of {len(rows)} with another class"
                report.at_most(f"{what}: {RANKS} ranks, {other}, objective apart", apart, bound, note=note)
            note = f"{comm.numbers * 8 / 1e6:.1f} MB, {one.history_['n_passes'][-1]:.0f} passes"
            report.fact(f"{what}: calls of a rank", comm.calls, note=note)
            report.at_most(f"{what}: processor time, one rank / one machine", float(np.median(ratios)), OVERHEAD)


SECTIONS = (ranks_and_one_machine,)
