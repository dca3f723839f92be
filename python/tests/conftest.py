"""Shared by all tests: the folder of real data sets, and which package is tested.

FEWLABEL_DATA names the folder. Without it the tests that use the `data` fixture are skipped and the skip is shown; with
FEWLABEL_REQUIRE_DATA=1, or when the folder is named but not there, they fail.

With FEWLABEL_TEST_INSTALLED=1 (`make release`) the package tested is one that was installed. Left out are then tests
of files that only the project's folder has, and long ones of answers, which come from the library, the same file for
every Python, and a few sums: `make test` has them.
"""

from __future__ import annotations

import importlib.util
import os
import signal
from pathlib import Path
from types import ModuleType

import pytest

import fewlabel

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell's background job: tests of Ctrl-C would wait for ever
    signal.signal(signal.SIGINT, signal.default_int_handler)

INSTALLED = os.environ.get("FEWLABEL_TEST_INSTALLED", "") == "1"
if INSTALLED:
    OF_FILES = ("*benchmark*", "c_docs", "docs", "figures", "imports", "packaging")
    OF_ANSWERS = ("class_limits", "limits")
    collect_ignore_glob = [f"test_{name}.py" for name in (*OF_FILES, *OF_ANSWERS)]


def pytest_report_header() -> str:
    return f"fewlabel: {Path(fewlabel.__file__).parent}"


def pytest_configure() -> None:
    if INSTALLED and Path(fewlabel.__file__).is_relative_to(Path(__file__).parents[1]):
        raise pytest.UsageError(f"FEWLABEL_TEST_INSTALLED=1, but the package is the project's: {fewlabel.__file__}")


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
