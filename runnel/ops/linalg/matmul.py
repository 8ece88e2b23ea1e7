"""Matmuls of matrices and vectors."""

from __future__ import annotations

import math

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import (
    COMPLEX,
    FLOATING,
    as_dtype,
    float32,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.shapes import TensorShape, broadcast_shapes
from ...core.tensor import Tensor
from ...runtime.engine_selection import accelerated
from ...runtime.half_precision import is_half, rounded_to_half
from ..array import creation
from ..array.joining import concat, stack
from ..array.ordering import transpose
from ..array.shaping import expand_dims, rank as rank_of, reshape, shape, size, squeeze
from ..broadcasting import sum_to
from ..math.casting import cast
from ..math.comparison import equal
from ..math.complex import conj
from ..math.division import floormod
from ..math.reduction import reduce_any, reduce_prod
from ..math.sorting import argsort

_MATRICES = FLOATING | COMPLEX | {int32, int64, uint8, uint16, uint32, uint64}


@accelerated("half_matmul", 32_768)
def products_of_halves(a, b):
    """The (batched) matmul of half precision, accumulated in float32 and rounded once."""
    return rounded_to_half(products_of(a.astype(np.float32), b.astype(np.float32)), a.dtype)


def multiplied(a, b):
    """The matmul or batched matmul."""
    return products_of_halves(a, b) if is_half(a) else products_of(a, b)


def _mismatch(a: TensorShape, b: TensorShape) -> ValueError:
    return ValueError(
        f"Matrix size-incompatible: In[0]: {dimensions_text(a)}, In[1]: {dimensions_text(b)}. The "
        "rows of the first must be as long as the columns of the second (transpose_a, transpose_b)."
    )


def _matmul_shape(inputs, attrs):
    a, b = inputs[0].shape, inputs[1].shape
    if a.rank is not None and b.rank is not None and a.rank != b.rank:
        raise ValueError(
            f"In[0] and In[1] has different ndims: {dimensions_text(a)} vs. {dimensions_text(b)}. "
            "tf.linalg.matvec multiplies a matrix by a vector; tf.expand_dims adds an axis."
        )
    for each in (a, b):
        if each.rank not in (None, 2):
            raise ValueError(
                f"In[0] and In[1] ndims must be == 2: {each.rank}. tf.linalg.matvec multiplies "
                "a matrix by a vector, tf.tensordot two vectors."
            )
    rows, inner = (a[1], a[0]) if attrs["transpose_a"] else (a[0], a[1])
    other, columns = (b[1], b[0]) if attrs["transpose_b"] else (b[0], b[1])
    if inner != other and inner is not None and other is not None:
        raise _mismatch(a, b)
    return TensorShape([rows, columns])


# Smaller matrices go to BLAS without querying the engine.
MATMUL_THRESHOLD = 8192


@accelerated("matmul", MATMUL_THRESHOLD)
def product_of(a, b):
    """The GEMM of two matrices of 32 or 64-bit dtypes."""
    # For matrices `dot` computes the same as `@` with half a microsecond less overhead.
    return a.dot(b)


@accelerated("batch_matmul", 32_768)
def _batched(a, b, out=None):
    return np.matmul(a, b, out)


def products_of(a, b, out=None):
    """The matmul or batched matmul of 32 or 64-bit dtypes.

    A batched one is written to `out`, if given.
    """
    return product_of(a, b) if a.ndim == 2 == b.ndim else _batched(a, b, out)


@op(
    "MatMul",
    "a: T, b: T -> product: T",
    T=_MATRICES,
    shape=_matmul_shape,
    fresh=True,
    gemm="matmul",
    epilogue="after",
)
def MatMul(a, b, *, transpose_a=False, transpose_b=False, grad_a=False, grad_b=False):
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("Both inputs must be matrices.")
    if transpose_a:
        a = a.T
    if transpose_b:
        b = b.T
    try:
        return multiplied(a, b) if a.itemsize == 2 else product_of(a, b)
    except ValueError:
        raise _mismatch(TensorShape(a.shape), TensorShape(b.shape)) from None


_FIRST = {"transpose_a": True}
_SECOND = {"transpose_b": True}
_BOTH = {"transpose_a": True, "transpose_b": True}


MatMul.factors = (1,)


@MatMul.gradient
def _(op, grad):
    a, b = op.inputs
    first, second = op.given.get("transpose_a"), op.given.get("transpose_b")
    grad_a = grad_b = None
    if op.needs(0):
        b = conj(b) if b.dtype.is_complex else b
        if first:
            grad_a = execute(MatMul, (b, grad), _BOTH if second else _SECOND)
        else:
            grad_a = execute(MatMul, (grad, b), {} if second else _SECOND)
    if op.needs(1):
        a = conj(a) if a.dtype.is_complex else a
        if second:
            grad_b = execute(MatMul, (grad, a), _BOTH if first else _FIRST)
        else:
            grad_b = execute(MatMul, (a, grad), {} if first else _FIRST)
    return grad_a, grad_b


def batch_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    """The broadcast batch shape of two shapes without their matrix dimensions."""
    try:
        return broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        raise ValueError(
            "In[0] and In[1] must have compatible batch dimensions: "
            f"{dimensions_text(a)} vs. {dimensions_text(b)}"
        ) from None


def _batch_matmul_shape(inputs, attrs):
    x, y = inputs[0].shape, inputs[1].shape
    for index, each in enumerate((x, y)):
        if each.rank is not None and each.rank < 2:
            raise ValueError(
                f"In[{index}] ndims must be >= 2: {each.rank}. tf.linalg.matvec multiplies by "
                "vectors."
            )
    if x.rank is None or y.rank is None:
        return UNKNOWN
    rows, inner = (x[-1], x[-2]) if attrs["adj_x"] else (x[-2], x[-1])
    other, columns = (y[-1], y[-2]) if attrs["adj_y"] else (y[-2], y[-1])
    if inner != other and inner is not None and other is not None:
        raise _mismatch(x, y)
    return batch_shape(x, y).concatenate([rows, columns])


def adjoint_of(array):
    """The conjugate transpose of each matrix in an array."""
    array = array.swapaxes(-1, -2)
    return array.conj() if array.dtype.kind == "c" else array


def _batch_matmul(x, y, adj_x, adj_y):
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError("Both inputs must be (batches of) matrices.")
    if adj_x:
        x = adjoint_of(x)
    if adj_y:
        y = adjoint_of(y)
    if y.ndim == 2 and x.ndim > 2 and x.flags.c_contiguous and y.size and x.shape[-1] == len(y):
        # One matrix for the whole batch: a single large GEMM is faster than a batched one.
        product = multiplied(x.reshape(-1, len(y)), y)
        return product.reshape(*x.shape[:-1], y.shape[1])
    try:
        return multiplied(x, y)
    except ValueError:
        if x.shape[-1] != y.shape[-2]:
            raise _mismatch(TensorShape(x.shape), TensorShape(y.shape)) from None
        raise


@op(
    "BatchMatMulV2",
    "x: T, y: T -> output: T",
    T=_MATRICES | {int16},
    shape=_batch_matmul_shape,
    gemm="batched",
)
def BatchMatMulV2(x, y, *, adj_x=False, adj_y=False, grad_x=False, grad_y=False):
    return _batch_matmul(x, y, adj_x, adj_y)


def _batch_matmul_gradient(op, grad):
    # V3 has inputs of different dtypes and computes in the output's.
    x, y = (each if each.dtype is grad.dtype else cast(each, grad.dtype) for each in op.inputs)
    adj_x, adj_y = op.attrs["adj_x"], op.attrs["adj_y"]
    grad_x = grad_y = None
    if op.needs(0):
        if adj_x:
            grad_x = matmul(y, grad, adjoint_a=adj_y, adjoint_b=True)
        else:
            grad_x = matmul(grad, y, adjoint_b=not adj_y)
        grad_x = sum_to(grad_x, x)
    if op.needs(1):
        if adj_y:
            grad_y = sum_to(matmul(grad, x, adjoint_a=True, adjoint_b=adj_x), y)
        elif adj_x or not _is_shared(x, y):
            grad_y = sum_to(matmul(x, grad, adjoint_a=not adj_x), y)
        else:
            rows = reshape(x, [-1, y.shape[0]])
            grad_y = matmul(rows, reshape(grad, [-1, y.shape[1]]), adjoint_a=True)
    return grad_x, grad_y


def _is_shared(x: Tensor, y: Tensor) -> bool:
    """Whether y is one matrix for a batch x, so that its gradient is a single GEMM."""
    return y.shape.rank == 2 and bool(y.shape[0] and y.shape[1]) and (x.shape.rank or 0) > 2


BatchMatMulV2.gradient(_batch_matmul_gradient)


@op(
    "BatchMatMulV3",
    "x: Ta, y: Tb -> output: Tout",
    Ta=FLOATING | COMPLEX | {uint8, int8, int16, int32, int64},
    Tb=FLOATING | COMPLEX | {uint8, int8, int16, int32, int64},
    shape=_batch_matmul_shape,
)
def BatchMatMulV3(x, y, *, Tout, adj_x=False, adj_y=False, grad_x=False, grad_y=False):
    return _batch_matmul(x.astype(Tout.numpy), y.astype(Tout.numpy), adj_x, adj_y)


@BatchMatMulV3.gradient
def _(op, grad):
    gradients = _batch_matmul_gradient(op, grad)
    return [g if g is None else cast(g, x.dtype) for g, x in zip(gradients, op.inputs, strict=True)]


def matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    output_type=None,
    grad_a=False,
    grad_b=False,
    name=None,
):
    """The matmul `a @ b`; leading dimensions are batch dimensions and broadcast.

    `transpose_*` and `adjoint_*` (the conjugate transpose) apply to each matrix first.
    `output_type` is the dtype to compute and return.

    >>> tf.matmul([[1, 2], [3, 4]], [[5], [6]]).numpy().tolist()
    [[17], [39]]
    """
    if not isinstance(a, Tensor):
        a = convert_to_tensor(a)
    if not isinstance(b, Tensor):
        b = convert_to_tensor(b, None, a.dtype)
    # Sizes rather than shapes: this function is on the hot path of training.
    sizes_a, sizes_b = a._sizes, b._sizes
    rank_a = None if sizes_a is None else len(sizes_a)
    rank_b = None if sizes_b is None else len(sizes_b)
    special = adjoint_a or adjoint_b or a_is_sparse or b_is_sparse or output_type is not None
    if rank_a == 2 == rank_b and not special:
        if not transpose_a and not transpose_b:
            return execute(MatMul, (a, b))
        attrs = {"transpose_a": bool(transpose_a), "transpose_b": bool(transpose_b)}
        return execute(MatMul, (a, b), attrs)
    _check_flags("a", transpose_a, adjoint_a)
    _check_flags("b", transpose_b, adjoint_b)
    if (a_is_sparse or b_is_sparse) and a.dtype is not b.dtype:
        a, b = cast(a, float32), cast(b, float32)
    if output_type is not None and as_dtype(output_type) is a.dtype is b.dtype:
        output_type = None
    small = rank_a is not None and rank_b is not None and rank_a <= 2 and rank_b <= 2
    if output_type is None and small:
        if adjoint_a and a.dtype.is_complex:
            a = conj(a)
        if adjoint_b and b.dtype.is_complex:
            b = conj(b)
        attrs = {
            "transpose_a": bool(transpose_a or adjoint_a),
            "transpose_b": bool(transpose_b or adjoint_b),
        }
        return execute(MatMul, (a, b), attrs)
    if transpose_a and a.dtype.is_complex:
        a = conj(a)
    if transpose_b and b.dtype.is_complex:
        b = conj(b)
    attrs = {"adj_x": bool(transpose_a or adjoint_a), "adj_y": bool(transpose_b or adjoint_b)}
    if output_type is None:
        return execute(BatchMatMulV2, (a, b), attrs)
    return execute(BatchMatMulV3, (a, b), {"Tout": as_dtype(output_type), **attrs})


