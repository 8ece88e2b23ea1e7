"""The backward pass over recorded operations, from targets to the gradients of sources."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..context import next_key, state
from ..convert import convert_to_tensor
from ..indexed_slices import IndexedSlices, to_dense
from ..op import REGISTRY, Op, Record
from ..shape_rules import unknown
from ..tensor import SymbolicTensor, Tensor
from .joined_products import JoinedProducts

# Functions whose operations are named after the function, not after a given name.
_SCOPES = frozenset({"BiasAdd", "MatMul"})
_NUMBER = re.compile(r"_\d+$")


def backward(
    records: Sequence[Record],
    targets: Sequence[Any],
    weights: Sequence[Any],
    source_keys: Sequence[int],
    needed: set[int],
    is_tape: bool = False,
) -> dict[int, Any]:
    """Traverse the records in reverse from the targets; the gradient of every source key reached.

    A target's weight is its initial gradient, None for ones. Only gradients with respect to keys in
    `needed` are computed. In a graph, gradient operations are named after the forward operations,
    in the scope "gradient_tape".
    """
    apply = _apply_rule if state.graph is None else functools.partial(_apply_named, is_tape)
    gradients: dict[int, Any] = {}
    for place, target in enumerate(targets):
        if target._key:
            weight = weights[place]
            seed = _ones_like(target) if weight is None else _weight(weight, target)
            known = gradients.get(target._key)
            gradients[target._key] = seed if known is None else add_gradients(known, seed)
    sources = set(source_keys)
    joined = JoinedProducts.of(records, sources)
    for record in reversed(records):
        found: list[Any] = []
        reached = False
        for output in record.outputs:
            key = output._key
            gradient = gradients.get(key) if key in sources else gradients.pop(key, None)
            if gradient is not None:
                reached = True
            found.append(gradient)
        if not reached:
            continue
        inputs = record.inputs
        for tensor in inputs:
            if tensor._key in needed:
                break
        else:
            continue
        record.needed = needed
        if joined is not None:
            record.joined = joined
            record.needed = joined.needed_without(record, found, needed)
        results = apply(record, found)
        # A tape that is reused must not find those of an earlier use.
        record.joined = None
        for place, gradient in enumerate(results):
            if gradient is None or (key := inputs[place]._key) not in needed:
                continue
            if key in gradients:
                gradient = add_gradients(gradients[key], gradient)
            gradients[key] = gradient
    for key, gradient in () if joined is None else joined.results():
        known = gradients.get(key)
        gradients[key] = gradient if known is None else add_gradients(known, gradient)
    return gradients


def graph_records(
    graph: Any, source_keys: Sequence[int], stopped: frozenset[int] | set[int] = frozenset()
) -> tuple[list[Record], set[int]]:
    """The operations of a graph that depend on the sources, as records of a tape."""
    needed = set(source_keys)
    records = []
    for operation in graph.operations:
        if not operation.op.differentiable or not any(x._key in needed for x in operation.inputs):
            continue
        if stopped and any(output._key in stopped for output in operation.outputs):
            continue
        for output in operation.outputs:
            if not output._key:
                output._key = next_key()
            if is_differentiable(output):
                needed.add(output._key)
        records.append(Record(operation.op, operation.inputs, operation.outputs, operation.given))
    return records, needed


def _apply_rule(record: Record, gradients: list[Any]) -> Sequence[Any]:
    op = record.op
    rule = op.gradient_rule
    if rule is None:
        raise LookupError(f"gradient registry has no entry for: {op.name}")
    if len(gradients) == 1 and type(gradients[0]) is Tensor:
        # The common case: no gradient is missing or sparse.
        result = rule(record, gradients[0])
    else:
        for index, gradient in enumerate(gradients):
            if gradient is None:
                output = record.outputs[index]
                if not op.partial and is_differentiable(output):
                    gradients[index] = zeros_like(output)
            elif type(gradient) is IndexedSlices and op.name != "Identity":
                gradients[index] = to_dense(gradient)
        result = rule(record, *gradients)
    count = len(record.inputs)
    if count == 1 and not isinstance(result, list | tuple):
        return (result,)
    if len(result) != count:
        raise ValueError(
            f"The gradient of {op.name} gave {len(result)} results for {count} inputs."
        )
    checked: Sequence[Any] = result
    return checked


def _apply_named(is_tape: bool, record: Record, gradients: list[Any]) -> Sequence[Any]:
    """Apply the rule in a name scope named after the forward operation, as the original does."""
    outer = state.name_scope
    output = record.outputs[0] if record.outputs else None
    if isinstance(output, SymbolicTensor):
        state.name_scope = _scope_of(output.op, is_tape)
    try:
        return _apply_rule(record, gradients)
    finally:
        state.name_scope = outer


def _scope_of(operation: Any, is_tape: bool) -> str:
    name = operation.name
    if not is_tape:
        return f"{state.name_scope or 'gradients/'}{name}_grad/"
    outer, _, own = name.rpartition("/")
    if _NUMBER.sub("", own) != operation.type or operation.type in _SCOPES:
        # A function whose operations get their own scope.
        return f"gradient_tape/{name}/"
    return f"gradient_tape/{outer}/" if outer else "gradient_tape/"


def add_gradients(a: Any, b: Any) -> Any:
    """The sum of two gradients; of two IndexedSlices, one with the rows of both."""
    if isinstance(a, IndexedSlices) and isinstance(b, IndexedSlices):
        concat = REGISTRY["ConcatV2"]
        zero = convert_to_tensor(np.int32(0))
        indices = [convert_to_tensor(a.indices), convert_to_tensor(b.indices)]
        if indices[0].dtype is not indices[1].dtype:
            indices = [REGISTRY["Cast"](each, DstT=dtypes.int64) for each in indices]
        values = concat([a.values, b.values], zero)
        return IndexedSlices(values, concat(indices, zero), a.dense_shape)
    if a.dtype is dtypes.variant:
        return REGISTRY["AddVariants"](a, b)
    return REGISTRY["AddV2"](convert_to_tensor(a), convert_to_tensor(b))


def _weight(weight: Any, target: Any) -> Tensor:
    tensor = convert_to_tensor(weight, dtype_hint=target.dtype)
    if tensor.shape.is_compatible_with(target.shape):
        return tensor
    spread: Tensor = REGISTRY["Mul"](tensor, _ones_like(target))
    if not spread.shape.is_compatible_with(target.shape):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"output_gradients must have the shape of the target: expected {target.shape}, "
            f"got {tensor.shape}.",
        )
    return spread


def _ones_like(value: Any) -> Tensor:
    if isinstance(value, SymbolicTensor) or state.graph is not None:
        ones: Tensor = REGISTRY["OnesLike"](convert_to_tensor(value))
        return ones
    return _filled(value, 1)


def zeros_like(value: Any) -> Tensor:
    """Zeros of the shape and dtype of a tensor or variable."""
    if value.dtype is dtypes.variant:
        nothing: Tensor = REGISTRY["TensorListZeros"](value)
        return nothing
    if isinstance(value, SymbolicTensor) or state.graph is not None:
        zeros: Tensor = REGISTRY["ZerosLike"](convert_to_tensor(value))
        return zeros
    return _filled(value, 0)


def _filled(value: Any, fill: int) -> Tensor:
    dtype = value.dtype
    sizes = (value if isinstance(value, Tensor) else value._tensor)._array.shape
    return Tensor(np.full(sizes, fill, dtype.numpy) if sizes else _number(fill, dtype), dtype)


@functools.lru_cache(maxsize=64)
def _number(value: int, dtype: dtypes.DType) -> Any:
    return dtype.as_numpy_dtype(value)


def is_differentiable(value: Any) -> bool:
    """Whether a value's dtype has gradients."""
    return value.dtype in dtypes.DIFFERENTIABLE


def rule_op(name: str, rule: Callable[..., Any]) -> Op:
    """An op that exists on tapes only, to carry a gradient rule."""
    op = Op(name, "inputs: *T", _not_computed, unknown, False, True, {})
    op.gradient_rule = rule
    return op


def _not_computed(*inputs: Any) -> None:
    raise NotImplementedError("This op only carries a gradient.")
