"""The labels people have: sets of classes, keyword rules, annotators, positive rows alone; beside labels alone.

Macro F of `TransductiveSVC()` on the test, five labeled rows a class beside what a section adds; F1 of the positive
class in `positives`, with 20 labeled rows of it. The strength of prior costs was chosen on k1b and wap, the estimate
of the share on MCAT and rec. against sci.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from benchmarks import data
from benchmarks.data import DataSet, Task
from benchmarks.measure import Report, quietly, seconds

SETS = ("newsgroups20", "ohsumed", "reuters_r8")
LABELS = 5  # a class
MORE = 20  # rows a class with sets, or with votes of annotators
OTHERS = 4  # classes of a set beside the true one
WORDS = 3  # keywords a class
ANNOTATORS = (0.9, 0.7, 0.5)  # accuracies
SHARES = (0.05, 0.1, 0.2, 0.5)
POSITIVE = 20  # labeled rows
MOST = 6000  # rows with a share
CELLS = {"reuters_r8": "crude", "gcat": "GCAT", "comp": "comp.", "newsgroups20": "talk.politics.mideast"}


def macro(task: Task, y: Any) -> float:
    """Macro F of the default with these labels."""
    from fewlabel import TransductiveSVC

    predicted = quietly(TransductiveSVC(n_jobs=1), task.X, y).predict(task.X_test)
    return float(f1_score(task.y_test, predicted, average="macro"))


def tasks(name: str, draws: int) -> list[Task]:
    """Draws of a set."""
    rows = data.SETS[name]()
    return [data.draw(rows, LABELS, "equal", seed) for seed in range(draws)]


def more_rows(task: Task, rng: np.random.Generator) -> np.ndarray:
    """Rows without a label, as many of each class."""
    free = np.where(task.unlabeled, task.y, -1)
    return np.concatenate([rng.permutation(np.flatnonzero(free == c))[:MORE] for c in range(len(task.classes))])


def probabilities(task: Task, votes: Any) -> np.ndarray:
    """Of all classes."""
    y = np.zeros((len(task.y), len(task.classes)))
    y[:, votes.classes.astype(int)] = votes.probabilities
    return y


# ------------------------------------------------------------------ sections
def sets(report: Report, draws: int = 3) -> None:
    """Rows with a set of the true class and some others, beside the same rows with their labels."""
    found = []
    for seed, task in enumerate(tasks("newsgroups20", draws)):
        rng = np.random.default_rng((seed, 1))
        rows, y = more_rows(task, rng), np.full(len(task.y), None, dtype=object)
        y[~task.unlabeled] = task.given[~task.unlabeled]
        full = y.copy()
        full[rows] = task.y[rows]
        for i in rows:
            others = rng.permutation(np.delete(np.arange(len(task.classes)), task.y[i]))[:OTHERS]
            y[i] = {int(task.y[i]), *others.tolist()}
        found.append((macro(task, task.given), macro(task, y), macro(task, full)))
    few, middle, full = np.array(found).T
    for what, values in (("labels alone", few), ("and sets", middle), ("and labels of the same rows", full)):
        report.add(f"20 Newsgroups, {what}, macro F", values)
    report.add(
        "20 Newsgroups, part of the gain that sets have", (middle - few).mean() / (full - few).mean(), at_least=0.5
    )


def rules(report: Report, draws: int = 3) -> None:
    """Keywords that are frequent in the labeled rows of a class; alone, with the labels, and one that means nothing."""
    from fewlabel import labels

    for name in SETS:
        found = []
        for seed, task in enumerate(tasks(name, draws)):
            votes = keyword_votes(task)
            alone = probabilities(task, labels.from_votes(votes))
            noise = np.where(np.random.default_rng((seed, 2)).random(len(votes)) < 0.1, 0, -1)[:, None]
            first = macro(task, task.given)
            found.append(
                (
                    first,
                    voted(task, alone),
                    macro(task, probabilities(task, labels.from_votes(votes, task.given))),
                    macro(task, probabilities(task, labels.from_votes(noise, task.given))),
                )
            )
        few, alone, both, noise = np.array(found).T
        report.add(f"{name}, labels alone, macro F", few)
        report.add(f"{name}, rules alone, on the rows that they cover", alone)
        report.add(f"{name}, labels and rules", both, note=f"{both.mean() - few.mean():+.3f}")
        report.add(f"{name}, labels and a rule that means nothing", noise, note=f"{noise.mean() - few.mean():+.3f}")


def keyword_votes(task: Task) -> np.ndarray:
    """Votes (n, words) of the words whose mean weight is largest beyond that in any other class."""
    X, K = task.X.tocsc(), len(task.classes)
    means = np.array([np.asarray(task.X[task.given == c].mean(axis=0)).ravel() for c in range(K)])
    columns = []
    for c in range(K):
        for word in np.argsort(np.delete(means, c, 0).max(axis=0) - means[c])[:WORDS]:
            column = np.full(X.shape[0], -1)
            column[X.indices[X.indptr[word] : X.indptr[word + 1]]] = c
            columns.append(column)
    return np.column_stack(columns)


def voted(task: Task, y: np.ndarray) -> float:
    """Macro F of the likeliest class of the rows that have votes."""
    rows = y.any(axis=1) & task.unlabeled
    return float(f1_score(task.y[rows], y[rows].argmax(axis=1), average="macro"))


def annotators(report: Report, draws: int = 3) -> None:
    """Votes of annotators on further rows, beside their true labels."""
    from fewlabel import labels

    for name in SETS:
        found = []
        for seed, task in enumerate(tasks(name, draws)):
            rng = np.random.default_rng((seed, 3))
            rows, K = more_rows(task, rng), len(task.classes)
            votes, true = np.full((len(task.y), len(ANNOTATORS)), -1), task.given.copy()
            for j, accuracy in enumerate(ANNOTATORS):
                wrong = rng.random(len(rows)) > accuracy
                votes[rows, j] = (task.y[rows] + wrong * rng.integers(1, K, len(rows))) % K
            true[rows] = task.y[rows]
            y = probabilities(task, labels.from_votes(votes, task.given))
            found.append((macro(task, task.given), macro(task, y), macro(task, true)))
        few, middle, full = np.array(found).T
        report.add(f"{name}, labels alone, macro F", few)
        report.add(f"{name}, and three annotators", middle, note=f"true labels {full.mean():.3f}")
        report.add(f"{name}, true labels - annotators", full - middle, at_most=0.02)


def positives(report: Report, draws: int = 3) -> None:
    """Labels of one class alone, with its share or without, beside negative labels and scikit-learn's recipes."""
    for name, positive in CELLS.items():
        for share in SHARES:
            drawn = [
                with_share(data.SETS[name](), positive, share, np.random.default_rng((seed, 4)))
                for seed in range(draws)
            ]
            both, known, auto, best = np.array([fits(*one) for one in drawn]).transpose(1, 2, 0)  # F1, seconds, off
            cell = f"{name} {positive} {share:g}"
            report.add(f"{cell}, with 20 negative labels, F1", both[0], note=f"{both[1].mean():.1f} s")
            for what, one, of, least in (
                ("the share given, part of that", known, both, 0.9),
                ("the share estimated, part of given", auto, known, 0.85),
                ("the better of two recipes, part of given", best, known, 0),
            ):
                report.add(
                    f"{cell}, {what}", one[0].mean() / of[0].mean(), at_least=least, note=f"{one[1].mean():.1f} s"
                )
            report.add(f"{cell}, the estimate is off by", auto[2], note=f"at most {auto[2].max():.2f}")


