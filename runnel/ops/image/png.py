"""PNG files: decoded through Pillow, 16 bits included; written with zlib."""

from __future__ import annotations

import functools
import io
import struct
import zlib

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The luma weights of red, green and blue with 15 fractional bits.
_LUMA = (9797, 19234, 3737)
_INTENTS = (b"\0", b"\1", b"\2", b"\3")
_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def header(contents: bytes) -> tuple[int, int, int, int]:
    """Width, height, bits per sample and colour type."""
    if len(contents) < 33 or contents[12:16] != b"IHDR":
        raise ValueError("the header is missing")
    width, height, bits, kind = struct.unpack(">IIBB", contents[16:26])
    return width, height, bits, kind


def check(contents: bytes) -> dict[bytes, bytes]:
    """The chunks before the pixels, by type; ValueError unless all chunks are complete."""
    place = len(SIGNATURE)
    before: dict[bytes, bytes] = {}
    pixels = False
    while True:
        length = int.from_bytes(contents[place : place + 4], "big")
        kind = contents[place + 4 : place + 8]
        end = place + 12 + length
        if end > len(contents):
            raise ValueError("the file is cut short")
        pixels = pixels or kind == b"IDAT"
        # Ancillary chunks have a lower-case name.
        if kind[:1].isupper() or not pixels:
            checksum = int.from_bytes(contents[end - 4 : end], "big")
            if zlib.crc32(memoryview(contents)[place + 4 : end - 4]) == checksum:
                if not pixels:
                    before.setdefault(kind, contents[place + 8 : end - 4])
            elif kind[:1].isupper():
                raise ValueError(f"a chunk {kind!r} has a wrong checksum")
        if kind == b"IEND":
            return before
        place = end


def decode(contents: bytes, channels: int, wide: bool):
    """The pixels of a PNG file: uint16 if `wide`, else uint8."""
    before = check(contents)
    _, _, bits, kind = header(contents)
    if kind == 3 and b"PLTE" not in before:
        raise ValueError("the palette is missing")
    pixels = _sixteen(contents, kind) if bits == 16 else _eight(contents, bits, channels == 4)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    if channels == 1 and pixels.shape[2] > 2 and (exponent := _exponent(before)):
        pixels = _gray_of_light(pixels, exponent, wide)
    elif bits == 16 and channels == 4 and kind in (0, 2) and b"tRNS" in before:
        hidden = (pixels == np.frombuffer(before[b"tRNS"], ">u2")).all(-1, keepdims=True)
        alpha = np.where(hidden, np.uint16(0), np.uint16(65535))
        pixels = np.concatenate([with_channels(pixels, 3), alpha], 2)
    else:
        opaque = (1 << min(bits, 8)) - 1 if bits < 16 else 65535
        pixels = with_channels(pixels, channels, opaque)
    if bits == 16 and not wide:
        return (pixels >> 8).astype(np.uint8)
    return pixels.astype(np.uint16) * np.uint16(257) if bits < 16 and wide else pixels


def _open(contents):
    from PIL.PngImagePlugin import PngImageFile

    return PngImageFile(io.BytesIO(contents))


def _eight(contents, bits, with_alpha):
    image = _open(contents)
    transparent = "transparency" in image.info
    if transparent and image.mode == "L":
        # The pixels were scaled to 8 bits, the transparent gray was not.
        image.info["transparency"] *= 255 // ((1 << bits) - 1)
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
        # 16-bit gray and alpha have the same bytes as 8-bit colours of four channels.
        head = b"IHDR" + contents[16:24] + bytes([8, 6]) + contents[26:29]
        contents = contents[:12] + head + struct.pack(">I", zlib.crc32(head)) + contents[33:]
        pairs = np.asarray(_open(contents)).astype(np.uint16)
        return pairs[..., 0::2] << 8 | pairs[..., 1::2]
    # Pillow unpacks the high byte of each sample; declared little-endian, that is the low one.
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
    """Pixels of 1 (gray), 2 (gray, alpha), 3 or 4 channels converted to another number of them."""
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
    # libpng rounds 16-bit samples and truncates 8-bit ones.
    half = 1 << 14 if pixels.dtype == np.uint16 else 0
    return ((red + green + blue + half) >> 15).astype(pixels.dtype)[..., None]


def _exponent(before):
    """The gamma exponent of the file's samples, in 100,000ths; None if linear."""
    exponent = int.from_bytes(before.get(b"gAMA", b""), "big")
    if before.get(b"sRGB") in _INTENTS:
        exponent = 45455
    if not 16 <= exponent <= 625000000:
        return None
    return exponent if _bends(exponent) or _bends(_reciprocal(exponent)) else None


def _bends(exponent):
    # libpng ignores a difference of less than a twentieth.
    return not 95000 <= exponent <= 105000


def _gray_of_light(pixels, exponent, wide):
    """Gray as libpng computes it from gamma-encoded samples: the luma of their linear light."""
    to_light, from_light, same = _light_tables(exponent, pixels.dtype.itemsize * 8, wide)
    light = sum(to_light[pixels[..., i]].astype(np.uint32) * _LUMA[i] for i in range(3))
    red = pixels[..., 0]
    is_gray = (red == pixels[..., 1]) & (red == pixels[..., 2])
    return np.where(is_gray, same[red], from_light[(light + (1 << 14)) >> 15])[..., None]


@functools.lru_cache(8)
def _light_tables(exponent, bits, wide):
    """Lookup tables: samples to linear light, light to samples, and samples already gray."""
    inverse = _reciprocal(exponent)
    most = (1 << bits) - 1
    samples = np.arange(most + 1, dtype=np.uint32)
    if bits == 16 and not wide:
        # libpng uses 11 bits for the conversion to 8.
        samples, top = samples >> 5, 2047
        bounds = ((np.arange(255, dtype=np.int64) * 257 + 128) * top + 32768) // 65535 + 1
        same = np.searchsorted(bounds, samples, side="right") * 257
    else:
        top, same = most, samples

    def table(power):
        bent = (samples / top) ** (power * 0.00001 if _bends(power) else 1)
        return np.floor(most * bent + 0.5).astype(f"u{bits // 8}")

    return table(inverse), table(_reciprocal(inverse)), same.astype(f"u{bits // 8}")


def _reciprocal(exponent):
    return int(1e10 / exponent + 0.5)


def encode(pixels, compression: int) -> bytes:
    """A PNG file of 8- or 16-bit pixels [height, width, 1 to 4]."""
    height, width, channels = pixels.shape
    bits = 8 * pixels.dtype.itemsize
    rows = np.ascontiguousarray(pixels.astype(">u2") if bits == 16 else pixels)
    rows = rows.reshape(height, -1).view(np.uint8)
    step = channels * bits // 8
    # Filter 1: each byte minus that of the pixel before.
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
