"""Linear algebra: matmuls and other products, diagonals, differences."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...core.tensor import Tensor
from .conversion import blended, promoted, rank_of, to_array
from .elementwise import conj
from .promotion import as_dtype
from .reductions import sum as sum_of
from .shaping import at_least, axes_of, moveaxis, ravel


def matmul(x1: Any, x2: Any) -> Tensor:
    """The matmul; a vector is a row on the left and a column on the right.

    >>> tf.experimental.numpy.matmul([[1, 2], [3, 4]], [1, 1])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([3, 7])>
    """
    x1, x2 = promoted(x1, x2)
    ranks = x1.shape.rank, x2.shape.rank
    if 0 in ranks:
        raise ValueError(
            f"matmul takes no numbers alone, got arrays of shapes {x1.shape} and {x2.shape}. Use "
            "multiply for them."
        )
    if None in ranks:
        return _product_of_unknown(x1, x2)
    try:
        if ranks == (1, 1):
            return tf.tensordot(x1, x2, 1)
        if ranks[1] == 1:
            return tf.linalg.matvec(x1, x2)
        if ranks[0] == 1:
            return tf.squeeze(tf.matmul(tf.expand_dims(x1, 0), x2), -2)
        return tf.matmul(x1, x2)
    except tf.errors.InvalidArgumentError as failure:
        raise ValueError(f"matmul: {failure.message}") from failure


def dot(a: Any, b: Any) -> Tensor:
    """The sum product over the last axis of a and the last but one of b.

    >>> tf.experimental.numpy.dot([1, 2], [3, 4])
    <tf.Tensor: shape=(), dtype=int64, numpy=11>
    """
    a, b = promoted(a, b)
    return _contracted(a, b, -2)


def inner(a: Any, b: Any) -> Tensor:
    """The inner product over the last axes of both."""
    a, b = promoted(a, b)
    return _contracted(a, b, -1)


def _contracted(a: Tensor, b: Tensor, axis: int) -> Tensor:
    """A contraction of the last axis of a with an axis of b, the only one of a vector."""
    ranks = a.shape.rank, b.shape.rank
    if 0 in ranks:
        return _product(a, b)
    if ranks[0] is not None and ranks[1] is not None:
        return tf.tensordot(a, b, axes=[[ranks[0] - 1], [max(ranks[1] + axis, 0)]])

    def contracted() -> Tensor:
        moved = tf.cond(tf.equal(tf.rank(b), 1), lambda: b, lambda: moveaxis(b, axis, 0))
        before, after = tf.shape(a)[:-1], tf.shape(moved)[1:]
        matrices = tf.reshape(a, [-1, tf.shape(a)[-1]]), tf.reshape(moved, [tf.shape(moved)[0], -1])
        return tf.reshape(tf.matmul(*matrices), tf.concat([before, after], 0))

    is_number = tf.equal(tf.minimum(tf.rank(a), tf.rank(b)), 0)
    return tf.cond(is_number, lambda: _product(a, b), contracted)


def _product_of_unknown(x1: Tensor, x2: Tensor) -> Tensor:
    """The matmul where a rank is unknown: vectors are expanded to matrices and squeezed."""
    is_row, is_column = (tf.cast(tf.equal(tf.rank(x), 1), tf.int32) for x in (x1, x2))
    column = tf.concat([tf.shape(x2), tf.ones([is_column], tf.int32)], 0)
    product = tf.matmul(at_least(x1, 2), tf.reshape(x2, column))
    sizes = tf.shape(product)
    kept = [sizes[:-2], sizes[-2:-1][: 1 - is_row], sizes[-1:][: 1 - is_column]]
    return tf.reshape(product, tf.concat(kept, 0))


def _product(a: Tensor, b: Tensor) -> Tensor:
    return tf.logical_and(a, b) if a.dtype is tf.bool else tf.multiply(a, b)


def outer(a: Any, b: Any) -> Tensor:
    """The outer product, as a matrix."""
    a, b = promoted(a, b)
    return _product(tf.reshape(a, [-1, 1]), tf.reshape(b, [1, -1]))


def vdot(a: Any, b: Any) -> Tensor:
    """The dot product of both arrays, flattened; a is conjugated."""
    a, b = blended(a, b)
    a, b = ravel(a), ravel(b)
    return tf.tensordot(conj(a) if a.dtype.is_complex else a, b, 1)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """The contraction of two arrays over some axes of each."""
    a, b = promoted(a, b)
    return tf.tensordot(a, b, axes)


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Tensor:
    """The Einstein summation of arrays by a formula of their indices.

    >>> tf.experimental.numpy.einsum("ij->ji", [[1, 2]])
    <tf.Tensor: shape=(2, 1), dtype=int64, numpy=
    array([[1],
           [2]])>
    """
    optimize = kwargs.get("optimize", False)
    order = "greedy" if isinstance(optimize, bool) else optimize
    return tf.einsum(subscripts, *promoted(*operands), optimize=order)


def kron(a: Any, b: Any) -> Tensor:
    """The Kronecker product: b once for every element of a, multiplied by it.

    >>> tf.experimental.numpy.kron([1, 2], [1, 1])
    <tf.Tensor: shape=(4,), dtype=int64, numpy=array([1, 1, 2, 2])>
    """
    a, b = blended(a, b)
    rank = max(rank_of(a, "kron"), rank_of(b, "kron"))
    sizes = [tf.concat([tf.ones([rank - x.ndim], tf.int32), tf.shape(x)], 0) for x in (a, b)]
    ones = tf.ones([rank], tf.int32)
    coarse = tf.reshape(tf.stack([sizes[0], ones], 1), [-1])
    fine = tf.reshape(tf.stack([ones, sizes[1]], 1), [-1])
    product = _product(tf.reshape(a, coarse), tf.reshape(b, fine))
    return tf.reshape(product, sizes[0] * sizes[1])


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Tensor:
    """The cross product of vectors of two or three elements along an axis.

    >>> tf.experimental.numpy.cross([1, 0, 0], [0, 1, 0])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([0, 0, 1])>
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promoted(a, b)
    a = moveaxis(a, axisa, -1)
    b = moveaxis(b, axisb, -1)
    lengths = [x.shape[-1] if x.shape.rank is not None else None for x in (a, b)]
    if not all(length in (2, 3, None) for length in lengths):
        raise tf.errors.InvalidArgumentError(
            None,
            None,
            f"cross takes vectors of 2 or 3 elements, got shapes {a.shape} and {b.shape}.",
        )
    (a0, a1, a2), (b0, b1, b2) = (_three(x) for x in (a, b))
    last = a0 * b1 - a1 * b0
    if lengths == [2, 2]:
        return last
    result = tf.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, last], -1)
    return moveaxis(result, -1, axisc)


