"""Label sequences: entity F1 of CoNLL-2002 Spanish with each loss, what unlabeled sentences and words add, and time.

The step length, `alpha`, the features and the weight of unlabeled sentences were chosen on draws of sentences from 100
on.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import ttest_rel
from sklearn.svm import LinearSVC

from benchmarks import measure
from benchmarks.measure import Report

Tags = list[list[str]]
LOSSES: dict[str, dict[str, Any]] = {
    "default": {},
    "crf": {"loss": "crf"},
    "soft_hinge": {"loss": "soft_hinge"},
}
UNLABELED: dict[str, dict[str, Any]] = {
    "posterior, true shares": {"method": "posterior"},
    "posterior, shares of the labels": {"method": "posterior"},
    "gradient": {"method": "gradient"},
}
BEYOND = 500  # unlabeled sentences
WORDS = 50  # of a dictionary, for each type


# ------------------------------------------------------------------ sentences
@functools.cache
def corpus() -> tuple[Any, Tags, Any, Tags, list[list[str]]]:
    """Rows of the tokens and tags, for training and for the test; the words of the former."""
    from fewlabel.datasets import load_conll_file
    from fewlabel.sequences import TokenVectorizer

    folder = Path(os.environ.get("FEWLABEL_DATA", ""), "conll2002-es")
    if not folder.is_dir():
        raise SystemExit("FEWLABEL_DATA must name the folder of the data sets, with conll2002-es in it")
    (tokens, tags), (test, truth) = (load_conll_file(folder / f"esp.{part}.gz") for part in ("train", "testa"))
    vectorizer = TokenVectorizer().fit(tokens)
    X, X_test = (sp.vstack(vectorizer.transform(some), "csr") for some in (tokens, test))
    return X, tags, X_test, truth, tokens


def draw(n: int, seed: int) -> tuple[Any, Tags, list[list[str]]]:
    """n sentences drawn at random: rows, tags and words."""
    X, tags, _, _, tokens = corpus()
    chosen, ends = np.random.default_rng(seed).permutation(len(tags))[:n], np.cumsum([len(some) for some in tags])
    rows = X[np.concatenate([np.arange(ends[k] - len(tags[k]), ends[k]) for k in chosen])]
    return rows, [tags[k] for k in chosen], [tokens[k] for k in chosen]


def fitted(X: Any, tags: Any, **parameters: Any) -> Any:
    """A model of these sentences."""
    from fewlabel import SequenceSVC

    return measure.quietly(SequenceSVC(n_jobs=1, **parameters), X, tags)


def entities(tags: list[str]) -> set[tuple[int, int, str]]:
    """Start, end and type of the entities in IOB2 tags, as the scorer of CoNLL counts them."""
    spans, start, kind = set(), 0, ""
    for k, tag in enumerate([*tags, "O"]):
        prefix, _, name = tag.partition("-")
        if kind and (prefix != "I" or name != kind):
            spans.add((start, k, kind))
            kind = ""
        if prefix != "O" and not kind:
            start, kind = k, name
    return spans


def scores(model: Any) -> tuple[float, float]:
    """Entity F1 and wrong tokens in the test set, in percent."""
    _, _, X, truth, _ = corpus()
    found = model.predict(X, [len(tags) for tags in truth])
    flat, ends = np.concatenate(truth), np.cumsum([len(tags) for tags in truth])[:-1]
    pairs = [(entities(a), entities(b.tolist())) for a, b in zip(truth, np.split(found, ends), strict=True)]
    right, total = sum(len(a & b) for a, b in pairs), sum(len(a) + len(b) for a, b in pairs)
    return 200 * right / max(1, total), 100 * float(np.mean(found != flat))


# ------------------------------------------------------------------ sections
def f1(report: Report, draws: int = 10) -> None:
    """Entity F1 at 10, 100 and 1,000 labeled sentences."""
    for n, most in ((10, draws), (100, draws), (1000, min(3, draws))):
        samples = [draw(n, seed)[:2] for seed in range(most)]
        learners = {name: functools.partial(fitted, **settings) for name, settings in LOSSES.items()}
        for name, learn in learners.items():
            report.add(f"{n} sentences: {name}, F1", [scores(learn(*sample))[0] for sample in samples], " %")


def unlabeled(report: Report, draws: int = 20) -> None:
    """What 500 unlabeled sentences add to 10 and 100 labeled ones, against the best loss without them, paired."""
    for n in (10, 100):
        runs = [with_unlabeled(n, seed) for seed in range(draws)]
        found = {name: np.array([run[name] for run in runs]) for name in runs[0]}
        best = max(LOSSES, key=lambda name: found[name][:, 0].mean())
        for name, values in found.items():
            note = f"wrong tokens {values[:, 1].mean():.2f} %"
            if name in UNLABELED and draws > 1:
                note += f"; against {best} p = {ttest_rel(values[:, 0], found[best][:, 0]).pvalue:.2g}"
            report.add(f"{n} labeled and {BEYOND} unlabeled sentences: {name}, F1", values[:, 0], " %", note)


def with_unlabeled(n: int, seed: int, beyond: int = BEYOND) -> dict[str, tuple[float, float]]:
    """Scores of every learner at one draw."""
    X, tags, _ = draw(n + beyond, seed)
    labeled = sum(map(len, tags[:n]))
    marked = [*tags[:n], *([None] * len(sentence) for sentence in tags[n:])]
    found = {name: scores(fitted(X[:labeled], tags[:n], **settings)) for name, settings in LOSSES.items()}
    for name, settings in UNLABELED.items():
        given = {"class_prior": shares(tags[:n], tags[n:])} if "true" in name else {}
        found[name] = scores(fitted(X, marked, **settings, **given))
    return found


def few(report: Report, draws: int = 3) -> None:
    """What 1, 10 and 40 unlabeled sentences do to 100 and 400 labeled ones: F1 less that of the default."""
    for n, beyond in itertools.product((100, 400), (1, 10, 40)):
        runs = [with_unlabeled(n, seed, beyond) for seed in range(draws)]
        for name in UNLABELED:
            lead = [run[name][0] - run["default"][0] for run in runs]
            report.add(f"{n} labeled and {beyond} unlabeled: {name}, F1 more", lead, " %", f"worst {min(lead):.1f}")


def shares(labeled: Tags, others: Tags) -> dict[str, float]:
    """Shares among the unlabeled tokens, of the tags that occur in the labeled sentences."""
    known = set(itertools.chain.from_iterable(labeled))
    counts = Counter(tag for tags in others for tag in tags if tag in known)
    total = sum(max(1, counts[tag]) for tag in known)
    return {tag: max(1, counts[tag]) / total for tag in known}


def dictionary(report: Report, draws: int = 10) -> None:
    """What a dictionary adds to 100 labeled sentences: its words in 500 others may have the tags of their type."""
    names = words()
    found = []
    for seed in range(draws):
        X, tags, tokens = draw(100 + BEYOND, seed)
        known = set(itertools.chain.from_iterable(tags[:100]))
        marked = [*tags[:100], *([possible(names.get(word), known) for word in some] for some in tokens[100:])]
        labeled = sum(map(len, tags[:100]))
        found.append([scores(fitted(X[:labeled], tags[:100]))[0], scores(fitted(X, marked))[0]])
    alone, with_words = np.array(found).T
    report.add("100 labeled sentences, F1", alone, " %")
    note = f"{(with_words - alone).mean():+.1f}, higher in {np.mean(with_words > alone):.0%} of the draws"
    report.add(f"and {BEYOND} with {WORDS} words a type, F1", with_words, " %", note, at_least=alone.mean())


def words() -> dict[str, str]:
    """The type of the words that most often stand in entities of it, WORDS of each: in half of their places or more."""
    _, tags, _, _, tokens = corpus()
    places = Counter(zip(itertools.chain(*tokens), (tag[2:] for tag in itertools.chain(*tags)), strict=True))
    total = Counter(itertools.chain(*tokens))
    found: dict[str, str] = {}
    for kind in sorted({kind for _, kind in places if kind}):
        ordered = (word for (word, of), count in places.most_common() if of == kind and 2 * count >= total[word])
        found |= dict.fromkeys(itertools.islice(ordered, WORDS), kind)
    return found


def possible(kind: str | None, known: set[str]) -> set[str] | None:
    """The tags of a word of this type, of those that the labeled sentences have."""
    return {f"B-{kind}", f"I-{kind}"} & known or None


def time(report: Report, draws: int = 3) -> None:
    """Processor time against LinearSVC, which labels each token alone, on the same rows; one thread, by turns."""
    X, tags, _ = draw(1000, 0)
    flat = list(itertools.chain.from_iterable(tags))
    narrow = sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)  # for LinearSVC
    calls = {"ours": lambda: fitted(X, tags), "LinearSVC": lambda: LinearSVC().fit(narrow, flat)}
    spent = measure.turns(calls, draws)
    note = f"{np.median(spent['ours']):.2f} s, LinearSVC {np.median(spent['LinearSVC']):.2f} s"
    report.add(
        "1,000 sentences: time / LinearSVC", np.median(spent["ours"] / spent["LinearSVC"]), note=note, at_most=1.2
    )


SECTIONS = (f1, unlabeled, few, dictionary, time)
