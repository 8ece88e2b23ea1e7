"""Similarity of images: PSNR, SSIM and MS-SSIM.

Wang, Bovik, Sheikh, Simoncelli: "Image quality assessment: from error visibility to structural
similarity", 2004.
"""

from __future__ import annotations

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32
from ..array.creation import range as range_
from ..array.joining import concat, stack
from ..array.padding import pad
from ..array.repeating import tile
from ..array.shaping import reshape, shape
from ..debugging import Assert
from ..math.arithmetic import squared_difference
from ..math.casting import cast
from ..math.elementwise import log, square
from ..math.reduction import reduce_all, reduce_mean, reduce_prod
from ..nn.activation import relu
from ..nn.depthwise import depthwise_conv2d
from ..nn.pooling import avg_pool2d
from ..nn.softmax import softmax
from .colour import convert_image_dtype

_POWER_FACTORS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _require_alike(first, second):
    """ValueError unless the last three dimensions of two batches of images are compatible."""
    for one in (first, second):
        if one.shape.rank is not None and one.shape.rank < 3:
            raise ValueError(f"Image shape must have at least 3 dimensions, got {one.shape}.")
    if None in (first.shape.rank, second.shape.rank):
        return
    if not first.shape[-3:].is_compatible_with(second.shape[-3:]):
        raise ValueError(f"Shapes {first.shape} and {second.shape} are incompatible")
    for x, y in zip(first.shape[:-3][::-1], second.shape[:-3][::-1], strict=False):
        if 1 not in (x, y) and None not in (x, y) and x != y:
            raise ValueError(f"Two images are not compatible: {first.shape} and {second.shape}")


def _as_floats(first, second, max_val):
    """Both images and the largest value of a pixel as float32 in the range [0, 1] of floats."""
    first, second = convert_to_tensor(first), convert_to_tensor(second)
    highest = cast(max_val, first.dtype)
    return tuple(convert_image_dtype(each, float32) for each in (first, second, highest))


def psnr(a, b, max_val, name=None):
    """The peak signal-to-noise ratio in dB: 10 log10(max_val^2 / mean((a - b)^2)).

    >>> tf.image.psnr(tf.zeros([2, 2, 1]), tf.ones([2, 2, 1]), max_val=10.0).numpy().round(4)
    np.float32(20.0)
    """
    a, b, highest = _as_floats(a, b, max_val)
    error = reduce_mean(squared_difference(a, b), [-3, -2, -1])
    ten = log(convert_to_tensor(10.0))
    _require_alike(a, b)
    return 20.0 * log(highest) / ten - (10.0 / ten) * log(error)


def _gaussian_filter(size, sigma):
    """The weights [size, size, 1, 1] of a Gaussian filter; they sum to 1."""
    size, sigma = convert_to_tensor(size), convert_to_tensor(sigma, float32)
    places = cast(range_(size), sigma.dtype) - cast(size - 1, sigma.dtype) / 2.0
    exponents = square(places) * (-0.5 / square(sigma))
    both = reshape(exponents, [1, -1]) + reshape(exponents, [-1, 1])
    return reshape(softmax(reshape(both, [1, -1])), [size, size, 1, 1])


def _similarity(first, second, highest, size, sigma, k1, k2):
    """The maps of SSIM and of its contrast term."""
    for sizes in (shape(first), shape(second)):
        Assert(reduce_all(sizes[-3:-1] >= size), [sizes, size], summarize=8)
    filters = tile(_gaussian_filter(size, sigma), [1, 1, shape(first)[-1], 1])

    def blurred(x):
        sizes = shape(x)
        flat = reshape(x, concat([[-1], sizes[-3:]], 0))
        result = depthwise_conv2d(flat, filters, [1, 1, 1, 1], "VALID")
        return reshape(result, concat([sizes[:-3], shape(result)[1:]], 0))

    c1, c2 = (k1 * highest) ** 2, (k2 * highest) ** 2
    mean_first, mean_second = blurred(first), blurred(second)
    mixed = mean_first * mean_second * 2.0
    squares = square(mean_first) + square(mean_second)
    luminance = (mixed + c1) / (squares + c1)
    covariance = blurred(first * second) * 2.0
    variances = blurred(square(first) + square(second))
    contrast = (covariance - mixed + c2) / (variances - squares + c2)
    return luminance * contrast, contrast


def ssim(
    img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False
):
    """The structural similarity index of images, in [-1, 1]; 1 for identical images.

    `return_index_map` returns it for every position of the filter instead of the mean.

    >>> image = tf.random.uniform([16, 16, 3])
    >>> tf.image.ssim(image, image, max_val=1.0).numpy().round(4)
    np.float32(1.0)
    """
    first, second = convert_to_tensor(img1), convert_to_tensor(img2)
    _require_alike(first, second)
    first, second, highest = _as_floats(first, second, max_val)
    index, _ = _similarity(first, second, highest, filter_size, filter_sigma, k1, k2)
    if return_index_map:
        return reduce_mean(index, [-1])
    return reduce_mean(reduce_mean(index, [-3, -2]), [-1])


def ssim_multiscale(
    img1, img2, max_val, power_factors=_POWER_FACTORS, filter_size=11, filter_sigma=1.5, k1=0.01,
    k2=0.03,
):  # fmt: skip
    """The product of the structural similarities at several scales, each half of the one before.

    The result is the product of the contrast terms to the power of their factors, times the full
    index at the last scale.

    >>> image = tf.random.uniform([48, 48, 1])
    >>> tf.image.ssim_multiscale(image, image, 1.0, power_factors=[0.5, 0.5]).numpy().round(4)
    np.float32(1.0)
    """
    first, second = convert_to_tensor(img1), convert_to_tensor(img2)
    _require_alike(first, second)
    first, second, highest = _as_floats(first, second, max_val)
    parts = []
    index = None
    for scale in range(len(power_factors)):
        if scale:
            first, second = _halved(first), _halved(second)
        index, contrast = _similarity(first, second, highest, filter_size, filter_sigma, k1, k2)
        index, contrast = reduce_mean(index, [-3, -2]), reduce_mean(contrast, [-3, -2])
        parts.append(relu(contrast))
    parts[-1] = relu(index)
    powers = stack(parts, -1) ** convert_to_tensor(power_factors, float32)
    return reduce_mean(reduce_prod(powers, [-1]), [-1])


def _halved(images):
    """Images downscaled to half the size; an odd row or column is duplicated first."""
    sizes = shape(images)
    flat = reshape(images, concat([[-1], sizes[-3:]], 0))
    odd = sizes[-3:-1] % 2
    padded = pad(flat, [[0, 0], [0, odd[0]], [0, odd[1]], [0, 0]], "SYMMETRIC")
    small = avg_pool2d(padded, 2, 2, "VALID")
    return reshape(small, concat([sizes[:-3], shape(small)[1:]], 0))
