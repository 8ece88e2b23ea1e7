"""Repeating elements: tile, repeat, meshgrid."""

from __future__ import annotations

import math

import numpy as np

from ...core.convert import constant_value, convert_to_tensor, partial_sizes, tensor_of
from ...core.dtypes import int32
from ...core.errors import InvalidArgumentError
from ...core.op import execute, op, type_text
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..math import casting, reduction
from . import creation, gathering, joining, selection
from .arguments import INDEX, integers
from .shaping import (
    broadcast_to,
    expand_dims,
    reshape,
    reshape_as,
    shape as shape_of,
    size,
    sizes_of,
)


def _tiled(inputs, attrs):
    value, multiples = inputs
    if multiples.shape.rank not in (None, 1):
        raise ValueError(
            f"Expected multiples to be 1-D, but got shape {dimensions_text(multiples.shape)}"
        )
    rank = value.shape.rank
    length = multiples.shape[0] if multiples.shape.rank == 1 else None
    if None not in (rank, length) and rank != length:
        raise ValueError(
            f"Expected multiples argument to be a vector of length {rank} but got length {length}"
        )
    counts = partial_sizes(multiples)
    if counts is None:
        rank = length if rank is None else rank
        return UNKNOWN if rank is None else TensorShape([None] * rank)
    _require_counts(counts)
    sizes = value.shape if rank is not None else [None] * len(counts)
    pairs = zip(sizes, counts, strict=True)
    return TensorShape([None if None in pair else math.prod(pair) for pair in pairs])


def _require_counts(counts):
    for position, count in enumerate(counts):
        if count is not None and count < 0:
            raise ValueError(f"Expected multiples[{position}] >= 0, but got {count}")


@op("Tile", "input: T, multiples: Tmultiples -> output: T", Tmultiples=INDEX, shape=_tiled)
def Tile(input, multiples):
    if multiples.shape != (input.ndim,):
        raise ValueError("multiples must have one entry per axis")
    counts = multiples.tolist()
    _require_counts(counts)
    return np.tile(input, counts)


@Tile.gradient
def _(op, grad):
    value, multiples = op.inputs
    counts = constant_value(multiples)
    if counts is not None and value.shape.is_fully_defined():
        # Split axis i of the result in two: the copy, and the index in it.
        pairs = [n for pair in zip(counts.tolist(), value.shape, strict=True) for n in pair]
        axes = tensor_of(np.arange(0, len(pairs), 2, dtype=np.int32), int32)
        parts = tensor_of(np.array(pairs, np.int32), int32)
    else:
        columns = [casting.cast(multiples, int32), sizes_of(value)]
        parts = reshape(joining.Pack(columns, axis=1), [-1])
        axes = creation.range(0, size(parts), 2)
    return reshape_as(execute(reduction.Sum, (reshape(grad, parts), axes)), value), None


def tile(input, multiples, name=None) -> Tensor:
    """Repeat the tensor `multiples[i]` times along axis i.

    >>> tf.tile([[1, 2]], [2, 2]).numpy().tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    return execute(Tile, (convert_to_tensor(input), integers(multiples)))


def repeat(input, repeats, axis=None, name=None) -> Tensor:
    """Repeat each element (or slice along `axis`), all equally often or each its own count.

    >>> tf.repeat(["a", "b"], repeats=[1, 3]).numpy().tolist()
    [b'a', b'b', b'b', b'b']
    """
    data = convert_to_tensor(input)
    counts = _counts(repeats)
    if axis is None:
        data, axis = reshape(data, [-1]), 0
    elif not isinstance(axis, int):
        raise TypeError(
            f"Argument `axis` must be an int. Received `axis` = {axis} of type "
            f"{type(axis).__name__}"
        )
    rank = data.shape.rank
    if rank is not None:
        if not -rank <= axis < rank:
            raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
        axis %= rank
    elif axis < 0:
        raise ValueError(
            f"axis={axis} may only be negative where the rank of the input is known while the "
            "graph is built. Count the axis from the front."
        )
    counts.shape.with_rank_at_most(1)
    if counts.shape.num_elements() == 1:
        counts = reshape(counts, [])
    if counts.shape.rank == 0 and rank is not None:
        return _repeat_alike(data, counts, axis)
    length = data.shape[axis] if rank is not None else None
    if counts.shape.rank and None not in (length, counts.shape[0]) and length != counts.shape[0]:
        raise ValueError(f"Dimensions {length} and {counts.shape[0]} are not compatible")
    sizes = gathering.gather(shape_of(data), axis)
    counts = broadcast_to(counts, reshape(sizes, [1]))
    # Row i holds index i as often as the largest count; the mask keeps counts[i] of them.
    mask = selection.sequence_mask(counts)
    rows = broadcast_to(expand_dims(creation.range(sizes), 1), shape_of(mask))
    places = selection.boolean_mask(rows, mask)
    # As for equal counts the gradient is a dense tensor: the reshape densifies the gather's
    # IndexedSlices.
    repeated = gathering.gather(reshape(data, shape_of(data)), places, axis=axis)
    known = constant_value(counts)
    if known is not None and known.ndim and data.shape.rank is not None:
        kept = data.shape.as_list()
        repeated.set_shape([*kept[:axis], int(known.sum()), *kept[axis + 1 :]])
    return repeated


def _counts(repeats):
    repeats = integers(repeats)
    if not repeats.dtype.is_integer:
        raise TypeError(
            "Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = "
            f"{repeats} of dtype: {repeats.dtype!r}"
        )
    known = constant_value(repeats)
    if known is not None and known.size and known.max() >= 2**31:
        raise InvalidArgumentError(
            None, None, f"repeats must be below 2**31, got {known.max()} [Op:Repeat]"
        )
    return casting.cast(repeats, int32)


def _repeat_alike(data, count, axis):
    known = constant_value(count)
    if known is not None and known < 0:
        raise InvalidArgumentError(
            None, None, f"Expected multiples[{axis + 1}] >= 0, but got {known} [Op:Tile]"
        )
    sizes = shape_of(data)
    before, after = sizes[: axis + 1], sizes[axis + 1 :]
    copies = broadcast_to(
        expand_dims(data, axis + 1), joining.concat([before, reshape(count, [1]), after], 0)
    )
    length = reshape(sizes[axis] * count, [1])
    return reshape(copies, joining.concat([sizes[:axis], length, after], 0))


def meshgrid(*args, **kwargs) -> list[Tensor]:
    """The coordinates of a grid over vectors: one tensor of the grid's shape per vector.

    With `indexing="xy"` (the default) the first two axes are swapped, as in Cartesian indexing.

    >>> [t.numpy().tolist() for t in tf.meshgrid([1, 2], [3, 4, 5], indexing="ij")]
    [[[1, 1, 1], [2, 2, 2]], [[3, 4, 5], [3, 4, 5]]]
    """
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    vectors = [reshape(convert_to_tensor(each), [-1]) for each in args]
    for vector in vectors[1:]:
        if vector.dtype is not vectors[0].dtype:
            raise InvalidArgumentError(
                None,
                None,
                "tf.meshgrid needs vectors of one dtype, got "
                f"{' and '.join(type_text(each.dtype) for each in vectors)}.",
            )
    places = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        places[:2] = [1, 0]
    if not vectors:
        return []
    sizes = [sizes_of(vectors[place]) for place in places]
    grid = joining.concat(sizes, 0)
    rank = len(vectors)
    return [
        broadcast_to(reshape(vector, [-1 if i == place else 1 for i in range(rank)]), grid)
        for vector, place in zip(vectors, places, strict=True)
    ]
