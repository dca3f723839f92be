"""Fits on the workers of a Dask cluster: processes of this machine, each test with a limit of time."""

from __future__ import annotations

import asyncio
import copy
import faulthandler
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from test_spmd import rows

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC

pytest.importorskip("distributed", reason="no dask.distributed")
import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd
from dask import delayed
from distributed import Client, LocalCluster, MultiLock

from fewlabel.dask import _fit, fit
from fewlabel.labels import Description
from fewlabel.methods import Annealing

PAGE = Path(__file__).parents[2] / "docs/many-machines.md"
WAIT = 300  # seconds after which a test has hung: the process prints where, and ends


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


def spread_out(client: Client, X: Any, y: Any, bounds: list[int]) -> tuple[list[Any], list[Any]]:
    return spread(client, pieces(X, bounds)), spread(client, pieces(y, bounds))


def assert_same(found: Any, alone: Any, X: Any) -> None:
    assert found.classes_.tolist() == alone.classes_.tolist()
    assert found.objective_ == pytest.approx(alone.objective_, rel=1e-9)
    assert (found.transduction_ == alone.transduction_).all()
    assert (found.predict(X) == alone.predict(X)).all()
    assert np.allclose(found.decision_function(X), alone.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(("n_classes", "method"), [(2, "annealing"), (3, "switching")])
def test_workers_find_the_model_of_one_machine(client: Client, n_classes: int, method: str) -> None:
    X, y = rows(n_classes, 200)
    model = TransductiveSVC(method=method)
    found = fit(client, model, *spread_out(client, X, y, [70, 70, 150]))  # the second partition has no rows
    assert found is model
    assert found.get_params() == TransductiveSVC(method=method).get_params()
    assert not hasattr(found, "label_distributions_")
    assert_same(found, TransductiveSVC(method=method).fit(X, y), X)


def test_workers_know_what_one_machine_knows_of_rows_without_a_label(client: Client) -> None:
    X, y = rows(3, 200)
    for k in range(60, 200):
        y[k] = {"class 0", "class 1"} if k % 3 == 0 else None
    model = TransductiveSVC(class_prior=dict.fromkeys(("class 0", "class 1", "class 2"), 1 / 3))
    found = fit(client, copy.copy(model), *spread_out(client, X, y, [70, 70, 150]))
    assert_same(found, model.fit(X, y), X)


@pytest.mark.parametrize("labeled", [0, 60])
def test_one_worker_may_have_the_descriptions(client: Client, labeled: int) -> None:
    X, y = rows(3, 200)
    described = [Description(f"class {c}") for c in range(3)]
    words = np.equal.outer(np.arange(3), np.arange(60) % 3) * np.random.default_rng(2).random(60)
    X = sp.vstack([X, sp.csr_array(words)], format="csr")
    y = np.array([*y[:labeled], *[None] * (200 - labeled), *described], dtype=object)
    alone = TransductiveSVC().fit(X, y)
    for bounds in ([70, 70, 150], [100, 200, 200]):
        found = fit(client, TransductiveSVC(), *spread_out(client, X, y, bounds))
        assert found.class_prior_ == pytest.approx(alone.class_prior_, abs=1e-7)
        assert (found.transduction_ == alone.transduction_).all()
        assert (found.predict(X) == alone.predict(X)).all()


def test_arrays_need_not_be_in_one_column_and_may_have_fewer_chunks_than_workers(client: Client) -> None:
    X, y = rows(3, 200)
    X, weight = X.toarray(), np.linspace(0.5, 1.5, len(y))
    blocks, labels, weights = (
        da.from_array(X, chunks=(120, 25)),
        da.from_array(y, chunks=120),
        da.from_array(weight, chunks=120),
    )
    model = SemiSupervisedLogisticRegression(class_prior="labels", calibrate=False)
    with client.as_current():
        found = fit(client, copy.copy(model), blocks, labels, weights)
        assert_same(found, model.fit(X, y, weight), X)
        lazy = blocks.rechunk({1: -1}).map_blocks(found.predict, drop_axis=1, dtype=found.classes_.dtype)
        assert lazy.compute().tolist() == model.predict(X).tolist()


def test_data_frames(client: Client) -> None:
    X, y = rows(3, 150)
    names = [f"word {column}" for column in range(X.shape[1])]
    frame = pd.DataFrame(X.toarray(), index=np.arange(150) * 10 + 7, columns=names)
    with client.as_current():
        both = dd.from_pandas(frame.assign(label=y), npartitions=3)
        found = fit(client, TransductiveSVC(), both[names], both["label"])
    assert_same(found, TransductiveSVC().fit(frame, y), frame)
    assert found.feature_names_in_.tolist() == names


@pytest.mark.parametrize("bounds", [[0, 75], [150, 150], [0, 0], [75]])
def test_partitions_may_be_empty_and_fewer_than_the_workers(client: Client, bounds: list[int]) -> None:
    X, y = rows(3, 150)
    for whole in X, X.toarray():
        found = fit(client, TransductiveSVC(method="switching"), *spread_out(client, whole, y, bounds))
        assert_same(found, TransductiveSVC(method="switching").fit(X, y), X)


@pytest.mark.parametrize("fault", ["texts", "names of features"])
def test_other_rows_on_one_worker_are_an_error_that_says_so(client: Client, fault: str) -> None:
    X, y = rows(2, 90)
    numbers = np.array([-1 if name is None else int(name[-1]) for name in y])
    numbers[[0, 30, 60]], numbers[[1, 31, 61]] = 0, 1
    names = [f"word {column}" for column in range(X.shape[1])]
    frames = [pd.DataFrame(part.toarray(), columns=names) for part in pieces(X, [30, 60])]
    labels = pieces(numbers, [30, 60])
    if fault == "texts":
        labels[1] = labels[1].astype(str)
    else:
        frames[1] = frames[1][names[::-1]]
    message = {"texts": "y has texts on rank", "names of features": "other feature names on rank"}[fault]
    with pytest.raises(ValueError, match=message):
        fit(client, TransductiveSVC(), spread(client, frames), spread(client, labels))


def test_a_fit_goes_on_from_the_fitted_model(client: Client) -> None:
    X, y = rows(2, 120)
    model = fit(client, TransductiveSVC(warm_start=True), *spread_out(client, X, y, [40, 80]))
    first = model.history_["n_passes"][-1]
    assert fit(client, model, *spread_out(client, X, y, [40, 80])).history_["n_passes"][-1] < first


def test_a_class_may_be_on_one_worker_alone_and_labels_be_any_numbers(client: Client) -> None:
    X, y = rows(2, 200)
    numbers = np.array([-1 if name is None else int(name[-1]) for name in y])  # 0 and 1, unlabeled -1
    order = np.argsort(numbers != 0, kind="stable")  # class 0 first, then unlabeled rows, with class 1 among them
    X, numbers = X[order], numbers[order]
    bounds = [int((numbers == 0).sum()) + 10, 120]
    for shift in (0, 1):  # with -1 and 1 alone a worker could not know which is the marker
        y = np.where(numbers == 1, 1 + 6 * shift, np.where(numbers == 0, 3 * shift, -1))
        found = fit(client, TransductiveSVC(), *spread_out(client, X, y, bounds))
        assert_same(found, TransductiveSVC().fit(X, y), X)


def test_misaligned_rows_are_an_error(client: Client) -> None:
    X, y = rows(2, 90)
    X_parts, model = spread(client, pieces(X, [30, 60])), TransductiveSVC()
    with pytest.raises(ValueError, match=r"y has (31|29) rows in partition [01], but X has 30"):
        fit(client, model, X_parts, spread(client, pieces(y, [31, 60])))
    with pytest.raises(ValueError, match="y has 2 partitions, but X has 3"):
        fit(client, model, X_parts, spread(client, pieces(y, [30])))
    with pytest.raises(ValueError, match="59 features in partition 1, but 60 in partition 0"):
        fit(client, model, [X_parts[0], delayed(X[30:60, :59])], spread(client, pieces(y[:60], [30])))
    with pytest.raises(TypeError, match=r"X must be an array or data frame of Dask.* use dask.array.from_array"):
        fit(client, model, X, y)
    with pytest.raises(TypeError, match=r"X must have arrays, .*; part 0 is list"):
        fit(client, model, [delayed(["a text"] * len(y))], [delayed(y)])
    with pytest.raises(ValueError, match="y has no rows in partition 0, but X has 90"):
        fit(client, model, [delayed(X)], [delayed(3)])


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (delayed(3), "or a list, not empty, of Delayed or Future, got Delayed.*: use"),
        ([], "got a list of nothing: use dask.array.from_array"),
        ([delayed(3), np.eye(2)], "got a list of Delayed.*, ndarray: use"),
        (None, "got NoneType"),
    ],
)
@pytest.mark.parametrize("name", ["X", "y", "sample_weight"])
def test_what_are_no_partitions(client: Client, name: str, given: Any, found: str) -> None:
    parts = {"X": [delayed(np.eye(2))], "y": [delayed([0, 1])]}
    if name != "sample_weight" or given is not None:
        with pytest.raises(TypeError, match=f"{name} must be an array or data frame of Dask.*{found}"):
            fit(client, TransductiveSVC(), **parts | {name: given})


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (None, "NoneType"),
        (TransductiveSVC, r"the class TransductiveSVC: write TransductiveSVC\(\)"),
        (make_pipeline(TransductiveSVC()), "Pipeline: transform the rows first"),
        (LinearSVC(), "LinearSVC"),
    ],
)
def test_what_is_no_classifier_of_fewlabel(client: Client, model: Any, found: str) -> None:
    with pytest.raises(TypeError, match=f"model must be a classifier of fewlabel, .* got {found}"):
        fit(client, model, [delayed(np.eye(2))], [delayed([0, 1])])


