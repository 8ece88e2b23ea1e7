"""Shape specialization: a graph traced for unknown shapes, compiled for known ones.

A function that was traced for batches of any size computes the batch size again and again. With
static shapes all of that is constant, and the passes fold it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.graph.graph import Graph
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from .passes import dead_code, rewritten
from .passes.computation import Computation, operation_like


def specialized(
    graph: Graph, feeds: Sequence[Tensor], fetches: Sequence[Tensor], shapes: Sequence[TensorShape]
) -> Computation:
    """The computation of the fetches from feeds of these shapes.

    ValueError if the shapes do not fit the operations.
    """
    computation = dead_code.run(Computation.of(graph, feeds, fetches))
    known: dict[int, Tensor] = {}
    for feed, shape in zip(feeds, shapes, strict=True):
        if isinstance(feed, SymbolicTensor):
            merged = feed.shape.merge_with(shape)
            known[id(feed)] = SymbolicTensor(feed.op, feed.index, feed.dtype, merged)
    new_feeds = [known.get(id(feed), feed) for feed in feeds]
    operations = []
    for operation in computation.operations:
        if any(id(output) in known for output in operation.outputs):
            continue  # fed
        if not any(id(tensor) in known for tensor in operation.inputs):
            operations.append(operation)
            continue
        inputs = [known.get(id(tensor), tensor) for tensor in operation.inputs]
        made = operation_like(operation, operation.op, inputs, operation.given)
        inferred = operation.op.infer_shapes(inputs, operation.given)
        for old, new, shape in zip(operation.outputs, made.outputs, inferred, strict=True):
            new._shape = old.shape.merge_with(shape)
            known[id(old)] = new
        operations.append(made)
    new_fetches = [known.get(id(tensor), tensor) for tensor in fetches]
    return rewritten(Computation(graph, new_feeds, new_fetches, operations))
