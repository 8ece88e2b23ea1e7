"""Epilogue fusion: bias, normalization and activation move into the matmul or convolution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...core.graph.graph import Operation
from ...core.op import Op
from ...core.shape_rules import unknown
from ...core.tensor import SymbolicTensor, Tensor
from ...runtime.epilogue import ACTIVATIONS, Epilogue, require_channels
from .computation import Computation, operation_like

_FUSED: dict[tuple[Any, ...], Op] = {}


class _Chain(NamedTuple):
    """A matmul or convolution, the bias or normalization after it, and the activation after that.

    A reshape that keeps the channels may stand between matmul and bias; it comes last then.
    """

    product: Operation
    shift: Operation
    activation: Operation | None
    reshape: Operation | None

    @property
    def end(self) -> Operation:
        return self.activation or self.shift


def run(computation: Computation) -> Computation:
    """Fuse each chain into one operation, which applies the epilogue in the result's buffer."""
    uses = computation.uses()
    fetched = {id(tensor) for tensor in computation.fetches}

    def alone(tensor: Tensor) -> bool:
        """Whether a tensor has one use only."""
        return len(uses.get(id(tensor), ())) == 1 and id(tensor) not in fetched

    def unseen(tensor: Tensor) -> bool:
        return id(tensor) not in uses and id(tensor) not in fetched

    # The fused operation replaces the last one of each chain.
    chains: dict[int, _Chain] = {}
    for operation in computation.operations:
        if not _is_shift(operation) or not all(map(unseen, operation.outputs[1:])):
            continue
        product = _producer(operation)
        reshape = None
        if product is not None and _leaves_channels(product) and alone(product.outputs[0]):
            reshape, product = product, _producer(product)
        if product is None or not product.op.epilogue or not alone(product.outputs[0]):
            continue
        shifted = operation.outputs[0]
        following = uses.get(id(shifted), [])
        activation = following[0] if alone(shifted) and following[0].type in ACTIVATIONS else None
        chain = _Chain(product, operation, activation, reshape)
        chains[id(chain.end)] = chain
    return _replaced(computation, chains) if chains else computation


def _producer(operation: Operation) -> Operation | None:
    value = operation.inputs[0]
    return value.op if isinstance(value, SymbolicTensor) else None


def _leaves_channels(operation: Operation) -> bool:
    """Whether an operation only splits the rows of a matrix into more dimensions."""
    if operation.type != "Reshape" or operation.inputs[0].shape.rank != 2:
        return False
    before, after = operation.inputs[0].shape, operation.outputs[0].shape
    return bool(after.rank) and before[-1] is not None and before[-1] == after[-1]


def _is_shift(operation: Operation) -> bool:
    """Whether an operation adds a bias, or normalizes with given moments, channels last."""
    attrs = operation.given
    dtype = operation.outputs[0].dtype.name if operation.outputs else ""
    if attrs.get("data_format", "NHWC") != "NHWC":
        return False
    if operation.type == "FusedBatchNormV3":
        return not attrs.get("is_training", True) and dtype == "float32"
    return operation.type == "BiasAdd" and dtype in ("float32", "float64")


def _replaced(computation: Computation, chains: dict[int, _Chain]) -> Computation:
    dropped: set[int] = set()
    for end, (product, shift, _, reshape) in chains.items():
        dropped.update(id(each) for each in (product, shift, reshape) if id(each) != end)
    operations = []
    replaced: dict[int, Tensor] = {}
    for operation in computation.operations:
        if id(operation) in dropped:
            continue
        chain = chains.get(id(operation))
        if chain is None:
            operations.append(operation)
            continue
        product = chain.product
        inputs = [*product.inputs, *chain.shift.inputs[1:]]
        like = operation if chain.reshape is None else product
        made = operation_like(like, _fused(chain), inputs, product.given)
        del made.outputs[1:]
        operations.append(made)
        if chain.reshape is not None:
            reshaped = (made.outputs[0], chain.reshape.inputs[1])
            made = operation_like(operation, chain.reshape.op, reshaped, chain.reshape.given)
            operations.append(made)
        replaced[id(operation.outputs[0])] = made.outputs[0]
    return computation.with_operations(operations).substituted(replaced)


def _fused(chain: _Chain) -> Op:
    """The fused op of a chain."""
    product = chain.product.op
    activation = None if chain.activation is None else chain.activation.type
    epsilon = None
    if chain.shift.type == "FusedBatchNormV3":
        epsilon = chain.shift.given.get("epsilon", chain.shift.op.defaults["epsilon"])
    key = product.name, epsilon, activation
    known = _FUSED.get(key)
    if known is None:
        count = len(chain.shift.inputs) - 1
        before = ", ".join(f"x{i}: T" for i in range(len(product.inputs) + count))
        kernel = _kernel(product, epsilon, activation)
        known = Op(f"_Fused{product.name}", f"{before} -> y: T", kernel, unknown, False, False, {})
        known.fresh, known.gemm, known.heavy = True, product.gemm, product.heavy
        _FUSED[key] = known
    return known


def _kernel(product: Op, epsilon: float | None, activation: str | None) -> Callable[..., Any]:
    kernel, in_passing = product.kernel, product.epilogue == "inside"

    if epsilon is None and not in_passing:
        return _affine(kernel, activation)

    def fused(a: Any, b: Any, *vectors: Any, **attrs: Any) -> Any:
        if epsilon is None:
            finish = Epilogue(None, vectors[0], activation)
        else:
            scale, offset, mean, variance = vectors
            finish = Epilogue.normalizing((scale, offset, mean, variance), epsilon, activation)
        if in_passing:
            return kernel(a, b, finish, **attrs)
        return finish.apply(kernel(a, b, **attrs))

    return fused


def _affine(kernel: Callable[..., Any], activation: str | None) -> Callable[..., Any]:
    """A matmul with bias and activation, the most common chain, without the general epilogue."""
    activate = None if activation is None else ACTIVATIONS[activation]

    def affine(a: Any, b: Any, bias: Any, **attrs: Any) -> Any:
        product = kernel(a, b, **attrs)
        require_channels(bias, product.shape[-1])
        product += bias
        return product if activate is None else activate(product, product)

    return affine
