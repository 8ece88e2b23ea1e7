"""Stacking, concatenating and splitting tensors."""

from __future__ import annotations

import numpy as np

from ...core.context import state
from ...core.convert import constant_value, convert_to_tensor, tensor_of
from ...core.dtypes import int8, int32, int64
from ...core.errors import InvalidArgumentError
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text, normalized_axis
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...runtime.engine_selection import accelerated
from ..math import casting
from . import slicing
from .arguments import INDEX, alike, axis_number, integers, require_positive
from .shaping import ShapeN, identity

_WHOLE = slice(None)


def _packed(inputs, attrs):
    (values,) = inputs
    shape = values[0].shape
    for position, other in enumerate(values):
        if not shape.is_compatible_with(other.shape):
            raise ValueError(
                f"Shapes of all inputs must match: values[0].shape = {dimensions_text(shape)} != "
                f"values[{position}].shape = {dimensions_text(other.shape)}"
            )
        shape = shape.merge_with(other.shape)
    if shape.rank is None:
        return UNKNOWN
    axis = normalized_axis(attrs["axis"], shape.rank + 1)
    return TensorShape([*shape[:axis], len(values), *shape[axis:]])


@op("Pack", "values: N*T -> output: T", shape=_packed)
def Pack(values, *, axis=0):
    first = values[0]
    if not first.ndim and first.dtype != object:
        return np.array(values, first.dtype)
    axis = normalized_axis(axis, first.ndim + 1)
    place = (_WHOLE,) * axis + (None,)
    return np.concatenate([value[place] for value in values], axis)


@Pack.gradient
def _(op, grad):
    return Unpack(grad, num=len(op.inputs), axis=op.attrs["axis"])


def _unpacked(inputs, attrs):
    shape = inputs[0].shape
    if shape.rank is None:
        return [UNKNOWN] * attrs["num"]
    axis = normalized_axis(attrs["axis"], shape.rank)
    if shape[axis] not in (None, attrs["num"]):
        raise ValueError(
            f"Input shape axis {axis} must equal {attrs['num']}, got shape {dimensions_text(shape)}"
        )
    return [TensorShape([*shape[:axis], *shape[axis + 1 :]])] * attrs["num"]


@op("Unpack", "value: T -> output: num*T", shape=_unpacked)
def Unpack(value, *, num, axis=0):
    rows = value if axis == 0 else np.moveaxis(value, axis, 0)
    if not value.ndim or len(rows) != num:
        raise ValueError(f"{num} parts were wanted of a tensor of shape {value.shape}.")
    if value.dtype == object:
        return [rows[i, ...] for i in range(num)]
    return list(rows)


@Unpack.gradient
def _(op, *grads):
    return Pack(list(grads), axis=op.attrs["axis"])


