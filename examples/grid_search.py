"""Which alpha? A grid search with 100 labels, where nobody can spare a text for a test set.

Texts of two topics, 100 of them with a label. The splits are over the labeled texts: each is tested once, and every
unlabeled text helps to learn every time. The words are counted and weighed in a pipeline, within each split. At the end
the truth, which the search has not seen, tells how good its choice was.

    python examples/grid_search.py [--path FOLDER]

The corpus is 20 Newsgroups where it is on this machine (--path, FEWLABEL_DATA, or where scikit-learn keeps it),
otherwise the doc comments of Go's standard library.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline

import go_comments
import newsgroups
from fewlabel import TransductiveSVC
from fewlabel.model_selection import SemiSupervisedSplit

LABELS = 100
ALPHAS = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
NEWS_TOPICS = ("comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware")
GO_TOPICS = ("crypto", "net")


def corpus(path: Path | None) -> tuple[str, np.ndarray, np.ndarray]:
    """Name of the corpus, its texts and the topic of each."""
    news = newsgroups.load(path)
    name, wanted = ("Go comments", GO_TOPICS) if news is None else ("20 Newsgroups", NEWS_TOPICS)
    texts, topics = (np.array(column, dtype=object) for column in news or go_comments.load())
    chosen = np.isin(topics, wanted)
    return name, texts[chosen], topics[chosen]


def search() -> GridSearchCV:
    """The search: five folds of the labeled texts, for each alpha."""
    words = TfidfVectorizer(token_pattern="[a-z][a-z]+", stop_words="english", max_df=0.2, min_df=2, sublinear_tf=True)
    pipeline = Pipeline([("words", words), ("classifier", TransductiveSVC())])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return GridSearchCV(pipeline, {"classifier__alpha": ALPHAS}, cv=SemiSupervisedSplit(folds))


def main() -> None:
    """Search and print what was found."""
    parser = argparse.ArgumentParser(description="GridSearchCV over alpha with 100 labels.")
    parser.add_argument("--path", type=Path, help="folder with 20 Newsgroups, or a data home of scikit-learn")
    folder = parser.parse_args().path or (Path(os.environ["FEWLABEL_DATA"]) if "FEWLABEL_DATA" in os.environ else None)

    name, texts, truth = corpus(folder)
    labeled = np.random.default_rng(0).choice(len(texts), LABELS, replace=False)
    y = np.full(len(texts), None, dtype=object)  # None: unlabeled
    y[labeled] = truth[labeled]
    hidden = np.setdiff1d(np.arange(len(texts)), labeled)

    print(f"{name}: {len(texts):,} texts of {len(np.unique(truth))} topics, {LABELS} with a label")
    start = time.perf_counter()
    found = search().fit(texts, y)
    print(f"  {len(ALPHAS)} x 5 fits and the last one in {time.perf_counter() - start:.1f} s; right, in percent:")
    print(f"  {'alpha':>8}{'100 labels, cross-validated':>30}{'texts without a label':>24}")
    for alpha, score in zip(ALPHAS, found.cv_results_["mean_test_score"], strict=True):
        model = search().estimator.set_params(classifier__alpha=alpha).fit(texts, y)
        right = np.mean(model["classifier"].transduction_[hidden] == truth[hidden])
        chosen = "   <- chosen" if alpha == found.best_params_["classifier__alpha"] else ""
        print(f"  {alpha:8g}{score:30.1%}{right:24.1%}{chosen}")


if __name__ == "__main__":
    main()
