"""Selecting slices by index: gather and gather_nd."""

from __future__ import annotations

import math
import operator

import numpy as np

from ...core.convert import constant_value, convert_to_tensor, tensor_of
from ...core.dtypes import int32
from ...core.errors import InvalidArgumentError
from ...core.indexed_slices import IndexedSlices
from ...core.op import REGISTRY, execute, op
from ...core.shape_rules import UNKNOWN
from ...core.tensor import Tensor
from ..math import casting, division, reduction
from . import creation, indexing, joining, ordering, scatter
from .arguments import INDEX, INDICES
from .scatter_kernels import outside, shape_text
from .shaping import broadcast_to, expand_dims, rank, reshape, sizes_of, squeeze

_FIRST = Tensor(np.int32(0), int32)


def require_in_range(indices, size) -> None:
    """ValueError naming the first index that is not in [0, size)."""
    if not indices.size:
        return
    if indices.min() < 0 or indices.max() >= size:
        position = np.unravel_index(np.argmax((indices < 0) | (indices >= size)), np.shape(indices))
        where = f"[{','.join(str(i) for i in position)}]" if position else ""
        raise ValueError(f"indices{where} = {np.asarray(indices)[position]} is not in [0, {size})")


def _gathered(inputs, attrs):
    params, indices, axis = inputs
    place = constant_value(axis)
    if axis.shape.rank not in (None, 0):
        raise ValueError("axis must be scalar")
    shape, picks = params.shape, indices.shape
    if shape.rank == 0:
        raise ValueError("params must be at least 1 dimensional")
    if place is None or shape.rank is None or picks.rank is None:
        return UNKNOWN
    place, batch = _places(int(place), attrs["batch_dims"], shape.rank, picks.rank)
    for i in range(batch):
        if None not in (shape[i], picks[i]) and shape[i] != picks[i]:
            raise ValueError(
                f"params.shape[{i}]: {shape[i]} should be equal to indices.shape[{i}]: {picks[i]}"
            )
    return shape[:place].concatenate(picks[batch:]).concatenate(shape[place + 1 :])


def _places(axis, batch_dims, rank, picks_rank):
    """The axis and the number of batch dimensions, normalized; ValueError if out of range."""
    if not -rank <= axis < rank:
        needed = axis + 1 if axis >= 0 else -axis
        raise ValueError(
            f"Shape must be at least rank {needed} but is rank {rank}: axis = {axis} is out of "
            f"range, fitting is a value in [{-rank}, {rank})."
        )
    if not -picks_rank <= batch_dims <= picks_rank:
        raise ValueError(
            f"Expected batch_dims in the range [{-picks_rank}, {picks_rank}], but got {batch_dims}"
        )
    axis %= rank
    batch = batch_dims + picks_rank if batch_dims < 0 else batch_dims
    if batch >= rank:
        raise ValueError(f"batch_dims ({batch}) must be less than rank(params) ({rank}).")
    if batch > axis:
        raise ValueError(f"batch_dims ({batch}) must be less than or equal to axis ({axis}).")
    return axis, batch


@op(
    "GatherV2",
    "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams",
    Tindices=INDICES,
    Taxis=INDEX,
    shape=_gathered,
)
def GatherV2(params, indices, axis, *, batch_dims=0):
    if not params.ndim or axis.ndim:
        raise ValueError("params must be at least 1 dimensional and axis a scalar")
    axis, batch = _places(axis.item(), batch_dims, params.ndim, indices.ndim)
    shape = params.shape
    size = shape[axis]
    result = shape[:axis] + indices.shape[batch:] + shape[axis + 1 :]
    if not params.size and size:
        # Nothing is read from empty slices: any index is valid.
        return np.empty(result, params.dtype)
    require_in_range(indices, size)
    if not batch:
        if params.dtype == object:
            return _strings(params, indices, axis)
        return params.take(indices, axis)
    if shape[:batch] != indices.shape[:batch]:
        raise ValueError("the batch dimensions of params and indices must be equal")
    count, outer = math.prod(shape[:batch]), math.prod(shape[batch:axis])
    table = params.reshape(count, outer, size, -1 if params.size else math.prod(shape[axis + 1 :]))
    rows = indices.reshape(count, 1, -1) if indices.size else np.zeros((count, 1, 0), np.int64)
    batches, outers = np.arange(count)[:, None, None], np.arange(outer)[:, None]
    return table[batches, outers, rows].reshape(result)


