"""Conditions and loops that depend on tensors."""

from __future__ import annotations

import functools

from ..core import nest
from ..core.context import name_scope, state
from ..core.convert import convert_to_tensor, is_tensor
from ..core.dtypes import int32
from ..core.errors import InvalidArgumentError
from ..core.tensor import SymbolicTensor, Tensor
from . import conditional, debugging, loops
from .array.joining import stack
from .math.casting import cast
from .math.reduction import reduce_any, reduce_sum


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
    if state.graph is not None and not isinstance(pred, Tensor) and is_tensor(pred):
        pred = convert_to_tensor(pred)
    if isinstance(pred, SymbolicTensor):
        # Intermediate operations are not named after the whole.
        given, name = name or "cond", None
        return conditional.traced_cond(pred, true_fn, false_fn, given)
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
    if default is None:
        if not pairs:
            raise ValueError("tf.case needs at least one condition, or a default.")
        if any(isinstance(pred, SymbolicTensor) for pred, _ in pairs):
            default = _without_match([pred for pred, _ in pairs], pairs[-1][1])
        else:
            default = _no_match
    if exclusive and any(isinstance(pred, SymbolicTensor) for pred, _ in pairs):
        _require_one([pred for pred, _ in pairs])
    for pred, function in reversed(pairs):
        default = functools.partial(cond, pred, function, default)
    if state.graph is None:
        return default() if strict else without_list_of_one(default())
    given, name = name, None
    with name_scope(given):
        return default()


def without_list_of_one(result):
    """Unpack a list of one element: as in the original, eager cases do unless strict."""
    return result[0] if isinstance(result, list | tuple) and len(result) == 1 else result


def _no_match():
    raise InvalidArgumentError(
        None, None, "None of the conditions of tf.case is true, and it has no default."
    )


def _without_match(preds, function):
    """In a graph: the last function, after an assertion that some condition holds."""

    def checked():
        debugging.Assert(reduce_any(stack(preds)), ["None of the conditions of tf.case is true:"])
        return function()

    return checked


def _require_one(preds):
    count = reduce_sum(cast(stack(preds), int32))
    debugging.assert_less(count, 2, message="More than one condition of an exclusive tf.case holds")


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """The result of the function at `branch_index`; out of range of `default`, else the last one.

    >>> tf.switch_case(tf.constant(1), [lambda: tf.constant(10), lambda: tf.constant(20)]).numpy()
    np.int32(20)
    """
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if branch_index.dtype is not int32:
        raise TypeError(f"'branch_index' must be of type int32, got {branch_index.dtype.name}.")
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
    fallback = branches[max(branches)] if default is None else default
    if isinstance(branch_index, SymbolicTensor):
        first, last = min(branches), max(branches)
        if first < 0:
            raise ValueError(f"branch_fns must have keys of at least 0, got {first}.")
        functions = [branches.get(i, fallback) for i in range(last + 1)]
        if functions[-1] is not fallback:
            functions.append(fallback)
        given, name = name, None
        return conditional.traced_switch(branch_index, functions, given)
    return branches.get(int(branch_index), fallback)()


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
    if state.graph is not None:
        given, name = name or "while", None
        return loops.traced_while(
            cond, body, loop_vars, shape_invariants, maximum_iterations, given
        )
    limit = None if maximum_iterations is None else int(maximum_iterations)
    values = loop_vars
    rounds = 0
    while cond(*values) and (limit is None or rounds < limit):
        result = body(*values)
        if len(values) == 1 and not isinstance(result, list | tuple):
            result = nest.pack_sequence_as(loop_vars, nest.flatten(result))
        nest.assert_same_structure(list(loop_vars), list(result))
        values = result
        rounds += 1
    return nest.map_structure(_as_loop_value, values)


def _as_loop_value(value):
    return value if not isinstance(value, int | float | list) else convert_to_tensor(value)
