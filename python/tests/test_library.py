"""The native library: when it is loaded, forks and threads, Ctrl-C, and that ctypes sees what the header says."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from planted import GROUP, many_topics, text_like

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC, show_versions
from fewlabel._inputs import _numbers
from fewlabel._native import _library, _signatures as c

PACKAGE = Path(_library.__file__).parents[1]
HEADER = Path(__file__).parents[2] / "include" / "fewlabel.h"
X, Y, _ = text_like()
WAIT = 300  # seconds after which a child counts as hanging

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


def python(script: str, *arguments: str, path: Path = PACKAGE.parent, before: Sequence[str] = ()) -> str:
    """Output of a script in a process of its own, by a command that comes `before` it."""
    done = subprocess.run(
        [*before, sys.executable, "-c", textwrap.dedent(script), *arguments],
        env=os.environ | {"PYTHONPATH": f"{path}{os.pathsep}{Path(__file__).parent}"},
        cwd=path,  # python -c looks for modules in its folder first
        capture_output=True,
        text=True,
        timeout=WAIT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- loading -------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
def test_importing_loads_no_library() -> None:
    python(
        """
        import fewlabel, pickle
        from fewlabel import TransductiveSVC, datasets, load_model, metrics, save_model, show_versions
        from fewlabel import SemiSupervisedLogisticRegression
        TransductiveSVC().get_params()
        SemiSupervisedLogisticRegression().get_params()
        assert "libfewlabel" not in open("/proc/self/maps").read()
        from planted import text_like
        TransductiveSVC().fit(text_like().X, text_like().y)
        assert "libfewlabel" in open("/proc/self/maps").read()
        """
    )


def test_bare_import_is_light() -> None:
    python(
        """
        import sys
        before = set(sys.modules)
        import fewlabel
        new = set(sys.modules) - before
        assert not new & {"sklearn", "numpy", "ctypes", "importlib.metadata"}, new
        assert fewlabel.__version__[0].isdigit()
        """
    )


def test_unknown_name_in_the_package() -> None:
    import fewlabel

    assert set(fewlabel.__all__) <= set(dir(fewlabel))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        fewlabel.nothing  # noqa: B018


def test_prediction_and_unpickling_work_without_the_library(tmp_path: Path) -> None:
    model = TransductiveSVC().fit(X, Y)
    many = many_topics()
    tree = SemiSupervisedLogisticRegression(hierarchy=GROUP).fit(many.X, many.y)
    answers = (tree.predict(many.X), tree.predict_proba(many.X), tree.predict_level(many.X, 1))
    joblib.dump((model, X, model.predict(X)), tmp_path / "model.joblib")
    joblib.dump((tree, many.X, answers), tmp_path / "tree.joblib")
    shutil.copytree(PACKAGE, tmp_path / "fewlabel", ignore=shutil.ignore_patterns("libfewlabel*", "__pycache__"))
    output = python(
        """
        import sys, joblib, fewlabel
        assert fewlabel.__file__.startswith(sys.argv[1])
        model, X, predicted = joblib.load(sys.argv[1] + "/model.joblib")
        assert (model.predict(X) == predicted).all()
        assert ((model.decision_function(X) > 0) == (predicted == 1)).all()
        tree, X4, (predicted4, probabilities, groups) = joblib.load(sys.argv[1] + "/tree.joblib")
        assert (tree.predict(X4) == predicted4).all()
        assert (tree.predict_proba(X4) == probabilities).all()
        assert (tree.predict_level(X4, 1) == groups).all()
        fewlabel.show_versions()
        try:
            model.fit(X, predicted)
        except RuntimeError as error:
            print(error)
        """,
        str(tmp_path),
        path=tmp_path,
    )
    assert "native library: not usable" in output
    assert "cannot be loaded" in output
    assert "predict does not" in output


def test_versions_agree(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    version, abi, _ = _library.versions()
    assert abi == c.ABI_VERSION
    show_versions()
    assert f"native library: {version}, ABI {abi}" in capsys.readouterr().out
    monkeypatch.setattr(c, "ABI_VERSION", 99)
    with pytest.raises(RuntimeError, match=rf"has ABI version {abi}, this package needs 99.*Install fewlabel again"):
        _library._load()


def test_a_library_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        fewlabel_abi_version = staticmethod(lambda: c.ABI_VERSION)
        fewlabel_version = staticmethod(lambda: b"9.9.9")

    monkeypatch.setattr(_library, "__version__", "0.1.0")
    with pytest.raises(RuntimeError, match=r"has version 9\.9\.9, this package is 0\.1\.0\. Install fewlabel again"):
        _library._check_versions(Other)
    monkeypatch.setattr(_library, "__version__", _library.UNKNOWN)
    _library._check_versions(Other)


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (c.BAD_ARGUMENT, "x", ValueError),
        (c.BAD_DATA, "x", ValueError),
        (c.BAD_HANDLE, "x", RuntimeError),
        (c.CANCELLED, "x", KeyboardInterrupt),
        (c.IO_ERROR, "x", OSError),
        (c.INTERNAL, "x", RuntimeError),
        (c.INTERNAL, "runtime error: makeslice: len out of range", MemoryError),
        (c.FORKED, "x", RuntimeError),
        (c.NO_MEMORY, "x", MemoryError),
    ],
)
def test_status_codes_become_exceptions(status: int, message: str, kind: type) -> None:
    error = _library._exception(status, message)
    assert type(error) is kind
    assert message in str(error)


def test_no_handle_stays() -> None:
    TransductiveSVC().fit(X, Y)
    assert _library.library().fewlabel_live_handles() == 0


# --- the table of signatures against the header ----------------------------------------------------------------------


STRUCTS = {
    "fewlabel_rows": c.Rows,
    "fewlabel_labels": c.Labels,
    "fewlabel_progress": c.Progress,
    "fewlabel_group": c.Group,
    "fewlabel_named": c.Named,
}


def header() -> str:
    return re.sub(r"/\*.*?\*/", " ", HEADER.read_text(encoding="utf-8"), flags=re.DOTALL)


def as_ctypes(declaration: str) -> Any:
    """The ctypes type of a C type."""
    words = declaration.replace("const", " ").replace("*", " * ").split()
    name, pointer = words[0], "*" in words
    if name in STRUCTS:
        return ctypes.POINTER(STRUCTS[name])
    if name == "fewlabel_allreduce":
        return c.Allreduce
    if pointer:
        return ctypes.c_char_p if name == "char" else ctypes.c_void_p
    return {"int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64, "double": ctypes.c_double}[name]


def table_of_functions() -> dict[str, list[str]]:
    """The parameters, as in the header, of each function of capi/functions.h."""
    text = (HEADER.parents[1] / "capi" / "functions.h").read_text(encoding="utf-8").replace("\\\n", " ")
    listed = re.search(r"#define FUNCTIONS\(F\)(.*)", text)[1]
    arguments = dict(re.findall(r"#define (\w+)_ARGUMENTS\(A\)(.*)", text))
    assert re.findall(r"F\((\w+),", listed) == list(arguments)
    return {
        f"fewlabel_{name}": [*re.findall(r"A\(([^()]*)\)", a), "char *, error", "int64_t, error_size"]
        for name, a in arguments.items()
    }


def words(parameter: str) -> list[str]:
    return parameter.replace("*", " * ").replace(",", " ").split()


def test_the_table_of_functions_equals_the_header() -> None:
    """Types and names, in their order."""
    declared = dict(re.findall(r"^int32_t (fewlabel_\w+)\(([^)]*)\);", header(), re.MULTILINE))
    assert declared.pop("fewlabel_abi_version") == "void"
    table = table_of_functions()
    assert {name: [words(p) for p in text.split(",")] for name, text in declared.items()} == {
        name: [words(p) for p in parameters] for name, parameters in table.items()
    }


def without_name(parameter: str) -> str:
    return re.sub(r"\w+\s*$", "", parameter)


def test_signatures_equal_the_header() -> None:
    declared = {
        name: (result, parameters)
        for result, name, parameters in re.findall(r"^([\w ]+?[ *]+)(fewlabel_\w+)\(([^)]*)\);", header(), re.MULTILINE)
    }
    assert set(declared) == set(c.SIGNATURES)
    for name, (result, parameters) in declared.items():
        arguments = [] if parameters.strip() == "void" else parameters.split(",")
        wanted = (as_ctypes(result), tuple(as_ctypes(without_name(argument)) for argument in arguments))
        assert c.SIGNATURES[name] == wanted, name


def test_structs_equal_the_header() -> None:
    structs = re.findall(r"typedef struct \{(.*?)\}\s*(\w+);", header(), re.DOTALL)
    assert {name for _, name in structs} == set(STRUCTS)
    for body, name in structs:
        fields = [line.strip() for line in body.split(";") if line.strip()]
        wanted = [(re.search(r"\w+$", field)[0], as_ctypes(without_name(field))) for field in fields]
        assert list(STRUCTS[name]._fields_) == wanted


def test_numbers_equal_the_header() -> None:
    defined = {name: int(value) for name, value in re.findall(r"#define FEWLABEL_(\w+) (\d+)", header())}
    own = {name: value for name, value in vars(c).items() if name.isupper() and isinstance(value, int)}
    assert own == defined


def test_every_function_enters_go_by_the_shim() -> None:
    """Which keeps forked children and the host's signals away from Go: all by its table, but for three by hand."""
    folder = HEADER.parents[1] / "capi"
    shim = (folder / "shim.c").read_text(encoding="utf-8")
    by_hand = {"fewlabel_abi_version", "fewlabel_version", "fewlabel_live_handles"}
    assert "\nALL_FUNCTIONS(EXPORT)\n" in shim
    assert by_hand | set(table_of_functions()) == set(c.SIGNATURES)
    assert set(re.findall(r"^\S.*\b(fewlabel_\w+)\(", shim, re.MULTILINE)) == by_hand
    enters = r"leave_host\(&h\);\n  \w+ = go_fewlabel_live_handles\(\);\n  return_to_host\(&h\);"
    assert re.search(enters, shim)
    assert re.search(r"fewlabel_version\(void\) \{\n  fewlabel_live_handles\(\);", shim)  # which enters for it
    for file in folder.glob("*.go"):  # nothing of Go is public by itself
        assert not re.search(r"^//export fewlabel_", file.read_text(encoding="utf-8"), re.MULTILINE), file