def _check_flags(which: str, transpose, adjoint) -> None:
    if transpose and adjoint:
        raise ValueError(
            f"Only one of `transpose_{which}` and `adjoint_{which}` can be True. Received "
            f"`transpose_{which}`={transpose}, `adjoint_{which}`={adjoint}."
        )


def matvec(
    a,
    b,
    transpose_a=False,
    adjoint_a=False,
    a_is_sparse=False,
    b_is_sparse=False,
    name=None,
):
    """The matrix-vector multiplication `a @ b`; batches broadcast.

    >>> tf.linalg.matvec([[1, 2], [3, 4]], [5, 6])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([17, 39], dtype=int32)>
    """
    a = convert_to_tensor(a)
    column = expand_dims(convert_to_tensor(b, None, a.dtype), -1)
    flags = {"a_is_sparse": a_is_sparse, "b_is_sparse": b_is_sparse}
    return squeeze(matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a, **flags), -1)


def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """Transpose the last two dimensions.

    >>> tf.linalg.matrix_transpose([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    a = convert_to_tensor(a)
    rank = a.shape.rank
    if rank is None:
        last = rank_of(a) - 1
        order = concat([creation.range(last - 1), stack([last, last - 1])], 0)
    elif rank < 2:
        raise ValueError(
            "Argument `a` should be a (batch) matrix with rank >= 2. Received `a` = "
            f"{a} with shape: {a.shape}"
        )
    else:
        order = [*range(rank - 2), rank - 1, rank - 2]
    return transpose(a, order, conjugate)


def adjoint(matrix, name=None):
    """The conjugate transpose of each matrix.

    >>> tf.linalg.adjoint([[1 + 1j, 2], [3, 4]]).numpy().tolist()
    [[(1-1j), (3-0j)], [(2-0j), (4-0j)]]
    """
    return matrix_transpose(matrix, conjugate=True)


def tensordot(a, b, axes, name=None):
    """The tensor contraction over some axes of a and as many of b.

    `axes` is a number n (the last n axes of a, the first n of b), or a pair: the axes of a, and
    those of b, in the same order.

    >>> tf.tensordot([[1, 2], [3, 4]], [5, 6], axes=1)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([17, 39], dtype=int32)>
    """
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    a_axes, b_axes = _contracted_axes(a, axes)
    rows, a_free = _as_matrix(a, a_axes, last=True)
    columns, b_free = _as_matrix(b, b_axes, last=False)
    product = matmul(rows, columns)
    if isinstance(a_free, list) and isinstance(b_free, list):
        return reshape(product, a_free + b_free)
    free = [convert_to_tensor(each, int32) for each in (a_free, b_free)]
    result = reshape(product, concat(free, 0))
    result.set_shape(_free_sizes(a, a_axes).concatenate(_free_sizes(b, b_axes)))
    return result


def _free_sizes(tensor: Tensor, axes) -> TensorShape:
    """The statically known sizes of the axes that are not contracted."""
    rank = tensor.shape.rank
    if rank is None or not isinstance(axes, list):
        return TensorShape(None)
    summed = {int(axis) % rank for axis in axes}
    return TensorShape([size for axis, size in enumerate(tensor.shape) if axis not in summed])


def _contracted_axes(a: Tensor, axes):
    """The axes of both tensors to contract, each a list of numbers or a tensor."""
    if isinstance(axes, int):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        if a.shape.rank is None:
            return creation.range(rank_of(a) - axes, rank_of(a)), list(range(axes))
        if axes > a.shape.rank:
            raise ValueError(
                "`axes` must not be larger than the number of dimensions of tensor "
                f"{a}. Received {axes}, vs tensor dimensions {a.shape.rank}."
            )
        return list(range(a.shape.rank - axes, a.shape.rank)), list(range(axes))
    if isinstance(axes, list | tuple):
        if len(axes) != 2:
            raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
        a_axes, b_axes = ([each] if isinstance(each, int) else each for each in axes)
        if not isinstance(a_axes, Tensor) and not isinstance(b_axes, Tensor):
            a_axes, b_axes = list(a_axes), list(b_axes)
            if len(a_axes) != len(b_axes):
                raise ValueError(
                    "Different number of contraction axes `a` and `b`, "
                    f"{len(a_axes)} != {len(b_axes)}."
                )
        return a_axes, b_axes
    axes = convert_to_tensor(axes, int32)
    return axes[0], axes[1]


def _as_matrix(tensor: Tensor, axes, last: bool):
    """Reshape to a matrix with the contracted axes as columns (else rows); the free sizes."""
    known = constant_value(axes) if isinstance(axes, Tensor) else axes
    if known is None or tensor.shape.rank is None:
        return _as_matrix_later(tensor, convert_to_tensor(axes, int32), last)
    rank = tensor.shape.rank
    summed = []
    for axis in known:
        if not -rank <= axis < rank:
            raise IndexError(f"Axis {axis} is out of range for a tensor of shape {tensor.shape}.")
        summed.append(int(axis) % rank)
    free = [axis for axis in range(rank) if axis not in summed]
    order = free + summed if last else summed + free
    if order != list(range(rank)):
        tensor = transpose(tensor, order)
    sizes = tensor.shape.as_list()
    cut = len(free) if last else len(summed)
    if None not in sizes:
        matrix = reshape(tensor, [math.prod(sizes[:cut]), math.prod(sizes[cut:])])
        return matrix, sizes[:cut] if last else sizes[cut:]
    dynamic = shape(tensor)
    first, second = dynamic[:cut], dynamic[cut:]
    matrix = reshape(tensor, stack([reduce_prod(first), reduce_prod(second)]))
    return matrix, first if last else second


def _as_matrix_later(tensor: Tensor, axes: Tensor, last: bool):
    """The same for a rank or axes known only at run time."""
    count = rank_of(tensor)
    summed = floormod(axes, count)
    every = creation.range(count)
    used = reduce_any(equal(expand_dims(every, -1), summed), axis=-1)
    free = argsort(cast(used, int32), stable=True)[: count - size(summed)]
    tensor = transpose(tensor, concat([free, summed] if last else [summed, free], 0))
    dynamic = shape(tensor)
    cut = size(free) if last else size(summed)
    first, second = dynamic[:cut], dynamic[cut:]
    matrix = reshape(tensor, stack([reduce_prod(first), reduce_prod(second)]))
    return matrix, first if last else second
