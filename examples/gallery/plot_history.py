"""
What an annealing does
======================

``history_`` has one value for each outer step. At a high temperature every unlabeled row is half of one class and half
of the other. As the temperature falls, the soft labels become hard.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from fewlabel import TransductiveSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.plotting import HistoryDisplay
from fewlabel.preprocessing import text_vectorizer

texts, topics = load_scipy_docs(("signal", "stats"))
X = text_vectorizer().fit_transform(texts)
labeled = np.random.default_rng(0).choice(len(topics), 10, replace=False)
y = np.full(len(topics), None, dtype=object)
y[labeled] = topics[labeled]
share = np.mean(topics == "stats")
model = TransductiveSVC(class_prior={"signal": 1 - share, "stats": share}).fit(X, y)
print(f"{model.n_iter_} steps, termination condition {model.termination_condition_!r}")
print(f"{np.mean(model.transduction_ == topics):.1%} right")

# %%
# Labels change and the objective falls mostly in the first steps. The objective is that of hard labels at the weights
# of the step. The later steps harden the labels, and the last one solves the problem at hard labels to ``tol``.

HistoryDisplay.from_estimator(model)
plt.show()

# %%
# The scores form two groups with few texts between them. The model is unsure of the texts near 0, and a label is worth
# most there.

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for topic in np.unique(topics):
    axes.hist(model.decision_function(X)[topics == topic], bins=40, alpha=0.6, label=topic)
axes.axvline(0, color="black", linewidth=1)
axes.set(xlabel="score", ylabel="texts")
axes.legend(title="true topic")
plt.show()
