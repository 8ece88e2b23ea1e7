"""64-bit hashes of bytes, for one string or vectorized over many.

The arithmetic is the same for Python's integers and for arrays of 64-bit words; `Columns` presents
many strings to a hash function as if they were one, each of its words an array.
"""

from __future__ import annotations

import itertools

import numpy as np

_MASK = 2**64 - 1
_FACTOR = 0xC6A4A7935BD1E995
_SEED = 0xDECAFCAFFE

# Fewer strings are hashed faster one by one.
_FEW = 32
_FEW_OF_A_LENGTH = 8


class Columns:
    """Many strings; a slice of up to 8 bytes is an array of little-endian words.

    They are sorted by length. Of longer ones than the first, slices show no more bytes than it has;
    `last` shows those at the end.
    """

    def __init__(self, strings: list[bytes]) -> None:
        self._strings = strings
        self._length = len(strings[0])
        if len(strings[-1]) > self._length:
            strings = [string[: self._length] for string in strings]
        bytes_of_all = b"".join(strings)
        self._bytes = np.frombuffer(bytes_of_all, np.uint8).reshape(len(strings), self._length)

    def __len__(self) -> int:
        return self._length

    @property
    def lengths(self):
        """The length of each string."""
        return np.fromiter(map(len, self._strings), np.uint64, len(self._strings))

    def last(self, count: int) -> Columns:
        """The last bytes of each string."""
        return Columns([string[-count:] for string in self._strings])

    def __getitem__(self, key):
        part = self._bytes[:, key]
        if part.ndim == 1:
            return part.astype(np.uint64)
        if part.shape[1] == 8:
            return part.copy().view("<u8")[:, 0]
        words = np.zeros((len(part), 8), np.uint8)
        words[:, : part.shape[1]] = part
        return words.view("<u8")[:, 0]


def hashes(function, strings: np.ndarray, alike=None) -> np.ndarray:
    """The hash of each string in an array.

    `function` takes `Columns` of strings of one length, or of lengths with the same `alike` number.
    """
    flat = strings.ravel()
    if flat.size < _FEW:
        numbers = [function(string) for string in flat.tolist()]
        return np.array(numbers, np.uint64).reshape(strings.shape)
    lengths = np.fromiter(map(len, flat), np.int64, flat.size)
    order = np.argsort(lengths, kind="stable")
    by_length = flat[order].tolist()
    groups = lengths[order] if alike is None else alike(lengths[order])
    starts = np.flatnonzero(np.diff(groups, prepend=-1)).tolist()
    found = np.empty(flat.size, np.uint64)
    for start, end in itertools.pairwise([*starts, flat.size]):
        group = by_length[start:end]
        if len(group) < _FEW_OF_A_LENGTH:
            found[start:end] = [function(string) for string in group]
        else:
            found[start:end] = function(Columns(group))
    result = np.empty_like(found)
    result[order] = found
    return result.reshape(strings.shape)


def _word(data, start, size=8):
    part = data[start : start + size]
    return int.from_bytes(part, "little") if type(part) is bytes else part


def murmur64(data, seed: int = _SEED):
    """MurmurHash64A (Austin Appleby)."""
    size = len(data)
    value = seed ^ size * _FACTOR & _MASK
    end = size & ~7
    for start in range(0, end, 8):
        word = _word(data, start) * _FACTOR & _MASK
        word = (word ^ word >> 47) * _FACTOR & _MASK
        value = (value ^ word) * _FACTOR & _MASK
    if size & 7:
        value = (value ^ _word(data, end, size & 7)) * _FACTOR & _MASK
    value = (value ^ value >> 47) * _FACTOR & _MASK
    return value ^ value >> 47


def siphash(data, first_key: int, second_key: int):
    """SipHash with 2 rounds per word and 4 at the end (Aumasson and Bernstein)."""
    k0, k1 = first_key & _MASK, second_key & _MASK
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573
    size = len(data)
    end = size & ~7
    words = [_word(data, start) for start in range(0, end, 8)]
    words.append(_word(data, end, size - end) | (size & 0xFF) << 56)
    for word in words:
        v0, v1, v2, v3 = _round(*_round(v0, v1, v2, v3 ^ word))
        v0 = v0 ^ word
    v2 = v2 ^ 0xFF
    for _ in range(4):
        v0, v1, v2, v3 = _round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


def _round(v0, v1, v2, v3):
    v0 = (v0 + v1) & _MASK
    v2 = (v2 + v3) & _MASK
    v1 = (v1 << 13 | v1 >> 51) & _MASK ^ v0
    v3 = (v3 << 16 | v3 >> 48) & _MASK ^ v2
    v0 = (v0 << 32 | v0 >> 32) & _MASK
    v2 = (v2 + v1) & _MASK
    v0 = (v0 + v3) & _MASK
    v1 = (v1 << 17 | v1 >> 47) & _MASK ^ v2
    v3 = (v3 << 21 | v3 >> 43) & _MASK ^ v0
    v2 = (v2 << 32 | v2 >> 32) & _MASK
    return v0, v1, v2, v3
