"""The keys of a partitioned tensor's slices in bundles.

They use an order-preserving encoding, in which byte order is value order: 0, the tensor's name, the
number of dimensions, and the start and length of each.
"""

from __future__ import annotations


def slice_key(name: str, extents: list[tuple[int, int | None]]) -> bytes:
    """The key of a slice, given by start and length (None for all) in each dimension.

    >>> from runnel.formats.slice_keys import slice_key
    >>> slice_key("w", [(0, 2), (0, None)])
    b'\\x00w\\x00\\x01\\x01\\x02\\x80\\x82\\x80\\x7f'
    """
    key = _unsigned(0) + _string(name.encode()) + _unsigned(len(extents))
    for start, length in extents:
        key += _signed(start) + _signed(-1 if length is None else length)
    return key


def _unsigned(number: int) -> bytes:
    size = (number.bit_length() + 7) // 8
    return bytes([size]) + number.to_bytes(size, "big")


def _string(text: bytes) -> bytes:
    escapes = {0: b"\x00\xff", 255: b"\xff\x00"}
    return b"".join(escapes.get(byte, bytes([byte])) for byte in text) + b"\x00\x01"


def _signed(number: int) -> bytes:
    """Two's complement in as few bytes as fit, after as many leading one bits as bytes.

    The first bit is the inverted sign, so that negative numbers are sorted first.
    """
    positive = number if number >= 0 else ~number
    size = positive.bit_length() // 7 + 1
    bits = 8 * size
    value = positive | (((1 << size) - 1) << (bits - size))
    if number < 0:
        value = ~value & ((1 << bits) - 1)
    return value.to_bytes(size, "big")
