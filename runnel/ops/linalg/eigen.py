"""Eigenvalues and singular values, with their vectors."""

from __future__ import annotations

import numpy as np

from ...core import errors
from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import COMPLEX, complex64, complex128, float32, float64, int32
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array.selection import boolean_mask
from ..array.shaping import expand_dims
from ..math.casting import cast
from ..math.comparison import logical_and
from ..math.complex import conj, imag, real
from ..math.division import divide_no_nan
from . import solve
from .diagonal import band_part, diag, diag_part, set_diag
from .matmul import adjoint, matmul
from .matrices import (
    MATRIX,
    columns_of,
    require_matrix,
    require_square,
    size_of_square,
    widened,
)

_NO_VECTORS = TensorShape([0])


def _eigen_shape(compute: str):
    def rule(inputs, attrs):
        shape = inputs[0].shape
        require_square(shape)
        vectors = shape if attrs[compute] else _NO_VECTORS
        if shape.rank is None:
            return [UNKNOWN, vectors]
        size = size_of_square(shape)
        if attrs[compute]:
            vectors = shape[:-2].concatenate([size, size])
        return [shape[:-2].concatenate([size]), vectors]

    return rule


def _inverse_differences(values: Tensor) -> Tensor:
    """The matrix of 1 / (values[j] - values[i]); 0 where they are equal."""
    differences = expand_dims(values, -2) - expand_dims(values, -1)
    return divide_no_nan(convert_to_tensor(1, values.dtype), differences)


@op(
    "SelfAdjointEigV2",
    "input: T -> e: T, v: T",
    T=MATRIX,
    shape=_eigen_shape("compute_v"),
)
def SelfAdjointEigV2(input, *, compute_v=True):
    matrix = widened(input)
    try:
        if compute_v:
            values, vectors = np.linalg.eigh(matrix)
        else:
            values, vectors = np.linalg.eigvalsh(matrix), np.zeros(0)
    except np.linalg.LinAlgError:
        values = np.nan
    if np.isnan(values).any():
        raise ValueError(
            "Self-adjoint eigen decomposition was not successful. The input might not be valid."
        )
    return values.astype(input.dtype, copy=False), vectors.astype(input.dtype, copy=False)


@SelfAdjointEigV2.gradient
def _(op, grad_values, grad_vectors):
    (matrix,) = op.inputs
    if op.attrs["compute_v"]:
        values, vectors = op.outputs
        turned = matmul(vectors, grad_vectors, adjoint_a=True)
        inner = _inverse_differences(values) * turned
        inner = set_diag(inner, grad_values)
        whole = matmul(vectors, matmul(inner, vectors, adjoint_b=True))
    else:
        _, vectors = eigh(matrix)
        weighted = vectors * expand_dims(grad_values, -2)
        whole = matmul(weighted, vectors, adjoint_b=True)
    # Only the lower triangle was read: it gets the gradients of both triangles.
    lower = band_part(whole + adjoint(whole), -1, 0)
    return set_diag(lower, 0.5 * diag_part(lower))


def eigh(tensor, name=None):
    """The eigenvalues (ascending) and eigenvectors (columns) of self-adjoint matrices.

    Only the lower triangle is read.

    >>> values, vectors = tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
    >>> values
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    values, vectors = execute(SelfAdjointEigV2, (convert_to_tensor(tensor),))
    return values, vectors


def eigvalsh(tensor, name=None):
    """The eigenvalues of self-adjoint matrices, in ascending order.

    >>> tf.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    inputs = (convert_to_tensor(tensor),)
    return execute(SelfAdjointEigV2, inputs, {"compute_v": False})[0]


@op(
    "Eig",
    "input: T -> e: Tout, v: Tout",
    T=COMPLEX | {float32, float64},
    shape=_eigen_shape("compute_v"),
)
def Eig(input, *, Tout, compute_v=True):
    try:
        if compute_v:
            values, vectors = np.linalg.eig(input)
        else:
            values, vectors = np.linalg.eigvals(input), np.zeros(0)
    except np.linalg.LinAlgError:
        raise ValueError(
            "Eigen decomposition was not successful. The input might not be valid."
        ) from None
    return values.astype(Tout.numpy, copy=False), vectors.astype(Tout.numpy, copy=False)


