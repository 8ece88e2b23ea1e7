"""Shapes of tensors, and reshaping."""

from __future__ import annotations

import math

import numpy as np

from ...core import nest
from ...core.composites import is_composite
from ...core.convert import constant_shape, constant_value, convert_to_tensor, tensor_of
from ...core.dtypes import as_dtype, int32
from ...core.errors import InvalidArgumentError
from ...core.indexed_slices import IndexedSlices
from ...core.op import COMPOSITES, execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text, scalar, unchanged
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from .arguments import INDEX, alike, axis_number, integers, require_type

Identity = op(
    "Identity", "input: T -> output: T", shape=unchanged, kernel=lambda input: input,
    gradient=lambda op, grad: grad, alias=True,
    batchable=True,
)  # fmt: skip


def identity(input, name=None):
    """A new tensor with the same value."""
    kind = type(input)
    if kind is not Tensor and is_composite(kind) and kind not in COMPOSITES:
        return nest.map_structure(identity, input, expand_composites=True)
    return execute(Identity, (convert_to_tensor(input),))


@op(
    "IdentityN",
    "input: *types -> output: *T",
    shape=lambda inputs, attrs: [each.shape for each in inputs[0]],
    alias=True,
)
def IdentityN(input, *, T):
    return input


@IdentityN.gradient
def _(op, *grads):
    return list(grads)


def identity_n(input, name=None):
    """A list of new tensors with the same values.

    >>> [t.numpy() for t in tf.identity_n([1, 2.5])]
    [np.int32(1), np.float32(2.5)]
    """
    tensors = [convert_to_tensor(each) for each in input]
    if not tensors:
        raise InvalidArgumentError(
            None, None, "Length for attr 'T' of 0 must be at least minimum 1 [Op:IdentityN]"
        )
    return IdentityN(tensors, T=[each.dtype for each in tensors])


GuaranteeConst = op(
    "GuaranteeConst", "input: T -> output: T", shape=unchanged, kernel=lambda input: input,
    gradient=lambda op, grad: grad,
)  # fmt: skip


def guarantee_const(input, name=None):
    """The tensor itself, promised to be constant between runs."""
    return execute(GuaranteeConst, (convert_to_tensor(input),))


@op(
    "Shape",
    "input: T -> output: out_type",
    shape=lambda inputs, attrs: TensorShape([inputs[0].shape.rank]),
    gradient=None,
)
def Shape(input, *, out_type=int32):
    return _as_index(input.shape, out_type)


def _as_index(sizes, dtype):
    try:
        return np.array(sizes, dtype.numpy)
    except OverflowError:
        raise InvalidArgumentError(
            None, None, f"shape {list(sizes)} does not fit {dtype.name}: use out_type=tf.int64"
        ) from None


def shape(input, out_type=None, name=None) -> Tensor:
    """The shape as an integer tensor.

    >>> tf.shape([[1, 2, 3], [4, 5, 6]])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 3], dtype=int32)>
    """
    if isinstance(input, IndexedSlices) and input.dense_shape is not None:
        return identity(input.dense_shape)
    out_type = int32 if out_type is None else _index_type("Shape", out_type)
    return sizes_of(convert_to_tensor(input), out_type)


def sizes_of(tensor, dtype=int32) -> Tensor:
    """The shape as an integer tensor; a constant where it is statically known."""
    sizes = tensor.shape
    if sizes.is_fully_defined():
        return tensor_of(_as_index(sizes._dims, dtype), dtype)
    return execute(Shape, (tensor,), {"out_type": dtype})


@op(
    "ShapeN",
    "input: N*T -> output: N*out_type",
    shape=lambda inputs, attrs: [TensorShape([each.shape.rank]) for each in inputs[0]],
    gradient=None,
)
def ShapeN(input, *, out_type=int32):
    return [np.array(each.shape, out_type.numpy) for each in input]


def shape_n(input, out_type=int32, name=None):
    """The shapes of tensors of one dtype, as integer tensors."""
    if not isinstance(input, list | tuple | Tensor):
        raise TypeError(f"tf.shape_n needs a list of tensors as `input`, got {input!r}.")
    tensors = alike(list(input))
    if not tensors:
        raise InvalidArgumentError(
            None, None, "Value for attr 'N' of 0 must be at least minimum 1 [Op:ShapeN]"
        )
    return ShapeN(tensors, out_type=_index_type("ShapeN", out_type))


def _index_type(op, out_type):
    out_type = as_dtype(out_type)
    require_type(op, "out_type", out_type, INDEX)
    return out_type


@op("Size", "input: T -> output: out_type", shape=scalar, gradient=None)
def Size(input, *, out_type=int32):
    return out_type.numpy_type(input.size)


