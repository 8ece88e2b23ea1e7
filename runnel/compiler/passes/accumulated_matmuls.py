"""Accumulated matmuls: the gradient of a weight that is used in every step, as one matmul.

    x0' @ g0 + x1' @ g1 + ...  =  [x0; x1; ...]' @ [g0; g1; ...]

The backward pass of an unrolled RNN adds one small matmul per step. As one GEMM the accumulation is
free, and the GEMM runs at full speed. Sums of bias gradients are rewritten in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...core.dtypes import int32
from ...core.graph.graph import Operation
from ...core.shapes import TensorShape
from ...core.tensor import SymbolicTensor, Tensor
from .computation import Computation, constant, made_like, operation_like

# With fewer terms concatenating the operands costs more than it saves.
_FEWEST = 3


def run(computation: Computation) -> Computation:
    """Rewrite every sum with several matmuls as one matmul."""
    uses = computation.uses()
    fetched = {id(tensor) for tensor in computation.fetches}

    def alone(tensor: Tensor) -> bool:
        return len(uses.get(id(tensor), ())) == 1 and id(tensor) not in fetched

    def is_inner(tensor: Tensor) -> bool:
        return isinstance(tensor, SymbolicTensor) and tensor.op.type == "AddV2" and alone(tensor)

    roots = [
        operation
        for operation in computation.operations
        if operation.type == "AddV2"
        and not (
            is_inner(operation.outputs[0]) and uses[id(operation.outputs[0])][0].type == "AddV2"
        )
    ]
    plans = {}
    for root in roots:
        leaves = _leaves(root, is_inner)
        # Broadcast terms do not have the shape of the sum.
        shape = root.outputs[0].shape
        terms = [leaf for leaf in leaves if alone(leaf) and _same(leaf.shape, shape)]
        groups = [
            group
            for kind in ("MatMul", "BiasAddGrad")
            if len(group := [t for t in terms if _is_joinable(t, kind)]) >= _FEWEST
        ]
        if groups:
            plans[id(root)] = leaves, groups
    return _joined(computation, plans) if plans else computation


def _leaves(root: Operation, is_inner: Callable[[Tensor], bool]) -> list[Tensor]:
    """The terms of a sum, from left to right."""
    found: list[Tensor] = []
    pending = [*reversed(root.inputs)]
    shape = root.outputs[0].shape
    while pending:
        tensor = pending.pop()
        if is_inner(tensor) and _same(tensor.shape, shape):
            pending.extend(reversed(tensor.op.inputs))
        else:
            found.append(tensor)
    return found


def _same(a: TensorShape, b: TensorShape) -> bool:
    return a.is_fully_defined() and b.is_fully_defined() and a.as_list() == b.as_list()


def _is_joinable(tensor: Tensor, kind: str) -> bool:
    if not isinstance(tensor, SymbolicTensor) or tensor.op.type != kind:
        return False
    operation = tensor.op
    if any(each.shape.rank != 2 for each in operation.inputs):
        return False
    if kind == "MatMul":
        attrs = operation.attrs
        return bool(attrs["transpose_a"]) and not attrs["transpose_b"]
    return bool(operation.attrs["data_format"] == "NHWC")


def _joined(
    computation: Computation, plans: dict[int, tuple[list[Tensor], list[list[Tensor]]]]
) -> Computation:
    operations: list[Operation] = []
    replaced: dict[int, Tensor] = {}
    for operation in computation.operations:
        plan = plans.get(id(operation))
        if plan is None:
            operations.append(operation)
            continue
        leaves, groups = plan
        joined = {id(tensor) for group in groups for tensor in group}
        terms = [tensor for tensor in leaves if id(tensor) not in joined]
        for group in groups:
            made = _join(operation, group)
            operations += made
            terms.append(made[-1].outputs[0])
        while len(terms) > 1:
            pair = terms.pop(0), terms.pop(0)
            total = operation_like(operation, operation.op, pair, {})
            operations.append(total)
            terms.insert(0, total.outputs[0])
        replaced[id(operation.outputs[0])] = terms[0]
    return computation.with_operations(operations).substituted(replaced)


def _join(root: Operation, group: Sequence[Tensor]) -> list[Operation]:
    """The operations that compute the sum of a group as one matmul."""
    products = [tensor.op for tensor in group if isinstance(tensor, SymbolicTensor)]
    axis = constant(root, np.int32(0), int32)
    made = [axis.op]
    factors = []
    for place in range(len(products[0].inputs)):
        parts = [product.inputs[place] for product in products]
        rows = [part.shape[0] for part in parts]
        known = [size for size in rows if size is not None]
        count = sum(known) if len(known) == len(rows) else None
        join = made_like(root, "ConcatV2", (*parts, axis), [(count, parts[0].shape[1])])
        made.append(join)
        factors.append(join.outputs[0])
    made.append(operation_like(root, products[0].op, factors, products[0].given))
    return made
