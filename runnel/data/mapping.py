"""Functions of elements: map, flat_map, interleave, scan, reduce."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core import errors, nest
from ..core.context import state
from ..core.op import Op, execute
from ..core.tensor import Tensor
from .cardinality import INFINITE, UNKNOWN
from .dataset import Dataset, invalid, number, scalar
from .failures import Failed, caught, going_on
from .functions import Debugging, Traced, is_dataset_spec
from .parallel import Pace, Prefetched, in_threads
from .structure import (
    Leaves,
    Packer,
    arrays_of,
    leaves_of,
    normalized,
    relaxed,
    specs_of,
    tensors_of,
)


class Mapped:
    """The results of a function; continues after an element that it failed on."""

    def __init__(self, elements: Iterator[Leaves], function: Traced, tensors: Any) -> None:
        self._elements = elements
        self._function = function
        self._tensors = tensors
        self._index = 0

    def __iter__(self) -> Mapped:
        return self

    def __next__(self) -> Leaves:
        leaves = next(self._elements)
        index = self._index
        self._index = index + 1
        try:
            return self._function.call(leaves, self._tensors)
        except errors.OpError as failure:
            raise located(failure, self._function.name, index) from None


def located(failure: errors.OpError, transformation: str, index: int) -> Exception:
    """The error, with the transformation and the element that it occurred in."""
    message = (
        f"Error in user-defined function passed to {transformation} transformation, at element "
        f"{index}: {failure.message}"
    )
    kind: Any = type(failure)
    told: Exception = kind(None, None, message)
    return told


class _MapDataset(Dataset):
    """The result of a function for each element."""

    def __init__(self, dataset: Dataset, function: Callable[..., Any]) -> None:
        self._inputs = (dataset,)
        self._function = Traced(function, dataset.element_spec, type(self).__name__.strip("_"))
        if self._function.output is None:
            first = next(dataset._start(), None)
            if first is None:
                raise ValueError(
                    "While debugging, the types of a function's results come from its first "
                    "element, and there is none."
                )
            self._function.learn(first)
        if not self._function.specs or not tensors_flattened(self._function.specs):
            raise invalid(
                f"{self._function.name}: the function must return at least one tensor, but "
                f"returned {self._function.output}.", "MapDataset",
            )  # fmt: skip
        self._spec = self._function.output
        self._tensors = self._function.captured

    def _elements(self) -> Iterator[Leaves]:
        return Mapped(self._inputs[0]._elements(), self._function, self._tensors)


def tensors_flattened(specs: Sequence[Any]) -> list[Any]:
    """The specs of all tensors."""
    return [part for spec in specs for part in spec.flatten()]


class _ParallelMapDataset(_MapDataset):
    """The result of a function for each element, computed by several threads."""

    def __init__(
        self, dataset: Dataset, function: Callable[..., Any], calls: Any, deterministic: Any
    ) -> None:
        super().__init__(dataset, function)
        known = number(scalar(calls, name="num_parallel_calls"))
        self._calls = -1 if known is None else known
        if self._calls < 1 and self._calls != -1:
            raise invalid("num_parallel_calls must be greater than zero.", "ParallelMapDatasetV2")
        self._deterministic = deterministic
        self._pace = Pace()

    def _elements(self) -> Iterator[Leaves]:
        return self.in_groups(1, None)

    @property
    def ordered(self) -> bool:
        """Whether results are in the order of the elements."""
        if self._deterministic is None:
            return self.options().deterministic is not False
        return bool(self._deterministic)

    def in_groups(self, size: int, finish: Callable[[int, Leaves], Leaves] | None) -> Iterator[Any]:
        """The results for a consumer that needs groups of this size; see `in_threads`."""
        elements = self._inputs[0]._elements()
        if Debugging.on:
            return Mapped(elements, self._function, self._tensors)
        function, tensors = self._function, self._tensors

        def call(index: int, leaves: Leaves) -> Leaves:
            try:
                return function.call(leaves, tensors)
            except errors.OpError as failure:
                raise located(failure, function.name, index) from None

        threads = processors() if self._calls == -1 else self._calls
        return in_threads(call, elements, threads, self.ordered, self._pace, size, finish)


def processors() -> int:
    """The number of threads that can compute in parallel."""
    return os.cpu_count() or 1


class _FlatMapDataset(Dataset):
    """The elements of the datasets that a function returns."""

    def __init__(self, dataset: Dataset, function: Callable[..., Any]) -> None:
        self._inputs = (dataset,)
        self._function = Traced(function, dataset.element_spec, type(self).__name__.strip("_"))
        output = self._function.output
        if not is_dataset_spec(output):
            raise TypeError(
                "Invalid `map_func`. `map_func` must return a `Dataset` object. Got "
                f"{type(output).__name__}: {output}."
            )
        self._spec = output.element_spec
        self._tensors = self._function.captured

    def _size(self) -> int:
        return UNKNOWN

    def _begin(self, leaves: Leaves) -> Iterator[Leaves]:
        made: Dataset = self._function.call(leaves, self._tensors)[0]
        return made._start(functions=self._function.inner)

    def _elements(self) -> Iterator[Leaves]:
        return going_on(self._in_turn, self._inputs[0]._elements())

    def _in_turn(self, elements: Iterator[Any]) -> Iterator[Any]:
        for leaves in elements:
            begun = self._begun(leaves)
            if type(begun) is Failed:
                yield begun
            else:
                yield from begun

    def _begun(self, leaves: Any) -> Any:
        """An iteration over the dataset of an element, or the error."""
        if type(leaves) is Failed:
            return leaves
        try:
            return caught(self._begin(leaves))
        except errors.OpError as failure:
            return Failed(failure)


class _InterleaveDataset(_FlatMapDataset):
    """The interleaved elements of several such datasets."""

    def __init__(
        self, dataset: Dataset, function: Callable[..., Any], cycle: Any, block: Any
    ) -> None:
        super().__init__(dataset, function)
        self._captures = len(self._tensors)
        self._tensors = (
            *self._tensors,
            scalar(-1 if cycle is None else cycle),
            scalar(1 if block is None else block),
        )
        for tensor, name in zip(self._tensors[-2:], ("cycle_length", "block_length"), strict=True):
            value = number(tensor)
            if value is not None and value < 1 and value != -1:
                raise invalid(f"{name} must be greater than zero.", "InterleaveDataset")

    def _begin(self, leaves: Leaves) -> Iterator[Leaves]:
        captured = self._tensors[: self._captures]
        made: Dataset = self._function.call(leaves, captured)[0]
        return made._start(functions=self._function.inner)

    def _elements(self) -> Iterator[Leaves]:
        cycle, block = (int(tensor._array) for tensor in self._tensors[-2:])
        cycle = processors() if cycle == -1 else cycle
        return going_on(interleaved, self._inputs[0]._elements(), self._begun, cycle, block)


def interleaved(
    inputs: Iterator[Any] | None,
    begin: Callable[[Any], Any],
    cycle: int,
    block: int,
) -> Iterator[Any]:
    """The elements of several iterations round-robin; when one ends, the next input replaces it."""
    slots: list[Iterator[Any] | None] = [None] * cycle
    place = taken = opened = 0
    while inputs is not None or opened:
        current = slots[place]
        if current is None and inputs is not None:
            leaves = next(inputs, None)
            if leaves is None:
                inputs = None
                continue
            begun = begin(leaves)
            if type(begun) is Failed:
                yield begun
                place, taken = (place + 1) % len(slots), 0
                continue
            slots[place] = begun
            opened += 1
            continue
        if current is not None:
            result = next(current, None)
            if result is not None:
                yield result
                taken += type(result) is not Failed
                if taken < block:
                    continue
            else:
                slots[place] = None
                opened -= 1
        place, taken = (place + 1) % len(slots), 0


class _ParallelInterleaveDataset(_InterleaveDataset):
    """The same order, with one thread for each dataset of the cycle."""

    def __init__(
        self, dataset: Dataset, function: Callable[..., Any], cycle: Any, block: Any, calls: Any
    ) -> None:
        super().__init__(dataset, function, cycle, block)
        length, threads = (
            number(self._tensors[-2]),
            number(scalar(calls, name="num_parallel_calls")),
        )
        if threads is not None and threads < 1 and threads != -1:
            raise invalid(
                "`num_parallel_calls` must be greater than zero.", "ParallelInterleaveDataset"
            )
        if threads is not None and length is not None and 0 < length < threads:
            raise invalid(
                "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either "
                "`tf.data.AUTOTUNE` or a value less than or equal to `cycle_length`: "
                f"num_parallel_calls = {threads}, cycle_length = {length}.",
                "ParallelInterleaveDataset",
            )

    def _size(self) -> int:
        return INFINITE if self._inputs[0]._size() == INFINITE else UNKNOWN

    def _begin(self, leaves: Leaves) -> Iterator[Leaves]:
        elements = super()._begin(leaves)
        if Debugging.on:
            return elements
        return Prefetched(elements, max(2, int(self._tensors[-1]._array)))


def traced_with_state(
    function: Callable[..., Any],
    first: Any,
    element: Any,
    name: str,
    state_of: Callable[[Any], Any],
) -> tuple[Traced, Any]:
    """A function of a state and an element, and the state types that it preserves."""
    known = first
    for _ in range(8):
        traced = Traced(function, (known, element), name, spread=False)
        found = state_of(traced.output)
        try:
            wider = relaxed(known, found)
        except TypeError:
            raise TypeError(
                f"Invalid `{name}`. The element types for the new state must match the initial "
                f"state. Types for the initial state were {known}, and types for the new state "
                f"are {found}."
            ) from None
        if wider == known:
            return traced, known
        known = wider
    return traced, known


class _ScanDataset(Dataset):
    """The outputs of a function of a loop-carried state and each element."""

    def __init__(self, dataset: Dataset, initial: Any, function: Callable[..., Any]) -> None:
        self._inputs = (dataset,)
        values = normalized(initial)

        def state_of(output: Any) -> Any:
            if not (isinstance(output, tuple) and len(output) == 2):
                raise TypeError(
                    "Invalid `scan_func`. `scan_func` should return a pair consisting of new "
                    f"state and the output value but its return type is {output}."
                )
            return output[0]

        self._function, spec = traced_with_state(
            function, specs_of(values), dataset.element_spec, "scan_func", state_of
        )
        self._states = nest.flatten(spec)
        self._spec = self._function.output[1]
        first = tensors_of(values)
        self._count = len(first)
        self._tensors = (*first, *self._function.captured)

    def _elements(self) -> Iterator[Leaves]:
        return going_on(self._scanned, self._inputs[0]._elements())

    def _scanned(self, elements: Iterator[Any]) -> Iterator[Any]:
        held = leaves_of(self._states, self._tensors[: self._count])
        call, captured = self._function.call, self._tensors[self._count :]
        width = len(self._states)
        for leaves in elements:
            if type(leaves) is Failed:
                yield leaves
                continue
            try:
                results = call([*held, *leaves], captured)
            except errors.OpError as failure:
                yield Failed(failure)
                continue
            held = results[:width]
            yield results[width:]


def reduce(dataset: Dataset, initial: Any, function: Callable[..., Any]) -> Any:
    """See `Dataset.reduce`."""
    values = normalized(initial)
    traced, spec = traced_with_state(
        function, specs_of(values), dataset.element_spec, "reduce_func", lambda output: output
    )
    packer = Packer(spec)
    first = tensors_of(values)
    if state.graph is None:
        held = leaves_of(packer.specs, first)
        return packer.element(_reduced(dataset, traced, held, traced.captured))
    parts = tensors_flattened(packer.specs)
    inputs = (*dataset._type_spec.to_tensors(dataset), *first, *traced.captured)
    attrs = {
        "function": traced,
        "specs": packer.specs,
        "Tin": [tensor.dtype for tensor in inputs],
        "Tout": [part.dtype for part in parts],
        "shapes": [part.shape for part in parts],
    }
    tensors = iter(execute(ReduceDataset, inputs, attrs))
    return packer.packed([each.from_tensors(tensors) for each in packer.specs])


def _reduced(dataset: Dataset, function: Traced, held: Leaves, captured: Any) -> Leaves:
    function = function.renewed()
    for leaves in dataset._start():
        held = function.call([*held, *leaves], captured)
    return held


def _reduce(inputs: Any, *, function: Any, specs: Any, Tin: Any, Tout: Any, shapes: Any) -> Any:
    handle, *rest = inputs
    tensors = [Tensor(array, dtype) for array, dtype in zip(rest, Tin[1:], strict=True)]
    count = len(Tout)
    held = leaves_of(specs, tensors[:count])
    return arrays_of(specs, _reduced(handle.value, function, held, tensors[count:]))


ReduceDataset = Op(
    "ReduceDataset", "inputs: *Tin -> components: *Tout", _reduce,
    lambda inputs, attrs: attrs["shapes"], True, False, {},
)  # fmt: skip
