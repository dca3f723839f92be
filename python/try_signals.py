"""Run the C program of signals with the library of the installed package.

    python python/try_signals.py [FITS]

The number of fits for each signal, handler and kind of stack is 1 unless given. Needs Linux and a C compiler.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Command line."""
    if not sys.platform.startswith("linux"):
        print("try_signals: skipped, the program is for Linux")
        return 0
    from fewlabel._native._library import PATH

    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "signals"
        source = str(ROOT / "capi" / "tests" / "signals.c")
        flags = ["-std=c99", "-O1", f"-I{ROOT / 'include'}", "-pthread", f"-Wl,-rpath,{PATH.parent}"]
        subprocess.run(["cc", *flags, source, str(PATH), "-ldl", "-lm", "-o", str(program)], check=True)
        return subprocess.run([program, *(sys.argv[1:] or ["1"])], cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
