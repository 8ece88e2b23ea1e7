"""Group normalization as one fused operation."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, float64
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ..array import shaping
from ..math import reduction, statistics
from .composed_gradients import composed_gradient, derivatives_of_composed
from .normalization import batch_normalization

_TYPES = {float32, float64}
# Elements per block: twice what fits the caches.
_BLOCK = 1 << 18
# Rows of few channels are joined up to this length: NumPy's inner loop has a cost per row.
_LONG = 512


def group_norm(x, scale, offset, groups, axis, epsilon):
    """(x - mean) / deviation × scale + offset, with the mean and deviation of each group.

    A group is a part of the channels, `axis`, of one example, with all their pixels.
    """
    attrs = {"groups": groups, "axis": axis, "epsilon": epsilon}
    tensors = [convert_to_tensor(each) for each in (x, scale, offset)]
    return execute(GroupNorm, tensors, attrs)[0]


def composed_group_norm(x, scale, offset, groups, axis, epsilon, moments=None):
    """`group_norm`, composed of operations; `moments` may be another function for the moments."""
    sizes = x.shape.as_list()
    if None in sizes:
        actual = shaping.shape(x)
        sizes = [actual[i] if size is None else size for i, size in enumerate(sizes)]
    parts = [groups, x.shape[axis] // groups]
    grouped = shaping.reshape(x, [*sizes[:axis], *parts, *sizes[axis + 1 :]])
    rank = len(sizes) + 1
    # All axes but those of the batch and of the groups.
    axes = [each for each in range(1, rank) if each != axis]
    mean, variance = (moments or _moments)(grouped, axes)
    spread = [1] * rank
    spread[axis : axis + 2] = parts
    scale, offset = (shaping.reshape(each, spread) for each in (scale, offset))
    result = batch_normalization(grouped, mean, variance, offset, scale, epsilon)
    result = shaping.reshape(result, sizes)
    result.set_shape(x.shape)
    return result


def composed_group_norm_gradient(grad, x, scale, **attrs):
    """The gradients of `composed_group_norm` with respect to x, the scale and the offset."""

    def composed(*sources):
        return [composed_group_norm(*sources, **attrs)]

    return composed_gradient(composed, (x, scale, shaping.identity(scale)), (grad,))


def _moments(grouped, axes):
    # Unlike tf.nn.moments with all terms of the second derivatives.
    mean = reduction.reduce_mean(grouped, axes, keepdims=True)
    return mean, statistics.reduce_variance(grouped, axes, keepdims=True)


def _shapes(inputs, attrs):
    x, scale, offset = (each.shape for each in inputs)
    channels = x[attrs["axis"] : attrs["axis"] + 1]
    for name, vector in (("scale", scale), ("offset", offset)):
        if not vector.is_compatible_with(channels):
            raise ValueError(
                f"{name} must have one number for each of the channels, shape {channels}, got "
                f"shape {vector}."
            )
    of_groups = TensorShape([x[0], attrs["groups"]])
    return [x, of_groups, of_groups]


@op(
    "GroupNorm",
    "x: T, scale: T, offset: T -> y: T, mean: T, inverse_deviation: T",
    T=_TYPES,
    shape=_shapes,
    fresh=True,
)
def GroupNorm(x, scale, offset, *, groups, axis, epsilon=1e-3):
    layout = _Layout(x, groups, axis)
    images = layout.of(x)
    result = np.empty_like(images)
    means = np.empty((len(x), groups), x.dtype)
    inverses = np.empty_like(means)
    shift = layout.spread(offset[None])
    for block in layout.blocks():
        part = result[block]
        mean = layout.of_groups(layout.total(images[block])) / layout.count
        np.subtract(images[block], layout.spread(layout.of_channels(mean)), out=part)
        variance = layout.of_groups(layout.dot(part, part)) / layout.count
        inverse = 1 / np.sqrt(variance + x.dtype.type(epsilon))
        part *= layout.spread(layout.of_channels(inverse) * scale)
        part += shift
        means[block], inverses[block] = mean, inverse
    return layout.back(result), means, inverses


@GroupNorm.gradient
def _(op, grad, *_):
    x, scale, _ = op.inputs
    return GroupNormGrad(grad, x, scale, *op.outputs[1:], **op.attrs)


def _gradient_shapes(inputs, attrs):
    _, x, scale = inputs[:3]
    return [x.shape, scale.shape, scale.shape]


@op(
    "GroupNormGrad",
    "grad: T, x: T, scale: T, mean: T, inverse_deviation: T -> to_x: T, to_scale: T, to_offset: T",
    T=_TYPES,
    shape=_gradient_shapes,
    fresh=True,
)
def GroupNormGrad(grad, x, scale, means, inverses, *, groups, axis, epsilon=1e-3):
    layout = _Layout(x, groups, axis)
    images, grads = layout.of(x), layout.of(grad)
    result = np.empty_like(images)
    to_scale, to_offset = np.zeros_like(scale), np.zeros_like(scale)
    for block in layout.blocks():
        part, weights = result[block], grads[block]
        inverse = inverses[block]
        by_channel = layout.of_channels(inverse)
        np.subtract(images[block], layout.spread(layout.of_channels(means[block])), out=part)
        total = layout.total(weights)
        product = layout.dot(weights, part) * by_channel
        to_offset += total.sum(0)
        to_scale += product.sum(0)
        # The gradients with respect to the mean and the deviation of a group.
        by_mean = layout.of_groups(total * scale) / layout.count
        by_deviation = layout.of_groups(product * scale) / layout.count
        part *= layout.spread(layout.of_channels(-inverse * inverse * by_deviation))
        part -= layout.spread(layout.of_channels(inverse * by_mean))
        part += weights * layout.spread(by_channel * scale)
    return layout.back(result), to_scale, to_offset


@GroupNormGrad.gradient
def _(op, *weights):
    composed = partial(composed_group_norm_gradient, **op.attrs)
    found = derivatives_of_composed(composed, op.inputs[:3], weights)
    return [*found, None, None]


class _Layout:
    """Images seen as (example, rows, channels) or, channels first, (example, channels, row)."""

    def __init__(self, x, groups, axis):
        self.axis = axis
        self.channels, self.groups = x.shape[axis], groups
        self.last = axis == x.ndim - 1
        # A channel axis in the middle is moved to axis 1.
        self.moved = np.moveaxis(x, axis, 1).shape
        pixels = math.prod(self.moved[2:])
        self.joined = 1
        while self.last and self.joined * self.channels < _LONG and pixels % (2 * self.joined) == 0:
            self.joined *= 2
        rows = (pixels // self.joined, self.joined * self.channels)
        self.shape = (len(x), *(rows if self.last else (self.channels, pixels)))
        self.original = x.shape
        self.count = x.dtype.type(pixels * (self.channels // groups))

    def of(self, x):
        """An array in this layout."""
        x = x if self.last else np.moveaxis(x, self.axis, 1)
        return np.ascontiguousarray(x).reshape(self.shape)

    def back(self, result):
        """Convert an array of this layout to the layout of the images."""
        if self.last:
            return result.reshape(self.original)
        return np.ascontiguousarray(np.moveaxis(result.reshape(self.moved), 1, self.axis))

    def blocks(self):
        """Slices over the batch, of about _BLOCK elements each."""
        step = max(1, _BLOCK // max(1, math.prod(self.shape[1:])))
        for start in range(0, self.shape[0], step):
            yield slice(start, start + step)

    def total(self, images):
        """Sum over the pixels of each channel."""
        return self._folded(np.einsum("nrc->nc" if self.last else "ncr->nc", images))

    def dot(self, left, right):
        """Dot product over the pixels of each channel."""
        rule = "nrc,nrc->nc" if self.last else "ncr,ncr->nc"
        return self._folded(np.einsum(rule, left, right))

    def _folded(self, sums):
        if self.joined == 1:
            return sums
        return sums.reshape(-1, self.joined, self.channels).sum(1)

    def of_groups(self, by_channel):
        """Sum over the channels of each group."""
        return by_channel.reshape(len(by_channel), self.groups, -1).sum(2)

    def of_channels(self, by_group):
        """Repeat the value of each group for its channels."""
        return np.repeat(by_group, self.channels // self.groups, axis=1)

    def spread(self, by_channel):
        """Reshape a value per channel and example to broadcast against the images."""
        if not self.last:
            return by_channel[:, :, None]
        return np.tile(by_channel, self.joined)[:, None, :]
