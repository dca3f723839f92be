"""Versions for bug reports."""

import platform
import sys

from joblib import cpu_count
from sklearn.utils._show_versions import _get_deps_info

from fewlabel._native import _library
from fewlabel._version import __version__


def show_versions() -> None:
    """Print the versions of fewlabel, its native library, Python and the packages it works with."""
    facts = {
        "fewlabel": __version__,
        "native library": _native(),
        "python": sys.version.replace("\n", " "),
        "platform": platform.platform(),
        "cores": str(cpu_count()),
    }
    for name, value in (facts | _get_deps_info()).items():
        print(f"{name}: {value}")


def _native() -> str:
    try:
        number, abi, without_masks = _library.versions()
    except RuntimeError as reason:
        return f"not usable: {reason}"
    masks = "without (handlers of signals need SA_ONSTACK)" if without_masks else "with"
    return f"{number}, ABI {abi}, {masks} signal masks, {_library.PATH}"
