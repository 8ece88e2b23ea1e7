"""Convolutions in one to three dimensions and their gradients, channels last.

Filters are reordered into the layout that oneDNN chooses; a reorder costs little beside the
convolution, and with TensorFlow's layout the convolution takes twice as long.

oneDNN skips the padding, TensorFlow multiplies by it: an infinite or NaN filter element gives NaNs
there. Images whose filter has some are computed by NumPy, unless all elements are NaN, as after a
diverged training: then all results are NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...runtime.buffers import empty
from ...runtime.engine_selection import pool
from ...runtime.epilogue import Epilogue
from . import post_ops
from .half_precision import in_float32_otherwise
from .library import Library, Unsupported
from .matmul import matmul
from .primitive import (
    DIFF_DST,
    DIFF_SRC,
    DIFF_WEIGHTS,
    DST,
    FLOAT32,
    FORWARD_TRAINING,
    SRC,
    WEIGHTS,
    Primitive,
    attributes,
    cached,
    described,
    dimensions,
    type_of,
)
from .reorder import Layout, filters as kept, is_regular, reordered
from .windows import Windows, windows_of

_DIRECT = 1
# In elements. The largest im2col buffer.
_MOST_COLUMNS = 1 << 22


class Case:
    """A convolution: its windows, the channels of its filters, the dtype.

    Equal cases are one object, by which primitives are found: comparing the numbers takes longer.
    """

    def __init__(
        self, windows: Windows, channels: int, depth: int, features: int, kind: int
    ) -> None:
        self.windows = windows
        self.depth = depth
        self.features = features
        self.kind = kind
        self.groups = channels // depth
        self.images = (*windows.images, channels)
        self.filters = (*windows.kernel, depth, features)
        # The shape of the output.
        self.results = (windows.images[0], *windows.output, features)
        # The dimensions and strides of the filters, in oneDNN's order.
        self.layout: Layout = (*_numbered(self.filters, self.groups), kind)
        self.is_padded = windows.is_padded
        # Whether windows of more than one pixel move along the last axis alone.
        sizes = {*windows.images[1:-1], *windows.kernel[:-1], *windows.output[:-1]}
        moves_once = sizes <= {1} and not any(windows.low[:-1])
        self.is_sequence = self.groups == 1 and windows.kernel[-1] > 1 and moves_once

    @property
    def channels(self) -> int:
        return self.images[-1]


@in_float32_otherwise
def convolve(images: Any, filters: Any, axes: Sequence[Any], finish: Epilogue | None = None) -> Any:
    """Correlate images [batch, *space, depth] with filters [*kernel, depth / groups, count]."""
    case = _case(images, images.shape, filters.shape, axes)
    if case is None:
        return None
    # Half-precision results are rounded before the epilogue, as without an engine.
    in_passing = case.kind == FLOAT32
    vectors = post_ops.vectors_of(finish, case.features) if in_passing else ()
    key = "convolve", case, len(vectors)
    primitive = cached(key, lambda library: _forward(library, case, len(vectors)))
    if primitive is None or (case.is_padded and not kept.are_regular(filters)):
        return None
    images = np.ascontiguousarray(images)
    weights = kept.reordered(filters, case.layout, primitive, WEIGHTS)
    output = empty(case.results, images.dtype)
    primitive.run(images, weights, output, *vectors)
    if finish is None:
        return output
    return finish.activate(output) if in_passing else finish.apply(output)


@in_float32_otherwise
def convolve_backprop_images(
    gradients: Any, filters: Any, image_shape: tuple[int, ...], axes: Sequence[Any]
) -> Any:
    """The gradient of `convolve` with respect to its images, given the upstream gradient."""
    case = _case(gradients, image_shape, filters.shape, axes)
    if case is None:
        return None
    primitive = cached(("by images", case), lambda library: _by_images(library, case))
    if primitive is None or not kept.are_regular(filters):
        return None
    gradients = np.ascontiguousarray(gradients)
    weights = kept.reordered(filters, case.layout, primitive, WEIGHTS)
    output = empty(image_shape, gradients.dtype)
    primitive.run(output, weights, gradients)
    return output


@in_float32_otherwise
def convolve_backprop_filters(
    images: Any, gradients: Any, filter_shape: tuple[int, ...], axes: Sequence[Any]
) -> Any:
    """The gradient of `convolve` with respect to its filters, given the upstream gradient."""
    case = _case(images, images.shape, filter_shape, axes)
    if case is None:
        return None
    if case.is_sequence and case.kind == FLOAT32:
        found = _by_columns(images, gradients, case)
        if found is not None:
            return found
    primitive = cached(("by filters", case), lambda library: _by_filters(library, case))
    if primitive is None:
        return None
    images, gradients = np.ascontiguousarray(images), np.ascontiguousarray(gradients)
    weights = empty((primitive.size(DIFF_WEIGHTS) // images.itemsize,), images.dtype)
    primitive.run(images, weights, gradients)
    output = empty(filter_shape, images.dtype)
    output = reordered(weights, case.layout, primitive, DIFF_WEIGHTS, output)
    return None if case.is_padded and not is_regular(output) else output


def _by_columns(images: Any, gradients: Any, case: Case) -> Any:
    """The same for sequences as one GEMM of im2col columns and upstream gradients."""
    windows = case.windows
    batch, length = windows.images[0], windows.images[-1]
    kernel, output, low = windows.kernel[-1], windows.output[-1], windows.low[-1]
    images = images.reshape(batch, length, case.channels)
    gradients = gradients.reshape(batch, output, case.features)
    total: Any = None
    pool.give_to_engine()
    step = max(1, _MOST_COLUMNS // (output * kernel * case.channels))
    for start in range(0, batch, step):
        part = images[start : start + step]
        if windows.is_padded:
            part = np.pad(part, ((0, 0), (low, windows.high[-1]), (0, 0)))
        columns = np.empty((len(part), output, kernel, case.channels), np.float32)
        for tap in range(kernel):
            first, stride = tap * windows.dilations[-1], windows.strides[-1]
            columns[:, :, tap] = part[:, first : first + (output - 1) * stride + 1 : stride]
        rows = gradients[start : start + step].reshape(-1, case.features)
        found = matmul(columns.reshape(len(rows), -1).T, rows)
        if found is None:
            return None
        total = found if total is None else np.add(total, found, out=total)
    return total.reshape(case.filters)


def convolve_depthwise(
    images: Any, filters: Any, axes: Sequence[Any], finish: Epilogue | None = None
) -> Any:
    """Correlate each channel with its own filters [*kernel, depth, multiplier]."""
    return convolve(_repeated(images, filters.shape[-1]), _grouped(filters), axes, finish)


def backprop_depthwise_images(
    gradients: Any, filters: Any, image_shape: tuple[int, ...], axes: Sequence[Any]
) -> Any:
    """The gradient of `convolve_depthwise` with respect to its images."""
    *space, depth = image_shape
    multiplier = filters.shape[-1]
    repeated = (*space, depth * multiplier)
    found = convolve_backprop_images(gradients, _grouped(filters), repeated, axes)
    if found is None or multiplier == 1:
        return found
    parts = [found[..., place::multiplier] for place in range(multiplier)]
    return sum(parts[1:], start=parts[0])


def backprop_depthwise_filters(
    images: Any, gradients: Any, filter_shape: tuple[int, ...], axes: Sequence[Any]
) -> Any:
    """The gradient of `convolve_depthwise` with respect to its filters."""
    *kernel, depth, multiplier = filter_shape
    images, shape = _repeated(images, multiplier), (*kernel, 1, depth * multiplier)
    found = convolve_backprop_filters(images, gradients, shape, axes)
    return None if found is None else found.reshape(filter_shape)


def _repeated(images: Any, multiplier: int) -> Any:
    """The channels repeated for each of their filters: oneDNN is slow with several filters per
    channel.
    """
    return images if multiplier == 1 else np.repeat(images, multiplier, axis=-1)


def _grouped(filters: Any) -> Any:
    """Depthwise filters as filters of groups with one channel."""
    return filters.reshape(*filters.shape[:-2], 1, -1)


def _case(
    array: Any, images: Sequence[int], filters: Sequence[int], axes: Sequence[Any]
) -> Case | None:
    """The case of these shapes and of the dtype of an array."""
    kind = type_of(array)
    return None if kind is None else _known_case(tuple(images), tuple(filters), tuple(axes), kind)


@lru_cache(maxsize=4096)
def _known_case(
    images: tuple[int, ...], filters: tuple[int, ...], axes: tuple[Any, ...], kind: int
) -> Case | None:
    *kernel, depth, count = filters
    windows = windows_of(images, kernel, axes)
    if windows is None or not depth or not count:
        return None
    return Case(windows, images[-1], depth, count, kind)


def channels_last(library: Library, shape: Sequence[int], kind: int = FLOAT32) -> Any:
    """The descriptor of images [batch, *space, depth], which oneDNN orders batch, depth, space."""
    strides = _strides(shape)
    order = (0, len(shape) - 1, *range(1, len(shape) - 1))
    return described(library, *(tuple(each[i] for i in order) for each in (shape, strides)), kind)


def _numbered(shape: Sequence[int], groups: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dimensions and strides of filters [*kernel, depth, count], in oneDNN's order."""
    *kernel, depth, count = shape
    *steps, by_depth, by_count = _strides(shape)
    if groups == 1:
        return (count, depth, *kernel), (by_count, by_depth, *steps)
    share = count // groups
    return (groups, share, depth, *kernel), (share * by_count, by_count, by_depth, *steps)


