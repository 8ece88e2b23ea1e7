"""The shape of a tensor, and giving it another one."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_shape, constant_value, convert_to_tensor
from ...core.dtypes import as_dtype, int32, int64
from ...core.op import execute, op
from ...core.shape_rules import dimensions_text, scalar, unchanged
from ...core.shapes import TensorShape
from ...core.tensor import Tensor

Identity = op(
    "Identity", "input: T -> output: T", shape=unchanged, kernel=lambda input: input,
    gradient=lambda op, grad: grad,
)  # fmt: skip


def identity(input, name=None):
    """A tensor with the same value and contents."""
    return execute(Identity, (convert_to_tensor(input),))


@op(
    "Shape",
    "input: T -> output: out_type",
    shape=lambda inputs, attrs: TensorShape([inputs[0].shape.rank]),
    gradient=None,
)
def Shape(input, *, out_type=int32):
    return np.array(input.shape, out_type.numpy)


def shape(input, out_type=None, name=None) -> Tensor:
    """The shape as an integer vector.

    >>> tf.shape([[1, 2, 3], [4, 5, 6]])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 3], dtype=int32)>
    """
    return execute(Shape, (convert_to_tensor(input),), {"out_type": as_dtype(out_type or int32)})


@op("Rank", "input: T -> output: int32", shape=scalar, gradient=None)
def Rank(input):
    return np.int32(input.ndim)


def rank(input, name=None):
    """The number of dimensions, as a tensor.

    >>> tf.rank([[1, 2]])
    <tf.Tensor: shape=(), dtype=int32, numpy=2>
    """
    return execute(Rank, (convert_to_tensor(input),))


def _reshaped(inputs, attrs):
    tensor, sizes = inputs
    wanted = constant_shape(sizes)
    count = tensor.shape.num_elements()
    if wanted.rank is None or count is None:
        return wanted
    values = constant_value(sizes)
    if values is None:
        return wanted
    values = [int(size) for size in values]
    known = int(np.prod([size for size in values if size >= 0], dtype=np.int64))
    unknown = [axis for axis, size in enumerate(values) if size < 0]
    if len(unknown) > 1:
        raise ValueError(f"Only one size of `shape` may be -1, got {values}.")
    if unknown and known and count % known == 0:
        values[unknown[0]] = count // known
    elif unknown or known != count:
        raise ValueError(
            f"Input to reshape is a tensor with {count} values, but the requested shape "
            f"{dimensions_text(wanted)} does not hold as many."
        )
    return TensorShape(values)


@op(
    "Reshape",
    "tensor: T, shape: Tshape -> output: T",
    Tshape={int32, int64},
    shape=_reshaped,
)
def Reshape(tensor, shape):
    return np.reshape(tensor, tuple(shape.tolist()))


@Reshape.gradient
def _(op, grad):
    return reshape(grad, shape(op.inputs[0])), None


def reshape(tensor, shape, name=None) -> Tensor:
    """The same elements in another shape; -1 stands for what is left.

    >>> tf.reshape([1, 2, 3, 4, 5, 6], [2, -1]).shape
    TensorShape([2, 3])
    """
    tensor = convert_to_tensor(tensor)
    if not isinstance(shape, Tensor):
        shape = convert_to_tensor(shape, dtype_hint=int32)
    return execute(Reshape, (tensor, shape))


def _broadcast_to_shape(inputs, attrs):
    return constant_shape(inputs[1])


@op(
    "BroadcastTo",
    "input: T, shape: Tidx -> output: T",
    Tidx={int32, int64},
    shape=_broadcast_to_shape,
)
def BroadcastTo(input, shape):
    return np.broadcast_to(input, tuple(shape.tolist()))


@BroadcastTo.gradient
def _(op, grad):
    from ..broadcasting import sum_to

    return sum_to(grad, op.inputs[0]), None


def broadcast_to(input, shape, name=None) -> Tensor:
    """The tensor repeated to a larger shape, as arithmetic would broadcast it.

    >>> tf.broadcast_to([1, 2, 3], [2, 3]).numpy().tolist()
    [[1, 2, 3], [1, 2, 3]]
    """
    input = convert_to_tensor(input)
    return execute(BroadcastTo, (input, convert_to_tensor(shape, dtype_hint=int32)))
