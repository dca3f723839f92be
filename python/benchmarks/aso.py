"""Structure from unlabeled rows (Ando & Zhang 2005): 20 Newsgroups, RCV1 with several labels a row, counts, digits.

Rows of 20 Newsgroups: bodies without any header, 1,000 for the test, 1,000 of which some are labeled, 1,000 set aside
to choose settings, the rest unlabeled; words and idf from the training rows. The settings were chosen on the rows set
aside of the draws from 100 on (group `aso_choice`), the other sections report the test rows of the draws from 0 on.
Every learner has alpha 1e-3, for RCV1 1e-4.
"""

from __future__ import annotations

import functools
import resource
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from benchmarks import corpora, learners, recipe
from benchmarks.report import Report

DRAWS = 5
LABELS = (100, 200, 500, 1000)
CHOICE = 100  # first draw of those that settings are chosen on
N_TEST, N_CHOICE, N_LABELED = 1000, 1000, 1000
CANDIDATES: dict[str, dict[str, Any]] = {
    "1,000 problems": {},
    "2,000 problems": {"max_problems": 2000},
    "3,000 problems": {"max_problems": 3000},
    "100 components": {"n_components": 100},
}
COMPONENTS, NUMBERS = "20 Newsgroups, components", (10, 30, 50, 100)
LABEL_DRAWS = {100: 4, 200: 2, 500: 1, 1000: 1}  # of the labels in a draw of the rows: few labels vary much
WANTED = {100: 61.0, 200: 70.0, 500: 75.0, 1000: 78.0}  # percent
WANTED_RCV1 = {100: 58.0, 200: 65.0, 500: 72.0, 1000: 75.0}
PAPER = {
    "supervised": (32.0, 42.7, 56.9, 66.0),
    "frequent": (53.6, 60.0, 65.8, 69.1),
    "top-2": (54.1, 61.6, 68.5, 72.3),
}
MOST_COST = 10.0  # times a supervised fit

Labels = np.ndarray  # (n,) classes, or an indicator matrix (n, K)
Features = Callable[[sp.csr_matrix, Labels], Callable[[sp.csr_matrix], Any]]  # learned from training rows


@dataclass(frozen=True)
class Split:
    """One draw: training rows, the first of which are labeled, and rows that answers are judged on."""

    X: sp.csr_matrix
    y: Labels  # of the training rows
    X_test: sp.csr_matrix
    y_test: Labels
    alpha: float = learners.ALPHA

    def marked(self, n_labels: int) -> Labels:
        """What the learner sees: labels of the first rows, -1 in the others."""
        y = self.y.copy()
        y[n_labels:] = -1
        return y


# ------------------------------------------------------------------ data
@functools.cache
def messages() -> tuple[list[str], np.ndarray]:
    """Bodies and groups of 20 Newsgroups."""
    texts, groups = corpora.loader().newsgroups20("all")
    bodies = [text.replace("\r\n", "\n").partition("\n\n")[2] for text in texts]
    return bodies, np.unique(groups, return_inverse=True)[1]


def newsgroups(seed: int, vectorizer: Any = None) -> Split:
    """A draw; one of those for the choice of settings is judged on the rows set aside."""
    bodies, y = messages()
    order = np.random.default_rng(seed).permutation(len(y))
    test, aside, train = np.split(order, [N_TEST, N_TEST + N_CHOICE])
    judged = aside if seed >= CHOICE else test
    vectorizer = vectorizer or recipe.vectorizer()
    X = sp.csr_matrix(vectorizer.fit_transform([bodies[i] for i in train]), dtype=np.float64)
    X_test = sp.csr_matrix(vectorizer.transform([bodies[i] for i in judged]), dtype=np.float64)
    return Split(X, y[train], X_test, y[judged])


@functools.cache
def rcv1_rows() -> tuple[sp.csr_matrix, np.ndarray]:
    """The documents of the five subsets, each once, and their topics as an indicator matrix."""
    X, topics = corpora.loader().rcv1()
    names = sorted({name for have in topics for name in have})
    y = np.zeros((len(topics), len(names)), dtype=np.int64)
    for i, have in enumerate(topics):
        y[i, [names.index(name) for name in have]] = 1
    return sp.csr_matrix(X), y


def rcv1(seed: int) -> Split:
    """A draw: 1,000 rows of which the first are labeled, 20,000 unlabeled, 3,000 to be judged on."""
    X, y = rcv1_rows()
    order = np.random.default_rng(seed).permutation(len(y))
    train, judged = order[:21000], order[21000:24000] if seed < CHOICE else order[24000:27000]
    return Split(X[train], y[train], X[judged], y[judged], alpha=1e-4)


