"""How far an iteration reads ahead of its consumer.

The original prepares one element ahead at least. That shows where random orders are drawn while an
iteration runs, as `repeat` draws one for each round of a shuffled dataset: an iteration that is
left at the end of a round has drawn the order of the next round already, and the iteration after
it draws the one behind that. A training run with `steps_per_epoch` is left like this.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from .combining import _ConcatenateDataset
from .dataset import Dataset
from .failures import Failed
from .generators import _FlatMapDataset as _GeneratorDataset
from .parallel import _PrefetchDataset
from .selecting import _OptionsDataset, _RepeatDataset
from .structure import Leaves


def settled_orders(dataset: Dataset) -> list[int]:
    """The number of draws from each of the seeds, after all prefetching readers have settled."""
    orders = dataset._random_orders()
    for seeds in orders:
        for reader in list(seeds.readers):
            reader.settle()
    return [seeds.drawn for seeds in orders]


def started(dataset: Dataset, after: int = 0) -> Iterator[Leaves]:
    """Begin a top-level iteration over a dataset, not one nested in another dataset."""
    elements = dataset._start(after=after)
    last = dataset
    while isinstance(last, _OptionsDataset):
        last = last._inputs[0]
    if isinstance(last, _PrefetchDataset) or not drawn_while_running(dataset) or _waits(dataset):
        return elements
    return OneAhead(elements)


def drawn_while_running(dataset: Dataset) -> list[Any]:
    """The seeds that an iteration draws from while it runs, not only at its beginning."""
    inputs = dataset._inputs
    if isinstance(dataset, _RepeatDataset) and dataset._value(0) not in (0, 1):
        later = inputs
    else:
        later = inputs[1:] if isinstance(dataset, _ConcatenateDataset) else ()
    found = [seeds for each in later for seeds in each._random_orders() if seeds.anew]
    return found + [
        seeds for each in inputs if each not in later for seeds in drawn_while_running(each)
    ]


def _waits(dataset: Dataset) -> bool:
    # A generator may wait for the program to process the previous element.
    return isinstance(dataset, _GeneratorDataset) or any(map(_waits, dataset._inputs))


class OneAhead:
    """Elements with a lookahead of one."""

    def __init__(self, elements: Iterator[Leaves]) -> None:
        self._elements = elements
        self._next: Any = None

    def __iter__(self) -> OneAhead:
        return self

    def __next__(self) -> Leaves:
        current = self._fetched() if self._next is None else self._next
        if type(current) is Failed and isinstance(current.error, StopIteration):
            self._next = current
            raise StopIteration
        self._next = self._fetched()
        if type(current) is Failed:
            raise current.error
        leaves: Leaves = current
        return leaves

    def _fetched(self) -> Any:
        try:
            return next(self._elements)
        except Exception as failure:
            return Failed(failure)


def numbers_ahead(blocks: Iterator[Any], count: int) -> Iterator[Any]:
    """Blocks of row numbers with a lookahead of `count` numbers."""
    held: deque[Any] = deque()
    known = 0
    for block in blocks:
        held.append(block)
        known += len(block)
        while held and known - len(held[0]) >= count:
            known -= len(held[0])
            yield held.popleft()
        if held and known > count:
            # The numbers of the oldest block that have enough others after them.
            ready = known - count
            yield held[0][:ready]
            held[0] = held[0][ready:]
            known = count
    yield from held
