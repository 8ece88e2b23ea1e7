"""Activation functions: the relu family, elu, selu, gelu, silu."""

from __future__ import annotations

import math

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import FLOATING, REAL
from ...core.op import execute, op
from ...core.shape_rules import dimensions_text, unchanged
from ...runtime.engine_selection import accelerated
from ...runtime.epilogue import relu6_kernel, relu_kernel
from ...runtime.half_precision import computed_in_float32
from ..array import creation, joining
from ..math import arithmetic, casting, elementwise, special, trigonometry
from . import half_activations

# The fixed point of selu: it preserves mean 0 and variance 1 of activations.
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA = 1.7580993408473768599402175208123

# The original rounds these two constants of gelu to float32, for float64 too.
_ROOT_OF_HALF = float(np.float32(math.sqrt(0.5)))
_CUBIC_TERM = float(np.float32(0.044715))


# An array: a ufunc converts it faster than a Python scalar.
_ZERO = np.zeros((), np.float32)


def same_shape(inputs, attrs):
    """Shape rule: both inputs have the same shape."""
    first, second = inputs[0].shape, inputs[1].shape
    if not first.is_compatible_with(second):
        raise ValueError(
            "Both inputs must have the same shape: input 0 is "
            f"{dimensions_text(first)}, input 1 is {dimensions_text(second)}."
        )
    return first.merge_with(second)


def _positive_part(x):
    if x.dtype.char in "fd":
        return relu_kernel(x)
    found = half_activations.clipped(x, at_six=False)
    return np.maximum(x, 0) if found is None else found


def _negative_part(x):
    return np.clip(x, -np.inf, 0) if x.size > 4096 else np.minimum(x, 0)


@op("Relu", "features: T -> activations: T", T=REAL, shape=unchanged, fresh=True, batchable=True)
def Relu(features):
    return _positive_part(features)


Relu.into = relu_kernel


@Relu.gradient
def _(op, grad):
    return execute(ReluGrad, (grad, op.outputs[0]))


@op("ReluGrad", "gradients: T, features: T -> backprops: T", T=REAL, shape=same_shape, fresh=True)
@accelerated("relu_backprop", 262_144)
def ReluGrad(gradients, features, out=None):
    if features.dtype.char == "f":
        return np.multiply(gradients, features > _ZERO, out)
    found = half_activations.slope(gradients, features, at_six=False)
    return np.multiply(gradients, features > 0, out) if found is None else found


ReluGrad.into = lambda gradients, features, out: ReluGrad.kernel(gradients, features, out)


@ReluGrad.gradient
def _(op, grad):
    features = op.inputs[1]
    return execute(ReluGrad, (grad, features)), creation.zeros_like(features)


def relu(features, name=None):
    """max(features, 0)

    >>> tf.nn.relu([-2.0, 0.0, 3.0]).numpy().tolist()
    [0.0, 0.0, 3.0]
    """
    return execute(Relu, (convert_to_tensor(features),))


@op("Relu6", "features: T -> activations: T", T=REAL, shape=unchanged, fresh=True, batchable=True)
def Relu6(features):
    if features.dtype.char in "fd":
        return relu6_kernel(features)
    found = half_activations.clipped(features, at_six=True)
    return np.minimum(np.maximum(features, 0), 6) if found is None else found


Relu6.into = relu6_kernel


@Relu6.gradient
def _(op, grad):
    return execute(Relu6Grad, (grad, op.outputs[0]))


@op("Relu6Grad", "gradients: T, features: T -> backprops: T", T=REAL, shape=same_shape, fresh=True)
@accelerated("relu6_backprop", 65_536)
def Relu6Grad(gradients, features, out=None):
    found = half_activations.slope(gradients, features, at_six=True)
    if found is not None:
        return found
    return np.multiply(gradients, (features > 0) & (features < 6), out)


