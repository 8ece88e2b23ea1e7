"""Optimized pipeline stages: rows represented by their indices, whole batches."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..compiler.plan import Plan
from ..core import errors, nest
from .batching import Grouped, _BatchDataset, stacked
from .dataset import Dataset
from .failures import Failed, caught
from .mapping import _MapDataset, _ParallelMapDataset, located
from .shuffling import shuffled
from .structure import Leaves, rows_of
from .vectorizing import rows_at_once

# Functions of single rows run on as many rows at once as fit into this many bytes.
_AT_ONCE = 1 << 16
_MOST_AT_ONCE = 512
# The number of row indices that are processed at once.
BLOCK = 8192


class Rows(NamedTuple):
    """Elements that are rows of arrays.

    `blocks()` begins an iteration: arrays of row indices, in sequence. `functions` are applied to
    the gathered rows. `ordered`: all rows of the arrays, in order.
    """

    arrays: list[Any]
    blocks: Callable[[], Iterator[Any]]
    functions: tuple[Callable[[list[Any]], list[Any]], ...] = ()
    ordered: bool = False

    def through(self, change: Callable[[Iterator[Any]], Iterator[Any]]) -> Rows:
        """The same arrays with a selection or permutation of the rows."""
        blocks = self.blocks
        return self._replace(blocks=lambda: change(blocks()), ordered=False)

    def gathered(self, which: Any) -> list[Any]:
        """Gather the rows with these indices, as arrays."""
        first, last = int(which[0]), int(which[-1])
        if last - first == len(which) - 1 and (np.diff(which) == 1).all():
            arrays = [array[first : last + 1] for array in self.arrays]
        else:
            arrays = [array.take(which, axis=0) for array in self.arrays]
        for function in self.functions:
            arrays = function(arrays)
        return arrays


class RowsDataset(Dataset):
    """A pipeline represented by row indices."""

    def __init__(self, dataset: Dataset, rows: Rows) -> None:
        self._spec = dataset.element_spec
        self._specs = nest.flatten(self._spec)
        self._count = dataset._size
        self.rows = rows

    def _size(self) -> int:
        return self._count()

    def _elements(self) -> Iterator[Leaves]:
        # Iterations draw their random orders at the beginning, not at the first request.
        return self._single(self.rows.blocks())

    def _elements_after(self, count: int) -> Iterator[Leaves]:
        return self._single(after(self.rows.blocks(), count))

    def _single(self, blocks: Iterator[Any]) -> Iterator[Leaves]:
        if self.rows.functions:
            return self._computed(blocks)
        row = rows_of(self.rows.arrays)
        return (row(index) for block in blocks for index in block.tolist())

    def _computed(self, blocks: Iterator[Any]) -> Iterator[Leaves]:
        most, size = min(_MOST_AT_ONCE, rows_at_once(self._specs, _AT_ONCE)), 1
        for block in blocks:
            start = 0
            while start < len(block):
                which = block[start : start + size]
                row = rows_of(self.rows.gathered(which))
                yield from map(row, range(len(which)))
                start += size
                # Start with small blocks, for consumers of a few elements only.
                size = min(2 * size, most)


class GatheredBatches(Dataset):
    """Batches of rows."""

    def __init__(self, dataset: _BatchDataset, rows: Rows) -> None:
        self._spec = dataset.element_spec
        self._count = dataset._size
        self._rows = rows
        self._batch = int(dataset._tensors[0]._array)
        self._drop = dataset._drop

    def _size(self) -> int:
        return self._count()

    def _elements(self) -> Iterator[Leaves]:
        return self._batches(self._rows.blocks())

    def _elements_after(self, count: int) -> Iterator[Leaves]:
        return self._batches(after(self._rows.blocks(), count * self._batch))

    def _batches(self, blocks: Iterator[Any]) -> Iterator[Leaves]:
        size, gathered = self._batch, self._rows.gathered
        rest = np.empty(0, np.intp)
        for block in blocks:
            if len(rest):
                block = np.concatenate([rest, block])
            full = len(block) // size * size
            for start in range(0, full, size):
                yield gathered(block[start : start + size])
            rest = block[full:]
        if len(rest) and not self._drop:
            yield gathered(rest)


class MapAndBatchDataset(Dataset):
    """The results of a function, written into batches as they are computed."""

    def __init__(self, batch: _BatchDataset, mapped: _MapDataset) -> None:
        self._inputs = (mapped,)
        self._mapped = mapped
        self._spec = batch.element_spec
        self._specs = batch._specs
        self._batch = int(batch._tensors[0]._array)
        self._drop = batch._drop
        self._program = mapped._function.on_batches()

    def _elements(self) -> Iterator[Leaves]:
        if self._program is not None:
            return _AtOnce(self._mapped, self._program.plan, self._batch, self._drop)
        mapped, places = self._mapped, None
        if isinstance(mapped, _ParallelMapDataset):
            places = _Places(self._batch) if mapped.ordered else None
            put = None if places is None else places.put
            elements = mapped.in_groups(self._batch, put)
        else:
            elements = mapped._elements()
        return _Filled(elements, self._batch, self._drop, self._joined, places)

    def _joined(self, rows: list[Leaves]) -> Leaves:
        columns = zip(*rows, strict=True)
        return [stacked(column, place) for place, column in enumerate(columns)]


class _Filled(Grouped):
    """Batches that are filled element by element; continues after a failed batch."""

    def __init__(
        self, elements: Iterator[Leaves], size: int, drop: bool,
        join: Callable[[list[Leaves]], Leaves], places: _Places | None,
    ) -> None:  # fmt: skip
        super().__init__(elements, size, drop, join)
        self._places = places

    def __next__(self) -> Leaves:
        size, filled, unfit = self._size, 0, None
        try:
            arrays = self._begun(next(self._elements))
            filled = 1
            for leaves in itertools.islice(self._elements, size - 1):
                # What is in these arrays is at its position: elements before it did not fail.
                if not (type(leaves) is _Placed and leaves.arrays is arrays):
                    if not _fits(arrays, leaves):
                        unfit = leaves
                        break
                    _put(arrays, filled, leaves)
                filled += 1
        except errors.OpError:
            # The whole batch is dropped: the next one begins at the regular position.
            deque(itertools.islice(caught(self._elements), size - filled - 1), 0)
            raise
        if unfit is not None:
            self._refuse(arrays, filled, unfit)
        if filled == size:
            return arrays
        if self._drop:
            raise StopIteration
        return [array[:filled] for array in arrays]

    def _begun(self, first: Leaves) -> list[Any]:
        """The arrays of a batch, containing its first element."""
        places = self._places
        if places is not None and type(first) is _Placed:
            if first.place == 0:
                places.begin(first.batch)
                return first.arrays
            # The source failed: batches no longer begin at the expected positions.
            places.stop()
        arrays = _room(self._size, first)
        _put(arrays, 0, first)
        return arrays

    def _refuse(self, arrays: list[Any], filled: int, leaves: Leaves) -> None:
        """Consume the rest of the batch and raise the error for elements of different shapes."""
        rest = list(itertools.islice(self._elements, self._size - 1 - filled))
        before = [[array[i, ...] for array in arrays] for i in range(filled)]
        self._join([*before, leaves, *rest])


class _Placed(list[Any]):
    """The leaves of an element that are already in the arrays of a batch."""

    def __init__(self, arrays: list[Any], batch: int, place: int) -> None:
        super().__init__([array[place, ...] for array in arrays])
        self.arrays = arrays
        self.batch = batch
        self.place = place


class _Places:
    """The batch arrays that results belong in, so that worker threads write them directly.

    A thread has its result in the caches of its core.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        # By index, the batches that are being filled; None: the positions of results are unknown.
        self._batches: dict[int, list[Any]] | None = {}

    def put(self, index: int, leaves: Leaves) -> Leaves:
        """Write the leaves of the element with this index to their position."""
        batch, place = divmod(index, self._size)
        with self._lock:
            if self._batches is None:
                return leaves
            arrays = self._batches.get(batch)
            if arrays is None:
                arrays = self._batches[batch] = _room(self._size, leaves)
        if not _fits(arrays, leaves):
            return leaves
        _put(arrays, place, leaves)
        return _Placed(arrays, batch, place)

    def begin(self, batch: int) -> None:
        """Release the batches before this one, and allocate the next."""
        with self._lock:
            if self._batches is not None:
                for number in [number for number in self._batches if number < batch]:
                    del self._batches[number]
                begun = self._batches.get(batch)
                if begun is not None and batch + 1 not in self._batches:
                    # Memory that threads allocate is returned to the system when freed.
                    room = [np.empty(array.shape, array.dtype) for array in begun]
                    self._batches[batch + 1] = room

    def stop(self) -> None:
        """Stop writing results."""
        with self._lock:
            self._batches = None


