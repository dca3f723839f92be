"""What must not hang a fit on Dask: each case ends with a clear error or with the right answer.

They take minutes: `make stress` runs them and tells how many there were. FEWLABEL_FAULTS is the number of faults at
random moments, FEWLABEL_SEED another sequence of them. Short ones are in test_dask.py.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from test_spmd import rows

from fewlabel import TransductiveSVC

if not os.environ.get("FEWLABEL_FAULTS"):
    pytest.skip("FEWLABEL_FAULTS is not set: `make stress`", allow_module_level=True)
pytest.importorskip("distributed", reason="no dask.distributed")
import dask
from dask import delayed
from distributed import Client, MultiLock
from test_dask import cluster, large, pieces, spread

from fewlabel.dask import _fit, fit

RANKS = 3
FAULTS = int(os.environ["FEWLABEL_FAULTS"])  # at random moments
HUNG = 60  # seconds after which a case has hung
SILENCE = 5.0  # shorter than in use
tried: list[str] = []


@pytest.fixture(autouse=True, scope="module")
def told() -> Iterator[None]:
    yield
    kinds = [f"{sum(name == kind for name in tried)} {kind}" for kind in dict.fromkeys(tried)]
    print(f"\n{len(tried)} cases, none hung: {', '.join(kinds)}")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fit, "_LOST_AFTER", SILENCE)


@contextlib.contextmanager
def connected(n_workers: int = RANKS) -> Iterator[Client]:
    with cluster(n_workers) as local, Client(local, set_as_default=False) as client:
        client.run(import_module, "fewlabel.dask")  # which takes seconds, without a sign of life
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with connected() as made:
        yield made


def outcome(kind: str, fit: Callable[[], Any], seconds: float = HUNG) -> Any:
    """What a fit gives or raises; every call is a case."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(fit())
        except BaseException as failure:
            found.append(failure)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        faulthandler.dump_traceback()
    assert not thread.is_alive(), f"{kind}: hangs"
    tried.append(kind)
    return found[0]


def assert_right(found: Any, alone: Any) -> None:
    if isinstance(found, BaseException):
        raise found
    assert found.classes_.tolist() == alone.classes_.tolist()
    assert found.objective_ == pytest.approx(alone.objective_, rel=1e-9)
    assert (found.transduction_ == alone.transduction_).all()


def assert_next_fit_works(client: Client) -> None:
    X, y = rows(2, 90)
    client.wait_for_workers(2, timeout=HUNG)
    parts = spread(client, pieces(X, [30, 60])), spread(client, pieces(y, [30, 60]))
    found = outcome("fits after a fault", lambda: fit(client, TransductiveSVC(method="switching"), *parts))
    assert_right(found, TransductiveSVC(method="switching").fit(X, y))


# --- workers that end, freeze or begin anew ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_fit() -> tuple[list[Any], list[Any]]:
    X, y = large(48_000)  # fits for many seconds
    return pieces(X, [16_000, 32_000]), pieces(y, [16_000, 32_000])


def during(client: Client, parts: Any, what: str, fault: Callable[[], Any], wait: float) -> Any:
    """What a long fit gives if a fault comes so many seconds after all ranks compute."""
    given = spread(client, parts[0]), spread(client, parts[1])

    def strike() -> None:
        end = time.monotonic() + HUNG
        while time.monotonic() < end and not computing(client):
            time.sleep(0.01)
        time.sleep(wait)
        fault()

    thread = threading.Thread(target=strike, daemon=True)
    thread.start()
    found = outcome(f"{what} workers", lambda: fit(client, TransductiveSVC(tol=1e-12, alpha=1e-6), *given))
    thread.join(HUNG)
    return found


def computing(client: Client) -> bool:
    return sum(any("fewlabel-" in str(key) for key in keys) for keys in client.processing().values()) == RANKS


HAPPENED = {
    "killed": "{address} has left",
    "frozen": f"{{address}} has given no sign of life for {SILENCE:.0f} s",
    "restarted": "{address} has left",
    "all restarted": "",
}


