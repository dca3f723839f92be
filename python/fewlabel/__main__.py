"""`python -m fewlabel`: what 30 answers are worth, on texts that come with SciPy. It needs no network and no file."""

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from fewlabel import FewlabelWarning, TransductiveSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.labeling import Session
from fewlabel.preprocessing import text_vectorizer

_NAMES = {
    "fft": "Fourier transform",
    "interpolate": "interpolation by splines",
    "linalg": "linear algebra, matrix decomposition",
    "ndimage": "image filter",
    "optimize": "optimization, minimize",
    "signal": "signal processing, frequency",
    "sparse": "sparse array",
    "special": "special function, polynomial",
    "stats": "statistics, distribution",
}
_BATCHES = (0, 5, 5, 20)  # answers
_DRAWS = 10
_HEADER, _LINE = "{:>7}{:>13}{:>11}{:>20}{:>19}", "{:>7}{:>13.0%}{:>11.0%}{:>20.0%}{:>19.0%}"
_DONE = """
A session chose the texts to ask about, and the topics of SciPy answered in place of a person.
LinearSVC learned from the answers, and in the columns with names from a phrase for each topic as well.
fewlabel learned from all other texts, too: its boundaries are where few texts lie.

Labels of a file, texts.csv with a column "text":
"""
_LINES = """
import pandas
from fewlabel import TransductiveSVC, labeling, preprocessing

table = pandas.read_csv("texts.csv", keep_default_na=False)
rows = preprocessing.text_vectorizer().fit_transform(table["text"])
session = labeling.Session(rows, TransductiveSVC(calibrate=True), path="answers.jsonl")
for row in session.next(20):
    session.label(row, input(table["text"][row] + "\\nclass: "))
model = session.fit()
table["class"] = model.transduction_
table["probability"] = model.label_distributions_.max(axis=1)
table.to_csv("labeled.csv", index=False)"""


def main() -> None:
    """Print the table, what was done, and the lines that do it with a file."""
    texts, truth = load_scipy_docs()
    vectorizer = text_vectorizer()
    rows = vectorizer.fit_transform(texts)
    names = {topic: vectorizer.transform([phrase]) for topic, phrase in _NAMES.items()}
    print(f"Percent of {len(texts):,} texts right, {len(names)} topics\n")
    print(_HEADER.format("answers", "LinearSVC", "fewlabel", "LinearSVC, names", "fewlabel, names"), flush=True)
    best = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewlabelWarning)  # labels are few
        plain, named = (_accuracies(rows, truth, known) for known in ({}, names))
        for n, (linear, best), others in zip(np.cumsum(_BATCHES), plain, named, strict=True):
            print(_LINE.format(n, linear, best, *others).replace("nan%", "    "), flush=True)
    drawn = _labels_drawn(rows, truth, best)
    print(f"\n{sum(_BATCHES)} answers in place of {drawn} labels:", end=" ")
    print(f"LinearSVC needs {drawn}, of texts drawn at random, to be as good")
    print(_DONE + _LINES)


def _accuracies(rows: Any, truth: np.ndarray, names: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """Of LinearSVC and of a session after each batch; NaN where there is no label."""
    session, asked = Session(rows, TransductiveSVC(), descriptions=names or None), list[int]()
    for n in _BATCHES:
        for row in session.next(n) if n else ():
            session.label(row, truth[row])
            asked.append(row)
        if asked or names:
            linear = LinearSVC(random_state=0).fit(sp.vstack([*names.values(), rows[asked]]), [*names, *truth[asked]])
            yield linear.score(rows, truth), session.fit().score(rows, truth)
        else:
            yield np.nan, np.nan


def _labels_drawn(rows: Any, truth: np.ndarray, accuracy: float) -> int:
    """How many labels LinearSVC needs, drawn at random, to be as good in the mean."""
    linear = LinearSVC(random_state=0)
    orders = [np.random.default_rng(seed).permutation(len(truth)) for seed in range(_DRAWS)]
    for n in range(sum(_BATCHES), len(truth), 10):
        drawn = [order[:n] for order in orders]
        found = [linear.fit(rows[some], truth[some]).score(rows, truth) for some in drawn]
        if np.mean(found) >= accuracy:
            return n
    return len(truth)


if __name__ == "__main__":
    argparse.ArgumentParser("python -m fewlabel", description=__doc__).parse_args()
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # its reader has seen enough; Python flushes at its end once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
