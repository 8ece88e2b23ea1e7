"""Linear equations, inverses and least squares."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import bfloat16
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.tensor import Tensor
from ...runtime import blas_threads
from ..broadcasting import sum_to
from .diagonal import band_part
from .matmul import adjoint as adjoint_matrix, adjoint_of, batch_shape, matmul
from .matrices import (
    MATRIX,
    each_matrix,
    matrix_operands,
    require_square,
    same_batch,
    square_matrices,
    widened,
)


@op("MatrixInverse", "input: T -> output: T", T=MATRIX, shape=square_matrices)
def MatrixInverse(input, *, adjoint=False):
    matrix = widened(input)
    _require_finite(matrix)
    try:
        inverse = np.linalg.inv(adjoint_of(matrix) if adjoint else matrix)
    except np.linalg.LinAlgError:
        raise ValueError("Input is not invertible.") from None
    return inverse.astype(input.dtype, copy=False)


def _require_finite(matrix) -> None:
    # With a NaN in the matrix LAPACK reports no zero pivot, and propagates it.
    if np.isnan(matrix).any():
        raise ValueError("Input is not invertible.")


@MatrixInverse.gradient
def _(op, grad):
    (inverse,) = op.outputs
    if op.attrs["adjoint"]:
        return -matmul(inverse, matmul(grad, inverse, adjoint_a=True))
    return -matmul(inverse, matmul(grad, inverse, adjoint_b=True), adjoint_a=True)


def inv(input, adjoint=False, name=None):
    """The inverse of each square matrix, or of its adjoint.

    >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return execute(MatrixInverse, (convert_to_tensor(input),), {"adjoint": bool(adjoint)})


def _require_equations(rows, rhs_rows) -> None:
    if rows != rhs_rows and rows is not None and rhs_rows is not None:
        raise ValueError(
            f"Input matrix and rhs are incompatible: {rows} equations, but rhs has {rhs_rows} rows."
        )


def _solve_shape(inputs, attrs):
    matrix, rhs = inputs[0].shape, inputs[1].shape
    same_batch(inputs, attrs)
    require_square(matrix, "First input (lhs) must be a square matrix.")
    if matrix.rank is None or rhs.rank is None:
        return rhs
    _require_equations(matrix[-1] if matrix[-2] is None else matrix[-2], rhs[-2])
    return rhs


@op("MatrixSolve", "matrix: T, rhs: T -> output: T", T=MATRIX, shape=_solve_shape)
def MatrixSolve(matrix, rhs, *, adjoint=False):
    if matrix.ndim < 2 or matrix.shape[:-1] != rhs.shape[:-1]:
        raise ValueError("The matrix and rhs do not fit together.")
    left, right = widened(matrix), widened(rhs)
    _require_finite(left)
    try:
        solution = np.linalg.solve(adjoint_of(left) if adjoint else left, right)
    except np.linalg.LinAlgError:
        raise ValueError("Input matrix is not invertible.") from None
    return solution.astype(rhs.dtype, copy=False)


def _gradients_of_solution(solve, op, grad):
    """For X = A^-1 B: B's gradient is A^-H G, and A's is minus that times X^H."""
    matrix = op.inputs[0]
    (solution,) = op.outputs
    adjoint = op.attrs["adjoint"]
    grad_rhs = solve(matrix, grad, adjoint=not adjoint)
    if not op.needs(0):
        return None, grad_rhs
    if adjoint:
        return -matmul(solution, grad_rhs, adjoint_b=True), grad_rhs
    return -matmul(grad_rhs, solution, adjoint_b=True), grad_rhs


@MatrixSolve.gradient
def _(op, grad):
    return _gradients_of_solution(solve, op, grad)


def solve(matrix, rhs, adjoint=False, name=None):
    """X with `matrix @ X = rhs`, or with the matrix's adjoint, for square matrices.

    >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[1.0], [1.0]]).numpy().tolist()
    [[0.5], [0.25]]
    """
    return execute(MatrixSolve, matrix_operands(matrix, rhs), {"adjoint": bool(adjoint)})


