"""Softmax and its logarithm over the last axis.

Their gradients are not here: without AVX-512 oneDNN takes several times as long as NumPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...runtime.buffers import empty
from .library import Library
from .primitive import DST, FORWARD_INFERENCE, SRC, Primitive, attributes, compute, described

_PLAIN, _LOGARITHM = 0x30000, 0x30001
# Shorter rows do not fill the vector registers.
_SHORTEST_ROWS = {_PLAIN: 16, _LOGARITHM: 32}


def softmax(logits: Any) -> Any:
    """exp(x) / sum(exp(x)) of each row."""
    return _computed(_PLAIN, logits)


def log_softmax(logits: Any) -> Any:
    """x - log(sum(exp(x))) of each row."""
    return _computed(_LOGARITHM, logits)


def _computed(algorithm: int, logits: Any) -> Any:
    classes = logits.shape[-1]
    if classes < _SHORTEST_ROWS[algorithm] or logits.dtype != np.float32:
        return None
    if not logits.flags.c_contiguous:
        return None
    # Rows with NaN or infinity would not become NaN as a whole.
    if not np.maximum.reduce(logits, None) < np.inf:
        return None
    shape = math.prod(logits.shape[:-1]), classes
    output = empty(logits.shape, logits.dtype)
    key = "softmax", algorithm, shape
    found = compute(
        key, lambda library: _made(library, algorithm, shape), logits.size, logits, output
    )
    return output if found else None


def _made(library: Library, algorithm: int, shape: tuple[int, int]) -> Primitive:
    rows = described(library, shape, (shape[1], 1))
    axis = 1
    descriptor = library.made(
        "dnnl_softmax_forward_primitive_desc_create",
        library.engine, FORWARD_INFERENCE, algorithm, rows, rows, axis, attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {SRC: rows, DST: rows})
