"""Local response normalization, and its gradients."""

import numpy as np

from ...core.autodiff.tape import GradientTape
from ...core.convert import convert_to_tensor
from ...core.dtypes import bfloat16, float16, float32
from ...core.op import op
from ...core.shape_rules import same_as_input
from ..array.creation import range
from ..array.shaping import expand_dims, shape
from ..math.casting import cast
from .windows import computing_dtype

NORMALIZED = {float16, bfloat16, float32}


def _band(depth, radius, dtype):
    """A band matrix: ones for channels at most `radius` apart, zeros elsewhere."""
    channels = np.arange(depth)
    return (np.abs(channels[:, np.newaxis] - channels) <= radius).astype(dtype)


def _norms(images, radius, bias, alpha):
    norms = (images * images) @ _band(images.shape[-1], radius, images.dtype)
    norms *= alpha
    norms += bias
    return norms


def _power(norms, exponent):
    """norms^exponent; with square roots, which are far faster, for the usual exponents."""
    if exponent == 1:
        return norms
    root = np.sqrt(norms)
    if exponent == 0.5:
        return root
    if exponent == 0.75:
        return root * np.sqrt(root)
    return norms**exponent


def _check(array, radius):
    if array.ndim != 4:
        raise ValueError(f"The input must be 4-dimensional, got shape {list(array.shape)}.")
    if radius < 0:
        raise ValueError(f"depth_radius must not be negative, got {radius}.")


def _same_shape(inputs, attrs):
    return inputs[0].shape.with_rank(4)


@op("LRN", "input: T -> output: T", T=NORMALIZED, shape=_same_shape)
def LRN(input, *, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5):
    _check(input, depth_radius)
    wide = input.astype(computing_dtype(input.dtype), copy=False)
    result = wide / _power(_norms(wide, depth_radius, bias, alpha), beta)
    return result.astype(input.dtype, copy=False)


@LRN.gradient
def _(op, grad):
    return LRNGrad(grad, op.inputs[0], op.outputs[0], **op.attrs)


@op(
    "LRNGrad",
    "input_grads: T, input_image: T, output_image: T -> output: T",
    T=NORMALIZED,
    shape=same_as_input(1),
)
def LRNGrad(
    input_grads, input_image, output_image, *, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5
):
    _check(input_image, depth_radius)
    dtype = computing_dtype(input_image.dtype)
    gradients, images, outputs = (
        each.astype(dtype, copy=False) for each in (input_grads, input_image, output_image)
    )
    norms = _norms(images, depth_radius, bias, alpha)
    band = _band(images.shape[-1], depth_radius, dtype)
    shared = (gradients * outputs / norms) @ band
    shared *= images
    shared *= 2.0 * alpha * beta
    result = gradients / _power(norms, beta)
    result -= shared
    return result.astype(input_image.dtype, copy=False)


@LRNGrad.gradient
def _(op, grad):
    gradients, images, _ = op.inputs
    depth_radius, bias, alpha, beta = (
        op.attrs[name] for name in ("depth_radius", "bias", "alpha", "beta")
    )
    channels = range(shape(images)[-1])
    near = abs(expand_dims(channels, 1) - channels) <= depth_radius
    band = cast(near, images.dtype)
    # The same formula in public ops: the output image is differentiated as a function of the input.
    with GradientTape() as tape:
        tape.watch([gradients, images])
        norms = bias + alpha * ((images * images) @ band)
        shared = (gradients * images * norms ** (-beta - 1.0)) @ band
        result = gradients * norms**-beta - (2.0 * alpha * beta) * images * shared
    by_gradients, by_images = tape.gradient(result, [gradients, images], grad)
    return by_gradients, by_images, None


def local_response_normalization(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):
    """Divide each value by a power of the sum of squares of its neighbouring channels.

        output = input / (bias + alpha * sum of input^2 over channels within depth_radius)^beta

    >>> tf.nn.local_response_normalization([[[[3.0, 4.0]]]], bias=0).numpy().ravel()
    array([0.6, 0.8], dtype=float32)
    """
    return LRN(
        convert_to_tensor(input),
        depth_radius=depth_radius,
        bias=float(bias),
        alpha=float(alpha),
        beta=float(beta),
    )


lrn = local_response_normalization
