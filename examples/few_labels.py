# %% [markdown]
# # Nine topics from 27 labels
#
# You have a thousand texts and have read 27 of them. This notebook finds the topics of the others. The texts are
# docstrings of SciPy, which are on your machine; put your own list of strings in their place. It needs
# `fewlabel[plot]`.

# %%
import numpy as np

from fewlabel.datasets import load_scipy_docs

texts, truth = load_scipy_docs()
topics, counts = np.unique(truth, return_counts=True)
print(len(texts), "texts")
print(*topics)

# %% [markdown]
# ## Labels
#
# Three texts of each topic have a label; `None` marks the others. `truth` is used to draw these and to count mistakes.

# %%
rng = np.random.default_rng(0)
y = np.full(len(texts), None, dtype=object)
for topic in topics:
    rows = rng.choice(np.flatnonzero(truth == topic), 3, replace=False)
    y[rows] = topic
labeled = np.array([label is not None for label in y])
print(labeled.sum(), "labels")

# %% [markdown]
# ## From texts to rows
#
# The recipe removes stop words, frequent words and rare words, takes the logarithm of counts and gives every row unit
# length. It matters more than the classifier. Sentence embeddings are another way: `X = encoder.encode(texts)`.

# %%
from fewlabel.preprocessing import text_vectorizer  # noqa: E402

recipe = text_vectorizer()
X = recipe.fit_transform(texts)
print(f"{X.shape[0]} texts, {X.shape[1]} words")

# %% [markdown]
# ## Fit
#
# Three labels of each topic do not show how frequent the topics are, which differ by a factor of eight. With estimated
# class shares the unlabeled texts gain a little. With the shares from a count, of fifty random texts for instance, they
# gain much: give them where you know them.

# %%
from sklearn.svm import LinearSVC  # noqa: E402

from fewlabel import TransductiveSVC  # noqa: E402

supervised = LinearSVC().fit(X[labeled], truth[labeled])
default = TransductiveSVC().fit(X, y)
shares = dict(zip(topics.tolist(), (counts / len(truth)).tolist(), strict=True))
model = TransductiveSVC(class_prior=shares).fit(X, y)
for name, fitted in {"LinearSVC": supervised, "TransductiveSVC": default, "with shares": model}.items():
    print(f"{name:16} {fitted.score(X[~labeled], truth[~labeled]):.0%} of the other texts right")

# %% [markdown]
# Which topics are taken for which? A row of the picture is a true topic, a column a predicted one.

# %%
import matplotlib.pyplot as plt  # noqa: E402
from sklearn.metrics import ConfusionMatrixDisplay  # noqa: E402

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained", sharey=True)
for panel, name, fitted in zip(axes, ("LinearSVC", "with shares"), (supervised, model), strict=True):
    ConfusionMatrixDisplay.from_predictions(
        truth[~labeled],
        fitted.predict(X[~labeled]),
        ax=panel,
        colorbar=False,
        cmap="Blues",
        xticks_rotation=60,
    )
    panel.set_title(name)
plt.show()

# %% [markdown]
# ## Look
#
# The words that count most for each topic. If these are names, addresses or boilerplate, remove them and fit again.

# %%
words = recipe.get_feature_names_out()
for topic, weights in zip(model.classes_, model.coef_, strict=True):
    print(f"{topic:12}", *words[np.argsort(-weights)[:6]])

# %% [markdown]
# ## Use
#
# `predict` works on any rows of the same recipe, and it does not need the native library.

# %%
new = ["design a low-pass filter", "minimize a function", "confidence interval of the mean"]
print(*model.predict(recipe.transform(new)), sep=", ")
