"""
Sentence embeddings
===================

An array of embeddings goes in as it is: one row a text, unit length, float32. The same labels are worth more with the
unlabeled rows than without them.
"""

# %%
# With an encoder the rows are ``encoder.encode(texts)``, for example with ``SentenceTransformer(...)`` of the package
# sentence-transformers. Nothing is downloaded here, so an LSA of the texts stands in for the encoder. The texts are
# the docstrings of SciPy, the classes its subpackages. 45 texts, drawn at random, have a label.

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from fewlabel import TransductiveSVC
from fewlabel.datasets import load_scipy_docs

texts, topics = load_scipy_docs()
words = TfidfVectorizer(
    token_pattern="[a-z][a-z]+",
    stop_words="english",
    min_df=2,
    max_df=0.2,
    sublinear_tf=True,
).fit_transform(texts)
encode = TruncatedSVD(100, random_state=0).fit_transform
embeddings = normalize(encode(words)).astype(np.float32)
print(embeddings.shape, embeddings.dtype)

# %%
# Words and embeddings can be joined: both have unit length, so they count alike. Multiply one of them by a number to
# let it count more.

rows = {
    "embeddings": embeddings,
    "tf-idf": words,
    "both": sp.hstack([words, embeddings], format="csr"),
}


def accuracies(X, seed):
    """Share of the other texts that is right: logistic regression, TransductiveSVC."""
    labeled = np.random.default_rng(seed).choice(len(topics), 45, replace=False)
    rest = np.setdiff1d(np.arange(len(topics)), labeled)
    y = np.full(len(topics), None, dtype=object)  # None: unlabeled
    y[labeled] = topics[labeled]
    supervised = LogisticRegression(C=10, max_iter=1000).fit(X[labeled], topics[labeled])
    model = TransductiveSVC().fit(X, y)
    return [fitted.score(X[rest], topics[rest]) for fitted in (supervised, model)]


found = {name: np.mean([accuracies(X, seed) for seed in range(4)], axis=0) for name, X in rows.items()}
for name, (supervised, transductive) in found.items():
    print(f"{name:12} logistic regression {supervised:.1%}, TransductiveSVC {transductive:.1%}")

# %%
# An LSA has seen all texts, so that logistic regression on it gains from the unlabeled ones as well. The classifier
# gains more. How a pretrained encoder compares with tf-idf depends on the texts: :doc:`/texts`.

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
places = np.arange(len(found))
percent = 100 * np.array(list(found.values()))  # (forms of the rows, models)
for k, name in enumerate(("logistic regression", "TransductiveSVC")):
    bars = axes.barh(places + 0.4 * k - 0.2, percent[:, k], height=0.38, label=name)
    axes.bar_label(bars, fmt="%.0f", padding=3)
axes.set_yticks(places, found)
axes.set(xlabel="unlabeled texts right, percent", xlim=(0, 118))
axes.invert_yaxis()
figure.legend(loc="outside lower center", ncols=2)
plt.show()