@pytest.mark.parametrize(
    ("name", "value"), [("alpha", (one for one in "a")), ("method", Annealing(balance=(one for one in "a")))]
)
def test_a_parameter_that_cannot_be_sent_is_named(client: Client, name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} cannot be sent to the workers, got .*generator"):
        fit(client, TransductiveSVC(**{name: value}), [delayed(np.eye(2))], [delayed([0, 1])])


def test_what_is_no_client(client: Client) -> None:
    async def asynchronous() -> None:
        async with Client(client.scheduler.address, asynchronous=True, set_as_default=False) as other:
            refused(other, ValueError, "client is asynchronous: give one that is not")

    def refused(given: Any, kind: type[Exception], message: str) -> None:
        with pytest.raises(kind, match=message):
            fit(given, TransductiveSVC(), [delayed(np.eye(2))], [delayed([0, 1])])

    asyncio.run(asynchronous())
    with Client(client.scheduler.address, set_as_default=False) as closed:
        pass
    refused(closed, ValueError, "client is closed")
    refused(None, TypeError, "client must be a distributed.Client, got NoneType")
    refused(client.cluster, TypeError, r"got LocalCluster: write Client\(cluster\)")


@pytest.mark.parametrize("change", [{"calibrate": True}, {"alpha": -1.0}])
def test_what_is_refused_says_why_and_the_next_fit_works(client: Client, change: dict) -> None:
    X, y = rows(2, 90)
    parts = spread_out(client, X, y, [30, 60])
    with pytest.raises(ValueError, match=next(iter(change))):
        fit(client, TransductiveSVC(**change), *parts)
    assert hasattr(fit(client, TransductiveSVC(method="switching"), *parts), "coef_")


