"""The declarations of `fewlabel.h` for ctypes: struct layouts, status codes and one table of functions.

A test compares them with the header.
"""

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int32, c_int64, c_void_p
from typing import Any

import numpy as np

ABI_VERSION = 10

OK, BAD_ARGUMENT, BAD_DATA, BAD_HANDLE, CANCELLED, IO_ERROR, INTERNAL, FORKED, NO_MEMORY, GROUP_FAILED = range(10)
STOP = 2  # in Progress.cancel
INT32, INT64, FLOAT32, FLOAT64 = range(1, 5)
SPARSE, DENSE = 1, 2
LINEAR, SEQUENCE, STRUCTURE = 1, 2, 3
TYPES = {np.dtype(name): k for k, name in enumerate(("int32", "int64", "float32", "float64"), INT32)}


def _fields(*groups: tuple[Any, str]) -> list[tuple[str, Any]]:
    """The fields of a struct in their order, from types and the names that have them."""
    return [(name, kind) for kind, names in groups for name in names.split()]


class Rows(ctypes.Structure):
    """`fewlabel_rows`: sparse or dense rows, borrowed from NumPy arrays."""

    _fields_ = _fields(
        (c_int32, "kind value_type"),
        (c_int64, "n_rows n_features"),
        (c_void_p, "values"),
        (c_int64, "n_values"),
        (c_void_p, "indptr indices"),
        (c_int32, "indptr_type index_type"),
        (c_int64, "row_stride"),
    )
    arrays: Any  # to which it points


class Labels(ctypes.Structure):
    """`fewlabel_labels`: class numbers, and sets or probabilities of classes, borrowed from NumPy arrays."""

    _fields_ = _fields(
        (c_void_p, "codes"), (c_int64, "n_columns n_classes"), (c_void_p, "indptr classes probabilities")
    )
    arrays: Any  # to which it points


class Progress(ctypes.Structure):
    """`fewlabel_progress`: shared by a running fit and its observers."""

    _fields_ = _fields(
        (c_int64, "cancel step"), (c_double, "objective level"), (c_int64, "n_switched"), (c_double, "n_passes")
    )


Allreduce = CFUNCTYPE(c_int32, c_void_p, POINTER(c_double), c_int64)  # fewlabel_allreduce


class Group(ctypes.Structure):
    """`fewlabel_group`: the machines that share the rows of a fit."""

    _fields_ = (("rank", c_int32), ("size", c_int32), ("allreduce", Allreduce), ("context", c_void_p))


class Named(ctypes.Structure):
    """`fewlabel_named`: an array and its name."""

    _fields_ = (("name", c_char_p), ("values", c_void_p), ("length", c_int64))


_ROWS, _LABELS, _PROGRESS, _GROUP = POINTER(Rows), POINTER(Labels), POINTER(Progress), POINTER(Group)
_TEXT = c_char_p  # char *, const char *
_ARRAY = c_void_p  # int32_t *, int64_t *, double *, void *, const or not


def _status(*arguments: type) -> tuple[type, tuple[type, ...]]:
    """A function that returns a status and takes `char *error, int64_t error_size` after these arguments."""
    return c_int32, (*arguments, _TEXT, c_int64)


# name: (type of the result, types of the arguments)
SIGNATURES: dict[str, tuple[type, tuple[type, ...]]] = {
    "fewlabel_abi_version": (c_int32, ()),
    "fewlabel_version": (c_char_p, ()),
    "fewlabel_live_handles": (c_int64, ()),
    "fewlabel_options": _status(c_int32, _TEXT, c_int64, _ARRAY),
    "fewlabel_fit": _status(_ROWS, _LABELS, _ARRAY, c_int64, _TEXT, _PROGRESS, _GROUP, _ARRAY),
    "fewlabel_class_prior": _status(_ROWS, _LABELS, _ARRAY, _TEXT, *(3 * [_ARRAY]), _TEXT, c_int64),
    "fewlabel_predict": _status(c_int64, _ROWS, c_int32, _ARRAY, _ARRAY),
    "fewlabel_decision_with": _status(_ROWS, _ARRAY, _ARRAY, c_int64, c_int32, c_int32, _ARRAY),
    "fewlabel_sequence_fit": _status(_ROWS, _ARRAY, c_int64, _ARRAY, _ARRAY, c_int64, _TEXT, _PROGRESS, _ARRAY),
    "fewlabel_sequence_decode": _status(c_int64, _ROWS, _ARRAY, c_int64, c_int32, *(4 * [_ARRAY])),
    "fewlabel_structure_fit": _status(_ROWS, _ROWS, _ROWS, _ARRAY, _ARRAY, c_int64, _TEXT, _PROGRESS, _ARRAY),
    "fewlabel_report": _status(c_int64, _TEXT, c_int64, _ARRAY),
    "fewlabel_array": _status(c_int64, _TEXT, c_int32, _ARRAY, c_int64),
    "fewlabel_assemble": _status(c_int32, _TEXT, POINTER(Named), c_int64, _ARRAY),
    "fewlabel_save": _status(c_int64, _TEXT, _TEXT),
    "fewlabel_load": _status(_TEXT, _ARRAY),
    "fewlabel_free": _status(c_int64),
    "fewlabel_svmlight_read": _status(_TEXT, _TEXT, c_int32, c_int64, c_int64, _PROGRESS, _ARRAY, _ARRAY),
    "fewlabel_svmlight_write": _status(_TEXT, _ROWS, _ARRAY, c_int32),
}
