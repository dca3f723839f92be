"""Probabilities of classes as labels, and what gives them: several sources, such as keyword rules and annotators."""

from collections.abc import Iterable, Mapping, Set
from typing import Any
from unicodedata import category, name, normalize

import numpy as np
import scipy.sparse as sp

from fewlabel import _warnings
from fewlabel._inputs import _data, _markers, _memory, _numbers, _targets, _weights
from fewlabel._inputs._soft import Description, Soft, column_names
from fewlabel.inspection import _table

__all__ = ["Description", "Soft", "from_votes", "keyword_votes", "with_descriptions"]

# Accuracy of sources of which nothing is known, and the votes for which it counts (docs/notes/weak-labels.md).
_COMMON = 0.85
_PSEUDO = 10.0
_HIGHEST = 0.9  # accuracy that is estimated: no source alone is nearly certain, or worse than chance
_ROUNDS = 100
_TOLERANCE = 1e-6

# Beginnings of Unicode names of letters that follow others without a space: Korean particles follow words like that.
_UNSPACED = (
    *("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HALFWIDTH", "BOPOMOFO", "YI ", "HANGUL"),
    *("THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "TAI ", "NEW TAI", "JAVANESE", "BALINESE"),
)


class Votes(Soft, _table.Table):
    """Probabilities of the classes from votes, with a table of the sources, which `print` and notebooks show.

    Its columns are `source`; `class`, what it votes for; `coverage`, the share of the rows that it votes in;
    `overlaps` and `conflicts`, of those with another vote, and with one for another class; and `accuracy`.

    Attributes
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
        0 in rows without a vote.
    classes : ndarray of shape (n_classes,)
        Sorted.
    accuracies : ndarray of shape (n_sources,)
    """

    def __init__(self, soft: Soft, table: _table.Columns) -> None:
        self.probabilities, self.classes, self._table = soft.probabilities, soft.classes, table
        self._row_index = soft._row_index
        self.accuracies = np.array(table["accuracy"])

    def _columns(self) -> _table.Columns:
        return self._table


def with_descriptions(X: Any, y: Any, descriptions: Mapping[Any, Any]) -> tuple[Any, np.ndarray]:
    """Append a row for every description of a class, or of a column of several labels a row.

    Parameters
    ----------
    X : {list of texts, array-like, sparse matrix or array, series}, one entry or row each
        What `fit` of the classifier or of its pipeline takes.
    y : array-like of shape (n_rows,) or (n_rows, n_columns), or None
        Labels, with markers. None: no row has a label.
    descriptions : dict from class to text or row
        The description of each class, in the form of the rows of `X`: a text, or a vector of `n_features`. Several
        labels a row: from the name of a column, if `y` is a data frame, or from its number.

    Returns
    -------
    X : list, CSR or CSC, series with a new index, or else ndarray, with the descriptions behind the rows
    y : ndarray of shape (n_rows + n_descriptions,) or (n_rows + n_descriptions, n_columns), object
        The labels, and a `Description` for each further row; in columns `Description(1)`, beside unknown entries.

    Examples
    --------
    >>> from fewlabel.labels import with_descriptions
    >>> texts, y = with_descriptions(["the match", "the bank"], None, {"sports": "match goal", "money": "bank stock"})
    >>> texts, y[:3].tolist()
    (['the match', 'the bank', 'match goal', 'bank stock'], [None, None, Description(label='sports')])
    """
    if not isinstance(descriptions, Mapping) or not descriptions:
        raise ValueError(f"descriptions must be a dict from class to its description, got {descriptions!r:.80}")
    _markers.refuse_names(descriptions, np.nan, False, "descriptions")
    _data.check_order(X=X, y=y)
    X = _data.admitted(X)
    _data.refuse_dates(X)
    X = X if isinstance(X, list | Mapping) or sp.issparse(X) or hasattr(X, "iloc") else np.asarray(X)
    if isinstance(X, Mapping) or getattr(X, "ndim", 1) not in (1 + sp.issparse(X), 2):
        raise ValueError(f"X must have a text or a row of numbers for each row, got {X!r:.60}")
    if isinstance(y, Soft):
        raise ValueError("y must be labels, sets or markers here, not probabilities of classes")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    known = np.full(n, None) if y is None else _markers.table(y, "y").astype(object)
    if len(known) != n:
        raise ValueError(f"y has {len(known)} labels, but X has {n} rows")
    if known.ndim == 2 and known.shape[1] > 1:
        return _appended(X, descriptions), np.vstack([known, _of_columns(known, column_names(y), descriptions)])
    labels = [Description(label) for label in descriptions]
    return _appended(X, descriptions), np.append(_markers.column(known, "y"), _markers.objects(labels))


def _of_columns(known: np.ndarray, names: Any, descriptions: Mapping[Any, Any]) -> np.ndarray:
    """Rows (n_descriptions, n_columns) that describe a column each, with the marker of `known` in the others."""
    names, marked = list(range(known.shape[1]) if names is None else names), _markers.marked(known.ravel(), "auto")[0]
    if others := [name for name in descriptions if name not in names]:
        raise ValueError(f"descriptions has {others[0]!r:.60}, but y has several labels a row, of the columns {names}")
    rows = np.full((len(descriptions), len(names)), known.ravel()[marked][0] if marked.any() else None, dtype=object)
    rows[range(len(rows)), [names.index(name) for name in descriptions]] = Description(1)
    return rows


def _appended(X: Any, descriptions: Mapping[Any, Any]) -> Any:
    """The rows, and one for each description."""
    if getattr(X, "ndim", 1) == 1:
        return _with_entries(X, descriptions)
    if hasattr(X, "iloc"):
        raise ValueError("X is a data frame: give the column of the texts")
    rows = [_vector(label, each, X.shape[1]) for label, each in descriptions.items()]
    if sp.issparse(X):
        return type(X)(sp.vstack([X, *rows], format=X.format, dtype=_real(X.dtype)))
    return np.concatenate([X, *(row.toarray() for row in rows)], dtype=_real(X.dtype))


def _with_entries(X: Any, descriptions: Mapping[Any, Any]) -> Any:
    """A list, a series or an array, and an entry for each description. Vectors must have the width of the others."""
    further: Any = [*descriptions.values()]
    if len({isinstance(each, str) for each in [*X, *further]}) > 1:
        raise ValueError("X and descriptions must both have texts, or both have rows of numbers")
    if blank := [label for label, each in descriptions.items() if isinstance(each, str) and not each.strip()]:
        raise ValueError(f"descriptions must have a text for class {blank[0]!r}, as the rows of X, got a blank one")
    widths = {len(row) if _markers.is_list(row) else 0 for row in X}
    if len(widths) == 1 and (width := widths.pop()) and not _data.holds_text([*X]):
        further = [_vector(label, each, width).toarray()[0] for label, each in descriptions.items()]
    if hasattr(X, "iloc"):
        import pandas

        added = pandas.Series(further, dtype=None if X.dtype == "category" else X.dtype, name=X.name)
        return pandas.concat([X, added], ignore_index=True)
    further = further if isinstance(X, list) or X.dtype != object else _markers.objects(further)
    return [*X, *further] if isinstance(X, list) else np.append(X, further)


def _real(dtype: Any) -> Any:
    """The type of rows with descriptions: whole numbers would cut those of an encoder."""
    return dtype if np.issubdtype(dtype, np.floating) else np.float64


def _vector(label: Any, given: Any, width: int) -> sp.csr_array:
    """The description of a class as a row of numbers."""
    _data.refuse_dates(given, f"the description of class {label!r}")
    try:
        row = sp.csr_array(given if sp.issparse(given) else np.array(_data.admitted(given), dtype=np.float64, ndmin=2))
        if row.shape == (1, width):
            return row
        found = f"shape {row.shape}"
    except (TypeError, ValueError):
        found = f"{given!r:.60}"
    raise ValueError(f"descriptions must have {width} numbers for class {label!r}, as the rows of X, got {found}")


def keyword_votes(texts: Iterable[str], keywords: Mapping[Any, Iterable[str]]) -> Any:
    """Votes of keyword rules: each word votes for its class in the texts that contain it.

    Parameters
    ----------
    texts : iterable of str
        Texts, one a row.
    keywords : dict from class to iterable of str
        Words or phrases of each class, compared without case, as whole words; in scripts without spaces anywhere.

    Returns
    -------
    votes : ndarray of shape (n_rows, n_words), object, of a series a data frame with its index and the words as columns
        The class of the word where the text contains it, else None. A `DataWarning` names words that no text contains.
    """
    index = _data.index_of(texts)
    if isinstance(texts, str | Mapping) or hasattr(texts, "columns") or not np.iterable(texts):
        raise ValueError(f"texts must be a list of texts, got {'one text' if isinstance(texts, str) else type(texts)}")
    texts = list(_markers.unpacked(texts))
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"texts must hold texts, got {text!r} in row {i}: write an empty text where there is none")
    rules = _rules(keywords)
    _memory.need(8.0 * len(texts) * len(rules), f"{len(rules)} votes on each of {len(texts)} texts", "give fewer words")
    folded, missing = [*map(_folded, texts)], []
    votes = np.full((len(texts), len(rules)), None, dtype=object)
    for j, (label, word) in enumerate(rules):
        phrase = _folded(word)
        rows = [i for i, text in enumerate(folded) if _contains(text, phrase)]
        missing += [] if rows else [word]
        for i in rows:
            votes[i, j] = label
    if missing:
        words = _markers.listed(np.array(missing, dtype=object), 30)
        text = f"no text contains the keywords {words}: they vote nowhere, see their spelling"
        _warnings.warn(text, _warnings.DataWarning)
    if index is None:
        return votes
    import pandas

    return pandas.DataFrame(votes, index=index, columns=[word for _, word in rules], dtype=object)