def size(input, out_type=None, name=None) -> Tensor:
    """The number of elements.

    >>> tf.size([[1, 2, 3], [4, 5, 6]])
    <tf.Tensor: shape=(), dtype=int32, numpy=6>
    """
    tensor = convert_to_tensor(input)
    out_type = int32 if out_type is None else as_dtype(out_type)
    count = tensor.shape.num_elements()
    # A statically known size is a constant, of any dtype that can represent it, as in the original.
    if count is not None:
        return convert_to_tensor(count, out_type)
    return execute(Size, (tensor,), {"out_type": _index_type("Size", out_type)})


@op("Rank", "input: T -> output: int32", shape=scalar, gradient=None)
def Rank(input):
    return np.int32(input.ndim)


def rank(input, name=None) -> Tensor:
    """The number of dimensions, as a tensor.

    >>> tf.rank([[1, 2]])
    <tf.Tensor: shape=(), dtype=int32, numpy=2>
    """
    return execute(Rank, (convert_to_tensor(input),))


def _reshaped(inputs, attrs):
    tensor, sizes = inputs
    if sizes.shape.rank is not None and sizes.shape.rank > 1:
        raise ValueError(f"sizes input must be 1-D, not {dimensions_text(sizes.shape)}")
    values = constant_value(sizes)
    if values is None:
        return constant_shape(sizes) if sizes.shape.rank == 1 else UNKNOWN
    values = np.atleast_1d(values).tolist()
    if tensor.shape.is_fully_defined():
        return TensorShape(_resolved(tuple(tensor.shape), values))
    _unknown_size(values)
    return TensorShape([None if size < 0 else size for size in values])


def _unknown_size(sizes):
    """The index of -1, or None; ValueError for other negative sizes or a second -1."""
    unknown = None
    for axis, size in enumerate(sizes):
        if size < -1:
            raise ValueError(f"Size {axis} must be non-negative, not {size}")
        if size == -1:
            if unknown is not None:
                raise ValueError(f"Only one input size may be -1, not both {unknown} and {axis}")
            unknown = axis
    return unknown


def _resolved(old, sizes):
    """The new sizes with -1 replaced; ValueError where the number of elements differs."""
    count = math.prod(old)
    unknown = _unknown_size(sizes)
    known = math.prod(size for size in sizes if size >= 0)
    if known > 2**63 - 1:
        raise ValueError(f"Shape {sizes} has too many elements")
    if unknown is not None:
        sizes = list(sizes)
        if known:
            if count % known:
                raise ValueError(
                    f"Input to reshape is a tensor with {count} values, but the requested shape "
                    f"requires a multiple of {known}"
                )
            sizes[unknown] = count // known
        else:
            # Next to a size of 0, -1 is inferred from the nonzero sizes of both shapes.
            parts = math.prod(size for size in sizes if size > 0)
            sizes[unknown] = math.prod(size for size in old if size) // parts
        known = math.prod(sizes)
    if known != count:
        raise ValueError(
            f"Input to reshape is a tensor with {count} values, but the requested shape has {known}"
        )
    return sizes


@op("Reshape", "tensor: T, shape: Tshape -> output: T", Tshape=INDEX, shape=_reshaped, view=True)
def Reshape(tensor, shape):
    if shape.ndim > 1:
        raise ValueError("sizes input must be 1-D")
    sizes = shape.tolist()
    if shape.ndim and sizes and (min(sizes) < -1 or not tensor.size):
        sizes = _resolved(tensor.shape, sizes)
    return tensor.reshape(sizes)


@Reshape.gradient
def _(op, grad):
    return reshape_as(grad, op.inputs[0]), None


def reshape(tensor, shape, name=None) -> Tensor:
    """The same elements in another shape; -1 is inferred.

    >>> tf.reshape([1, 2, 3, 4, 5, 6], [2, -1]).shape
    TensorShape([2, 3])
    """
    if not isinstance(tensor, Tensor):
        tensor = convert_to_tensor(tensor)
    return execute(Reshape, (tensor, integers(shape)))


def reshape_as(tensor, like) -> Tensor:
    """Reshape one tensor to the shape of another of the same size."""
    sizes = like.shape
    if not sizes.is_fully_defined():
        return execute(Reshape, (tensor, shape(like)))
    if tensor.shape == sizes:
        return tensor
    return execute(Reshape, (tensor, tensor_of(np.array(tuple(sizes), np.int32), int32)))


