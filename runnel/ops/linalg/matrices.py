"""Shape checks and dtypes of all matrix operations."""

from __future__ import annotations

import numpy as np

from ...core.convert import operands
from ...core.dtypes import COMPLEX, float16, float32, float64
from ...core.shape_rules import UNKNOWN
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...runtime.half_precision import is_half
from ..array.shaping import shape as shape_of

# The dtypes of the decompositions and solvers.
MATRIX = COMPLEX | {float16, float32, float64}


def require_matrix(shape: TensorShape, index: int = 0) -> None:
    """Raise ValueError unless the shape has (or may have) at least two dimensions."""
    if shape.rank is not None and shape.rank < 2:
        raise ValueError(f"Input tensor {index} must have rank >= 2, got {shape.rank}")


def require_square(shape: TensorShape, message: str = "Input matrix must be square.") -> None:
    """Raise ValueError unless the shape is (or may be) that of square matrices."""
    require_matrix(shape)
    if shape.rank is None:
        return
    rows, columns = shape[-2:]
    if rows != columns and rows is not None and columns is not None:
        raise ValueError(f"{message} Got {rows} rows and {columns} columns.")


def square_matrices(inputs, attrs) -> TensorShape:
    """The shape rule of an op from square matrices to square matrices."""
    shape = inputs[0].shape
    require_square(shape)
    if shape.rank is None:
        return UNKNOWN
    size = size_of_square(shape)
    return shape[:-2].concatenate([size, size])


def size_of_square(shape: TensorShape) -> int | None:
    """The number of rows of a square matrix of known rank."""
    return shape[-1] if shape[-2] is None else shape[-2]


def same_batch(inputs, attrs) -> None:
    """Raise ValueError unless two inputs are matrices with the same batch dimensions."""
    first, second = inputs[0].shape, inputs[1].shape
    require_matrix(first)
    if first.rank is None or second.rank is None:
        return
    if first.rank != second.rank:
        raise ValueError(
            f"All input tensors must have the same rank. Got shapes {first} and {second}."
        )
    if not first[:-2].is_compatible_with(second[:-2]):
        raise ValueError(
            "All input tensors must have the same outer dimensions. Got shapes "
            f"{first} and {second}."
        )


def columns_of(matrix: Tensor) -> int | Tensor:
    """The number of columns: an int if statically known, else a tensor."""
    known = None if matrix.shape.rank is None else matrix.shape[-1]
    return shape_of(matrix)[-1] if known is None else known


def widened(array) -> np.ndarray:
    """The array in a dtype that LAPACK supports: half precision becomes float32."""
    return array.astype(np.float32) if is_half(array) else array


def each_matrix(array: np.ndarray) -> np.ndarray:
    """Flatten the batch dimensions into one."""
    # The count is explicit because -1 is ambiguous for empty matrices.
    count = int(np.prod(array.shape[:-2], dtype=np.int64))
    return array.reshape(count, *array.shape[-2:])


def matrix_operands(matrix, rhs) -> tuple[Tensor, Tensor]:
    """A matrix and a right-hand side as tensors; a list or array takes the other's dtype."""
    return operands(matrix, rhs, lenient=True)
