"""Isotonic regression: the nearest rows that are non-increasing, or non-decreasing."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ...core.convert import convert_to_tensor, tensor_of
from ...core.dtypes import FLOATING, SIGNED, float32, float64, int32
from ...core.errors import InvalidArgumentError
from ...core.op import execute, op
from ...core.shape_rules import same_as_input
from ..array import creation, gathering, joining, ordering
from ..array.shaping import rank, reshape, shape, size
from ..math import arithmetic, division, elementwise, segment, sorting

# The op has the name that TensorFlow prints for its results.
IsotonicRegressionResult = namedtuple("IsotonicRegression", ["output", "segments"])  # type: ignore[name-match]

_OUTPUT_OF = {dtype: float64 if dtype.size >= 4 else float32 for dtype in SIGNED} | {
    dtype: dtype for dtype in FLOATING
}


def _pool(row):
    """Pool adjacent violators: means of the runs, and each element's run index."""
    means, counts = [], []
    for value in row:
        count = 1
        while means and means[-1] < value:
            value = (value * count + means[-1] * counts[-1]) / (count + counts[-1])
            count += counts.pop()
            means.pop()
        means.append(value)
        counts.append(count)
    return np.repeat(means, counts), np.repeat(np.arange(len(counts)), counts)


@op(
    "IsotonicRegression",
    "input: T -> output: output_dtype, segments: int32",
    T=SIGNED | FLOATING,
    shape=lambda inputs, attrs: [same_as_input(0)(inputs, attrs)] * 2,
)
def IsotonicRegression(input, *, output_dtype=float32):
    input = np.asarray(input)
    rows = input.reshape(-1, input.shape[-1] if input.ndim else 1) if input.size else ()
    output = np.empty(input.shape, output_dtype.numpy)
    segments = np.empty(input.shape, np.int32)
    for index, row in enumerate(rows):
        means, runs = _pool(row.astype(np.float64).tolist())
        output.reshape(rows.shape)[index] = means
        segments.reshape(rows.shape)[index] = runs
    return output, segments


@IsotonicRegression.gradient
def _(op, grad, _):
    # Each element of a run gets the mean of the run's gradients. Runs have globally unique indices:
    # each row reserves as many as it has elements.
    segments = op.outputs[1]
    length = _last_size(segments)
    count = size(segments)
    rows = division.floordiv(creation.range(count), arithmetic.maximum(length, 1))
    runs = reshape(segments, [-1]) + rows * length
    means = segment.unsorted_segment_mean(reshape(grad, [-1]), runs, count)
    return reshape(gathering.gather(means, runs), shape(segments))


def _last_size(tensor):
    sizes = tensor.shape
    if sizes.rank == 0:
        return tensor_of(np.int32(1), int32)
    if sizes.rank is not None and sizes[-1] is not None:
        return tensor_of(np.int32(sizes[-1]), int32)
    # A scalar of unknown rank counts as a row of one element.
    return joining.concat([[1], shape(tensor)], 0)[-1]


def isotonic_regression(inputs, decreasing=True, axis=-1):
    """The nearest non-increasing values (in least squares) along `axis`, and their segments.

    Returns the values and for each the index of its run of equal values. With `decreasing=False`
    the values are non-decreasing.

    >>> output, segments = tf.nn.isotonic_regression([3.0, 1.0, 2.0])
    >>> output.numpy().tolist(), segments.numpy().tolist()
    ([3.0, 1.5, 1.5], [0, 1, 1])
    """
    inputs = convert_to_tensor(inputs)
    attrs = {"output_dtype": _OUTPUT_OF.get(inputs.dtype, float32)}
    order = _to_last(inputs, int(axis))
    if decreasing and order is None:
        return IsotonicRegressionResult(*execute(IsotonicRegression, (inputs,), attrs))
    if order is not None:
        inputs = ordering.transpose(inputs, order)
    if not decreasing:
        inputs = elementwise.negative(inputs)
    output, segments = execute(IsotonicRegression, (inputs,), attrs)
    if not decreasing:
        output = elementwise.negative(output)
    if order is None:
        return output, segments
    return ordering.transpose(output, order), ordering.transpose(segments, order)


def _to_last(inputs, axis):
    """The permutation that exchanges an axis with the last one; None where it is the last."""
    count = inputs.shape.rank
    if axis == -1 or (count is not None and axis == count - 1):
        return None
    if count is not None and not -count <= axis < count:
        raise InvalidArgumentError(
            None,
            None,
            f"`dim` must be in the range [{-count}, {count}) where {count} is the number of "
            f"dimensions in the input. Received: dim={axis}",
        )
    return sorting.last_exchanged_with(axis, rank(inputs))
