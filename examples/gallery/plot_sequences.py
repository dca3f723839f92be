"""
Tags for sequences
==================

``SequenceSVC`` labels the tokens of sequences together, such as the words of sentences. Here it finds the name and the
type of a parameter in its description, from a few descriptions with tags.
"""

# %%
# The descriptions are those of SciPy's docstrings, ``x : array_like`` and a line of text below. The colon and the line
# break, which would give the tags away, are left out.

import re
from itertools import chain

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from fewlabel import SequenceSVC
from fewlabel.datasets import load_scipy_docs
from fewlabel.sequences import TokenVectorizer

PARAMETER = re.compile(r"^(\w+) : (.{3,60})\n    +(.+)", re.MULTILINE)


def tagged(description):
    """Tokens and tags: B- at the first token of a name or type, I- at the others, O elsewhere."""
    tokens, tags = [], []
    for kind, part in zip(("NAME", "TYPE", None), description, strict=True):
        words = re.findall(r"\w+|[^\w\s]", part)
        tokens += words
        tags += [f"B-{kind}", *[f"I-{kind}"] * (len(words) - 1)] if kind else ["O"] * len(words)
    return tokens, tags


texts, _ = load_scipy_docs()
found = list(dict.fromkeys(match for text in texts for match in PARAMETER.findall(text)))
order = np.random.default_rng(0).permutation(len(found))
sentences, tags = zip(*(tagged(found[k]) for k in order), strict=True)
print(len(sentences), "descriptions, among them")
print(*(f"{token}/{tag}" for token, tag in zip(sentences[0], tags[0], strict=True)))

# %%
# ``TokenVectorizer`` has features of a token and its neighbors. ``forbidden_transitions="iob"`` forbids what IOB tags
# do, such as I-TYPE after O. A classifier of single tokens with the same features is the comparison.

numbers = [5, 10, 20, 50, 100, 200]
test = slice(200, 800)


def accuracies(n):
    """Share of the test's tokens that are right, from n descriptions with tags."""
    vectorizer = TokenVectorizer().fit(sentences[:n])
    given = list(chain(*tags[:n]))
    X, new = vectorizer.transform(sentences[:n]), vectorizer.transform(sentences[test])
    model = SequenceSVC(forbidden_transitions="iob").fit(X, tags[:n])
    single = LinearSVC().fit(sp.vstack(X), given)
    return model.score(new, tags[test]), single.score(sp.vstack(new), list(chain(*tags[test])))


right = 100 * np.array([accuracies(n) for n in numbers])
figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
for column, name in zip(right.T, ("SequenceSVC", "LinearSVC, token by token"), strict=True):
    axes.plot(numbers, column, marker="o", label=name)
axes.set(xscale="log", xlabel="descriptions with tags", ylabel="tokens right, percent")
axes.set_xticks(numbers, numbers)
axes.minorticks_off()
axes.legend()
plt.show()

# %%
# New text, with the tags of a model of 200 descriptions:

tagger = make_pipeline(TokenVectorizer(), SequenceSVC(forbidden_transitions="iob")).fit(sentences[:200], tags[:200])
new = ["n_rows", "int", "or", "None", ",", "optional", "Number", "of", "rows", "to", "read", "."]
[predicted] = tagger.predict([new])
print(*(f"{token}/{tag}" for token, tag in zip(new, predicted, strict=True)))
