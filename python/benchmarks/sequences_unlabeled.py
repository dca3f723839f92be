"""Sentences without any label: what they add to 10 and 100 labeled ones, in CoNLL-2002 Spanish.

The weight and the number of epochs were chosen on draws of sentences other than these (seeds from 100 on). Given shares
are those of the tags among the unlabeled tokens, of the tags that occur in the labeled sentences.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
from scipy.stats import ttest_rel

from benchmarks.report import Report
from benchmarks.sequences import Sentences, Tags, fitted, spanish, wrong

SUPERVISED: dict[str, dict[str, Any]] = {
    "softmax_margin": {},
    "crf": {"loss": "crf"},
    "huber": {"loss": "huber"},
    "soft_hinge, lbfgs": {"loss": "soft_hinge", "solver": "lbfgs"},
}
GIVEN = "posterior, shares given"
UNLABELED: dict[str, dict[str, Any]] = {
    GIVEN: {"method": "posterior"},
    "posterior, shares of the labels": {"method": "posterior"},
    "gradient": {"method": "gradient"},
}


def shares(labeled: Tags, unlabeled: Tags) -> dict[str, float]:
    """Shares of the tags among unlabeled tokens."""
    known = set(itertools.chain.from_iterable(labeled))
    counts = Counter(tag for tags in unlabeled for tag in tags if tag in known)
    total = sum(max(1, counts[tag]) for tag in known)
    return {tag: max(1, counts[tag]) / total for tag in known}


def both(data: Sentences, model: Any) -> tuple[float, float]:
    """Entity F1 and wrong tokens in the test set, in percent."""
    return data.f1(model), wrong(data, model)


def measured(data: Sentences, n: int, unlabeled: int, seed: int) -> dict[str, tuple[float, float]]:
    """Everything at one draw."""
    X, tags = data.draw(n + unlabeled, seed)
    few = sum(map(len, tags[:n]))
    marked: Any = [*tags[:n], *([None] * len(sentence) for sentence in tags[n:])]
    prior, found = shares(tags[:n], tags[n:]), {}
    for name, parameters in SUPERVISED.items():
        if n == 10 or "solver" not in parameters:
            found[name] = both(data, fitted(X[:few], tags[:n], **parameters))
    for name, parameters in UNLABELED.items():
        given = {"class_prior": prior} if "given" in name else {}
        found[name] = both(data, fitted(X, marked, **parameters, **given))
    return found


def sequences_unlabeled(report: Report, draws: int = 20) -> None:
    """Every method at its default weight, at 10 and at 100 labeled sentences."""
    data = spanish()
    for n, unlabeled in ((10, 500), (100, 500)):
        table(report, n, unlabeled, [measured(data, n, unlabeled, seed) for seed in range(draws)])


def table(report: Report, n: int, unlabeled: int, runs: list[dict[str, tuple[float, float]]]) -> None:
    """Means over the draws; the methods against the best supervised loss, paired."""
    scores = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    best = max((name for name in scores if name in SUPERVISED), key=lambda name: scores[name][:, 0].mean())
    lowest = min((name for name in scores if name in SUPERVISED), key=lambda name: scores[name][:, 1].mean())
    what = f"CoNLL-2002 Spanish, {n} labeled and {unlabeled} unlabeled sentences"
    for name, values in scores.items():
        f1, error = values.mean(axis=0)
        note = f"wrong tokens {error:.2f} %"
        if name in UNLABELED:
            note += f"; F1 against {best} {against(values, scores[best], 0)}, wrong tokens against {lowest} "
            note += against(values, scores[lowest], 1)
        report.fact(f"{what}: {name}, F1", f1, " %", note, values[:, 0])
    if n == 10:
        more = scores[GIVEN][:, 0] - scores["crf"][:, 0]
        report.at_least(f"{what}: {GIVEN}, F1 less that of crf", more.mean(), 5.0, " %", f"{len(runs)} draws", more)
    less = scores[GIVEN][:, 1] - scores["huber"][:, 1]
    note = f"p = {p_value(less):.2g}"
    report.fact(f"{what}: {GIVEN}, wrong tokens less those of huber", less.mean(), " %", note, less)


def against(values: np.ndarray, others: np.ndarray, column: int) -> str:
    """Mean of the paired differences and the p-value of a t-test."""
    difference = values[:, column] - others[:, column]
    return f"{difference.mean():+.2f} (p = {p_value(difference):.2g})"


def p_value(differences: np.ndarray) -> float:
    """Of no difference, two-sided."""
    return float(ttest_rel(differences, np.zeros_like(differences)).pvalue) if len(differences) > 1 else float("nan")


SECTIONS = (sequences_unlabeled,)
