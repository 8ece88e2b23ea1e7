"""Unary element-wise functions: signs, powers, exponentials, logarithms, sigmoids."""

from __future__ import annotations

import operator

import numpy as np

from ...core.context import state
from ...core.convert import convert_to_tensor, operands
from ...core.dtypes import COMPLEX, FLOATING, NUMERIC, SIGNED, from_numpy
from ...core.op import REGISTRY, execute, op
from ...core.shape_rules import broadcast, unchanged
from ...core.tensor import Tensor
from ...runtime.engine_selection import accelerated
from ...runtime.half_precision import computed_in_float32
from ..broadcasting import sum_to
from . import arithmetic, complex as complex_numbers, division, many_numbers
from .complex import conj

_UNARY = "x: T -> y: T"
_SLOPE = "y: T, dy: T -> z: T"
_ANALYTIC = FLOATING | COMPLEX


def _times(x: Tensor, y: Tensor) -> Tensor:
    return execute(arithmetic.Mul, (x, y))


_CONSTANTS: dict[tuple, Tensor] = {}


def number_like(value, x: Tensor) -> Tensor:
    """A scalar tensor of the dtype of x; cached in eager mode."""
    if state.graph is not None:
        return convert_to_tensor(value, x.dtype)
    # Two operands of one kind take NumPy half as long: both arrays of rank 0, or both scalars.
    is_array = type(x) is Tensor and type(x._array) is np.ndarray
    key = value, x.dtype, is_array
    found = _CONSTANTS.get(key)
    if found is None:
        found = convert_to_tensor(value, x.dtype)
        if is_array:
            found = Tensor(np.asarray(found._array), x.dtype)
        _CONSTANTS[key] = found
    return found


# Signs and magnitudes.

Abs = op("Abs", _UNARY, T=FLOATING | SIGNED, shape=unchanged, kernel=operator.abs, batchable=True)
Abs.gradient(lambda op, grad: _times(grad, sign(op.inputs[0])))


def abs(x, name=None):
    """The absolute value of each element; of complex numbers the magnitude.

    >>> tf.abs([-1.5, 2.0]).numpy().tolist()
    [1.5, 2.0]
    """
    x = convert_to_tensor(x)
    return complex_numbers.complex_abs(x) if x.dtype.is_complex else execute(Abs, (x,))


Neg = op(
    "Neg",
    _UNARY,
    T=FLOATING | COMPLEX | SIGNED,
    shape=unchanged,
    kernel=operator.neg,
    batchable=True,
)
Neg.gradient(lambda op, grad: negative(grad))


def negative(x, name=None):
    """-x, element-wise.

    >>> tf.negative([1, -2])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([-1,  2], dtype=int32)>
    """
    return execute(Neg, (convert_to_tensor(x),))


Sign = op(
    "Sign", _UNARY, T=FLOATING | COMPLEX | SIGNED, shape=unchanged, kernel=np.sign, batchable=True
)


@Sign.gradient
def _(op, grad):
    x = op.inputs[0]
    if not x.dtype.is_complex:
        return REGISTRY["ZerosLike"](x)
    # z / |z| is a pure phase: a change along z itself has no effect.
    sign = op.outputs[0]
    length = complex_numbers.complex_abs(x)
    zero = number_like(0, length)
    turn = complex_numbers.complex(zero, complex_numbers.imag(_times(grad, conj(sign))))
    magnitude = complex_numbers.complex(length, zero)
    return division.divide_no_nan(_times(turn, sign), magnitude)


def sign(x, name=None):
    """-1, 0 or 1 by the sign of each element; z / |z| for complex numbers.

    >>> tf.sign([-3.0, 0.0, 2.0]).numpy().tolist()
    [-1.0, 0.0, 1.0]
    """
    return execute(Sign, (convert_to_tensor(x),))


# Powers and roots.


@op("Square", _UNARY, T=NUMERIC, shape=unchanged, batchable=True)
def Square(x):
    return x * x


@Square.gradient
def _(op, grad):
    x = op.inputs[0]
    return _times(grad, _times(number_like(2, x), conj(x)))


