"""svmlight files."""

from __future__ import annotations

import gzip
import inspect
import os
import re
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.signal
import scipy.sparse as sp
import sklearn.datasets
from planted import text_like

from fewlabel import TransductiveSVC
from fewlabel._native import _library
from fewlabel.datasets import dump_svmlight_file, load_scipy_docs, load_svmlight_file

X, Y, _ = text_like()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.svm"


def same_rows(a: sp.csr_matrix, b: sp.csr_matrix) -> None:
    assert a.shape == b.shape
    assert abs(a - b).max() == 0


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_written_is_read(path: Path, ending: str, zero_based: bool, dtype: type) -> None:
    name = f"{path}{ending}"
    dump_svmlight_file(X.astype(dtype), Y, name, zero_based=zero_based)
    rows, labels = load_svmlight_file(name, zero_based=zero_based, n_features=X.shape[1], dtype=dtype)
    same_rows(rows, X.astype(dtype))
    np.testing.assert_array_equal(labels, Y)
    assert labels.dtype == np.float64
    assert rows.dtype == dtype
    assert rows.indices.dtype == rows.indptr.dtype == np.int32
    assert isinstance(rows, sp.csr_matrix)
    first_bytes = Path(name).read_bytes()[:4]
    assert first_bytes.startswith({".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd", "": b"-1 "}[ending]) or ending == ""


@pytest.mark.parametrize("zero_based", [False, True])
def test_agrees_with_scikit_learn(path: Path, zero_based: bool) -> None:
    sklearn.datasets.dump_svmlight_file(X, Y, str(path), zero_based=zero_based)
    rows, labels = load_svmlight_file(path, zero_based=zero_based, n_features=X.shape[1])
    same_rows(rows, sklearn.datasets.load_svmlight_file(str(path), n_features=X.shape[1], zero_based=zero_based)[0])
    np.testing.assert_array_equal(labels, Y)
    dump_svmlight_file(X, Y, path, zero_based=zero_based)
    same_rows(sklearn.datasets.load_svmlight_file(str(path), n_features=X.shape[1], zero_based=zero_based)[0], X)


def test_same_rows_for_any_number_of_threads(path: Path) -> None:
    big = text_like(n=4000)
    dump_svmlight_file(big.X, big.y, path)
    for n_jobs in (1, 2, 5):
        rows, labels = load_svmlight_file(path, n_jobs=n_jobs, n_features=big.X.shape[1])
        same_rows(rows, big.X)
        np.testing.assert_array_equal(labels, big.y)


def test_separate_labels_of_svmlin(tmp_path: Path) -> None:
    rows, labels = tmp_path / "rows", tmp_path / "labels"
    rows.write_text("1:0.5 3:2\n\n2:1\n")
    labels.write_text("1\n0\n-1\n")
    X, y = load_svmlight_file(rows, labels=labels)
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, 2], [0, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(y, [1, 0, -1])


def test_comments_and_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(b"# a file\n+1 2:0.25 # a row\n-1 1:-3e-2\r\n"))
    rows, labels = load_svmlight_file(path)
    np.testing.assert_array_equal(rows.toarray(), [[0, 0.25], [-0.03, 0]])
    np.testing.assert_array_equal(labels, [1, -1])


def test_several_labels_a_row(path: Path) -> None:
    path.write_text("1,3 1:1\n2 1:1\n 1:1\n")
    assert load_svmlight_file(path)[1] == [(1.0, 3.0), (2.0,), ()]


def test_dense_rows_are_written(path: Path) -> None:
    dump_svmlight_file([[0, 1.5], [2, 0]], [1, -1], path)
    assert path.read_text().split() == ["1", "2:1.5", "-1", "1:2"]


def test_svmlin_labels_to_a_fit(path: Path) -> None:
    signs = np.array([-1, 1, 0])[Y]  # index -1 is the last
    dump_svmlight_file(X, signs, path)
    rows, labels = load_svmlight_file(path)
    model = TransductiveSVC(unlabeled=0).fit(rows, labels)
    assert model.classes_.tolist() == [-1, 1]
    np.testing.assert_array_equal(model.coef_, TransductiveSVC().fit(X, Y).coef_)


def test_sparse_interface_of_scikit_learn(path: Path) -> None:
    dump_svmlight_file(X, Y, path)
    try:
        context = sklearn.config_context(sparse_interface="sparray")
    except TypeError:
        pytest.skip("this scikit-learn has no sparse_interface")
    with context:
        assert isinstance(load_svmlight_file(path)[0], sp.csr_array)


