"""tf.fingerprint: a 64-bit hash of each row of a tensor."""

from __future__ import annotations

import numpy as np

from ..core.convert import constant_value, convert_to_tensor
from ..core.dtypes import string
from ..core.op import execute, op
from ..core.shape_rules import dimensions_text
from ..core.shapes import TensorShape
from .farmhash import fingerprint64

_BYTES = 8


def _fingerprint_shape(inputs, attrs):
    data, method = inputs
    if data.shape.rank == 0:
        raise ValueError(
            f"`data` should have at least one dimension: {dimensions_text(data.shape)}"
        )
    name = constant_value(method)
    if name is not None and np.ndim(name) == 0:
        _require_farmhash(name)
    return TensorShape([data.shape[0] if data.shape.rank else None, _BYTES])


def _require_farmhash(method):
    name = np.asarray(method).item()
    if name != b"farmhash64":
        raise ValueError(f"Unsupported fingerprint method: {name.decode()}. Use farmhash64.")


@op(
    "Fingerprint",
    "data: T, method: string -> fingerprint: uint8",
    shape=_fingerprint_shape,
    gradient=None,
)
def Fingerprint(data, method):
    if not data.ndim:
        raise ValueError("`data` should have at least one dimension")
    if method.ndim:
        raise ValueError("`method` should be a scalar string")
    _require_farmhash(method)
    if data.dtype != object:
        rows = [np.ascontiguousarray(row).tobytes() for row in data]
    elif data.size == len(data):
        rows = data.ravel()
    else:
        # A row of strings is hashed as the fingerprints of its strings.
        rows = [b"".join(_digest(text) for text in row.flat) for row in data]
    digests = b"".join(_digest(row) for row in rows)
    return np.frombuffer(digests, np.uint8).reshape(len(data), _BYTES)


def _digest(data):
    return fingerprint64(data).to_bytes(_BYTES, "little")


def fingerprint(data, method="farmhash64", name=None):
    """The 64-bit fingerprint of each row (along the first axis), as 8 bytes.

    >>> tf.fingerprint(["a", "b"]).shape
    TensorShape([2, 8])
    """
    return execute(Fingerprint, (convert_to_tensor(data), convert_to_tensor(method, string)))