class _AtOnce:
    """Batches from a vectorized function; element by element if that fails.

    The results are those of an element-wise iteration: the error of the first element that fails,
    followed by the next batch.
    """

    def __init__(self, mapped: _MapDataset, plan: Plan, size: int, drop: bool) -> None:
        self._elements = mapped._inputs[0]._elements()
        self._function = mapped._function
        self._captured = mapped._tensors
        self._plan = plan
        self._size = size
        self._drop = drop
        self._index = 0

    def __iter__(self) -> _AtOnce:
        return self

    def __next__(self) -> Leaves:
        taken = list(itertools.islice(caught(self._elements), self._size))
        failed = any(type(leaves) is Failed for leaves in taken)
        short = len(taken) < self._size
        if not taken or (self._drop and short and not failed):
            # Elements that no batch needs are computed, too: they may raise errors.
            self._one_by_one(taken)
            raise StopIteration
        if failed or len(taken) == 1:
            return self._joined(self._one_by_one(taken))
        try:
            columns: Any = zip(*taken, strict=True)
            arrays = [stacked(column) for column in columns]
            results = self._plan.run(*arrays, *[tensor._array for tensor in self._captured])
        except Exception:
            return self._joined(self._one_by_one(taken))
        self._index += len(taken)
        return list(results)

    def _one_by_one(self, taken: list[Any]) -> list[Leaves]:
        results = []
        index = self._index
        self._index += sum(type(leaves) is not Failed for leaves in taken)
        for leaves in taken:
            if type(leaves) is Failed:
                raise leaves.error
            try:
                results.append(self._function.call(leaves, self._captured))
            except errors.OpError as failure:
                raise located(failure, self._function.name, index) from None
            index += 1
        return results

    def _joined(self, rows: list[Leaves]) -> Leaves:
        return [stacked(column, place) for place, column in enumerate(zip(*rows, strict=True))]


