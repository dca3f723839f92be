"""A library that cannot be used: missing, damaged, for another machine, of another version; and a read-only package."""

from __future__ import annotations

import platform
import shutil
import struct
import sys
from pathlib import Path

import pytest
from test_library import PACKAGE, python

from fewlabel._native import _library, _loading

LOAD = """
import sys
import fewlabel
from fewlabel._native import _library
assert fewlabel.__file__.startswith(sys.argv[1]), fewlabel.__file__
try:
    print("loaded", *_library.versions())
except RuntimeError as error:
    print(error)
"""

needs_elf = pytest.mark.skipif(sys.platform != "linux", reason="changes the header of a Linux library")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A copy of the package, as pip puts it into a folder."""
    shutil.copytree(PACKAGE, tmp_path / "fewlabel", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def message(folder: Path) -> str:
    """What the first call of the library says with the package in this folder."""
    return python(LOAD, str(folder), path=folder)


def library_in(folder: Path) -> Path:
    return folder / "fewlabel" / _library.PATH.name


def test_the_copy_works(installed: Path) -> None:
    assert message(installed).startswith("loaded ")


def test_missing(installed: Path) -> None:
    library_in(installed).unlink()
    said = message(installed)
    assert f"there is no file {library_in(installed)}. Install fewlabel again (pip install --force-reinstall" in said
    assert "pip install -e ." in said


@pytest.mark.parametrize("length", [0, 30, 5000, -1])
def test_damaged(installed: Path, length: int) -> None:
    library = library_in(installed)
    library.write_bytes(library.read_bytes()[:length])
    said = message(installed)
    assert "damaged" in said
    assert "Install fewlabel again" in said


@needs_elf
def test_for_another_processor(installed: Path) -> None:
    library = library_in(installed)
    content = bytearray(library.read_bytes())
    content[18:20] = struct.pack("<H", 62 if platform.machine() == "aarch64" else 183)
    library.write_bytes(content)
    assert f"or for another system than {platform.system()} {platform.machine()}. Install" in message(installed)


@needs_elf
def test_of_another_version(installed: Path) -> None:
    """The files of two versions mixed: the package says 9.9.9, the library what it was built as."""
    version = _library.versions()[0]
    info = installed / "fewlabel-9.9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fewlabel\nVersion: 9.9.9\n")
    said = message(installed)
    assert f"{library_in(installed)} has version {version}, this package is 9.9.9. Install fewlabel again" in said


def test_with_fewer_functions(installed: Path) -> None:
    """Of the same version, but from before a function was added, as in a source folder after `git pull`."""
    with open(installed / "fewlabel" / "_native" / "_signatures.py", "a", encoding="utf-8") as table:
        table.write('\nSIGNATURES["fewlabel_new"] = (c_int32, ())\n')
    assert "has no function fewlabel_new: it is older. Install" in message(installed)


def test_on_musl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert "Alpine has musl" in _loading.reason(_library.PATH)


def test_read_only_package(installed: Path, tmp_path: Path) -> None:
    """A package in a folder where nothing may be written fits, predicts, saves and loads; every attempt of Python to
    write there is refused and would end the script, but for the cache of compiled modules, which Python gives up."""
    before = sorted(installed.rglob("*"))
    output = python(
        """
        import os, sys

        package = sys.argv[1] + "/fewlabel"
        WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

        def read_only(event, arguments):
            names = [os.fsdecode(name) for name in arguments[:2] if isinstance(name, (str, bytes))]
            if event == "open" and not arguments[2] & WRITING or not any(name.startswith(package) for name in names):
                return
            if event in ("open", "os.mkdir", "os.remove", "os.rename", "os.truncate", "os.chmod", "os.link"):
                print("refused", event, "__pycache__" in names[0], file=sys.stderr)
                raise OSError(30, "Read-only file system", names[0])

        sys.addaudithook(read_only)
        try:
            open(package + "/trial", "w")
        except OSError:
            print("read-only")
        import fewlabel
        from fewlabel import SemiSupervisedLogisticRegression, load_model, save_model, show_versions
        from planted import text_like
        assert fewlabel.__file__.startswith(sys.argv[1])
        X, y, _ = text_like()
        model = SemiSupervisedLogisticRegression().fit(X, y)
        save_model(model, sys.argv[1] + "/model.safetensors")
        assert (load_model(sys.argv[1] + "/model.safetensors").predict(X) == model.predict(X)).all()
        show_versions()
        if hasattr(os, "fork"):
            child = os.fork()
            if child == 0:
                os._exit(0 if (SemiSupervisedLogisticRegression().fit(X, y).coef_ == model.coef_).all() else 1)
            assert os.waitpid(child, 0)[1] == 0
        print("all done")
        """,
        str(installed),
        path=tmp_path,
    )
    assert output.startswith("read-only\n")
    assert output.endswith("all done\n")
    assert sorted(path for path in installed.rglob("*") if path.name != "model.safetensors") == before
