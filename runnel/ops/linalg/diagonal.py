"""Diagonals and bands: matrices made from them, read from them, overwritten with them.

`k` is one diagonal (0 the main one, positive above, negative below) or the lowest and the highest
of a range. Diagonals of a range are stored as rows, the highest first, padded to the longest;
`align` is the side on which the ones above and below the main diagonal are aligned.
"""

from __future__ import annotations

import math

import numpy as np

from ...core.convert import constant_value, convert_to_tensor, operands
from ...core.dtypes import ALL, COMPLEX, bfloat16, float16, float32, float64, int32, int64
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array.creation import ZerosLike
from ..math.reduction import reduce_sum

_ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def _band(k) -> tuple[int, int]:
    """The lowest and the highest diagonal of the range `k`."""
    indices = np.ravel(k)
    if not 1 <= indices.size <= 2:
        raise ValueError(
            f"diag_index must have only one or two elements, received {indices.size} elements."
        )
    lower, upper = int(indices[0]), int(indices[-1])
    if lower > upper:
        raise ValueError(
            f"lower_diag_index must not be larger than upper_diag_index: {lower} > {upper}"
        )
    return lower, upper


def _band_within(k, rows: int, columns: int) -> tuple[int, int]:
    """The diagonals of the range `k`; ValueError if one is outside of a matrix of this size."""
    band = _band(k)
    for diagonal, which in zip(band, ("lower", "upper"), strict=True):
        if diagonal and not -rows < diagonal < columns:
            raise ValueError(
                f"{which}_diag_index is out of bound: {diagonal}. It must be between "
                f"{-rows} and {columns}"
            )
    return band


def _length(diagonal: int, rows: int, columns: int) -> int:
    return max(min(rows + min(diagonal, 0), columns - max(diagonal, 0)), 0)


def _longest(lower: int, upper: int, rows: int, columns: int) -> int:
    return max(min(rows + min(upper, 0), columns - max(lower, 0)), 0)


def _check_align(align: str) -> None:
    if align not in _ALIGNMENTS:
        raise ValueError(
            f"Value for attr 'align' of \"{align}\" is not in the list of allowed values: "
            + ", ".join(f'"{each}"' for each in _ALIGNMENTS)
        )


def _rows_of_band(lower: int, upper: int, rows: int, columns: int, align: str):
    """Yield each diagonal, highest first, and the slice of its elements in its stored row."""
    longest = _longest(lower, upper, rows, columns)
    above, below = align.split("_")
    for diagonal in range(upper, lower - 1, -1):
        length = _length(diagonal, rows, columns)
        left = (above if diagonal >= 0 else below) == "LEFT"
        start = 0 if left else longest - length
        yield diagonal, slice(start, start + length)


def _write_diagonal(matrix: np.ndarray, diagonal: int, values) -> None:
    """Overwrite one diagonal of a contiguous matrix or batch of matrices."""
    rows, columns = matrix.shape[-2:]
    length = _length(diagonal, rows, columns)
    flat = matrix.reshape(*matrix.shape[:-2], rows * columns)
    start = diagonal if diagonal >= 0 else -diagonal * columns
    flat[..., start : start + length * (columns + 1) : columns + 1] = values


def _write_band(matrix, diagonals, lower, upper, align):
    if lower == upper:
        _write_diagonal(matrix, lower, diagonals)
        return matrix
    rows, columns = matrix.shape[-2:]
    places = _rows_of_band(lower, upper, rows, columns, align)
    for row, (diagonal, place) in enumerate(places):
        _write_diagonal(matrix, diagonal, diagonals[..., row, place])
    return matrix


def _require_matrix(shape: TensorShape) -> None:
    if shape.rank is not None and shape.rank < 2:
        raise ValueError(f"input must be at least 2-dim, received shape: {dimensions_text(shape)}")


def _matrix_size(diagonal: TensorShape, lower, upper, num_rows, num_columns) -> tuple[int, int]:
    """The numbers of rows and columns of the matrix with these diagonals; -1: not given."""
    length = diagonal[-1]
    assert length is not None
    least_rows, least_columns = length - min(upper, 0), length + max(lower, 0)
    if num_rows == -1 and num_columns == -1:
        num_rows = num_columns = max(least_rows, least_columns)
    elif num_rows == -1:
        num_rows = least_rows
    elif num_columns == -1:
        num_columns = least_columns
    if num_rows < least_rows:
        raise ValueError(
            f"The number of rows is too small: {num_rows}, but these diagonals need {least_rows}."
        )
    if num_columns < least_columns:
        raise ValueError(
            f"The number of columns is too small: {num_columns}, but these diagonals need "
            f"{least_columns}."
        )
    if num_rows != least_rows and num_columns != least_columns:
        raise ValueError(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, "
            f"and diagonal: {num_rows} x {num_columns}, expected {least_rows} rows or "
            f"{least_columns} columns."
        )
    return int(num_rows), int(num_columns)


