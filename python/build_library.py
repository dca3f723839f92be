"""Build the native library: the one place that knows the `go build` command.

    python python/build_library.py [--output FOLDER] [--tags TAGS]

The build hook of the Python package and the Makefile both come here. The library goes to python/fewlabel, where the
package looks for it. Only the standard library of Python is used.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import check_library
from check_library import GLIBC_FLOOR, ROOT

PACKAGE = ROOT / "python" / "fewlabel"


class BuildError(Exception):
    """The library cannot be built; the message says what to do."""


def library_name() -> str:
    """File name of the library on this platform."""
    return {"darwin": "libfewlabel.dylib", "win32": "libfewlabel.dll"}.get(sys.platform, "libfewlabel.so")


def project_version(root: Path = ROOT) -> str:
    """The version in pyproject.toml (read without a TOML parser: Python 3.10 has none)."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^version = "([^"]+)"', text, re.MULTILINE)
    if not found:
        raise BuildError('pyproject.toml has no line: version = "..."')
    return found[1]


def required_go(root: Path = ROOT) -> tuple[int, ...]:
    """The oldest Go that go.mod admits."""
    found = re.search(r"^go ([\d.]+)", (root / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
    if not found:
        raise BuildError("go.mod has no go line")
    return _numbers(found[1])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _go(*arguments: str) -> str:
    """Output of a short go command run in the project."""
    return subprocess.run(["go", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def missing_tools() -> list[str]:
    """What has to be installed before the library can be built, one sentence part each."""
    missing = []
    wanted = required_go()
    compiler = os.environ.get("CC", "")
    if not shutil.which("go"):
        missing.append(f"Go {'.'.join(map(str, wanted))} or newer (no command 'go' on PATH)")
    else:
        try:
            have = _go("env", "GOVERSION")
            compiler = _go("env", "CC")
        except subprocess.CalledProcessError as error:
            # An old Go reads go.mod, finds it too new for itself and may not fetch another: its own words say so.
            missing.append(f"Go {'.'.join(map(str, wanted))} or newer ('go env' says: {error.stderr.strip()})")
        else:
            number = re.match(r"go(\d+(?:\.\d+)*)", have)
            if number and _numbers(number[1]) < wanted:
                missing.append(f"Go {'.'.join(map(str, wanted))} or newer (found {have})")
    program = shlex.split(compiler)[0] if compiler else ""
    if program and not shutil.which(program):
        missing.append(f"a C compiler (no command '{program}' on PATH)")
    elif not program and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        missing.append("a C compiler (no command 'cc', 'gcc' or 'clang' on PATH)")
    return missing


def check_tools() -> None:
    """Raise BuildError that names every missing tool."""
    missing = missing_tools()
    if not missing:
        return
    message = "fewlabel compiles its library when it is installed from source; missing for that: " + "; ".join(missing)
    if "C compiler" in message:
        message += (
            " (Debian, Ubuntu: apt-get install gcc libc6-dev; Fedora: dnf install gcc; macOS: xcode-select --install)"
        )
    raise BuildError(message)


def is_glibc() -> bool:
    """True on Linux with the GNU C library."""
    return sys.platform.startswith("linux") and platform.libc_ver()[0] == "glibc"


def link_flags() -> list[str]:
    """Flags for the system's linker: export what include/fewlabel.h declares and nothing else."""
    if sys.platform == "darwin":
        return ["-Wl,-exported_symbol,_fewlabel_*", "-Wl,-install_name,@rpath/libfewlabel.dylib"]
    if sys.platform == "win32":
        return []  # a DLL exports only what is marked
    # -Bsymbolic (calls inside the library stay inside) is passed by Go itself.
    return [f"-Wl,--version-script={ROOT / 'capi' / 'exports.map'}", "-Wl,-soname,libfewlabel.so"]


def build_environment() -> dict[str, str]:
    """Environment for `go build`; on glibc, symbol versions old enough for any distribution in use."""
    environment = {**os.environ, "CGO_ENABLED": "1"}
    if is_glibc():
        header = ROOT / "capi" / "symver.h"
        environment["CGO_CFLAGS"] = f'{environment.get("CGO_CFLAGS", "-O2 -g")} -include "{header}"'
        # Before glibc 2.34 the thread functions lived in libpthread; newer systems keep it as an empty file.
        environment["CGO_LDFLAGS"] = (
            f"{environment.get('CGO_LDFLAGS', '-O2 -g')} -Wl,--push-state,--no-as-needed -l:libpthread.so.0"
            " -Wl,--pop-state"
        )
    return environment


def build_command(output: Path, version: str, tags: str = "") -> list[str]:
    """The `go build` command that writes the library to `output`."""
    external = " ".join(f'"{flag}"' for flag in link_flags())  # in quotes: paths may have spaces
    link = f"-s -w -buildid= -X main.version={version}" + (f" '-extldflags={external}'" if external else "")
    fixed = ["-buildmode=c-shared", "-buildvcs=false", "-trimpath"]
    return ["go", "build", *fixed, "-tags", tags, "-ldflags", link, "-o", str(output), "./capi"]


def build(folder: Path = PACKAGE, version: str | None = None, tags: str = "") -> Path:
    """Build the library into `folder` and return its path.

    The file is replaced in one step, so a process that has the old one loaded is not disturbed.
    """
    check_tools()
    target = folder / library_name()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".build-") as scratch:
        built = Path(scratch) / library_name()
        command = build_command(built, version or project_version(), tags)
        if subprocess.run(command, cwd=ROOT, env=build_environment()).returncode:
            raise BuildError(f"fewlabel: this command failed, see above: {shlex.join(command)}")
        built.replace(target)
    return target


def wheel_platform(library: Path) -> str:
    """The platform part of the wheel's tag.

    On glibc it is manylinux with the floor that the library keeps, or the plain platform where it does not (or where
    the tools that tell are missing). Such a wheel is never offered to musl, whose loader refuses the library.
    """
    plain = re.sub(r"[-.]", "_", sysconfig.get_platform())
    if not is_glibc():
        return plain
    try:
        keeps_floor = not check_library.portability_faults(library)
    except FileNotFoundError:
        return plain
    return f"manylinux_{GLIBC_FLOOR[0]}_{GLIBC_FLOOR[1]}_{platform.machine()}" if keeps_floor else plain


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Build the native library of fewlabel.")
    parser.add_argument("--output", type=Path, default=PACKAGE, metavar="FOLDER", help="default: the Python package")
    parser.add_argument("--tags", default="", help="Go build tags, for libraries that tests need")
    parser.add_argument("--check-tools", action="store_true", help="only tell whether Go and a C compiler are there")
    chosen = parser.parse_args()
    try:
        if chosen.check_tools:
            check_tools()
        else:
            print(build(chosen.output.resolve(), tags=chosen.tags))
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
