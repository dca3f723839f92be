"""
After the fit: wrong labels and reasons
=======================================

Two questions about a fitted model: which labels look wrong, and why a row has its class.
"""

# %%
# The texts are docstrings of three subpackages of SciPy. Ten texts of each have a label, and one label is wrong.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from fewlabel import TransductiveSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.inspection import explain, suspicious_labels
from fewlabel.preprocessing import text_vectorizer

texts, topics = load_scipy_docs(("linalg", "signal", "stats"))
names, counts = np.unique(topics, return_counts=True)
rng = np.random.default_rng(0)
y = np.full(len(texts), None, dtype=object)
for name in names:
    rows = rng.choice(np.flatnonzero(topics == name), 10, replace=False)
    y[rows] = name
wrong = np.flatnonzero(y == "stats")[0]
y[wrong] = "linalg"

recipe = text_vectorizer()
shares = dict(zip(names, counts / len(topics), strict=True))
model = make_pipeline(recipe, TransductiveSVC(class_prior=shares)).fit(texts, y)


def first_line(row):
    """The beginning of a text."""
    return texts[row].strip().splitlines()[0][:70]


# %%
# **Which labels look wrong?** Each label is compared with the prediction of a model that has not seen it.

found = suspicious_labels(model, texts, y, margin=0.0)
for row, given, predicted, margin in zip(*vars(found).values(), strict=True):
    note = "   <- the wrong one" if row == wrong else ""
    print(f"{margin:5.2f}  {given} or {predicted}?  {first_line(row)}{note}")

# %%
# The label is corrected and the model is fitted again. **Why this class?** The contribution of a word is its weight
# times its value.

y[wrong] = topics[wrong]
model.fit(texts, y)
found = explain(model, "a low-pass filter with a Hamming window", n=5)
print(found)
figure, axes = plt.subplots(figsize=(6, 2.4), layout="constrained")
axes.barh(found.features[::-1], found.contributions[::-1])
axes.set(xlabel=f"contribution to the score of {found.label}")
plt.show()
