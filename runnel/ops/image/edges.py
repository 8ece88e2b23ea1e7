"""Differences between neighbouring pixels."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ..array.creation import zeros_like
from ..array.joining import concat
from ..array.padding import pad
from ..array.repeating import tile
from ..array.shaping import reshape, shape
from ..math.elementwise import abs as magnitude
from ..math.reduction import reduce_sum
from ..nn.depthwise import depthwise_conv2d

# The two Sobel filters: vertical, then horizontal differences.
_SOBEL = np.stack([np.outer([-1, 0, 1], [1, 2, 1]), np.outer([1, 2, 1], [-1, 0, 1])], -1).reshape(
    3, 3, 1, 2
)


def image_gradients(image):
    """(dy, dx): every pixel's difference to the one below and to the one on its right.

    >>> dy, dx = tf.image.image_gradients(tf.reshape([1.0, 2.0, 4.0, 8.0], [1, 2, 2, 1]))
    >>> dy.numpy().ravel().tolist(), dx.numpy().ravel().tolist()
    ([3.0, 6.0, 0.0, 0.0], [1.0, 0.0, 4.0, 0.0])
    """
    image = convert_to_tensor(image)
    if image.shape.rank != 4:
        raise ValueError(
            "image_gradients expects a 4D tensor [batch_size, h, w, d], not one of shape "
            f"{image.shape}."
        )
    down = image[:, 1:] - image[:, :-1]
    along = image[:, :, 1:] - image[:, :, :-1]
    down = concat([down, zeros_like(image[:, :1])], 1)
    return down, concat([along, zeros_like(image[:, :, :1])], 2)


def sobel_edges(image):
    """The two Sobel edge maps [dy, dx] of images, in a new last axis.

    >>> tf.image.sobel_edges(tf.ones([1, 3, 4, 2])).shape
    TensorShape([1, 3, 4, 2, 2])
    """
    image = convert_to_tensor(image)
    sizes = shape(image)
    kind = image.dtype if image.dtype.is_floating else float32
    filters = convert_to_tensor(_SOBEL.astype(kind.as_numpy_dtype))
    filters = tile(filters, [1, 1, sizes[-1], 1])
    padded = pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    edges = depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    result = reshape(edges, concat([sizes, [2]], 0))
    result.set_shape(image.shape.concatenate([2]))
    return result


def total_variation(images, name=None):
    """The sum of the absolute differences between neighbouring pixels, for every image.

    >>> tf.image.total_variation([[[1.0], [3.0]], [[2.0], [3.0]]]).numpy()
    np.float32(4.0)
    """
    images = convert_to_tensor(images)
    rank = images.shape.rank
    if rank not in (3, 4):
        raise ValueError(f"'images' must be either 3 or 4-dimensional, got {images.shape}.")
    if rank == 3:
        down, along = images[1:] - images[:-1], images[:, 1:] - images[:, :-1]
    else:
        down, along = images[:, 1:] - images[:, :-1], images[:, :, 1:] - images[:, :, :-1]
    axes = list(range(rank - 3, rank))
    return reduce_sum(magnitude(down), axes) + reduce_sum(magnitude(along), axes)
