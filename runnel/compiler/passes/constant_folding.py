"""Constant folding: operations on constants are computed once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.convert import Const
from ...core.graph.graph import Operation, Placeholder
from ...core.tensor import Tensor
from .computation import Computation, constant, constant_of

# In elements. Larger results are recomputed at each call rather than stored.
LARGEST = 1 << 16


def run(computation: Computation) -> Computation:
    """Replace operations on constants by their results."""
    return computation.rewritten(_folded)


def _folded(operation: Operation) -> Tensor | None:
    op = operation.op
    if op.stateful or op.effect or not op.single or op is Const or op is Placeholder:
        # What is read of a file may be another thing at the next call.
        return None
    dtype = operation.outputs[0].dtype
    if dtype.name in ("variant", "resource"):
        return None
    known = _from_shape(operation)
    if known is None and operation.inputs:
        arrays = [constant_of(tensor) for tensor in operation.inputs]
        if not any(array is None for array in arrays):
            size = _size(operation)
            known = _computed(operation, arrays) if size is None or size <= LARGEST else None
    if known is None or np.size(known) > LARGEST:
        return None
    return constant(operation, known, dtype)


def _size(operation: Operation) -> int | None:
    """How many elements an operation makes; those of its inputs that are constants now tell it."""
    size = operation.outputs[0].shape.num_elements()
    if size is None:
        try:
            shapes = operation.op.infer_shapes(operation.inputs, operation.given)
            size = shapes[0].num_elements()
        except Exception:
            # It fails when the function runs, if it gets there, and says so then.
            return None
    return size


def _computed(operation: Operation, arrays: list[Any]) -> Any:
    # Kernels take scalars for rank 0.
    values = [array[()] if array.dtype != object else array for array in arrays]
    try:
        return operation.op.run(values, operation.given)
    except Exception:
        # It will fail at run time, if it is reached, with the proper error.
        return None


def _from_shape(operation: Operation) -> Any:
    """What follows from the static shape of the input alone."""
    if not operation.inputs:
        return None
    shape = operation.inputs[0].shape
    dtype = operation.outputs[0].dtype
    if operation.type == "Rank" and shape.rank is not None:
        return np.int32(shape.rank)
    if not shape.is_fully_defined():
        return None
    if operation.type == "Shape":
        return np.array(shape.as_list(), dtype.numpy)
    if operation.type == "Size":
        return dtype.as_numpy_dtype(shape.num_elements())
    fill = 0 if operation.type == "ZerosLike" else 1 if operation.type == "OnesLike" else None
    if fill is not None and dtype.name != "string" and (shape.num_elements() or 0) <= LARGEST:
        return np.full(shape.as_list(), fill, dtype.numpy)
    return None
