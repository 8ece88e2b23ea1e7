"""Image resizing, channels last."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...runtime.buffers import aligned, empty
from .convolution import channels_last
from .library import Library
from .primitive import (
    DIFF_DST,
    DIFF_SRC,
    DST,
    FORWARD_TRAINING,
    SRC,
    Described,
    Primitive,
    attributes,
    cached,
    compute,
    dimensions,
)

_NEAREST, _LINEAR = 0x2FFF0, 0x2FFF1
_BYTE = 6
# With fewer channels NumPy is faster at gathering and adding pixels.
_FEWEST_CHANNELS = 16
# With more significant bits in the step from pixel to pixel, positions are rounded differently.
_DIGITS = 8
# The dtypes of results. They are cache-line aligned: oneDNN's stores may reach beyond the end.
_FLOATS = np.dtype(np.float32)

Shape = tuple[int, ...]


class _Bytes(Described):
    """The descriptor of uint8 images [batch, height, width, channels]."""

    def __init__(self, library: Library, shape: Shape) -> None:
        batch, height, width, channels = shape
        self._library = library
        self._as_parameter_ = library.made(
            "dnnl_memory_desc_create_with_strides",
            len(shape), dimensions((batch, channels, height, width)), _BYTE,
            dimensions((height * width * channels, 1, width * channels, channels)),
        )  # fmt: skip


def resize_bilinear(images: Any, height: int, width: int) -> Any:
    """Linear interpolation between the centers of pixels."""
    shape = images.shape
    target = (shape[0], height, width, shape[3])
    if images.dtype == np.float32:
        return _interpolated(images, target)
    if images.dtype != np.uint8:
        return None
    primitive = cached(
        ("linear", shape, target),
        lambda library: _forward(library, _LINEAR, _Bytes(library, shape), target),
    )
    if primitive is None:
        return None
    result = aligned(target, _FLOATS)
    primitive.run(np.ascontiguousarray(images), result)
    return result


def _interpolated(images: Any, target: Shape) -> Any:
    shape = images.shape
    # A single channel is not faster than NumPy's.
    if shape[3] == 1 or not _is_exact(shape, target):
        return None
    # TensorFlow's differences turn infinities into NaN; here they would stay.
    if not np.isfinite(np.maximum.reduce(images, None) - np.minimum.reduce(images, None)):
        return None
    return _resized(_LINEAR, images, target)


def resize_nearest(images: Any, height: int, width: int) -> Any:
    """The pixels nearest to the centers of the new ones."""
    shape = images.shape
    target = (shape[0], height, width, shape[3])
    if images.dtype != np.float32 or shape[3] < _FEWEST_CHANNELS or not _is_exact(shape, target):
        return None
    return _resized(_NEAREST, images, target)


def resize_nearest_backprop(gradients: Any, height: int, width: int) -> Any:
    """The gradient of `resize_nearest` of images with this height and width."""
    target = gradients.shape
    shape = (target[0], height, width, target[3])
    if gradients.dtype != np.float32 or shape[3] < _FEWEST_CHANNELS:
        return None
    # Downscaled, most pixels have no gradient.
    if target[1] < height or target[2] < width or not _is_exact(shape, target):
        return None
    result = empty(shape, gradients.dtype)
    found = compute(
        ("nearest back", shape, target),
        lambda library: _backward(library, shape, target),
        gradients.size, np.ascontiguousarray(gradients), result,
    )  # fmt: skip
    return result if found else None


def _is_exact(shape: Shape, target: Shape) -> bool:
    """Whether a step has few significant bits along both axes."""
    return all(not (old << _DIGITS) % new for old, new in zip(shape[1:3], target[1:3], strict=True))


def _resized(algorithm: int, images: Any, target: Shape) -> Any:
    shape = images.shape
    result = aligned(target, _FLOATS)
    found = compute(
        ("resize", algorithm, shape, target),
        lambda library: _forward(library, algorithm, channels_last(library, shape), target),
        result.size, np.ascontiguousarray(images), result,
    )  # fmt: skip
    return result if found else None


def _forward(library: Library, algorithm: int, source: Any, target_shape: Shape) -> Primitive:
    target = channels_last(library, target_shape)
    descriptor = library.made(
        "dnnl_resampling_forward_primitive_desc_create",
        library.engine, FORWARD_TRAINING, algorithm, None, source, target, attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {SRC: source, DST: target})


def _backward(library: Library, shape: Shape, target_shape: Shape) -> Primitive:
    source, target = channels_last(library, shape), channels_last(library, target_shape)
    forward = _forward(library, _NEAREST, source, target_shape)
    descriptor = library.made(
        "dnnl_resampling_backward_primitive_desc_create",
        library.engine, _NEAREST, None, source, target, forward.descriptor, attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {DIFF_DST: target, DIFF_SRC: source})
