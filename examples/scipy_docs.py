"""A corpus that is on every machine where fewlabel runs: the docstrings of SciPy, topic = subpackage."""

from __future__ import annotations

import importlib
import inspect

TOPICS = ("fft", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "special", "stats")
SHORTEST = 200  # characters of a docstring that is taken


def load(topics: tuple[str, ...] = TOPICS) -> tuple[list[str], list[str]]:
    """Docstrings of the public names and the topic of each. One that several names share is taken once."""
    found: dict[str, str] = {}
    for topic in topics:
        module = importlib.import_module(f"scipy.{topic}")
        for name in sorted(module.__all__):
            member = getattr(module, name)
            text = None if inspect.ismodule(member) else inspect.getdoc(member)
            if text and len(text) >= SHORTEST:
                found.setdefault(text, topic)
    return list(found), list(found.values())
