"""Use the C kit as somebody who has nothing but the archive and a C compiler.

    python python/try_c_kit.py ARCHIVE

It is unpacked into a fresh folder. The examples are built and run with make and pkg-config,
with the shared and with the static library, and the first one with a bare compiler command as docs/c.md has it. Nothing
of the project is on a path: the environment has no more than PATH and HOME. Without pkg-config that part is skipped,
visibly.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import check_library

ENVIRONMENT = {"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent", "LC_ALL": "C"}


def unpack(archive: Path, folder: Path) -> Path:
    """The folder of the kit."""
    with tarfile.open(archive) as opened:
        if hasattr(tarfile, "data_filter"):
            opened.extractall(folder, filter="data")
        else:
            opened.extractall(folder)
    (kit,) = folder.iterdir()
    return kit


def visible(library: Path) -> set[str]:
    """Names that a static library defines for others."""
    table = subprocess.run(["nm", "-g", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^[0-9a-f]+ \w (\w+)$", table, re.MULTILINE))


def file_faults(kit: Path) -> list[str]:
    """What is wrong with the libraries and the licences."""
    faults = [f"libfewlabel.so: {fault}" for fault in check_library.check(kit / "lib" / "libfewlabel.so")]
    static = kit / "lib" / "libfewlabel.a"
    if (names := visible(static)) != check_library.declared(kit / "include" / "fewlabel.h"):
        faults.append(f"libfewlabel.a does not define what the header declares, but {', '.join(sorted(names))}")
    faults += [f"libfewlabel.a: {fault}" for fault in check_library.path_faults(static)]
    faults += [f"lacks {name}" for name in ("LICENSE", "THIRD_PARTY_LICENSES.md") if not (kit / name).is_file()]
    return faults


def run(*command: str, at: Path, kit: Path) -> list[str]:
    """The fault if a command fails, with what it said."""
    done = subprocess.run(command, cwd=at, env=ENVIRONMENT | {"KIT": str(kit)}, capture_output=True, text=True)
    return [f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}"] if done.returncode else []


def needs_libfewlabel(program: Path) -> bool:
    """True if the program loads the shared library."""
    return "libfewlabel.so" in check_library.needed(program)


def with_make(kit: Path) -> list[str]:
    """Faults of building and running all examples by their Makefile."""
    if not shutil.which("pkg-config") or not shutil.which("make"):
        print("SKIPPED: no pkg-config or make here, so the examples' Makefile was not tried")
        return []
    faults = []
    examples = kit / "examples" / "c"
    for link in ("shared", "static"):
        found = run("make", "clean", "test", f"LINK={link}", at=examples, kit=kit)
        if not found and needs_libfewlabel(examples / "train") is (link == "static"):
            found = [f"LINK={link} makes programs of the other kind"]
        faults += found
    path = 'export PKG_CONFIG_PATH="$KIT/lib/pkgconfig"'
    whole = "cc -static train.c $(pkg-config --cflags --static --libs fewlabel) -lm -o whole && ./whole"
    return faults + run("sh", "-c", f"{path}; {whole}", at=examples, kit=kit)


def with_a_compiler(kit: Path) -> list[str]:
    """Faults of the two commands in docs/c.md that need a C compiler only."""
    manual = (kit / "docs" / "c.md").read_text(encoding="utf-8")
    commands = re.findall(r'^cc -I"\$KIT/include" program\.c.*$', manual, re.MULTILINE)
    faults = [] if len(commands) == 2 else ["docs/c.md has not two commands without pkg-config"]
    for command in commands:
        bare = command.replace("program.c", "train.c -o bare")
        faults += run("sh", "-c", f"{bare} && ./bare", at=kit / "examples" / "c", kit=kit)
    return faults


def main() -> int:
    """Command line."""
    archive = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="fewlabel-c-") as scratch:
        kit = unpack(archive, Path(scratch))
        faults = file_faults(kit) + with_a_compiler(kit) + with_make(kit)
    right = "unpacked elsewhere, the examples were built and run with the shared and the static library"
    return check_library.report(archive, faults, right)


if __name__ == "__main__":
    sys.exit(main())
