"""Files in the SVMlight, LIBSVM and SVMlin formats, CoNLL files with columns of tokens and tags, and example texts."""

import ctypes
import gzip
import importlib.util
import inspect
import itertools
import json
import os
import re
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import column_or_1d

from fewlabel import _compat
from fewlabel._inputs import _data
from fewlabel._native import _fit, _library, _threads
from fewlabel._native._signatures import Progress

__all__ = ["dump_svmlight_file", "load_conll_file", "load_scipy_docs", "load_svmlight_file"]

_LARGEST = 2**31 - 1
_TOPICS = ("fft", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "special", "stats")
_SHORTEST = 200  # characters of a docstring that is taken
_VARYING = re.compile(r".*(?:# may vary|Use of argument\(s\)).*\n?")  # lines that differ from process to process
_ARRAYS = {
    "indptr": np.int64,
    "indices": np.int32,
    "values": np.float64,
    "labels": np.float64,
    "label_indptr": np.int64,
}
_PathLike = str | bytes | os.PathLike[Any]


def load_svmlight_file(
    path: _PathLike,
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    labels: _PathLike | None = None,
    n_jobs: int | None = None,
    dtype: Any = np.float64,
    max_expansion: int = 100,
) -> tuple[Any, Any]:
    """Read rows and labels with several threads; Ctrl-C interrupts it.

    A line is `label number:value number:value ... # comment`. The file may be plain, gzip or zstd.

    Parameters
    ----------
    path : path-like
        The file.
    n_features : int or None, default=None
        Number of features. None: the largest number in the file. A larger number in the file is an error.
    zero_based : bool, default=False
        Whether the first feature has number 0 instead of 1.
    labels : path-like or None, default=None
        Second file with one label per line, as for SVMlin; the lines of `path` then begin with the first feature.
    n_jobs : int or None, default=None
        Number of threads. None or -1: every core that the process may use.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        Type of the values.
    max_expansion : int, default=100
        Maximum expansion of a compressed file, in bytes of text per byte, beyond the first 64 MiB. Data files expand 2
        to 11 times; a file that expands much more may be designed to exhaust the memory, and is refused.

    Returns
    -------
    X : CSR matrix of shape (n_rows, n_features)
        Rows. A sparse array instead if scikit-learn (1.9 or newer) is set to `sparse_interface="sparray"`.
    y : ndarray of shape (n_rows,), float64, or list of tuple of float
        Labels; tuples if a row has none or several, separated by commas. In SVMlight and SVMlin files, 0 means
        unlabeled: use `TransductiveSVC(unlabeled=0)`.

    Raises
    ------
    ValueError
        If the file is malformed; the message names the line.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fewlabel.datasets import load_svmlight_file
    >>> path = pathlib.Path(tempfile.mkdtemp(), "rows.svm")
    >>> _ = path.write_text("+1 1:0.5 3:2\\n0 2:1\\n")
    >>> X, y = load_svmlight_file(path)
    >>> X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    >>> y
    array([1., 0.])
    """
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be float64 or float32, got {dtype!r}")
    if zero_based not in (False, True):
        raise ValueError(f"zero_based must be True or False, got {zero_based!r}")
    size = 0 if n_features is None else _whole("n_features", n_features, " or None")
    expansion = _whole("max_expansion", max_expansion)
    for file in (path, labels):
        if file is not None:
            os.stat(file)  # a missing file is a FileNotFoundError with its name
    threads, second = _threads.resolve(n_jobs), None if labels is None else os.fsencode(labels)

    def task(progress: Progress, data: ctypes.c_int64) -> None:
        settings = (int(zero_based), size, expansion, threads)
        _library.call("fewlabel_svmlight_read", os.fsencode(path), second, *settings, progress, data)

    with _fit.made(task) as data:
        return _copied(data, np.dtype(dtype))


def _whole(name: str, value: Any, other: str = "") -> int:
    """A number that the library can take."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= int(value) <= _LARGEST:
        raise ValueError(f"{name} must be an integer from 1 to {_LARGEST}{other}, got {value!r}")
    return int(value)


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


def dump_svmlight_file(X: Any, y: Any, path: _PathLike, *, zero_based: bool = False) -> None:
    """Write rows and labels, compressed if the name ends in .gz or .zst.

    Parameters
    ----------
    X : {array-like, sparse matrix or array} of shape (n_rows, n_features)
        Rows. Values are written without loss: reading returns the same float64 or float32.
    y : array-like of shape (n_rows,)
        Labels, numbers.
    path : path-like
        The file. An existing file is replaced.
    zero_based : bool, default=False
        Whether the first feature gets number 0 instead of 1.

    Raises
    ------
    ValueError
        If X or y cannot be written.
    OSError
        If the file cannot be written.
    """
    X = _data.admitted(X)
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False)
    X = X if sp.issparse(X) else sp.csr_array(X)
    _data.check_finite(X)
    labels = np.ascontiguousarray(column_or_1d(y), dtype=np.float64)
    check_consistent_length(X, labels)
    rows = _data.native(X)
    _library.call("fewlabel_svmlight_write", os.fsencode(path), rows.struct, labels, int(zero_based))


def _copied(data: int, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    report = json.loads(_library.text("fewlabel_report", data))
    indptr, indices, values, labels, label_indptr = (
        _library.array(data, name, report["arrays"][name], kind) for name, kind in _ARRAYS.items()
    )
    if report["n_values"] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    rows = sp.csr_array(
        (values.astype(dtype, copy=False), indices, indptr), shape=(report["n_rows"], report["n_features"])
    )
    return _compat.as_chosen_sparse(rows), _one_a_row(labels, label_indptr)


def _one_a_row(labels: np.ndarray, indptr: np.ndarray) -> Any:
    if len(labels) == len(indptr) - 1 and (np.diff(indptr) == 1).all():
        return labels
    return [tuple(labels[begin:end].tolist()) for begin, end in itertools.pairwise(indptr)]
