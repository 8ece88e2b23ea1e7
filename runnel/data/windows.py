"""Datasets of datasets: windows over the elements, and windows of elements with equal keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core import dtypes, errors, nest
from ..core.convert import convert_to_tensor
from ..core.type_spec import TensorSpec
from .batching import flag
from .cardinality import INFINITE, UNKNOWN
from .dataset import Dataset, _VariantDataset, invalid, number, scalar
from .failures import Failed, caught, going_on
from .functions import Traced, is_dataset_spec
from .iterators import DatasetSpec, handle_of
from .structure import Leaves


class _KeptDataset(Dataset):
    """Materialized elements."""

    def __init__(self, elements: Sequence[Leaves], spec: Any) -> None:
        self._kept = elements
        self._spec = spec

    def _size(self) -> int:
        return len(self._kept)

    def _elements(self) -> Iterator[Leaves]:
        return iter(self._kept)


def as_value(elements: Sequence[Leaves], spec: Any) -> Dataset:
    """A dataset as an element."""
    return _VariantDataset(handle_of(_KeptDataset(elements, spec)), spec)


class _WindowDataset(Dataset):
    """Datasets of consecutive elements."""

    def __init__(self, dataset: Dataset, size: Any, shift: Any, stride: Any, drop: Any) -> None:
        self._inputs = (dataset,)
        self._tensors = (
            scalar(size, name="size"),
            scalar(size if shift is None else shift, name="shift"),
            scalar(stride, name="stride"),
        )
        names = ("Window size", "Window shift", "Window stride")
        for tensor, name in zip(self._tensors, names, strict=True):
            value = number(tensor)
            if value is not None and value < 1:
                raise invalid(f"{name} must be greater than zero.", "WindowDataset")
        self._drop = flag(drop, "drop_remainder")
        self._parts = nest.flatten(dataset.element_spec)
        self._spec = nest.map_structure(DatasetSpec, dataset.element_spec)

    def _values(self) -> list[int]:
        return [int(tensor._array) for tensor in self._tensors]

    def _size(self) -> int:
        count = self._inputs[0]._size()
        if count < 0 or self._symbolic():
            return count if count < 0 else UNKNOWN
        size, shift, stride = self._values()
        if not self._drop:
            return -(-count // shift)
        span = (size - 1) * stride + 1
        return 0 if count < span else (count - span) // shift + 1

    def _elements(self) -> Iterator[Leaves]:
        return going_on(self._windows, self._inputs[0]._elements())

    def _windows(self, elements: Iterator[Any]) -> Iterator[Any]:
        size, shift, stride = self._values()
        span = (size - 1) * stride + 1
        buffer: list[Any] = []
        skipped = 0
        for leaves in elements:
            if skipped:
                skipped -= 1
                continue
            buffer.append(leaves)
            if len(buffer) == span:
                yield self._window(buffer[::stride])
                skipped = max(0, shift - span)
                del buffer[:shift]
        while buffer and not self._drop:
            yield self._window(buffer[:span:stride])
            del buffer[:shift]

    def _window(self, rows: list[Any]) -> Any:
        for row in rows:
            if type(row) is Failed:
                return row
        return [
            as_value([[leaf] for leaf in column], spec)
            for spec, column in zip(self._parts, zip(*rows, strict=True), strict=True)
        ]


class _GroupByWindowDataset(Dataset):
    """The results of a function for windows of elements with equal keys."""

    def __init__(
        self,
        dataset: Dataset,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any,
        window_size_func: Any,
    ) -> None:
        if window_size is None and window_size_func is None:
            raise ValueError(
                "Either the `window_size` argument or the `window_size_func` argument must be "
                "specified."
            )
        if window_size is not None and window_size_func is not None:
            raise ValueError(
                "The `window_size` argument and the `window_size_func` arguments cannot be "
                "specified at the same time."
            )
        if window_size_func is None:
            size = scalar(window_size, name="window_size")
            window_size_func = lambda key: size  # noqa: E731
        self._inputs = (dataset,)
        key_spec = TensorSpec([], dtypes.int64)
        self._key = Traced(
            lambda *element: convert_to_tensor(key_func(*element), dtypes.int64),
            dataset.element_spec, "key_func",
        )  # fmt: skip
        if not (
            type(self._key.output) is TensorSpec
            and self._key.output.dtype is dtypes.int64
            and self._key.output.shape.is_compatible_with([])
        ):
            raise ValueError(
                "Invalid `key_func`. `key_func` must return a single `tf.int64` scalar tensor but "
                f"its return type is {self._key.output}."
            )
        self._limit = Traced(
            lambda key: convert_to_tensor(window_size_func(key), dtypes.int64), key_spec,
            "window_size_func",
        )  # fmt: skip
        self._reduce = Traced(
            reduce_func, (key_spec, DatasetSpec(dataset.element_spec)), "reduce_func", spread=False
        )
        if not is_dataset_spec(self._reduce.output):
            raise TypeError(
                "Invalid `reduce_func`. `reduce_func` must return a `Dataset` object. Got "
                f"{self._reduce.output}."
            )
        self._spec = self._reduce.output.element_spec
        functions = (self._key, self._limit, self._reduce)
        self._tensors = tuple(tensor for each in functions for tensor in each.captured)

    def _size(self) -> int:
        return INFINITE if self._inputs[0]._size() == INFINITE else UNKNOWN

    def _elements(self) -> Iterator[Leaves]:
        return going_on(self._grouped, self._inputs[0]._elements())

    def _grouped(self, elements: Iterator[Any]) -> Iterator[Any]:
        rest = iter(self._tensors)
        of_key, of_limit, of_reduce = (
            [next(rest) for _ in each.captured] for each in (self._key, self._limit, self._reduce)
        )
        spec = self._inputs[0].element_spec
        windows: dict[int, list[Leaves]] = {}
        limits: dict[int, int] = {}

        def reduced(key: int, window: list[Leaves]) -> Iterator[Any]:
            made = self._reduce.call([np.int64(key), as_value(window, spec)], of_reduce)[0]
            return caught(made._start(functions=self._reduce.inner))

        for leaves in elements:
            if type(leaves) is Failed:
                yield leaves
                continue
            try:
                key = int(self._key.call(leaves, of_key)[0])
            except errors.OpError as failure:
                yield Failed(failure)
                continue
            if key not in limits:
                limits[key] = int(self._limit.call([np.int64(key)], of_limit)[0])
                if limits[key] < 1:
                    raise invalid(
                        f"Window size must be greater than zero, but got {limits[key]}.",
                        "GroupByWindowDataset",
                    )
            window = windows.setdefault(key, [])
            window.append(leaves)
            if len(window) == limits[key]:
                yield from reduced(key, windows.pop(key))
                del limits[key]
        for key in sorted(windows):
            yield from reduced(key, windows[key])


def bucket_by_sequence_length(
    dataset: Dataset,
    element_length_func: Callable[..., Any],
    boundaries: Sequence[int],
    batch_sizes: Sequence[int],
    padded_shapes: Any,
    padding_values: Any,
    pad_to_boundary: bool,
    no_padding: bool,
    drop_remainder: bool,
) -> Dataset:
    """See `Dataset.bucket_by_sequence_length`."""
    from ..ops.array.gathering import gather
    from ..ops.debugging import assert_less
    from ..ops.math.casting import cast
    from ..ops.math.sorting import searchsorted

    if len(batch_sizes) != len(boundaries) + 1:
        raise ValueError(
            f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
            f"`len(bucket_batch_sizes)={len(batch_sizes)}` and "
            f"`len(bucket_boundaries)={len(boundaries)}`."
        )
    sizes = convert_to_tensor(list(batch_sizes), dtypes.int64)
    limits = convert_to_tensor([int(each) for each in boundaries], dtypes.int64)

    def key_of(*element: Any) -> Any:
        length = cast(element_length_func(*element), dtypes.int64)
        return searchsorted(limits, length[None], side="right", out_type=dtypes.int64)[0]

    def shapes_to(size: Any) -> Any:
        shapes = padded_shapes
        if shapes is None:
            shapes = nest.map_structure(lambda spec: spec.shape, dataset.element_spec)
        flat = nest.flatten_up_to(dataset.element_spec, shapes)
        return nest.pack_sequence_as(
            dataset.element_spec,
            [[size if n is None or n == -1 else n for n in shape] for shape in flat],
        )

    def batch_of(key: Any, window: Dataset) -> Dataset:
        size = gather(sizes, key)
        if no_padding:
            return window.batch(size, drop_remainder=drop_remainder)
        if not pad_to_boundary:
            return window.padded_batch(size, padded_shapes, padding_values, drop_remainder)
        assert_less(
            key, convert_to_tensor(len(boundaries), dtypes.int64),
            message="When pad_to_bucket_boundary=True, elements must have length < "
            "max(bucket_boundaries).",
        )  # fmt: skip
        return _ToBoundary(window, size, key, boundaries, shapes_to, padding_values, drop_remainder)

    return _GroupByWindowDataset(dataset, key_of, batch_of, None, lambda key: gather(sizes, key))


class _ToBoundary(Dataset):
    """Batches padded to one less than the boundary of their bucket."""

    def __init__(
        self,
        window: Dataset,
        size: Any,
        key: Any,
        boundaries: Sequence[int],
        shapes_to: Callable[[Any], Any],
        padding_values: Any,
        drop: bool,
    ) -> None:
        self._inputs = (window,)
        self._tensors = (size, key)
        self._boundaries = boundaries
        self._shapes_to = shapes_to
        self._padding = padding_values
        self._drop = drop
        general = window.padded_batch(1 if drop else size, shapes_to(None), padding_values)
        self._spec = general.element_spec

    def _size(self) -> int:
        return UNKNOWN

    def _elements(self) -> Iterator[Leaves]:
        size, key = (int(tensor._array) for tensor in self._tensors)
        shapes = self._shapes_to(int(self._boundaries[key]) - 1)
        made = self._inputs[0].padded_batch(size, shapes, self._padding, self._drop)
        return made._start()
