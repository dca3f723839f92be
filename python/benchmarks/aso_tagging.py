"""Structure features for tagging (Ando & Zhang 2005, sections 5.3 and 5.4): parts of speech of Brown, Spanish entities.

The structure is learned from the current, the left and the right word of every token of the training part, labels
unused, with a group of features for each: the word at one place is asked for from the other two.
The weight 1/√count was chosen on the draw 100 of Brown.
"""

from __future__ import annotations

import collections
import functools
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from benchmarks import sequences
from benchmarks.report import Report

DRAWS = 2
LABELED, TEST = 23_000, 60_000  # words of Brown
PLACES = (0, -1, 1)
WEIGHTS = {"words and structure": False, "words and structure of words by 1/√count": True}
Sentences = list[list[str]]


class Words:
    """Rows with the word of a token and its neighbours, in lower case, each a group of features.

    Values are 1, or 1/√(count of the word), so that frequent words do not fill the components.
    """

    def __init__(self, sentences: Sentences, by_count: bool) -> None:
        counts = collections.Counter(word.lower() for sentence in sentences for word in sentence)
        often = {word: count for word, count in counts.items() if count > 1}
        self.number, self.size = {word: k for k, word in enumerate(often)}, len(often)
        self.values = np.array(list(often.values())) ** (-0.5 if by_count else 0.0)

    @property
    def groups(self) -> np.ndarray:
        """The group of each feature."""
        return np.repeat(np.arange(len(PLACES)), self.size)

    def rows(self, sentences: Sentences) -> sp.csr_matrix:
        """A row for each token."""
        found = [[self.number.get(word.lower(), -1) for word in sentence] for sentence in sentences]
        columns = np.column_stack(
            [
                np.concatenate([shifted(numbers, place, group * self.size) for numbers in found])
                for group, place in enumerate(PLACES)
            ]
        )
        known = columns >= 0
        indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int32)
        return sp.csr_matrix(
            (np.tile(self.values, len(PLACES))[columns[known]], columns[known].astype(np.int32), indptr),
            (len(columns), len(PLACES) * self.size),
        )


def shifted(numbers: list[int], place: int, first: int) -> np.ndarray:
    """Of each token of a sentence the feature of the word at this place, or -1."""
    padded = np.array([-1, *numbers, -1])
    at = padded[1 + place : 1 + place + len(numbers)]
    return np.where(at >= 0, at + first, -1)


def structure(sentences: Sentences, by_count: bool) -> Callable[[Sentences], sp.csr_matrix]:
    """Structure features, learned from sentences, of the tokens of others: as long as rows of 1."""
    from fewlabel import ASOTransformer

    words = Words(sentences, by_count)
    rows = words.rows(sentences)
    model = ASOTransformer(feature_groups=words.groups, output="structure", n_jobs=1).fit(rows)

    def added(some: Sentences) -> sp.csr_matrix:
        parts = np.split(model.transform(words.rows(some)), len(PLACES), axis=1)
        return sp.csr_matrix(np.hstack([normalize(part) for part in parts]))

    return added


@functools.cache
def brown() -> tuple[Sentences, Sentences]:
    """Sentences and tags: without the marks of titles, headlines, citations and foreign words, the first of joined."""
    from fewlabel.datasets import load_conll_file

    path = Path(os.environ.get("FEWLABEL_DATA", "")) / "brown" / "brown.tsv.gz"
    if not path.is_file():
        raise SystemExit("FEWLABEL_DATA must name the folder of the data sets, with brown/brown.tsv.gz in it")
    tokens, tags = load_conll_file(path, columns=(0, 1))
    return tokens, [[base(tag) for tag in sentence] for sentence in tags]


def base(tag: str) -> str:
    """A tag of Brown without what is appended."""
    return tag.removeprefix("fw-").split("+")[0].split("-")[0].rstrip("*") or tag


def drawn(tokens: Sentences, seed: int) -> tuple[list[int], list[int], list[int]]:
    """Numbers of the sentences for the test, of the labeled ones and of the others."""
    order = np.random.default_rng(seed).permutation(len(tokens)).tolist()
    ends = np.cumsum([len(tokens[k]) for k in order])
    test, labeled = np.searchsorted(ends, [TEST, TEST + LABELED]) + 1
    return order[:test], order[test:labeled], order[labeled:]


def aso_brown(report: Report, draws: int = DRAWS) -> None:
    """Error of parts of speech from 23,000 labeled words, about a million unlabeled; words only, no suffixes."""
    tokens, tags = brown()
    found: dict[str, list[float]] = {what: [] for what in ("words", *WEIGHTS)}
    for seed in range(draws):
        test, labeled, rest = drawn(tokens, seed)
        train, judged = [tokens[k] for k in labeled], [tokens[k] for k in test]
        everything = [*train, *(tokens[k] for k in rest)]
        rows = Words(everything, by_count=False).rows
        features = [(rows(train), rows(judged))]
        for by_count in WEIGHTS.values():
            added = structure(everything, by_count)
            features.append(tuple(sp.csr_matrix(sp.hstack([rows(some), added(some)])) for some in (train, judged)))
        truth = np.array([tag for k in test for tag in tags[k]])
        for what, (X, X_test) in zip(found, features, strict=True):
            model = sequences.fitted(X, [tags[k] for k in labeled])
            answers = np.asarray(model.predict(X_test, [len(sentence) for sentence in judged]))
            found[what].append(100 * float(np.mean(answers != truth)))
    for what, values in found.items():
        report.fact(f"Brown, 23,000 words, error: {what}", float(np.mean(values)), " %", f"{draws} draws", values)
    for what in WEIGHTS:
        reduction = 100 * (1 - np.mean(found[what]) / np.mean(found["words"]))
        report.at_least(f"Brown, 23,000 words, error reduction: {what}", float(reduction), 10.0, " %")


def aso_spanish(report: Report, draws: int = DRAWS) -> None:
    """Entity F1 of CoNLL-2002 at 100 and 1,000 sentences, with the structure of all training tokens and without."""
    from fewlabel.datasets import load_conll_file

    data, folder = sequences.spanish(), Path(os.environ["FEWLABEL_DATA"]) / "conll2002-es"
    tokens, test_tokens = (load_conll_file(folder / file)[0] for file in ("esp.train.gz", "esp.testa.gz"))
    added = structure(tokens, by_count=True)
    both = data._replace(
        X=sp.csr_matrix(sp.hstack([data.X, added(tokens)])),
        X_test=sp.csr_matrix(sp.hstack([data.X_test, added(test_tokens)])),
    )
    for n, most in ((100, 5 * draws), (1000, draws)):
        means = []
        for what, part in (("without", data), ("with structure", both)):
            found = [part.f1(sequences.fitted(*part.draw(n, seed))) for seed in range(most)]
            means.append(float(np.mean(found)))
            report.fact(f"CoNLL-2002 Spanish, {n} sentences, F1: {what}", means[-1], " %", f"{most} draws", found)
        report.at_least(f"CoNLL-2002 Spanish, {n} sentences: gain of F1", means[1] - means[0], 0.0, " points")


SECTIONS = (aso_brown, aso_spanish)
