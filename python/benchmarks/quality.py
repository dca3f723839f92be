"""The default beside what a user would try otherwise: a row for each set, number of labels and way to draw them.

    FEWLABEL_DATA=... python -m benchmarks quality --sets comp,gcat --labels 2,20 --draws 3 --sampling random

Labeled are k rows of each class (equal), or as many rows drawn at random among all (random), at most half of a class. A
quarter of the rows, or the published part, is the test. Nothing is given to `TransductiveSVC()` but rows and labels;
"true" is also given the true class shares of the unlabeled rows, "supervised" ignores these rows.

Columns: macro F and error on the test for each learner; `gain`, (default - supervised) / (true - supervised) of macro F;
`rare`, F of the rarest class, default / true; `off`, total variation distance of the estimated shares from the true ones;
`inside`, the part of the classes whose true share is in its 90 % interval; `time`, processor time of the default / true,
one thread; `warned`, the part of the draws in which the default warned. A mean over sets ends the table, with gain as the
ratio of the mean gains. Every fit is a line of quality.csv; fits of an earlier file are taken over by `--known`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import LinearSVC

from benchmarks import corpora, tasks
from benchmarks.tasks import DataSet, Task

CHOOSING = ("newsgroups20", "comp", "recsci", "pcmac", "ohsumed", "mnist")  # constants were chosen on these
RARE = ("gcat_5", "gcat_2", "recsci_5", "recsci_2")  # one class thinned to this percentage
REPORTING = ("reuters_r8", "reuters_r52", *corpora.CLUTO, "ccat", "gcat", "mcat", "topics4", "text1", "minilm")
GROUPS = {"choosing": CHOOSING, "reporting": REPORTING, "rare": RARE}

LEARNERS = ("default", "true", "supervised", "LinearSVC", "self-trained")
PEERS = LEARNERS[2:]  # that the default should not fall behind
METHODS = ("annealing", "switching", "pair_switching", "gradient", "entropy", "expectation", "posterior")
PROBABLE = METHODS[4:]  # of SemiSupervisedLogisticRegression
KERNELS = ("graph", "rbf")  # of KernelTransductiveSVC, for small sets
CELL = ["set", "labels", "sampling"]
BEHIND = 0.01  # of macro F, with which the default counts as worse than the best peer
CONFIDENCE = 0.9
STRENGTHS = {"C": [0.01, 0.1, 1, 10, 100]}
FOLDS = 5


# ------------------------------------------------------------------ tasks
def labeled_rows(y: np.ndarray, per_class: int, sampling: str, rng: np.random.Generator) -> np.ndarray:
    """The rows that get labels; at random they are drawn again until two classes are among them."""
    equal = np.concatenate([rows[: min(per_class, len(rows) // 2)] for rows in tasks.by_class(y, rng)])
    if sampling == "equal":
        return equal
    while len(np.unique(y[drawn := rng.permutation(len(y))[: len(equal)]])) < 2:
        pass
    return drawn


def draw(data: DataSet, per_class: int, sampling: str, seed: int) -> Task:
    """A task without the hierarchy of its classes; at least half of its rows are unlabeled."""
    test = tasks.split(data, np.random.default_rng((seed, 0)))
    y = data.y[~test]
    labeled = labeled_rows(y, per_class, sampling, np.random.default_rng((seed, per_class, sampling == "random")))
    return replace(tasks.task_of(data, f"{per_class} a class, {sampling} #{seed}", test, labeled), hierarchy=None)


def true_shares(task: Task) -> np.ndarray:
    """The true shares of the classes that have labels, in their order; together 1."""
    shares = task.shares[np.unique(task.y[~task.unlabeled])]
    return shares / shares.sum()


# ------------------------------------------------------------------ learners
def learner(name: str, task: Task) -> Any:
    """The estimator of a name, not fitted."""
    from fewlabel import KernelTransductiveSVC, SemiSupervisedLogisticRegression, TransductiveSVC

    shares = {"class_prior": true_shares(task), "n_jobs": 1}
    if name in METHODS:
        kind = SemiSupervisedLogisticRegression if name in PROBABLE else TransductiveSVC
        return kind(method=name, **shares)
    if name in KERNELS:
        return KernelTransductiveSVC(kernel=name, n_jobs=1)  # no shares: its default against the other kernel
    return {
        "default": TransductiveSVC(n_jobs=1),
        "true": TransductiveSVC(**shares),
        "supervised": TransductiveSVC(unlabeled_weight=0.0, n_jobs=1),
        "LinearSVC": tuned_svc(task),
        "self-trained": self_trained(),
    }[name]


def tuned_svc(task: Task) -> Any:
    """Its strength chosen by cross-validation of the labeled rows, if there are two of a class."""
    folds = min(FOLDS, int(np.bincount(task.y[~task.unlabeled]).max()))
    return GridSearchCV(LinearSVC(), STRENGTHS, cv=folds) if folds > 1 else LinearSVC()


def self_trained() -> Any:
    """A logistic regression, with the threshold that was best on draws from 100 on of 20 Newsgroups and R8. The default
    threshold adds hardly any row or labels nearly all with the largest class, and so do the most certain tenths."""
    return SelfTrainingClassifier(SGDClassifier(loss="log_loss", alpha=1e-5, random_state=0), threshold=0.3)


# ------------------------------------------------------------------ measuring
def measure(task: Task, name: str) -> dict[str, Any]:
    """One fit as a line of the table."""
    estimator, fitted_on = learner(name, task), np.full(len(task.y), True)
    if name == "LinearSVC":
        fitted_on = ~task.unlabeled
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(task.X[fitted_on], task.given[fitted_on])
    seconds = time.process_time() - start
    found = {"learner": name, "seconds": seconds, **scores(task, estimator.predict(task.X_test))}
    return found | (shares_of(task, estimator, caught) if name == "default" else {})


def scores(task: Task, predicted: np.ndarray) -> dict[str, float]:
    """Of the classes of the test rows."""
    each = f1_score(task.y_test, predicted, labels=np.arange(len(task.classes)), average=None, zero_division=0)
    rare = each[np.argmin(task.shares)]
    return {"F": float(np.mean(each)), "error": float(np.mean(task.y_test != predicted) * 100), "rare": float(rare)}


def shares_of(task: Task, estimator: Any, caught: list[warnings.WarningMessage]) -> dict[str, float]:
    """How far the shares that the default found are from the true ones, and what it says of them."""
    from fewlabel import FewlabelWarning, estimate_class_prior

    truth = true_shares(task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = estimate_class_prior(task.X, task.given, confidence_level=CONFIDENCE, n_jobs=1)
    return {
        "off": float(np.abs(estimator.class_prior_ - truth).sum() / 2),
        "inside": float(np.mean((said.lower <= truth) & (truth <= said.upper))),
        "warned": float(any(issubclass(one.category, FewlabelWarning) for one in caught)),
    }


def fits(chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A line for each fit, set by set."""
    for name in chosen.sets:
        data = corpora.SETS[name]()
        print(f"{name}: {data}", flush=True)
        for labels in chosen.labels:
            for sampling in chosen.sampling:
                for seed in range(chosen.first, chosen.first + chosen.draws):
                    task = draw(data, labels, sampling, seed)
                    cell = {"set": name, "labels": labels, "sampling": sampling, "draw": seed}
                    yield from (cell | measure(task, one) for one in chosen.learners)


