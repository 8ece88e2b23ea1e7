"""Strided slices of tensors and variables, with TensorFlow's masks, and tf.slice."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_shape, constant_value, convert_to_tensor, tensor_of
from ...core.dtypes import int16, int32
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.shapes import TensorShape
from ...core.tensor import SymbolicTensor, Tensor
from ..math import arithmetic, casting
from . import creation, indexing, joining, padding
from .arguments import INDEX, INDICES, alike
from .shaping import sizes_of

# tf.slice shadows the builtin in this module.
_Slice = slice
_WHOLE = _Slice(None)
# A start, stop or step that is not statically known.
_LATER = object()
_ONE = (1,)


def _keys(rank, begin, end, strides, masks):
    """The NumPy key of a strided slice, one entry per input axis and per new axis.

    `masks` are TensorFlow's, bit i for entry i: default start, default end, all remaining axes (an
    ellipsis), a new axis, a scalar index.
    """
    begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = masks
    if ellipsis_mask & (ellipsis_mask - 1):
        raise ValueError("Multiple ellipses in slice spec not allowed")
    keys, ellipsis, used = [], len(begin), 0
    for i, start in enumerate(begin):
        bit = 1 << i
        if ellipsis_mask & bit:
            ellipsis = len(keys)
        elif new_axis_mask & bit:
            keys.append(None)
        else:
            used += 1
            if shrink_axis_mask & bit:
                if strides[i] is not _LATER and strides[i] <= 0:
                    raise ValueError("only stride 1 allowed on non-range indexing.")
                keys.append(start)
            else:
                start = None if begin_mask & bit else start
                keys.append(_Slice(start, None if end_mask & bit else end[i], strides[i]))
    if used > rank:
        if rank == 0:
            raise ValueError("Attempting to slice scalar input.")
        raise ValueError(f"Index out of range using input dim {rank}; input has only {rank} dims")
    if used < rank:
        keys[ellipsis:ellipsis] = [_WHOLE] * (rank - used)
    return keys


def _sliced(keys, shape):
    """The sizes of a slice; ValueError for an index out of range or a step of 0."""
    sizes, axis = [], 0
    for key in keys:
        if key is None:
            sizes.append(1)
            continue
        size = shape[axis]
        if type(key) is not _Slice:
            if key is not _LATER and size is not None and not -size <= key < size:
                raise ValueError(
                    f"slice index {key + size if key < 0 else key} of dimension {axis} out of "
                    f"bounds. Fitting is an index in [{-size}, {size})."
                )
        elif key.step == 0:
            raise ValueError(f"strides[{axis}] must be non-zero")
        elif size is None or _LATER in (key.start, key.stop, key.step):
            whole = key.start is None and key.stop is None and key.step in (None, 1, -1)
            sizes.append(size if whole else None)
        else:
            sizes.append(len(range(*key.indices(size))))
        axis += 1
    return sizes


def _require_vectors(shapes):
    known = [shape for shape in shapes if shape.rank is not None]
    if any(shape.rank != 1 or not shape.is_compatible_with(known[0]) for shape in known):
        texts = [dimensions_text(shape) for shape in shapes]
        raise ValueError(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{texts[0]}, {texts[1]}, and {texts[2]} instead."
        )


def _values(bound, length):
    """The statically known values of a vector."""
    known = constant_value(bound)
    if known is not None:
        return known.tolist()
    if isinstance(bound, SymbolicTensor) and bound.op.op is joining.Pack:
        parts = [constant_value(part) for part in bound.op.inputs]
        return [_LATER if part is None else part.item() for part in parts]
    return [_LATER] * length


def _masks(attrs):
    return (
        attrs["begin_mask"], attrs["end_mask"], attrs["ellipsis_mask"], attrs["new_axis_mask"],
        attrs["shrink_axis_mask"],
    )  # fmt: skip


def _strided_shape(inputs, attrs):
    value, *bounds = inputs
    _require_vectors([bound.shape for bound in bounds])
    lengths = [bound.shape[0] for bound in bounds if bound.shape.rank == 1]
    length = next((size for size in lengths if size is not None), None)
    if length is None or value.shape.rank is None:
        return UNKNOWN
    begin, end, strides = (_values(bound, length) for bound in bounds)
    keys = _keys(value.shape.rank, begin, end, strides, _masks(attrs))
    return TensorShape(_sliced(keys, value.shape))


def slice_key(shape, begin, end, strides, masks):
    """The NumPy key of a strided slice of an array of this shape, indices unchecked."""
    if begin.ndim != 1 or begin.shape != end.shape or begin.shape != strides.shape:
        _require_vectors([TensorShape.of(each.shape) for each in (begin, end, strides)])
    return tuple(_keys(len(shape), begin.tolist(), end.tolist(), strides.tolist(), masks))


def checked_key(shape, begin, end, strides, masks):
    """The same with indices checked; even a single element is selected as an array."""
    keys = slice_key(shape, begin, end, strides, masks)
    _sliced(keys, shape)
    return (*keys, ...)


@op(
    "StridedSlice",
    "input: T, begin: Index, end: Index, strides: Index -> output: T",
    Index=INDICES,
    shape=_strided_shape,
)
def StridedSlice(
    input,
    begin,
    end,
    strides,
    *,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
):
    # Fast path: a single index or range, by far the most frequent keys.
    if begin.shape == _ONE and input.ndim and not (ellipsis_mask or new_axis_mask):
        if shrink_axis_mask:
            index = begin.item()
            if -len(input) <= index < len(input) and strides.item() > 0:
                return input[index, ...] if input.dtype == object else input[index]
        elif end.shape == _ONE and strides.item():
            start = None if begin_mask else begin.item()
            return input[start : None if end_mask else end.item() : strides.item()]
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    key = slice_key(input.shape, begin, end, strides, masks)
    return input[(*key, ...)] if input.dtype == object else input[key]


@StridedSlice.gradient
def _(op, grad):
    value, begin, end, strides = op.inputs
    whole = sizes_of(value, begin.dtype if begin.dtype in INDEX else int32)
    if begin.dtype is int16:
        begin, end, strides = (casting.cast(bound, int32) for bound in (begin, end, strides))
    return StridedSliceGrad(whole, begin, end, strides, grad, **op.given), None, None, None


def _grown_shape(inputs, attrs):
    return constant_shape(inputs[0])


@op(
    "StridedSliceGrad",
    "shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T",
    Index=INDICES,
    shape=_grown_shape,
)
def StridedSliceGrad(
    shape,
    begin,
    end,
    strides,
    dy,
    *,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
):
    sizes = shape.tolist()
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    whole = np.zeros(sizes, dy.dtype)
    whole[slice_key(sizes, begin, end, strides, masks)] = dy
    return whole


@StridedSliceGrad.gradient
def _(op, grad):
    _, begin, end, strides, _ = op.inputs
    return None, None, None, None, StridedSlice(grad, begin, end, strides, **op.given)


def strided_slice(
    input_,
    begin,
    end,
    strides=None,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
    var=None,
    name=None,
):
    """The elements from `begin` to `end` (exclusive) in steps of `strides` along each axis.

    Bit i of a mask applies to entry i: default start, default end, all remaining axes, a new axis,
    a dropped axis.

    >>> tf.strided_slice([1, 2, 3, 4, 5], [1], [5], [2]).numpy().tolist()
    [2, 4]
    """
    if strides is None:
        begin, end = alike([begin, end])
        strides = creation.ones_like(begin)
    else:
        begin, end, strides = alike([begin, end, strides])
    attrs = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    bounds = (begin, end, strides)
    result = execute(StridedSlice, (convert_to_tensor(input_), *bounds), attrs)
    return result if var is None else indexing.assignable(result, var, bounds, attrs)


def _part_shape(inputs, attrs):
    value, begin, size = inputs
    shape = value.shape
    for each in (begin, size):
        if each.shape.rank not in (None, 1) or (
            shape.rank is not None and not each.shape.is_compatible_with([shape.rank])
        ):
            raise ValueError(
                "Expected begin and size arguments to be 1-D tensors of size "
                f"{'?' if shape.rank is None else shape.rank}, but got shapes "
                f"{dimensions_text(begin.shape)} and {dimensions_text(size.shape)} instead."
            )
    rank = shape.rank
    if rank is None:
        rank = next((each.shape[0] for each in (begin, size) if each.shape.rank), None)
    if rank is None:
        return UNKNOWN
    starts, counts = _values(begin, rank), _values(size, rank)
    whole = shape if shape.rank is not None else [None] * rank
    return TensorShape(
        [
            _part_size(axis, start, count, size)
            for axis, (start, count, size) in enumerate(zip(starts, counts, whole, strict=True))
        ]
    )


def _part_size(axis, start, count, size):
    """The size of one axis of a slice, None if unknown; ValueError where it is out of range."""
    if start is not _LATER and (start < 0 or (size is not None and start > size)):
        raise ValueError(f"Expected begin[{axis}] in [0, {size}], but got {start}")
    if count is _LATER:
        return None
    if start is _LATER or size is None:
        return None if count < 0 else count
    if count == -1:
        return size - start
    if not 0 <= count <= size - start:
        raise ValueError(f"Expected size[{axis}] in [0, {size - start}], but got {count}")
    return count


@op("Slice", "input: T, begin: Index, size: Index -> output: T", Index=INDEX, shape=_part_shape)
def Slice(input, begin, size):
    if begin.shape != (input.ndim,) or size.shape != (input.ndim,):
        raise ValueError("begin and size must have one entry per axis")
    starts = begin.tolist()
    keys = []
    for axis, (start, count) in enumerate(zip(starts, size.tolist(), strict=True)):
        count = _part_size(axis, start, count, input.shape[axis])
        keys.append(_Slice(start, start + count))
    return input[(*keys, ...)]


@Slice.gradient
def _(op, grad):
    value, begin, _ = op.inputs
    start = constant_value(begin)
    if start is not None and value.shape.is_fully_defined() and grad.shape.is_fully_defined():
        after = np.array(tuple(value.shape)) - np.array(tuple(grad.shape)) - start
        paddings = tensor_of(np.stack([start, after.astype(start.dtype)], 1), begin.dtype)
    else:
        rest = arithmetic.subtract(sizes_of(value, begin.dtype), sizes_of(grad, begin.dtype))
        paddings = joining.Pack([begin, arithmetic.subtract(rest, begin)], axis=1)
    return padding.Pad(grad, paddings), None, None


def slice(input_, begin, size, name=None) -> Tensor:
    """The slice that starts at `begin` and has the given size; -1 means all the rest.

    >>> tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [-1, 2]).numpy().tolist()
    [[2, 3], [5, 6]]
    """
    return execute(Slice, (convert_to_tensor(input_), *alike([begin, size])))