def _rules(keywords: Any) -> list[tuple[Any, str]]:
    if not isinstance(keywords, Mapping):
        raise ValueError(f"keywords must be a dict from class to words, got {keywords!r:.80}")
    for label, words in keywords.items():
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise ValueError(f"keywords must have a list of words for class {label!r}, got {words!r}")
    rules = [(_markers.plain(label), word) for label, words in keywords.items() for word in words]
    if not rules:
        raise ValueError("keywords holds no word")
    _markers.refuse_names(keywords, np.nan, False, "keywords")
    for label, word in rules:
        if not isinstance(word, str) or not word.strip():
            raise ValueError(f"keywords must hold words, got {word!r} for class {label!r}")
    return rules


def _folded(text: str) -> str:
    """Without case, with composed letters and single spaces."""
    return " ".join(normalize("NFC", normalize("NFD", text).casefold()).split())


def _contains(text: str, phrase: str) -> bool:
    """Whether a text has the phrase, and not as a part of a word."""
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        before, after = text[max(at - 1, 0) : at], text[end : end + 1]
        if not (_in_word(before, phrase[0]) or _in_word(after, phrase[-1]) or category(after or " ")[0] == "M"):
            return True
        at = text.find(phrase, at + 1)
    return False


def _in_word(neighbor: str, end: str) -> bool:
    """Whether the character beside a phrase, if there is one, makes one word with the end of the phrase."""
    letter = neighbor and (neighbor == "_" or category(neighbor)[0] in "LMN")
    return bool(letter) and not any(name(one, "").startswith(_UNSPACED) for one in (neighbor, end))


