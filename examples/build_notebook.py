"""Run few_labels.py as a notebook and write few_labels.ipynb with its outputs.

    python examples/build_notebook.py [--check]

With --check nothing is written: the notebook is run and must print what stands in the file. Where SciPy, scikit-learn
or NumPy have another version than the one that the file names, it must only run, as its texts are those of SciPy.
"""

from __future__ import annotations

import argparse
import re
import sys
from importlib.metadata import version
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

SOURCE = Path(__file__).with_name("few_labels.py")
NOTEBOOK = SOURCE.with_suffix(".ipynb")
PACKAGES = ("numpy", "scipy", "scikit-learn")


def build() -> nbformat.NotebookNode:
    """The notebook with its outputs, without what differs from run to run."""
    notebook = jupytext.read(SOURCE)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.source = cell.source.replace("  # noqa: E402", "")
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": SOURCE.parent}}
    ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for out in cell.get("outputs", []):
            if out.get("name") == "stderr":  # a warning, without the path of its cell and the line
                out.text = re.sub(r"\S*ipykernel_\d+/\d+\.py:\d+: (.*\n)  .*\n", r"\1", out.text)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "versions": {name: version(name) for name in PACKAGES},
    }
    return notebook


def printed(notebook: nbformat.NotebookNode) -> list[str]:
    """What each cell printed or showed as text, warnings aside: these name paths."""
    return [
        "".join(
            out.get("text", "") if out.output_type == "stream" else out.get("data", {}).get("text/plain", "")
            for out in cell.get("outputs", [])
            if out.get("name") != "stderr"
        )
        for cell in notebook.cells
    ]


def check(new: nbformat.NotebookNode) -> str | None:
    """What is wrong with the file; None if nothing is."""
    kept = nbformat.read(NOTEBOOK, as_version=4)
    if [cell.source for cell in kept.cells] != [cell.source for cell in new.cells]:
        return f"{NOTEBOOK.name} was not made from {SOURCE.name} as it is now: run examples/build_notebook.py"
    if kept.metadata["versions"] != new.metadata["versions"]:
        print(
            f"{NOTEBOOK.name} runs; it was made with {dict(kept.metadata['versions'])}, so the output is not compared"
        )
        return None
    for old, cell in zip(printed(kept), printed(new), strict=True):
        if old != cell:
            return f"{NOTEBOOK.name} has the output\n{old}\nand the cell now gives\n{cell}"
    return None


def main() -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    notebook = build()
    if not parser.parse_args().check:
        nbformat.write(notebook, NOTEBOOK)
        return 0
    wrong = check(notebook)
    if wrong:
        print(wrong, file=sys.stderr)
    return int(wrong is not None)


if __name__ == "__main__":
    sys.exit(main())
