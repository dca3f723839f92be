"""Model files and files of sessions that earlier versions wrote are read, with the predictions that they had then."""

from __future__ import annotations

import json
import platform
import shutil
from pathlib import Path
from typing import Any

import kept_files
import numpy as np
import pytest

from fewlabel import _model_file
from fewlabel._native import _library
from fewlabel.labeling import _journal

VERSIONS = sorted(kept_files.KEPT.iterdir(), key=lambda folder: [int(part) for part in folder.name.split(".")])
FILES = [path for folder in VERSIONS for path in sorted(folder.iterdir()) if path.name != kept_files.EXPECTED]
# NumPy's exp has other last bits on other processors, and those that are not x86-64 may fuse a product with a sum.
ROUNDED = kept_files.CALLS[-1 if platform.machine().lower() in ("x86_64", "amd64") else 1 :]


def expected(folder: Path) -> dict[str, Any]:
    return json.loads((folder / kept_files.EXPECTED).read_text(encoding="utf-8"))


def assert_same(found: dict[str, Any], kept: dict[str, Any]) -> None:
    assert found.keys() == kept.keys()
    for name, value in kept.items():
        if name in ROUNDED:
            np.testing.assert_allclose(found[name], value, rtol=1e-12, atol=1e-14)
        else:
            assert found[name] == value, name


@pytest.mark.parametrize("path", FILES, ids=lambda path: "-".join(path.parts[-2:]))
def test_files_of_earlier_versions_are_read_with_the_same_predictions(path: Path, tmp_path: Path) -> None:
    of_version = expected(path.parent)
    assert_same(kept_files.outcome(path, of_version), of_version[path.name])
    if path.suffix == ".jsonl":  # and goes on
        shutil.copy(path, tmp_path)
        one = kept_files.session(tmp_path / path.name, of_version)
        one.skip(one.next(1)[0])
        assert (tmp_path / path.name).read_bytes().startswith(path.read_bytes())


def test_classifiers_of_earlier_versions_are_read_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise RuntimeError

    monkeypatch.setattr(_library, "library", missing)
    monkeypatch.setattr(_library, "is_loaded", lambda: False)
    for path in FILES:
        kept = expected(path.parent).get(path.name, {})
        if "decision_function" in kept and "predict_marginals" not in kept:
            assert_same(kept_files.outcome(path, expected(path.parent)), kept)


@pytest.mark.filterwarnings("ignore:all labeled rows have class 0")
def test_every_kind_of_file_is_kept(tmp_path: Path) -> None:
    kept_files.write(tmp_path / "now")
    assert {path.name for path in VERSIONS[-1].iterdir()} == {path.name for path in (tmp_path / "now").iterdir()}
    kinds = {value.get("estimator") for value in expected(VERSIONS[-1]).values() if isinstance(value, dict)}
    assert kinds == {None, *_model_file._ESTIMATORS}
    lines = [line for path in VERSIONS[-1].glob("*.jsonl") for line in path.read_text(encoding="utf-8").splitlines()]
    assert {frozenset(json.loads(line)) for line in lines} == _journal._FORMS