def from_votes(
    votes: Any, y: Any = None, *, accuracies: Any = "auto", sources: Any = None, unlabeled: Any = "auto"
) -> Votes:
    """Probabilities of the classes from the votes of several sources: a `y`, with a table of the sources, `Votes`.

    A source of accuracy a votes for the true class with probability a, and for each other one with (1 - a) / (K - 1),
    independently. Accuracies that are not given are estimated from the labeled rows, and those of sources that vote for
    several classes also from rows with several votes. Without labels, sources of one class each have a common accuracy.
    All classes are taken to have equal shares: give the classifier a `class_prior`.

    Parameters
    ----------
    votes : array-like of shape (n_rows, n_sources)
        The class that each source votes for, or a marker where it does not vote.
    y : array-like of shape (n_rows,), default=None
        Labels, with markers; labeled rows have probability 1 of their class.
    accuracies : "auto" or array-like of shape (n_sources,), default="auto"
        Probability that a vote of the source is right, above 0 and below 1.
    sources : list or dict, default=None
        Names of the sources, or the `keywords` of `keyword_votes`. None: the columns of a data frame, else 0, 1, ...
    unlabeled : as in `TransductiveSVC`

    References
    ----------
    Dawid and Skene (Applied Statistics 1979), with one number a source.
    """
    _data.check_order(votes=votes, y=y)
    _data.check_order(**{"the columns of votes": column_names(votes), "accuracies": accuracies})
    columns = _markers.table(votes, "votes")
    if columns.ndim != 2 or not columns.size:
        raise ValueError(f"votes must have shape (n_rows, n_sources), has {columns.shape}")
    given = _targets.plain(columns.ravel(), unlabeled, "votes")
    if not given.labeled.any():
        raise ValueError("votes has no vote: every entry is a marker (see the parameter `unlabeled`)")
    known = _targets.plain(np.full(len(columns), None) if y is None else y, "auto" if y is None else unlabeled)
    if len(known.codes) != len(columns):
        raise ValueError(f"y has {len(known.codes)} labels, but votes has {len(columns)} rows")
    for what, one in {"votes": given, "y": known}.items():
        _markers.refuse_texts(one.classes, one.counts(), unlabeled, bool(one.labeled.all()), what)
    both = _targets.plain(np.concatenate([given.or_none(), known.or_none()]), float("nan"), "votes and y")
    classes, (codes, truth) = both.classes, np.split(both.codes, [columns.size])
    if len(classes) < 2:
        raise ValueError(f"votes and y name one class only, {classes.tolist()[0]!r}: at least two are needed")
    _markers.warn_of_names(classes.tolist())
    codes = codes.reshape(columns.shape)
    names = _names(column_names(votes) if sources is None else sources, columns.shape[1])
    a = _accuracies(codes, truth, len(classes), accuracies)
    soft = Soft(_posterior(codes, truth, a, len(classes)), classes)
    soft._row_index = next((index for index in map(_data.index_of, (votes, y)) if index is not None), None)
    return Votes(soft, _summary(names, codes, classes) | {"accuracy": a.tolist()})


