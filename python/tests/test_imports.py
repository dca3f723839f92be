"""Imports go one way: no module of the project imports, even inside a function, one that leads back to it."""

from __future__ import annotations

import ast
import graphlib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {
    module_name(path): path
    for pattern in ("*.py", "fewlabel/**/*.py", "benchmarks/*.py")
    for path in ROOT.glob(pattern)
}


def imported(path: Path) -> set[str]:
    """Modules of the project that a file imports; `from package import module` is the module."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.add(inner if inner in MODULES else node.module)
    return names & set(MODULES)


def test_no_import_leads_back() -> None:
    graph = {name: imported(path) for name, path in MODULES.items()}
    assert graph["build_library"] == {"check_library", "signal_masks"}  # the reading of imports works
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle
