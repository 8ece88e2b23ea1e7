"""Pipeline optimization: pipelines are rewritten before they run, with the same results.

`begin(dataset)` begins an iteration. It traverses the pipeline once, from its sources on, and
applies the rewrite rule of each transformation:

- Elements that are rows of arrays are represented by their indices (`Rows`): sources in memory, and
`take`, `skip`, `shard`, `repeat`, `shuffle` and `zip` over them, process indices only.
- A `map` over rows is deferred until they are gathered and then runs vectorized on all of them, if
`vectorizing` proves that the results are the same.
- `batch` gathers whole batches; contiguous rows are not even copied.
- `map` and `batch` are fused: results are written into the batch.
- No-ops are eliminated: `repeat(1)`, `skip(0)`, `take(-1)`, `prefetch` of rows.

Options control this: `apply_default_optimizations = False` runs the pipeline unoptimized,
`noop_elimination = False` and `map_and_batch_fusion = False` disable these two.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import errors
from ..core.tensor import SymbolicTensor
from . import parallel, selecting, sources
from .ahead import drawn_while_running, numbers_ahead
from .batching import _BatchDataset, _ParallelBatchDataset
from .cardinality import INFINITE, UNKNOWN
from .combining import _ZipDataset
from .dataset import Dataset, _VariantDataset, invalid
from .functions import Debugging, Traced
from .fused import (
    GatheredBatches,
    MapAndBatchDataset,
    Rows,
    RowsDataset,
    after,
    counted,
    every,
    first,
    in_random_order,
)
from .mapping import _MapDataset, _ParallelMapDataset
from .shuffling import _ShuffleDataset
from .structure import Leaves, are_plain

# Longer ranges are computed instead of stored as arrays.
_LONGEST_ARRAY = 1 << 24

# The functions of an iteration by their position in the pipeline.
Functions = dict[Any, Traced]


def begin(dataset: Dataset, functions: Functions | None = None) -> Iterator[Leaves]:
    """Begin an iteration over a dataset; `functions` are those of the enclosing iteration."""
    return optimized(anew(dataset, {} if functions is None else functions))._elements()


def begin_after(dataset: Dataset, count: int) -> Iterator[Leaves]:
    """Begin an iteration after this many elements, skipping their computation if possible."""
    return elements_after(optimized(anew(dataset, {})), count)


def anew(dataset: Dataset, functions: Functions, path: tuple[int, ...] = ()) -> Dataset:
    """The dataset with functions seeded for one iteration.

    Each position in the pipeline has its own functions, whose random state continues when it
    restarts.
    """
    if isinstance(dataset, _VariantDataset):
        inner = dataset._inner()
        return dataset if inner is None else anew(inner, functions, (*path, 0))
    inputs = [anew(each, functions, (*path, at)) for at, each in enumerate(dataset._inputs)]
    found = {
        name: value
        for name, value in vars(dataset).items()
        if type(value) is Traced and value.begins_anew
    }
    if not found and all(new is old for new, old in zip(inputs, dataset._inputs, strict=True)):
        return dataset
    copied = _over(dataset, inputs)
    for name, traced in found.items():
        key = (*path, traced)
        if key not in functions:
            functions[key] = traced.renewed()
        setattr(copied, name, functions[key])
    return copied


def element_at(dataset: Dataset, index: int) -> Leaves:
    """One element, by its index."""
    size = dataset._size()
    if size == INFINITE:
        raise errors.FailedPreconditionError(
            None, None,
            f"{dataset!r} has infinite cardinality, which does not support random access. Use "
            "take() first.",
        )  # fmt: skip
    if size == UNKNOWN:
        raise errors.UnimplementedError(
            None, None,
            f"Random access is not implemented for {dataset!r}, whose cardinality is unknown.",
        )  # fmt: skip
    if not 0 <= index < size:
        raise errors.OutOfRangeError(None, None, f"Index out of range [0, {size}):{index}")
    return next(begin_after(dataset, index))


def elements_after(dataset: Dataset, count: int) -> Iterator[Leaves]:
    """The elements of an optimized dataset, without the first ones."""
    if isinstance(dataset, RowsDataset | GatheredBatches):
        return dataset._elements_after(count)
    if isinstance(dataset, parallel._PrefetchDataset):
        return dataset.ahead(elements_after(dataset._inputs[0], count))
    elements = dataset._elements()
    for _ in range(count):
        next(elements)
    return elements


def optimized(dataset: Dataset) -> Dataset:
    """The optimized form of a dataset."""
    options = dataset.options()
    given = options.experimental_optimization
    if given.apply_default_optimizations is False:
        return dataset
    choices = Choices(
        noops=given.noop_elimination is not False,
        fusion=given.map_and_batch_fusion is not False and not Debugging.on,
        deterministic=options.deterministic,
    )
    return _rewritten(dataset, choices)


class Choices(NamedTuple):
    """The effective options of the whole pipeline."""

    noops: bool
    fusion: bool
    deterministic: bool | None


def _rewritten(dataset: Dataset, choices: Choices) -> Dataset:
    if isinstance(dataset, selecting._TakeDataset):
        below = dataset._inputs[0]
        if isinstance(below, parallel._PrefetchDataset):
            # Nothing is prefetched, and no random order drawn, beyond the last element.
            dataset = _over(below, [_over(dataset, below._inputs)])
    inputs = [_rewritten(each, choices) for each in dataset._inputs]
    rule = _RULES.get(type(dataset))
    made = None if rule is None else rule(dataset, inputs, choices)
    if made is not None:
        return made
    if all(new is old for new, old in zip(inputs, dataset._inputs, strict=True)):
        return dataset
    return _over(dataset, inputs)


def _over(dataset: Any, inputs: Sequence[Dataset]) -> Any:
    """The same transformation of rewritten inputs."""
    # The description and the optimized dataset use the same random orders and caches.
    copied = copy.copy(dataset)
    copied._inputs = tuple(inputs)
    return copied


# Rules: a dataset and its rewritten inputs -> the rewritten dataset, or None: unchanged.


def _rows(dataset: Dataset) -> Rows | None:
    return dataset.rows if isinstance(dataset, RowsDataset) else None


def _slices(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    if not dataset._plain or any(isinstance(each, SymbolicTensor) for each in dataset._tensors):
        return None
    arrays = [tensor._array for tensor in dataset._tensors]
    count = len(arrays[0])
    if any(len(array) != count for array in arrays):
        raise invalid(
            f"Dimensions {[len(array) for array in arrays]} of the first axes differ.",
            "TensorSliceDataset",
        )
    return RowsDataset(dataset, Rows(arrays, lambda: counted(count), ordered=True))


def _range(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    if not 0 <= dataset._size() <= _LONGEST_ARRAY:
        return None
    array = _numbers(dataset, dataset._size())
    return RowsDataset(dataset, Rows([array], lambda: counted(len(array)), ordered=True))


def _numbers(dataset: Any, count: int) -> Any:
    numbers = dataset._numbers()[:count]
    return np.arange(numbers.start, numbers.stop, numbers.step).astype(dataset._type)


def _zip(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    count = dataset._size()
    if not 0 <= count <= _LONGEST_ARRAY:
        return None
    arrays: list[Any] = []
    for each in inputs:
        rows = _rows(each)
        if rows is not None and rows.ordered and not rows.functions:
            arrays += [array[:count] for array in rows.arrays]
        elif isinstance(each, sources._RangeDataset):
            arrays.append(_numbers(each, count))
        else:
            return None
    return RowsDataset(dataset, Rows(arrays, lambda: counted(count), ordered=True))


def _take(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    count, rows = dataset._value(0), _rows(inputs[0])
    if count < 0 and choices.noops:
        return inputs[0]
    if rows is None or count < 0:
        return None
    if count == 0:
        return RowsDataset(dataset, rows._replace(blocks=lambda: iter(()), ordered=False))
    return RowsDataset(dataset, rows.through(lambda blocks: first(blocks, count)))


def _skip(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    count, rows = dataset._value(0), _rows(inputs[0])
    if count == 0 and choices.noops:
        return inputs[0]
    if rows is None or count < 0:
        return None
    return RowsDataset(dataset, rows.through(lambda blocks: after(blocks, count)))


def _repeat(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    count, rows = dataset._value(0), _rows(inputs[0])
    if count == 1 and choices.noops:
        return inputs[0]
    one_more = not (choices.noops and isinstance(_meant(dataset._inputs[0]), _ShuffleDataset))
    if rows is None:
        copied = _over(dataset, inputs)
        copied.draws_one_more = one_more
        return copied
    again, blocks = selecting.again, rows.blocks
    return RowsDataset(
        dataset, rows._replace(blocks=lambda: again(count, blocks, one_more), ordered=False)
    )


# The counts with which transformations are no-ops.
_IDLE = {
    selecting._RepeatDataset: 1,
    selecting._SkipDataset: 0,
    selecting._TakeDataset: -1,
    parallel._PrefetchDataset: 0,
}


def _meant(dataset: Any) -> Dataset:
    """The dataset below any no-ops."""
    while isinstance(dataset, selecting._OptionsDataset) or (
        type(dataset) in _IDLE and dataset._value(0) == _IDLE[type(dataset)]
    ):
        dataset = dataset._inputs[0]
    return dataset


def _shard(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    rows = _rows(inputs[0])
    if rows is None:
        return None
    step, place = dataset._value(0), dataset._value(1)
    if step < 1:
        return None
    return RowsDataset(dataset, rows.through(lambda blocks: every(blocks, step, place)))


def _shuffle(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    rows = _rows(inputs[0])
    if rows is None:
        return None
    blocks = rows.blocks

    def begun() -> Iterator[Any]:
        pair = dataset._seeds.next()
        return in_random_order(blocks, dataset._buffer(), pair)

    return RowsDataset(dataset, rows._replace(blocks=begun, ordered=False))


def _prefetch(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    rows = _rows(inputs[0])
    orders = drawn_while_running(dataset)
    # Rows of arrays need no prefetching.
    if rows is not None and not rows.functions and choices.noops:
        if not orders:
            return inputs[0]
        return RowsDataset(dataset, rows.through(lambda b: numbers_ahead(b, dataset.size(orders))))
    if not orders:
        return None
    copied = _over(dataset, inputs)
    copied.orders = orders
    return copied


def _options(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    return inputs[0]


def _map(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    rows = _rows(inputs[0])
    program = None if rows is None else dataset._function.on_batches()
    if rows is None or program is None or not program.total:
        return None
    plan = program.plan
    captured = [tensor._array for tensor in dataset._tensors]

    def on_rows(arrays: list[Any]) -> list[Any]:
        return list(plan.run(*arrays, *captured))

    functions = (*rows.functions, on_rows)
    return RowsDataset(dataset, rows._replace(functions=functions))


def _parallel_map(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    made = _map(dataset, inputs, choices)
    if made is None and dataset._deterministic is None:
        made = _over(dataset, inputs)
        made._deterministic = choices.deterministic is not False
    return made


def _batch(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    rows = _rows(inputs[0])
    if rows is not None:
        return GatheredBatches(dataset, rows)
    if choices.fusion and isinstance(inputs[0], _MapDataset) and are_plain(dataset._specs):
        return MapAndBatchDataset(dataset, inputs[0])
    return None


def _variant(dataset: Any, inputs: Sequence[Dataset], choices: Choices) -> Dataset | None:
    inner = dataset._inner()
    return None if inner is None else _rewritten(inner, choices)


_RULES: dict[type, Callable[[Any, Sequence[Dataset], Any], Dataset | None]] = {
    sources._TensorSliceDataset: _slices,
    sources._RangeDataset: _range,
    _ZipDataset: _zip,
    selecting._TakeDataset: _take,
    selecting._SkipDataset: _skip,
    selecting._RepeatDataset: _repeat,
    selecting._ShardDataset: _shard,
    selecting._OptionsDataset: _options,
    _ShuffleDataset: _shuffle,
    parallel._PrefetchDataset: _prefetch,
    _MapDataset: _map,
    _ParallelMapDataset: _parallel_map,
    _BatchDataset: _batch,
    _ParallelBatchDataset: _batch,
    _VariantDataset: _variant,
}
