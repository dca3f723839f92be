"""Fits on the workers of a Dask cluster: processes of this machine, each test with a limit of time."""

from __future__ import annotations

import faulthandler
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from test_spmd import rows

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC

pytest.importorskip("xgboost", reason="no xgboost")
pytest.importorskip("distributed", reason="no dask.distributed")
import dask.array as da
import dask.dataframe as dd
import pandas as pd
from dask import delayed
from distributed import Client, LocalCluster

from fewlabel.dask import DaskSemiSupervisedLogisticRegression, DaskTransductiveSVC, _fit

PAGE = Path(__file__).parents[2] / "docs/many-machines.md"
WAIT = 120  # seconds after which a test has hung: the process prints where, and ends


@pytest.fixture(autouse=True)
def watchdog() -> Iterator[None]:
    faulthandler.dump_traceback_later(WAIT, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def cluster(n_workers: int) -> LocalCluster:
    return LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", processes=True)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster(3) as local, Client(local, set_as_default=False) as connected:
        yield connected


def spread(client: Client, parts: list[Any], workers: list[int] | None = None) -> list[Any]:
    """Futures of the parts, each on a worker of its own, by turns, or on the given ones."""
    addresses = sorted(client.nthreads())
    places = workers or range(len(parts))
    return [
        client.scatter([part], workers=[addresses[place % len(addresses)]], hash=False)[0]
        for part, place in zip(parts, places, strict=True)
    ]


def pieces(whole: Any, bounds: list[int]) -> list[Any]:
    return [whole[start:end] for start, end in zip([0, *bounds], [*bounds, whole.shape[0]], strict=True)]


def assert_same(found: Any, alone: Any, X: Any) -> None:
    assert found.classes_.tolist() == alone.classes_.tolist()
    assert found.objective_ == pytest.approx(alone.objective_, rel=1e-9)
    assert (found.transduction_.compute() == alone.transduction_).all()
    assert (found.to_local().predict(X) == alone.predict(X)).all()


@pytest.mark.parametrize(("n_classes", "method"), [(2, "annealing"), (2, "switching"), (3, "annealing")])
def test_workers_find_the_model_of_one_machine(client: Client, n_classes: int, method: str) -> None:
    X, y = rows(n_classes, 200)
    bounds = [70, 70, 150]  # the second partition has no rows
    parts = spread(client, pieces(X, bounds)), spread(client, pieces(y, bounds))
    found = DaskTransductiveSVC(method=method, client=client).fit(*parts)
    assert len(found._training.ranks) == 3
    alone = TransductiveSVC(method=method).fit(X, y)
    with client.as_current():
        assert_same(found, alone, X)
        assert (found.predict(parts[0]).compute() == alone.predict(X)).all()
        assert np.allclose(found.decision_function(parts[0]).compute(), alone.decision_function(X), atol=1e-6)
        if method == "annealing":
            same = np.abs(found.label_distributions_.compute() - alone.label_distributions_).max()
            assert same < 1e-6


def test_workers_know_what_one_machine_knows_of_rows_without_a_label(client: Client) -> None:
    X, y = rows(3, 200)
    for k in range(60, 200):
        y[k] = {"class 0", "class 1"} if k % 3 == 0 else None
    prior = dict.fromkeys(("class 0", "class 1", "class 2"), 1 / 3)
    parts = spread(client, pieces(X, [70, 70, 150])), spread(client, pieces(y, [70, 70, 150]))
    found = DaskTransductiveSVC(class_prior=prior, client=client).fit(*parts)
    with client.as_current():
        alone = TransductiveSVC(class_prior=prior).fit(X, y)
        assert_same(found, alone, X)
        assert found.score(*parts) == alone.score(X, y)


def test_arrays_need_not_be_in_one_column_and_may_have_fewer_chunks_than_workers(client: Client) -> None:
    X, y = rows(3, 200)
    X = X.toarray()
    blocks, labels = da.from_array(X, chunks=(120, 25)), da.from_array(y, chunks=120)
    weight = np.linspace(0.5, 1.5, len(y))
    model = DaskSemiSupervisedLogisticRegression(client=client, class_prior="labels")
    with client.as_current():
        found = model.fit(blocks, labels, da.from_array(weight, chunks=120))
        alone = SemiSupervisedLogisticRegression(class_prior="labels", calibrate=False).fit(X, y, weight)
        assert_same(found, alone, X)
        probabilities = found.predict_proba(blocks)
        assert probabilities.shape == (200, 3)
        assert np.allclose(probabilities.compute(), alone.predict_proba(X), atol=1e-6)
        assert found.predict(blocks).compute().tolist() == alone.predict(X).tolist()
        assert found.score(blocks, labels, da.from_array(weight, chunks=120)) == pytest.approx(
            alone.score(X, y, weight)
        )
        none = blocks[blocks[:, 0] > 1e9]
        assert found.predict(none).compute().shape == (0,)


def test_data_frames_keep_their_index(client: Client) -> None:
    X, y = rows(3, 150)
    names = [f"word {column}" for column in range(X.shape[1])]
    frame = pd.DataFrame(X.toarray(), index=np.arange(150) * 10 + 7, columns=names)
    with client.as_current():
        both = dd.from_pandas(frame.assign(label=y), npartitions=3)
        blocks, labels = both[names], both["label"]
        found = DaskTransductiveSVC(client=client).fit(blocks, labels)
        alone = TransductiveSVC().fit(frame, y)
        assert_same(found, alone, frame)
        assert found.feature_names_in_.tolist() == names
        predicted, scores = found.predict(blocks), found.decision_function(blocks)
        assert predicted.compute().index.tolist() == frame.index.tolist()
        assert predicted.compute().tolist() == alone.predict(frame).tolist()
        assert scores.columns.tolist() == scores.compute().columns.tolist() == alone.classes_.tolist()
        assert found.predict(blocks[blocks["word 0"] > 1e9]).compute().shape == (0,)


def test_a_class_may_be_on_one_worker_alone_and_labels_be_any_numbers(client: Client) -> None:
    X, y = rows(2, 200)
    numbers = np.array([-1 if name is None else int(name[-1]) for name in y])  # 0 and 1, unlabeled -1
    order = np.argsort(numbers != 0, kind="stable")  # class 0 first, then unlabeled rows, with class 1 among them
    X, numbers = X[order], numbers[order]
    bounds = [int((numbers == 0).sum()) + 10, 120]
    for shift in (0, 1):  # with -1 and 1 alone a worker could not know which is the marker
        y = np.where(numbers == 1, 1 + 6 * shift, np.where(numbers == 0, 3 * shift, -1))
        parts = spread(client, pieces(X, bounds)), spread(client, pieces(y, bounds))
        with client.as_current():
            found = DaskTransductiveSVC(client=client).fit(*parts)
            assert_same(found, TransductiveSVC().fit(X, y), X)


def test_misaligned_rows_are_an_error(client: Client) -> None:
    X, y = rows(2, 90)
    X_parts = spread(client, pieces(X, [30, 60]))
    model = DaskTransductiveSVC(client=client)
    with pytest.raises(ValueError, match=r"y has (31|29) rows in partition [01], but X has 30"):
        model.fit(X_parts, spread(client, pieces(y, [31, 60])))
    with pytest.raises(ValueError, match="y has 2 partitions, but X has 3"):
        model.fit(X_parts, spread(client, pieces(y, [30])))
    with pytest.raises(ValueError, match="59 features in partition 1, but 60 in partition 0"):
        model.fit([X_parts[0], delayed(X[30:60, :59])], spread(client, pieces(y[:60], [30])))
    with pytest.raises(TypeError, match=r"X must be an array or data frame of Dask.* use dask.array.from_array"):
        model.fit(X, y)
    with pytest.raises(TypeError, match=r"X must have arrays, .*; part 0 is list"):
        model.fit([delayed(["a text"] * len(y))], [delayed(y)])


@pytest.mark.parametrize("ask", ["predict", "decision_function"])
def test_predictions_before_a_fit_are_refused(ask: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(DaskTransductiveSVC(), ask)(np.eye(2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"calibrate": True}, "calibrate"),
        ({"method": "pair_switching"}, "pair_switching"),
        ({"alpha": -1.0}, "alpha"),
    ],
)
def test_what_is_refused_says_why_and_the_next_fit_works(client: Client, change: dict, message: str) -> None:
    X, y = rows(2, 90)
    parts = spread(client, pieces(X, [30, 60])), spread(client, pieces(y, [30, 60]))
    with pytest.raises(ValueError, match=message):
        DaskTransductiveSVC(client=client, **change).fit(*parts)
    assert hasattr(DaskTransductiveSVC(client=client, method="switching").fit(*parts), "coef_")


