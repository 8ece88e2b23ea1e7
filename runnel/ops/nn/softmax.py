"""Softmax and its logarithm."""

from __future__ import annotations

import functools

import numpy as np

from ...core import errors
from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import FLOATING, int32
from ...core.op import execute, op
from ...core.tensor import Tensor
from ...runtime.engine_selection import accelerated
from ...runtime.half_precision import computed_in_float32
from ..array import creation, ordering, shaping
from ..math import (
    arithmetic,
    casting,
    comparison,
    division,
    elementwise,
    many_numbers,
    reduction,
)
from ..math.reduction_kernels import ones


def _at_least_one_axis(inputs, attrs):
    shape = inputs[0].shape
    if shape.rank == 0:
        raise ValueError("logits must have >= 1 dimension, got []")
    return shape


def row_starts(size, classes):
    """The flat start indices of the rows of a matrix with `size` elements."""
    # Cached for small matrices: batches have few sizes.
    return _known_row_starts(size, classes) if size <= 65536 else np.arange(0, size, classes)


@functools.lru_cache(maxsize=16)
def _known_row_starts(size, classes):
    return np.arange(0, size, classes)


def shifted_by_maximum(logits):
    """The logits minus their row's maximum, a new array whose exponentials cannot overflow."""
    classes = logits.shape[-1]
    if logits.ndim == 2 and 0 < logits.size <= 4096:
        # argmax and take need half as long as np.maximum.reduce.
        places = logits.argmax(1)
        places += row_starts(logits.size, classes)
        return logits - logits.take(places).reshape(-1, 1)
    if classes < 24 and logits.size > 4096 and logits.flags.c_contiguous:
        # For rows this short a column-wise reduction is faster.
        columns = np.ascontiguousarray(logits.reshape(-1, classes).T)
        largest = np.maximum.reduce(columns, 0).reshape(*logits.shape[:-1], 1)
    else:
        largest = np.maximum.reduce(logits, -1, keepdims=True, initial=-np.inf)
    return logits - largest


def row_sums(array):
    """The sum over the last axis, with keepdims."""
    if array.size <= 4096:
        if array.ndim == 2 and array.flags.c_contiguous:
            return array.dot(ones(array.shape[1], array.dtype.type)).reshape(-1, 1)
        return np.add.reduce(array, -1, keepdims=True)
    # Several times faster than np.add.reduce on large arrays.
    return np.einsum("...i->...", array)[..., np.newaxis]


@op("Softmax", "logits: T -> softmax: T", T=FLOATING, shape=_at_least_one_axis, fresh=True)
@computed_in_float32
def Softmax(logits):
    if not logits.ndim:
        raise ValueError("logits must have at least one dimension.")
    return _by_row(logits)


@accelerated("softmax", 4096)
def _by_row(logits):
    result = shifted_by_maximum(logits)
    many_numbers.exponential(result, result)
    result /= row_sums(result)
    return result


@Softmax.gradient
def _(op, grad):
    softmax = op.outputs[0]
    return times_softmax_jacobian(grad, softmax)


def times_softmax_jacobian(grad, softmax):
    """The gradient with respect to the logits, from the upstream gradient of their softmax."""
    weighted = reduction.reduce_sum(arithmetic.multiply(grad, softmax), -1, keepdims=True)
    return arithmetic.multiply(arithmetic.subtract(grad, weighted), softmax)


@op("LogSoftmax", "logits: T -> logsoftmax: T", T=FLOATING, shape=_at_least_one_axis, fresh=True)
@computed_in_float32
def LogSoftmax(logits):
    if not logits.ndim:
        raise ValueError("logits must have at least one dimension.")
    return _logarithm_by_row(logits)


@accelerated("log_softmax", 8192)
def _logarithm_by_row(logits):
    result = shifted_by_maximum(logits)
    total = row_sums(many_numbers.exponential(result))
    np.log(total, out=total)
    result -= total
    return result


@LogSoftmax.gradient
def _(op, grad):
    softmax = elementwise.exp(op.outputs[0])
    total = reduction.reduce_sum(grad, -1, keepdims=True)
    return arithmetic.subtract(grad, arithmetic.multiply(total, softmax))


def softmax(logits, axis=None, name=None):
    """exp(logits) / sum(exp(logits)) along `axis` (the last by default): probabilities.

    >>> tf.nn.softmax([0.0, 0.0, 1000.0]).numpy().tolist()
    [0.0, 0.0, 1.0]
    """
    return _along_axis(Softmax, logits, axis)


def log_softmax(logits, axis=None, name=None):
    """logits - log(sum(exp(logits))) along `axis` (the last by default).

    >>> tf.nn.log_softmax([0.0, 0.0]).numpy().round(4)
    array([-0.6931, -0.6931], dtype=float32)
    """
    return _along_axis(LogSoftmax, logits, axis)


def _along_axis(op, logits, axis):
    logits = convert_to_tensor(logits)
    if axis is None:
        return execute(op, (logits,))
    if isinstance(axis, Tensor):
        value = constant_value(axis)
        axis = axis if value is None else int(value)
    rank = logits.shape.rank
    if isinstance(axis, Tensor) or (rank is None and axis != -1):
        order = _swap_with_last(axis, shaping.rank(logits))
    elif axis == -1 or axis + 1 == rank:
        return execute(op, (logits,))
    else:
        order = _static_swap_with_last(axis, rank)
    # A transposition of two axes is its own inverse.
    return ordering.transpose(execute(op, (ordering.transpose(logits, order),)), order)


def _require_axis(axis, rank):
    if not -rank <= axis < rank:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"`axis` must be in the range [{-rank}, {rank}) where {rank} is the number of "
            f"dimensions in the input. Received: axis={axis}",
        )


def _static_swap_with_last(axis, rank):
    _require_axis(axis, rank)
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    return order


def order_with_axis_at_end(axis, tensor):
    """The permutation that moves an axis to the end."""
    rank = tensor.shape.rank
    if rank is not None:
        _require_axis(axis, rank)
        axis %= rank
        return [*range(axis), *range(axis + 1, rank), axis]
    rank = shaping.rank(tensor)
    axis = division.floormod(axis, rank)
    axes = creation.range(rank)
    after = casting.cast(comparison.greater_equal(axes, axis), int32)
    last = casting.cast(comparison.equal(axes, arithmetic.subtract(rank, 1)), int32)
    back = arithmetic.multiply(last, arithmetic.subtract(axis, rank))
    return arithmetic.add(axes, arithmetic.add(after, back))


def _swap_with_last(axis, rank):
    axis = division.floormod(casting.cast(axis, int32), rank)
    last = arithmetic.subtract(rank, 1)
    axes = creation.range(rank)
    distance = arithmetic.subtract(last, axis)
    to_last = casting.cast(comparison.equal(axes, axis), int32)
    from_last = casting.cast(comparison.equal(axes, last), int32)
    moves = arithmetic.multiply(distance, arithmetic.subtract(to_last, from_last))
    return arithmetic.add(axes, moves)
