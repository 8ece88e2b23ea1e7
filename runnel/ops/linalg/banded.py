"""Banded matrices: triangular bands and tridiagonal matrices."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import COMPLEX, float32, float64
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.tensor import Tensor
from ..array import creation
from ..array.gathering import gather
from ..array.joining import concat, stack
from ..array.shaping import expand_dims, reshape, shape, squeeze
from ..broadcasting import sum_to
from ..math.casting import cast
from ..math.clipping import clip_by_value
from ..math.comparison import logical_and
from ..math.complex import conj
from ..math.reduction import reduce_sum
from .diagonal import diag_part
from .matmul import batch_shape, matmul, matrix_transpose
from .matrices import MATRIX, each_matrix, matrix_operands, same_batch, widened
from .solve import broadcast_batches, require_same_rows

_TRIDIAGONAL = COMPLEX | {float32, float64}


def _banded_shape(inputs, attrs):
    bands, rhs = inputs[0].shape, inputs[1].shape
    for index, each in enumerate((bands, rhs)):
        if each.rank is not None and each.rank < 2:
            raise ValueError(f"In[{index}] ndims must be >= 2: {each.rank}")
        if each.rank is not None and 0 in each.as_list():
            raise ValueError(
                f"In[{index}] must not be an empty tensor, got shape {dimensions_text(each)}"
            )
    if bands.rank is None or rhs.rank is None:
        return UNKNOWN
    require_same_rows(bands, rhs, bands[-1])
    return batch_shape(bands, rhs).concatenate(rhs[-2:])


@op(
    "BandedTriangularSolve",
    "matrix: T, rhs: T -> output: T",
    T=MATRIX,
    shape=_banded_shape,
)
def BandedTriangularSolve(matrix, rhs, *, lower=True, adjoint=False):
    from scipy.linalg import get_lapack_funcs

    if matrix.ndim < 2 or rhs.ndim < 2 or matrix.shape[-1] != rhs.shape[-2]:
        raise ValueError("The bands and rhs do not fit together.")
    if not matrix.size or not rhs.size:
        raise ValueError("The bands and rhs must not be empty.")
    # Bands beyond the size of the matrix are outside of it.
    used = min(matrix.shape[-2], matrix.shape[-1])
    matrix = matrix[..., :used, :] if lower else matrix[..., -used:, :]
    left, right = broadcast_batches(widened(matrix), widened(rhs))
    left = _by_column(left, lower)
    solution = np.empty_like(right, order="C")
    (tbtrs,) = get_lapack_funcs(("tbtrs",), (left, right))
    flags = {"uplo": "L" if lower else "U", "trans": "C" if adjoint else "N"}
    pairs = zip(each_matrix(left), each_matrix(right), strict=True)
    for result, (bands, b) in zip(each_matrix(solution), pairs, strict=True):
        result[...], info = tbtrs(bands, b, **flags)
        if info > 0:
            raise ValueError("Input matrix is not invertible.")
    return solution.astype(rhs.dtype, copy=False)


def _by_column(bands, lower):
    """The bands in LAPACK's band storage: each element in its column of the matrix."""
    moved = np.zeros_like(bands, order="C")
    count, size = bands.shape[-2:]
    for row in range(count):
        if lower:
            moved[..., row, : size - row] = bands[..., row, row:]
        else:
            above = count - 1 - row
            moved[..., row, above:] = bands[..., row, : size - above]
    return moved


@BandedTriangularSolve.gradient
def _(op, grad):
    bands, rhs = op.inputs
    (solution,) = op.outputs
    lower, adjoint = op.attrs["lower"], op.attrs["adjoint"]
    grad_rhs = banded_triangular_solve(bands, grad, lower=lower, adjoint=not adjoint)
    grad_bands = None
    if op.needs(0):
        left, right = (solution, grad_rhs) if adjoint else (grad_rhs, solution)
        whole = -matmul(left, right, adjoint_b=True)
        grad_bands = sum_to(_bands_of(whole, bands, lower), bands)
    return grad_bands, sum_to(grad_rhs, rhs)