# --- processes and threads -------------------------------------------------------------------------------------------


def coefficients(_: int = 0) -> bytes:
    return TransductiveSVC(n_jobs=2).fit(X, Y).coef_.tobytes()


def in_child(method: str, task: Any) -> Any:
    """Result of a task in a child process, which must not hang."""
    context = multiprocessing.get_context(method)
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(sender, task))
    child.start()
    try:
        assert receiver.poll(WAIT), "the child hangs"
        return receiver.recv()
    finally:
        child.kill()
        child.join()


def _send(sender: Any, task: Any) -> None:
    try:
        sender.send(task())
    except BaseException as error:
        sender.send(error)


def grandchild() -> Any:
    coefficients()
    return in_child("fork", coefficients)


def dead_copy() -> tuple[int, str, int]:
    """What the parent's copy of the library answers in a forked child."""
    library = _library._loaded.library
    error, needed = ctypes.create_string_buffer(300), ctypes.c_int64()
    status = library.fewlabel_options(c.LINEAR, None, 0, ctypes.byref(needed), error, 300)
    return status, error.value.decode(), library.fewlabel_live_handles()


def refuse(name: str) -> None:
    def refused(*_: Any, **__: Any) -> int:
        raise OSError(f"no {name} here")

    setattr(tempfile if name == "mkstemp" else os, name, refused)


