"""A parser of serialized Example and SequenceExample messages that creates no message objects.

An Example is a map from keys to features; a feature is a list of strings, floats or integers:

    Example         1: Features
    Features        1: entry {1: key, 2: Feature}, repeated
    Feature         1: BytesList, 2: FloatList or 3: Int64List
    ...List         1: value, repeated; numbers packed or one by one
    SequenceExample 1: Features, 2: FeatureLists
    FeatureLists    1: entry {1: key, 2: FeatureList}, repeated
    FeatureList     1: Feature, repeated

Nothing is copied until a value is needed: features are located as ranges (start, end) of the
record. Every length is checked against the data, so no allocation depends on a declared length
alone.
"""

from __future__ import annotations

import numpy as np

Place = tuple[int, int]

# The tag of the field with a feature's values, by dtype.
BYTES, FLOATS, INTEGERS = 0x0A, 0x12, 0x1A
_CONTINUED = bytes(range(128, 256))


class MalformedRecord(ValueError):
    """The bytes are not a valid message of the expected type."""


def _varint(data: bytes, place: int, end: int) -> tuple[int, int]:
    """A varint and the position after it."""
    value = shift = 0
    while place < end and shift < 70:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFFFFFFFFFFFFFF, place
        shift += 7
    raise MalformedRecord("a number is cut off or longer than 10 bytes")


def _skipped(data: bytes, place: int, end: int) -> int:
    """The position after a skipped field."""
    tag, place = _varint(data, place, end)
    kind = tag & 7
    if kind == 0:
        place = _varint(data, place, end)[1]
    elif kind == 2:
        length, place = _varint(data, place, end)
        place += length
    elif kind in (1, 5):
        place += 8 if kind == 1 else 4
    else:
        raise MalformedRecord(f"a field has the unknown wire type {kind}")
    if tag < 8 or place > end:
        raise MalformedRecord("a field is cut off or has number 0")
    return place


def _part(data: bytes, place: int, end: int) -> Place:
    """The range of the message, string or packed list whose length is at a position."""
    if place < end and data[place] < 128:
        length, place = data[place], place + 1
    else:
        length, place = _varint(data, place, end)
    if length > end - place:
        raise MalformedRecord(f"{length} bytes are announced where {end - place} are left")
    return place, place + length


def fields(data: bytes, place: int, end: int, tag: int) -> list[Place]:
    """The ranges of all fields with this one-byte tag in a message."""
    found = []
    while place < end:
        if data[place] == tag:
            start, place = _part(data, place + 1, end)
            found.append((start, place))
        else:
            place = _skipped(data, place, end)
    return found


def _locate_entry(data: bytes, place: int, end: int, found: dict[bytes, Place]) -> None:
    key = b""
    value: Place = (end, end)
    while place < end:
        tag = data[place]
        if tag == 0x0A:
            start, place = _part(data, place + 1, end)
            key = data[start:place]
        elif tag == 0x12:
            value = _part(data, place + 1, end)
            place = value[1]
        else:
            place = _skipped(data, place, end)
    found[key] = value


def locate(data: bytes, place: int, end: int, found: dict[bytes, Place]) -> None:
    """Record the range of each entry's value, by key; for duplicate keys, the last one."""
    while place < end:
        if data[place] != 0x0A:
            place = _skipped(data, place, end)
            continue
        place, stop = _part(data, place + 1, end)
        # Fast path: a short key followed by a value, as in nearly every entry.
        if stop - place > 3 and data[place] == 0x0A and data[place + 1] < 128:
            begin = place + 2
            after = begin + data[place + 1]
            left = stop - after - 2
            if left >= 0 and data[after] == 0x12:
                length = data[after + 1]
                if length == left and length < 128:
                    found[data[begin:after]] = (after + 2, stop)
                    place = stop
                    continue
                start, last = _part(data, after + 1, stop)
                if last == stop:
                    found[data[begin:after]] = (start, stop)
                    place = stop
                    continue
        _locate_entry(data, place, stop, found)
        place = stop


class Layouts:
    """The feature ranges of earlier records, reused for records of the same layout.

    Locating features reads only the bytes between their values: tags, lengths and keys. So two
    records of equal length that agree in those bytes have their features at the same positions, as
    records of one dataset often do.
    """

    _MOST_LAYOUTS = 64
    _MOST_BYTES = 4096

    def __init__(self) -> None:
        self._known: dict[int, tuple[list[tuple[int, int, bytes]], dict[bytes, Place]] | None] = {}

    def features_of(self, data: bytes) -> dict[bytes, Place]:
        """The range of each feature of an Example, by key; read-only."""
        size = len(data)
        layout = self._known.get(size)
        if layout is not None:
            for start, end, between in layout[0]:
                if data[start:end] != between:
                    break
            else:
                return layout[1]
        found = features_of(data)
        # A length is cached when it occurs a second time: many never do.
        if size in self._known:
            if size - sum([end - start for start, end in found.values()]) <= self._MOST_BYTES:
                self._known[size] = _between(data, found), found
        else:
            if len(self._known) >= self._MOST_LAYOUTS:
                self._known.clear()
            self._known[size] = None
        return found


