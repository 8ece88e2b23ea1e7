"""Embeddings of sparse or ragged ids, combined row by row."""

from __future__ import annotations

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32, int64
from ...core.variable import Variable
from ..array import creation, joining, selection, shaping
from ..math import casting, comparison, division, reduction, segment
from ..math.distinct import unique
from ..math.elementwise import sqrt
from ..nn.embedding import embedding_lookup
from ..ragged.ragged_tensor import RaggedTensor
from ..ragged.row_partition import RowPartition
from . import reductions, shaping as sparse_shaping
from .sparse_tensor import SparseTensor

_COMBINERS = ("mean", "sqrtn", "sum")


def _require(ids, weights, combiner, names):
    if not isinstance(ids, SparseTensor | RaggedTensor):
        raise TypeError(f"{names[0]} must be SparseTensor, got {type(ids)}")
    if weights is not None and not isinstance(weights, type(ids)):
        raise TypeError(
            f"{names[1]} must be either None or of the type of {names[0]}, got {type(weights)}"
        )
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")


def embedding_lookup_sparse(
    params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None, allow_fast_lookup=False
):
    """The embeddings of each row's ids, weighted and combined: mean, sum, or sum / sqrt(Σ w²).

    >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 2, 1], tf.int64), [2, 2])
    >>> table = tf.constant([[1.0], [2.0], [3.0]])
    >>> tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum").numpy().tolist()
    [[4.0], [2.0]]
    """
    combiner = "mean" if combiner is None else combiner
    _require(sp_ids, sp_weights, combiner, ("sp_ids", "sp_weights"))
    if isinstance(params, list | tuple) and len(params) == 1:
        (params,) = params
    if isinstance(sp_ids, SparseTensor):
        ids, rows = sp_ids.values, sp_ids.indices[:, 0]
    else:
        ids, rows = sp_ids.values, sp_ids.value_rowids()
    rows = casting.cast(rows, int32)
    # Each id is looked up once, however often it occurs.
    distinct, places = unique(ids)
    embeddings = embedding_lookup(params, distinct, max_norm=max_norm)
    if sp_weights is None:
        combine = {
            "sum": reductions.segment_sum,
            "mean": reductions.segment_mean,
            "sqrtn": reductions.segment_sqrt_n,
        }[combiner]
        return combine(embeddings, places, rows)
    return _weighted(embeddings, places, rows, sp_weights.values, combiner)


def _weighted(embeddings, places, rows, weights, combiner):
    from ..array import gathering

    if weights.dtype is not embeddings.dtype:
        weights = casting.cast(weights, embeddings.dtype)
    embeddings = gathering.gather(embeddings, places)
    rank = embeddings.shape.rank
    if rank is None:
        ones = creation.ones(shaping.reshape(shaping.rank(embeddings) - 1, [1]), int32)
        sizes = joining.concat([shaping.shape(weights), ones], 0)
    else:
        sizes = [-1] + [1] * (rank - 1)
    factors = shaping.reshape(weights, sizes)
    total = segment.segment_sum(embeddings * factors, rows)
    if combiner == "sum":
        return total
    if combiner == "mean":
        return division.divide_no_nan(total, segment.segment_sum(factors, rows))
    return division.divide_no_nan(total, sqrt(segment.segment_sum(factors * factors, rows)))


