"""The default beside what a user would try otherwise: a row for each set, number of labels and way to draw them.

    FEWLABEL_DATA=... python -m benchmarks quality --sets comp,gcat --labels 2,20 --draws 3 --sampling random

Labeled are k rows of each class (equal), or as many rows drawn at random among all (random), at most half of a class. A
quarter of the rows, or the published part, is the test. Nothing is given to `TransductiveSVC()` but rows and labels;
"true" is also given the true class shares of the unlabeled rows, "supervised" ignores these rows.

Columns: macro F on the test for each learner; `gain`, (default - supervised) / (true - supervised) of macro F; `rare`,
F of the rarest class; `time`, processor time of the default / true, one thread; `off`, total variation distance of the
estimated shares from the true ones; `twice`, the part of the fits that take the rarest class for more than twice or
less than half as frequent as it is; `inside`, the part of the classes whose true share is in its 90 % interval;
`test` and `fit`, the expected calibration error of probabilities of the test rows and of the unlabeled rows of the fit,
and `rough`, the part of the fits that warned of them. Means over the sets end the table, with gain as the ratio of the
mean gains; `lost`, the part of the draws in which the default is more than 0.01 of macro F below the best
of its peers; and the parts of these, and of the draws in which it is more than 0.03 above, in which it warned. Every
fit is a line of quality.csv; fits of an earlier file are taken over by `--known`.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks import data, drawing, measure
from benchmarks.drawing import Task

CHOOSING = ("newsgroups20", "comp", "recsci", "pcmac", "ohsumed", "mnist")  # constants were chosen on these
RARE = ("gcat_5", "gcat_2", "recsci_5", "recsci_2")  # one class thinned to this percentage
REPORTING = ("reuters_r8", "reuters_r52", *data.CLUTO, "ccat", "gcat", "mcat", "topics4", "text1", "minilm")
PAIRS = ("mnist_38", "mnist_49", "mnist_27", "mnist_56", "minilm_religion", "minilm_hardware")
SMALL = (*data.SMALL, "g50c", "galaxy", *PAIRS)
GROUPS = {"choosing": CHOOSING, "reporting": REPORTING, "rare": RARE, "small": SMALL}

LEARNERS = ("default", "true", "supervised", "LinearSVC", "logistic regression")
PEERS, SUPERVISED = LEARNERS[2:], LEARNERS[3:]  # that the default should not fall behind; that have labeled rows only
METHODS = ("annealing", "switching", "pair_switching", "gradient", "entropy", "expectation", "posterior")
LOGISTIC = "logistic"  # SemiSupervisedLogisticRegression as it comes
CALIBRATED = "calibrated"  # the default with probabilities
PROBABLE = (LOGISTIC, CALIBRATED, *METHODS[4:])
KERNELS = ("graph", "rbf")  # of KernelFeatures; no shares are given
CELL = ["set", "labels", "sampling"]
LOST, WON = -0.01, 0.03  # of macro F, to the best peer
CONFIDENCE = 0.9
STRENGTHS = {"C": [1, 10, 100, 0.1, 0.01], "class_weight": [None, "balanced"]}  # the first of equals is taken
FOLDS = 5
BINS = 15  # of the calibration error
MUCH = 0.12  # of it


# ------------------------------------------------------------------ learners
def learner(name: str, task: Task) -> Any:
    """The estimator of a name, not fitted."""
    from fewlabel import KernelFeatures, SemiSupervisedLogisticRegression, TransductiveSVC

    shares = {"class_prior": task.shares, "n_jobs": 1}
    if name in METHODS:
        kind = SemiSupervisedLogisticRegression if name in PROBABLE else TransductiveSVC
        return kind(method=name, **shares)
    if name in KERNELS:
        return make_pipeline(KernelFeatures(kernel=name), TransductiveSVC(n_jobs=1))
    return {
        "default": TransductiveSVC(n_jobs=1),
        "true": TransductiveSVC(**shares),
        "supervised": TransductiveSVC(unlabeled_weight=0.0, n_jobs=1),
        "LinearSVC": tuned(task, LinearSVC(), STRENGTHS),
        "logistic regression": LogisticRegression(C=10, max_iter=1000),
        LOGISTIC: SemiSupervisedLogisticRegression(n_jobs=1),
        CALIBRATED: TransductiveSVC(calibrate=True, n_jobs=1),
    }[name]


def tuned(task: Task, estimator: Any, grid: dict[str, list[Any]]) -> Any:
    """Its parameters chosen by cross-validation of the labeled rows, the first ones if no class has two of them; by
    macro F, because few labels make the accuracy of the largest class look good."""
    folds = min(FOLDS, int(np.bincount(task.y[~task.unlabeled]).max()))
    if folds == 1:
        return estimator.set_params(**{name: values[0] for name, values in grid.items()})
    return GridSearchCV(estimator, grid, scoring="f1_macro", cv=folds)


# ------------------------------------------------------------------ measuring
def fit(task: Task, name: str) -> dict[str, Any]:
    """One fit as a line of the table."""
    estimator = learner(name, task)
    rows = ~task.unlabeled if name in SUPERVISED else np.full(len(task.y), True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seconds, _ = measure.seconds(lambda: estimator.fit(task.X[rows], task.given[rows]))
    found = {"learner": name, "seconds": seconds, **scores(task, estimator.predict(task.X_test))}
    if name in PROBABLE:
        hidden, classes = task.unlabeled, estimator.classes_
        found["test"] = calibration_error(estimator.predict_proba(task.X_test), classes, task.y_test)
        found["fit"] = calibration_error(estimator.label_distributions_[hidden], classes, task.y[hidden])
        found["rough"] = float(any("the probabilities are" in str(one.message) for one in caught))
    return found | (shares_of(task, estimator, caught) if name == "default" else {})


def scores(task: Task, predicted: np.ndarray) -> dict[str, float]:
    """Of the classes of the test rows."""
    K = len(task.classes)
    each = f1_score(task.y_test, predicted, labels=np.arange(K), average=None, zero_division=0)
    rare = each[np.argmin(np.bincount(task.y_test, minlength=K))]
    return {"F": float(np.mean(each)), "accuracy": float(np.mean(task.y_test == predicted)), "rare": float(rare)}


def calibration_error(probabilities: np.ndarray, classes: np.ndarray, truth: np.ndarray) -> float:
    """Mean over the rows of |share of right answers - mean confidence| of their bin, bins of equal width."""
    confidence, right = probabilities.max(axis=1), classes[probabilities.argmax(axis=1)] == truth
    gaps = np.bincount(np.minimum((confidence * BINS).astype(int), BINS - 1), right - confidence, minlength=BINS)
    return float(np.abs(gaps).sum() / len(right))


def shares_of(task: Task, estimator: Any, caught: list[warnings.WarningMessage]) -> dict[str, float]:
    """How far the shares that the default found are from the true ones, and what it says of them."""
    from fewlabel import FewlabelWarning, estimate_class_prior

    truth = task.shares
    rarest = np.argmin(truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = estimate_class_prior(task.X, task.given, confidence_level=CONFIDENCE, n_jobs=1)
    return {
        "off": float(np.abs(estimator.class_prior_ - truth).sum() / 2),
        "twice": float(not 0.5 <= estimator.class_prior_[rarest] / truth[rarest] <= 2),
        "inside": float(np.mean((said.lower <= truth) & (truth <= said.upper))),
        "warned": float(any(issubclass(one.category, FewlabelWarning) for one in caught)),
    }


def fits(chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A line for each fit, set by set."""
    for name in chosen.sets:
        rows = data.SETS[name]()
        print(f"{name}: {rows.name}, {len(rows.y):,} rows, {len(rows.classes)} classes", flush=True)
        for labels, sampling in itertools.product(chosen.labels, chosen.sampling):
            for seed in range(chosen.first, chosen.first + chosen.draws):
                task = drawing.draw(rows, labels, sampling, seed)
                cell = {"set": name, "labels": labels, "sampling": sampling, "draw": seed}
                yield from (cell | fit(task, one) for one in chosen.learners)


