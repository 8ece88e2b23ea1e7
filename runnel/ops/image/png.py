"""PNG files: decoded through Pillow, 16 bits included; written with zlib."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# 15 fractional bits of the brightness of red, green and blue.
_LUMA = (9797, 19234, 3737)
_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def header(contents: bytes) -> tuple[int, int, int, int]:
    """Width, height, bits per sample and colour type."""
    if len(contents) < 33 or contents[12:16] != b"IHDR":
        raise ValueError("the header is missing")
    width, height, bits, kind = struct.unpack(">IIBB", contents[16:26])
    return width, height, bits, kind


def check(contents: bytes) -> None:
    """ValueError unless the chunks are whole, down to the last."""
    place = len(SIGNATURE)
    while True:
        length = int.from_bytes(contents[place : place + 4], "big")
        kind = contents[place + 4 : place + 8]
        end = place + 12 + length
        if end > len(contents):
            raise ValueError("the file is cut short")
        # Chunks that a reader may leave out have a lower-case name.
        if kind[:1].isupper():
            checksum = int.from_bytes(contents[end - 4 : end], "big")
            if zlib.crc32(memoryview(contents)[place + 4 : end - 4]) != checksum:
                raise ValueError(f"a chunk {kind!r} has a wrong checksum")
        if kind == b"IEND":
            return
        place = end


def decode(contents: bytes, channels: int, wide: bool):
    """The pixels of a PNG file: uint16 if `wide`, else uint8."""
    check(contents)
    _, _, bits, kind = header(contents)
    pixels = _sixteen(contents, kind) if bits == 16 else _eight(contents, channels == 4)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    opaque = (1 << min(bits, 8)) - 1 if bits < 16 else 65535
    pixels = with_channels(pixels, channels, opaque)
    if bits == 16 and not wide:
        return (pixels >> 8).astype(np.uint8)
    return pixels.astype(np.uint16) * np.uint16(257) if bits < 16 and wide else pixels


def _open(contents):
    from PIL.PngImagePlugin import PngImageFile

    return PngImageFile(io.BytesIO(contents))


def _eight(contents, with_alpha):
    image = _open(contents)
    transparent = "transparency" in image.info
    if image.mode == "P":
        image = image.convert("RGBA" if transparent else "RGB")
    elif transparent and with_alpha:
        image = image.convert("RGBA")
    elif image.mode == "1":
        image = image.convert("L")
    return np.asarray(image)


def _sixteen(contents, kind):
    if kind == 0:
        return np.asarray(_open(contents)).astype(np.uint16)
    if kind == 4:
        # Gray and alpha of 16 bits have the same bytes as four colours of 8 bits.
        head = b"IHDR" + contents[16:24] + bytes([8, 6]) + contents[26:29]
        contents = contents[:12] + head + struct.pack(">I", zlib.crc32(head)) + contents[33:]
        pairs = np.asarray(_open(contents)).astype(np.uint16)
        return pairs[..., 0::2] << 8 | pairs[..., 1::2]
    # Pillow unpacks the high byte of each sample; taken for little-endian, that is the low one.
    high, low = (np.asarray(_unpacked(contents, order)).astype(np.uint16) for order in ("B", "L"))
    return high << 8 | low


def _unpacked(contents, order):
    from PIL import ImageFile

    image = _open(contents)
    codec, extents, offset, mode = image.tile[0]
    rawmode = mode if isinstance(mode, str) else mode[0]
    tile = getattr(ImageFile, "_Tile", lambda *parts: parts)
    image.tile = [tile(codec, extents, offset, rawmode[:-1] + order)]
    return image


def with_channels(pixels, channels, opaque=255):
    """Pixels of 1 (gray), 2 (gray, alpha), 3 or 4 channels with another number of them."""
    count = pixels.shape[2]
    if channels in (0, count):
        return pixels
    if channels == 1:
        return pixels[..., :1] if count == 2 else _gray(pixels)
    colours = pixels[..., :3] if count >= 3 else np.repeat(pixels[..., :1], 3, 2)
    if channels == 3:
        return colours
    if count == 2:
        alpha = pixels[..., 1:]
    else:
        alpha = np.full((*pixels.shape[:2], 1), opaque, pixels.dtype)
    return np.concatenate([colours, alpha], 2)


def _gray(pixels):
    red, green, blue = (pixels[..., i].astype(np.uint32) * _LUMA[i] for i in range(3))
    # libpng rounds 16 bits and cuts 8.
    half = 1 << 14 if pixels.dtype == np.uint16 else 0
    return ((red + green + blue + half) >> 15).astype(pixels.dtype)[..., None]


def encode(pixels, compression: int) -> bytes:
    """A PNG file of pixels [height, width, 1 to 4], of 8 or 16 bits."""
    height, width, channels = pixels.shape
    bits = 8 * pixels.dtype.itemsize
    rows = np.ascontiguousarray(pixels.astype(">u2") if bits == 16 else pixels)
    rows = rows.reshape(height, -1).view(np.uint8)
    step = channels * bits // 8
    # Each byte as its difference to the pixel before: filter 1.
    filtered = np.empty((height, rows.shape[1] + 1), np.uint8)
    filtered[:, 0] = 1
    filtered[:, 1 : step + 1] = rows[:, :step]
    np.subtract(rows[:, step:], rows[:, :-step], out=filtered[:, step + 1 :])
    head = struct.pack(">IIBBBBB", width, height, bits, _COLOUR_TYPES[channels], 0, 0, 0)
    return b"".join(
        [
            SIGNATURE,
            _chunk(b"IHDR", head),
            _chunk(b"IDAT", zlib.compress(filtered.tobytes(), compression)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind, data):
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
