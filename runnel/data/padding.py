"""padded_batch: elements of different shapes in one batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core import dtypes, errors, nest
from ..core.convert import constant_value, convert_to_tensor
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec
from . import cardinality
from .batching import Grouped, batch_size_of, flag
from .dataset import Dataset, number
from .structure import Leaves, are_plain


class _PaddedBatchDataset(Dataset):
    """Batches of consecutive elements, padded to a common shape."""

    def __init__(
        self,
        dataset: Dataset,
        batch_size: Any,
        padded_shapes: Any,
        padding_values: Any,
        drop_remainder: Any,
    ) -> None:
        self._inputs = (dataset,)
        spec = dataset.element_spec
        specs = nest.flatten(spec)
        if padded_shapes is None and not all(hasattr(each, "shape") for each in specs):
            raise NotImplementedError(
                f"padded_batch asks for the `shape` of the elements' specs, but {spec} has none."
            )
        if not are_plain(specs):
            raise TypeError(f"`padded_batch` is only supported for tensors, got elements {spec}.")
        if padded_shapes is None:
            for place, each in enumerate(specs):
                if each.shape.rank is None:
                    raise ValueError(
                        "You must provide `padded_shapes` argument because component "
                        f"{place} has unknown rank."
                    )
            shapes = [each.shape for each in specs]
        else:
            flat = nest.flatten_up_to(spec, _tuples(padded_shapes, spec))
            shapes = [_shape(each) for each in flat]
        for each, shape in zip(specs, shapes, strict=True):
            _check_shape(each.shape, shape)
        self._shapes = shapes
        values = _padding(spec, specs, padding_values)
        self._tensors = (batch_size_of(batch_size, "PaddedBatchDatasetV2"), *values)
        self._drop = flag(drop_remainder, "drop_remainder")
        size = number(self._tensors[0]) if self._drop else None
        self._spec = nest.pack_sequence_as(
            spec,
            [
                TensorSpec(TensorShape([size]).concatenate(shape), each.dtype)
                for shape, each in zip(shapes, specs, strict=True)
            ],
        )

    def _size(self) -> int:
        return cardinality.of_batches(
            self._inputs[0]._size(), number(self._tensors[0]), self._drop
        )  # fmt: skip

    def _elements(self) -> Iterator[Leaves]:
        size = int(self._tensors[0]._array)
        fillers = [np.asarray(tensor._array)[()] for tensor in self._tensors[1:]]

        def join(rows: list[Leaves]) -> Leaves:
            columns = zip(*rows, strict=True)
            return [
                _padded(column, shape, filler)
                for column, shape, filler in zip(columns, self._shapes, fillers, strict=True)
            ]

        return Grouped(self._inputs[0]._elements(), size, self._drop, join)


def _tuples(shapes: Any, spec: Any) -> Any:
    return tuple(shapes) if isinstance(shapes, list) and type(spec) is tuple else shapes


def _shape(value: Any) -> TensorShape:
    if isinstance(value, Tensor):
        known = constant_value(value)
        if known is None:
            raise ValueError("`padded_shapes` must be known when the dataset is made.")
        value = np.asarray(known).tolist()
    if isinstance(value, int):
        value = [value]
    if not isinstance(value, TensorShape):
        value = TensorShape([None if size is None or size == -1 else int(size) for size in value])
    return value


def _check_shape(component: TensorShape, shape: TensorShape) -> None:
    if component.rank is None:
        return
    if component.rank != shape.rank:
        raise ValueError(
            f"Invalid `padded_shapes`. The padded shape {tuple(shape)} is not compatible with the "
            f"shape {tuple(component)} of the corresponding input component."
        )
    for have, want in zip(component, shape, strict=True):
        if have is not None and want is not None and want < have:
            raise ValueError(
                f"Invalid `padded_shapes`. The padded shape {tuple(shape)} is not compatible with "
                f"the shape {tuple(component)} of the corresponding input component."
            )


def _padding(spec: Any, specs: Sequence[Any], values: Any) -> list[Tensor]:
    if values is None:
        flat = [None] * len(specs)
    elif not nest.is_nested(values):
        flat = [values] * len(specs)
    else:
        flat = nest.flatten_up_to(spec, _tuples(values, spec))
    return [_filler(each, value) for each, value in zip(specs, flat, strict=True)]


def _filler(spec: Any, value: Any) -> Tensor:
    if value is None:
        if spec.dtype is dtypes.string:
            return Tensor(np.array(b"", object), spec.dtype)
        if spec.dtype in (dtypes.resource, dtypes.variant):
            raise TypeError("Unable to create default padding value for a component of type"
                            f" {spec.dtype}.")  # fmt: skip
        return Tensor(spec.dtype.as_numpy_dtype(0), spec.dtype)
    tensor = convert_to_tensor(value)
    if tensor.shape.rank != 0:
        raise ValueError(
            "Invalid `padding_values`. `padding_values` values should be scalars, but got "
            f"{tensor.shape}."
        )
    if tensor.dtype is not spec.dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {tensor.dtype} does not match "
            f"type {spec.dtype} of the corresponding input component."
        )
    return tensor


def _padded(column: Sequence[Any], shape: TensorShape, filler: Any) -> Any:
    rank = shape.rank if shape.rank is not None else column[0].ndim
    for each in column:
        if each.ndim != rank:
            raise errors.InvalidArgumentError(
                None, None,
                "All elements in a batch must have the same rank as the padded shape for "
                f"component: expected rank {rank} but got element with rank {each.ndim}",
            )  # fmt: skip
    sizes = []
    for axis in range(rank):
        largest = max(each.shape[axis] for each in column)
        wanted = shape[axis] if shape.rank is not None else None
        if wanted is not None and largest > wanted:
            raise errors.DataLossError(
                None, None,
                "Attempted to pad to a smaller size than the input element: "
                f"{largest} elements do not fit {wanted}.",
            )  # fmt: skip
        sizes.append(largest if wanted is None else wanted)
    try:
        result = np.empty((len(column), *sizes), column[0].dtype)
    except MemoryError as failure:
        raise errors.out_of_memory(failure, "PaddedBatchDataset") from None
    result[...] = filler
    for place, each in enumerate(column):
        corner: tuple[Any, ...] = tuple(slice(size) for size in each.shape)
        result[(place, *corner)] = each[()] if rank == 0 else each
    return result
