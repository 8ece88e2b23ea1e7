"""Fusion: a product or convolution with the bias and the activation that follow it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph import Operation
from ..op import Op
from ..shape_rules import unknown
from ..tensor import SymbolicTensor, Tensor
from .program import Program, operation_like

_PRODUCTS = ("MatMul", "Conv2D")
_BIASES = ("BiasAdd",)


def _relu(array: Any) -> Any:
    return np.maximum(array, 0, out=array)


def _tanh(array: Any) -> Any:
    return np.tanh(array, out=array)


_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"Relu": _relu, "Tanh": _tanh}
_FUSED: dict[tuple[str, str | None], Op] = {}


def run(program: Program) -> Program:
    """Add the bias, and apply the activation, in the product's own buffer."""
    uses = program.uses()
    fetched = {id(tensor) for tensor in program.fetches}

    def alone(tensor: Tensor) -> bool:
        """Whether nobody but the next operation sees a value."""
        return len(uses.get(id(tensor), ())) == 1 and id(tensor) not in fetched

    # The last operation of each chain takes the place of the whole.
    ends: dict[int, tuple[Operation, Operation, Operation | None]] = {}
    for operation in program.operations:
        if operation.type not in _BIASES:
            continue
        product = _producer(operation)
        if product is None or product.type not in _PRODUCTS or not _fits(product, operation):
            continue
        if not alone(product.outputs[0]):
            continue
        biased = operation.outputs[0]
        following = uses.get(id(biased), [])
        activation = following[0] if alone(biased) and following[0].type in _ACTIVATIONS else None
        ends[id(activation or operation)] = product, operation, activation
    if not ends:
        return program
    return _replaced(program, ends)


def _producer(operation: Operation) -> Operation | None:
    value = operation.inputs[0]
    return value.op if isinstance(value, SymbolicTensor) else None


def _fits(product: Operation, bias: Operation) -> bool:
    dtype = bias.outputs[0].dtype.name
    layout = bias.given.get("data_format", "NHWC")
    return dtype in ("float32", "float64") and layout == "NHWC"


def _replaced(
    program: Program, ends: dict[int, tuple[Operation, Operation, Operation | None]]
) -> Program:
    dropped: set[int] = set()
    for end, (product, bias, _) in ends.items():
        dropped.update(id(each) for each in (product, bias) if id(each) != end)
    operations = []
    replaced: dict[int, Tensor] = {}
    for operation in program.operations:
        if id(operation) in dropped:
            continue
        if id(operation) in ends:
            product, bias, activation = ends[id(operation)]
            kind = None if activation is None else activation.type
            inputs = [*product.inputs, bias.inputs[1]]
            made = operation_like(operation, _fused(product.op, kind), inputs, product.given)
            replaced[id(operation.outputs[0])] = made.outputs[0]
            operations.append(made)
        else:
            operations.append(operation)
    return program.with_operations(operations).substituted(replaced)


def _fused(product: Op, activation: str | None) -> Op:
    """The op that does a product, adds a bias and applies an activation."""
    known = _FUSED.get((product.name, activation))
    if known is not None:
        return known
    kernel = product.kernel
    finish = None if activation is None else _ACTIVATIONS[activation]

    def fused(*arrays: Any, **attrs: Any) -> Any:
        result = kernel(*arrays[:-1], **attrs)
        if not result.flags.writeable or result.base is not None:
            result = result + arrays[-1]
        else:
            result += arrays[-1]
        return result if finish is None else finish(result)

    before = ", ".join(f"x{i}: T" for i in range(len(product.inputs) + 1))
    made = Op(f"_Fused{product.name}", f"{before} -> y: T", fused, unknown, False, False, {})
    _FUSED[product.name, activation] = made
    return made
