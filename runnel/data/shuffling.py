"""shuffle: the documented shuffle buffer, with the original's random numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from .dataset import Dataset, invalid, number, scalar
from .failures import Failed, caught
from .selecting import _Same
from .sources import Seeded, random_words
from .structure import Leaves


class _ShuffleDataset(Seeded, _Same):
    """The elements in the order of draws from a shuffle buffer.

    The buffer is a ring. A draw takes a random element, moves the oldest to its slot, and puts the
    next element of the input into the slot of the oldest.
    """

    def __init__(self, dataset: Dataset, buffer_size: Any, seed: Any, anew: bool) -> None:
        super().__init__(dataset)
        self._tensors = (scalar(buffer_size, name="buffer_size"),)
        self._take_seeds(seed, anew)
        size = number(self._tensors[0])
        if size is not None and size < 1 and size != -2:
            raise invalid(
                "buffer_size must be greater than zero or UNKNOWN_CARDINALITY", "ShuffleDatasetV3"
            )

    def _buffer(self) -> int:
        size = self._value(0)
        if size >= 0:
            return size
        count = self._inputs[0]._size()
        return count if count > 0 else 1 << 62

    def _elements(self) -> Iterator[Leaves]:
        return _PastFailures(self._inputs[0]._elements, self._buffer(), self._seeds.next())


class _PastFailures:
    """Elements in random order; errors are raised as soon as they would enter the buffer."""

    def __init__(
        self, begin: Callable[[], Iterator[Leaves]], size: int, seeds: tuple[int, int]
    ) -> None:
        self._failures: deque[Failed] = deque()
        # Elements drawn while errors occurred, and whether the input ended.
        self._drawn: Leaves | None = None
        self._ended = False
        self._order = shuffled(_others(begin, self._failures), size, seeds)

    def __iter__(self) -> _PastFailures:
        return self

    def __next__(self) -> Leaves:
        drawn, self._drawn = self._drawn, None
        if drawn is None and not self._ended:
            drawn = next(self._order, None)
            self._ended = drawn is None
        if self._failures:
            self._drawn = drawn
            raise self._failures.popleft().error
        if drawn is None:
            raise StopIteration
        return drawn


def _others(begin: Callable[[], Iterator[Leaves]], failures: deque[Failed]) -> Iterator[Leaves]:
    # The input begins, and draws its own random orders, at the first request.
    for each in caught(begin()):
        if type(each) is Failed:
            failures.append(each)
        else:
            yield each


def shuffled(values: Iterator[Any], size: int, seeds: tuple[int, int]) -> Iterator[Any]:
    """The values in the order of draws from a buffer of this size."""
    ring: list[Any] = []
    for value in values:
        ring.append(value)
        if len(ring) == size:
            break
    size = len(ring)
    if not size:
        return
    draws = random_words(seeds)
    ahead: list[int] = []
    position = 0
    # The buffer stays full until the input ends.
    for value in values:
        if not ahead:
            block = next(draws)
            ahead = (block % size)[::-1].tolist()
            raw = block[::-1].tolist()
        oldest = position % size
        place = (position + ahead.pop()) % size
        chosen = ring[place]
        ring[place] = ring[oldest]
        ring[oldest] = value
        position += 1
        yield chosen
    rest = [] if not ahead else raw[: len(ahead)]
    for left in range(size, 0, -1):
        if not rest:
            rest = next(draws)[::-1].tolist()
        place = (position + rest.pop() % left) % size
        chosen = ring[place]
        ring[place] = ring[position % size]
        position += 1
        yield chosen
