"""Build the native library: the one place that knows the `go build` command.

    python python/build_library.py [--target NAME] [--output FOLDER] [--tags TAGS]

The build hook of the Python package and the Makefile both come here. The library goes to python/fewlabel, where the
package looks for it; one for another machine goes to a folder that has to be named. Only the standard library of Python
is used.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
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
from typing import NamedTuple

import check_library
import signal_masks
from check_library import GLIBC_FLOOR, ROOT

PACKAGE = ROOT / "python" / "fewlabel"


class BuildError(Exception):
    """The library cannot be built; the message says what to do."""


class Target(NamedTuple):
    """A kind of machine that the library is built for."""

    system: str  # in Go's words: linux, darwin, windows
    platform: str = ""  # in the words of wheel tags; empty: that of the machine that builds
    processor: str = ""  # in Go's words; empty: the one that builds
    compiler: str = ""  # empty: the C compiler that Go chooses
    packages: str = ""  # what to install for this compiler

    @property
    def library(self) -> str:
        """File name of the library."""
        return {"darwin": "libfewlabel.dylib", "windows": "libfewlabel.dll"}.get(self.system, "libfewlabel.so")

    @property
    def is_glibc(self) -> bool:
        """True for Linux with the GNU C library, which is what Debian's cross compilers compile for."""
        return self.system == "linux" and bool(self.compiler or platform.libc_ver()[0] == "glibc")


