"""
Few labels, many texts
======================

Which subpackage of SciPy does a docstring belong to? There are over a thousand docstrings, and few have a label.
A support vector machine on the labeled texts is compared with one that learns from the unlabeled texts, too.
"""

# %%
# The texts become unit rows of tf-idf. The settings of the vectorizer matter more than those of the classifier:
# :doc:`/texts`.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import LinearSVC

from fewlabel import TransductiveSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.plotting import LearningCurveDisplay
from fewlabel.preprocessing import text_vectorizer

texts, topics = load_scipy_docs()
X = text_vectorizer().fit_transform(texts)
names, counts = np.unique(topics, return_counts=True)
print(f"{X.shape[0]} texts, {X.shape[1]} words")
print(*(f"{count} {name}" for name, count in zip(names, counts, strict=True)), sep=", ")

# %%
# Every class gets the same number of labels, so the labels do not show the class shares, which range from 3 to 29
# percent. The third classifier is given the class shares. The second, the default, estimates them.

shares = dict(zip(names, counts / counts.sum(), strict=True))
numbers = [1, 2, 3, 5, 10, 20]
draws = 2


def accuracies(per_class, seed):
    """Share of right answers among the unlabeled texts."""
    rng = np.random.default_rng(seed)
    rows = [np.flatnonzero(topics == name) for name in names]
    labeled = np.concatenate([rng.choice(r, per_class, replace=False) for r in rows])
    y = np.full(len(topics), None, dtype=object)  # None: unlabeled
    y[labeled] = topics[labeled]
    rest = np.setdiff1d(np.arange(len(topics)), labeled)
    models = [
        LinearSVC().fit(X[labeled], topics[labeled]),
        TransductiveSVC().fit(X, y),
        TransductiveSVC(class_prior=shares).fit(X, y),
    ]
    return [model.score(X[rest], topics[rest]) for model in models]


warnings.simplefilter("ignore", UserWarning)  # of classes with one label
found = np.array([[accuracies(n, seed) for seed in range(draws)] for n in numbers])

# %%
# Given the class shares, one label of each topic is worth nearly as much as ten without unlabeled texts. The default is
# level with ``LinearSVC`` here: few labels of each topic do not show the class shares. With twenty labels of each topic
# the unlabeled texts do not help any more.

learners = [
    "LinearSVC, labels only",
    "TransductiveSVC, default",
    "TransductiveSVC, shares given",
]
means = 100 * found.mean(axis=1)  # (numbers, learners)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for column, name in zip(means.T, learners, strict=True):
    axes.plot(numbers, column, marker="o", label=name)
axes.set(xscale="log", xlabel="labels of each topic", ylabel="unlabeled texts right, percent")
axes.set_xticks(numbers, numbers)
axes.minorticks_off()
axes.legend()
plt.show()

# %%
# Labels drawn at random show the class shares roughly, and the default gains. ``LearningCurveDisplay`` makes this
# comparison on your own labels in one call.

LearningCurveDisplay.from_estimator(
    TransductiveSVC(), X, topics, n_labels=(40, 80, 160, 320), n_draws=2, random_state=1
)
plt.show()
