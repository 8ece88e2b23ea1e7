"""Half the sum of squares, and losses averaged over the batches of all replicas."""

from __future__ import annotations

import numpy as np

from ...core import errors
from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import FLOATING, float32
from ...core.op import execute, op
from ...core.shape_rules import scalar
from ...runtime.half_precision import computed_in_float32
from ..array import joining, selection, shaping
from ..math import arithmetic, casting, comparison, division, elementwise, reduction


@op("L2Loss", "t: T -> output: T", T=FLOATING, shape=scalar)
@computed_in_float32
def L2Loss(t):
    flat = t.ravel()
    return np.dot(flat, flat) / 2


@L2Loss.gradient
def _(op, grad):
    return arithmetic.multiply(op.inputs[0], grad)


def l2_loss(t, name=None):
    """sum(t²) / 2

    >>> tf.nn.l2_loss([3.0, 4.0]).numpy()
    np.float32(12.5)
    """
    return execute(L2Loss, (convert_to_tensor(t),))


def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The weighted sum of the losses, divided by the global batch size.

    `global_batch_size` counts the examples of all replicas; by default those given here.

    >>> tf.nn.compute_average_loss([1.0, 2.0, 3.0], global_batch_size=12).numpy()
    np.float32(0.5)
    """
    loss = convert_to_tensor(per_example_loss)
    if loss.shape.rank == 0:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1, "
            f"one loss per example. Received per_example_loss={per_example_loss} with rank 0."
        )
    if sample_weight is not None:
        # In float32 for any dtype of the losses, as in the original.
        weights = casting.cast(convert_to_tensor(sample_weight), float32)
        weighted = arithmetic.multiply(casting.cast(loss, float32), _aligned(weights, loss))
        loss = casting.cast(weighted, loss.dtype)
    if global_batch_size is None:
        size = shaping.shape(loss)[0]
    else:
        size = _batch_size(global_batch_size)
    total = reduction.reduce_sum(loss)
    if not total.dtype.is_integer:
        return division.divide_no_nan(total, casting.cast(size, total.dtype))
    # Integers are divided as in tf.divide: true division.
    quotient_type = division.truediv(total, total).dtype
    total = casting.cast(total, quotient_type)
    return division.divide_no_nan(total, casting.cast(size, quotient_type))


def _aligned(weights, loss):
    """Weights whose rank differs from the loss by a last axis of size 1 are reshaped to match."""
    rank, wanted = weights.shape.rank, loss.shape.rank
    if rank is None or wanted is None:
        rank, wanted = shaping.rank(weights), shaping.rank(loss)
        near = comparison.equal(elementwise.abs(rank - wanted), 1)
        sizes = joining.concat([shaping.shape(weights), [1]], 0)
        return shaping.reshape(weights, sizes[: selection.where(near, wanted, rank)])
    if rank - wanted == 1:
        return shaping.squeeze(weights, [-1])
    if wanted - rank == 1:
        return shaping.expand_dims(weights, -1)
    return weights


def _batch_size(size):
    size = convert_to_tensor(size)
    if size.shape.rank not in (None, 0):
        raise ValueError(f"global_batch_size must be a scalar, got shape {size.shape}.")
    if not size.dtype.is_integer:
        raise TypeError(f"global_batch_size must be an integer, got dtype {size.dtype.name}.")
    value = constant_value(size)
    if value is not None and value < 0:
        raise errors.InvalidArgumentError(
            None, None, f"global_batch_size must not be negative, got {value}."
        )
    return size


def scale_regularization_loss(regularization_loss):
    """The sum of the regularization losses, divided by the number of replicas.

    >>> tf.nn.scale_regularization_loss([1.0, 2.0]).numpy()
    np.float32(3.0)
    """
    total = reduction.reduce_sum(regularization_loss)
    return division.truediv(total, 1) if total.dtype.is_integer else total
