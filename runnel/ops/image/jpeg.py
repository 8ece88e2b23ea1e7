"""JPEG files through Pillow, with the arithmetic that TensorFlow chooses.

Its default is libjpeg's fast integer DCT with smooth ("fancy") upsampling of the chroma. Pillow can
ask libjpeg for the fast DCT only together with plain upsampling, which repeats the chroma: so the
chroma is taken as it was stored, and the smoothing and the colours are computed here, bit for bit
as libjpeg does.
"""

from __future__ import annotations

import io

import numpy as np

# 16 fractional bits of the coefficients of YCbCr (JFIF).
_RED, _BLUE = 91881, 116130
_GREEN_BY_BLUE, _GREEN_BY_RED = -22554, -46802
_HALF = 1 << 15
# So many pixels at once stay in the processor's cache.
_BLOCK = 1 << 15
# How much coarser the chroma may be, across and down, for the arithmetic to be known here.
_SAMPLINGS = ((1, 1), (2, 1), (2, 2))


def is_jpeg(contents: bytes) -> bool:
    """Whether the bytes start as a JPEG file does."""
    return contents.startswith(b"\xff\xd8\xff")


def open_jpeg(contents: bytes, recover: bool = False):
    """The file with its header read."""
    from PIL.JpegImagePlugin import JpegImageFile

    # An end marker of our own lets the decoder finish what there is of a file cut short.
    return JpegImageFile(io.BytesIO(contents + b"\xff\xd9" if recover else contents))


def pixels_of(image, channels, ratio=1, fancy=True, method=""):
    """The pixels [height, width, channels] of an opened file."""
    fast = method != "INTEGER_ACCURATE"
    if ratio > 1:
        _shrink(image, ratio)
    if image.mode == "CMYK":
        if channels == 1:
            raise ValueError("a CMYK image cannot become gray")
        image.decoderconfig = (ratio, int(fast))
        return _from_cmyk(np.asarray(image))
    if channels == 1 and image.mode == "RGB":
        image.draft("L", None)
    sampling = _sampling(image)
    coarse = _is_smoothed(image, sampling, ratio)
    if coarse and fast and fancy:
        image.draft("YCbCr", None)
        image.decoderconfig = (ratio, 1)
        return _coloured(np.asarray(image), sampling)
    plain = sampling in _SAMPLINGS or image.mode == "L"
    image.decoderconfig = (ratio, int(fast and plain and not (coarse and fancy)))
    pixels = np.asarray(image)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    return np.repeat(pixels, 3, 2) if channels == 3 and pixels.shape[2] == 1 else pixels


def _shrink(image, ratio):
    """Make the decoder leave out what a smaller image does not need."""
    from PIL import ImageFile

    width, height = (-(-size // ratio) for size in image.size)
    codec, _, offset, options = image.tile[0]
    tile = getattr(ImageFile, "_Tile", lambda *parts: parts)
    image.tile = [tile(codec, (0, 0, width, height), offset, options)]
    image._size = width, height


def _sampling(image):
    """How much coarser the chroma is (across, down); None for what is not plain YCbCr."""
    layers = getattr(image, "layer", ())
    if len(layers) != 3 or image.info.get("adobe_transform", 1) == 0:
        return (1, 1) if len(layers) == 1 else None
    (_, across, down, _), *chroma = layers
    if any(part[1:3] != (1, 1) for part in chroma):
        return (1, 1) if all(part[1:3] == (across, down) for part in chroma) else None
    return across, down


def _is_smoothed(image, sampling, ratio):
    """Whether libjpeg smooths the chroma: not in narrow images, nor where scaling fills it in."""
    if image.mode != "RGB" or image.size[0] <= 4:
        return False
    return (sampling == (2, 2) and ratio == 1) or (sampling == (2, 1) and ratio < 8)


def _from_cmyk(pixels):
    """Red, green and blue of inks."""
    light = 255 - pixels.astype(np.int32)
    return (light[..., :3] * light[..., 3:] // 255).astype(np.uint8)


def _widened(values, scale):
    """Every column twice, moved a quarter towards its neighbours; times 4 * scale."""
    rows, width = values.shape
    result = np.empty((rows, 2 * width), np.int16)
    left, right = result[:, 0::2], result[:, 1::2]
    three = values * np.int16(3)
    np.add(three[:, 1:], values[:, :-1], out=left[:, 1:])
    np.add(three[:, :-1], values[:, 1:], out=right[:, :-1])
    left[:, 0] = values[:, 0] * 4
    right[:, -1] = values[:, -1] * 4
    # libjpeg alternates the rounding from column to column.
    left += np.int16(8 if scale == 4 else 1)
    right += np.int16(7 if scale == 4 else 2)
    result >>= np.int16(4 if scale == 4 else 2)
    return result


def _smoothed(chroma, sampling):
    """A chroma plane in the full size: the triangle filter of libjpeg."""
    values = chroma.astype(np.int16)
    if sampling == (2, 1):
        return _widened(values, 1)
    rows = np.empty((2 * len(values), values.shape[1]), np.int16)
    three = values * np.int16(3)
    upper, lower = rows[0::2], rows[1::2]
    np.add(three[1:], values[:-1], out=upper[1:])
    np.add(three[:-1], values[1:], out=lower[:-1])
    upper[0] = values[0] * 4
    lower[-1] = values[-1] * 4
    return _widened(rows, 4)


def _coloured(pixels, sampling):
    """Red, green and blue of YCbCr whose chroma was repeated."""
    height, width = pixels.shape[:2]
    across, down = sampling
    blue, red = (
        _smoothed(pixels[::down, ::across, index], sampling)[:height, :width] for index in (1, 2)
    )
    result = np.empty((height, width, 3), np.uint8)
    step = max(_BLOCK // width, 1)
    for start in range(0, height, step):
        rows = slice(start, start + step)
        luma = pixels[rows, :, 0].astype(np.int32)
        by_blue = blue[rows].astype(np.int32)
        by_red = red[rows].astype(np.int32)
        by_blue -= 128
        by_red -= 128
        _store(result[rows, :, 0], luma, by_red * _RED)
        green = by_blue * _GREEN_BY_BLUE
        by_red *= _GREEN_BY_RED
        green += by_red
        _store(result[rows, :, 1], luma, green)
        by_blue *= _BLUE
        _store(result[rows, :, 2], luma, by_blue)
    return result


def _store(target, luma, offset):
    offset += _HALF
    offset >>= 16
    offset += luma
    np.clip(offset, 0, 255, out=offset)
    target[...] = offset


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
    # Pillow writes the JFIF segment first: its unit and densities stand at fixed places.
    unit, across, down = density
    data[13] = 1 if unit == "in" else 2
    data[14:16] = int(across).to_bytes(2, "big")
    data[16:18] = int(down).to_bytes(2, "big")
    if xmp:
        payload = b"http://ns.adobe.com/xap/1.0/\0" + xmp
        segment = b"\xff\xe1" + (len(payload) + 2).to_bytes(2, "big") + payload
        data[20:20] = segment
    return bytes(data)
