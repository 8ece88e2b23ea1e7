"""CRC-32C, and its masked form in TensorFlow's files.

A checksum stored next to the bytes it covers is masked (rotated, and a constant added), because the
CRC of data that contains its own CRC is useless.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

_compiled: Any
try:
    import google_crc32c

    _compiled = google_crc32c if google_crc32c.implementation == "c" else None
except ImportError:
    _compiled = None

_MASK_DELTA = 0xA282EAD8
_ALL_BITS = 0xFFFFFFFF
_POLYNOMIAL = np.uint32(0x82F63B78)
# Below this many bytes a loop over them is faster than arrays.
_FEW = 8192


def mask(crc: int) -> int:
    """The masked form of a checksum.

    >>> from runnel.formats.masked_crc import crc32c, mask
    >>> hex(mask(crc32c(b"123456789")))
    '0xc78ab0e5'
    """
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ALL_BITS


def crc32c(data: Any, crc: int = 0) -> int:
    """The CRC-32C of bytes or of an array; `crc` is that of the preceding data.

    >>> from runnel.formats.masked_crc import crc32c
    >>> hex(crc32c(b"123456789")), hex(crc32c(b"6789", crc32c(b"12345")))
    ('0xe3069283', '0xe3069283')
    """
    if _compiled is not None:
        readable = data if isinstance(data, bytes) else np.frombuffer(data, np.uint8)
        return int(_compiled.extend(crc, readable))
    state = np.uint32(crc ^ _ALL_BITS)
    return int(_extend(state, np.frombuffer(data, np.uint8))) ^ _ALL_BITS


def masked_crc32c(data: bytes) -> int:
    """`mask(crc32c(data))`, inlined for many short records.

    >>> from runnel.formats.masked_crc import masked_crc32c
    >>> hex(masked_crc32c(b"123456789"))
    '0xc78ab0e5'
    """
    crc = crc32c(data) if _compiled is None else _compiled.value(data)
    return int(((crc >> 15 | crc << 17) + _MASK_DELTA) & _ALL_BITS)


# Without the compiled library: many chunks of the data in parallel (vectorized), then combined. The
# CRC is linear, so that the state after a chunk is the shifted state before it XOR that of the
# chunk.


def _extend(state: np.uint32, data: np.ndarray) -> np.uint32:
    while data.size >= _FEW:
        stretches = 1 << max(3, min(15, data.size.bit_length() // 2))
        words = data.size // (stretches * 8)
        used = stretches * words * 8
        state = _joined(state, _parallel(data[:used].reshape(stretches, words, 8)), words * 8)
        data = data[used:]
    table, number = _first_table(), int(state)
    for byte in data.tolist():
        number = table[(number ^ byte) & 255] ^ number >> 8
    return np.uint32(number)


def _parallel(data: np.ndarray) -> np.ndarray:
    """The states after chunks of 8-byte words, each with initial state zero."""
    tables = _tables()
    states = np.zeros(data.shape[0], np.uint32)
    for word in range(data.shape[1]):
        column = np.ascontiguousarray(data[:, word])
        first = column[:, :4].copy().view("<u4")[:, 0] ^ states
        mixed = first.astype("<u4").view(np.uint8).reshape(-1, 4)
        states = tables[7].take(mixed[:, 0])
        for i in range(1, 4):
            states ^= tables[7 - i].take(mixed[:, i])
        for i in range(4, 8):
            states ^= tables[7 - i].take(column[:, i])
    return states


def _joined(state: np.uint32, states: np.ndarray, length: int) -> np.uint32:
    """The state after `state` and consecutive chunks of `length` bytes."""
    shift = _shift_by(length)
    while states.size > 1:
        states = _applied(shift, states[0::2]) ^ states[1::2]
        shift = _applied(shift, shift)
    before = _applied(shift, np.array([state], np.uint32))
    return (before ^ states)[0]


def _applied(matrix: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A linear map over GF(2), given by the images of the 32 bits, applied to each value."""
    result = np.zeros_like(values)
    for bit in range(32):
        result ^= matrix[bit] * ((values >> np.uint32(bit)) & np.uint32(1))
    return result


@functools.lru_cache(maxsize=64)
def _shift_by(length: int) -> np.ndarray:
    """The linear map from a state to that after `length` zero bytes."""
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    step = _tables()[0][bits & np.uint32(255)] ^ (bits >> np.uint32(8))
    total = bits
    while length:
        if length & 1:
            total = _applied(step, total)
        step = _applied(step, step)
        length >>= 1
    return total


@functools.cache
def _first_table() -> list[int]:
    return list(_tables()[0].tolist())


@functools.cache
def _tables() -> list[np.ndarray]:
    """Table k: the state after a byte and k zero bytes."""
    first = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        first = (first >> np.uint32(1)) ^ (_POLYNOMIAL * (first & np.uint32(1)))
    tables = [first]
    for _ in range(7):
        last = tables[-1]
        tables.append(first[last & np.uint32(255)] ^ (last >> np.uint32(8)))
    return tables
