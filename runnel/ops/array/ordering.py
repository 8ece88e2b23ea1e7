"""Permutations of elements: transpose, reverse, roll."""

from __future__ import annotations

import functools

import numpy as np

from ...core.convert import constant_value, convert_to_tensor, tensor_of
from ...core.dtypes import int32
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..math import arithmetic, casting, division, elementwise
from . import creation, partition
from .arguments import INDEX, integers
from .shaping import rank as rank_of, size


def _transposed(inputs, attrs):
    value, perm = inputs
    if perm.shape.rank not in (None, 1):
        raise ValueError(f"perm must be rank 1, got shape {dimensions_text(perm.shape)}")
    rank = value.shape.rank
    order = constant_value(perm)
    if rank is None:
        return UNKNOWN if order is None else TensorShape([None] * len(order))
    if order is None:
        return TensorShape([None] * rank)
    order = _checked_order(order.tolist(), rank)
    return TensorShape([value.shape[axis] for axis in order])


def _checked_order(order, rank):
    """The permutation with normalized axes; ValueError if it is not a permutation."""
    if len(order) != rank:
        raise ValueError(
            f"transpose expects a vector of size {rank}. But input(1) is a vector of size "
            f"{len(order)}"
        )
    order = [axis + rank if axis < 0 else axis for axis in order]
    for axis in order:
        if not 0 <= axis < rank:
            raise ValueError(f"{axis} is out of range [0 .. {rank})")
    missing = set(range(rank)).difference(order)
    if missing:
        raise ValueError(f"{min(missing)} is missing from {{{','.join(map(str, order))}}}.")
    return order


@op("Transpose", "x: T, perm: Tperm -> y: T", Tperm=INDEX, shape=_transposed)
def Transpose(x, perm):
    if perm.ndim != 1:
        raise ValueError("perm must be rank 1")
    return x.transpose(perm.tolist())


@op("ConjugateTranspose", "x: T, perm: Tperm -> y: T", Tperm=INDEX, shape=_transposed)
def ConjugateTranspose(x, perm):
    if perm.ndim != 1:
        raise ValueError("perm must be rank 1")
    return np.conjugate(x.transpose(perm.tolist()))


@Transpose.gradient
def _(op, grad):
    return execute(Transpose, (grad, _inverse(op.inputs[1]))), None


@ConjugateTranspose.gradient
def _(op, grad):
    return execute(ConjugateTranspose, (grad, _inverse(op.inputs[1]))), None


def _inverse(perm):
    order = constant_value(perm)
    if order is not None:
        return tensor_of(np.argsort(order % max(len(order), 1)).astype(np.int32), int32)
    # Position i moves to perm[i].
    count = size(perm)
    places = division.floormod(casting.cast(perm, int32), count)
    return partition.dynamic_stitch([places], [creation.range(count)])


@functools.lru_cache(64)
def _backwards(rank):
    return Tensor(np.arange(rank - 1, -1, -1, dtype=np.int32), int32)


def transpose(a, perm=None, conjugate=False, name="transpose") -> Tensor:
    """Permute the axes to the order `perm`, by default reversed.

    >>> tf.transpose([[1, 2, 3], [4, 5, 6]]).numpy().tolist()
    [[1, 4], [2, 5], [3, 6]]
    """
    a = convert_to_tensor(a)
    op = ConjugateTranspose if conjugate and a.dtype.is_complex else Transpose
    if perm is not None:
        return execute(op, (a, integers(perm)))
    if a.shape.rank is not None:
        return execute(op, (a, _backwards(a.shape.rank)))
    last = arithmetic.subtract(rank_of(a), 1)
    return execute(op, (a, creation.range(last, -1, -1)))


def _reversed(inputs, attrs):
    value, axes = inputs
    if axes.shape.rank not in (None, 1):
        raise ValueError(f"'dims' must be 1-dimension, not {axes.shape.rank}")
    known = constant_value(axes)
    # A scalar or an empty tensor is its own reverse along any axis, as in the original.
    if known is not None and value.shape.rank and value.shape.num_elements():
        _checked_axes(known.tolist(), value.shape.rank)
    return value.shape


def _checked_axes(axes, rank):
    found = set()
    for position, axis in enumerate(axes):
        if not -rank <= axis < rank:
            raise ValueError(
                f"'axis'[{position}] = {axis} is out of valid range [{-rank}, {rank - 1}]"
            )
        if axis % rank in found:
            raise ValueError(f"axis {axis % rank} specified more than once.")
        found.add(axis % rank)


@op("ReverseV2", "tensor: T, axis: Tidx -> output: T", Tidx=INDEX, shape=_reversed)
def ReverseV2(tensor, axis):
    if axis.ndim != 1:
        raise ValueError("'dims' must be 1-dimension")
    if not tensor.ndim or not tensor.size:
        return tensor
    axes = axis.tolist()
    _checked_axes(axes, tensor.ndim)
    key = [slice(None)] * tensor.ndim
    for each in axes:
        key[each] = slice(None, None, -1)
    return tensor[tuple(key)]


@ReverseV2.gradient
def _(op, grad):
    return execute(ReverseV2, (grad, op.inputs[1])), None


