"""What the wheel is made of and with: version, licences, tools, and that the checks of `make wheel` see faults."""

from __future__ import annotations

import fnmatch
import io
import json
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from planted import many_topics
from test_library import python

import build_library
import check_archive
import check_library
import fewlabel
import signal_masks
import try_archive
from check_library import ROOT
from fewlabel import SemiSupervisedLogisticRegression, SequenceSVC, TransductiveSVC, save_model
from fewlabel._native import _library

LICENCES = (ROOT / "THIRD_PARTY_LICENSES.md").read_text(encoding="utf-8")

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads Linux libraries with binutils")


def run(*command: str, **settings: object) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, **settings).stdout


# --- version ---------------------------------------------------------------------------------------------------------


def test_one_version() -> None:
    assert fewlabel.__version__ == build_library.project_version()
    assert _library.versions()[0] == build_library.project_version()
    assert f"\nversion: {build_library.project_version()}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


# --- licences --------------------------------------------------------------------------------------------------------


def words(text: str) -> str:
    return " ".join(text.split())


def licence_sections(path: Path) -> list[tuple[list[str], str]]:
    """The licences in a file, each with the patterns of the files it is for; a file without sections is for all."""
    sections = []
    for part in re.split(r"^-{10,}\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
        patterns = re.findall(r"^Files: (\S+)$", part, re.MULTILINE)
        sections.append((patterns, re.sub(r"^Files: \S+\n", "", part, flags=re.MULTILINE)))
    return sections


def linked_packages() -> list[tuple[Path, Path]]:
    """Folder of each package of another module that is linked in, and folder of its module."""
    form = "{{if and .Module (not .Module.Main)}}{{.Dir}}\t{{.Module.Dir}}{{end}}"
    lines = run("go", "list", "-deps", "-f", form, "./capi").split("\n")
    return [(Path(line.split("\t")[0]), Path(line.split("\t")[1])) for line in lines if line]


def test_every_module_of_the_library_is_listed() -> None:
    modules = re.findall(r"^\tdep\t(\S+)", run("go", "version", "-m", str(_library.PATH)), re.MULTILINE)
    assert len(modules) >= 3
    bill = json.loads(build_library.bill_of_materials(_library.PATH, "0.1.0"))
    assert [part["name"] for part in bill["components"]] == ["stdlib", *modules]
    assert all(part["purl"] == f"pkg:golang/{part['name']}@{part['version']}" for part in bill["components"])
    table = LICENCES[: LICENCES.index("## 1.")]
    for module in modules:
        assert f"`{module}" in table, f"{module} is linked in and not in THIRD_PARTY_LICENSES.md"
    for module in re.findall(r"^\| `([\w-]+\.[\w.]+/[\w/-]+)`", table, re.MULTILINE):
        assert any(module == m or module.startswith(f"{m}/") for m in modules), f"{module} is listed and not linked in"


def test_every_licence_text_is_included() -> None:
    texts = set()
    for package, module in linked_packages():
        inside = package.relative_to(module).as_posix()
        for folder in [package, *package.parents]:
            for path in [*folder.glob("LICEN[CS]E*"), *folder.glob("COPYING*"), *folder.glob("NOTICE*")]:
                for patterns, text in licence_sections(path):
                    if not patterns or any(fnmatch.fnmatch(f"{inside}/x", pattern) for pattern in patterns):
                        texts.add(words(text))
            if folder == module:
                break
    texts.add(words(Path(run("go", "env", "GOROOT").strip(), "LICENSE").read_text(encoding="utf-8")))
    assert len(texts) >= 4
    for text in texts:
        assert text in words(LICENCES), f"THIRD_PARTY_LICENSES.md lacks: {text[:300]}"


# --- tools -----------------------------------------------------------------------------------------------------------


def program(folder: Path, name: str, script: str = "") -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    return tmp_path


def test_all_missing_tools_are_named(empty_path: Path) -> None:
    with pytest.raises(build_library.BuildError) as error:
        build_library.check_tools()
    for part in ("missing for that: Go 1.", "no command 'go'", "C compiler", "apt-get install gcc libc6-dev"):
        assert part in str(error.value)


def test_only_the_compiler_is_missing(empty_path: Path) -> None:
    program(empty_path, "go", 'test "$2" = CC && echo gcc || echo go1.99')
    with pytest.raises(build_library.BuildError, match=r"missing for that: a C compiler \(no command 'gcc' on PATH\)"):
        build_library.check_tools()
    program(empty_path, "gcc")
    build_library.check_tools()


def test_an_old_go_is_named(empty_path: Path) -> None:
    program(empty_path, "gcc")
    program(empty_path, "go", 'test "$2" = CC && echo gcc || echo go1.9.7')
    with pytest.raises(build_library.BuildError, match=r"Go 1\.\d+\.\d+ or newer \(found go1\.9\.7\)$"):
        build_library.check_tools()
    program(empty_path, "go", "echo go.mod requires a newer go >&2; exit 1")
    with pytest.raises(build_library.BuildError, match=r"'go env' says: go\.mod requires a newer go"):
        build_library.check_tools()


@pytest.mark.parametrize("name", build_library.OTHERS)
def test_a_missing_cross_compiler_is_named(empty_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target = build_library.target_of_name(name)
    monkeypatch.setattr(build_library.importlib.util, "find_spec", lambda package: None)
    program(empty_path, "go", "echo go1.99")
    lacking = "Python package 'ziglang'" if "macos" in name else f"command '{target.compiler}'"
    with pytest.raises(build_library.BuildError, match=f"no {lacking}.*{target.packages}"):
        build_library.check_tools(target)


def test_unknown_target() -> None:
    with pytest.raises(build_library.BuildError, match="no target 'arm': choose from aarch64, windows, macos-arm64"):
        build_library.target_of_name("arm")


def test_a_folder_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(build_library.BuildError, match=r"cannot be written to .*without --editable, or copy"):
        build_library.build(tmp_path / "file" / "folder")


needs_go = pytest.mark.skipif(not shutil.which("go"), reason="no Go")


@needs_go
def test_the_runtime_is_built_with_the_signal_masks(tmp_path: Path) -> None:
    (flag, table), note = build_library.masks(tmp_path)
    ((original, changed),) = json.loads(Path(table).read_text(encoding="utf-8"))["Replace"].items()
    assert (flag, note) == ("-overlay", "")
    assert Path(changed).read_text(encoding="utf-8") != Path(original).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("version", "change", "reason"),
    [
        ("go1.26.9", lambda text: text.replace("nmask := getg", "mask := getg"), "has the line 'nmask.*' 0 times"),
        ("go1.26.9", lambda text: text + text, "has the line 'nmask.*' 2 times"),
        ("go1.27.0", lambda text: text, "checked with Go 1.26, this is go1.27.0"),
        ("go1.26.9", lambda text: None, "this installation of Go has no sources"),
    ],
)
@needs_go
def test_a_go_that_the_masks_do_not_fit_fails_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, change: Callable[[str], str | None], reason: str
) -> None:
    original = Path(build_library._go("env", "GOROOT")) / signal_masks.FILE
    text = change(original.read_text(encoding="utf-8"))
    other = tmp_path / "go" / signal_masks.FILE
    other.parent.mkdir(parents=True)
    if text is not None:
        other.write_text(text, encoding="utf-8")
    answers = {("env", "GOROOT"): str(tmp_path / "go"), ("env", "GOVERSION"): version}
    monkeypatch.setattr(build_library, "check_tools", lambda target: None)
    monkeypatch.setattr(build_library, "_go", lambda *arguments: answers[arguments])
    with pytest.raises(build_library.BuildError, match=f"{reason}.*set FEWLABEL_WITHOUT_SIGNAL_MASKS=1"):
        build_library.build(tmp_path)
    monkeypatch.setenv(signal_masks.ACCEPT, "1")
    assert build_library.masks(tmp_path) == ([], " without signal masks")


