"""Fits whose rows several ranks share: threads with a communicator of their own, and MPI where it is installed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import fewlabel
from fewlabel import SemiSupervisedLogisticRegression, SequenceSVC, TransductiveSVC, spmd
from fewlabel.labels import Soft
from fewlabel.methods import Switching

SIZE, WAIT = 3, 300
PROGRAMS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
MPIRUN, MPICC = (shutil.which(name, path=PROGRAMS) for name in ("mpirun", "mpicc"))
EXAMPLES = Path(__file__).parents[2] / "examples"
PAGE = Path(__file__).parents[2] / "docs" / "many-machines.md"


def rows(n_classes: int, n: int = 400) -> tuple[sp.csr_array, np.ndarray]:
    """Rows of classes with words of their own; six of each class have a label."""
    draws = np.random.default_rng(1)
    truth = draws.integers(0, n_classes, n)
    of_class = (draws.random((n, 60)) < 0.25) * (np.arange(60) % n_classes == truth[:, None])
    y = np.array([f"class {c}" for c in truth], dtype=object)
    y[6 * n_classes :] = None
    return sp.csr_array(of_class + (draws.random((n, 60)) < 0.1) * draws.random((n, 60))), y


class Threads:
    """What ranks that are threads share; `communicator` gives a rank what mpi4py would."""

    def __init__(self) -> None:
        self.parts: list[Any] = [None] * SIZE
        self.barrier = threading.Barrier(SIZE, timeout=WAIT)

    def exchange(self, rank: int, part: Any) -> list[Any]:
        self.parts[rank] = part
        self.barrier.wait()
        parts = list(self.parts)
        self.barrier.wait()
        return parts


class Communicator:
    def __init__(self, shared: Threads, rank: int) -> None:
        self.shared, self.rank, self.calls = shared, rank, 0

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return SIZE

    def allgather(self, part: Any) -> list[Any]:
        return self.shared.exchange(self.rank, part)

    def Allreduce(self, own: np.ndarray, sums: np.ndarray) -> None:
        self.calls += 1
        sums[:] = sum(self.shared.exchange(self.rank, own))


class Broken(Communicator):
    """Whose network fails in the midst of the fit."""

    def Allreduce(self, own: np.ndarray, sums: np.ndarray) -> None:
        if self.calls == 20:
            self.shared.barrier.abort()
        super().Allreduce(own, sums)


def on_ranks(task: Any, communicator: type = Communicator) -> list[Any]:
    """What task(comm) gives or raises on each rank."""
    shared, found = Threads(), [None] * SIZE

    def run(rank: int) -> None:
        try:
            found[rank] = task(communicator(shared, rank))
        except BaseException as failure:
            found[rank] = failure

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(SIZE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
        assert not thread.is_alive(), "a rank hangs"
    return found


def of_rank(rank: int, n: int) -> np.ndarray:
    """The rows of a rank; the last one has none."""
    return np.flatnonzero(np.arange(n) % (SIZE - 1) == rank)


def fitted(
    model: Any, X: Any, y: Any, parts: Sequence[np.ndarray] = (), communicator: type = Communicator
) -> list[Any]:
    """A copy of the model that each rank fits to its part of the rows, or what it raises."""
    parts = parts or [of_rank(rank, len(y)) for rank in range(SIZE)]

    def fit(comm: Communicator) -> Any:
        mine = parts[comm.rank]
        return spmd.fit(clone(model), X[mine], y[mine], comm=comm)

    return on_ranks(fit, communicator)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("method", ["annealing", "switching", "gradient"])
def test_ranks_find_the_model_of_one_machine(method: str, n_classes: int, dense: bool) -> None:
    X, y = rows(n_classes)
    if dense:
        X = X.toarray() + 0.01
    model = TransductiveSVC(method=method, class_prior="labels", class_weight="balanced", n_jobs=1)
    if method == "gradient":
        model.tol = 1e-8  # its objective has many minima: where a path ends early, rounding decides
    alone = model.fit(X, y)

    for rank, found in enumerate(fitted(model, X, y)):
        assert found.classes_.tolist() == alone.classes_.tolist()
        assert found.objective_ == pytest.approx(alone.objective_, rel=1e-9 if method != "gradient" else 1e-4)
        assert (found.transduction_ == alone.transduction_[of_rank(rank, len(y))]).all()
        assert (found.predict(X) == alone.predict(X)).all()


class Counting(Communicator):
    """Which keeps the lengths of sums."""

    def __init__(self, shared: Threads, rank: int) -> None:
        super().__init__(shared, rank)
        self.lengths: list[int] = []

    def Allreduce(self, own: np.ndarray, sums: np.ndarray) -> None:
        self.lengths.append(len(own))
        super().Allreduce(own, sums)


WEAK = {  # of labels and true classes
    "sets": lambda y, truth: [
        {f"class {c}", f"class {(c + 1) % 4}"} if k > 60 and k % 3 else v
        for k, (v, c) in enumerate(zip(y, truth, strict=True))
    ],
    "groups": lambda y, truth: [
        f"class {c % 2}x" if k > 60 and k % 3 else v for k, (v, c) in enumerate(zip(y, truth, strict=True))
    ],
    "probabilities": lambda y, truth: Soft(
        [
            np.roll([0.7, 0.1, 0.1, 0.1], c) if k % 3 and v is None else [v == f"class {name}" for name in range(4)]
            for k, (v, c) in enumerate(zip(y, truth, strict=True))
        ],
        [f"class {c}" for c in range(4)],
    ),
}


@pytest.mark.parametrize("unknown", [0, -1])
def test_several_labels_a_row_are_refused_on_every_rank(unknown: int) -> None:
    X, y = rows(3, 60)
    columns = np.column_stack([[name == f"class {c}" for name in y] for c in range(3)]).astype(int)
    columns[columns.sum(axis=1) == 0] = unknown
    found = on_ranks(lambda comm: spmd.fit(TransductiveSVC(), X, columns, comm=comm))
    assert all("several labels a row, which are not supported here" in str(each) for each in found)


@pytest.mark.parametrize("kind", WEAK)
@pytest.mark.parametrize(
    "model",
    [
        TransductiveSVC(tol=1e-10),
        TransductiveSVC(method="annealing", tol=1e-10),
        TransductiveSVC(method="switching", tol=1e-8),
        SemiSupervisedLogisticRegression(method="entropy", calibrate=False, tol=1e-7),
    ],
)
def test_ranks_know_what_one_machine_knows_of_rows_without_a_label(kind: str, model: Any) -> None:
    X, y = rows(4, 240)
    parents = {f"class {c}": f"class {c % 2}x" for c in range(4)}
    model = clone(model).set_params(
        hierarchy=parents if kind == "groups" else None, class_prior={f"class {c}": 0.25 for c in range(4)}
    )
    known = WEAK[kind](y, np.random.default_rng(1).integers(0, 4, len(y)))  # the true classes of `rows`
    known = known if isinstance(known, Soft) else np.array([*known, None], dtype=object)[:-1]
    order = np.concatenate([of_rank(rank, len(y)) for rank in range(SIZE)])
    X, y = X[order], y[order]
    known = known[order]
    parts = np.split(np.arange(len(y)), np.cumsum([len(of_rank(rank, len(y))) for rank in range(SIZE - 1)]))
    alone = clone(model).fit(X, known)
    assert abs(alone.objective_ / clone(model).fit(X, y).objective_ - 1) > 1e-3

    for rank, found in enumerate(fitted(model, X, known, parts)):
        assert not isinstance(found, BaseException), found
        # Copies of rows stand behind those of each rank: at the usual tolerance another order is another end.
        assert found.objective_ == pytest.approx(alone.objective_, rel=1e-9 if model.method == "annealing" else 1e-5)
        assert (found.predict(X) == alone.predict(X)).all()
        assert (found.transduction_ == alone.transduction_[parts[rank]]).all()


@pytest.mark.filterwarnings("ignore:class class 2 has a share in class_prior but no labeled row")
def test_a_class_without_labels_has_its_share_on_all_ranks() -> None:
    X, y = rows(3, 240)
    y[y == "class 2"] = None
    model = TransductiveSVC(class_prior={f"class {c}": 1 / 3 for c in range(3)})
    alone = clone(model).fit(X, y)
    for found in fitted(model, X, y):
        assert found.classes_.tolist() == ["class 0", "class 1", "class 2"]
        assert found.objective_ == pytest.approx(alone.objective_, rel=1e-9)


def test_a_fit_of_real_rows_adds_up_few_vectors_and_few_numbers_besides(data: ModuleType) -> None:
    X, truth = data.rcv1_binary("CCAT")
    y = np.where(np.arange(len(truth)) < 45, truth > 0, -1)
    model = TransductiveSVC(class_prior="labels", n_jobs=1).fit(X, y)

    def fit(comm: Counting) -> Any:
        mine = of_rank(comm.rank, len(y))
        return spmd.fit(TransductiveSVC(**model.get_params()), X[mine], y[mine], comm=comm), comm.lengths

    for found, lengths in on_ranks(fit, Counting):
        assert found.objective_ == pytest.approx(model.objective_, rel=1e-10)
        vectors = sum(length > X.shape[1] / 2 for length in lengths)
        assert vectors <= 150
        assert len(lengths) - vectors <= 400


@pytest.mark.parametrize("n_classes", [2, 4])
def test_ranks_estimate_the_class_shares_of_one_machine(n_classes: int) -> None:
    X, y = rows(n_classes)
    alone = TransductiveSVC().fit(X, y)
    for rank, found in enumerate(fitted(TransductiveSVC(), X, y)):
        assert found.class_prior_ == pytest.approx(alone.class_prior_, abs=1e-7)
        assert (found.transduction_ == alone.transduction_[of_rank(rank, len(y))]).all()


def test_probabilities_and_warm_starts_work_on_ranks() -> None:
    X, y = rows(3)
    model = SemiSupervisedLogisticRegression(class_prior="labels", calibrate=False, warm_start=True)
    alone = model.fit(X, y).fit(X, y).predict_proba(X)

    def fit(comm: Communicator) -> Any:
        mine = of_rank(comm.rank, len(y))
        model = SemiSupervisedLogisticRegression(class_prior="labels", calibrate=False, warm_start=True)
        for _ in range(2):
            spmd.fit(model, X[mine], y[mine], comm=comm)
        return model.predict_proba(X)

    for found in on_ranks(fit):
        assert np.abs(found - alone).max() < 0.02
        assert (found.argmax(axis=1) == alone.argmax(axis=1)).all()


@pytest.mark.parametrize(
    ("change", "rank", "message"),
    [
        ({"tol": -1.0}, 1, "tol"),
        ({"tol": 1e-3}, 1, "tol is 0.001 on rank 1, but not on rank 0"),
        ({"unlabeled": None}, 1, "unlabeled is None on rank 1, but not on rank 0"),
        ({"hierarchy": {"class 0": "all", "class 1": "all"}}, 2, "hierarchy is {'class 0'"),
        ({"alpha": "a"}, 0, "alpha"),
        ({"calibrate": True}, None, "calibrate"),
        ({"method": Switching(max_switches=2)}, None, "max_switches"),
        ({"method": "pair_switching"}, None, "pair_switching"),
    ],
)
def test_a_wrong_parameter_is_an_error_on_all_ranks(change: dict, rank: int | None, message: str) -> None:
    X, names = rows(2)
    y = np.array(["" if name is None else name for name in names])

    def fit(comm: Communicator) -> Any:
        mine = of_rank(comm.rank, len(y))
        model = TransductiveSVC(class_prior="labels", unlabeled="")
        if rank in (None, comm.rank):
            model.set_params(**change)
        return spmd.fit(model, X[mine], y[mine], comm=comm)

    found = on_ranks(fit)
    assert all(isinstance(failure, ValueError | RuntimeError | TypeError) for failure in found), found
    assert message in str(found[rank or 0])


def test_equal_parameters_may_be_written_in_several_ways() -> None:
    X, y = rows(2)
    ways = [
        {"class_prior": [0.5, 0.5], "alpha": 1, "n_jobs": 1},
        {"class_prior": (0.5, 0.5), "n_jobs": 2},
        {"class_prior": np.full(2, 0.5), "verbose": 1},
    ]

    def fit(comm: Communicator) -> Any:
        mine = of_rank(comm.rank, len(y))
        return spmd.fit(TransductiveSVC(**({"alpha": 1.0} | ways[comm.rank])), X[mine], y[mine], comm=comm).objective_

    assert len(set(on_ranks(fit))) == 1


def test_a_rank_whose_weights_are_all_0_is_as_welcome_as_one_without_rows() -> None:
    X, y = rows(2)
    parts = [np.arange(200), np.arange(200, 300), np.arange(300, 400)]

    def fit(comm: Communicator) -> Any:
        mine = parts[comm.rank]
        weights = np.full(len(mine), float(comm.rank != 1))
        return spmd.fit(TransductiveSVC(), X[mine], y[mine], weights, comm=comm).coef_

    alone = TransductiveSVC().fit(X, y, np.where((np.arange(400) // 100) == 2, 0.0, 1.0)).coef_
    for found in on_ranks(fit):
        np.testing.assert_allclose(found, alone, rtol=0, atol=1e-6)


def test_bad_rows_of_one_rank_are_an_error_on_all() -> None:
    X, y = rows(2)
    X.data[X.indptr[1]] = np.nan  # in row 1, of rank 1
    first, second, last = fitted(TransductiveSVC(class_prior="labels"), X, y)
    assert isinstance(second, ValueError)
    assert "NaN" in str(second)
    assert "failed on rank 1 of 3" in str(first)
    assert "failed on rank 1 of 3" in str(last)


def test_a_rank_may_have_labels_that_alone_could_be_read_in_two_ways() -> None:
    X, names = rows(2)
    y = np.array([-1 if name is None else int(name[-1]) for name in names])
    model = TransductiveSVC(class_prior="labels")
    signs = np.flatnonzero(y != 0)[:150]
    for found in fitted(model, X, y, [signs, np.flatnonzero(y == 0), np.arange(0)]):
        assert found.classes_.tolist() == [0, 1]
    found = fitted(model, X, y, [signs[rank::SIZE] for rank in range(SIZE)])
    assert all("y holds only 1 and -1" in str(failure) for failure in found)


def test_labels_of_svmlight_on_all_ranks_together_are_refused_on_all() -> None:
    y = np.repeat([0, 1, -1], [100, 25, 25])
    parts = np.split(np.arange(150), [60, 125])
    found = fitted(TransductiveSVC(class_prior="labels"), rows(2)[0], y, parts)
    assert all("25 rows of -1, 100 of 0 and 25 of 1" in str(failure) for failure in found)


def test_minus_one_is_not_a_class_on_one_rank_and_the_marker_on_another() -> None:
    y = np.repeat([0.0, 1, -1], 50)
    y[140:] = np.nan  # on the last rank
    parts = [np.arange(0, 140, 2), np.arange(1, 140, 2), np.arange(95, 150)]
    found = fitted(TransductiveSVC(class_prior="labels"), rows(2)[0], y, parts)
    assert all("-1 beside None or NaN on one rank" in str(failure) for failure in found)


@pytest.mark.parametrize("texts", [object, str])
def test_texts_on_one_rank_and_numbers_on_another_are_an_error_on_all(texts: type) -> None:
    X, names = rows(2)
    numbers = np.array([-1 if name is None else int(name[-1]) for name in names])
    of_ranks = [names if texts is object else numbers.astype(str), numbers, numbers]

    def fit(comm: Communicator) -> Any:
        mine = of_rank(comm.rank, len(names))
        return spmd.fit(TransductiveSVC(class_prior="labels"), X[mine], of_ranks[comm.rank][mine], comm=comm)

    for failure in on_ranks(fit):
        assert isinstance(failure, ValueError), failure
        assert "y has texts on rank 0, but numbers on rank 1" in str(failure)


def test_features_in_another_order_on_one_rank_are_an_error_on_all() -> None:
    X, y = rows(2)
    names = [f"word {column}" for column in range(X.shape[1])]

    def fit(comm: Communicator) -> Any:
        mine = of_rank(comm.rank, len(y))
        part = pd.DataFrame(X[mine].toarray(), columns=names)
        return spmd.fit(
            TransductiveSVC(class_prior="labels"), part[names[:: -1 if comm.rank == 1 else 1]], y[mine], comm=comm
        )

    for failure in on_ranks(fit):
        assert "X has other feature names on rank 1 than on rank 0" in str(failure)


def test_a_network_that_fails_raises_its_own_error_and_the_next_fit_works() -> None:
    model, (X, y) = TransductiveSVC(class_prior="labels"), rows(2)
    found = fitted(model, X, y, communicator=Broken)
    assert all(isinstance(failure, threading.BrokenBarrierError) for failure in found)
    assert all(isinstance(found, TransductiveSVC) for found in fitted(model, X, y))


# --- MPI -------------------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
import numpy as np
from mpi4py import MPI
sys.path.insert(0, {folder!r})
from fewlabel import TransductiveSVC, spmd
from test_spmd import of_rank, rows
comm = MPI.COMM_WORLD
for n_classes in 2, 4:
    X, y = rows(n_classes)
    mine = of_rank(comm.rank, len(y))
    for method in "annealing", "switching":
        found = spmd.fit(TransductiveSVC(method=method, class_prior="labels"), X[mine], y[mine], comm=comm)
        alone = TransductiveSVC(method=method, class_prior="labels").fit(X, y)
        assert abs(found.objective_ / alone.objective_ - 1) < 1e-9
        assert (found.transduction_ == alone.transduction_[mine]).all()
try:
    bad = TransductiveSVC(class_prior="labels", alpha=1e-3 if comm.rank else 1e-2)
    spmd.fit(bad, X[mine], y[mine], comm=comm)
except RuntimeError as failure:
    assert "parameters must be the same on all ranks" in str(failure)
    print("rank", comm.rank, "of", comm.size, "is done", flush=True)
"""


