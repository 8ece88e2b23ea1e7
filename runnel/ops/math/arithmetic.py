"""Addition, multiplication, powers, maximum and minimum, and sums of several tensors."""

from __future__ import annotations

import operator

import numpy as np

from ...core.convert import convert_to_tensor, operands
from ...core.dtypes import (
    COMPLEX,
    FLOATING,
    NUMERIC,
    REAL,
    SIGNED,
    float32,
    float64,
    int32,
    int64,
    string,
)
from ...core.indexed_slices import IndexedSlices
from ...core.op import REGISTRY, execute, op
from ...core.shape_rules import broadcast, dimensions_text
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...core.variable import Variable
from ..broadcasting import sum_to
from . import elementwise
from .complex import conj

_BINARY = "x: T, y: T -> z: T"

AddV2 = op("AddV2", _BINARY, T=NUMERIC, shape=broadcast, kernel=operator.add, batchable=True)


@AddV2.gradient
def _(op, grad):
    x, y = op.inputs
    return sum_to(grad, x), sum_to(grad, y)


@op("Add", _BINARY, T=NUMERIC | {string}, shape=broadcast, batchable=True)
def Add(x, y):
    total = x + y
    # NumPy adds two strings of rank 0 to bare bytes.
    return np.array(total, object) if type(total) is bytes else total


Add.gradient(AddV2.gradient_rule)


def add(x, y, name=None):
    """x + y, element-wise; strings are concatenated.

    >>> tf.add([1, 2], 3)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([4, 5], dtype=int32)>
    """
    left, right = operands(x, y, True)
    return execute(AddV2 if left.dtype is not string else Add, (left, right))


Sub = op("Sub", _BINARY, T=NUMERIC, shape=broadcast, kernel=operator.sub, batchable=True)


@Sub.gradient
def _(op, grad):
    x, y = op.inputs
    return (
        sum_to(grad, x) if op.needs(0) else None,
        sum_to(elementwise.negative(grad), y) if op.needs(1) else None,
    )


def subtract(x, y, name=None):
    """x - y, element-wise.

    >>> tf.subtract([3, 5], 1)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 4], dtype=int32)>
    """
    return execute(Sub, operands(x, y))


Mul = op("Mul", _BINARY, T=NUMERIC, shape=broadcast, kernel=operator.mul, batchable=True)


@Mul.gradient
def _(op, grad):
    x, y = op.inputs
    return (
        sum_to(execute(Mul, (grad, conj(y))), x) if op.needs(0) else None,
        sum_to(execute(Mul, (grad, conj(x))), y) if op.needs(1) else None,
    )


def multiply(x, y, name=None):
    """x * y, element-wise.

    >>> tf.multiply([1, 2], 3)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 6], dtype=int32)>
    """
    return execute(Mul, operands(x, y))


def scalar_mul(scalar, x, name=None):
    """A tensor, or the rows of IndexedSlices, times a scalar.

    >>> tf.scalar_mul(2.0, tf.constant([1.0, 3.0])).numpy().tolist()
    [2.0, 6.0]
    """
    if not isinstance(x, IndexedSlices):
        x = convert_to_tensor(x)
    scalar = convert_to_tensor(scalar, x.dtype)
    if scalar.shape.rank not in (0, None):
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(multiply(scalar, x.values), x.indices, x.dense_shape)
    return execute(Mul, (scalar, x))


@op("MulNoNan", _BINARY, T=FLOATING | COMPLEX, shape=broadcast)
def MulNoNan(x, y):
    return zero_where(y == 0, x * y)


@MulNoNan.gradient
def _(op, grad):
    x, y = op.inputs
    return (
        sum_to(execute(MulNoNan, (grad, y)), x) if op.needs(0) else None,
        sum_to(execute(MulNoNan, (x, grad)), y) if op.needs(1) else None,
    )


def multiply_no_nan(x, y, name=None):
    """x * y, but 0 where y is 0, even if x is infinite or NaN.

    >>> tf.math.multiply_no_nan([np.inf, 2.0], [0.0, 3.0]).numpy().tolist()
    [0.0, 6.0]
    """
    x = convert_to_tensor(x)
    return execute(MulNoNan, (x, convert_to_tensor(y, x.dtype)))


