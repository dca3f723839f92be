"""How many times faster we are than SVMlin, which the user has built, on the same rows, labels and shares.

    FEWLABEL_DATA=... python -m benchmarks.svmlin PATH_OF_SVMLIN [--rounds 3]

Seconds of SVMlin are those that its process uses less those of reading: the same call with method 0, which learns from
the labeled rows alone. Ours are the processor time of a fit on one thread.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file

from benchmarks import corpora, learners, timing
from benchmarks.tasks import Task

METHODS = {"switching": 2, "annealing": 3}  # their numbers in SVMlin
READING = 0  # least squares on the labeled rows
TASKS = (corpora.comp, corpora.gcat, corpora.ccat)


def write(task: Task, folder: Path) -> None:
    """The rows and labels as SVMlin reads them: one row a line, feature numbers from 1 on; 1, -1, or 0 for no label."""
    dump_svmlight_file(task.X, np.zeros(len(task.y)), str(folder / "labeled"), zero_based=False)
    rows = (line.split(" ", 1)[1] for line in (folder / "labeled").read_text(encoding="utf-8").splitlines())
    (folder / "rows").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    labels = np.where(task.unlabeled, 0, 2 * task.given - 1)
    (folder / "labels").write_text("".join(f"{label}\n" for label in labels), encoding="utf-8")


def seconds(program: Path, folder: Path, task: Task, method: int) -> float:
    """Processor time of one call of SVMlin."""
    share = f"{task.shares[1]:.6f}"
    call = [str(program), "-A", str(method), "-W", str(learners.ALPHA), "-U", "1", "-R", share, "rows", "labels"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(call, cwd=folder, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def compare(program: Path, task: Task, rounds: int) -> None:
    """Print the rows of a task."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(task, folder)
        reading = np.median([seconds(program, folder, task, READING) for _ in range(rounds)])
        for method, number in METHODS.items():
            theirs = np.median([seconds(program, folder, task, number) - reading for _ in range(rounds)])
            fit = {"ours": lambda m=method: learners.transductive(task, method=m, n_jobs=1)}
            ours = np.median(timing.take_turns(fit, rounds)["ours"])
            print(f"{task.name:18} {method:10} {theirs:9.3f} s {ours:9.3f} s {theirs / ours:8.1f} times", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """The program."""
    parser = argparse.ArgumentParser(prog="benchmarks.svmlin", description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path, help="SVMlin's program")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args(arguments)
    for make in TASKS:
        compare(chosen.program.resolve(), make(0), chosen.rounds)


if __name__ == "__main__":
    main()
