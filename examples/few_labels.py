# %% [markdown]
# # Nine topics from 30 labels
#
# You have a thousand texts and time to read 30 of them. This notebook finds the topics of the others. The texts are
# docstrings of SciPy, which are on your machine; put your own list of strings in their place. It needs
# `fewlabel[plot]`.

# %%
import numpy as np

from fewlabel.datasets import load_scipy_docs

texts, truth = load_scipy_docs()
topics, counts = np.unique(truth, return_counts=True)
print(len(texts), "texts")
print(*(f"{count} {topic}" for topic, count in zip(topics, counts, strict=True)), sep=", ")

# %% [markdown]
# ## Label
#
# A session proposes the texts to label, typical ones of each part of the collection first. Here `truth` gives the
# answers. With texts of your own write `session.widget()` in a cell of its own: it shows a text and has a key for each
# class.
#
# The recipe that turns texts into rows removes stop words, frequent words and rare words, takes the logarithm of counts
# and gives every row unit length. It matters more than the classifier. Sentence embeddings are another way.

# %%
from sklearn.pipeline import make_pipeline  # noqa: E402

from fewlabel import TransductiveSVC  # noqa: E402
from fewlabel.labeling import Session  # noqa: E402
from fewlabel.preprocessing import text_vectorizer  # noqa: E402

session = Session(texts.tolist(), make_pipeline(text_vectorizer(), TransductiveSVC()))
for _ in range(3):
    for row in session.next(10):
        session.label(row, truth[row])
print(session.status())

# %% [markdown]
# ## Fit
#
# The fit uses the labeled texts and all others.

# %%
model = session.fit()
predicted = model.predict(texts)
print(f"{np.mean(predicted == truth):.0%} of all texts right")

# %% [markdown]
# Which topics are taken for which? A row of the picture is a true topic, a column a predicted one.

# %%
import matplotlib.pyplot as plt  # noqa: E402
from sklearn.metrics import ConfusionMatrixDisplay  # noqa: E402

figure, panel = plt.subplots(figsize=(5, 4.6), layout="constrained")
ConfusionMatrixDisplay.from_predictions(truth, predicted, ax=panel, colorbar=False, cmap="Blues", xticks_rotation=60)
plt.show()

# %% [markdown]
# ## Labels that you have already
#
# Often somebody has collected three examples of each topic. Such labels do not show how frequent the topics are, which
# differ by a factor of eight, and the fit has to guess. Fifty texts drawn at random show it: label them as well.

# %%
from sklearn.svm import LinearSVC  # noqa: E402

rng = np.random.default_rng(0)
X = text_vectorizer().fit_transform(texts)
y = np.full(len(texts), None, dtype=object)  # None marks a text without a label
for topic in topics:
    examples = rng.choice(np.flatnonzero(truth == topic), 3, replace=False)
    y[examples] = topic


def print_accuracies(what):
    labeled = np.array([label is not None for label in y])
    for classifier in LinearSVC().fit(X[labeled], truth[labeled]), TransductiveSVC().fit(X, y):
        right = np.mean(classifier.predict(X[~labeled]) == truth[~labeled])
        print(f"{what}, {type(classifier).__name__:16} {right:.0%} of the other texts right")


print_accuracies("3 examples a topic")
random = rng.choice(len(texts), 50, replace=False)
y[random] = truth[random]
print_accuracies("and 50 at random  ")

# %% [markdown]
# ## Look
#
# The words that count most for each topic. If these are names, addresses or boilerplate, remove them and fit again.

# %%
words = model[0].get_feature_names_out()
for topic, weights in zip(model.classes_, model[-1].coef_, strict=True):
    print(f"{topic:12}", *words[np.argsort(-weights)[:6]])

# %% [markdown]
# ## Use
#
# `predict` takes new texts, and it does not need the native library.

# %%
new = ["design a low-pass filter", "minimize a function", "confidence interval of the mean"]
print(*model.predict(new), sep=", ")
