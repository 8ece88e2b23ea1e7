"""Concat aliasing: operations write their results into the output buffer of a concatenation.

A concatenation along the first axis need not copy a part that was written into its rows in the
first place. The buffer is allocated before the first such part; parts that have no `out` argument
(views, arguments) are copied as usual.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.tensor import SymbolicTensor, Tensor
from ..runtime.output_buffers import TYPES, ufunc_of
from .buffer_reuse import SMALLEST

if TYPE_CHECKING:
    from ..core.graph.graph import Operation


class AliasedConcat:
    """A concatenation along the first axis: its output shape, and the rows of each part."""

    def __init__(self, operation: Operation) -> None:
        self.parts = operation.inputs[:-1]
        self.rows: list[slice] = []
        stop = 0
        for part in self.parts:
            start, stop = stop, stop + int(part.shape[0] or 0)
            self.rows.append(slice(start, stop))
        self.shape = (stop, *self.parts[0].shape.as_list()[1:])
        self.dtype = self.parts[0].dtype
        # The indices of the parts that are written directly.
        self.written: set[int] = set()


class ConcatAliasing:
    """Which operations write into the buffer of a concatenation, by their index."""

    def __init__(self, operations: Sequence[Operation], reused: dict[int, int]) -> None:
        self.joined: dict[int, AliasedConcat] = {}
        self.places: dict[int, tuple[AliasedConcat, slice]] = {}
        # The concatenations, by the index of the operation that writes their first part.
        self.begun: dict[int, list[AliasedConcat]] = {}
        maker = {id(out): i for i, each in enumerate(operations) for out in each.outputs}
        for index, operation in enumerate(operations):
            if not _is_large_join(operation):
                continue
            joined = AliasedConcat(operation)
            first = len(operations)
            for number, (part, rows) in enumerate(zip(joined.parts, joined.rows, strict=True)):
                made = maker.get(id(part), -1)
                if made < 0 or made in reused or made in self.places:
                    continue
                if _can_be_told(operations[made]):
                    self.places[made] = joined, rows
                    joined.written.add(number)
                    first = min(first, made)
            if joined.written:
                self.joined[index] = joined
                self.begun.setdefault(first, []).append(joined)


def _is_large_join(operation: Operation) -> bool:
    if operation.type != "ConcatV2" or _axis(operation) != 0:
        return False
    output = operation.outputs[0]
    parts = operation.inputs[:-1]
    if output.dtype.name not in TYPES or not all(t.shape.is_fully_defined() for t in parts):
        return False
    return bool(parts[0].shape.rank) and (output.shape.num_elements() or 0) >= SMALLEST


def _axis(operation: Operation) -> int | None:
    axis: Tensor = operation.inputs[-1]
    if isinstance(axis, SymbolicTensor) and axis.op.type == "Const":
        return int(axis.op.given["value"])
    return None


def _can_be_told(operation: Operation) -> bool:
    """Whether the kernel of an operation has an `out` argument."""
    if not operation.op.single or operation.given:
        return False
    if operation.type == "ConcatV2":
        return _axis(operation) is not None
    return ufunc_of(operation) is not None
