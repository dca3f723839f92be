"""Why the native library cannot be loaded, and how to fix it. The loader's own message is often misleading: for a
library built for another processor, glibc reports that the file does not exist."""

import platform
import struct
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

REINSTALL = "Install fewlabel again (pip install --force-reinstall --no-deps, in its source folder pip install -e .)."

_ELF_PROCESSORS = {3: "i386", 21: "ppc64le", 22: "s390x", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
_PROCESSORS = {"AMD64": "x86_64", "arm64": "aarch64"}  # other names of the same


def reason(path: Path) -> str:
    """What is wrong with the library in `path`, and how to fix it."""
    try:
        made_for = made_for_platform(path)
    except FileNotFoundError:
        if _is_without_library():
            return (
                "this is the wheel without it (py3-none-any), which loads models and predicts but cannot fit. Fit on "
                "Linux with glibc, macOS or Windows, and bring the model here."
            )
        return f"there is no file {path}. {REINSTALL}"
    except OSError as unreadable:
        return f"{unreadable}. Make the file readable, or install fewlabel for this user: pip install --user"
    if made_for is None:
        return f"{path} is damaged, it is not a library. {REINSTALL}"
    if not this_platform().startswith(made_for):
        return (
            f"{path} is for {made_for} and this is {this_platform()}. Install the wheel for this platform; where there "
            "is none, pip builds the library from the source archive, with Go and a C compiler."
        )
    if sys.platform == "linux" and platform.libc_ver()[0] != "glibc":
        return (
            "this system has another C library than glibc (Alpine has musl), with which libraries written in Go cannot "
            "be loaded. Fit in an image with glibc, such as Debian, Ubuntu or Fedora."
        )
    return f"{path} does not fit this system or is damaged. {REINSTALL}"


def _is_without_library() -> bool:
    """Whether the wheel that is installed is that for any platform."""
    try:
        return "Root-Is-Purelib: true" in (distribution("fewlabel").read_text("WHEEL") or "")
    except PackageNotFoundError:
        return False


def is_cut_off(path: Path) -> bool:
    """Whether a Linux library is truncated, for example after a full disk. Loading it could end the process (SIGBUS).

    The table of sections is the last thing in the file.
    """
    with open(path, "rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:5] != b"\x7fELF\x02":
            return False
        order = "<" if head[5] == 1 else ">"
        (table,), (size, entries) = struct.unpack(order + "Q", head[40:48]), struct.unpack(order + "HH", head[58:62])
        return file.seek(0, 2) < table + size * entries


def this_platform() -> str:
    """System and processor of this process, as in `made_for_platform`."""
    machine = platform.machine()
    processor = _PROCESSORS.get(machine, machine)
    if struct.calcsize("P") == 4:  # a 32-bit Python on a processor that can do more
        processor = {"x86_64": "i386", "aarch64": "arm"}.get(processor, processor)
    return f"{platform.system()} {processor}"


def made_for_platform(path: Path) -> str | None:
    """System, and on Linux the processor, that a library is built for, by its first bytes. None if it is no library."""
    with open(path, "rb") as file:
        head = file.read(64)
    if head[:4] == b"\x7fELF" and len(head) == 64:
        number = struct.unpack("<H" if head[5] == 1 else ">H", head[18:20])[0]
        return f"Linux {_ELF_PROCESSORS.get(number, f'with processor number {number}')}"
    return {b"\xcf\xfa": "Darwin", b"MZ": "Windows"}.get(head[:2])
