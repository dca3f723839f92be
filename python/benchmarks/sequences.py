"""Label sequences: entity F1 of CoNLL-2002 Spanish, times, missing labels, chunks of CoNLL-2000.

The step length, `alpha` and the features were chosen on draws of sentences other than these (seeds from 100 on).
The conditional random field it is compared with is at its optimum, with the strength of CRFsuite's default c2 = 1.
"""

from __future__ import annotations

import functools
import itertools
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from benchmarks.report import Report

Tags = list[list[str]]


class Sentences(NamedTuple):
    """Features of tokens, one row a token, and their tags; a test set beside them."""

    X: Any
    tags: Tags
    X_test: Any
    test: Tags

    def some(self, chosen: np.ndarray) -> tuple[Any, Tags]:
        """Rows and tags of these sentences."""
        ends = np.cumsum([len(tags) for tags in self.tags])
        rows = [np.arange(ends[k] - len(self.tags[k]), ends[k]) for k in chosen]
        return self.X[np.concatenate(rows)], [self.tags[k] for k in chosen]

    def draw(self, n: int, seed: int) -> tuple[Any, Tags]:
        """n sentences, drawn at random; all of them in their order."""
        if n == len(self.tags):
            return self.X, self.tags
        return self.some(np.random.default_rng(seed).permutation(len(self.tags))[:n])

    def f1(self, model: Any) -> float:
        """Percent, of the entities in the test set."""
        found = model.predict(self.X_test, [len(tags) for tags in self.test]).tolist()
        ends = np.cumsum([len(tags) for tags in self.test]).tolist()
        return f1(self.test, [found[end - len(tags) : end] for tags, end in zip(self.test, ends, strict=True)])


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


def f1(truth: Tags, found: Tags) -> float:
    """Percent: the harmonic mean of precision and recall of entities."""
    pairs = [(entities(a), entities(b)) for a, b in zip(truth, found, strict=True)]
    right, total = sum(len(a & b) for a, b in pairs), sum(len(a) + len(b) for a, b in pairs)
    return 200 * right / max(1, total)


@functools.cache
def corpus(name: str, train: str, test: str) -> Sentences:
    """A corpus of the folder of data sets: tokens in the first column, tags in the last."""
    from fewlabel.datasets import load_conll_file
    from fewlabel.sequences import TokenVectorizer

    folder = Path(os.environ.get("FEWLABEL_DATA", "")) / name
    if not (folder / train).is_file():
        raise SystemExit(f"FEWLABEL_DATA must name the folder of the data sets, with {name}/{train} in it")
    (tokens, tags), (test_tokens, test_tags) = (load_conll_file(folder / file) for file in (train, test))
    vectorizer = TokenVectorizer().fit(tokens)
    return Sentences(vectorizer.transform(tokens), tags, vectorizer.transform(test_tokens), test_tags)


def spanish() -> Sentences:
    """Named entities in Spanish."""
    return corpus("conll2002-es", "esp.train.gz", "esp.testa.gz")


def fitted(X: Any, tags: Tags, **parameters: Any) -> Any:
    """A model of these sentences."""
    from fewlabel import SequenceSVC

    return SequenceSVC(n_jobs=1, **parameters).fit(X, tags)


def crf(X: Any, tags: Tags) -> Any:
    """A conditional random field with Σ losses + |w|², as CRFsuite's default."""
    alpha = 2 / (sum(map(len, tags)) * X.multiply(X).sum() / X.shape[0])
    return fitted(X, tags, loss="crf", solver="lbfgs", alpha=alpha, tol=1e-3)


def sequences_f1(report: Report, draws: int = 10) -> None:
    """Entity F1 at 10, 100, 1,000 and all sentences, with the defaults, beside other losses."""
    data = spanish()
    for n, most, bound in ((10, draws, 24.0), (100, draws, 52.5), (1000, min(3, draws), 66.5), (8323, 1, 76.0)):
        samples = [data.draw(n, seed) for seed in range(most)]
        found = [data.f1(fitted(*s)) for s in samples]
        what, note = f"CoNLL-2002 Spanish, {n} sentences, entity F1", f"{most} draws"
        report.at_least(f"{what}: defaults", np.mean(found), bound, " %", note, found)
        for loss in ("crf", "soft_hinge", "huber"):
            found = [data.f1(fitted(*s, loss=loss)) for s in samples]
            report.fact(f"{what}: {loss}", np.mean(found), " %", note, found)
        if n < 8323:
            found = [data.f1(crf(*s)) for s in samples]
            report.fact(f"{what}: crf at its optimum, c2 = 1", np.mean(found), " %", note, found)
        if n == 10:
            found = [data.f1(fitted(*s, loss="soft_hinge", solver="lbfgs")) for s in samples]
            report.fact(f"{what}: soft_hinge at its optimum", np.mean(found), " %", note, found)