Relu6Grad.into = lambda gradients, features, out: Relu6Grad.kernel(gradients, features, out)


@Relu6Grad.gradient
def _(op, grad):
    features = op.inputs[1]
    return execute(Relu6Grad, (grad, features)), creation.zeros_like(features)


def relu6(features, name=None):
    """min(max(features, 0), 6)

    >>> tf.nn.relu6([-2.0, 3.0, 8.0]).numpy().tolist()
    [0.0, 3.0, 6.0]
    """
    return execute(Relu6, (convert_to_tensor(features),))


@op("LeakyRelu", "features: T -> activations: T", T=FLOATING, shape=unchanged, fresh=True)
@computed_in_float32
def LeakyRelu(features, *, alpha=0.2):
    return _leaky(features, np.float32(alpha))


@accelerated("leaky_relu", 131_072)
def _leaky(features, alpha):
    if 0 < alpha <= 1:
        return np.maximum(features, features * alpha)
    result = _negative_part(features)
    result *= alpha
    result += _positive_part(features)
    return result


@LeakyRelu.gradient
def _(op, grad):
    return LeakyReluGrad(grad, op.inputs[0], alpha=op.attrs["alpha"])


@op("LeakyReluGrad", "gradients: T, features: T -> backprops: T", T=FLOATING, shape=same_shape)
@computed_in_float32
def LeakyReluGrad(gradients, features, *, alpha=0.2):
    alpha = np.float32(alpha)
    positive = features > 0
    if 0 <= alpha <= 1:
        # Far faster than np.where, whose branches are mispredicted at every change of sign.
        slope = np.maximum(positive.astype(features.dtype), alpha)
    else:
        slope = np.where(positive, np.float32(1), alpha).astype(features.dtype)
    slope *= gradients
    return slope


@LeakyReluGrad.gradient
def _(op, grad):
    features = op.inputs[1]
    again = LeakyReluGrad(grad, features, alpha=op.attrs["alpha"])
    return again, creation.zeros_like(features)


def leaky_relu(features, alpha=0.2, name=None):
    """features where positive, alpha × features elsewhere.

    >>> tf.nn.leaky_relu([-2.0, 3.0], alpha=0.5).numpy().tolist()
    [-1.0, 3.0]
    """
    features = convert_to_tensor(features)
    if features.dtype.is_integer:
        features = casting.cast(features, "float32")
    if not isinstance(alpha, int | float | np.number):
        raise TypeError(f"Expected float for argument 'alpha' not {alpha!r}.")
    return execute(LeakyRelu, (features,), {"alpha": float(alpha)})


def _expm1(x):
    """exp(x) - 1 as a new array; for float32 by functions that NumPy has vectorized."""
    if x.dtype != np.float32:
        return np.expm1(x)
    result = np.exp(x)
    result += 1
    result *= np.tanh(x * np.float32(0.5))
    return result


@op("Elu", "features: T -> activations: T", T=FLOATING, shape=unchanged, fresh=True)
@computed_in_float32
def Elu(features):
    return _elu(features, 1.0)


@accelerated("elu", 2048)
def _elu(features, alpha):
    """features where positive, alpha × (exp(features) - 1) elsewhere."""
    result = _expm1(_negative_part(features))
    if alpha != 1:
        result *= features.dtype.type(alpha)
    result += _positive_part(features)
    return result


@Elu.gradient
def _(op, grad):
    return execute(EluGrad, (grad, op.outputs[0]))


@op("EluGrad", "gradients: T, outputs: T -> backprops: T", T=FLOATING, shape=same_shape, fresh=True)
@computed_in_float32
@accelerated("elu_backprop", 65_536)
def EluGrad(gradients, outputs):
    slope = np.fmin(outputs, 0)
    slope += 1
    slope *= gradients
    return slope


@EluGrad.gradient
def _(op, grad):
    gradients, outputs = op.inputs
    return execute(EluGrad, (grad, outputs)), _where_negative(outputs, grad, gradients)


