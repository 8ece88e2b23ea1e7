"""Conditions in graphs: If and Case, whose branches are graphs of their own."""

from __future__ import annotations

import numpy as np

from ..core import nest
from ..core.autodiff.backward import is_differentiable
from ..core.context import state
from ..core.convert import convert_to_tensor
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
from ..core.graph.concrete import structure_of
from ..core.graph.graph import Operation
from ..core.op import execute, op
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.type_spec import TypeSpec
from .array.shaping import identity


def _output_shapes(inputs, attrs):
    return list(attrs["output_shapes"])


@op(
    "If",
    "cond: Tcond, input: *Tin -> output: *Tout",
    shape=_output_shapes,
    stateful=True,
    runs_code=True,
)
def If(cond, input, *, then_branch, else_branch, Tout, output_shapes):
    return (then_branch if cond else else_branch)(*input)


@op(
    "Case",
    "branch_index: int32, input: *Tin -> output: *Tout",
    shape=_output_shapes,
    stateful=True,
    runs_code=True,
)
def Case(branch_index, input, *, branches, Tout, output_shapes):
    index = int(branch_index)
    return branches[index if 0 <= index < len(branches) else -1](*input)


If.partial = Case.partial = True


def _branches(given):
    return (
        given["branches"] if "branches" in given else [given["then_branch"], given["else_branch"]]
    )


def _with_branches(given, branches, tensors):
    """The attributes of a node with these branches, whose outputs match the tensors."""
    changed = dict(given, Tout=[t.dtype for t in tensors], output_shapes=[t.shape for t in tensors])
    if "branches" in given:
        return {**changed, "branches": branches}
    return {**changed, "then_branch": branches[0], "else_branch": branches[1]}


def _gradient(op, *gradients):
    node = op.outputs[0].op
    branches = _branches(node.given)
    present = [i for i, gradient in enumerate(gradients) if gradient is not None]
    inputs = node.inputs[1:]
    wanted = [i for i, x in enumerate(inputs) if is_differentiable(x) and op.needs(i + 1)]
    backward = [
        BranchGradient(
            branch,
            [branch.outputs[i] for i in present],
            [branch.source(i, inputs[i]) for i in wanted],
            [],
            lambda found, extra, sources: dense_or_zeros(found, sources),
        )
        for branch in branches
    ]
    given = [gradients[i] for i in present]
    feeds = [list(each.weights) for each in backward]
    values = [convert_to_tensor(each) for each in given]
    for branch_index, each in enumerate(backward):
        for tensor in each.uses:
            values.append(_saved(node, branch_index, tensor, inputs))
            for other, row in enumerate(feeds):
                row.append(each.inside(tensor) if other == branch_index else None)
    parts = [each.branch(row) for each, row in zip(backward, feeds, strict=True)]
    shapes = [inputs[i] for i in wanted]
    attrs = _with_branches(node.given, parts, shapes)
    found = execute(op.op, (node.inputs[0], *values), attrs)
    results = [None] * len(node.inputs)
    for i, gradient in zip(wanted, found, strict=True):
        results[i + 1] = gradient
    return results


If.gradient(_gradient)
Case.gradient(_gradient)


def _saved(node, branch_index, tensor, inputs):
    """A saved value of a branch, as a tensor outside: an input, or an output that is added."""
    branches = _branches(node.given)
    branch = branches[branch_index]
    for place, feed in enumerate(branch.feeds):
        if feed is tensor:
            return inputs[place]
    for place, output in enumerate(branch.outputs):
        if output is tensor:
            return node.outputs[place]
    # The other branches have no such value: they return a placeholder, which is never read.
    nothing = Tensor(np.zeros((), tensor.dtype.numpy)[()], tensor.dtype)
    longer = [
        each.with_outputs([tensor if i == branch_index else nothing])
        for i, each in enumerate(branches)
    ]
    (added,) = extend(node, [(tensor.dtype, tensor.shape)])
    node.given = _with_branches(node.given, longer, node.outputs)
    return added


def _tensor_for(value, chosen):
    """For an operation, a tensor that depends on it: a copy of the predicate."""
    if not isinstance(value, Operation):
        return value
    with state.graph.control_dependencies([value]):
        return identity(chosen)


def traced_branches(functions, chosen, scope, names):
    """Trace the functions as branches: their common captures, the branches, the structure."""
    branches, structures = [], []
    for function, name in zip(functions, names, strict=True):
        graph = BranchGraph.part(scope, name)
        with graph.building():
            result = function()
            if any(isinstance(each, Operation) for each in nest.flatten(result)):
                result = nest.map_structure(lambda each: _tensor_for(each, chosen), result)
            structure, outputs = structure_of(result, graph)
        graph.outputs = outputs
        branches.append(Branch(graph, [], outputs))
        structures.append(structure)
    captured = captured_by([branch.graph for branch in branches])
    return captured, [branch.aligned(captured) for branch in branches], structures