def _strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[place + 1 :]) for place in range(len(shape))]


def _windows(case: Case) -> list[Any]:
    """Strides, dilations (counted from 0) and paddings."""
    windows = case.windows
    dilations = [each - 1 for each in windows.dilations]
    return [dimensions(each) for each in (windows.strides, dilations, windows.low, windows.high)]


def _descriptors(library: Library, case: Case) -> tuple[Any, Any, Any]:
    """The descriptors of the images, of filters in any layout, and of the output."""
    kind = case.kind
    return (
        channels_last(library, case.images, kind),
        described(library, case.layout[0], None, kind),
        channels_last(library, case.results, kind),
    )


def _forward(library: Library, case: Case, epilogue_post_ops: int = 0) -> Primitive:
    """The primitive, with this many vectors in its epilogue."""
    images, filters, results = _descriptors(library, case)
    attrs = attributes(library)
    vectors: dict[int, Any] = {}
    if epilogue_post_ops:
        channels, rank = case.features, len(case.results)
        attrs, vectors = post_ops.epilogue_post_ops(library, epilogue_post_ops, channels, rank)
    descriptor = library.made(
        "dnnl_convolution_forward_primitive_desc_create",
        library.engine, FORWARD_TRAINING, _DIRECT, images, filters, None, results,
        *_windows(case), attrs,
    )  # fmt: skip
    _require_fast(library, case, descriptor)
    return Primitive(library, descriptor, {SRC: images, WEIGHTS: None, DST: results, **vectors})


