"""Cumulative sums, products and log-sum-exps along an axis."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import FLOATING, NUMERIC, int32
from ...core.op import execute, op
from ...core.shape_rules import normalized_axis
from ...runtime.half_precision import is_half
from ..array import creation, selection
from ..array.arguments import INDEX
from . import arithmetic, casting, comparison, division, elementwise
from .reduction import axes_tensor

# Elements per slice above which one ufunc call per slice is faster.
_WIDE = 512
_SIGNATURE = "x: T, axis: Tidx -> out: T"


def _scan_shape(inputs, attrs):
    x, axis = inputs
    if axis.shape.rank not in (None, 0):
        raise ValueError(f"ScanOp: axis must be a scalar, not {axis.shape}.")
    known = constant_value(axis)
    if x.shape.rank is not None and known is not None:
        normalized_axis(int(known), x.shape.rank, "ScanOp: scan axis")
    return x.shape


def _scan(ufunc, x, axis, exclusive, reverse, neutral):
    if np.ndim(axis):
        raise ValueError(f"ScanOp: axis must be a scalar, not {list(axis.shape)}.")
    axis = normalized_axis(int(axis), x.ndim, "ScanOp: scan axis")
    kind = x.dtype
    if is_half(x):
        x = x.astype(np.float32)
    result = np.empty(x.shape, x.dtype)
    steps, results = (np.flip(each, axis) if reverse else each for each in (x, result))
    if exclusive and x.shape[axis]:
        front = (slice(None),) * axis
        results[(*front, slice(0, 1))] = neutral
        steps, results = steps[(*front, slice(None, -1))], results[(*front, slice(1, None))]
    _accumulate(ufunc, steps, axis, results)
    return result.astype(kind, copy=False)


def _accumulate(ufunc, x, axis, out):
    if axis == x.ndim - 1 or x.size < _WIDE * x.shape[axis]:
        ufunc.accumulate(x, axis, x.dtype, out=out)
        return
    # Whole slices at a time: NumPy's accumulate makes a strided pass along the axis per element.
    x, out = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0)
    out[:1] = x[:1]
    for before, each, after in zip(out[:-1], x[1:], out[1:], strict=True):
        ufunc(before, each, out=after)


@op("Cumsum", _SIGNATURE, T=NUMERIC, Tidx=INDEX, shape=_scan_shape)
def Cumsum(x, axis, *, exclusive=False, reverse=False):
    return _scan(np.add, x, axis, exclusive, reverse, 0)


@Cumsum.gradient
def _(op, grad):
    return _backwards(Cumsum, op, grad), None


@op("Cumprod", _SIGNATURE, T=NUMERIC, Tidx=INDEX, shape=_scan_shape)
def Cumprod(x, axis, *, exclusive=False, reverse=False):
    return _scan(np.multiply, x, axis, exclusive, reverse, 1)


@Cumprod.gradient
def _(op, grad):
    # The sum of the products that contain an element, divided by it. For the first zero that is 0 /
    # 0: there, the products with a 1 in its place; later zeros only occur in products that are 0.
    x, axis = op.inputs
    zero, one = creation.zeros_like(x), creation.ones_like(x)
    is_zero = comparison.equal(x, zero)
    marks = casting.cast(is_zero, int32)
    nth = execute(Cumsum, (marks, axis), {"reverse": op.attrs["reverse"]})
    is_first = comparison.equal(arithmetic.multiply(nth, marks), 1)
    others = execute(Cumprod, (selection.where(is_first, one, x), axis), op.attrs)
    at_first = _backwards(Cumsum, op, arithmetic.multiply(others, grad))
    total = _backwards(Cumsum, op, arithmetic.multiply(op.outputs[0], grad))
    quotient = division.divide(total, selection.where(is_zero, one, x))
    quotient = selection.where(is_zero, zero, quotient)
    return selection.where(is_first, at_first, quotient), None


@op("CumulativeLogsumexp", _SIGNATURE, T=FLOATING, Tidx=INDEX, shape=_scan_shape)
def CumulativeLogsumexp(x, axis, *, exclusive=False, reverse=False):
    return _scan(np.logaddexp, x, axis, exclusive, reverse, -np.inf)


@CumulativeLogsumexp.gradient
def _(op, grad):
    # exp(x_i) times the sum of grad_k exp(-out_k) over the outputs that contain x_i, in log space;
    # positive and negative gradients separately, since only positive numbers have a logarithm.
    positive = _share_of_gradient(op, grad)
    negative = _share_of_gradient(op, elementwise.negative(grad))
    return arithmetic.subtract(positive, negative), None


def _share_of_gradient(op, grad):
    is_positive = comparison.greater(grad, 0)
    logarithm = elementwise.log(selection.where(is_positive, grad, creation.ones_like(grad)))
    nothing = convert_to_tensor(grad.dtype.min, grad.dtype)
    logarithm = selection.where(is_positive, logarithm, nothing)
    terms = arithmetic.subtract(logarithm, op.outputs[0])
    total = _backwards(CumulativeLogsumexp, op, terms)
    return elementwise.exp(arithmetic.add(total, op.inputs[0]))


def _backwards(scan, op, values):
    """A scan in the opposite direction of an op's."""
    attrs = {"exclusive": op.attrs["exclusive"], "reverse": not op.attrs["reverse"]}
    return execute(scan, (values, op.inputs[1]), attrs)


def _call(op, x, axis, exclusive, reverse):
    attrs = {"exclusive": _flag("exclusive", exclusive), "reverse": _flag("reverse", reverse)}
    return execute(op, (convert_to_tensor(x), axes_tensor(axis)), attrs)


def _flag(name, value):
    if value is not None and not isinstance(value, bool | np.bool_):
        raise TypeError(f"Expected bool for argument '{name}' not {value!r}.")
    return bool(value)


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """The cumulative sum along `axis`.

    `exclusive` leaves each element out of its own sum; `reverse` sums from the end.

    >>> tf.cumsum([1, 2, 3]).numpy().tolist(), tf.cumsum([1, 2, 3], exclusive=True).numpy().tolist()
    ([1, 3, 6], [0, 1, 3])
    """
    return _call(Cumsum, x, axis, exclusive, reverse)


def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """The cumulative product along `axis`.

    `exclusive` leaves each element out of its own product; `reverse` multiplies from the end.

    >>> tf.math.cumprod([1, 2, 3], reverse=True).numpy().tolist()
    [6, 6, 3]
    """
    return _call(Cumprod, x, axis, exclusive, reverse)


def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """The cumulative log-sum-exp along `axis`, without overflow.

        out_i = log(exp(x_0) + ... + exp(x_i))

    >>> tf.math.cumulative_logsumexp([0.0, 0.0]).numpy().tolist()
    [0.0, 0.6931471824645996]
    """
    return _call(CumulativeLogsumexp, x, axis, exclusive, reverse)
