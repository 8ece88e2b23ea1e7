"""Padding with a constant or by mirroring."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value, convert_to_tensor, partial_sizes
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from . import slicing
from .arguments import INDEX, integers
from .shaping import sizes_of


def _require_pairs(paddings, rank, shape):
    if paddings.rank is not None and (paddings.rank != 2 or paddings[1] not in (None, 2)):
        raise ValueError(f"paddings must be a matrix with 2 columns: {dimensions_text(paddings)}")
    if rank is not None and paddings.rank is not None and paddings[0] not in (None, rank):
        raise ValueError(
            "The first dimension of paddings must be the rank of inputs"
            f"{dimensions_text(paddings)} {dimensions_text(shape)}"
        )


def _padded(inputs, attrs):
    value, paddings = inputs[:2]
    shape = value.shape
    _require_pairs(paddings.shape, shape.rank, shape)
    if len(inputs) == 3 and inputs[2].shape.rank not in (None, 0):
        raise ValueError(
            f"constant_values must be a scalar. Found: {dimensions_text(inputs[2].shape)}"
        )
    known = partial_sizes(paddings)
    if known is None:
        rank = shape.rank
        if rank is None and paddings.shape.rank == 2:
            rank = paddings.shape[0]
        return UNKNOWN if rank is None else TensorShape([None] * rank)
    if shape.rank is None:
        return TensorShape([None] * len(known))
    sizes = [
        None if size is None or None in pair else size + _added(pair, size, attrs.get("mode"))
        for size, pair in zip(shape, known, strict=True)
    ]
    return TensorShape(sizes)


def _added(pair, size, mode):
    """The size that a pair adds to an axis; ValueError if it is negative or too large to mirror."""
    before, after = pair
    if before < 0 or after < 0:
        word = "Paddings" if mode is None else "paddings"
        raise ValueError(f"{word} must be non-negative: {before} {after}")
    if mode == "REFLECT" and max(before, after) >= size:
        raise ValueError(
            f"paddings must be less than the dimension size: {before}, {after} not less than {size}"
        )
    if mode == "SYMMETRIC" and max(before, after) > size:
        raise ValueError(
            "paddings must be no greater than the dimension size: "
            f"{before}, {after} greater than {size}"
        )
    return before + after


def _surrounded(input, paddings, value):
    if paddings.shape != (input.ndim, 2):
        raise ValueError("paddings must have a pair for each axis")
    pairs = paddings.tolist()
    sizes = [size + _added(pair, size, None) for size, pair in zip(input.shape, pairs, strict=True)]
    result = np.full(sizes, value, input.dtype)
    inner = tuple([slice(a, a + size) for (a, _), size in zip(pairs, input.shape, strict=True)])
    result[inner] = input
    return result


_ZERO = {"O": b""}


@op("Pad", "input: T, paddings: Tpaddings -> output: T", Tpaddings=INDEX, shape=_padded)
def Pad(input, paddings):
    return _surrounded(input, paddings, _ZERO.get(input.dtype.kind, 0))


@op(
    "PadV2",
    "input: T, paddings: Tpaddings, constant_values: T -> output: T",
    Tpaddings=INDEX,
    shape=_padded,
)
def PadV2(input, paddings, constant_values):
    if constant_values.ndim:
        raise ValueError("constant_values must be a scalar")
    return _surrounded(input, paddings, constant_values[()])


def _inner_part(op, grad):
    value, paddings = op.inputs[:2]
    starts = slicing.strided_slice(
        paddings, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2
    )
    return slicing.slice(grad, starts, sizes_of(value, paddings.dtype))


@Pad.gradient
def _(op, grad):
    return _inner_part(op, grad), None


@PadV2.gradient
def _(op, grad):
    return _inner_part(op, grad), None, None


@op("MirrorPad", "input: T, paddings: Tpaddings -> output: T", Tpaddings=INDEX, shape=_padded)
def MirrorPad(input, paddings, *, mode):
    if paddings.shape != (input.ndim, 2):
        raise ValueError("paddings must have a pair for each axis")
    pairs = paddings.tolist()
    for pair, size in zip(pairs, input.shape, strict=True):
        _added(pair, size, mode)
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            input = np.take(input, _mirrored(input.shape[axis], before, after, mode), axis)
    return input


def _mirrored(size, before, after, mode):
    """The source indices of a mirror-padded axis."""
    skip = 1 if mode == "REFLECT" else 0
    inner = np.arange(size)
    left = inner[skip : skip + before][::-1]
    right = inner[size - skip - after : size - skip][::-1]
    return np.concatenate([left, inner, right])


@MirrorPad.gradient
def _(op, grad):
    return MirrorPadGrad(grad, op.inputs[1], mode=op.attrs["mode"]), None


def _unpadded(inputs, attrs):
    value, paddings = inputs
    known = constant_value(paddings)
    if known is None or value.shape.rank is None:
        return UNKNOWN if value.shape.rank is None else TensorShape([None] * value.shape.rank)
    added = known.sum(1).tolist()
    sizes = [None if s is None else s - more for s, more in zip(value.shape, added, strict=True)]
    return TensorShape(sizes)


@op("MirrorPadGrad", "input: T, paddings: Tpaddings -> output: T", Tpaddings=INDEX, shape=_unpadded)
def MirrorPadGrad(input, paddings, *, mode):
    skip = 1 if mode == "REFLECT" else 0
    for axis, (before, after) in enumerate(paddings.tolist()):
        if not before and not after:
            continue
        folded = np.moveaxis(input, axis, 0)
        size = len(folded) - before - after
        inner = folded[before : before + size].copy()
        inner[skip : skip + before] += folded[:before][::-1]
        inner[size - skip - after : size - skip] += folded[before + size :][::-1]
        input = np.moveaxis(inner, 0, axis)
    return input


@MirrorPadGrad.gradient
def _(op, grad):
    return MirrorPad(grad, op.inputs[1], mode=op.attrs["mode"]), None


def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None) -> Tensor:
    """Pad with `paddings[i]` = (before, after) elements along axis i.

    They are `constant_values` (mode CONSTANT), or the tensor's own elements mirrored at its edges:
    without the edge itself (REFLECT) or with it (SYMMETRIC).

    >>> tf.pad([1, 2, 3], [[1, 2]], "REFLECT").numpy().tolist()
    [2, 1, 2, 3, 2, 1]
    """
    kind = mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". '
            f"Received `mode` = {mode}"
        )
    tensor = convert_to_tensor(tensor)
    paddings = integers(paddings)
    if kind != "CONSTANT":
        return execute(MirrorPad, (tensor, paddings), {"mode": kind})
    if not isinstance(constant_values, Tensor):
        # A Python zero of any type is the dtype's zero value.
        if isinstance(constant_values, int | float | np.number) and constant_values == 0:
            return execute(Pad, (tensor, paddings))
        constant_values = convert_to_tensor(constant_values, tensor.dtype)
    return execute(PadV2, (tensor, paddings, constant_values))
