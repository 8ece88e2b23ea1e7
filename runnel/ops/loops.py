"""Loops in graphs: While, whose condition and body are graphs of their own.

A loop has loop-carried values (`carried`), loop invariants (`invariants`), lists of which each
iteration reads one element (`scanned`), and values of each iteration stacked into lists
(`collected`). Its gradient is a loop in the opposite direction that scans the lists which the loop
collects for it, so higher-order gradients work.
"""

from __future__ import annotations

import numpy as np

from ..core import dtypes, nest
from ..core.autodiff.backward import is_differentiable, zeros_like
from ..core.convert import convert_to_tensor
from ..core.errors import InvalidArgumentError
from ..core.graph.branch import (
    Branch,
    BranchGradient,
    BranchGraph,
    add_named,
    captured_by,
    dense_or_zeros,
    extend,
    scope_of,
)
from ..core.op import MAY_NOT_END, execute, op
from ..core.shape_rules import SCALAR, unchanged
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec, TypeSpec, type_spec_from_value
from .tensor_array import TensorArray
from .tensor_list import sum_of


def _output_shapes(inputs, attrs):
    return list(attrs["output_shapes"])


@op(
    "While",
    "input: *T -> output: *Tout",
    shape=_output_shapes,
    stateful=True,
    effect=MAY_NOT_END,
    runs_code=True,
)
def While(input, *, cond, body, carried, invariants, reverse, Tout, output_shapes):
    values = input[:carried]
    fixed = input[carried : carried + invariants]
    scanned = input[carried + invariants :]
    if not scanned and len(body.outputs) == carried:
        while cond(*values, *fixed)[0]:
            values = body(*values, *fixed)
        return values
    rows = []
    if scanned:
        rounds = range(len(scanned[0]))
        for i in reversed(rounds) if reverse else rounds:
            results = body(*values, *fixed, *[each[i] for each in scanned])
            values = results[:carried]
            rows.append(results[carried:])
    else:
        while cond(*values, *fixed)[0]:
            results = body(*values, *fixed)
            values = results[:carried]
            rows.append(results[carried:])
    if reverse:
        rows.reverse()
    columns = [[row[i] for row in rows] for i in range(len(body.outputs) - carried)]
    return [*values, *columns]


While.partial = True

# Collected by loops to count their iterations.
_ROUND = Tensor(np.int32(0), dtypes.int32)

# The element-wise sum of two lists of gradients: of loop iterations or of tensor lists.
AddVariants = op(
    "AddVariants", "x: variant, y: variant -> z: variant", shape=unchanged,
    kernel=sum_of, gradient=lambda op, gradient: (gradient, gradient),
)  # fmt: skip


@While.gradient
def _(op, *gradients):
    node = op.outputs[0].op
    given = node.given
    body = given["body"]
    n, m = given["carried"], given["invariants"]
    inputs = node.inputs
    carried = [i for i in range(n) if is_differentiable(node.outputs[i])]
    fixed = [i for i in range(n, n + m) if is_differentiable(inputs[i]) and op.needs(i)]
    elements = [
        i
        for i in range(n + m + 1, len(inputs))
        if op.needs(i) and body.feeds[i] is not None and is_differentiable(body.feeds[i])
    ]
    lists = [i for i in range(n, len(gradients)) if gradients[i] is not None]
    sources = [*carried, *fixed, *elements]

    def finish(found, sums, feeds):
        found = dense_or_zeros_of_fixed(found, feeds, len(carried), len(fixed), sums)
        return found

    backward = BranchGradient(
        body,
        [body.outputs[i] for i in (*carried, *lists)],
        [body.source(i, inputs[i]) for i in sources],
        [inputs[i] for i in fixed],
        finish,
    )
    steps = inputs[n + m] if len(inputs) > n + m else _collected(node, _ROUND)
    seeds = [_seed(gradients[i], node.outputs[i]) for i in carried]
    sums = [zeros_like(inputs[i]) for i in fixed]
    constant_inputs, constant_feeds, list_inputs, list_feeds = [], [], [steps], [None]
    for tensor in backward.uses:
        inside = backward.inside(tensor)
        place = _place(body.feeds, tensor)
        if place is not None and n <= place < n + m:
            constant_inputs.append(inputs[place])
            constant_feeds.append(inside)
        elif place is not None and place >= n + m:
            list_inputs.append(inputs[place])
            list_feeds.append(inside)
        else:
            list_inputs.append(_collected(node, tensor))
            list_feeds.append(inside)
    weights = backward.weights
    first_list, first_sum = len(carried), len(carried) + len(lists)
    for position, i in enumerate(lists):
        list_inputs.append(gradients[i])
        list_feeds.append(weights[first_list + position])
    feeds = [*weights[:first_list], *weights[first_sum:], *constant_feeds, *list_feeds]
    loop_values = [*seeds, *sums]
    shapes = [value.shape for value in loop_values] + [SCALAR] * len(elements)
    types = [value.dtype for value in loop_values] + [dtypes.variant] * len(elements)
    outputs = execute(
        While,
        (*loop_values, *constant_inputs, *list_inputs),
        {
            "cond": None,
            "body": backward.branch(feeds),
            "carried": len(loop_values),
            "invariants": len(constant_inputs),
            "reverse": not given["reverse"],
            "Tout": types,
            "output_shapes": shapes,
        },
    )
    results = [None] * len(inputs)
    for i, gradient in zip(sources, outputs, strict=True):
        results[i] = gradient
    return results