@pytest.mark.parametrize("wait", [0.0, 2.0])
@pytest.mark.parametrize("rank", range(RANKS))
@pytest.mark.parametrize("what", HAPPENED)
def test_a_worker_that_ends_freezes_or_begins_anew_ends_the_fit(
    long_fit: Any, what: str, rank: int, wait: float
) -> None:
    with connected() as client, Client(client.scheduler.address, set_as_default=False) as other:
        address, process = sorted(client.run(os.getpid).items())[rank]
        struck = {
            "killed": lambda: os.kill(process, signal.SIGKILL),
            "frozen": lambda: os.kill(process, signal.SIGSTOP),
            "restarted": lambda: other.restart_workers([address]),
            "all restarted": other.restart,
        }
        begin = time.monotonic()
        found = during(client, long_fit, what, struck[what], wait)
        assert time.monotonic() - begin < SILENCE + 25
        if what == "frozen":
            os.kill(process, signal.SIGCONT)
        assert isinstance(found, RuntimeError), found
        assert HAPPENED[what].format(address=address) in str(found)
        assert_next_fit_works(client)


def test_a_worker_may_have_ended_before_the_fit(long_fit: Any) -> None:
    X, y = rows(2, 90)
    alone = TransductiveSVC().fit(X, y)
    with connected() as client:
        lazy = [delayed(part) for part in pieces(X, [30, 60])], [delayed(part) for part in pieces(y, [30, 60])]
        parts = client.persist(lazy[0]), client.persist(lazy[1])
        sent = spread(client, pieces(X, [30, 60])), spread(client, pieces(y, [30, 60]))
        for process in list(client.run(os.getpid).values())[:2]:
            os.kill(process, signal.SIGKILL)
        assert_right(outcome("rows computed anew", lambda: fit(client, TransductiveSVC(), *parts)), alone)
        assert isinstance(outcome("rows that are gone", lambda: fit(client, TransductiveSVC(), *sent)), Exception)
        assert_next_fit_works(client)


@pytest.mark.parametrize("fault", ["none", "killed"])
def test_a_fit_waits_for_a_busy_worker_and_ends_if_another_is_killed_meanwhile(fault: str) -> None:
    X, y = rows(2, 90)
    with connected() as client:
        parts = spread(client, pieces(X, [30, 60])), spread(client, pieces(y, [30, 60]))
        processes = sorted(client.run(os.getpid).items())
        lock = MultiLock([address for address, _ in processes], client)
        busy: list[Any] = []
        lock.acquire()  # so that the rank, and not the rows, wait for the worker

        def occupy() -> None:
            busy.append(client.submit(time.sleep, 6, workers=[processes[1][0]], pure=False))
            lock.release()
            if fault == "killed":
                time.sleep(2)
                os.kill(processes[2][1], signal.SIGKILL)

        threading.Timer(3, occupy).start()
        model = TransductiveSVC(method="switching")
        found = outcome(f"a busy worker, another {fault}", lambda: fit(client, model, *parts))
        if fault == "none":
            assert_right(found, TransductiveSVC(method="switching").fit(X, y))
        else:
            assert isinstance(found, RuntimeError), found
            assert f"{processes[2][0]} has left" in str(found)
        assert_next_fit_works(client)


# --- faults at random moments -----------------------------------------------------------------------------------------

LATE = 10.0  # seconds after silence is noticed in which a fit must have ended
SAME_CLUSTER = 10  # faults


def processes(client: Client, n_workers: int) -> list[tuple[str, int]]:
    """Addresses and process ids of the workers, once as many are there, which takes a while after a fault."""
    end, found = time.monotonic() + 3 * HUNG, dict[str, int]()
    while len(found) != n_workers:
        assert time.monotonic() < end, "the workers do not begin anew"
        time.sleep(0.2)
        found = client.run(os.getpid, on_error="ignore")
    return sorted(found.items())


