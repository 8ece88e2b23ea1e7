"""Products of matrices in batches whose matrices differ in size."""

from __future__ import annotations

from ...core.errors import InvalidArgumentError
from ...core.op import execute
from ...core.tensor import Tensor
from ..array import gathering
from . import conversion, ragged_tensor


def matmul(op, a, b, attrs):
    """a @ b where one of them is ragged; padding with zeros changes no product.

    The rows of the result are those of `a`, cut back to their lengths.
    """
    for each in (a, b):
        if each.shape.rank is None:
            raise ValueError("tf.matmul of ragged tensors needs operands of known rank.")
    if a.shape.rank != b.shape.rank:
        raise ValueError(f"`a` and `b` must have the same rank, got {a.shape} and {b.shape}.")
    if (
        a.shape.rank < 2
        or b.shape.rank < 2
        or (not isinstance(a, Tensor) and a.shape.rank == 2)
        or (not isinstance(b, Tensor) and b.shape.rank == 2)
    ):
        raise InvalidArgumentError(
            None,
            None,
            "The matrices in `a` and `b` may not be ragged in their innermost dimension. "
            f"[Op:{op.name}]",
        )
    flipped = (
        attrs.get("adj_x")
        or attrs.get("transpose_a")
        or attrs.get("adj_y")
        or attrs.get("transpose_b")
    )
    plain_a = not isinstance(a, Tensor) and a.ragged_rank == 1 and a.shape.rank == 3
    if plain_a and isinstance(b, Tensor) and not flipped:
        # Each row vector of `a` times the matrix of its batch.
        matrices = gathering.gather(b, a.value_rowids())
        rows = execute(op, (a.values[:, None, :], matrices), attrs)
        return a.with_values(rows[:, 0])
    dense = [each if isinstance(each, Tensor) else conversion.to_tensor(each) for each in (a, b)]
    product = execute(op, tuple(dense), attrs)
    left = a if not isinstance(a, Tensor) else None
    if left is None or flipped or left.ragged_rank != 1:
        return ragged_tensor.RaggedTensor.from_tensor(product)
    return ragged_tensor.RaggedTensor.from_tensor(
        product, lengths=left.row_lengths(), row_splits_dtype=left.row_splits.dtype
    )
