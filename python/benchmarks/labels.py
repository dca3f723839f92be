"""The labels people have: sets of classes, keyword rules, annotators, positive rows alone, several labels a row.

Macro F of `TransductiveSVC()` on the test, five labeled rows a class beside what a section adds; F1 of the positive
class in `positives`, with 20 labeled rows of it; the 101 topics of RCV1 in `topics`. The strength of prior costs was
chosen on k1b and wap, the estimate of the share on MCAT and rec. against sci.
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

from benchmarks import data
from benchmarks.data import DataSet, Task
from benchmarks.measure import Report, quietly, seconds

SETS = ("newsgroups20", "ohsumed", "reuters_r8")
LABELS = 5  # a class
MORE = 20  # rows a class with sets, or with votes of annotators
OTHERS = 4  # classes of a set beside the true one
ANNOTATORS = (0.9, 0.7, 0.5)  # accuracies
SHARES = (0.05, 0.1, 0.2, 0.5)
POSITIVE = 20  # labeled rows
LABELED = (20, 100)  # rows with topics
MOST = 6000  # rows with a share
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
    from fewlabel import labels

    for name in SETS:
        found, votes = [], keyword_votes(name)
        for seed, task in enumerate(tasks(name, draws)):
            test = data.split(data.SETS[name](), np.random.default_rng((seed, 0)))
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
    from fewlabel import labels

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
            y = labels.from_votes(votes, task.given)
            found.append((macro(task, task.given), macro(task, y), macro(task, true)))
        few, middle, full = np.array(found).T
        report.add(f"{name}, labels alone, macro F", few)
        report.add(f"{name}, and three annotators", middle, note=f"true labels {full.mean():.3f}")
        report.add(f"{name}, true labels - annotators", full - middle, at_most=0.02)


def positives(report: Report, draws: int = 3) -> None:
    """Labels of one class alone, with its share or without, beside negative labels and what others have for it."""
    for name, positive in CELLS.items():
        for share in SHARES:
            drawn = [
                with_share(data.SETS[name](), positive, share, np.random.default_rng((seed, 4)))
                for seed in range(draws)
            ]
            both, known, auto = np.array([fits(*one) for one in drawn]).transpose(1, 2, 0)  # see fits
            cell = f"{name} {positive} {share:g}"
            report.add(f"{cell}, with 20 negative labels, F1", both[0], note=f"{both[1].mean():.1f} s")
            for what, one, of, least in (
                ("the share given, part of that", known, both, 0.9),
                ("the share estimated, part of given", auto, known, 0.85),
            ):
                report.add(
                    f"{cell}, {what}", one[0].mean() / of[0].mean(), at_least=least, note=f"{one[1].mean():.1f} s"
                )
            inside = f"{auto[3].sum():.0f} of {draws} shares inside the interval"
            report.add(f"{cell}, the estimate is off by", auto[2], note=f"at most {auto[2].max():.2f}, {inside}")
            scores = [peers(*one) for one in drawn]
            means = {peer: np.mean([one[peer] for one in scores]) for peer in PEERS}
            best = max(means, key=means.__getitem__)
            report.add(
                f"{cell}, the share given, F1 - best peer", known[0].mean() - means[best], at_least=0.0, note=best
            )


def fits(X: Any, y: np.ndarray, test: np.ndarray, given: np.ndarray) -> list[tuple[float, float, float, bool]]:
    """F1 on the test, seconds, how far the share is off, and whether its 90 % interval has it, of three fits."""
    from fewlabel import TransductiveSVC, estimate_class_prior

    rest, train = given.copy(), ~test
    rest[np.flatnonzero(train & ~y)[:POSITIVE]] = "rest"
    true = float(y[train & (given != "p")].mean())
    prior, found = {"p": true, "rest": 1 - true}, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        share = estimate_class_prior(X[train], given[train], rest="rest", n_jobs=1)
    for labels, shares in ((rest, prior), (given, prior), (given, share.as_dict())):
        model = TransductiveSVC(class_prior=shares, n_jobs=1)
        took, _ = seconds(functools.partial(quietly, model, X[train], labels[train]))
        found.append((f1_score(y[test], model.predict(X[test]) == "p"), took, abs(model.class_prior_[0] - true)))
    return [(*one, bool(share.lower[0] <= true <= share.upper[0])) for one in found]


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


def peers(X: Any, y: np.ndarray, test: np.ndarray, given: np.ndarray) -> dict[str, float]:
    """F1 of what others have for positive labels and a share."""
    labeled, share = given[~test] == "p", float(y[~test & (given != "p")].mean())
    return {name: f1_score(y[test], predict(X[~test], labeled, X[test], share)) for name, predict in PEERS.items()}


def above(scores: np.ndarray, share: float) -> np.ndarray:
    """The rows with the largest scores."""
    return scores > np.quantile(scores, 1 - share)


def logistic(X: Any, labeled: np.ndarray, X_test: Any, share: float) -> np.ndarray:
    """The positive rows against all others, cut at the share."""
    model = LogisticRegression(C=10, class_weight="balanced").fit(X, labeled)
    return above(model.decision_function(X_test), share)


def elkan_noto(X: Any, labeled: np.ndarray, X_test: Any, _: float) -> np.ndarray:
    """Elkan & Noto 2008: probabilities are divided by their mean on held-out positive rows."""
    held = np.flatnonzero(labeled)[::4]
    kept = np.delete(np.arange(len(labeled)), held)
    model = LogisticRegression(C=10).fit(X[kept], labeled[kept])
    return model.predict_proba(X_test)[:, 1] > model.predict_proba(X[held])[:, 1].mean() / 2


PEERS: dict[str, Callable[..., np.ndarray]] = {"logistic regression": logistic, "Elkan-Noto": elkan_noto}


def topics(report: Report, draws: int = 3) -> None:
    """The topics of RCV1 as columns, of labeled rows all or half of them known, beside one-against-rest LinearSVC.

    Seconds are those of the first draw: one fit of all columns, then a fit of each, with the defaults and with the same
    class shares.
    """
    X, Y = data.rcv1_topics()
    for n in LABELED:
        for share in (1.0, 0.5):
            drawn = [columns(X, Y, n, share, np.random.default_rng((seed, n))) for seed in range(draws)]
            found = np.array([column_scores(*one) for one in drawn])  # (draws, fitters, micro and macro)
            cell = f"RCV1 topics, {n} labeled rows, {share:.0%} known"
            for k, kind in enumerate(("micro", "macro")):
                report.add(f"{cell}, {kind} F", found[:, 0, k], note=f"LinearSVC {found[:, 1, k].mean():.3f}")
                report.add(f"{cell}, {kind} F - LinearSVC", found[:, 0, k] - found[:, 1, k], at_least=0.0)
            together, separate, same = column_seconds(*drawn[0])
            report.add(f"{cell}, one fit", together, " s")
            report.add(f"{cell}, part of the time of separate fits", together / separate, at_most=0.4)
            report.add(f"{cell}, part of those with the same shares", together / same)


def columns(X: Any, Y: np.ndarray, labeled: int, share: float, rng: np.random.Generator) -> tuple[Any, ...]:
    """Training rows, their known entries, and a test."""
    order = rng.permutation(len(Y))
    test, train = order[: len(Y) // 4], order[len(Y) // 4 :]
    y = np.full((len(train), Y.shape[1]), -1)
    known = rng.random((labeled, Y.shape[1])) < share
    y[:labeled][known] = Y[train[:labeled]][known]
    return X[train], y, X[test], Y[test]


def column_scores(X: Any, y: np.ndarray, X_test: Any, Y_test: np.ndarray) -> list[list[float]]:
    """Micro and macro F of one fit, and of a LinearSVC for each column."""
    from fewlabel import TransductiveSVC

    linear = np.zeros_like(Y_test)
    for k, column in enumerate(y.T):
        rows, known = column >= 0, column[column >= 0]
        several = len(np.unique(known)) > 1
        linear[:, k] = LinearSVC().fit(X[rows], known).predict(X_test) if several else known.max(initial=0)
    predicted = quietly(TransductiveSVC(n_jobs=1), X, y).predict(X_test)
    return [
        [float(f1_score(Y_test, each, average=average, zero_division=0)) for average in ("micro", "macro")]
        for each in (predicted, linear)
    ]


def column_seconds(X: Any, y: np.ndarray, *_: Any) -> list[float]:
    """Processor time of one fit, of separate fits, and of separate fits with the same shares."""
    from fewlabel import TransductiveSVC

    fitted = [column for column in y.T if (column >= 0).any()]
    found = [seconds(functools.partial(quietly, TransductiveSVC(n_jobs=1), X, y))[0]]
    for shares in ("auto", "labels"):
        model = TransductiveSVC(class_prior=shares, unlabeled=-1, n_jobs=1)
        found.append(sum(seconds(functools.partial(quietly, model, X, column))[0] for column in fitted))
    return found


SECTIONS = (sets, rules, annotators, positives, topics)
