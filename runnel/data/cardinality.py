"""The cardinality of datasets: a number, infinite, or unknown."""

from __future__ import annotations

from collections.abc import Sequence

INFINITE = -1
UNKNOWN = -2


def of_zip(sizes: Sequence[int]) -> int:
    """The minimum."""
    result = INFINITE
    for size in sizes:
        if size == UNKNOWN:
            return UNKNOWN
        if size != INFINITE and (result == INFINITE or size < result):
            result = size
    return result


def of_concatenation(first: int, second: int) -> int:
    """The sum."""
    if INFINITE in (first, second):
        return INFINITE
    return UNKNOWN if UNKNOWN in (first, second) else first + second


def of_repeat(size: int, count: int | None) -> int:
    """The product; None for the count: not known yet."""
    if count is None:
        return UNKNOWN
    if count < 0:
        return 0 if size == 0 else INFINITE
    if count == 0:
        return 0
    return size if size < 0 else size * count


def of_take(size: int, count: int | None) -> int:
    """The minimum of both."""
    if count is None or size == UNKNOWN:
        return UNKNOWN
    if size == INFINITE:
        return INFINITE if count < 0 else count
    return size if count < 0 else min(size, count)


def of_skip(size: int, count: int | None) -> int:
    """The remaining elements."""
    if count is None:
        return UNKNOWN
    if size < 0:
        return size
    return 0 if count < 0 else max(0, size - count)


def of_batches(size: int, batch: int | None, drop_remainder: bool) -> int:
    """Full batches, and one for the remainder."""
    if size < 0:
        return size
    if batch is None:
        return UNKNOWN
    return size // batch if drop_remainder else -(-size // batch)