def sequences_gap(report: Report, draws: int = 3) -> None:
    """The default epochs against the certified optimum of the same objective."""
    data, alpha = spanish(), 1e-5
    for n in (100, 1000):
        ratios, differences, gaps = [], [], []
        for seed in range(draws):
            sample = data.draw(n, seed)
            epochs, optimum = fitted(*sample, alpha=alpha), fitted(*sample, alpha=alpha, solver="lbfgs")
            ratios.append(epochs.objective_ / optimum.objective_)
            differences.append(data.f1(epochs) - data.f1(optimum))
            gaps.append(optimum.gap_ / optimum.objective_)
        what, note = f"CoNLL-2002 Spanish, {n} sentences, alpha {alpha:g}", f"optimum certified to {max(gaps):.1g}"
        report.fact(f"{what}: objective after 10 epochs / at the optimum", float(np.mean(ratios)), "", note, ratios)
        f1_note = f"{draws} draws"
        report.fact(
            f"{what}: F1 after 10 epochs - at the optimum", float(np.mean(differences)), " %", f1_note, differences
        )


def sequences_time(report: Report, draws: int = 3) -> None:
    """Processor time against LinearSVC, which labels each token alone, on the same rows; one thread, paired."""
    data = spanish()
    for n, rounds, bound in ((1000, draws, 1.2), (8323, 1, 1.5)):
        ratios, seconds = [], []
        for seed in range(rounds):
            X, tags = data.draw(n, seed)
            flat, times = list(itertools.chain.from_iterable(tags)), []
            X = sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)  # for LinearSVC
            for fit in (lambda X=X, tags=tags: fitted(X, tags), lambda X=X, flat=flat: LinearSVC().fit(X, flat)):
                start = time.process_time()
                fit()
                times.append(time.process_time() - start)
            ratios.append(times[0] / times[1])
            seconds.append(times)
        note = "SequenceSVC {:.2f} s, LinearSVC {:.2f} s".format(*np.median(seconds, axis=0))
        what = f"CoNLL-2002 Spanish, {n} sentences: time of a fit / LinearSVC"
        report.at_most(what, float(np.median(ratios)), bound, "", note, ratios)


def sequences_missing(report: Report, draws: int = 10) -> None:
    """100 sentences with a fifth of the tokens labeled, against 20 with all, and against dropping the other tokens."""
    from fewlabel.sequences import iob_forbidden_transitions

    data, found = spanish(), []
    for seed in range(draws):
        X, tags = data.draw(100, seed)
        flat, lengths = (
            np.array(list(itertools.chain.from_iterable(tags)), dtype=object),
            np.array([len(t) for t in tags]),
        )
        labeled = np.random.default_rng(1000 + seed).random(len(flat)) < 0.2
        sequence = np.repeat(np.arange(len(lengths)), lengths)
        marked, shorter = np.where(labeled, flat, None), np.unique(sequence[labeled], return_counts=True)[1]
        models = (
            _fit_flat(X, marked, lengths, iob_forbidden_transitions(flat)),
            _fit_flat(X, marked, lengths),
            _fit_flat(X[labeled], flat[labeled], shorter),
            fitted(*data.draw(20, seed)),
        )
        found.append([data.f1(model) for model in models])
    what = "CoNLL-2002 Spanish, 100 sentences, a fifth of the tokens labeled, F1"
    iob, plain, dropped, few = np.mean(found, axis=0)
    note = f"dropping the others {dropped:.1f} %, 20 sentences labeled in full {few:.1f} %; {draws} draws"
    report.at_least(f"{what}: with forbidden transitions less dropping", iob - dropped, 0.0, " %", note)
    report.fact(f"{what}: with forbidden transitions", iob, " %", "", [row[0] for row in found])
    report.fact(f"{what}: without", plain, " %", "", [row[1] for row in found])


def _fit_flat(X: Any, y: np.ndarray, lengths: np.ndarray, forbidden: Any = ()) -> Any:
    from fewlabel import SequenceSVC

    return SequenceSVC(n_jobs=1, forbidden_transitions=forbidden).fit(X, y, lengths)


def wrong(data: Sentences, model: Any) -> float:
    """Percent of the tokens in the test set."""
    truth = np.array(list(itertools.chain.from_iterable(data.test)))
    return 100 * float(np.mean(model.predict(data.X_test, [len(tags) for tags in data.test]) != truth))


