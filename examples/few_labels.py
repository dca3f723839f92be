# %% [markdown]
# # Nine topics from 27 labels
#
# You have a thousand texts and have read 27 of them. This notebook finds the topic of the others. The texts are the
# docstrings of SciPy, which are on your machine; put your own list of strings in their place.

# %%
import importlib
import inspect

import numpy as np

TOPICS = ["fft", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "special", "stats"]
topic_of = {}
for topic in TOPICS:
    module = importlib.import_module(f"scipy.{topic}")
    for name in sorted(module.__all__):
        text = inspect.getdoc(getattr(module, name)) or ""
        if len(text) > 200:
            topic_of.setdefault(text, topic)
texts, truth = list(topic_of), np.array(list(topic_of.values()))
print(len(texts), "texts")

# %% [markdown]
# ## Labels
#
# Three texts of each topic have a label; `None` marks the others. `truth` is used to draw these and to count mistakes.

# %%
rng = np.random.default_rng(0)
y = np.full(len(texts), None, dtype=object)
for topic in TOPICS:
    rows = rng.choice(np.flatnonzero(truth == topic), 3, replace=False)
    y[rows] = topic
labeled = np.array([label is not None for label in y])
print(labeled.sum(), "labels")

# %% [markdown]
# ## From texts to rows
#
# Stop words out, frequent and rare words out, logarithm of counts, unit length. This matters more than the classifier.

# %%
from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: E402

recipe = TfidfVectorizer(token_pattern="[a-z][a-z]+", stop_words="english", min_df=2, max_df=0.2, sublinear_tf=True)
X = recipe.fit_transform(texts)
print(f"{X.shape[0]} texts, {X.shape[1]} words")

# %% [markdown]
# ## Learn
#
# Labels were picked topic by topic, so they do not say how frequent the topics are. The fit estimates that, roughly
# where each topic has three labels. Here the shares are known from the table of contents: give them where you know
# them.

# %%
from sklearn.svm import LinearSVC  # noqa: E402

from fewlabel import TransductiveSVC  # noqa: E402

supervised = LinearSVC().fit(X[labeled], truth[labeled])
default = TransductiveSVC().fit(X, y)
names, counts = np.unique(truth, return_counts=True)
shares = dict(zip(names.tolist(), (counts / len(truth)).tolist(), strict=True))
model = TransductiveSVC(class_prior=shares).fit(X, y)
for name, fitted in {"LinearSVC": supervised, "TransductiveSVC": default, "with shares": model}.items():
    print(f"{name:16} {fitted.score(X[~labeled], truth[~labeled]):.0%} of the other texts right")

# %% [markdown]
# ## Look
#
# The words that speak most for each topic. If these are names, addresses or boilerplate, take them out and fit again.

# %%
words = recipe.get_feature_names_out()
for topic, weights in zip(model.classes_, model.coef_, strict=True):
    print(f"{topic:12}", *words[np.argsort(-weights)[:6]])

# %% [markdown]
# The texts of which the model is least sure: the two best topics have nearly the same score. Label these next.

# %%
scores = np.sort(model.decision_function(X), axis=1)
margin = np.where(labeled, np.inf, scores[:, -1] - scores[:, -2])
for row in np.argsort(margin)[:5]:
    print(f"{model.predict(X[[row]])[0]:12}", texts[row].splitlines()[0][:70])

# %% [markdown]
# ## Use
#
# `predict` works on any rows of the same recipe. It needs no native library.

# %%
new = ["design a low-pass filter", "minimize a function under constraints", "confidence interval of the mean"]
print(*model.predict(recipe.transform(new)), sep=", ")
