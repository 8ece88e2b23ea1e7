"""Resizing images."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_shape, constant_value, convert_to_tensor
from ...core.dtypes import (
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
)
from ...core.op import op
from ...core.shapes import TensorShape
from ...runtime.engine_selection import accelerated
from ..array.shaping import expand_dims, shape, squeeze
from ..math.arithmetic import minimum
from ..math.casting import cast
from ..math.rounding import round as to_nearest
from . import sampling

PIXELS = frozenset({int8, uint8, int16, uint16, int32, int64, float16, float32, float64, bfloat16})
_REAL = frozenset({float16, float32, float64, bfloat16})


class ResizeMethod:
    """The names of the methods of `tf.image.resize`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def _resized(inputs, attrs):
    images, size = inputs[:2]
    if images.shape.rank not in (None, 4):
        raise ValueError(f"input must be 4-dimensional, got the shape {images.shape}")
    if not size.shape.is_compatible_with([2]):
        raise ValueError(f"shape_t must have two elements, got the shape {size.shape}")
    batch, channels = (images.shape[0], images.shape[3]) if images.shape.rank else (None, None)
    new = constant_shape(size) if size.shape.rank else TensorShape(None)
    if new.rank is None:
        new = TensorShape([None, None])
    return TensorShape([batch, *new, channels])


def sizes(images, size) -> tuple[int, int]:
    """The new height and width; validates them and the images."""
    if images.ndim != 4:
        raise ValueError(f"input must be 4-dimensional, got the shape {list(images.shape)}")
    if size.shape != (2,):
        raise ValueError(f"shape_t must have two elements, got the shape {list(size.shape)}")
    height, width = size.tolist()
    if height <= 0 or width <= 0:
        raise ValueError(f"output dimensions must be positive, got {height} x {width}")
    if not images.shape[3]:
        raise ValueError(f"image must have at least one channel, got {list(images.shape)}")
    if not images.shape[1] or not images.shape[2]:
        raise ValueError(f"input image must be of non-zero size, got {list(images.shape)}")
    return height, width


def _check_corners(align_corners, half_pixel_centers):
    if align_corners and half_pixel_centers:
        raise ValueError("If half_pixel_centers is True, align_corners must be False.")


def _floats(images):
    return images if images.dtype == np.float32 else images.astype(np.float32)


@op(
    "ResizeBilinear",
    "images: T, size: int32 -> resized_images: float32",
    T=PIXELS,
    shape=_resized,
    fresh="cast",
)
def ResizeBilinear(images, size, *, align_corners=False, half_pixel_centers=False):
    height, width = sizes(images, size)
    _check_corners(align_corners, half_pixel_centers)
    if half_pixel_centers:
        return _resize_between_centers(images, height, width)
    return _resize_linearly(images, height, width, align_corners, False)


@accelerated("resize_bilinear", 4096)
def _resize_between_centers(images, height, width):
    return _resize_linearly(images, height, width, False, True)


def _resize_linearly(images, height, width, *places):
    rows = sampling.linear_taps(images.shape[1], height, *places)
    columns = sampling.linear_taps(images.shape[2], width, *places, images.shape[3])
    return sampling.interpolate(images, rows, columns)


@ResizeBilinear.gradient
def _(op, grad):
    images = op.inputs[0]
    return (ResizeBilinearGrad(grad, images, **op.attrs) if images.dtype in _REAL else None), None


def _adjoint(matrix, grads, original_image, *places):
    """The gradient with respect to the image of a resizing by matrices along rows and columns."""
    if grads.ndim != 4 or original_image.ndim != 4:
        raise ValueError("The gradient and the image must be 4-dimensional.")
    rows = sampling.adjoint(matrix, original_image.shape[1], grads.shape[1], *places)
    columns = sampling.adjoint(matrix, original_image.shape[2], grads.shape[2], *places)
    result = sampling.multiply(_floats(grads), rows, columns)
    return result.astype(original_image.dtype)


def _like_original(inputs, attrs):
    return inputs[1].shape


@op(
    "ResizeBilinearGrad",
    "grads: float32, original_image: T -> output: T",
    T=_REAL,
    shape=_like_original,
)
def ResizeBilinearGrad(grads, original_image, *, align_corners=False, half_pixel_centers=False):
    places = align_corners, half_pixel_centers
    return _adjoint(sampling.linear_matrix, grads, original_image, *places)


@ResizeBilinearGrad.gradient
def _(op, grad):
    return ResizeBilinear(grad, shape(op.inputs[0])[1:3], **op.attrs), None


@op(
    "ResizeNearestNeighbor",
    "images: T, size: int32 -> resized_images: T",
    T=PIXELS,
    shape=_resized,
)
def ResizeNearestNeighbor(images, size, *, align_corners=False, half_pixel_centers=False):
    height, width = sizes(images, size)
    _check_corners(align_corners, half_pixel_centers)
    if half_pixel_centers:
        return _pick_by_centers(images, height, width)
    return _pick_nearest(images, height, width, align_corners, False)


@accelerated("resize_nearest", 4096)
def _pick_by_centers(images, height, width):
    return _pick_nearest(images, height, width, False, True)


