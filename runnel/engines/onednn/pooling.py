"""Pooling in one to three dimensions and its gradients, channels last."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

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
# Below this oneDNN sees nothing.
_LOWEST = np.finfo(np.float32).min
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


class _Pooled(NamedTuple):
    """Where the maxima of some images are, as oneDNN's gradient is told."""

    case: Windows
    images: weakref.ref[Any]
    outputs: weakref.ref[Any]
    places: Any


# By the identity of the outputs, for as long as these are there.
_known: dict[int, _Pooled] = {}


def max_pool(images: Any, axes: Sequence[Any], floor: bool = True) -> Any:
    """The maximum under each window; NaN loses against any number, as does all below the floor."""
    found = _with_places(images, axes)
    if found is None:
        return None
    case, outputs, places = found
    if not floor and outputs.min() <= _LOWEST:
        # There is nothing below that to oneDNN: what it is only NumPy can tell.
        return None
    key = id(outputs)
    reference = weakref.ref(outputs, lambda _: _known.pop(key, None))
    _known[key] = _Pooled(case, weakref.ref(images), reference, places)
    return outputs


def _with_places(images: Any, axes: Sequence[Any]) -> tuple[Windows, Any, Any] | None:
    """The windows over images, the maximum under each, and where that is."""
    case = windows_of(images.shape, [axis.kernel for axis in axes], axes)
    depth = images.shape[-1]
    if case is None or images.dtype != np.float32 or depth < _FEWEST_CHANNELS:
        return None
    forward = cached(("max", case, depth), lambda library: _forward(library, case, depth, _MAXIMUM))
    if forward is None:
        return None
    outputs = np.empty((images.shape[0], *case.output, depth), np.float32)
    places = np.empty(forward.size(WORKSPACE), np.uint8)
    forward.run(np.ascontiguousarray(images), outputs, places)
    return case, outputs, places


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
    if any(case.low) and outputs.min() <= _LOWEST:
        # The first place of a window with nothing above that may be outside of the images.
        return None
    backward = cached(
        ("max back", case, depth), lambda library: _backward(library, case, depth, _MAXIMUM)
    )
    if backward is None:
        return None
    places = _places_in(images, outputs, case)
    if places is None:
        found = _with_places(images, axes)
        if found is None:
            return None
        places = found[2]
    result = np.empty(images.shape, np.float32)
    backward.run(result, np.ascontiguousarray(gradients), places)
    return result


def _places_in(images: Any, outputs: Any, case: Windows) -> Any:
    """Where the maxima are, if these outputs came from `max_pool` of these images; else None."""
    known = _known.get(id(outputs))
    if known is None or known.outputs() is not outputs or known.images() is not images:
        return None
    return known.places if known.case == case else None


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