HERE = Target({"darwin": "darwin", "win32": "windows"}.get(sys.platform, "linux"))
ZIG = f"{shlex.quote(sys.executable)} -m ziglang cc -target"  # Clang with the headers of macOS 12, Go's oldest
OTHERS = {
    "aarch64": Target(
        *("linux", "linux_aarch64", "arm64", "aarch64-linux-gnu-gcc"),
        "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    ),
    "windows": Target(
        "windows", "win_amd64", "amd64", "x86_64-w64-mingw32-gcc", "apt-get install gcc-mingw-w64-x86-64"
    ),
    "macos-arm64": Target("darwin", "macosx_12_0_arm64", "arm64", f"{ZIG} aarch64-macos.12.0", "pip install ziglang"),
    "macos-x86_64": Target("darwin", "macosx_12_0_x86_64", "amd64", f"{ZIG} x86_64-macos.12.0", "pip install ziglang"),
}

# What Go asks the linker for on macOS and does not use, so that a list without names is enough to link with.
STUBS = {
    "CoreFoundation.framework/CoreFoundation.tbd": "/System/Library/Frameworks/CoreFoundation.framework/Versions/A/"
    "CoreFoundation",
    "libresolv.tbd": "/usr/lib/libresolv.9.dylib",
}
STUB = """--- !tapi-tbd
tbd-version:     4
targets:         [ x86_64-macos, arm64-macos ]
install-name:    '{}'
current-version: 1
...
"""


def target_of_name(name: str) -> Target:
    """The target of this name; empty is the machine that builds."""
    if name and name not in OTHERS:
        raise BuildError(f"there is no target {name!r}: choose from {', '.join(OTHERS)}, or leave it empty")
    return OTHERS[name] if name else HERE


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


def missing_tools(target: Target = HERE) -> list[str]:
    """What has to be installed before the library can be built, one sentence part each."""
    wanted = f"Go {'.'.join(map(str, required_go()))} or newer"
    missing = []
    compiler = target.compiler or os.environ.get("CC", "")
    if not shutil.which("go"):
        missing.append(f"{wanted} (no command 'go' on PATH)")
    else:
        try:
            have = _go("env", "GOVERSION")
            compiler = target.compiler or _go("env", "CC")
        except subprocess.CalledProcessError as error:
            # An old Go reads go.mod, finds it too new for itself and may not fetch another: its own words say so.
            missing.append(f"{wanted} ('go env' says: {error.stderr.strip()})")
        else:
            number = re.match(r"go(\d+(?:\.\d+)*)", have)
            if number and _numbers(number[1]) < required_go():
                missing.append(f"{wanted} (found {have})")
    program = shlex.split(compiler)[0] if compiler else ""
    if "ziglang" in compiler and importlib.util.find_spec("ziglang") is None:
        missing.append("a C compiler (no Python package 'ziglang')")
    if program and not shutil.which(program):
        missing.append(f"a C compiler (no command '{program}' on PATH)")
    elif not program and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        missing.append("a C compiler (no command 'cc', 'gcc' or 'clang' on PATH)")
    return missing


def check_tools(target: Target = HERE) -> None:
    """Raise BuildError that names every missing tool."""
    missing = missing_tools(target)
    if not missing:
        return
    message = "fewlabel compiles its library when it is installed from source; missing for that: " + "; ".join(missing)
    if "C compiler" in message and target.packages:
        message += f" ({target.packages})"
    elif "C compiler" in message:
        message += (
            " (Debian, Ubuntu: apt-get install gcc libc6-dev; Fedora: dnf install gcc; macOS: xcode-select --install)"
        )
    raise BuildError(message)


def link_flags(target: Target, scratch: Path) -> list[str]:
    """Flags for the system's linker: export what include/fewlabel.h declares and nothing else."""
    if target.system == "darwin":
        name = "-Wl,-install_name,@rpath/libfewlabel.dylib"
        if not target.compiler:
            return ["-Wl,-exported_symbol,_fewlabel_*", name]
        for stub, library in STUBS.items():
            (scratch / stub).parent.mkdir(exist_ok=True)
            (scratch / stub).write_text(STUB.format(library))
        return [f"-F{scratch}", f"-L{scratch}", name]  # zig knows no exported_symbol
    if target.system == "windows":
        # A DLL exports what such a file names. Go brings one of its own, so that its go_fewlabel_* are exported too.
        names = scratch / "fewlabel.def"
        names.write_text("EXPORTS\n" + "".join(f"  {name}\n" for name in sorted(check_library.declared())))
        return [str(names)]
    # -Bsymbolic (calls inside the library stay inside) is passed by Go itself.
    now = "-Wl,-z,relro,-z,now"  # the table of functions of other libraries cannot be written once it is loaded
    return [f"-Wl,--version-script={ROOT / 'capi' / 'exports.map'}", "-Wl,-soname,libfewlabel.so", now]


def build_environment(target: Target = HERE) -> dict[str, str]:
    """Environment for `go build`; on glibc, symbol versions old enough for any distribution in use."""
    environment = {**os.environ, "CGO_ENABLED": "1"}
    # go build keeps what it compiled although a header outside of the package has changed: this flag makes it look.
    digest = hashlib.sha256((ROOT / "include" / "fewlabel.h").read_bytes()).hexdigest()[:16]
    environment["CGO_CFLAGS"] = f"{environment.get('CGO_CFLAGS', '-O2 -g')} -DFEWLABEL_HEADER={digest}"
    if target.compiler:
        environment |= {"GOOS": target.system, "GOARCH": target.processor, "CC": target.compiler}
    if target.is_glibc:
        header = ROOT / "capi" / "symver.h"
        environment["CGO_CFLAGS"] = f'{environment.get("CGO_CFLAGS", "-O2 -g")} -include "{header}"'
        # Before glibc 2.34 the thread functions lived in libpthread; newer systems keep it as an empty file.
        environment["CGO_LDFLAGS"] = (
            f"{environment.get('CGO_LDFLAGS', '-O2 -g')} -Wl,--push-state,--no-as-needed -l:libpthread.so.0"
            " -Wl,--pop-state"
        )
    return environment


class Masks(NamedTuple):
    """Flags that build Go's runtime with the edits of signal_masks.py, and what the version says without them."""

    flags: list[str]
    note: str


def masks(scratch: Path) -> Masks:
    """Flags that build Go's runtime with the edits of signal_masks.py. Where they do not fit, the build fails unless
    the environment accepts a library without them."""
    if os.environ.get(signal_masks.ACCEPT) == "1":
        return Masks([], " without signal masks")
    root, version = _go("env", "GOROOT"), _go("env", "GOVERSION")
    original = Path(root) / signal_masks.FILE
    try:
        text = signal_masks.edited(original.read_text(encoding="utf-8"), version)
    except (OSError, ValueError) as reason:
        lacking = f"this installation of Go has no sources: {reason}" if isinstance(reason, OSError) else reason
        raise BuildError(
            f"fewlabel: the signal masks of Go's threads cannot be set, as {lacking}. Without them a handler of the "
            "host that was installed without SA_ONSTACK can crash the process. Install Go "
            f"{signal_masks.GO[-1]} from go.dev, or set {signal_masks.ACCEPT}=1 to build a library without the masks"
        ) from reason
    changed, table = scratch / original.name, scratch / "overlay.json"
    changed.write_text(text, encoding="utf-8")
    table.write_text(json.dumps({"Replace": {str(original): str(changed)}}), encoding="utf-8")
    return Masks(["-overlay", str(table)], "")


def build_command(output: Path, version: str, tags: str = "", target: Target = HERE) -> list[str]:
    """The `go build` command that writes the library to `output`, beside which it may write other files."""
    flags, note = masks(output.parent)
    external = " ".join(f'"{flag}"' for flag in link_flags(target, output.parent))  # in quotes: paths may have spaces
    link = f"-s -w -buildid= -X 'main.version={version}{note}'" + (f" '-extldflags={external}'" if external else "")
    fixed = ["-buildmode=c-shared", "-buildvcs=false", "-trimpath"]
    return ["go", "build", *fixed, *flags, "-tags", tags, "-ldflags", link, "-o", str(output), "./capi"]


def build(folder: Path = PACKAGE, version: str | None = None, tags: str = "", target: Target = HERE) -> Path:
    """Build the library into `folder` and return its path.

    The file is replaced in one step, so a process that has the old one loaded is not disturbed.
    """
    check_tools(target)
    library = folder / target.library
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".build-") as scratch:
            built = Path(scratch) / target.library
            command = build_command(built, version or project_version(), tags, target)
            if subprocess.run(command, cwd=ROOT, env=build_environment(target)).returncode:
                raise BuildError(f"fewlabel: this command failed, see above: {shlex.join(command)}")
            built.replace(library)
    except OSError as reason:
        raise BuildError(
            f"fewlabel: the library cannot be written to {folder} ({reason}). From a folder that is read-only install "
            "without --editable, or copy the folder to where you may write."
        ) from reason
    return library