def _three(vector: Tensor) -> list[Tensor]:
    """The three components along the last axis; the third is 0 where there are two."""
    length = vector.shape[-1] if vector.shape.rank is not None else None
    first, second = vector[..., 0], vector[..., 1]
    if length == 2:
        return [first, second, tf.zeros_like(first)]
    if length == 3:
        return [first, second, vector[..., 2]]
    # The rest is one element or none; its sum is the third component in either case.
    return [first, second, tf.reduce_sum(vector[..., 2:], -1)]


def diag(v: Any, k: int = 0) -> Tensor:
    """The k-th diagonal of a matrix, or the matrix with a vector on its k-th diagonal.

    >>> tf.experimental.numpy.diag([[1, 2], [3, 4]], k=1)
    <tf.Tensor: shape=(1,), dtype=int64, numpy=array([2])>
    """
    v = to_array(v)
    rank = v.shape.rank
    if rank is None:
        is_vector = tf.equal(tf.rank(v), 1)
        return tf.cond(is_vector, lambda: tf.linalg.diag(v, k=k), lambda: _diagonal(v, k))
    if rank > 2:
        raise ValueError(f"diag takes a vector or a matrix, got an array of shape {v.shape}.")
    if rank == 0:
        raise tf.errors.InvalidArgumentError(None, None, "diag takes a vector or a matrix.")
    return tf.linalg.diag(v, k=k) if rank == 1 else _diagonal(v, k)


def _diagonal(matrices: Tensor, offset: int) -> Tensor:
    """The diagonal of the last two axes, empty where the offset is out of range."""
    known_rank = matrices.shape.rank is not None
    rows, columns = matrices.shape[-2:] if known_rank else (None, None)

    def empty() -> Tensor:
        return tf.zeros(tf.concat([tf.shape(matrices)[:-2], [0]], 0), matrices.dtype)

    def taken() -> Tensor:
        return tf.linalg.diag_part(matrices, k=offset)

    if rows is None or columns is None:
        sizes = tf.shape(matrices)
        is_inside = tf.logical_and(-sizes[-2] < offset, offset < sizes[-1])
        return taken() if offset == 0 else tf.cond(is_inside, taken, empty)
    return taken() if -rows < offset < columns or offset == 0 else empty()


def diagflat(v: Any, k: int = 0) -> Tensor:
    """The matrix with the flattened array on its k-th diagonal."""
    return tf.linalg.diag(ravel(v), k=k)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonal of two axes, as the last axis."""
    a = to_array(a)
    if a.shape.rank is not None and a.shape.rank < 2:
        raise tf.errors.InvalidArgumentError(
            None, None, f"diagonal takes arrays of two dimensions or more, got {a.shape}."
        )
    if a.shape.rank is not None:
        axes_of((axis1, axis2), a.shape.rank)
    return _diagonal(moveaxis(a, (axis1, axis2), (-2, -1)), offset)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sum of the diagonal of two axes."""
    dtype = None if dtype is None else as_dtype(dtype)
    a = to_array(a)
    if dtype is None and offset == 0 and a.shape.rank == 2 and (axis1, axis2) == (0, 1):
        return tf.linalg.trace(a)  # in the dtype of the matrix; other sums are wide
    return sum_of(diagonal(a, offset, axis1, axis2), -1, dtype)


def diff(a: Any, n: int = 1, axis: int = -1) -> Tensor:
    """The n-th differences of adjacent elements along an axis.

    >>> tf.experimental.numpy.diff([1, 4, 9], n=2)
    <tf.Tensor: shape=(1,), dtype=int64, numpy=array([2])>
    """
    a = to_array(a)
    rank = rank_of(a, "diff")
    if n < 0:
        raise ValueError(f"diff: n must be nonnegative, got {n}.")
    if not -rank <= axis < rank:
        kind = ValueError if rank else IndexError
        raise kind(f"diff: axis {axis} is out of range for an array of rank {rank}.")
    for _ in range(n):
        length = tf.shape(a)[axis]
        later = tf.gather(a, tf.range(1, length), axis=axis)
        earlier = tf.gather(a, tf.range(length - 1), axis=axis)
        a = tf.not_equal(later, earlier) if a.dtype is tf.bool else tf.subtract(later, earlier)
    return a
