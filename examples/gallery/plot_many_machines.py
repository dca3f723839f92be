"""
Texts on several machines
=========================

Each worker of a Dask cluster turns its texts into rows, one sum gives the weights of the words, and the fit takes place
where the rows are.
"""

# %%
# Docstrings of three subpackages of SciPy in six parts; 30 of the texts have a label. The cluster is two threads here.
# For a real one give ``Client`` the address of its scheduler, and let each part be read by a worker.
# This example needs ``pip install "fewlabel[dask]"``.

import numpy as np
from dask import compute, delayed
from distributed import Client, LocalCluster
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize

import fewlabel
from fewlabel import TransductiveSVC
from fewlabel.datasets import load_scipy_docs

texts, topics = load_scipy_docs(("linalg", "signal", "stats"))
labeled = np.random.default_rng(0).choice(len(texts), 30, replace=False)
y = np.full(len(texts), None, dtype=object)
y[labeled] = topics[labeled]

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
client = Client(cluster)
parts = np.array_split(np.arange(len(texts)), 6)
parts_of_texts = [delayed([texts[row] for row in part]) for part in parts]
parts_of_y = [delayed(y[part]) for part in parts]

# %%
# A vocabulary would have to be shared; hashing needs none. How many texts have a word is a sum over the parts, and the
# only thing that has to be known of all texts.

hashing = HashingVectorizer(
    n_features=2**16,
    alternate_sign=False,
    norm=None,
    stop_words="english",
    token_pattern="[a-z][a-z]+",
)


def occurrences(counts):
    """Texts that have each word, and texts."""
    return np.append(np.bincount(counts.indices, minlength=counts.shape[1]), counts.shape[0])


def weighted(counts, idf):
    """Rows of tf-idf."""
    return normalize(counts.multiply(idf).tocsr())


counts = client.persist([delayed(hashing.transform)(part) for part in parts_of_texts])
found = sum(compute(*[delayed(occurrences)(part) for part in counts]))
idf = np.log((1 + found[-1]) / (1 + found[:-1])) + 1
X = client.persist([delayed(weighted)(part, idf) for part in counts])

# %%
# The fit and the predictions are computed where the rows are.

model = fewlabel.dask.fit(client, TransductiveSVC(), X, parts_of_y)
predicted = np.concatenate(compute(*[delayed(model.predict)(part) for part in X]))
unlabeled = np.setdiff1d(np.arange(len(texts)), labeled)
print(f"{np.mean(predicted[unlabeled] == topics[unlabeled]):.1%} of {len(unlabeled)} texts right")

# %%
# One machine with all rows finds the same.

rows = weighted(hashing.transform(texts), idf)
alone = TransductiveSVC().fit(rows, y)
print(f"{np.sum(alone.predict(rows) != predicted)} texts with another topic")
print(f"objective {model.objective_:.12f} on the cluster, {alone.objective_:.12f} on one machine")

client.close()
cluster.close()
