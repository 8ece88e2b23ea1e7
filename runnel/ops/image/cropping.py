"""Cropping and padding images."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import float32, float64, int32
from ...core.tensor import SymbolicTensor, Tensor
from ..array.arguments import sizes_tensor
from ..array.joining import stack, unstack
from ..array.padding import pad
from ..array.shaping import expand_dims, reshape, shape, squeeze
from ..array.slicing import slice as slice_
from ..math.arithmetic import maximum, minimum
from ..math.casting import cast
from ..math.rounding import floor
from .orientation import images_of, require
from .resizing import ResizeMethod, resize


def batch_of(image) -> tuple[Tensor, bool]:
    """Images as a batch, and whether the argument was a single image."""
    image = convert_to_tensor(image)
    rank = image.shape.rank
    if rank == 3:
        return expand_dims(image, 0), True
    if rank is None:
        # As in the original, a tensor of unknown rank is treated as one image.
        image = expand_dims(image, 0)
        image.set_shape([None] * 4)
        return image, True
    if rank != 4:
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    return image, False


def _unbatched(images, single):
    return squeeze(images, [0]) if single else images


def _sizes_of(images):
    """Height and width: integers where they are static, tensors where not."""
    known = images.shape
    if known[1] is not None and known[2] is not None:
        return known[1], known[2]
    sizes = unstack(shape(images), 4)
    return tuple(known[i] if known[i] is not None else sizes[i] for i in (1, 2))


def central_crop(image, central_fraction):
    """The middle of an image: `central_fraction` of its height and of its width.

    >>> tf.image.central_crop(tf.ones([4, 6, 1]), 0.5).shape
    TensorShape([2, 4, 1])
    """
    image = convert_to_tensor(image)
    fraction = central_fraction
    if isinstance(fraction, Tensor):
        known = constant_value(fraction)
        fraction = fraction if known is None else float(known)
    message = "central_fraction must be within (0, 1]"
    if isinstance(fraction, Tensor):
        require(fraction > 0, message)
        require(fraction <= 1, message)
    elif not 0 < fraction <= 1:
        raise ValueError(f"{message}, got {fraction}")
    elif fraction == 1.0:
        return image
    rank = image.shape.rank
    if rank not in (None, 3, 4):
        raise ValueError(
            f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}."
        )
    image = images_of(image)
    if rank is None:
        raise ValueError("central_crop needs an image whose rank is known: 3 or 4.")
    begin, count = [0] * rank, [-1] * rank
    sizes = None
    for axis in (rank - 3, rank - 2):
        size = image.shape[axis]
        if size is None or isinstance(fraction, Tensor):
            sizes = shape(image) if sizes is None else sizes
            whole = cast(sizes[axis], float64)
            part = cast(convert_to_tensor(fraction, float32), float64)
            begin[axis] = cast((whole - whole * part) / 2, int32)
            count[axis] = sizes[axis] - begin[axis] * 2
        else:
            begin[axis] = int((size - size * fraction) / 2)
            count[axis] = size - begin[axis] * 2
    return slice_(image, _vector(begin), _vector(count))


def _vector(values):
    if any(isinstance(value, Tensor) for value in values):
        return stack(values)
    return sizes_tensor(list(map(int, values)))


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The part of an image at an offset from its upper left corner.

    >>> tf.image.crop_to_bounding_box(tf.ones([5, 5, 3]), 1, 1, 2, 3).shape
    TensorShape([2, 3, 3])
    """
    images, single = batch_of(image)
    images = images_of(images)
    height, width = _sizes_of(images)
    require(offset_width >= 0, "offset_width must be >= 0.")
    require(offset_height >= 0, "offset_height must be >= 0.")
    require(target_width > 0, "target_width must be > 0.")
    require(target_height > 0, "target_height must be > 0.")
    require(width >= target_width + offset_width, "width must be >= target + offset.")
    require(height >= target_height + offset_height, "height must be >= target + offset.")
    begin = _vector([0, offset_height, offset_width, 0])
    size = _vector([-1, target_height, target_width, -1])
    return _unbatched(slice_(images, begin, size), single)


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """An image at an offset, padded with zeros.

    >>> tf.image.pad_to_bounding_box(tf.ones([1, 1, 1]), 0, 1, 1, 3).numpy().ravel().tolist()
    [0.0, 1.0, 0.0]
    """
    images, single = batch_of(image)
    height, width = _sizes_of(images)
    after_width = target_width - offset_width - width
    after_height = target_height - offset_height - height
    images = images_of(images)
    require(offset_height >= 0, "offset_height must be >= 0")
    require(offset_width >= 0, "offset_width must be >= 0")
    require(after_width >= 0, "width must be <= target - offset")
    require(after_height >= 0, "height must be <= target - offset")
    sides = [0, 0, offset_height, after_height, offset_width, after_width, 0, 0]
    padded = pad(images, reshape(_vector(sides), [4, 2]))
    if isinstance(padded, SymbolicTensor):
        known = [size if isinstance(size, int) else None for size in (target_height, target_width)]
        padded.set_shape([images.shape[0], *known, images.shape[3]])
    return _unbatched(padded, single)


def _least(x, y):
    return minimum(x, y) if isinstance(x, Tensor) or isinstance(y, Tensor) else min(x, y)


def _most(x, y):
    return maximum(x, y) if isinstance(x, Tensor) or isinstance(y, Tensor) else max(x, y)


def resize_with_crop_or_pad(image, target_height, target_width):
    """An image cropped or padded to a size, evenly on both sides.

    >>> tf.image.resize_with_crop_or_pad(tf.ones([5, 2, 1]), 3, 4).shape
    TensorShape([3, 4, 1])
    """
    images, single = batch_of(image)
    images = images_of(images)
    require(target_width > 0, "target_width must be > 0.")
    require(target_height > 0, "target_height must be > 0.")
    height, width = _sizes_of(images)
    spare_width, spare_height = target_width - width, target_height - height
    cut = crop_to_bounding_box(
        images,
        _most(-spare_height // 2, 0),
        _most(-spare_width // 2, 0),
        _least(target_height, height),
        _least(target_width, width),
    )
    padded = pad_to_bounding_box(
        cut, _most(spare_height // 2, 0), _most(spare_width // 2, 0), target_height, target_width
    )
    return _unbatched(padded, single)


def resize_with_pad(
    image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False
):
    """An image resized to fit into a size with its aspect ratio preserved, and padded to that size.

    >>> tf.image.resize_with_pad(tf.ones([2, 4, 1]), 4, 4).numpy()[:, 0, 0].tolist()
    [0.0, 1.0, 1.0, 0.0]
    """
    images, single = batch_of(image)
    images = images_of(images)
    require(target_width > 0, "target_width must be > 0.")
    require(target_height > 0, "target_height must be > 0.")
    height, width = (_float(size) for size in _sizes_of(images))
    high, wide = _float(target_height), _float(target_width)
    ratio = _most(width / wide, height / high)
    resized_height, resized_width = height / ratio, width / ratio
    size = [_floor(resized_height), _floor(resized_width)]
    above = _most(0, _floor((high - resized_height) / 2))
    before = _most(0, _floor((wide - resized_width) / 2))
    resized = resize(images, _vector(size), method, antialias=antialias)
    padded = pad_to_bounding_box(resized, above, before, target_height, target_width)
    return _unbatched(padded, single)


def _float(size):
    return cast(size, float32) if isinstance(size, Tensor) else np.float32(size)


def _floor(value):
    return cast(floor(value), int32) if isinstance(value, Tensor) else int(np.floor(value))