def safe_embedding_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiner="mean",
    default_id=None,
    max_norm=None,
    name=None,
    allow_fast_lookup=False,
):
    """As `embedding_lookup_sparse`, without negative ids and weights; empty rows give zeros.

    `default_id` is looked up for empty rows instead. All axes of the ids but the last are
    preserved.

    >>> ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([0, -1], tf.int64), [2, 2])
    >>> table = tf.constant([[1.0], [2.0]])
    >>> tf.nn.safe_embedding_lookup_sparse(table, ids).numpy().tolist()
    [[1.0], [0.0]]
    """
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    tables = (
        embedding_weights if isinstance(embedding_weights, list | tuple) else [embedding_weights]
    )
    if not tables:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    tables = [each if isinstance(each, Variable) else convert_to_tensor(each) for each in tables]
    _require(sparse_ids, sparse_weights, combiner, ("sparse_ids", "sparse_weights"))
    if isinstance(sparse_ids, RaggedTensor):
        return _safe_ragged(tables, sparse_ids, sparse_weights, combiner, default_id, max_norm)
    original = sparse_ids.dense_shape
    rows = shaping.reshape(reduction.reduce_prod(original[:-1]), [1])
    flat = joining.concat([rows, original[-1:]], 0)
    ids = sparse_shaping.reshape(sparse_ids, flat)
    weights = None
    if sparse_weights is not None:
        weights = SparseTensor(ids.indices, sparse_weights.values, ids.dense_shape)
    ids, weights = _pruned(ids, weights, combiner)
    ids, empty = sparse_shaping.fill_empty_rows(ids, 0 if default_id is None else default_id)
    if weights is not None:
        weights, _ = sparse_shaping.fill_empty_rows(weights, 1.0)
    found = embedding_lookup_sparse(tables, ids, weights, combiner, max_norm)
    found = _without_empty(found, empty, default_id)
    last = shaping.shape(found)[1:]
    outer = casting.cast(original[:-1], int32)
    result = shaping.reshape(found, joining.concat([outer, last], 0))
    if not result.shape.is_fully_defined() and sparse_ids.shape.rank is not None:
        result.set_shape(sparse_ids.shape[:-1].concatenate(found.shape[1:]))
    return result


def _without_empty(found, empty, default_id):
    """Zeros for rows that were empty, unless they have a default."""
    if default_id is not None:
        return found
    rank = found.shape.rank
    if rank is None:
        ones = creation.ones(shaping.reshape(shaping.rank(found) - 1, [1]), int32)
        sizes = joining.concat([shaping.shape(empty), ones], 0)
    else:
        sizes = [-1] + [1] * (rank - 1)
    return selection.where(shaping.reshape(empty, sizes), creation.zeros_like(found), found)


def _pruned(ids, weights, combiner):
    """Without the ids below 0 and, except for sums, the weights that are not > 0."""
    valid = comparison.greater_equal(ids.values, convert_to_tensor(0, ids.dtype))
    if weights is None:
        return sparse_shaping.retain(ids, valid), None
    if combiner != "sum":
        positive = comparison.greater(weights.values, convert_to_tensor(0, weights.dtype))
        valid = comparison.logical_and(valid, positive)
    return sparse_shaping.retain(ids, valid), sparse_shaping.retain(weights, valid)


def _safe_ragged(tables, ids, weights, combiner, default_id, max_norm):
    if ids.ragged_rank > 1 or (ids.shape.rank or 2) > 2:
        raise ValueError("Ragged ids of safe_embedding_lookup_sparse must have rank 2.")
    partition, rows = ids._row_partition.with_dtype(int64), casting.cast(ids.nrows(), int64)
    valid = comparison.greater_equal(ids.values, convert_to_tensor(0, ids.dtype))
    if weights is not None and combiner != "sum":
        positive = comparison.greater(weights.values, convert_to_tensor(0, weights.dtype))
        valid = comparison.logical_and(valid, positive)
    row_of = selection.boolean_mask(partition.value_rowids(), valid)
    default = 0 if default_id is None else default_id

    def filled(values, instead):
        kept = selection.boolean_mask(values, valid)
        new = sparse_shaping.ragged_fill_empty_rows(row_of, kept, rows, instead)
        partition = RowPartition.from_value_rowids(new.output_value_rowids, rows, validate=False)
        return RaggedTensor(new.output_values, partition, internal=True), new.empty_row_indicator

    found_ids, empty = filled(ids.values, default)
    found_weights = None if weights is None else filled(weights.values, 1.0)[0]
    found = embedding_lookup_sparse(tables, found_ids, found_weights, combiner, max_norm)
    return _without_empty(found, empty, default_id)
