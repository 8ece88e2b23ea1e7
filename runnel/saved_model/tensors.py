"""Conversion of arrays and shapes to and from TensorProto and TensorShapeProto messages."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorboard.compat.proto import tensor_pb2, tensor_shape_pb2

from ..core import dtypes
from ..core.convert import array_of
from ..core.dtypes import DType, as_dtype
from ..core.shapes import TensorShape, as_shape
from ..core.tensor import SymbolicTensor, Tensor
from ..ops.tensor_proto import load

TensorProto = tensor_pb2.TensorProto
TensorShapeProto = tensor_shape_pb2.TensorShapeProto

# The field for single elements of a dtype, unless it is `int_val`.
_FIELDS = {
    dtypes.float16: "half_val",
    dtypes.bfloat16: "half_val",
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.int64: "int64_val",
    dtypes.uint32: "uint32_val",
    dtypes.uint64: "uint64_val",
    dtypes.bool: "bool_val",
    dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val",
}


def shape_proto(shape: TensorShape) -> Any:
    """The message of a shape."""
    proto = TensorShapeProto(unknown_rank=shape.rank is None)
    for size in [] if shape.rank is None else shape.as_list():
        proto.dim.add(size=-1 if size is None else size)
    return proto


def shape_from(proto: Any) -> TensorShape:
    """The shape of a message."""
    if proto.unknown_rank:
        return TensorShape(None)
    return TensorShape([None if dim.size < 0 else dim.size for dim in proto.dim])


def tensor_proto(array: np.ndarray, dtype: DType, sizes: Any = None) -> Any:
    """The message of an array; with `sizes`, of an array of that shape that begins with the
    elements.
    """
    proto = TensorProto(dtype=dtype.as_datatype_enum)
    proto.tensor_shape.SetInParent()
    for size in array.shape if sizes is None else sizes:
        proto.tensor_shape.dim.add(size=size)
    if dtype is dtypes.string:
        proto.string_val.extend(array.reshape(-1).tolist())
    elif array.size > 1 and sizes in (None, list(array.shape)):
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    elif array.size:
        _add_elements(proto, array.reshape(-1), dtype)
    return proto


def _add_elements(proto: Any, flat: np.ndarray, dtype: DType) -> None:
    if dtype not in _FIELDS and dtype.name not in _SMALL:
        proto.tensor_content = flat.tobytes()
        return
    field = getattr(proto, _FIELDS.get(dtype, "int_val"))
    if dtype.is_complex:
        flat = flat.view(dtype.real_dtype.numpy)
    elif dtype in (dtypes.float16, dtypes.bfloat16):
        flat = flat.view(np.uint16)
    field.extend(flat.tolist())


_SMALL = frozenset(["int8", "int16", "int32", "uint8", "uint16"])


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """The TensorProto of a value, optionally with another shape.

    >>> tf.make_ndarray(tf.make_tensor_proto([1, 2, 3]))
    array([1, 2, 3], dtype=int32)
    """
    if isinstance(values, TensorProto):
        return values
    if values is None:
        raise ValueError("None values not supported.")
    if isinstance(values, SymbolicTensor):
        raise TypeError(f"{values!r} has no value before its graph runs.")
    dtype = None if dtype is None else as_dtype(dtype)
    if isinstance(values, Tensor):
        values = values.numpy()
    array, kind = array_of(values, dtype)
    array = np.asarray(array)
    if shape is None:
        return tensor_proto(array, kind)
    wanted = as_shape(shape)
    sizes: Any = wanted.as_list()
    count = wanted.num_elements()
    if count is None:
        raise ValueError(f"The shape of a TensorProto must be fully known, got {wanted}.")
    fits = array.size == count or not verify_shape
    if verify_shape and list(array.shape) != sizes:
        fits = False
    if allow_broadcast and array.size not in (1, count):
        fits = False
    if not fits:
        raise TypeError(f"Expected Tensor's shape: {tuple(sizes)}, but got {array.shape}.")
    if array.size == count:
        return tensor_proto(array.reshape(sizes), kind)
    if array.size > count:
        raise ValueError(
            f"Too many elements provided. Takes at most {count}, but got {array.size}."
        )
    return tensor_proto(array, kind, sizes)


def make_ndarray(tensor: Any) -> np.ndarray:
    """The array of a TensorProto.

    >>> tf.make_ndarray(tf.make_tensor_proto(7, shape=[2, 2]))
    array([[7, 7],
           [7, 7]], dtype=int32)
    """
    tensor.tensor_shape  # noqa: B018 - what is no TensorProto is refused here
    try:
        _, array = load(tensor.SerializeToString())
    except ValueError as failure:
        raise TypeError(f"Unsupported tensor type: {tensor.dtype}. {failure}") from None
    return np.array(array)
