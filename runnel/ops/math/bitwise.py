"""Operations on the bits of integers."""

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
    """The bits set in both x and y.

    >>> tf.bitwise.bitwise_and([6], [3]).numpy().tolist()
    [2]
    """
    return execute(BitwiseAnd, operands(x, y))


def bitwise_or(x, y, name=None):
    """The bits set in x or y or both.

    >>> tf.bitwise.bitwise_or([6], [3]).numpy().tolist()
    [7]
    """
    return execute(BitwiseOr, operands(x, y))


def bitwise_xor(x, y, name=None):
    """The bits set in x or y but not both.

    >>> tf.bitwise.bitwise_xor([6], [3]).numpy().tolist()
    [5]
    """
    return execute(BitwiseXor, operands(x, y))


def invert(x, name=None):
    """All bits of x flipped.

    >>> tf.bitwise.invert([0, 5]).numpy().tolist()
    [-1, -6]
    """
    return execute(Invert, (convert_to_tensor(x),))


def _within_width(y):
    """Shift counts brought into 0 ... bits - 1: what lies outside is undefined in the hardware."""
    return np.minimum(np.maximum(y, 0), 8 * y.dtype.itemsize - 1)


LeftShift = _binary("LeftShift", lambda x, y: x << _within_width(y))
RightShift = _binary("RightShift", lambda x, y: x >> _within_width(y))


def left_shift(x, y, name=None):
    """x * 2^y: the bits of x moved up by y places.

    >>> tf.bitwise.left_shift([1, 3], 2).numpy().tolist()
    [4, 12]
    """
    return execute(LeftShift, operands(x, y))


def right_shift(x, y, name=None):
    """The bits of x moved down by y places; the sign is kept.

    >>> tf.bitwise.right_shift([12, -8], 2).numpy().tolist()
    [3, -2]
    """
    return execute(RightShift, operands(x, y))
