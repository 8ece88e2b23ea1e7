"""Determinants, and functions of whole matrices: exponential, logarithm, square root."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import COMPLEX
from ...core.op import Op, execute, op
from ...core.shape_rules import UNKNOWN
from ...core.tensor import Tensor
from ..array.creation import ZerosLike
from ..array.joining import concat
from ..array.shaping import expand_dims
from ..math.casting import cast
from ..math.complex import conj, real
from ..math.elementwise import log
from ..math.reduction import reduce_sum
from . import results
from .decomposition import cholesky
from .diagonal import diag_part
from .matmul import adjoint
from .matrices import MATRIX, columns_of, each_matrix, require_square, square_matrices, widened
from .solve import inv


def _batch_of_square(inputs, attrs):
    shape = inputs[0].shape
    require_square(shape)
    return UNKNOWN if shape.rank is None else shape[:-2]


@op("MatrixDeterminant", "input: T -> output: T", T=MATRIX, shape=_batch_of_square)
def MatrixDeterminant(input):
    with np.errstate(all="ignore"):
        determinant = np.linalg.det(widened(input))
    return determinant.astype(input.dtype, copy=False)


def _times_matrix(numbers: Tensor, matrix: Tensor) -> Tensor:
    return expand_dims(expand_dims(numbers, -1), -1) * matrix


@MatrixDeterminant.gradient
def _(op, grad):
    (determinant,) = op.outputs
    return _times_matrix(grad * conj(determinant), inv(op.inputs[0], adjoint=True))


def det(input, name=None):
    """The determinant of each square matrix.

    >>> tf.linalg.det([[2.0, 0.0], [0.0, 3.0]])
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """
    return execute(MatrixDeterminant, (convert_to_tensor(input),))


@op(
    "LogMatrixDeterminant",
    "input: T -> sign: T, log_abs_determinant: T",
    T=MATRIX,
    shape=lambda inputs, attrs: [_batch_of_square(inputs, attrs)] * 2,
)
def LogMatrixDeterminant(input):
    with np.errstate(all="ignore"):
        sign, size = np.linalg.slogdet(widened(input))
    sign = np.where(np.isnan(size), size, sign)
    return sign.astype(input.dtype, copy=False), size.astype(input.dtype, copy=False)


@LogMatrixDeterminant.gradient
def _(op, _, grad):
    # The log-determinant is real whatever its dtype; the sign counts as a constant.
    grad = cast(real(grad), grad.dtype)
    return _times_matrix(grad, inv(op.inputs[0], adjoint=True))


def slogdet(input, name=None):
    """The sign (or phase) of the determinant and the logarithm of its absolute value.

    >>> sign, log_abs = tf.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]])
    >>> sign.numpy().item(), log_abs.numpy().item()
    (-1.0, 0.0)
    """
    return results.LogMatrixDeterminant(*execute(LogMatrixDeterminant, (convert_to_tensor(input),)))


def logdet(matrix, name=None):
    """The logarithm of the determinant of positive definite matrices.

    >>> tf.linalg.logdet([[1.0, 0.0], [0.0, 1.0]])
    <tf.Tensor: shape=(), dtype=float32, numpy=0.0>
    """
    factor = cholesky(matrix)
    return 2.0 * reduce_sum(log(real(diag_part(factor))), axis=[-1])


def _derivative(function: Op, matrix: Tensor, grad: Tensor) -> Tensor:
    """The gradient of a matrix function, from the same function of a matrix twice as large.

    f([[A, E], [0, A]]) has the Fréchet derivative of f at A in the direction E in its upper right
    block, and the gradient is the derivative at the adjoint of A in the direction of `grad`.
    """
    size = columns_of(matrix)
    corner = adjoint(matrix)
    upper = concat([corner, grad], -1)
    lower = concat([execute(ZerosLike, (corner,)), corner], -1)
    return execute(function, (concat([upper, lower], -2),))[..., :size, size:]


def _for_each(function, matrices):
    """Apply a function of one finite matrix in double precision to a batch; NaN elsewhere."""
    if matrices.ndim < 2 or matrices.shape[-1] != matrices.shape[-2]:
        raise ValueError("Input matrix must be square.")
    wide = np.complex128 if matrices.dtype.kind == "c" else np.float64
    results = np.full(matrices.shape, np.nan, matrices.dtype)
    if results.size:
        for result, matrix in zip(each_matrix(results), each_matrix(matrices), strict=True):
            if np.isfinite(matrix).all():
                result[...] = function(matrix.astype(wide))
    return results


@op("MatrixExponential", "input: T -> output: T", T=MATRIX, shape=square_matrices)
def MatrixExponential(input):
    from scipy.linalg import expm

    return _for_each(expm, input)


@MatrixExponential.gradient
def _(op, grad):
    return _derivative(MatrixExponential, op.inputs[0], grad)


def expm(input, name=None):
    """The matrix exponential: the sum of all `input^k / k!`.

    >>> tf.linalg.expm([[0.0, 0.0], [0.0, 0.0]]).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    input = convert_to_tensor(input)
    if input.dtype not in MATRIX and not input.dtype.is_bool:
        raise ValueError(f"tf.linalg.expm does not support matrices of type {input.dtype!r}")
    return execute(MatrixExponential, (input,))


