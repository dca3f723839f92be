"""CoNLL files with columns of tokens and tags, and example texts."""

import gzip
import importlib.util
import inspect
import itertools
import os
import re
from typing import Any

import numpy as np

from fewlabel._inputs._files import regular
from fewlabel._inputs._numbers import check_text

__all__ = ["load_conll_file", "load_scipy_docs"]

_TOPICS = ("fft", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "special", "stats")
_SHORTEST = 200  # characters of a docstring that is taken
_VARYING = re.compile(r".*(?:# may vary|Use of argument\(s\)).*\n?")  # lines that differ from process to process
_CONLLU = 10  # columns, of which the first one numbers the words
_NO_WORD = re.compile(r"\d+[-.]\d+")
_COMMENT = re.compile(r"# *[^\s=][^\t=]* =(?: |$)")  # name = value
_TAG = re.compile(r"[OBIMELSU](?:-.*)?|#")

_Lines = list[tuple[int, list[str]]]  # their numbers and cells; none of a comment


def load_conll_file(path: str | os.PathLike[str], *, columns: tuple[int, ...] = (0, -1)) -> tuple[list[list[str]], ...]:
    """Read a CoNLL file: one token per line in columns, and an empty line after each sentence.

    Parameters
    ----------
    path : path-like
        The file, UTF-8, compressed by gzip if its name ends in .gz.
    columns : tuple of int, default=(0, -1)
        Columns to read, counted from 0, or from the end if negative; (1, 3): words and parts of speech of CoNLL-U.

    Returns
    -------
    sentences : list of list of str, one for each column
        By default tokens and tags, as input for `TokenVectorizer` and `SequenceSVC`.

    Raises
    ------
    ValueError
        If a line has another number of columns than the first one, there are too few, or it may be a comment.

    Notes
    -----
    Columns are separated by tabs if the file has any, otherwise by blanks. Between tabs an empty cell is the text "",
    and lines that begin with # and have no tab are comments. So are "# name = value", and lines before a sentence that
    begin with # and have no tag, if every sentence has one, or another number of columns. A line with -DOCSTART- ends a
    sentence and is skipped, as are ranges and empty nodes of CoNLL-U ("1-2", "8.1").

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fewlabel.datasets import load_conll_file
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tokens.txt")
    >>> _ = path.write_text("Juan B-PER\\nvive O\\n\\nSi O\\n")
    >>> load_conll_file(path)
    ([['Juan', 'vive'], ['Si']], [['B-PER', 'O'], ['O']])
    """
    check_text("path", path)
    opened: Any = gzip.open if str(path).endswith(".gz") else open
    with opened(regular(path), "rt", encoding="utf-8-sig") as file:  # editors of Windows begin with a mark
        lines = [line.rstrip("\n") for line in file]
    tabs = any("\t" in line for line in lines)
    needed = max(max(columns) + 1, -min(columns), len(set(columns)))
    blocks: list[_Lines] = [[]]
    for number, line in enumerate(lines, 1):
        if not line.strip(" \t") or "-DOCSTART-" in line:
            blocks.append([])
        else:
            comment = _COMMENT.match(line) or (tabs and line.startswith("#") and "\t" not in line)
            cells = line.split("\t") if tabs else re.split(" +", line.strip(" "))
            blocks[-1].append((number, [] if comment else cells))
    width, sentences = 0, list[list[list[str]]]()
    for tokens in _without_comments(blocks, tabs, str(path)):
        for number, cells in tokens:
            width = width or len(cells)
            if len(cells) != width:
                raise ValueError(f"{path}, line {number}: {len(cells)} columns, after {width} in the lines before")
            if width < needed:
                raise ValueError(f"{path}, line {number}: {width} columns, too few for columns={columns}")
        sentences.append([row for _, row in tokens if width != _CONLLU or not _NO_WORD.fullmatch(row[0])])
    return tuple([[row[k] for row in sentence] for sentence in sentences if sentence] for k in columns)


def _without_comments(blocks: list[_Lines], tabs: bool, path: str) -> list[_Lines]:
    """The lines of tokens. Comments stand before a sentence, and have no tag where tokens have theirs."""
    tops = [[*itertools.takewhile(lambda line: not line[1] or line[1][0].startswith("#"), block)] for block in blocks]
    rests = [[line for line in block[len(top) :] if line[1]] for block, top in zip(blocks, tops, strict=True)]
    width = next((len(cells) for _, cells in itertools.chain(*rests, *tops) if cells), 0)
    tags = {cells[-1] for _, cells in itertools.chain(*rests) if not cells[0].startswith("#")}

    firsts = [(top + rest)[0][1] for top, rest in zip(tops, rests, strict=True) if rest]
    all_begin = len(firsts) > 1 and all(not cells or cells[0].startswith("#") for cells in firsts)

    def is_token(cells: list[str]) -> bool:
        if len(cells) != width or width == 1:
            return len(cells) == 1 == width
        if cells[-1] in tags:
            return not cells[-1].isdecimal()
        return bool(_TAG.fullmatch(cells[-1])) and not (cells[0] == "#" and all_begin)

    every = all_begin and not any(cells and is_token(cells) for cells in firsts)
    found: list[_Lines] = []
    for top, rest in zip(tops, rests, strict=True):
        found.append([])
        for place, (number, cells) in enumerate(top + rest):
            inside, fits = place >= len(top), len(cells) == width
            if inside and (tabs or not fits or cells[0] != "#" or cells[-1].isupper()):
                found[-1].append((number, cells))
                continue
            commented = every and not inside and (not cells or cells[0] == "#" or not cells[-1].isupper())
            tagged = fits and cells[-1] in tags
            if is_token(cells) or (cells and not commented and (tabs or tagged)):
                found[-1].append((number, cells))
            elif tagged or (cells and not commented and (fits or len(cells) == 1)):
                cure = "write a comment as # name = value, or separate the columns of tokens by tabs"
                raise ValueError(f"{path}, line {number}: {' '.join(cells):.60} may be a comment or a token: {cure}")
    return found


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
