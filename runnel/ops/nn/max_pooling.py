"""Max pooling in two and three dimensions, with and without argmax, and its gradients."""

import numpy as np

from ...core.dtypes import (
    REAL,
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
)
from ...core.op import op
from ...core.shape_rules import same_as_input, unchanged
from ..array.creation import ZerosLike
from .pooling_kernels import (
    gather_from_positions,
    max_pool,
    max_pool_backprop,
    max_pool_second_backprop,
    max_pool_with_positions,
    scatter_to_positions,
)
from .pooling_shapes import check_shape, place_pooling, pooling_rule

POOLED = {float16, bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16}
POOLED_3D = {float16, bfloat16, float32}


def _gradient(rank, every_tie, images, outputs, gradients, *attrs):
    placed = place_pooling(images.shape, rank, *attrs, over_depth=rank == 4)
    check_shape("orig_output", outputs.shape, placed.output_shape)
    check_shape("grad", gradients.shape, placed.output_shape)
    images, outputs, gradients = map(placed.arrange, (images, outputs, gradients))
    result = max_pool_backprop(images, outputs, gradients, placed.axes, every_tie)
    return placed.restore(result)


def _second_gradient(rank, images, outputs, gradients, *attrs):
    placed = place_pooling(images.shape, rank, *attrs, over_depth=rank == 4)
    check_shape("orig_output", outputs.shape, placed.output_shape)
    check_shape("grad", gradients.shape, images.shape)
    images, outputs, gradients = map(placed.arrange, (images, outputs, gradients))
    return placed.restore(max_pool_second_backprop(images, outputs, gradients, placed.axes))


@op("MaxPool", "input: T -> output: T", T=POOLED, shape=pooling_rule(4, over_depth=True))
def MaxPool(input, *, ksize, strides, padding, explicit_paddings=(), data_format="NHWC"):
    placed = place_pooling(
        input.shape, 4, ksize, strides, padding, explicit_paddings, data_format, over_depth=True
    )
    return placed.restore(max_pool(placed.arrange(input), placed.axes))


@MaxPool.gradient
def _(op, grad):
    return MaxPoolGrad(op.inputs[0], op.outputs[0], grad, **op.attrs)


@op(
    "MaxPoolGrad",
    "orig_input: T, orig_output: T, grad: T -> output: T",
    T=REAL,
    shape=unchanged,
    fresh=True,
)
def MaxPoolGrad(
    orig_input,
    orig_output,
    grad,
    *,
    ksize,
    strides,
    padding,
    explicit_paddings=(),
    data_format="NHWC",
):
    return _gradient(
        4, False, orig_input, orig_output, grad,
        ksize, strides, padding, explicit_paddings, data_format,
    )  # fmt: skip


@MaxPoolGrad.gradient
def _(op, grad):
    input, output, _ = op.inputs
    return ZerosLike(input), ZerosLike(output), MaxPoolGradGrad(input, output, grad, **op.attrs)


@op(
    "MaxPoolGradGrad",
    "orig_input: T, orig_output: T, grad: T -> output: T",
    T=REAL,
    shape=same_as_input(1),
)
def MaxPoolGradGrad(
    orig_input,
    orig_output,
    grad,
    *,
    ksize,
    strides,
    padding,
    explicit_paddings=(),
    data_format="NHWC",
):
    return _second_gradient(
        4, orig_input, orig_output, grad, ksize, strides, padding, explicit_paddings, data_format
    )


@MaxPoolGradGrad.gradient
def _(op, grad):
    input, output, _ = op.inputs
    return ZerosLike(input), ZerosLike(output), MaxPoolGrad(input, output, grad, **op.attrs)


@op("MaxPool3D", "input: T -> output: T", T=POOLED_3D, shape=pooling_rule(5))
def MaxPool3D(input, *, ksize, strides, padding, data_format="NDHWC"):
    placed = place_pooling(input.shape, 5, ksize, strides, padding, (), data_format)
    return placed.restore(max_pool(placed.arrange(input), placed.axes, False))


@MaxPool3D.gradient
def _(op, grad):
    return MaxPool3DGrad(op.inputs[0], op.outputs[0], grad, **op.attrs)


