"""Use what is given to others as somebody does who has nothing else of the project.

    python python/try_archive.py import WHEEL        install it, import it, load its library, send it signals
    python python/try_archive.py test WHEEL [--only 3.13] [ARGUMENTS OF PYTEST]
                                                     also run the users' tests, with every Python of this machine
    python python/try_archive.py source ARCHIVE      build a wheel without a network; name the tools that are missing
    python python/try_archive.py windows WHEEL       run the C programs with its library, under Wine
    python python/try_archive.py kit ARCHIVE         build and run the C examples, shared and static
    python python/try_archive.py signals [FITS]      run the C program of signals with the installed library

Environments are fresh, without Go on PATH. Tests of the project's own files are left out, see python/tests/conftest.py.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import check_archive
import check_library
from build_library import OTHERS
from check_library import ROOT, report

FOLDER = ROOT / "build" / "tried"
OLDEST = (3, 10)  # requires-python in pyproject.toml
COMPILER = OTHERS["windows"].compiler
WARNINGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT / 'include'}")
POSIX = re.compile(r"^#include <(sys/|dlfcn|sched)", re.MULTILINE)
LONGEST = 600  # seconds of a program under Wine

# Go takes random numbers from this function of Windows, which Wine has from version 9 on.
RANDOM = """#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T n) { return SystemFunction036(data, (ULONG)n); }
"""


# ------------------------------------------------------------------ commands and environments
def fault(*command: object, **settings: Any) -> list[str]:
    """What a command that fails says; the last line of another is shown."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **settings)
    if done.returncode:
        return [f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}"]
    print(f"{Path(str(command[-1])).name}: {(done.stdout.strip().splitlines() or ['ended well'])[-1]}", flush=True)
    return []


def without_tools(*tools: str) -> dict[str, str]:
    """The environment without the folders of PATH that have one of these commands (go if none is named), and without
    settings that let Python find modules elsewhere."""
    wanted = tools or ("go",)
    folders = os.environ.get("PATH", "").split(os.pathsep)
    kept = [folder for folder in folders if not any(shutil.which(tool, path=folder) for tool in wanted)]
    settings = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    return settings | {"PATH": os.pathsep.join(kept)}