def stack(values, axis=0, name="stack") -> Tensor:
    """Stack tensors of equal shape along a new axis.

    >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    axis = axis if type(axis) is int else axis_number(axis)
    if axis == 0:
        try:
            return convert_to_tensor(values)
        except (TypeError, ValueError):
            pass
    tensors = alike(list(values))
    if not tensors:
        raise IndexError("tf.stack needs at least one value to stack along an axis other than 0.")
    rank = tensors[0].shape.rank
    if rank is not None:
        _require_axis(axis, rank + 1)
    return execute(Pack, tensors, {"axis": axis})


def _require_axis(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")


def parallel_stack(values, name="parallel_stack"):
    """Stack tensors of one known shape along a new first axis; in graphs only."""
    if state.graph is None:
        raise RuntimeError(
            "tf.parallel_stack() is not compatible with eager execution. Use tf.stack instead."
        )
    return Pack(alike(list(values)))


def unstack(value, num=None, axis=0, name="unstack") -> list[Tensor]:
    """Split along an axis into a list of slices without that axis.

    >>> [t.numpy().tolist() for t in tf.unstack([[1, 2], [3, 4]], axis=1)]
    [[1, 3], [2, 4]]
    """
    value = convert_to_tensor(value)
    axis = axis if type(axis) is int else axis_number(axis)
    if num is None:
        shape = value.shape
        if shape.rank is not None:
            _require_axis(axis, shape.rank)
            num = shape[axis]
        if num is None:
            raise ValueError(
                f"Cannot infer argument `num` from shape {shape}. Give the number of parts: "
                "tf.unstack(value, num=...)."
            )
    elif isinstance(num, str):
        raise TypeError(f"Expected int for argument 'num' not {num!r}.")
    return execute(Unpack, (value,), {"num": int(num), "axis": axis})


def _concatenated(inputs, attrs):
    values, axis = inputs
    if axis.shape.num_elements() not in (None, 1):
        raise ValueError(
            "ConcatOp : Expected concatenating dimension to be a scalar, got shape "
            f"{dimensions_text(axis.shape)}"
        )
    known = [value for value in values if value.shape.rank is not None]
    if not known:
        return UNKNOWN
    rank = known[0].shape.rank
    if rank == 0:
        raise ValueError("ConcatOp : Can't concatenate scalars (use tf.stack instead)")
    for position, value in enumerate(values):
        if value.shape.rank not in (None, rank):
            raise ValueError(
                "ConcatOp : Ranks of all input tensors should match: shape[0] = "
                f"{dimensions_text(known[0].shape)} vs. shape[{position}] = "
                f"{dimensions_text(value.shape)}"
            )
    place = constant_value(axis)
    if place is None:
        return TensorShape([None] * rank)
    place = int(place.item())
    if not -rank <= place < rank:
        raise ValueError(
            f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but "
            f"got {place}"
        )
    place %= rank
    sizes = [None] * rank
    for position, value in enumerate(known):
        for i, size in enumerate(value.shape):
            if sizes[i] is None:
                sizes[i] = size
            elif i != place and size not in (None, sizes[i]):
                raise ValueError(
                    f"ConcatOp : Dimension {i} in both shapes must be equal: shape[0] = "
                    f"{dimensions_text(known[0].shape)} vs. shape[{position}] = "
                    f"{dimensions_text(value.shape)}"
                )
    lengths = [value.shape[place] for value in values]
    sizes[place] = None if None in lengths else sum(lengths)
    return TensorShape(sizes)


@op("ConcatV2", "values: N*T, axis: Tidx -> output: T", Tidx=INDEX, shape=_concatenated)
def ConcatV2(values, axis):
    return _joined(values[0], values, axis.item())


# The engine is selected by the size of the first input.
@accelerated("concatenate", 65_536)
def _joined(first, values, axis):
    return np.concatenate(values, axis)


@ConcatV2.gradient
def _(op, grad):
    *values, axis = op.inputs
    place = constant_value(axis)
    if place is not None and all(value.shape.is_fully_defined() for value in values):
        place = int(place.item())
        sizes = np.array([value.shape[place] for value in values], np.int32)
        parts = SplitV(
            grad, tensor_of(sizes, int32), tensor_of(np.int32(place), int32), num_split=len(values)
        )
        return [*parts, None]
    shapes = ShapeN(values)
    offsets = ConcatOffset(casting.cast(axis, int32), shapes)
    pairs = zip(offsets, shapes, strict=True)
    return [*(slicing.slice(grad, offset, size) for offset, size in pairs), None]


@op(
    "ConcatOffset",
    "concat_dim: int32, shape: N*int32 -> offset: N*int32",
    shape=lambda inputs, attrs: [each.shape for each in inputs[1]],
    gradient=None,
)
def ConcatOffset(concat_dim, shape):
    axis = concat_dim.item()
    offsets, start = [], 0
    for sizes in shape:
        offset = np.zeros(len(sizes), np.int32)
        offset[axis] = start
        start += sizes[axis]
        offsets.append(offset)
    return offsets


def concat(values, axis, name="concat") -> Tensor:
    """Concatenate tensors along an existing axis.

    >>> tf.concat([[[1, 2]], [[3, 4], [5, 6]]], axis=0).numpy().tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    if not isinstance(values, list | tuple):
        values = [values]
    if len(values) == 1:
        convert_to_tensor(axis, int32)
        return identity(values[0])
    if not values:
        raise InvalidArgumentError(
            None, None, "tf.concat needs at least one tensor, got an empty list. [Op:ConcatV2]"
        )
    if isinstance(axis, float) and not all(isinstance(value, Tensor) for value in values):
        axis = convert_to_tensor(axis)
    return execute(ConcatV2, (*alike(values), integers(axis)))


def _split_axis(value, split_dim):
    """The static axis of a split, None if unknown; ValueError where it is out of range."""
    axis = constant_value(split_dim)
    rank = value.shape.rank
    if axis is None or rank is None:
        return None
    return _checked_split(int(axis.item()), rank)


def _checked_split(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}")
    return axis % rank