def _bands_of(matrix: Tensor, bands: Tensor, lower: bool) -> Tensor:
    """The diagonals of a matrix in the storage of `bands`, padded with zeros."""
    count, size = shape(bands)[-2], shape(bands)[-1]
    offset = -creation.range(count) if lower else creation.range(count - 1, -1, -1)
    row = creation.range(size)
    column = row + expand_dims(offset, -1)
    inside = logical_and(column >= 0, column < size)
    flat = reshape(matrix, concat([shape(matrix)[:-2], [-1]], 0))
    elements = gather(flat, clip_by_value(row * size + column, 0, size * size - 1), axis=-1)
    return elements * cast(inside, matrix.dtype)


def banded_triangular_solve(bands, rhs, lower=True, adjoint=False, name=None):
    """X with `A @ X = rhs`, where A is a triangular band matrix.

    `bands` has the main diagonal and those below it (above it if not `lower`) as rows, from the
    highest to the lowest. The column index of an element is its row index in A.

    >>> tf.linalg.banded_triangular_solve([[2.0, 1.0], [0.0, 1.0]], [[2.0], [3.0]]).numpy()
    array([[1.],
           [2.]], dtype=float32)
    """
    attrs = {"lower": bool(lower), "adjoint": bool(adjoint)}
    return execute(BandedTriangularSolve, matrix_operands(bands, rhs), attrs)


def _tridiagonal_shape(inputs, attrs):
    diagonals, rhs = inputs[0].shape, inputs[1].shape
    same_batch(inputs, attrs)
    if diagonals.rank is None or rhs.rank is None:
        return rhs
    if diagonals[-2] not in (None, 3):
        raise ValueError(f"Expected diagonals to have 3 rows, got shape {diagonals}.")
    require_same_rows(diagonals, rhs, diagonals[-1])
    return rhs


@op(
    "TridiagonalSolve",
    "diagonals: T, rhs: T -> output: T",
    T=_TRIDIAGONAL,
    shape=_tridiagonal_shape,
)
def TridiagonalSolve(diagonals, rhs, *, partial_pivoting=True, perturb_singular=False):
    if diagonals.ndim != rhs.ndim or diagonals.shape[-2] != 3:
        raise ValueError("The diagonals and rhs do not fit together.")
    if diagonals.shape[:-2] != rhs.shape[:-2] or diagonals.shape[-1] != rhs.shape[-2]:
        raise ValueError("The diagonals and rhs do not fit together.")
    solution = np.empty_like(rhs, order="C")
    if not solution.size:
        return solution
    pairs = zip(each_matrix(diagonals), each_matrix(rhs), strict=True)
    for result, (bands, b) in zip(each_matrix(solution), pairs, strict=True):
        if partial_pivoting and not perturb_singular:
            result[...] = _solve_tridiagonal(bands, b)
        else:
            result[...] = _eliminate(bands, b, partial_pivoting)
    return solution


def _solve_tridiagonal(bands, rhs):
    """One system through LAPACK; NaN where the matrix is singular."""
    from scipy.linalg import get_lapack_funcs

    above, middle, below = bands
    if len(middle) == 1:
        return rhs / middle if middle[0] else np.full_like(rhs, np.nan)
    (gtsv,) = get_lapack_funcs(("gtsv",), (bands, rhs))
    *_, solution, info = gtsv(below[1:], middle, above[:-1], rhs)
    return solution if info == 0 else np.full_like(rhs, np.nan)


def _eliminate(bands, rhs, pivoting):
    """Gaussian elimination of one system; with partial pivoting zero pivots become tiny ones."""
    above, middle, below = (row.copy() for row in bands)
    second, x = np.zeros_like(above), rhs.copy()
    above[-1] = 0
    size, tiny = len(middle), np.finfo(middle.dtype).tiny
    for i in range(size):
        if pivoting and i + 1 < size and abs(below[i + 1]) > abs(middle[i]):
            middle[i], below[i + 1] = below[i + 1], middle[i]
            above[i], middle[i + 1] = middle[i + 1], above[i]
            second[i], above[i + 1] = above[i + 1], 0
            x[[i, i + 1]] = x[[i + 1, i]]
        if pivoting and abs(middle[i]) < tiny:
            middle[i] = tiny
        if i + 1 < size:
            factor = below[i + 1] / middle[i]
            middle[i + 1] -= factor * above[i]
            above[i + 1] -= factor * second[i]
            x[i + 1] -= factor * x[i]
    for i in reversed(range(size)):
        if i + 1 < size:
            x[i] -= above[i] * x[i + 1]
        if i + 2 < size:
            x[i] -= second[i] * x[i + 2]
        x[i] /= middle[i]
    return x if np.isfinite(x).all() else np.full_like(x, np.nan)


