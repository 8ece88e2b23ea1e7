"""Pooling in one to three dimensions and its gradients, channels last."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...runtime.buffers import empty
from .convolution import channels_last
from .half_precision import in_float32_otherwise
from .library import Library
from .primitive import (
    DIFF_DST,
    DIFF_SRC,
    DST,
    FLOAT32,
    FORWARD_TRAINING,
    SRC,
    WORKSPACE,
    Primitive,
    attributes,
    cached,
    dimensions,
    type_of,
)
from .windows import Windows, windows_of

_MAXIMUM, _MEAN_INSIDE = 0x1FF, 0x3FF
# oneDNN starts its maxima here and does not see lower values.
_LOWEST = np.finfo(np.float32).min
# The same as a bfloat16, followed by minus infinity.
_LOWEST_BITS = np.uint16(0xFF7F)
# With fewer channels oneDNN is many times slower than NumPy at any size.
_FEWEST_CHANNELS = 8


class _Case(NamedTuple):
    """A pooling: its windows, the number of channels, and the dtype."""

    windows: Windows
    depth: int
    kind: int

    @property
    def results(self) -> tuple[int, ...]:
        """The shape of the output."""
        return (self.windows.images[0], *self.windows.output, self.depth)

    @classmethod
    def of(cls, array: Any, image_shape: Sequence[int], axes: Sequence[Any]) -> _Case | None:
        """The case of images of a shape and an array's dtype; None where NumPy is faster."""
        windows = windows_of(image_shape, [axis.kernel for axis in axes], axes)
        depth, kind = image_shape[-1], type_of(array)
        if windows is None or kind is None or depth < _FEWEST_CHANNELS:
            return None
        return cls(windows, depth, kind)


@in_float32_otherwise
def average_pool(images: Any, axes: Sequence[Any]) -> Any:
    """The mean of each window, padding not counted."""
    case = _Case.of(images, images.shape, axes)
    if case is None:
        return None
    primitive = cached(("mean", case), lambda library: _forward(library, case, _MEAN_INSIDE))
    if primitive is None:
        return None
    output = empty(case.results, images.dtype)
    primitive.run(np.ascontiguousarray(images), output)
    return output


@in_float32_otherwise
def average_pool_backprop(gradients: Any, image_shape: tuple[int, ...], axes: Sequence[Any]) -> Any:
    """Distribute each upstream gradient evenly over the inputs of its window."""
    case = _Case.of(gradients, image_shape, axes)
    # With overlapping windows oneDNN would round after each addition.
    if case is None or case.kind != FLOAT32:
        return None
    primitive = cached(("mean back", case), lambda library: _backward(library, case, _MEAN_INSIDE))
    if primitive is None:
        return None
    output = empty(image_shape, gradients.dtype)
    gradients = np.ascontiguousarray(gradients)
    primitive.run(output, gradients)
    return output


class _Pooled(NamedTuple):
    """The indices of the maxima of some images, as oneDNN's gradient takes them."""

    case: _Case
    images: weakref.ref[Any]
    outputs: weakref.ref[Any]
    places: Any


# By the identity of the outputs, as long as these are alive.
_known: dict[int, _Pooled] = {}


def max_pool(images: Any, axes: Sequence[Any], floor: bool = True) -> Any:
    """The maximum of each window; NaN loses against any number, as do values below the lowest."""
    found = _with_places(images, axes)
    if found is None:
        return None
    case, outputs, places = found
    if not (floor and case.kind == FLOAT32) and _has_lowest(outputs):
        # oneDNN does not see lower values: NumPy decides.
        return None
    key = id(outputs)
    reference = weakref.ref(outputs, lambda _: _known.pop(key, None))
    _known[key] = _Pooled(case, weakref.ref(images), reference, places)
    return outputs


def _has_lowest(outputs: Any) -> bool:
    """Whether a maximum is the lowest finite number, or below it."""
    if outputs.itemsize == 2:
        # A half-precision minimum is slow; these two values are adjacent.
        return bool((outputs.view(np.uint16) - _LOWEST_BITS <= 1).any())
    return bool(outputs.min() <= _LOWEST)


def _with_places(images: Any, axes: Sequence[Any]) -> tuple[_Case, Any, Any] | None:
    """The case of images, the maximum of each window, and its index."""
    case = _Case.of(images, images.shape, axes)
    if case is None:
        return None
    forward = cached(("max", case), lambda library: _forward(library, case, _MAXIMUM))
    if forward is None:
        return None
    outputs = empty(case.results, images.dtype)
    places = np.empty(forward.size(WORKSPACE), np.uint8)
    forward.run(np.ascontiguousarray(images), outputs, places)
    return case, outputs, places


def max_pool_backprop(
    images: Any, outputs: Any, gradients: Any, axes: Sequence[Any], every_tie: bool = False
) -> Any:
    """Route each upstream gradient to the first maximum of its window."""
    case = _Case.of(images, images.shape, axes)
    if case is None or every_tie or gradients.dtype != images.dtype:
        return None
    if any(case.windows.low) and _has_lowest(outputs):
        # In a window without larger values the first index may be in the padding.
        return None
    backward = cached(("max back", case), lambda library: _backward(library, case, _MAXIMUM))
    if backward is None:
        return None
    places = _places_in(images, outputs, case)
    if places is None:
        found = _with_places(images, axes)
        if found is None:
            return None
        places = found[2]
    result = empty(images.shape, images.dtype)
    backward.run(result, np.ascontiguousarray(gradients), places)
    return result


def _places_in(images: Any, outputs: Any, case: _Case) -> Any:
    """The indices of the maxima, if the outputs came from `max_pool` of these images."""
    known = _known.get(id(outputs))
    if known is None or known.outputs() is not outputs or known.images() is not images:
        return None
    return known.places if known.case == case else None


def _arguments(library: Library, case: _Case) -> tuple[Any, Any, list[Any]]:
    windows = case.windows
    images = channels_last(library, (*windows.images, case.depth), case.kind)
    results = channels_last(library, case.results, case.kind)
    dilations = [each - 1 for each in windows.dilations]
    numbers = (windows.strides, windows.kernel, dilations, windows.low, windows.high)
    return images, results, [dimensions(each) for each in numbers]


def _descriptor(library: Library, case: _Case, algorithm: int) -> Any:
    images, results, windows = _arguments(library, case)
    return library.made(
        "dnnl_pooling_forward_primitive_desc_create",
        library.engine, FORWARD_TRAINING, algorithm, images, results, *windows,
        attributes(library),
    )  # fmt: skip


def _forward(library: Library, case: _Case, algorithm: int) -> Primitive:
    images, results, _ = _arguments(library, case)
    arguments: dict[int, Any] = {SRC: images, DST: results}
    if algorithm == _MAXIMUM:
        arguments[WORKSPACE] = None
    return Primitive(library, _descriptor(library, case, algorithm), arguments)


def _backward(library: Library, case: _Case, algorithm: int) -> Primitive:
    images, results, windows = _arguments(library, case)
    forward = _forward(library, case, algorithm)
    descriptor = library.made(
        "dnnl_pooling_backward_primitive_desc_create",
        library.engine, algorithm, images, results, *windows, forward.descriptor,
        attributes(library),
    )  # fmt: skip
    arguments: dict[int, Any] = {DIFF_SRC: images, DIFF_DST: results}
    if algorithm == _MAXIMUM:
        arguments[WORKSPACE] = None
    return Primitive(library, descriptor, arguments)
