"""Ops of GraphDefs without a kernel here, composed of ops that have one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.convert import constant
from ..core.dtypes import float32
from ..core.op import REGISTRY
from ..core.tensor import SymbolicTensor, Tensor
from ..ops.array.creation import fill, zeros
from ..ops.array.gathering import gather
from ..ops.array.joining import concat
from ..ops.array.selection import where
from ..ops.array.shaping import rank, reshape, shape
from ..ops.math.arithmetic import maximum, minimum
from ..ops.math.casting import cast
from .attributes import value_of
from .further_ops import FURTHER
from .training_ops import TRAINING

Inputs = Sequence[Tensor]


def _select(node: Any, inputs: Inputs) -> list[Tensor]:
    """Element-wise selection, or of whole rows if the condition is a vector."""
    condition, x, y = inputs
    places, dimensions = condition.shape.rank, x.shape.rank
    if places is None or dimensions is None:
        ones = fill(reshape(rank(x) - rank(condition), [1]), 1)
        condition = reshape(condition, concat([shape(condition), ones], 0))
    elif places == 1 and dimensions > 1:
        condition = reshape(condition, [-1] + [1] * (dimensions - 1))
    return [where(condition, x, y)]


def _clip_by_value(node: Any, inputs: Inputs) -> list[Tensor]:
    value, low, high = inputs
    return [maximum(minimum(value, high), low)]


def _empty(node: Any, inputs: Inputs) -> list[Tensor]:
    return [zeros(inputs[0], value_of(node.attr["dtype"]))]


def _div(node: Any, inputs: Inputs) -> list[Tensor]:
    kind = "TruncateDiv" if inputs[0].dtype.is_integer else "RealDiv"
    return [REGISTRY[kind](*inputs)]


def _concat(node: Any, inputs: Inputs) -> list[Tensor]:
    return [concat(list(inputs[1:]), inputs[0])]


def _sparse_matmul(node: Any, inputs: Inputs) -> list[Tensor]:
    a, b = (cast(each, float32) for each in inputs)
    transposed = {name: node.attr[name].b for name in ("transpose_a", "transpose_b")}
    return [REGISTRY["MatMul"](a, b, **transposed)]


def _gather(node: Any, inputs: Inputs) -> list[Tensor]:
    return [gather(*inputs)]


def _resource_gather(node: Any, inputs: Inputs) -> list[Tensor]:
    handle, indices = inputs
    dtype = value_of(node.attr["dtype"])
    known = not isinstance(handle, SymbolicTensor)
    value = handle._array._as_tensor() if known else REGISTRY["ReadVariableOp"](handle, dtype=dtype)
    return [gather(value, indices, batch_dims=node.attr["batch_dims"].i)]


def _empty_list(node: Any, inputs: Inputs) -> list[Tensor]:
    dtype = value_of(node.attr["element_dtype"])
    return [REGISTRY["TensorListReserve"](inputs[0], constant(0), element_dtype=dtype)]


def _push_back(node: Any, inputs: Inputs) -> list[Tensor]:
    handle, item = inputs
    end = REGISTRY["TensorListLength"](handle)
    return [REGISTRY["TensorListSetItem"](handle, end, item, resize_if_index_out_of_bounds=True)]


def _nothing(node: Any, inputs: Inputs) -> list[Tensor]:
    return []


# By op, a function of the node and its inputs that returns the outputs.
COMPOSED: dict[str, Callable[[Any, Inputs], list[Tensor]]] = {
    **FURTHER,
    **TRAINING,
    "ClipByValue": _clip_by_value,
    "Concat": _concat,
    "DisableCopyOnRead": _nothing,
    "Div": _div,
    "Empty": _empty,
    "EmptyTensorList": _empty_list,
    "Gather": _gather,
    "ResourceGather": _resource_gather,
    "Select": _select,
    "SparseMatMul": _sparse_matmul,
    "TensorListPushBack": _push_back,
}

# Ops that are equivalent to one of Runnel's.
SAME = {
    "AnonymousHashTable": "HashTableV2",
    "AnonymousMutableDenseHashTable": "MutableDenseHashTableV2",
    "AnonymousMutableHashTable": "MutableHashTableV2",
    "AnonymousMutableHashTableOfTensors": "MutableHashTableOfTensorsV2",
    "BatchMatMul": "BatchMatMulV2",
    "CheckNumericsV2": "CheckNumerics",
    "FusedBatchNorm": "FusedBatchNormV3",
    "FusedBatchNormV2": "FusedBatchNormV3",
    "Inv": "Reciprocal",
    "Mod": "TruncateMod",
    "ParallelDynamicStitch": "DynamicStitch",
    "PlaceholderWithDefault": "Identity",
    "PreventGradient": "Identity",
    "Snapshot": "Identity",
    "StatelessCase": "Case",
    "StatelessIf": "If",
    "StatelessWhile": "While",
}