SETS = {"20 Newsgroups": newsgroups, "RCV1, micro F": rcv1}


# ------------------------------------------------------------------ learners
def plain() -> Features:
    """The rows as they are."""
    return lambda X, y: lambda rows: rows


def lsa(h: int) -> Features:
    """The first h dimensions of an SVD of all training rows, at unit length, beside the rows."""

    def learn(X: sp.csr_matrix, y: Labels) -> Callable[[sp.csr_matrix], Any]:
        svd = TruncatedSVD(h, random_state=0).fit(X)
        return lambda rows: sp.csr_matrix(sp.hstack([rows, sp.csr_matrix(normalize(svd.transform(rows)))]))

    return learn


def aso(**settings: Any) -> Features:
    """The features of ASOTransformer with these settings."""
    from fewlabel import ASOTransformer

    def learn(X: sp.csr_matrix, y: Labels) -> Callable[[sp.csr_matrix], Any]:
        return ASOTransformer(**settings).fit(X, y).transform

    return learn


def judged(split: Split, X: Any, y: Labels, rows: Any) -> float:
    """Quality of a supervised classifier."""

    def svc(classes: Labels) -> Any:
        return learners.quietly(learners.linear_svc(X.shape[0], split.alpha, random_state=0, dual=True), X, classes)

    if y.ndim == 1:
        return quality(split, svc(y).predict(rows))
    found = np.zeros(split.y_test.shape, dtype=np.int64)  # OneVsRestClassifier moves thresholds beside constant columns
    for k, column in enumerate(y.T):
        found[:, k] = svc(column).predict(rows) if len(np.unique(column)) > 1 else column[0]
    return quality(split, found)


def quality(split: Split, found: Labels) -> float:
    """Accuracy, or micro F of several labels a row, in percent."""
    if split.y_test.ndim > 1:
        return 100 * float(f1_score(split.y_test, found, average="micro", zero_division=0))
    return 100 * float(np.mean(found == split.y_test))


def measured(split: Split, features: Features, labels: Iterable[int] = LABELS, task: bool = False) -> list[float]:
    """Quality at each number of labels; the features are learned once, or anew if they look at the labels."""
    found, learn = [], None
    for n in labels:
        if learn is None or task:
            learn = features(split.X, split.marked(n))
            train, rows = learn(split.X[:N_LABELED]), learn(split.X_test)
        values = []
        for draw in range(1 if task else LABEL_DRAWS.get(n, 1)):
            chosen = np.arange(n) if draw == 0 else np.random.default_rng(draw).permutation(N_LABELED)[:n]
            values.append(judged(split, train[chosen], split.y[chosen], rows))
        found.append(float(np.mean(values)))
    return found


# ------------------------------------------------------------------ tables
def table(
    report: Report,
    name: str,
    what: str,
    draws: list[Split],
    features: Features,
    wanted: dict[int, float] | None = None,
    task: bool = False,
) -> np.ndarray:
    """Rows of the table for one learner of features; its means at the numbers of labels."""
    values = np.array([measured(split, features, task=task) for split in draws])
    return rows_of(report, name, what, values, LABELS, wanted)


def rows_of(
    report: Report,
    name: str,
    what: str,
    values: np.ndarray,
    labels: Iterable[int],
    wanted: dict[int, float] | None = None,
) -> np.ndarray:
    """A row for each number of labels; values are [draws, numbers]."""
    for n, column in zip(labels, values.T, strict=True):
        spread = f"{column.min():.1f} ... {column.max():.1f}"
        report.at_least(
            f"{name}, {n} labels: {what}", column.mean(), (wanted or {}).get(n), " %", spread, column.tolist()
        )
    report.keep(name, what, values.tolist())
    return values.mean(axis=0)


def beside(report: Report, name: str, ours: np.ndarray, *others: np.ndarray) -> None:
    """How far the setting is above the best of the others, where it is least."""
    gaps = ours - np.max(others, axis=0)
    report.at_least(f"{name}: above LSA 50 and LSA 100, least of {len(LABELS)}", gaps.min(), 0.0, " points")


def aso_choice_newsgroups(report: Report, draws: int = DRAWS) -> None:
    """What the defaults were chosen by: rows of 20 Newsgroups set aside, of draws that no other section reports."""
    chosen_by(report, "20 Newsgroups", draws)


def aso_choice_rcv1(report: Report, draws: int = DRAWS) -> None:
    """The same with RCV1."""
    chosen_by(report, "RCV1, micro F", draws)


