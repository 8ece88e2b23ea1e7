"""Products of matrices and vectors."""

from __future__ import annotations

import numpy as np

from ...core import errors
from ...core.context import state
from ...core.convert import convert_to_tensor
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
from ..array.shaping import reshape
from ..broadcasting import sum_to
from ..math.casting import cast
from ..math.complex import conj

_MATRICES = FLOATING | COMPLEX | {int32, int64, uint8, uint16, uint32, uint64}


def in_float32(array) -> bool:
    """Whether an array is of a 16-bit float, to be computed in float32 and rounded once."""
    return array.itemsize == 2 and array.dtype.kind not in "iu"


def _multiplied(a, b):
    if in_float32(a):
        return (a.astype(np.float32) @ b.astype(np.float32)).astype(a.dtype)
    return a @ b


def _mismatch(a: TensorShape, b: TensorShape) -> ValueError:
    return ValueError(
        f"Matrix size-incompatible: In[0]: {dimensions_text(a)}, In[1]: {dimensions_text(b)}"
    )


def _matmul_shape(inputs, attrs):
    a, b = inputs[0].shape, inputs[1].shape
    if a.rank is not None and b.rank is not None and a.rank != b.rank:
        raise ValueError(
            f"In[0] and In[1] has different ndims: {dimensions_text(a)} vs. {dimensions_text(b)}"
        )
    for shape in (a, b):
        if shape.rank not in (None, 2):
            raise ValueError(
                f"In[0] and In[1] ndims must be == 2: {shape.rank}. tf.linalg.matvec multiplies "
                "a matrix by a vector, tf.tensordot two vectors."
            )
    rows, inner = (a[1], a[0]) if attrs["transpose_a"] else (a[0], a[1])
    other, columns = (b[1], b[0]) if attrs["transpose_b"] else (b[0], b[1])
    if inner != other and inner is not None and other is not None:
        raise _mismatch(a, b)
    return TensorShape([rows, columns])


@op("MatMul", "a: T, b: T -> product: T", T=_MATRICES, shape=_matmul_shape)
def MatMul(a, b, *, transpose_a=False, transpose_b=False, grad_a=False, grad_b=False):
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("Both inputs must be matrices.")
    if transpose_a:
        a = a.T
    if transpose_b:
        b = b.T
    return _multiplied(a, b) if a.itemsize == 2 else a @ b


_FIRST = {"transpose_a": True}
_SECOND = {"transpose_b": True}
_BOTH = {"transpose_a": True, "transpose_b": True}


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
    """What is left of two shapes without their matrix dimensions, broadcast together."""
    try:
        return broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        raise ValueError(
            "In[0] and In[1] must have compatible batch dimensions: "
            f"{dimensions_text(a)} vs. {dimensions_text(b)}"
        ) from None


def _batch_matmul_shape(inputs, attrs):
    x, y = inputs[0].shape, inputs[1].shape
    for index, shape in enumerate((x, y)):
        if shape.rank is not None and shape.rank < 2:
            raise ValueError(
                f"In[{index}] ndims must be >= 2: {shape.rank}. tf.linalg.matvec multiplies by "
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
    if y.ndim == 2 and x.ndim > 2 and x.flags.c_contiguous and x.shape[-1] == y.shape[0]:
        # One matrix for the whole batch: one large product is faster than many small ones.
        rows = x.reshape(-1, x.shape[-1]) if x.size else np.zeros((0, y.shape[0]), x.dtype)
        count = x.shape[:-1]
        if x.size or 0 in count:
            return _multiplied(rows, y).reshape(*count, y.shape[1])
    return _multiplied(x, y)


@op(
    "BatchMatMulV2",
    "x: T, y: T -> output: T",
    T=_MATRICES | {int16},
    shape=_batch_matmul_shape,
)
def BatchMatMulV2(x, y, *, adj_x=False, adj_y=False, grad_x=False, grad_y=False):
    return _batch_matmul(x, y, adj_x, adj_y)


def _batch_matmul_gradient(op, grad):
    x, y = op.inputs
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
    """Whether one matrix y serves a batch x, so that its gradient is one large product."""
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
    """The matrix product `a @ b`; further dimensions in front are batches and broadcast.

    `transpose_*` and `adjoint_*` (the conjugate transpose) apply to each matrix first.
    `output_type` is the dtype to compute and return.

    >>> tf.matmul([[1, 2], [3, 4]], [[5], [6]]).numpy().tolist()
    [[17], [39]]
    """
    if not isinstance(a, Tensor):
        a = convert_to_tensor(a)
    if not isinstance(b, Tensor):
        b = convert_to_tensor(b, None, a.dtype)
    if state.graph is None:
        # The ranks straight from the arrays: this function is called in every step of training.
        rank_a, rank_b = a._array.ndim, b._array.ndim
    else:
        rank_a, rank_b = a.shape.rank, b.shape.rank
    if rank_a == 2 == rank_b and output_type is None and not (adjoint_a or adjoint_b):
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
