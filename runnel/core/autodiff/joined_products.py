"""The gradient of a weight that many matmuls use, as one matmul.

A cell that runs for many steps multiplies by the same weights in each: a_1 W, a_2 W, ... The
gradient with respect to W is the sum of a_i^T g_i, which is one GEMM on the concatenated rows of
the a_i and of the g_i: faster than many thin GEMMs and the sums of their large results.
`compiler/passes/accumulated_matmuls.py` does the same in graphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..context import state
from ..op import REGISTRY, Record, execute
from ..tensor import Tensor

_TYPES = ("float32", "float64")
_TRANSPOSED = {"transpose_a": True}
_PRODUCT = "MatMul"
# Shorter tapes have no frequently used weights.
_FEWEST_RECORDS = 32
_FEWEST_USES = 4


class _Without:
    """The keys whose gradients are needed, except for one."""

    __slots__ = ("_key", "_needed")

    def __init__(self, needed: set[int], key: int) -> None:
        self._needed = needed
        self._key = key

    def __contains__(self, key: int) -> bool:
        return key != self._key and key in self._needed


class JoinedProducts:
    """The operands of deferred gradient matmuls, by the key of their source."""

    def __init__(self, shared: set[int]) -> None:
        self._shared = shared
        self._factors: dict[int, list[tuple[Any, Any]]] = {}

    @classmethod
    def of(cls, records: Sequence[Record], sources: set[int]) -> JoinedProducts | None:
        """Deferral for the sources that many matmuls use; None if there are none.

        Not with other observers either: graphs have a pass for this, and tapes record every
        operation.
        """
        if len(records) < _FEWEST_RECORDS or state.graph is not None or state.tapes:
            return None
        uses = Counter(
            record.inputs[place]._key
            for record in records
            if not record.given
            for place in record.op.factors
        )
        shared = {key for key, count in uses.items() if count >= _FEWEST_USES and key in sources}
        if shared:
            # The gradient of a computed source is needed further back in the backward pass.
            shared.difference_update(out._key for record in records for out in record.outputs)
        return cls(shared) if shared else None

    def needed_without(self, record: Record, gradients: list[Any], needed: set[int]) -> Any:
        """The keys that a record's rule still has to compute, after its operands were deferred."""
        if record.op.name != _PRODUCT or record.given:
            return needed
        left, right = record.inputs
        gradient, key = gradients[0], right._key
        if key not in self._shared or left._key == key or left.dtype.name not in _TYPES:
            return needed
        if type(left) is not Tensor or type(gradient) is not Tensor:
            return needed
        a, g = left._array, gradient._array
        if len(a) * (a.shape[1] + g.shape[1]) >= a.shape[1] * g.shape[1]:
            # The gradient is smaller than its operands: cheaper to accumulate than to concatenate
            # them.
            return needed
        self._factors.setdefault(key, []).append((a, g))
        return _Without(needed, key)

    def results(self) -> list[tuple[int, Tensor]]:
        """The matmuls' results, each with the key of its source."""
        rows: dict[tuple[int, ...], Tensor] = {}
        product = REGISTRY[_PRODUCT]
        found = []
        for key, factors in self._factors.items():
            sides = [_joined(side, rows) for side in zip(*factors, strict=True)]
            found.append((key, execute(product, tuple(sides), _TRANSPOSED)))
        return found


def _joined(arrays: Any, known: dict[tuple[int, ...], Tensor]) -> Tensor:
    """The concatenated rows of all arrays; those that several weights use are concatenated once."""
    key = tuple(map(id, arrays))
    if key not in known:
        joined = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
        known[key] = Tensor(joined, dtypes.from_numpy(joined.dtype))
    return known[key]