def sequences_chunks(report: Report) -> None:
    """Chunks of CoNLL-2000, words only: F1 and wrong tokens on the test part."""
    data = corpus("conll2000", "train.txt.gz", "test.txt.gz")
    model, what = fitted(data.X, data.tags), "CoNLL-2000 chunks, all sentences"
    report.fact(f"{what}, F1", data.f1(model), " %", "tokens only, no tagger")
    report.fact(f"{what}, wrong tokens", wrong(data, model), " %")


def plain(tag: str) -> str:
    """A tag of the Brown corpus without marks of titles, headlines, citations and foreign words; the first of two."""
    tag = tag.removeprefix("fw-").split("+")[0]
    for mark in ("-hl", "-tl", "-nc"):
        tag = tag.replace(mark, "")
    return tag if tag == "*" else tag.removesuffix("*")


def sequences_brown(report: Report) -> None:
    """Parts of speech in the Brown corpus, 8,000 sentences drawn for training and 2,000 for the test."""
    from fewlabel.datasets import load_conll_file
    from fewlabel.sequences import TokenVectorizer

    tokens, tags = load_conll_file(Path(os.environ["FEWLABEL_DATA"]) / "brown" / "brown.tsv.gz", columns=(0, 1))
    order = np.random.default_rng(0).permutation(len(tokens))
    words, truth = ([[of[k] for k in part] for part in (order[:8000], order[8000:10000])] for of in (tokens, tags))
    train, test = ([[plain(tag) for tag in sentence] for sentence in part] for part in truth)
    vectorizer = TokenVectorizer().fit(words[0])
    data = Sentences(vectorizer.transform(words[0]), train, vectorizer.transform(words[1]), test)
    start = time.process_time()
    model = fitted(data.X, data.tags)
    note = f"{len(model.classes_)} tags, fit {time.process_time() - start:.0f} s of processor time"
    report.fact("Brown parts of speech, 8,000 sentences, wrong tokens", wrong(data, model), " %", note)


def sequences_decode(report: Report, draws: int = 3) -> None:
    """Tokens a second and thread of processor time, from scores that are there; nine tags, sentences of 25 tokens."""
    from fewlabel._native import _sequences

    random, tags, length = np.random.default_rng(0), 9, 25
    scores, lengths = random.normal(size=(40_000 * length, tags)), np.full(40_000, length)
    numbers = (np.zeros((tags, 1)), *(random.normal(size=s) for s in ((tags, tags), tags, tags)))
    weights = _sequences.Weights(*numbers)
    for name, wanted, bound in (
        ("best tags", ("tags",), 1.0),
        ("two best", ("tags", "scores", "margins"), None),
        ("marginals", ("marginals",), None),
    ):
        _sequences.decode(scores[:length], weights, lengths[:1], 1, wanted)  # loads the library
        speeds = []
        for _ in range(draws):
            start = time.process_time()
            _sequences.decode(scores, weights, lengths, 1, wanted)
            speeds.append(len(scores) / 1e6 / (time.process_time() - start))
        report.at_least(f"decoding, K = 9: {name}", np.median(speeds), bound, " M tokens/s", "one thread", speeds)


def sequences_threads(report: Report, draws: int = 5) -> None:
    """A fit of 1,000 sentences on one and on two threads, by turns: time on the clock and of the processors."""
    from fewlabel import SequenceSVC

    X, tags = spanish().draw(1000, 0)
    clock, processor = np.zeros((draws, 2)), np.zeros((draws, 2))
    for k, threads in itertools.product(range(draws), (1, 2)):
        start = time.perf_counter(), time.process_time()
        SequenceSVC(n_jobs=threads).fit(X, tags)
        clock[k, threads - 1], processor[k, threads - 1] = (
            time.perf_counter() - start[0],
            time.process_time() - start[1],
        )
    what, load = "CoNLL-2002 Spanish, 1,000 sentences: two threads", f"load {os.getloadavg()[0]:.1f}"
    faster = clock[:, 0] / clock[:, 1]
    report.fact(f"{what}, times faster on the clock", np.max(faster), "", f"best of {draws}; {load}", faster)
    more = processor[:, 1] / processor[:, 0]
    busy = processor[:, 1] / clock[:, 1]
    note = f"they had {np.median(busy):.2f} processors"
    report.fact(f"{what}, processor time against one", np.median(more), "", note, more)


SECTIONS = (
    sequences_f1,
    sequences_gap,
    sequences_time,
    sequences_missing,
    sequences_chunks,
    sequences_brown,
    sequences_decode,
    sequences_threads,
)
