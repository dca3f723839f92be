"""Compare this checkout with another one in paired runs: the same fits, by turns, one thread each.

    FEWLABEL_DATA=... python -m benchmarks paired OTHER_CHECKOUT [--tasks comp,text1] [--methods annealing] [--rounds 5]

OTHER_CHECKOUT has a built package and a .venv; it may be older. Every round has another draw of the labels, `--labels`
of each class. Seconds are processor time of a fit, for the task `small` the mean of many. Seconds, passes and ratios,
this / other inside a round, are medians over the rounds, errors and macro F are means.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score

from benchmarks import data, drawing, large, measure
from benchmarks.drawing import Task

HERE = Path(__file__).parents[2]
TASKS: dict[str, Callable[[int], Task]] = {  # of the draw; the first three need no data sets
    "small": lambda k: large.task(200 + k, cols=500, row_length=10),
    "planted": lambda k: large.task(1000 + k, cols=2000, row_length=20),
    "million": lambda k: large.task(1_000_000, seed=k),
    **{
        name: lambda k, name=name: drawing.draw(data.SETS[name](), 22, "random", k)
        for name in ("text1", "comp", "ccat", "gcat")
    },
}
MANY = ("newsgroups20", "newsgroups20_tree", "fbis", "reuters_r8")
TASKS |= {name: lambda k, name=name: drawing.draw(data.SETS[name](), 5, "equal", k) for name in MANY}
REPEATS = {"small": 200}
METHODS = ("auto", "annealing", "switching", "maxent")  # maxent: annealing with that loss, many classes only
WORKER = "import sys, fewlabel; sys.path.insert(0, sys.argv[1]); from benchmarks import paired; paired.work()"


def work() -> None:
    """What runs in each checkout: a fit for each line [task, method, draw] of JSON, answered by a line."""
    fit("planted", "switching", 0)  # loads the library
    for line in sys.stdin:
        print(json.dumps(fit(*json.loads(line))), flush=True)


def fit(name: str, method: str, draw: int, labels: int = 0) -> dict[str, float]:
    """A fit with the true class shares, by what every version of the package has."""
    from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC

    task = drawing.draw(data.SETS[name](), labels, "equal", draw) if labels else TASKS[name](draw)
    repeats = REPEATS.get(name, 1)
    model = TransductiveSVC(method=method, alpha=1e-3)
    if method == "maxent":
        model = SemiSupervisedLogisticRegression(method="annealing", alpha=1e-4, calibrate=False)
    model.set_params(class_prior=task.shares, hierarchy=task.hierarchy, unlabeled_weight=1.0, n_jobs=1)
    spent, _ = measure.seconds(lambda: [measure.quietly(model, task.X, task.marked) for _ in range(repeats)])
    truth = task.y_test if task.hierarchy is None else task.classes[task.y_test]
    predicted = model.predict(task.X_test)
    return {
        "seconds": spent / repeats,
        "passes": float(model.history_["n_passes"][-1]),
        "objective": float(model.objective_),
        "error": 100 * float(np.mean(predicted != truth)),
        "F": float(f1_score(truth, predicted, average="macro")),
    }


def worker(folder: Path) -> subprocess.Popen:
    """The process that works in a checkout: its package is imported first, then the benchmarks of this folder."""
    package, python = folder.resolve() / "python", folder.resolve() / ".venv/bin/python"
    env = os.environ | {"PYTHONPATH": str(package), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [python, "-c", WORKER, HERE / "python"], cwd=package, env=env, stdin=pipe, stdout=pipe, text=True
    )


def ask(process: subprocess.Popen, *request: object) -> dict[str, float]:
    """What a fit takes and finds in a worker."""
    print(json.dumps(request), file=process.stdin, flush=True)
    return json.loads(process.stdout.readline())  # nothing to read: the message of the worker is above


def compare(both: tuple[subprocess.Popen, ...], name: str, method: str, rounds: int, labels: int) -> str:
    """The row of a task and a method; who comes first changes with the round."""
    answers: tuple[list, list] = ([], [])
    for k in range(rounds):
        for i in (k % 2, 1 - k % 2):
            answers[i].append(ask(both[i], name, method, k, labels))
    this, other = ({key: np.array([a[key] for a in some]) for key in some[0]} for some in answers)
    cells = [f"{name:18} {method:10} {labels or '':3}"]
    for key in ("seconds", "passes"):
        cells += [f"{np.median(v[key]):8.4g}" for v in (this, other)] + [f"{np.median(this[key] / other[key]):7.3f}"]
    cells.append(f"{np.median(this['objective'] / other['objective']):10.6f}")
    cells += [f"{v['error'].mean():8.2f}" for v in (this, other)] + [f"{v['F'].mean():8.4f}" for v in (this, other)]
    return " ".join(cells)


def main(arguments: list[str]) -> int:
    """The program."""
    parser = argparse.ArgumentParser(prog="benchmarks paired", description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--tasks", help=f"of {','.join(TASKS)}; with labels any set", default=",".join(TASKS))
    parser.add_argument("--methods", help=f"of {','.join(METHODS)}", default=",".join(METHODS))
    parser.add_argument("--labels", help="of each class, as 2,5,20,80; 0: those of the task", default="0")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    names, methods, labels = chosen.tasks.split(","), chosen.methods.split(","), map(int, chosen.labels.split(","))
    known = {*TASKS, *data.SETS} if chosen.labels != "0" else TASKS
    if wrong := [n for n in names if n not in known] + [m for m in methods if m not in METHODS]:
        parser.error(f"unknown name {wrong[0]!r}")
    both = worker(HERE), worker(chosen.other)
    print(f"{'':33} {'seconds':>25} {'passes':>25} {'objective':>10} {'test error, %':>17} {'macro F':>17}")
    heads = f" {'this':>8} {'other':>8}   ratio" * 2 + "      ratio" + f" {'this':>8} {'other':>8}" * 2
    print(f"{'task':18} {'method':10}    {heads}")
    for name, method, k in itertools.product(names, methods, labels):
        if method != "maxent" or name in MANY:
            print(compare(both, name, method, chosen.rounds, k), flush=True)
    for process in both:
        process.communicate()
    return 0