def square(x, name=None):
    """x², element-wise.

    >>> tf.square([1, -3])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 9], dtype=int32)>
    """
    return execute(Square, (convert_to_tensor(x),))


def _none_of_none(dy, result):
    """An activation gradient: 0 where dy is 0, even if the derivative is infinite or NaN.

    So elements that `tf.where` masks stay masked.
    """
    none = dy == 0
    if not none.any():
        return result
    if not result.ndim:
        return result.dtype.type(0)
    np.copyto(result, 0, where=none)
    return result


@op("SqrtGrad", _SLOPE, T=_ANALYTIC, shape=broadcast)
def SqrtGrad(y, dy):
    return _none_of_none(dy, dy * y.dtype.type(0.5) / y.conj())


@SqrtGrad.gradient
def _(op, grad):
    y, z = op.inputs[0], op.outputs[0]
    scaled = division.divide(grad, y)
    return negative(_times(conj(scaled), z)), _times(number_like(0.5, y), scaled)


Sqrt = op(
    "Sqrt", _UNARY, T=_ANALYTIC, shape=unchanged, kernel=np.sqrt,
    gradient=lambda op, grad: execute(SqrtGrad, (op.outputs[0], grad)),
    batchable=True,
)  # fmt: skip


def sqrt(x, name=None):
    """The square root of each element; NaN for negative ones.

    >>> tf.sqrt([4.0, 9.0]).numpy().tolist()
    [2.0, 3.0]
    """
    return execute(Sqrt, (convert_to_tensor(x),))


@op("RsqrtGrad", _SLOPE, T=_ANALYTIC, shape=broadcast)
@computed_in_float32
def RsqrtGrad(y, dy):
    root = y.conj()
    return _none_of_none(dy, dy * y.dtype.type(-0.5) * (root * root * root))


@RsqrtGrad.gradient
def _(op, grad):
    y, dy = op.inputs
    root = conj(y)
    slope = _times(number_like(-1.5, y), _times(dy, square(root)))
    return _times(conj(grad), slope), execute(RsqrtGrad, (root, grad))


@op("Rsqrt", _UNARY, T=_ANALYTIC, shape=unchanged)
@computed_in_float32
def Rsqrt(x):
    return 1 / np.sqrt(x)


@Rsqrt.gradient
def _(op, grad):
    return execute(RsqrtGrad, (op.outputs[0], grad))


def rsqrt(x, name=None):
    """1 / √x, element-wise.

    >>> tf.math.rsqrt([4.0]).numpy().tolist()
    [0.5]
    """
    return execute(Rsqrt, (convert_to_tensor(x),))


@op("ReciprocalGrad", _SLOPE, T=_ANALYTIC, shape=broadcast)
def ReciprocalGrad(y, dy):
    inverse = y.conj()
    return _none_of_none(dy, -dy * inverse * inverse)


@ReciprocalGrad.gradient
def _(op, grad):
    y, dy = op.inputs
    inverse = conj(y)
    slope = _times(number_like(-2, y), _times(dy, inverse))
    return _times(conj(grad), slope), execute(ReciprocalGrad, (inverse, grad))


@op("Reciprocal", _UNARY, T=FLOATING | COMPLEX | SIGNED, shape=unchanged, batchable=True)
def Reciprocal(x):
    if x.dtype.kind == "i":
        raise division.no_kernel("Reciprocal", from_numpy(x.dtype))
    return 1 / x


@Reciprocal.gradient
def _(op, grad):
    return execute(ReciprocalGrad, (op.outputs[0], grad))


def reciprocal(x, name=None):
    """1 / x, element-wise.

    >>> tf.math.reciprocal([2.0, 4.0]).numpy().tolist()
    [0.5, 0.25]
    """
    return execute(Reciprocal, (convert_to_tensor(x),))


def reciprocal_no_nan(x, name=None):
    """1 / x, but 0 where x is 0.

    >>> tf.math.reciprocal_no_nan([2.0, 0.0]).numpy().tolist()
    [0.5, 0.0]
    """
    x = convert_to_tensor(x)
    return execute(division.DivNoNan, (number_like(1, x), x))


# Exponentials and logarithms.