@pytest.mark.parametrize(
    ("array", "value", "message"), [("data", np.nan, "X has NaN in row 29"), ("indices", 1 << 30, r"X\b")]
)
def test_bad_rows_of_one_worker_are_an_error_that_says_where(
    client: Client, array: str, value: float, message: str
) -> None:
    X, y = rows(2, 90)
    parts = pieces(X, [30, 60])
    getattr(parts[2], array)[-1] = value
    with pytest.raises(ValueError, match=message):
        fit(client, TransductiveSVC(), spread(client, parts), spread(client, pieces(y, [30, 60])))


def test_two_fits_at_once_wait_for_each_other(client: Client) -> None:
    X, y = rows(2, 120)
    parts, found = spread_out(client, X, y, [40, 80]), list[Any]()
    threads = [
        threading.Thread(target=lambda: found.append(fit(client, TransductiveSVC(), *parts)), daemon=True)
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert len(found) == 2
    assert (found[0].coef_ == found[1].coef_).all()


def test_the_caller_sees_the_steps(client: Client, capfd: pytest.CaptureFixture) -> None:
    X, y = rows(2, 120)
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "tqdm.auto", None)  # lines in place of a bar
        found = fit(client, TransductiveSVC(verbose=1), *spread_out(client, X, y, [40, 80]))
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("[TransductiveSVC] step")]
    steps = [int(re.match(r"\S+ step (\d+): objective ", line)[1]) for line in lines]  # type: ignore[index]
    assert steps == sorted(set(steps))
    assert steps[-1] == found.n_iter_
    assert f"objective {found.history_['objective'][-1]:.6g}, temperature" in lines[-1]


@pytest.mark.skipif(not PAGE.is_file(), reason="no docs")
def test_the_example_of_the_page_runs(client: Client) -> None:
    example = re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
    names: dict[str, Any] = {"Client": lambda n_workers: nullcontext(client), "__name__": "__main__"}
    exec(compile(example.replace("from distributed import Client\n", ""), str(PAGE), "exec"), names)
    X, y = names["rows"] / 64, names["labels"]
    assert np.mean(names["model"].transduction_ == TransductiveSVC().fit(X, y).transduction_) > 0.99
    assert (names["found"] == names["model"].predict(X)).all()


