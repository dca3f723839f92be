"""Ctrl-C during long calls of NumPy, SciPy and scikit-learn, which do not check for signals."""

import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

_Found = TypeVar("_Found")
_POLL = 0.1  # seconds between checks for signals


def interruptible(task: Callable[[], _Found]) -> _Found:
    """Result of a task that runs in another thread, while the thread of the caller waits and can be interrupted.

    After an interrupt the task continues to its end, and its result is dropped.
    """
    found: list[Any] = []
    context = contextvars.copy_context()

    def run() -> None:
        try:
            found.append((context.run(task), None))
        except BaseException as failure:
            found.append((None, failure))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_POLL)
    value, failure = found[0]
    if failure is not None:
        raise failure
    return value
