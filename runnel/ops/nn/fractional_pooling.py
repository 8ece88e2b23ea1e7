"""Fractional max and average pooling: windows of uneven sizes for a ratio that is no integer.

A pooling sequence holds the first index of every window and, last, the input's length. Its steps
are the two integers around length / count, in random order, or follow ceil(ratio * (i + u)).

Benjamin Graham: "Fractional Max-Pooling", 2014.
"""

import math
from itertools import product
from typing import NamedTuple

import numpy as np

from ...core import errors
from ...core.convert import constant_shape, convert_to_tensor
from ...core.dtypes import float32, float64, int32, int64
from ...core.op import op
from ...core.shape_rules import same_as_input, unchanged
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array.creation import ZerosLike
from ..array.shaping import shape
from ..philox import philox
from ..random_streams import get_seed
from .convolution_shapes import known_rank
from .pooling_kernels import lowest_value, select

POOLED = {float32, float64, int32, int64}


class FractionalPool(NamedTuple):
    """The pooled tensor, and the start indices of the windows of rows and columns."""

    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor


class _Words:
    """The 32-bit words of a random stream; a new sequence starts at a block of four."""

    def __init__(self, seed, seed2):
        self.key = seed % 2**64
        self.counter = (seed2 % 2**64) << 64

    def take(self, count):
        words = []
        while len(words) < count:
            words.extend(philox(self.key, self.counter))
            self.counter += 1
        return words[:count]


def _random_sequence(length, count, words):
    """Shuffle the two sizes of steps."""
    short = length // count
    long_ones = length - short * count
    steps = [short + 1] * long_ones + [short] * (count - long_ones)
    for i, word in enumerate(words.take(count)):
        j = i + word % (count - i)
        steps[i], steps[j] = steps[j], steps[i]
    return np.cumsum([0, *steps])