@op(
    "MaxPool3DGrad",
    "orig_input: TInput, orig_output: TInput, grad: T -> output: T",
    TInput=POOLED_3D,
    T=POOLED_3D,
    shape=unchanged,
)
def MaxPool3DGrad(orig_input, orig_output, grad, *, ksize, strides, padding, data_format="NDHWC"):
    return _gradient(
        5, True, orig_input, orig_output, grad, ksize, strides, padding, (), data_format
    )


@MaxPool3DGrad.gradient
def _(op, grad):
    input, output, _ = op.inputs
    return ZerosLike(input), ZerosLike(output), MaxPool3DGradGrad(input, output, grad, **op.attrs)


@op(
    "MaxPool3DGradGrad",
    "orig_input: T, orig_output: T, grad: T -> output: T",
    T=REAL,
    shape=same_as_input(1),
)
def MaxPool3DGradGrad(
    orig_input, orig_output, grad, *, ksize, strides, padding, data_format="NDHWC"
):
    return _second_gradient(
        5, orig_input, orig_output, grad, ksize, strides, padding, (), data_format
    )


@MaxPool3DGradGrad.gradient
def _(op, grad):
    input, output, _ = op.inputs
    return ZerosLike(input), ZerosLike(output), MaxPool3DGrad(input, output, grad, **op.attrs)


def _argmax_rule(inputs, attrs):
    shape = pooling_rule(4)(inputs, attrs)
    return [shape, shape]


@op(
    "MaxPoolWithArgmax",
    "input: T -> output: T, argmax: Targmax",
    T=REAL,
    shape=_argmax_rule,
)
def MaxPoolWithArgmax(
    input, *, ksize, strides, Targmax=int64, padding, include_batch_in_index=False
):
    placed = place_pooling(input.shape, 4, ksize, strides, padding, (), "NHWC")
    values, positions = max_pool_with_positions(input, placed.axes)
    if include_batch_in_index:
        size = int(np.prod(input.shape[1:]))
        positions += (np.arange(input.shape[0]) * size).reshape(-1, 1, 1, 1)
    return values, positions.astype(Targmax.numpy, copy=False)


def _argmax_attrs(op):
    """The attributes that an op with argmax has in common with its gradients."""
    return {name: value for name, value in op.attrs.items() if name != "Targmax"}


@MaxPoolWithArgmax.gradient
def _(op, grad, _):
    return MaxPoolGradWithArgmax(op.inputs[0], grad, op.outputs[1], **_argmax_attrs(op))


@op(
    "MaxPoolGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    T=REAL,
    Targmax={int32, int64},
    shape=unchanged,
)
def MaxPoolGradWithArgmax(
    input, grad, argmax, *, ksize, strides, padding, include_batch_in_index=False
):
    placed = place_pooling(input.shape, 4, ksize, strides, padding, (), "NHWC")
    check_shape("grad", grad.shape, placed.output_shape)
    check_shape("argmax", argmax.shape, placed.output_shape)
    return scatter_to_positions(grad, argmax, input.shape, include_batch_in_index)


@MaxPoolGradWithArgmax.gradient
def _(op, grad):
    input, _, argmax = op.inputs
    second = MaxPoolGradGradWithArgmax(input, grad, argmax, **_argmax_attrs(op))
    return ZerosLike(input), second, None


@op(
    "MaxPoolGradGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    T=REAL,
    Targmax={int32, int64},
    shape=same_as_input(2),
)
def MaxPoolGradGradWithArgmax(
    input, grad, argmax, *, ksize, strides, padding, include_batch_in_index=False
):
    placed = place_pooling(input.shape, 4, ksize, strides, padding, (), "NHWC")
    check_shape("grad", grad.shape, input.shape)
    check_shape("argmax", argmax.shape, placed.output_shape)
    return gather_from_positions(grad, argmax, include_batch_in_index)


@MaxPoolGradGradWithArgmax.gradient
def _(op, grad):
    input, _, argmax = op.inputs
    first = MaxPoolGradWithArgmax(input, grad, argmax, **_argmax_attrs(op))
    return ZerosLike(input), first, None