@Eig.gradient
def _(op, grad_values, grad_vectors):
    (matrix,) = op.inputs
    if op.attrs["compute_v"]:
        values, vectors = op.outputs
        turned = matmul(vectors, grad_vectors, adjoint_a=True)
        # Eigenvectors are normalized: project the gradient.
        growth = cast(real(diag_part(turned)), turned.dtype)
        gram = matmul(vectors, vectors, adjoint_a=True)
        turned -= gram * expand_dims(growth, -2)
        inner = conj(_inverse_differences(values)) * turned
        inner = set_diag(inner, grad_values)
    else:
        _, vectors = eig(matrix)
        inner = diag(grad_values)
    inner = matmul(inner, vectors, adjoint_b=True)
    return cast(solve.solve(vectors, inner, adjoint=True), matrix.dtype)


def _eig(tensor, compute_v: bool):
    tensor = convert_to_tensor(tensor)
    wide = tensor.dtype in (float64, complex128)
    attrs = {"Tout": complex128 if wide else complex64, "compute_v": compute_v}
    return execute(Eig, (tensor,), attrs)


def eig(tensor, name=None):
    """The eigenvalues and eigenvectors (columns of norm 1) of square matrices, both complex.

    >>> values, vectors = tf.linalg.eig([[2.0, 0.0], [0.0, 1.0]])
    >>> values.dtype
    tf.complex64
    """
    values, vectors = _eig(tensor, True)
    return values, vectors


def eigvals(tensor, name=None):
    """The eigenvalues of square matrices, as complex numbers.

    >>> tf.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]]).numpy().tolist()
    [(2+0j), (1+0j)]
    """
    return _eig(tensor, False)[0]


def _svd_shape(inputs, attrs):
    shape = inputs[0].shape
    require_matrix(shape)
    if shape.rank is None:
        return [UNKNOWN] * 3 if attrs["compute_uv"] else [UNKNOWN, _NO_VECTORS, _NO_VECTORS]
    rows, columns = shape[-2:]
    count = None if rows is None or columns is None else min(rows, columns)
    batch = shape[:-2]
    values = batch.concatenate([count])
    if not attrs["compute_uv"]:
        return [values, _NO_VECTORS, _NO_VECTORS]
    left, right = (rows, columns) if attrs["full_matrices"] else (count, count)
    return [values, batch.concatenate([rows, left]), batch.concatenate([columns, right])]


@op("Svd", "input: T -> s: T, u: T, v: T", T=MATRIX, shape=_svd_shape)
def Svd(input, *, compute_uv=True, full_matrices=False):
    matrix = widened(input)
    # NaN and infinity affect only the results of their own matrix of the batch.
    spoiled = ~np.isfinite(matrix).all(axis=(-1, -2))
    if spoiled.any():
        matrix = np.where(spoiled[..., None, None], 0, matrix)
    if compute_uv:
        u, s, v = np.linalg.svd(matrix, full_matrices)
        results = [s, u, v.swapaxes(-1, -2).conj()]
    else:
        results = [np.linalg.svd(matrix, compute_uv=False)]
    if spoiled.any():
        for each in results:
            each[spoiled] = np.nan
    results = [each.astype(input.dtype, copy=False) for each in results]
    return results if compute_uv else [*results, *([np.zeros(0, input.dtype)] * 2)]


@Svd.gradient
def _(op, grad_s, grad_u, grad_v):
    (matrix,) = op.inputs
    if grad_s.dtype.is_complex:
        # Singular values are real whatever their dtype.
        grad_s = cast(real(grad_s), grad_s.dtype)
    if not op.attrs["compute_uv"]:
        _, u, v = execute(Svd, (matrix,))
        return matmul(u * expand_dims(grad_s, -2), v, adjoint_b=True)
    s, u, v = op.outputs
    if op.attrs["full_matrices"]:
        _require_thin(matrix)
        size = columns_of(expand_dims(s, -2))
        u, grad_u = _thin(u, grad_u, size)
        v, grad_v = _thin(v, grad_v, size)
    turned_u = matmul(u, grad_u, adjoint_a=True)
    turned_v = matmul(v, grad_v, adjoint_a=True)
    # The rotations of U and V, by the inverse differences of the squared singular values.
    squares = _inverse_differences(s * s)
    columns = expand_dims(s, -2)
    turn_u = squares * turned_u
    turn_v = squares * turned_v
    inner = (turn_u + adjoint(turn_u)) * columns + expand_dims(s, -1) * (turn_v + adjoint(turn_v))
    inverse = divide_no_nan(convert_to_tensor(1, s.dtype), s)
    on_diagonal = grad_s
    if s.dtype.is_complex:
        phase = cast(imag(diag_part(turned_u)), s.dtype) * convert_to_tensor(1j, s.dtype)
        on_diagonal += phase * inverse
    inner += diag(on_diagonal)
    inverse = expand_dims(inverse, -2)
    # The components orthogonal to the column spaces of U and of V.
    outside_u = (grad_u - matmul(u, turned_u)) * inverse
    outside_v = (grad_v - matmul(v, turned_v)) * inverse
    left = matmul(u, inner) + outside_u
    return matmul(left, v, adjoint_b=True) + matmul(u, outside_v, adjoint_b=True)