def mpirun(command: list[str]) -> str:
    """What a program prints that all ranks run."""
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
    command = [str(MPIRUN), "--oversubscribe", "-n", str(SIZE), *command]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=5 * WAIT, check=False, env=os.environ | allowed
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.skipif(MPIRUN is None or not importlib.util.find_spec("mpi4py"), reason="no mpirun or no mpi4py")
def test_ranks_of_mpi_find_the_model_of_one_machine() -> None:
    program = PROGRAM.format(folder=str(Path(__file__).parent))
    assert mpirun([sys.executable, "-c", program]).count("is done") == SIZE


@pytest.mark.skipif(not PAGE.is_file(), reason="no docs")
@pytest.mark.skipif(MPIRUN is None or not importlib.util.find_spec("mpi4py"), reason="no mpirun or no mpi4py")
def test_the_program_of_the_page_runs() -> None:
    (program,) = re.findall(r"```py\n(# a script: mpirun .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert mpirun([sys.executable, "-c", program]).count("% right") == SIZE


@pytest.mark.skipif(
    MPIRUN is None or MPICC is None or not EXAMPLES.is_dir(), reason="no mpirun, no mpicc or no examples"
)
def test_the_c_example_finds_the_model_of_one_machine(tmp_path: Path) -> None:
    program, folder = tmp_path / "train", Path(fewlabel.__file__).parent
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{EXAMPLES.parent / 'include'}", f"-I{EXAMPLES / 'c'}"]
    linked = [f"-L{folder}", "-lfewlabel", f"-Wl,-rpath,{folder}", "-lm"]
    subprocess.run([str(MPICC), *flags, str(EXAMPLES / "mpi/train.c"), "-o", str(program), *linked], check=True)
    assert mpirun([str(program)]).count("from those of one machine") == SIZE


@pytest.mark.parametrize("comm", [None, "world", Communicator, SimpleNamespace(Get_rank=int, Get_size=int)])
def test_what_is_no_communicator(comm: object) -> None:
    with pytest.raises(TypeError, match=f"comm must be a communicator of mpi4py.*got {re.escape(repr(comm))}"):
        spmd.fit(TransductiveSVC(), np.eye(2), [0, 1], comm=comm)


@pytest.mark.parametrize(
    ("estimator", "X", "message"),
    [
        (make_pipeline(TransductiveSVC()), np.eye(2), "estimator must be a classifier of fewlabel, .* got Pipeline"),
        (SequenceSVC(), np.eye(2), "estimator must be a classifier of fewlabel, .* got SequenceSVC"),
        (TransductiveSVC(), None, "X: Expected 2D array, got scalar"),
    ],
)
def test_what_a_rank_cannot_fit_ends_the_fit_on_all(estimator: Any, X: Any, message: str) -> None:
    def fit(comm: Communicator) -> Any:
        mine = (estimator, X) if comm.rank == 0 else (TransductiveSVC(), np.eye(2))
        return spmd.fit(*mine, [0, 1], comm=comm)

    first, *others = on_ranks(fit)
    assert re.match(message, str(first)), first
    assert all("has failed on rank 0" in str(other) for other in others)
