"""Batch normalization: with given moments, or fused with the computation of the moments."""

from __future__ import annotations

import math

import numpy as np

from ...core.autodiff.tape import GradientTape
from ...core.convert import convert_to_tensor
from ...core.dtypes import bfloat16, float16, float32
from ...core.op import execute, op
from ...core.shape_rules import SCALAR
from ...core.shapes import TensorShape, unknown_shape
from ...runtime.engine_selection import accelerated
from ...runtime.epilogue import normalization_coefficients
from ...runtime.half_precision import rounded_to_half
from ..array import joining, shaping
from ..math import arithmetic, casting, elementwise, reduction

_NORMALIZED = {float16, bfloat16, float32}
_FORMATS = ("NHWC", "NCHW", "NDHWC", "NCDHW")


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """scale × (x - mean) / √(variance + variance_epsilon) + offset

    `offset` and `scale` may be None. Any axes may be normalized: mean and variance broadcast.

    >>> x = tf.constant([[1.0], [3.0]])
    >>> mean, variance = tf.constant([2.0]), tf.constant([1.0])
    >>> tf.nn.batch_normalization(x, mean, variance, None, None, 0.0).numpy().tolist()
    [[-1.0], [1.0]]
    """
    x = convert_to_tensor(x)
    factor = elementwise.rsqrt(variance + variance_epsilon)
    if scale is not None:
        factor = factor * scale
    shift = -mean * factor if offset is None else offset - mean * factor
    # Combine the small factors first: only two passes over x remain.
    scaled = arithmetic.multiply(x, casting.cast(factor, x.dtype))
    return arithmetic.add(scaled, casting.cast(shift, x.dtype))


