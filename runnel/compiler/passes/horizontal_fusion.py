"""Horizontal fusion: several small matmuls with one right-hand side become a larger one.

    x0 @ w, x1 @ w, ...  =  rows of [x0; x1; ...] @ w

An unrolled RNN multiplies the input of every step by the same weights. These matmuls are
independent, so they run as one GEMM, with the bias after them; what computes their inputs moves up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...core.dtypes import int32
from ...core.graph.graph import Operation
from ...core.graph.reachability import has_effects
from ...core.tensor import SymbolicTensor, Tensor
from .computation import Computation, constant, made_like

# With fewer matmuls, or with more rows each, one GEMM is not faster.
_FEWEST = 3
_MOST_ROWS = 512


def run(computation: Computation) -> Computation:
    """Fuse the matmuls of each right-hand side that has several."""
    tried: list[Tensor] = []
    while True:
        groups: dict[int, list[Operation]] = {id(factor): [] for factor in tried}
        for operation in computation.operations:
            if _is_joinable(operation):
                groups.setdefault(id(operation.inputs[1]), []).append(operation)
        untried = list(groups.values())[len(tried) :]
        group = next((each for each in untried if len(each) >= _FEWEST), None)
        if group is None:
            return computation
        # Fusing copies the operations after it: search again.
        tried.append(group[0].inputs[1])
        computation = _stacked(computation, group)


def _is_joinable(operation: Operation) -> bool:
    if operation.type != "MatMul" or any(operation.given.values()) or operation.control_inputs:
        return False
    a, b = operation.inputs
    if not (a.shape.is_fully_defined() and b.shape.is_fully_defined()):
        return False
    return bool(a.shape[0] and a.shape[0] <= _MOST_ROWS)


def _stacked(computation: Computation, group: Sequence[Operation]) -> Computation:
    order = {id(operation): place for place, operation in enumerate(computation.operations)}
    group = _independent(computation, group)
    start = order[id(group[0])]
    moved = between(computation, start, order, (product.inputs[0] for product in group))
    if len(group) < _FEWEST or moved is None:
        return computation
    ends, bias = _with_bias(computation, group)
    if bias is not None:
        read = between(computation, start, order, [bias])
        if read is None:
            ends, bias = list(group), None
        else:
            moved |= read
    made, parts = _at_once(group, bias, ends)
    gone = {id(each) for each in (*group, *ends)} | moved
    first = [each for each in computation.operations if id(each) in moved]
    operations: list[Operation] = []
    for operation in computation.operations:
        if operation is group[0]:
            operations += [*first, *made]
        if id(operation) not in gone:
            operations.append(operation)
    pairs = zip(ends, parts, strict=True)
    replaced: dict[int, Tensor] = {id(end.outputs[0]): part for end, part in pairs}
    return computation.with_operations(operations).substituted(replaced)


def _independent(computation: Computation, group: Sequence[Operation]) -> list[Operation]:
    """The matmuls of a group whose left-hand side depends on no other one of it."""
    members = {id(product) for product in group}
    after: set[int] = set()
    found = []
    for operation in computation.operations:
        depends = any(
            isinstance(tensor, SymbolicTensor) and id(tensor.op) in after
            for tensor in operation.inputs
        )
        if id(operation) in members and not depends:
            found.append(operation)
            after.add(id(operation))
        elif depends:
            after.add(id(operation))
    return found


def between(
    computation: Computation, start: int, order: dict[int, int], tensors: Iterable[Tensor]
) -> set[int] | None:
    """The operations from `start` on that tensors depend on; None if one of them must not move."""
    pending = list(tensors)
    found: set[int] = set()
    while pending:
        tensor = pending.pop()
        if not isinstance(tensor, SymbolicTensor):
            continue
        operation = tensor.op
        place = order.get(id(operation), -1)
        if place < start or id(operation) in found:
            continue
        if operation.control_inputs or has_effects(operation):
            return None
        if operation.op.stateful and any(map(has_effects, computation.operations[start:place])):
            return None
        found.add(id(operation))
        pending += operation.inputs
    return found


def _with_bias(
    computation: Computation, group: Sequence[Operation]
) -> tuple[list[Operation], Tensor | None]:
    """The last operation for each matmul, and the bias if all of them add the same one."""
    uses = computation.uses()
    fetched = {id(tensor) for tensor in computation.fetches}
    ends = []
    for product in group:
        following = uses.get(id(product.outputs[0]), [])
        if len(following) != 1 or id(product.outputs[0]) in fetched:
            return list(group), None
        ends += following
    biases = {id(end.inputs[1]) for end in ends if end.type == "BiasAdd"}
    same = len(biases) == 1 and all(
        end.type == "BiasAdd" and end.given.get("data_format", "NHWC") == "NHWC" for end in ends
    )
    return (ends, ends[0].inputs[1]) if same else (list(group), None)


def _at_once(
    group: Sequence[Operation], bias: Tensor | None, ends: Sequence[Operation]
) -> tuple[list[Operation], list[SymbolicTensor]]:
    """The operations for all matmuls of a group, and the results in their order."""
    model = group[0]
    sizes = [int(product.inputs[0].shape[0] or 0) for product in group]
    axis = constant(model, np.int32(0), int32)
    counts = constant(model, np.array(sizes, np.int32), int32)
    a, b = model.inputs
    factors = [product.inputs[0] for product in group]
    rows = made_like(model, "ConcatV2", (*factors, axis), [(sum(sizes), a.shape[1])])
    product = made_like(model, "MatMul", (rows.outputs[0], b), [(sum(sizes), b.shape[1])])
    last = product
    if bias is not None:
        shape = (sum(sizes), b.shape[1])
        last = made_like(ends[0], "BiasAdd", (product.outputs[0], bias), [shape])
    cut = made_like(
        model,
        "SplitV",
        (last.outputs[0], counts, axis),
        [(size, b.shape[1]) for size in sizes],
        num_split=len(sizes),
    )
    between = [] if bias is None else [last]
    return [axis.op, counts.op, rows, product, *between, cut], cut.outputs
