"""
What an annealing does
======================

``history_`` has a value for each outer step. At a high temperature every unlabeled row is half of one class and half of
the other; as it falls the rows take sides.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from fewlabel import TransductiveSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.plotting import HistoryDisplay

texts, topics = load_scipy_docs(("signal", "stats"))
X = TfidfVectorizer(
    token_pattern="[a-z][a-z]+",
    stop_words="english",
    min_df=2,
    max_df=0.2,
    sublinear_tf=True,
).fit_transform(texts)
labeled = np.random.default_rng(0).choice(len(topics), 10, replace=False)
y = np.full(len(topics), None, dtype=object)
y[labeled] = topics[labeled]
share = np.mean(topics == "stats")
model = TransductiveSVC(class_prior={"signal": 1 - share, "stats": share}).fit(X, y)
print(f"{model.n_iter_} steps, ended by {model.termination_condition_!r}")
print(f"{np.mean(model.transduction_ == topics):.1%} right")

# %%
# Nearly everything happens in the first steps: there the labels change, and the objective (that of hard labels at the
# weights of the step) comes down. What follows makes the labels hard. The last step is the exact solve at hard labels.

HistoryDisplay.from_estimator(model)
plt.show()

# %%
# The scores that result: two groups with few texts between them. Rows near 0 are those that the model could not place,
# and a label is worth most there.

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for topic in np.unique(topics):
    axes.hist(model.decision_function(X)[topics == topic], bins=40, alpha=0.6, label=topic)
axes.axvline(0, color="black", linewidth=1)
axes.set(xlabel="score", ylabel="texts")
axes.legend(title="true topic")
plt.show()