def triangular_solve_shape(inputs, attrs):
    """Shape rule of the solution; the batch dimensions of matrix and rhs broadcast."""
    matrix, rhs = inputs[0].shape, inputs[1].shape
    for index, each in enumerate((matrix, rhs)):
        if each.rank is not None and each.rank < 2:
            raise ValueError(f"In[{index}] ndims must be >= 2: {each.rank}")
    if matrix.rank is None or rhs.rank is None:
        return UNKNOWN
    rows, columns = matrix[-2:]
    if rows != columns and rows is not None and columns is not None:
        raise ValueError(
            f"In[0] matrices in the last dimensions must be square ({columns} =/= {rows})"
        )
    require_same_rows(matrix, rhs, columns if rows is None else rows)
    return batch_shape(matrix, rhs).concatenate([rhs[-2] if rows is None else rows, rhs[-1]])


def require_same_rows(matrix, rhs, rows) -> None:
    """Raise ValueError unless the right-hand side has as many rows as the matrix."""
    if rows != rhs[-2] and rows is not None and rhs[-2] is not None:
        raise ValueError(
            f"In[0] mismatch In[1] shape: {rows} vs. {rhs[-2]}: {dimensions_text(matrix)} "
            f"{dimensions_text(rhs)}"
        )


@op(
    "MatrixTriangularSolve",
    "matrix: T, rhs: T -> output: T",
    T=MATRIX | {bfloat16},
    shape=triangular_solve_shape,
)
def MatrixTriangularSolve(matrix, rhs, *, lower=True, adjoint=False):
    from scipy.linalg import get_blas_funcs

    if matrix.ndim < 2 or rhs.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
        raise ValueError("The matrix must be square and rhs a matrix.")
    if matrix.shape[-1] != rhs.shape[-2]:
        raise ValueError("The matrix and rhs do not fit together.")
    left, right = broadcast_batches(widened(matrix), widened(rhs))
    solution = np.empty_like(right, order="C")
    if solution.size:
        (trsm,) = get_blas_funcs(("trsm",), (left, right))
        pairs = zip(each_matrix(left), each_matrix(right), strict=True)
        with blas_threads.single_threaded_scipy():
            for result, (a, b) in zip(each_matrix(solution), pairs, strict=True):
                result[...] = trsm(1.0, a, b, lower=int(lower), trans_a=2 if adjoint else 0)
    return solution.astype(rhs.dtype, copy=False)


def broadcast_batches(left, right):
    """Broadcast the batch dimensions of two arrays of matrices."""
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    return (
        np.broadcast_to(left, batch + left.shape[-2:]),
        np.broadcast_to(right, batch + right.shape[-2:]),
    )


@MatrixTriangularSolve.gradient
def _(op, grad):
    matrix, rhs = op.inputs
    lower = op.attrs["lower"]

    def solve_triangle(matrix, rhs, adjoint):
        return triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint)

    grad_matrix, grad_rhs = _gradients_of_solution(solve_triangle, op, grad)
    if grad_matrix is not None:
        # Only one triangle was read: the gradient of the other is 0.
        grad_matrix = band_part(grad_matrix, -1, 0) if lower else band_part(grad_matrix, 0, -1)
        grad_matrix = sum_to(grad_matrix, matrix)
    return grad_matrix, sum_to(grad_rhs, rhs)


def triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    """X with `matrix @ X = rhs`, reading only the lower (or upper) triangle of the matrix.

    >>> tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[2.0], [3.0]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    attrs = {"lower": bool(lower), "adjoint": bool(adjoint)}
    return execute(MatrixTriangularSolve, matrix_operands(matrix, rhs), attrs)


def times_inverse_adjoint(matrix: Tensor, upper: Tensor) -> Tensor:
    """`matrix @ adjoint(inverse(upper))` for an upper triangular matrix."""
    return adjoint_matrix(triangular_solve(upper, adjoint_matrix(matrix), lower=False))


def cholesky_solve(chol, rhs, name=None):
    """X with `A @ X = rhs`, where `chol` is the Cholesky factor of A.

    >>> chol = tf.linalg.cholesky([[4.0, 0.0], [0.0, 1.0]])
    >>> tf.linalg.cholesky_solve(chol, [[4.0], [3.0]]).numpy().tolist()
    [[1.0], [3.0]]
    """
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True)
