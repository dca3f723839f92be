"""The version of the installed package."""

from importlib.metadata import PackageNotFoundError, version

UNKNOWN = "0.0.0+unknown"  # a source tree that nobody installed

try:
    __version__ = version("fewlabel")
except PackageNotFoundError:
    __version__ = UNKNOWN
