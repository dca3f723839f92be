"""Memory: refused before it runs out, given back after a fit, and no more of it after many fits than after a few."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from test_library import python

from fewlabel import SequenceSVC, TransductiveSVC, labels
from fewlabel._inputs import _memory
from fewlabel.labels import Soft

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")

# The process's own numbers in MB, by the names of /proc/self/status.
STATUS = """
import ctypes, gc, gzip, os, resource, sys, time
import numpy as np, scipy.sparse as sp
from pathlib import Path
from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC, load_model, save_model
from fewlabel._native import _library
from planted import many_topics, text_like

def status(name):
    for line in open("/proc/self/status"):
        if line.startswith(name + ":"):
            words = line.split()
            return int(words[1]) / 1024 if words[-1] == "kB" else int(words[1])

small, many = text_like(), many_topics()
"""


def run(script: str, *arguments: str) -> str:
    return python(STATUS + script, *arguments)


# --- refused before it runs out --------------------------------------------------------------------------------------

LIMITED = """
TransductiveSVC().fit(small.X, small.y)  # loads the library
room = 450 + 76 * os.cpu_count()  # threads take address space
resource.setrlimit(resource.RLIMIT_AS, (int(status("VmSize") + room) << 20,) * 2)

def refused(task):
    try:
        task()
    except MemoryError as error:
        print(error)
    else:
        sys.exit("not refused")
    TransductiveSVC().fit(small.X, small.y)
    assert _library.library().fewlabel_live_handles() == 0
"""


def test_a_fit_that_does_not_fit() -> None:
    output = run(
        LIMITED
        + """
def wide(n_features, n_classes, indices=small.X.indices):
    y = np.where(np.arange(300) < 2 * n_classes, np.arange(300) % n_classes, -1)
    X = sp.csr_matrix((small.X.data, indices, small.X.indptr), shape=(300, n_features))
    return lambda: TransductiveSVC().fit(X, y)

refused(wide(2**29, 2))
refused(wide(2**20, 100))
refused(wide(2**31 - 1, 2))
for indices in small.X.indices[::-1], 0 * small.X.indices:  # unsorted, repeated
    refused(wide(2**31 - 1, 2, indices))
rows = sp.random(20_000, 100, 0.05, format="csr", random_state=0)
refused(lambda: TransductiveSVC().fit(rows, np.where(np.arange(20_000) < 2_000, np.arange(20_000) % 1_000, -1)))
"""
    )
    lines = output.splitlines()
    wanted = ("536870912 and 2", "1048576 and 100", *("2147483647 and 2",) * 3, "100 and 1000")
    for line, sizes in zip(lines, wanted, strict=True):
        assert f"rows with n_features {sizes} classes needs about" in line
        assert " of memory, and " in line
        assert "available: use fewer features" in line


def test_a_file_of_wide_rows_fits(tmp_path: Path) -> None:
    """Rows with unsorted and repeated indices take no memory of the number of their features."""
    output = run(
        LIMITED
        + """
from fewlabel._native import _views

indices = np.array([7, 2**31 - 2, 7], dtype=np.int32)
X = sp.csr_matrix((np.array([1.0, 2.0, 4.0]), indices, np.array([0, 3])), shape=(1, 2**31 - 1))
path = os.fsencode(sys.argv[1])
_library.call("fewlabel_svmlight_write", path, _views.rows(X), np.ones(1), 0)
print(Path(sys.argv[1]).read_text())
""",
        str(tmp_path / "rows"),
    )
    assert output.split() == ["1", "8:5", "2147483647:2"]


def test_a_library_that_has_no_room() -> None:
    output = run(
        """
resource.setrlimit(resource.RLIMIT_AS, (int(status("VmSize") + 1000) << 20,) * 2)
for _ in range(2):
    try:
        TransductiveSVC().fit(small.X, small.y)
    except MemoryError as error:
        print(error)
"""
    )
    lines = output.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert "the native library of fewlabel reserves 1.9 GB of address space" in line
        assert "left: raise the limit (ulimit -v)" in line


@pytest.mark.parametrize(
    ("kind", "room"),
    [(kind, 500) for kind in ("labels", "sets", "soft", "sparse soft", "columns", "a sequence", "tags of a sequence")]
    + [("labels", 20), ("sparse soft", 20), ("a sequence", 20), ("tags of a sequence", 20)]
    + [("labels", 1500), ("sets", 1500)],
)
def test_labels_that_do_not_fit(kind: str, room: int) -> None:
    """Refused with `room` MB more than the rows take: where memory runs out, the library would end the process."""
    output = run(
        """
from fewlabel import SequenceSVC
from fewlabel.labels import Soft

tagger = SequenceSVC(max_iter=1).fit(np.ones((60, 1)), np.arange(60) % 20, lengths=[60])
n, k = 20_000, 2_000
X, y = sp.random(n, 100, 0.05, format="csr", random_state=0), np.where(np.arange(n) < 2 * k, np.arange(n) % k, -1)
P = sp.csr_array((np.full(4 * n, 0.25), np.arange(4 * n) % k, np.arange(0, 4 * n + 1, 4)), shape=(n, k))
tasks = {
    "labels": lambda: TransductiveSVC().fit(X, y),
    "sets": lambda: TransductiveSVC().fit(X, [set(range(i % 40, k, 40)) if c < 0 else int(c) for i, c in enumerate(y)]),
    "soft": lambda: TransductiveSVC().fit(X, Soft(np.full((n, k), 1 / k))),
    "sparse soft": lambda: TransductiveSVC().fit(X, Soft(P)),
    "columns": lambda: TransductiveSVC().fit(X, np.arange(n * k, dtype=np.int8).reshape(n, k) % 2),
    "a sequence": lambda: SequenceSVC(max_iter=1).fit(X, y % 1000, lengths=[n]),
    "tags of a sequence": lambda: tagger.predict(sp.csr_array((5_000_000, 1)), lengths=[5_000_000]),
}
resource.setrlimit(resource.RLIMIT_AS, (int(status("VmSize") + int(sys.argv[2])) << 20,) * 2)
try:
    tasks[sys.argv[1]]()
