"""The text recipe of every benchmark: from messages to unit rows of tf-idf.

Subject and body only, lower case, words of two letters or more, English stop words out, words in more than 20 % of the
rows out, words in fewer than `min_df` rows out, 1 + log count, idf, unit length.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

# Raise with every change of what a matrix contains: matrices of other versions in the cache are not used.
VERSION = 2


def subject_and_body(message: str) -> str:
    """The subject and the body of a message of a newsgroup; other headers say too much about the group."""
    head, _, body = message.replace("\r\n", "\n").partition("\n\n")
    subjects = [line.partition(":")[2].strip() for line in head.split("\n") if line.lower().startswith("subject:")]
    return "\n".join([*subjects, body])


def vectorizer(min_df: int = 2, digits: bool = False) -> TfidfVectorizer:
    """The recipe as a vectorizer of scikit-learn."""
    letter = "[a-z0-9]" if digits else "[a-z]"
    return TfidfVectorizer(
        lowercase=True,
        token_pattern=f"{letter}{letter}+",
        stop_words="english",
        max_df=0.2,
        min_df=min_df,
        sublinear_tf=True,
    )


def vectorize(texts: Iterable[str], min_df: int = 2, digits: bool = False) -> sp.csr_matrix:
    """Unit rows of tf-idf (n_texts, n_words); the vocabulary is that of these texts."""
    rows = vectorizer(min_df, digits).fit_transform(texts)
    return sp.csr_matrix(rows, dtype=np.float64)
