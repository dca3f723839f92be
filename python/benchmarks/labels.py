"""The labels people have: sets of classes, keyword rules, annotators, positive rows alone, several labels a row.

Macro F of `TransductiveSVC()` on the test, five labeled rows a class beside what a section adds; F1 on the test in
`topics` and `one_topic`. The strength of prior costs was chosen on k1b and wap, the estimate of the share on MCAT and
rec. against sci.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

from benchmarks import data, drawing
from benchmarks.drawing import Task
from benchmarks.measure import Report, quietly, seconds
from fewlabel import TransductiveSVC, estimate_class_prior, labels
from fewlabel.labeling import Session

SETS = ("newsgroups20", "ohsumed", "reuters_r8")
LABELS = 5  # a class
MORE = 20  # rows a class with sets, or with votes of annotators
OTHERS = 4  # classes of a set beside the true one
ANNOTATORS = (0.9, 0.7, 0.5)  # accuracies
POSITIVE = 20  # labeled rows
CALLS = 200  # of a language model
LABELED = (20, 50, 100, 200)  # rows with topics
LINEAR = {"LinearSVC": None, "balanced LinearSVC": "balanced"}
COUNTED = ("reuters_r8", "k1b", "re0")
# Keywords of the classes, written down from their names without a look at the rows.
KEYWORDS = {
    "reuters_r8": {
        "acq": "acquire, acquisition, takeover, merger",
        "crude": "crude, opec, barrels",
        "earn": "dividend, net profit, net loss, shr",
        "grain": "wheat, grain, corn",
        "interest": "interest rates, prime rate, lending rate",
        "money-fx": "currency, dollar, money market",
        "ship": "ships, vessel, shipping",
        "trade": "trade deficit, tariffs",
    },
    "newsgroups20": {
        "alt.atheism": "atheist, atheism, atheists",
        "comp.graphics": "graphics, image, polygon",
        "comp.os.ms-windows.misc": "windows, win3, ms-windows",
        "comp.sys.ibm.pc.hardware": "ide, bios, motherboard",
        "comp.sys.mac.hardware": "mac, apple, quadra",
        "comp.windows.x": "x11, motif, xterm",
        "misc.forsale": "for sale, shipping, offer",
        "rec.autos": "car, cars, engine",
        "rec.motorcycles": "bike, motorcycle, helmet",
        "rec.sport.baseball": "baseball, pitcher, inning",
        "rec.sport.hockey": "hockey, nhl, goalie",
        "sci.crypt": "encryption, cryptography, clipper",
        "sci.electronics": "circuit, voltage, amplifier",
        "sci.med": "doctor, disease, patients",
        "sci.space": "space, orbit, nasa",
        "soc.religion.christian": "church, christ, christians",
        "talk.politics.guns": "gun, guns, firearms",
        "talk.politics.mideast": "israel, armenian, arab",
        "talk.politics.misc": "president, taxes, government",
        "talk.religion.misc": "bible, religion, morality",
    },
    "ohsumed": {
        "C01": "bacterial, infection, staphylococcus",
        "C02": "hiv, hepatitis, viral",
        "C03": "malaria, parasite, parasitic",
        "C04": "cancer, carcinoma, tumor",
        "C05": "bone, arthritis, fracture",
        "C06": "gastric, liver, bowel",
        "C07": "oral, dental, teeth",
        "C08": "lung, asthma, pulmonary",
        "C09": "hearing, otitis, nasal",
        "C10": "brain, seizures, epilepsy",
        "C11": "eye, retinal, corneal",
        "C12": "prostate, renal, urinary",
        "C13": "pregnancy, cervical, ovarian",
        "C14": "coronary, hypertension, myocardial",
        "C15": "anemia, lymphoma, platelet",
        "C16": "congenital, newborn, neonatal",
        "C17": "skin, dermatitis, psoriasis",
        "C18": "diabetes, obesity, insulin",
        "C19": "thyroid, adrenal, pituitary",
        "C20": "immune, lupus, autoimmune",
        "C21": "injury, trauma, burns",
        "C22": "animal, dogs, veterinary",
        "C23": "pain, fever, syndrome",
    },
}


def macro(task: Task, y: Any) -> float:
    """Macro F of the default with these labels."""
    predicted = quietly(TransductiveSVC(n_jobs=1), task.X, y).predict(task.X_test)
    return float(f1_score(task.y_test, predicted, average="macro"))


def tasks(name: str, draws: int) -> list[Task]:
    """Draws of a set."""
    rows = data.SETS[name]()
    return [drawing.draw(rows, LABELS, "equal", seed) for seed in range(draws)]


def more_rows(task: Task, rng: np.random.Generator) -> np.ndarray:
    """Rows without a label, as many of each class."""
    free = np.where(task.unlabeled, task.y, -1)
    return np.concatenate([rng.permutation(np.flatnonzero(free == c))[:MORE] for c in range(len(task.classes))])


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
    """Keyword rules alone, beside logistic regression on the majority of the votes; with the labels; and one that means
    nothing."""
    for name in SETS:
        found, votes = [], keyword_votes(name)
        for seed, task in enumerate(tasks(name, draws)):
            test = drawing.split(data.SETS[name](), np.random.default_rng((seed, 0)))
            train, voted = votes[~test], majority(votes)
            rows = np.flatnonzero(voted[~test] >= 0)
            linear = LogisticRegression(max_iter=300).fit(task.X[rows], voted[~test][rows]).predict(task.X_test)
            noise = np.where(np.random.default_rng((seed, 2)).random(len(train)) < 0.1, 0, -1)[:, None]
            found.append(
                (
                    *(float(f1_score(task.y_test, each, average="macro")) for each in (voted[test], linear)),
                    macro(task, labels.from_votes(train)),
                    *(macro(task, y) for y in (task.given, labels.from_votes(train, task.given))),
                    macro(task, labels.from_votes(noise, task.given)),
                )
            )
        rule, linear, alone, few, both, noise = np.array(found).T
        report.add(f"{name}, the majority of the rules, macro F", rule, note="a row without a vote counts as wrong")
        report.add(f"{name}, logistic regression on it", linear)
        report.add(f"{name}, rules alone", alone)
        report.add(f"{name}, rules alone - the majority", alone - rule, at_least=0.1)
        report.add(f"{name}, rules alone - logistic regression", alone - linear, at_least=0.05)
        report.add(f"{name}, labels alone", few)
        report.add(f"{name}, labels and rules", both)
        report.add(f"{name}, labels and rules - labels", both - few, at_least=-0.005)
        report.add(f"{name}, labels and a rule that means nothing", noise, note=f"{noise.mean() - few.mean():+.3f}")


def keyword_votes(name: str) -> np.ndarray:
    """Votes (n, words) of the keywords in all texts of a set, as numbers of classes, -1 for none."""
    load, classes = data.loader(), data.SETS[name]().classes.tolist()
    if name == "newsgroups20":
        texts = list(map(data.subject_and_body, load.newsgroups20("all")[0]))
    else:
        read = load.ohsumed if name == "ohsumed" else functools.partial(load.reuters_single, "R8")
        texts = read("train")[0] + read("test")[0]
    words = {classes.index(one): listed.split(", ") for one, listed in KEYWORDS[name].items()}
    found = labels.keyword_votes(texts, words)
    found[found == None] = -1  # noqa: E711
    return found.astype(int)


def majority(votes: np.ndarray) -> np.ndarray:
    """The class with most votes in each row, -1 in rows without a vote."""
    counts = np.stack([(votes == c).sum(axis=1) for c in range(votes.max() + 1)], axis=1)
    return np.where(counts.any(axis=1), counts.argmax(axis=1), -1)


def annotators(report: Report, draws: int = 3) -> None:
    """Votes of annotators on further rows, beside their true labels."""
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
            y = labels.from_votes(votes, task.given)
            found.append((macro(task, task.given), macro(task, y), macro(task, true)))
        few, middle, full = np.array(found).T
        report.add(f"{name}, labels alone, macro F", few)
        report.add(f"{name}, and three annotators", middle)
        report.add(f"{name}, and true labels", full)
        report.add(f"{name}, true labels - annotators", full - middle, at_most=0.02)


def language_model(report: Report, draws: int = 1) -> None:
    """Answers of one annotator of known accuracy, for random rows and for those of a session: accuracy on the test."""
    for name in ("reuters_r8", "ohsumed"):
        for right in (0.7, 0.9):
            found = []
            for seed, task in enumerate(tasks(name, draws)):
                rng, K, n = np.random.default_rng((seed, 6)), len(task.classes), len(task.y)
                answers = (task.y + (rng.random(n) > right) * rng.integers(1, K, n)) % K
                asked, given = rng.permutation(n)[:CALLS], np.full(n, -1)
                given[asked] = answers[asked]
                votes, wrong = labels.from_votes(given[:, None], accuracies=[right]), (1 - right) / (K - 1)
                shares = np.maximum(np.bincount(answers[asked])[votes.classes] / CALLS - wrong, 0.1 / K)
                counted = TransductiveSVC(class_prior=shares / shares.sum(), n_jobs=1)
                session = Session(task.X, TransductiveSVC(n_jobs=1))
                for row in (row for _ in range(CALLS // 10) for row in session.next(10)):
                    session.label(row, int(answers[row]))
                models = (
                    quietly(TransductiveSVC(n_jobs=1), task.X, given),
                    quietly(TransductiveSVC(n_jobs=1), task.X, votes),
                    quietly(counted, task.X, votes),
                    session.fit(),
                )
                found.append([model.score(task.X_test, task.y_test) for model in models])
            for way, values in zip(("labels", "votes", "votes with shares", "labels in a session"),
                                   np.transpose(found), strict=True):  # fmt: skip
                report.add(f"{name}, {right:.0%} right, as {way}, accuracy", values)


def fits(X: Any, y: np.ndarray, test: np.ndarray, given: np.ndarray) -> dict[str, float]:
    """F1 on the test with the share estimated and with the true one, and how far the estimate is off."""
    train, found = ~test, {}
    true = float(y[train & (given != "p")].mean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate = estimate_class_prior(X[train], given[train], rest="rest", n_jobs=1).as_dict()
    for what, shares in (("estimated", estimate), ("given", {"p": true, "rest": 1 - true})):
        model = quietly(TransductiveSVC(class_prior=shares, n_jobs=1), X[train], given[train])
        found[f"share {what}"] = f1_score(y[test], model.predict(X[test]) == "p")
    return found | {"off": abs(estimate["p"] - true)}


def peers(X: Any, y: np.ndarray, test: np.ndarray, given: np.ndarray) -> dict[str, float]:
    """F1 of what others have for positive labels, one of them with the true share."""
    labeled, share = given[~test] == "p", float(y[~test & (given != "p")].mean())
    return {name: f1_score(y[test], predict(X[~test], labeled, X[test], share)) for name, predict in PEERS.items()}


def above(scores: np.ndarray, share: float) -> np.ndarray:
    """The rows with the largest scores."""
    return scores > np.quantile(scores, 1 - share)


def plain(X: Any, labeled: np.ndarray, X_test: Any, _: float) -> np.ndarray:
    """The positive rows against all others."""
    return LogisticRegression(C=10).fit(X, labeled).predict(X_test)


def logistic(X: Any, labeled: np.ndarray, X_test: Any, share: float) -> np.ndarray:
    """The same, cut at the share."""
    model = LogisticRegression(C=10, class_weight="balanced").fit(X, labeled)
    return above(model.decision_function(X_test), share)


def elkan_noto(X: Any, labeled: np.ndarray, X_test: Any, _: float) -> np.ndarray:
    """Elkan & Noto 2008: probabilities are divided by their mean on held-out positive rows."""
    held = np.flatnonzero(labeled)[::4]
    kept = np.delete(np.arange(len(labeled)), held)
    model = LogisticRegression(C=10).fit(X[kept], labeled[kept])
    return model.predict_proba(X_test)[:, 1] > model.predict_proba(X[held])[:, 1].mean() / 2


PEERS: dict[str, Callable[..., np.ndarray]] = {
    "logistic regression": plain,
    "logistic regression cut at the share": logistic,
    "Elkan-Noto": elkan_noto,
}


def topics(report: Report, draws: int = 10) -> None:
    """The ten largest topics of Reuters as columns, with several in a row, beside one-against-rest LinearSVC."""
    X, Y, _ = data.reuters_topics()
    for n in LABELED:
        found = [column_scores(*columns(X, Y, n, np.random.default_rng((seed, n)))) for seed in range(draws)]
        for fitter, scores in zip(("default", *LINEAR), np.transpose(found, (1, 2, 0)), strict=True):
            for kind, values in zip(("micro", "macro"), scores, strict=True):
                report.add(f"Reuters, ten topics, {n} labeled rows, {fitter}, {kind} F", values)


def column_cost(report: Report) -> None:
    """Processor time of one fit of the 101 topics of RCV1, beside a fit of each."""
    X, Y = data.rcv1_topics()
    together, separate, same = column_seconds(*columns(X, Y, LABELED[0], np.random.default_rng((0, 20))))
    report.add("RCV1 topics, one fit", together, " s")
    report.add("RCV1 topics, part of the time of separate fits", together / separate, at_most=0.4)
    report.add("RCV1 topics, part of those with the same shares", together / same)


def one_topic(report: Report, draws: int = 3) -> None:
    """Twenty rows of one of these topics and nothing else, or twenty labeled rows of the others: F1 on held-out rows,
    means over the ten topics."""
    X, Y, topics = data.reuters_topics()
    found = []
    for k, seed in np.ndindex(len(topics), draws):
        rng, y = np.random.default_rng((seed, k)), Y[:, k] == 1
        test, given = rng.random(len(y)) < 0.25, np.full(len(y), None, dtype=object)
        given[rng.permutation(np.flatnonzero(y & ~test))[:POSITIVE]] = "p"
        found.append(fits(X, y, test, given) | peers(X, y, test, given))
        given[rng.permutation(np.flatnonzero(~y & ~test))[:POSITIVE]] = "rest"
        model = quietly(TransductiveSVC(n_jobs=1), X[~test], given[~test])
        found[-1][f"beside {POSITIVE} others"] = f1_score(y[test], model.predict(X[test]) == "p")
    for name in found[0]:
        values = np.array([one[name] for one in found])
        each = zip(topics, values.reshape(-1, draws).mean(axis=1), strict=True)
        note = ", ".join(f"{topic} {mean:.2f}" for topic, mean in each)
        report.add(f"Reuters, {POSITIVE} rows of a topic, {name}", values, note=note)


def counted(report: Report, draws: int = 3) -> None:
    """Rows drawn at random and read, beside five labels a class: their counts as class shares, their labels, or both;
    accuracy on the test."""
    for name in COUNTED:
        for n in (0, 50, 200):
            found = []
            for seed, task in enumerate(tasks(name, draws)):
                rows = np.random.default_rng((seed, 5)).permutation(len(task.y))[:n]
                counts = np.bincount(task.y[rows], minlength=len(task.classes)) + 0.5
                read = task.given.copy()
                read[rows] = task.y[rows]
                ways = ((read, "auto"), (task.given, counts / counts.sum()), (read, counts / counts.sum()))
                models = [
                    quietly(TransductiveSVC(class_prior=prior, n_jobs=1), task.X, y)
                    for y, prior in ways[: 3 if n else 1]
                ]
                found.append([model.score(task.X_test, task.y_test) for model in models])
            for way, values in zip(("as labels", "as shares", "as both"), np.transpose(found), strict=False):
                report.add(f"{name}, {n} counted rows {way}, accuracy", values)


def columns(X: Any, Y: np.ndarray, labeled: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Training rows, their known entries, and a test."""
    order = rng.permutation(len(Y))
    test, train = order[: len(Y) // 4], order[len(Y) // 4 :]
    y = np.full((len(train), Y.shape[1]), -1)
    y[:labeled] = Y[train[:labeled]]
    return X[train], y, X[test], Y[test]


def column_scores(X: Any, y: np.ndarray, X_test: Any, Y_test: np.ndarray) -> list[list[float]]:
    """Micro and macro F of one fit, and of a LinearSVC for each column, as it comes and with balanced classes."""
    found = [quietly(TransductiveSVC(n_jobs=1), X, y).predict(X_test)]
    for weights in LINEAR.values():
        found.append(np.zeros_like(Y_test))
        for k, column in enumerate(y.T):
            rows, known = column >= 0, column[column >= 0]
            several = len(np.unique(known)) > 1
            linear = LinearSVC(class_weight=weights)
            found[-1][:, k] = linear.fit(X[rows], known).predict(X_test) if several else known.max(initial=0)
    return [
        [float(f1_score(Y_test, each, average=average, zero_division=0)) for average in ("micro", "macro")]
        for each in found
    ]


def column_seconds(X: Any, y: np.ndarray, *_: Any) -> list[float]:
    """Processor time of one fit, of separate fits, and of separate fits with the same shares."""
    fitted = [column for column in y.T if (column >= 0).any()]
    found = [seconds(functools.partial(quietly, TransductiveSVC(n_jobs=1), X, y))[0]]
    for shares in ("auto", "labels"):
        model = TransductiveSVC(class_prior=shares, unlabeled=-1, n_jobs=1)
        found.append(sum(seconds(functools.partial(quietly, model, X, column))[0] for column in fitted))
    return found


SECTIONS = (sets, rules, annotators, language_model, topics, column_cost, one_topic, counted)
