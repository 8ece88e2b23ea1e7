"""Datasets of values in memory, of ranges, and of random numbers."""

from __future__ import annotations

import copy
import secrets
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import nest
from ..core.context import init_scope, state
from ..core.dtypes import NUMERIC, as_dtype, int64
from ..core.op import execute
from ..core.tensor import SymbolicTensor, Tensor
from ..core.type_spec import TensorSpec
from ..ops.philox import words
from ..ops.random_streams import get_seed
from .cardinality import INFINITE, UNKNOWN
from .dataset import Dataset, invalid, number, scalar
from .iterators import Handle, one_handle, stateful
from .structure import (
    Leaves,
    Parts,
    are_plain,
    first_sizes,
    leaves_of,
    normalized,
    row_of,
    sized_parts,
    specs_of,
    tensors_of,
    unbatched,
)

_WORDS = 4096
# A stop that is never reached.
_ENDLESS = np.iinfo(np.int64).max


def _values(tensors: Any) -> Any:
    """The tensors of a source; eager even in a graph, unless they are symbolic."""
    if state.graph is not None and not _holds_symbols(tensors):
        with init_scope():
            return normalized(tensors)
    return normalized(tensors)


def _holds_symbols(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return False
    leaves = nest.flatten(value, expand_composites=True)
    return any(isinstance(leaf, SymbolicTensor) for leaf in leaves)


class _TensorDataset(Dataset):
    """One element."""

    def __init__(self, tensors: Any) -> None:
        values = _values(tensors)
        self._spec = specs_of(values)
        self._specs = nest.flatten(self._spec)
        if not self._specs:
            raise invalid(f"An element needs a tensor, got {tensors!r}.", "TensorDataset")
        self._tensors = tuple(tensors_of(values))

    def _elements(self) -> Iterator[Leaves]:
        return iter([leaves_of(self._specs, self._tensors)])

    def _size(self) -> int:
        return 1


_NO_ROWS = (
    "Unbatching a tensor is only supported for rank >= 1: from_tensor_slices takes apart the first "
    "axis, and {spec} is a scalar. Give a list or array, or use Dataset.from_tensors."
)


class _TensorSliceDataset(Dataset):
    """The slices of tensors along the first dimension."""

    def __init__(self, tensors: Any) -> None:
        values = _values(tensors)
        whole = specs_of(values)
        self._whole = nest.flatten(whole)
        if not self._whole or tensors is None:
            raise ValueError("Invalid `element`. `element` should not be empty.")
        for spec in self._whole:
            if getattr(getattr(spec, "shape", None), "rank", None) == 0:
                raise ValueError(_NO_ROWS.format(spec=spec))
        self._spec = nest.map_structure(unbatched, whole)
        self._parts = Parts(self._whole, nest.flatten(self._spec))
        self._tensors = tuple(tensors_of(values))
        parts = sized_parts(self._whole)
        sizes = [size for size in first_sizes(parts) if size is not None]
        for spec, size in zip(parts, first_sizes(parts), strict=True):
            if size is not None and size != sizes[0]:
                shapes = ", ".join(str(each.shape) for each in parts)
                raise ValueError(
                    f"Dimensions {sizes[0]} and {size} are not compatible: from_tensor_slices "
                    f"takes tensors with equal first dimensions, got the shapes {shapes}; "
                    f"{spec.shape} does not fit the first."
                )
        self._rows = sizes[0] if sizes else None
        self._plain = are_plain(self._whole)

    def _size(self) -> int:
        return UNKNOWN if self._rows is None else self._rows

    def _elements(self) -> Iterator[Leaves]:
        parts = self._parts.of(leaves_of(self._whole, self._tensors), minimum_rank=1)
        sizes = [_rows_in(part) for part in parts if part is not None]
        if any(size != sizes[0] for size in sizes):
            raise invalid(f"Dimensions {sizes} of the first axes differ.", "TensorSliceDataset")
        for index in range(sizes[0]):
            yield self._parts.leaves([_slice(part, index) for part in parts])


def _rows_in(leaf: Any) -> int:
    if isinstance(leaf, np.ndarray):
        return len(leaf)
    if hasattr(leaf, "nrows"):
        return int(leaf.nrows())
    return int(leaf.dense_shape[0]) if hasattr(leaf, "dense_shape") else int(leaf.shape[0])


def _slice(leaf: Any, index: int) -> Any:
    if leaf is None:
        return None
    if isinstance(leaf, np.ndarray):
        return row_of(leaf, index)
    if hasattr(leaf, "dense_shape"):
        from ..ops.sparse.sparse_tensor import SparseTensor

        indices, values = np.asarray(leaf.indices), np.asarray(leaf.values)
        chosen = indices[:, 0] == index
        return SparseTensor(indices[chosen, 1:], values[chosen], np.asarray(leaf.dense_shape)[1:])
    return leaf[index]


class _RangeDataset(Dataset):
    """A range of numbers from a start to a stop, with a step."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        dtype = as_dtype(kwargs.pop("output_type", int64))
        kwargs.pop("name", None)
        if kwargs:
            raise ValueError(f"Unrecognized arguments: {', '.join(kwargs)}")
        if not 1 <= len(args) <= 3:
            raise ValueError(
                "Invalid `args`. The length of `args` should be between 1 and 3 but was "
                f"{len(args)}."
            )
        numbers = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        self._tensors = tuple(scalar(each) for each in numbers)
        if number(self._tensors[2]) == 0:
            raise invalid("step must be a non-zero integer.", "RangeDataset")
        self._spec = TensorSpec([], dtype)
        self._dtype = dtype
        self._type = dtype.as_numpy_dtype

    def _numbers(self) -> range:
        if self._dtype not in NUMERIC:
            raise invalid(
                f"Cannot count in {self._dtype.name}: output_type must be a type of numbers.",
                "RangeDataset",
            )
        return range(*[int(tensor._array) for tensor in self._tensors])

    def _size(self) -> int:
        if self._symbolic():
            return UNKNOWN
        first, last, step = (int(tensor._array) for tensor in self._tensors)
        if last == _ENDLESS:
            return INFINITE
        return max(0, -(-(last - first) // step))

    def _elements(self) -> Iterator[Leaves]:
        kind = self._type
        return ([kind(each)] for each in self._numbers())


def counting(start: Any) -> Dataset:
    """The numbers from a start on."""
    return _RangeDataset(start, _ENDLESS)


class _ListDataset(Dataset):
    """The elements of a Python list."""

    def __init__(self, elements: Any) -> None:
        from .structure import relaxed

        if not isinstance(elements, list | tuple):
            raise TypeError(f"`elements` must be a list, got {type(elements)}.")
        if not elements:
            raise ValueError("Empty list of elements: at least one is needed for their types.")
        values = [_values(each) for each in elements]
        self._spec = specs_of(values[0])
        for each in values[1:]:
            self._spec = relaxed(self._spec, specs_of(each))
        self._specs = nest.flatten(self._spec)
        self._tensors = tuple(tensor for each in values for tensor in tensors_of(each))
        self._count = len(values)

    def _size(self) -> int:
        return self._count

    def _elements(self) -> Iterator[Leaves]:
        per_element = len(self._tensors) // self._count
        for start in range(0, len(self._tensors), per_element):
            yield leaves_of(self._specs, self._tensors[start : start + per_element])


class Seeds:
    """The two seeds of a dataset; optionally new ones for each iteration.

    They belong to the description: iterations of one dataset differ, and differ in the same way
    when the program runs again.
    """

    def __init__(self, pair: tuple[Any, Any], anew: bool) -> None:
        if pair[0] is None:
            pair = secrets.randbits(63), secrets.randbits(63)
        self._pair = int(pair[0]), int(pair[1])
        self.anew = anew
        self.drawn = 0
        # Prefetching readers of iterations that draw from these seeds while they run.
        self.readers: weakref.WeakSet[Any] = weakref.WeakSet()

    def at(self, drawn: int) -> Seeds:
        """The same seeds after this many draws."""
        copied = copy.copy(self)
        copied.drawn, copied.readers = drawn, weakref.WeakSet()
        return copied

    def next(self) -> tuple[int, int]:
        """The seeds of the next iteration."""
        if not self.anew:
            return self._pair
        start = self.drawn
        self.drawn += 2
        drawn = words(self._pair[0], self._pair[1] << 64, start // 4 + 1).reshape(-1)
        return int(drawn[start]), int(drawn[start + 1])


def _make_seeds(inputs: Any, *, pair: Any, anew: bool, Tin: Any) -> Any:
    return Handle(Seeds((pair[0], inputs[0]) if inputs else pair, anew))


MakeSeeds = stateful(
    "MakeSeeds", "inputs: *Tin -> handle: resource", _make_seeds, one_handle
)  # fmt: skip


class Seeded(Dataset):
    """A dataset with seeds.

    If a graph creates the dataset, it also creates the seeds, each time it runs: every run begins
    with the same order. Then the last of the tensors is their handle.
    """

    def _take_seeds(self, seed: Any, anew: bool) -> None:
        if isinstance(seed, Tensor) and not isinstance(seed, SymbolicTensor):
            seed = int(seed._array)
        if state.graph is None:
            self._seeds = Seeds(get_seed(seed), anew)
            return
        given = (seed,) if isinstance(seed, SymbolicTensor) else ()
        pair = (get_seed(1)[0], None) if given else get_seed(seed)
        attrs = {"pair": pair, "anew": anew, "Tin": [each.dtype for each in given]}
        self._tensors = (*self._tensors, execute(MakeSeeds, given, attrs))

    def _bound(self, values: Iterator[Tensor]) -> Dataset:
        bound = super()._bound(values)
        if self._seeds is None and not isinstance(bound._tensors[-1], SymbolicTensor):
            bound._seeds = bound._tensors[-1]._array.value
        return bound


def random_words(pair: tuple[int, int], block: int = _WORDS) -> Iterator[Any]:
    """The stream of 32-bit words of two seeds, in blocks."""
    key, counter = pair[0], pair[1] << 64
    while True:
        yield words(key, counter, block // 4).reshape(-1)
        counter += block // 4


class _RandomDataset(Seeded):
    """An infinite sequence of random numbers."""

    def __init__(self, seed: Any, anew: bool) -> None:
        self._spec = TensorSpec([], int64)
        self._take_seeds(seed, anew)

    def _size(self) -> int:
        return INFINITE

    def _elements(self) -> Iterator[Leaves]:
        for block in random_words(self._seeds.next()):
            for each in block.astype(np.int64):
                yield [each]
