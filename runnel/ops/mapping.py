"""Higher-order functions over the rows of tensors: map_fn, scan and folds.

In eager mode they are Python loops; in a graph they are while loops that write into TensorArrays.
"""

from __future__ import annotations

from ..core import nest
from ..core.context import name_scope, state
from ..core.convert import convert_to_tensor
from ..core.dtypes import as_dtype
from ..core.errors import InvalidArgumentError, OutOfRangeError
from ..core.op import COMPOSITES
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from ..core.type_spec import TensorSpec
from .array.creation import ones, range as count_up, zeros, zeros_like
from .array.joining import concat, stack, unstack
from .array.repeating import repeat
from .array.shaping import reshape, shape as shape_of
from .control_flow import while_loop
from .encoded_mapping import involves_encoded, map_encoded, map_encoded_at_once
from .tensor_array import TensorArray


def _elements(elems):
    """The elements as a flat list of tensors; ValueError where they are scalars."""
    flat = [convert_to_tensor(each) for each in nest.flatten(elems)]
    if not flat:
        raise ValueError("elems must be a Tensor or a structure of at least one Tensor.")
    if any(each.shape.rank == 0 for each in flat):
        raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars.")
    sizes = {each.shape[0] for each in flat if each.shape.rank} - {None}
    if len(sizes) > 1:
        raise ValueError(f"The elements have different numbers of rows: {sorted(sizes)}.")
    return flat


def _rows(elems):
    """The rows of the elements, in their structure."""
    columns = [unstack(each) for each in _elements(elems)]
    return [nest.pack_sequence_as(elems, list(row)) for row in zip(*columns, strict=True)]


class _Traced:
    """The elements in a graph: TensorArrays of rows, and the number of rows."""

    def __init__(self, elems):
        flat = _elements(elems)
        sizes = [each.shape[0] for each in flat if each.shape.rank]
        self.known = next((size for size in sizes if size is not None), None)
        self.count = shape_of(flat[0])[0] if self.known is None else convert_to_tensor(self.known)
        self._structure = elems
        self._arrays = [TensorArray(each.dtype, self.count).unstack(each) for each in flat]

    def row(self, index):
        """The elements' rows at an index."""
        rows = [array.read(index) for array in self._arrays]
        return nest.pack_sequence_as(self._structure, rows)

    def collected(self, dtypes):
        """TensorArrays for the results."""
        size = self.count if self.known is None else self.known
        return [TensorArray(dtype, size) for dtype in dtypes]


def _is_traced(elems):
    return state.graph is not None or any(
        isinstance(each, SymbolicTensor) for each in nest.flatten(elems)
    )


def map_fn(
    fn,
    elems,
    dtype=None,
    parallel_iterations=None,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    name=None,
    fn_output_signature=None,
):
    """`fn` applied to each row, the results stacked.

    >>> tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3])).numpy().tolist()
    [1, 4, 9]
    """
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable.")
    signature = dtype if fn_output_signature is None else fn_output_signature
    if involves_encoded(elems, signature):
        return map_encoded(map_fn, fn, elems, signature)
    if COMPOSITES:
        from .ragged.mapping import involves_ragged, map_rows

        if involves_ragged(elems, signature):
            return map_rows(fn, elems, signature)
        if any(hasattr(each, "dense_shape") for each in nest.flatten(elems)):
            return _over_sparse(fn, elems, signature)
    if _is_traced(elems):
        given, name = name or "map", None
        with name_scope(given):
            return _traced_map(fn, elems, elems if signature is None else signature)
    results = [fn(row) for row in _rows(elems)]
    signature = elems if signature is None else signature
    return _stacked(results, signature) if results else _nothing(signature)


