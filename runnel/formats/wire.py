"""The wire format of protocol buffers, for messages that are encoded or decoded by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def varint(number: int) -> bytes:
    """A varint: groups of seven bits, least significant first; negative numbers as 64-bit ones.

    >>> from runnel.formats.wire import varint
    >>> varint(300)
    b'\\xac\\x02'
    """
    if 0 <= number < 128:
        return number.to_bytes(1, "little")
    number &= (1 << 64) - 1
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """The varint at a position, and the position after it; IndexError at the end of the data."""
    number = shift = 0
    while True:
        byte = data[position]
        position += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, position
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field: bytes, text or a message.

    >>> from runnel.formats.wire import field
    >>> field(1, b"loss")
    b'\\n\\x04loss'
    """
    return varint(number << 3 | 2) + varint(len(content)) + content


class Reader:
    """A sequential reader of a message's fields."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def varint(self) -> int:
        """The next varint."""
        try:
            number, self._place = read_varint(self._data, self._place)
        except IndexError:
            raise ValueError("the bytes end in the middle of a number") from None
        return number & 0xFFFFFFFFFFFFFFFF

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if count > len(self._data) - self._place:
            raise ValueError("the bytes end in the middle of a field")
        self._place += count
        return self._data[self._place - count : self._place]

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        while self._place < len(self._data):
            tag = self.varint()
            kind = tag & 7
            if kind == 0:
                yield tag >> 3, self.varint()
            elif kind == 2:
                yield tag >> 3, self.take(self.varint())
            elif kind in (1, 5):
                yield tag >> 3, self.take(8 if kind == 1 else 4)
            else:
                raise ValueError(f"a field of unknown kind {kind}")
