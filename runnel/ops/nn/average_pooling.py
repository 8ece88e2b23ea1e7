"""Average pooling in two and three dimensions, and its gradients."""

from ...core.convert import constant_shape
from ...core.dtypes import bfloat16, float16, float32, float64
from ...core.op import op
from ..array.shaping import shape
from .pooling_kernels import average_pool, average_pool_backprop
from .pooling_shapes import check_shape, place_pooling, pooling_rule

AVERAGED = {float16, bfloat16, float32, float64}


def _gradient(rank, sizes, gradients, *attrs):
    if sizes.shape != (rank,):
        raise ValueError(
            f"orig_input_shape must be 1-dimensional and {rank} elements, got {sizes.tolist()}."
        )
    placed = place_pooling(tuple(sizes.tolist()), rank, *attrs)
    check_shape("grad", gradients.shape, placed.output_shape)
    gradients = placed.arrange(gradients)
    space = [axis.size for axis in placed.axes]
    image_shape = (gradients.shape[0], *space, gradients.shape[-1])
    return placed.restore(average_pool_backprop(gradients, image_shape, placed.axes))


def _sizes_rule(rank):
    return lambda inputs, attrs: constant_shape(inputs[0]).with_rank(rank)


@op("AvgPool", "value: T -> output: T", T=AVERAGED, shape=pooling_rule(4))
def AvgPool(value, *, ksize, strides, padding, data_format="NHWC"):
    placed = place_pooling(value.shape, 4, ksize, strides, padding, (), data_format)
    return placed.restore(average_pool(placed.arrange(value), placed.axes))


@AvgPool.gradient
def _(op, grad):
    return AvgPoolGrad(shape(op.inputs[0]), grad, **op.attrs)


@op(
    "AvgPoolGrad",
    "orig_input_shape: int32, grad: T -> output: T",
    T=AVERAGED,
    shape=_sizes_rule(4),
    fresh=True,
)
def AvgPoolGrad(orig_input_shape, grad, *, ksize, strides, padding, data_format="NHWC"):
    return _gradient(4, orig_input_shape, grad, ksize, strides, padding, (), data_format)


@AvgPoolGrad.gradient
def _(op, grad):
    return None, AvgPool(grad, **op.attrs)


@op("AvgPool3D", "input: T -> output: T", T=AVERAGED, shape=pooling_rule(5))
def AvgPool3D(input, *, ksize, strides, padding, data_format="NDHWC"):
    placed = place_pooling(input.shape, 5, ksize, strides, padding, (), data_format)
    return placed.restore(average_pool(placed.arrange(input), placed.axes))


@AvgPool3D.gradient
def _(op, grad):
    return AvgPool3DGrad(shape(op.inputs[0]), grad, **op.attrs)


@op(
    "AvgPool3DGrad",
    "orig_input_shape: int32, grad: T -> output: T",
    T=AVERAGED,
    shape=_sizes_rule(5),
)
def AvgPool3DGrad(orig_input_shape, grad, *, ksize, strides, padding, data_format="NDHWC"):
    return _gradient(5, orig_input_shape, grad, ksize, strides, padding, (), data_format)


@AvgPool3DGrad.gradient
def _(op, grad):
    return None, AvgPool3D(grad, **op.attrs)