def _check_diagonals(diagonal: TensorShape, lower: int, upper: int) -> None:
    if diagonal.rank == 0:
        raise ValueError(
            f"diagonal must be at least 1-dim, received shape: {dimensions_text(diagonal)}"
        )
    count = upper - lower + 1
    if count > 1 and (diagonal.rank == 1 or diagonal[-2] not in (None, count)):
        raise ValueError(
            "The number of diagonals provided in the input does not match the lower_diag_index "
            f"and upper_diag_index range: expected {count} rows for k = ({lower}, {upper}), got "
            f"diagonal of shape {dimensions_text(diagonal)}."
        )


def _diag_shape(inputs, attrs):
    _check_align(attrs["align"])
    shape = inputs[0].shape
    k, num_rows, num_columns = (constant_value(each) for each in inputs[1:4])
    if shape.rank is None or k is None:
        return UNKNOWN
    lower, upper = _band(k)
    _check_diagonals(shape, lower, upper)
    batch = shape[: -1 if lower == upper else -2]
    if shape[-1] is None or num_rows is None or num_columns is None:
        return batch.concatenate([None, None])
    return batch.concatenate(_matrix_size(shape, lower, upper, int(num_rows), int(num_columns)))


@op(
    "MatrixDiagV3",
    "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
    T=ALL,
    shape=_diag_shape,
)
def MatrixDiagV3(diagonal, k, num_rows, num_cols, padding_value, *, align="RIGHT_LEFT"):
    _check_align(align)
    lower, upper = _band(k)
    shape = TensorShape.of(diagonal.shape)
    _check_diagonals(shape, lower, upper)
    size = _matrix_size(shape, lower, upper, int(num_rows), int(num_cols))
    batch = diagonal.shape[: -1 if lower == upper else -2]
    matrix = np.full((*batch, *size), padding_value, diagonal.dtype)
    return _write_band(matrix, diagonal, lower, upper, align)


@MatrixDiagV3.gradient
def _(op, grad):
    k = op.inputs[1]
    return _diag_part(grad, k, op.attrs["align"]), None, None, None, None


def _padding(value, dtype) -> Tensor:
    # The default of 0 means False for bool matrices.
    plain = dtype.is_bool and not isinstance(value, Tensor)
    return convert_to_tensor(bool(value) if plain else value, dtype)


def diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """A matrix (or batch) with the given diagonals, `padding_value` elsewhere.

    >>> tf.linalg.diag([1, 2], k=1).numpy().tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    diagonal = convert_to_tensor(diagonal)
    inputs = (
        diagonal,
        convert_to_tensor(k, int32),
        convert_to_tensor(num_rows, int32),
        convert_to_tensor(num_cols, int32),
        _padding(padding_value, diagonal.dtype),
    )
    return execute(MatrixDiagV3, inputs, {"align": align})


def _diag_part_shape(inputs, attrs):
    _check_align(attrs["align"])
    shape, k = inputs[0].shape, constant_value(inputs[1])
    _require_matrix(shape)
    if shape.rank is None or k is None:
        return UNKNOWN
    rows, columns = shape[-2:]
    lower, upper = _band(k)
    longest = None
    if rows is not None and columns is not None:
        _band_within(k, rows, columns)
        longest = _longest(lower, upper, rows, columns)
    count = [] if lower == upper else [upper - lower + 1]
    return shape[:-2].concatenate([*count, longest])


@op(
    "MatrixDiagPartV3",
    "input: T, k: int32, padding_value: T -> diagonal: T",
    T=ALL,
    shape=_diag_part_shape,
)
def MatrixDiagPartV3(input, k, padding_value, *, align="RIGHT_LEFT"):
    _check_align(align)
    _require_matrix(TensorShape.of(input.shape))
    rows, columns = input.shape[-2:]
    lower, upper = _band_within(k, rows, columns)
    if lower == upper:
        return np.diagonal(input, lower, -2, -1)
    longest = _longest(lower, upper, rows, columns)
    count = upper - lower + 1
    band = np.full((*input.shape[:-2], count, longest), padding_value, input.dtype)
    for row, (index, place) in enumerate(_rows_of_band(lower, upper, rows, columns, align)):
        band[..., row, place] = np.diagonal(input, index, -2, -1)
    return band


@MatrixDiagPartV3.gradient
def _(op, grad):
    matrix, k = op.inputs[:2]
    zeros = execute(ZerosLike, (matrix,))
    return execute(MatrixSetDiagV3, (zeros, grad, k), {"align": op.attrs["align"]}), None, None


def _diag_part(matrix: Tensor, k: Tensor, align: str) -> Tensor:
    """The diagonals of a matrix, shorter ones zero-padded."""
    zero = convert_to_tensor(0, matrix.dtype)
    return execute(MatrixDiagPartV3, (matrix, k, zero), {"align": align})


def diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """The diagonals of a matrix or of a batch of matrices.

    >>> tf.linalg.diag_part([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 4], dtype=int32)>
    """
    input = convert_to_tensor(input)
    padding = _padding(padding_value, input.dtype)
    return execute(
        MatrixDiagPartV3, (input, convert_to_tensor(k, int32), padding), {"align": align}
    )


def _set_diag_shape(inputs, attrs):
    _check_align(attrs["align"])
    matrix, diagonal, k = inputs[0].shape, inputs[1].shape, constant_value(inputs[2])
    _require_matrix(matrix)
    if matrix.rank is None or k is None:
        return matrix
    rows, columns = matrix[-2:]
    lower, upper = _band(k)
    longest = None
    if rows is not None and columns is not None:
        _band_within(k, rows, columns)
        longest = _longest(lower, upper, rows, columns)
    count = [] if lower == upper else [upper - lower + 1]
    expected = matrix[:-2].concatenate([*count, longest])
    if not expected.is_compatible_with(diagonal):
        raise ValueError(
            f"The diagonals to set for k = ({lower}, {upper}) must have the shape "
            f"{dimensions_text(expected)}: the first dimensions of input, then the number of "
            "diagonals if there are several, then the length of the longest. Input shape: "
            f"{dimensions_text(matrix)}, diagonal shape: {dimensions_text(diagonal)}"
        )
    return matrix


@op(
    "MatrixSetDiagV3",
    "input: T, diagonal: T, k: int32 -> output: T",
    T=ALL,
    shape=_set_diag_shape,
)
def MatrixSetDiagV3(input, diagonal, k, *, align="RIGHT_LEFT"):
    _check_align(align)
    _require_matrix(TensorShape.of(input.shape))
    rows, columns = input.shape[-2:]
    lower, upper = _band_within(k, rows, columns)
    count = () if lower == upper else (upper - lower + 1,)
    expected = (*input.shape[:-2], *count, _longest(lower, upper, rows, columns))
    if diagonal.shape != expected:
        raise ValueError(f"The diagonals to set must have the shape {expected}.")
    return _write_band(np.array(input, order="C"), diagonal, lower, upper, align)


@MatrixSetDiagV3.gradient
def _(op, grad):
    _, diagonal, k = op.inputs
    align = op.attrs["align"]
    rest = None
    if op.needs(0):
        zeros = execute(ZerosLike, (diagonal,))
        rest = execute(MatrixSetDiagV3, (grad, zeros, k), {"align": align})
    return rest, _diag_part(grad, k, align) if op.needs(1) else None, None


def set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """A matrix (or batch) with some of its diagonals replaced.

    >>> tf.linalg.set_diag([[1, 2], [3, 4]], [7, 8]).numpy().tolist()
    [[7, 2], [3, 8]]
    """
    input, diagonal = operands(input, diagonal)
    inputs = (input, diagonal, convert_to_tensor(k, int32))
    return execute(MatrixSetDiagV3, inputs, {"align": align})


def trace(x, name=None):
    """The sum of the main diagonal of each matrix.

    >>> tf.linalg.trace([[1, 2], [3, 4]])
    <tf.Tensor: shape=(), dtype=int32, numpy=5>
    """
    return reduce_sum(diag_part(x), [-1])


def _band_part_shape(inputs, attrs):
    shape = inputs[0].shape
    _require_matrix(shape)
    for limit, what in ((inputs[1], "num_lower"), (inputs[2], "num_upper")):
        if limit.shape.rank not in (None, 0):
            raise ValueError(f"{what} must be scalar, got shape {dimensions_text(limit.shape)}")
    return shape


@op(
    "MatrixBandPart",
    "input: T, num_lower: Tindex, num_upper: Tindex -> band: T",
    T=ALL,
    Tindex={int32, int64},
    shape=_band_part_shape,
)
def MatrixBandPart(input, num_lower, num_upper):
    _require_matrix(TensorShape.of(input.shape))
    rows, columns = input.shape[-2:]
    if num_lower.ndim or num_upper.ndim:
        raise ValueError("num_lower and num_upper must be scalars.")
    if num_lower > rows:
        raise ValueError(
            f"num_lower must be negative or less or equal to number of rows ({rows}) got: "
            f"{num_lower}"
        )
    if num_upper > columns:
        raise ValueError(
            f"num_upper must be negative or less or equal to number of columns ({columns}) got: "
            f"{num_upper}"
        )
    keep = np.ones((rows, columns), bool)
    if num_lower >= 0:
        keep &= np.tri(columns, rows, int(num_lower), bool).T
    if num_upper >= 0:
        keep &= np.tri(rows, columns, int(num_upper), bool)
    return np.where(keep, input, np.zeros((), input.dtype))


@MatrixBandPart.gradient
def _(op, grad):
    return execute(MatrixBandPart, (grad, *op.inputs[1:])), None, None


def band_part(input, num_lower, num_upper, name=None):
    """A band of `num_lower` diagonals below and `num_upper` above the main one, else zeros.

    A negative number keeps the entire triangle: `band_part(x, -1, 0)` is the lower one.

    >>> tf.linalg.band_part([[1, 2], [3, 4]], -1, 0).numpy().tolist()
    [[1, 0], [3, 4]]
    """
    if not isinstance(num_lower, Tensor):
        kind = num_upper.dtype if isinstance(num_upper, Tensor) else int32
        num_lower = convert_to_tensor(num_lower, kind)
    if not isinstance(num_upper, Tensor):
        num_upper = convert_to_tensor(num_upper, num_lower.dtype)
    return execute(MatrixBandPart, (convert_to_tensor(input), num_lower, num_upper))


_TENSOR_DIAG = COMPLEX | {bfloat16, float16, float32, float64, int32, int64}


def _tensor_diag_shape(inputs, attrs):
    shape = inputs[0].shape
    if shape.rank == 0:
        raise ValueError("Input must be at least rank 1, got 0")
    return shape.concatenate(shape)


@op("Diag", "diagonal: T -> output: T", T=_TENSOR_DIAG, shape=_tensor_diag_shape)
def Diag(diagonal):
    if not diagonal.ndim:
        raise ValueError("Input must be at least rank 1, got 0")
    size = diagonal.size
    matrix = np.zeros((size, size), diagonal.dtype)
    _write_diagonal(matrix, 0, diagonal.ravel())
    return matrix.reshape(diagonal.shape * 2)


@Diag.gradient
def _(op, grad):
    return execute(DiagPart, (grad,))


def tensor_diag(diagonal, name=None):
    """A tensor of twice the rank with `diagonal[i...]` at [i..., i...], zeros elsewhere.

    >>> tf.linalg.tensor_diag([1, 2]).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    return execute(Diag, (convert_to_tensor(diagonal),))


