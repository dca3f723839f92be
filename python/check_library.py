"""Check a built library or wheel: what it exports, which glibc it needs, and that no path of this machine is in it.

    python python/check_library.py FILE [FILE ...]

FILE is a library or a wheel that holds one. Uses nm, objdump and readelf of binutils; Linux only.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The newest glibc that a wheel for all Linux distributions may ask for (2.17 is the oldest that ARM has).
GLIBC_FLOOR = (2, 17)

PREFIX = "fewlabel_"
SYSTEM_LIBRARIES = {"libc.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(library: Path) -> set[str]:
    """Names that the library offers to others."""
    return {line.split()[-1].split("@")[0] for line in _run("nm", "-D", "--defined-only", str(library)).splitlines()}


def declared(header: Path = ROOT / "include" / "fewlabel.h") -> set[str]:
    """Names of the functions that the header declares."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.DOTALL)
    return set(re.findall(rf"\b({PREFIX}\w+)\s*\(", text))


def newest_glibc(library: Path) -> tuple[int, ...]:
    """The newest glibc version that any symbol asks for."""
    versions = re.findall(r"GLIBC_(\d+(?:\.\d+)*)", _run("objdump", "-T", str(library)))
    return max((tuple(map(int, version.split("."))) for version in versions), default=(0,))


def needed(library: Path) -> set[str]:
    """Libraries that have to be there when this one is loaded."""
    return set(re.findall(r"NEEDED.*\[(.+)\]", _run("readelf", "-dW", str(library))))


def portability_faults(library: Path) -> list[str]:
    """Why the library would not load on an older Linux; empty when it would."""
    faults = []
    glibc = newest_glibc(library)
    if glibc > GLIBC_FLOOR:
        faults.append(f"needs glibc {'.'.join(map(str, glibc))}, promised is {'.'.join(map(str, GLIBC_FLOOR))}")
    if foreign := needed(library) - SYSTEM_LIBRARIES:
        faults.append(f"needs {', '.join(sorted(foreign))}")
    return faults


def symbol_faults(library: Path) -> list[str]:
    """Differences between what is exported and what the header declares."""
    have, want = exported(library), declared()
    faults = []
    if extra := have - want:
        faults.append(f"exports what the header does not declare: {', '.join(sorted(extra))}")
    if lacking := want - have:
        faults.append(f"does not export {', '.join(sorted(lacking))}")
    return faults


def path_faults(library: Path) -> list[str]:
    """Paths of the building machine left in the file."""
    content = library.read_bytes()
    paths = {str(ROOT), str(Path.home() / "go")}
    return [f"holds the path {path}" for path in sorted(paths) if path.encode() in content]


def check(library: Path) -> list[str]:
    """All faults of one library."""
    return symbol_faults(library) + portability_faults(library) + path_faults(library)


def check_wheel(wheel: Path) -> list[str]:
    """All faults of a wheel: its tag and its library."""
    faults = []
    if not re.search(r"-py3-none-(?!any)\w+\.whl$", wheel.name):
        faults.append("the tag is not py3-none-<platform>")
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as scratch:
        members = [name for name in archive.namelist() if re.fullmatch(r"fewlabel/libfewlabel\.\w+", name)]
        if len(members) != 1:
            return [*faults, f"holds {len(members)} libraries instead of one"]
        return faults + check(Path(archive.extract(members[0], scratch)))


def main() -> int:
    """Command line."""
    failed = False
    for name in sys.argv[1:]:
        path = Path(name)
        faults = check_wheel(path) if path.suffix == ".whl" else check(path)
        for fault in faults:
            print(f"{path.name}: {fault}", file=sys.stderr)
        if not faults:
            print(f"{path.name}: exports, glibc floor, needed libraries and paths are right")
        failed |= bool(faults)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
