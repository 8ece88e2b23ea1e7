"""Philox-4x32-10, the counter-based generator of all random ops, and its transforms to numbers.

A 64-bit key and a 128-bit counter give a group of four 32-bit words; the groups of consecutive
counters are a stream. The streams and the transforms of the words into numbers are TensorFlow's (on
a CPU), so that equal seeds give equal numbers.

Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2, 3", 2011.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime.workers import parallel_for

Array = np.ndarray[Any, Any]

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10

MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF
MASK128 = (1 << 128) - 1

# A stateful op advances by this many groups per number, however few it used.
GROUPS_PER_NUMBER = 256

# Groups per block: enough to amortize the call overhead of the loops, and threads rarely wait for
# each other between two of them.
_BLOCK = 1 << 16
# Pairs of numbers per Box-Muller block, in buffers of the same size.
_PAIRS = 1 << 15
# Up to this many groups Python integers beat NumPy's call overhead: one group after the other, or
# all packed into one long integer.
_ONE_BY_ONE = 2
_FEW = 96
# Groups per thread: below, a second thread is not profitable.
_PER_THREAD = 1 << 16

_MASK32, _BITS32 = np.uint64(MASK32), np.uint64(32)
_LOW_WORD = 0 if sys.byteorder == "little" else 1
_LOW_SIDE, _HIGH_SIDE = (slice(0, -1), slice(1, None))[:: 1 - 2 * _LOW_WORD]
_MULTIPLIER_0, _MULTIPLIER_1 = np.uint64(MULTIPLIERS[0]), np.uint64(MULTIPLIERS[1])


def philox(key: int, counter: int) -> tuple[int, int, int, int]:
    """The four words of one group."""
    low_key, high_key = key & MASK32, (key >> 32) & MASK32
    c0, c1 = counter & MASK32, (counter >> 32) & MASK32
    c2, c3 = (counter >> 64) & MASK32, (counter >> 96) & MASK32
    for _ in range(ROUNDS):
        p0, p1 = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1 = (p1 >> 32) ^ c1 ^ low_key, p1 & MASK32
        c2, c3 = (p0 >> 32) ^ c3 ^ high_key, p0 & MASK32
        low_key, high_key = (low_key + KEY_STEPS[0]) & MASK32, (high_key + KEY_STEPS[1]) & MASK32
    return c0, c1, c2, c3


def scramble(seed: Any) -> tuple[int, int]:
    """The key and the counter of a stateless op with a seed of two integers."""
    first, second = (int(word) & MASK64 for word in seed)
    c0, c1, c2, c3 = philox(0x02461E293EC8F720, first | second << 64)
    return c0 | c1 << 32, (c2 | c3 << 32) << 64


class _Block:
    """The rounds of many groups at once, in reused buffers.

    The words c0 and c2 are in one row of 64-bit words, the products of a round in another, those of
    the round before, whose low halves are c1 and c3, in a third. Viewed as 32-bit words, a row
    shifted by one word aligns its high halves with the other's low ones: the element-wise operation
    is contiguous, which is faster even though the rest must be masked.
    """

    def __init__(self, key: int, size: int) -> None:
        self.keys = [
            (key + KEY_STEPS[0] * r & MASK32, (key >> 32) + KEY_STEPS[1] * r & MASK32)
            for r in range(ROUNDS)
        ]
        self.buffers, self.out = _buffers(size)

    def words(self, low: Array, upper: int) -> Array:
        """The words, (n, 4), of the counters `low + (upper << 32)`; valid until the next call."""
        size = len(low)
        if size <= _FEW:
            return _words_of_few(self.keys, low, upper)
        rows = self.buffers[:, : 2 * size + 1]
        x, x0, x2 = rows[0, :-1], rows[0, :size], rows[0, size:-1]
        x_low = rows[0].view(np.uint32)[_LOW_SIDE]
        last, now = (
            (
                row[:size],
                row[size:-1],
                row.view(np.uint32)[_HIGH_SIDE],
                row.view(np.uint32)[_LOW_SIDE],
            )
            for row in rows[1:]
        )
        self._first_rounds(low, upper, x0, x2, *last[:2])
        for key0, key1 in self.keys[2:]:
            np.multiply(x2, _MULTIPLIER_1, out=now[0])
            np.multiply(x0, _MULTIPLIER_0, out=now[1])
            np.bitwise_xor(now[2], last[3], out=x_low)
            np.bitwise_and(x, _MASK32, out=x)
            np.bitwise_xor(x0, np.uint64(key0), out=x0)
            np.bitwise_xor(x2, np.uint64(key1), out=x2)
            last, now = now, last
        out = self.out[:size]
        for place, each in enumerate((x0, last[0], x2, last[1])):
            out[:, place] = each.view(np.uint32)[_LOW_WORD::2]
        return out

    def _first_rounds(
        self, low: Array, upper: int, x0: Array, x2: Array, p1: Array, p0: Array
    ) -> None:
        """The first two rounds take half of the work: three words are uniform over the block."""
        (key0, key1), (key2, key3) = self.keys[:2]
        c1, c2, c3 = (upper >> shift & MASK32 for shift in (0, 32, 64))
        np.multiply(low, _MULTIPLIER_0, out=p0)
        np.right_shift(p0, _BITS32, out=x2)
        np.bitwise_xor(x2, np.uint64(c3 ^ key1), out=x2)
        product = MULTIPLIERS[1] * c2
        c0, c1 = (product >> 32) ^ c1 ^ key0, product & MASK32

        np.multiply(x2, _MULTIPLIER_1, out=p1)
        np.right_shift(p1, _BITS32, out=x0)
        np.bitwise_xor(x0, np.uint64(c1 ^ key2), out=x0)
        np.bitwise_and(p0, _MASK32, out=x2)
        product = MULTIPLIERS[0] * c0
        np.bitwise_xor(x2, np.uint64((product >> 32) ^ key3), out=x2)
        p0.fill(product & MASK32)

    def words_at(self, counter: int, offsets: Array) -> Array:
        """The words of the counters `counter + offsets`; valid until the next call."""
        low = offsets + np.uint64(counter & MASK64)
        least, most = int(low.min()), int(low.max())
        if least >> 32 == most >> 32:
            carry = least < counter & MASK64
            low &= _MASK32
            return self.words(low, (counter >> 64) + carry << 32 | least >> 32)
        out = np.empty((len(low), 4), np.uint32)
        low >>= _BITS32
        for each in np.unique(low):
            chosen = low == each
            out[chosen] = self.words_at(counter, offsets[chosen])
        return out

    def words_from(self, counter: int, size: int) -> Array:
        """The words of consecutive counters; valid until the next call."""
        first = counter & MASK32
        if first + size > 1 << 32:
            return self.words_at(counter, np.arange(size, dtype=np.uint64))
        return self.words(np.arange(first, first + size, dtype=np.uint64), counter >> 32)


def _words_of_few(keys: list[tuple[int, int]], low: Array, upper: int) -> Array:
    """The words of the counters `low + (upper << 32)`: each occupies 64 bits of a long integer."""
    size = len(low)
    ones = ((1 << 64 * size) - 1) // MASK64
    mask = ones * MASK32
    c0 = int.from_bytes(low.astype("<u8").tobytes(), "little")
    c1, c2, c3 = ((upper >> shift & MASK32) * ones for shift in (0, 32, 64))
    for key0, key1 in keys:
        p0, p1 = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1 = (p1 >> 32 & mask) ^ c1 ^ key0 * ones, p1 & mask
        c2, c3 = (p0 >> 32 & mask) ^ c3 ^ key1 * ones, p0 & mask
    out = np.empty((size, 2), "<u8")
    for place, pair in enumerate((c0 | c1 << 32, c2 | c3 << 32)):
        out[:, place] = np.frombuffer(pair.to_bytes(8 * size, "little"), "<u8")
    return out.view("<u4").astype(np.uint32)


_kept = threading.local()


def _buffers(size: int) -> tuple[Array, Array]:
    """Three rows for a block, and the resulting groups; large ones are cached per thread.

    Page faults of fresh memory would cost as much as the computation.
    """
    if size >= _BLOCK // 16 and hasattr(_kept, "buffers"):
        buffers: tuple[Array, Array] = _kept.buffers
        if len(buffers[1]) >= size:
            return buffers
    buffers = np.empty((3, 2 * size + 1), np.uint64), np.empty((size, 4), np.uint32)
    if size >= _BLOCK // 16:
        _kept.buffers = buffers
    return buffers


def words_at(key: int, counter: int, offsets: Array) -> Array:
    """The groups at `counter + offsets`: 32-bit words of shape `offsets.shape + (4,)`."""
    flat = offsets.reshape(-1)
    if flat.size <= _ONE_BY_ONE:
        groups = [philox(key, counter + int(offset)) for offset in flat]
        return np.array(groups, np.uint32).reshape(*offsets.shape, 4)
    out = np.empty((flat.size, 4), np.uint32)
    block = _Block(key, min(_BLOCK, flat.size))
    for start in range(0, flat.size, _BLOCK):
        part = flat[start : start + _BLOCK]
        out[start : start + _BLOCK] = block.words_at(counter, part)
    return out.reshape(*offsets.shape, 4)


def words(key: int, counter: int, groups: int) -> Array:
    """`groups` consecutive groups from `counter` on: 32-bit words of shape (groups, 4)."""
    if groups <= _ONE_BY_ONE:
        one_by_one = [philox(key, counter + i) for i in range(groups)]
        return np.array(one_by_one, np.uint32).reshape(groups, 4)
    out = np.empty((groups, 4), np.uint32)
    block = _Block(key, min(_BLOCK, groups))
    for start in range(0, groups, _BLOCK):
        part = out[start : start + _BLOCK]
        part[...] = block.words_from(counter + start, len(part))
    return out


def transformed(
    shape: Any,
    dtype: Any,
    key: int,
    counter: int,
    transform: Callable[[Array], Array],
    per_group: int,
) -> Array:
    """An array of the transform of consecutive groups, `per_group` numbers of each."""
    out = np.empty(shape, dtype)
    flat = out.reshape(-1)
    groups = -(-flat.size // per_group)
    if groups <= _FEW:
        if groups:
            flat[:] = transform(words(key, counter, groups)).reshape(-1)[: flat.size]
        return out

    def work(first: int, limit: int) -> None:
        block = _Block(key, min(_BLOCK, limit - first))
        for start in range(first, limit, _BLOCK):
            size = min(_BLOCK, limit - start)
            part = flat[start * per_group : (start + size) * per_group]
            values = transform(block.words_from(counter + start, size))
            part[:] = values.reshape(-1)[: part.size]

    parallel_for(work, groups, _PER_THREAD)
    return out


# Transforms: each maps words (n, 4) to (n, 4) numbers, or to (n, 2) if a number takes two words.
# The result may overwrite the words.


def uniform_float16(words: Array) -> Array:
    bits = (words & np.uint32(0x3FF) | np.uint32(0x3C00)).astype(np.uint16)
    return bits.view(np.float16) - np.float16(1)


def uniform_bfloat16(words: Array) -> Array:
    bits = (words & np.uint32(0x7F) | np.uint32(0x3F80)) << np.uint32(16)
    return bits.view(np.float32) - np.float32(1)


def uniform_float32(words: Array) -> Array:
    words &= np.uint32(0x7FFFFF)
    words |= np.uint32(0x3F800000)
    values = words.view(np.float32)
    values -= np.float32(1)
    return values


def uniform_float64(words: Array) -> Array:
    bits = (words[..., 0::2] & np.uint32(0xFFFFF)).astype(np.uint64)
    bits |= np.uint64(0x3FF00000)
    bits <<= _BITS32
    bits |= words[..., 1::2]
    values = bits.view(np.float64)
    values -= 1
    return values


def integers64(words: Array) -> Array:
    return words[..., 0::2] | words[..., 1::2].astype(np.uint64) << _BITS32


# Box-Muller: sqrt(-2 log u) times the sine and the cosine of 2 pi v. The original calls the C
# library's logf, sinf and cosf. For bit-exact numbers on every platform, these are evaluated here
# with the coefficients of glibc (published by Arm, MIT licence), in double precision, and rounded
# once. That is also faster than NumPy's double-precision functions.

_LOG_INVERSES = np.array([float.fromhex(digits) for digits in (
    "0x1.661ec79f8f3bep+0", "0x1.571ed4aaf883dp+0", "0x1.49539f0f010bp+0", "0x1.3c995b0b80385p+0",
    "0x1.30d190c8864a5p+0", "0x1.25e227b0b8eap+0", "0x1.1bb4a4a1a343fp+0", "0x1.12358f08ae5bap+0",
    "0x1.0953f419900a7p+0", "0x1p+0", "0x1.e608cfd9a47acp-1", "0x1.ca4b31f026aap-1",
    "0x1.b2036576afce6p-1", "0x1.9c2d163a1aa2dp-1", "0x1.886e6037841edp-1", "0x1.767dcf5534862p-1",
)])  # fmt: skip
# Table lookup by sixteenths of each octave from 2**-24 to 1.4.
_LOG_FIRST = 0x3F330000 - (24 << 23)
_LOG_OCTAVES = np.arange(-24, 1.0)[:, None]
_LOG_SCALES = (_LOG_INVERSES * 2.0**-_LOG_OCTAVES).reshape(-1)
_LOG_OFFSETS = (_LOG_OCTAVES * float.fromhex("0x1.62e42fefa39efp-1") - np.log(_LOG_INVERSES)
                ).reshape(-1)  # fmt: skip
_LOG_2, _LOG_3, _LOG_4 = (
    float.fromhex(digits)
    for digits in ("-0x1.ffffef20a4123p-2", "0x1.5575b0be00b6ap-2", "-0x1.00ea348b88334p-2")
)
_SIN_3, _SIN_5, _SIN_7 = (
    float.fromhex(digits)
    for digits in ("-0x1.555545995a603p-3", "0x1.1107605230bc4p-7", "-0x1.994eb3774cf24p-13")
)
_COS_2, _COS_4, _COS_6, _COS_8 = (
    float.fromhex(digits)
    for digits in (
        "-0x1.ffffffd0c621cp-2",
        "0x1.55553e1068f19p-5",
        "-0x1.6c087e89a359dp-10",
        "0x1.99343027bf8c3p-16",
    )
)
_LEAST = 1e-7


def log_float32(x: Array) -> Array:
    """The logarithm of numbers from 2**-24 to 1, as the C library's `logf` rounds it."""
    index = ((x.view(np.int32) - _LOG_FIRST) >> 19).astype(np.intp)
    out = np.empty(x.shape, np.float32)
    _log(x, index, np.empty(x.shape), np.empty(x.shape), out)
    return out


