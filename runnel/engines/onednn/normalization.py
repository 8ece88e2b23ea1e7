"""Batch normalization, channels last, biases, and layer normalization."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...runtime.buffers import empty
from ...runtime.half_precision import is_half, rounded_to_half
from .half_precision import widened
from .library import Library
from .primitive import (
    DIFF_DST,
    DIFF_SCALE,
    DIFF_SHIFT,
    DIFF_SRC,
    DST,
    FORWARD_INFERENCE,
    FORWARD_TRAINING,
    MEAN,
    SCALE,
    SHIFT,
    SRC,
    VARIANCE,
    Primitive,
    attributes,
    cached,
    compute,
    described,
    type_of,
)

Kernel = Callable[..., Any]

_BACKWARD = 128
# With fewer channels, or other numbers of them, it has no optimized code, and NumPy is faster.
_FEWEST_CHANNELS, _MULTIPLE = 8, 4
# In half precision it processes this many channels at a time, or one by one.
_LANES = 16
_MOST_IMAGES = 64
_WITH_GIVEN_MOMENTS, _WITH_SCALE, _WITH_SHIFT = 1, 2, 4


def _by_way_of_float32(kernel: Kernel) -> Kernel:
    """A kernel of images that computes in float32 where it has no fast half-precision code."""

    @functools.wraps(kernel)
    def run(images: Any, *rest: Any) -> Any:
        if not is_half(images) or (images.shape[-1] % _LANES == 0 and type_of(images)):
            return kernel(images, *rest)
        found = kernel(*[widened(each) for each in (images, *rest)])
        if not isinstance(found, tuple):
            return None if found is None else rounded_to_half(found, images.dtype)
        return rounded_to_half(found[0], images.dtype), *found[1:]

    return run


@_by_way_of_float32
def batch_norm(images: Any, scale: Any, offset: Any, epsilon: float, layout: Any) -> Any:
    """Rows x channels normalized over the rows; with the batch's means and variances."""
    kind = _type_of(images, vectors=(scale, offset))
    if kind is None:
        return None
    key = images.shape, epsilon, kind
    primitive = cached(("normalize", key), lambda library: _forward(library, *key))
    if primitive is None:
        return None
    result = empty(images.shape, images.dtype)
    mean, variance = np.empty_like(scale), np.empty_like(scale)
    arrays = (images, mean, variance, scale, offset, result)
    primitive.run(*arrays)
    return result, mean, variance


@_by_way_of_float32
def batch_norm_backprop(
    gradients: Any, images: Any, scale: Any, mean: Any, variance: Any, epsilon: float, layout: Any,
    in_place: bool = False,
) -> Any:  # fmt: skip
    """The gradients of `batch_norm` with respect to the images, the scale and the offset.

    The first may be written into the upstream gradients.
    """
    kind = _type_of(gradients, images, vectors=(scale, mean, variance))
    if kind is None:
        return None
    key = images.shape, epsilon, kind
    primitive = cached(("normalize back", key), lambda library: _backward(library, *key))
    if primitive is None:
        return None
    to_images = gradients if in_place else empty(images.shape, images.dtype)
    to_scale, to_offset = np.empty_like(scale), np.empty_like(scale)
    arrays = (images, mean, variance, scale, gradients, to_images, to_scale, to_offset)
    primitive.run(*arrays)
    return to_images, to_scale, to_offset


@_by_way_of_float32
def scale_channels(rows: Any, center: Any, factor: Any, shift: Any) -> Any:
    """factor (x - center) + shift, with one element per channel; the first two may be None."""
    zeros, ones = _zeros_and_ones(rows.shape[1])
    center, factor = zeros if center is None else center, ones if factor is None else factor
    kind = _type_of(rows, vectors=(center, factor, shift))
    if kind is None:
        return None
    result = empty(rows.shape, rows.dtype)
    found = compute(
        ("scale", rows.shape, kind),
        lambda library: _scaling(library, rows.shape, kind),
        rows.size, rows, center, ones, factor, shift, result,
    )  # fmt: skip
    return result if found else None


@functools.lru_cache(maxsize=64)
def _zeros_and_ones(count: int) -> tuple[Any, Any]:
    return np.zeros(count, np.float32), np.ones(count, np.float32)


def bias_add(value: Any, bias: Any) -> Any:
    """value + bias, with one element per channel, channels last."""
    # Another memory layout would be copied first.
    if value.dtype.char == "d" or not value.flags.c_contiguous:
        return None
    bias = np.ascontiguousarray(bias, np.float32)
    result = scale_channels(value.reshape(-1, bias.size), None, None, bias)
    return None if result is None else result.reshape(value.shape)


