"""Max and average pooling in NumPy for any number of spatial dimensions, channels last."""

import math

import numpy as np

from ...runtime.engine_selection import accelerated
from .windows import computing_dtype, inner_taps

_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def lowest_value(dtype):
    """Return the smallest finite value of a real dtype."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    if dtype.kind == "f":
        return np.finfo(dtype).min
    import ml_dtypes

    return ml_dtypes.finfo(dtype).min


@accelerated("max_pool", 65_536)
def max_pool(images, axes, floor=True):
    """The maximum under each window; NaN loses against any number.

    With `floor`, as in two dimensions of the original, nothing is below the lowest finite value.
    """
    result = images
    for number, axis in enumerate(axes):
        result = _reduce_axis(np.fmax, result, number, axis)
    if floor and images.dtype.kind not in "iu":
        result = np.fmax(result, np.asarray(lowest_value(images.dtype), images.dtype))
    return result


@accelerated("average_pool", 2048)
def average_pool(images, axes):
    """Return the mean under each window, padding not counted."""
    result = images.astype(computing_dtype(images.dtype), copy=False)
    for number, axis in enumerate(axes):
        result = _reduce_axis(np.add, result, number, axis)
    result = result / _window_counts(axes, result.dtype)
    return result.astype(images.dtype, copy=False)


@accelerated("average_pool_backprop", 2048)
def average_pool_backprop(gradients, image_shape, axes):
    """Distribute each output's gradient equally over the inputs that it averaged."""
    result = gradients.astype(computing_dtype(gradients.dtype), copy=False)
    if result.size == 0:
        return np.zeros(image_shape, gradients.dtype)
    result = result / _window_counts(axes, result.dtype)
    for number in reversed(range(len(axes))):
        axis = axes[number]
        shape = list(result.shape)
        shape[1 + number] = axis.size
        spread = np.zeros(shape, result.dtype)
        leading = (slice(None),) * number
        for tap in inner_taps((axis,)):
            place = (tap.inputs[0], *leading, *tap.inputs[1:])
            spread[place] += result[(tap.outputs[0], *leading, *tap.outputs[1:])]
        result = spread
    return result.astype(gradients.dtype, copy=False)


def _reduce_axis(ufunc, array, number, axis):
    """Reduce the windows along one spatial axis only: windows are separable."""
    if axis.kernel == 1 and axis.stride == 1 and axis.output == axis.size:
        return array
    leading = (slice(None),) * (1 + number)
    taps = inner_taps((axis,))
    shape = list(array.shape)
    shape[1 + number] = axis.output
    if not taps:
        return np.zeros(shape, array.dtype)
    # The first tap that covers every output initializes the result; ufuncs then work in place.
    whole = slice(0, axis.output)
    full = next((tap for tap in taps if tap.outputs[1] == whole), None)
    if full is None:
        result = np.full(shape, _identity(ufunc, array.dtype), array.dtype)
    else:
        result = array[(*leading, full.inputs[1])].copy()
    for tap in taps:
        if tap is not full:
            part = result[(*leading, tap.outputs[1])]
            ufunc(part, array[(*leading, tap.inputs[1])], out=part)
    return result


def _identity(ufunc, dtype):
    """The identity element of a sum or maximum."""
    if ufunc is np.add:
        return 0
    return lowest_value(dtype) if dtype.kind in "iu" else -np.inf


def _window_counts(axes, dtype):
    """Count the inputs of each window: an array [*outputs, 1]."""
    counts = np.ones(1, dtype)
    for axis in axes:
        start = np.arange(axis.output) * axis.stride - axis.low
        inside = np.minimum(start + axis.kernel, axis.size) - np.maximum(start, 0)
        counts = counts[..., np.newaxis] * inside.astype(dtype)
    return counts.reshape(*(axis.output for axis in axes), 1)


@accelerated("max_pool_backprop", 2048)
def max_pool_backprop(images, outputs, gradients, axes, every_tie=False):
    """Route each output's gradient to the first of its maxima, or to `every_tie` of them."""
    result = np.zeros(images.shape, gradients.dtype)
    if result.size == 0 or gradients.size == 0:
        return result
    disjoint = all(axis.stride >= axis.kernel for axis in axes)
    for tap, chosen in _maxima(images, outputs, axes, every_tie):
        part = select(gradients[tap.outputs], chosen)
        if disjoint:
            result[tap.inputs] = part
        else:
            result[tap.inputs] += part
    return result


