"""Bitwise operations on integers."""

from __future__ import annotations

import operator

import numpy as np

from ...core.convert import convert_to_tensor, operands
from ...core.dtypes import INTEGER
from ...core.op import execute, op
from ...core.shape_rules import broadcast, unchanged


def _binary(name, kernel):
    return op(
        name, "x: T, y: T -> z: T", T=INTEGER, shape=broadcast, kernel=kernel, gradient=None,
        batchable=True,
    )  # fmt: skip


BitwiseAnd = _binary("BitwiseAnd", operator.and_)
BitwiseOr = _binary("BitwiseOr", operator.or_)
BitwiseXor = _binary("BitwiseXor", operator.xor)
Invert = op(
    "Invert",
    "x: T -> y: T",
    T=INTEGER,
    shape=unchanged,
    kernel=operator.invert,
    gradient=None,
    batchable=True,
)


def bitwise_and(x, y, name=None):
    """Bitwise and of x and y.

    >>> tf.bitwise.bitwise_and([6], [3]).numpy().tolist()
    [2]
    """
    return execute(BitwiseAnd, operands(x, y))


def bitwise_or(x, y, name=None):
    """Bitwise or of x and y.

    >>> tf.bitwise.bitwise_or([6], [3]).numpy().tolist()
    [7]
    """
    return execute(BitwiseOr, operands(x, y))


def bitwise_xor(x, y, name=None):
    """Bitwise exclusive or of x and y.

    >>> tf.bitwise.bitwise_xor([6], [3]).numpy().tolist()
    [5]
    """
    return execute(BitwiseXor, operands(x, y))


def invert(x, name=None):
    """Bitwise complement of x.

    >>> tf.bitwise.invert([0, 5]).numpy().tolist()
    [-1, -6]
    """
    return execute(Invert, (convert_to_tensor(x),))


def _within_width(y):
    """Clamp shift counts to 0 ... bits - 1: out of range they are undefined behaviour in C."""
    return np.minimum(np.maximum(y, 0), 8 * y.dtype.itemsize - 1)


LeftShift = _binary("LeftShift", lambda x, y: x << _within_width(y))
RightShift = _binary("RightShift", lambda x, y: x >> _within_width(y))


def left_shift(x, y, name=None):
    """x << y: shift the bits of x left by y.

    >>> tf.bitwise.left_shift([1, 3], 2).numpy().tolist()
    [4, 12]
    """
    return execute(LeftShift, operands(x, y))


def right_shift(x, y, name=None):
    """x >> y: shift the bits of x right by y, sign-extending.

    >>> tf.bitwise.right_shift([12, -8], 2).numpy().tolist()
    [3, -2]
    """
    return execute(RightShift, operands(x, y))
