"""FarmHash's Fingerprint64: a platform-independent, stable 64-bit hash of bytes."""

from __future__ import annotations

import numpy as np

_MASK = 2**64 - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def alike(lengths):
    """Equal keys for string lengths that are hashed by the same steps (an array)."""
    return np.where(lengths <= 64, lengths, 64 + (lengths - 1) // 64)


def fingerprint64(data: bytes) -> int:
    """The fingerprint of bytes.

    >>> from runnel.ops.farmhash import fingerprint64
    >>> hex(fingerprint64(b"a"))
    '0xb3454265b6df75e3'
    """
    length = len(data)
    if length <= 16:
        return _up_to_16(data, length)
    if length <= 32:
        return _up_to_32(data, length)
    if length <= 64:
        return _up_to_64(data, length)
    return _longer(data, length)


def _word(data, start, size=8):
    # Data other than bytes holds many strings (see strings/hash_functions.py), and gives columns of
    # words.
    part = data[start : start + size]
    return int.from_bytes(part, "little") if type(part) is bytes else part


def _half(data, start):
    return _word(data, start, 4)


def _rotated(value, places):
    value &= _MASK
    return (value >> places | value << (64 - places)) & _MASK


def _mixed(value):
    value &= _MASK
    return value ^ value >> 47


def _joined(u, v, factor):
    a = _mixed(((u ^ v) & _MASK) * factor)
    b = _mixed(((v ^ a) & _MASK) * factor)
    return b * factor & _MASK


def _up_to_16(data, length):
    factor = _K2 + length * 2
    if length >= 8:
        a, b = _word(data, 0) + _K2, _word(data, length - 8)
        c = _rotated(b, 37) * factor + a
        d = (_rotated(a, 25) + b) * factor
        return _joined(c & _MASK, d & _MASK, factor)
    if length >= 4:
        return _joined(length + (_half(data, 0) << 3), _half(data, length - 4), factor)
    if length:
        y = data[0] + (data[length >> 1] << 8)
        z = length + (data[-1] << 2)
        return _mixed(y * _K2 ^ z * _K0) * _K2 & _MASK
    return _K2


def _ends(data, length, first, factor):
    a, b = _word(data, 0) * first & _MASK, _word(data, 8)
    c, d = _word(data, length - 8) * factor, _word(data, length - 16) * _K2
    y = (_rotated(a + b, 43) + _rotated(c, 30) + d) & _MASK
    return a, y, _joined(y, (a + _rotated(b + _K2, 18) + c) & _MASK, factor)


def _up_to_32(data, length):
    return _ends(data, length, _K1, _K2 + length * 2)[2]


def _up_to_64(data, length):
    factor = _K2 + length * 2
    a, y, z = _ends(data, length, _K2, factor)
    e, f = _word(data, 16) * factor, _word(data, 24)
    g, h = (y + _word(data, length - 32)) * factor, (z + _word(data, length - 24)) * factor
    u = _rotated(e + f, 43) + _rotated(g, 30) + h
    return _joined(u & _MASK, (e + _rotated(f + a, 18) + g) & _MASK, factor)


def _weak(data, start, a, b):
    w, x, y, z = (_word(data, start + 8 * i) for i in range(4))
    a += w
    b = _rotated(b + a + z, 21)
    c = a
    a = a + x + y
    b += _rotated(a, 44)
    return (a + z) & _MASK, (b + c) & _MASK


def _round(data, start, x, y, z, v, w, factor, last=False):
    """Hash a block of 64 bytes; the last block has other factors."""
    nine = 9 if last else 1
    x = _rotated(x + y + v[0] + _word(data, start + 8), 37) * factor & _MASK
    y = _rotated(y + v[1] + _word(data, start + 48), 42) * factor
    x ^= w[1] * nine & _MASK
    y = (y + v[0] * nine + _word(data, start + 40)) & _MASK
    z = _rotated(z + w[0], 33) * factor & _MASK
    v = _weak(data, start, v[1] * factor & _MASK, x + w[0])
    w = _weak(data, start + 32, z + w[1], y + _word(data, start + 16))
    return z, y, x, v, w


def _longer(data, length):
    seed = 81
    y = (seed * _K1 + 113) & _MASK
    z = _mixed(y * _K2 + 113) * _K2 & _MASK
    x = ((seed * _K2 & _MASK) + _word(data, 0)) & _MASK
    v = w = (0, 0)
    end = (length - 1) // 64 * 64
    if type(data) is bytes:
        rest, last = (length - 1) & 63, data[-64:]
    else:
        rest, last = (data.lengths - 1) & 63, data.last(64)
    for start in range(0, end, 64):
        x, y, z, v, w = _round(data, start, x, y, z, v, w, _K1)
    factor = _K1 + ((z & 0xFF) << 1)
    first = w[0] + rest
    v = ((v[0] + first) & _MASK, v[1])
    w = ((first + v[0]) & _MASK, w[1])
    x, y, z, v, w = _round(last, 0, x, y, z, v, w, factor, last=True)
    u = _joined(v[0], w[0], factor) + _mixed(y) * _K0 + z
    return _joined(u & _MASK, (_joined(v[1], w[1], factor) + x) & _MASK, factor)