def dense_or_zeros_of_fixed(found, feeds, carried, fixed, sums):
    """An iteration's gradients: of carried values, sums for invariants, those of elements."""
    added = [
        total if gradient is None else _sum(total, convert_to_tensor(gradient))
        for gradient, total in zip(found[carried : carried + fixed], sums, strict=True)
    ]
    return [
        *dense_or_zeros(found[:carried], feeds[:carried]),
        *added,
        *dense_or_zeros(found[carried + fixed :], feeds[carried + fixed :]),
    ]


def _sum(a, b):
    return AddVariants(a, b) if a.dtype is dtypes.variant else a + b


def _seed(gradient, output):
    return zeros_like(output) if gradient is None else convert_to_tensor(gradient)


def _place(feeds, tensor):
    return next((place for place, feed in enumerate(feeds) if feed is tensor), None)


def _collected(node, tensor):
    """The list that collects a value of the body over the iterations."""
    given = node.given
    body, carried = given["body"], given["carried"]
    place = _place(body.outputs[carried:], tensor)
    if place is not None:
        return node.outputs[carried + place]
    (added,) = extend(node, [(dtypes.variant, SCALAR)])
    node.given = dict(
        given,
        body=body.with_outputs([tensor]),
        Tout=[each.dtype for each in node.outputs],
        output_shapes=[each.shape for each in node.outputs],
    )
    return added


def traced_while(cond, body, loop_vars, shape_invariants, maximum_iterations, name):
    """tf.while_loop in a graph."""
    structure = list(loop_vars)
    scope = scope_of(name)
    specs, initial = _loop_types(structure, shape_invariants)
    flat_specs = [each for spec in specs for each in spec.flatten()]
    limit = None
    if maximum_iterations is not None:
        limit = convert_to_tensor(maximum_iterations, dtypes.int32)
    condition_graph = BranchGraph.part(scope, "cond")
    body_graph = BranchGraph.part(scope, "body")
    counter = [] if limit is None else [TensorSpec([], dtypes.int32)]

    def arguments(graph):
        feeds = [graph.add_input(spec.dtype, spec.shape) for spec in (*counter, *flat_specs)]
        values = iter(feeds[len(counter) :])
        leaves = [spec.from_tensors(values) for spec in specs]
        return feeds, nest.pack_sequence_as(structure, leaves)

    with condition_graph.building():
        condition_feeds, values = arguments(condition_graph)
        holds = _condition(cond(*values))
        if limit is not None:
            from .math.comparison import logical_and

            holds = logical_and(condition_feeds[0] < limit, holds)
        condition_outputs = [condition_graph.own(holds)]
    with body_graph.building():
        body_feeds, values = arguments(body_graph)
        result = body(*values)
        flat, result_specs = _body_results(result, structure, specs)
        steps = [body_feeds[0] + 1] if counter else []
        body_outputs = [body_graph.own(each) for each in (*steps, *flat)]
    _require_invariant(body_feeds[len(counter) :], body_outputs[len(counter) :])
    captured = captured_by([condition_graph, body_graph])
    start = [convert_to_tensor(np.int32(0))] if counter else []
    outputs = add_named(
        scope,
        While,
        (*start, *initial, *captured),
        {
            "cond": Branch(condition_graph, condition_feeds, condition_outputs).aligned(captured),
            "body": Branch(body_graph, body_feeds, body_outputs).aligned(captured),
            "carried": len(body_outputs),
            "invariants": len(captured),
            "reverse": False,
            "Tout": [each.dtype for each in body_feeds],
            "output_shapes": [each.shape for each in body_feeds],
        },
    )
    values = iter(outputs[len(counter) :])
    leaves = [spec.from_tensors(values) for spec in result_specs]
    return nest.pack_sequence_as(loop_vars, leaves)


