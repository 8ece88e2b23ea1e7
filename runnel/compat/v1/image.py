"""tf.compat.v1.image: `tf.image` with TensorFlow 1's arguments.

Resizing places pixels at their corners, where TensorFlow 2 uses half-pixel centers.
"""

from __future__ import annotations

import runnel as _tf

from ...ops.image import resizing as _resizing
from .older import either as _either

# Functions of `tf.image` with other arguments in TensorFlow 1, without an older form here.
_OTHERS = frozenset(
    {"extract_glimpse", "sample_distorted_bounding_box"}
)  # fmt: skip
_NAMES = {
    "resize_image_with_crop_or_pad": "resize_with_crop_or_pad",
    "transpose_image": "transpose",
}


def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """Images with the outlines of boxes."""
    return _tf.image.draw_bounding_boxes(images, boxes, colors, name)


def _resized(op, images, size, **places):
    return op(_tf.convert_to_tensor(images), _tf.cast(size, _tf.int32), **places)


def resize_bilinear(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Images resized by bilinear interpolation."""
    return _resized(
        _resizing.ResizeBilinear, images, size,
        align_corners=align_corners, half_pixel_centers=half_pixel_centers,
    )  # fmt: skip


def resize_nearest_neighbor(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Images resized to the nearest neighbours."""
    return _resized(
        _resizing.ResizeNearestNeighbor, images, size,
        align_corners=align_corners, half_pixel_centers=half_pixel_centers,
    )  # fmt: skip


def resize_bicubic(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Images resized by bicubic interpolation."""
    return _resized(
        _resizing.ResizeBicubic, images, size,
        align_corners=align_corners, half_pixel_centers=half_pixel_centers,
    )  # fmt: skip


def resize_area(images, size, align_corners=False, name=None):
    """Images resized by area averaging."""
    return _resized(_resizing.ResizeArea, images, size, align_corners=align_corners)


_METHODS = {
    0: resize_bilinear, "bilinear": resize_bilinear,
    1: resize_nearest_neighbor, "nearest": resize_nearest_neighbor,
    2: resize_bicubic, "bicubic": resize_bicubic,
    3: resize_area, "area": resize_area,
}  # fmt: skip


def resize(images, size, method=0, align_corners=False, preserve_aspect_ratio=False, name=None):
    """One image or a batch resized by one of the methods of `ResizeMethod`."""
    images = _tf.convert_to_tensor(images)
    if images.shape.rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    if method not in _METHODS:
        raise ValueError("Resize method is not implemented: give one of tf.image.ResizeMethod.")
    batch = images if images.shape.rank == 4 else _tf.expand_dims(images, 0)
    known = _tf.get_static_value(_tf.convert_to_tensor(size))
    high, wide = batch.shape.as_list()[1:3]
    if preserve_aspect_ratio:
        size = _kept_ratio(batch, size)
    elif known is not None and list(known) == [high, wide]:
        return images
    resized = _METHODS[method](batch, size, align_corners)
    return resized if images.shape.rank == 4 else _tf.squeeze(resized, [0])


def _kept_ratio(images, size):
    """The largest size within this one that preserves the images' aspect ratio."""
    now = _tf.cast(_tf.shape(images)[1:3], _tf.float32)
    scale = _tf.reduce_min(_tf.cast(size, _tf.float32) / now)
    return _tf.cast(_tf.round(now * scale), _tf.int32)


resize_images = resize


def crop_and_resize(
    image,
    boxes,
    box_ind=None,
    crop_size=None,
    method="bilinear",
    extrapolation_value=0,
    name=None,
    box_indices=None,
):
    """Boxes of images, cropped and resized."""
    places = _either(box_indices, "box_indices", box_ind, "box_ind")
    return _tf.image.crop_and_resize(
        image, boxes, places, crop_size, method, float(extrapolation_value)
    )


def extract_image_patches(
    images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None
):
    """The patch in each window of the images, flattened into a vector of channels."""
    sizes = _either(sizes, "sizes", ksizes, "ksizes")
    return _tf.image.extract_patches(images, sizes, strides, rates, padding)


def __getattr__(name: str) -> object:
    if name in _OTHERS:
        raise AttributeError(f"module 'runnel.compat.v1.image' has no attribute {name!r}")
    return getattr(_tf.image, _NAMES.get(name, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.image), *_NAMES} - _OTHERS)
