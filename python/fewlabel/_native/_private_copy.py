"""A second copy of the native library for a process that was forked after its parent had loaded the first.

The threads of the parent's copy do not exist in the child, so the child cannot use it. The loader identifies libraries
by name and file: only another file gives a second copy with its own runtime. It costs about as much as the first load.
"""

import ctypes
import os
import shutil
import sys
import tempfile
from pathlib import Path

FORK_ADVICE = "Start workers with multiprocessing's 'spawn' or 'forkserver', or joblib's 'loky', instead of 'fork'."


def load(path: Path) -> ctypes.CDLL:
    """Load a copy of the library at `path`: from a file in memory, or from a temporary file where there are none."""
    reasons = []
    for way in (_from_memory, _from_temporary_file):
        try:
            return way(path)
        except OSError as reason:
            reasons.append(f"{way.__name__.removeprefix('_').replace('_', ' ')}: {reason}")
    raise RuntimeError(
        "this process was forked after its parent had loaded fewlabel, and a private copy of the library cannot be "
        f"loaded here ({'; '.join(reasons)}). {FORK_ADVICE}"
    )


def _from_memory(path: Path) -> ctypes.CDLL:
    """The name contains the process id: with "self" the loader would mistake it for the copy of the parent. The id is
    that of /proc, which can differ from getpid in a namespace."""
    if not hasattr(os, "memfd_create"):
        raise OSError(f"{sys.platform} has no files in memory")
    descriptor = os.memfd_create("libfewlabel")
    try:
        _copy(path, descriptor)
        return ctypes.CDLL(f"/proc/{os.readlink('/proc/self')}/fd/{descriptor}")
    finally:
        os.close(descriptor)


def _from_temporary_file(path: Path) -> ctypes.CDLL:
    """The file is removed at once; the loaded library remains mapped."""
    descriptor, name = tempfile.mkstemp(prefix="fewlabel-", suffix=path.suffix)
    try:
        _copy(path, descriptor)
        return ctypes.CDLL(name)
    finally:
        os.close(descriptor)
        os.unlink(name)


def _copy(path: Path, descriptor: int) -> None:
    with open(path, "rb") as source, open(descriptor, "wb", closefd=False) as copy:
        shutil.copyfileobj(source, copy, 1 << 20)
