"""Choosing and repeating computations depending on tensors."""

from __future__ import annotations

from ..core import nest
from ..core.convert import convert_to_tensor
from ..core.dtypes import as_dtype
from ..core.errors import InvalidArgumentError
from ..core.tensor import Tensor
from .array.joining import stack, unstack


def cond(pred, true_fn=None, false_fn=None, name=None):
    """`true_fn()` if `pred` is true, else `false_fn()`.

    >>> x = tf.constant(3.0)
    >>> tf.cond(x > 0.0, lambda: x, lambda: -x)
    <tf.Tensor: shape=(), dtype=float32, numpy=3.0>
    """
    for argument, value in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(value):
            raise TypeError(f"'{argument}' must be a callable, got {value!r}.")
    if isinstance(pred, Tensor) and pred.shape.num_elements() not in (None, 1):
        raise ValueError(f"`pred` must be a scalar, got shape {pred.shape}.")
    return true_fn() if pred else false_fn()


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The result of the first function whose condition is true, or of `default`.

    >>> x = tf.constant(2)
    >>> tf.case([(x < 1, lambda: tf.constant("low"))], default=lambda: tf.constant("high")).numpy()
    b'high'
    """
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else pred_fn_pairs
    if not isinstance(pairs, list | tuple):
        raise TypeError(
            f"'pred_fn_pairs' must be a list, tuple, or dict of (pred, fn) pairs, got {pairs!r}."
        )
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not callable(pair[1]):
            raise TypeError(f"Each entry of 'pred_fn_pairs' must be a (pred, fn) tuple: {pair!r}.")
        if not isinstance(pair[0], Tensor):
            raise TypeError(f"pred must be a Tensor, got: {pair[0]!r}")
    if default is not None and not callable(default):
        raise TypeError(f"'default' must be a callable, got {default!r}.")
    for pred, function in pairs:
        if pred:
            return function()
    if default is None:
        raise InvalidArgumentError(
            None, None, "None of the conditions of tf.case is true, and it has no default."
        )
    return default()


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """The result of the function at `branch_index`; of `default`, else the last, beyond them.

    >>> tf.switch_case(tf.constant(1), [lambda: tf.constant(10), lambda: tf.constant(20)]).numpy()
    np.int32(20)
    """
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if isinstance(branch_fns, dict) or (
        branch_fns and all(isinstance(each, tuple) for each in branch_fns)
    ):
        branches = dict(branch_fns)
    else:
        branches = dict(enumerate(branch_fns))
    if not branches:
        raise ValueError("branch_fns must not be empty.")
    for key, function in branches.items():
        if not isinstance(key, int) or not callable(function):
            raise TypeError(f"branch_fns must map ints to callables, got {key!r}: {function!r}.")
    index = int(branch_index)
    fallback = branches[max(branches)] if default is None else default
    return branches.get(index, fallback)()


def while_loop(
    cond,
    body,
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    maximum_iterations=None,
    name=None,
):
    """Repeat `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` is true.

    >>> tf.while_loop(lambda i: i < 10, lambda i: [i * 2], [tf.constant(1)])
    [<tf.Tensor: shape=(), dtype=int32, numpy=16>]
    """
    if not callable(cond) or not callable(body):
        raise TypeError(f"'cond' and 'body' must be callable, got {cond!r} and {body!r}.")
    if not loop_vars:
        raise ValueError("'loop_vars' must have at least one variable.")
    limit = None if maximum_iterations is None else int(maximum_iterations)
    structure = values = loop_vars
    rounds = 0
    while cond(*values) and (limit is None or rounds < limit):
        result = body(*values)
        if len(values) == 1 and not isinstance(result, list | tuple):
            result = [result]
        nest.assert_same_structure(list(structure), list(result))
        values = result
        rounds += 1
    return nest.pack_sequence_as(
        structure, [_as_loop_value(value) for value in nest.flatten(values)]
    )


def _as_loop_value(value):
    return value if not isinstance(value, int | float | list) else convert_to_tensor(value)


def _rows(elems):
    """The structure of each row of the elements, and how many there are."""
    flat = [convert_to_tensor(each) for each in nest.flatten(elems)]
    if not flat:
        raise ValueError("elems must be a Tensor or a structure of at least one Tensor.")
    if any(each.shape.rank == 0 for each in flat):
        raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars.")
    columns = [unstack(each) for each in flat]
    return [nest.pack_sequence_as(elems, list(row)) for row in zip(*columns, strict=True)]


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
    results = [fn(row) for row in _rows(elems)]
    if not results:
        raise ValueError("tf.map_fn over no elements cannot know the shape of its result.")
    return _stacked(results, signature)


def _stacked(results, signature=None):
    structure = results[0] if signature is None else signature
    columns = zip(*[nest.flatten(each) for each in results], strict=True)
    dtypes = [None] * len(nest.flatten(structure)) if signature is None else _dtypes(signature)
    stacked = [
        stack([convert_to_tensor(value, dtype) for value in column])
        for column, dtype in zip(columns, dtypes, strict=True)
    ]
    return nest.pack_sequence_as(structure, stacked)


def _dtypes(signature):
    return [as_dtype(getattr(each, "dtype", each)) for each in nest.flatten(signature)]


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """`fn` applied to each row, the results stacked.

    >>> tf.vectorized_map(lambda x: x * x, tf.constant([1, 2, 3])).numpy().tolist()
    [1, 4, 9]
    """
    return _stacked([fn(row) for row in _rows(elems)])


def foldl(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
):
    """The rows combined from first to last: `fn(fn(initializer, row0), row1)`...

    >>> tf.foldl(lambda a, x: a + x, tf.constant([1, 2, 3])).numpy()
    np.int32(6)
    """
    return _fold(fn, _rows(elems), initializer)


def foldr(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
):
    """The rows combined from last to first.

    >>> tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3])).numpy()
    np.int32(0)
    """
    return _fold(fn, _rows(elems)[::-1], initializer)


def _fold(fn, rows, initializer):
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable.")
    value = rows.pop(0) if initializer is None else _tensors(initializer)
    for row in rows:
        value = fn(value, row)
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
    """All intermediate results of combining the rows from first to last, stacked.

    >>> tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])).numpy().tolist()
    [1, 3, 6]
    """
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable.")
    rows = _rows(elems)
    if reverse:
        rows.reverse()
    if initializer is None:
        value = rows.pop(0)
        results = [value]
    else:
        value = _tensors(initializer)
        results = []
    for row in rows:
        value = fn(value, row)
        results.append(value)
    if reverse:
        results.reverse()
    return _stacked(results)