def _pseudo_random_sequence(length, count, words):
    """Distribute the two sizes of steps evenly, from a random offset."""
    high, low = words.take(2)
    if length % count == 0:
        return np.arange(count + 1) * (length // count)
    ratio = length / count
    short = length // count
    # No step may be longer than short + 1 or shorter than short. The ends stay at 0 and length,
    # so the first step needs ceil(ratio * (1 + u)) - 1 <= short + 1, and the last one
    # length - (ceil(ratio * (count - 1 + u)) - 1) >= short: two upper bounds of u.
    largest = min((short + 2) / ratio - 1, (length + 1 - short) / ratio - (count - 1))
    start = ((high << 32 | low) & (2**52 - 1)) / 2**52 * largest
    sequence = np.ceil(ratio * (np.arange(count + 1) + start)).astype(np.int64) - 1
    sequence[0], sequence[-1] = 0, length
    return sequence


def _output_sizes(dims, pooling_ratio):
    """The output's shape; the sizes are rounded down."""
    if len(pooling_ratio) != 4:
        raise ValueError(f"pooling_ratio must have 4 entries, got {list(pooling_ratio)}.")
    if len(dims) != 4:
        raise ValueError(f"The input must be 4-dimensional, got shape {list(dims)}.")
    for i, (size, ratio) in enumerate(zip(dims, pooling_ratio, strict=True)):
        if ratio < 1:
            raise ValueError(f"pooling_ratio cannot be smaller than 1, got: {ratio}")
        if size is not None and size < ratio:
            raise ValueError(
                f"Pooling ratio is higher than input dimension size for dimension {i}. "
                f"Input dim size: {size} pooling ratio: {ratio}"
            )
    return tuple(
        None if size is None else math.floor(np.float32(size) / np.float32(ratio))
        for size, ratio in zip(dims, pooling_ratio, strict=True)
    )


def _rule(inputs, attrs):
    dims = _output_sizes(known_rank(inputs[0].shape, 4), attrs["pooling_ratio"])
    ends = [None if size is None else size + 1 for size in dims[1:3]]
    return [TensorShape(dims), TensorShape(ends[:1]), TensorShape(ends[1:])]


def _sequences(value, pooling_ratio, pseudo_random, deterministic, seed, seed2):
    """Draw the pooling sequences of rows and columns."""
    if pooling_ratio[0] != 1 or pooling_ratio[-1] != 1:
        raise errors.UnimplementedError(
            None,
            None,
            f"Fractional pooling is not yet supported on the batch nor channel dimension, got "
            f"pooling_ratio={list(pooling_ratio)}.",
        )
    _, rows, columns, _ = _output_sizes(value.shape, pooling_ratio)
    if not deterministic:
        if seed or seed2:
            raise ValueError(
                f"Both seed and seed2 should be 0 if deterministic is false, got {seed}, {seed2}."
            )
        seed, seed2 = (int(each) for each in np.random.default_rng().integers(1, 2**62, 2))
    draw = _pseudo_random_sequence if pseudo_random else _random_sequence
    words = _Words(seed, seed2)
    row_sequence = draw(value.shape[1], rows, words)
    return row_sequence, draw(value.shape[2], columns, words)


def _reduce_windows(ufunc, array, axis, sequence, overlapping):
    """Reduce each window along one axis; overlapping ones include the next window's start."""
    result = ufunc.reduceat(array, sequence[:-1], axis=axis, dtype=array.dtype)
    if overlapping:
        leading = (slice(None),) * axis
        inner = result[(*leading, slice(None, -1))]
        ufunc(inner, array[(*leading, sequence[1:-1])], out=inner)
    return result


def _window_ends(sequence, overlapping):
    """The end index of each window, exclusive."""
    return np.minimum(sequence[1:] + 1, sequence[-1]) if overlapping else sequence[1:]


def _window_taps(rows, columns, overlapping):
    """Yield (outputs, inputs) per tap: indices of the outputs that have it, and what they read."""
    per_axis = []
    for sequence in (rows, columns):
        sizes = _window_ends(sequence, overlapping) - sequence[:-1]
        per_axis.append(
            [
                (having, sequence[having] + tap)
                for tap in range(sizes.max(initial=0))
                for having in [np.flatnonzero(sizes > tap)]
            ]
        )
    for (out_rows, in_rows), (out_columns, in_columns) in product(*per_axis):
        yield (
            (slice(None), out_rows[:, np.newaxis], out_columns),
            (slice(None), in_rows[:, np.newaxis], in_columns),
        )


def _check_sequences(dims, outputs, rows, columns):
    for name, sequence, size, count in (
        ("row_pooling_sequence", rows, dims[1], outputs[1]),
        ("col_pooling_sequence", columns, dims[2], outputs[2]),
    ):
        fits = sequence.shape == (count + 1,) and sequence[0] == 0 and sequence[-1] == size
        if not fits or np.any(np.diff(sequence) < 1):
            raise ValueError(
                f"{name} must go up from 0 to {size} in {count} steps, got {sequence.tolist()}."
            )


@op(
    "FractionalMaxPool",
    "value: T -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64",
    T=POOLED,
    shape=_rule,
    stateful=True,
)
def FractionalMaxPool(
    value,
    *,
    pooling_ratio,
    pseudo_random=False,
    overlapping=False,
    deterministic=False,
    seed=0,
    seed2=0,
):
    rows, columns = _sequences(value, pooling_ratio, pseudo_random, deterministic, seed, seed2)
    pooled = _reduce_windows(np.fmax, value, 1, rows, overlapping)
    pooled = _reduce_windows(np.fmax, pooled, 2, columns, overlapping)
    if value.dtype.kind == "f":
        pooled = np.fmax(pooled, np.asarray(lowest_value(value.dtype), value.dtype))
    return pooled, rows, columns


@FractionalMaxPool.gradient
def _(op, grad, *_):
    output, rows, columns = op.outputs
    overlapping = op.attrs["overlapping"]
    return FractionalMaxPoolGrad(op.inputs[0], output, grad, rows, columns, overlapping=overlapping)


def _maxima(images, outputs, rows, columns, overlapping):
    """Yield (outputs, inputs, mask) per tap: at which outputs it is the first of the maxima."""
    free = np.ones(outputs.shape, bool)
    for out_index, in_index in _window_taps(rows, columns, overlapping):
        chosen = (images[in_index] == outputs[out_index]) & free[out_index]
        free[out_index] &= ~chosen
        yield out_index, in_index, chosen


@op(
    "FractionalMaxPoolGrad",
    "orig_input: T, orig_output: T, out_backprop: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64 -> output: T",
    T=POOLED,
    shape=unchanged,
)
def FractionalMaxPoolGrad(
    orig_input,
    orig_output,
    out_backprop,
    row_pooling_sequence,
    col_pooling_sequence,
    *,
    overlapping=False,
):
    rows, columns = row_pooling_sequence, col_pooling_sequence
    _check_sequences(orig_input.shape, orig_output.shape, rows, columns)
    result = np.zeros(orig_input.shape, out_backprop.dtype)
    taps = _maxima(orig_input, orig_output, rows, columns, overlapping)
    for out_index, in_index, chosen in taps:
        result[in_index] += select(out_backprop[out_index], chosen)
    return result


@FractionalMaxPoolGrad.gradient
def _(op, grad):
    input, output, _, rows, columns = op.inputs
    picked = FractionalMaxPoolGradGrad(input, output, grad, rows, columns, **op.attrs)
    return ZerosLike(input), ZerosLike(output), picked, None, None


@op(
    "FractionalMaxPoolGradGrad",
    "orig_input: T, orig_output: T, grad: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64 -> output: T",
    T=POOLED,
    shape=same_as_input(1),
)
def FractionalMaxPoolGradGrad(
    orig_input,
    orig_output,
    grad,
    row_pooling_sequence,
    col_pooling_sequence,
    *,
    overlapping=False,
):
    """For each output, the gradient at the first of its maxima."""
    rows, columns = row_pooling_sequence, col_pooling_sequence
    _check_sequences(orig_input.shape, orig_output.shape, rows, columns)
    result = np.zeros(orig_output.shape, grad.dtype)
    taps = _maxima(orig_input, orig_output, rows, columns, overlapping)
    for out_index, in_index, chosen in taps:
        result[out_index] += select(grad[in_index], chosen)
    return result


@FractionalMaxPoolGradGrad.gradient
def _(op, grad):
    input, output, _, rows, columns = op.inputs
    spread = FractionalMaxPoolGrad(input, output, grad, rows, columns, **op.attrs)
    return ZerosLike(input), ZerosLike(output), spread, None, None


def _average(images, rows, columns, overlapping):
    total = _reduce_windows(np.add, images, 1, rows, overlapping)
    total = _reduce_windows(np.add, total, 2, columns, overlapping)
    counts = _window_counts(rows, columns, overlapping)
    if total.dtype.kind == "f":
        return total / counts.astype(total.dtype)
    # Integers are divided towards zero.
    return np.sign(total) * (np.abs(total) // counts.astype(total.dtype))


def _window_counts(rows, columns, overlapping):
    """Count the inputs of each window: [rows, columns, 1]."""
    heights = _window_ends(rows, overlapping) - rows[:-1]
    widths = _window_ends(columns, overlapping) - columns[:-1]
    return np.multiply.outer(heights, widths)[..., np.newaxis]


@op(
    "FractionalAvgPool",
    "value: T -> output: T, row_pooling_sequence: int64, col_pooling_sequence: int64",
    T=POOLED,
    shape=_rule,
    stateful=True,
)
def FractionalAvgPool(
    value,
    *,
    pooling_ratio,
    pseudo_random=False,
    overlapping=False,
    deterministic=False,
    seed=0,
    seed2=0,
):
    rows, columns = _sequences(value, pooling_ratio, pseudo_random, deterministic, seed, seed2)
    return _average(value, rows, columns, overlapping), rows, columns


@FractionalAvgPool.gradient
def _(op, grad, *_):
    _, rows, columns = op.outputs
    overlapping = op.attrs["overlapping"]
    sizes = shape(op.inputs[0], int64)
    return FractionalAvgPoolGrad(sizes, grad, rows, columns, overlapping=overlapping)


@op(
    "FractionalAvgPoolGrad",
    "orig_input_tensor_shape: int64, out_backprop: T, row_pooling_sequence: int64, "
    "col_pooling_sequence: int64 -> output: T",
    T=POOLED,
    shape=lambda inputs, attrs: constant_shape(inputs[0]).with_rank(4),
)
def FractionalAvgPoolGrad(
    orig_input_tensor_shape,
    out_backprop,
    row_pooling_sequence,
    col_pooling_sequence,
    *,
    overlapping=False,
):
    rows, columns = row_pooling_sequence, col_pooling_sequence
    dims = tuple(orig_input_tensor_shape.tolist())
    _check_sequences(dims, out_backprop.shape, rows, columns)
    result = np.zeros(dims, out_backprop.dtype)
    shares = out_backprop / _window_counts(rows, columns, overlapping)
    shares = shares.astype(out_backprop.dtype, copy=False)
    for out_index, in_index in _window_taps(rows, columns, overlapping):
        result[in_index] += shares[out_index]
    return result


@FractionalAvgPoolGrad.gradient
def _(op, grad):
    _, _, rows, columns = op.inputs
    return None, FractionalAvgPoolGradGrad(grad, rows, columns, **op.attrs), None, None


def _averaged_shape(inputs, attrs):
    batch, _, _, depth = known_rank(inputs[0].shape, 4)
    lengths = [known_rank(sequence.shape, 1)[0] for sequence in inputs[1:]]
    space = [None if length is None else length - 1 for length in lengths]
    return TensorShape([batch, *space, depth])


@op(
    "FractionalAvgPoolGradGrad",
    "grad: T, row_pooling_sequence: int64, col_pooling_sequence: int64 -> output: T",
    T=POOLED,
    shape=_averaged_shape,
)
def FractionalAvgPoolGradGrad(
    grad, row_pooling_sequence, col_pooling_sequence, *, overlapping=False
):
    """Average with the windows that were drawn in the forward pass."""
    return _average(grad, row_pooling_sequence, col_pooling_sequence, overlapping)


@FractionalAvgPoolGradGrad.gradient
def _(op, grad):
    input, rows, columns = op.inputs
    sizes = shape(input, int64)
    return FractionalAvgPoolGrad(sizes, grad, rows, columns, **op.attrs), None, None


def fractional_max_pool(
    value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None
):
    """The maxima of windows of uneven sizes, which reduce the input's size by `pooling_ratio`.

    With a seed other than 0 the windows are deterministic.

    >>> pooled = tf.nn.fractional_max_pool(tf.ones([1, 10, 10, 1]), 1.4, seed=1)
    >>> pooled.output.shape
    TensorShape([1, 7, 7, 1])
    """
    attrs = _attrs(_max_ratios(pooling_ratio), pseudo_random, overlapping, seed)
    return FractionalPool(*FractionalMaxPool(convert_to_tensor(value), **attrs))


def fractional_avg_pool(
    value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None
):
    """The means of windows of uneven sizes, which reduce the input's size by `pooling_ratio`.

    >>> image = tf.ones([1, 10, 10, 1])
    >>> tf.nn.fractional_avg_pool(image, [1.0, 1.4, 2.0, 1.0], seed=1).output.shape
    TensorShape([1, 7, 5, 1])
    """
    if not isinstance(pooling_ratio, list | tuple):
        raise TypeError(
            "Expected list for 'pooling_ratio' argument to 'fractional_avg_pool' Op, not "
            f"{pooling_ratio}."
        )
    ratios = tuple(float(ratio) for ratio in pooling_ratio)
    attrs = _attrs(ratios, pseudo_random, overlapping, seed)
    return FractionalPool(*FractionalAvgPool(convert_to_tensor(value), **attrs))


def _max_ratios(pooling_ratio):
    """Return four ratios from one number or a list with 1.0 at both ends."""
    if isinstance(pooling_ratio, list | tuple):
        if len(pooling_ratio) != 4:
            raise ValueError(
                f"`pooling_ratio` should have first and last elements with value 1.0 and two "
                f"between them. Received: pooling_ratio={pooling_ratio}"
            )
        if pooling_ratio[0] != 1.0 or pooling_ratio[-1] != 1.0:
            raise ValueError(
                f"`pooling_ratio` should have first and last elements with value 1.0. "
                f"Received: pooling_ratio={pooling_ratio}"
            )
        ratios = tuple(float(ratio) for ratio in pooling_ratio)
    elif isinstance(pooling_ratio, int | float):
        ratios = (1.0, float(pooling_ratio), float(pooling_ratio), 1.0)
    else:
        raise ValueError(
            f"`pooling_ratio` should be an int or a list of ints. "
            f"Received: pooling_ratio={pooling_ratio}"
        )
    if any(ratio < 1.0 for ratio in ratios):
        raise ValueError(
            f"`pooling_ratio` should be >= 1.0. Received: pooling_ratio={pooling_ratio}"
        )
    return ratios


def _attrs(ratios, pseudo_random, overlapping, seed):
    attrs = {
        "pooling_ratio": ratios,
        "pseudo_random": bool(pseudo_random),
        "overlapping": bool(overlapping),
    }
    if seed:
        first, second = get_seed(seed)
        attrs.update(deterministic=True, seed=first, seed2=second)
    return attrs
