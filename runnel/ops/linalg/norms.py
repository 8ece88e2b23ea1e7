"""Norms of vectors and matrices, and the cross product."""

from __future__ import annotations

import numpy as np

from ...core import errors
from ...core.convert import convert_to_tensor, operands
from ...core.dtypes import REAL
from ...core.op import execute, op
from ...core.shape_rules import dimensions_text
from ...core.tensor import Tensor
from ..array import creation
from ..array.ordering import transpose
from ..array.shaping import expand_dims, rank as rank_of, squeeze
from ..math.arithmetic import pow
from ..math.casting import cast
from ..math.comparison import equal
from ..math.complex import conj
from ..math.division import floormod
from ..math.elementwise import abs, sqrt
from ..math.reduction import reduce_any, reduce_max, reduce_sum
from ..math.sorting import argsort
from .eigen import svd

_MATRIX_NORMS = ["euclidean", "fro", 1, 2, np.inf]


def _check_order(ord, axis) -> bool:
    """Whether it is a matrix norm; ValueError where order and axis do not match."""
    if isinstance(ord, Tensor):
        raise TypeError(f"`ord` must be a number or a string, got the tensor {ord}.")
    if isinstance(axis, list | tuple) or (axis is not None and np.ndim(axis)):
        if not isinstance(axis, list | tuple) or len(axis) != 2 or axis[0] == axis[1]:
            raise ValueError(
                f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
            )
        if ord not in _MATRIX_NORMS:
            raise ValueError(f"'ord' must be a supported matrix norm in {_MATRIX_NORMS}, got {ord}")
        return True
    if (isinstance(ord, str) and ord != "euclidean") or (not isinstance(ord, str) and ord <= 0):
        raise ValueError(
            f"'ord' must be a supported vector norm, got {ord}. Supported: 'euclidean' and "
            "positive numbers including inf."
        )
    return False


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    """The norm of vectors along `axis` (all elements if None), or of matrices along two axes.

    `ord` of a vector norm is "euclidean" or a positive number: (sum |x|^ord)^(1/ord), the maximum
    |x| for inf. Of a matrix norm it is "euclidean" or "fro" (Frobenius), 1 (maximum column sum),
    2 (largest singular value) or inf (maximum row sum).

    >>> tf.norm([3.0, 4.0])
    <tf.Tensor: shape=(), dtype=float32, numpy=5.0>
    """
    matrix = _check_order(ord, axis)
    tensor = convert_to_tensor(tensor)
    keepdims = bool(keepdims)
    if ord in ("euclidean", "fro") or (ord == 2 and not matrix):
        squares = tensor * conj(tensor)
        return sqrt(reduce_sum(squares, axis, keepdims=keepdims))
    if matrix and ord == 2:
        return _largest_singular_value(tensor, axis, keepdims)
    sizes = abs(tensor)
    if matrix:
        summed, compared = axis if ord == 1 else axis[::-1]
        result = reduce_max(reduce_sum(sizes, summed, keepdims=True), compared, keepdims=True)
        return result if keepdims else squeeze(result, list(axis))
    if ord == 1:
        return reduce_sum(sizes, axis, keepdims=keepdims)
    if ord == np.inf:
        return reduce_max(sizes, axis, keepdims=keepdims)
    return pow(reduce_sum(pow(sizes, ord), axis, keepdims=keepdims), 1.0 / ord)


def _largest_singular_value(tensor: Tensor, axis, keepdims: bool) -> Tensor:
    rank = tensor.shape.rank
    if rank is None:
        # A stable argsort by "is one of the axes" moves these to the end and keeps the others'
        # order.
        axes = floormod(convert_to_tensor(list(axis)), rank_of(tensor))
        every = expand_dims(creation.range(rank_of(tensor)), -1)
        order = argsort(cast(reduce_any(equal(every, axes), axis=-1), axes.dtype), stable=True)
    else:
        chosen = [each % rank for each in axis]
        order = [each for each in range(rank) if each not in chosen] + chosen
    largest = reduce_max(svd(transpose(tensor, order), compute_uv=False), axis=-1)
    if not keepdims:
        return largest
    largest = expand_dims(expand_dims(largest, -1), -1)
    if rank is None:
        return transpose(largest, argsort(order))
    return transpose(largest, [order.index(each) for each in range(rank)])


def normalize(tensor, ord="euclidean", axis=None, name=None):
    """The tensor divided by its norm, and that norm (with keepdims).

    >>> tf.linalg.normalize([3.0, 4.0])[0]
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.6, 0.8], dtype=float32)>
    """
    tensor = convert_to_tensor(tensor)
    size = cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
    return tensor / size, size


def _cross_shape(inputs, attrs):
    a, b = inputs[0].shape, inputs[1].shape
    if not a.is_compatible_with(b):
        raise ValueError(
            f"Both inputs must be of same shape: {dimensions_text(a)} vs. {dimensions_text(b)}"
        )
    shape = a.merge_with(b)
    if shape.rank == 0:
        raise ValueError("Input must be at least 1D, got a scalar.")
    if shape.rank is not None and shape[-1] not in (None, 3):
        raise ValueError(
            f"Cross-products are only defined for 3-element vectors, got shape {shape}."
        )
    return shape


@op("Cross", "a: T, b: T -> product: T", T=REAL, shape=_cross_shape)
def Cross(a, b):
    if a.shape != b.shape or not a.ndim:
        raise ValueError("Both inputs must be vectors of the same shape.")
    if a.shape[-1] != 3:
        raise errors.FailedPreconditionError(
            None,
            None,
            f"Cross-products are only defined for 3-element vectors, got shape {list(a.shape)}.",
        )
    product = np.empty_like(a)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        product[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return product


@Cross.gradient
def _(op, grad):
    a, b = op.inputs
    return execute(Cross, (b, grad)), execute(Cross, (grad, a))


def cross(a, b, name=None):
    """The cross product of vectors with three elements.

    >>> tf.linalg.cross([1, 0, 0], [0, 1, 0])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 0, 1], dtype=int32)>
    """
    return execute(Cross, operands(a, b))
