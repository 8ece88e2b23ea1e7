"""Partitioning slices into several tensors, and stitching them together."""

from __future__ import annotations

import math

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import int32
from ...core.errors import InvalidArgumentError
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from . import creation, gathering
from .arguments import alike, require_positive
from .scatter_kernels import shape_text
from .shaping import reshape, shape, size


def _partitioned(inputs, attrs):
    data, partitions = inputs
    start = partitions.shape
    if start.rank is None or data.shape.rank is None:
        return [UNKNOWN] * attrs["num_partitions"]
    if not data.shape[: start.rank].is_compatible_with(start):
        raise ValueError(
            "data.shape must start with partitions.shape, got data.shape = "
            f"{dimensions_text(data.shape)}, partitions.shape = {dimensions_text(start)}"
        )
    return [TensorShape([None, *data.shape[start.rank :]])] * attrs["num_partitions"]


@op(
    "DynamicPartition",
    "data: T, partitions: int32 -> outputs: num_partitions*T",
    shape=_partitioned,
)
def DynamicPartition(data, partitions, *, num_partitions):
    depth = partitions.ndim
    if data.shape[:depth] != partitions.shape:
        raise ValueError("data.shape must start with partitions.shape")
    numbers = np.asarray(partitions).reshape(-1)
    bad = (numbers < 0) | (numbers >= num_partitions)
    if bad.any():
        position = np.unravel_index(bad.argmax(), partitions.shape)
        where = f"[{','.join(str(i) for i in position)}]" if position else ""
        raise ValueError(
            f"partitions{where} = {numbers[bad.argmax()]} is not in [0, {num_partitions})"
        )
    rows = np.asarray(data).reshape(numbers.size, *data.shape[depth:])
    return [rows[numbers == number] for number in range(num_partitions)]


@DynamicPartition.gradient
def _(op, *grads):
    data, partitions = op.inputs
    count = op.attrs["num_partitions"]
    places = reshape(creation.range(size(partitions)), shape(partitions))
    parts = dynamic_partition(places, partitions, count)
    return reshape(dynamic_stitch(parts, list(grads)), shape(data)), None


def dynamic_partition(data, partitions, num_partitions, name=None) -> list[Tensor]:
    """Partition the slices of `data` into tensors by their index in `partitions`.

    >>> [t.numpy().tolist() for t in tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)]
    [[1, 3], [2]]
    """
    count = int(num_partitions)
    require_positive("DynamicPartition", "num_partitions", count)
    if not (isinstance(data, Tensor) and isinstance(partitions, Tensor)):
        data, partitions = convert_to_tensor(data), convert_to_tensor(partitions, int32)
    return execute(DynamicPartition, (data, partitions), {"num_partitions": count})


def _require_alike(indices, data):
    """Every slice must have the same shape; the arguments are lists of shapes."""
    first, inner = indices[0], data[0][len(indices[0]) :]
    for i, (places, values) in enumerate(zip(indices, data, strict=True)):
        if values[: len(places)] != places:
            raise ValueError(
                f"data[{i}].shape = {shape_text(values)} does not start with indices[{i}].shape = "
                f"{shape_text(places)}"
            )
        if values[len(places) :] != inner:
            raise ValueError(
                f"Need data[0].shape[{len(first)}:] = data[{i}].shape[{len(places)}:], got "
                f"data[0].shape = {shape_text(data[0])}, data[{i}].shape = {shape_text(values)}, "
                f"indices[0].shape = {shape_text(first)}, indices[{i}].shape = {shape_text(places)}"
            )
    return inner


def _stitched(inputs, attrs):
    indices, data = inputs
    shapes = [each.shape for each in (*indices, *data)]
    inner = UNKNOWN
    if all(each.is_fully_defined() for each in shapes):
        known = [tuple(each) for each in shapes]
        inner = TensorShape(_require_alike(known[: len(indices)], known[len(indices) :]))
    else:
        for places, values in zip(indices, data, strict=True):
            if None not in (places.shape.rank, values.shape.rank):
                inner = inner.merge_with(values.shape[places.shape.rank :])
    places = [constant_value(each) for each in indices]
    if any(each is None for each in places):
        return TensorShape([None]).concatenate(inner)
    return TensorShape([_stitched_size(places)]).concatenate(inner)


def _stitched_size(indices):
    return max([int(each.max()) + 1 for each in indices if each.size], default=0)


@op("DynamicStitch", "indices: N*int32, data: N*T -> merged: T", shape=_stitched)
def DynamicStitch(indices, data):
    inner = _require_alike([each.shape for each in indices], [each.shape for each in data])
    for i, places in enumerate(indices):
        if places.size and places.min() < 0:
            raise ValueError(f"indices[{i}] is out of range: it holds the negative {places.min()}")
    merged = np.full(
        (_stitched_size(indices), *inner), b"" if data[0].dtype == object else 0, data[0].dtype
    )
    for places, values in zip(indices, data, strict=True):
        merged[np.asarray(places).reshape(-1)] = np.asarray(values).reshape(
            math.prod(places.shape), *inner
        )
    return merged


@DynamicStitch.gradient
def _(op, grad):
    indices = op.inputs[: len(op.inputs) // 2]
    return [*[None] * len(indices), *(gathering.gather(grad, each) for each in indices)]


def dynamic_stitch(indices, data, name=None) -> Tensor:
    """Merge the slices of several tensors at their indices; of duplicate indices the last wins.

    >>> tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]).numpy().tolist()
    [10, 20, 30]
    """
    for what, value in (("indices", indices), ("data", data)):
        if not isinstance(value, list | tuple):
            raise TypeError(
                f"Expected list for '{what}' argument to 'dynamic_stitch' Op, not {value!r}."
            )
    if len(indices) != len(data):
        raise ValueError(
            f"List argument 'data' to 'dynamic_stitch' Op with length {len(data)} must match "
            f"length {len(indices)} of argument 'indices'."
        )
    if not indices:
        raise InvalidArgumentError(
            None, None, "tf.dynamic_stitch needs at least one tensor. [Op:DynamicStitch]"
        )
    return DynamicStitch(alike(indices, int32), alike(data))
