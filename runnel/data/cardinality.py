"""How many elements a dataset has: a number, or that it is infinite or unknown."""

from __future__ import annotations

from collections.abc import Sequence

INFINITE = -1
UNKNOWN = -2


def of_zip(sizes: Sequence[int]) -> int:
    """The shortest decides."""
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
    """So many times as many; None: the count is not known yet."""
    if count is None:
        return UNKNOWN
    if count < 0:
        return 0 if size == 0 else INFINITE
    if count == 0:
        return 0
    return size if size < 0 else size * count


def of_take(size: int, count: int | None) -> int:
    """At most so many."""
    if count is None or size == UNKNOWN:
        return UNKNOWN
    if size == INFINITE:
        return INFINITE if count < 0 else count
    return size if count < 0 else min(size, count)


def of_skip(size: int, count: int | None) -> int:
    """What is left after so many."""
    if count is None:
        return UNKNOWN
    if size < 0:
        return size
    return 0 if count < 0 else max(0, size - count)


def of_batches(size: int, batch: int | None, drop_remainder: bool) -> int:
    """Full batches, and one for the rest."""
    if size < 0:
        return size
    if batch is None:
        return UNKNOWN
    return size // batch if drop_remainder else -(-size // batch)
