"""Buffer reuse: an operation writes its result into the buffer of an input that is dead afterwards.

An operation that has an `out` argument (element-wise ones, the gradient of a normalization) may
reuse the buffer of an input if this is the input's last use, the plan owns the buffer (it is no
argument, no variable's value, no constant), no view of it exists, and dtype and shape are those of
the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.tensor import SymbolicTensor, Tensor
from ..runtime.output_buffers import TYPES, ufunc_of

if TYPE_CHECKING:
    from ..core.graph.graph import Operation

# Smaller arrays come out of NumPy's own cache: no allocation is saved.
SMALLEST = 4096

# In place it is ten times slower.
_APART = np.sign


def _is_fresh(operation: Operation) -> bool:
    """Whether an operation gives a new array and keeps no view of its inputs."""
    if operation.op.fresh == "cast":
        return operation.inputs[0].dtype is not operation.outputs[0].dtype
    return operation.op.fresh is True or ufunc_of(operation) is not None


def reusable(operations: Sequence[Operation], fetches: Sequence[Tensor]) -> dict[int, int]:
    """For the index of an operation, the index of the input whose buffer its result reuses."""
    kept = {id(tensor) for tensor in fetches}
    last = {id(t): index for index, each in enumerate(operations) for t in each.inputs}
    made: set[int] = set()
    for index, operation in enumerate(operations):
        if operation.op.heavy:
            # An engine may have cached the reordered filter, keyed by its buffer.
            kept.add(id(operation.inputs[1]))
        first = id(operation.inputs[0]) if operation.inputs else 0
        if operation.op.fresh == "first":
            made.add(id(operation.outputs[0]))
            kept.update(id(tensor) for tensor in operation.inputs[1:])
        elif _is_fresh(operation):
            made.update(id(output) for output in operation.outputs)
        elif operation.op.view and first in made and first not in kept and last[first] == index:
            made.add(id(operation.outputs[0]))
        else:
            kept.update(id(tensor) for tensor in operation.inputs)
    found: dict[int, int] = {}
    for index, operation in enumerate(operations):
        function, has_into = ufunc_of(operation), operation.op.into is not None
        is_plain = operation.op.single and not operation.given
        if function in (None, _APART) or not (is_plain or has_into):
            continue
        output = operation.outputs[0]
        for place, tensor in enumerate(operation.inputs[:1] if has_into else operation.inputs):
            if (
                id(tensor) in made
                and id(tensor) not in kept
                and last[id(tensor)] == index
                and _fits(tensor, output, has_into or len(operation.inputs) == 1)
            ):
                found[index] = place
                break
    return found


def _fits(tensor: Tensor, output: SymbolicTensor, alike: bool) -> bool:
    dtype = output.dtype
    if tensor.dtype is not dtype or dtype.name not in TYPES:
        return False
    size = output.shape.num_elements()
    if size is None:
        # With one input, or several of one shape, the result has that shape, even if it is unknown;
        # scalars have no buffer.
        return alike and bool(tensor.shape.rank)
    return size >= SMALLEST and tensor.shape.as_list() == output.shape.as_list()
