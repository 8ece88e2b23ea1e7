"""Public matrix functions that also accept operators: tf.matmul, tf.linalg.solve and others."""

from __future__ import annotations

from typing import Any

from ....core.dispatch import dispatch_for_api
from .. import decomposition, diagonal, functions, matmul as products, solve as solutions
from .base import LinearOperator

_FIRST = {0: LinearOperator}


@dispatch_for_api(products.matmul, {"a": LinearOperator}, {"b": LinearOperator})
def matmul(
    a: Any,
    b: Any,
    transpose_a: Any = False,
    transpose_b: Any = False,
    adjoint_a: Any = False,
    adjoint_b: Any = False,
    a_is_sparse: Any = False,
    b_is_sparse: Any = False,
    output_type: Any = None,
    grad_a: Any = False,
    grad_b: Any = False,
    name: Any = None,
) -> Any:
    """`a @ b` where at least one is an operator."""
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time: use adjoint_a or adjoint_b.")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=bool(adjoint_a), adjoint_arg=bool(adjoint_b))
    return products.adjoint(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a))


@dispatch_for_api(products.matvec, _FIRST)
def matvec(
    a: Any,
    b: Any,
    transpose_a: Any = False,
    adjoint_a: Any = False,
    a_is_sparse: Any = False,
    b_is_sparse: Any = False,
    name: Any = None,
) -> Any:
    """`a @ b` of an operator and a vector."""
    if transpose_a:
        raise ValueError("Transposing not supported at this time: use adjoint_a.")
    return a.matvec(b, adjoint=bool(adjoint_a))


@dispatch_for_api(solutions.solve, _FIRST)
def solve(matrix: Any, rhs: Any, adjoint: Any = False, name: Any = None) -> Any:
    """The X with `matrix @ X = rhs`."""
    return matrix.solve(rhs, adjoint=bool(adjoint))


@dispatch_for_api(products.adjoint, _FIRST)
def adjoint(matrix: Any, name: Any = None) -> Any:
    """The operator of the conjugate transpose."""
    return matrix.adjoint()


@dispatch_for_api(solutions.inv, _FIRST)
def inv(input: Any, adjoint: Any = False, name: Any = None) -> Any:
    """The operator of the inverse."""
    inverse = input.inverse()
    return inverse.adjoint() if adjoint else inverse


@dispatch_for_api(decomposition.cholesky, _FIRST)
def cholesky(input: Any, name: Any = None) -> Any:
    """The operator of the Cholesky factor."""
    return input.cholesky()


@dispatch_for_api(diagonal.diag_part, _FIRST)
def diag_part(
    input: Any,
    name: Any = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: Any = "RIGHT_LEFT",
) -> Any:
    """The main diagonal."""
    return input.diag_part()


@dispatch_for_api(diagonal.trace, _FIRST)
def trace(x: Any, name: Any = None) -> Any:
    """The sum of the main diagonal."""
    return x.trace()


@dispatch_for_api(functions.det, _FIRST)
def det(input: Any, name: Any = None) -> Any:
    """The determinant."""
    return input.determinant()


@dispatch_for_api(functions.logdet, _FIRST)
def logdet(matrix: Any, name: Any = None) -> Any:
    """The logarithm of the determinant of a positive definite operator."""
    if not (matrix.is_positive_definite and matrix.is_self_adjoint):
        raise ValueError("Expected matrix to be self-adjoint positive definite.")
    return matrix.log_abs_determinant()
