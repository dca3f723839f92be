"""Ctrl-C where people press it: at a terminal, and with the stop button of a notebook."""

from __future__ import annotations

import faulthandler
import os
import queue
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_library import LONG_FIT, PACKAGE, WAIT

from fewlabel import _interrupts
from fewlabel._native import _signatures

PATHS = os.environ | {"PYTHONPATH": f"{PACKAGE.parent}{os.pathsep}{Path(__file__).parent}"}
SETTINGS = {"method": "annealing", "classes": 3}


@pytest.mark.skipif(not hasattr(os, "forkpty"), reason="needs a terminal of its own")
def test_ctrl_c_at_a_terminal() -> None:
    child, terminal = os.forkpty()
    if child == 0:
        os.execve(sys.executable, [sys.executable, "-c", LONG_FIT.format(**SETTINGS)], PATHS)
    try:
        read_until(terminal, "start")
        time.sleep(1.5)  # the fit takes far longer
        os.write(terminal, b"\x03")
        output = read_until(terminal, "next fit True 0")
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)
    assert "interrupted" in output
    assert "finished" not in output


def read_until(terminal: int, words: str) -> str:
    """What the terminal shows up to these words."""
    shown, end = "", time.monotonic() + WAIT
    os.set_blocking(terminal, False)
    while words not in shown:
        assert time.monotonic() < end, f"waited for {words!r}, got {shown!r}"
        try:
            shown += os.read(terminal, 4096).decode()
        except BlockingIOError:
            time.sleep(0.01)
        except OSError:  # the program has ended
            pytest.fail(f"waited for {words!r}, got {shown!r}")
    return shown


@pytest.fixture
def kernel() -> Iterator[Any]:
    """A notebook's kernel and its client."""
    pytest.importorskip("ipykernel", reason="there is no notebook kernel here")
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(env=PATHS, startup_timeout=WAIT)
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def printed(client: Any) -> str:
    """The next text that the kernel prints."""
    while True:
        message = client.get_iopub_msg(timeout=WAIT)
        if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
            return message["content"]["text"]


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts by SIGINT")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's
def test_the_stop_button_of_a_notebook(kernel: Any) -> None:
    manager, client = kernel
    request = client.execute(LONG_FIT.format(**SETTINGS))
    assert printed(client) == "start\n"
    time.sleep(1.5)
    manager.interrupt_kernel()
    assert printed(client) == "interrupted\n"
    assert printed(client) == "next fit True 0\n"
    assert answer(client, request)["status"] == "ok"


def answer(client: Any, request: str) -> dict[str, Any]:
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        try:
            message = client.get_shell_msg(timeout=1)
        except queue.Empty:
            continue
        if message["parent_header"].get("msg_id") == request:
            return message["content"]
    pytest.fail("the kernel does not answer")


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts by SIGINT")
def test_after_ctrl_c_the_task_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever it comes: `Thread.join` ends while the thread runs, and what holds a lock may never give it back."""
    monkeypatch.setattr(_interrupts, "_STEP", 0.0005)  # most of the time between two waits
    progress = _signatures.Progress()
    ended: list[bool] = []

    def task(delay: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, delay)
        while not progress.cancel:
            time.sleep(0.0002)
        time.sleep(0.001)  # what a fit takes until it sees the flag
        ended.append(True)

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for delay in np.random.default_rng(0).uniform(0.001, 0.004, 500):
            progress.cancel = 0
            ended.clear()
            faulthandler.dump_traceback_later(WAIT, exit=True)  # a hang ends the process
            with pytest.raises(KeyboardInterrupt):
                _interrupts.interruptible(partial(task, delay), cancel=lambda: setattr(progress, "cancel", 1))
            assert ended
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)