def build_static(folder: Path) -> Path:
    """Build the static library for this machine into `folder` and return its path.

    It is one object in which only the functions of the header are visible, as in the shared library: Go's own names
    cannot clash with those of a program. Symbol versions are left to whoever links it.
    """
    check_tools()
    library = folder / "libfewlabel.a"
    fixed = ["-buildmode=c-archive", "-buildvcs=false", "-trimpath"]
    with tempfile.TemporaryDirectory(dir=folder, prefix=".build-") as scratch:
        parts, whole = Path(scratch) / library.name, Path(scratch) / "fewlabel.o"
        flags, note = masks(parts.parent)
        link = f"-s -w -buildid= -X 'main.version={project_version()}{note}'"
        for command in (
            ["go", "build", *fixed, *flags, "-ldflags", link, "-o", str(parts), "./capi"],
            ["ld", "-r", "-d", "--whole-archive", str(parts), "-o", str(whole)],
            ["objcopy", "--strip-debug", "--wildcard", "--keep-global-symbol=fewlabel_*", str(whole)],
            ["ar", "rcsD", str(library), str(whole)],  # D: no date and no owner in it
        ):
            if subprocess.run(command, cwd=ROOT, env={**os.environ, "CGO_ENABLED": "1"}).returncode:
                raise BuildError(f"fewlabel: this command failed, see above: {shlex.join(command)}")
    return library


def bill_of_materials(library: Path, version: str) -> str:
    """What is inside a built library, in the words of CycloneDX: Go's modules and its standard library."""
    lines = [line.split() for line in _go("version", "-m", str(library)).splitlines()]
    modules = [("stdlib", lines[0][-1].removeprefix("go"))]
    modules += [(name, number) for kind, name, number, *_ in (line for line in lines if len(line) > 3) if kind == "dep"]

    def component(kind: str, name: str, number: str) -> dict[str, str]:
        return {"type": "library", "name": name, "version": number, "purl": f"pkg:{kind}/{name}@{number}"}

    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": component("pypi", "fewlabel", version)},
        "components": [component("golang", *module) for module in modules],
    }
    return json.dumps(bill, indent=1) + "\n"


def wheel_platform(library: Path, target: Target = HERE) -> str:
    """The platform part of the wheel's tag.

    On glibc it is manylinux with the floor that the library keeps, or the plain platform where it does not (or where
    the tools that tell are missing). Such a wheel is never offered to musl, whose loader refuses the library.
    """
    plain = target.platform or re.sub(r"[-.]", "_", sysconfig.get_platform())
    if not target.is_glibc:
        return plain
    try:
        keeps_floor = not check_library.portability_faults(library)
    except FileNotFoundError:
        return plain
    # The second name is the same promise in older words (PEP 599).
    processor = target.platform.partition("_")[2] or platform.machine()
    floor = "_".join(map(str, GLIBC_FLOOR))
    return f"manylinux_{floor}_{processor}.manylinux2014_{processor}" if keeps_floor else plain


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Build the native library of fewlabel.")
    parser.add_argument("--target", default="", help=f"{', '.join(OTHERS)}; default: the machine that builds")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="default: the Python package")
    parser.add_argument("--tags", default="", help="Go build tags, for libraries that tests need")
    parser.add_argument("--check-tools", action="store_true", help="only tell whether Go and a C compiler are there")
    chosen = parser.parse_args()
    if chosen.target and not (chosen.output or chosen.check_tools):
        parser.error("--target needs --output: the package keeps the library of this machine")
    try:
        target = target_of_name(chosen.target)
        if chosen.check_tools:
            check_tools(target)
        else:
            print(build((chosen.output or PACKAGE).resolve(), tags=chosen.tags, target=target))
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
