"""Build a wheel from the source archive as somebody without a network does: with Go, a C compiler and nothing else.

    python python/try_source.py ARCHIVE

Also tries it without Go and without a C compiler: the message has to name what is missing. hatchling must be there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import check_archive
import fresh_environment
from check_library import ROOT, report

FOLDER = ROOT / "build" / "sdist"
OFFLINE = {"GOFLAGS": "-mod=vendor", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOMODCACHE": str(FOLDER / "no-modules")}


def unpack(archive: Path) -> Path:
    """The folder of the project in the archive."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    with tarfile.open(archive) as opened:
        if hasattr(tarfile, "data_filter"):
            opened.extractall(FOLDER, filter="data")
        else:
            opened.extractall(FOLDER)
    (project,) = FOLDER.iterdir()
    return project


def build(project: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Build a wheel from the unpacked sources."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(FOLDER / "dist")]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)


def without(project: Path, tools: tuple[str, ...], words: tuple[str, ...]) -> list[str]:
    """What is wrong with the failure where these commands are missing."""
    environment = fresh_environment.without_tools(*tools) | OFFLINE
    done = build(project, environment | {"CC": ""} if "cc" in tools else environment)
    said = done.stdout + done.stderr
    if done.returncode == 0:
        return [f"was built without {', '.join(tools)}"]
    lacking = [word for word in words if word not in said]
    if lacking or "Traceback" in said:
        return [f"without {', '.join(tools)} the message does not say {lacking}:\n{said}"]
    print(f"without {', '.join(tools)}: {said.strip().splitlines()[-1]}")
    return []


def main() -> int:
    """Command line."""
    archive = Path(sys.argv[1])
    project = unpack(archive)
    faults = without(project, ("go",), ("missing for that", "no command 'go' on PATH", "Go 1."))
    faults += without(project, ("cc", "gcc", "clang"), ("missing for that", "a C compiler", "apt-get install gcc"))
    done = build(project, os.environ | OFFLINE)
    if done.returncode:
        return report(archive, [*faults, f"cannot be built without a network:\n{done.stdout}{done.stderr}"], "")
    (wheel,) = (FOLDER / "dist").glob("*.whl")
    faults += [f"built from it: {fault}" for fault in check_archive.check_wheel(wheel)]
    return report(archive, faults, "a wheel was built from it without a network and without downloaded modules")


if __name__ == "__main__":
    sys.exit(main())