half_bias_add = bias_add


def layer_norm(images: Any, scale: Any, offset: Any, epsilon: float, layout: Any) -> Any:
    """One image's channels x pixels normalized over the pixels; with their means and variances."""
    if not _are_rows(images, scale, offset):
        return None
    shape = images.shape[1:]
    result = empty(images.shape, images.dtype)
    mean, variance = np.empty_like(scale), np.empty_like(scale)
    found = compute(
        ("rows", shape, epsilon),
        lambda library: _forward_rows(library, shape, epsilon),
        images.size, images, mean, variance, result,
    )  # fmt: skip
    if not found:
        return None
    # Its scale would be per pixel, not per channel.
    if not (scale == 1).all():
        result *= layout.spread(scale)
    if offset.any():
        result += layout.spread(offset)
    return result, mean, variance


def _are_rows(*arrays: Any) -> bool:
    return all(each.dtype == np.float32 and each.flags.c_contiguous for each in arrays)


def _row_data(library: Library, shape: tuple[int, int]) -> tuple[Any, Any]:
    """The descriptors of rows, and of one element per row."""
    return described(library, shape, (shape[1], 1)), described(library, shape[:1], (1,))


def _forward_rows(library: Library, shape: tuple[int, int], epsilon: float) -> Primitive:
    rows, column = _row_data(library, shape)
    descriptor = library.made(
        "dnnl_layer_normalization_forward_primitive_desc_create",
        library.engine, FORWARD_TRAINING, rows, rows, column, ctypes.c_float(epsilon), 0,
        attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {SRC: rows, MEAN: column, VARIANCE: column, DST: rows})


def _type_of(*images: Any, vectors: Sequence[Any]) -> int | None:
    """The data type of images; None where oneDNN does not support it, or is slower."""
    channels = images[0].shape[-1]
    if channels < _FEWEST_CHANNELS or channels % _MULTIPLE or not _are_rows(*vectors):
        return None
    dtype = images[0].dtype
    if not all(each.dtype == dtype and each.flags.c_contiguous for each in images):
        return None
    return type_of(images[0])


def _data(library: Library, shape: tuple[int, int], kind: int) -> tuple[Any, Any]:
    """The descriptors of rows x channels, as images of some pixels, and of a vector.

    oneDNN loops over the pixels and parallelizes over the images: images of one pixel take up to
    three times as long, a single image even longer.
    """
    rows, channels = shape
    images = next((count for count in range(_MOST_IMAGES, 1, -1) if rows % count == 0), rows)
    pixels = rows // images
    strides = (pixels * channels, 1, channels, channels)
    whole = described(library, (images, channels, pixels, 1), strides, kind)
    return whole, described(library, (channels,), (1,))


def _normalizing(
    library: Library, shape: tuple[int, int], epsilon: float, kind: int, purpose: int, flags: int
) -> Primitive:
    images, vector = _data(library, shape, kind)
    vectors = dict.fromkeys((MEAN, VARIANCE, SCALE, SHIFT), vector)
    descriptor = library.made(
        "dnnl_batch_normalization_forward_primitive_desc_create",
        library.engine, purpose, images, images, ctypes.c_float(epsilon), flags,
        attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {SRC: images, **vectors, DST: images})


def _scaling(library: Library, shape: tuple[int, int], kind: int) -> Primitive:
    flags = _WITH_GIVEN_MOMENTS | _WITH_SCALE | _WITH_SHIFT
    return _normalizing(library, shape, 0.0, kind, FORWARD_INFERENCE, flags)


def _forward(library: Library, shape: tuple[int, int], epsilon: float, kind: int) -> Primitive:
    flags = _WITH_SCALE | _WITH_SHIFT
    return _normalizing(library, shape, epsilon, kind, FORWARD_TRAINING, flags)


def _backward(library: Library, shape: tuple[int, int], epsilon: float, kind: int) -> Primitive:
    images, vector = _data(library, shape, kind)
    forward = _forward(library, shape, epsilon, kind)
    descriptor = library.made(
        "dnnl_batch_normalization_backward_primitive_desc_create",
        library.engine, _BACKWARD, images, images, images, ctypes.c_float(epsilon),
        _WITH_SCALE | _WITH_SHIFT, forward.descriptor, attributes(library),
    )  # fmt: skip
    return Primitive(
        library,
        descriptor,
        {
            SRC: images, MEAN: vector, VARIANCE: vector, SCALE: vector, DIFF_DST: images,
            DIFF_SRC: images, DIFF_SCALE: vector, DIFF_SHIFT: vector,
        },
    )  # fmt: skip
