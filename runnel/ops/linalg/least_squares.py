"""Least squares, pseudo-inverses and the rank of matrices."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import float64, int32
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN
from ...core.tensor import Tensor
from ..array.shaping import expand_dims, shape
from ..math.casting import cast
from ..math.comparison import greater
from ..math.division import divide_no_nan
from ..math.reduction import reduce_max, reduce_sum
from .decomposition import cholesky
from .diagonal import diag_part, set_diag
from .eigen import svd
from .matmul import matmul
from .matrices import (
    MATRIX,
    each_matrix,
    matrix_operands,
    require_matrix,
    same_batch,
    widened,
)
from .solve import cholesky_solve


def _least_squares_shape(inputs, attrs):
    matrix, rhs = inputs[0].shape, inputs[1].shape
    same_batch(inputs, attrs)
    if matrix.rank is None or rhs.rank is None:
        return UNKNOWN
    if matrix[-2] != rhs[-2] and None not in (matrix[-2], rhs[-2]):
        raise ValueError(
            f"Input matrix and rhs are incompatible: {matrix[-2]} equations, but rhs has "
            f"{rhs[-2]} rows."
        )
    return rhs[:-2].concatenate([matrix[-1], rhs[-1]])


@op(
    "MatrixSolveLs",
    "matrix: T, rhs: T, l2_regularizer: float64 -> output: T",
    T=MATRIX,
    shape=_least_squares_shape,
)
def MatrixSolveLs(matrix, rhs, l2_regularizer, *, fast=True):
    if matrix.ndim < 2 or matrix.shape[:-1] != rhs.shape[:-1]:
        raise ValueError("The matrix and rhs do not fit together.")
    *batch, _, columns = matrix.shape
    left, right = widened(matrix), widened(rhs)
    if fast and l2_regularizer:
        # |AX - B|^2 + r|X|^2 is ordinary least squares with the additional equations sqrt(r) X = 0.
        more = np.sqrt(l2_regularizer) * np.eye(columns, dtype=left.dtype)
        left = np.concatenate([left, np.broadcast_to(more, (*batch, *more.shape))], axis=-2)
        zeros = np.zeros((*batch, columns, rhs.shape[-1]), right.dtype)
        right = np.concatenate([right, zeros], axis=-2)
    solution = np.zeros((*batch, columns, rhs.shape[-1]), right.dtype)
    if left.size and right.size:
        pairs = zip(each_matrix(left), each_matrix(right), strict=True)
        for result, (a, b) in zip(each_matrix(solution), pairs, strict=True):
            result[...] = np.linalg.lstsq(a, b)[0]
    return solution.astype(rhs.dtype, copy=False)


@MatrixSolveLs.gradient
def _(op, grad):
    if op.attrs["fast"]:
        raise NotImplementedError(
            "The gradient of tf.linalg.lstsq needs to know the size of the matrices when the "
            f"function is traced, got shape {op.inputs[0].shape}. Use matrix.set_shape, or "
            "tf.linalg.pinv."
        )
    raise ValueError(
        "Gradient not defined for fast=False: call tf.linalg.lstsq with fast=True, or multiply by "
        "tf.linalg.pinv(matrix)."
    )


def lstsq(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """X that minimizes `|matrix @ X - rhs|^2 + l2_regularizer * |X|^2`.

    An underdetermined system without regularizer has the solution of least norm. `fast=False` also
    takes rank-deficient matrices, but no regularizer.

    >>> tf.linalg.lstsq([[1.0], [1.0]], [[2.0], [4.0]]).numpy().round(3).tolist()
    [[3.0]]
    """
    matrix, rhs = matrix_operands(matrix, rhs)
    require_matrix(matrix.shape)
    rows, columns = (None, None) if matrix.shape.rank is None else matrix.shape[-2:]
    if not fast or rows is None or columns is None:
        weight = cast(convert_to_tensor(l2_regularizer), float64)
        return execute(MatrixSolveLs, (matrix, rhs, weight), {"fast": bool(fast)})
    tall = rows >= columns
    gram = matmul(matrix, matrix, adjoint_a=tall, adjoint_b=not tall)
    weight = convert_to_tensor(l2_regularizer)
    if constant_value(weight) != 0:
        gram = set_diag(gram, diag_part(gram) + cast(weight, gram.dtype))
    factor = cholesky(gram)
    if tall:
        return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))
    return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def _require_float_matrix(a) -> Tensor:
    a = convert_to_tensor(a)
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.shape.rank is not None and a.shape.rank < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {a.shape.rank}).")
    return a


def _larger_side(a: Tensor) -> Tensor:
    """max(rows, columns), in the dtype of the matrix."""
    return cast(reduce_max(shape(a)[-2:]), a.dtype)


def pinv(a, rcond=None, validate_args=False, name=None):
    """The Moore-Penrose pseudo-inverse, from the singular value decomposition.

    Singular values up to `rcond` times the largest count as zero.

    >>> tf.linalg.pinv([[2.0, 0.0], [0.0, 0.0]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    a = _require_float_matrix(a)
    if rcond is None:
        rcond = 10.0 * np.finfo(a.dtype.as_numpy_dtype).eps * _larger_side(a)
    rcond = convert_to_tensor(rcond, a.dtype)
    s, u, v = svd(a)
    limit = rcond * reduce_max(s, axis=-1)
    kept = cast(greater(s, expand_dims(limit, -1)), a.dtype)
    return matmul(v * expand_dims(divide_no_nan(kept, s), -2), u, adjoint_b=True)


def matrix_rank(a, tol=None, validate_args=False, name=None):
    """The number of singular values above `tol`.

    >>> tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    <tf.Tensor: shape=(), dtype=int32, numpy=1>
    """
    a = _require_float_matrix(a)
    s = svd(a, compute_uv=False)
    if tol is None:
        epsilon = _larger_side(a) * np.finfo(a.dtype.as_numpy_dtype).eps
        tol = epsilon * reduce_max(s, axis=-1, keepdims=True)
    else:
        tol = convert_to_tensor(tol, a.dtype)
    return reduce_sum(cast(greater(s, tol), int32), axis=-1)
