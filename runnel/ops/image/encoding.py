"""Encoding images, and JPEG compression as a distortion of an image."""

from __future__ import annotations

import math

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32, uint8, uint16
from ...core.errors import InternalError, InvalidArgumentError
from ...core.op import op
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..random import uniform
from ..random_stateless import stateless_uniform
from . import jpeg, png
from .codecs import DecodeJpeg
from .colour import convert_image_dtype

_FORMATS = {"": None, "grayscale": 1, "rgb": 3}
# A header has 16 bits for a JPEG's height and width; the original limits its bytes to 29 bits.
_LARGEST_JPEG = 65535
_LARGEST_PNG = 1 << 29


def _checked_jpeg(image, format=""):
    if image.ndim != 3:
        raise ValueError(f"image must be 3-dimensional, got the shape {list(image.shape)}")
    if not image.size:
        raise InternalError(None, None, f"Invalid image provided: the shape is {list(image.shape)}")
    channels = image.shape[2]
    if max(image.shape[:2]) > _LARGEST_JPEG:
        raise ValueError(f"image too large for JPEG: {list(image.shape)}")
    wanted = _FORMATS[format]
    if wanted is None and channels not in (1, 3):
        raise ValueError(f"image must have 1 or 3 channels, got shape {list(image.shape)}")
    if wanted not in (None, channels):
        raise ValueError(
            f"format '{format}' expects {wanted} channels, got the shape {list(image.shape)}"
        )
    return image


def _encoded(inputs, attrs):
    if inputs[0].shape.rank not in (None, 3):
        raise ValueError(f"image must be 3-dimensional, got the shape {inputs[0].shape}")
    return TensorShape([])


@op("EncodeJpeg", "image: uint8 -> contents: string", shape=_encoded, gradient=None)
def EncodeJpeg(
    image,
    *,
    format="",
    quality=95,
    progressive=False,
    optimize_size=False,
    chroma_downsampling=True,
    density_unit="in",
    x_density=300,
    y_density=300,
    xmp_metadata="",
):
    if not 0 <= quality <= 100:
        raise ValueError(f"quality must be in [0,100], got {quality}")
    _checked_jpeg(image, format)
    density = density_unit, x_density, y_density
    metadata = xmp_metadata.encode() if isinstance(xmp_metadata, str) else xmp_metadata
    contents = jpeg.encode(
        image, quality, progressive, optimize_size, chroma_downsampling, density, metadata
    )
    return np.array(contents, dtype=object)


@op(
    "EncodeJpegVariableQuality",
    "images: uint8, quality: int32 -> contents: string",
    shape=_encoded,
    gradient=None,
)
def EncodeJpegVariableQuality(images, quality):
    if np.ndim(quality):
        raise ValueError(f"quality must be scalar: {list(np.shape(quality))}")
    if not 0 <= quality <= 100:
        raise ValueError(f"quality must be in [0,100], got {quality}")
    return np.array(jpeg.encode(_checked_jpeg(images), quality), dtype=object)


@op(
    "EncodePng",
    "image: T -> contents: string",
    T={uint8, uint16},
    shape=lambda inputs, attrs: inputs[0].shape[:-3],
    gradient=None,
)
def EncodePng(image, *, compression=-1):
    if not -1 <= compression <= 9:
        raise ValueError(f"compression should be in range [-1,9], got {compression}")
    if image.ndim < 3:
        raise ValueError(f"images must be at least rank 3, got the shape {list(image.shape)}")
    height, width, channels = image.shape[-3:]
    if not 1 <= channels <= 4:
        raise ValueError(f"image must have 1, 2, 3, or 4 channels, got {list(image.shape)}")
    if not height or not width:
        raise InternalError(None, None, f"Invalid image provided: the shape is {list(image.shape)}")
    if math.prod(image.shape[-3:]) >= _LARGEST_PNG:
        raise ValueError(f"image too large to encode: {list(image.shape)}")
    batch = image.shape[:-3]
    result = np.empty(math.prod(batch), object)
    for index, each in enumerate(image.reshape(-1, height, width, channels)):
        result[index] = png.encode(each, compression)
    return result.reshape(batch)


def encode_png(image, compression=-1, name=None):
    """The bytes of a PNG file for each 8- or 16-bit image [..., height, width, channels].

    >>> tf.io.encode_png(tf.zeros([2, 2, 3], tf.uint8)).numpy()[:4]
    b'\\x89PNG'
    """
    hint = None if hasattr(image, "dtype") else uint8
    image = convert_to_tensor(image, dtype_hint=hint)
    return EncodePng(image, compression=int(compression))


def encode_jpeg(
    image, format="", quality=95, progressive=False, optimize_size=False, chroma_downsampling=True,
    density_unit="in", x_density=300, y_density=300, xmp_metadata="", name=None,
):  # fmt: skip
    """The bytes of a JPEG file for an 8-bit image [height, width, 1 or 3].

    >>> bool(tf.io.is_jpeg(tf.io.encode_jpeg(tf.zeros([2, 2, 3], tf.uint8))))
    True
    """
    for attr, value, allowed in (
        ("format", format, _FORMATS),
        ("density_unit", density_unit, ("in", "cm")),
    ):
        if value not in allowed:
            names = ", ".join(f'"{each}"' for each in allowed)
            raise InvalidArgumentError(
                None,
                None,
                f"Value for attr '{attr}' of \"{value}\" is not in the list of allowed values: "
                f"{names} [Op:EncodeJpeg]",
            )
    return EncodeJpeg(
        convert_to_tensor(image, uint8), format=format, quality=int(quality),
        progressive=bool(progressive), optimize_size=bool(optimize_size),
        chroma_downsampling=bool(chroma_downsampling), density_unit=density_unit,
        x_density=int(x_density), y_density=int(y_density), xmp_metadata=xmp_metadata,
    )  # fmt: skip


def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """The image encoded as JPEG of this quality in [0, 100], and decoded again.

    >>> tf.image.adjust_jpeg_quality(tf.zeros([2, 2, 3]), 75).shape
    TensorShape([2, 2, 3])
    """
    image = convert_to_tensor(image)
    channels = image.shape.as_list()[-1]
    pixels = convert_image_dtype(image, uint8, saturate=True)
    if not isinstance(jpeg_quality, Tensor):
        jpeg_quality = convert_to_tensor(jpeg_quality, int32)
    contents = EncodeJpegVariableQuality(pixels, jpeg_quality)
    decoded = DecodeJpeg(contents, channels=channels or 0, dct_method=dct_method)
    return convert_image_dtype(decoded, image.dtype, saturate=True)


def _require_qualities(lowest, highest):
    if lowest < 0 or highest < 0 or lowest > 100 or highest > 100:
        raise ValueError(
            f"jpeg encoding range must be between 0 and 100, got {lowest} and {highest}."
        )
    if lowest >= highest:
        raise ValueError(
            f"`min_jpeg_quality` must be less than `max_jpeg_quality`: {lowest}, {highest}."
        )


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """The image encoded as JPEG of a random quality, and decoded again."""
    _require_qualities(min_jpeg_quality, max_jpeg_quality)
    quality = uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=int32)
    return adjust_jpeg_quality(image, quality)


def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    """The image encoded as JPEG of a random quality, determined by the seed, and decoded again."""
    _require_qualities(min_jpeg_quality, max_jpeg_quality)
    quality = stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, dtype=int32)
    return adjust_jpeg_quality(image, quality)
