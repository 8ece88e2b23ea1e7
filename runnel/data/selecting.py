"""Selection of elements: take, skip, repeat, shard, filter, unique."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import dtypes, errors, nest
from ..core.logger import get_logger
from ..core.type_spec import TensorSpec
from . import cardinality
from .cardinality import UNKNOWN
from .dataset import Dataset, invalid, number, scalar
from .failures import Failed, Raising, caught, going_on
from .functions import Traced
from .options import Options
from .structure import Leaves


class _Same(Dataset):
    """A dataset with the element spec of its input."""

    def __init__(self, dataset: Dataset) -> None:
        self._inputs = (dataset,)
        self._spec = dataset.element_spec

    def _value(self, place: int) -> int:
        return int(self._tensors[place]._array)


class _OptionsDataset(_Same):
    """The same elements with other options."""

    def __init__(self, dataset: Dataset, options: Options) -> None:
        super().__init__(dataset)
        self._given_options = options

    def _elements(self) -> Iterator[Leaves]:
        return self._inputs[0]._elements()


class _TakeDataset(_Same):
    """The first elements."""

    def __init__(self, dataset: Dataset, count: Any) -> None:
        super().__init__(dataset)
        self._tensors = (scalar(count, name="count"),)

    def _size(self) -> int:
        return cardinality.of_take(self._inputs[0]._size(), number(self._tensors[0]))

    def _elements(self) -> Iterator[Leaves]:
        count = self._value(0)
        if count == 0:
            return iter(())
        elements = self._inputs[0]._elements()
        return elements if count < 0 else going_on(_first, elements, count)


def _first(elements: Iterator[Any], left: int) -> Iterator[Any]:
    for each in elements:
        yield each
        left -= type(each) is not Failed
        if left == 0:
            return


class _SkipDataset(_Same):
    """All but the first elements."""

    def __init__(self, dataset: Dataset, count: Any) -> None:
        super().__init__(dataset)
        self._tensors = (scalar(count, name="count"),)

    def _size(self) -> int:
        return cardinality.of_skip(self._inputs[0]._size(), number(self._tensors[0]))

    def _elements(self) -> Iterator[Leaves]:
        count = self._value(0)
        if count < 0:
            return iter(())
        elements = self._inputs[0]._elements()
        return going_on(_after, elements, count) if count else elements


def _after(elements: Iterator[Any], left: int) -> Iterator[Any]:
    for each in elements:
        if left == 0:
            yield each
        elif type(each) is Failed:
            # It is unknown what would be skipped in the input.
            yield each
            return
        else:
            left -= 1


class _RepeatDataset(_Same):
    """All elements repeated."""

    def __init__(self, dataset: Dataset, count: Any) -> None:
        super().__init__(dataset)
        self._tensors = (scalar(count, name="count"),)

    def _size(self) -> int:
        return cardinality.of_repeat(self._inputs[0]._size(), number(self._tensors[0]))

    # Whether another order is drawn and discarded after the last epoch: the original does so,
    # except when shuffle and repeat are fused.
    draws_one_more = True

    def _elements(self) -> Iterator[Leaves]:
        elements = self._inputs[0]._elements
        rounds = again(self._value(0), lambda: caught(elements()), self.draws_one_more)
        return Raising(rounds)


def again(count: int, begin: Callable[[], Iterator[Any]], draws_one_more: bool) -> Iterator[Any]:
    """The elements of repeated iterations; -1: infinitely."""
    # The first iteration begins at once: it draws its random order now, used or not.
    return _rounds(count, begin(), begin, draws_one_more) if count else iter(())


def _rounds(
    count: int, current: Iterator[Any], begin: Callable[[], Iterator[Any]], draws_one_more: bool
) -> Any:
    for turn in itertools.count(1) if count < 0 else range(1, count + 1):
        empty = True
        for each in current:
            empty = False
            yield each
        if turn != count or draws_one_more:
            current = begin()
        if empty and count < 0:
            # Repeating an empty dataset infinitely would not terminate.
            return


# For both arguments of `shard`: filled in by the distribution strategy.
SHARD_HINT = -1


class _ShardDataset(_Same):
    """Every n-th element."""

    def __init__(self, dataset: Dataset, num_shards: Any, index: Any) -> None:
        super().__init__(dataset)
        self._tensors = scalar(num_shards, name="num_shards"), scalar(index, name="index")
        shards, place = (number(tensor) for tensor in self._tensors)
        if shards == place == SHARD_HINT:
            return
        if shards is not None and shards < 1:
            raise invalid(
                "Number of shards must be greater than zero (currently num_shards = "
                f"{shards}).", "ShardDataset",
            )  # fmt: skip
        if shards is not None and place is not None and not 0 <= place < shards:
            raise invalid(
                f"Index must be between 0 and {shards - 1} (currently index = {place}).",
                "ShardDataset",
            )

    def _size(self) -> int:
        size = self._inputs[0]._size()
        if size < 0 or self._symbolic():
            return size if size < 0 else UNKNOWN
        shards, place = self._value(0), self._value(1)
        if shards == SHARD_HINT:
            return size
        return size // shards + (place < size % shards)

    def _elements(self) -> Iterator[Leaves]:
        if self._value(0) == SHARD_HINT:
            raise errors.FailedPreconditionError(
                None, None,
                "`tf.data.Dataset.shard(SHARD_HINT, ...)` has no elements of its own: it waits "
                "for tf.distribute.Strategy.experimental_distribute_dataset() with "
                "`tf.data.experimental.AutoShardPolicy.HINT`. Give shard() numbers instead.",
            )  # fmt: skip
        return going_on(_every, self._inputs[0]._elements(), self._value(0), self._value(1))


def _every(elements: Iterator[Any], step: int, place: int) -> Iterator[Any]:
    position = 0
    for each in elements:
        if type(each) is Failed:
            yield each
            continue
        if position % step == place:
            yield each
        position += 1


class _Tested(_Same):
    """Elements filtered by a predicate."""

    _argument = "predicate"

    def __init__(self, dataset: Dataset, predicate: Callable[..., Any]) -> None:
        super().__init__(dataset)
        self._function = Traced(predicate, dataset.element_spec, type(self).__name__.strip("_"))
        output = self._function.output
        fits = output is None or (
            type(output) is TensorSpec
            and output.dtype is dtypes.bool
            and output.shape.is_compatible_with([])
        )
        if not fits:
            raise ValueError(
                f"Invalid `{self._argument}`. `{self._argument}` must return a `tf.bool` scalar "
                f"tensor, but its return type is {output}."
            )
        self._tensors = self._function.captured

    def _size(self) -> int:
        return UNKNOWN

    def _test(self) -> Callable[[Leaves], bool]:
        call, tensors = self._function.call, self._tensors
        return lambda leaves: bool(call(leaves, tensors)[0])


class _FilterDataset(_Tested):
    """The elements for which a predicate is true."""

    def _elements(self) -> Iterator[Leaves]:
        return filter(self._test(), self._inputs[0]._elements())


class _TakeWhileDataset(_Tested):
    """The elements before the first one for which a predicate is false."""

    def _elements(self) -> Iterator[Leaves]:
        return itertools.takewhile(self._test(), self._inputs[0]._elements())


class _UniqueDataset(_Same):
    """The elements without duplicates."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset)
        specs = nest.flatten(dataset.element_spec)
        for spec in specs:
            kind = getattr(spec, "dtype", spec)
            if kind not in (dtypes.int32, dtypes.int64, dtypes.string):
                raise TypeError(
                    f"`tf.data.Dataset.unique` does not support type {kind!r} -- only `tf.int32`, "
                    "`tf.int64`, and `tf.string` are supported."
                )
        if len(specs) != 1:
            raise invalid(
                "UniqueDataset only supports inputs with a single component.", "UniqueDataset"
            )

    def _size(self) -> int:
        return UNKNOWN

    def _elements(self) -> Iterator[Leaves]:
        return going_on(_without_repetitions, self._inputs[0]._elements())