def _between(data: bytes, found: dict[bytes, Place]) -> list[tuple[int, int, bytes]]:
    """The ranges of a record outside its features, with their bytes."""
    stretches = []
    place = 0
    for start, end in [*sorted(found.values()), (len(data), len(data))]:
        if start > place:
            stretches.append((place, start, data[place:start]))
        place = end
    return stretches


def features_of(data: bytes) -> dict[bytes, Place]:
    """The range of each feature of an Example, by key."""
    found: dict[bytes, Place] = {}
    place, end = 0, len(data)
    while place < end:
        if data[place] == 0x0A:
            start, place = _part(data, place + 1, end)
            locate(data, start, place, found)
        else:
            place = _skipped(data, place, end)
    return found


def sequences_of(data: bytes) -> tuple[dict[bytes, Place], dict[bytes, Place]]:
    """The ranges of the context features, and of the feature lists, of a SequenceExample."""
    context: dict[bytes, Place] = {}
    lists: dict[bytes, Place] = {}
    place, end = 0, len(data)
    while place < end:
        tag = data[place]
        if tag in (0x0A, 0x12):
            start, place = _part(data, place + 1, end)
            locate(data, start, place, context if tag == 0x0A else lists)
        else:
            place = _skipped(data, place, end)
    return context, lists


def values_of(data: bytes, place: int, end: int) -> tuple[int, int, int] | None:
    """The kind of a feature and the range of its list; None if it has none."""
    while place < end:
        tag = data[place]
        if tag in (BYTES, FLOATS, INTEGERS):
            start, stop = _part(data, place + 1, end)
            return tag, start, stop
        place = _skipped(data, place, end)
    return None


def short_numbers(data: bytes, place: int, end: int, kind: int) -> bytes | None:
    """The packed numbers of a short feature without other fields; None for all others."""
    size = end - place
    if (
        4 < size < 130
        and data[place] == kind
        and data[place + 1] == size - 2
        and data[place + 2] == 0x0A
        and data[place + 3] == size - 4
        and (size % 4 == 0 if kind == FLOATS else data[end - 1] < 128)
    ):
        return data[place + 4 : end]
    return None


def only_string(data: bytes, place: int, end: int) -> bytes | None:
    """The string of a feature with exactly one; None for all others."""
    if end - place > 3 and data[place] == BYTES:
        start, stop = _part(data, place + 1, end)
        if stop == end and start < end and data[start] == 0x0A:
            start, stop = _part(data, start + 1, end)
            if stop == end:
                return data[start:end]
    return None


def strings(data: bytes, place: int, end: int) -> list[bytes]:
    """The strings of a BytesList."""
    if place < end and data[place] == 0x0A:
        start, stop = _part(data, place + 1, end)
        if stop == end:
            return [data[start:stop]]
    return [data[start:stop] for start, stop in fields(data, place, end, 0x0A)]


def packed(data: bytes, place: int, end: int, kind: int) -> bytes:
    """The numbers of a FloatList or Int64List, as one packed field."""
    if place < end and data[place] == 0x0A:
        start, stop = _part(data, place + 1, end)
        if stop == end:
            return _whole(data[start:stop], kind)
    pieces = []
    single = 0x0D if kind == FLOATS else 0x08
    while place < end:
        tag = data[place]
        if tag == 0x0A:
            start, place = _part(data, place + 1, end)
        elif tag == single:
            start = place + 1
            place = start + 4 if kind == FLOATS else _varint(data, start, end)[1]
            if place > end:
                raise MalformedRecord("a number is cut off")
        else:
            place = _skipped(data, place, end)
            continue
        pieces.append(_whole(data[start:place], kind))
    return b"".join(pieces)


def _whole(numbers: bytes, kind: int) -> bytes:
    if kind == FLOATS:
        if len(numbers) % 4:
            raise MalformedRecord(f"{len(numbers)} bytes are no multiple of a float's 4")
    elif numbers and numbers[-1] > 127:
        raise MalformedRecord("an integer is cut off")
    return numbers


def count(numbers: bytes, kind: int) -> int:
    """The number of packed integers in bytes."""
    return len(numbers) // 4 if kind == FLOATS else len(numbers.translate(None, _CONTINUED))


def floats(numbers: bytes) -> np.ndarray:
    """Packed floats as an array."""
    return np.frombuffer(numbers, "<f4").astype(np.float32, copy=False)


def integers(numbers: bytes) -> np.ndarray:
    """Packed integers as an array."""
    array = np.frombuffer(numbers, np.uint8)
    ends = array < 128
    if ends.all():
        return array.astype(np.int64)
    last = np.flatnonzero(ends)
    first = np.empty_like(last)
    first[0] = 0
    first[1:] = last[:-1] + 1
    lengths = last - first + 1
    longest = int(lengths.max())
    if longest > 10:
        raise MalformedRecord("an integer is longer than 10 bytes")
    values = (array[first] & 127).astype(np.uint64)
    for step in range(1, longest):
        longer = lengths > step
        digits = (array[first[longer] + step] & 127).astype(np.uint64)
        values[longer] |= digits << np.uint64(7 * step)
    return values.view(np.int64)


def integer(numbers: bytes) -> int:
    """The integer of bytes that hold exactly one."""
    value, place = _varint(numbers, 0, len(numbers))
    if place != len(numbers):
        raise MalformedRecord("more than one integer")
    return value - (1 << 64) if value >> 63 else value
