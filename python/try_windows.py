"""Run the C programs with the library for Windows, under Wine.

    python python/try_windows.py WHEEL

The library is that of the wheel. The examples and tests that need nothing of POSIX are compiled for Windows and run,
each in a folder of its own. Uses mingw-w64 and Wine (Debian: gcc-mingw-w64-x86-64 wine64).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from build_library import OTHERS
from check_library import ROOT

COMPILER = OTHERS["windows"].compiler
FLAGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-static", f"-I{ROOT / 'include'}")
POSIX = re.compile(r"^#include <(sys/|dlfcn|sched)", re.MULTILINE)
LONGEST = 600  # seconds of a program

# Go takes random numbers from this function of Windows, which Wine has from version 9 on.
RANDOM = """#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T n) { return SystemFunction036(data, (ULONG)n); }
"""


def wine() -> str:
    """The command; Debian has its Wine for 64 bits in a folder of its own."""
    found = shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine")
    if not found or not shutil.which(COMPILER):
        sys.exit("try_windows: needs wine64 and mingw-w64 (Debian: apt-get install wine64 gcc-mingw-w64-x86-64)")
    return found


def prepare(command: str, environment: dict[str, str], folder: Path) -> None:
    """Make the Windows of `environment`, and add what an old Wine lacks."""
    subprocess.run([command, "wineboot", "--init"], env=environment, capture_output=True, check=True)
    library = Path(environment["WINEPREFIX"]) / "drive_c" / "windows" / "system32" / "bcryptprimitives.dll"
    if not library.exists():
        source = folder / "random.c"
        source.write_text(RANDOM)
        subprocess.run([COMPILER, "-shared", source, "-o", library, "-ladvapi32"], check=True)
        print("this Wine has no bcryptprimitives.dll; it gets one that asks advapi32")


def programs() -> list[Path]:
    """Those that can be compiled without POSIX."""
    sources = sorted([*(ROOT / "examples" / "c").glob("*.c"), *(ROOT / "capi" / "tests").glob("*.c")])
    return [source for source in sources if not POSIX.search(source.read_text(encoding="utf-8"))]


def fault(source: Path, library: Path, command: str, environment: dict[str, str]) -> str:
    """Compile and run one; what it said if it failed, else nothing."""
    folder = library.parent / source.stem
    folder.mkdir()
    shutil.copy(library, folder)
    program = folder / f"{source.stem}.exe"
    for step in ([COMPILER, *FLAGS, source, library, "-o", program, "-pthread", "-lm"], [command, program]):
        done = subprocess.run(step, cwd=folder, env=environment, capture_output=True, text=True, timeout=LONGEST)
        if done.returncode:
            return f"{source.name} failed:\n{done.stdout}{done.stderr}"
    print(f"{source.name}: {(done.stdout.strip().splitlines() or ['ended well'])[-1]}")
    return ""


def main() -> int:
    """Command line."""
    command = wine()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with zipfile.ZipFile(sys.argv[1]) as archive:
            library = Path(archive.extract("fewlabel/libfewlabel.dll", folder))
        environment = {**os.environ, "WINEPREFIX": str(folder / "wine"), "WINEDEBUG": "-all"}
        prepare(command, environment, folder)
        faults = [text for source in programs() if (text := fault(source, library, command, environment))]
        subprocess.run([shutil.which("wineserver", path="/usr/lib/wine") or "wineserver", "-k"], env=environment)
    print("\n".join(faults), file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
