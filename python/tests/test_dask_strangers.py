"""Strangers who reach the ports of a fit on Dask: they run no code there and get no model; the fit ends soon."""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_spmd import rows

from fewlabel import TransductiveSVC

pytest.importorskip("xgboost", reason="no xgboost")
pytest.importorskip("distributed", reason="no dask.distributed")
from distributed import Client
from test_dask import cluster, pieces, spread

from fewlabel.dask import _fit, _on_workers, fit

SOON = 30.0  # seconds within which a fit ends
TRIES = int(os.environ.get("FEWLABEL_STRANGERS", "3"))  # of garbage, each at another time

JOINS = """
import pickle, sys
from xgboost import collective

class Evil:
    def __reduce__(self):
        return open, (sys.argv[2], "w")

network = eval(sys.argv[1])
print("joins", flush=True)
collective.init(**network, dmlc_task_id="00000001")
if sys.argv[3] == "pickle":
    for root in 0, 1, 0, 1:
        collective.broadcast(Evil() if root == 1 else None, root)
elif sys.argv[3] == "zeros":
    import numpy
    for length in 64, 64, 2, 10, 10:
        collective.allreduce(numpy.zeros(length, numpy.uint8), collective.Op.SUM)
else:
    import time
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster(2) as local, Client(local, set_as_default=False) as connected:
        yield connected


@pytest.fixture(autouse=True)
def watchdog() -> Iterator[None]:
    def late(*_: Any) -> None:
        raise TimeoutError("the fit hangs")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(4 * int(SOON))
    yield
    signal.alarm(0)


def with_stranger(client: Client, monkeypatch: pytest.MonkeyPatch, act: Callable[[dict[str, Any]], None]) -> Any:
    """What a fit gives or raises if a stranger acts once the tracker is there."""
    X, y = rows(2, 90)
    parts = spread(client, pieces(X, [45])), spread(client, pieces(y, [45]))
    given = _fit._gathered

    def gathered(client: Any, tasks: list[Any], addresses: list[str]) -> list[Any]:
        found = given(client, tasks, addresses)
        if isinstance(found[0], dict):
            act(found[0])
        return found

    monkeypatch.setattr(_fit, "_gathered", gathered)
    begin = time.monotonic()
    try:
        outcome: Any = fit(client, TransductiveSVC(method="switching"), *parts)
    except RuntimeError as failure:
        outcome = failure
    assert time.monotonic() - begin < SOON
    monkeypatch.setattr(_fit, "_gathered", given)
    return outcome


def assert_right_or_ended(found: Any) -> None:
    X, y = rows(2, 90)
    if not isinstance(found, RuntimeError):
        np.testing.assert_allclose(found.coef_, TransductiveSVC(method="switching").fit(X, y).coef_, rtol=0, atol=1e-6)


@pytest.mark.parametrize("when", ["before the ranks", "in the rendezvous"])
@pytest.mark.parametrize("what", ["pickle", "zeros", "silence"])
def test_a_stranger_in_the_place_of_a_rank_ends_the_fit(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str, when: str
) -> None:
    proof = tmp_path / "code has run"
    strangers: list[Any] = []

    def act(network: dict[str, Any]) -> None:
        given = [sys.executable, "-c", JOINS, repr(network), str(proof), what]
        strangers.append(subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
        if when == "before the ranks":
            strangers[0].stdout.readline()  # importing takes seconds on a busy machine, joining a moment
            time.sleep(1)

    found = with_stranger(client, monkeypatch, act)
    strangers[0].kill()
    strangers[0].communicate()
    assert not proof.exists()
    if when == "before the ranks":
        assert isinstance(found, RuntimeError), found
    assert_right_or_ended(found)
    client.wait_for_workers(2, timeout=SOON)
    assert_right_or_ended(with_stranger(client, monkeypatch, lambda network: None))


def send(address: tuple[str, int], what: bytes) -> None:
    with contextlib.suppress(OSError), socket.create_connection(address, timeout=1) as connection:
        connection.sendall(what)
        time.sleep(0.2)


@pytest.mark.parametrize("number", range(TRIES))
def test_garbage_at_the_tracker_ends_the_fit_or_does_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    dice = random.Random(number)

    def act(network: dict[str, Any]) -> None:
        address = network["dmlc_tracker_uri"], int(network["dmlc_tracker_port"])
        what = dice.choice([b"", dice.randbytes(dice.randrange(1, 2000)), b'{"cmd": 3}', b"\0" * 64])
        thread = threading.Timer(dice.choice([0.0, 0.01, 0.1, 1.0]), send, (address, what))
        thread.start()
        time.sleep(dice.choice([0.0, 0.5]))

    assert_right_or_ended(with_stranger(client, monkeypatch, act))
    client.wait_for_workers(2, timeout=SOON)


# --- messages --------------------------------------------------------------------------------------------------------


def test_a_proof_is_of_one_secret_rank_time_and_text() -> None:
    def proof(secret: bytes, rank: int, nonces: bytes, text: bytes) -> bytes:
        ranks = object.__new__(_on_workers._Ranks)
        ranks.secret, ranks.nonces = secret, nonces
        return ranks._proof(rank, text)

    secret, nonces = bytes(range(32)), bytes(range(64))
    others = [(secret[::-1], 1, nonces, b"text"), (secret, 2, nonces, b"text"), (secret, 1, nonces[::-1], b"text")]
    told = {proof(*each) for each in [(secret, 1, nonces, b"text"), *others, (secret, 1, nonces, b"texts")]}
    assert len(told) == 5  # the third of the others is a replay


@pytest.mark.parametrize("rank", [0, 1])
def test_what_was_changed_on_its_way_is_not_unpickled(monkeypatch: pytest.MonkeyPatch, rank: int) -> None:
    ranks = object.__new__(_on_workers._Ranks)
    ranks.secret, ranks.nonces, ranks.rank, ranks.size = bytes(32), bytes(64), 0, 2
    evil = pickle.dumps(Path("/"))
    monkeypatch.setattr(ranks, "_sums", lambda lengths: lengths + np.array([0, len(evil) + 32]), raising=False)
    monkeypatch.setattr(ranks, "_exchange", lambda own, _: [own, bytes(32) + evil][:: 1 - 2 * rank])
    monkeypatch.setattr(_on_workers.pickle, "loads", lambda text: pytest.fail("it was read"))
    with pytest.raises(ConnectionError, match=r"a message of rank [01] has changed"):
        ranks.allgather(True)


def test_a_cluster_that_encrypts_is_refused_unless_its_network_is_trusted() -> None:
    pytest.importorskip("cryptography", reason="no cryptography")
    from distributed import LocalCluster
    from distributed.security import Security

    X, y = rows(2, 90)
    security = Security.temporary()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", security=security) as local,
        Client(local, set_as_default=False) as encrypted,
    ):
        parts = spread(encrypted, pieces(X, [45])), spread(encrypted, pieces(y, [45]))
        with pytest.raises(ValueError, match=r"tls://.* without encryption .*pass trusted_network=True"):
            fit(encrypted, TransductiveSVC(), *parts)
        assert hasattr(fit(encrypted, TransductiveSVC(), *parts, trusted_network=True), "coef_")
