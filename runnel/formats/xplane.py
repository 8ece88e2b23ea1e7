"""XSpace: the profiles that TensorBoard's profile plugin opens (`*.xplane.pb`).

A space has planes (here: the host, and metadata of the run), a plane has lines (threads), and a
line has events. Names of events and of their statistics are stored once per plane. The messages are
few and profiles are long, so they are encoded by hand, with the field numbers of `xplane.proto`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

from . import wire
from .wire import varint

Value = str | int | float | bytes


def number_field(field: int, value: int) -> bytes:
    """An integer field; zero is what an absent field means."""
    return varint(field << 3) + varint(value) if value else b""


def bytes_field(field: int, value: bytes | str) -> bytes:
    """A length-delimited field of a string or a message."""
    return wire.field(field, value.encode() if isinstance(value, str) else value)


class Plane:
    """A plane under construction; `encoded()` is its message."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lines: list[bytes] = []
        self._stats: list[bytes] = []
        self._events: dict[tuple[str, str], int] = {}
        self._strings: dict[str, int] = {}

    def add_line(self, number: int, name: str, events: Iterable[bytes]) -> None:
        """Add a thread with its events."""
        message = [number_field(1, number), bytes_field(2, name), bytes_field(11, name)]
        message += [bytes_field(4, event) for event in events]
        self._lines.append(b"".join(message))

    def add_stat(self, name: str, value: int) -> None:
        """Add a statistic of the whole plane: an unsigned integer."""
        stat = number_field(1, self._string(name)) + varint(3 << 3) + varint(value)
        self._stats.append(stat)

    def event(
        self, name: str, shown: str, begin: int, duration: int, stats: Mapping[str, Value]
    ) -> bytes:
        """An event; `begin`, from the start of the profile, and `duration` are in nanoseconds."""
        number = self._events.setdefault((name, shown), len(self._events) + 1)
        message = [
            number_field(1, number),
            # An event at time zero needs an explicit field: absent means unknown.
            varint(2 << 3) + varint(begin * 1000),
            number_field(3, duration * 1000),
        ]
        message += [bytes_field(4, self._stat(each, value)) for each, value in stats.items()]
        return b"".join(message)

    def _stat(self, name: str, value: Value) -> bytes:
        start = number_field(1, self._string(name))
        if isinstance(value, str):
            return start + number_field(7, self._string(value))
        if isinstance(value, float):
            return start + varint(2 << 3 | 1) + struct.pack("<d", value)
        if isinstance(value, bytes):
            return start + bytes_field(6, value)
        return start + varint(4 << 3) + varint(value)

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings) + 1)

    def encoded(self) -> bytes:
        message = [bytes_field(2, self._name)]
        message += [bytes_field(3, line) for line in self._lines]
        for (name, shown), number in self._events.items():
            metadata = number_field(1, number) + bytes_field(2, name)
            if shown:
                metadata += bytes_field(4, shown)
            message.append(bytes_field(4, number_field(1, number) + bytes_field(2, metadata)))
        for text, number in self._strings.items():
            metadata = number_field(1, number) + bytes_field(2, text)
            message.append(bytes_field(5, number_field(1, number) + bytes_field(2, metadata)))
        message += [bytes_field(6, stat) for stat in self._stats]
        return b"".join(message)


def encoded_space(planes: Iterable[Plane], host: str) -> bytes:
    """The serialized bytes of a `*.xplane.pb` file."""
    parts = [bytes_field(1, plane.encoded()) for plane in planes]
    return b"".join([*parts, bytes_field(4, host)])
