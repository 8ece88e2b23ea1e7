"""The operations on sparse tensors: those that map zero to zero act on the values."""

from __future__ import annotations

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.op import execute, unsupported
from ...core.tensor import Tensor
from ..array import shaping
from ..math import casting, reduction
from . import arithmetic, sparse_tensor

_ON_VALUES = frozenset(
    {"Abs", "Cast", "ComplexAbs", "Conj", "Erf", "Identity", "Imag", "Neg", "Real", "Sign", "Sin",
     "Sqrt", "Square", "StopGradient", "Tanh"}
)  # fmt: skip


def execute_sparse(op, inputs, attrs):
    """The op on inputs of which one at least is a sparse tensor."""
    if op.name in _ON_VALUES:
        value = inputs[0]
        return value.with_values(execute(op, (value.values,), attrs))
    rule = _RULES.get(op.name)
    if rule is not None:
        return rule(op, inputs, {**op.defaults, **attrs})
    raise unsupported()(
        f"The operation {op.name} does not take a SparseTensor. Use the functions of tf.sparse, "
        "or make it dense first: tf.sparse.to_dense."
    )


def _shape(op, inputs, attrs):
    return casting.cast(inputs[0].dense_shape, attrs["out_type"])


def _rank(op, inputs, attrs):
    rank = inputs[0].shape.rank
    if rank is not None:
        return convert_to_tensor(rank, int32)
    return shaping.size(inputs[0].dense_shape)


def _size(op, inputs, attrs):
    return casting.cast(reduction.reduce_prod(inputs[0].dense_shape), attrs["out_type"])


def _times(op, inputs, attrs):
    x, y = inputs
    if not isinstance(x, Tensor) and not isinstance(y, Tensor):
        raise ValueError("Two sparse tensors have no product here; make one of them dense.")
    return arithmetic.times_dense(y, x) if isinstance(x, Tensor) else arithmetic.times_dense(x, y)


def _over(op, inputs, attrs):
    x, y = inputs
    if isinstance(x, Tensor) or not isinstance(y, Tensor):
        raise ValueError("A sparse tensor is divided by a dense one only.")
    return arithmetic.over_dense(x, y)


def _matmul(op, inputs, attrs):
    from .matmul import sparse_dense_matmul

    a, b = inputs
    return sparse_dense_matmul(a, b, attrs["transpose_a"], attrs["transpose_b"])


def _format(op, inputs, attrs):
    """Three placeholders in the template for the three tensors of a sparse one."""
    hole = attrs["placeholder"]
    pieces = attrs["template"].split(hole)
    template, tensors = pieces[0], []
    for value, piece in zip(inputs, pieces[1:], strict=True):
        if isinstance(value, sparse_tensor.SparseTensor):
            template += f"'SparseTensor(indices={hole}, values={hole}, shape={hole})'"
            tensors += [value.indices, value.values, value.dense_shape]
        else:
            template += hole
            tensors.append(value)
        template += piece
    return execute(op, tuple(tensors), {**attrs, "template": template})


_RULES = {
    "Shape": _shape,
    "Rank": _rank,
    "Size": _size,
    "MatMul": _matmul,
    "Mul": _times,
    "RealDiv": _over,
    "StringFormat": _format,
}