def _room(size: int, leaves: Leaves) -> list[Any]:
    """Arrays for this many elements like this one."""
    return [np.empty((size, *leaf.shape), leaf.dtype) for leaf in leaves]


def _fits(arrays: list[Any], leaves: Leaves) -> bool:
    """Whether an element has the shape of the elements in the arrays of a batch."""
    pairs = zip(arrays, leaves, strict=True)
    return all(array.shape[1:] == leaf.shape for array, leaf in pairs)


def _put(arrays: list[Any], place: int, leaves: Leaves) -> None:
    for array, leaf in zip(arrays, leaves, strict=True):
        array[place] = leaf[()] if leaf.shape == () else leaf


# Blocks of row indices.


def counted(count: int) -> Iterator[Any]:
    """The indices up to a count."""
    for start in range(0, count, BLOCK):
        yield np.arange(start, min(start + BLOCK, count))


def first(blocks: Iterator[Any], left: int) -> Iterator[Any]:
    """The first indices."""
    if not left:
        return
    for block in blocks:
        yield block[:left]
        left -= len(block)
        if left <= 0:
            return


def after(blocks: Iterator[Any], left: int) -> Iterator[Any]:
    """All but the first indices."""
    for block in blocks:
        if left < len(block):
            yield block[left:]
        left = max(0, left - len(block))


def every(blocks: Iterator[Any], step: int, place: int) -> Iterator[Any]:
    """Every `step`-th index, starting at position `place`."""
    position = 0
    for block in blocks:
        start = (place - position) % step
        if start < len(block):
            yield block[start::step]
        position += len(block)


def in_random_order(
    begin: Callable[[], Iterator[Any]], size: int, pair: tuple[int, int]
) -> Iterator[Any]:
    """The indices in the order of draws from a shuffle buffer, which is filled at the first
    request.
    """
    drawn: list[int] = []
    numbers = (each for block in begin() for each in block.tolist())
    for each in shuffled(numbers, size, pair):
        drawn.append(each)
        if len(drawn) == BLOCK:
            yield np.array(drawn)
            drawn = []
    if drawn:
        yield np.array(drawn)
