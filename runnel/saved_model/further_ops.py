"""More ops of GraphDefs without a kernel here, computed by public functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.convert import constant, constant_value, convert_to_tensor
from ..core.dtypes import float32, int32
from ..core.op import REGISTRY
from ..core.tensor import SymbolicTensor, Tensor
from .attributes import value_of

Inputs = Sequence[Tensor]


def _tf() -> Any:
    """The public functions, which are imported by now."""
    import runnel

    return runnel


def _linspace(node: Any, inputs: Inputs) -> list[Tensor]:
    return [_tf().linspace(*inputs)]


def _accumulate(node: Any, inputs: Inputs) -> list[Tensor]:
    return [_tf().add_n(list(inputs))]


def _bucketize(node: Any, inputs: Inputs) -> list[Tensor]:
    tf = _tf()
    boundaries = tf.constant(list(node.attr["boundaries"].list.f), float32)
    values = tf.reshape(tf.cast(inputs[0], float32), [-1])
    places = tf.searchsorted(boundaries, values, side="right", out_type=int32)
    return [tf.reshape(places, tf.shape(inputs[0]))]


def _permuted_format(node: Any, inputs: Inputs) -> list[Tensor]:
    names = [node.attr[each].s.decode() for each in ("src_format", "dst_format")]
    source, target = (
        name or default for name, default in zip(names, ("NHWC", "NCHW"), strict=True)
    )
    length = inputs[0].shape[0]
    if length is not None and length < len(source):
        # The spatial dimensions only.
        source, target = (each.replace("N", "").replace("C", "") for each in (source, target))
    return [_tf().gather(inputs[0], [source.index(each) for each in target])]


def _variable_shape(node: Any, inputs: Inputs) -> list[Tensor]:
    tf = _tf()
    dtype = value_of(node.attr["out_type"]) or int32
    return [tf.shape(_read(inputs[0], node), dtype)]


def _read(handle: Tensor, node: Any) -> Tensor:
    if not isinstance(handle, SymbolicTensor):
        found: Tensor = handle._array._as_tensor()
        return found
    read: Tensor = REGISTRY["ReadVariableOp"](handle, dtype=value_of(node.attr["dtype"]))
    return read


def _gather_rows(node: Any, inputs: Inputs) -> list[Tensor]:
    return [_tf().gather_nd(_read(inputs[0], node), inputs[1])]


def _is_initialized(node: Any, inputs: Inputs) -> list[Tensor]:
    """The variables of loaded objects are always initialized."""
    return [constant(True)]


def _flag(node: Any, name: str, default: bool) -> bool:
    return bool(node.attr[name].b) if name in node.attr else default


def _in_top_k(node: Any, inputs: Inputs) -> list[Tensor]:
    return [_tf().math.in_top_k(inputs[1], inputs[0], node.attr["k"].i)]


def _max_pool(node: Any, inputs: Inputs) -> list[Tensor]:
    sizes, strides = (np.asarray(constant_value(each)).tolist() for each in inputs[1:])
    layout = node.attr["data_format"].s.decode() or "NHWC"
    padding = node.attr["padding"].s.decode()
    return [
        REGISTRY["MaxPool"](inputs[0], ksize=sizes, strides=strides, padding=padding,
                            data_format=layout)
    ]  # fmt: skip


def _reversed(node: Any, inputs: Inputs) -> list[Tensor]:
    axes = np.flatnonzero(np.asarray(constant_value(inputs[1]))).tolist()
    return [_tf().reverse(inputs[0], axes)]


def _diag(node: Any, inputs: Inputs) -> list[Tensor]:
    return [_tf().linalg.diag(inputs[0])]


def _diag_part(node: Any, inputs: Inputs) -> list[Tensor]:
    return [_tf().linalg.diag_part(inputs[0])]


def _set_diag(node: Any, inputs: Inputs) -> list[Tensor]:
    return [_tf().linalg.set_diag(*inputs)]


def _aligned(kind: str) -> Callable[[Any, Inputs], list[Tensor]]:
    """The newer version of an op of diagonals, which are left-aligned in the older one."""
    return lambda node, inputs: [REGISTRY[kind](*inputs, align="LEFT_LEFT")]


def _sparse_segments(kind: str) -> Callable[[Any, Inputs], list[Tensor]]:
    def compute(node: Any, inputs: Inputs) -> list[Tensor]:
        data, indices, segments, *count = inputs
        number = {"num_segments": count[0]} if count else {}
        return [getattr(_tf().sparse, f"segment_{kind}")(data, indices, segments, **number)]

    return compute


def _sparse_reduction(kind: str) -> Callable[[Any, Inputs], list[Tensor]]:
    def compute(node: Any, inputs: Inputs) -> list[Tensor]:
        tf = _tf()
        sparse = tf.SparseTensor(*inputs[:3])
        axes = np.asarray(constant_value(inputs[3])).reshape(-1).tolist()
        keep = _flag(node, "keep_dims", False)
        return [getattr(tf.sparse, f"reduce_{kind}")(sparse, axes, keepdims=keep)]

    return compute


def _sparse_concat(node: Any, inputs: Inputs) -> list[Tensor]:
    tf = _tf()
    count = len(inputs) // 3
    parts = [inputs[i * count : (i + 1) * count] for i in range(3)]
    joined = tf.sparse.concat(
        node.attr["concat_dim"].i, [tf.SparseTensor(*each) for each in zip(*parts, strict=True)]
    )
    return [joined.indices, joined.values, joined.dense_shape]


def _sparse_slice(node: Any, inputs: Inputs) -> list[Tensor]:
    tf = _tf()
    part = tf.sparse.slice(tf.SparseTensor(*inputs[:3]), *inputs[3:])
    return [part.indices, part.values, part.dense_shape]


def _sparse_softmax(node: Any, inputs: Inputs) -> list[Tensor]:
    tf = _tf()
    return [tf.sparse.softmax(tf.SparseTensor(*inputs)).values]


def _sparse_dense_add(node: Any, inputs: Inputs) -> list[Tensor]:
    tf = _tf()
    return [tf.sparse.add(tf.SparseTensor(*inputs[:3]), inputs[3])]


def _ragged_gather(node: Any, inputs: Inputs) -> list[Tensor]:
    tf = _tf()
    *splits, values, indices = inputs
    params = tf.RaggedTensor.from_nested_row_splits(values, splits, validate=False)
    found = tf.gather(params, indices)
    return [*found.nested_row_splits, found.flat_values]


def _projected(node: Any, inputs: Inputs) -> list[Tensor]:
    mode = node.attr["fill_mode"].s.decode() or "CONSTANT"
    kind = node.attr["interpolation"].s.decode()
    nothing = convert_to_tensor(np.float32(0))
    return [
        REGISTRY["ImageProjectiveTransformV3"](*inputs, nothing, interpolation=kind, fill_mode=mode)
    ]


def _nothing(node: Any, inputs: Inputs) -> list[Tensor]:
    return []


FURTHER: dict[str, Callable[[Any, Inputs], list[Tensor]]] = {
    "AccumulateNV2": _accumulate,
    "Bucketize": _bucketize,
    "DataFormatVecPermute": _permuted_format,
    "DestroyResourceOp": _nothing,
    "ImageProjectiveTransformV2": _projected,
    "InTopK": _in_top_k,
    "LinSpace": _linspace,
    "MatrixDiag": _diag,
    "MatrixDiagPart": _diag_part,
    "MatrixDiagPartV2": _aligned("MatrixDiagPartV3"),
    "MatrixDiagV2": _aligned("MatrixDiagV3"),
    "MatrixSetDiag": _set_diag,
    "MatrixSetDiagV2": _aligned("MatrixSetDiagV3"),
    "MaxPoolV2": _max_pool,
    "RaggedGather": _ragged_gather,
    "ResourceGatherNd": _gather_rows,
    "Reverse": _reversed,
    "SparseConcat": _sparse_concat,
    "SparseReduceMax": _sparse_reduction("max"),
    "SparseReduceSum": _sparse_reduction("sum"),
    "SparseSegmentMean": _sparse_segments("mean"),
    "SparseSegmentMeanWithNumSegments": _sparse_segments("mean"),
    "SparseSegmentSqrtN": _sparse_segments("sqrt_n"),
    "SparseSegmentSqrtNWithNumSegments": _sparse_segments("sqrt_n"),
    "SparseSegmentSum": _sparse_segments("sum"),
    "SparseSegmentSumWithNumSegments": _sparse_segments("sum"),
    "SparseSlice": _sparse_slice,
    "SparseSoftmax": _sparse_softmax,
    "SparseTensorDenseAdd": _sparse_dense_add,
    "VarIsInitializedOp": _is_initialized,
    "VariableShape": _variable_shape,
}

# The start index of each named output of ops with several; negative from the end.
OUTPUTS: dict[str, dict[str, int]] = {
    "RaggedGather": {"output_nested_splits": 0, "output_dense_values": -1},
    "SparseConcat": {"output_indices": 0, "output_values": 1, "output_shape": 2},
    "SparseSlice": {"output_indices": 0, "output_values": 1, "output_shape": 2},
}