Exp = op(
    "Exp", _UNARY, T=_ANALYTIC, shape=unchanged, kernel=many_numbers.exponential,
    gradient=lambda op, grad: _times(grad, conj(op.outputs[0])),
    fresh=True,
)  # fmt: skip


def exp(x, name=None):
    """e to the power x, element-wise.

    >>> print(tf.exp([0.0, 1.0]).numpy().round(4))
    [1.     2.7183]
    """
    return execute(Exp, (convert_to_tensor(x),))


Expm1 = op(
    "Expm1", _UNARY, T=_ANALYTIC, shape=unchanged, kernel=many_numbers.expm1,
    gradient=lambda op, grad: _times(grad, exp(conj(op.inputs[0]))),
    fresh=True,
)  # fmt: skip


def expm1(x, name=None):
    """exp(x) - 1, accurate for small x too.

    >>> print(tf.math.expm1([0.0, 1.0]).numpy().round(4))
    [0.     1.7183]
    """
    return execute(Expm1, (convert_to_tensor(x),))


Log = op(
    "Log", _UNARY, T=_ANALYTIC, shape=unchanged, kernel=np.log,
    gradient=lambda op, grad: division.divide(grad, conj(op.inputs[0])),
)  # fmt: skip


def log(x, name=None):
    """The natural logarithm of each element; NaN for negative ones.

    >>> print(tf.math.log([1.0, 10.0]).numpy().round(4))
    [0.     2.3026]
    """
    return execute(Log, (convert_to_tensor(x),))


Log1p = op("Log1p", _UNARY, T=_ANALYTIC, shape=unchanged, kernel=many_numbers.log1p, fresh=True)


@Log1p.gradient
def _(op, grad):
    x = conj(op.inputs[0])
    return division.divide(grad, arithmetic.add(number_like(1, x), x))


def log1p(x, name=None):
    """log(1 + x), accurate for small x too.

    >>> tf.math.log1p([0.0, 1e-10]).numpy().tolist()
    [0.0, 1.000000013351432e-10]
    """
    return execute(Log1p, (convert_to_tensor(x),))


def _log_product(log, shifted):
    """The gradient of x * log(y), or of x * log(1 + y) if `shifted`; 0 where x is 0."""

    def gradient(op, grad):
        x, y = op.inputs
        by_x = by_y = None
        if op.needs(0):
            slope = op.op(division.is_not_zero(x), y)
            by_x = sum_to(_times(grad, slope), x)
        if op.needs(1):
            divisor = arithmetic.add(y, number_like(1, y)) if shifted else y
            by_y = sum_to(_times(grad, execute(division.Xdivy, (x, divisor))), y)
        return by_x, by_y

    def kernel(x, y):
        return arithmetic.zero_where(x == 0, x * log(y))

    return op(
        "Xlog1py" if shifted else "Xlogy",
        "x: T, y: T -> z: T",
        T=_ANALYTIC,
        shape=broadcast,
        kernel=computed_in_float32(kernel),
        gradient=gradient,
    )


Xlogy = _log_product(np.log, shifted=False)
Xlog1py = _log_product(many_numbers.log1p, shifted=True)


def xlogy(x, y, name=None):
    """x * log(y), but 0 where x is 0.

    >>> tf.math.xlogy([0.0, 2.0], [0.0, 1.0]).numpy().tolist()
    [0.0, 0.0]
    """
    return execute(Xlogy, operands(x, y))


def xlog1py(x, y, name=None):
    """x * log(1 + y), but 0 where x is 0.

    >>> tf.math.xlog1py([0.0, 2.0], [-1.0, 0.0]).numpy().tolist()
    [0.0, 0.0]
    """
    return execute(Xlog1py, operands(x, y))


# Sigmoids. Sigmoid and its derivative are ops of their own for speed: they are ubiquitous.


@op("SigmoidGrad", _SLOPE, T=_ANALYTIC, shape=broadcast, fresh=True)
@accelerated("sigmoid_backprop", 262_144)
def SigmoidGrad(y, dy):
    slope = 1 - y
    slope *= y
    return slope * dy