@pytest.mark.parametrize(
    ("content", "settings", "message"),
    [
        ("1 1:1\n1 2:x\n", {}, r"2"),
        ("1 0:1\n", {}, "zero_based"),
        ("1 7:1\n", {"n_features": 3}, r"7.*3|3.*7"),
        ("abc 1:1\n", {}, "abc"),
        ("1 1:nan\n", {}, "(?i)nan"),
        (f"1 {2**64 + 3}:1\n", {}, "line 1: the feature number in .* is larger than 2147483647"),
    ],
)
def test_bad_files(path: Path, content: str, settings: dict, message: str) -> None:
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        load_svmlight_file(path, **settings)
    assert _library.live_handles() == 0


def test_bad_arguments(path: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        load_svmlight_file(tmp_path / "nothing")
    with pytest.raises(OSError, match="missing"):
        dump_svmlight_file(X, Y, tmp_path / "missing" / "file")
    with pytest.raises(ValueError, match="dtype must be float64 or float32"):
        load_svmlight_file(path, dtype=int)
    for wrong in (0, -1, 2**31, 2**63, 2**64 + 3, 2.5, "3", True):
        with pytest.raises(
            ValueError, match=f"n_features must be an integer from 1 to 2147483647 or None, got {wrong!r}"
        ):
            load_svmlight_file(path, n_features=wrong)
        with pytest.raises(ValueError, match=f"max_expansion must be an integer from 1 to 2147483647, got {wrong!r}"):
            load_svmlight_file(path, max_expansion=wrong)
    with pytest.raises(ValueError, match="zero_based must be True or False, got 'auto'"):
        load_svmlight_file(path, zero_based="auto")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        dump_svmlight_file(X, Y[:-1], path)
    with pytest.raises(ValueError, match="NaN in row 0, column 1"):
        dump_svmlight_file([[0, np.nan]], [1], path)
    path.write_text("1:1\n")
    (tmp_path / "labels").write_text("1\n1\n")
    with pytest.raises(ValueError, match="2"):
        load_svmlight_file(path, labels=tmp_path / "labels")


def test_a_file_that_expands_far_more_than_data(path: Path) -> None:
    path.write_bytes(gzip.compress(b"1 1:1\n" + b"#" * (80 << 20)))
    with pytest.raises(ValueError, match=f"{path} gives more than 100 times as much text .*raise max_expansion"):
        load_svmlight_file(path)
    assert load_svmlight_file(path, max_expansion=2000)[0].shape == (1, 1)


def test_bytes_after_a_compressed_stream(path: Path) -> None:
    path.write_bytes(gzip.compress(b"1 1:1\n") + b"and more")
    with pytest.raises(ValueError, match=f"{path} is truncated, or a few other bytes follow the compressed data"):
        load_svmlight_file(path)


def ends_after_ctrl_c(path: Path) -> float:
    """Seconds of the processor, as other programs run as well, from Ctrl-C to the end of the reading."""
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.2, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            load_svmlight_file(path)
        return time.process_time() - pressed[0]
    finally:
        timer.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="interrupts by SIGINT")
def test_ctrl_c_ends_the_reading(path: Path) -> None:
    line = "1 " + " ".join(f"{j}:0.{j}25" for j in range(1, 100)) + "\n"
    path.write_text(line * 300_000)  # 300 MB
    assert sorted(ends_after_ctrl_c(path) for _ in range(3))[1] < 0.2
    assert _library.live_handles() == 0


def test_docstrings_of_scipy_have_the_topic_of_their_module() -> None:
    texts, topic = load_scipy_docs(("stats", "signal"))
    assert len(texts) == len(set(texts)) == len(topic) > 200
    assert topic[list(texts).index(inspect.getdoc(scipy.signal.butter))] == "signal"
    assert set(load_scipy_docs("signal")[1]) == {"signal"}
    assert set(load_scipy_docs()[1]) >= {"signal", "stats", "linalg"}


def test_docstrings_of_scipy_are_the_same_in_every_process() -> None:
    texts = "\n".join(load_scipy_docs()[0])
    assert "# may vary" not in texts  # numbers that are drawn at import
    assert not re.search(r"argument\(s\) ``\{", texts)  # a set, whose order differs


@pytest.mark.parametrize(("topics", "found"), [("singal", "'singal'"), (("singal",), "'singal'")])
def test_subpackages_that_scipy_does_not_have(topics: object, found: str) -> None:
    with pytest.raises(ValueError, match=f"topics must be subpackages of SciPy.*got {found}"):
        load_scipy_docs(topics)
