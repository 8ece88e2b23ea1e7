"""Shape checks and the output shape of pooling."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...core import errors
from ...core.shape_rules import dimensions_text
from ...core.shapes import TensorShape
from .convolution_shapes import FORMATS, check_choice, explicit_pairs, known_rank, with_channels
from .windows import (
    Axis,
    channels_first,
    place_axis,
    place_window,
    spatial_part,
    to_channels_first,
    to_channels_last,
)


class Pooling(NamedTuple):
    """A checked pooling: its axes, and the layout of the channels.

    Pooling over channels treats them as one more spatial axis, and every value as a channel.
    """

    axes: tuple[Axis, ...]
    first: bool
    deep: bool
    output_shape: tuple[int | None, ...]

    def arrange(self, array: np.ndarray) -> np.ndarray:
        """View an array of the op in the layout of the kernels."""
        if self.first:
            array = to_channels_last(array)
        return array[..., np.newaxis] if self.deep else array

    def restore(self, array: np.ndarray) -> np.ndarray:
        """View a kernel's result in the layout of the op."""
        if self.deep:
            array = array[..., 0]
        return to_channels_first(array) if self.first else array


def place_pooling(
    shape, rank, ksize, strides, padding, explicit_paddings, data_format, over_depth=False
):
    """Check the shape (None where unknown) and the attributes of a pooling op.

    `over_depth`: the op can pool over channels instead of space; padding may be explicit then.
    """
    return _place(
        tuple(shape),
        rank,
        tuple(ksize),
        tuple(strides),
        padding,
        tuple(explicit_paddings),
        data_format,
        over_depth,
    )


@lru_cache(maxsize=1024)
def _place(shape, rank, ksize, strides, padding, explicit_paddings, data_format, over_depth):
    check_choice("padding", padding, ("SAME", "VALID", "EXPLICIT")[: 3 if over_depth else 2])
    check_choice("data_format", data_format, FORMATS[rank])
    first = channels_first(data_format)
    if len(shape) != rank:
        raise ValueError(
            f"The input of pooling must be {rank}-dimensional, got "
            f"{dimensions_text(TensorShape(shape))}."
        )
    for name, values in (("ksize", ksize), ("strides", strides)):
        if len(values) != rank:
            raise ValueError(
                f"Sliding window {name} field must specify {rank} dimensions, got {list(values)}."
            )
        if min(values) < 1:
            raise ValueError(f"Sliding window {name} must be positive, got {list(values)}.")
    if ksize[0] != 1 or strides[0] != 1:
        raise _unimplemented(
            f"Pooling is not yet supported on the batch dimension: got ksize={list(ksize)} and "
            f"strides={list(strides)}."
        )
    channel = 1 if first else rank - 1
    pairs = explicit_pairs(explicit_paddings, padding, rank, first)
    kernel = spatial_part(ksize, first)
    for (before, after), window in zip(pairs, kernel, strict=False):
        if max(before, after) >= window:
            raise ValueError(
                f"Padding {before}, {after} needs to be smaller than the window size {window}."
            )
    spatial_strides = spatial_part(strides, first)
    ones = (1,) * (rank - 2)
    space = spatial_part(shape, first)
    axes = place_window(space, kernel, spatial_strides, ones, padding, pairs)
    depth = shape[channel]
    deep = ksize[channel] != 1 or strides[channel] != 1
    if deep:
        _check_deep(depth, kernel, ksize[channel], strides[channel], over_depth)
        across = place_axis(depth, ksize[channel], ksize[channel], 1, "VALID")
        axes = (*axes, across)
        depth = across.output
    output = tuple(axis.output for axis in axes[: rank - 2])
    return Pooling(axes, first, deep, with_channels(shape[0], output, depth, first))


def _check_deep(depth, kernel, window, stride, over_depth):
    """Raise UnimplementedError unless pooling over channels has a supported window."""
    if not over_depth:
        raise _unimplemented("Non-spatial pooling is not yet supported.")
    if any(taps != 1 for taps in kernel):
        raise _unimplemented(
            "MaxPooling supports exactly one of pooling across depth or pooling across "
            f"width/height: got a window of {list(kernel)} and {window} channels."
        )
    if window != stride:
        raise _unimplemented(
            "Depthwise max pooling requires the depth window to equal the depth stride: got "
            f"{window} and {stride}."
        )
    if depth is not None and depth % window:
        raise _unimplemented(
            "Depthwise max pooling requires the depth window to evenly divide the input depth: "
            f"got {window} and {depth}."
        )


def _unimplemented(message):
    return errors.UnimplementedError(None, None, message)


def pooling_rule(rank, over_depth=False):
    """Make the shape rule of pooling tensors of this rank."""

    def rule(inputs, attrs):
        placed = place_pooling(
            known_rank(inputs[0].shape, rank),
            rank,
            attrs["ksize"],
            attrs["strides"],
            attrs["padding"],
            attrs.get("explicit_paddings", ()),
            attrs.get("data_format", FORMATS[rank][0]),
            over_depth,
        )
        return TensorShape(placed.output_shape)

    return rule


def check_shape(name, actual, expected):
    """Raise ValueError unless another input has the shape that follows from the pooled one."""
    if tuple(actual) != tuple(expected):
        raise ValueError(
            f"Expected {name} shape to be {dimensions_text(TensorShape(expected))}, but got "
            f"{dimensions_text(TensorShape(actual))}"
        )
