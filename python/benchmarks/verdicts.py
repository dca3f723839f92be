"""What the library says of fits whose truth is known, from hidden labels: verdicts of `check`, and warnings.

    FEWLABEL_DATA=... python -m benchmarks verdicts [sixty] [few] [scales] [warned] [plain] [--draws N]

sixty: fits, fixed before any was measured: ten sets, 10 or 50 labels of each class, and three ways to give the shares.
These are estimated ("auto"), those of the equal labels, which are wrong where classes are not (as a careless user has
them), or the true ones in reversed order (of two even classes: 1/4 and 3/4), which should hurt. The truth is the
accuracy on the unlabeled rows with unlabeled rows minus that without. "no difference" is right within a point, "helps"
and "hurts" beyond half a point. Where `check` cannot tell, the labels that it needs are given, in ORDERS random
orders, until it can: its numbers are right if labels decide at half to twice the number. Constants were chosen on other
sets.

few: `check` with 2, 3 and 5 labels of each class, of TWINS and the same with columns of very different scales.

scales: warnings of columns that hide the others.

warned: the default on the sets and numbers of labels of `quality`, and plain texts. A fit loses that is more than 0.01
of macro F below the best of LinearSVC, logistic regression and the supervised fit, or below the default without the
features of more than a fifth of the rows, the cure of a warning; it gains if it is more than 0.03 above the best. For
each warning: the fits that have it, and the part that loses among these and among the others.

plain: texts as `TfidfVectorizer()` has them, and by `text_vectorizer()`, the cure of the warning.

Of larger sets ROWS rows are used.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from benchmarks import data, drawing, measure, quality
from benchmarks.drawing import DataSet, Task
from benchmarks.measure import Report

SETS = ("reuters_r8", "classic", "k1b", "re0", "hitech", "topics4", "gcat", "ccat", "text1", "minilm")
LABELS = (10, 50)
ROWS = 2500
EVEN, SAME = 0.005, 0.01  # of accuracy
LEAST_SHARE = 1e-3
ORDERS = 5
FREQUENT = 0.2  # part of the rows
TWINS = (*data.SMALL, "g50c", "text1", "irony", "minilm_religion")
FEW = (2, 3, 5)
TEXTS = ("pcmac", "recsci", "comp", "newsgroups20", "reuters_r8")


def some(rows: DataSet) -> DataSet:
    """At most ROWS rows; a published test has its part of them."""
    kept = np.sort(np.random.default_rng((0, 9)).permutation(len(rows.y))[:ROWS])
    train = None if rows.train is None else rows.train[kept]
    names = rows.classes[rows.y[kept]]
    found = data.data_set(rows.name, rows.X[kept], names)
    return found if train is None or len(found.y) < len(kept) else replace(found, train=train)


# ------------------------------------------------------------------ verdicts
def priors(task: Task) -> dict[str, Any]:
    """The values of `class_prior`, by name."""
    shares, order = task.shares, np.argsort(task.shares)
    reversed_shares = np.empty(len(shares))
    reversed_shares[order] = shares[order[::-1]]
    if len(shares) == 2 and abs(shares[0] - 0.5) < 0.1:
        reversed_shares = np.array([0.25, 0.75])
    reversed_shares = np.maximum(reversed_shares, LEAST_SHARE)
    return {"auto": "auto", "labels": "labels", "reversed": reversed_shares / reversed_shares.sum()}


def gain(task: Task, prior: Any) -> float:
    """What unlabeled rows add to the accuracy on themselves."""
    from fewlabel import TransductiveSVC

    free, models = (
        task.unlabeled,
        [TransductiveSVC(class_prior=prior, unlabeled_weight=w, n_jobs=1) for w in (0, "auto")],
    )
    without, both = (
        np.mean(measure.quietly(m, task.X, task.given).predict(task.X[free]) == task.y[free]) for m in models
    )
    return float(both - without)


def judged(verdict: str, truth: float) -> str:
    """Whether a verdict is right."""
    if verdict == "cannot tell":
        return verdict
    right = {"helps": truth > EVEN, "hurts": truth < -EVEN, "no difference": abs(truth) <= SAME}
    return "right" if right[verdict] else "wrong"


def shuffled(found: Any, seed: int) -> Any:
    """The same with the disagreements in another order."""
    order = np.random.default_rng(seed).permutation(len(found.disagreements))
    differing = found._differing._replace(predicted=found._differing.predicted[:, order])
    return replace(found, disagreements=found.disagreements[order], _differing=differing)


def decided(found: Any, task: Task) -> tuple[list[bool], Any]:
    """Label what is needed until there is a verdict: whether each number was right, and the end."""
    near = []
    while found.verdict == "cannot tell":
        tried = (found.decide(first(found, task, n)) for n in range(1, 2 * found.needed + 1))
        least = next((n for n, one in enumerate(tried, 1) if one.verdict != "cannot tell"), np.inf)
        near.append(found.needed / 2 <= least <= 2 * found.needed)
        found = found.decide(first(found, task, found.needed))
    return near, found


def first(found: Any, task: Task, more: int) -> np.ndarray:
    """The labels given so far, and more."""
    return task.y[found.disagreements[: found.n_labels + more]]


def sixty(report: Report, draws: int = 1) -> None:
    """Right verdicts, at once and by the labels that were needed, and right numbers; a line for each fit."""
    from fewlabel import TransductiveSVC
    from fewlabel.inspection import check

    verdicts, near, ends, spent = [], [], [], []
    for name, labels, draw in itertools.product(SETS, LABELS, range(draws)):
        task = drawing.draw(some(data.SETS[name]()), labels, "equal", draw)
        for kind, prior in priors(task).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # shares far from those of the labels are meant here
                told = check(TransductiveSVC(class_prior=prior, n_jobs=1), task.X, task.given, verbose=0)
            truth = gain(task, prior)
            verdicts.append(judged(told.verdict, truth))
            note = f"{told.verdict}, {told.lower:+.3f} to {told.upper:+.3f}: {verdicts[-1]}"
            if verdicts[-1] == "cannot tell":
                found = [decided(shuffled(told, seed), task) for seed in range(ORDERS)]
                near += [one for numbers, _ in found for one in numbers]
                ends += [judged(end.verdict, truth) == "right" for _, end in found]
                spent += [end.n_labels for _, end in found]
                note += f", needs {told.needed} labels, right {np.mean(ends[-ORDERS:]):.0%}"
            report.add(f"{name}, {labels} labels, {kind}: truth", truth, note=note)
    told = np.array(verdicts)
    report.add("verdicts at once", np.mean(told != "cannot tell"))
    report.add("right of these", np.mean(told[told != "cannot tell"] == "right"), at_least=0.95)
    report.add("right by the labels needed", np.mean(ends), at_least=0.95)
    report.add("numbers right within a factor of 2", np.mean(near), at_least=0.8)
    report.add("labels needed in the end, median", np.median(spent))


def unscaled(name: str) -> DataSet:
    """The same rows with columns of very different scales: tables as they come, others times powers of ten."""
    rows = data.SETS[name]()
    if name in ("iris", "wine", "cancer"):
        return data.data_set(name, *data.SMALL[name]())
    scales = 10 ** np.random.default_rng((0, 12)).uniform(-2, 2, rows.X.shape[1])
    return replace(rows, X=(rows.X @ sp.diags(scales)).tocsr() if sp.issparse(rows.X) else rows.X * scales)


def contradicts(found: Any) -> bool:
    """Whether the numbers of the sentence contradict each other or the verdict."""
    said = str(found)
    numbers = [float(one) for one in re.findall(r"([-+][0-9.]+)%", said)]
    counts = [int(one) for one in re.findall(r"([0-9]+) (?:gained|lost)", said)]
    if found.n_rows < 30:
        return "%" in said
    difference, lower, upper = numbers
    side = {"helps": lower >= 0, "hurts": upper <= 0, "no difference": max(-lower, upper) <= 1, "cannot tell": True}
    inside = lower <= difference <= upper and side[found.verdict]
    return not inside or bool(counts and (counts[0] - counts[1]) * difference < 0)


def few(report: Report, draws: int = 1) -> None:
    """Refused, contradictions, and "helps" where LinearSVC is better by .05 on the unlabeled rows."""
    from fewlabel import TransductiveSVC
    from fewlabel.inspection import check

    refused, wrong, misled = [], [], []
    for name, twin, labels, draw in itertools.product(TWINS, (False, True), FEW, range(draws)):
        task = drawing.draw(some(unscaled(name) if twin else data.SETS[name]()), labels, "equal", draw)
        try:
            found = check(TransductiveSVC(n_jobs=1), task.X, task.given, verbose=0)
        except ValueError:
            refused.append(1)
            continue
        refused.append(0)
        wrong.append(contradicts(found))
        if found.verdict == "helps":
            free, known = task.unlabeled, ~task.unlabeled
            model = measure.quietly(TransductiveSVC(n_jobs=1), task.X, task.given)
            svc = measure.quietly(LinearSVC(), task.X[known], task.given[known])
            lead = np.mean(svc.predict(task.X[free]) == task.y[free])
            lead -= np.mean(model.predict(task.X[free]) == task.y[free])
            misled.append(lead > 0.05)
            report.add(f"{name}{', unscaled' * twin}, {labels} labels: helps, LinearSVC - model", lead)
    report.add("refused", sum(refused), at_most=0, note=f"of {len(refused)}")
    report.add("contradictions", sum(wrong), at_most=0)
    report.add("helps where LinearSVC is better by .05", sum(misled), at_most=0, note=f"of {len(misled)} helps")


# ------------------------------------------------------------------ warnings
def hides(X: Any) -> bool:
    """Whether a fit of these rows warns of columns that hide the others."""
    from fewlabel import TransductiveSVC

    X = X[np.random.default_rng(0).permutation(X.shape[0])[:1500]]
    model, y = TransductiveSVC(method="switching", class_prior="labels", max_iter=2, n_jobs=1), np.full(X.shape[0], -1)
    y[:10] = np.arange(10) % 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return any("few columns carry" in str(one.message) for one in caught)


def scales(report: Report) -> None:
    """Warnings of columns that hide the others: of sets and their forms, and of tables as they come."""
    no = {name: hides(make().X) for name, make in data.SETS.items() if not name.endswith("_tree")}
    no["digits, raw"] = hides(data.SMALL["digits"]()[0])
    for name in data.CLUTO:
        counts, _ = data.loader().cluto(name)
        dense = counts[:, np.argsort(-np.asarray(counts.sum(axis=0)).ravel())[:1000]].toarray()
        no |= {f"counts of {name}": hides(counts), f"{name}, dense": hides(dense), f"{name}, SVD": hides(
            TruncatedSVD(50, random_state=0).fit_transform(dense))}  # fmt: skip
    rows = data.minilm().X[:1500]
    lengths = np.random.default_rng(0).lognormal(6, 1, (len(rows), 1))
    yes = {name: hides(data.SMALL[name]()[0]) for name in ("wine", "cancer")}
    yes["vectors beside lengths"] = hides(np.hstack([rows, lengths]))
    report.add("false warnings", sum(no.values()), at_most=0, note=f"of {len(no)}: {[k for k in no if no[k]]}")
    report.add("tables warned of", sum(yes.values()), at_least=len(yes), note=f"of {len(yes)}")


class Fit(NamedTuple):
    """A fit beside the best of its peers."""

    lead: float  # of macro F
    cure: float  # what it gains without frequent features
    kinds: set[str]  # of its warnings


def kinds(caught: Iterable[warnings.WarningMessage]) -> set[str]:
    """Categories and first words, without names and numbers."""
    return {
        f"{one.category.__name__}: {re.sub(r'(?<=class |ature )[^ ]+ |[^ ]*[0-9][^ ]* ?', '', str(one.message)):.36}"
        for one in caught
    }


def fit(task: Task, name: str) -> tuple[float, set[str]]:
    """Macro F of a learner of `quality`, and its warnings."""
    estimator = quality.learner(name, task)
    rows = ~task.unlabeled if name in quality.SUPERVISED else np.full(len(task.y), True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(task.X[rows], task.given[rows])
    return quality.scores(task, estimator.predict(task.X_test))["F"], kinds(caught)


def without_frequent(task: Task) -> Task | None:
    """The task in unit rows of the features that at most a fifth of the rows have, if some have more."""
    if not sp.issparse(task.X) or (kept := np.diff(task.X.tocsc().indptr) <= FREQUENT * len(task.y)).all():
        return None
    return replace(task, X=normalize(task.X[:, kept]), X_test=normalize(task.X_test[:, kept]))


def tasks(sets: Iterable[DataSet], draws: int) -> Iterator[Task]:
    """Of the numbers of labels of `quality`."""
    numbers, samplings = quality.options().get_default("labels"), quality.options().get_default("sampling")
    for rows, labels, sampling, draw in itertools.product(sets, numbers, samplings, range(draws)):
        yield drawing.draw(rows, labels, sampling, draw)


def losses(found: list[Fit], kind: str) -> tuple[int, float, float, float, float]:
    """Fits with a warning, and the parts that lose and gain among these and among the others."""
    warned, lead = np.array([kind in one.kinds for one in found]), np.array([one.lead for one in found])
    lost, won = (lead < quality.LOST) | np.array([one.cure > -quality.LOST for one in found]), lead > quality.WON
    return int(warned.sum()), *(float(what[rows].mean()) for what in (lost, won) for rows in (warned, ~warned))


def warned(report: Report, draws: int = 1) -> None:
    """How often a fit with a warning loses, and how often one without it."""
    sets = [some(data.SETS[name]()) for name in (*quality.CHOOSING, *quality.REPORTING)]
    found = []
    for task in tasks([*sets, *(some(plain_texts(name)) for name in TEXTS)], draws):
        (score, said), other = fit(task, "default"), without_frequent(task)
        cure = fit(other, "default")[0] - score if other else 0.0
        found.append(Fit(score - max(fit(task, peer)[0] for peer in quality.PEERS), cure, said))
    for kind in sorted(set().union(*(one.kinds for one in found))):
        n, lost, lost_without, won, won_without = losses(found, kind)
        _, behind, behind_without, *_ = losses([one._replace(cure=0.0) for one in found], kind)
        note = (
            f"of {n} fits {lost:.0%} lose, {lost_without:.1%} without; to others {behind:.0%}, {behind_without:.1%}; "
        )
        note += f"{won:.0%} gain, {won_without:.0%} without"
        report.add(kind, lost / max(lost_without, 0.01), note=note, at_least=3)


def plain_texts(name: str) -> DataSet:
    """A set of texts as everybody has them."""
    texts, names = data.texts(name)
    return data.data_set(f"plain {name}", TfidfVectorizer().fit_transform(texts), names)


def plain(report: Report, draws: int = 1) -> None:
    """Warnings of fits that lose against LinearSVC, and of those that gain with the cure."""
    lost, won = [], []
    for name in TEXTS:
        texts, names = data.texts(name)
        cured = data.data_set(name, data.vectorize(texts), names)
        for task, better in zip(*(tasks([some(rows)], draws) for rows in (plain_texts(name), cured)), strict=True):
            score, found = fit(task, "default")
            if score - fit(task, "LinearSVC")[0] < quality.LOST:
                lost.append(any("a fifth of" in one for one in found))
            score, found = fit(better, "default")
            if score - max(fit(better, peer)[0] for peer in quality.PEERS) > quality.WON:
                won.append(bool(found))
    report.add("plain texts, lost against LinearSVC: warned", lost, at_least=1, note=f"{len(lost)} fits")
    report.add("with text_vectorizer(), gained: warned", won, at_most=0.1, note=f"{len(won)} fits")


SECTIONS = (sixty, few, scales, warned, plain)