def _with_size(shape, axis, size):
    if shape.rank is None:
        return UNKNOWN
    if axis is None:
        return TensorShape([None] * shape.rank)
    sizes = shape.as_list()
    sizes[axis] = size
    return TensorShape(sizes)


def _split_evenly(inputs, attrs):
    split_dim, value = inputs
    axis, count = _split_axis(value, split_dim), attrs["num_split"]
    whole = None if axis is None else value.shape[axis]
    if whole is not None and whole % count:
        raise ValueError(_uneven(axis, whole, count))
    return [_with_size(value.shape, axis, None if whole is None else whole // count)] * count


def _uneven(axis, whole, count):
    return (
        "Number of ways to split should evenly divide the split dimension, but got split_dim "
        f"{axis} (size = {whole}) and num_split {count}"
    )


@op("Split", "split_dim: int32, value: T -> output: num_split*T", shape=_split_evenly)
def Split(split_dim, value, *, num_split):
    axis = _checked_split(split_dim.item(), value.ndim)
    whole = value.shape[axis]
    if whole % num_split:
        raise ValueError(_uneven(axis, whole, num_split))
    return _cut(value, axis, [whole // num_split] * num_split)


def _cut(value, axis, sizes):
    before, parts, start = (_WHOLE,) * axis, [], 0
    for size in sizes:
        parts.append(value[(*before, slice(start, start + size))])
        start += size
    return parts


@Split.gradient
def _(op, *grads):
    return None, concat(list(grads), op.inputs[0])


def _resolved_splits(sizes, whole, count):
    """The sizes of the parts with -1 replaced; ValueError where they do not sum to the axis."""
    shape = getattr(sizes, "shape", ())
    if len(shape) != 1 or shape[0] != count:
        raise ValueError(
            "size of the split_tensor must be 1-D and have the same elements as outputs got "
            f"{len(shape)} -D and {sizes.size} elements"
        )
    sizes = sizes.tolist()
    if count == 1 and sizes[0] != whole:
        raise ValueError(
            "If there is only one output, it must have the same size as the input. Input size: "
            f"{whole} output size: {sizes[0]}"
        )
    if sizes.count(-1) > 1:
        raise ValueError("There can only be one -1 in the input.")
    total = sum(size for size in sizes if size != -1)
    rest = sizes.count(-1)
    if (total > whole if rest else total != whole) or min(sizes) < -1:
        raise ValueError(
            "Determined shape must either match input shape along split_dim exactly if fully "
            "specified, or be less than the size of the input along split_dim if not fully "
            f"specified.  Got: {total} of {whole}"
        )
    return [whole - total if size == -1 else size for size in sizes]


def _split_by_sizes(inputs, attrs):
    value, size_splits, split_dim = inputs
    axis, count = _split_axis(value, split_dim), attrs["num_split"]
    known = constant_value(size_splits)
    whole = None if axis is None else value.shape[axis]
    if known is None:
        return [_with_size(value.shape, axis, None)] * count
    if whole is not None:
        sizes = _resolved_splits(known, whole, count)
    else:
        sizes = [None if size < 0 else int(size) for size in np.ravel(known)]
    return [_with_size(value.shape, axis, size) for size in sizes]


@op(
    "SplitV",
    "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split*T",
    Tlen={int8, int32, int64},
    shape=_split_by_sizes,
)
def SplitV(value, size_splits, split_dim, *, num_split):
    axis = _checked_split(split_dim.item(), value.ndim)
    return _cut(value, axis, _resolved_splits(size_splits, value.shape[axis], num_split))


@SplitV.gradient
def _(op, *grads):
    return concat(list(grads), op.inputs[2]), None, None


def split(value, num_or_size_splits, axis=0, num=None, name="split") -> list[Tensor]:
    """Split along an axis into equal parts, or into parts of the given sizes.

    >>> [t.numpy().tolist() for t in tf.split([1, 2, 3, 4, 5], [2, -1])]
    [[1, 2], [3, 4, 5]]
    """
    value = convert_to_tensor(value)
    if not isinstance(axis, Tensor):
        axis = convert_to_tensor(axis, int32)
    if isinstance(num_or_size_splits, int | np.integer):
        count = int(num_or_size_splits)
        require_positive("Split", "num_split", count)
        return execute(Split, (axis, value), {"num_split": count})
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.shape.rank == 0:
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}. Give a Python integer or a list of sizes."
        )
    if num is None:
        num = sizes.shape[0]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {sizes.shape}.")
    return execute(SplitV, (value, sizes, axis), {"num_split": int(num)})
