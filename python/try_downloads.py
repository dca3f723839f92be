"""Run what the pages offer for download, each file alone in a fresh environment with the wheel. `make docs-test`.

    python python/try_downloads.py [--only NAME] WHEEL

Unpacks both archives of the gallery, and takes the single files and the notebook as well. Each file is in an empty
folder of its own when it runs, so that none can import another. The environment has the wheel with the extras
`plot` and `dask`, and what runs notebooks.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import fresh_environment
from check_library import ROOT

PAGES = ROOT / "build" / "docs" / "html"
FOLDER = ROOT / "build" / "downloads"
RUN_NOTEBOOK = """
import sys, nbformat, nbclient
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
"""


def downloads() -> dict[str, bytes]:
    """Name and content of each file: those of the archives, and single ones, which must be the same."""
    found: dict[str, bytes] = {}
    archives = sorted(PAGES.glob("_downloads/*/*.zip"))
    for path in archives:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                _add(found, Path(name).name, archive.read(name), path.name)
    for path in sorted(PAGES.glob("_downloads/*/*")):
        if path.suffix in (".py", ".ipynb"):
            _add(found, path.name, path.read_bytes(), "a single file")
    if not {"gallery_python.zip", "gallery_jupyter.zip"} <= {path.name for path in archives}:
        raise SystemExit(f"there are no archives of the gallery in {PAGES}: make docs")
    return {name: content for name, content in found.items() if Path(name).suffix in (".py", ".ipynb")}


def _add(found: dict[str, bytes], name: str, content: bytes, where: str) -> None:
    if found.setdefault(name, content) != content:
        raise SystemExit(f"{name} in {where} is not the same as elsewhere")


def runs(python: Path, name: str, content: bytes) -> bool:
    """Whether a file runs alone."""
    folder = FOLDER / "alone" / name.replace(".", "-")
    folder.mkdir(parents=True)
    (folder / name).write_bytes(content)
    command = [name] if name.endswith(".py") else ["-c", RUN_NOTEBOOK, name]
    settings = fresh_environment.without_tools() | {"MPLBACKEND": "Agg"}
    if name.endswith(".ipynb"):
        settings.pop("MPLBACKEND")
    done = subprocess.run(
        [python, *command], cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    print(f"{'ok' if done.returncode == 0 else 'FAILS':6}{name}", flush=True)
    if done.returncode:
        print(done.stdout[-3000:], file=sys.stderr)
    return done.returncode == 0


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="files whose name has this in it")
    parser.add_argument("wheel", type=Path)
    chosen = parser.parse_args()
    files = {name: content for name, content in downloads().items() if chosen.only in name}
    shutil.rmtree(FOLDER, ignore_errors=True)
    python = fresh_environment.create(FOLDER / "environment")
    fresh_environment.install(python, f"{chosen.wheel.resolve()}[plot,dask]", "ipykernel", "nbclient")
    failed = [name for name, content in files.items() if not runs(python, name, content)]
    print(f"{len(files)} downloads, {len(failed)} fail alone")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