def pythons() -> dict[tuple[int, int], str]:
    """One interpreter for each version from OLDEST on: this one, those on PATH and those of pyenv."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    folders += sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin"))
    found = {sys.version_info[:2]: sys.executable}
    for path in (path for folder in folders for path in sorted(folder.glob("python3.*"))):
        named = re.fullmatch(r"python3\.(\d+)(\.exe)?", path.name)
        version = (3, int(named[1])) if named else (0, 0)
        if version >= OLDEST and version not in found and usable(path):
            found[version] = str(path)
    return dict(sorted(found.items()))


def usable(python: Path) -> bool:
    """True for an interpreter that runs and can make virtual environments; a name on PATH may be a mere stand-in."""
    try:
        return not subprocess.run([python, "-c", "import ensurepip, venv"], capture_output=True, timeout=60).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


def environment(name: str, interpreter: str, *requirements: str) -> Path:
    """The interpreter of a new environment, with what is installed from wheels only, as without a compiler."""
    folder, settings = FOLDER / name, without_tools()
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([interpreter, "-m", "venv", folder], check=True, env=settings)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    for wanted in (["--upgrade", "pip>=25.1"], requirements):  # with dependency groups
        subprocess.run([python, "-m", "pip", "install", *options, *wanted], check=True, env=settings)
    return python


def unpacked(archive: Path, folder: Path) -> Path:
    """The one folder in a source archive or kit."""
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(archive) as opened:
        opened.extractall(folder, **{"filter": "data"} if hasattr(tarfile, "data_filter") else {})
    (found,) = folder.iterdir()
    return found


# ------------------------------------------------------------------ wheel
def try_import(wheel: Path) -> int:
    """In an environment of this Python, with the table of the main job."""
    python = environment("import", sys.executable, str(wheel.resolve()))
    return load(python) or subprocess.run([python, "-m", "fewlabel"], cwd=python.parent, env=without_tools()).returncode


def load(python: Path) -> int:
    """Load the library of the installed wheel, print what works together, and send it signals."""
    script = "import fewlabel; fewlabel.show_versions(); print(fewlabel.__file__)"
    settings = {"cwd": python.parent, "env": without_tools()}  # python -c looks for modules in its folder first
    done = subprocess.run([python, "-c", script], stdout=subprocess.PIPE, text=True, check=True, **settings)
    *lines, place = done.stdout.splitlines()
    print(*(line for line in lines if not line.endswith("not installed")), sep="\n", flush=True)
    if not Path(place).is_relative_to(python.parents[1]) or any("not usable" in line for line in lines):
        raise SystemExit(f"the library of the wheel does not load, or fewlabel was imported from elsewhere: {place}")
    return subprocess.run([python, __file__, "signals"], cwd=python.parent).returncode


def try_test(wheel: Path, *arguments: str) -> int:
    """In an environment for each Python, and in one more for the oldest with the oldest of all that it needs."""
    only, found = arguments[1] if arguments[:1] == ("--only",) else "", pythons()
    needed = re.search(r"(?s)\ndependencies = \[.*?\n\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))[0]
    oldest = [wanted.replace(">=", "==") for wanted in re.findall(r'"([\w-]+>=[\d.]+)"', needed)]
    first = (f"{'.'.join(map(str, min(found)))}-oldest", found[min(found)], oldest)
    trials = [first, *((".".join(map(str, version)), path, []) for version, path in found.items())]
    chosen = [trial for trial in trials if only in ("", trial[0])]
    options = ["-o", "pythonpath=", "-p", "no:cacheprovider", "--quiet", ROOT / "python" / "tests"]
    failed = [] if chosen else [f"{only}: choose from {', '.join(name for name, *_ in trials)}"]
    for name, interpreter, requirements in chosen:
        group = f"--group={ROOT / 'pyproject.toml'}:test"
        python = environment(name, interpreter, group, f"{wheel.resolve()}[plot,progress]", *requirements)
        command = [python, "-m", "pytest", *options, *arguments[2 if only else 0 :]]
        settings = without_tools() | {"FEWLABEL_TEST_INSTALLED": "1"}
        if load(python) or subprocess.run(command, cwd=python.parent, env=settings).returncode:
            failed.append(f"Python {name}")
    return report(wheel, [f"fails with {name}" for name in failed], "passes with every Python of this machine")


def try_signals(fits: str = "1") -> int:
    """The program is for Linux; it needs a C compiler."""
    if not sys.platform.startswith("linux"):
        return 0
    sys.path.remove(str(ROOT / "python"))  # the package that is installed, not that of this folder
    from fewlabel._native._library import PATH

    source, flags = ROOT / "capi" / "tests" / "signals.c", ["-std=c99", "-O1", f"-I{ROOT / 'include'}", "-pthread"]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "signals"
        link = [str(PATH), f"-Wl,-rpath,{PATH.parent}", "-ldl", "-lm"]
        subprocess.run(["cc", *flags, source, *link, "-o", program], check=True)
        return subprocess.run([program, fits], cwd=folder).returncode


# ------------------------------------------------------------------ source archive
def try_source(archive: Path) -> int:
    """With Go, a C compiler and nothing else; without one of them the message has to name it."""
    project, out = unpacked(archive, FOLDER / "source"), FOLDER / "source-wheel"
    shutil.rmtree(out, ignore_errors=True)
    offline = {
        "GOFLAGS": "-mod=vendor",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GOMODCACHE": str(out / "no-modules"),
    }
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out)
    faults = []
    for tools, words in {("go",): "no command 'go' on PATH", ("cc", "gcc", "clang"): "apt-get install gcc"}.items():
        said = fault(*build, cwd=project, env=without_tools(*tools) | offline | ({} if "go" in tools else {"CC": ""}))
        if not said or words not in said[0] or "missing for that" not in said[0] or "Traceback" in said[0]:
            faults.append(f"without {tools[0]} the message does not say {words!r}: {said}")
    faults += fault(*build, cwd=project, env=os.environ | offline)
    for wheel in out.glob("*.whl"):
        faults += [f"built from it: {text}" for text in check_archive.check_wheel(wheel)]
    return report(archive, faults, "a wheel was built from it without a network and without downloaded modules")


# ------------------------------------------------------------------ Windows
def try_windows(wheel: Path) -> int:
    """The examples and tests that need nothing of POSIX, compiled by mingw-w64, each in a folder of its own."""
    wine = shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine")  # Debian's is in a folder of its own
    if not wine or not shutil.which(COMPILER):
        raise SystemExit("needs wine64 and mingw-w64 (Debian: apt-get install wine64 gcc-mingw-w64-x86-64)")
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(wheel) as archive:
        library = Path(archive.extract("fewlabel/libfewlabel.dll", scratch))
        settings = os.environ | {"WINEPREFIX": f"{scratch}/wine", "WINEDEBUG": "-all"}
        subprocess.run([wine, "wineboot", "--init"], env=settings, capture_output=True, check=True)
        add_random_numbers(Path(scratch))
        sources = [*(ROOT / "examples" / "c").glob("*.c"), *(ROOT / "capi" / "tests").glob("*.c")]
        plain = [source for source in sorted(sources) if not POSIX.search(source.read_text(encoding="utf-8"))]
        faults = [text for source in plain for text in under_wine(wine, source, library, settings)]
        subprocess.run([shutil.which("wineserver", path="/usr/lib/wine") or "wineserver", "-k"], env=settings)
    return report(wheel, faults, f"{len(plain)} C programs run with its library")


def add_random_numbers(scratch: Path) -> None:
    """Give an old Wine the library that it lacks; it asks advapi32."""
    library = scratch / "wine" / "drive_c" / "windows" / "system32" / "bcryptprimitives.dll"
    if not library.exists():
        (scratch / "random.c").write_text(RANDOM)
        subprocess.run([COMPILER, "-shared", scratch / "random.c", "-o", library, "-ladvapi32"], check=True)


def under_wine(wine: str, source: Path, library: Path, settings: dict[str, str]) -> list[str]:
    """Compile and run a program."""
    folder = library.parent / source.stem
    folder.mkdir()
    shutil.copy(library, folder)
    program, own = folder / f"{source.stem}.exe", {"cwd": folder, "env": settings, "timeout": LONGEST}
    compiled = fault(COMPILER, *WARNINGS, "-static", source, library, "-pthread", "-lm", "-o", program, **own)
    return compiled or fault(wine, program, **own)


# ------------------------------------------------------------------ C kit
def try_kit(archive: Path) -> int:
    """Nothing of the project is on a path: the environment has no more than PATH and HOME."""
    with tempfile.TemporaryDirectory(prefix="fewlabel-c-") as scratch:
        kit = unpacked(archive, Path(scratch) / "kit")
        faults = file_faults(kit) + with_a_compiler(kit) + with_make(kit) + as_the_page_says(kit)
    return report(archive, faults, "unpacked elsewhere, the examples run with the shared and the static library")


def file_faults(kit: Path) -> list[str]:
    """What is wrong with the libraries and the licences."""
    faults = [f"libfewlabel.so: {text}" for text in check_library.check(kit / "lib" / "libfewlabel.so")]
    static = kit / "lib" / "libfewlabel.a"
    table = subprocess.run(["nm", "-g", "--defined-only", static], capture_output=True, text=True, check=True).stdout
    names = set(re.findall(r"^[0-9a-f]+ \w (\w+)$", table, re.MULTILINE))
    if names != check_library.declared(kit / "include" / "fewlabel.h"):
        faults.append(f"libfewlabel.a does not define what the header declares, but {', '.join(sorted(names))}")
    faults += [f"libfewlabel.a: {text}" for text in check_library.path_faults(static)]
    return faults + [f"lacks {name}" for name in check_archive.LICENCES if not (kit / name).is_file()]


def at_examples(kit: Path, script: str) -> list[str]:
    """Faults of a shell script in the folder of the examples."""
    settings = {"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent", "LC_ALL": "C", "KIT": str(kit)}
    return fault("sh", "-c", script, cwd=kit / "examples" / "c", env=settings)


def with_make(kit: Path) -> list[str]:
    """All examples by their Makefile, and one linked in full."""
    if not shutil.which("pkg-config") or not shutil.which("make"):
        print("SKIPPED: no pkg-config or make here, so the examples' Makefile was not tried")
        return []
    faults = []
    for link in ("shared", "static"):
        made = at_examples(kit, f"make clean test LINK={link}")
        loads = not made and "libfewlabel.so" in check_library.needed(kit / "examples" / "c" / "train")
        faults += made or ([] if loads is (link == "shared") else [f"LINK={link} makes programs of the other kind"])
    flags = "$(PKG_CONFIG_PATH=$KIT/lib/pkgconfig pkg-config --cflags --static --libs fewlabel)"
    return faults + at_examples(kit, f"cc -static train.c {flags} -lm -o whole && ./whole")


def with_a_compiler(kit: Path) -> list[str]:
    """The two commands of docs/c.md that need a C compiler only."""
    manual = (kit / "docs" / "c.md").read_text(encoding="utf-8")
    commands = re.findall(r'^cc -I"\$KIT/include" program\.c.*$', manual, re.MULTILINE)
    faults = [] if len(commands) == 2 else ["docs/c.md has not two commands without pkg-config"]
    bare = (command.replace("program.c", "train.c -o bare") for command in commands)
    return faults + [text for command in bare for text in at_examples(kit, f"{command} && ./bare")]


def as_the_page_says(kit: Path) -> list[str]:
    """The small program of docs/c.md by the page's commands for pkg-config, one by one, and by its lines for CMake."""
    page, folder = (kit / "docs" / "c.md").read_text(encoding="utf-8"), kit / "examples" / "c"

    def block(pattern: str) -> str:
        return re.search(pattern, page, re.DOTALL | re.MULTILINE)[1]

    (folder / "program.c").write_text(block(r"^```c\n([^`]*int main.*?)^```"), encoding="utf-8")
    (folder / "CMakeLists.txt").write_text(block(r"^```cmake\n(.*?)^```"), encoding="utf-8")
    output = block(r"^```text\n(.*?)^```").strip()
    right = f'test "$(%s)" = "{output}"\n'
    commands = block(r"^```sh\n(export PKG.*?)^```").replace("-o program\n", f"-o program\n{right % './program'}")
    made = f"cmake --build build\n{right % 'build/program'}"
    static = "sed -i s/fewlabel::fewlabel/fewlabel::static/ CMakeLists.txt"
    scripts = {"pkg-config": commands, "cmake": f"{block('`(cmake -S.*?)`')}\n{made}{static}\n{made}"}
    faults = []
    for tool, script in scripts.items():
        if shutil.which(tool):
            faults += at_examples(kit, f"set -e\n{script}: the lines for {tool}")
        else:
            print(f"SKIPPED: no {tool} here, so its lines in docs/c.md were not tried")
    return faults


TRIES = {"import": try_import, "test": try_test, "source": try_source, "windows": try_windows, "kit": try_kit}


def main(name: str = "", *arguments: str) -> int:
    """Command line."""
    if name == "signals":
        return try_signals(*arguments)
    if name not in TRIES or not arguments:
        raise SystemExit(__doc__)
    return TRIES[name](Path(arguments[0]), *arguments[1:])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
