"""Batch normalization in training, channels last, and layer normalization."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.buffers import empty
from .library import Library
from .primitive import (
    DIFF_DST,
    DIFF_SCALE,
    DIFF_SHIFT,
    DIFF_SRC,
    DST,
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

_BACKWARD = 128
_FEWEST_CHANNELS = 8
_MOST_IMAGES = 64
_WITH_SCALE, _WITH_SHIFT = 2, 4


def batch_norm(images: Any, scale: Any, offset: Any, epsilon: float, layout: Any) -> Any:
    """Rows x channels normalized over the rows; with the means and variances of the batch."""
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


def batch_norm_backprop(
    gradients: Any, images: Any, scale: Any, mean: Any, variance: Any, epsilon: float, layout: Any,
    in_place: bool = False,
) -> Any:  # fmt: skip
    """The gradients of `batch_norm` by the images, the scale and the offset.

    Those by the images take the place of the gradients given if they may.
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
    # The parameters it would scale by are the pixels', not the channels'.
    if not (scale == 1).all():
        result *= layout.spread(scale)
    if offset.any():
        result += layout.spread(offset)
    return result, mean, variance


def _are_rows(*arrays: Any) -> bool:
    return all(each.dtype == np.float32 and each.flags.c_contiguous for each in arrays)


def _row_data(library: Library, shape: tuple[int, int]) -> tuple[Any, Any]:
    """The descriptors of rows, and of one number for each."""
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
    """The type of the numbers of images; None for what oneDNN does not take, or not as fast."""
    # With fewer channels, oneDNN is many times slower than NumPy at any size.
    if images[0].shape[-1] < _FEWEST_CHANNELS or not _are_rows(*vectors):
        return None
    dtype = images[0].dtype
    if not all(each.dtype == dtype and each.flags.c_contiguous for each in images):
        return None
    return type_of(images[0])


def _data(library: Library, shape: tuple[int, int], kind: int) -> tuple[Any, Any]:
    """The descriptors of rows x channels, as images of some pixels, and of a vector.

    oneDNN has a loop for the pixels and divides the images among its threads: images of one pixel
    take up to three times as long, a single one the more.
    """
    rows, channels = shape
    images = next((count for count in range(_MOST_IMAGES, 1, -1) if rows % count == 0), rows)
    pixels = rows // images
    strides = (pixels * channels, 1, channels, channels)
    whole = described(library, (images, channels, pixels, 1), strides, kind)
    return whole, described(library, (channels,), (1,))


def _descriptor(library: Library, shape: tuple[int, int], epsilon: float, kind: int) -> Any:
    images, _ = _data(library, shape, kind)
    return library.made(
        "dnnl_batch_normalization_forward_primitive_desc_create",
        library.engine, FORWARD_TRAINING, images, images, ctypes.c_float(epsilon),
        _WITH_SCALE | _WITH_SHIFT, attributes(library),
    )  # fmt: skip


def _forward(library: Library, shape: tuple[int, int], epsilon: float, kind: int) -> Primitive:
    images, vector = _data(library, shape, kind)
    vectors = dict.fromkeys((MEAN, VARIANCE, SCALE, SHIFT), vector)
    descriptor = _descriptor(library, shape, epsilon, kind)
    return Primitive(library, descriptor, {SRC: images, **vectors, DST: images})


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