def _require_thin(matrix: Tensor) -> None:
    rows, columns = (None, None) if matrix.shape.rank is None else matrix.shape[-2:]
    if rows is None or columns is None:
        raise NotImplementedError(
            "The gradient of svd with full_matrices=True needs to know the size of the matrices, "
            f"got shape {matrix.shape}. Use full_matrices=False."
        )
    if abs(rows - columns) > 1:
        raise NotImplementedError(
            "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True. "
            f"Received: m={min(rows, columns)} and n={max(rows, columns)} from a matrix of shape "
            f"{matrix.shape}. Use full_matrices=False."
        )


def _thin(vectors: Tensor, grad: Tensor, size) -> tuple[Tensor, Tensor]:
    """The leading columns, and their gradient: the others are their orthogonal complement."""
    first, rest = vectors[..., :size], vectors[..., size:]
    pulled = matmul(grad[..., size:], first, adjoint_a=True)
    return first, grad[..., :size] - matmul(rest, pulled)


def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """The singular value decomposition `tensor = u @ diag(s) @ adjoint(v)`.

    Returns s (descending), u and v; only s if not `compute_uv`.

    >>> s, u, v = tf.linalg.svd([[3.0, 0.0], [0.0, 4.0]])
    >>> s
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([4., 3.], dtype=float32)>
    """
    tensor = convert_to_tensor(tensor)
    attrs = {"compute_uv": bool(compute_uv), "full_matrices": bool(full_matrices)}
    s, u, v = execute(Svd, (tensor,), attrs)
    if s.dtype.is_complex:
        s = real(s)
    return (s, u, v) if compute_uv else s


def eigh_tridiagonal(
    alpha,
    beta,
    eigvals_only=True,
    select="a",
    select_range=None,
    tol=None,
    name=None,
):
    """The eigenvalues (and vectors) of a Hermitian tridiagonal matrix.

    `alpha` is the main diagonal and `beta` the one above it. `select` is "a" for all eigenvalues,
    "i" for those with indices `select_range[0]` to `select_range[1]` (ascending), "v" for those
    between the two values. They have full precision whatever `tol` is.

    >>> tf.linalg.eigh_tridiagonal([2.0, 2.0], [1.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 3.], dtype=float32)>
    """
    alpha, beta = convert_to_tensor(alpha), convert_to_tensor(beta)
    if alpha.dtype is not beta.dtype:
        raise ValueError(
            f"'alpha' and 'beta' must have the same type, got {alpha.dtype.name} and "
            f"{beta.dtype.name}."
        )
    if select not in ("a", "i", "v"):
        raise ValueError(f"'select must have a value in {{'a', 'i', 'v'}}, got {select!r}.")
    # eigh reads the lower triangle only.
    matrix = diag(alpha) if alpha.shape == beta.shape == _NO_VECTORS else _tridiagonal(alpha, beta)
    values, vectors = (eigvalsh(matrix), None) if eigvals_only else eigh(matrix)
    values = real(values)
    if select == "i":
        first, last = _range_of(select_range, int32, "index range", closed=True)
        values = values[first : last + 1]
        vectors = None if vectors is None else vectors[:, first : last + 1]
    elif select == "v":
        lowest, highest = _range_of(select_range, values.dtype, "interval", closed=False)
        inside = logical_and(values >= lowest, values <= highest)
        values = boolean_mask(values, inside)
        vectors = None if vectors is None else boolean_mask(vectors, inside, axis=1)
    return values if vectors is None else (values, vectors)


def _tridiagonal(alpha: Tensor, beta: Tensor) -> Tensor:
    return set_diag(diag(conj(beta), k=-1), alpha)


def _range_of(select_range, dtype, what: str, closed: bool) -> tuple[Tensor, Tensor]:
    """Both ends of a range as tensors; InvalidArgumentError where the range is empty."""
    first, last = (convert_to_tensor(each, dtype) for each in select_range)
    a, b = constant_value(first), constant_value(last)
    if a is not None and b is not None and (a > b or (a == b and not closed)):
        raise errors.InvalidArgumentError(
            None, None, f"Got empty {what} in select_range: from {a} to {b}."
        )
    return first, last