def _where_negative(outputs, grad, gradients):
    # Below 0 EluGrad multiplies by outputs + scale, whose derivative is 1; ReluGrad serves as the
    # mask.
    product = arithmetic.multiply(grad, gradients)
    return execute(ReluGrad, (product, elementwise.negative(outputs)))


def elu(features, name=None):
    """features where positive, exp(features) - 1 elsewhere.

    >>> tf.nn.elu([-1.0, 0.0, 2.0]).numpy().round(4)
    array([-0.6321,  0.    ,  2.    ], dtype=float32)
    """
    return execute(Elu, (convert_to_tensor(features),))


@op("Selu", "features: T -> activations: T", T=FLOATING, shape=unchanged, fresh=True)
@computed_in_float32
def Selu(features):
    result = _elu(features, _SELU_SCALE_ALPHA / _SELU_SCALE)
    result *= features.dtype.type(_SELU_SCALE)
    return result


@Selu.gradient
def _(op, grad):
    return execute(SeluGrad, (grad, op.outputs[0]))


@op("SeluGrad", "gradients: T, outputs: T -> backprops: T", T=FLOATING, shape=same_shape)
@computed_in_float32
def SeluGrad(gradients, outputs):
    kind = outputs.dtype.type
    slope = np.fmin(outputs, 0)
    slope += kind(_SELU_SCALE)
    slope += (outputs < 0) * kind(_SELU_SCALE_ALPHA - _SELU_SCALE)
    slope *= gradients
    return slope


@SeluGrad.gradient
def _(op, grad):
    gradients, outputs = op.inputs
    return execute(SeluGrad, (grad, outputs)), _where_negative(outputs, grad, gradients)


def selu(features, name=None):
    """scale × elu with the constants that preserve mean 0 and variance 1 through layers.

    >>> tf.nn.selu([-1.0, 0.0, 2.0]).numpy().round(4)
    array([-1.1113,  0.    ,  2.1014], dtype=float32)
    """
    return execute(Selu, (convert_to_tensor(features),))


def gelu(features, approximate=False, name=None):
    """features × P(X <= features) for a standard normal X; `approximate` replaces erf by tanh.

    >>> tf.nn.gelu([-1.0, 0.0, 2.0]).numpy().round(4)
    array([-0.1587,  0.    ,  1.9545], dtype=float32)
    """
    features = convert_to_tensor(features)
    if not features.dtype.is_floating:
        raise ValueError(
            "`features.dtype` must be a floating point tensor. Received: "
            f"features.dtype={features.dtype}. Use tf.cast(features, tf.float32)."
        )
    if not approximate:
        return 0.5 * features * special.erfc(features * -_ROOT_OF_HALF)
    inner = math.sqrt(2 / math.pi) * (features + _CUBIC_TERM * arithmetic.pow(features, 3))
    return 0.5 * features * (1.0 + trigonometry.tanh(inner))


def silu(features, beta=1.0):
    """features × sigmoid(beta × features), also called swish.

    >>> tf.nn.silu([-1.0, 0.0, 2.0]).numpy().round(4)
    array([-0.2689,  0.    ,  1.7616], dtype=float32)
    """
    features = convert_to_tensor(features)
    if type(beta) is not float or beta != 1.0:
        beta = casting.cast(convert_to_tensor(beta), features.dtype)
        return features * elementwise.sigmoid(beta * features)
    return features * elementwise.sigmoid(features)


swish = silu


def crelu(features, axis=-1, name=None):
    """Concatenate relu(features) and relu(-features) along `axis`, which doubles in size.

    >>> tf.nn.crelu([[-2.0, 3.0]]).numpy().tolist()
    [[0.0, 3.0, 2.0, 0.0]]
    """
    features = convert_to_tensor(features)
    return relu(joining.concat([features, elementwise.negative(features)], axis))
