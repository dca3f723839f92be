"""
Choosing alpha with 100 labels
==============================

``GridSearchCV`` needs a splitter that knows of unlabeled rows. ``SemiSupervisedSplit`` splits the labeled rows into
folds, and keeps all unlabeled rows in every training set.
"""

# %%
# The texts are docstrings of four subpackages of SciPy. 100 of them, drawn at random, have a label. The vectorizer is
# in the pipeline, so it is fitted in each split.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline

from fewlabel import TransductiveSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.model_selection import SemiSupervisedSplit
from fewlabel.preprocessing import text_vectorizer

texts, topics = load_scipy_docs(("linalg", "signal", "special", "stats"))
labeled = np.random.default_rng(0).choice(len(texts), 100, replace=False)
y = np.full(len(texts), None, dtype=object)
y[labeled] = topics[labeled]
recipe = text_vectorizer()
folds = SemiSupervisedSplit(StratifiedKFold(5, shuffle=True, random_state=0))
search = GridSearchCV(
    make_pipeline(recipe, TransductiveSVC()),
    {"transductivesvc__alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
    cv=folds,
)
warnings.simplefilter("ignore", UserWarning)  # of a class with less than half of its share
search.fit(texts, y)

# %%
# The true topics of the other texts, which the search has not seen, show how good the choice is. The bars are the
# standard deviation over the five folds. A fold has 20 texts, so differences of a few points are noise.

alphas = search.cv_results_["param_transductivesvc__alpha"].astype(float)
rest = np.setdiff1d(np.arange(len(texts)), labeled)
right = []
for alpha in alphas:
    model = search.estimator.set_params(transductivesvc__alpha=alpha).fit(texts, y)
    right.append(model.score(texts[rest], topics[rest]))
mean, spread = (100 * search.cv_results_[f"{name}_test_score"] for name in ("mean", "std"))
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.errorbar(alphas, mean, spread, marker="o", capsize=3, label="labeled texts, cross-validated")
axes.plot(alphas, 100 * np.array(right), marker="s", label="texts without a label")
axes.axvline(search.best_params_["transductivesvc__alpha"], color="gray", linestyle=":", label="chosen")
axes.set(xscale="log", xlabel="alpha", ylabel="right, percent")
axes.legend()
plt.show()
