"""Check a built library: what it exports, which glibc it needs, that it is stripped and has no path of this machine.

    python python/check_library.py LIBRARY [LIBRARY ...]

A library for another processor, for Windows or macOS can be checked as well. Uses readelf and objdump of binutils; for
macOS llvm-nm and llvm-objdump.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The newest glibc that a wheel for all Linux distributions may ask for (2.17 is the oldest that ARM has).
GLIBC_FLOOR = (2, 17)

PREFIX = "fewlabel_"
SYSTEM_LIBRARIES = {
    *("libc.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"),
    *("KERNEL32.dll", "msvcrt.dll"),
    *("/usr/lib/libSystem.B.dylib", "/usr/lib/libresolv.9.dylib"),
    "/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation",
}


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def is_dll(library: Path) -> bool:
    """True for a library of Windows."""
    return library.suffix == ".dll"


def is_macos(library: Path) -> bool:
    """True for a library of macOS."""
    return library.suffix == ".dylib"


def exported(library: Path) -> set[str]:
    """Names that the library offers to others."""
    if is_dll(library):
        table = _run("objdump", "-p", str(library)).partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
        return {line.split()[-1] for line in table.splitlines() if line.strip()}
    if is_macos(library):
        names = _run("llvm-nm", "--extern-only", "--defined-only", "--just-symbol-name", str(library)).split()
        return {name.removeprefix("_") for name in names}
    symbols = [line.split() for line in _run("readelf", "-W", "--dyn-syms", str(library)).splitlines()]
    # number: value size type binding visibility section name; a section UND is that of a symbol from elsewhere
    return {
        fields[7].split("@")[0]
        for fields in symbols
        if len(fields) >= 8 and fields[4] in ("GLOBAL", "WEAK") and fields[6] != "UND"
    }


def declared(header: Path = ROOT / "include" / "fewlabel.h") -> set[str]:
    """Names of the functions that the header declares."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.DOTALL)
    return set(re.findall(rf"\b({PREFIX}\w+)\s*\(", text))


def newest_glibc(library: Path) -> tuple[int, ...]:
    """The newest glibc version that any symbol asks for."""
    versions = re.findall(r"GLIBC_(\d+(?:\.\d+)*)", _run("readelf", "-WV", str(library)))
    return max((tuple(map(int, version.split("."))) for version in versions), default=(0,))


def needed(library: Path) -> set[str]:
    """Libraries that have to be there when this one is loaded."""
    if is_dll(library):
        return set(re.findall(r"DLL Name: (.+)", _run("objdump", "-p", str(library))))
    if is_macos(library):
        lines = _run("llvm-objdump", "--macho", "--dylibs-used", str(library)).splitlines()[1:]
        return {line.split()[0] for line in lines} - {f"@rpath/{library.name}"}
    return set(re.findall(r"NEEDED.*\[(.+)\]", _run("readelf", "-dW", str(library))))


def portability_faults(library: Path) -> list[str]:
    """Why the library would not load on an older Linux; empty when it would."""
    faults = []
    glibc = (0,) if is_dll(library) or is_macos(library) else newest_glibc(library)
    if glibc > GLIBC_FLOOR:
        faults.append(f"needs glibc {'.'.join(map(str, glibc))}, promised is {'.'.join(map(str, GLIBC_FLOOR))}")
    if foreign := needed(library) - SYSTEM_LIBRARIES:
        faults.append(f"needs {', '.join(sorted(foreign))}")
    return faults


def symbol_faults(library: Path) -> list[str]:
    """Differences between what is exported and what the header declares."""
    have, want = exported(library), declared()
    if is_dll(library) or is_macos(library):  # Go's own part is exported as well, see build_library.link_flags
        have = {name for name in have if name.startswith(PREFIX)}
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


def strip_faults(library: Path) -> list[str]:
    """Symbol tables and debug information that no user needs."""
    if is_macos(library):
        headers = _run("llvm-objdump", "--section-headers", str(library))
    elif is_dll(library):
        headers = _run("objdump", "-hw", str(library))
    else:
        headers = _run("readelf", "-WS", str(library))
    found = sorted(set(re.findall(r"\s(\.symtab|\.z?debug_\w+|__z?debug_\w+)\s", headers)))
    return [f"is not stripped: it has {', '.join(found)}"] if found else []


def binding_faults(library: Path) -> list[str]:
    """Functions of other libraries that are looked up as they are called, by a table that stays writable."""
    if is_dll(library) or is_macos(library) or "NOW" in _run("readelf", "-dW", str(library)):
        return []
    return ["is not linked with -z now"]


def check(library: Path) -> list[str]:
    """All faults of one library."""
    faults = symbol_faults(library) + portability_faults(library) + strip_faults(library)
    return faults + binding_faults(library) + path_faults(library)


def report(path: Path, faults: list[str], right: str) -> int:
    """Print the faults of a file, or that it is right; the status that the program ends with."""
    for fault in faults:
        print(f"{path.name}: {fault}", file=sys.stderr)
    if not faults:
        print(f"{path.name}: {right}")
    return int(bool(faults))


def main() -> int:
    """Command line."""
    libraries = [Path(name) for name in sys.argv[1:]]
    right = "exports, glibc floor, needed libraries, stripping, binding and paths are right"
    return max([report(library, check(library), right) for library in libraries], default=2)


if __name__ == "__main__":
    sys.exit(main())
