"""Matmuls of sparse and dense matrices."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import COMPLEX, FLOATING, float32, int32, int64
from ...core.op import execute, op
from ...core.shape_rules import require_rank
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array import gathering, joining, ordering
from ..array.arguments import INDEX
from ..math import complex as complex_parts, reduction
from . import positions
from .sparse_tensor import SparseTensor

# From this many multiplications on, conversion to CSR is profitable.
_LARGE = 4096


def _product_shape(inputs, attrs):
    indices, _, shape, b = inputs
    require_rank(indices, 2, "a_indices")
    require_rank(b, 2, "b")
    sizes = constant_value(shape)
    if sizes is not None and len(sizes) != 2:
        raise ValueError(f"Tensor 'a_shape' must have 2 elements, got {len(sizes)}")
    rows, inner = (None, None) if sizes is None else (int(size) for size in sizes)
    columns, other = (None, None)
    if b.shape.rank == 2:
        other, columns = b.shape
    if attrs["adjoint_a"]:
        rows, inner = inner, rows
    if attrs["adjoint_b"]:
        columns, other = other, columns
    if None not in (inner, other) and inner != other:
        raise ValueError(
            "Cannot multiply A and B because inner dimension does not match: "
            f"{inner} vs. {other}.  Did you forget a transpose?"
        )
    return TensorShape([rows, columns])


@op(
    "SparseTensorDenseMatMul",
    "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T",
    T=FLOATING | COMPLEX | {int32, int64},
    Tindices=INDEX,
    shape=_product_shape,
)
def SparseTensorDenseMatMul(a_indices, a_values, a_shape, b, *, adjoint_a=False, adjoint_b=False):
    if len(a_shape) != 2 or b.ndim != 2:
        raise ValueError("a and b must be matrices")
    positions.require_inside(a_indices, a_shape)
    rows, columns = a_indices.T
    (height, width), kind = a_shape.tolist(), a_values.dtype
    if adjoint_a:
        rows, columns, height, width = columns, rows, width, height
        a_values = np.conj(a_values)
    if adjoint_b:
        b = np.conj(b.T)
    if width != len(b):
        raise ValueError(
            "Cannot multiply A and B because inner dimension does not match: "
            f"{width} vs. {len(b)}.  Did you forget a transpose?"
        )
    if kind.itemsize == 2:
        a_values, b = a_values.astype(np.float32), b.astype(np.float32)
    if len(rows) * b.shape[1] >= _LARGE:
        from scipy.sparse import csr_array

        product = csr_array((a_values, (rows, columns)), (height, width)) @ b
    else:
        product = np.zeros((height, b.shape[1]), a_values.dtype)
        np.add.at(product, rows, a_values[:, np.newaxis] * b[columns])
    return product.astype(kind, copy=False)


@SparseTensorDenseMatMul.gradient
def _(op, grad):
    indices, values, shape, b = op.inputs
    adjoint_a, adjoint_b = op.attrs["adjoint_a"], op.attrs["adjoint_b"]
    to_b = to_values = None
    if op.needs(3):
        to_b = execute(
            SparseTensorDenseMatMul, (indices, values, shape, grad), {"adjoint_a": not adjoint_a}
        )
        to_b = _adjoint(to_b) if adjoint_b else to_b
    if op.needs(1):
        rows, columns = indices[:, 0], indices[:, 1]
        if adjoint_a:
            rows, columns = columns, rows
        factor = _adjoint(b) if adjoint_b else b
        left, right = gathering.gather(grad, rows), gathering.gather(factor, columns)
        to_values = reduction.reduce_sum(left * complex_parts.conj(right), 1)
        to_values = complex_parts.conj(to_values) if adjoint_a else to_values
    return None, to_values, None, to_b


def _adjoint(matrix):
    return ordering.transpose(matrix, conjugate=matrix.dtype.is_complex)


def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """The matmul of a sparse and a dense matrix, in either order.

    >>> tf.sparse.sparse_dense_matmul(tf.sparse.eye(2), [[1.0, 2.0], [3.0, 4.0]]).numpy().tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    if isinstance(b, SparseTensor):
        # (b a)ᴴ = aᴴ bᴴ: the sparse one is on the left again. The original does not conjugate the
        # result, and so returns the conjugate of a complex matmul.
        first = convert_to_tensor(sp_a, b.dtype)
        return ordering.transpose(sparse_dense_matmul(b, first, not adjoint_b, not adjoint_a))
    if not isinstance(sp_a, SparseTensor):
        raise TypeError(
            "Expected a SparseTensor as one of the two matrices, got "
            f"{type(sp_a).__name__} and {type(b).__name__}; tf.matmul multiplies dense ones."
        )
    b = b if isinstance(b, Tensor) else convert_to_tensor(b, sp_a.dtype)
    attrs = {"adjoint_a": bool(adjoint_a), "adjoint_b": bool(adjoint_b)}
    return execute(SparseTensorDenseMatMul, (sp_a.indices, sp_a.values, sp_a.dense_shape, b), attrs)


def sampled_addmm(
    indices, values, dense_shape, mat1, mat2, beta=1.0, alpha=1.0, output_type=float32
):
    """alpha * (mat1 @ mat2) + beta * values, at the given indices only.

    >>> found = tf.sparse.sampled_addmm([[0, 1]], [1.0], [2, 2], tf.eye(2), tf.ones([2, 2]))
    >>> found[1].numpy().tolist()
    [2.0]
    """
    indices = convert_to_tensor(indices)
    values = convert_to_tensor(values, output_type)
    dense_shape = convert_to_tensor(dense_shape)
    mat1, mat2 = convert_to_tensor(mat1, output_type), convert_to_tensor(mat2, output_type)
    batch, rows, columns = indices[:, :-2], indices[:, -2:-1], indices[:, -1:]
    left = gathering.gather_nd(mat1, joining.concat([batch, rows], 1))
    turned = ordering.transpose(mat2) if mat2.shape.rank == 2 else _swapped(mat2)
    right = gathering.gather_nd(turned, joining.concat([batch, columns], 1))
    products = reduction.reduce_sum(left * right, 1)
    return indices, products * alpha + values * beta, dense_shape


def _swapped(matrices):
    from ..linalg.matmul import matrix_transpose

    return matrix_transpose(matrices)