def without_memfd() -> tuple[bytes, list[str]]:
    """The model, and what was left in the folder for temporary files."""
    refuse("memfd_create")
    with tempfile.TemporaryDirectory() as tempfile.tempdir:
        return coefficients(), os.listdir(tempfile.tempdir)


def without_any_copy() -> None:
    refuse("mkstemp")
    without_memfd()


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
class TestFork:
    def test_child_after_the_parent_has_fitted(self) -> None:
        expected = coefficients()
        for _ in range(3):
            assert in_child("fork", coefficients) == expected

    def test_child_of_a_child(self) -> None:
        assert in_child("fork", grandchild) == coefficients()

    def test_child_before_the_parent_has_fitted(self) -> None:
        python(
            """
            import test_library
            assert test_library.in_child("fork", test_library.coefficients) == test_library.coefficients()
            """
        )

    def test_the_copy_of_the_parent_answers_with_a_status(self) -> None:
        coefficients()
        status, message, handles = in_child("fork", dead_copy)
        assert status == c.FORKED
        assert "forked" in message
        assert handles == 0

    def test_a_temporary_file_where_there_are_no_files_in_memory(self) -> None:
        assert in_child("fork", without_memfd) == (coefficients(), [])

    def test_clear_error_where_no_private_copy_can_be_made(self) -> None:
        coefficients()
        error = in_child("fork", without_any_copy)
        assert isinstance(error, RuntimeError)
        for word in ("forked", "no memfd_create here", "no mkstemp here", "spawn", "loky"):
            assert word in str(error)

    def test_lock_held_at_the_fork(self) -> None:
        expected = coefficients()
        with _library._lock:
            assert in_child("fork", coefficients) == expected


