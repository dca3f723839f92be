"""
A labeling session
==================

Rows that a session proposes beside rows drawn at random: how fast the classifier gets better.
"""

# %%
# The texts are docstrings of SciPy; the subpackage of each plays the person who answers. The session asks for ten rows
# at a time, without any label to begin with.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from fewlabel import FewlabelWarning, TransductiveSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.labeling import Session
from fewlabel.preprocessing import text_vectorizer

texts, topics = load_scipy_docs()
recipe = text_vectorizer()
model = make_pipeline(recipe, TransductiveSVC())
session = Session(list(texts), model)
by_session = []
for _ in range(6):
    for row in session.next(10):
        session.label(row, str(topics[row]))
    by_session.append(session.fit().score(texts, topics))
print(session.status())

# %%
# The same number of rows, drawn at random.

warnings.simplefilter("ignore", FewlabelWarning)  # classes with few labels
drawn = np.random.default_rng(0).permutation(len(texts))
at_random = []
for n in range(10, 70, 10):
    y = np.full(len(texts), None, dtype=object)
    y[drawn[:n]] = topics[drawn[:n]]
    at_random.append(clone(model).fit(texts, y).score(texts, topics))

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
labels = np.arange(10, 70, 10)
axes.plot(labels, by_session, "o-", label="proposed by the session")
axes.plot(labels, at_random, "o--", label="drawn at random")
axes.set(xlabel="labels", ylabel="accuracy on all rows")
axes.legend()
plt.show()

# %%
# In a notebook ``session.widget()`` shows one row after the other, with a key for each class. With
# ``path="answers.jsonl"`` every answer is kept in a file.