def test_fresh_environments_have_no_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert shutil.which("go")
    assert not shutil.which("go", path=try_archive.without_tools()["PATH"])
    assert not shutil.which("cc", path=try_archive.without_tools("cc", "gcc")["PATH"])
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    program(tmp_path, "python3.99", "echo 3 99")
    program(tmp_path, "python3.98", "exit 1")
    assert list(try_archive.pythons()) == [sys.version_info[:2], (3, 99)]
    assert try_archive.pythons()[sys.version_info[:2]] == sys.executable


# --- the checks see faults -------------------------------------------------------------------------------------------


@needs_linux
def test_faults_of_a_library(tmp_path: Path) -> None:
    source, library = tmp_path / "bad.c", tmp_path / "bad.so"
    source.write_text(
        '#include <math.h>\nconst char *where = "' + str(ROOT) + '";\n'
        "double fewlabel_version(double x) { return pow(x, x); }\n"
    )
    run("cc", "-shared", "-fPIC", "-g", str(source), "-o", str(library), "-Wl,--no-as-needed,-z,lazy", "-lm")
    faults = "; ".join(check_library.check(library))
    assert re.search(r"exports what the header does not declare: (.*, )?where", faults)
    assert "does not export fewlabel_abi_version, " in faults
    assert "fewlabel_version" not in faults
    assert "needs libm.so.6" in faults
    assert "needs glibc 2.29, promised is 2.17" in faults  # pow got a new version in 2.29
    assert "is not stripped: it has .debug_" in faults
    assert f"is not linked with -z now; holds the path {ROOT}" in faults
    assert build_library.wheel_platform(library).startswith("linux_")


@needs_linux
def test_the_library_of_the_package_has_no_fault() -> None:
    assert check_library.check(_library.PATH) == []
    assert build_library.wheel_platform(_library.PATH).startswith("manylinux_2_17_")


