"""Complex numbers: their parts, conjugates and angles."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import COMPLEX, complex64, complex128, float32, float64
from ...core.op import REGISTRY, execute, op
from ...core.shape_rules import broadcast, unchanged
from ...core.tensor import Tensor
from ..broadcasting import sum_to

_COMPLEX_OF = {float32: complex64, float64: complex128}


@op(
    "Complex",
    "real: T, imag: T -> out: Tout",
    T={float32, float64},
    shape=broadcast,
)
def Complex(real, imag, *, Tout=complex64):
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), Tout.numpy)
    out.real = real
    out.imag = imag
    return out


@Complex.gradient
def _(op, grad):
    x, y = op.inputs
    return sum_to(real(grad), x), sum_to(imag(grad), y)


def complex(real, imag, name=None):
    """A complex tensor from its real and imaginary parts, both float32 or both float64.

    >>> tf.complex([1.0, 2.0], [3.0, 4.0]).numpy().tolist()
    [(1+3j), (2+4j)]
    """
    real, imag = convert_to_tensor(real), convert_to_tensor(imag)
    result = _COMPLEX_OF.get(real.dtype)
    if result is None or real.dtype is not imag.dtype:
        raise TypeError(
            f"The `real` and `imag` components have incorrect types: {real.dtype.name} "
            f"{imag.dtype.name}. They must be consistent, and one of "
            "[tf.float32, tf.float64]: use tf.cast to convert them."
        )
    return execute(Complex, (real, imag), {"Tout": result})


def _part(name, kernel):
    return op(name, "input: T -> output: Tout", T=COMPLEX, shape=unchanged, kernel=kernel)


def _real_kernel(input, *, Tout=float32):
    return input.real


def _imag_kernel(input, *, Tout=float32):
    return input.imag


def _angle_kernel(input, *, Tout=float32):
    return np.arctan2(input.imag, input.real)


def _zero(like: Tensor) -> Tensor:
    return convert_to_tensor(like.dtype.as_numpy_dtype(0))


Real = _part("Real", _real_kernel)
Real.gradient(lambda op, grad: complex(grad, _zero(grad)))

Imag = _part("Imag", _imag_kernel)
Imag.gradient(lambda op, grad: complex(_zero(grad), grad))

Angle = _part("Angle", _angle_kernel)


@Angle.gradient
def _(op, grad):
    # d angle(a + bi) = (a db - b da) / (a² + b²).
    value = op.inputs[0]
    turned = complex(-imag(value), real(value))
    squared = complex(ComplexAbs(value, Tout=grad.dtype) ** 2, _zero(grad))
    return complex(grad, _zero(grad)) * turned / squared


def real(input, name=None):
    """The real part of each number; real numbers are returned as they are.

    >>> tf.math.real([1 + 2j, 3 - 4j]).numpy().tolist()
    [1.0, 3.0]
    """
    input = convert_to_tensor(input)
    if input.dtype.is_complex:
        return execute(Real, (input,), {"Tout": input.dtype.real_dtype})
    if input.dtype.is_numeric:
        return input
    raise TypeError(f"tf.math.real needs a numeric tensor, got {input.dtype.name}: {input!r}")


def imag(input, name=None):
    """The imaginary part of each number: zero for real ones.

    >>> tf.math.imag([1 + 2j, 3 - 4j]).numpy().tolist()
    [2.0, -4.0]
    """
    input = convert_to_tensor(input)
    if input.dtype.is_complex:
        return execute(Imag, (input,), {"Tout": input.dtype.real_dtype})
    return REGISTRY["ZerosLike"](input)


def angle(input, name=None):
    """The angle (argument) of each complex number: atan2(imag, real); 0 or π for real ones.

    >>> print(tf.math.angle([1j, -1 + 0j]).numpy().round(4))
    [1.5708 3.1416]
    """
    input = convert_to_tensor(input)
    if input.dtype.is_complex:
        return execute(Angle, (input,), {"Tout": input.dtype.real_dtype})
    if not input.dtype.is_floating:
        raise TypeError(
            f"tf.math.angle needs a complex or floating tensor, got {input.dtype.name}: {input!r}"
        )
    zero = REGISTRY["ZerosLike"](input)
    half_turn = convert_to_tensor(np.pi, input.dtype)
    return REGISTRY["SelectV2"](REGISTRY["Less"](input, zero), half_turn, zero)


Conj = op(
    "Conj", "input: T -> output: T", T=COMPLEX, shape=unchanged, kernel=np.conjugate,
    gradient=lambda op, grad: conj(grad),
)  # fmt: skip


def conj(x, name=None):
    """The complex conjugate of each number; real numbers are returned as they are.

    >>> tf.math.conj([1 + 2j]).numpy().tolist()
    [(1-2j)]
    """
    if not isinstance(x, Tensor):
        x = convert_to_tensor(x)
    dtype = x.dtype
    if dtype.is_complex:
        return execute(Conj, (x,))
    if dtype.is_floating or dtype.is_integer:
        return x
    raise TypeError(
        f"Expected numeric or variant tensor, got dtype <dtype: '{dtype.name}'>: tf.math.conj "
        "takes floating, integer and complex tensors."
    )


@op("ComplexAbs", "x: T -> y: Tout", T=COMPLEX, shape=unchanged)
def ComplexAbs(x, *, Tout=float32):
    return abs(x)


@ComplexAbs.gradient
def _(op, grad):
    # The gradient of |z| is z / |z|.
    return complex(grad, _zero(grad)) * REGISTRY["Sign"](op.inputs[0])


def complex_abs(x: Tensor) -> Tensor:
    """The magnitude of each complex number."""
    return execute(ComplexAbs, (x,), {"Tout": x.dtype.real_dtype})
