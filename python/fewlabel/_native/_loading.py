"""Loading the library file: what is wrong where it cannot be loaded, and a second copy for a forked process.

For a library built for another processor, glibc reports that the file does not exist. The threads of the parent's copy
do not exist in a forked child: it needs another file, by which the loader identifies libraries, with its own runtime.
"""

import ctypes
import os
import platform
import shutil
import struct
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

REINSTALL = "Install fewlabel again (pip install --force-reinstall --no-deps, in its source folder pip install -e .)."
FORK_ADVICE = "Start workers with multiprocessing's 'spawn' or 'forkserver', or joblib's 'loky', instead of 'fork'."


def reason(path: Path) -> str:
    """What is wrong with the library in `path`, and how to fix it."""
    if not path.exists():
        if _is_without_library():
            can = "this is the wheel without it (py3-none-any), which loads models and predicts but cannot fit"
            return f"{can}. Fit on Linux with glibc, macOS or Windows, and bring the model here."
        return f"there is no file {path}. {REINSTALL}"
    if sys.platform == "linux" and platform.libc_ver()[0] != "glibc":
        return "this system has another C library than glibc (Alpine has musl): fit in an image such as Debian."
    found = f"damaged, not readable for this user, or for another system than {platform.system()} {platform.machine()}"
    builds = "pip builds the library from the source archive, with Go and a C compiler"
    return f"{path} is {found}. {REINSTALL} Where there is no wheel for this system, {builds}."


def _is_without_library() -> bool:
    """Whether the wheel that is installed is that for any platform."""
    try:
        return "Root-Is-Purelib: true" in (distribution("fewlabel").read_text("WHEEL") or "")
    except PackageNotFoundError:
        return False


def is_cut_off(path: Path) -> bool:
    """Whether a Linux library is truncated, as after a full disk: loading it could end the process (SIGBUS)."""
    with open(path, "rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:5] != b"\x7fELF\x02":
            return False
        order = "<" if head[5] == 1 else ">"
        (table,), (size, entries) = struct.unpack(order + "Q", head[40:48]), struct.unpack(order + "HH", head[58:62])
        return file.seek(0, 2) < table + size * entries  # the last thing in the file


# ------------------------------------------------------------------ a copy for a forked process
def private_copy(path: Path) -> ctypes.CDLL:
    """Load a copy of the library at `path`: from a file in memory, or from a temporary file where there are none."""
    reasons = []
    for way in (_from_memory, _from_temporary_file):
        try:
            return way(path)
        except OSError as reason:
            reasons.append(f"{way.__name__.removeprefix('_').replace('_', ' ')}: {reason}")
    found = f"a private copy of the library cannot be loaded here ({'; '.join(reasons)})"
    raise RuntimeError(f"this process was forked after its parent had loaded fewlabel, and {found}. {FORK_ADVICE}")


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
