"""Flipping, rotating and transposing images."""

from __future__ import annotations

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import int32
from ...core.tensor import Tensor
from ..array import ordering
from ..array.creation import range as range_
from ..array.joining import concat, stack
from ..array.shaping import rank, shape
from ..control_flow import switch_case
from ..debugging import Assert, assert_greater_equal, assert_positive

_HEIGHT, _WIDTH = -3, -2


def images_of(image) -> Tensor:
    """An image or a batch of images as a tensor that is neither flat nor empty."""
    image = convert_to_tensor(image)
    size = image.shape
    if size.rank is None:
        assert_positive(shape(image)[-3:], message="inner 3 dims of 'image.shape' must be > 0.")
        assert_greater_equal(rank(image), 3, message="'image' must be at least three-dimensional.")
        return image
    if size.rank < 3:
        raise ValueError(f"'image' (shape {size}) must be at least three-dimensional.")
    inner = size[-3:]
    if 0 in inner:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {size}")
    if None in inner:
        assert_positive(shape(image)[-3:], message="inner 3 dims of 'image.shape' must be > 0.")
    return image


def require(condition, message: str) -> None:
    """Raise ValueError now if the condition is static, else InvalidArgumentError at run time."""
    if isinstance(condition, Tensor):
        Assert(condition, [message])
    elif not condition:
        raise ValueError(message)


def _three_or_four(image) -> Tensor:
    image = images_of(image)
    if image.shape.rank not in (None, 3, 4):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    return image


def flip_left_right(image):
    """Images flipped horizontally.

    >>> tf.image.flip_left_right([[[1], [2]]]).numpy().ravel().tolist()
    [2, 1]
    """
    return flipped(_three_or_four(image), _WIDTH)


def flip_up_down(image):
    """Images flipped vertically.

    >>> tf.image.flip_up_down([[[1]], [[2]]]).numpy().ravel().tolist()
    [2, 1]
    """
    return flipped(_three_or_four(image), _HEIGHT)


def flipped(image, axis):
    """The image reversed along an axis counted from the last."""
    known = image.shape.rank
    return ordering.reverse(image, [axis if known is None else axis + known])


def transpose(image, name=None):
    """Swap rows and columns.

    >>> tf.image.transpose([[[1], [2]]]).shape
    TensorShape([2, 1, 1])
    """
    return _transposed(_three_or_four(image))


def _transposed(image):
    known = image.shape.rank
    if known is None:
        count = rank(image)
        last = stack([count - 2, count - 3, count - 1])
        return ordering.transpose(image, concat([range_(count - 3), last], 0))
    return ordering.transpose(image, [1, 0, 2] if known == 3 else [0, 2, 1, 3])


def rot90(image, k=1, name=None):
    """The image rotated counter-clockwise by k times 90 degrees.

    >>> tf.image.rot90([[[1], [2]]]).numpy().ravel().tolist()
    [2, 1]
    """
    image = _three_or_four(image)
    k = convert_to_tensor(k, int32)
    k.shape.assert_has_rank(0)
    turns = [
        lambda: image,
        lambda: _transposed(flipped(image, _WIDTH)),
        lambda: flipped(flipped(image, _HEIGHT), _WIDTH),
        lambda: flipped(_transposed(image), _WIDTH),
    ]
    known = constant_value(k)
    return switch_case(k % 4, turns) if known is None else turns[int(known) % 4]()
