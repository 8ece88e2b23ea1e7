"""Custom gradients in SavedModels: identity operations with gradient functions.

In a GraphDef, such an operation is an IdentityN of the results and the arguments of a function with
a custom gradient. A node's `_gradient_op_type` refers to the gradient: a function of the upstream
gradients of all its outputs and of tensors of the forward function ("captured tensors").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.autodiff.backward import zeros_like
from ..core.convert import convert_to_tensor
from ..core.graph.graph import FuncGraph, Operation
from ..core.op import REGISTRY, Op, Record
from ..core.tensor import OutOfScopeError, SymbolicTensor, Tensor
from ..core.type_spec import TensorSpec

ATTRIBUTE = "_gradient_op_type"
_IDENTITY = "IdentityN"


class CapturedTensor:
    """A forward tensor, by name, that a gradient function captures."""

    def __init__(self, name: str) -> None:
        self.name = name


class LoadedGradient:
    """The gradient of an operation, as a function of a SavedModel.

    `captured` are its arguments after the upstream gradients: tensors, or the names of some.
    `places` holds for each input of the operation the index of its gradient; None: it has none.
    """

    def __init__(
        self, definition: Any, captured: Sequence[Tensor | CapturedTensor], results: Sequence[Any]
    ) -> None:
        self.definition = definition
        self.captured = list(captured)
        found = iter(range(len(results)))
        self.places = [None if each is None else next(found) for each in results]


class FunctionLibrary(dict[str, Any]):
    """The functions of a GraphDef by name, and the gradients that its nodes refer to."""

    def __init__(self, functions: Sequence[Any]) -> None:
        super().__init__({each.signature.name: each for each in functions})
        self.gradients: dict[str, LoadedGradient] = {}
        # The number of nodes of each with all calls inlined; computed on first use.
        self.sizes: dict[str, int] | None = None


def gradient_of(node: Any, library: dict[str, Any]) -> LoadedGradient | None:
    """The custom gradient of a node; None if it has only its op's."""
    if ATTRIBUTE not in node.attr or node.op != _IDENTITY:
        return None
    known: dict[str, LoadedGradient] = getattr(library, "gradients", {})
    return known.get(node.attr[ATTRIBUTE].s.decode())


def op_with_gradient(
    count: int, call: Callable[[Sequence[Tensor]], list[Any]], places: Sequence[int | None]
) -> Op:
    """An op that returns its first `count` inputs; the others are for its gradient."""
    op = Op(
        _IDENTITY,
        "input: *T -> output: *Tout",
        lambda input, *, Tout: input[:count],
        lambda groups, attrs: [each.shape for each in groups[0][:count]],
        False,
        True,
        {},
    )

    def rule(record: Record, *gradients: Any) -> list[Any]:
        weights = [
            zeros_like(output) if gradient is None else convert_to_tensor(gradient)
            for output, gradient in zip(record.outputs, gradients, strict=True)
        ]
        found = call([*weights, *record.inputs[count:]])
        given = [None if place is None else found[place] for place in places]
        return given + [None] * (len(record.inputs) - len(given))

    op.gradient_rule = rule
    return op


# Writing.


def has_own_gradient(operation: Operation) -> bool:
    """Whether an operation is an identity with a custom gradient."""
    return operation.type == _IDENTITY and operation.op is not REGISTRY[_IDENTITY]


def traced_gradient(operation: Operation) -> tuple[FuncGraph, list[Any]] | None:
    """The gradient of an operation as a graph, and a spec for each gradient.

    Its inputs are the upstream gradients of all outputs that the node will have: one for each
    input. None if the gradient uses tensors of a calling function.
    """
    try:
        return _traced_gradient(operation)
    except OutOfScopeError:
        return None


def _traced_gradient(operation: Operation) -> tuple[FuncGraph, list[Any]]:
    graph = FuncGraph("internal_grad_fn", operation.graph)
    with graph.building():
        weights = [
            graph.add_input(each.dtype, each.shape, f"result_grads_{i}")
            for i, each in enumerate(operation.inputs)
        ]
        record = Record(operation.op, operation.inputs, operation.outputs, operation.given)
        rule: Any = operation.op.gradient_rule
        found = rule(record, *weights[: len(operation.outputs)])
        specs: list[Any] = []
        for gradient in found:
            if gradient is None:
                specs.append(None)
                continue
            tensor = graph.own(convert_to_tensor(gradient))
            graph.outputs.append(tensor)
            specs.append(TensorSpec(tensor.shape, tensor.dtype))
    return graph, specs


def is_inside(tensor: Tensor, graph: FuncGraph) -> bool:
    """Whether a tensor belongs to a graph."""
    return isinstance(tensor, SymbolicTensor) and tensor.op.graph is graph
