"""CoNLL files with columns of tokens and tags, and example texts."""

import importlib.util
import inspect
import os
import pathlib
import re
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np

__all__ = ["load_conll_file", "load_scipy_docs"]

_TOPICS = ("fft", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "special", "stats")
_SHORTEST = 200  # characters of a docstring that is taken
_VARYING = re.compile(r".*(?:# may vary|Use of argument\(s\)).*\n?")  # lines that differ from process to process
_PathLike = str | bytes | os.PathLike[Any]
_Block = list[tuple[int, str]]
_CONLLU = 10  # columns
_COMPRESSED = {rb"\x1f\x8b": "gzip", rb"BZh[1-9](1AY&SY|\x17rE8P\x90)": "bz2", rb"\xfd7zXZ\x00": "lzma"}  # first bytes


def load_conll_file(path: _PathLike, *, columns: tuple[int, ...] = (0, -1)) -> tuple[list[list[str]], ...]:
    """Read a CoNLL file: one token per line in columns, and an empty line after each sentence.

    Parameters
    ----------
    path : path-like
        The file, UTF-8; plain, or compressed by gzip, bzip2 or xz, whatever its name.
    columns : tuple of int, default=(0, -1)
        Columns to read, counted from 0, or from the end if negative; (1, 3): words and parts of speech of CoNLL-U.

    Returns
    -------
    sentences : list of list of str, one for each column
        By default tokens and tags, as input for `TokenVectorizer` and `SequenceSVC`.

    Notes
    -----
    The columns of a sentence are separated by tabs if one of its lines has a tab, otherwise by blanks. Between tabs an
    empty cell is the text "". A line with -DOCSTART- ends a sentence and is skipped, as are comments, which begin with
    # and stand before the tokens, and ranges and empty nodes of CoNLL-U ("1-2", "8.1").

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fewlabel.datasets import load_conll_file
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tokens.txt")
    >>> _ = path.write_text("Juan B-PER\\nvive O\\n\\nSi O\\n")
    >>> load_conll_file(path)
    ([['Juan', 'vive'], ['Si']], [['B-PER', 'O'], ['O']])
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise TypeError(f"path must be the path of a file, got {type(path).__name__}")
    if not isinstance(columns, tuple | list) or not all(isinstance(k, Integral) for k in columns):
        raise TypeError(f"columns must be a tuple of integers, counted from 0, got {columns!r}")
    name = os.fsdecode(path)
    blocks = list(_blocks(_lines(name)))
    first = next((line for block in blocks for _, line in block if not line.startswith("#")), "")
    sentences: list[list[list[str]]] = []
    for block in blocks:
        rows = _rows(name, block, first, columns)
        if rows and len(rows[0]) != len((sentences or [rows])[0][0]) and min(columns) < 0:
            found = f"{len(rows[0])} columns, after {len(sentences[0][0])} in other sentences"
            raise ValueError(f"{name}, line {block[-1][0]}: {found}, so columns={columns} must count from 0")
        sentences += [rows] if rows else []
    return tuple([[row[k] for row in sentence] for sentence in sentences] for k in columns)


def _lines(name: str) -> list[str]:
    content = pathlib.Path(name).read_bytes()
    try:
        for module in [module for start, module in _COMPRESSED.items() if re.match(start, content)]:
            content = importlib.import_module(module).decompress(content)
        lines = content.decode("utf-8-sig").split("\n")  # editors of Windows begin with a mark
    except UnicodeDecodeError as reason:
        number = 1 + content.count(b"\n", 0, reason.start)
        hint = "unpack it first if it is an archive"
        raise ValueError(f"{name}, line {number}: not UTF-8 ({reason}); {hint}") from reason
    except Exception as reason:  # decompressors have several
        raise ValueError(f"{name} cannot be read: {reason}") from reason
    lines = [line.removesuffix("\r") for line in lines]
    for number in [number for number, line in enumerate(lines, 1) if "\r" in line]:
        raise ValueError(f"{name}, line {number}: lines end in a carriage return alone; convert them to newlines")
    return lines


def _blocks(lines: list[str]) -> Iterator[_Block]:
    """The lines of each sentence, with their numbers."""
    block: _Block = []
    for number, line in enumerate([*lines, ""], 1):
        if line.strip(" ") and line.strip("\t") and "-DOCSTART-" not in line:
            block.append((number, line))
        elif block:
            yield block
            block = []


def _rows(name: str, block: _Block, first: str, columns: Sequence[int]) -> list[list[str]]:
    """The cells of the tokens of a sentence; `first` is a line of the file that is no comment."""
    others = [line for _, line in block if not line.startswith("#")] or [first or block[0][1]]
    tabs = any("\t" in line for line in others)
    width, rows = len(_cells(others[0], tabs)), list[list[str]]()
    places = {k % width for k in columns if -width <= k < width}
    if len(places) < len(set(columns)):
        raise ValueError(f"{name}, line {block[0][0]}: {width} columns, too few for columns={columns}")
    for number, line in block:
        cells = _cells(line, tabs)
        if len(cells) != width and line.startswith("#") and not rows:
            continue  # a comment
        if len(cells) != width:
            hint = "; comments must stand before a sentence" if line.startswith("#") else ""
            raise ValueError(f"{name}, line {number}: {len(cells)} columns, after {width} in the lines before{hint}")
        rows.append(cells)
    return _words(rows) if width == _CONLLU or 0 not in places else rows


def _cells(line: str, tabs: bool) -> list[str]:
    return line.split("\t") if tabs or "\t" in line else re.split(" +", line.strip(" "))


def _words(rows: list[list[str]]) -> list[list[str]]:
    """Without ranges, which precede their words, and empty nodes, which follow one, if column 0 numbers the words."""
    words: list[list[str]] = []
    for cells in rows:
        found = re.fullmatch(r"(\d+)([-.]\d+)?", cells[0])
        if not found or int(found[1]) != len(words) + (not (found[2] or "").startswith(".")):
            return rows
        words += [] if found[2] else [cells]
    return words


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
    """
    found: dict[str, str] = {}
    for topic in (topics,) if isinstance(topics, str) else topics:
        if importlib.util.find_spec(f"scipy.{topic}") is None:
            raise ValueError(f"topics must be subpackages of SciPy, such as ('signal', 'stats'), got {topic!r}")
        module = importlib.import_module(f"scipy.{topic}")
        for name in sorted(module.__all__):
            member = getattr(module, name)
            text = "" if inspect.ismodule(member) else _VARYING.sub("", inspect.getdoc(member) or "")
            if len(text) >= _SHORTEST:
                found.setdefault(text, topic)
    return np.array(list(found), dtype=object), np.array(list(found.values()))