def _pick_nearest(images, height, width, *places):
    batch, high, wide, channels = images.shape
    rows = sampling.nearest_indices(high, height, *places)
    columns = sampling.nearest_indices(wide, width, *places)
    if channels > 1:
        columns = (columns[:, None] * channels + np.arange(channels)).reshape(-1)
    flat = images.reshape(batch, high, wide * channels)
    # The axis that shrinks more goes first, to move less memory.
    if height * wide <= high * width:
        flat = np.take(np.take(flat, rows, 1, mode="clip"), columns, 2, mode="clip")
    else:
        flat = np.take(np.take(flat, columns, 2, mode="clip"), rows, 1, mode="clip")
    return flat.reshape(batch, height, width, channels)


@ResizeNearestNeighbor.gradient
def _(op, grad):
    images = op.inputs[0]
    if images.dtype not in _REAL:
        return None, None
    return ResizeNearestNeighborGrad(grad, shape(images)[1:3], **op.attrs), None


@op(
    "ResizeNearestNeighborGrad",
    "grads: T, size: int32 -> output: T",
    T={uint8, int8, int32, *_REAL},
    shape=_resized,
)
def ResizeNearestNeighborGrad(grads, size, *, align_corners=False, half_pixel_centers=False):
    height, width = sizes(grads, size)
    _check_corners(align_corners, half_pixel_centers)
    if half_pixel_centers:
        return _give_by_centers(grads, height, width)
    return _give_nearest(grads, height, width, align_corners, False)


@accelerated("resize_nearest_backprop", 4096)
def _give_by_centers(grads, height, width):
    return _give_nearest(grads, height, width, False, True)


def _give_nearest(grads, height, width, *places):
    high, wide = grads.shape[1:3]
    rows = sampling.nearest_indices(height, high, *places)
    columns = sampling.nearest_indices(width, wide, *places)
    kind = np.float32 if grads.dtype.itemsize < 4 and grads.dtype.kind not in "iu" else grads.dtype
    return _gather_adjoint(
        _gather_adjoint(grads.astype(kind), rows, 1, height), columns, 2, width
    ).astype(grads.dtype)


def _gather_adjoint(values, indices, axis, size):
    """Segment sums of the slices with equal indices; the indices are sorted."""
    starts = np.nonzero(np.diff(indices, prepend=-1))[0]
    result = np.zeros((*values.shape[:axis], size, *values.shape[axis + 1 :]), values.dtype)
    used = (slice(None),) * axis + (indices[starts],)
    result[used] = np.add.reduceat(values, starts, axis, dtype=values.dtype)
    return result


@ResizeNearestNeighborGrad.gradient
def _(op, grad):
    return ResizeNearestNeighbor(grad, shape(op.inputs[0])[1:3], **op.attrs), None


@op("ResizeBicubic", "images: T, size: int32 -> resized_images: float32", T=PIXELS, shape=_resized)
def ResizeBicubic(images, size, *, align_corners=False, half_pixel_centers=False):
    height, width = sizes(images, size)
    _check_corners(align_corners, half_pixel_centers)
    places = align_corners, half_pixel_centers
    rows = sampling.cubic_matrix(images.shape[1], height, *places)
    columns = sampling.cubic_matrix(images.shape[2], width, *places)
    return sampling.multiply(_floats(images), rows, columns)


@ResizeBicubic.gradient
def _(op, grad):
    images = op.inputs[0]
    if images.dtype not in (float32, float64):
        return None, None
    return ResizeBicubicGrad(grad, images, **op.attrs), None


@op(
    "ResizeBicubicGrad",
    "grads: float32, original_image: T -> output: T",
    T={float32, float64},
    shape=_like_original,
)
def ResizeBicubicGrad(grads, original_image, *, align_corners=False, half_pixel_centers=False):
    places = align_corners, half_pixel_centers
    return _adjoint(sampling.cubic_matrix, grads, original_image, *places)


@ResizeBicubicGrad.gradient
def _(op, grad):
    return ResizeBicubic(grad, shape(op.inputs[0])[1:3], **op.attrs), None


@op("ResizeArea", "images: T, size: int32 -> resized_images: float32", T=PIXELS, shape=_resized)
def ResizeArea(images, size, *, align_corners=False):
    height, width = sizes(images, size)
    rows = sampling.area_matrix(images.shape[1], height, align_corners)
    columns = sampling.area_matrix(images.shape[2], width, align_corners)
    return sampling.multiply(_floats(images), rows, columns)


@ResizeArea.gradient
def _(op, grad):
    raise LookupError("gradient registry has no entry for: ResizeArea")


def _kernels(images, size, scale, translation, kernel_type, antialias):
    """The parameters of the sampling matrices of the rows and of the columns."""
    if kernel_type not in sampling.KERNELS:
        names = ", ".join(sorted(sampling.KERNELS))
        raise ValueError(f"Unrecognized kernel type: {kernel_type}; known are {names}.")
    if scale.shape != (2,) or translation.shape != (2,):
        raise ValueError("scale and translation must have two elements each: rows and columns.")
    if not (scale > 0).all():
        raise ValueError(f"scale must be greater than zero, got {scale.tolist()}")
    return [
        (old, new, by, moved, kernel_type, antialias)
        for old, new, by, moved in zip(
            images[1:3], size, scale.tolist(), translation.tolist(), strict=True
        )
    ]