def _log(x: Array, index: Array, r: Array, y: Array, out: Array) -> None:
    _LOG_SCALES.take(index, out=r, mode="clip")
    r *= x
    r -= 1
    np.multiply(r, _LOG_4, out=y)
    y += _LOG_3
    y *= r
    y += _LOG_2
    y *= r
    y *= r
    y += r
    _LOG_OFFSETS.take(index, out=r, mode="clip")
    y += r
    out[...] = y


def normal_float32(words: Array) -> Array:
    uniform = uniform_float32(words)
    pairs = uniform.reshape(-1, 2)
    for start in range(0, len(pairs), _PAIRS):
        _box_muller(pairs[start : start + _PAIRS])
    return uniform


def _box_muller(pairs: Array) -> None:
    """Transform pairs of uniform numbers into pairs of normal ones, in place."""
    first, angle, square, sine, cosine = _workspace()[:, : len(pairs)]
    # Copied first: strided loops over every second number are far slower.
    x = pairs[:, 0].copy()
    np.maximum(x, np.float32(_LEAST), out=x)
    radius = np.empty_like(x)
    quarter = radius.view(np.int32)
    np.subtract(x.view(np.int32), _LOG_FIRST, out=quarter)
    quarter >>= 19
    index = first.view(np.int64)
    index[...] = quarter
    angle[...] = x
    _log(angle, index, sine, cosine, radius)
    radius *= np.float32(-2)
    np.sqrt(radius, out=radius)

    angle[...] = pairs[:, 1]
    angle *= 2 * np.pi
    x[...] = angle
    angle[...] = x
    np.multiply(angle, 2 / np.pi, out=first)
    np.rint(first, out=first)
    quarter = first.astype(np.int32)
    first *= np.pi / 2
    angle -= first
    np.multiply(angle, angle, out=square)
    np.multiply(square, _SIN_7, out=sine)
    sine += _SIN_5
    sine *= square
    sine += _SIN_3
    sine *= square
    sine *= angle
    sine += angle
    np.multiply(square, _COS_8, out=cosine)
    cosine += _COS_6
    cosine *= square
    cosine += _COS_4
    cosine *= square
    cosine += _COS_2
    cosine *= square
    cosine += 1
    # Odd quadrants swap the two, and the signs depend on the quadrant. Done on the bits: np.where
    # takes longer than all of the polynomials.
    sines, cosines = (each.astype(np.float32).view(np.int32) for each in (sine, cosine))
    swap = (sines ^ cosines) & -(quarter & 1)
    sines ^= swap ^ (quarter & 2) << 30
    cosines ^= swap ^ (quarter + 1 & 2) << 30
    np.multiply(sines.view(np.float32), radius, out=pairs[:, 0])
    np.multiply(cosines.view(np.float32), radius, out=pairs[:, 1])


