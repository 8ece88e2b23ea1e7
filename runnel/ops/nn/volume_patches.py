"""Patches of volumes, flattened into the channels."""

import math

import numpy as np

from ...core import errors
from ...core.convert import convert_to_tensor
from ...core.dtypes import REAL
from ...core.op import op
from ...core.shapes import TensorShape
from ..array.shaping import reshape, shape
from .convolution import Conv3DBackpropInputV2
from .convolution_shapes import check_choice, known_rank
from .window_arguments import full_list, padding_name
from .windows import is_padded, pad_axes, place_window, window_view


def _place(dims, ksizes, strides, padding):
    """Check the extraction of patches; return its axes."""
    check_choice("padding", padding, ("SAME", "VALID"))
    for name, values in (("ksizes", ksizes), ("strides", strides)):
        if len(values) != 5:
            raise ValueError(
                f"Length for attr '{name}' of {len(values)} must be 5, got {list(values)}."
            )
        if values[0] != 1 or values[4] != 1:
            raise errors.UnimplementedError(
                None, None, f"Only support {name} across space, got {list(values)}."
            )
        if min(values) < 1:
            raise errors.OutOfRangeError(
                None, None, f"{name} is out of range: {list(values)}; all must be at least 1."
            )
    if len(dims) != 5:
        raise ValueError(f"input must be 5-dimensional, got shape {list(dims)}.")
    return place_window(
        tuple(dims[1:4]), tuple(ksizes[1:4]), tuple(strides[1:4]), (1, 1, 1), padding
    )


def _rule(inputs, attrs):
    dims = known_rank(inputs[0].shape, 5)
    axes = _place(dims, attrs["ksizes"], attrs["strides"], attrs["padding"])
    depth = None if dims[4] is None else dims[4] * math.prod(attrs["ksizes"])
    return TensorShape([dims[0], *(axis.output for axis in axes), depth])


@op("ExtractVolumePatches", "input: T -> patches: T", T=REAL, shape=_rule)
def ExtractVolumePatches(input, *, ksizes, strides, padding):
    axes = _place(input.shape, ksizes, strides, padding)
    padded = pad_axes(input, axes) if is_padded(axes) else np.ascontiguousarray(input)
    outputs = [axis.output for axis in axes]
    depth = input.shape[4] * math.prod(axis.kernel for axis in axes)
    return window_view(padded, axes).reshape(input.shape[0], *outputs, depth)


@ExtractVolumePatches.gradient
def _(op, grad):
    input = op.inputs[0]
    kernel = op.attrs["ksizes"][1:4]
    depth = input.shape[4] if input.shape.rank else None
    if depth is None:
        raise ValueError(
            "The gradient of extract_volume_patches needs to know the number of channels of the "
            f"input; its shape is {input.shape}."
        )
    # Each patch entry is one input value: a convolution with one-hot filters.
    size = math.prod(kernel) * depth
    picks = reshape(
        convert_to_tensor(np.eye(size, dtype=grad.dtype.as_numpy_dtype)), [*kernel, depth, size]
    )
    return Conv3DBackpropInputV2(
        shape(input), picks, grad, strides=op.attrs["strides"], padding=op.attrs["padding"]
    )


def extract_volume_patches(input, ksizes, strides, padding, name=None):
    """The patch under each window of volumes, flattened into the channels.

    >>> volume = tf.ones([1, 4, 4, 4, 3])
    >>> tf.extract_volume_patches(volume, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID").shape
    TensorShape([1, 2, 2, 2, 24])
    """
    return ExtractVolumePatches(
        convert_to_tensor(input),
        ksizes=full_list(ksizes, "ksizes", "extract_volume_patches"),
        strides=full_list(strides, "strides", "extract_volume_patches"),
        padding=padding_name(padding),
    )
