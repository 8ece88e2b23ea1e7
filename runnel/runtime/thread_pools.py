"""Which thread pool owns the cores while a plan runs: that of BLAS, or that of an engine.

Convolutions and recurrent layers run in the engine. At single GEMMs BLAS is as fast or faster, but
it runs the small GEMMs of a batched matmul one after the other: a plan with such batches, as
attention has them, gives the cores to the engine unless it has large single GEMMs as well. So does
a training step: the engine parallelizes optimizer updates, which NumPy runs on one thread. Where
BLAS has no kernels for the widest vector registers (AVX-512) and the engine has, large GEMMs run in
the engine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.dtypes import bfloat16, float32
from . import engine_selection
from .engine_selection import (
    BATCHED_GEMM,
    PARALLEL_GEMM_AT_LOW_LATENCY,
    SMALLEST,
    SMALLEST_BATCHED_GEMM,
)

if TYPE_CHECKING:
    from ..core.graph.graph import Operation

# With single GEMMs of more multiplications BLAS gains more than the engine does elsewhere.
_MOST_OF_ONE = 1 << 28


def owner_of(operations: Sequence[Operation]) -> str | None:
    """ "engine", "blas", or None for a plan that does not care."""
    if any(operation.op.heavy for operation in operations):
        return "engine"
    # bfloat16 GEMMs claim the pool themselves where an engine can run them.
    matmuls = [
        operation
        for operation in operations
        if operation.op.gemm and operation.outputs[0].dtype is not bfloat16
    ]
    if not matmuls:
        return None
    found = [_Work.of(operation) for operation in matmuls]
    known = [work for work in found if work is not None]
    # `outruns_blas` loads the engine's library.
    large = len(known) < len(found) or any(
        work.each >= PARALLEL_GEMM_AT_LOW_LATENCY for work in known
    )
    if large and all(map(_suits_wide, matmuls, found)) and engine_selection.outruns_blas():
        return "engine"
    if len(known) < len(found) or not all(work.suits_engine for work in known):
        return "blas"
    profitable = any(work.is_profitable for work in known) or any(map(_is_parallel, operations))
    return "engine" if profitable else "blas"


def _suits_wide(operation: Operation, work: _Work | None) -> bool:
    """Whether a matmul runs in an engine that outruns BLAS: single GEMMs of any size do."""
    if operation.op.gemm == "matmul":
        return operation.outputs[0].dtype is float32
    return work is not None and work.suits_engine


def _is_parallel(operation: Operation) -> bool:
    """Whether the operation is an optimizer update above the parallel threshold."""
    if not operation.op.shared:
        return False
    # The largest input of an update is the gradient, as large as the variable.
    sizes = [tensor.shape.num_elements() or 0 for tensor in operation.inputs]
    return max(sizes) >= SMALLEST["update"]


class _Work(NamedTuple):
    """A number of GEMMs, and the multiplications of each."""

    number: int
    each: int

    @property
    def suits_engine(self) -> bool:
        return self.each < BATCHED_GEMM.stop if self.number > 1 else self.each <= _MOST_OF_ONE

    @property
    def is_profitable(self) -> bool:
        is_batch = self.number > 1 and self.each in BATCHED_GEMM
        return is_batch and self.number * self.each >= SMALLEST_BATCHED_GEMM

    @classmethod
    def of(cls, operation: Operation) -> _Work | None:
        """The GEMMs of a matmul; None if sizes are unknown or the dtype is not float32."""
        tensors = operation.inputs[:2]
        if operation.outputs[0].dtype is not float32:
            return None
        if not all(tensor.shape.is_fully_defined() for tensor in tensors):
            return None
        sizes: list[Any] = [tensor.shape.as_list() for tensor in tensors]
        if operation.op.gemm == "einsum":
            return cls._of_equation(operation.given["equation"], sizes)
        a, b = sizes
        left = operation.given.get("transpose_a") or operation.given.get("adj_x")
        right = operation.given.get("transpose_b") or operation.given.get("adj_y")
        each = a[-1] * a[-2] * b[-2 if right else -1]
        count = math.prod(a[:-2])
        # One right-hand side for the whole batch: one GEMM with all rows.
        return cls(1, count * each) if len(b) == 2 and not left else cls(count, each)

    @classmethod
    def _of_equation(cls, equation: str, sizes: Sequence[Sequence[int]]) -> _Work | None:
        if "." in equation:
            return None
        left, _, output = equation.partition("->")
        terms = left.split(",")
        by_letter = {
            letter: size
            for term, shape in zip(terms, sizes, strict=False)
            for letter, size in zip(term, shape, strict=True)
        }
        shared = set(output).intersection(*terms)
        if len(terms) != 2 or set(terms[0]) & set(terms[1]) == shared:
            # No contraction.
            return cls(1, 0)
        count = math.prod(by_letter[letter] for letter in shared)
        return cls(count, math.prod(by_letter.values()) // max(count, 1))
