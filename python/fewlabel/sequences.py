"""Label sequences: features of tokens."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.utils.validation import check_is_fitted

from fewlabel._compat import BaseEstimator, Self, TransformerMixin
from fewlabel._inputs._numbers import check_count, has_entries

__all__ = ["TokenVectorizer"]

_SHAPES = ((re.compile("[A-ZÀ-ÖØ-Þ]"), "X"), (re.compile("[^\\W\\d_A-ZÀ-ÖØ-ÞX]"), "x"), (re.compile(r"\d"), "d"))
_REPEATED = re.compile(r"(.)\1+")


@dataclass(kw_only=True, eq=False, repr=False)
class TokenVectorizer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):
    """Sparse features of tokens for `SequenceSVC`: for each sentence a matrix with one row per token.

    Features are 0 or 1: the token in lower case and its shape ("Xx" for "Madrid", "d" for "2002"), and both of its
    neighbors; the unchanged token; its first and last characters; a constant.

    Parameters
    ----------
    window : int, default=2
        Number of neighbors on each side.
    affixes : int, default=4
        Maximum length of prefixes and suffixes.
    n_features : int or None, default=None
        None: one column per feature seen in `fit` (`DictVectorizer`). Otherwise features are hashed into this number of
        columns (`FeatureHasher`), and no training text is stored.

    Examples
    --------
    >>> from fewlabel.sequences import TokenVectorizer
    >>> sentences = [["Juan", "vive", "en", "Madrid"], ["Madrid", "crece"]]
    >>> [rows.shape for rows in TokenVectorizer().fit_transform(sentences)]
    [(4, 75), (2, 75)]
    """

    window: int = 2
    affixes: int = 4
    n_features: int | None = None

    def fit(self, X: Iterable[Sequence[str]], y: Any = None) -> Self:
        """Learn the vocabulary of features.

        Parameters
        ----------
        X : iterable of sequences of str
            Sentences, each its tokens.
        y : not used
        """
        for name in ("window", "affixes"):
            check_count(name, getattr(self, name), least=0)
        check_count("n_features", 1 if self.n_features is None else self.n_features)
        _check_sentences(X)
        if self.n_features is None:
            self.vectorizer_ = DictVectorizer(sort=False).set_output(transform="default").fit(self._rows(X))
            if not self.vectorizer_.feature_names_:
                raise ValueError("X has no token: give at least one sentence of one word")
        else:
            self.vectorizer_ = FeatureHasher(self.n_features, input_type="string", alternate_sign=False)
        return self

    def transform(self, X: Iterable[Sequence[str]]) -> list[Any]:
        """Features of the tokens of each sentence: a list of CSR matrices, as `SequenceSVC` takes them.

        Parameters
        ----------
        X : iterable of tokens or of sentences
        """
        check_is_fitted(self)
        _check_sentences(X)
        sentences = list(X)
        if next(self._rows(sentences), None) is None:  # no token, of which scikit-learn makes no rows
            if iter(X) is X:
                raise ValueError("X is an iterator without a sentence that is left: give a list")
            return [sp.csr_matrix((0, len(self.get_feature_names_out()))) for _ in sentences]
        rows = self.vectorizer_.transform(self._rows(sentences))
        if max(rows.nnz, *rows.shape) <= np.iinfo(np.int32).max:  # DictVectorizer's int64 is refused by LinearSVC
            rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        ends = np.cumsum([len(sentence) for sentence in sentences], dtype=int).tolist()
        return [rows[begin:end] for begin, end in itertools.pairwise([0, *ends])]

    def set_output(self, *, transform: Any = None) -> Self:
        """Refuse other output than a list; scikit-learn's `transform_output` is ignored, as by other vectorizers.

        Parameters
        ----------
        transform : {"default"} or None, default=None
        """
        if transform not in (None, "default"):
            found = "gives a list with a sparse matrix for each sentence, no data frame"
            raise ValueError(f"transform={transform!r}: TokenVectorizer {found}. Leave it out of set_output")
        return self

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features, such as "token=Madrid"; of hashed features the numbers of their columns.

        Parameters
        ----------
        input_features : not used
        """
        check_is_fitted(self)
        if self.n_features is None:
            return np.asarray(self.vectorizer_.get_feature_names_out(), dtype=object)
        return np.array([f"column{j}" for j in range(self.n_features)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # sentences, each a list of tokens
        tags.input_tags.string = True
        return tags

    def _rows(self, sentences: Iterable[Sequence[str]]) -> Iterator[Any]:
        for names in itertools.chain.from_iterable(map(self._names, sentences)):
            yield names if self.n_features is not None else dict.fromkeys(names, 1.0)

    def _names(self, tokens: Sequence[str]) -> Iterator[list[str]]:
        """Feature names of each token of a sentence."""
        if other := [tokens] if not has_entries(tokens) else [token for token in tokens if not isinstance(token, str)]:
            raise TypeError(f"X must be a list of sentences, each split into tokens, texts; found {other[0]!r}")
        w = self.window
        edge = [""] * w
        lower = [*edge, *(token.lower() for token in tokens), *edge]
        shapes = [*edge, *map(_shape, tokens), *edge]
        places = range(-w, w + 1)
        for t, token in enumerate(tokens):
            yield [
                "constant",
                "token=" + token,  # also of an Enum
                *(f"lower[{k}]={lower[t + w + k]}" for k in places),
                *(f"shape[{k}]={shapes[t + w + k]}" for k in places),
                *(f"prefix={token[:k]}" for k in range(1, min(self.affixes, len(token)) + 1)),
                *(f"suffix={token[-k:]}" for k in range(1, min(self.affixes, len(token)) + 1)),
            ]


def _check_sentences(X: Any) -> None:
    if not has_entries(X):
        raise TypeError(f"X must be a list of sentences, each split into tokens, got {X!r:.60}")


def _shape(token: str) -> str:
    """Shape of a token: upper case, lower case, digit or the character itself, with runs collapsed."""
    for pattern, mark in _SHAPES:
        token = pattern.sub(mark, token)
    return _REPEATED.sub(r"\1", token)