def _over_sparse(fn, elems, signature):
    """The same with sparse tensors among the elements, each row a sparse tensor."""
    from .sparse import shaping as sparse

    if signature is None:
        raise ValueError("map_fn over a SparseTensor needs `fn_output_signature`.")
    flat = nest.flatten(elems)
    are_sparse = [hasattr(each, "dense_shape") for each in flat]
    numbered = [
        count_up(each.dense_shape[0]) if is_sparse else each
        for each, is_sparse in zip(flat, are_sparse, strict=True)
    ]

    def of_rows(rows):
        parts = []
        for each, row, is_sparse in zip(flat, rows, are_sparse, strict=True):
            if is_sparse:
                others = each.dense_shape[1:]
                start = concat([reshape(row, [1]), zeros_like(others)], 0)
                size = concat([ones([1], others.dtype), others], 0)
                row = sparse.reshape(sparse.slice(each, start, size), others)
            parts.append(row)
        return fn(nest.pack_sequence_as(elems, parts))

    return map_fn(of_rows, numbered, fn_output_signature=signature)


def _nothing(signature):
    """The result of mapping zero rows: zero rows."""

    def empty(each):
        dtype = as_dtype(getattr(each, "dtype", each))
        shape = each.shape if isinstance(each, TensorSpec) else getattr(each, "shape", [0])[1:]
        return zeros([0, *shape], dtype)

    return nest.map_structure(empty, signature)


def _traced_map(fn, elems, signature):
    rows = _Traced(elems)

    def body(i, *arrays):
        result = fn(rows.row(i))
        nest.assert_same_structure(signature, result)
        flat = [
            _result(value, as_dtype(getattr(wanted, "dtype", wanted)))
            for value, wanted in zip(nest.flatten(result), nest.flatten(signature), strict=True)
        ]
        written = [array.write(i, value) for array, value in zip(arrays, flat, strict=True)]
        return [i + 1, *written]

    start = [convert_to_tensor(0), *rows.collected(_dtypes(signature))]
    _, *arrays = while_loop(lambda i, *_: i < rows.count, body, start)
    stacked = [array.stack() for array in arrays]
    for tensor, wanted in zip(stacked, nest.flatten(signature), strict=True):
        if isinstance(wanted, TensorSpec):
            tensor.set_shape(TensorShape([None]).concatenate(wanted.shape))
    return nest.pack_sequence_as(signature, stacked)


def _no_rows(row):
    """A stack of zero such rows."""
    return zeros([0, *row.shape], row.dtype)


def _stacked(results, signature=None):
    structure = results[0] if signature is None else signature
    nest.assert_same_structure(structure, results[0])
    columns = zip(*[nest.flatten(each) for each in results], strict=True)
    dtypes = [None] * len(nest.flatten(structure)) if signature is None else _dtypes(signature)
    stacked = [
        stack([_result(value, dtype) for value in column])
        for column, dtype in zip(columns, dtypes, strict=True)
    ]
    return nest.pack_sequence_as(structure, stacked)


def _result(value, dtype):
    """The result of a function for a row, as a tensor of the requested dtype."""
    tensor = convert_to_tensor(value, None if isinstance(value, Tensor) else dtype)
    if dtype is not None and tensor.dtype is not dtype:
        raise InvalidArgumentError(
            None,
            None,
            f"The function gave {tensor.dtype.name} where {dtype.name} is wanted, the dtype of "
            "the elements unless `fn_output_signature` says another.",
        )
    return tensor


def _dtypes(signature):
    return [as_dtype(getattr(each, "dtype", each)) for each in nest.flatten(signature)]


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """`fn` applied to each row, the results stacked.

    >>> tf.vectorized_map(lambda x: x * x, tf.constant([1, 2, 3])).numpy().tolist()
    [1, 4, 9]
    """
    if involves_encoded(elems, None):
        return map_encoded_at_once(vectorized_map, fn, elems)
    elems = _spread(elems)
    if _is_traced(elems):
        return _traced_map(fn, elems, _result_of(fn, elems))
    results = [fn(row) for row in _rows(elems)]
    if results:
        return _stacked(results)
    # The result for one row determines the shapes.
    return nest.map_structure(lambda each: _no_rows(convert_to_tensor(each)), fn(_row(elems)))


def _spread(elems):
    """Broadcast elements with a single row to the number of rows of the others."""
    flat = [convert_to_tensor(each) for each in nest.flatten(elems)]
    longer = [each for each in flat if each.shape.rank and each.shape[0] != 1]
    if not longer or len(longer) == len(flat):
        return elems
    count = shape_of(longer[0])[0]
    single = [bool(each.shape.rank and each.shape[0] == 1) for each in flat]
    repeated = [
        repeat(each, count, axis=0) if alone else each
        for each, alone in zip(flat, single, strict=True)
    ]
    return nest.pack_sequence_as(elems, repeated)