def batch_norm_with_global_normalization(
    input,
    mean,
    variance,
    beta,
    gamma,
    variance_epsilon,
    scale_after_normalization,
    name=None,
):
    """Batch normalization of images with the moments of each channel.

    `gamma` scales the result only if `scale_after_normalization`.
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)


def _channels_first(data_format):
    return data_format in ("NCHW", "NCDHW")


def _channel_count(x, data_format):
    if x.shape.rank not in (None, 4, 5):
        raise ValueError(f"input must be 4 or 5-dimensional, got shape {x.shape}.")
    if data_format not in _FORMATS:
        raise ValueError(f"data_format must be one of {', '.join(_FORMATS)}, got {data_format!r}.")
    if x.shape.rank is None:
        return None
    return x.shape[1] if _channels_first(data_format) else x.shape[-1]


def _require_vector(vector, count, name):
    if vector.shape.rank not in (None, 1):
        raise ValueError(f"{name} must be 1-dimensional, got shape {vector.shape}.")
    size = vector.shape[0] if vector.shape.rank else None
    if size is not None and count is not None and size != count:
        raise ValueError(
            f"{name} must have the same number of elements as the channels of x, got {size} and "
            f"{count}."
        )


def _normalized(inputs, attrs):
    x, scale, offset, mean, variance = inputs
    count = _channel_count(x, attrs["data_format"])
    _require_vector(scale, count, "scale")
    _require_vector(offset, count, "offset")
    if not attrs["is_training"] or attrs["exponential_avg_factor"] != 1.0:
        when = "when is_training=false or exponential_avg_factor != 1"
        _require_vector(mean, count, f"mean ({when})")
        _require_vector(variance, count, f"variance ({when})")
    vector = unknown_shape(1) if count is None else TensorShape([count])
    return [x.shape, vector, vector, vector, vector, SCALAR]


class _Layout:
    """An image batch seen as a matrix of channels: rows × channels, or batch × channels × rows."""

    __slots__ = ("column", "count", "dot", "shape", "total")

    def __init__(self, shape, data_format):
        if _channels_first(data_format):
            self.shape = (shape[0], shape[1], math.prod(shape[2:]))
            self.count = self.shape[0] * self.shape[2]
            self.column = (shape[1], 1)
            self.total, self.dot = "ncr->c", "ncr,ncr->c"
        else:
            self.shape = (math.prod(shape[:-1]), shape[-1])
            self.count = self.shape[0]
            self.column = (shape[-1],)
            self.total, self.dot = "nc->c", "nc,nc->c"

    def of(self, images):
        return images.reshape(self.shape)

    def spread(self, vector):
        """Reshape a vector over the channels to broadcast against the images."""
        return vector.reshape(self.column)


def _wide(images):
    return images.astype(np.float32, copy=False)


def _narrow(images, dtype):
    return images if images.dtype == dtype else rounded_to_half(images, dtype)


def _by_layout(images, scale, offset, epsilon, layout):
    """The normalized images, and the mean and the variance of each channel."""
    dtype, images = images.dtype, _wide(images)
    count = np.float32(layout.count)
    mean = np.einsum(layout.total, images) / count
    result = images - layout.spread(mean)
    variance = np.einsum(layout.dot, result, result) / count
    result *= layout.spread(scale / np.sqrt(variance + np.float32(epsilon)))
    result += layout.spread(offset)
    return _narrow(result, dtype), mean, variance


def _scaled(images, centre, factor, shift):
    """factor (x - centre) + shift, with broadcasting; the centre may be None."""
    dtype, images = images.dtype, _wide(images)
    if centre is None:
        result = images * factor
    else:
        result = images - centre
        result *= factor
    result += shift
    return _narrow(result, dtype)


_scaled_channels = accelerated("scale_channels", 16_384)(_scaled)


# The layouts that engines support: rows of channels (channels last), and the channels of a single
# image, which layer normalization uses.
_by_channel = accelerated("batch_norm", 4096)(_by_layout)
_by_row = accelerated("layer_norm", 16_384)(_by_layout)


def _back_by_layout(grads, images, scale, mean, variance, epsilon, layout, in_place=False):
    """The gradients with respect to images (`in_place`: in grads' buffer), scale and offset."""
    dtype, grads, images = images.dtype, _wide(grads), _wide(images)
    inverse = 1 / np.sqrt(variance + np.float32(epsilon))
    count = np.float32(layout.count)
    to_offset = np.einsum(layout.total, grads)
    centred = images - layout.spread(mean)
    to_scale = np.einsum(layout.dot, grads, centred) * inverse
    centred *= layout.spread(-inverse * to_scale / count)
    centred += grads
    centred -= layout.spread(to_offset / count)
    centred = np.multiply(centred, layout.spread(scale * inverse), grads if in_place else centred)
    return _narrow(centred, dtype), to_scale, to_offset


_back_by_channel = accelerated("batch_norm_backprop", 4096)(_back_by_layout)


@op(
    "FusedBatchNormV3",
    "x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, batch_variance: U, "
    "reserve_space_1: U, reserve_space_2: U, reserve_space_3: U",
    T=_NORMALIZED,
    U={float32},
    shape=_normalized,
    fresh="first",
)
def FusedBatchNormV3(
    x,
    scale,
    offset,
    mean,
    variance,
    *,
    epsilon=1e-4,
    exponential_avg_factor=1.0,
    data_format="NHWC",
    is_training=True,
):
    layout = _checked_layout(x, data_format, scale=scale, offset=offset)
    if not is_training or exponential_avg_factor != 1.0:
        _checked_layout(x, data_format, mean=mean, variance=variance)
    nothing = np.float32(0)
    if not x.size:
        unknown = np.full_like(scale, np.nan)
        return x, unknown, unknown, unknown, unknown, nothing
    images = layout.of(x)
    if not is_training:
        vectors = normalization_coefficients((scale, offset, mean, variance), epsilon)
        if images.ndim == 2:
            result = _scaled_channels(images, *vectors)
        else:
            result = _scaled(
                images, *(None if each is None else layout.spread(each) for each in vectors)
            )
        return result.reshape(x.shape), mean, variance, mean, variance, nothing
    count = layout.count
    normalize = _by_layout
    if images.ndim == 2:
        normalize = _by_channel
    elif len(images) == 1:
        normalize, images = _by_row, _wide(images)
    result, batch_mean, spread = normalize(images, scale, offset, epsilon, layout)
    unbiased = spread * np.float32(count / max(count - 1, 1))
    running_mean, running_variance = batch_mean, unbiased
    if exponential_avg_factor != 1.0:
        part = np.float32(exponential_avg_factor)
        running_mean = mean + part * (batch_mean - mean)
        running_variance = variance + part * (unbiased - variance)
    y = _narrow(result, x.dtype).reshape(x.shape)
    return y, running_mean, running_variance, batch_mean, spread, nothing


def _checked_layout(x, data_format, **vectors):
    if x.ndim not in (4, 5) or data_format not in _FORMATS:
        raise ValueError("The input must be a batch of images, or of volumes.")
    layout = _Layout(x.shape, data_format)
    channels = layout.column[0]
    for name, vector in vectors.items():
        if vector.shape != (channels,):
            raise ValueError(f"{name} must have one element per channel of x, {channels}.")
    return layout


@FusedBatchNormV3.gradient
def _(op, grad, *_):
    x, scale, _, mean, variance = op.inputs
    attrs = op.attrs
    if attrs["is_training"]:
        mean, variance = op.outputs[3:5]
    to_x, to_scale, to_offset, _, _ = FusedBatchNormGradV3(
        grad,
        x,
        scale,
        mean,
        variance,
        op.outputs[5],
        epsilon=attrs["epsilon"],
        data_format=attrs["data_format"],
        is_training=attrs["is_training"],
    )
    return to_x, to_scale, to_offset, None, None


def _gradient_shapes(inputs, attrs):
    grad, x, scale = inputs[:3]
    count = _channel_count(x, attrs["data_format"])
    _require_vector(scale, count, "scale")
    vector = unknown_shape(1) if count is None else TensorShape([count])
    return [x.shape.merge_with(grad.shape), vector, vector, TensorShape([0]), TensorShape([0])]


@op(
    "FusedBatchNormGradV3",
    "y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U, "
    "reserve_space_3: U -> x_backprop: T, scale_backprop: U, offset_backprop: U, "
    "reserve_space_4: U, reserve_space_5: U",
    T=_NORMALIZED,
    U={float32},
    shape=_gradient_shapes,
    fresh="first",
)
def FusedBatchNormGradV3(
    y_backprop,
    x,
    scale,
    reserve_space_1,
    reserve_space_2,
    reserve_space_3,
    *,
    epsilon=1e-4,
    data_format="NHWC",
    is_training=True,
):
    given = (y_backprop, x, scale, reserve_space_1, reserve_space_2)
    return _gradients(*given, epsilon, data_format, is_training, in_place=False)


def _in_place(*given, out, **attrs):
    """The same with the first result in the buffer of the first input, `out`."""
    *arrays, _ = given
    return _gradients(*arrays, **FusedBatchNormGradV3.defaults | attrs, in_place=True)


FusedBatchNormGradV3.into = _in_place


def _gradients(y_backprop, x, scale, mean, variance, epsilon, data_format, is_training, in_place):
    layout = _checked_layout(x, data_format, scale=scale)
    grads, images = layout.of(y_backprop), layout.of(x)
    if is_training:
        backprop = _back_by_channel if grads.ndim == 2 else _back_by_layout
        to_images, to_scale, to_offset = backprop(
            grads, images, scale, mean, variance, epsilon, layout, in_place
        )
        if not x.size:
            # The moments of an empty batch are NaN, its gradients are not.
            to_scale = np.zeros_like(to_scale)
    else:
        grads, images = _wide(grads), _wide(images)
        inverse = 1 / np.sqrt(variance + np.float32(epsilon))
        to_offset = np.einsum(layout.total, grads)
        to_scale = np.einsum(layout.dot, grads, images - layout.spread(mean)) * inverse
        factors = layout.spread(scale * inverse)
        to_images = _narrow(np.multiply(grads, factors, grads if in_place else None), x.dtype)
    nothing = np.zeros(0, np.float32)
    return to_images.reshape(x.shape), to_scale, to_offset, nothing, nothing


@FusedBatchNormGradV3.gradient
def _(op, grad_of_x, grad_of_scale, grad_of_offset, *_):
    grad, x, scale, mean, variance = op.inputs[:5]
    with GradientTape() as tape:
        tape.watch([grad, x, scale])
        results = _gradient_in_public_ops(grad, x, scale, mean, variance, op.attrs)
    sources = [grad, x, scale]
    found = tape.gradient(results, sources, [grad_of_x, grad_of_scale, grad_of_offset])
    return *found, None, None, None


def _gradient_in_public_ops(grad, x, scale, mean, variance, attrs):
    """The three gradients in differentiable public ops, for second derivatives."""
    sizes, kind = shaping.shape(x), x.dtype
    if _channels_first(attrs["data_format"]):
        matrix, axes = joining.concat([sizes[:2], [-1]], 0), [0, 2]
    else:
        matrix, axes = joining.concat([[-1], shaping.shape(scale)], 0), [0]

    def spread(vector):
        return shaping.expand_dims(vector, -1) if len(axes) == 2 else vector

    grad = shaping.reshape(casting.cast(grad, float32), matrix)
    x = shaping.reshape(casting.cast(x, float32), matrix)
    if attrs["is_training"]:
        mean = reduction.reduce_mean(x, axes)
        variance = reduction.reduce_mean(elementwise.square(x - spread(mean)), axes)
    inverse = elementwise.rsqrt(variance + attrs["epsilon"])
    normal = (x - spread(mean)) * spread(inverse)
    to_x = grad
    if attrs["is_training"]:
        to_x -= spread(reduction.reduce_mean(grad, axes))
        to_x -= normal * spread(reduction.reduce_mean(grad * normal, axes))
    to_x = shaping.reshape(to_x * spread(scale * inverse), sizes)
    to_scale = reduction.reduce_sum(grad * normal, axes)
    return [casting.cast(to_x, kind), to_scale, reduction.reduce_sum(grad, axes)]


def fused_batch_norm(
    x,
    scale,
    offset,
    mean=None,
    variance=None,
    epsilon=0.001,
    data_format="NHWC",
    is_training=True,
    name=None,
    exponential_avg_factor=1.0,
):
    """Normalize images by the moments of each channel; return the result and updated moments.

    In training the moments are those of the batch, and the returned ones are `mean` and `variance`
    moved towards them by `exponential_avg_factor`; otherwise the given moments are used and
    returned.
    """
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or "
            f"`exponential_avg_factor` != 1.0. Received: `mean` {mean!r} and `variance` "
            f"{variance!r}"
        )
    if mean is None:
        mean = np.zeros(0, np.float32)
    if variance is None:
        variance = np.zeros(0, np.float32)
    attrs = {
        "epsilon": epsilon,
        "exponential_avg_factor": exponential_avg_factor,
        "data_format": data_format,
        "is_training": is_training,
    }
    tensors = tuple([convert_to_tensor(each) for each in (x, scale, offset, mean, variance)])
    y, running_mean, running_variance, *_ = execute(FusedBatchNormV3, tensors, attrs)
    return y, running_mean, running_variance