def _without_repetitions(elements: Iterator[Any]) -> Iterator[Any]:
    seen = set()
    for leaves in elements:
        if type(leaves) is Failed:
            yield leaves
            continue
        array = np.asarray(leaves[0])
        key = (array.shape, tuple(array.ravel().tolist()))
        if key not in seen:
            seen.add(key)
            yield leaves


class _IgnoreErrorsDataset(_Same):
    """The elements that raise no error."""

    def __init__(self, dataset: Dataset, log_warning: bool) -> None:
        super().__init__(dataset)
        self._log = log_warning

    def _size(self) -> int:
        return UNKNOWN

    def _elements(self) -> Iterator[Leaves]:
        return self._good(self._inputs[0]._elements())

    def _good(self, elements: Iterator[Leaves]) -> Iterator[Leaves]:
        while True:
            try:
                yield next(elements)
            except StopIteration:
                return
            except errors.OpError as failure:
                if self._log:
                    get_logger().warning("Error raised with error message %s", failure)


class _AssertCardinalityDataset(_Same):
    """Elements with an asserted cardinality; an error if it is wrong."""

    def __init__(self, dataset: Dataset, expected: Any) -> None:
        super().__init__(dataset)
        self._tensors = (scalar(expected),)

    def _size(self) -> int:
        size = number(self._tensors[0])
        return UNKNOWN if size is None else size

    def _elements(self) -> Iterator[Leaves]:
        return self._counted(self._inputs[0]._elements())

    def _counted(self, elements: Iterator[Leaves]) -> Iterator[Leaves]:
        expected, given = self._value(0), 0

        def shown(count: int) -> str:
            return f"{count} element" + ("" if count == 1 else "s")

        for leaves in elements:
            given += 1
            if 0 <= expected < given:
                raise errors.FailedPreconditionError(
                    None, None,
                    f"Input dataset was expected to contain {shown(expected)} but contained at "
                    f"least {shown(given)}.",
                )  # fmt: skip
            yield leaves
        if given < expected:
            raise errors.FailedPreconditionError(
                None, None,
                f"Input dataset was expected to contain {shown(expected)} but contained only "
                f"{shown(given)}.",
            )  # fmt: skip
        if expected == cardinality.INFINITE:
            raise errors.FailedPreconditionError(
                None, None,
                "Input dataset was expected to contain an infinite number of elements but "
                f"contained only {shown(given)}.",
            )  # fmt: skip
