"""Vectorization: functions of one element as functions of a batch, if the results provably agree.

Every operation of the traced function needs a rule below that adds a leading batch dimension. The
rules cover operations that compute each row bitwise as they would alone and that never fail,
whatever the values: IEEE arithmetic, comparisons, lossless casts, and data movement. If one
operation has no rule, or there is a variable, a random operation or an unknown shape, the function
is not vectorized.

A few more operations agree as long as they do not fail: those that parse strings. A program with
one of them is not `total`: its caller falls back to single elements when it fails, so that the
error is that of its element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..compiler.plan import Plan
from ..core.convert import constant_value, convert_to_tensor
from ..core.dtypes import int32, string
from ..core.graph.graph import FuncGraph, Operation
from ..core.op import execute
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from .structure import are_plain

Rule = Callable[[Operation, list[Tensor], list[bool]], Any]
# The rules by op type.
_RULES: dict[str, Rule] = {}
# The types of operations that the values of a row may make fail.
_FALLIBLE: set[str] = set()


class BatchProgram(NamedTuple):
    """A vectorized function; `total`: it never fails."""

    plan: Plan
    total: bool


class _Refused(Exception):
    """The function cannot be vectorized."""


def on_batches(graph: FuncGraph, specs: Sequence[Any]) -> BatchProgram | None:
    """The vectorized program of a function; None if its results may differ."""
    inputs, outputs = graph.inputs, graph.outputs
    if graph.variables or not outputs or not inputs or not are_plain(specs):
        return None
    if not all(tensor.shape.is_fully_defined() for tensor in inputs):
        return None
    captured = graph.captures
    batch = FuncGraph(f"{graph.name}_on_batches")
    # By id, the new graph's tensors for those of the old one, and whether they have a batch
    # dimension.
    known: dict[int, tuple[Tensor, bool]] = {}
    try:
        with batch.building():
            for tensor in inputs:
                shape = TensorShape([None]).concatenate(tensor.shape)
                known[id(tensor)] = batch.add_input(tensor.dtype, shape), True
            for _, tensor in captured:
                known[id(tensor)] = batch.add_input(tensor.dtype, tensor.shape), False
            for operation in graph.get_operations():
                if operation.type != "Placeholder":
                    _add(operation, known)
            rows = known[id(inputs[0])][0]
            results = [_with_rows(known, output, rows) for output in outputs]
    except _Refused:
        return None
    total = not any(_may_fail(operation) for operation in graph.get_operations())
    return BatchProgram(Plan(batch, list(batch.inputs), results, batch.name), total)


def _add(operation: Operation, known: dict[int, tuple[Tensor, bool]]) -> None:
    rule = _rule_of(operation)
    if rule is None or operation.control_inputs:
        raise _Refused
    pairs = []
    for tensor in operation.inputs:
        if id(tensor) not in known:
            raise _Refused
        pairs.append(known[id(tensor)])
    if operation.type != "Const":
        _check_shapes(operation)
    inputs, batched = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    given = any(batched) and _rule_of(operation) is not _known
    made = (rule if any(batched) else _unchanged)(operation, inputs, batched)
    for old, new in zip(operation.outputs, made if type(made) is list else [made], strict=True):
        known[id(old)] = new, given


def _check_shapes(operation: Operation) -> None:
    known = all(tensor.shape.is_fully_defined() for tensor in operation.inputs)
    if not known and not _takes_any_size(operation):
        raise _Refused
    for output in operation.outputs:
        sized = output.shape.is_fully_defined()
        if not sized and not (_takes_any_size(operation) or _may_fail(operation)):
            raise _Refused
        if sized and 0 in output.shape.as_list():
            raise _Refused


def _with_rows(known: dict[int, tuple[Tensor, bool]], output: Tensor, rows: Tensor) -> Tensor:
    from ..ops.array.joining import concat
    from ..ops.array.shaping import broadcast_to, shape

    made, batched = known[id(output)]
    if batched:
        return made
    return broadcast_to(made, concat([shape(rows)[:1], shape(made)], 0))


# Rules.


def batches(*types: str, may_fail: bool = False) -> Callable[[Rule], Rule]:
    """Register the vectorization rule of these op types.

    `may_fail`: the values of a row may cause an error.
    """

    def register(rule: Rule) -> Rule:
        _RULES.update(dict.fromkeys(types, rule))
        if may_fail:
            _FALLIBLE.update(types)
        return rule

    return register


def _rule_of(operation: Operation) -> Rule | None:
    return _element_wise if operation.op.batchable else _RULES.get(operation.type)


def _takes_any_size(operation: Operation) -> bool:
    """Whether the rule needs no static element size."""
    return _rule_of(operation) in (_element_wise, _cast, _reshape) and operation.type != "Squeeze"


def _may_fail(operation: Operation) -> bool:
    """Whether the values of a row may cause an error."""
    return operation.type in _FALLIBLE


@batches("Rank", "Shape", "Size")
def _known(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    """The result if it depends on static shapes only."""
    value = constant_value(operation.outputs[0])
    if value is None:
        raise _Refused
    return convert_to_tensor(value, operation.outputs[0].dtype)


@batches("Fill", "Range")
def _never(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    raise _Refused


@batches("Const")
@batches("DecodeRaw", may_fail=True)
def _unchanged(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    return execute(operation.op, tuple(inputs), operation.given)


def _element_wise(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    rank = operation.outputs[0].shape.rank
    free = not all(tensor.shape.is_fully_defined() for tensor in operation.inputs)
    if free and any(
        tensor.shape.rank != (rank if has_rows else 0)
        for tensor, has_rows in zip(operation.inputs, batched, strict=True)
    ):
        raise _Refused
    if free and sum(batched) > 1:
        raise _Refused
    aligned = [
        _aligned(tensor, rank) if has_rows else tensor
        for tensor, has_rows in zip(inputs, batched, strict=True)
    ]
    return execute(operation.op, tuple(aligned), operation.given)


def _aligned(tensor: Tensor, rank: Any) -> Tensor:
    """The batch with dimensions of size one inserted to match operands of higher rank."""
    if tensor.shape.rank is None:
        raise _Refused
    sizes: list[Any] = tensor.shape.as_list()[1:]
    if len(sizes) == rank:
        return tensor
    if None in sizes:
        raise _Refused
    return _shaped(tensor, [1] * (rank - len(sizes)) + sizes)


def _shaped(tensor: Tensor, sizes: Sequence[Any]) -> Tensor:
    from ..ops.array.joining import concat
    from ..ops.array.shaping import reshape, shape

    if None in tensor.shape.as_list()[1:]:
        # Rows that are too short must not become fewer rows.
        return reshape(tensor, concat([shape(tensor)[:1], convert_to_tensor(sizes, int32)], 0))
    return reshape(tensor, [-1, *sizes])


@batches("Cast")
def _cast(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    source, target = inputs[0].dtype, operation.given["DstT"]
    # An out-of-range conversion may depend on neighbouring elements.
    if source.is_floating and (target.is_integer or source is string):
        raise _Refused
    if source.is_complex or operation.attrs.get("Truncate"):
        raise _Refused
    return _unchanged(operation, inputs, batched)


def _constant(tensor: Tensor) -> Any:
    value = constant_value(tensor) if isinstance(tensor, SymbolicTensor) else tensor._array
    if value is None:
        raise _Refused
    return np.asarray(value)


def _first_only(batched: list[bool]) -> None:
    if not batched[0] or any(batched[1:]):
        raise _Refused


def _behind_rows(axes: Any, rank: Any) -> Tensor:
    """Dimensions of an element as dimensions of a batch."""
    moved = np.asarray(axes, np.int32)
    return convert_to_tensor(np.where(moved < 0, moved + rank, moved) + 1, int32)


@batches("Transpose")
def _transpose(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    _first_only(batched)
    order = [0, *(_constant(inputs[1]) + 1).tolist()]
    return execute(operation.op, (inputs[0], convert_to_tensor(order, int32)), operation.given)


@batches("All", "Any", "Max", "Min", "ReverseV2")
def _along_axes(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    _first_only(batched)
    axes = _behind_rows(_constant(inputs[1]), operation.inputs[0].shape.rank)
    return execute(operation.op, (inputs[0], axes), operation.given)


@batches("Sum")
def _exact_sum(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    # Float sums depend on the order of the terms.
    if not inputs[0].dtype.is_integer:
        raise _Refused
    return _along_axes(operation, inputs, batched)


@batches("ExpandDims")
def _expand_dims(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    return _reshape(operation, inputs, batched)


@batches("Reshape", "Squeeze")
def _reshape(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    _first_only(batched)
    return _shaped(inputs[0], operation.outputs[0].shape.as_list())


@batches("StridedSlice")
def _strided_slice(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    _first_only(batched)
    begin, end, strides = (_constant(tensor).tolist() for tensor in inputs[1:])
    attrs = dict(operation.attrs)
    for mask in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask"):
        attrs[mask] = attrs[mask] << 1
    for mask in ("begin_mask", "end_mask"):
        attrs[mask] = attrs[mask] << 1 | 1
    places = [convert_to_tensor([first, *rest], int32)
              for first, rest in ((0, begin), (0, end), (1, strides))]  # fmt: skip
    return execute(operation.op, (inputs[0], *places), attrs)


@batches("ConcatV2")
def _concat(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    if not all(batched[:-1]) or batched[-1]:
        raise _Refused
    axis = _behind_rows(_constant(inputs[-1]), operation.inputs[0].shape.rank)
    return execute(operation.op, (*inputs[:-1], axis), operation.given)


@batches("Pack")
def _pack(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    if not all(batched):
        raise _Refused
    axis = operation.attrs.get("axis", 0)
    attrs = {**operation.given, "axis": axis + 1 if axis >= 0 else axis}
    return execute(operation.op, tuple(inputs), attrs)


@batches("OneHot")
def _one_hot(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    _first_only(batched)
    axis = operation.attrs.get("axis", -1)
    attrs = {**operation.given, "axis": axis + 1 if axis >= 0 else axis}
    return execute(operation.op, tuple(inputs), attrs)


@batches("Pad", "PadV2")
def _pad(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    _first_only(batched)
    padding = np.concatenate([np.zeros((1, 2), np.int32), _constant(inputs[1]).astype(np.int32)])
    sizes = convert_to_tensor(padding, int32)
    return execute(operation.op, (inputs[0], sizes, *inputs[2:]), operation.given)


@batches("Slice")
def _slice(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    _first_only(batched)
    begin, size = (_constant(tensor).tolist() for tensor in inputs[1:])
    places = [convert_to_tensor([0, *begin], int32), convert_to_tensor([-1, *size], int32)]
    return execute(operation.op, (inputs[0], *places), operation.given)


@batches("Tile")
def _tile(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    _first_only(batched)
    times = convert_to_tensor([1, *_constant(inputs[1]).tolist()], int32)
    return execute(operation.op, (inputs[0], times), operation.given)


@batches("ParseExampleV2", may_fail=True)
def _parse(operation: Operation, inputs: list[Tensor], batched: list[bool]) -> Any:
    _first_only(batched)
    given = operation.given
    if given.get("num_sparse") or given.get("ragged_value_types"):
        raise _Refused
    if operation.inputs[0].shape.rank != 0 or not given["dense_shapes"]:
        raise _Refused
    return execute(operation.op, tuple(inputs), given)


def rows_at_once(specs: Sequence[Any], budget: int) -> int:
    """The number of elements of these specs that fit into this many bytes; at least 1."""
    size = sum(
        math.prod(spec.shape.as_list()) * max(1, spec.dtype.size or 8)
        for spec in specs
        if spec.shape.is_fully_defined()
    )
    return max(1, budget // max(1, size))
