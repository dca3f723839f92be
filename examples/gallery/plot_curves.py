"""
Images and curves: features of a graph
======================================

A linear boundary suits words. It does not suit classes that lie along curves, such as images of digits.
``KernelTransductiveSVC`` fits the same classifier on features of a graph of neighbors.
"""

# %%
# Two moons have one label each, the stars. The gap between them is curved, so a linear boundary cuts both moons.
# ``KernelTransductiveSVC`` joins neighbors to a graph and puts the boundary where few rows are joined.
# ``LabelSpreading`` of scikit-learn propagates labels from neighbor to neighbor.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import LinearSVC

from fewlabel import KernelTransductiveSVC, TransductiveSVC

X, moon = make_moons(400, noise=0.06, random_state=0)
X = X - X.mean(axis=0)
y = np.full(len(moon), -1)
y[np.where(moon == 0, X[:, 1], -np.inf).argmax()] = 0  # the top of one moon
y[np.where(moon == 1, -X[:, 1], -np.inf).argmax()] = 1  # the bottom of the other

spreading = LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.9, max_iter=1000)
kernel = KernelTransductiveSVC(n_neighbors=10)
figure, panels = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained", sharey=True)
for axes, model in zip(panels, (TransductiveSVC(), kernel, spreading), strict=True):
    found = model.fit(X, y).transduction_
    axes.scatter(*X.T, c=found, s=8, cmap="coolwarm")
    axes.scatter(*X[y >= 0].T, c=y[y >= 0], s=160, marker="*", cmap="coolwarm", edgecolors="black")
    title = f"{type(model).__name__}: {np.mean(found == moon):.0%} right"
    axes.set(title=title, aspect="equal", xlabel="first feature")
panels[0].set_ylabel("second feature")
plt.show()

# %%
# Handwritten digits have 64 pixels, and two of each digit have a label. The graph is better here, too.

X, digit = load_digits(return_X_y=True)
X = normalize(X)
y = np.where(np.arange(len(digit)) < 20, digit, -1)
supervised = LinearSVC().fit(X[:20], y[:20])
for model in supervised, TransductiveSVC().fit(X, y), kernel.fit(X, y), spreading.fit(X, y):
    print(f"{type(model).__name__:24}{model.score(X[20:], digit[20:]):7.1%}")
