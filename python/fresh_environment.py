"""Fresh virtual environments, and the Pythons of this machine to make them with: what the wheel is tried in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 10)  # requires-python in pyproject.toml


def pythons() -> dict[tuple[int, int], str]:
    """One interpreter for each version from OLDEST on: this one, those on PATH and those of pyenv."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders += sorted(pyenv.glob("versions/*/bin"))
    found = {(sys.version_info[0], sys.version_info[1]): sys.executable}
    for path in (path for folder in folders for path in sorted(folder.glob("python3.*"))):
        named = re.fullmatch(r"python3\.(\d+)(\.exe)?", path.name)
        version = (3, int(named[1])) if named else (0, 0)
        if version >= OLDEST and version not in found and _usable(path):
            found[version] = str(path)
    return dict(sorted(found.items()))


def _usable(python: Path) -> bool:
    """True for an interpreter that runs and can make virtual environments; a name on PATH may be a mere stand-in."""
    try:
        return not subprocess.run([python, "-c", "import ensurepip, venv"], capture_output=True, timeout=60).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


def create(folder: Path, python: str = sys.executable) -> Path:
    """The interpreter of a new environment in `folder`, in place of what was there."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([python, "-m", "venv", folder], check=True, env=without_tools())
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def install(python: Path, *requirements: str) -> None:
    """Install into the environment of `python`, from wheels only, as somebody who has no compiler."""
    options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    subprocess.run([python, "-m", "pip", "install", *options, *requirements], check=True, env=without_tools())


def without_tools(*tools: str) -> dict[str, str]:
    """The environment without the folders of PATH that have one of these commands (go if none is named), and without
    settings that let Python find modules elsewhere."""
    wanted = tools or ("go",)
    folders = os.environ.get("PATH", "").split(os.pathsep)
    kept = [folder for folder in folders if not any(shutil.which(tool, path=folder) for tool in wanted)]
    settings = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    return settings | {"PATH": os.pathsep.join(kept)}
