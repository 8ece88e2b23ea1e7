"""Element-wise functions: activations with exponentials, which are slow in NumPy, and derivatives.

Functions that differ from TensorFlow's are left out: oneDNN's relu turns NaN into 0, its logarithm
and softplus lose digits, and its leaky relu has another derivative at NaN.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from ...runtime.buffers import empty
from ...runtime.engine_selection import pool
from .library import Library
from .post_ops import ADD, DIVIDE, MULTIPLY, SUBTRACT
from .primitive import (
    DIFF_DST,
    DIFF_SRC,
    DST,
    FLOAT32,
    FORWARD_TRAINING,
    SRC,
    Primitive,
    attributes,
    compute,
    described,
    type_of,
)
from .updates import combined


class _Function(NamedTuple):
    """A function: oneDNN's algorithm, its parameters, and what its derivative is computed from."""

    algorithm: int
    alpha: float = 0.0
    beta: float = 0.0
    slope_by: int = DST


_EXP = _Function(0x2A)
_SIGMOID = _Function(0x29)
_ELU = 0x22
_LEAKY_RELU = 0x20
_SIGMOID_BY_VALUE = _Function(0x104)
_TANH_BY_VALUE = _Function(0x101)
_ELU_BY_VALUE = _Function(0x102, 1.0)
# 1 where 0 < y < 6, and where 0 < y <= infinity.
_RELU6_BY_VALUE = _Function(0x106, 0.0, 6.0)
_RELU_BY_VALUE = _Function(0x2E, 0.0, np.inf, SRC)
# Binary functions. Maximum and minimum are left out: they turn NaN into 0.
_BINARY = {"add": ADD, "multiply": MULTIPLY, "divide": DIVIDE, "subtract": SUBTRACT}


def exp(array: Any, output: Any = None) -> Any:
    """e to the power of each element, into `output` if given, which may be the array itself."""
    if not _fits(array, array if output is None else output):
        return None
    # It turns NaN into infinity; a maximum shows it.
    if np.isnan(np.maximum.reduce(array, None)):
        return None
    if output is None:
        output = empty(array.shape, array.dtype)
    return output if _computed(_EXP, array, output) else None


def sigmoid(array: Any) -> Any:
    """1 / (1 + exp(-x))"""
    return _of(_SIGMOID, array)


def elu(array: Any, alpha: float) -> Any:
    """x where it is positive, alpha (exp(x) - 1) elsewhere."""
    return _of(_Function(_ELU, alpha), array)


def leaky_relu(array: Any, alpha: float) -> Any:
    """x where it is positive, alpha x elsewhere."""
    # With alpha 0 this is oneDNN's relu, which does not propagate NaN.
    return _of(_Function(_LEAKY_RELU, alpha), array) if alpha else None


def elu_backprop(gradients: Any, values: Any) -> Any:
    """The gradient of `elu`, from its output."""
    return _slope(_ELU_BY_VALUE, gradients, values)


def sigmoid_backprop(values: Any, gradients: Any) -> Any:
    """The gradient of `sigmoid`, from its output."""
    return _shared_slope(_SIGMOID_BY_VALUE, gradients, values)


def tanh_backprop(values: Any, gradients: Any) -> Any:
    """The gradient of the hyperbolic tangent, from its output."""
    return _shared_slope(_TANH_BY_VALUE, gradients, values)


def relu_backprop(gradients: Any, values: Any, output: Any = None) -> Any:
    """The gradient of relu, from its output."""
    return _shared_slope(_RELU_BY_VALUE, gradients, values, output)


def relu6_backprop(gradients: Any, values: Any, output: Any = None) -> Any:
    """The gradient of relu6, from its output."""
    return _shared_slope(_RELU6_BY_VALUE, gradients, values, output)


def half_binary(first: Any, second: Any, name: str) -> Any:
    """A function of two bfloat16 arrays, or of an array and a scalar, rounded once."""
    return None if first.itemsize != 2 else _of_two(first, second, name)


def binary(first: Any, second: Any, name: str, output: Any = None) -> Any:
    """The same in float32, into `output` if given, which may be an operand."""
    # One thread is not faster than NumPy's.
    return _of_two(first, second, name, output) if pool.owned_by_engine and _fits(first) else None


def _of_two(first: Any, second: Any, name: str, output: Any = None) -> Any:
    size, kind, second = first.size, type_of(first), np.asarray(second)
    fits = second.size == 1 or (second.shape == first.shape and second.flags.c_contiguous)
    if kind is None or name not in _BINARY or second.dtype != first.dtype or not fits:
        return None
    if second.ndim > first.ndim or not first.flags.c_contiguous:
        return None
    if output is None:
        output = empty(first.shape, first.dtype)
    elif output.shape != first.shape or not output.flags.c_contiguous:
        return None
    found = compute(
        (name, size, second.size, kind),
        lambda library: _binary(library, name, size, second.size, kind),
        size, first, second, output,
    )  # fmt: skip
    return output if found else None


def _binary(library: Library, name: str, size: int, other: int, kind: int) -> Primitive:
    data, second = (described(library, (count,), (1,), kind) for count in (size, other))
    return combined(library, _BINARY[name], (data, second), ())


def _fits(*arrays: Any) -> bool:
    return arrays[0].dtype == np.float32 and _are_alike(*arrays)


def _are_alike(first: Any, *others: Any) -> bool:
    return first.flags.c_contiguous and all(
        each.dtype == first.dtype and each.shape == first.shape and each.flags.c_contiguous
        for each in others
    )


def _of(function: _Function, array: Any) -> Any:
    if not _fits(array):
        return None
    output = empty(array.shape, array.dtype)
    return output if _computed(function, array, output) else None


def _computed(function: _Function, array: Any, output: Any) -> bool:
    size = array.size
    key = "function", function, size
    return compute(key, lambda library: _forward(library, function, size), size, array, output)


def _shared_slope(function: _Function, gradients: Any, values: Any, output: Any = None) -> Any:
    # These are bound by memory bandwidth: one thread is not faster than NumPy's.
    return _slope(function, gradients, values, output) if pool.owned_by_engine else None


def _slope(function: _Function, gradients: Any, values: Any, output: Any = None) -> Any:
    """The gradient with respect to the activation's input, into `output` if given."""
    kind = type_of(gradients)
    if kind is None or not _are_alike(gradients, values, gradients if output is None else output):
        return None
    size = gradients.size
    if output is None:
        output = empty(gradients.shape, gradients.dtype)
    found = compute(
        ("slope", function, size, kind),
        lambda library: _backward(library, function, size, kind),
        size, values, gradients, output,
    )  # fmt: skip
    return output if found else None


def _forward(library: Library, function: _Function, size: int, kind: int = FLOAT32) -> Primitive:
    data = described(library, (size,), (1,), kind)
    alpha, beta = ctypes.c_float(function.alpha), ctypes.c_float(function.beta)
    descriptor = library.made(
        "dnnl_eltwise_forward_primitive_desc_create",
        library.engine, FORWARD_TRAINING, function.algorithm, data, data, alpha, beta,
        attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {SRC: data, DST: data})


def _backward(library: Library, function: _Function, size: int, kind: int) -> Primitive:
    data = described(library, (size,), (1,), kind)
    forward = _forward(library, function, size, kind)
    alpha, beta = ctypes.c_float(function.alpha), ctypes.c_float(function.beta)
    descriptor = library.made(
        "dnnl_eltwise_backward_primitive_desc_create",
        library.engine, function.algorithm, data, data, data, alpha, beta, forward.descriptor,
        attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {function.slope_by: data, DIFF_DST: data, DIFF_SRC: data})
