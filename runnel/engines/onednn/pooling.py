"""Pooling in one to three dimensions and its gradients, channels last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .convolution import channels_last
from .library import Library
from .primitive import (
    DIFF_DST,
    DIFF_SRC,
    DST,
    FORWARD_TRAINING,
    SRC,
    WORKSPACE,
    Primitive,
    attributes,
    cached,
    dimensions,
)
from .windows import Windows, windows_of

_MAXIMUM, _MEAN_INSIDE = 0x1FF, 0x3FF
# With fewer channels, oneDNN is many times slower than NumPy at any size.
_FEWEST_CHANNELS = 8


def average_pool(images: Any, axes: Sequence[Any]) -> Any:
    """The mean under each window, padding not counted."""
    case = windows_of(images.shape, [axis.kernel for axis in axes], axes)
    depth = images.shape[-1]
    if case is None or images.dtype != np.float32 or depth < _FEWEST_CHANNELS:
        return None
    primitive = cached(
        ("mean", case, depth), lambda library: _forward(library, case, depth, _MEAN_INSIDE)
    )
    if primitive is None:
        return None
    output = np.empty((images.shape[0], *case.output, depth), np.float32)
    primitive.run(np.ascontiguousarray(images), output)
    return output


def average_pool_backprop(gradients: Any, image_shape: tuple[int, ...], axes: Sequence[Any]) -> Any:
    """Spread each output's gradient evenly over the inputs that it averaged."""
    case = windows_of(image_shape, [axis.kernel for axis in axes], axes)
    depth = image_shape[-1]
    if case is None or gradients.dtype != np.float32 or depth < _FEWEST_CHANNELS:
        return None
    primitive = cached(
        ("mean back", case, depth), lambda library: _backward(library, case, depth, _MEAN_INSIDE)
    )
    if primitive is None:
        return None
    output = np.empty(image_shape, np.float32)
    gradients = np.ascontiguousarray(gradients)
    primitive.run(output, gradients)
    return output


def max_pool_backprop(
    images: Any, outputs: Any, gradients: Any, axes: Sequence[Any], every_tie: bool = False
) -> Any:
    """Give each output's gradient to the first of its maxima."""
    case = windows_of(images.shape, [axis.kernel for axis in axes], axes)
    depth = images.shape[-1]
    if case is None or every_tie or depth < _FEWEST_CHANNELS:
        return None
    if images.dtype != np.float32 or gradients.dtype != np.float32:
        return None
    forward = cached(("max", case, depth), lambda library: _forward(library, case, depth, _MAXIMUM))
    backward = cached(
        ("max back", case, depth), lambda library: _backward(library, case, depth, _MAXIMUM)
    )
    if forward is None or backward is None:
        return None
    images, gradients = np.ascontiguousarray(images), np.ascontiguousarray(gradients)
    # Where the maxima are only the forward pass says; it is done again for that.
    places = np.empty(forward.size(WORKSPACE), np.uint8)
    forward.run(images, np.empty(outputs.shape, np.float32), places)
    result = np.empty(images.shape, np.float32)
    backward.run(result, gradients, places)
    return result


def _arguments(library: Library, case: Windows, depth: int) -> tuple[Any, Any, list[Any]]:
    images = channels_last(library, (*case.images, depth))
    results = channels_last(library, (case.images[0], *case.output, depth))
    dilations = [each - 1 for each in case.dilations]
    numbers = (case.strides, case.kernel, dilations, case.low, case.high)
    return images, results, [dimensions(each) for each in numbers]


def _descriptor(library: Library, case: Windows, depth: int, algorithm: int) -> Any:
    images, results, windows = _arguments(library, case, depth)
    return library.made(
        "dnnl_pooling_forward_primitive_desc_create",
        library.engine, FORWARD_TRAINING, algorithm, images, results, *windows,
        attributes(library),
    )  # fmt: skip


def _forward(library: Library, case: Windows, depth: int, algorithm: int) -> Primitive:
    images, results, _ = _arguments(library, case, depth)
    arguments: dict[int, Any] = {SRC: images, DST: results}
    if algorithm == _MAXIMUM:
        arguments[WORKSPACE] = None
    return Primitive(library, _descriptor(library, case, depth, algorithm), arguments)


def _backward(library: Library, case: Windows, depth: int, algorithm: int) -> Primitive:
    images, results, windows = _arguments(library, case, depth)
    forward = _forward(library, case, depth, algorithm)
    descriptor = library.made(
        "dnnl_pooling_backward_primitive_desc_create",
        library.engine, algorithm, images, results, *windows, forward.descriptor,
        attributes(library),
    )  # fmt: skip
    arguments: dict[int, Any] = {DIFF_SRC: images, DIFF_DST: results}
    if algorithm == _MAXIMUM:
        arguments[WORKSPACE] = None
    return Primitive(library, descriptor, arguments)
