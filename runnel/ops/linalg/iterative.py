"""Iterative solvers, which use only matrix-vector multiplications."""

from __future__ import annotations

from typing import NamedTuple

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.tensor import Tensor
from ..array.creation import zeros_like
from ..array.shaping import expand_dims
from ..control_flow import while_loop
from ..math.casting import cast
from ..math.comparison import logical_and
from ..math.complex import conj, real
from ..math.division import divide_no_nan
from ..math.elementwise import sqrt
from ..math.reduction import reduce_any, reduce_sum


class CGState(NamedTuple):
    """The state of the conjugate gradient method: step, solution, residual, direction, norm."""

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


def _dot(x: Tensor, y: Tensor) -> Tensor:
    return reduce_sum(conj(x) * y, axis=-1)


def _length(x: Tensor) -> Tensor:
    return sqrt(real(_dot(x, x)))


def conjugate_gradient(
    operator,
    rhs,
    preconditioner=None,
    x=None,
    tol=1e-05,
    max_iter=20,
    name="conjugate_gradient",
):
    """Solve `operator X = rhs` by conjugate gradients, for positive definite operators.

    `operator` (and `preconditioner`, an approximate inverse) is an object with a method `matvec`
    and the attributes `is_self_adjoint` and `is_positive_definite`. The iteration starts at `x` and
    stops after `max_iter` steps, or when the residual's norm is `tol` times that of `rhs`.

    Returns a named tuple: the number of steps `i`, the solution `x`, and `r`, `p`, `gamma`.
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    rhs = convert_to_tensor(rhs)
    x = zeros_like(rhs) if x is None else convert_to_tensor(x)
    residual = rhs - operator.matvec(x)
    # An operator may be a batch of matrices, to which rhs and x broadcast.
    x += zeros_like(residual)
    limit = cast(tol, rhs.dtype.real_dtype) * _length(rhs)

    def conditioned(residual):
        return residual if preconditioner is None else preconditioner.matvec(residual)

    def unfinished(i, x, r, p, gamma):
        return logical_and(i < max_iter, reduce_any(_length(r) > limit))

    def step(i, x, r, p, gamma):
        product = operator.matvec(p)
        alpha = expand_dims(divide_no_nan(gamma, _dot(p, product)), -1)
        x, r = x + alpha * p, r - alpha * product
        direction = conditioned(r)
        next_gamma = _dot(r, direction)
        beta = expand_dims(divide_no_nan(next_gamma, gamma), -1)
        return CGState(i + 1, x, r, direction + beta * p, next_gamma)

    direction = conditioned(residual)
    start = CGState(convert_to_tensor(0, int32), x, residual, direction, _dot(residual, direction))
    return CGState(*while_loop(unfinished, step, start))
