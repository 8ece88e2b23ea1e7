"""The steps of an unrolled long short-term memory in a program, and the way back through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..graph import Operation
from ..tensor import SymbolicTensor, Tensor
from .program import Program, made_by

GATES = "LSTMGates"
_GRADIENT = "LSTMGatesGrad"
# The gradients that are products of the one by the sums, by what they are gradients of.
WEIGHTS = ("kernel", "recurrent", "bias")

Uses = dict[int, list[Operation]]


class Step(NamedTuple):
    """What a step takes, and the operations that are nothing but parts of it.

    output, carry = LSTMGates(x @ kernel + bias + h @ recurrent, c)
    """

    gates: Operation
    x: Tensor
    h: Tensor
    c: Tensor
    kernel: Tensor
    recurrent: Tensor
    bias: Tensor
    parts: tuple[Operation, ...]

    @classmethod
    def of(cls, gates: Operation) -> Step | None:
        """The step that an operation for its gates belongs to."""
        sums, c = gates.inputs
        total = made_by(sums, "AddV2")
        if total is None:
            return None
        biased, of_state = made_by(total.inputs[0], "BiasAdd"), _product(total.inputs[1])
        if biased is None or of_state is None or not _is_by_columns(biased):
            return None
        of_inputs = _product(biased.inputs[0])
        if of_inputs is None:
            return None
        parts = (gates, total, biased, of_state, of_inputs)
        if any(part.control_inputs for part in parts):
            return None
        x, kernel = of_inputs.inputs
        h, recurrent = of_state.inputs
        return cls(gates, x, h, c, kernel, recurrent, biased.inputs[1], parts)

    def follows(self, other: Step) -> bool:
        """Whether this is what a cell does after the other step."""
        output, carry, *_ = other.gates.outputs
        return (
            self.h is output
            and self.c is carry
            and self.kernel is other.kernel
            and self.recurrent is other.recurrent
            and self.bias is other.bias
        )


def _product(tensor: Tensor) -> Operation | None:
    operation = made_by(tensor, "MatMul")
    return None if operation is None or any(operation.given.values()) else operation


def _is_by_columns(operation: Operation) -> bool:
    return bool(operation.given.get("data_format", "NHWC") == "NHWC")


def sequences(program: Program, fewest: int) -> list[list[Step]]:
    """Steps that follow each other, and whose inputs need none of their outputs."""
    found: list[list[Step]] = []
    by_output: dict[int, list[Step]] = {}
    for operation in program.operations:
        step = Step.of(operation) if operation.type == GATES else None
        if step is None:
            continue
        steps = by_output.pop(id(step.h), [])
        if not steps or not step.follows(steps[-1]):
            steps = []
            found.append(steps)
        steps.append(step)
        by_output[id(operation.outputs[0])] = steps
    return [steps for steps in found if len(steps) >= fewest and _are_free(program, steps)]


def _are_free(program: Program, steps: Sequence[Step]) -> bool:
    first = steps[0]
    batches = {tensor.shape[0] for tensor in (first.h, first.c, *(step.x for step in steps))}
    if len(batches) > 1 or None in batches:
        # Sums of a step may be spread over the rows of its states; a layer has them as they are.
        return False
    after = {id(step.gates) for step in steps}
    for operation in program.operations:
        if any(_is_of(tensor, after) for tensor in operation.inputs):
            after.add(id(operation))
    return not any(_is_of(step.x, after) for step in steps)


def _is_of(tensor: Tensor, operations: set[int]) -> bool:
    return isinstance(tensor, SymbolicTensor) and id(tensor.op) in operations


class Back:
    """The way back through all steps: for each of them, by its place, what there is."""

    def __init__(self) -> None:
        self.gradients: list[Operation] = []
        # What is computed of the gradient by the sums: "x", "h" and those of WEIGHTS.
        self.products: list[dict[str, Operation]] = []
        # The gradients by an output that come from elsewhere than from the step that follows.
        self.others: list[list[Tensor]] = []
        # The additions of these to those of the step that follows.
        self.additions: list[Operation] = []

    def inner(self) -> list[Operation]:
        """All operations that belong to it."""
        products = [each for found in self.products for each in found.values()]
        return [*self.gradients, *products, *self.additions]

    @classmethod
    def of(cls, uses: Uses, steps: Sequence[Step]) -> Back | None:
        """The way back, if it is nothing but gradients of all of these steps."""
        back = cls()
        for step in steps:
            found = gradients_of(uses, step)
            if len(found) != 1 or found[0].control_inputs:
                return None
            by_purpose = _products(uses, step, found[0].outputs[0])
            if by_purpose is None or (back.products and not _are_alike(by_purpose, back.products)):
                return None
            back.gradients += found
            back.products.append(by_purpose)
        for place in range(len(steps) - 1):
            if not back._passes_on(uses, place):
                return None
        return back

    def _passes_on(self, uses: Uses, place: int) -> bool:
        """Whether a step gets the gradients by its output and carry from the one that follows."""
        this, following = self.gradients[place], self.gradients[place + 1]
        by_state = self.products[place + 1].get("h")
        to_output, to_carry = this.inputs[4:]
        if by_state is None or to_carry is not following.outputs[1]:
            return False
        terms, additions = _terms(uses, to_output, this)
        others = [term for term in terms if term is not by_state.outputs[0]]
        if len(others) != len(terms) - 1:
            return False
        self.others.append(others)
        self.additions += additions
        return True


def gradients_of(uses: Uses, step: Step) -> list[Operation]:
    """The operations for the gradients by a step's sums."""
    return [each for each in uses.get(id(step.gates.inputs[0]), ()) if each.type == _GRADIENT]


def _products(uses: Uses, step: Step, to_sums: Tensor) -> dict[str, Operation] | None:
    """What a gradient by sums is used for, where all of it is known and done once."""
    found: dict[str, Operation] = {}
    for operation in uses.get(id(to_sums), ()):
        purpose = _purpose(operation, step, to_sums)
        if purpose is None or purpose in found or operation.control_inputs:
            return None
        found[purpose] = operation
    return found


def _purpose(operation: Operation, step: Step, to_sums: Tensor) -> str | None:
    if operation.type == "BiasAddGrad" and _is_by_columns(operation):
        return "bias"
    if operation.type != "MatMul":
        return None
    a, b = operation.inputs
    transposed = [name for name, value in operation.given.items() if value]
    if a is to_sums and transposed == ["transpose_b"]:
        return "h" if b is step.recurrent else "x" if b is step.kernel else None
    if b is to_sums and transposed == ["transpose_a"]:
        return "recurrent" if a is step.h else "kernel" if a is step.x else None
    return None


def _are_alike(found: dict[str, Operation], before: Sequence[dict[str, Operation]]) -> bool:
    """Whether of the gradients by weights there are the same in all steps."""
    return all((name in found) == (name in before[0]) for name in WEIGHTS)


def _terms(uses: Uses, total: Tensor, user: Operation) -> tuple[list[Tensor], list[Operation]]:
    """The terms of a sum that one operation uses, and the additions that make it."""
    terms: list[Tensor] = []
    additions: list[Operation] = []
    pending = [(total, user)]
    while pending:
        tensor, only = pending.pop()
        addition = made_by(tensor, "AddV2")
        if addition is None or addition.control_inputs or uses[id(tensor)] != [only]:
            terms.append(tensor)
        else:
            additions.append(addition)
            pending += [(each, addition) for each in reversed(addition.inputs)]
    return terms, additions