def chosen_by(report: Report, name: str, draws: int) -> None:
    """Candidates for the defaults, and LSA."""
    splits = [SETS[name](CHOICE + seed) for seed in range(draws)]
    for h in (50, 100):
        table(report, f"choice, {name}", f"LSA {h}", splits, lsa(h))
    for what, settings in CANDIDATES.items():
        table(report, f"choice, {name}", what, splits, aso(**settings))


def aso_newsgroups(report: Report, draws: int = DRAWS) -> None:
    """20 Newsgroups: the defaults beside LSA."""
    defaults_of(report, "20 Newsgroups", draws, WANTED)


def aso_rcv1(report: Report, draws: int = DRAWS) -> None:
    """RCV1, micro F of several topics a row: the same."""
    defaults_of(report, "RCV1, micro F", draws, WANTED_RCV1)


def defaults_of(report: Report, name: str, draws: int, wanted: dict[int, float]) -> None:
    """The defaults beside supervised learning and LSA."""
    splits = [SETS[name](seed) for seed in range(draws)]
    table(report, name, "supervised", splits, plain())
    controls = [table(report, name, f"LSA {h}", splits, lsa(h)) for h in (50, 100)]
    beside(report, name, table(report, name, "mask", splits, aso(), wanted), *controls)


def aso_solved(report: Report, draws: int = DRAWS) -> None:
    """Both sets: the solved problems beside their right-hand sides, of 1,000 problems."""
    for name, make in SETS.items():
        splits = [make(seed) for seed in range(draws)]
        for solver in ("none", "squared"):
            table(report, name, f"mask, 1,000 problems, {solver}", splits, aso(solver=solver, max_problems=1000))


def aso_strategies(report: Report, draws: int = DRAWS) -> None:
    """20 Newsgroups: strategies other than mask."""
    splits, name = [newsgroups(seed) for seed in range(draws)], "20 Newsgroups"
    table(report, name, "frequent", splits, aso(auxiliary="frequent"))
    table(report, name, "top-2 and frequent", splits, aso(auxiliary=["top_2", "frequent"]), task=True)


def co_trained(split: Split, n_labels: int, rounds: int = 20, a_class: int = 10) -> float:
    """Co-training (Blum & Mitchell 1998): classifiers of two halves of the words label their surest rows for both."""
    halves = np.array_split(np.random.default_rng(0).permutation(split.X.shape[1]), 2)
    views = [(sp.csr_matrix(split.X[:, half]), sp.csr_matrix(split.X_test[:, half])) for half in halves]
    y = split.marked(n_labels)
    for _ in range(rounds):
        for X, _ in views:
            model = fitted_svc(X[y >= 0], y[y >= 0])
            scores, unlabeled = model.decision_function(X), np.flatnonzero(y < 0)
            for k, label in enumerate(model.classes_):
                surest = unlabeled[np.argsort(-scores[unlabeled, k], kind="stable")[:a_class]]
                y[surest[y[surest] < 0]] = label
    models = [fitted_svc(X[y >= 0], y[y >= 0]) for X, _ in views]
    total = sum(model.decision_function(rows) for model, (_, rows) in zip(models, views, strict=True))
    return quality(split, models[0].classes_[np.argmax(total, axis=1)])


def fitted_svc(X: Any, y: np.ndarray) -> Any:
    """The supervised classifier of the tables."""
    return learners.quietly(learners.linear_svc(X.shape[0], learners.ALPHA, random_state=0, dual=True), X, y)


def aso_transductive(report: Report, draws: int = 2) -> None:
    """20 Newsgroups: other methods, with the true and the estimated shares, and with the structure features."""
    labels, name = LABELS[:2], "20 Newsgroups"
    splits = [newsgroups(seed) for seed in range(draws)]
    for what, learn in (
        ("supervised", lambda split, n: judged(split, split.X[:n], split.y[:n], split.X_test)),
        ("ASOClassifier", classifier),
        ("co-training", co_trained),
        ("TransductiveSVC, shares found", functools.partial(transductive, features=plain(), known=False)),
        ("TransductiveSVC, true shares", functools.partial(transductive, features=plain(), known=True)),
        ("TransductiveSVC on LSA 50, true shares", functools.partial(transductive, features=lsa(50), known=True)),
        ("TransductiveSVC on mask, shares found", functools.partial(transductive, features=aso(), known=False)),
        ("TransductiveSVC on mask, true shares", functools.partial(transductive, features=aso(), known=True)),
    ):
        values = np.array([[learn(split, n) for n in labels] for split in splits])
        rows_of(report, name, what, values, labels)