def _names(sources: Any, n: int) -> list[Any]:
    """Those of the sources, one a column."""
    sources = range(n) if sources is None else sources
    if not _numbers.has_entries(sources) or isinstance(sources, Set):  # which has no order
        raise ValueError(f"sources must be a list of names or a dict from class to words, got {sources!r:.60}")
    names = [word for _, word in _rules(sources)] if isinstance(sources, Mapping) else [*map(_markers.plain, sources)]
    if len(names) != n:
        raise ValueError(f"sources has {len(names)} names, but votes has {n} columns")
    return names


def _summary(names: list[Any], votes: np.ndarray, classes: np.ndarray) -> _table.Columns:
    """The table of the sources, but for accuracies."""
    voted = votes >= 0
    several = voted.sum(axis=1) > 1
    differ = votes.max(axis=1) != np.where(voted, votes, len(classes)).min(axis=1)
    polarity = [classes[np.unique(each[each >= 0])].tolist() for each in votes.T]
    return {
        "source": names,
        "class": [", ".join(map(str, each)) for each in polarity],
        "coverage": voted.mean(axis=0).tolist(),
        "overlaps": (voted & several[:, None]).mean(axis=0).tolist(),
        "conflicts": (voted & differ[:, None]).mean(axis=0).tolist(),
    }


def _accuracies(votes: np.ndarray, truth: np.ndarray, n_classes: int, given: Any) -> np.ndarray:
    """Those given, or estimated from numbers of classes; -1 is no vote, no label."""
    if not _markers.is_auto(given):
        a, n = _weights.numbers("accuracies", [] if isinstance(given, str | Mapping) else given), votes.shape[1]
        if a.shape != (n,) or not ((a > 0) & (a < 1)).all():
            raise ValueError(
                f"accuracies must be {n} numbers above 0 and below 1, or 'auto', got {_numbers.shown(given)}"
            )
        return a
    for_one = np.array([len(np.unique(each[each >= 0])) < 2 for each in votes.T])
    labeled = truth >= 0
    seen, right = (votes >= 0) & labeled[:, None], (votes == truth[:, None]) & labeled[:, None]
    common = (right.sum() + _PSEUDO * _COMMON) / (seen.sum() + _PSEUDO)
    telling = ((votes >= 0).sum(axis=1) > 1) | labeled
    votes, truth = votes[telling], truth[telling]
    counted = (votes >= 0) & ((truth >= 0)[:, None] | ~for_one)
    a = np.full(votes.shape[1], common)
    for _ in range(_ROUNDS):
        before, a = a, _right(votes, counted, _posterior(votes, truth, a, n_classes), common)
        if abs(a - before).max() <= _TOLERANCE:
            break
    return a


def _posterior(votes: np.ndarray, truth: np.ndarray, a: np.ndarray, n_classes: int) -> np.ndarray:
    _memory.need(32.0 * len(votes) * n_classes, f"votes on {n_classes} classes of {len(votes)} rows", "give fewer rows")
    logs = np.zeros((len(votes), n_classes))
    gains = np.log(a) - np.log((1 - a) / (n_classes - 1))
    for j, gain in enumerate(gains):
        rows = np.flatnonzero(votes[:, j] >= 0)
        logs[rows, votes[rows, j]] += gain
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[(votes < 0).all(axis=1)] = 0
    labeled = np.flatnonzero(truth >= 0)
    p[labeled] = 0
    p[labeled, truth[labeled]] = 1
    return p


def _right(votes: np.ndarray, counted: np.ndarray, p: np.ndarray, common: float) -> np.ndarray:
    """Share of the counted votes of each source that are right, at least that by chance."""
    chosen = [np.flatnonzero(each) for each in counted.T]
    right = np.array([p[rows, votes[rows, j]].sum() for j, rows in enumerate(chosen)])
    return np.clip((right + _PSEUDO * common) / (counted.sum(axis=0) + _PSEUDO), 1 / p.shape[1], _HIGHEST)