# ------------------------------------------------------------------ the table
def cells(found: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell, means over its draws."""
    values = found.pivot_table(index=CELL, columns="learner", values=["F", "error", "rare", "seconds"], sort=False)
    table = pd.DataFrame({f"{what} {one}": values[what][one] for what in ("F", "error") for one in values["F"].columns})
    if {"default", "true"} <= set(values["F"].columns):
        table["gain"] = gain(table)
        table["rare"] = values["rare"]["default"] / values["rare"]["true"]
        table["time"] = values["seconds"]["default"] / values["seconds"]["true"]
    said = [column for column in ("off", "inside", "warned") if column in found.columns]
    return table.join(found.groupby(CELL, sort=False)[said].mean())


def gain(means: Any) -> Any:
    """What the default gains over the supervised fit, of what it would gain with the true shares."""
    if "F supervised" not in means:
        return np.nan
    return (means["F default"] - means["F supervised"]) / (means["F true"] - means["F supervised"])


def overall(table: pd.DataFrame) -> pd.DataFrame:
    """Means over the sets."""
    means = table.groupby(level=["labels", "sampling"], sort=False).mean()
    means.insert(0, "sets", table.groupby(level=["labels", "sampling"], sort=False).size())
    if "gain" in means:
        means["gain"] = gain(means)
    return means


def behind(table: pd.DataFrame) -> pd.Series:
    """How much macro F the default lacks to the best peer, in the cells where that is more than `BEHIND`."""
    peers = [f"F {one}" for one in PEERS if f"F {one}" in table]
    lack = table[peers].max(axis=1) - table["F default"] if peers and "F default" in table else pd.Series(dtype=float)
    return lack[lack > BEHIND].sort_values(ascending=False).rename("behind")


def show(found: pd.DataFrame) -> str:
    """The page."""
    table = cells(found)
    parts = {"": table, "Means over the sets": overall(table)}
    page = [f"{title}\n{part.to_string(float_format='%.3f', na_rep='-')}\n" for title, part in parts.items()]
    lost = behind(table)
    page.append(f"Cells in which the default is more than {BEHIND} behind the best peer: {len(lost)} of {len(table)}")
    with_warning = table[["warned"]].loc[lost.index] if "warned" in table else None
    return "\n".join([*page, lost.to_frame().join(with_warning).to_string(float_format="%.3f") if len(lost) else ""])


# ------------------------------------------------------------------ program
def listed(text: str, known: tuple[str, ...]) -> list[str]:
    """The names in a list with commas between them; a group stands for its members."""
    names = [one for name in text.split(",") for one in GROUPS.get(name, (name,))]
    if wrong := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"{wrong[0]!r} is not one of {', '.join((*known, *GROUPS))}")
    return names


def options() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = argparse.ArgumentParser(prog="benchmarks quality", description=__doc__.splitlines()[0])
    sets, samplings = tuple(corpora.SETS), ("equal", "random")
    names = (*LEARNERS, *METHODS, *KERNELS)
    parser.add_argument("--sets", type=lambda text: listed(text, sets), default=[*CHOOSING, *REPORTING],
                        help="with commas between them; also " + ", ".join(GROUPS))  # fmt: skip
    parser.add_argument("--labels", type=lambda text: [int(k) for k in text.split(",")], default=[2, 5, 20, 80],
                        help="of each class")  # fmt: skip
    parser.add_argument("--sampling", type=lambda text: listed(text, samplings), default=list(samplings))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw; choose on draws from 100 on")
    parser.add_argument("--learners", type=lambda text: listed(text, names), default=list(LEARNERS),
                        help=f"of {', '.join(names)}; methods are given the true shares")  # fmt: skip
    parser.add_argument("--known", type=Path, help="a file of earlier fits, for the learners that are not fitted now")
    parser.add_argument("--output", type=Path, default=corpora.RESULTS / "quality.csv")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """The program."""
    chosen = options().parse_args(arguments)
    corpora.ignored_folder(chosen.output.parent)
    found = []
    for line in fits(chosen):
        found.append(line)
        pd.DataFrame(found).to_csv(chosen.output, index=False)
    known = pd.read_csv(chosen.known) if chosen.known else pd.DataFrame(columns=["learner"])
    now = pd.DataFrame(found)
    same = known.merge(now[[*CELL, "draw"]].drop_duplicates()) if chosen.known else known
    print(show(pd.concat([now, same[~same["learner"].isin(chosen.learners)]])))
    print(f"{len(found)} fits: {chosen.output}")
    return 0