def classifier(split: Split, n_labels: int) -> float:
    """ASOClassifier with its defaults."""
    from fewlabel import ASOClassifier

    model = learners.quietly(ASOClassifier(), split.X, split.marked(n_labels))
    return quality(split, model.predict(split.X_test))


def transductive(split: Split, n_labels: int, features: Features, known: bool) -> float:
    """TransductiveSVC on features."""
    from fewlabel import TransductiveSVC

    transform, y = features(split.X, split.marked(n_labels)), split.marked(n_labels)
    shares = np.bincount(split.y[n_labels:]) / (len(y) - n_labels)
    rows = transform(split.X)
    alpha = learners.ALPHA * split.X.shape[0] / rows.multiply(rows).sum()  # the same strength for the original features
    model = TransductiveSVC(class_prior=shares if known else "auto", alpha=alpha)
    return quality(split, learners.quietly(model, rows, y).predict(transform(split.X_test)))


def aso_multi(report: Report, draws: int = DRAWS) -> None:
    """RCV1: the paper's strategies."""
    splits, name = [rcv1(seed) for seed in range(draws)], "RCV1, micro F"
    table(report, name, "multi-3 and frequent", splits, aso(auxiliary=["multi_3", "frequent"]), task=True)


def aso_components(report: Report, draws: int = 3) -> None:
    """20 Newsgroups: the number of components, which figure 7 of the paper finds not to matter."""
    splits, means = [newsgroups(seed) for seed in range(draws)], {}
    for h in NUMBERS:
        means[h] = table(report, COMPONENTS, f"mask, {h}", splits, aso(n_components=h))
        table(report, COMPONENTS, f"LSA, {h}", splits, lsa(h))
    report.at_most(f"{COMPONENTS}: 50 against 100, 100 labels", abs(means[50][0] - means[100][0]), 2.0, " points")


def aso_cost(report: Report, draws: int = 3) -> None:
    """Processor time of the structure and of a supervised fit with all labels, on one thread, in turns; memory."""
    from fewlabel import ASOTransformer, TransductiveSVC

    split, times = newsgroups(0), {"none": [], "squared": [], "supervised": []}
    for _ in range(draws):
        times["supervised"].append(seconds(lambda: TransductiveSVC(unlabeled=None, n_jobs=1).fit(split.X, split.y)))
        for solver in ("none", "squared"):
            times[solver].append(seconds(lambda s=solver: ASOTransformer(solver=s, n_jobs=1).fit(split.X)))
    base = np.median(times["supervised"])
    for solver, bound in (("none", MOST_COST), ("squared", None)):
        ratio = float(np.median(times[solver])) / base
        note = f"{np.median(times[solver]):.1f} s against {base:.2f} s"
        report.at_most(f"structure of 1,000 problems, {solver}, time / supervised fit", ratio, bound, "", note)
    weights = 4e-6 * split.X.shape[1] * 1000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    report.fact("structure of 1,000 problems, largest memory of the process", peak, " MB", f"U takes {weights:.0f} MB")


def seconds(task: Callable[[], Any]) -> float:
    """Processor time of a task."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        task()
    return time.process_time() - start


def aso_free(report: Report, draws: int = 1) -> None:
    """20 Newsgroups: ASOClassifier with the weights of the structure regularized, and free as in equation 8."""
    from fewlabel import ASOClassifier

    labels, splits = (100, 500), [newsgroups(seed) for seed in range(draws)]
    for what, flag in (("ASOClassifier", True), ("ASOClassifier, structure free", False)):
        models = [[ASOClassifier(regularize_structure=flag) for _ in labels] for _ in splits]
        values = [
            [
                quality(split, learners.quietly(model, split.X, split.marked(n)).predict(split.X_test))
                for model, n in zip(some, labels, strict=True)
            ]
            for some, split in zip(models, splits, strict=True)
        ]
        rows_of(report, "20 Newsgroups, 1,000 problems", what, np.array(values), labels)


def aso_counts(report: Report, draws: int = DRAWS) -> None:
    """20 Newsgroups in the paper's form: counts of words, rows of unit length, its strategies; its numbers beside."""
    words = CountVectorizer(token_pattern="[A-Za-z]+", min_df=1)

    def unit_counts(seed: int) -> Split:
        split = newsgroups(seed, words)
        return Split(normalize(split.X), split.y, normalize(split.X_test), split.y_test)

    splits, name = [unit_counts(seed) for seed in range(draws)], "20 Newsgroups, counts"
    table(report, name, "supervised", splits, plain())
    table(report, name, "frequent", splits, aso(auxiliary="frequent"))
    table(report, name, "mask", splits, aso())
    paper = aso(auxiliary="frequent", solver="squared", auxiliary_alpha=1e-4, unit=False)
    table(report, name, "frequent, squared, alpha 1e-4, lengths as they are", splits, paper)
    table(report, name, "LSA 50", splits, lsa(50))
    for what, numbers in PAPER.items():
        rows_of(report, name, f"the paper: {what}", np.array([numbers]), LABELS)


