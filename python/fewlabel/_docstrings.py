"""Descriptions that one class takes from another.

In the source a docstring has a line such as "alpha, tol : see `TransductiveSVC`". When the class is made, the whole
descriptions of these parameters or attributes take its place, for `help` and the pages.
"""

import inspect
import re
from collections.abc import Callable
from typing import TypeVar

_Class = TypeVar("_Class", bound=type)
_ENTRY = re.compile(r"^(\w+) : .*\n(?:    .*\n)+", re.MULTILINE)
_SEE = re.compile(r"^(\w+(?:, \w+)*) : see `\w+`\n", re.MULTILINE)


def described_as(other: type) -> Callable[[_Class], _Class]:
    """Complete the docstring of a class by that of another."""

    def complete(kind: _Class) -> _Class:
        if kind.__doc__ and other.__doc__:  # python -OO leaves none
            text = re.sub(r"see\s+Notes", f"see the notes of `{other.__name__}`", inspect.cleandoc(other.__doc__))
            entries = {found[1]: found[0] for found in _ENTRY.finditer(text)}
            own = inspect.cleandoc(kind.__doc__)
            kind.__doc__ = _SEE.sub(lambda see: "".join(entries[name] for name in see[1].split(", ")), own)
        return kind

    return complete