@pytest.mark.parametrize("method", [m for m in multiprocessing.get_all_start_methods() if m != "fork"])
def test_other_start_methods(method: str) -> None:
    assert in_child(method, coefficients) == coefficients()


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(backend: str) -> None:
    results = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(coefficients)(i) for i in range(4))
    assert results == [coefficients()] * 4


def test_many_threads_at_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(coefficients, range(24)))
    assert results == [coefficients()] * 24
    assert _library.library().fewlabel_live_handles() == 0


def test_number_of_threads() -> None:
    cores = joblib.cpu_count()
    assert _numbers.threads(None) == cores
    assert _numbers.threads(-1) == cores
    assert _numbers.threads(-2) == max(1, cores - 1)
    assert _numbers.threads(-1000) == 1
    assert _numbers.threads(np.int64(3)) == 3
    for backend in ("loky", "threading"):
        inside = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(_numbers.threads)(None) for _ in range(2))
        assert inside == [1, 1]
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        _numbers.threads(0)
    with pytest.raises(TypeError, match=r"n_jobs must be an integer or None, got 1\.5"):
        _numbers.threads(1.5)


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------

LONG_FIT = """
import numpy as np, scipy.sparse as sp
from fewlabel import TransductiveSVC
from fewlabel._native import _library
from planted import text_like

rng = np.random.default_rng(0)
words = np.sort(rng.integers(0, 20_000, (60_000, 400), dtype=np.int32), axis=1)
ends = np.arange(0, words.size + 1, 400, dtype=np.int32)
X = sp.csr_matrix((rng.random(words.size), words.ravel(), ends), shape=(60_000, 20_000))
X.sum_duplicates()
y = np.where(np.arange(60_000) < 200, rng.integers(0, {classes}, 60_000), -1)
print("start", flush=True)
try:
    TransductiveSVC(method="{method}", alpha=1e-7, tol=1e-12).fit(X, y)
    print("finished")
except KeyboardInterrupt:
    print("interrupted", flush=True)
small = text_like()
print("next fit", TransductiveSVC().fit(small.X, small.y).n_iter_ > 0, _library.library().fewlabel_live_handles())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize(
    ("method", "classes"),
    [("annealing", 2), ("switching", 9), ("gradient", 2)],
)
def test_ctrl_c_ends_a_fit(method: str, classes: int) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", LONG_FIT.format(method=method, classes=classes)],
        env=os.environ | {"PYTHONPATH": f"{PACKAGE.parent}{os.pathsep}{Path(__file__).parent}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "start\n"
        time.sleep(1)  # the fit takes several seconds
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=WAIT)
    finally:
        child.kill()
    first, second = output.splitlines()
    assert first == "interrupted", output  # and not "finished"
    assert second == "next fit True 0"
