"""Moving spatial blocks into the batch dimension, and the inverse."""

import math

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import int32, int64
from ...core.op import op
from ...core.shape_rules import dimensions_text
from ...core.shapes import TensorShape
from ..array.arguments import integers
from ..array.joining import stack
from ..array.shaping import shape


def _check_blocks(rank, block, pairs, name):
    """Raise ValueError unless blocks and paddings (or crops) are valid for a tensor of the rank."""
    if block.ndim != 1:
        raise ValueError(f"block_shape rank should be 1 instead of {block.ndim}.")
    count = len(block)
    if rank is not None and rank < count + 1:
        raise ValueError(f"input rank should be >= {count + 1} instead of {rank}.")
    if pairs is not None and pairs.shape != (count, 2):
        raise ValueError(
            f"{name} should have shape [{count}, 2] instead of "
            f"{dimensions_text(TensorShape(pairs.shape))}."
        )
    if np.any(block < 1):
        raise ValueError(f"All values in block_shape must be positive, got {block.tolist()}.")
    if pairs is not None and np.any(pairs < 0):
        raise ValueError(f"{name.capitalize()} must be non-negative, got {pairs.tolist()}.")


def _blocked_shape(inputs, attrs):
    """Shape rule: spatial sizes padded and divided by the blocks, batch multiplied."""
    tensor, block_shape, paddings = inputs
    block, pairs = constant_value(block_shape), constant_value(paddings)
    if tensor.shape.rank is None or block is None:
        return TensorShape([None] * tensor.shape.rank) if tensor.shape else TensorShape(None)
    _check_blocks(tensor.shape.rank, block, pairs, "paddings")
    dims = list(tensor.shape)
    if dims[0] is not None:
        dims[0] *= math.prod(block.tolist())
    for i, size in enumerate(block.tolist()):
        if pairs is None or dims[1 + i] is None:
            dims[1 + i] = None
            continue
        padded = dims[1 + i] + int(pairs[i].sum())
        if padded % size:
            raise ValueError(
                f"padded_shape[{i}]={padded} is not divisible by block_shape[{i}]={size}."
            )
        dims[1 + i] = padded // size
    return TensorShape(dims)


def _unblocked_shape(inputs, attrs):
    """Shape rule: batch divided by the blocks, spatial sizes multiplied and cropped."""
    tensor, block_shape, crops = inputs
    block, pairs = constant_value(block_shape), constant_value(crops)
    if tensor.shape.rank is None or block is None:
        return TensorShape([None] * tensor.shape.rank) if tensor.shape else TensorShape(None)
    _check_blocks(tensor.shape.rank, block, pairs, "crops")
    dims = list(tensor.shape)
    if dims[0] is not None:
        count = math.prod(block.tolist())
        if dims[0] % count:
            raise ValueError(
                f"Input batch dimension ({dims[0]}) is not divisible by product of block sizes "
                f"({count})."
            )
        dims[0] //= count
    for i, size in enumerate(block.tolist()):
        if pairs is None or dims[1 + i] is None:
            dims[1 + i] = None
            continue
        dims[1 + i] = dims[1 + i] * size - int(pairs[i].sum())
        if dims[1 + i] < 0:
            raise ValueError(f"cropped_shape[{i}]={dims[1 + i]} must be non-negative.")
    return TensorShape(dims)