def _triangular_root(triangle):
    """The square root of an upper triangular matrix, column by column."""
    root = np.diag(np.sqrt(np.diagonal(triangle)))
    for j in range(len(root)):
        for i in reversed(range(j)):
            known = root[i, i + 1 : j] @ root[i + 1 : j, j]
            root[i, j] = (triangle[i, j] - known) / (root[i, i] + root[j, j])
    return root


def _root(matrix):
    from scipy.linalg import schur

    triangle, unitary = schur(matrix, "complex")
    result = unitary @ _triangular_root(triangle) @ unitary.conj().T
    if matrix.dtype.kind == "c":
        return result
    # A real matrix has a real root unless an eigenvalue is negative.
    negligible = np.abs(result.imag).max() <= 1e-7 * np.abs(result).max()
    return result.real if negligible else np.full_like(matrix, np.nan)


@op("MatrixSquareRoot", "input: T -> output: T", T=MATRIX, shape=square_matrices)
def MatrixSquareRoot(input):
    return _for_each(_root, input)


@MatrixSquareRoot.gradient
def _(op, grad):
    return _derivative(MatrixSquareRoot, op.inputs[0], grad)


def matrix_square_root(input, name=None):
    """The principal square root: `sqrtm(A) @ sqrtm(A) = A`.

    >>> tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).numpy().tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    return execute(MatrixSquareRoot, (convert_to_tensor(input),))


sqrtm = matrix_square_root


def _logarithm(matrix):
    from scipy.linalg import schur

    triangle, unitary = schur(matrix, "complex")
    if not np.diagonal(triangle).all():
        return np.full_like(matrix, np.nan)
    identity = np.eye(len(matrix))
    halvings = 0
    while np.abs(triangle - identity).sum(axis=0).max() > 0.25:
        triangle = _triangular_root(triangle)
        halvings += 1
    # log(1 + X) is the integral of X / (1 + tX) over t from 0 to 1; for an X this small a
    # quadrature with seven points has full precision.
    rest = triangle - identity
    total = np.zeros_like(rest)
    for point, weight in zip(*np.polynomial.legendre.leggauss(7), strict=True):
        time = (point + 1) / 2
        total += weight / 2 * np.linalg.solve(identity + time * rest, rest)
    return 2.0**halvings * (unitary @ total @ unitary.conj().T)


@op("MatrixLogarithm", "input: T -> output: T", T=COMPLEX, shape=square_matrices)
def MatrixLogarithm(input):
    return _for_each(_logarithm, input)


@MatrixLogarithm.gradient
def _(op, grad):
    return _derivative(MatrixLogarithm, op.inputs[0], grad)


def logm(input, name=None):
    """The principal logarithm of complex matrices: `expm(logm(A)) = A`.

    >>> tf.linalg.logm(tf.constant([[1.0, 0.0], [0.0, 1.0]], tf.complex64)).numpy().tolist()
    [[0j, 0j], [0j, 0j]]
    """
    return execute(MatrixLogarithm, (convert_to_tensor(input),))
