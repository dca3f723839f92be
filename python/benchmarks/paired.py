"""Compare this checkout with another one in paired runs: the same fits, by turns, one thread each.

    FEWLABEL_DATA=... python -m benchmarks.paired OTHER_CHECKOUT [--tasks comp,text1] [--methods annealing] [--rounds 5]

OTHER_CHECKOUT has a built package and a .venv; it may be older. Every round has another draw of the labels. Seconds are
processor time. Seconds, passes and ratios, this / other inside a round, are medians over the rounds, errors are means.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks import corpora, large, learners, tasks

HERE = Path(__file__).parents[2]
TASKS = {  # of the draw
    "planted": lambda k: large.task(1000 + k, cols=2000, row_length=20),  # needs no data sets
    "million": lambda k: large.task(1_000_000, seed=k),
    "text1": lambda k: corpora.text1(k % 10),
    "comp": corpora.comp,
    "ccat": corpora.ccat,
    "gcat": corpora.gcat,
    "newsgroups20": lambda k: tasks.half_unlabeled(corpora.newsgroups20(), 5, k),
    "newsgroups20_tree": lambda k: tasks.half_unlabeled(corpora.newsgroups20_tree(), 5, k),
    "fbis": lambda k: tasks.draw(corpora.cluto("fbis"), 80, k),
    "r8": lambda k: tasks.draw(corpora.reuters_r8(), 40, k),
}
MANY = ("newsgroups20", "newsgroups20_tree", "fbis", "r8")
METHODS = ("annealing", "switching", "maxent")  # maxent: annealing with that loss, many classes only
WORKER = "import sys, fewlabel; sys.path.insert(0, sys.argv[1]); from benchmarks import {0}; {0}.work()"


def work() -> None:
    """What runs in each checkout: a fit for each line [task, method, draw] of JSON, answered by a line."""
    fit("planted", "switching", 0)  # loads the library
    for line in sys.stdin:
        print(json.dumps(fit(*json.loads(line))), flush=True)


def fit(name: str, method: str, draw: int) -> dict[str, float]:
    """A fit with the true class shares, by what every version of the package has."""
    from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC

    task = TASKS[name](draw)
    model = TransductiveSVC(method=method, alpha=learners.ALPHA)
    if method == "maxent":
        model = SemiSupervisedLogisticRegression(method="annealing", alpha=learners.ALPHA_MAXENT, calibrate=False)
    model.set_params(class_prior=task.class_prior, hierarchy=task.hierarchy, unlabeled_weight=1.0, n_jobs=1)
    start = time.process_time()
    learners.quietly(model, task.X, task.marked)
    seconds = time.process_time() - start
    passes, error = model.history_["n_passes"][-1], learners.outcome(task, model, seconds).error
    return {"seconds": seconds, "passes": float(passes), "objective": float(model.objective_), "error": error}


def worker(folder: Path, module: str = "paired") -> subprocess.Popen:
    """The process that works in a checkout: its package is imported first, then the benchmarks of this folder."""
    package, python = folder.resolve() / "python", folder.resolve() / ".venv/bin/python"
    env = os.environ | {"PYTHONPATH": str(package), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command, pipe = [python, "-c", WORKER.format(module), HERE / "python"], subprocess.PIPE
    return subprocess.Popen(command, cwd=package, env=env, stdin=pipe, stdout=pipe, text=True)


def ask(process: subprocess.Popen, *request: object) -> dict[str, float]:
    """What a fit takes and finds in a worker."""
    print(json.dumps(request), file=process.stdin, flush=True)
    return json.loads(process.stdout.readline())  # nothing to read: the message of the worker is above


def compare(both: tuple[subprocess.Popen, ...], name: str, method: str, rounds: int) -> str:
    """The row of a task and a method; who comes first changes with the round."""
    answers: tuple[list, list] = ([], [])
    for k in range(rounds):
        for i in (k % 2, 1 - k % 2):
            answers[i].append(ask(both[i], name, method, k))
    this, other = ({key: np.array([a[key] for a in some]) for key in some[0]} for some in answers)
    cells = [f"{name:18} {method:10}"]
    for key in ("seconds", "passes"):
        cells += [f"{np.median(v[key]):8.4g}" for v in (this, other)] + [f"{np.median(this[key] / other[key]):7.3f}"]
    cells.append(f"{np.median(this['objective'] / other['objective']):10.6f}")
    return " ".join(cells + [f"{v['error'].mean():8.2f}" for v in (this, other)])


def main(arguments: list[str] | None = None) -> None:
    """The program."""
    parser = argparse.ArgumentParser(prog="benchmarks.paired", description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--tasks", help=f"of {','.join(TASKS)}", default=",".join(list(TASKS)[2:]))
    parser.add_argument("--methods", help=f"of {','.join(METHODS)}", default=",".join(METHODS))
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    names, methods = chosen.tasks.split(","), chosen.methods.split(",")
    if wrong := [n for n in names if n not in TASKS] + [m for m in methods if m not in METHODS]:
        parser.error(f"unknown name {wrong[0]!r}")
    both = worker(HERE), worker(chosen.other)
    print(f"{'':29} {'seconds':>25} {'passes':>25} {'objective':>10} {'test error, %':>17}")
    print(
        f"{'task':18} {'method':10}"
        + f" {'this':>8} {'other':>8}   ratio" * 2
        + f"      ratio {'this':>8} {'other':>8}"
    )
    for name, method in itertools.product(names, methods):
        if method != "maxent" or name in MANY:
            print(compare(both, name, method, chosen.rounds), flush=True)
    for process in both:
        process.communicate()


if __name__ == "__main__":
    main()
