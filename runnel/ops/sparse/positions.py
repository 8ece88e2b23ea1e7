"""Indices of sparse tensors as flat indices, and sorted."""

from __future__ import annotations

import numpy as np

from ...core.dtypes import int64
from ...core.op import execute, op
from ..array import creation, gathering, shaping
from ..math import cumulative, reduction


def strides(shape):
    """The strides of each axis in the flattened tensor (a tensor)."""
    return cumulative.cumprod(shape, exclusive=True, reverse=True)


def flat_positions(indices, shape):
    """The flat index of each row of indices (a tensor)."""
    return reduction.reduce_sum(indices * strides(shape), 1)


def flat_numbers(indices, shape):
    """The flat index of each row of indices (NumPy)."""
    steps = np.append(np.cumprod(np.asarray(shape[::-1], np.int64))[::-1][1:], 1)
    if not len(shape):
        return np.zeros(len(indices), np.int64)
    return indices @ steps


def unflattened(numbers, shape):
    """The rows of indices of flat indices (NumPy)."""
    if not len(shape):
        return np.zeros((len(numbers), 0), np.int64)
    steps = np.append(np.cumprod(np.asarray(shape[::-1], np.int64))[::-1][1:], 1)
    return numbers[:, np.newaxis] // np.maximum(steps, 1) % np.maximum(shape, 1)


def index_text(index) -> str:
    """An index as in error messages: [2,0]."""
    return "[" + ",".join(str(int(each)) for each in index) + "]"


def require_inside(indices, shape) -> None:
    """ValueError for an index outside of the shape (NumPy)."""
    # Column by column, with negative numbers reinterpreted as huge ones: one pass over each.
    huge = indices.astype(np.int64, copy=False).view(np.uint64)
    if len(indices) and any(
        huge[:, axis].max() >= size for axis, size in enumerate(map(int, shape))
    ):
        place = int(np.argmax(((indices < 0) | (indices >= np.asarray(shape))).any(1)))
        raise ValueError(
            f"indices[{place}] = {index_text(indices[place])} is out of bounds: need 0 <= index < "
            f"{index_text(shape)}"
        )


def require_sorted(indices, shape):
    """The flat indices; ValueError if they are not sorted, or repeated (NumPy)."""
    numbers = flat_numbers(indices, shape)
    wrong = numbers[1:] <= numbers[:-1]
    if wrong.any():
        place = int(np.argmax(wrong)) + 1
        repeated = numbers[place] == numbers[place - 1]
        text = f"indices[{place}] = {index_text(indices[place])} is "
        if repeated:
            raise ValueError(text + "repeated")
        raise ValueError(
            text + "out of order. Many sparse ops require sorted indices: use tf.sparse.reorder."
        )
    return numbers


def _same_sizes(inputs, attrs):
    return [inputs[0].shape, inputs[1].shape]


@op(
    "SparseReorder",
    "input_indices: int64, input_values: T, input_shape: int64 -> output_indices: int64, "
    "output_values: T",
    shape=_same_sizes,
)
def SparseReorder(input_indices, input_values, input_shape):
    require_inside(input_indices, input_shape)
    order = np.argsort(flat_numbers(input_indices, input_shape), kind="stable")
    return input_indices[order], input_values[order]


@SparseReorder.gradient
def _(op, _, grad):
    indices, values, shape = op.inputs
    numbers = creation.range(count_of(values))
    _, order = execute(SparseReorder, (indices, numbers, shape))
    from ..math.segment import unsorted_segment_sum

    return None, unsorted_segment_sum(grad, order, count_of(values)), None


def count_of(values):
    """The number of elements of a vector, as an int64 tensor."""
    return shaping.shape(values, out_type=int64)[0]


def reordered(indices, values, shape):
    """The indices sorted by flat index, with their values."""
    return execute(SparseReorder, (indices, values, shape))


def columns_of(indices, axes):
    """Some columns of the indices."""
    return gathering.gather(indices, axes, axis=1)
