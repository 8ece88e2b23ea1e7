"""Algebraic simplification: no-ops, inverse pairs, and cheaper equivalents."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtypes import INTEGER, bool as boolean, float32, uint64
from ...core.graph.graph import Operation
from ...core.op import KERNEL_FAILURES, Op
from ...core.shape_rules import unknown
from ...core.tensor import SymbolicTensor, Tensor
from .computation import Computation, constant_of, made_by, operation_like

# What replaces the operation, or None to keep it.
Rule = Callable[[Operation], Tensor | Operation | None]

_RULES: dict[str, Rule] = {}
# Sums of fewer ones are exact in float32, in any order.
_EXACT = 1 << 24


def run(computation: Computation) -> Computation:
    """Apply the rules to every operation."""
    return computation.rewritten(_tidied)


def simplifies(*types: str) -> Callable[[Rule], Rule]:
    """Register a rule for operations of these types."""

    def register(rule: Rule) -> Rule:
        _RULES.update(dict.fromkeys(types, rule))
        return rule

    return register


def _tidied(operation: Operation) -> Tensor | Operation | None:
    rule = _RULES.get(operation.type)
    return None if rule is None else rule(operation)


@simplifies("Cast")
def _same_type(operation: Operation) -> Tensor | None:
    (x,) = operation.inputs
    return x if x.dtype is operation.outputs[0].dtype else None


@simplifies("BroadcastTo")
def _same_shape(operation: Operation) -> Tensor | None:
    x = operation.inputs[0]
    shape = operation.outputs[0].shape
    same = shape.is_fully_defined() and x.shape.is_fully_defined() and _equal(x.shape, shape)
    return x if same else None


def _equal(a: object, b: object) -> bool:
    return list(a) == list(b)  # type: ignore[call-overload]


@simplifies("Reshape")
def _reshape(operation: Operation) -> Tensor | Operation | None:
    x, shape = operation.inputs
    found, before = _undone(operation), made_by(x, "Reshape")
    if found is not None or before is None:
        return found
    return operation_like(operation, operation.op, (before.inputs[0], shape), operation.given)


@simplifies("ExpandDims", "Squeeze")
def _undone(operation: Operation) -> Tensor | Operation | None:
    """The tensor whose shape a chain of reshapes restores, cast if a cast is among them."""
    shape = operation.outputs[0].shape
    if not shape.is_fully_defined():
        return None
    x, cast = operation.inputs[0], None
    while not (x.shape.is_fully_defined() and _equal(x.shape, shape)):
        before = made_by(x, *_RESHAPES) or (made_by(x, "Cast") if cast is None else None)
        if before is None:
            return None
        if before.type == "Cast":
            cast = before
        x = before.inputs[0]
    return x if cast is None else operation_like(operation, cast.op, (x,), cast.given)


@simplifies("Transpose")
def _transpose(operation: Operation) -> Tensor | Operation | None:
    x, order = operation.inputs
    permutation = constant_of(order)
    if permutation is None:
        return None
    if list(permutation) == list(range(len(permutation))):
        return x
    if isinstance(x, SymbolicTensor) and x.op.type == "Transpose":
        before = constant_of(x.op.inputs[1])
        if before is not None:
            both = np.asarray(before)[np.asarray(permutation)]
            if list(both) == list(range(len(both))):
                return x.op.inputs[0]
    return _looked_up(operation, [int(axis) for axis in permutation])


def _looked_up(operation: Operation, order: list[int]) -> Operation | None:
    """A lookup of transposed indices, for the transpose of its result: no copy of the rows.

    Recurrent layers transpose a batch of embeddings or one-hot vectors to time-major order.
    """
    lookup = made_by(operation.inputs[0], *_PLACES)
    if lookup is None or not _gives_rows(lookup):
        return None
    rank = lookup.inputs[_PLACES[lookup.type]].shape.rank
    if rank is None or order[rank:] != list(range(rank, len(order))):
        return None
    given = {**lookup.given, "order": tuple(order[:rank])}
    made = operation_like(operation, _in_order(lookup.op), lookup.inputs, given)
    made.name, made.location = lookup.name, lookup.location
    return made


def _gives_rows(lookup: Operation) -> bool:
    """Whether the dimensions of the indices come first in the result."""
    if lookup.type == "OneHot":
        return bool(lookup.get_attr("axis") == -1)
    return constant_of(lookup.inputs[2]) == 0 and not lookup.get_attr("batch_dims")


@functools.cache
def _in_order(op: Op) -> Op:
    """A lookup that transposes its indices."""
    kernel, place = op.kernel, _PLACES[op.name]

    def look_up(*arrays: Any, order: Any, **attrs: Any) -> Any:
        moved = list(arrays)
        moved[place] = moved[place].transpose(order)
        try:
            return kernel(*moved, **attrs)
        except KERNEL_FAILURES:
            # Let the error name the indices as they were given.
            return kernel(*arrays, **attrs)

    made = copy.copy(op)
    made.name, made.kernel = f"_{op.name}InOrder", look_up
    return made


@simplifies("MatMul", "BatchMatMulV2")
def _product(operation: Operation) -> Operation | None:
    """A matmul with transpose flags in place of transposed operands: BLAS reads either layout."""
    inputs, given = list(operation.inputs), dict(operation.given)
    for place, flag in enumerate(_FLAGS[operation.type]):
        before = made_by(inputs[place], "Transpose")
        if before is not None and _swaps_last(constant_of(before.inputs[1])):
            inputs[place] = before.inputs[0]
            given[flag] = not operation.get_attr(flag)
    if given == operation.given or inputs[0].dtype.is_complex:
        return None
    return operation_like(operation, operation.op, inputs, given)


def _swaps_last(permutation: Any) -> bool:
    if permutation is None:
        return False
    *rest, before_last, last = list(range(len(permutation)))
    return list(permutation) == [*rest, last, before_last]


@simplifies("Neg", "LogicalNot")
def _negation(operation: Operation) -> Tensor | None:
    (x,) = operation.inputs
    twice = isinstance(x, SymbolicTensor) and x.op.type == operation.type
    return x.op.inputs[0] if twice else None


@simplifies("Sum")
def _count(operation: Operation) -> Operation | None:
    """Count nonzero booleans in place of casting and summing them, as accuracies do."""
    before = made_by(operation.inputs[0], "Cast")
    if before is None or before.outputs[0].dtype is not float32:
        return None
    (x,) = before.inputs
    count = x.shape.num_elements()
    if x.dtype is not boolean or count is None or count >= _EXACT:
        return None
    is_total = operation.outputs[0].shape.rank == 0 and bool(x.shape.rank)
    return operation_like(operation, _COUNT, (x,), {}) if is_total else None


@simplifies("Equal")
def _comparison(operation: Operation) -> Operation | None:
    """An integer comparison in place of a float32 comparison, where the result is the same.

    It is the same if one side is an index: float32 represents all integers up to the largest index
    exactly, and rounds larger ones to something larger. Accuracies compare labels with indices.
    """
    casts = [made_by(tensor, "Cast") for tensor in operation.inputs]
    found = [cast.inputs[0] for cast in casts if cast is not None]
    if len(found) < 2 or operation.inputs[0].dtype is not float32:
        return None
    shapes = [tensor.shape for tensor in found]
    is_alike = all(shape.is_fully_defined() for shape in shapes) and _equal(*shapes)
    are_integers = all(tensor.dtype in _PLAIN_INTEGERS for tensor in found)
    if not (is_alike and are_integers and any(map(_is_place, found))):
        return None
    return operation_like(operation, _EQUAL_INTEGERS, found, {})


def _is_place(tensor: Tensor) -> bool:
    """Whether the values are indices along an axis of limited length."""
    maker = made_by(tensor, "ArgMax", "ArgMin")
    if maker is None:
        return False
    x, axis = maker.inputs[0], constant_of(maker.inputs[1])
    length = None if axis is None or x.shape.rank is None else x.shape[int(axis)]
    return length is not None and length < _EXACT


@simplifies("Mul")
def _scaled_back(operation: Operation) -> Tensor | None:
    """x for (x / c) * c, where neither operation rounds.

    A mean loss is multiplied by the batch size again before it is accumulated.
    """
    quotient, factor = operation.inputs
    before, by = made_by(quotient, "DivNoNan", "RealDiv"), constant_of(factor)
    divisor = None if before is None else constant_of(before.inputs[1])
    if before is None or divisor is None or by is None or np.ndim(by) or np.ndim(divisor):
        return None
    mantissa, _ = np.frexp(float(by)) if factor.dtype is float32 else (0.0, 0)
    return before.inputs[0] if by == divisor and mantissa == 0.5 else None


def _count_true(x: Any) -> Any:
    return np.float32(np.count_nonzero(x))


_COUNT = Op("_CountTrue", "x: bool -> y: float32", _count_true, unknown, False, False, {})
_EQUAL_INTEGERS = Op(
    "_EqualIntegers", "x: Tx, y: Ty -> z: bool", np.equal, unknown, False, False, {}
)
# Those that NumPy compares without converting to float.
_PLAIN_INTEGERS = INTEGER - {uint64}
# The input with the indices of each lookup.
_PLACES = {"OneHot": 0, "GatherV2": 1}
_RESHAPES = ("ExpandDims", "Reshape", "Squeeze")
# The attributes that transpose an operand.
_FLAGS = {
    "MatMul": ("transpose_a", "transpose_b"),
    "BatchMatMulV2": ("adj_x", "adj_y"),
}