except MemoryError as error:
    print("refused:", error)
""",
        kind,
        str(room),
    )
    assert output.startswith("refused: "), output


FITTED = TransductiveSVC(unlabeled=None).fit(np.eye(4), [0, 1, 0, 1])
VOTES = np.array([["a", "b"], ["b", "a"], ["a", None]], dtype=object)
SETS = [{"a", "b"}, "a", "b", {"a", "c"}, "c", None]


@pytest.mark.parametrize(
    ("task", "purpose"),
    [
        (lambda: Soft(np.full((3, 2), 0.5)), r"a copy of probabilities of shape \(3, 2\)"),
        (lambda: Soft(sp.csr_array(np.full((3, 2), 0.5))), r"a copy of probabilities of shape \(3, 2\)"),
        (lambda: TransductiveSVC().fit(np.eye(6), SETS), "4 classes of rows in y"),
        (lambda: labels.from_votes(VOTES), r"votes on 2 classes of \d rows"),
        (lambda: FITTED.predict(np.eye(4)), "1 scores of 4 rows"),
    ],
)
def test_python_asks_too(task: Callable[[], object], purpose: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "_UNASKED", 0)
    monkeypatch.setattr(_memory, "available", lambda: 10.0)
    with pytest.raises(MemoryError, match=f"{purpose} needs about 0.0 GB of memory, and 0.0 GB are available: give "):
        task()


def test_tags_of_tokens_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(_memory, "need", lambda n_bytes, purpose, advice: asked.append(f"{n_bytes} {purpose}"))
    SequenceSVC(max_iter=1).fit(np.eye(6), ["a", "b", {"a", "b"}, "a", "b", None], lengths=[3, 3])
    assert "24.0 the tags of 6 tokens" in asked


def test_a_svmlight_file_that_does_not_fit(tmp_path: Path) -> None:
    """A small file can hold much: this one shrinks to a thousandth."""
    path = tmp_path / "rows.gz"
    output = run(
        LIMITED
        + """
with gzip.open(sys.argv[1], "wb", compresslevel=1) as file:
    for _ in range(100):
        file.write(b"1 1:1\\n" * 250_000)
data, sizes, path = ctypes.c_int64(), np.zeros(4, np.int64), os.fsencode(sys.argv[1])
refused(lambda: _library.call("fewlabel_svmlight_read", path, None, 0, 0, 0, None, data, sizes))
""",
        str(path),
    )
    assert path.stat().st_size < 2e6
    assert f"reading {path} needs about" in output
    assert "read the file in parts" in output


# --- given back ------------------------------------------------------------------------------------------------------


def test_memory_comes_back_after_a_fit() -> None:
    output = run(
        """
TransductiveSVC().fit(small.X, small.y)
rng = np.random.default_rng(0)
X = sp.random(150_000, 3_000, 5e-3, format="csr", random_state=rng, dtype=np.float64)
y = np.where(np.arange(150_000) < 60, np.arange(150_000) % 6, -1)
gc.collect()
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # the high-water mark begins anew
TransductiveSVC(max_iter=2, tol=0.1).fit(X, y)
print(status("VmHWM") - before, status("VmRSS") - before)
"""
    )
    peak, left = map(float, output.split())
    assert peak > 60, "the fit took too little for this test"
    assert left < 25, f"{left} MB stay of {peak}"


# --- no growth -------------------------------------------------------------------------------------------------------

SECONDS = float(os.environ.get("FEWLABEL_SOAK_SECONDS", "12"))


def test_many_fits_do_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits of all kinds, failed ones and files, over and over. FEWLABEL_SOAK_SECONDS=3600 makes it an hour's worth."""
    monkeypatch.setattr("test_library.WAIT", 2 * SECONDS + 600)  # a round may be long where others work, too
    output = run(
        """
import tempfile

path = Path(tempfile.mkdtemp(), "model")

def once(k):
    methods = ("annealing", "switching", "pair_switching")
    TransductiveSVC(method=methods[k % 3], n_jobs=1 + k % 2).fit(small.X, small.y)
    model = SemiSupervisedLogisticRegression(n_jobs=1 + k % 3).fit(many.X, many.y)
    save_model(model, path)
    load_model(path).predict(many.X)
    for task in (lambda: TransductiveSVC(alpha=-1).fit(small.X, small.y), lambda: load_model("/dev/null")):
        try:
            task()
        except (ValueError, OSError):
            pass

def facts():
    return len(os.listdir("/proc/self/fd")), status("Threads"), _library.library().fewlabel_live_handles()

begun, warm = time.monotonic(), 12
while warm > 0 or time.monotonic() - begun < float(sys.argv[1]) / 4:
    once(warm)
    warm -= 1
before, sizes = facts(), []
while len(sizes) < 36 or time.monotonic() - begun < float(sys.argv[1]):
    once(len(sizes))
    gc.collect()
    sizes.append(status("VmRSS"))
half = len(sizes) // 2
print(*before, *facts(), max(sizes[:half]), max(sizes[half:]))
""",
        str(SECONDS),
    )
    files, threads, handles, files2, threads2, handles2, peak, peak2 = map(float, output.split())
    assert peak2 - peak < 2, "the heap gives memory back at times of its own, but the peak of many rounds stays"
    assert files2 == files
    assert threads2 <= threads + 4  # Go keeps a thread that a call was in
    assert handles == handles2 == 0
