"""Shared by all tests: the folder of real data sets.

FEWLABEL_DATA names it. Without it the tests that use the `data` fixture are skipped and the skip is shown; with
FEWLABEL_REQUIRE_DATA=1, or when the folder is named but not there, they fail.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest


def _load_module(path: Path) -> ModuleType:
    """The Python file at `path` as a module, without putting its folder on sys.path."""
    spec = importlib.util.spec_from_file_location("fewlabel_data_sets", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def data() -> ModuleType:
    """The readers of the data sets: the module load.py of that folder."""
    folder = os.environ.get("FEWLABEL_DATA", "")
    required = os.environ.get("FEWLABEL_REQUIRE_DATA", "") == "1"
    if not folder:
        message = "FEWLABEL_DATA is not set: it names the folder of the real data sets"
        if required:
            pytest.fail(f"{message} (FEWLABEL_REQUIRE_DATA=1)", pytrace=False)
        pytest.skip(message)
    path = Path(folder) / "load.py"
    if not path.is_file():
        pytest.fail(f"FEWLABEL_DATA={folder}: there is no load.py", pytrace=False)
    return _load_module(path)
