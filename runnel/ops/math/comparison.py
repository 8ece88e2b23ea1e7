"""Comparison and logical operations."""

from __future__ import annotations

import operator

import numpy as np

from ...core.convert import constant, convert_to_tensor, operands
from ...core.dtypes import REAL, bool as boolean
from ...core.op import execute, op
from ...core.shape_rules import SCALAR, UNKNOWN, broadcast, unchanged
from ...core.tensor import Tensor
from ...core.variable import Variable
from ..array.shaping import reshape
from . import reduction


def _equality_shape(inputs, attrs):
    if attrs["incompatible_shape_error"]:
        return broadcast(inputs, attrs)
    x, y = (each.shape for each in inputs)
    if x.rank is None or y.rank is None:
        return UNKNOWN
    count = min(x.rank, y.rank)
    for ours, theirs in zip(x[x.rank - count :], y[y.rank - count :], strict=True):
        if ours == theirs or ours == 1 or theirs == 1:
            continue
        # With unknown sizes the shapes may or may not be compatible: the result's rank is unknown.
        return UNKNOWN if ours is None or theirs is None else SCALAR
    return broadcast(inputs, attrs)


def _equality(name, compare, otherwise):
    """Equal or NotEqual; incompatible shapes give one scalar unless that is an error."""

    def kernel(x, y, *, incompatible_shape_error=True):
        try:
            return compare(x, y)
        except ValueError:
            if incompatible_shape_error:
                raise
            return otherwise

    return op(
        name, "x: T, y: T -> z: bool", shape=_equality_shape, kernel=kernel, gradient=None,
        batchable=True,
    )  # fmt: skip


Equal = _equality("Equal", operator.eq, np.False_)
NotEqual = _equality("NotEqual", operator.ne, np.True_)


def equal(x, y, name=None):
    """x == y, element-wise.

    >>> tf.equal([1, 2], 2).numpy().tolist()
    [False, True]
    """
    return execute(Equal, operands(x, y))


def not_equal(x, y, name=None):
    """x != y, element-wise.

    >>> tf.not_equal([1, 2], 2).numpy().tolist()
    [True, False]
    """
    return execute(NotEqual, operands(x, y))


def _order(name, compare):
    return op(
        name, "x: T, y: T -> z: bool", T=REAL, shape=broadcast, kernel=compare, gradient=None,
        batchable=True,
    )  # fmt: skip


Less = _order("Less", operator.lt)
LessEqual = _order("LessEqual", operator.le)
Greater = _order("Greater", operator.gt)
GreaterEqual = _order("GreaterEqual", operator.ge)


def less(x, y, name=None):
    """x < y, element-wise.

    >>> tf.less([1, 2, 3], 2).numpy().tolist()
    [True, False, False]
    """
    return execute(Less, operands(x, y))


def less_equal(x, y, name=None):
    """x <= y, element-wise.

    >>> tf.less_equal([1, 2, 3], 2).numpy().tolist()
    [True, True, False]
    """
    return execute(LessEqual, operands(x, y))


def greater(x, y, name=None):
    """x > y, element-wise.

    >>> tf.greater([1, 2, 3], 2).numpy().tolist()
    [False, False, True]
    """
    return execute(Greater, operands(x, y))


def greater_equal(x, y, name=None):
    """x >= y, element-wise.

    >>> tf.greater_equal([1, 2, 3], 2).numpy().tolist()
    [False, True, True]
    """
    return execute(GreaterEqual, operands(x, y))


_BOTH = "x: bool, y: bool -> z: bool"
LogicalAnd = op(
    "LogicalAnd", _BOTH, shape=broadcast, kernel=operator.and_, gradient=None, batchable=True
)
LogicalOr = op(
    "LogicalOr", _BOTH, shape=broadcast, kernel=operator.or_, gradient=None, batchable=True
)
LogicalNot = op(
    "LogicalNot",
    "x: bool -> y: bool",
    shape=unchanged,
    kernel=operator.invert,
    gradient=None,
    batchable=True,
)


def _truth(x) -> Tensor:
    """Convert a Python or NumPy value to bool; a tensor is left for the op to check."""
    return convert_to_tensor(x, None if isinstance(x, (Tensor, Variable)) else boolean)


def logical_and(x, y, name=None):
    """Logical and, element-wise.

    >>> tf.logical_and([True, True], [True, False]).numpy().tolist()
    [True, False]
    """
    return execute(LogicalAnd, (_truth(x), _truth(y)))


def logical_or(x, y, name=None):
    """Logical or, element-wise.

    >>> tf.logical_or([True, False], [False, False]).numpy().tolist()
    [True, False]
    """
    return execute(LogicalOr, (_truth(x), _truth(y)))


def logical_not(x, name=None):
    """Logical not, element-wise.

    >>> tf.logical_not([True, False]).numpy().tolist()
    [False, True]
    """
    return execute(LogicalNot, (_truth(x),))


def logical_xor(x, y, name="LogicalXor"):
    """Logical exclusive or, element-wise.

    >>> tf.math.logical_xor([True, True], [True, False]).numpy().tolist()
    [False, True]
    """
    x, y = _truth(x), _truth(y)
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)))


def _neighbours(x, name):
    """All elements but the last, and all but the first; None where there are fewer than two."""
    x = convert_to_tensor(x)
    if not x.dtype.is_numeric:
        raise TypeError(f"tf.math.{name} needs a numeric tensor, got {x.dtype.name}: {x!r}")
    count = x.shape.num_elements()
    if count is not None and count < 2:
        return None
    flat = reshape(x, [-1])
    return flat[:-1], flat[1:]


def is_non_decreasing(x, name=None):
    """Whether no element is less than the one before it.

    >>> tf.math.is_non_decreasing([1, 1, 2])
    <tf.Tensor: shape=(), dtype=bool, numpy=True>
    """
    pairs = _neighbours(x, "is_non_decreasing")
    return constant(True) if pairs is None else reduction.reduce_all(less_equal(*pairs))


def is_strictly_increasing(x, name=None):
    """Whether every element is greater than the one before it.

    >>> tf.math.is_strictly_increasing([1, 1, 2])
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    pairs = _neighbours(x, "is_strictly_increasing")
    return constant(True) if pairs is None else reduction.reduce_all(less(*pairs))