def _row(elems):
    """A sample row of the elements; zeros if there may be none."""
    rows = [
        zeros(each.shape[1:], each.dtype) if each.shape.rank and each.shape[0] == 0 else each[0]
        for each in _elements(elems)
    ]
    return nest.pack_sequence_as(elems, rows)


def _result_of(fn, elems):
    """The structure and dtypes of `fn`'s results for a row; its graph is discarded."""
    from ..core.graph.branch import BranchGraph

    graph = BranchGraph.inside("probe")
    with graph.building():
        result = fn(_row(elems))
        return nest.map_structure(lambda each: convert_to_tensor(each).dtype, result)


def foldl(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
):
    """Fold the rows from first to last: `fn(fn(initializer, row0), row1)`...

    >>> tf.foldl(lambda a, x: a + x, tf.constant([1, 2, 3])).numpy()
    np.int32(6)
    """
    given, name = name or "foldl", None
    return _fold(fn, elems, initializer, False, given)


def foldr(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
):
    """Fold the rows from last to first.

    >>> tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3])).numpy()
    np.int32(0)
    """
    given, name = name or "foldr", None
    return _fold(fn, elems, initializer, True, given)


def _fold(fn, elems, initializer, reverse, scope):
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable.")
    if _is_traced(elems):
        with name_scope(scope):
            return _traced_fold(fn, elems, initializer, reverse)
    rows = _rows(elems)[::-1] if reverse else _rows(elems)
    value = _first(rows) if initializer is None else _tensors(initializer)
    for row in rows:
        value = fn(value, row)
    return value


def _first(rows):
    """Split off the first of the rows."""
    if not rows:
        raise OutOfRangeError(
            None, None, "There are no rows to begin with. Give an `initializer`, or elements."
        )
    return rows.pop(0)


def _traced_fold(fn, elems, initializer, reverse):
    rows = _Traced(elems)
    last = rows.count - 1

    def row(i):
        return rows.row(last - i if reverse else i)

    first = 0 if initializer is not None else 1
    value = row(0) if initializer is None else _tensors(initializer)
    _, value = while_loop(
        lambda i, value: i < rows.count,
        lambda i, value: [i + 1, fn(value, row(i))],
        [convert_to_tensor(first), value],
    )
    return value


def _tensors(structure):
    return nest.map_structure(convert_to_tensor, structure)


def scan(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    reverse=False,
    name=None,
):
    """Scan: all intermediate results of a fold from first to last, stacked.

    >>> tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])).numpy().tolist()
    [1, 3, 6]
    """
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable.")
    if _is_traced(elems):
        given, name = name or "scan", None
        with name_scope(given):
            return _traced_scan(fn, elems, initializer, reverse)
    rows = _rows(elems)
    if reverse:
        rows.reverse()
    if initializer is None:
        value = _first(rows)
        results = [value]
    else:
        value = _tensors(initializer)
        results = []
    for row in rows:
        value = fn(value, row)
        results.append(value)
    if not results:
        return nest.map_structure(_no_rows, value)
    if reverse:
        results.reverse()
    return _stacked(results)


def _traced_scan(fn, elems, initializer, reverse):
    rows = _Traced(elems)
    last = rows.count - 1

    def place(i):
        return last - i if reverse else i

    def written(arrays, i, value):
        flat = nest.flatten(value)
        return [a.write(place(i), each) for a, each in zip(arrays, flat, strict=True)]

    value = rows.row(place(0)) if initializer is None else _tensors(initializer)
    arrays = rows.collected([each.dtype for each in nest.flatten(value)])
    first = convert_to_tensor(0)
    if initializer is None:
        arrays = written(arrays, first, value)
        first = first + 1

    def body(i, value, arrays):
        value = fn(value, rows.row(place(i)))
        return [i + 1, value, written(arrays, i, value)]

    _, value, arrays = while_loop(lambda i, *_: i < rows.count, body, [first, value, arrays])
    return nest.pack_sequence_as(value, [array.stack() for array in arrays])
