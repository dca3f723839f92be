"""Ctrl-C during long calls of NumPy, SciPy and scikit-learn, which look at no signal until they end."""

import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

_Found = TypeVar("_Found")
_LOOK = 0.1  # seconds between two looks


def waited_for(task: Callable[[], _Found]) -> _Found:
    """What a task gives, which runs in a thread of its own: the caller's waits, and can be interrupted.

    After an interrupt the task runs on to its end, and what it gives is dropped.
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
        thread.join(_LOOK)
    value, failure = found[0]
    if failure is not None:
        raise failure
    return value