def _require_fast(library: Library, case: Case, descriptor: Any) -> None:
    """Unsupported where oneDNN would run one GEMM per channel: NumPy is ten times as fast.

    In half precision also where it has its reference code only.
    """
    name = library.implementation(descriptor)
    by_channel = case.depth == 1 and case.groups > 1
    slow = "gemm" in name if case.kind == FLOAT32 else "dw" not in name
    if (by_channel and slow) or (case.kind != FLOAT32 and name.startswith("ref")):
        library.destroy("dnnl_primitive_desc_destroy", descriptor)
        raise Unsupported(f"{name} for such images")


def _by_images(library: Library, case: Case) -> Primitive:
    images, filters, results = _descriptors(library, case)
    forward = _forward(library, case)
    descriptor = library.made(
        "dnnl_convolution_backward_data_primitive_desc_create",
        library.engine, _DIRECT, images, filters, results,
        *_windows(case), forward.descriptor, attributes(library),
    )  # fmt: skip
    _require_fast(library, case, descriptor)
    return Primitive(library, descriptor, {DIFF_SRC: images, WEIGHTS: None, DIFF_DST: results})


def _by_filters(library: Library, case: Case) -> Primitive:
    images, filters, results = _descriptors(library, case)
    forward = _forward(library, case)
    descriptor = library.made(
        "dnnl_convolution_backward_weights_primitive_desc_create",
        library.engine, _DIRECT, images, filters, None, results,
        *_windows(case), forward.descriptor, attributes(library),
    )  # fmt: skip
    _require_fast(library, case, descriptor)
    return Primitive(library, descriptor, {SRC: images, DIFF_WEIGHTS: None, DIFF_DST: results})