def _condition(value):
    holds = convert_to_tensor(value, dtype_hint=dtypes.bool)
    if holds.dtype is not dtypes.bool or holds.shape.num_elements() not in (None, 1):
        raise InvalidArgumentError(
            None,
            None,
            f"The condition of tf.while_loop must return a boolean scalar, got {holds!r}.",
        )
    return holds


def _loop_types(structure, shape_invariants):
    """The spec of each loop variable, and the initial tensors."""
    invariants = [None] * len(nest.flatten(structure))
    if shape_invariants is not None:
        nest.assert_same_structure(
            structure, nest.map_structure(lambda _: 0, _shapes(list(shape_invariants)))
        )
        invariants = nest.flatten(_shapes(list(shape_invariants)))
    specs, tensors = [], []
    for value, invariant in zip(nest.flatten(structure), invariants, strict=True):
        spec = getattr(value, "_type_spec", None)
        if not isinstance(spec, TypeSpec):
            value = convert_to_tensor(value)
            spec = value._type_spec
        elif not isinstance(value, Tensor):
            spec = type_spec_from_value(value)
        if isinstance(invariant, _Shape):
            shape = TensorShape(invariant.shape)
            if not spec.shape.is_subtype_of(shape):
                raise ValueError(
                    "The shape invariant specified for a loop variable is not compatible with its "
                    f"initial shape: invariant {shape}, initial value of shape {spec.shape}."
                )
            spec = TensorSpec(shape, spec.dtype)
        elif isinstance(invariant, TypeSpec):
            spec = invariant
        specs.append(spec if type(spec) is not TensorSpec else TensorSpec(spec.shape, spec.dtype))
        tensors += [convert_to_tensor(each) for each in spec.to_tensors(value)]
    return specs, tensors


class _Shape:
    """A shape as a leaf: nest would flatten it otherwise."""

    def __init__(self, shape):
        self.shape = shape


def _shapes(invariants):
    def leaf(value):
        return _Shape(value) if isinstance(value, TensorShape) or value is None else value

    def walk(value):
        if isinstance(value, TensorShape) or value is None:
            return leaf(value)
        if isinstance(value, (list, tuple)) and all(isinstance(v, int | None) for v in value):
            return _Shape(TensorShape(value)) if value else _Shape(TensorShape([]))
        if isinstance(value, dict):
            return {key: walk(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(walk(each) for each in value)
        return value

    return [walk(each) for each in invariants]


def _body_results(result, structure, specs):
    """The tensors that the body of a loop returned."""
    if len(structure) == 1 and not isinstance(result, list | tuple):
        result = [result]
    result = list(result)
    nest.assert_same_structure(structure, result, expand_composites=False)
    flat, result_specs = [], []
    for value, spec in zip(nest.flatten(result), specs, strict=True):
        narrower = type_spec_from_value(value) if isinstance(value, TensorArray) else spec
        result_specs.append(narrower)
        if type(spec) is TensorSpec:
            value = convert_to_tensor(value)
            if value.dtype is not spec.dtype:
                raise TypeError(
                    "Loop var enters the loop with type "
                    f"{spec.dtype.name} but has type {value.dtype.name} after 1 iteration. Use "
                    "tf.cast in the body, or begin with a value of that type."
                )
            flat.append(value)
        else:
            if hasattr(spec, "_registered_name"):
                spec = _of_other_sizes(spec, value)
            flat += [convert_to_tensor(each) for each in spec.to_tensors(value)]
    return flat, result_specs


def _of_other_sizes(spec, value):
    """The spec of what an extension type became; its sizes are the affair of the invariants."""
    given = getattr(value, "_type_spec", None)
    if type(given) is not type(spec) or spec.most_specific_common_supertype([given]) is None:
        raise ValueError(
            f"The two structures don't have the same nested structure: a loop variable enters the "
            f"loop as {spec} and is {given or value!r} after one iteration. Only the shapes of its "
            "tensors may change."
        )
    return given


def _require_invariant(feeds, outputs):
    for feed, output in zip(feeds, outputs, strict=True):
        if feed.dtype is not dtypes.variant and not output.shape.is_subtype_of(feed.shape):
            raise ValueError(
                f"Input tensor enters the loop with shape {feed.shape}, but has shape "
                f"{output.shape} after one iteration. To allow the shape to vary across "
                "iterations, use the `shape_invariants` argument of tf.while_loop to specify a "
                "less-specific shape."
            )
