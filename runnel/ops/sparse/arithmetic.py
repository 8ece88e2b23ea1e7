"""Element-wise arithmetic, extrema and softmax of sparse tensors."""

from __future__ import annotations

import numpy as np

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.dtypes import FLOATING, NUMERIC, REAL, int64
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array import gathering, selection, shaping
from ..math import arithmetic, casting, comparison, division, segment, sorting
from ..math.elementwise import exp, stop_gradient
from ..ragged.row_partition import require
from . import positions, sparse_tensor


def _union_shape(inputs, attrs):
    indices = inputs[0].shape
    rank = indices[1] if indices.rank == 2 else None
    return [TensorShape([None, rank]), TensorShape([None]), inputs[2].shape]


def _require_same_shape(a, b):
    if len(a) != len(b):
        raise ValueError(f"Operands' ranks do not match: got {len(a)} and {len(b)}")
    for axis, (mine, other) in enumerate(zip(a, b, strict=True)):
        if mine != other:
            raise ValueError(
                f"Operands' shapes do not match: got {mine} and {other} for dimension {axis}"
            )


def _union(a_indices, a_values, b_indices, b_values, shape):
    """The sorted union of the indices of two sparse tensors, and both values there (missing: 0)."""
    first = positions.flat_numbers(a_indices, shape)
    second = positions.flat_numbers(b_indices, shape)
    places = np.union1d(first, second)
    values = np.zeros((2, len(places)), a_values.dtype)
    np.add.at(values[0], np.searchsorted(places, first), a_values)
    np.add.at(values[1], np.searchsorted(places, second), b_values)
    return positions.unflattened(places, shape).astype(np.int64), values


@op(
    "SparseAdd",
    "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
    "b_shape: int64, thresh: Treal -> sum_indices: int64, sum_values: T, sum_shape: int64",
    T=NUMERIC,
    Treal=REAL,
    shape=_union_shape,
)
def SparseAdd(a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh):
    _require_same_shape(a_shape, b_shape)
    indices, values = _union(a_indices, a_values, b_indices, b_values, a_shape)
    total = values[0] + values[1]
    kept = np.abs(total) >= thresh
    return indices[kept], total[kept], a_shape


@SparseAdd.gradient
def _(op, _indices, grad, _shape):
    a_indices, _, shape, b_indices, _, _, _ = op.inputs
    places = positions.flat_positions(op.outputs[0], shape)

    def of(indices):
        wanted = positions.flat_positions(indices, shape)
        found = sorting.searchsorted(places, wanted)
        # What the threshold has dropped has no gradient: it points to a zero appended at the end.
        last = shaping.size(places)
        padded = _with_one_more(grad)
        safe = arithmetic.minimum(found, arithmetic.maximum(last - 1, 0))
        there = comparison.logical_and(
            comparison.less(found, last),
            comparison.equal(gathering.gather(_with_one_more(places), safe), wanted),
        )
        return gathering.gather(padded, selection.where(there, found, last))

    return None, of(a_indices), None, None, of(b_indices), None, None


def _with_one_more(tensor):
    from ..array import creation, joining

    return joining.concat([tensor, creation.zeros([1], tensor.dtype)], 0)


def add(a, b, threshold=0):
    """a + b, where at least one is sparse; sums smaller than `threshold` are dropped.

    >>> total = tf.sparse.add(tf.SparseTensor([[0]], [1], [2]), tf.SparseTensor([[1]], [2], [2]))
    >>> tf.sparse.to_dense(total).numpy().tolist()
    [1, 2]
    """
    sparse = sparse_tensor.SparseTensor
    if not isinstance(a, sparse) and not isinstance(b, sparse):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, sparse) and isinstance(b, sparse):
        limit = convert_to_tensor(threshold, a.dtype.real_dtype)
        inputs = (a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, limit)
        return sparse(*execute(SparseAdd, inputs))
    if isinstance(b, sparse):
        a, b = b, a
    return _add_dense(a, convert_to_tensor(b, a.dtype))


def _add_dense(value, dense):
    from ..array import scatter

    value.shape.assert_is_compatible_with(dense.shape)
    return scatter.tensor_scatter_nd_add(dense, value.indices, value.values)


def _union_op(name, ufunc):
    def kernel(a_indices, a_values, a_shape, b_indices, b_values, b_shape):
        _require_same_shape(a_shape, b_shape)
        indices, values = _union(a_indices, a_values, b_indices, b_values, a_shape)
        return indices, ufunc(values[0], values[1])

    return op(
        name,
        "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
        "b_shape: int64 -> output_indices: int64, output_values: T",
        T=REAL,
        shape=lambda inputs, attrs: _union_shape(inputs, attrs)[:2],
        kernel=kernel,
        gradient=None,
    )


SparseSparseMaximum = _union_op("SparseSparseMaximum", np.maximum)
SparseSparseMinimum = _union_op("SparseSparseMinimum", np.minimum)


def _of_both(function_op, a, b):
    a, b = sparse_tensor.as_sparse(a, "sp_a"), sparse_tensor.as_sparse(b, "sp_b")
    inputs = (a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape)
    indices, values = execute(function_op, inputs)
    return sparse_tensor.SparseTensor(indices, values, a.dense_shape)


