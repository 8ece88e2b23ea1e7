"""Random augmentation of images, drawn from the streams of tf.random or from a given seed."""

from __future__ import annotations

from ...core.context import state
from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ..array.joining import concat
from ..array.selection import where
from ..array.shaping import rank, reshape, shape
from ..array.slicing import slice as slice_
from ..debugging import Assert
from ..math.comparison import equal
from ..math.reduction import reduce_all
from ..math.rounding import round as to_nearest
from ..random import uniform
from ..random_stateless import stateless_uniform
from .adjusting import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from .orientation import flipped, images_of


def _drawn_by(seed):
    """Random numbers from the stream of an operation: `draw(shape, minval, maxval)`."""

    def draw(sizes, minval=0.0, maxval=1.0, **options):
        return uniform(sizes, minval, maxval, seed=seed, **options)

    return draw


def _drawn_from(seed):
    """Random numbers determined by the seed alone: `draw(shape, minval, maxval)`."""

    def draw(sizes, minval=0.0, maxval=1.0, **options):
        return stateless_uniform(sizes, seed, minval, maxval, **options)

    return draw


def _flip(image, axis, draw):
    image = images_of(image)
    known = image.shape.rank
    if known not in (None, 3, 4):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    batch = shape(image)[:-3]
    chance = draw(batch if known != 3 else [])
    if known == 3 and state.graph is None:
        return flipped(image, axis) if chance < 0.5 else image
    # One image is flipped by the lower half of the range, those of a batch by the upper half.
    one, several = chance < 0.5, equal(to_nearest(chance), 1.0)
    chosen = {3: one, 4: several}.get(known)
    if chosen is None:
        chosen = where(equal(rank(image), 3), one, several)
    if known != 3:
        chosen = reshape(chosen, concat([batch, [1, 1, 1]], 0))
    result = where(chosen, flipped(image, axis), image)
    result.set_shape(image.shape)
    return result


def random_flip_left_right(image, seed=None):
    """Flip an image, or each image of a batch, horizontally with probability one half."""
    return _flip(image, -2, _drawn_by(seed))


def random_flip_up_down(image, seed=None):
    """Flip an image, or each image of a batch, vertically with probability one half."""
    return _flip(image, -3, _drawn_by(seed))


def stateless_random_flip_left_right(image, seed):
    """Flip an image, or each image of a batch, horizontally with probability one half.

    >>> image = tf.constant([[[1], [2]]])
    >>> tf.image.stateless_random_flip_left_right(image, seed=(2, 3)).numpy().ravel().tolist()
    [2, 1]
    """
    return _flip(image, -2, _drawn_from(seed))


def stateless_random_flip_up_down(image, seed):
    """Flip an image, or each image of a batch, vertically with probability one half."""
    return _flip(image, -3, _drawn_from(seed))


def _require_delta(max_delta, highest=None):
    if max_delta < 0:
        raise ValueError(f"max_delta must be non-negative, got {max_delta}.")
    if highest is not None and max_delta > highest:
        raise ValueError(f"max_delta must be <= {highest}, got {max_delta}.")


def _require_range(lower, upper):
    if upper <= lower:
        raise ValueError(f"upper must be > lower, got upper={upper} and lower={lower}.")
    if lower < 0:
        raise ValueError(f"lower must be non-negative, got {lower}.")


def random_brightness(image, max_delta, seed=None):
    """Change the brightness by a number drawn from [-max_delta, max_delta)."""
    _require_delta(max_delta)
    return adjust_brightness(image, _drawn_by(seed)([], -max_delta, max_delta))


def stateless_random_brightness(image, max_delta, seed):
    """Change the brightness by a number drawn from [-max_delta, max_delta)."""
    _require_delta(max_delta)
    return adjust_brightness(image, _drawn_from(seed)([], -max_delta, max_delta))


def random_contrast(image, lower, upper, seed=None):
    """Change the contrast by a factor drawn from [lower, upper)."""
    _require_range(lower, upper)
    return adjust_contrast(image, _drawn_by(seed)([], lower, upper))


def stateless_random_contrast(image, lower, upper, seed):
    """Change the contrast by a factor drawn from [lower, upper)."""
    _require_range(lower, upper)
    return adjust_contrast(image, _drawn_from(seed)([], lower, upper))


def random_hue(image, max_delta, seed=None):
    """Rotate the hue by a number drawn from [-max_delta, max_delta); max_delta is at most 0.5."""
    _require_delta(max_delta, 0.5)
    return adjust_hue(image, _drawn_by(seed)([], -max_delta, max_delta))


def stateless_random_hue(image, max_delta, seed):
    """Rotate the hue by a number drawn from [-max_delta, max_delta); max_delta is at most 0.5."""
    _require_delta(max_delta, 0.5)
    return adjust_hue(image, _drawn_from(seed)([], -max_delta, max_delta))


def random_saturation(image, lower, upper, seed=None):
    """Change the saturation by a factor drawn from [lower, upper)."""
    _require_range(lower, upper)
    return adjust_saturation(image, _drawn_by(seed)([], lower, upper))


def stateless_random_saturation(image, lower, upper, seed=None):
    """Change the saturation by a factor drawn from [lower, upper)."""
    _require_range(lower, upper)
    return adjust_saturation(image, _drawn_from(seed)([], lower, upper))


def _crop(value, size, draw):
    value, size = convert_to_tensor(value), convert_to_tensor(size, int32)
    whole = shape(value)
    Assert(
        reduce_all(whole >= size), ["Need value.shape >= size, got ", whole, size], summarize=1000
    )
    limit = whole - size + 1
    offset = draw(shape(whole), 0, size.dtype.max, dtype=size.dtype) % limit
    return slice_(value, offset, size)


def random_crop(value, size, seed=None, name=None):
    """A slice of a tensor at a random offset; `size` has an entry for every axis."""
    return _crop(value, size, _drawn_by(seed))


def stateless_random_crop(value, size, seed, name=None):
    """A slice of a tensor at a random offset; `size` has an entry for every axis.

    >>> tf.image.stateless_random_crop([1, 2, 3, 4, 5], [2], seed=(1, 2)).numpy().tolist()
    [1, 2]
    """
    return _crop(value, size, _drawn_from(seed))
