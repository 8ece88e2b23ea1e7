"""Who shall have the processors while a program runs: BLAS, or an engine.

Convolutions and recurrent layers are an engine's. Of products BLAS is as fast or faster at single
ones, but takes the many small ones of a batch one after the other; a program with such batches, as
attention has them, is the engine's unless it has large single products as well. So is a program
that trains: the engine's threads share the updates of its variables, NumPy has one for them. Where
BLAS has no code for the processor's widest registers, and the engine has, large products are its.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.dtypes import bfloat16, float32
from . import engine_selection
from .engine_selection import BATCHED, LEAST_OF_BATCH, SMALLEST, WORTH_TRYING

if TYPE_CHECKING:
    from ..core.graph.graph import Operation

# With single products of more multiplications BLAS gains more than an engine does elsewhere.
_MOST_OF_ONE = 1 << 28


def owner_of(operations: Sequence[Operation]) -> str | None:
    """ "engine", "blas", or None for a program that may leave the processors to either."""
    if any(operation.op.heavy for operation in operations):
        return "engine"
    # Those of bfloat16 take the processors themselves where an engine can do them.
    products = [
        operation
        for operation in operations
        if operation.op.gemm and operation.outputs[0].dtype is not bfloat16
    ]
    if not products:
        return None
    found = [_Work.of(operation) for operation in products]
    known = [work for work in found if work is not None]
    # To ask whether the engine is the faster one loads its library.
    large = len(known) < len(found) or any(work.each >= WORTH_TRYING for work in known)
    if large and all(map(_suits_wide, products, found)) and engine_selection.outruns_blas():
        return "engine"
    if len(known) < len(found) or not all(work.suits_engine for work in known):
        return "blas"
    worth_it = any(work.is_worth_it for work in known) or any(map(_is_shared, operations))
    return "engine" if worth_it else "blas"


def _suits_wide(operation: Operation, work: _Work | None) -> bool:
    """Whether a product is the engine's if it outruns BLAS: single ones of any size are."""
    if operation.op.gemm == "matmul":
        return operation.outputs[0].dtype is float32
    return work is not None and work.suits_engine


def _is_shared(operation: Operation) -> bool:
    """Whether the operation is an update so large that an engine's threads share it."""
    if not operation.op.shared:
        return False
    # The largest input of an update is the gradient, as large as the variable.
    sizes = [tensor.shape.num_elements() or 0 for tensor in operation.inputs]
    return max(sizes) >= SMALLEST["update"]


class _Work(NamedTuple):
    """So many products of so many multiplications each."""

    products: int
    each: int

    @property
    def suits_engine(self) -> bool:
        return self.each < BATCHED.stop if self.products > 1 else self.each <= _MOST_OF_ONE

    @property
    def is_worth_it(self) -> bool:
        is_batch = self.products > 1 and self.each in BATCHED
        return is_batch and self.products * self.each >= LEAST_OF_BATCH

    @classmethod
    def of(cls, operation: Operation) -> _Work | None:
        """The work of a product; None where it is not known, or not of an engine's type."""
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
        # One matrix for a whole batch is one product with all its rows.
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
            # Nothing is summed over: no product of matrices.
            return cls(1, 0)
        count = math.prod(by_letter[letter] for letter in shared)
        return cls(count, math.prod(by_letter.values()) // max(count, 1))