@SigmoidGrad.gradient
def _(op, grad):
    y, dy = op.inputs
    value, scaled = conj(y), _times(grad, conj(dy))
    slope = arithmetic.subtract(number_like(1, y), _times(number_like(2, y), value))
    return _times(scaled, slope), execute(SigmoidGrad, (value, grad))


@op("Sigmoid", _UNARY, T=_ANALYTIC, shape=unchanged, fresh=True)
@computed_in_float32
@accelerated("sigmoid", 8192)
def Sigmoid(x):
    if x.ndim == 0:
        return 1 / (1 + np.exp(-x))
    y = np.negative(x)
    np.exp(y, out=y)
    y += 1
    return np.reciprocal(y, out=y)


@Sigmoid.gradient
def _(op, grad):
    return execute(SigmoidGrad, (conj(op.outputs[0]), grad))


def sigmoid(x, name=None):
    """1 / (1 + exp(-x)), element-wise.

    >>> print(tf.sigmoid([0.0, 2.0]).numpy().round(4))
    [0.5    0.8808]
    """
    return execute(Sigmoid, (convert_to_tensor(x),))


_FEATURES = "features: T -> activations: T"
_FEATURE_SLOPE = "gradients: T, features: T -> backprops: T"


@op("SoftplusGrad", _FEATURE_SLOPE, T=FLOATING, shape=broadcast)
@computed_in_float32
def SoftplusGrad(gradients, features):
    return gradients * Sigmoid.kernel(features)


@SoftplusGrad.gradient
def _(op, grad):
    gradients, features = op.inputs
    value = sigmoid(features)
    return _times(grad, value), execute(SigmoidGrad, (value, _times(grad, gradients)))


Softplus = op(
    "Softplus",
    _FEATURES,
    T=FLOATING,
    shape=unchanged,
    kernel=computed_in_float32(many_numbers.softplus),
    fresh=True,
)


@Softplus.gradient
def _(op, grad):
    return execute(SoftplusGrad, (grad, op.inputs[0]))


def softplus(features, name=None):
    """log(1 + exp(x)), element-wise: a smooth max(x, 0).

    >>> print(tf.math.softplus([0.0, 100.0]).numpy().round(4))
    [  0.6931 100.    ]
    """
    return execute(Softplus, (convert_to_tensor(features),))


def log_sigmoid(x, name=None):
    """log(sigmoid(x)), accurate for large negative x too.

    >>> print(tf.math.log_sigmoid([0.0, -100.0]).numpy().round(4))
    [  -0.6931 -100.    ]
    """
    return negative(softplus(negative(x)))


@op("SoftsignGrad", _FEATURE_SLOPE, T=FLOATING, shape=broadcast)
def SoftsignGrad(gradients, features):
    growth = 1 + np.abs(features)
    return gradients / (growth * growth)


@SoftsignGrad.gradient
def _(op, grad):
    gradients, features = op.inputs
    growth = arithmetic.add(number_like(1, features), abs(features))
    cubed = _times(growth, square(growth))
    curve = division.divide(_times(number_like(-2, features), sign(features)), cubed)
    return execute(SoftsignGrad, (grad, features)), _times(_times(grad, gradients), curve)


@op("Softsign", _FEATURES, T=FLOATING, shape=unchanged)
def Softsign(features):
    return features / (1 + np.abs(features))


@Softsign.gradient
def _(op, grad):
    return execute(SoftsignGrad, (grad, op.inputs[0]))


def softsign(features, name=None):
    """x / (1 + |x|), element-wise.

    >>> tf.nn.softsign([1.0, -3.0]).numpy().tolist()
    [0.5, -0.75]
    """
    return execute(Softsign, (convert_to_tensor(features),))


StopGradient = op(
    "StopGradient", "input: T -> output: T", shape=unchanged, kernel=lambda input: input,
    gradient=None, alias=True,
    batchable=True,
)  # fmt: skip


def stop_gradient(input, name=None):
    """The same values as a constant of the backward pass.

    >>> x = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * tf.stop_gradient(x)
    >>> tape.gradient(y, x).numpy().item()
    2.0
    """
    return execute(StopGradient, (convert_to_tensor(input),))
