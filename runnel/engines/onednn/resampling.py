"""Images of bytes resized, channels last."""

from __future__ import annotations

from typing import Any

import numpy as np

from .convolution import channels_last
from .library import Library
from .primitive import (
    DST,
    FORWARD_INFERENCE,
    SRC,
    Described,
    Primitive,
    attributes,
    cached,
    dimensions,
)

_LINEAR = 0x2FFF1
_BYTE = 6


class _Bytes(Described):
    """The descriptor of images of bytes [batch, height, width, channels]."""

    def __init__(self, library: Library, shape: tuple[int, ...]) -> None:
        batch, height, width, channels = shape
        self._library = library
        self._as_parameter_ = library.made(
            "dnnl_memory_desc_create_with_strides",
            len(shape), dimensions((batch, channels, height, width)), _BYTE,
            dimensions((height * width * channels, 1, width * channels, channels)),
        )  # fmt: skip


def resize_bilinear(images: Any, height: int, width: int) -> Any:
    """Linear interpolation between the centers of pixels that are bytes."""
    # Infinities and NaN, which weights of 0 would spread, are no bytes.
    if images.dtype != np.uint8:
        return None
    shape = images.shape
    result_shape = (shape[0], height, width, shape[3])
    primitive = cached(
        ("linear", shape, result_shape), lambda library: _made(library, shape, result_shape)
    )
    if primitive is None:
        return None
    result = np.empty(result_shape, np.float32)
    primitive.run(np.ascontiguousarray(images), result)
    return result


def _made(library: Library, shape: tuple[int, ...], result_shape: tuple[int, ...]) -> Primitive:
    source, target = _Bytes(library, shape), channels_last(library, result_shape)
    descriptor = library.made(
        "dnnl_resampling_forward_primitive_desc_create",
        library.engine, FORWARD_INFERENCE, _LINEAR, None, source, target, attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {SRC: source, DST: target})
