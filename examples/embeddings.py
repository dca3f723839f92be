"""Texts in, classes out: sentence embeddings and a few labels.

    python examples/embeddings.py                                  # embeddings from a file, offline
    python examples/embeddings.py --encoder all-MiniLM-L6-v2       # by sentence-transformers, where it is installed

The texts are the docstrings of SciPy, the classes its subpackages. Five labels a class, five draws, accuracy on all
other texts. The file has the embeddings of SciPy 1.17.1 (BSD) by all-MiniLM-L6-v2 (Apache 2.0), rounded to 8 bits.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from fewlabel import TransductiveSVC
from fewlabel.datasets import load_scipy_docs


def rows(encoder: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings of unit length, and topics."""
    if encoder is None:
        with np.load(Path(__file__).with_name("embeddings.npz")) as file:
            return normalize(file["rows"].astype(np.float32)), file["topic"]
    from sentence_transformers import SentenceTransformer

    texts, topic = load_scipy_docs()
    return SentenceTransformer(encoder).encode(list(texts), normalize_embeddings=True, show_progress_bar=True), topic


def main() -> None:
    """Compare logistic regression of the labels with the default of fewlabel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", help="a model of sentence-transformers")
    parser.add_argument("--labels", type=int, default=5, help="of each class")
    chosen = parser.parse_args()
    X, topic = rows(chosen.encoder)
    for model in LogisticRegression(C=10), TransductiveSVC():
        right = []
        for seed in range(5):
            random = np.random.default_rng(seed)
            labeled = np.concatenate(
                [
                    random.choice(np.flatnonzero(topic == name), chosen.labels, replace=False)
                    for name in np.unique(topic)
                ]
            )
            unlabeled = np.setdiff1d(np.arange(len(topic)), labeled)
            if isinstance(model, TransductiveSVC):
                y = np.full(len(topic), None, dtype=object)
                y[labeled] = topic[labeled]
                model.fit(X, y)
            else:
                model.fit(X[labeled], topic[labeled])
            right.append(model.score(X[unlabeled], topic[unlabeled]))
        print(f"{type(model).__name__:18} {np.mean(right):.0%} of {len(unlabeled)} texts right")


if __name__ == "__main__":
    main()