def _earlier(rows: Tensor, axis: int) -> Tensor:
    """Shift rows up by one, with zeros in the last."""
    return _moved(rows, axis, slice(1, None), slice(-1, None), last=True)


def _later(rows: Tensor, axis: int) -> Tensor:
    """Shift rows down by one, with zeros in the first."""
    return _moved(rows, axis, slice(None, -1), slice(None, 1), last=False)


def _moved(rows: Tensor, axis: int, kept, gone, last: bool) -> Tensor:
    behind = (slice(None),) * (-1 - axis)
    zeros = execute(creation.ZerosLike, (rows[(..., gone, *behind)],))
    parts = [rows[(..., kept, *behind)], zeros]
    return concat(parts if last else parts[::-1], axis)


def _adjoint_diagonals(above: Tensor, middle: Tensor, below: Tensor) -> list[Tensor]:
    """The diagonals of the adjoint of a tridiagonal matrix."""
    return [conj(_earlier(below, -1)), conj(middle), conj(_later(above, -1))]


def _diagonals_of_product(left: Tensor, right: Tensor) -> list[Tensor]:
    """The three diagonals of `left @ adjoint(right)`."""
    right = conj(right)
    others = [_earlier(right, -2), right, _later(right, -2)]
    return [reduce_sum(left * other, axis=-1) for other in others]


@TridiagonalSolve.gradient
def _(op, grad):
    diagonals = op.inputs[0]
    (solution,) = op.outputs
    bands = [diagonals[..., row, :] for row in range(3)]
    turned = stack(_adjoint_diagonals(*bands), axis=-2)
    grad_rhs = execute(TridiagonalSolve, (turned, grad), op.given)
    if not op.needs(0):
        return None, grad_rhs
    return -stack(_diagonals_of_product(grad_rhs, solution), axis=-2), grad_rhs


def _tridiagonal_matmul_shape(inputs, attrs):
    rhs = inputs[3].shape
    for diagonal, which in zip(inputs, ("super", "main", "sub"), strict=False):
        same_batch((inputs[0], diagonal), attrs)
        found = diagonal.shape
        if found.rank is None or rhs.rank is None:
            continue
        if found.rank != rhs.rank:
            raise ValueError(
                f"All input tensors must have the same rank. Got shapes {found} and {rhs}."
            )
        expected = rhs[:-2].concatenate([1, rhs[-2]])
        if not found.is_compatible_with(expected):
            raise ValueError(f"Invalid {which}diagonal shape: expected {expected}, got {found}.")
    return rhs


@op(
    "TridiagonalMatMul",
    "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T",
    T=_TRIDIAGONAL,
    shape=_tridiagonal_matmul_shape,
)
def TridiagonalMatMul(superdiag, maindiag, subdiag, rhs):
    expected = (*rhs.shape[:-2], 1, rhs.shape[-2]) if rhs.ndim > 1 else None
    if any(each.shape != expected for each in (superdiag, maindiag, subdiag)):
        raise ValueError("The diagonals and rhs do not fit together.")
    above, middle, below = (each[..., 0, :, None] for each in (superdiag, maindiag, subdiag))
    product = middle * rhs
    product[..., :-1, :] += above[..., :-1, :] * rhs[..., 1:, :]
    product[..., 1:, :] += below[..., 1:, :] * rhs[..., :-1, :]
    return product


@TridiagonalMatMul.gradient
def _(op, grad):
    *diagonals, rhs = op.inputs
    turned = _adjoint_diagonals(*diagonals)
    grads = [expand_dims(each, -2) for each in _diagonals_of_product(grad, rhs)]
    return [*grads, execute(TridiagonalMatMul, (*turned, grad))]