def _strings(params, indices, axis):
    # A single string would be returned as bytes and not as an array.
    return np.asarray(params.take(np.asarray(indices)[None], axis)).reshape(
        params.shape[:axis] + indices.shape + params.shape[axis + 1 :]
    )


@GatherV2.gradient
def _(op, grad):
    params, indices, axis = op.inputs
    batch_dims = op.attrs["batch_dims"]
    if batch_dims == 0 and constant_value(axis) == 0:
        return _rows(grad, params, indices), None, None
    return _scattered(grad, params, indices, axis, batch_dims), None, None


def _rows(grad, params, indices):
    sizes, picks = sizes_of(params), reshape(indices, [-1])
    if params.shape.is_fully_defined() and picks.shape.is_fully_defined():
        rows = tensor_of(np.array([picks.shape[0], *params.shape[1:]], np.int32), int32)
    else:
        rows = joining.concat([sizes_of(picks), indexing.getitem(sizes, slice(1, None))], 0)
    return IndexedSlices(reshape(grad, rows), picks, sizes)


def _scattered(grad, params, indices, axis, batch_dims):
    """The gradient of a gather along another axis than the first, or of a batched one."""
    batch, outer, size, inner, picks = _sizes(params, indices, axis, batch_dims)
    # In the order batch, picks, outer, inner the gradient is a single segment sum over rows.
    rows = ordering.transpose(reshape(grad, [batch, outer, picks, inner]), [0, 2, 1, 3])
    starts = expand_dims(creation.range(batch) * size, 1)
    places = casting.cast(reshape(indices, [batch, picks]), int32) + starts
    count = convert_to_tensor(batch * size, int32)
    dense = REGISTRY["UnsortedSegmentSum"](rows, places, count)
    dense = ordering.transpose(reshape(dense, [batch, size, outer, inner]), [0, 2, 1, 3])
    return reshape(dense, sizes_of(params))


def _sizes(params, indices, axis, batch_dims):
    """The sizes batch, outer, size and inner of params, and the number of indices per batch."""
    whole, chosen, place = params.shape, indices.shape, constant_value(axis)
    if place is not None and whole.is_fully_defined() and chosen.is_fully_defined():
        place, batch = _places(int(place), batch_dims, whole.rank, chosen.rank)
        product, pick = math.prod, operator.getitem
        whole, chosen = tuple(whole), tuple(chosen)
    else:
        product, pick = reduction.reduce_prod, indexing.getitem
        whole, chosen = sizes_of(params), sizes_of(indices)
        place = division.floormod(casting.cast(axis, int32), rank(params))
        batch = batch_dims if batch_dims >= 0 else rank(indices) + batch_dims
    return (
        product(pick(whole, slice(None, batch))),
        product(pick(whole, slice(batch, place))),
        pick(whole, place),
        product(pick(whole, slice(place + 1, None))),
        product(pick(chosen, slice(batch, None))),
    )


def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None) -> Tensor:
    """The slices of `params` at `indices` along an axis.

    The first `batch_dims` axes of params and indices are batch dimensions.

    >>> tf.gather([[1, 2], [3, 4], [5, 6]], [2, 0]).numpy().tolist()
    [[5, 6], [1, 2]]
    """
    if axis is None:
        axis = batch_dims
    place = _FIRST if type(axis) is int and axis == 0 else convert_to_tensor(axis)
    params, indices = convert_to_tensor(params), convert_to_tensor(indices)
    if batch_dims:
        return execute(GatherV2, (params, indices, place), {"batch_dims": int(batch_dims)})
    return execute(GatherV2, (params, indices, place))


def _gathered_nd(inputs, attrs):
    params, indices = inputs
    shape, picks = params.shape, indices.shape
    if shape.rank == 0:
        raise ValueError("params must be at least a vector")
    if picks.rank == 0:
        raise ValueError("indices must be at least a vector")
    if picks.rank is None or picks[-1] is None or shape.rank is None:
        return UNKNOWN
    if picks[-1] > shape.rank:
        raise ValueError(
            "index innermost dimension length must be <= params rank; saw: "
            f"{picks[-1]} vs. {shape.rank}"
        )
    return picks[:-1].concatenate(shape[picks[-1] :])