def _workspace() -> Array:
    if not hasattr(_kept, "workspace"):
        _kept.workspace = np.empty((5, _PAIRS))
    return _kept.workspace


def normal_float64(words: Array) -> Array:
    uniform = uniform_float64(words)
    radius = np.sqrt(-2 * np.log(np.maximum(uniform[..., 0::2], _LEAST)))
    angle = uniform[..., 1::2] * (2 * np.pi)
    np.multiply(np.sin(angle), radius, out=uniform[..., 0::2])
    np.multiply(np.cos(angle), radius, out=uniform[..., 1::2])
    return uniform


UNIFORM = {
    "float16": uniform_float16,
    "bfloat16": uniform_bfloat16,
    "float32": uniform_float32,
    "float64": uniform_float64,
}


def numbers_per_group(dtype: Any) -> int:
    """How many numbers of this dtype a group gives."""
    return 2 if np.dtype(dtype).itemsize == 8 else 4


def uniform_numbers(shape: Any, dtype: Any, key: int, counter: int) -> Array:
    """Uniform numbers in [0, 1)."""
    dtype = np.dtype(dtype)
    return transformed(shape, dtype, key, counter, UNIFORM[dtype.name], numbers_per_group(dtype))


def integers(shape: Any, dtype: Any, key: int, counter: int) -> Array:
    """Uniform integers over the full range of the dtype."""
    dtype = np.dtype(dtype)
    if dtype.itemsize == 4:
        return transformed(shape, dtype, key, counter, lambda words: words.view(dtype), 4)
    return transformed(shape, dtype, key, counter, lambda words: integers64(words).view(dtype), 2)


