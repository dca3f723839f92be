"""The native library: find it, load it at the first call, check it and call it.

A process that was forked after its parent had loaded the library cannot use the parent's copy, because the threads of
its runtime do not exist in the child. It loads a private copy, or raises RuntimeError where that is not possible.
"""

import contextlib
import ctypes
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fewlabel._inputs import _memory, _numbers
from fewlabel._native import _loading, _signatures as c
from fewlabel._version import UNKNOWN, __version__

_FILE_NAMES = {"darwin": "libfewlabel.dylib", "win32": "libfewlabel.dll"}
PATH = Path(__file__).parents[1] / _FILE_NAMES.get(sys.platform, "libfewlabel.so")

_ERROR_SIZE = 4096  # bytes of an error text
_RESERVED = 1.9e9  # bytes of address space that Go reserves, most of which it never takes


# Arguments of the library with another name in this package, at the beginning of a message.
_IN_PYTHON = {"weights": "sample_weight", "labels": "y", "threads": "n_jobs"}

_Process = tuple[int, int]  # its id, which a child in a new namespace may share with its parent, and the forks before


class _Loaded(NamedTuple):
    library: ctypes.CDLL
    process: _Process  # the one that may use it


_loaded: _Loaded | None = None
_first_process: _Process | None = None  # the one that loaded, or began to load, the file itself
_lock = threading.Lock()
_forks = 0


def library() -> ctypes.CDLL:
    """The library of this process, loaded now if necessary."""
    global _loaded
    if _loaded is None or _loaded.process != _process():
        with _lock:
            if _loaded is None or _loaded.process != _process():
                _loaded = _Loaded(_load(), _process())
    return _loaded.library


def is_loaded() -> bool:
    return _loaded is not None and _loaded.process == _process()


def call(function: str, *arguments: Any) -> None:
    """Call a function that ends in `error, error_size`, with the addresses of arrays; raise what its status means."""
    error = ctypes.create_string_buffer(_ERROR_SIZE)
    status = getattr(library(), function)(*map(_passed, arguments), error, _ERROR_SIZE)
    if status != c.OK:
        raise _exception(status, error.value.decode("utf-8", "replace"))


def _passed(argument: Any) -> Any:
    if isinstance(argument, bytes):
        return _numbers.check_text("a text for the library", argument)
    if isinstance(argument, np.ndarray):
        return argument.ctypes.data
    return ctypes.byref(argument) if isinstance(argument, (ctypes.Structure, ctypes.c_int64)) else argument


def text(function: str, *arguments: Any) -> str:
    """The text of a function that takes `text, text_size, needed` after these arguments."""
    needed = ctypes.c_int64()
    call(function, *arguments, None, 0, needed)
    buffer = ctypes.create_string_buffer(needed.value)
    call(function, *arguments, buffer, needed.value, needed)
    return buffer.value.decode("utf-8")


@contextlib.contextmanager
def released(handle: int) -> Iterator[int]:
    """Free a handle at the end of the block; 0: there is none."""
    try:
        yield handle
    finally:
        if handle:
            call("fewlabel_free", handle)


def versions() -> tuple[str, int, str]:
    """The version of the library of this process, that of its ABI, and what it lacks."""
    return _versions(library())


def _exception(status: int, message: str) -> BaseException:
    if status in (c.BAD_ARGUMENT, c.BAD_DATA):
        return ValueError(re.sub(r"^\w+", lambda first: _IN_PYTHON.get(first[0], first[0]), message))
    if status == c.FORKED:
        return RuntimeError(f"{message} {_loading.FORK_ADVICE}")
    if (kind := {c.IO_ERROR: OSError, c.CANCELLED: KeyboardInterrupt}.get(status)) is not None:
        return kind(message)
    lacks = status == c.NO_MEMORY or "out of memory" in message or "makeslice" in message
    return (MemoryError if lacks else RuntimeError)(message)


def _load() -> ctypes.CDLL:
    global _first_process
    if (left := _memory.address_space()) < _RESERVED:
        found = f"reserves {_RESERVED / 1e9:.1f} GB of address space, and {left / 1e9:.1f} GB are left"
        raise MemoryError(f"the native library of fewlabel {found}: raise the limit (ulimit -v)")
    if _first_process not in (None, _process()):  # forked
        loaded = _loading.private_copy(PATH)
    else:
        _first_process = _process()
        loaded = _open()
    _declare(loaded, ("fewlabel_abi_version", "fewlabel_version"))
    _check_versions(loaded)
    _declare(loaded, c.SIGNATURES)
    return loaded


def _open() -> ctypes.CDLL:
    try:
        if _loading.is_cut_off(PATH):
            raise OSError("file too short")
        return ctypes.CDLL(str(PATH))  # its symbols stay local to it
    except OSError as reason:
        needs = "Fitting and saving need the library, predict does not, nor does load_model for classifiers"
        found = f"the native library of fewlabel cannot be loaded: {_loading.reason(PATH)}"
        raise RuntimeError(f"{found} ({needs}. System message: {reason})") from reason


def _declare(loaded: ctypes.CDLL, names: Iterable[str]) -> None:
    for name in names:
        if (function := getattr(loaded, name, None)) is None:
            raise RuntimeError(f"{PATH} has no function {name}: it is older. {_loading.REINSTALL}")
        function.restype, function.argtypes = c.SIGNATURES[name]


def _check_versions(loaded: ctypes.CDLL) -> None:
    version, abi, _ = _versions(loaded)
    if abi != c.ABI_VERSION:
        raise RuntimeError(f"{PATH} has ABI version {abi}, this package needs {c.ABI_VERSION}. {_loading.REINSTALL}")
    known = __version__ != UNKNOWN and "unstamped" not in version
    if known and version != __version__:
        raise RuntimeError(f"{PATH} has version {version}, this package is {__version__}. {_loading.REINSTALL}")


def _versions(loaded: ctypes.CDLL) -> tuple[str, int, str]:
    number, _, without = loaded.fewlabel_version().decode().partition(" ")
    return number, int(loaded.fewlabel_abi_version()), without


def _process() -> _Process:
    return os.getpid(), _forks


def _note_fork() -> None:
    global _lock, _forks
    _lock = threading.Lock()  # another thread of the parent may have held it at the fork
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)
