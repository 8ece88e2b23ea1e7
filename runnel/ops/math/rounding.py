"""Rounding, and tests for finite numbers, infinities and NaN."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import COMPLEX, FLOATING, SIGNED, from_numpy
from ...core.op import execute, op
from ...core.shape_rules import unchanged
from . import division

_UNARY = "x: T -> y: T"


def _no_gradient(op, grad):
    return None


Ceil = op(
    "Ceil",
    _UNARY,
    T=FLOATING,
    shape=unchanged,
    kernel=np.ceil,
    gradient=_no_gradient,
    batchable=True,
)
Floor = op(
    "Floor",
    _UNARY,
    T=FLOATING,
    shape=unchanged,
    kernel=np.floor,
    gradient=_no_gradient,
    batchable=True,
)
Rint = op("Rint", _UNARY, T=FLOATING, shape=unchanged, kernel=np.rint, gradient=_no_gradient)


@op("Round", _UNARY, T=FLOATING | COMPLEX | SIGNED, shape=unchanged, gradient=_no_gradient)
def Round(x):
    if x.dtype.kind == "c":
        raise division.no_kernel("Round", from_numpy(x.dtype))
    return x if x.dtype.kind == "i" else np.rint(x)


def ceil(x, name=None):
    """The smallest integer not below each element.

    >>> tf.math.ceil([-1.5, 1.5]).numpy().tolist()
    [-1.0, 2.0]
    """
    return execute(Ceil, (convert_to_tensor(x),))


def floor(x, name=None):
    """The largest integer not above each element.

    >>> tf.floor([-1.5, 1.5]).numpy().tolist()
    [-2.0, 1.0]
    """
    return execute(Floor, (convert_to_tensor(x),))


def round(x, name=None):
    """Round half to even; integers are returned unchanged.

    >>> tf.round([0.5, 1.5, 2.6]).numpy().tolist()
    [0.0, 2.0, 3.0]
    """
    x = convert_to_tensor(x)
    return x if x.dtype.is_integer else execute(Round, (x,))


def rint(x, name=None):
    """Round half to even.

    >>> tf.math.rint([0.5, 1.5]).numpy().tolist()
    [0.0, 2.0]
    """
    return execute(Rint, (convert_to_tensor(x),))


def _test(name, kernel):
    return op(
        name, "x: T -> y: bool", T=FLOATING, shape=unchanged, kernel=kernel, gradient=None,
        batchable=True,
    )  # fmt: skip


IsNan = _test("IsNan", np.isnan)
IsInf = _test("IsInf", np.isinf)
IsFinite = _test("IsFinite", np.isfinite)


def is_nan(x, name=None):
    """Whether each element is not a number.

    >>> tf.math.is_nan([1.0, np.nan]).numpy().tolist()
    [False, True]
    """
    return execute(IsNan, (convert_to_tensor(x),))


def is_inf(x, name=None):
    """Whether each element is infinite.

    >>> tf.math.is_inf([1.0, -np.inf]).numpy().tolist()
    [False, True]
    """
    return execute(IsInf, (convert_to_tensor(x),))


def is_finite(x, name=None):
    """Whether each element is neither infinite nor NaN.

    >>> tf.math.is_finite([1.0, np.inf, np.nan]).numpy().tolist()
    [True, False, False]
    """
    return execute(IsFinite, (convert_to_tensor(x),))