# ------------------------------------------------------------------ the table
def cells(found: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell, means over its draws."""
    what = [name for name in ("F", "test", "fit", "rough") if name in found]
    values = found.pivot_table(index=CELL, columns="learner", values=[*what, "rare", "seconds"], sort=False)
    learners = [one for one in found["learner"].unique() if one in values["F"]]
    table = pd.DataFrame(
        {f"{name} {one}": values[name][one] for name in what for one in learners if one in values[name]}
    )
    if {"default", "true"} <= set(learners):
        table["gain"] = gain(table)
        table["rare default"], table["rare true"] = values["rare"]["default"], values["rare"]["true"]
        table["time"] = values["seconds"]["default"] / values["seconds"]["true"]
    said = [column for column in ("off", "twice", "inside") if column in found.columns]
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


def losses(found: pd.DataFrame) -> pd.DataFrame:
    """How often the default lost to the best peer, and how often it warned where it lost and where it won."""
    peers, draw = [one for one in PEERS if one in set(found["learner"])], [*CELL, "draw"]
    if not peers or "warned" not in found:
        return pd.DataFrame()
    F = found.pivot_table("F", draw, "learner")
    lead, warned = F["default"] - F[peers].max(axis=1), found.groupby(draw)["warned"].max()
    parts = {"lost": lead < LOST, "warned if lost": warned[lead < LOST], "warned if won": warned[lead > WON]}
    return pd.DataFrame(parts).astype(float).groupby(level=["labels", "sampling"]).mean()


def unsaid(found: pd.DataFrame) -> pd.DataFrame:
    """Cells of probabilities that are much off, and those of them in which no fit warned."""
    if "rough" not in found:
        return pd.DataFrame()
    means = (
        found[found["learner"].isin(PROBABLE)].groupby(["learner", *CELL], sort=False)[["test", "fit", "rough"]].mean()
    )
    off = means[["test", "fit"]].max(axis=1) > MUCH
    parts = {"cells": means["rough"].notna(), f"above {MUCH}": off, "without a warning": off & (means["rough"] == 0)}
    return pd.DataFrame(parts).groupby(["learner", "labels"]).sum()


def show(found: pd.DataFrame) -> str:
    """The page."""
    table = cells(found)
    parts = {"": table, "Means over the sets": overall(table), "Draws beside the best peer": losses(found),
             "Calibration errors": unsaid(found)}  # fmt: skip
    text = {title: part.to_string(float_format="%.3f", na_rep="-") for title, part in parts.items() if len(part)}
    return "\n".join(f"{title}\n{part}\n" for title, part in text.items())


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
    sets, samplings = tuple(data.SETS), ("equal", "random")
    names = (*LEARNERS, LOGISTIC, CALIBRATED, *METHODS, *KERNELS)
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
    parser.add_argument("--output", type=Path, default=data.RESULTS / "quality.csv")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """The program."""
    chosen = options().parse_args(arguments)
    data.ignored_folder(chosen.output.parent)
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