@op(
    "SpaceToBatchND",
    "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T",
    Tblock_shape={int32, int64},
    Tpaddings={int32, int64},
    shape=_blocked_shape,
)
def SpaceToBatchND(input, block_shape, paddings):
    _check_blocks(input.ndim, block_shape, paddings, "paddings")
    block = block_shape.tolist()
    rest = input.ndim - 1 - len(block)
    if paddings.any():
        input = np.pad(input, [(0, 0), *map(tuple, paddings.tolist()), *[(0, 0)] * rest])
    batch, *sizes = input.shape
    split = [part for s, b in zip(sizes, block, strict=False) for part in (s // b, b)]
    if any(s % b for s, b in zip(sizes, block, strict=False)):
        raise ValueError(f"padded shape {list(sizes)} is not divisible by block_shape {block}.")
    blocks = input.reshape(batch, *split, *sizes[len(block) :])
    inner = range(1, 2 * len(block), 2)
    order = (*(i + 1 for i in inner), 0, *inner, *range(1 + 2 * len(block), blocks.ndim))
    result = (batch * math.prod(block), *split[::2], *sizes[len(block) :])
    return blocks.transpose(order).reshape(result)


@SpaceToBatchND.gradient
def _(op, grad):
    _, block_shape, paddings = op.inputs
    return BatchToSpaceND(grad, block_shape, paddings), None, None


@op(
    "BatchToSpaceND",
    "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T",
    Tblock_shape={int32, int64},
    Tcrops={int32, int64},
    shape=_unblocked_shape,
)
def BatchToSpaceND(input, block_shape, crops):
    _check_blocks(input.ndim, block_shape, crops, "crops")
    block = block_shape.tolist()
    count = math.prod(block)
    batch, *sizes = input.shape
    if batch % count:
        raise ValueError(
            f"Input batch dimension ({batch}) is not divisible by product of block sizes ({count})."
        )
    grown = [s * b for s, b in zip(sizes, block, strict=False)]
    kept = [
        slice(before, size - after)
        for size, (before, after) in zip(grown, crops.tolist(), strict=True)
    ]
    if any(cut.stop < cut.start for cut in kept):
        raise ValueError(f"crops {crops.tolist()} are larger than the space {grown}.")
    split = input.reshape(*block, batch // count, *sizes)
    taken = len(block)
    order = [taken]
    for i in range(taken):
        order += [taken + 1 + i, i]
    order += range(2 * taken + 1, split.ndim)
    whole = split.transpose(order).reshape(batch // count, *grown, *sizes[taken:])
    return whole[(slice(None), *kept)]


@BatchToSpaceND.gradient
def _(op, grad):
    _, block_shape, crops = op.inputs
    return SpaceToBatchND(grad, block_shape, crops), None, None


def space_to_batch(input, block_shape, paddings, name=None):
    """Pad the spatial dimensions, and move their blocks into the batch.

    >>> tf.space_to_batch([[[1], [2], [3], [4]]], [2], [[0, 0]]).numpy().tolist()
    [[[1], [3]], [[2], [4]]]
    """
    return SpaceToBatchND(
        convert_to_tensor(input),
        integers(block_shape),
        integers(paddings),
    )


def space_to_batch_nd(input, block_shape, paddings, name=None):
    """Do the same as `space_to_batch`."""
    return space_to_batch(input, block_shape, paddings)


def batch_to_space(input, block_shape, crops, name=None):
    """Move parts of the batch back into spatial blocks, and crop.

    >>> tf.batch_to_space([[[1], [3]], [[2], [4]]], [2], [[0, 0]]).numpy().tolist()
    [[[1], [2], [3], [4]]]
    """
    if isinstance(block_shape, int):
        block_shape = [block_shape, block_shape]
    return BatchToSpaceND(
        convert_to_tensor(input),
        integers(block_shape),
        integers(crops),
    )


def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """The paddings that make spatial sizes divisible by the blocks, and the crops that undo them.

    >>> paddings, crops = tf.required_space_to_batch_paddings([5, 6], [2, 3])
    >>> paddings.numpy().tolist(), crops.numpy().tolist()
    ([[0, 1], [0, 0]], [[0, 1], [0, 0]])
    """
    input_shape = integers(input_shape)
    block_shape = integers(block_shape)
    count = block_shape.shape.with_rank(1)[0]
    if count == 0:
        empty = convert_to_tensor(np.zeros((0, 2), np.int32))
        return empty, empty
    if not input_shape.shape.is_compatible_with([count]):
        raise ValueError(f"Shapes {input_shape.shape} and [{count}] are incompatible")
    sizes, blocks = constant_value(input_shape), constant_value(block_shape)
    base = None
    if base_paddings is not None:
        base_paddings = integers(base_paddings)
        base = constant_value(base_paddings)
    if sizes is not None and blocks is not None and (base is not None or base_paddings is None):
        return _constant_paddings(sizes, blocks, base)
    if base_paddings is None:
        start = end = input_shape * 0
    else:
        start, end = base_paddings[:, 0], base_paddings[:, 1]
    full = input_shape + start + end
    extra = (block_shape - full % block_shape) % block_shape
    return stack([start, end + extra], 1), stack([start * 0, extra], 1)


def _constant_paddings(sizes, blocks, base):
    """Compute the paddings and crops of statically known sizes."""
    base = np.zeros((len(blocks), 2), np.int32) if base is None else np.asarray(base)
    extra = -(sizes + base.sum(axis=1)) % blocks
    paddings = np.stack([base[:, 0], base[:, 1] + extra], axis=1).astype(np.int32)
    crops = np.stack([np.zeros_like(extra), extra], axis=1).astype(np.int32)
    return convert_to_tensor(paddings), convert_to_tensor(crops)


def with_space_to_batch(
    input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None
):
    """Apply `op(input, num_spatial_dims, padding)` as a dilated window of `dilation_rate`.

    The pixels of one phase become an image of their own in the batch, where the window is dense.
    """
    input = convert_to_tensor(input)
    rates = np.atleast_1d(np.asarray(constant_value(convert_to_tensor(dilation_rate))))
    dimensions = len(rates)
    first = 2 if data_format is not None and str(data_format).startswith("NC") else 1
    dims = list(range(first, dimensions + first)) if spatial_dims is None else list(spatial_dims)
    if dims != sorted(set(dims)) or any(dim < 1 for dim in dims):
        raise ValueError(
            f"`spatial_dims` must be a monotonically increasing sequence of positive integers. "
            f"Received: spatial_dims={spatial_dims}"
        )
    if input.shape.rank is not None and input.shape.rank < dims[-1] + 1:
        raise ValueError(
            f"`input.shape.rank` must be at least {dims[-1] + 1}. Received: "
            f"input.shape={input.shape} with rank {input.shape.rank}"
        )
    if np.any(rates < 1):
        raise ValueError(f"`dilation_rate` must be positive. Received: dilation_rate={rates}")
    if np.all(rates == 1):
        return op(input, dimensions, padding)
    base = _dilated_paddings(padding, filter_shape, rates)
    return _apply_to_phases(input, op, rates, dims, base)


def _dilated_paddings(padding, filter_shape, rates):
    """The (before, after) pair per spatial dimension of a dilated window."""
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")
    if padding == "VALID":
        return np.zeros((len(rates), 2), np.int32)
    if filter_shape is None:
        raise ValueError(
            "`filter_shape` must be specified for `padding='SAME'`. "
            "Received: filter_shape=None and padding=SAME"
        )
    taps = np.asarray(constant_value(convert_to_tensor(filter_shape)))[: len(rates)]
    total = (taps - 1) * rates
    return np.stack([total // 2, total - total // 2], axis=1).astype(np.int32)


def _apply_to_phases(input, op, rates, dims, base):
    """Move each phase into the batch, apply the op there, and move the phases back."""
    last = dims[-1]
    block = np.ones(last, np.int32)
    pairs = np.zeros((last, 2), np.int32)
    block[np.array(dims) - 1] = rates
    pairs[np.array(dims) - 1] = base
    known = input.shape[1 : last + 1]
    sizes = known.as_list() if known.is_fully_defined() else shape(input)[1 : last + 1]
    paddings, crops = required_space_to_batch_paddings(sizes, block, pairs)
    phases = space_to_batch(input, block, paddings)
    return batch_to_space(op(phases, len(rates), "VALID"), block, crops)