def reverse(tensor, axis, name=None) -> Tensor:
    """Reverse the elements along each of the axes.

    >>> tf.reverse([[1, 2], [3, 4]], axis=[1]).numpy().tolist()
    [[2, 1], [4, 3]]
    """
    return execute(ReverseV2, (convert_to_tensor(tensor), integers(axis)))


def _rolled(inputs, attrs):
    value, shift, axis = inputs
    if value.shape.rank == 0:
        raise ValueError("input must be 1-D or higher")
    for what, each in (("shift", shift), ("axis", axis)):
        if each.shape.rank not in (None, 0, 1):
            raise ValueError(
                f"{what} must be a scalar or a 1-D vector. Found: {dimensions_text(each.shape)}"
            )
    counts = shift.shape.num_elements(), axis.shape.num_elements()
    if None not in counts and counts[0] != counts[1]:
        raise ValueError("shift and axis must have the same size")
    known = constant_value(axis)
    if known is not None and value.shape.rank is not None:
        _rolled_axes(known, value.shape.rank)
    return value.shape


def _rolled_axes(axis, rank):
    axes = np.atleast_1d(axis).tolist()
    for each in axes:
        if not -rank <= each < rank:
            raise ValueError(f"axis {each} is out of range [{-rank}, {rank})")
    return axes


@op(
    "Roll",
    "input: T, shift: Tshift, axis: Taxis -> output: T",
    Tshift=INDEX,
    Taxis=INDEX,
    shape=_rolled,
)
def Roll(input, shift, axis):
    if not input.ndim or max(shift.ndim, axis.ndim) > 1 or shift.size != axis.size:
        raise ValueError("shift and axis must be scalars or vectors of one size")
    axes = _rolled_axes(axis, input.ndim)
    return np.roll(input, np.atleast_1d(shift).tolist(), axes)


@Roll.gradient
def _(op, grad):
    _, shift, axis = op.inputs
    return execute(Roll, (grad, elementwise.negative(shift), axis)), None, None


def roll(input, shift, axis, name=None) -> Tensor:
    """Shift the elements cyclically along axes.

    >>> tf.roll([1, 2, 3, 4], shift=1, axis=0).numpy().tolist()
    [4, 1, 2, 3]
    """
    inputs = (convert_to_tensor(input), convert_to_tensor(shift), convert_to_tensor(axis))
    return execute(Roll, inputs)


def _sequences(inputs, attrs):
    value, lengths = inputs
    seq, batch = attrs["seq_dim"], attrs["batch_dim"]
    if lengths.shape.rank not in (None, 1):
        raise ValueError(f"seq_lengths must be 1-dim, not {lengths.shape.rank}")
    rank = value.shape.rank
    _require_sequence_axes(seq, batch, rank)
    if rank is not None and lengths.shape.rank == 1:
        count, size = lengths.shape[0], value.shape[batch]
        if None not in (count, size) and count != size:
            raise ValueError(f"Length of seq_lengths != input.dims({batch}), ({count} vs. {size})")
    return value.shape


def _require_sequence_axes(seq, batch, rank):
    if seq == batch:
        raise ValueError(f"batch_dim == seq_dim == {seq}")
    for what, axis in (("seq_dim", seq), ("batch_dim", batch)):
        if axis < 0:
            raise ValueError(f"Invalid {what} {axis}")
        if rank is not None and axis >= rank:
            raise ValueError(f"{what} must be < input rank ( {axis} vs. {rank})")


@op("ReverseSequence", "input: T, seq_lengths: Tlen -> output: T", Tlen=INDEX, shape=_sequences)
def ReverseSequence(input, seq_lengths, *, seq_dim, batch_dim=0):
    _require_sequence_axes(seq_dim, batch_dim, input.ndim)
    if seq_lengths.shape != (input.shape[batch_dim],):
        raise ValueError("seq_lengths must have one entry per example of the batch")
    size = input.shape[seq_dim]
    for position, length in enumerate(seq_lengths.tolist()):
        if length < 0:
            raise ValueError(f"seq_lens({position}) < 0")
        if length > size:
            raise ValueError(f"seq_lens({position}) > input.dims({seq_dim})")
    steps = np.arange(size)
    lengths = seq_lengths[:, None]
    # The source index of each step: mirrored within the length, itself beyond.
    source = np.where(steps < lengths, lengths - 1 - steps, steps)
    shape = [1] * input.ndim
    shape[batch_dim], shape[seq_dim] = source.shape
    if batch_dim > seq_dim:
        source = source.T
    return np.take_along_axis(input, source.reshape(shape), seq_dim)


@ReverseSequence.gradient
def _(op, grad):
    return execute(ReverseSequence, (grad, op.inputs[1]), op.given), None


def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None) -> Tensor:
    """Reverse the first `seq_lengths[i]` steps of each example i of a batch.

    >>> tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy().tolist()
    [[2, 1, 3], [6, 5, 4]]
    """
    if seq_axis is None:
        raise TypeError("tf.reverse_sequence needs an integer as `seq_axis`, got None.")
    attrs = {"seq_dim": int(seq_axis), "batch_dim": int(batch_axis or 0)}
    return execute(ReverseSequence, (convert_to_tensor(input), integers(seq_lengths)), attrs)
