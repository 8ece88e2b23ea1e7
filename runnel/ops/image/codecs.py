"""Image codecs: JPEG, PNG, GIF, BMP and WebP."""

from __future__ import annotations

import functools
import io

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import as_dtype, float32, int32, int64, string, uint8, uint16
from ...core.op import op
from ...core.shapes import TensorShape
from ..array.arguments import require_type
from ..math.comparison import equal
from ..strings.bytes import substr
from . import gif, jpeg, png
from .colour import convert_image_dtype

_UNKNOWN_FORMAT = "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required."
# The limit on the pixels that a header may declare per byte of the file, beyond a free amount.
_PIXELS_PER_BYTE = 4096
_FREE_PIXELS = 1 << 24
_JXL = (b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n")


def _text(contents) -> bytes:
    array = np.asarray(contents, dtype=object)
    if array.ndim:
        raise ValueError(f"`contents` must be scalar but got shape {list(array.shape)}")
    return array.item()


def kind_of(contents: bytes) -> str:
    """The format, from the magic bytes of a file."""
    if not contents:
        raise ValueError("Input is empty.")
    if jpeg.is_jpeg(contents):
        return "jpeg"
    if contents.startswith(png.SIGNATURE):
        return "png"
    if contents.startswith(b"GIF8"):
        return "gif"
    if contents.startswith(b"BM"):
        return "bmp"
    if contents.startswith(b"RIFF") and contents[8:12] == b"WEBP":
        return "webp"
    if contents.startswith(_JXL):
        raise ValueError("JPEG XL files are not supported: convert the file to PNG, JPEG or WebP.")
    raise ValueError(_UNKNOWN_FORMAT)


def _require_sane(width, height, contents, frames=1):
    """Refuse sizes that the file's bytes cannot encode, before anything is allocated."""
    pixels = width * height * frames
    if width <= 0 or height <= 0 or pixels > max(_FREE_PIXELS, _PIXELS_PER_BYTE * len(contents)):
        raise ValueError(f"{width} x {height} pixels do not fit into {len(contents)} bytes")


def _guarded(kind, decode, contents, *arguments):
    """Call a decoder; any exception is reported as an error in the file."""
    try:
        return decode(contents, *arguments)
    except MemoryError:
        raise
    except Exception as failure:
        told = str(failure) or type(failure).__name__
        raise ValueError(f"Invalid {kind} data, size {len(contents)}: {told}") from None


def _jpeg(contents, channels, **options):
    if channels == 4:
        raise ValueError("JPEG does not support 4 channels")
    return _guarded("JPEG", _jpeg_pixels, contents, channels, options)


def _jpeg_pixels(contents, channels, options):
    found = jpeg.header(contents)
    _require_sane(found.width, found.height, contents)
    return jpeg.decode(contents, found, channels, **options)


def _png(contents, channels, wide=False):
    return _guarded("PNG", _png_pixels, contents, channels, wide)


def _png_pixels(contents, channels, wide):
    width, height, _, _ = png.header(contents)
    _require_sane(width, height, contents)
    return png.decode(contents, channels, wide)


def _gif(contents, every=True):
    """The frames [frames, height, width, 3] up to the first broken one."""

    def require_sane(width, height, frames):
        _require_sane(width, height, contents, frames)

    return _guarded("GIF", gif.decode, contents, every, require_sane)


def _bmp(contents, channels):
    if channels == 1:
        raise ValueError("`channels` must be 0, 3 or 4 for BMP, but got 1")
    if len(contents) < 32:
        raise ValueError(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, "
            f"height, and bpp, got {len(contents)} bytes"
        )

    def number(place, size, signed=True):
        return int.from_bytes(contents[place : place + size], "little", signed=signed)

    start, width, height, bits = number(10, 4), number(18, 4), number(22, 4), number(28, 2)
    count = bits // 8
    if count not in (1, 3, 4):
        raise ValueError(f"Number of channels inherent in the image must be 1, 3 or 4, was {count}")
    if width <= 0 or height == 0 or start < 0:
        raise ValueError(f"The BMP header declares {width} x {height} pixels at byte {start}")
    stride = (count * width + 3) // 4 * 4
    missing = len(contents) - (start + stride * abs(height))
    if missing < 0:
        raise ValueError(
            "Input size should match (header_size + row_size * abs_height) but they differ by "
            f"{missing}"
        )
    rows = np.frombuffer(contents, np.uint8, stride * abs(height), start)
    pixels = rows.reshape(abs(height), stride)[:, : count * width].reshape(-1, width, count)
    if height > 0:
        pixels = pixels[::-1]
    if count > 1:
        pixels = pixels[..., [2, 1, 0, 3][:count]]
    return png.with_channels(np.ascontiguousarray(pixels), channels)


def _webp(contents, channels):
    """The frames [frames, height, width, channels]."""
    if channels not in (0, 3, 4):
        raise ValueError("WebP only supports 3 or 4 channels")

    def decode(contents):
        from PIL.WebPImagePlugin import WebPImageFile

        image = WebPImageFile(io.BytesIO(contents))
        count = getattr(image, "n_frames", 1)
        _require_sane(*image.size, contents, count)
        frames = []
        for index in range(count):
            image.seek(index)
            mode = "RGBA" if count > 1 or image.mode == "RGBA" else "RGB"
            frames.append(np.asarray(image.convert(mode)))
        return np.stack(frames)

    frames = _guarded("WebP", decode, contents)
    if channels and channels != frames.shape[3]:
        raise ValueError(
            f"Number of channels requested does not match input: {channels} and {frames.shape[3]}"
        )
    return frames


def _require_channels(channels):
    if channels not in (0, 1, 3, 4):
        raise ValueError(f"`channels` must be 0, 1, 3 or 4 but got {channels}")


def _decode_any(contents, channels, op_name, wide=False, jpeg_options=None):
    """The result of a format's op for a file of any format."""
    contents = _text(contents)
    kind = kind_of(contents)
    if kind == "bmp":
        raise ValueError(
            f"Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` "
            f"instead. Op used: {op_name}"
        )
    if kind == "jpeg":
        pixels = _jpeg(contents, channels, **(jpeg_options or {}))
    elif kind == "png":
        return _png(contents, channels, wide)
    elif kind == "webp":
        if wide:
            raise ValueError("WebP has 8 bits for each channel: decode it with dtype=tf.uint8.")
        pixels = _webp(contents, channels)
    elif op_name == "DecodeWebP":
        raise ValueError("Trying to decode GIF format using DecodeWebP op.")
    else:
        pixels = _one_frame(_gif(contents), channels)
    return _scaled(pixels, np.uint16 if wide else np.uint8)


def _one_frame(frames, channels):
    if channels not in (0, 3):
        raise ValueError(f"channels must be 0 or 3 for GIF, got {channels}")
    if len(frames) != 1:
        raise ValueError(
            f"Got {len(frames)} frames, but animated gifs can only be decoded by "
            "tf.io.decode_gif or tf.io.decode_image"
        )
    return frames[0]


def _scaled(pixels, dtype):
    """8-bit pixels in the range of another dtype."""
    if dtype == np.uint16:
        return pixels.astype(np.uint16) * np.uint16(256)
    if dtype == np.float32:
        return pixels.astype(np.float32) * np.float32(1 / 255)
    return pixels


def _decoded(inputs, attrs):
    if inputs[0].shape.rank not in (None, 0):
        raise ValueError(f"`contents` must be scalar but got the shape {inputs[0].shape}")
    return TensorShape([None, None, attrs["channels"] or None])


@op("DecodeJpeg", "contents: string -> image: uint8", shape=_decoded, gradient=None)
def DecodeJpeg(
    contents,
    *,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1.0,
    dct_method="",
):
    options = _jpeg_options(ratio, fancy_upscaling, try_recover_truncated, dct_method)
    _require_channels(channels)
    return _decode_any(contents, channels, "DecodeJpeg", jpeg_options=options)


@functools.cache
def _jpeg_options(ratio, fancy, recover, method):
    if ratio not in (1, 2, 4, 8):
        raise ValueError(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise ValueError(
            f"dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}, got {method!r}"
        )
    return {"ratio": ratio, "fancy": fancy, "recover": recover, "method": method}


def _cropped(inputs, attrs):
    whole, window = _decoded(inputs, attrs), constant_value(inputs[1])
    if window is None or window.shape != (4,):
        return whole
    return TensorShape([*window[2:].tolist(), whole[2]]) if min(window[2:]) > 0 else whole


@op(
    "DecodeAndCropJpeg",
    "contents: string, crop_window: int32 -> image: uint8",
    shape=_cropped,
    gradient=None,
)
def DecodeAndCropJpeg(
    contents,
    crop_window,
    *,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1.0,
    dct_method="",
):
    options = _jpeg_options(ratio, fancy_upscaling, try_recover_truncated, dct_method)
    _require_channels(channels)
    if crop_window.shape != (4,):
        raise ValueError(f"crop_size must have four elements, got {list(crop_window.shape)}")
    contents = _text(contents)
    if kind_of(contents) != "jpeg":
        raise ValueError("DecodeAndCropJpeg operation can run on JPEG only.")
    pixels = _jpeg(contents, channels, **options)
    top, left, height, width = crop_window.tolist()
    fits = top >= 0 and left >= 0 and height > 0 and width > 0
    if not fits or top + height > pixels.shape[0] or left + width > pixels.shape[1]:
        raise ValueError(
            f"Invalid crop window [{top}, {left}, {height}, {width}] in an image of "
            f"{pixels.shape[0]} x {pixels.shape[1]} pixels"
        )
    return pixels[top : top + height, left : left + width]


@op("DecodePng", "contents: string -> image: dtype", shape=_decoded, gradient=None)
def DecodePng(contents, *, channels=0, dtype=uint8):
    _require_channels(channels)
    return _decode_any(contents, channels, "DecodePng", wide=dtype is uint16)


@op(
    "DecodeGif",
    "contents: string -> image: uint8",
    shape=lambda inputs, attrs: TensorShape([None, None, None, 3]),
    gradient=None,
)
def DecodeGif(contents):
    text = _text(contents)
    if kind_of(text) == "gif":
        return _gif(text)
    pixels = _decode_any(contents, 3, "DecodeGif")
    return pixels if pixels.ndim == 4 else pixels[None]


@op("DecodeBmp", "contents: string -> image: uint8", shape=_decoded, gradient=None)
def DecodeBmp(contents, *, channels=0):
    _require_channels(channels)
    contents = _text(contents)
    kind = kind_of(contents)
    if kind == "webp":
        return _webp(contents, channels)
    if kind != "bmp":
        raise ValueError(
            f"Trying to decode {kind.upper()} format using DecodeBmp op. Use `decode_{kind}` or "
            "`decode_image` instead."
        )
    return _bmp(contents, channels)


@op(
    "DecodeWebP",
    "contents: string -> image: dtype",
    shape=lambda inputs, attrs: TensorShape(None),
    gradient=None,
)
def DecodeWebP(contents, *, channels=0, dtype=uint8):
    _require_channels(channels)
    return _decode_any(contents, channels, "DecodeWebP")


@op(
    "DecodeImage",
    "contents: string -> image: dtype",
    shape=lambda inputs, attrs: TensorShape(
        None if attrs["expand_animations"] else [None, None, attrs["channels"] or None]
    ),
    gradient=None,
)
def DecodeImage(contents, *, channels=0, dtype=uint8, expand_animations=True):
    _require_channels(channels)
    contents = _text(contents)
    kind = kind_of(contents)
    if kind == "png":
        wide = dtype is not uint8
        pixels = _png(contents, channels, wide)
        return pixels * np.float32(1 / 65535) if dtype is float32 else pixels
    if kind == "jpeg":
        pixels = _jpeg(contents, channels)
    elif kind == "bmp":
        pixels = _bmp(contents, channels)
    elif kind == "webp":
        if dtype is not uint8:
            raise ValueError(f"WebP only supports uint8 for dtype, got {dtype.name}")
        pixels = _webp(contents, channels)
        pixels = pixels if expand_animations else pixels[0]
    else:
        if channels not in (0, 3):
            raise ValueError(f"channels must be 0 or 3 for GIF, got {channels}")
        pixels = _gif(contents, expand_animations)
        pixels = pixels if expand_animations else pixels[0]
    return _scaled(pixels, dtype.numpy)


def _contents(contents):
    return convert_to_tensor(contents, string)


def decode_jpeg(
    contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
    acceptable_fraction=1, dct_method="", name=None,
):  # fmt: skip
    """The pixels [height, width, channels] of a JPEG file, downscaled by `ratio` 2, 4 or 8.

    >>> image = tf.zeros([8, 16, 3], tf.uint8)
    >>> tf.io.decode_jpeg(tf.io.encode_jpeg(image)).shape
    TensorShape([8, 16, 3])
    """
    return DecodeJpeg(
        _contents(contents), channels=_count(channels), ratio=ratio,
        fancy_upscaling=fancy_upscaling, try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction, dct_method=dct_method,
    )  # fmt: skip


def _count(channels):
    return 0 if channels is None else int(channels)


def decode_and_crop_jpeg(
    contents, crop_window, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
    acceptable_fraction=1, dct_method="", name=None,
):  # fmt: skip
    """The part [top, left, height, width] of a JPEG file's pixels."""
    return DecodeAndCropJpeg(
        _contents(contents), convert_to_tensor(crop_window, int32), channels=_count(channels),
        ratio=ratio, fancy_upscaling=fancy_upscaling, try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction, dct_method=dct_method,
    )  # fmt: skip


def decode_png(contents, channels=0, dtype=uint8, name=None):
    """The pixels [height, width, channels] of a PNG file, of 8 or 16 bits.

    >>> image = tf.constant([[[1, 2, 3]]], tf.uint8)
    >>> tf.io.decode_png(tf.io.encode_png(image)).numpy().tolist()
    [[[1, 2, 3]]]
    """
    dtype = as_dtype(dtype or uint8)
    require_type("DecodePng", "dtype", dtype, {uint8, uint16})
    return DecodePng(_contents(contents), channels=_count(channels), dtype=dtype)


def decode_gif(contents, name=None):
    """The frames [frames, height, width, 3] of a GIF file."""
    return DecodeGif(_contents(contents))


def decode_bmp(contents, channels=0, name=None):
    """The pixels [height, width, channels] of a BMP file."""
    return DecodeBmp(_contents(contents), channels=_count(channels))


def decode_webp(contents, channels=0, dtype=uint8, name=None):
    """The frames [frames, height, width, channels] of a WebP file."""
    dtype = as_dtype(dtype)
    require_type("DecodeWebP", "dtype", dtype, {uint8})
    return DecodeWebP(_contents(contents), channels=_count(channels), dtype=dtype)


def decode_image(contents, channels=None, dtype=uint8, name=None, expand_animations=True):
    """The pixels of a file of any known format; GIF and WebP files return all their frames.

    >>> contents = tf.io.encode_png(tf.constant([[[255]]], tf.uint8))
    >>> tf.io.decode_image(contents, dtype=tf.float32).numpy().tolist()
    [[[1.0]]]
    """
    dtype = as_dtype(dtype or uint8)
    direct = dtype in (uint8, uint16, float32)
    pixels = DecodeImage(
        _contents(contents), channels=_count(channels), dtype=dtype if direct else uint16,
        expand_animations=bool(expand_animations),
    )  # fmt: skip
    return pixels if direct else convert_image_dtype(pixels, dtype)


@op(
    "ExtractJpegShape",
    "contents: string -> image_shape: output_type",
    shape=lambda inputs, attrs: TensorShape([3]),
    gradient=None,
)
def ExtractJpegShape(contents, *, output_type=int32):
    contents = _text(contents)
    found = _guarded("JPEG", jpeg.header, contents)
    return np.array(found[:3], output_type.numpy)


def extract_jpeg_shape(contents, output_type=int32, name=None):
    """[height, width, channels] of a JPEG file, without decoding it.

    >>> tf.io.extract_jpeg_shape(tf.io.encode_jpeg(tf.zeros([8, 16, 3], tf.uint8))).numpy().tolist()
    [8, 16, 3]
    """
    output_type = as_dtype(output_type)
    require_type("ExtractJpegShape", "output_type", output_type, {int32, int64})
    return ExtractJpegShape(_contents(contents), output_type=output_type)


def is_jpeg(contents, name=None):
    """Whether a file has JPEG's magic bytes.

    >>> bool(tf.io.is_jpeg(b"GIF89a"))
    False
    """
    return equal(substr(contents, 0, 3), b"\xff\xd8\xff")
