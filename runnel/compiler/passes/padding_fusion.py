"""Padding fusion: explicit zero padding moves into the convolution after it.

    Conv2D(Pad(x), VALID)  =  Conv2D(x, EXPLICIT)

The padded copy of the images is never made, neither in the forward nor in the backward pass. The
gradient with respect to the images is computed without the padding at once: the slice that is the
gradient of `Pad` is what the convolution with explicit padding gives.
"""

from __future__ import annotations

from typing import Any

from ...core.dtypes import int32
from ...core.graph.graph import Operation
from ...core.tensor import SymbolicTensor, Tensor
from .computation import Computation, constant_of, made_by, operation_like

Pairs = list[tuple[int, int]]


def run(computation: Computation) -> Computation:
    """Fuse zero padding with convolutions, and the slices of their input gradients."""
    if not any(operation.op.convolution for operation in computation.operations):
        return computation
    uses = computation.uses()
    fetched = {id(tensor) for tensor in computation.fetches}
    # Padded gradients with other uses are computed anyway.
    shared = {
        operation.name
        for operation in computation.operations
        if operation.op.convolution == "input"
        and (len(uses.get(id(operation.outputs[0]), ())) > 1 or id(operation.outputs[0]) in fetched)
    }

    def joined(operation: Operation) -> Operation | None:
        if operation.type == "Slice":
            return _joined_slice(operation, shared)
        return _joined_padding(operation)

    return computation.rewritten(joined)


def _joined_padding(operation: Operation) -> Operation | None:
    """The convolution, or its filter gradient, of the images before padding."""
    if operation.op.convolution not in ("forward", "filter"):
        return None
    images, second, *rest = operation.inputs
    pad = made_by(images, "Pad")
    if pad is None:
        return None
    filters = second if operation.op.convolution == "forward" else operation.outputs[0]
    attrs = _with_padding(operation, filters, _pairs(pad))
    if attrs is None:
        return None
    return operation_like(operation, operation.op, (pad.inputs[0], second, *rest), attrs)


def _joined_slice(operation: Operation, shared: set[str]) -> Operation | None:
    """The gradient with respect to the images, for a slice of that with respect to the padded
    images.
    """
    padded, begin, sizes = operation.inputs
    gradient = padded.op if isinstance(padded, SymbolicTensor) else None
    starts = constant_of(begin)
    if gradient is None or gradient.op.convolution != "input" or gradient.name in shared:
        return None
    if starts is None or sizes.dtype is not int32:
        return None
    pairs = _pairs_around(gradient, sizes, operation)
    if pairs is None or [before for before, _ in pairs] != starts.tolist():
        return None
    attrs = _with_padding(gradient, gradient.inputs[1], pairs)
    if attrs is None:
        return None
    return operation_like(operation, gradient.op, (sizes, *gradient.inputs[1:]), attrs)


def _pairs(pad: Operation) -> Pairs | None:
    """The padding before and after each axis; None if it is not constant."""
    found = constant_of(pad.inputs[1])
    return None if found is None else [(int(before), int(after)) for before, after in found]


def _pairs_around(gradient: Operation, sizes: Tensor, part: Operation) -> Pairs | None:
    """The padding that a slice of the padded gradient removes, from what is known statically."""
    padded_shape = made_by(gradient.inputs[0], "Shape")
    shape = made_by(sizes, "Shape")
    if padded_shape is not None and shape is not None:
        pad = made_by(padded_shape.inputs[0], "Pad")
        return _pairs(pad) if pad is not None and pad.inputs[0] is shape.inputs[0] else None
    outer, inner = gradient.outputs[0].shape, part.outputs[0].shape
    starts, known = constant_of(part.inputs[1]), constant_of(sizes)
    if known is None or not outer.is_fully_defined() or known.tolist() != inner:
        return None
    return [
        (int(before), int(whole - before - size))
        for before, whole, size in zip(starts, outer.as_list(), known, strict=True)
    ]


def _with_padding(
    operation: Operation, filters: Tensor, pairs: Pairs | None
) -> dict[str, Any] | None:
    """The attributes of the convolution with explicit padding; None if it has no such form."""
    attrs = operation.given
    if pairs is None or attrs.get("padding") != "VALID" or len(pairs) != 4:
        return None
    if attrs.get("data_format", "NHWC") != "NHWC" or pairs[0] != (0, 0) or pairs[3] != (0, 0):
        return None
    if filters.shape.rank != 4:
        return None
    dilations = attrs.get("dilations", (1, 1, 1, 1))
    for pair, taps, dilation in zip(pairs[1:3], filters.shape[:2], dilations[1:3], strict=True):
        # Engines do not support windows that see padding only.
        if taps is None or min(pair) < 0 or max(pair) > (taps - 1) * dilation:
            return None
    flat = tuple(number for pair in pairs for number in pair)
    return {**attrs, "padding": "EXPLICIT", "explicit_paddings": flat}