def _compact(diagonals, form: str) -> Tensor:
    """The three diagonals as rows of one tensor: above, main, below."""
    if form == "compact":
        return convert_to_tensor(diagonals)
    if form == "matrix":
        matrix = convert_to_tensor(diagonals)
        if matrix.shape.rank is not None:
            rows, columns = matrix.shape[-2:]
            if rows != columns and None not in (rows, columns):
                raise ValueError(
                    f"Expected last two dimensions of diagonals to be same, got {columns} and "
                    f"{rows}"
                )
        return diag_part(matrix, k=(-1, 1), align="LEFT_RIGHT")
    if form != "sequence":
        raise ValueError(
            f"Unrecognized diagonals_format: {form}. Use 'compact', 'sequence' or 'matrix'."
        )
    if not isinstance(diagonals, list | tuple) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    above, middle, below = (convert_to_tensor(each) for each in diagonals)
    return stack([_padded(above, middle, "super"), middle, _padded(below, middle, "sub")], axis=-2)


def _padded(diagonal: Tensor, middle: Tensor, which: str) -> Tensor:
    """A sub- or superdiagonal zero-padded to the length of the main diagonal."""
    if diagonal.shape.rank is None or middle.shape.rank is None:
        return diagonal
    if not diagonal.shape[:-1].is_compatible_with(middle.shape[:-1]):
        raise ValueError(
            "Tensors representing the three diagonals must have the same shape, except for the "
            f"last dimension, got {diagonal.shape} beside {middle.shape}."
        )
    length, size = diagonal.shape[-1], middle.shape[-1]
    if length == size or length is None or size is None:
        return diagonal
    if length != size - 1:
        raise ValueError(
            f"Expected {which}diagonal to be have length {size} or {size - 1}, got {length}."
        )
    zeros = execute(creation.ZerosLike, (middle[..., :1],))
    return concat([diagonal, zeros] if which == "super" else [zeros, diagonal], -1)


def tridiagonal_solve(
    diagonals,
    rhs,
    diagonals_format="compact",
    transpose_rhs=False,
    conjugate_rhs=False,
    name=None,
    partial_pivoting=True,
    perturb_singular=False,
):
    """X with `A @ X = rhs` for tridiagonal matrices A.

    `diagonals` are the three diagonals as rows, from the highest to the lowest ("compact": the last
    element of the first row and the first of the last are not used), as a sequence of three tensors
    ("sequence"), or as full matrices ("matrix"). Singular matrices give NaN.

    >>> diagonals = [[1.0, 0.0], [2.0, 2.0], [0.0, 0.0]]
    >>> tf.linalg.tridiagonal_solve(diagonals, [4.0, 2.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 1. ], dtype=float32)>
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is.")
    diagonals, rhs = matrix_operands(_compact(diagonals, diagonals_format), rhs)
    bands, known = diagonals.shape, rhs.shape
    vector = False
    if bands.rank is not None:
        if bands.rank < 2:
            raise ValueError(f"Expected diagonals to have rank at least 2, got {bands.rank}")
        if bands[-2] not in (None, 3):
            raise ValueError(f"Expected 3 diagonals got {bands[-2]}")
        if known.rank not in (None, bands.rank - 1, bands.rank):
            raise ValueError(
                f"Expected the rank of rhs to be {bands.rank - 1} or {bands.rank}, got {known.rank}"
            )
        vector = known.rank == bands.rank - 1
    if vector:
        rhs = expand_dims(rhs, -1)
    if transpose_rhs and not vector:
        rhs = matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = conj(rhs)
    if bands.rank is not None and rhs.shape.rank is not None:
        size, rows = bands[-1], rhs.shape[-2]
        if size != rows and None not in (size, rows):
            raise ValueError(
                "Expected number of left-hand sided and right-hand sides to be equal, got "
                f"{size} and {rows}"
            )
    flags = {"partial_pivoting": bool(partial_pivoting), "perturb_singular": bool(perturb_singular)}
    solution = execute(TridiagonalSolve, (diagonals, rhs), flags)
    return squeeze(solution, -1) if vector else solution


def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """The matmul `A @ rhs` for tridiagonal matrices A, in the formats of `tridiagonal_solve`.

    >>> diagonals = [[1.0, 0.0], [2.0, 2.0], [0.0, 3.0]]
    >>> tf.linalg.tridiagonal_matmul(diagonals, [[1.0], [2.0]]).numpy().tolist()
    [[4.0], [7.0]]
    """
    diagonals, rhs = matrix_operands(_compact(diagonals, diagonals_format), rhs)
    bands = [expand_dims(diagonals[..., row, :], -2) for row in range(3)]
    return execute(TridiagonalMatMul, (*bands, rhs))