def fits(X: Any, y: np.ndarray, test: np.ndarray, given: np.ndarray) -> list[tuple[float, float, float]]:
    """F1 on the test, seconds, and how far the share is off, of three fits and the recipes."""
    from fewlabel import TransductiveSVC

    rest, train = given.copy(), ~test
    rest[np.flatnonzero(train & ~y)[:POSITIVE]] = "rest"
    true = float(y[train & (given != "p")].mean())
    prior, found = {"p": true, "rest": 1 - true}, []
    for labels, shares in ((rest, prior), (given, prior), (given, {"rest": "auto"})):
        model = TransductiveSVC(class_prior=shares, n_jobs=1)
        took, _ = seconds(functools.partial(quietly, model, X[train], labels[train]))
        found.append((f1_score(y[test], model.predict(X[test]) == "p"), took, abs(model.class_prior_[0] - true)))
    took, best = seconds(functools.partial(recipes, X, y, test, given))
    return [*found, (best, took, 0.0)]


def with_share(rows: DataSet, positive: str, share: float, rng: np.random.Generator) -> tuple[Any, ...]:
    """Rows with this share of positive ones, which are positive, the test, and labels of some positive ones."""
    is_positive = np.char.startswith(rows.classes[rows.y], positive)
    pos, neg = (rng.permutation(np.flatnonzero(is_positive == side)) for side in (True, False))
    n = min(len(pos) / share, len(neg) / (1 - share), MOST)
    chosen = rng.permutation(np.concatenate([pos[: int(n * share)], neg[: int(n * (1 - share))]]))
    y, test = is_positive[chosen], rng.random(len(chosen)) < 0.25
    given = np.full(len(chosen), None, dtype=object)
    given[np.flatnonzero(y & ~test)[:POSITIVE]] = "p"
    return rows.X[chosen], y, test, given


def recipes(X: Any, y: np.ndarray, test: np.ndarray, given: np.ndarray) -> float:
    """The better F1 of a logistic regression of the positive rows against all others, cut at the true share, and of
    Elkan & Noto 2008, which divides its probabilities by their mean on held-out positive rows."""
    train = ~test
    labeled = given[train] == "p"
    held = np.flatnonzero(labeled)[::4]
    kept = np.delete(np.arange(int(train.sum())), held)
    plain = LogisticRegression(C=10, class_weight="balanced").fit(X[train], labeled)
    scores, share = plain.decision_function(X[test]), y[train & (given != "p")].mean()
    found = [f1_score(y[test], scores > np.quantile(scores, 1 - share))]
    part = LogisticRegression(C=10).fit(X[train][kept], labeled[kept])
    frequency = part.predict_proba(X[train][held])[:, 1].mean()
    return max(*found, f1_score(y[test], part.predict_proba(X[test])[:, 1] > frequency / 2))


SECTIONS = (sets, rules, annotators, positives)
