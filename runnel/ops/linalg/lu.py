"""The LU decomposition, and functions of its factors."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor, operands
from ...core.dtypes import as_dtype, int32
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN
from ...core.tensor import Tensor
from ...runtime import blas_threads
from ..array import creation
from ..array.gathering import gather
from ..array.joining import concat
from ..array.shaping import broadcast_dynamic_shape, broadcast_to, expand_dims, shape
from ..math.casting import cast
from ..math.comparison import equal
from ..math.reduction import reduce_sum
from . import results
from .diagonal import band_part, diag, diag_part, set_diag
from .matmul import matmul
from .matrices import MATRIX, columns_of, each_matrix, size_of_square, square_matrices, widened
from .solve import times_inverse_adjoint, triangular_solve


def _lu_shape(inputs, attrs):
    whole = square_matrices(inputs, attrs)
    if whole.rank is None:
        return [UNKNOWN, UNKNOWN]
    return [whole, whole[:-2].concatenate([size_of_square(whole)])]


@op("Lu", "input: T -> lu: T, p: output_idx_type", T=MATRIX, shape=_lu_shape)
def Lu(input, *, output_idx_type=int32):
    from scipy.linalg import get_lapack_funcs

    matrix = widened(input)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
        raise ValueError("Input matrix must be square.")
    size = matrix.shape[-1]
    factors = np.empty_like(matrix, order="C")
    rows = np.empty(matrix.shape[:-1], output_idx_type.numpy)
    if matrix.size:
        (getrf,) = get_lapack_funcs(("getrf",), (matrix,))
        results = zip(each_matrix(factors), rows.reshape(-1, size), strict=True)
        for each, (factor, order) in zip(each_matrix(matrix), results, strict=True):
            with blas_threads.single_threaded_scipy():
                factor[...], exchanges, _ = getrf(each)
            if not np.abs(np.diagonal(factor)).min() > 0:
                raise ValueError("Input is not invertible.")
            order[...] = range(size)
            for row, other in enumerate(exchanges):
                order[row], order[other] = order[other], order[row]
    return factors.astype(input.dtype, copy=False), rows


@Lu.gradient
def _(op, grad, _):
    factors, p = op.outputs
    lower, upper = _lower_upper(factors)
    # The strictly lower part of the packed gradient is L's, whose diagonal is fixed at 1.
    left = _strictly_lower(matmul(lower, _strictly_lower(grad), adjoint_a=True))
    right = band_part(matmul(band_part(grad, 0, -1), upper, adjoint_b=True), 0, -1)
    middle = triangular_solve(lower, left + right, adjoint=True)
    return _permuted(times_inverse_adjoint(middle, upper), _inverted(p))


def _strictly_lower(matrix: Tensor) -> Tensor:
    return matrix - band_part(matrix, 0, -1)


def _lower_upper(factors: Tensor) -> tuple[Tensor, Tensor]:
    """L (with a unit diagonal) and U, unpacked from one matrix."""
    lower = band_part(factors, -1, 0)
    ones = execute(creation.OnesLike, (diag_part(lower),))
    return set_diag(lower, ones), band_part(factors, 0, -1)


def _inverted(p: Tensor) -> Tensor:
    """The inverse of each permutation: inverse[p[i]] = i."""
    numbers = creation.range(cast(columns_of(expand_dims(p, -2)), p.dtype))
    hits = cast(equal(expand_dims(p, -1), numbers), p.dtype)
    return reduce_sum(hits * expand_dims(numbers, -1), axis=-2)


def _permuted(matrix: Tensor, p: Tensor) -> Tensor:
    """The rows of each matrix permuted by p."""
    if p.shape.rank == 1:
        return gather(matrix, p, axis=-2)
    sizes, places = shape(matrix), shape(p)
    batch = broadcast_dynamic_shape(sizes[:-2], places[:-1])
    matrix = broadcast_to(matrix, concat([batch, sizes[-2:]], 0))
    return gather(matrix, broadcast_to(p, concat([batch, places[-1:]], 0)), axis=-2, batch_dims=-1)


def lu(input, output_idx_type=int32, name=None):
    """The LU decomposition with partial pivoting: `gather(input, p) = L @ U`.

    Returns L and U packed into one matrix (without L's unit diagonal), and the permutation p.

    >>> lu, p = tf.linalg.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> lu.numpy().tolist(), p.numpy().tolist()
    ([[4.0, 4.0], [0.25, 1.0]], [1, 0])
    """
    attrs = {"output_idx_type": as_dtype(output_idx_type)}
    return results.Lu(*execute(Lu, (convert_to_tensor(input),), attrs))


def _check_factors(lower_upper, perm) -> tuple[Tensor, Tensor]:
    """The result of `lu` as tensors; ValueError where their shapes do not match."""
    lower_upper = convert_to_tensor(lower_upper)
    perm = convert_to_tensor(perm, None, int32)
    factors, rows = lower_upper.shape, perm.shape
    if factors.rank is not None and factors.rank < 2:
        raise ValueError(
            f"Input `lower_upper` must have at least 2 dimensions, got shape {factors}."
        )
    if factors.rank is None or rows.rank is None:
        return lower_upper, perm
    if factors.rank != rows.rank + 1:
        raise ValueError(
            f"`rank(lower_upper)` must equal `rank(perm) + 1`, got shapes {factors} and {rows}."
        )
    if factors[-2] != factors[-1] and None not in (factors[-2], factors[-1]):
        raise ValueError(f"`lower_upper` must be square, got shape {factors}.")
    return lower_upper, perm


def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """X with `A @ X = rhs`, from the LU decomposition of A.

    >>> lu, p = tf.linalg.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> tf.linalg.lu_solve(lu, p, [[3.0], [8.0]]).numpy().tolist()
    [[1.0], [1.0]]
    """
    lower_upper, perm = _check_factors(lower_upper, perm)
    lower_upper, rhs = operands(lower_upper, rhs)
    if rhs.shape.rank is not None and rhs.shape.rank < 2:
        raise ValueError(f"Input `rhs` must have at least 2 dimensions, got shape {rhs.shape}.")
    if rhs.shape.rank is not None and lower_upper.shape.rank is not None:
        rows, equations = rhs.shape[-2], lower_upper.shape[-1]
        if rows != equations and rows is not None and equations is not None:
            raise ValueError(
                "`rhs` must have a row for each row of `lower_upper`, got shapes "
                f"{rhs.shape} and {lower_upper.shape}."
            )
    lower, upper = _lower_upper(lower_upper)
    return triangular_solve(upper, triangular_solve(lower, _permuted(rhs, perm)), lower=False)


def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """The inverse of A, from its LU decomposition.

    >>> tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[2.0, 0.0], [0.0, 4.0]])).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    lower_upper, perm = _check_factors(lower_upper, perm)
    identity = diag(execute(creation.OnesLike, (diag_part(lower_upper),)))
    return lu_solve(lower_upper, perm, identity, validate_args)


def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """A, from its LU decomposition.

    >>> tf.linalg.lu_reconstruct(*tf.linalg.lu([[1.0, 2.0], [4.0, 4.0]])).numpy().tolist()
    [[1.0, 2.0], [4.0, 4.0]]
    """
    lower_upper, perm = _check_factors(lower_upper, perm)
    return _permuted(matmul(*_lower_upper(lower_upper)), _inverted(perm))
