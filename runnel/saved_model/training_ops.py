"""Updates of optimizers in GraphDefs that have no kernel here, computed with others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.convert import constant
from ..core.op import REGISTRY
from ..core.tensor import Tensor
from ..ops.array.gathering import gather

Inputs = Sequence[Tensor]


def _value(handle: Tensor, like: Tensor) -> Tensor:
    value: Tensor = REGISTRY["ReadVariableOp"](handle, dtype=like.dtype)
    return value


def _momentum_step(node: Any, accum: Any, grad: Any, rate: Any, momentum: Any) -> Any:
    """The new accumulator, and what is to be subtracted."""
    accum = accum * momentum + grad
    if node.attr["use_nesterov"].b:
        return accum, grad * rate + accum * momentum * rate
    return accum, accum * rate


def _momentum(node: Any, inputs: Inputs) -> list[Tensor]:
    var, slot, rate, grad, momentum = inputs
    accum, step = _momentum_step(node, _value(slot, grad), grad, rate, momentum)
    REGISTRY["AssignVariableOp"](slot, accum)
    REGISTRY["AssignSubVariableOp"](var, step)
    return []


def _sparse_momentum(node: Any, inputs: Inputs) -> list[Tensor]:
    var, slot, rate, grad, indices, momentum = inputs
    rows = gather(_value(slot, grad), indices)
    accum, step = _momentum_step(node, rows, grad, rate, momentum)
    REGISTRY["ResourceScatterUpdate"](slot, indices, accum)
    REGISTRY["ResourceScatterSub"](var, indices, step)
    return []


def _keeps_slots(node: Any) -> bool:
    return "update_slots" in node.attr and not node.attr["update_slots"].b


def _adagrad(node: Any, inputs: Inputs) -> list[Tensor]:
    var, slot, rate, grad = inputs
    accum: Any = _value(slot, grad)
    if not _keeps_slots(node):
        accum = accum + grad * grad
        REGISTRY["AssignVariableOp"](slot, accum)
    REGISTRY["AssignSubVariableOp"](var, grad * rate * REGISTRY["Rsqrt"](accum))
    return []


def _sparse_adagrad(node: Any, inputs: Inputs) -> list[Tensor]:
    var, slot, rate, grad, indices = inputs
    if not _keeps_slots(node):
        REGISTRY["ResourceScatterAdd"](slot, indices, grad * grad)
    accum = gather(_value(slot, grad), indices)
    REGISTRY["ResourceScatterSub"](var, indices, grad * rate * REGISTRY["Rsqrt"](accum))
    return []


def _ftrl(node: Any, inputs: Inputs) -> list[Tensor]:
    *given, power = inputs
    if node.attr["multiply_linear_by_lr"].b:
        raise ValueError(f"The node '{node.name}' has multiply_linear_by_lr=True, and only False "
                         "has a kernel.")  # fmt: skip
    REGISTRY["ResourceApplyFtrlV2"](*given, constant(0.0, power.dtype), power)
    return []


TRAINING: dict[str, Callable[[Any, Inputs], list[Tensor]]] = {
    "ResourceApplyAdagrad": _adagrad,
    "ResourceApplyFtrl": _ftrl,
    "ResourceApplyMomentum": _momentum,
    "ResourceSparseApplyAdagrad": _sparse_adagrad,
    "ResourceSparseApplyMomentum": _sparse_momentum,
}