def _broadcast_in_part(part, sizes):
    """The known part of a broadcast shape: a size other than 1 is final."""
    wanted = constant_shape(sizes)
    if None in (part.rank, wanted.rank) or part.rank > wanted.rank:
        return wanted
    padded = [1] * (wanted.rank - part.rank) + part.as_list()
    return TensorShape(
        [
            ours if theirs is None and ours != 1 else theirs
            for ours, theirs in zip(padded, wanted, strict=True)
        ]
    )


def _broadcast_to_shape(inputs, attrs):
    value, sizes = inputs
    if sizes.shape.rank not in (None, 1):
        raise ValueError(
            f"shape must be a vector of {{int32,int64}}, got shape {dimensions_text(sizes.shape)}"
        )
    known = constant_value(sizes)
    if known is None:
        return _broadcast_in_part(value.shape, sizes) if sizes.shape.rank == 1 else UNKNOWN
    for size in known:
        if size < 0:
            raise ValueError(f"Dimension {size} must be >= 0")
    wanted = TensorShape(known.tolist())
    part = value.shape
    if part.rank is not None:
        if part.rank > wanted.rank:
            raise ValueError(
                f"Rank of input ({part.rank}) must be no greater than rank of output shape "
                f"({wanted.rank})."
            )
        for ours, theirs in zip(part[::-1], wanted[::-1], strict=False):
            if ours not in (None, 1, theirs):
                raise ValueError(
                    f"Incompatible shapes: {dimensions_text(part)} vs. {dimensions_text(wanted)}"
                )
    return wanted


@op("BroadcastTo", "input: T, shape: Tidx -> output: T", Tidx=INDEX, shape=_broadcast_to_shape)
def BroadcastTo(input, shape):
    if shape.ndim != 1 or input.ndim > len(shape):
        raise ValueError("shape must be a vector with an entry for each axis")
    sizes = shape.tolist()
    if math.prod(sizes) > 4096:
        return np.broadcast_to(input, sizes)
    # A small copy is ten times faster than NumPy's broadcast view.
    result = np.empty(sizes, input.dtype)
    result[...] = input
    return result


@BroadcastTo.gradient
def _(op, grad):
    from ..broadcasting import sum_to

    return sum_to(grad, op.inputs[0]), None


def broadcast_to(input, shape, name=None) -> Tensor:
    """Broadcast the tensor to a larger shape.

    >>> tf.broadcast_to([1, 2, 3], [2, 3]).numpy().tolist()
    [[1, 2, 3], [1, 2, 3]]
    """
    return execute(BroadcastTo, (convert_to_tensor(input), integers(shape)))


def _broadcast_args_shape(inputs, attrs):
    for position, each in enumerate(inputs):
        if each.shape.rank not in (None, 1):
            raise ValueError(f"In[{position}] must be a vector.{dimensions_text(each.shape)}")
    lengths = [each.shape[0] if each.shape.rank else None for each in inputs]
    return TensorShape([None if None in lengths else max(lengths)])


@op("BroadcastArgs", "s0: T, s1: T -> r0: T", T=INDEX, shape=_broadcast_args_shape, gradient=None)
def BroadcastArgs(s0, s1):
    if s0.ndim != 1 or s1.ndim != 1:
        raise ValueError("both shapes must be vectors")
    x, y = s0.tolist(), s1.tolist()
    rank = max(len(x), len(y))
    result = []
    for a, b in zip([1] * (rank - len(x)) + x, [1] * (rank - len(y)) + y, strict=True):
        if a != b and a != 1 and b != 1:
            raise ValueError(
                f"Incompatible shapes: [{','.join(map(str, x))}] vs. [{','.join(map(str, y))}]"
            )
        result.append(b if a == 1 else a)
    return np.array(result, s0.dtype)


def broadcast_dynamic_shape(shape_x, shape_y):
    """The broadcast shape of two shapes, as a tensor.

    >>> tf.broadcast_dynamic_shape([2, 1], [3]).numpy().tolist()
    [2, 3]
    """
    if isinstance(shape_x, Tensor) or not isinstance(shape_y, Tensor):
        first = integers(shape_x)
        return BroadcastArgs(first, _sizes_beside(shape_y, first.dtype))
    return BroadcastArgs(_sizes_beside(shape_x, shape_y.dtype), shape_y)


def _sizes_beside(value, dtype):
    return value if isinstance(value, Tensor) else convert_to_tensor(value, dtype)


def _expanded(inputs, attrs):
    value, dim = inputs
    if dim.shape.num_elements() not in (None, 1):
        raise ValueError("'dim' must be a tensor with a single value")
    axis = constant_value(dim)
    rank = value.shape.rank
    if rank is None:
        return UNKNOWN
    if axis is None:
        return TensorShape([None] * (rank + 1))
    sizes = value.shape.as_list()
    sizes.insert(_inserted_axis(int(axis.item()), rank), 1)
    return TensorShape(sizes)