def uniform_integers(shape: Any, dtype: Any, low: int, high: int, key: int, counter: int) -> Array:
    """Uniform integers in [low, high): the words modulo high - low."""
    dtype = np.dtype(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    size, start = unsigned.type(high - low), np.array(low).astype(unsigned)
    whole = integers64 if dtype.itemsize == 8 else np.asarray

    def transform(words: Array) -> Array:
        numbers = whole(words)
        numbers %= size
        numbers += start
        return numbers.view(dtype)

    return transformed(shape, dtype, key, counter, transform, numbers_per_group(dtype))


def normal_numbers(shape: Any, dtype: Any, key: int, counter: int) -> Array:
    """Standard normal numbers."""
    dtype = np.dtype(dtype)
    transform = normal_float64 if dtype == np.float64 else normal_float32
    return transformed(shape, dtype, key, counter, transform, numbers_per_group(dtype))


def truncated_normal_numbers(shape: Any, dtype: Any, key: int, counter: int) -> Array:
    """Standard normal numbers in (-2, 2); others are redrawn.

    A group of numbers has its own section of the stream, of 256 numbers.
    """
    dtype = np.dtype(dtype)
    transform = normal_float64 if dtype == np.float64 else normal_float32
    width = numbers_per_group(dtype)
    stride = GROUPS_PER_NUMBER * width // 4
    out = np.empty(shape, dtype)
    flat = out.reshape(-1)

    def work(first: int, limit: int) -> None:
        for start in range(first, limit, _BLOCK):
            starts = np.arange(start, min(start + _BLOCK, limit), dtype=np.uint64)
            values = _first_accepted(transform, key, counter, starts * np.uint64(stride), width)
            part = flat[start * width : (start + starts.size) * width]
            part[:] = values.reshape(-1)[: part.size]

    parallel_for(work, -(-flat.size // width), _PER_THREAD)
    return out


def _first_accepted(
    transform: Callable[[Array], Array], key: int, counter: int, starts: Array, width: int
) -> Array:
    """The first `width` numbers within 2 of 0 of the streams at `starts`."""
    values = transform(words_at(key, counter, starts))
    # The flags of a group are bytes; viewed as one integer it is nonzero if any is set.
    again = np.flatnonzero((np.abs(values) >= 2).view(f"u{width}"))
    candidates, tries = values.take(again, axis=0), 1
    while again.size:
        more = transform(words_at(key, counter, starts[again] + np.uint64(tries)))
        candidates, tries = np.concatenate([candidates, more], axis=1), tries + 1
        good = np.abs(candidates) < 2
        order = good.astype(np.int8)
        for before, after in itertools.pairwise(order.T):
            after += before
        enough = order[:, -1] >= width
        good &= order <= width
        good &= enough[:, np.newaxis]
        accepted = candidates.reshape(-1).take(np.flatnonzero(good))
        values[again[enough]] = accepted.reshape(-1, width)
        again, candidates = again[~enough], candidates[~enough]
    return values
