"""Names of classes as labels: alone, and beside labels that are picked class by class or drawn at random.

Words are those of `text_vectorizer`, fitted to the texts; vectors are MiniLM's of texts and names. "thinned" has .08,
.53, .34 and .04 of the rows of AG News. "nearest name" is the largest cosine. All rows of a set are in the fit, and its
classes are asked for: accuracy where shares are even, else macro F.

`session`: the labels that a labeling session needs until its accuracy is the goal: `GOAL` times that of `LinearSVC`
with all labels, cross-validated, or the best of the session without names if that is less. At most `MOST_ROWS` rows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from benchmarks import data
from benchmarks.embeddings import EXAMPLE
from benchmarks.labeling import BATCH, GOAL, MOST_ROUNDS, MOST_ROWS, needed
from benchmarks.measure import Report, quietly, seconds
from fewlabel import TransductiveSVC, estimate_class_prior
from fewlabel.labeling import Session
from fewlabel.labels import with_descriptions
from fewlabel.preprocessing import text_vectorizer

OHSUMED = """bacterial infections and mycoses, virus diseases, parasitic diseases, neoplasms, musculoskeletal diseases,
digestive system diseases, stomatognathic diseases, respiratory tract diseases, otorhinolaryngologic diseases,
nervous system diseases, eye diseases, urologic and male genital diseases,
female genital diseases and pregnancy complications, cardiovascular diseases, hemic and lymphatic diseases,
neonatal diseases and abnormalities, skin and connective tissue diseases, nutritional and metabolic diseases,
endocrine diseases, immunologic diseases, disorders of environmental origin, animal diseases,
pathological conditions signs and symptoms"""  # headings C01 to C23 of MeSH
THINNED = {"World": 0.08, "Sports": 0.53, "Business": 0.34, "Sci/Tech": 0.04}
EVEN = (
    "AG News by words",
    "AG News by MiniLM",
    "AG News by bge",
    "20 Newsgroups by words",
    "20 Newsgroups by MiniLM",
    "FewRel by MiniLM",
)

Named = tuple[str, Any, np.ndarray, dict[str, Any]]  # name, rows, classes, row of each class's name


def sets() -> Iterator[Named]:
    words = json.loads((Path(os.environ["FEWLABEL_DATA"]) / "short" / "names.json").read_text())
    load = data.loader()
    news = by_words("AG News by words", *load.agnews(None), words["agnews"])
    yield news
    yield thinned(news)
    yield by_words("R8 by words", *data.texts("reuters_r8"), words["reuters_r8"])
    yield by_words("20 Newsgroups by words", *data.texts("newsgroups20"), words["newsgroups20"])
    headings = {f"C{n:02}": text for n, text in enumerate(OHSUMED.split(","), 1)}
    yield by_words("Ohsumed by words", *load.ohsumed(), headings)
    by_bge = np.load(EXAMPLE)
    yield by_vectors("AG News by bge", *load.agnews("bge"), (by_bge["agnews_classes"], by_bge["agnews_names"]))
    news = by_vectors("AG News by MiniLM", *load.agnews("minilm"), load.names("agnews"))
    yield news
    yield thinned(news)
    yield by_vectors("20 Newsgroups by MiniLM", *load.minilm(), load.names("newsgroups20"))
    for title, name in ("FewRel", "fewrel"), ("ATIS", "atis"), ("MPQA", "mpqa"), ("MR", "mr"):
        yield by_vectors(f"{title} by MiniLM", *load.short(name), load.names(name))


def by_words(title: str, texts: list[str], classes: Any, names: dict[str, str]) -> Named:
    vectorizer = text_vectorizer()
    rows = vectorizer.fit_transform(texts)
    return title, rows, np.asarray(classes), {name: vectorizer.transform([text]) for name, text in names.items()}


def by_vectors(title: str, rows: Any, classes: Any, names: Any) -> Named:
    vectors = {str(name): row for name, row in zip(*names, strict=True)}
    return title, np.asarray(rows, dtype=np.float32), np.asarray(classes).astype(str), vectors


def thinned(whole: Named) -> Named:
    title, rows, classes, names = whole
    rng, size = np.random.default_rng(0), min(np.sum(classes == name) / share for name, share in THINNED.items())
    kept = [rng.permutation(np.flatnonzero(classes == name))[: int(size * share)] for name, share in THINNED.items()]
    places = np.sort(np.concatenate(kept))
    return title.replace("AG News", "AG News thinned"), rows[places], classes[places], names


def score(named: Named, found: np.ndarray) -> float:
    title, _, classes, _ = named
    return float(np.mean(found == classes)) if title in EVEN else f1_score(classes, found, average="macro")


def fitted(named: Named, y: np.ndarray, described: bool) -> float:
    _, rows, _, names = named
    if described:
        rows, y = with_descriptions(rows, y, names)
    elif len({one for one in y if one is not None}) < 2:
        return float("nan")
    return score(named, quietly(TransductiveSVC(), rows, y).predict(named[1]))


def linear_svc(named: Named, labeled: np.ndarray) -> float:
    """`LinearSVC` with the names as further labeled rows."""
    _, rows, classes, names = named
    described, y = with_descriptions(rows[labeled], classes[labeled], names)
    return score(named, LinearSVC().fit(described, [*y[: len(labeled)], *names]).predict(rows))


def alone(report: Report, draws: int = 1) -> None:
    """Names without a label, and the nearest name."""
    for named in sets():
        title, rows, classes, names = named
        ordered = np.array(list(names))
        cosines = [normalize(rows) @ normalize(row.reshape(1, -1)).T for row in names.values()]
        near = np.hstack([each.toarray() if sp.issparse(each) else each for each in cosines]).argmax(axis=1)
        report.add(f"{title}, nearest name", score(named, ordered[near]))
        report.add(f"{title}, names alone", fitted(named, np.full(len(classes), None), True))


def picked(report: Report, draws: int = 5) -> None:
    """Labels of each class, without and with names."""

    def draw(classes: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([rng.permutation(np.flatnonzero(classes == name))[:k] for name in np.unique(classes)])

    beside(report, draws, (1, 2, 5, 20), "a class", draw)


def random(report: Report, draws: int = 5) -> None:
    """Labels drawn at random, without and with names."""
    beside(report, draws, (10, 20, 40, 100), "at random", lambda classes, k, rng: rng.permutation(len(classes))[:k])


def beside(report: Report, draws: int, labels: tuple[int, ...], how: str, draw: Any) -> None:
    times: dict[bool, float] = {False: 0.0, True: 0.0}
    for named in sets():
        title, _, classes, _ = named
        for k in labels:
            found: dict[bool, list[float]] = {False: [], True: []}
            linear: list[float] = []
            for seed in range(draws):
                y, rows = np.full(len(classes), None), draw(classes, k, np.random.default_rng((seed, 7)))
                y[rows] = classes[rows]
                for described, scores in found.items():
                    taken, one = seconds(partial(fitted, named, y, described))
                    scores.append(one)
                    times[described] += taken
                linear.append(linear_svc(named, rows))
            report.add(f"{title}, {k} {how}", found[False])
            report.add(f"{title}, {k} {how} and names", found[True])
            report.add(f"{title}, {k} {how} and names, LinearSVC", linear)
    report.add("time with names / without", times[True] / times[False], at_most=1.1)


def topics(report: Report, draws: int = 5) -> None:
    """The ten largest topics of Reuters as columns of 5,000 documents: without and with a description of each topic.
    Shares of names alone are given, or those of a fit in which the topics are classes."""
    rows, Y, vectors, names = reuters_topics()
    described = dict(zip(names, vectors, strict=True))
    shares = {"the true shares": Y.mean(axis=0)}
    found = estimate_class_prior(*with_descriptions(rows, None, described)).as_dict()
    shares["the shares of names as classes"] = np.array([found[name] for name in names])
    for title, prior in shares.items():
        unknown = pd.DataFrame(np.full(Y.shape, -1), columns=names)
        model = TransductiveSVC(class_prior=prior).fit(*with_descriptions(rows, unknown, described))
        for kind in ("micro", "macro"):
            report.add(
                f"Reuters topics, names alone, {title}, {kind} F", f1_score(Y, model.predict(rows), average=kind)
            )
    for n in (20, 50, 100):
        scores: dict[str, list[Any]] = {}
        for seed in range(draws):
            chosen = np.random.default_rng((seed, n)).permutation(len(Y))[:n]
            y = np.full(Y.shape, -1, dtype=object)
            y[chosen] = Y[chosen]
            forms = {"": (rows, y), " and names": with_descriptions(rows, pd.DataFrame(y, columns=names), described)}
            for title, given in forms.items():
                predicted = quietly(TransductiveSVC(), *given).predict(rows)
                both = [f1_score(Y, predicted, average=kind) for kind in ("micro", "macro")]
                scores.setdefault(title, []).append(both)
        for title, values in scores.items():
            for kind, each in zip(("micro", "macro"), np.transpose(values), strict=True):
                report.add(f"Reuters topics, {n} labeled rows{title}, {kind} F", each)


def reuters_topics() -> tuple[Any, np.ndarray, list[Any], list[str]]:
    """Rows of words, an indicator matrix, and a row that describes each topic, with its name."""
    words = json.loads((Path(os.environ["FEWLABEL_DATA"]) / "short" / "names.json").read_text())["reuters_r8"]
    words |= {"wheat": "wheat", "corn": "corn maize"}
    parts = [data.loader().reuters_modapte(part, 10) for part in ("train", "test")]
    texts, found = (first + second for first, second in zip(*parts, strict=True))
    chosen, vectorizer = np.random.default_rng(0).permutation(len(texts))[:5000], text_vectorizer()
    rows = vectorizer.fit_transform([texts[i] for i in chosen])
    Y = np.array([[name in found[i] for name in words] for i in chosen]).astype(int)
    return rows, Y, [vectorizer.transform([text]) for text in words.values()], list(words)


def session(report: Report, draws: int = 1) -> None:
    """Labels that a labeling session needs with names, beside one without."""
    sizes, ratios = BATCH * np.arange(MOST_ROUNDS + 1), []
    for title, rows, classes, names in sets():
        labels = []
        for seed in range(draws):
            kept = np.random.default_rng((seed, 5)).permutation(len(classes))[:MOST_ROWS]
            goal = GOAL * float(np.mean(cross_val_score(LinearSVC(), rows[kept], classes[kept])))
            without = curve(Session(rows[kept], TransductiveSVC()), classes[kept], goal)
            goal = min(goal, max(without))
            beside = curve(Session(rows[kept], TransductiveSVC(), descriptions=names), classes[kept], goal)
            labels.append([needed(np.array(each), sizes, goal) for each in (beside, without)])
        with_names, without_names = np.mean(np.nan_to_num(labels, nan=sizes[-1]), axis=0)
        ratios.append(with_names / without_names)
        note = f"{with_names:.0f} for {without_names:.0f} labels, goal {goal:.3f}, names alone {beside[0]:.3f}"
        report.add(f"{title}, labels needed with names / without", ratios[-1], note=note)
    report.add("mean over the sets", ratios, at_most=0.5)


def curve(asked: Session, truth: np.ndarray, goal: float) -> list[float]:
    """Share of the rows that are right before the first batch of answers and after each, until it is the goal."""
    found: list[float] = []
    while len(found) <= MOST_ROUNDS and max(found, default=0.0) < goal:
        for row in asked.next(BATCH) if found else ():
            asked.label(row, str(truth[row]))
        fits = len(asked._read().learned) > 1
        found.append(float(np.mean(asked.fit().predict(asked._rows) == truth)) if fits else 0.0)
    return found


SECTIONS = (alone, picked, random, topics, session)