@pytest.mark.parametrize("how", ["encrypted", "in one process"])
def test_a_cluster_carries_the_sums_of_a_fit(how: str) -> None:
    options: dict[str, Any] = {"processes": False}
    if how == "encrypted":
        pytest.importorskip("cryptography", reason="no cryptography")
        from distributed.security import Security

        options = {"security": Security.temporary()}
    X, y = rows(2, 90)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", **options) as local,
        Client(local, set_as_default=False) as connected,
    ):
        found = fit(connected, TransductiveSVC(), *spread_out(connected, X, y, [45]))
        assert_same(found, TransductiveSVC().fit(X, y), X)


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
    X, y = large(48_000)
    with cluster(2) as local, Client(local, set_as_default=False) as client:
        parts = spread(client, pieces(X, [24_000])), spread(client, pieces(y, [24_000]))
        found: list[Any] = []

        def run() -> None:
            try:
                found.append(fit(client, TransductiveSVC(tol=1e-12, alpha=1e-6), *parts))
            except BaseException as failure:
                found.append(failure)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        running(client)
        address, process = next(iter(client.run(os.getpid).items()))
        os.kill(process, signal.SIGKILL)
        thread.join(WAIT / 2)
        assert not thread.is_alive(), "the fit hangs"
        assert isinstance(found[0], RuntimeError), found
        assert address in str(found[0])
        X, y = rows(2, 60)
        client.wait_for_workers(2)
        parts = spread(client, pieces(X, [30])), spread(client, pieces(y, [30]))
        assert hasattr(fit(client, TransductiveSVC(method="switching"), *parts), "coef_")


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
            fit(client, TransductiveSVC(), *parts)
    assert lost[0] in str(failure.value)


def test_a_worker_that_is_lost_before_the_fit_is_named() -> None:
    X, y = rows(2, 90)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        cluster(2) as local,
        Client(local, set_as_default=False) as client,
    ):
        address, process = min(client.run(os.getpid).items())
        scattered = spread(client, pieces(X, [45])), spread(client, pieces(y, [45]))
        pinned = [[client.submit(np.copy, part, workers=[address], pure=False)] for part in (X.toarray(), y)]
        client.gather([part for parts in pinned for part in parts])
        os.kill(process, signal.SIGKILL)
        while address in client.scheduler_info(n_workers=-1)["workers"]:
            time.sleep(0.05)
        for given in scattered, pinned:
            with pytest.raises(RuntimeError, match=f"the fit has ended on all workers: {address} has left"):
                fit(client, TransductiveSVC(), *given)
        with pytest.raises(RuntimeError, match=r"the fit has ended on all workers: tcp://[\d.:]+ has left with rows"):
            fit(client, TransductiveSVC(), [delayed(os._exit)(1)], [delayed(y)])


def test_a_frozen_worker_ends_every_wait_for_it_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fit, "_LOST_AFTER", 3.0)
    X, y = rows(2, 90)
    here = dask.config.set({"distributed.scheduler.work-stealing": False})  # of rows, so that the fit needs both
    with here, cluster(2) as local, Client(local, set_as_default=False) as client:
        client.run(import_module, "fewlabel.dask")  # which takes seconds, without a sign of life
        (first, process), (_, other) = sorted(client.run(os.getpid).items())
        held = spread_out(client, X, y, [45])
        by_second = spread(client, [X], [1]), spread(client, [y], [1])
        pinned = [[client.submit(np.copy, part, workers=[first], pure=False)] for part in (X.toarray(), y)]
        client.gather([part for (part,) in pinned])
        lazy = [[client.submit(time.sleep, 60, workers=[first], pure=False)], pinned[1]]
        lock = MultiLock(list(client.nthreads()), client)
        lock.acquire()  # the first fit waits for it
        threading.Timer(2, os.kill, (process, signal.SIGSTOP)).start()
        try:
            for given in held, held, pinned, lazy:
                with pytest.raises(
                    RuntimeError, match=f"ended on all workers: {first} has given no sign of life for 3"
                ):
                    fit(client, TransductiveSVC(), *given)
                if lock.locked():
                    lock.release()
            assert_same(fit(client, TransductiveSVC(), *by_second), TransductiveSVC().fit(X, y), X)
            os.kill(other, signal.SIGSTOP)  # now nobody gives a sign of life
            busy = client.map(time.sleep, [60] * 8, pure=False)  # so that other tasks queue
            queued = [[delayed(np.copy)(part) for part in pieces(each, [20, 40, 60])] for each in (X.toarray(), y)]
            for given in by_second, queued:
                with pytest.raises(RuntimeError, match="no sign of life"):
                    fit(client, TransductiveSVC(), *given)
            client.cancel(busy)
        finally:
            for each in process, other:
                os.kill(each, signal.SIGCONT)


def test_an_interrupt_ends_the_fit_on_all_workers(client: Client) -> None:
    X, y = large(40000)
    parts = spread(client, pieces(X, [20000])), spread(client, pieces(y, [20000]))
    model = TransductiveSVC(tol=1e-12, alpha=1e-6)

    def interrupt() -> None:
        running(client)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        fit(client, model, *parts)
    assert not hasattr(model, "coef_")
    assert not any("fewlabel-" in str(key) for keys in client.processing().values() for key in keys)
