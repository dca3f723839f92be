"""
A class tree
============

Classes of one group share weights, and ``predict_level`` predicts the group.
"""

# %%
# The classes are nine subpackages of SciPy, put into four groups by hand. Three texts of each class have a label.

import matplotlib.pyplot as plt
import numpy as np

from fewlabel import TransductiveSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.preprocessing import text_vectorizer

tree = {
    "fft": "signals", "ndimage": "signals", "signal": "signals",
    "linalg": "matrices", "sparse": "matrices",
    "interpolate": "curves", "optimize": "curves",
    "special": "functions", "stats": "functions",
}  # fmt: skip
texts, topics = load_scipy_docs()
groups = np.array([tree[topic] for topic in topics])
X = text_vectorizer().fit_transform(texts)
rng = np.random.default_rng(0)
names, counts = np.unique(topics, return_counts=True)
labeled = np.concatenate([rng.choice(np.flatnonzero(topics == name), 3, replace=False) for name in names])
y = np.full(len(topics), None, dtype=object)
y[labeled] = topics[labeled]

# %%
# ``predict_level(X, 1)`` predicts the group. A tree improves the classes only if the members of a group have words in
# common. Compare it with flat classes on your data, as here.

rest = np.setdiff1d(np.arange(len(topics)), labeled)
prior = dict(zip(names, counts / counts.sum(), strict=True))
flat = TransductiveSVC(class_prior=prior).fit(X, y)
model = TransductiveSVC(class_prior=prior, hierarchy=tree).fit(X, y)
right = {
    "classes, flat": flat.score(X[rest], topics[rest]),
    "classes, tree": model.score(X[rest], topics[rest]),
    "groups, tree": np.mean(model.predict_level(X[rest], 1) == groups[rest]),
}
figure, axes = plt.subplots(figsize=(6, 2), layout="constrained")
bars = axes.barh(list(right)[::-1], [100 * share for share in right.values()][::-1])
axes.bar_label(bars, fmt="%.1f", padding=3)
axes.set(xlabel="right, percent", xlim=(0, 108))
plt.show()