def maximum(sp_a, sp_b, name=None):
    """The element-wise maximum; where only one has an element the other is 0.

    >>> a, b = tf.SparseTensor([[0]], [1], [2]), tf.SparseTensor([[1]], [-2], [2])
    >>> tf.sparse.to_dense(tf.sparse.maximum(a, b)).numpy().tolist()
    [1, 0]
    """
    return _of_both(SparseSparseMaximum, sp_a, sp_b)


def minimum(sp_a, sp_b, name=None):
    """The element-wise minimum; where only one has an element the other is 0.

    >>> a, b = tf.SparseTensor([[0]], [1], [2]), tf.SparseTensor([[1]], [-2], [2])
    >>> tf.sparse.to_dense(tf.sparse.minimum(a, b)).numpy().tolist()
    [0, -2]
    """
    return _of_both(SparseSparseMinimum, sp_a, sp_b)


def _dense_at(value, other):
    """The elements of a dense tensor, broadcast to the shape of a sparse one, at its indices."""
    other = other if isinstance(other, Tensor) else convert_to_tensor(other, value.dtype)
    if not isinstance(other, Tensor):
        raise ValueError("Only dense tensors are beside a sparse one here; see tf.sparse.add.")
    if other.shape.rank == 0:
        return other
    ranks = other.shape.rank, value.shape.rank
    if None not in ranks and ranks[0] > ranks[1]:
        raise ValueError(
            f"The dense tensor of shape {other.shape} does not broadcast to the sparse one's "
            f"shape {value.shape}."
        )
    return gathering.gather_nd(shaping.broadcast_to(other, value.dense_shape), value.indices)


def times_dense(value, other):
    """A sparse tensor times a dense one that broadcasts to its shape."""
    return value.with_values(arithmetic.multiply(value.values, _dense_at(value, other)))


def over_dense(value, other):
    """A sparse tensor divided by a dense one that broadcasts to its shape."""
    return value.with_values(division.divide(value.values, _dense_at(value, other)))


def softmax(sp_input, name=None):
    """Softmax over the elements of each row along the last axis, implicit zeros excluded.

    >>> tf.sparse.softmax(tf.SparseTensor([[0, 0], [0, 2]], [1.0, 1.0], [1, 3])).values.numpy()
    array([0.5, 0.5], dtype=float32)
    """
    value = sparse_tensor.as_sparse(sp_input)
    if value.dtype not in FLOATING:
        from ...core.errors import InvalidArgumentError

        raise InvalidArgumentError(
            None, None, f"tf.sparse.softmax takes floating values, not {value.dtype.name}."
        )
    ranked = comparison.greater_equal(shaping.size(value.dense_shape), 2)
    require(ranked, "Input should have rank >= 2, but received shape:", value.dense_shape)
    from ..math.distinct import unique

    numbers = positions.flat_positions(value.indices[:, :-1], value.dense_shape[:-1])
    rows, ids = unique(numbers, out_idx=int64)
    count = positions.count_of(rows)
    largest = segment.unsorted_segment_max(stop_gradient(value.values), ids, count)
    powers = exp(value.values - gathering.gather(largest, ids))
    total = segment.unsorted_segment_sum(powers, ids, count)
    return value.with_values(division.divide(powers, gathering.gather(total, ids)))


def map_values(op, *args, **kwargs):
    """A function of the values of all sparse arguments, which must have equal indices.

    >>> tf.sparse.map_values(tf.add, tf.SparseTensor([[1]], [2], [3]), 5).values.numpy().tolist()
    [7]
    """
    found = []

    def inner(part):
        if isinstance(part, sparse_tensor.SparseTensor):
            found.append(part)
            return part.values
        return part

    args, kwargs = nest.map_structure(inner, (args, kwargs))
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    from ..math.reduction import reduce_all
    from ..ragged.row_partition import require

    first = found[0]
    for other in found[1:]:
        same = comparison.equal(first.indices, other.indices)
        require(reduce_all(same), "tf.sparse.map_values: the indices differ.")
        same = comparison.equal(first.dense_shape, other.dense_shape)
        require(reduce_all(same), "tf.sparse.map_values: the dense shapes differ.")
    return first.with_values(op(*args, **kwargs))


def mask(a, mask_indices, name=None):
    """IndexedSlices without the rows whose indices are in `mask_indices`.

    >>> slices = tf.IndexedSlices(tf.constant([[1], [2]]), tf.constant([3, 5]))
    >>> tf.sparse.mask(slices, [5]).indices.numpy().tolist()
    [3]
    """
    from ...core.indexed_slices import IndexedSlices
    from ..math.reduction import reduce_any

    indices = convert_to_tensor(a.indices)
    masked = casting.cast(convert_to_tensor(mask_indices), indices.dtype)
    hit = reduce_any(comparison.equal(shaping.expand_dims(indices, 1), masked), 1)
    kept = comparison.logical_not(hit)
    values = selection.boolean_mask(convert_to_tensor(a.values), kept)
    return IndexedSlices(values, selection.boolean_mask(indices, kept), a.dense_shape)
