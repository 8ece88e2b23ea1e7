"""Choosing elements by condition: where, boolean_mask, one_hot, sequence_mask."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import (
    NUMERIC,
    as_dtype,
    bool as bool_dtype,
    float32,
    int8,
    int32,
    int64,
    uint8,
)
from ...core.op import REGISTRY, execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.shapes import TensorShape, broadcast_shapes
from ...core.tensor import Tensor
from .. import broadcasting
from ..math import arithmetic, casting, reduction
from . import creation, gathering, indexing, joining
from .arguments import alike, number
from .shaping import expand_dims, rank, reshape, sizes_of, squeeze


def _positions_shape(inputs, attrs):
    rank = inputs[0].shape.rank
    if rank == 0:
        raise ValueError("WhereOp : Unhandled input dimensions: 0")
    return TensorShape([None, rank])


@op(
    "Where",
    "condition: T -> index: int64",
    T=NUMERIC | {bool_dtype},
    shape=_positions_shape,
    gradient=None,
)
def Where(condition):
    if not condition.ndim:
        raise ValueError("WhereOp : Unhandled input dimensions: 0")
    positions = condition.nonzero()
    return positions[0][:, None] if len(positions) == 1 else np.stack(positions, 1)


def _selected_shape(inputs, attrs):
    try:
        shape = inputs[0].shape
        for each in inputs[1:]:
            shape = broadcast_shapes(shape, each.shape)
    except ValueError:
        condition, then, other = (dimensions_text(each.shape) for each in inputs)
        raise ValueError(
            f"condition {condition}, then {then}, and else {other} must be broadcastable"
        ) from None
    return shape


# Above this many elements a bitwise selection is profitable.
_MANY = 4096
_BITS = {2: np.int16, 4: np.int32, 8: np.int64}


@op("SelectV2", "condition: bool, t: T, e: T -> output: T", shape=_selected_shape, batchable=True)
def SelectV2(condition, t, e):
    shape = condition.shape
    if (
        condition.size < _MANY
        or t.dtype.kind not in "fiu"
        or t.dtype.itemsize not in _BITS
        or any(each.shape not in (shape, ()) for each in (t, e))
    ):
        return np.where(condition, t, e)
    # (t ^ e) & mask ^ e is branch-free; np.where mispredicts half of its branches on random
    # conditions.
    kind = _BITS[t.dtype.itemsize]
    mask = np.negative(condition.view(np.int8), dtype=kind)
    first, second = np.asarray(t).view(kind), np.asarray(e).view(kind)
    if second.ndim or second:
        mask &= first ^ second
        mask ^= second
    else:
        mask &= first
    return mask.view(t.dtype)


@SelectV2.gradient
def _(op, grad):
    condition, x, y = op.inputs
    zero = number(0, grad.dtype)
    return (
        None,
        broadcasting.sum_to(execute(SelectV2, (condition, grad, zero)), x) if op.needs(1) else None,
        broadcasting.sum_to(execute(SelectV2, (condition, zero, grad)), y) if op.needs(2) else None,
    )


def where(condition, x=None, y=None, name=None) -> Tensor:
    """`x` where the condition holds and `y` elsewhere; without them the indices where it holds.

    >>> tf.where([True, False, True], [1, 2, 3], 0).numpy().tolist()
    [1, 0, 3]
    >>> tf.where([[True, False], [False, True]]).numpy().tolist()
    [[0, 0], [1, 1]]
    """
    if x is None and y is None:
        return execute(Where, (convert_to_tensor(condition, dtype_hint=bool_dtype),))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if not isinstance(condition, Tensor):
        condition = convert_to_tensor(condition, bool_dtype)
    return execute(SelectV2, (condition, *alike([x, y])))


def boolean_mask(tensor, mask, axis=None, name="boolean_mask") -> Tensor:
    """The slices of a tensor where the mask is True; the masked axes become one.

    >>> tf.boolean_mask([[1, 2], [3, 4], [5, 6]], [True, False, True]).numpy().tolist()
    [[1, 2], [5, 6]]
    """
    tensor, mask = convert_to_tensor(tensor), convert_to_tensor(mask)
    depth = mask.shape.rank
    if depth == 0:
        raise ValueError("mask cannot be scalar.")
    axis = 0 if axis is None else int(axis)
    if depth is not None and tensor.shape.rank is not None:
        masked_axes = tensor.shape[axis : axis + depth]
        if not masked_axes.is_compatible_with(mask.shape):
            raise ValueError(
                f"Shapes {masked_axes} and {mask.shape} are incompatible: a mask has a value for "
                f"each element of the axes from {axis} on; the tensor has the shape {tensor.shape}."
            )
    if depth != 1:
        last = arithmetic.add(rank(mask), axis) if depth is None else axis + depth
        sizes = sizes_of(tensor)
        masked = reduction.reduce_prod(indexing.getitem(sizes, slice(axis, last)), keepdims=True)
        before = indexing.getitem(sizes, slice(axis))
        after = indexing.getitem(sizes, slice(last, None))
        tensor = reshape(tensor, joining.concat([before, masked, after], 0))
        mask = reshape(mask, [-1])
    else:
        # The reshape densifies the gradient, as for every other shape of mask.
        tensor = reshape(tensor, sizes_of(tensor))
    places = squeeze(where(mask), 1)
    return gathering.gather(tensor, places, axis=axis)


def _one_hot_shape(inputs, attrs):
    indices, depth, on_value, off_value = inputs
    for what, each in (("depth", depth), ("on_value", on_value), ("off_value", off_value)):
        if each.shape.rank not in (None, 0):
            raise ValueError(f"{what} must be a scalar, but got: {dimensions_text(each.shape)}")
    size = constant_value(depth)
    if size is not None and size < 0:
        raise ValueError(f"depth must be non-negative, got: {size}")
    rank = indices.shape.rank
    if rank is None:
        return UNKNOWN
    sizes = indices.shape.as_list()
    sizes.insert(_hot_axis(attrs["axis"], rank), None if size is None else int(size))
    return TensorShape(sizes)


def _hot_axis(axis, rank):
    if not -1 <= axis <= rank:
        raise ValueError(
            f"Expected axis to be -1 or between [0, {rank + 1}).  But received: {axis}"
        )
    return rank if axis == -1 else axis


@op(
    "OneHot",
    "indices: TI, depth: int32, on_value: T, off_value: T -> output: T",
    TI={uint8, int8, int32, int64},
    shape=_one_hot_shape,
    gradient=None,
)
def OneHot(indices, depth, on_value, off_value, *, axis=-1):
    if depth.ndim or on_value.ndim or off_value.ndim:
        raise ValueError("depth, on_value and off_value must be scalars")
    size = depth.item()
    if size < 0:
        raise ValueError(f"depth must be non-negative, got: {size}")
    axis = _hot_axis(axis, indices.ndim)
    places = np.asarray(indices).reshape(-1).astype(np.int64)
    result = np.empty((places.size, size), off_value.dtype)
    result.fill(off_value[()])
    starts = np.arange(0, result.size, size or 1)
    # Viewed as unsigned, negative indices are large. Rows of indices out of range have no one.
    unsigned = places.view(np.uint64)
    if places.size and unsigned[unsigned.argmax()] >= size:
        inside = unsigned < size
        places, starts = places[inside], starts[inside[: len(starts)]]
    result.reshape(-1)[places + starts] = on_value[()]
    result = result.reshape(*indices.shape, size)
    return result if axis == indices.ndim else np.moveaxis(result, -1, axis)


def one_hot(
    indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None
) -> Tensor:
    """One-hot vectors of size `depth`: on_value (1) at the index, else off_value (0).

    >>> tf.one_hot([0, 2], depth=3).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if not isinstance(indices, Tensor):
        indices = convert_to_tensor(indices, dtype_hint=int64)
    if not isinstance(depth, Tensor):
        depth = number(depth, int32)
    dtype = None if dtype is None else as_dtype(dtype)
    on = None if on_value is None else convert_to_tensor(on_value, dtype_hint=dtype)
    off = None if off_value is None else convert_to_tensor(off_value, dtype_hint=dtype)
    for what, value in (("on_value", on), ("off_value", off)):
        if dtype is not None and value is not None and value.dtype is not dtype:
            raise TypeError(
                f"dtype {value.dtype!r} of {what} does not match dtype parameter {dtype!r}"
            )
    if on is not None and off is not None and on.dtype is not off.dtype:
        raise TypeError(
            f"dtype {on.dtype!r} of on_value does not match dtype {off.dtype!r} of off_value"
        )
    given = on if on is not None else off
    kind = dtype or (float32 if given is None else given.dtype)
    on = number(1, kind) if on is None else on
    off = number(0, kind) if off is None else off
    attrs = {"axis": -1 if axis is None else int(axis)}
    return execute(OneHot, (indices, depth, on, off), attrs)


def sequence_mask(lengths, maxlen=None, dtype=bool_dtype, name=None) -> Tensor:
    """A mask whose row i is True for the first `lengths[i]` of `maxlen` (or the longest) columns.

    >>> tf.sequence_mask([1, 3], 3, tf.int32).numpy().tolist()
    [[1, 0, 0], [1, 1, 1]]
    """
    lengths = convert_to_tensor(lengths)
    if maxlen is None:
        longest = reduction.reduce_max(lengths)
        maxlen = arithmetic.maximum(longest, convert_to_tensor(0, longest.dtype))
    else:
        maxlen = convert_to_tensor(maxlen)
    if maxlen.shape.rank not in (None, 0):
        raise ValueError(
            f"Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = {maxlen} "
            f"with shape '{maxlen.shape}' instead"
        )
    places = creation.range(convert_to_tensor(0, maxlen.dtype), maxlen)
    lengths = expand_dims(casting.cast(lengths, maxlen.dtype), -1)
    mask = REGISTRY["Less"](places, lengths)
    return mask if dtype is None else casting.cast(mask, as_dtype(dtype))