def _tensor_diag_part_shape(inputs, attrs):
    shape = inputs[0].shape
    if shape.rank is None:
        return UNKNOWN
    if shape.rank % 2:
        raise ValueError(
            "The rank of the tensor should be even and positive, got shape "
            + dimensions_text(shape)
        )
    half = shape.rank // 2
    for axis in range(half):
        a, b = shape[axis], shape[axis + half]
        if a != b and a is not None and b is not None:
            raise ValueError(
                f"Invalid shape {dimensions_text(shape)}: dimensions {axis} and {axis + half} do "
                "not match."
            )
    return shape[:half].merge_with(shape[half:])


@op("DiagPart", "input: T -> diagonal: T", T=_TENSOR_DIAG, shape=_tensor_diag_part_shape)
def DiagPart(input):
    half = input.ndim // 2
    shape = input.shape[:half]
    if input.shape != shape * 2:
        raise ValueError("The first half of the dimensions must equal the second one.")
    size = math.prod(shape)
    return np.diagonal(input.reshape(size, size)).reshape(shape)


@DiagPart.gradient
def _(op, grad):
    return execute(Diag, (grad,))


def tensor_diag_part(input, name=None):
    """The entries at [i..., i...] of a tensor of even rank.

    >>> tf.linalg.tensor_diag_part([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 4], dtype=int32)>
    """
    return execute(DiagPart, (convert_to_tensor(input),))
