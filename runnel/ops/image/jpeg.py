"""JPEG files through Pillow, with the arithmetic that TensorFlow chooses.

Its default is libjpeg's fast integer DCT with smooth ("fancy") upsampling of the chroma. Pillow can
ask libjpeg for the fast DCT only together with plain upsampling, which repeats the chroma: so the
chroma is taken as it was stored, and the smoothing and the colours are computed here, bit for bit
as libjpeg does.
"""

from __future__ import annotations

import io

import numpy as np

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
        image.load()
        return _coloured(image, sampling[1])
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


def _pairs(image, band):
    """A band of an image, two neighbouring columns as the bytes of one number."""
    width, height = image.size
    plane = np.frombuffer(image.tobytes("raw", band), np.uint8).reshape(height, width)
    if width % 2:
        plane = np.pad(plane, ((0, 0), (0, 1)))
    return plane.view("<i2")


def _smoothed(chroma, down):
    """The even and the odd columns of chroma planes by libjpeg's triangle filter.

    Each value lies a quarter of the way to its neighbour across and, where the planes are coarser
    that way too, `down`. Of planes [2, height, width] it makes columns [2, 2, height, width].
    """
    chroma -= np.int16(128)
    rows = chroma if down == 1 else _lengthened(chroma)
    three = rows * np.int16(3)
    columns = np.empty((2, *rows.shape), np.int16)
    # As one long row: what crosses from row to row is mended afterwards.
    flat, thrice, (even, odd) = rows.reshape(-1), three.reshape(-1), columns.reshape(2, -1)
    np.add(thrice[1:], flat[:-1], out=even[1:])
    np.add(thrice[:-1], flat[1:], out=odd[:-1])
    np.add(three[..., 0], rows[..., 0], out=columns[0, ..., 0])
    np.add(three[..., -1], rows[..., -1], out=columns[1, ..., -1])
    # libjpeg alternates the rounding from column to column.
    if down == 1:
        columns += np.array([1, 2], np.int16).reshape(2, 1, 1, 1)
        columns >>= np.int16(2)
    else:
        columns[1] -= np.int16(1)
        columns >>= np.int16(4)
    return columns


def _lengthened(chroma):
    """Every row twice, a quarter towards its neighbour; times 4, and the half for rounding."""
    planes, height, width = chroma.shape
    three = chroma * np.int16(3)
    three += np.int16(2)
    rows = np.empty((planes, height, 2, width), np.int16)
    np.add(three[:, 1:], chroma[:, :-1], out=rows[:, 1:, 0])
    np.add(three[:, :-1], chroma[:, 1:], out=rows[:, :-1, 1])
    rows[:, 0, 0] = three[:, 0] + chroma[:, 0]
    rows[:, -1, 1] = three[:, -1] + chroma[:, -1]
    return rows.reshape(planes, 2 * height, width)


def _coloured(image, down):
    """Red, green and blue of YCbCr whose chroma was repeated across and `down`.

    The three colours lie one after the other in memory: nothing is gained by mixing them before it
    is known who reads them. There are few operations, each on everything, as threads that decode
    side by side hinder each other between operations.
    """
    width, height = image.size
    pairs = _pairs(image, "Y")
    luma = np.empty((2, *pairs.shape), np.int16)
    np.bitwise_and(pairs, np.int16(255), out=luma[0])
    np.right_shift(pairs.view("<u2"), np.uint16(8), out=luma[1].view(np.uint16))
    bands = [_pairs(image, band)[::down] for band in ("Cb", "Cr")]
    chroma = np.empty((2, *bands[0].shape), np.int16)
    for band, plane in zip(bands, chroma, strict=True):
        np.bitwise_and(band, np.int16(255), out=plane)
    columns = _smoothed(chroma, down)[:, :, :height]
    colours = _mixed(luma, columns[:, 0], columns[:, 1])
    # Two neighbours are the two bytes of one number.
    colours[:, 1] *= np.int16(256)
    result = np.empty((3, *pairs.shape), "<i2")
    np.bitwise_or(colours[:, 0], colours[:, 1], out=result)
    return result.view(np.uint8)[:, :, :width].transpose(1, 2, 0)


def _mixed(luma, blue, red):
    """Red, green and blue of YCbCr with the chroma around 0.

        red = Y + 1.402 Cr,  green = Y - 0.34414 Cb - 0.71414 Cr,  blue = Y + 1.772 Cb

    libjpeg rounds the products once, at 16 fractional bits. Here they are taken apart so that all
    fits into 16 bits, with the same result for every possible chroma.
    """
    colours = np.empty((3, *luma.shape), np.int16)
    reds, greens, blues = colours
    rest = red * np.int16(46)
    rest -= np.multiply(blue, np.int16(26), out=reds)
    rest >>= np.int16(8)
    np.multiply(red, np.int16(73), out=greens)
    greens -= np.multiply(blue, np.int16(88), out=reds)
    greens += rest
    greens += np.int16(128)
    greens >>= np.int16(8)
    greens -= red
    np.multiply(red, np.int16(103), out=reds)
    reds -= np.right_shift(red, np.int16(4), out=rest)
    reds += np.int16(127)
    reds >>= np.int16(8)
    reds += red
    np.multiply(blue, np.int16(-94), out=rest)
    rest >>= np.int16(8)
    np.multiply(blue, np.int16(-58), out=blues)
    blues += rest
    blues += np.int16(128)
    blues >>= np.int16(8)
    blues += blue
    blues += blue
    colours += luma
    return np.clip(colours, np.int16(0), np.int16(255), out=colours)


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
