"""Convolutions in one to three dimensions and their gradients, channels last.

The filters go in the order oneDNN asks for; reordering them costs little beside the convolution,
and the order that TensorFlow keeps them in makes it half as fast.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .library import Library
from .primitive import (
    DIFF_DST,
    DIFF_SRC,
    DIFF_WEIGHTS,
    DST,
    FORWARD_TRAINING,
    SRC,
    WEIGHTS,
    Primitive,
    address,
    attributes,
    cached,
    described,
    dimensions,
)
from .reorder import reordered

_DIRECT = 1
_MOST_SPACE = 3


class Case(NamedTuple):
    """A convolution's shapes, as TensorFlow has them, and where its windows are."""

    images: tuple[int, ...]
    filters: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    low: tuple[int, ...]
    output: tuple[int, ...]

    @property
    def groups(self) -> int:
        return self.images[-1] // self.filters[-2]

    @property
    def high(self) -> list[int]:
        """The padding after the last pixel that the last window needs."""
        sizes = self.images[1:-1]
        return [
            max(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - size - low)
            for out, stride, kernel, dilation, size, low in zip(
                self.output, self.strides, self.filters, self.dilations, sizes, self.low,
                strict=False,
            )
        ]  # fmt: skip

    @property
    def results(self) -> tuple[int, ...]:
        """The shape of the convolved images."""
        return (self.images[0], *self.output, self.filters[-1])


def convolve(images: Any, filters: Any, axes: Sequence[Any]) -> Any:
    """Correlate images [batch, *space, depth] with filters [*kernel, depth / groups, count]."""
    case = _case(images.shape, filters.shape, axes)
    if case is None or images.dtype != np.float32:
        return None
    primitive = cached(("convolve", case), lambda library: _forward(library, case))
    if primitive is None:
        return None
    images = np.ascontiguousarray(images)
    weights = reordered(filters, _filter_layout(case), primitive, WEIGHTS)
    output = np.empty(case.results, np.float32)
    primitive.run(address(images), address(weights), address(output))
    return output


def convolve_backprop_images(
    gradients: Any, filters: Any, image_shape: tuple[int, ...], axes: Sequence[Any]
) -> Any:
    """The gradient of `convolve` by its images, given the gradients of its output."""
    case = _case(image_shape, filters.shape, axes)
    if case is None or gradients.dtype != np.float32:
        return None
    primitive = cached(("by images", case), lambda library: _by_images(library, case))
    if primitive is None:
        return None
    gradients = np.ascontiguousarray(gradients)
    weights = reordered(filters, _filter_layout(case), primitive, WEIGHTS)
    output = np.empty(image_shape, np.float32)
    primitive.run(address(output), address(weights), address(gradients))
    return output


def convolve_backprop_filters(
    images: Any, gradients: Any, filter_shape: tuple[int, ...], axes: Sequence[Any]
) -> Any:
    """The gradient of `convolve` by its filters, given the gradients of its output."""
    case = _case(images.shape, filter_shape, axes)
    if case is None or images.dtype != np.float32:
        return None
    primitive = cached(("by filters", case), lambda library: _by_filters(library, case))
    if primitive is None:
        return None
    images, gradients = np.ascontiguousarray(images), np.ascontiguousarray(gradients)
    weights = np.empty(primitive.size(DIFF_WEIGHTS) // 4, np.float32)
    primitive.run(address(images), address(weights), address(gradients))
    output = np.empty(filter_shape, np.float32)
    return reordered(weights, _filter_layout(case), primitive, DIFF_WEIGHTS, output)


def _case(images: Sequence[int], filters: Sequence[int], axes: Sequence[Any]) -> Case | None:
    if len(axes) > _MOST_SPACE or not all((*images, *filters)):
        return None
    case = Case(
        tuple(images),
        tuple(filters),
        tuple(axis.stride for axis in axes),
        tuple(axis.dilation for axis in axes),
        tuple(axis.low for axis in axes),
        tuple(axis.output for axis in axes),
    )
    return case if all(case.output) and min(case.low) >= 0 else None


def _channels_last(library: Library, shape: Sequence[int]) -> Any:
    """The descriptor of images [batch, *space, depth], which oneDNN numbers batch, depth, space."""
    strides = _strides(shape)
    order = (0, len(shape) - 1, *range(1, len(shape) - 1))
    return described(library, *(tuple(each[i] for i in order) for each in (shape, strides)))


def _filter_layout(case: Case) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dimensions and strides of filters [*kernel, depth, count], in oneDNN's numbering."""
    *kernel, depth, count = case.filters
    *steps, by_depth, by_count = _strides(case.filters)
    groups = case.groups
    if groups == 1:
        return (count, depth, *kernel), (by_count, by_depth, *steps)
    share = count // groups
    return (groups, share, depth, *kernel), (share * by_count, by_count, by_depth, *steps)


def _strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[place + 1 :]) for place in range(len(shape))]


def _windows(case: Case) -> list[Any]:
    """Strides, dilations (counted from 0) and paddings."""
    dilations = [each - 1 for each in case.dilations]
    return [dimensions(each) for each in (case.strides, dilations, case.low, case.high)]


def _forward(library: Library, case: Case) -> Primitive:
    images, results = _channels_last(library, case.images), _channels_last(library, case.results)
    filters = described(library, _filter_layout(case)[0], None)
    descriptor = library.made(
        "dnnl_convolution_forward_primitive_desc_create",
        library.engine, FORWARD_TRAINING, _DIRECT, images, filters, None, results,
        *_windows(case), attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {SRC: images, WEIGHTS: None, DST: results})


def _by_images(library: Library, case: Case) -> Primitive:
    images, results = _channels_last(library, case.images), _channels_last(library, case.results)
    filters = described(library, _filter_layout(case)[0], None)
    descriptor = library.made(
        "dnnl_convolution_backward_data_primitive_desc_create",
        library.engine, _DIRECT, images, filters, results,
        *_windows(case), _forward(library, case).descriptor, attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {DIFF_SRC: images, WEIGHTS: None, DIFF_DST: results})


def _by_filters(library: Library, case: Case) -> Primitive:
    images, results = _channels_last(library, case.images), _channels_last(library, case.results)
    filters = described(library, _filter_layout(case)[0], None)
    descriptor = library.made(
        "dnnl_convolution_backward_weights_primitive_desc_create",
        library.engine, _DIRECT, images, filters, None, results,
        *_windows(case), _forward(library, case).descriptor, attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {SRC: images, DIFF_WEIGHTS: None, DIFF_DST: results})
