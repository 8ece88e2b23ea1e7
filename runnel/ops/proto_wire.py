"""Parsing the wire format of protocol messages: the contents of selected fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core import errors
from ..formats.wire import read_varint, varint

VARINT, SIZED, GROUP = 0, 2, 3
# The wire type of fixed-size numbers, keyed by their bytes.
FIXED = {8: 1, 4: 5}
_WIDTHS = {wire: width for width, wire in FIXED.items()}
_END_GROUP = 4
_DEEPEST = 100
_LOW = 0xFFFFFFFF


class Wanted(NamedTuple):
    """A field to read: its number, its wire type, and whether it is repeated."""

    number: int
    wire: int
    repeated: bool


def _lost(message: str) -> errors.DataLossError:
    return errors.DataLossError(None, None, f"{message}: the serialized message is corrupt")


class Fields:
    """The contents of selected fields of messages.

    `sizes` grows by a list for each message, the count for each field; `parts[i]` holds the wire
    contents of the i-th field, of all messages in order: numbers of varints, bytes of everything
    else.
    """

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        self.sizes: list[list[int]] = []
        self.parts: list[list[Any]] = [[] for _ in wanted]
        self._wanted = wanted
        self._places: dict[int, int] = {}
        for place, field in enumerate(wanted):
            # As in the original, a field that is requested twice is returned once.
            self._places.setdefault(field.number, place)

    def read(self, data: bytes) -> None:
        """Parse a message."""
        found: list[list[Any]] = [[] for _ in self._wanted]
        position, end = 0, len(data)
        while position < end:
            tag, position = _tag(data, position)
            number, wire = tag >> 3, tag & 7
            place = self._places.get(number)
            if place is None:
                position = _skipped(data, position, number, wire)
                continue
            field = self._wanted[place]
            if wire == field.wire:
                start = position
                position = _skipped(data, position, number, wire)
                found[place].append(_part(data, start, position, tag, wire))
            elif wire == SIZED and field.repeated and field.wire in (VARINT, *_WIDTHS):
                start, position = _content(data, position)
                found[place].extend(_packed(data[start:position], field.wire))
            else:
                position = _skipped(data, position, number, wire)
        sizes = []
        for field, parts, new in zip(self._wanted, self.parts, found, strict=True):
            # Of a singular field the last occurrence counts.
            parts += new if field.repeated else new[-1:]
            sizes.append(len(new) if field.repeated else min(1, len(new)))
        self.sizes.append(sizes)


def _tag(data: bytes, position: int) -> tuple[int, int]:
    try:
        tag, position = read_varint(data, position)
    except (IndexError, ValueError):
        raise _lost("Failed to consume the whole message, which ends in a tag") from None
    tag &= _LOW
    if tag == 0 or tag & 7 == _END_GROUP:
        raise _lost("Failed to consume the whole message: a tag that cannot stand there")
    return tag, position


def _part(data: bytes, start: int, end: int, tag: int, wire: int) -> Any:
    if wire == VARINT:
        return read_varint(data, start)[0] & 0xFFFFFFFFFFFFFFFF
    if wire == SIZED:
        return data[read_varint(data, start)[1] : end]
    if wire == GROUP:
        return varint(tag) + data[start:end]
    return data[start:end]


def _content(data: bytes, position: int) -> tuple[int, int]:
    """The start and end of a length-delimited content."""
    length, start = _number(data, position)
    length &= _LOW
    if length > len(data) - start:
        raise _lost(f"A field of {length} bytes, where {len(data) - start} are left")
    return start, start + length


def _number(data: bytes, position: int) -> tuple[int, int]:
    """The varint at a position, and the position after it; DataLossError where there is none."""
    try:
        return read_varint(data, position)
    except IndexError:
        raise _lost("The message ends in a number") from None
    except ValueError as failure:
        raise _lost(f"A field is {failure}") from None


def _packed(data: bytes, wire: int) -> list[Any]:
    """The parts of a packed field."""
    if wire == VARINT:
        numbers, position = [], 0
        while position < len(data):
            number, position = _number(data, position)
            numbers.append(number & 0xFFFFFFFFFFFFFFFF)
        return numbers
    width = _WIDTHS[wire]
    if len(data) % width:
        raise _lost(f"Illegal data length for packed fixed-size type: {len(data)}")
    return [data[start : start + width] for start in range(0, len(data), width)]


def _skipped(data: bytes, position: int, number: int, wire: int) -> int:
    """The position after the field whose tag ends at a position."""
    if number == 0:
        raise _lost("A field has the number 0")
    if wire == VARINT:
        return _number(data, position)[1]
    if wire == SIZED:
        return _content(data, position)[1]
    if wire in _WIDTHS:
        end = position + _WIDTHS[wire]
        if end > len(data):
            raise _lost("The message ends in a number")
        return end
    if wire != GROUP:
        raise _lost(f"A field has the unknown wire type {wire}")
    return _behind_group(data, position, number)


def _behind_group(data: bytes, position: int, number: int) -> int:
    open_groups = [number]
    while open_groups:
        tag, position = _number(data, position)
        tag &= _LOW
        number, wire = tag >> 3, tag & 7
        if wire == GROUP and number:
            open_groups.append(number)
            if len(open_groups) > _DEEPEST:
                raise _lost(f"There are more than {_DEEPEST} groups within each other")
        elif wire == _END_GROUP:
            if open_groups.pop() != number:
                raise _lost(f"A group ends with the number {number} of another one")
        else:
            position = _skipped(data, position, number, wire)
    return position
