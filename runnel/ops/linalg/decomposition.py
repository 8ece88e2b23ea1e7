"""The Cholesky and QR decompositions."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN
from ...core.tensor import Tensor
from ..array.joining import concat
from ..math.casting import cast
from ..math.complex import imag
from . import results
from .diagonal import band_part, diag, diag_part, set_diag
from .matmul import adjoint, matmul
from .matrices import (
    MATRIX,
    columns_of,
    each_matrix,
    require_matrix,
    square_matrices,
    widened,
)
from .solve import times_inverse_adjoint, triangular_solve


@op("Cholesky", "input: T -> output: T", T=MATRIX, shape=square_matrices)
def Cholesky(input):
    matrix = widened(input)
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
            raise
        factor = _cholesky_one_by_one(matrix)
    return factor.astype(input.dtype, copy=False)


def _cholesky_one_by_one(matrix):
    """Factor matrix by matrix: NaN for those that are not positive definite."""
    factor = np.empty_like(matrix)
    for result, each in zip(each_matrix(factor), each_matrix(matrix), strict=True):
        try:
            result[...] = np.linalg.cholesky(each)
        except np.linalg.LinAlgError:
            result[...] = np.tril(np.full_like(each, np.nan))
    return factor


@Cholesky.gradient
def _(op, grad):
    (factor,) = op.outputs
    middle = band_part(matmul(factor, grad, adjoint_a=True), -1, 0)
    middle = set_diag(middle, 0.5 * diag_part(middle))
    left = triangular_solve(factor, middle, adjoint=True)
    whole = triangular_solve(factor, adjoint(left), adjoint=True)
    return 0.5 * (whole + adjoint(whole))


def cholesky(input, name=None):
    """The lower triangular L with `L @ adjoint(L) = input`, for positive definite matrices.

    Only the lower triangle of the input is read. The factor of a matrix that is not positive
    definite is NaN.

    >>> tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy().tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    return execute(Cholesky, (convert_to_tensor(input),))


def _qr_shape(inputs, attrs):
    shape = inputs[0].shape
    require_matrix(shape)
    if shape.rank is None:
        return [UNKNOWN, UNKNOWN]
    rows, columns = shape[-2:]
    shared = None if rows is None or columns is None else min(rows, columns)
    if attrs["full_matrices"]:
        shared = rows
    batch = shape[:-2]
    return [batch.concatenate([rows, shared]), batch.concatenate([shared, columns])]


@op("Qr", "input: T -> q: T, r: T", T=MATRIX, shape=_qr_shape)
def Qr(input, *, full_matrices=False):
    q, r = np.linalg.qr(widened(input), "complete" if full_matrices else "reduced")
    return q.astype(input.dtype, copy=False), r.astype(input.dtype, copy=False)


@Qr.gradient
def _(op, grad_q, grad_r):
    q, r = op.outputs
    matrix = op.inputs[0]
    rows, columns = (None, None) if r.shape.rank is None else r.shape[-2:]
    if op.attrs["full_matrices"] and (rows is None or columns is None or rows > columns):
        raise NotImplementedError(
            "QrGrad not implemented when nrows > ncols and full_matrices is true. Received "
            f"r.shape={r.shape} with nrows={rows} and ncols={columns}."
        )
    if rows is not None and rows == columns:
        return _qr_square_gradient(q, r, grad_q, grad_r)
    # The columns to the right of R's square part are Q^H @ those of the matrix.
    size = columns_of(q)
    beyond, grad_beyond = matrix[..., size:], grad_r[..., size:]
    grad_q += matmul(beyond, grad_beyond, adjoint_b=True)
    first = _qr_square_gradient(q, r[..., :size], grad_q, grad_r[..., :size])
    return concat([first, matmul(q, grad_beyond)], axis=-1)


def _qr_square_gradient(q: Tensor, r: Tensor, grad_q: Tensor, grad_r: Tensor) -> Tensor:
    turned = matmul(q, grad_q, adjoint_a=True)
    stretched = matmul(grad_r, r, adjoint_b=True)
    lower = turned - adjoint(turned) + adjoint(stretched) - stretched
    inner = stretched - turned + lower - band_part(lower, 0, -1)
    if r.dtype.is_complex:
        # The diagonal of R is real: imaginary parts there are phases of Q's columns instead.
        phase = imag(diag_part(turned - stretched))
        inner += diag(cast(phase, r.dtype) * convert_to_tensor(1j, r.dtype))
    return times_inverse_adjoint(matmul(q, inner) + grad_q, r)


def qr(input, full_matrices=False, name=None):
    """Q with orthonormal columns and an upper triangular R such that `Q @ R = input`.

    >>> q, r = tf.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> tf.reduce_max(tf.abs(q @ r - [[3.0, 1.0], [4.0, 2.0]])).numpy() < 1e-5
    np.True_
    """
    attrs = {"full_matrices": bool(full_matrices)}
    return results.Qr(*execute(Qr, (convert_to_tensor(input),), attrs))