def max_pool_second_backprop(images, outputs, gradients, axes):
    """For each output, the gradient [like images] at the first of its maxima."""
    result = np.zeros(outputs.shape, gradients.dtype)
    for tap, chosen in _maxima(images, outputs, axes, False):
        part = result[tap.outputs]
        np.copyto(part, gradients[tap.inputs], where=chosen)
    return result


def _maxima(images, outputs, axes, every_tie):
    """Yield (tap, mask): the outputs of the tap at which the maximum is the input that it reads.

    Without ties every output is in one mask; all taps of a window of NaNs count as ties.
    """
    taps = inner_taps(axes)
    free = np.ones(outputs.shape, bool)
    lost = np.zeros(outputs.shape, bool) if images.dtype.kind not in "iu" else None
    if lost is not None:
        lowest = lowest_value(images.dtype)
        np.equal(outputs, np.asarray(lowest, outputs.dtype), out=lost)
        lost = lost if lost.any() else None
    for tap in taps:
        seen = images[tap.inputs]
        chosen = np.equal(seen, outputs[tap.outputs])
        if lost is not None:
            # Only values that the forward pass raised to the lowest finite one are not above it.
            chosen |= lost[tap.outputs] & ~(seen > lowest)
        if not every_tie:
            remaining = free[tap.outputs]
            chosen &= remaining
            remaining ^= chosen
        yield tap, chosen


def select(values, chosen):
    """Values where the mask holds, else zeros; unlike a multiplication it avoids inf * 0."""
    bits = _BITS[values.dtype.itemsize]
    return np.multiply(values.view(bits), chosen, dtype=bits).view(values.dtype)


def max_pool_with_positions(images, axes):
    """The maximum under each window and its flat index within [*space, depth].

    The first input of a window holds until a greater one follows, even if it is NaN.
    """
    starts = [np.maximum(np.arange(a.output) * a.stride - a.low, 0) for a in axes]
    channels = np.arange(images.shape[-1], dtype=np.int64)
    batch = np.arange(images.shape[0])
    best = images[np.ix_(batch, *starts, channels)]
    positions = np.empty(best.shape, np.int64)
    positions[...] = _flat_positions(starts, axes, channels)
    for tap in inner_taps(axes):
        seen = images[tap.inputs]
        part = best[tap.outputs]
        greater = seen > part
        np.copyto(part, seen, where=greater)
        indices = [np.arange(cut.start, cut.stop, cut.step) for cut in tap.inputs[1:]]
        np.copyto(positions[tap.outputs], _flat_positions(indices, axes, channels), where=greater)
    return best, positions


def _flat_positions(indices, axes, channels):
    """Flatten per-axis indices to indices within [*space, depth], shaped [*outputs, depth]."""
    flat = np.zeros((1,) * len(axes), np.int64)
    for number, (index, axis) in enumerate(zip(indices, axes, strict=True)):
        shape = [1] * len(axes)
        shape[number] = -1
        flat = flat * axis.size + index.reshape(shape)
    return flat[..., np.newaxis] * len(channels) + channels


def scatter_to_positions(gradients, positions, image_shape, batch_included):
    """Scatter-add gradients to the flat indices that `max_pool_with_positions` returned."""
    dtype = computing_dtype(gradients.dtype)
    result = np.zeros(math.prod(image_shape), dtype)
    flat = _image_positions(positions, image_shape, batch_included)
    np.add.at(result, flat.ravel(), gradients.astype(dtype, copy=False).ravel())
    return result.reshape(image_shape).astype(gradients.dtype, copy=False)


def gather_from_positions(values, positions, batch_included):
    """Gather values [like the images] at the flat indices of each output."""
    return values.reshape(-1)[_image_positions(positions, values.shape, batch_included)]


def _image_positions(positions, image_shape, batch_included):
    """Convert returned indices to indices within the whole batch, checked."""
    per_image = math.prod(image_shape[1:])
    flat = positions.astype(np.int64, copy=False)
    offsets = np.arange(positions.shape[0]) * per_image
    offsets = offsets.reshape(-1, *(1,) * (positions.ndim - 1))
    if not batch_included:
        flat = flat + offsets
    wrong = (flat < offsets) | (flat >= offsets + per_image)
    if wrong.any():
        raise ValueError(
            f"argmax has the position {positions[wrong][0]}, outside of an image of shape "
            f"{list(image_shape[1:])} ({per_image} elements)."
        )
    return flat