def given(client: Client, how: str, X: Any, y: Any, draws: Any) -> tuple[list[Any], list[Any]]:
    """Partitions that are on the workers, or are to be computed, anywhere or on one of them."""
    bounds = [len(y) // 3, len(y) // 2]
    if how == "held":
        return spread(client, pieces(X, bounds)), spread(client, pieces(y, bounds))

    def slow(part: Any, seconds: float) -> Any:  # workers need not import this file
        time.sleep(seconds)
        return part

    wait, parts = draws.uniform(0, 3), (pieces(X, bounds), pieces(y, bounds))
    if how == "pinned":
        addresses = sorted(client.nthreads())
        places = [[addresses[k % len(addresses)]] for k in range(len(bounds) + 1)]
        pinned = [
            [
                client.submit(slow, each, wait, workers=place, pure=False)
                for each, place in zip(part, places, strict=True)
            ]
            for part in parts
        ]
        return pinned[0], pinned[1]
    lazy = [[delayed(slow)(each, wait) for each in part] for part in parts]
    return (client.persist(lazy[0]), client.persist(lazy[1])) if how == "persisted" else (lazy[0], lazy[1])


@pytest.mark.parametrize("start", range(0, FAULTS, SAME_CLUSTER))
def test_a_fault_at_a_random_moment_ends_the_fit_or_changes_nothing(
    start: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows(2, 300)
    alone = TransductiveSVC().fit(X, y)
    seed = int(os.environ.get("FEWLABEL_SEED", "1"))
    n_workers = 1 + start // SAME_CLUSTER % RANKS
    preload = {"distributed.worker.preload": ["fewlabel.dask._on_workers"]}  # imports would be silence
    with dask.config.set(preload), connected(n_workers) as client:
        for number in range(start, min(start + SAME_CLUSTER, FAULTS)):
            draws = np.random.default_rng([seed, number])
            silence = 30.0 if number % SAME_CLUSTER == 0 else SILENCE  # as in use, and shorter
            monkeypatch.setattr(_fit, "_LOST_AFTER", silence)
            workers = processes(client, n_workers)
            how, what = draws.choice(["held", "lazy", "pinned", "persisted"]), draws.choice(["frozen", "killed"])
            address, process = workers[draws.integers(n_workers)]
            parts, model = given(client, how, X, y, draws), TransductiveSVC()
            struck = list[float]()

            def strike(process: int = process, what: str = what, struck: list[float] = struck) -> None:
                struck.append(time.monotonic())
                os.kill(process, signal.SIGSTOP if what == "frozen" else signal.SIGKILL)

            timer = threading.Timer(draws.uniform(0, 4), strike)
            timer.start()
            found = outcome(
                f"{what}, {how} rows", lambda model=model, parts=parts: fit(client, model, *parts), 2 * HUNG
            )
            timer.cancel()
            timer.join()
            took = time.monotonic() - struck[0] if struck else 0.0
            if struck and what == "frozen":
                os.kill(process, signal.SIGCONT)
            about = f"fault {number}: {what}, {how} rows, {n_workers} workers, {took:.1f} s later: {found!r}"
            print(about)
            if not isinstance(found, RuntimeError):
                assert_right(found, alone)
                continue
            assert (address if what == "frozen" else "tcp://") in str(found), about
            assert took < silence + LATE, about
            assert vars(model).keys() == vars(TransductiveSVC()).keys(), about


# --- fits at once ----------------------------------------------------------------------------------------------------


def test_fits_at_once_of_several_callers_on_some_of_the_workers_wait_for_each_other(client: Client) -> None:
    X, y = rows(2, 120)
    alone = TransductiveSVC().fit(X, y)
    with Client(client.scheduler.address, set_as_default=False) as other:
        found: list[Any] = []
        wanted = [(client, [0, 1, 2]), (other, [2, 1, 0]), (client, [0, 1, 1]), (other, [2, 2, 1]), (client, [2, 0, 2])]

        def run(caller: Client, workers: list[int]) -> None:
            parts = [spread(caller, pieces(whole, [40, 80]), workers) for whole in (X, y)]
            fitted = outcome("fits at once", lambda: fit(caller, TransductiveSVC(), *parts))
            found.append(fitted)

        threads = [threading.Thread(target=run, args=each, daemon=True) for each in wanted]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2 * HUNG)
        assert len(found) == len(wanted)
        for fitted in found:
            assert_right(fitted, alone)


CALLER = """
import sys
from distributed import Client
from fewlabel import TransductiveSVC
from fewlabel.dask import fit
sys.path.insert(0, {folder!r})
from test_dask import large, pieces, spread
client = Client({address!r}, set_as_default=False)
X, y = large(30000)
parts = spread(client, pieces(X, [10000, 20000])), spread(client, pieces(y, [10000, 20000]))
print("begins", flush=True)
fit(client, TransductiveSVC(tol=1e-12, alpha=1e-6), *parts)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_caller_that_ends_in_a_fit_does_not_keep_the_workers(how: int) -> None:
    with connected() as client:
        folder = os.path.dirname(__file__)
        program = CALLER.format(folder=folder, address=client.scheduler.address)
        caller = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert caller.stdout is not None
        assert caller.stdout.readline() == b"begins\n"
        end = time.monotonic() + HUNG
        while time.monotonic() < end and not computing(client):
            time.sleep(0.05)
        assert computing(client)
        time.sleep(1)
        caller.send_signal(how)
        caller.wait(HUNG)
        tried.append("callers that end")
        assert_next_fit_works(client)
