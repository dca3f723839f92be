"""The declarations of `fewlabel.h` for ctypes: struct layouts, status codes and one table of functions.

A test compares them with the header.
"""

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int32, c_int64, c_void_p

ABI_VERSION = 5

OK = 0
BAD_ARGUMENT = 1
BAD_DATA = 2
BAD_HANDLE = 3
CANCELLED = 4
IO_ERROR = 5
INTERNAL = 6
FORKED = 7
NO_MEMORY = 8
GROUP_FAILED = 9

STOP = 2  # in Progress.cancel

INT32 = 1
INT64 = 2
FLOAT32 = 3
FLOAT64 = 4


class Csr(ctypes.Structure):
    """`fewlabel_csr`: rows in compressed form, borrowed from NumPy arrays."""

    _fields_ = (
        ("n_rows", c_int64),
        ("n_features", c_int64),
        ("n_values", c_int64),
        ("indptr", c_void_p),
        ("indices", c_void_p),
        ("values", c_void_p),
        ("indptr_type", c_int32),
        ("index_type", c_int32),
        ("value_type", c_int32),
    )


class Dense(ctypes.Structure):
    """`fewlabel_dense`: dense rows, borrowed from a NumPy array."""

    _fields_ = (
        ("n_rows", c_int64),
        ("n_features", c_int64),
        ("row_stride", c_int64),
        ("values", c_void_p),
        ("value_type", c_int32),
    )


class Progress(ctypes.Structure):
    """`fewlabel_progress`: shared by a running fit and its observers."""

    _fields_ = (
        ("cancel", c_int64),
        ("step", c_int64),
        ("objective", c_double),
        ("level", c_double),
        ("n_switched", c_int64),
        ("n_passes", c_double),
    )


Allreduce = CFUNCTYPE(c_int32, c_void_p, POINTER(c_double), c_int64)  # fewlabel_allreduce


class Group(ctypes.Structure):
    """`fewlabel_group`: the machines that share the rows of a fit."""

    _fields_ = (("rank", c_int32), ("size", c_int32), ("allreduce", Allreduce), ("context", c_void_p))


_CSR = POINTER(Csr)
_DENSE = POINTER(Dense)
_PROGRESS = POINTER(Progress)
_GROUP = POINTER(Group)
_TEXT = c_char_p  # char *, const char *
_NUMBERS = c_void_p  # int32_t *, int64_t *, double *, const or not
_ERROR = (_TEXT, c_int64)  # char *error, int64_t error_size

# name: (type of the result, types of the arguments)
SIGNATURES: dict[str, tuple[type, tuple[type, ...]]] = {
    "fewlabel_abi_version": (c_int32, ()),
    "fewlabel_version": (c_char_p, ()),
    "fewlabel_signal_masks": (c_int32, ()),
    "fewlabel_options": (c_int32, (_TEXT, c_int64, _NUMBERS, *_ERROR)),
    "fewlabel_fit": (c_int32, (_CSR, _NUMBERS, _NUMBERS, c_int64, _TEXT, _PROGRESS, _GROUP, _NUMBERS, *_ERROR)),
    "fewlabel_fit_dense": (
        c_int32,
        (_DENSE, _NUMBERS, _NUMBERS, c_int64, _TEXT, _PROGRESS, _GROUP, _NUMBERS, *_ERROR),
    ),
    "fewlabel_class_prior": (c_int32, (_CSR, _NUMBERS, _NUMBERS, _TEXT, *(3 * [_NUMBERS]), c_int64, *_ERROR)),
    "fewlabel_class_prior_dense": (c_int32, (_DENSE, _NUMBERS, _NUMBERS, _TEXT, *(3 * [_NUMBERS]), c_int64, *_ERROR)),
    "fewlabel_structure": (
        c_int32,
        (*(3 * [_CSR]), _NUMBERS, _NUMBERS, _TEXT, _PROGRESS, *(3 * [_NUMBERS]), c_int64, *_ERROR),
    ),
    "fewlabel_structure_assemble": (c_int32, (_TEXT, *(6 * [_NUMBERS]), *_ERROR)),
    "fewlabel_structure_features": (c_int32, (c_int64, _CSR, c_int32, _NUMBERS, *_ERROR)),
    "fewlabel_structure_decision": (c_int32, (c_int64, _CSR, c_int32, _NUMBERS, *_ERROR)),
    "fewlabel_shape": (c_int32, (c_int64, *(3 * [_NUMBERS]), *_ERROR)),
    "fewlabel_report": (c_int32, (c_int64, _TEXT, c_int64, _NUMBERS, *_ERROR)),
    "fewlabel_array": (c_int32, (c_int64, _TEXT, _NUMBERS, c_int64, *_ERROR)),
    "fewlabel_decision": (c_int32, (c_int64, _CSR, c_int32, _NUMBERS, *_ERROR)),
    "fewlabel_predict": (c_int32, (c_int64, _CSR, c_int32, _NUMBERS, *_ERROR)),
    "fewlabel_decision_dense": (c_int32, (c_int64, _DENSE, c_int32, _NUMBERS, *_ERROR)),
    "fewlabel_predict_dense": (c_int32, (c_int64, _DENSE, c_int32, _NUMBERS, *_ERROR)),
    "fewlabel_decision_with": (c_int32, (_CSR, _NUMBERS, _NUMBERS, c_int64, c_int32, c_int32, _NUMBERS, *_ERROR)),
    "fewlabel_assemble": (c_int32, (_TEXT, _NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS, *_ERROR)),
    "fewlabel_save": (c_int32, (c_int64, _TEXT, _TEXT, *_ERROR)),
    "fewlabel_load": (c_int32, (_TEXT, _NUMBERS, *_ERROR)),
    "fewlabel_sequence_options": (c_int32, (_TEXT, c_int64, _NUMBERS, *_ERROR)),
    "fewlabel_sequence_fit": (
        c_int32,
        (_CSR, _NUMBERS, c_int64, _NUMBERS, c_int64, _TEXT, _PROGRESS, _NUMBERS, *_ERROR),
    ),
    "fewlabel_sequence_assemble": (c_int32, (_TEXT, *(5 * [_NUMBERS]), *_ERROR)),
    "fewlabel_sequence_decode": (
        c_int32,
        (c_int64, _CSR, _NUMBERS, c_int64, c_int32, *(4 * [_NUMBERS]), *_ERROR),
    ),
    "fewlabel_sequence_decode_scores": (
        c_int32,
        (_NUMBERS, c_int64, c_int64, *(4 * [_NUMBERS]), c_int64, c_int32, *(4 * [_NUMBERS]), *_ERROR),
    ),
    "fewlabel_svmlight_read": (
        c_int32,
        (_TEXT, _TEXT, c_int32, c_int64, c_int64, c_int32, _PROGRESS, _NUMBERS, *_ERROR),
    ),
    "fewlabel_svmlight_shape": (c_int32, (c_int64, _NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS, *_ERROR)),
    "fewlabel_svmlight_copy": (c_int32, (c_int64, *(5 * [_NUMBERS]), *_ERROR)),
    "fewlabel_svmlight_write": (c_int32, (_TEXT, _CSR, _NUMBERS, c_int32, *_ERROR)),
    "fewlabel_free": (c_int32, (c_int64, *_ERROR)),
    "fewlabel_live_handles": (c_int64, ()),
}