@op(
    "GatherNd",
    "params: Tparams, indices: Tindices -> output: Tparams",
    Tindices=INDICES,
    shape=_gathered_nd,
)
def GatherNd(params, indices, *, bad_indices_policy=""):
    if not params.ndim or not indices.ndim or indices.shape[-1] > params.ndim:
        raise ValueError("params and indices do not fit")
    depth = indices.shape[-1]
    result = indices.shape[:-1] + params.shape[depth:]
    if not params.size and math.prod(indices.shape[:-1]):
        raise ValueError(
            "Requested more than 0 entries, but params is empty.  Params shape: "
            f"{shape_text(params.shape)}"
        )
    if not depth:
        return np.broadcast_to(params, result)
    if bad_indices_policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise ValueError(f"Unknown bad indices handling attribute: {bad_indices_policy}")
    indices = np.asarray(indices)
    bad = ((indices < 0) | (indices >= np.array(params.shape[:depth]))).any(-1)
    if not bad.any():
        return params[(*np.moveaxis(indices, -1, 0), ...)]
    if bad_indices_policy != "IGNORE":
        what = f"param shape {shape_text(params.shape)}"
        raise ValueError(outside(indices, bad.ravel(), what))
    picked = np.array(params[(*np.moveaxis(np.where(bad[..., None], 0, indices), -1, 0), ...)])
    picked[bad] = b"" if params.dtype == object else 0
    return picked


@GatherNd.gradient
def _(op, grad):
    params, indices = op.inputs
    sizes = sizes_of(params, indices.dtype if indices.dtype in INDEX else int32)
    if indices.dtype not in INDEX:
        indices = casting.cast(indices, int32)
    if indices.shape.rank == 2 and indices.shape[-1] == 1:
        return IndexedSlices(grad, squeeze(indices, -1), sizes), None
    return execute(scatter.ScatterNd, (indices, grad, sizes), op.given), None


def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy="") -> Tensor:
    """The elements or slices of `params` at the index vectors in the last axis of `indices`.

    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy().tolist()
    [2, 3]
    """
    params, indices = convert_to_tensor(params), convert_to_tensor(indices)
    attrs = {"bad_indices_policy": bad_indices_policy} if bad_indices_policy else {}
    batch_dims = int(batch_dims)
    if batch_dims == 0:
        return execute(GatherNd, (params, indices), attrs)
    if batch_dims < 0:
        raise ValueError("tf.gather_nd does not allow negative batch_dims.")
    for what, tensor in (("indices", indices), ("params", params)):
        if tensor.shape.rank is not None and batch_dims >= tensor.shape.rank:
            raise ValueError(
                f"Argument `batch_dims` = {batch_dims} must be less than rank(`{what}`) = "
                f"{tensor.shape.rank}"
            )
    if not params.shape[:batch_dims].is_compatible_with(indices.shape[:batch_dims]):
        raise InvalidArgumentError(
            None,
            None,
            f"The first {batch_dims} dimensions of params {params.shape} and indices "
            f"{indices.shape} must be equal. [Op:GatherNd]",
        )
    return _batched(params, indices, batch_dims, attrs)


def _batched(params, indices, batch_dims, attrs):
    """gather_nd with the batch index prepended to every index vector."""
    sizes, whole = sizes_of(indices), sizes_of(params)
    batch = indexing.getitem(sizes, slice(batch_dims))
    last = indexing.getitem(sizes, slice(-1, None))
    inner = indexing.getitem(sizes, slice(batch_dims, -1))
    # Flatten the axes between batch and vector, so that the rank is known.
    count = reshape(reduction.reduce_prod(inner), [1])
    grid = joining.concat([batch, count, [1]], 0)
    columns = []
    for axis in range(batch_dims):
        numbers = creation.range(indexing.getitem(sizes, axis))
        numbers = reshape(numbers, [-1 if i == axis else 1 for i in range(batch_dims + 2)])
        columns.append(casting.cast(broadcast_to(numbers, grid), indices.dtype))
    flat = reshape(indices, joining.concat([batch, count, last], 0))
    picked = execute(GatherNd, (params, joining.concat([*columns, flat], -1)), attrs)
    # The axes of the slices are those of params after the batch and the index vectors.
    depth = indexing.getitem(last, 0) + batch_dims
    rest = indexing.getitem(whole, slice(depth, None))
    return reshape(picked, joining.concat([batch, inner, rest], 0))