class _Value:
    """Stands for a tensor where the structure of results is printed."""

    def __repr__(self):
        return "a tensor"


def common_outputs(branches, structures, names):
    """The dtypes and shapes common to the results of all branches; TypeError where they differ."""
    first = structures[0]
    for structure, name in zip(structures[1:], names[1:], strict=True):
        try:
            nest.assert_same_structure(first, structure, expand_composites=True)
        except (TypeError, ValueError):
            shown = [nest.map_structure(lambda _: _Value(), each) for each in (first, structure)]
            raise TypeError(
                f"{names[0]} and {name} must return the same structure of results, with as many "
                f"tensors. {names[0]} returns {shown[0]!r}, {name} returns {shown[1]!r}."
            ) from None
    _join_types(structures, names)
    columns = list(zip(*[branch.outputs for branch in branches], strict=False))
    if len({len(branch.outputs) for branch in branches}) > 1:
        raise TypeError(
            f"{' and '.join(names)} must return the same number of tensors, got "
            f"{[len(branch.outputs) for branch in branches]}."
        )
    shapes = []
    for place, column in enumerate(columns):
        if len({each.dtype for each in column}) > 1:
            raise TypeError(
                f"{' and '.join(names)} arguments to tf.cond must have the same number, type, and "
                f"overall structure of return values: result {place} is "
                f"{' or '.join(each.dtype.name for each in column)}."
            )
        shape = column[0].shape
        for each in column[1:]:
            shape = _common_shape(shape, each.shape)
        shapes.append(shape)
    return [column[0].dtype for column in columns], shapes


def _join_types(structures, names):
    """Let the first structure have the types that the composites of all branches have in common.

    TypeError where an extension type has none with what another branch returns in its place;
    other composites differ by the number or the dtypes of their tensors.
    """
    for structure, name in zip(structures[1:], names[1:], strict=True):
        for leaf, other in zip(nest.flatten(structures[0]), nest.flatten(structure), strict=False):
            ours, theirs = getattr(leaf, "spec", None), getattr(other, "spec", None)
            common = None
            if type(ours) is type(theirs) and isinstance(ours, TypeSpec):
                common = ours.most_specific_common_supertype([theirs])
            if common is not None:
                leaf.spec = common
            elif hasattr(ours, "_registered_name") or hasattr(theirs, "_registered_name"):
                shown = [repr(spec or "a tensor") for spec in (ours, theirs)]
                raise TypeError(
                    f"{names[0]} and {name} arguments to tf.cond must have the same number, type, "
                    "and overall structure of return values. They have no type in common: "
                    f"{names[0]} returns {shown[0]}, {name} returns {shown[1]}."
                )


def _common_shape(a, b):
    if a.rank is None or b.rank is None or a.rank != b.rank:
        return TensorShape(None)
    return TensorShape([m if m == n else None for m, n in zip(a, b, strict=True)])


def packed(structure, outputs):
    """Pack the outputs of a branch into its structure."""
    # Without outputs a graph returns the operation itself.
    values = iter(() if isinstance(outputs, Operation) else outputs)
    leaves = [leaf.value(values) for leaf in nest.flatten(structure)]
    return nest.pack_sequence_as(structure, leaves)


def traced_cond(pred, true_fn, false_fn, name):
    """tf.cond in a graph."""
    names = ["true_fn", "false_fn"]
    scope = scope_of(name)
    captured, branches, structures = traced_branches(
        [true_fn, false_fn], pred, scope, ["true", "false"]
    )
    dtypes, shapes = common_outputs(branches, structures, names)
    outputs = add_named(
        scope,
        If,
        (pred, *captured),
        {
            "then_branch": branches[0],
            "else_branch": branches[1],
            "Tout": dtypes,
            "output_shapes": shapes,
        },
    )
    return packed(structures[0], outputs)


def traced_switch(index, functions, name):
    """tf.switch_case in a graph."""
    names = [f"branch {i}" for i in range(len(functions))]
    scope = scope_of(f"{name}/indexed_case")
    captured, branches, structures = traced_branches(
        functions, index, scope, [f"branch{i}" for i in range(len(functions))]
    )
    dtypes, shapes = common_outputs(branches, structures, names)
    outputs = add_named(
        scope,
        Case,
        (index, *captured),
        {"branches": branches, "Tout": dtypes, "output_shapes": shapes},
    )
    return packed(structures[0], outputs)