def write_wheel(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_faults_of_a_wheel(tmp_path: Path) -> None:
    info = "fewlabel-0.1.0.dist-info/"
    right = {f"{info}licenses/{name}": (ROOT / name).read_bytes() for name in check_archive.LICENCES}
    right |= {f"{info}METADATA": b"[a](https://b)", f"fewlabel/{_library.PATH.name}": _library.PATH.read_bytes()}
    name = "fewlabel-0.1.0-py3-none-linux_x86_64.whl"
    (lacking,) = check_archive.check_wheel(write_wheel(tmp_path / name, right))
    assert re.fullmatch(r"lacks github.com/klauspost/compress v1\S+, .* in .dist-info/sboms", lacking)
    right[f"{info}sboms/fewlabel.cdx.json"] = build_library.bill_of_materials(_library.PATH, "0.1.0").encode()
    assert check_archive.check_wheel(write_wheel(tmp_path / name, right)) == []
    wrong = {
        "large": random.Random(0).randbytes(3_100_000),
        f"{info}METADATA": b"[a](https://b) [c](#d) [e](docs/f.md)",
    }
    compiled = write_wheel(tmp_path / "fewlabel-0.1.0-cp311-cp311-linux_x86_64.whl", wrong)
    assert check_archive.check_wheel(compiled) == [
        "the tag is not py3-none-<platform>",
        "is larger than 3.0 MB: 3.10 MB",
        "has no LICENSE, or another than the project",
        "has no THIRD_PARTY_LICENSES.md, or another than the project",
        "the README links to docs/f.md, which an index does not have",
        "holds 0 libraries instead of 1",
    ]
    pure = write_wheel(tmp_path / "fewlabel-0.1.0-py3-none-any.whl", right)
    assert check_archive.check_wheel(pure) == ["holds 1 libraries instead of 0"]


PREDICT = """
import pickle, sys
import numpy as np
import fewlabel

models, rows, expected = pickle.load(open(sys.argv[1] + "/expected.pickle", "rb"))
for number, (model, predictions) in enumerate(zip(models, expected)):
    for again in (model, fewlabel.load_model(f"{sys.argv[1]}/{number}")):
        assert type(again) is type(model) and again.get_params() == model.get_params()
        found = [again.predict(rows), again.decision_function(rows), again.predict_log_proba(rows)]
        assert [each.tolist() for each in found] == predictions
        assert vars(again).keys() >= {"hierarchy_", "calibration_temperature_", "feature_names_in_", "n_iter_"}
for call in (lambda: again.fit(rows, np.arange(len(rows)) % 2), lambda: fewlabel.save_model(again, "x"),
             lambda: fewlabel.load_model(sys.argv[1] + "/chain")):
    try:
        print(call())
    except RuntimeError as reason:
        print(reason)
print(fewlabel.__file__)
"""


def test_a_wheel_without_the_library_loads_models_and_predicts(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    pandas = pytest.importorskip("pandas")
    run(
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        str(tmp_path),
        env=os.environ | {"FEWLABEL_TARGET": "any"},
    )
    (wheel,) = tmp_path.glob("*-py3-none-any.whl")
    assert check_archive.check_wheel(wheel) == []
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")

    data = many_topics()
    rows = pandas.DataFrame(data.X.toarray()[:, :60], columns=[f"f{j}" for j in range(60)])
    labeled, names = np.arange(len(data.y)) % 4 == 0, np.array(["a.b", "a.c", "d", "e"])
    models = [
        TransductiveSVC(calibrate=True, hierarchy=".").fit(rows, np.where(labeled, names[data.truth], None)),
        SemiSupervisedLogisticRegression(class_prior="labels").fit(rows, np.where(labeled, data.truth == 0, -1)),
    ]
    predictions = [[m.predict(rows), m.decision_function(rows), m.predict_log_proba(rows)] for m in models]
    expected = [[each.tolist() for each in of_model] for of_model in predictions]
    (tmp_path / "expected.pickle").write_bytes(pickle.dumps((models, rows, expected)))
    for number, model in enumerate(models):
        save_model(model, tmp_path / str(number))
    save_model(SequenceSVC().fit(rows[:4], ["B", "I", "O", "O"]), tmp_path / "chain")

    *said, place = python(PREDICT, str(tmp_path), path=tmp_path / "installed").splitlines()
    assert Path(place).is_relative_to(tmp_path)
    assert len(said) == 3
    assert all(
        "wheel without it (py3-none-any), which loads models and predicts but cannot fit" in line for line in said
    )


def test_faults_of_a_source_archive(tmp_path: Path) -> None:
    path = tmp_path / "fewlabel-0.1.0.tar.gz"
    members = {
        "go.mod": b"module m\n\nrequire (\n\tgonum.org/v1/gonum v0.17.0 // mat\n)\n",
        "vendor/modules.txt": b"# golang.org/x/sys v0.49.0\n",
        "python/fewlabel/libfewlabel.so": b"",
        "README.md": str(ROOT).encode(),
    }
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(f"fewlabel-0.1.0/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    assert check_archive.check_source(path) == [
        "lacks LICENSE",
        "lacks THIRD_PARTY_LICENSES.md",
        "lacks the module gonum.org/v1/gonum v0.17.0 in vendor/",
        "holds a library: python/fewlabel/libfewlabel.so",
        f"README.md holds the path {ROOT}",
    ]
