"""Looking up rows of embedding tables."""

from __future__ import annotations

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32
from ...core.tensor import Tensor
from ...core.variable import Variable
from ..array import creation, gathering, joining, partition, selection, shaping
from ..math import arithmetic, casting, clipping, comparison, division


def embedding_lookup(params, ids, max_norm=None, name=None):
    """The rows of `params` at `ids`, scaled down where their norm exceeds `max_norm`.

    A list of tables is one table partitioned into contiguous parts of equal length, the first ones
    a row longer if the rows do not divide evenly.

    >>> tf.nn.embedding_lookup(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [1, 0, 1]).numpy().tolist()
    [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]
    """
    if params is None:
        raise ValueError("params must be specified: a table of embeddings, or a list of them.")
    tables = list(params) if isinstance(params, list | tuple) else [params]
    if not tables:
        raise ValueError("params is an empty list; it needs at least one table of embeddings.")
    ids = convert_to_tensor(ids)
    if len(tables) == 1:
        return _clipped(gathering.gather(tables[0], ids), ids, max_norm)
    tables = [t if isinstance(t, Tensor | Variable) else convert_to_tensor(t) for t in tables]
    return _partitioned(tables, ids, max_norm)


def _clipped(embeddings, ids, max_norm):
    if max_norm is None:
        return embeddings
    if ids.shape.rank is not None and embeddings.shape.rank is not None:
        axes = list(range(ids.shape.rank, embeddings.shape.rank))
    else:
        axes = creation.range(shaping.rank(ids), shaping.rank(embeddings))
    return clipping.clip_by_norm(embeddings, max_norm, axes)


def _partitioned(tables, ids, max_norm):
    """Look up in a partitioned table: map each id to its part and its row within that part."""
    count = len(tables)
    flat = shaping.reshape(ids, [-1])
    rows = arithmetic.add_n([_row_count(table, flat.dtype) for table in tables])
    length, longer = division.floordiv(rows, count), division.floormod(rows, count)
    # The first `longer` parts have length + 1 rows.
    behind = flat - longer
    part = arithmetic.maximum(flat // (length + 1), behind // length)
    within = selection.where(comparison.less(part, longer), flat % (length + 1), behind % length)
    part = casting.cast(part, int32)
    positions = creation.range(shaping.size(flat))
    wanted = partition.dynamic_partition(within, part, count)
    places = partition.dynamic_partition(positions, part, count)
    found = [gathering.gather(table, each) for table, each in zip(tables, wanted, strict=True)]
    found = [_clipped(rows, each, max_norm) for rows, each in zip(found, wanted, strict=True)]
    joined = partition.dynamic_stitch(places, found)
    sizes = joining.concat([shaping.shape(ids), shaping.shape(joined)[1:]], 0)
    return shaping.reshape(joined, sizes)


def _row_count(table, dtype):
    rows = table.shape[:1]
    if rows.is_fully_defined():
        return convert_to_tensor(rows[0], dtype)
    return casting.cast(shaping.shape(table)[0], dtype)