@op(
    "ScaleAndTranslate",
    "images: T, size: int32, scale: float32, translation: float32 -> resized_images: float32",
    T=PIXELS,
    shape=_resized,
)
def ScaleAndTranslate(images, size, scale, translation, *, kernel_type="lanczos3", antialias=True):
    new = sizes(images, size)
    kernels = _kernels(images.shape, new, scale, translation, kernel_type, antialias)
    return sampling.multiply(_floats(images), *(sampling.kernel_matrix(*each) for each in kernels))


@ScaleAndTranslate.gradient
def _(op, grad):
    images, _, scale, translation = op.inputs
    by_images = None
    if images.dtype in _REAL:
        by_images = ScaleAndTranslateGrad(grad, images, scale, translation, **op.attrs)
    return by_images, None, None, None


@op(
    "ScaleAndTranslateGrad",
    "grads: T, original_image: T, scale: float32, translation: float32 -> output: T",
    T={float32},
    shape=_like_original,
)
def ScaleAndTranslateGrad(
    grads, original_image, scale, translation, *, kernel_type="lanczos3", antialias=True
):
    new = grads.shape[1:3]
    kernels = _kernels(original_image.shape, new, scale, translation, kernel_type, antialias)
    matrices = (sampling.adjoint(sampling.kernel_matrix, *each) for each in kernels)
    return sampling.multiply(grads, *matrices)


@ScaleAndTranslateGrad.gradient
def _(op, grad):
    grads, _, scale, translation = op.inputs
    size = shape(grads)[1:3]
    return ScaleAndTranslate(grad, size, scale, translation, **op.attrs), None, None, None


# The kernels of the methods where the image is antialiased before downscaling.
_SMOOTHED = {"bilinear": "triangle", "bicubic": "keyscubic"}
_KERNELS = {
    **_SMOOTHED,
    "lanczos3": "lanczos3",
    "lanczos5": "lanczos5",
    "gaussian": "gaussian",
    "mitchellcubic": "mitchellcubic",
}
_DIRECT = {"bilinear": ResizeBilinear, "bicubic": ResizeBicubic}


def resize(
    images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False,
    name=None,
):  # fmt: skip
    """Resize images to `size` = (height, width); float32 for all methods but "nearest".

    `antialias` smooths before downscaling; `preserve_aspect_ratio` makes `size` the box that the
    result fits into.

    >>> tf.image.resize([[[1.0], [3.0]]], [1, 4]).numpy().ravel().tolist()
    [1.0, 1.5, 2.5, 3.0]
    """
    images = convert_to_tensor(images)
    rank = images.shape.rank
    if rank is None:
        raise ValueError("'images' contains no shape.")
    if rank not in (3, 4):
        raise ValueError(f"'images' must have either 3 or 4 dimensions, got {images.shape}.")
    if rank == 3:
        images = expand_dims(images, 0)
    result = _resize_batch(images, size, method, preserve_aspect_ratio, antialias)
    return squeeze(result, [0]) if rank == 3 else result


def _resize_batch(images, size, method, preserve_aspect_ratio, antialias):
    try:
        size = convert_to_tensor(size, int32)
    except (TypeError, ValueError):
        raise ValueError(
            f"'size' must be a 1-D int32 Tensor of new_height, new_width, got {size!r}."
        ) from None
    if not size.shape.is_compatible_with([2]):
        raise ValueError(
            f"'size' must be a 1-D Tensor of 2 elements: new_height, new_width; got {size!r}."
        )
    if preserve_aspect_ratio:
        size = _fitting(images, size)
    if method == ResizeMethod.NEAREST_NEIGHBOR:
        return ResizeNearestNeighbor(images, size, half_pixel_centers=True)
    if method == ResizeMethod.AREA:
        return ResizeArea(images, size)
    if method not in _KERNELS:
        known = ", ".join(sorted({*_KERNELS, "nearest", "area"}))
        raise ValueError(f"Resize method is not implemented: {method!r}. Known are {known}.")
    if method in _DIRECT and not antialias:
        return _DIRECT[method](images, size, half_pixel_centers=True)
    scale = cast(size, float32) / cast(shape(images)[1:3], float32)
    nowhere = convert_to_tensor(np.zeros(2, np.float32))
    return ScaleAndTranslate(
        images, size, scale, nowhere, kernel_type=_KERNELS[method], antialias=antialias
    )


def _fitting(images, size):
    """The largest size with the images' aspect ratio within `size`."""
    known = images.shape[1:3]
    box = constant_value(size)
    if known.is_fully_defined() and box is not None:
        old = np.array(tuple(known), np.float32)
        by = np.min(box.astype(np.float32) / old)
        return convert_to_tensor(np.rint(by * old).astype(np.int32))
    old = cast(shape(images)[1:3], float32)
    each = cast(size, float32) / old
    return cast(to_nearest(minimum(each[0], each[1]) * old), int32)
