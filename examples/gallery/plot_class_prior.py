"""
What wrong class shares cost
============================

Predictions match the class shares given as ``class_prior``. How wrong may these be before the unlabeled rows do harm?
"""

# %%
# The texts are docstrings of two subpackages of SciPy, two thirds of them from ``scipy.stats``. Ten texts, drawn at
# random, have a label.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import LinearSVC

from fewlabel import TransductiveSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.preprocessing import text_vectorizer

texts, topics = load_scipy_docs(("signal", "stats"))
truth = topics == "stats"
X = text_vectorizer().fit_transform(texts)
given = np.linspace(0.3, 0.95, 14)
warnings.simplefilter("ignore", UserWarning)  # fit warns of shares that the rows contradict


def draw(seed):
    """Accuracy of LinearSVC, the default and each given share; the share that the default estimates."""
    labeled = np.random.default_rng(seed).choice(len(truth), 10, replace=False)
    y = np.full(len(truth), -1)
    y[labeled] = truth[labeled]
    rest = y == -1
    default = TransductiveSVC().fit(X, y)
    models = [LinearSVC().fit(X[labeled], y[labeled]), default]
    models += [TransductiveSVC(class_prior=[1 - share, share]).fit(X, y) for share in given]
    return [model.score(X[rest], truth[rest]) for model in models], default.class_prior_[1]


found, shares = zip(*(draw(seed) for seed in range(8)), strict=True)
mean = 100 * np.mean(found, axis=0)

# %%
# Each percentage point of error in the share costs about a percentage point of accuracy, in both directions. The dots
# are eight draws of ten labels, each at the share that the default estimates.

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(100 * given, mean[2:], marker="o", label="TransductiveSVC, share given")
default = 100 * np.array(found)[:, 1]
axes.scatter(
    100 * np.array(shares),
    default,
    color="C1",
    zorder=3,
    label="TransductiveSVC, default: the estimated share",
)
axes.axhline(mean[0], color="C2", linestyle="--", label="LinearSVC, labels only")
axes.axvline(100 * truth.mean(), color="gray", linestyle=":", label="the true share")
axes.set(xlabel="share of stats, percent", ylabel="unlabeled texts right, percent")
axes.legend(loc="lower center")
plt.show()