def _inserted_axis(axis, rank):
    if not -rank - 1 <= axis <= rank:
        raise ValueError(
            f"Tried to expand dim index {axis} for tensor with {rank} dimensions. Fitting is a "
            f"value in [{-rank - 1}, {rank}]."
        )
    return axis + rank + 1 if axis < 0 else axis


_BEFORE = tuple((slice(None),) * rank + (None,) for rank in range(65))


@op("ExpandDims", "input: T, dim: Tdim -> output: T", Tdim=INDEX, shape=_expanded, view=True)
def ExpandDims(input, dim):
    if dim.size != 1:
        raise ValueError("'dim' must be a tensor with a single value")
    return input[_BEFORE[_inserted_axis(dim.item(), input.ndim)]]


@ExpandDims.gradient
def _(op, grad):
    return reshape_as(grad, op.inputs[0]), None


def expand_dims(input, axis, name=None) -> Tensor:
    """Insert a new axis of size 1 at index `axis`.

    >>> tf.expand_dims([1, 2], axis=-1).numpy().tolist()
    [[1], [2]]
    """
    return execute(ExpandDims, (convert_to_tensor(input), integers(axis)))


def _squeezed(inputs, attrs):
    (value,) = inputs
    rank = value.shape.rank
    if rank is None:
        return UNKNOWN
    sizes = value.shape.as_list()
    if not attrs["squeeze_dims"]:
        return TensorShape([s for s in sizes if s != 1]) if None not in sizes else UNKNOWN
    dropped = set()
    for axis in attrs["squeeze_dims"]:
        if not -rank <= axis < rank:
            raise ValueError(
                f"Tried to squeeze dim index {axis} for tensor with {rank} dimensions. Fitting is "
                f"a value in [{-rank}, {rank})."
            )
        if sizes[axis] not in (None, 1):
            raise ValueError(
                f"Can not squeeze dim[{axis % rank}], expected a dimension of 1, got {sizes[axis]}"
            )
        dropped.add(axis % rank)
    return TensorShape([size for axis, size in enumerate(sizes) if axis not in dropped])


@op("Squeeze", "input: T -> output: T", shape=_squeezed, view=True)
def Squeeze(input, *, squeeze_dims=()):
    if not squeeze_dims:
        return input.squeeze()
    rank = input.ndim
    if not all(-rank <= axis < rank for axis in squeeze_dims):
        raise ValueError(f"Tried to squeeze dims {list(squeeze_dims)} of {rank} dimensions.")
    return input.squeeze(tuple({axis % rank for axis in squeeze_dims}))


@Squeeze.gradient
def _(op, grad):
    return reshape_as(grad, op.inputs[0])


def squeeze(input, axis=None, name=None) -> Tensor:
    """Remove the axes of size 1, or those given.

    >>> tf.squeeze(tf.ones([1, 2, 1]), axis=0).shape
    TensorShape([2, 1])
    """
    input = convert_to_tensor(input)
    if axis is None:
        return execute(Squeeze, (input,))
    if isinstance(axis, np.ndarray) or (isinstance(axis, Tensor) and axis.shape.rank):
        raise TypeError(f"tf.squeeze needs an integer or a list of them as `axis`, got {axis!r}.")
    axes = axis if isinstance(axis, list | tuple) else [axis]
    return execute(Squeeze, (input,), {"squeeze_dims": tuple(axis_number(each) for each in axes)})


def _ensured(inputs, attrs):
    try:
        return inputs[0].shape.merge_with(attrs["shape"])
    except ValueError:
        raise ValueError(_incompatible(inputs[0].shape, attrs["shape"])) from None


def _incompatible(found, expected):
    return (
        f"Shape of tensor input {dimensions_text(found)} is not compatible with expected shape "
        f"{dimensions_text(expected)}."
    )


@op("EnsureShape", "input: T -> output: T", shape=_ensured)
def EnsureShape(input, *, shape):
    if not shape.is_compatible_with(TensorShape.of(input.shape)):
        raise ValueError(_incompatible(TensorShape.of(input.shape), shape))
    return input


@EnsureShape.gradient
def _(op, grad):
    return grad


def ensure_shape(x, shape, name=None):
    """The tensor itself, whose shape is checked at run time.

    >>> tf.ensure_shape([[1, 2]], [None, 2]).shape
    TensorShape([1, 2])
    """
    wanted = shape if isinstance(shape, TensorShape) else TensorShape(shape)
    return execute(EnsureShape, (convert_to_tensor(x),), {"shape": wanted})