def huber_weights(X: sp.csr_matrix, auxiliary: str, problems: int, alpha: float = 1e-4) -> np.ndarray:
    """U (d, m) of auxiliary problems solved with the modified Huber loss, which the paper takes, by scikit-learn."""
    from fewlabel import _auxiliary

    rows = sp.csc_array(X)
    context = _auxiliary.Context(None, None, problems, np.random.RandomState(0), 1e-3, 1)
    made = _auxiliary.make(auxiliary, sp.csr_array(X), None, context)
    labels, weights = made.labels.toarray() != 0, np.zeros((X.shape[1], made.labels.shape[1]), dtype=np.float32)
    for number in np.unique(made.hides):
        seen = rows.copy()
        for j in made.hidden[[number]].indices:
            seen.data[seen.indptr[j] : seen.indptr[j + 1]] = 0
        visible = sp.csr_matrix(seen)
        visible.eliminate_zeros()
        for k in np.flatnonzero(made.hides == number):
            model = SGDClassifier(loss="modified_huber", alpha=alpha, max_iter=5, tol=None, random_state=0)
            weights[:, k] = learners.quietly(model, visible, labels[:, k]).coef_[0]
    return weights


def by_weights(weights: np.ndarray, positive: bool, unit: bool) -> Features:
    """Structure features from weights of problems that were solved elsewhere, as ASOTransformer makes them."""
    used = np.maximum(weights, 0) if positive else weights
    used = normalize(used, axis=0) if unit else used
    theta = randomized_svd(used, 50, random_state=0)[0]
    return lambda X, y: lambda rows: sp.csr_matrix(sp.hstack([rows, sp.csr_matrix(normalize(rows @ theta))]))


def aso_huber(report: Report, draws: int = 1) -> None:
    """20 Newsgroups, draws for the choice: the modified Huber loss, positive parts and unit weights, 300 problems."""
    splits, name = [newsgroups(CHOICE + seed) for seed in range(draws)], "choice, 20 Newsgroups, 300 problems"
    for solver in ("none", "squared"):
        table(report, name, f"mask, {solver}", splits, aso(solver=solver, max_problems=300))
    for alpha in (1e-2, 1e-4):
        weights = [huber_weights(split.X, "mask", 300, alpha) for split in splits]
        for positive in (False, True):
            for unit in (True, False):
                learned = [by_weights(w, positive, unit) for w in weights]
                values = np.array([measured(split, f) for split, f in zip(splits, learned, strict=True)])
                what = f"mask, Huber, alpha {alpha:g}{', positive parts' * positive}{', unit' * unit}"
                rows_of(report, name, what, values, LABELS)


def aso_digits(report: Report, draws: int = DRAWS) -> None:
    """MNIST, halves of the image as groups of features: pixels of one half from the other."""
    data, name = corpora.mnist(), "MNIST"
    halves = (np.arange(784) % 28 >= 14).astype(np.int64)  # left and right
    labels = (100, 500)

    def draw(seed: int) -> Split:
        order = np.concatenate(
            [np.random.default_rng(seed).permutation(np.flatnonzero(data.train)), np.flatnonzero(~data.train)]
        )
        n = int(data.train.sum())
        return Split(data.X[order[:n]], data.y[order[:n]], data.X[order[n:]], data.y[order[n:]])

    splits = [draw(seed) for seed in range(draws)]
    for what, features in (
        ("supervised", plain()),
        ("LSA 50", lsa(50)),
        ("mask by halves", aso(feature_groups=halves, n_components=25)),
        ("mask by halves, squared", aso(feature_groups=halves, n_components=25, solver="squared")),
    ):
        values = np.array([measured(split, features, labels) for split in splits])
        rows_of(report, name, what, values, labels)


SECTIONS = (
    aso_newsgroups,
    aso_rcv1,
    aso_cost,
    aso_solved,
    aso_free,
    aso_components,
    aso_strategies,
    aso_multi,
    aso_counts,
    aso_digits,
    aso_transductive,
)
CHOICES = (aso_choice_newsgroups, aso_choice_rcv1, aso_huber)
