"""Ctrl-C during long calls of the library, NumPy, SciPy and scikit-learn, which do not check for signals."""

import _thread
import contextvars
from collections.abc import Callable
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
    # No Thread, Event or Future: Ctrl-C while one of them is asked leaves its lock held, and the task waits for ever.
    results, failures, ended = list[Any](), list[BaseException](), _thread.allocate_lock()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            results.append(context.run(task))
        except BaseException as failure:
            failures.append(failure)
        ended.release()

    if _memory.address_space() < _THREAD:
        raise MemoryError("a fit needs a thread, and no address space is left for one: raise the limit (ulimit -v)")
    ended.acquire()
    try:
        try:
            _thread.start_new_thread(run, ())
        except Exception as failure:  # none to be had
            failures.append(failure)
        while not (results or failures):
            if not ended.acquire(timeout=_STEP):
                look()
    except BaseException:
        if cancel is not None:
            cancel()
            while not (results or failures):
                with suppress(KeyboardInterrupt):  # an impatient second Ctrl-C: the first one is being served
                    ended.acquire(timeout=_STEP)
        raise
    if failures:
        raise failures.pop()
    look()
    return results.pop()
