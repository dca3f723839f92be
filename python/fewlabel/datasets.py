"""CoNLL files with columns of tokens and tags, and example texts."""

import gzip
import importlib.util
import inspect
import os
import re
from numbers import Integral
from typing import Any

import numpy as np

__all__ = ["load_conll_file", "load_scipy_docs"]

_TOPICS = ("fft", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "special", "stats")
_SHORTEST = 200  # characters of a docstring that is taken
_VARYING = re.compile(r".*(?:# may vary|Use of argument\(s\)).*\n?")  # lines that differ from process to process
_PathLike = str | bytes | os.PathLike[Any]


def load_conll_file(path: _PathLike, *, columns: tuple[int, ...] = (0, -1)) -> tuple[list[list[str]], ...]:
    """Read a CoNLL file: one token per line in columns, and an empty line after each sentence.

    Parameters
    ----------
    path : path-like
        The file, UTF-8; compressed if its name ends in .gz.
    columns : tuple of int, default=(0, -1)
        Columns to read, counted from 0, or from the end if negative: by default tokens and their tags; (0,) for tokens
        without tags. Columns are separated by tabs if the line has a tab, otherwise by white space. All lines of a
        sentence have the same number. Lines that begin with -DOCSTART- are skipped; remove other comments first.

    Returns
    -------
    sentences : list of list of str, one for each column
        By default tokens and tags, as input for `TokenVectorizer` and `SequenceSVC`.

    Raises
    ------
    ValueError
        If a line has too few columns or others than the line before, or the file is not UTF-8.
    TypeError
        If `columns` are no integers.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fewlabel.datasets import load_conll_file
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tokens.txt")
    >>> _ = path.write_text("Juan B-PER\\nvive O\\n\\nSi O\\n")
    >>> load_conll_file(path)
    ([['Juan', 'vive'], ['Si']], [['B-PER', 'O'], ['O']])
    """
    name = os.fsdecode(path)
    if not isinstance(columns, tuple | list) or not all(isinstance(k, Integral) for k in columns):
        raise TypeError(f"columns must be a tuple of integers, counted from 0, got {columns!r}")
    sentences: list[list[list[str]]] = [[]]
    width = 0  # columns of the first line of the sentence
    with gzip.open(name, "rb") if name.endswith(".gz") else open(name, "rb") as file:
        for number, line in enumerate(file, 1):
            text = _text_of(line, name, number)
            if not text:
                sentences.append([])
            elif not text.startswith("-DOCSTART-"):
                cells = text.split("\t") if "\t" in text else text.split()
                width = len(cells) if not sentences[-1] else width
                places = {k % len(cells) for k in columns if -len(cells) <= k < len(cells)}
                if len(places) < len(set(columns)):
                    raise ValueError(f"{name}, line {number}: {len(cells)} columns, too few for columns={columns}")
                if len(cells) != width:
                    raise ValueError(f"{name}, line {number}: {len(cells)} columns, after {width} in the lines before")
                sentences[-1].append([cells[k] for k in columns])
    return tuple([[row[k] for row in sentence] for sentence in sentences if sentence] for k in range(len(columns)))


def _text_of(line: bytes, name: str, number: int) -> str:
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()  # editors of Windows begin with a mark
    except UnicodeDecodeError as reason:
        raise ValueError(f"{name}, line {number}: not UTF-8 ({reason})") from reason
    if "\r" in text:
        raise ValueError(f"{name}, line {number}: lines end in a carriage return alone; convert them to newlines")
    return text


def load_scipy_docs(topics: tuple[str, ...] | str = _TOPICS) -> tuple[np.ndarray, np.ndarray]:
    """Texts to try things on: the docstrings of SciPy, which are on your machine. Nothing is downloaded.

    Parameters
    ----------
    topics : tuple of str, or str
        Subpackages of SciPy. The default has nine, with more than a thousand docstrings.

    Returns
    -------
    texts : ndarray of shape (n_texts,), object
        Docstrings of public names, in the order of topics and names. One that several names share is taken once.
    topic : ndarray of shape (n_texts,), str
        The subpackage of each.

    Raises
    ------
    ValueError
        If SciPy has no subpackage of this name.

    Examples
    --------
    >>> from fewlabel.datasets import load_scipy_docs
    >>> texts, topic = load_scipy_docs(("signal", "stats"))
    >>> sorted(set(topic.tolist()))
    ['signal', 'stats']
    """
    found: dict[str, str] = {}
    for topic in (topics,) if isinstance(topics, str) else topics:
        if importlib.util.find_spec(f"scipy.{topic}") is None:
            raise ValueError(f"topics must be subpackages of SciPy, such as ('signal', 'stats'), got {topic!r}")
        module = importlib.import_module(f"scipy.{topic}")
        for name in sorted(module.__all__):
            member = getattr(module, name)
            text = None if inspect.ismodule(member) else inspect.getdoc(member)
            text = _VARYING.sub("", text or "")
            if len(text) >= _SHORTEST:
                found.setdefault(text, topic)
    return np.array(list(found), dtype=object), np.array(list(found.values()))