def zero_where(mask, array):
    """The array with zeros where the mask (of a shape that broadcasts to it) is true."""
    return np.where(mask, array.dtype.type(0), array) if mask.any() else array


@op(
    "SquaredDifference",
    _BINARY,
    T=FLOATING | COMPLEX | {int32, int64},
    shape=broadcast,
    batchable=True,
)
def SquaredDifference(x, y):
    difference = x - y
    if difference.dtype.kind == "c":
        return difference * difference.conj()
    return difference * difference


@SquaredDifference.gradient
def _(op, grad):
    x, y = op.inputs
    two = elementwise.number_like(2, grad)
    slope = execute(Mul, (execute(Mul, (two, grad)), execute(Sub, (x, y))))
    return (
        sum_to(slope, x) if op.needs(0) else None,
        sum_to(elementwise.negative(slope), y) if op.needs(1) else None,
    )


def squared_difference(x, y, name=None):
    """(x - y)², element-wise; |x - y|² for complex numbers.

    >>> tf.math.squared_difference([1.0, 5.0], 3.0).numpy().tolist()
    [4.0, 4.0]
    """
    return execute(SquaredDifference, operands(x, y))


@op("Pow", _BINARY, T=FLOATING | COMPLEX | SIGNED, shape=broadcast)
def Pow(x, y):
    if not x.size:
        # Integers to negative powers are an error, but not if x is empty.
        return np.broadcast_to(x, np.broadcast_shapes(x.shape, y.shape))
    if not x.ndim and not y.ndim:
        # NumPy's scalar and array loops of power may differ in the last bit.
        return x[()] ** y[()]
    # NumPy has a fast path only for squares; gelu cubes each element.
    if not y.ndim and x.size > 1024 and x.dtype == np.float32 and y == 3:
        return x * x * x
    return x**y


@Pow.gradient
def _(op, grad):
    x, y = op.inputs
    base, exponent = conj(x), conj(y)
    by_base = by_exponent = None
    if op.needs(0):
        lower = execute(Sub, (exponent, elementwise.number_like(1, y)))
        slope = execute(Mul, (exponent, execute(Pow, (base, lower))))
        by_base = sum_to(execute(Mul, (grad, slope)), x)
    if op.needs(1):
        zero = elementwise.number_like(0, x)
        # log(1) replaces the logarithm where the base has none; the gradient there is 0.
        has_log = REGISTRY["NotEqual" if x.dtype.is_complex else "Greater"](base, zero)
        select = REGISTRY["SelectV2"]
        logarithm = elementwise.log(select(has_log, base, elementwise.number_like(1, x)))
        slope = execute(Mul, (conj(op.outputs[0]), select(has_log, logarithm, zero)))
        by_exponent = sum_to(execute(Mul, (grad, slope)), y)
    return by_base, by_exponent


def pow(x, y, name=None):
    """x to the power y, element-wise.

    >>> tf.pow([2, 3], [3, 2])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([8, 9], dtype=int32)>
    """
    return execute(Pow, operands(x, y))


def _extreme(name, kernel, comparison):
    """Maximum or Minimum; of equal elements the gradient goes to x."""

    def gradient(op, grad):
        x, y = op.inputs
        chosen = REGISTRY[comparison](x, y)
        select, zero = REGISTRY["SelectV2"], elementwise.number_like(0, grad)
        return (
            sum_to(select(chosen, grad, zero), x) if op.needs(0) else None,
            sum_to(select(chosen, zero, grad), y) if op.needs(1) else None,
        )

    return op(
        name, _BINARY, T=REAL, shape=broadcast, kernel=kernel, gradient=gradient, batchable=True
    )


Maximum = _extreme("Maximum", np.maximum, "GreaterEqual")
Minimum = _extreme("Minimum", np.minimum, "LessEqual")


def maximum(x, y, name=None):
    """The maximum of x and y, element-wise; NaN if either is.

    >>> tf.maximum([1, 5], 3)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 5], dtype=int32)>
    """
    return execute(Maximum, operands(x, y))


