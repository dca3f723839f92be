"""Ctrl-C during long calls of the library, NumPy, SciPy and scikit-learn, which do not check for signals."""

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any

from fewlabel._inputs import _memory

_STEP = 0.05  # seconds between checks for signals
_THREAD = 64 << 20  # bytes of address space; Python waits for ever for a thread that finds none to begin with


def interruptible(
    task: Callable[[], Any], look: Callable[[], None] = lambda: None, cancel: Callable[[], None] | None = None
) -> Any:
    """Result of a task that runs in another thread, while the thread of the caller calls `look` and can be interrupted.

    If that raises, the task is cancelled and its end awaited; without `cancel` it continues, and its result is dropped.
    """
    found, context = Future[Any](), contextvars.copy_context()

    def run() -> None:
        try:
            found.set_result(context.run(task))
        except BaseException as failure:
            found.set_exception(failure)

    if _memory.address_space() < _THREAD:
        raise MemoryError("a fit needs a thread, and no address space is left for one: raise the limit (ulimit -v)")
    thread = threading.Thread(target=run, daemon=cancel is None)
    try:
        thread.start()
        while not wait([found], _STEP).done:
            look()
    except BaseException:
        if cancel is not None:
            cancel()
            while thread.ident is not None and not found.done():
                with suppress(KeyboardInterrupt):  # an impatient second Ctrl-C: the first one is being served
                    wait([found])
        raise
    result = found.result()
    look()
    return result
