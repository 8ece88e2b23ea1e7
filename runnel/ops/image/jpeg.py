"""JPEG files through libjpeg-turbo, with the DCT and upsampling that TensorFlow chooses.

Its default is libjpeg's fast integer DCT with smooth ("fancy") upsampling of the chroma. simplejpeg
exposes every combination of the two, and gives TensorFlow's pixels bit for bit. Pillow decodes
where that package is missing, and files of an unusual sampling that it refuses. Pillow has the fast
DCT only together with plain upsampling: where the chroma is to be smoothed, its pixels differ by
the rounding of the other DCT.
"""

from __future__ import annotations

import functools
import io
from typing import NamedTuple

import numpy as np

# libjpeg's warnings, after which decoding continues; any other message ends it.
_HARMLESS = (
    "Corrupt JPEG data",
    "Inconsistent progression sequence",
    "Invalid SOS parameters",
    "Unknown Adobe color transform",
    "Warning",
)
_CUT_SHORT = "Premature end of JPEG file"
_UNUSUAL = "Could not determine"
_COMPONENTS = {"Gray": 1, "CMYK": 4, "YCCK": 4}


class Header(NamedTuple):
    """What a file declares before its pixels, and whether simplejpeg can decode them."""

    height: int
    width: int
    components: int
    usual: bool


@functools.cache
def _turbo():
    """The package simplejpeg, or None where it is not installed."""
    try:
        import simplejpeg
    except ImportError:
        return None
    return simplejpeg


def is_jpeg(contents: bytes) -> bool:
    """Whether the bytes have JPEG's magic bytes."""
    return contents.startswith(b"\xff\xd8\xff")


def header(contents: bytes) -> Header:
    """The size and the number of components of a file."""
    turbo = _turbo()
    if turbo is not None:
        try:
            height, width, space, _ = turbo.decode_jpeg_header(contents, strict=False)
            return Header(height, width, _COMPONENTS.get(space, 3), True)
        except ValueError as failure:
            if _UNUSUAL not in str(failure):
                raise
    image = _opened(contents)
    width, height = image.size
    return Header(height, width, len(image.layer), False)


def decode(contents, found, channels, ratio=1, fancy=True, method="", recover=False):
    """The pixels [height, width, channels] of a file with this header."""
    inks = found.components == 4
    if inks and channels == 1:
        raise ValueError("a CMYK image cannot become gray")
    gray = channels == 1 or (channels == 0 and found.components == 1)
    fast = method != "INTEGER_ACCURATE"
    if not found.usual:
        return _decode_with_pillow(contents, gray, ratio, fast, fancy, recover)
    space = "CMYK" if inks else "GRAY" if gray else "RGB"
    pixels = _decode_with_turbo(contents, found, space, ratio, fast, fancy, recover)
    return _from_cmyk(pixels) if inks else pixels


def _decode_with_turbo(contents, found, space, ratio, fast, fancy, recover):
    height, width = (-(-size // ratio) for size in found[:2])
    options = {"fastdct": fast, "fastupsample": not fancy}
    if ratio > 1:
        options.update(min_height=height, min_width=width, min_factor=float(ratio))
    decode_jpeg = _turbo().decode_jpeg
    try:
        return decode_jpeg(contents, space, **options)
    except ValueError as failure:
        if not str(failure).startswith((*_HARMLESS, *([_CUT_SHORT] if recover else []))):
            raise
    # Pixels that the decoder does not reach would otherwise be uninitialized memory.
    target = np.zeros(height * width * len(space.replace("GRAY", "Y")), np.uint8)
    return decode_jpeg(contents, space, buffer=target, strict=False, **options)


def _from_cmyk(pixels):
    """RGB from CMYK, which files hold inverted."""
    light = pixels.astype(np.int32)
    return (light[..., :3] * light[..., 3:] // 255).astype(np.uint8)


def _opened(contents, recover=False):
    """The file, opened by Pillow with its header parsed."""
    from PIL.JpegImagePlugin import JpegImageFile

    # An appended end marker lets the decoder finish a truncated file.
    return JpegImageFile(io.BytesIO(contents + b"\xff\xd9" if recover else contents))


def _decode_with_pillow(contents, gray, ratio, fast, fancy, recover):
    image = _opened(contents, recover)
    if ratio > 1:
        _shrink(image, ratio)
    if gray and image.mode == "RGB":
        image.draft("L", None)
    # Chroma without subsampling, and chroma that is not requested, need no smoothing.
    smoothed = fancy and image.mode == "RGB" and len({part[1:3] for part in image.layer}) > 1
    image.decoderconfig = (ratio, int(fast and not smoothed))
    pixels = np.asarray(image)
    if image.mode == "CMYK":
        return _from_cmyk(255 - pixels)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    return pixels if gray or pixels.shape[2] == 3 else np.repeat(pixels, 3, 2)


def _shrink(image, ratio):
    """Make the decoder skip what a downscaled image does not need."""
    from PIL import ImageFile

    width, height = (-(-size // ratio) for size in image.size)
    codec, _, offset, options = image.tile[0]
    tile = getattr(ImageFile, "_Tile", lambda *parts: parts)
    image.tile = [tile(codec, (0, 0, width, height), offset, options)]
    image._size = width, height


def encode(
    pixels, quality, progressive=False, optimize=False, downsampling=True, density=("in", 300, 300),
    xmp=b"",
):  # fmt: skip
    """A JPEG file of pixels [height, width, 1 or 3]."""
    from PIL import Image

    gray = pixels.shape[2] == 1
    image = Image.fromarray(np.ascontiguousarray(pixels[..., 0] if gray else pixels))
    target = io.BytesIO()
    image.save(
        target,
        "JPEG",
        quality=int(quality),
        progressive=progressive,
        optimize=optimize,
        subsampling=2 if downsampling and not gray else 0,
    )
    data = bytearray(target.getvalue())
    # Pillow writes the JFIF segment first: its unit and densities have fixed offsets.
    unit, across, down = density
    data[13] = 1 if unit == "in" else 2
    data[14:16] = int(across).to_bytes(2, "big")
    data[16:18] = int(down).to_bytes(2, "big")
    if xmp:
        payload = b"http://ns.adobe.com/xap/1.0/\0" + xmp
        segment = b"\xff\xe1" + (len(payload) + 2).to_bytes(2, "big") + payload
        data[20:20] = segment
    return bytes(data)