def minimum(x, y, name=None):
    """The minimum of x and y, element-wise; NaN if either is.

    >>> tf.minimum([1, 5], 3)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 3], dtype=int32)>
    """
    return execute(Minimum, operands(x, y))


NextAfter = op(
    "NextAfter", "x1: T, x2: T -> output: T", T={float32, float64}, shape=broadcast,
    kernel=np.nextafter,
)  # fmt: skip


@NextAfter.gradient
def _(op, grad):
    x1, x2 = op.inputs
    return sum_to(grad, x1), REGISTRY["ZerosLike"](x2)


def nextafter(x1, x2, name=None):
    """The next representable number after x1 in the direction of x2.

    >>> float(tf.math.nextafter(1.0, 2.0)) > 1.0
    True
    """
    if not isinstance(x1, Tensor | Variable) and not isinstance(x2, Tensor | Variable):
        x1 = convert_to_tensor(x1, float32)
    return execute(NextAfter, operands(x1, x2))


def _equal_shapes(inputs, attrs):
    shape = TensorShape(None)
    for index, each in enumerate(inputs[0]):
        if not shape.is_compatible_with(each.shape):
            raise ValueError(
                "Inputs to operation AddN must have the same size and shape. "
                f"Input 0: {dimensions_text(inputs[0][0].shape)} != "
                f"input {index}: {dimensions_text(each.shape)}"
            )
        shape = shape.merge_with(each.shape)
    return shape


@op("AddN", "inputs: N*T -> sum: T", T=NUMERIC, shape=_equal_shapes)
def AddN(inputs):
    total = inputs[0]
    for index, each in enumerate(inputs[1:]):
        if total.shape != each.shape:
            raise ValueError("Inputs to operation AddN must have the same size and shape.")
        if index and total.shape:
            total += each
        else:
            total = total + each
    return total


@AddN.gradient
def _(op, grad):
    return [grad] * len(op.inputs)


_NOTHING_TO_ADD = (
    "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
)


def add_n(inputs, name=None):
    """The sum of tensors of the same shape.

    >>> tf.add_n([[1, 2], [3, 4], [5, 6]])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 9, 12], dtype=int32)>
    """
    tensors = list(inputs)
    if not tensors or any(each is None for each in tensors):
        raise ValueError(f"{_NOTHING_TO_ADD} Received: {inputs!r}")
    tensors = [convert_to_tensor(each) for each in tensors]
    return AddN(tensors) if len(tensors) > 1 else tensors[0]


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of tensors of the same dtype and shape, which may be given for validation.

    >>> tf.math.accumulate_n([[1, 2], [3, 4]]).numpy().tolist()
    [4, 6]
    """
    message = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not isinstance(inputs, list | tuple) or not inputs:
        raise ValueError(f"{message}. Received: {inputs!r}")
    tensors = [convert_to_tensor(each) for each in inputs]
    if any(each.dtype is not tensors[0].dtype for each in tensors):
        raise ValueError(f"{message}. Received dtypes: {[each.dtype.name for each in tensors]}")
    if tensor_dtype is not None and tensor_dtype != tensors[0].dtype:
        raise TypeError(
            f"The `tensor_dtype` argument is {tensor_dtype}, but `input` is of type "
            f"{tensors[0].dtype}. These must be equal. Try casting the input to the desired type."
        )
    merged = TensorShape(shape)
    for each in tensors:
        merged = merged.merge_with(each.shape)
    return AddN(tensors) if len(tensors) > 1 else tensors[0]


def polyval(coeffs, x, name=None):
    """The polynomial with these coefficients, the highest power first, at x by Horner's rule.

    >>> tf.math.polyval([tf.constant(1.0), tf.constant(0.0), tf.constant(-1.0)], [2.0, 3.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([3., 8.], dtype=float32)>
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = convert_to_tensor(x)
    if not coeffs:
        return REGISTRY["ZerosLike"](x)
    tensors = [convert_to_tensor(each) for each in coeffs]
    value = tensors[0]
    for each in tensors[1:]:
        value = execute(AddV2, (each, execute(Mul, (value, x))))
    return value