def test_bad_rows_of_one_worker_are_an_error_that_says_where(client: Client) -> None:
    X, y = rows(2, 90)
    bad = X.copy()
    bad.data[-1] = np.nan
    parts = spread(client, pieces(bad, [30, 60])), spread(client, pieces(y, [30, 60]))
    with pytest.raises(ValueError, match="X has NaN in row 29"):
        DaskTransductiveSVC(client=client).fit(*parts)


def test_two_fits_at_once_wait_for_each_other(client: Client) -> None:
    X, y = rows(2, 120)
    parts = spread(client, pieces(X, [40, 80])), spread(client, pieces(y, [40, 80]))
    found: list[Any] = []

    def fit() -> None:
        found.append(DaskTransductiveSVC(client=client).fit(*parts))

    threads = [threading.Thread(target=fit, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert len(found) == 2
    assert (found[0].coef_ == found[1].coef_).all()


def test_the_caller_sees_the_steps(client: Client, capfd: pytest.CaptureFixture) -> None:
    X, y = rows(2, 120)
    parts = spread(client, pieces(X, [40, 80])), spread(client, pieces(y, [40, 80]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "tqdm.auto", None)  # lines in place of a bar
        found = DaskTransductiveSVC(client=client, verbose=1).fit(*parts)
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("[DaskTransductiveSVC] step")]
    steps = [int(re.match(r"\S+ step (\d+): objective ", line)[1]) for line in lines]  # type: ignore[index]
    assert steps == sorted(set(steps))
    assert steps[-1] == found.n_iter_
    assert f"objective {found.history_['objective'][-1]:.6g}, temperature" in lines[-1]


def test_clones_and_pickles_leave_the_client_behind(client: Client) -> None:
    X, y = rows(2, 90)
    parts = spread(client, pieces(X, [30, 60])), spread(client, pieces(y, [30, 60]))
    model = DaskTransductiveSVC(client=client, alpha=1e-2, method="switching")
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert copied.client is client
    assert copied.alpha == 1e-2
    model.fit(*parts)
    read = pickle.loads(pickle.dumps(model))
    assert read.client is None
    assert not hasattr(read, "transduction_")
    assert (read.predict(X) == model.predict(X)).all()
    local = model.to_local()
    assert type(local) is TransductiveSVC
    assert (local.predict(X) == model.predict(X)).all()


@pytest.mark.skipif(not PAGE.is_file(), reason="no docs")
def test_the_example_of_the_page_runs(client: Client) -> None:
    X, y = rows(2, 90)
    example = re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    names: dict[str, Any] = {"Client": lambda: client, "X": [delayed(part) for part in pieces(X, [40])]}
    names["y"] = [delayed(part) for part in pieces(y, [40])]
    with client.as_current():
        exec(compile(example.replace("from distributed import Client\n", ""), str(PAGE), "exec"), names)
        assert_same(names["model"], TransductiveSVC().fit(X, y), X)
    assert (names["found"] == names["model"].predict(X)).all()


def large(n: int) -> tuple[sp.csr_array, np.ndarray]:
    """Rows that keep workers busy for seconds."""
    draws = np.random.default_rng(0)
    y = np.full(n, -1)
    y[:60] = np.arange(60) % 3
    return sp.random_array((n, 3000), density=0.02, format="csr", rng=draws), y


def running(client: Client) -> list[int]:
    """Process ids of the workers, once all of them compute the fit."""
    end = time.monotonic() + WAIT / 2
    while time.monotonic() < end:
        if sum(any("fewlabel-" in str(key) for key in keys) for keys in client.processing().values()) == 2:
            time.sleep(1)
            return list(client.run(os.getpid).values())
        time.sleep(0.05)
    raise AssertionError("the fit does not begin")


def test_a_worker_that_is_killed_ends_the_fit_with_its_address() -> None:
    X, y = large(12000)
    with cluster(2) as local, Client(local, set_as_default=False) as client:
        parts = spread(client, pieces(X, [6000])), spread(client, pieces(y, [6000]))
        found: list[Any] = []

        def fit() -> None:
            try:
                found.append(DaskTransductiveSVC(client=client, tol=1e-12).fit(*parts))
            except BaseException as failure:
                found.append(failure)

        thread = threading.Thread(target=fit, daemon=True)
        thread.start()
        running(client)
        address, process = next(iter(client.run(os.getpid).items()))
        os.kill(process, signal.SIGKILL)
        killed = time.monotonic()
        thread.join(WAIT / 2)
        assert not thread.is_alive(), "the fit hangs"
        assert isinstance(found[0], RuntimeError), found
        assert address in str(found[0])
        assert time.monotonic() - killed < 10, "the survivor is told of it, and need not be waited for"
        X, y = rows(2, 60)
        client.wait_for_workers(2)
        parts = spread(client, pieces(X, [30])), spread(client, pieces(y, [30]))
        assert hasattr(DaskTransductiveSVC(client=client, method="switching").fit(*parts), "coef_")


@pytest.mark.parametrize("after", ["_holders", "_ranks"])
def test_a_worker_that_is_lost_before_the_ranks_start_is_named(after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows(2, 90)
    given = getattr(_fit, after)
    with cluster(2) as local, Client(local, set_as_default=False) as client:
        parts = spread(client, pieces(X, [45])), spread(client, pieces(y, [45]))
        processes = client.run(os.getpid)
        lost = list[str]()

        def and_kill(*arguments: Any) -> Any:
            found = given(*arguments)
            first = found[0]
            lost.append(first if isinstance(first, str) else first[0])
            os.kill(processes[lost[0]], signal.SIGKILL)
            return found

        monkeypatch.setattr(_fit, after, and_kill)
        with pytest.raises(RuntimeError, match="has left") as failure:
            DaskTransductiveSVC(client=client).fit(*parts)
    assert lost[0] in str(failure.value)


def test_an_interrupt_ends_the_fit_on_all_workers(client: Client) -> None:
    X, y = large(40000)
    parts = spread(client, pieces(X, [20000])), spread(client, pieces(y, [20000]))
    model = DaskTransductiveSVC(client=client, tol=1e-12)

    interrupted: list[float] = []

    def interrupt() -> None:
        running(client)
        interrupted.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*parts)
    assert not hasattr(model, "coef_")
    assert time.monotonic() - interrupted[0] < 4, "the whole fit takes ten seconds"
    assert not any("fewlabel-" in str(key) for keys in client.processing().values() for key in keys)
