"""CoNLL files with columns of tokens and tags, and example texts."""

import gzip
import importlib.util
import inspect
import os
import re
import zlib
from typing import Any

import numpy as np

from fewlabel._inputs._numbers import check_flag, check_text, has_entries, regular

__all__ = ["load_conll_file", "load_scipy_docs"]

_TOPICS = ("fft", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "special", "stats")
_SHORTEST = 200  # characters of a docstring that is taken
_VARYING = re.compile(r".*(?:# may vary|Use of argument\(s\)).*\n?")  # lines that differ from process to process
_CONLLU = 10  # columns, of which the first one numbers the words
_NO_WORD = re.compile(r"\d+[-.]\d+")
_COMMENT = re.compile(r"# *[^\s=][^\t=]* =(?: |$)")  # name = value
_TAG = re.compile(r"[BIMELSU]-.*|O|#")


def load_conll_file(
    path: str | os.PathLike[str], *, columns: tuple[int, ...] = (0, -1), comments: bool | None = None
) -> tuple[list[list[str]], ...]:
    """Read a CoNLL file: one token per line in columns, and an empty line after each sentence.

    Parameters
    ----------
    path : path-like
        The file, UTF-8, compressed by gzip if its name ends in .gz.
    columns : tuple of int, default=(0, -1)
        Columns to read, counted from 0, or from the end if negative; (1, 3): words and parts of speech of CoNLL-U.
    comments : bool or None, default=None
        Whether lines that begin with # are comments. None: those of the form "# name = value", those without a tab in a
        file that has tabs, and those of two or more words, but not as many as there are columns; a ValueError for
        others whose last word is no tag of the other lines, nor of a form such as O or B-PER.

    Returns
    -------
    sentences : list of list of str, one for each column
        By default tokens and tags, as input for `TokenVectorizer` and `SequenceSVC`.

    Notes
    -----
    Columns are separated by tabs if the file has any, otherwise by blanks. Between tabs an empty cell is the text "". A
    line with -DOCSTART- ends a sentence and is skipped, as are ranges and empty nodes of CoNLL-U ("1-2", "8.1").
    """
    check_text("path", path)
    if not (isinstance(columns, list | tuple) and columns and all(type(k) is int for k in columns)):
        raise ValueError(f"columns must be a tuple of integers, such as (0, -1), got {columns!r:.60}")
    if comments is not None:
        comments = check_flag("comments", comments)
    opened: Any = gzip.open if str(path).endswith(".gz") else open
    try:
        with opened(regular(path), "rt", encoding="utf-8-sig") as file:  # editors of Windows begin with a mark
            lines = [line.rstrip("\n") for line in file]
    except UnicodeDecodeError as reason:
        reason.reason += f", in {os.fsdecode(path)}"
        raise
    except (EOFError, gzip.BadGzipFile, zlib.error) as reason:
        raise ValueError(f"{os.fsdecode(path)} is damaged: {reason}") from reason
    tabs = any("\t" in line for line in lines)
    split = [line.split("\t") if tabs else re.split(" +", line.strip(" ")) for line in lines]
    ends = [not line.strip(" \t") or "-DOCSTART-" in line for line in lines]
    known = [cells for cells, line, end in zip(split, lines, ends, strict=True) if not (end or line.startswith("#"))]
    needed, width = max(max(columns) + 1, -min(columns), len(set(columns))), len(known[0]) if known else 0
    tags, sentences = {cells[-1] for cells in known}, list[list[list[str]]]([[]])
    for number, (line, cells, end) in enumerate(zip(lines, split, ends, strict=True), 1):
        if end:
            sentences.append([])
            continue
        if line.startswith("#"):
            commented = comments if comments is not None else _is_comment(line, cells, width or len(cells), tags, tabs)
            if commented is None:
                found = f"{line:.60} may be a comment or a token: pass comments=True or comments=False"
                raise ValueError(f"{path}, line {number}: {found}")
            if commented:
                continue
        width = width or len(cells)
        if len(cells) != width:
            raise ValueError(f"{path}, line {number}: {len(cells)} columns, where others have {width}")
        if width < needed:
            raise ValueError(f"{path}, line {number}: {width} columns, too few for columns={columns}")
        if width != _CONLLU or not _NO_WORD.fullmatch(cells[0]):
            sentences[-1].append(cells)
    return tuple([[row[k] for row in sentence] for sentence in sentences if sentence] for k in columns)


def _is_comment(line: str, cells: list[str], width: int, tags: set[str], tabs: bool) -> bool | None:
    """Whether a line that begins with # is no token; None: it cannot be told."""
    if _COMMENT.match(line) or (tabs and "\t" not in line):
        return True
    if len(cells) != width:
        return len(cells) > 1 or None
    fits = _TAG.fullmatch(cells[-1]) or (cells[-1] in tags and not cells[-1].isdecimal())
    return False if fits or width == 1 or (tabs and " " not in cells[0]) else None


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
    chosen: Any = topics
    for topic in chosen if has_entries(chosen) else (chosen,):
        if not re.fullmatch(r"\w+", str(topic)) or importlib.util.find_spec(f"scipy.{topic}") is None:
            raise ValueError(f"topics must be subpackages of SciPy, such as ('signal', 'stats'), got {topic!r:.60}")
        module = importlib.import_module(f"scipy.{topic}")
        for name in sorted(module.__all__):
            member = getattr(module, name)
            text = "" if inspect.ismodule(member) else _VARYING.sub("", inspect.getdoc(member) or "")
            if len(text) >= _SHORTEST:
                found.setdefault(text, topic)
    return np.array(list(found), dtype=object), np.array(list(found.values()))
