"""Messages between ranks, as bytes: JSON with arrays, and proofs that a rank belongs to the fit.

Bytes from another rank are never unpickled: anyone who can reach its port could have sent them.
"""

import hmac
import json
from typing import Any

import numpy as np

_PLAIN = (str, int, float, bool, type(None))
_NUMBERS = {np.dtype(code).name for code in "?bhilqBHILQefd"}
SIZE = 32  # bytes of a secret, of a nonce and of a proof


def encoded(value: Any) -> bytes:
    """Bytes of a plain value, an array of plain values, or a tuple of both."""
    return json.dumps(_written(value)).encode()


def decoded(text: bytes) -> Any:
    """The encoded value; a ValueError for anything else."""
    try:
        return _read(json.loads(text))
    except (RecursionError, TypeError, KeyError, OverflowError) as reason:
        raise ValueError(f"not a message of a rank: {reason}") from None


def _written(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_written(each) for each in value]
    if isinstance(value, np.ndarray):
        values = value.tolist()
        strange = next((each for each in values if not isinstance(each, _PLAIN)), None) if value.ndim == 1 else values
        if strange is not None:
            raise TypeError(f"on several workers labels and names must be texts, numbers or bools, found {strange!r}")
        return {"kind": value.dtype.kind if value.dtype.kind in "OU" else value.dtype.name, "values": values}
    return value.item() if isinstance(value, np.generic) else value


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read(each) for each in value)
    if not isinstance(value, dict):
        return value
    kind, values = value["kind"], value["values"]
    if not isinstance(values, list) or not all(isinstance(each, _PLAIN) for each in values):
        raise ValueError("not the values of an array")
    if kind == "O":
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    if kind != "U" and kind not in _NUMBERS:
        raise ValueError(f"not an array of {kind}")
    return np.array(values, dtype=str if kind == "U" else kind)


def proof(secret: bytes, rank: int, nonces: bytes, text: bytes) -> bytes:
    """Proof that a rank has the secret of a fit, for a text and the nonces of all ranks."""
    return hmac.digest(secret, rank.to_bytes(8, "little") + nonces + text, "sha256")
