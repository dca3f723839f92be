"""The main job on real text: a classifier from a few labels and many unlabeled texts.

The corpus is on every machine that can build this library: the doc comments of Go's standard library, where the topic
of a comment is the area of the library it comes from. With 20 Newsgroups on the machine (--path, or where scikit-learn
keeps it) it runs on that, too. For each question, 5, 10, 20 and 40 texts have a label, and these are compared:

    supervised        a linear support vector machine on the labeled texts
    moved threshold   the same, with the threshold moved to the class share, which it is given
    transductive      fewlabel's TransductiveSVC: labeled and unlabeled texts, with the class share given as well
    all labels        a support vector machine with every label: what one could hope for

At the end all areas of Go's library at once: which of the eight is it, from five labels of each?

    python examples/demo.py [--path FOLDER] [--output demo-results]
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

import go_comments
import newsgroups
from fewlabel import TransductiveSVC
from fewlabel.preprocessing import text_vectorizer

ALPHA = 1e-3
LABELS = (5, 10, 20, 40)
LEARNERS = ("supervised", "moved threshold", "transductive", "all labels")
GO_QUESTIONS = (("crypto", "net"), ("encoding", "go"), ("crypto", "runtime"))
LABELS_OF_EACH = 5  # where all areas are asked for
NEWS_QUESTIONS = (("rec.", "sci."), ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"))


@dataclass
class Question:
    """Texts of two topics."""

    name: str
    rows: sp.csr_matrix  # (n, d) one text a row
    y: np.ndarray  # (n,) 1: the first topic, 0: the second


def ask(corpus: str, texts: list[str], topics: list[str], pair: tuple[str, str]) -> Question:
    """Which of two topics? A topic is taken with all that starts with its name."""
    chosen = [(t, topic.startswith(pair[0])) for t, topic in zip(texts, topics, strict=True) if topic.startswith(pair)]
    rows = text_vectorizer().fit_transform([t for t, _ in chosen])
    name = " or ".join(topic.rstrip(".").rpartition("sys.")[2] for topic in pair)
    return Question(f"{corpus}: {name}?", rows, np.array([first for _, first in chosen], dtype=np.int64))


def learn(question: Question, n_labels: int, seed: int) -> tuple[dict[str, float], TransductiveSVC]:
    """Accuracy in percent of each learner on a quarter of the texts that none of them has seen, and our estimator."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(question.y))
    test, train = order[: len(order) // 4], order[len(order) // 4 :]
    X, y = question.rows[train], question.y[train]
    given = np.full(len(y), -1)  # -1: unlabeled
    labeled = draw(y, n_labels, rng)
    given[labeled] = y[labeled]
    share = y.mean()

    supervised = LinearSVC(C=1 / (2 * n_labels * ALPHA), dual=False).fit(X[labeled], y[labeled])
    told_all = LinearSVC(C=1 / (2 * len(y) * ALPHA), dual=False).fit(X, y)
    transductive = TransductiveSVC(alpha=ALPHA, class_prior={0: 1 - share, 1: share}).fit(X, given)

    threshold = np.quantile(supervised.decision_function(X[given == -1]), 1 - share)
    X, y = question.rows[test], question.y[test]
    right = {
        "supervised": supervised.predict(X) == y,
        "moved threshold": (supervised.decision_function(X) > threshold) == y,
        "transductive": transductive.predict(X) == y,
        "all labels": told_all.predict(X) == y,
    }
    return {name: float(np.mean(hits) * 100) for name, hits in right.items()}, transductive


def draw(y: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of n rows at random, with both classes among them."""
    while True:
        rows = rng.choice(len(y), n, replace=False)
        if 0 < y[rows].sum() < n:
            return rows


def learning_curve(question: Question, draws: int) -> dict[str, np.ndarray]:
    """Accuracy (len(LABELS), draws) of each learner."""
    curve = {name: np.zeros((len(LABELS), draws)) for name in LEARNERS}
    for k, n_labels in enumerate(LABELS):
        for seed in range(draws):
            for name, accuracy in learn(question, n_labels, seed)[0].items():
                curve[name][k, seed] = accuracy
    return curve


def learn_areas(rows: sp.csr_matrix, areas: np.ndarray, seed: int) -> dict[str, float]:
    """Accuracy in percent of each learner on a quarter of the texts, of all areas, that none of them has seen."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(areas))
    test, train = order[: len(order) // 4], order[len(order) // 4 :]
    X, y = rows[train], areas[train]
    names, counts = np.unique(y, return_counts=True)
    labeled = np.concatenate([rng.choice(np.flatnonzero(y == name), LABELS_OF_EACH, replace=False) for name in names])
    given = np.full(len(y), None, dtype=object)  # None: unlabeled
    given[labeled] = y[labeled]

    learners = {
        "supervised": LinearSVC(C=1 / (2 * len(labeled) * ALPHA), dual=False).fit(X[labeled], y[labeled]),
        "transductive": TransductiveSVC(alpha=ALPHA, class_prior=dict(zip(names, counts / len(y), strict=True))).fit(
            X, given
        ),
        "all labels": LinearSVC(C=1 / (2 * len(y) * ALPHA), dual=False).fit(X, y),
    }
    return {name: float(np.mean(model.predict(rows[test]) == areas[test]) * 100) for name, model in learners.items()}


def show_areas(texts: list[str], areas: list[str], draws: int) -> None:
    """Ask for all areas at once and print a small table."""
    start = time.perf_counter()
    rows, truth = text_vectorizer().fit_transform(texts), np.array(areas)
    found = [learn_areas(rows, truth, seed) for seed in range(draws)]
    print(f"\nGo comments: {', '.join(sorted(set(areas)))}?  {rows.shape[0]:,} texts, {rows.shape[1]:,} words")
    seconds = time.perf_counter() - start
    print(f"  accuracy on unseen texts, percent, mean of {draws} draws ({seconds:.1f} s)")
    print(f"  {'labels':<18}{f'{len(set(areas))} x {LABELS_OF_EACH}':>8}")
    for name in found[0]:
        print(f"  {name:<18}{np.mean([accuracies[name] for accuracies in found]):8.1f}")


def show(question: Question, curve: dict[str, np.ndarray], seconds: float) -> None:
    """Print a small table: mean accuracy over the draws."""
    draws = curve["supervised"].shape[1]
    print(f"\n{question.name}  {question.rows.shape[0]:,} texts, {question.rows.shape[1]:,} words")
    print(f"  accuracy on unseen texts, percent, mean of {draws} draws ({seconds:.1f} s)")
    print(f"  {'labels':<18}" + "".join(f"{n:>8}" for n in LABELS))
    for name, accuracies in curve.items():
        print(f"  {name:<18}" + "".join(f"{mean:8.1f}" for mean in accuracies.mean(axis=1)))


def draw_pictures(folder: Path, curves: dict[str, dict[str, np.ndarray]], histories: dict[str, dict]) -> list[Path]:
    """The learning curves and the course of the objective; gives the paths."""
    try:
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("\nmatplotlib is not installed: no pictures")
        return []
    figure, panels = plt.subplots(1, len(curves), figsize=(4 * len(curves), 3.6), sharey=True, layout="constrained")
    for axes, (name, curve) in zip(np.atleast_1d(panels), curves.items(), strict=True):
        for learner, accuracies in curve.items():
            axes.errorbar(LABELS, accuracies.mean(axis=1), accuracies.std(axis=1), marker="o", capsize=3, label=learner)
        axes.set(xscale="log", xticks=LABELS, xticklabels=LABELS, xlabel="labeled texts", title=name)
        axes.minorticks_off()
    np.atleast_1d(panels)[0].set_ylabel("accuracy, percent")
    np.atleast_1d(panels)[-1].legend()
    learning = folder / "learning-curve.png"
    figure.savefig(learning, dpi=130)

    figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
    for name, history in histories.items():
        axes.plot(history["n_passes"], history["objective"], marker=".", label=name)
    axes.set(xlabel="passes over the data", ylabel="objective", title=f"TransductiveSVC, {LABELS[1]} labels")
    axes.legend()
    objective = folder / "objective.png"
    figure.savefig(objective, dpi=130)
    return [learning, objective]


def questions(texts: list[str], areas: list[str], path: Path | None) -> list[Question]:
    """What is asked of two topics, of each corpus on this machine."""
    asked = [ask("Go comments", texts, areas, pair) for pair in GO_QUESTIONS]
    news = newsgroups.load(path)
    if news is not None:
        asked += [ask("20 Newsgroups", *news, pair) for pair in NEWS_QUESTIONS]
    elif path is not None:
        raise SystemExit(f"no 20 Newsgroups in {path}")
    else:
        print("20 Newsgroups is not on this machine (nothing is downloaded; --path names a folder with it)")
    return asked


def main() -> None:
    """Run the demo."""
    parser = argparse.ArgumentParser(description="Few labels, many unlabeled texts: fewlabel on real text.")
    parser.add_argument("--path", type=Path, help="folder with 20 Newsgroups, or a data home of scikit-learn")
    parser.add_argument("--draws", type=int, default=5, help="how often the labeled texts are drawn (default 5)")
    parser.add_argument("--output", type=Path, default=Path("demo-results"), help="folder for the pictures")
    chosen = parser.parse_args()
    warnings.filterwarnings("ignore", message=".*class_prior.*")  # five labels can contradict the true share
    curves, histories = {}, {}
    texts, areas = go_comments.load()
    for question in questions(texts, areas, chosen.path):
        start = time.perf_counter()
        curves[question.name] = learning_curve(question, chosen.draws)
        histories[question.name] = learn(question, LABELS[1], seed=0)[1].history_
        show(question, curves[question.name], time.perf_counter() - start)
    show_areas(texts, areas, chosen.draws)
    chosen.output.mkdir(parents=True, exist_ok=True)
    (chosen.output / ".gitignore").write_text("*\n", encoding="utf-8")
    for path in draw_pictures(chosen.output, curves, histories):
        print(f"\npicture: {path.resolve()}", end="")
    print()


if __name__ == "__main__":
    main()
