"""Patterns of unrolled recurrent cells: the steps of a computation and their backward pass."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from ...core.graph.graph import Operation
from ...core.tensor import SymbolicTensor, Tensor
from .computation import Computation, made_by

Uses = dict[int, list[Operation]]


@dataclass(frozen=True, eq=False)
class Step:
    """The inputs of a step, and the operations that belong to it alone.

    The first of its states is the output of the step before.
    """

    gates: Operation
    x: Tensor
    states: tuple[Tensor, ...]
    kernel: Tensor
    recurrent: Tensor
    biases: tuple[Tensor, ...]
    parts: tuple[Operation, ...]

    # The prefix of the ops: `LSTMGates`, `LSTMLayer`.
    KIND: ClassVar[str]

    @classmethod
    @abstractmethod
    def of(cls, gates: Operation) -> Step | None:
        """The step that an operation for its gates belongs to."""

    @staticmethod
    @abstractmethod
    def by_sums(gradient: Operation) -> tuple[Tensor, Tensor]:
        """The gradients with respect to the input part and the recurrent part of the
        pre-activations.
        """

    @staticmethod
    @abstractmethod
    def by_states(gradient: Operation, products: list[Tensor]) -> list[list[Tensor]]:
        """The terms of the gradient with respect to each state, among them the given matmuls."""

    @property
    def weights(self) -> tuple[Tensor, ...]:
        """The kernels and the biases."""
        return self.kernel, self.recurrent, *self.biases

    def results(self) -> Sequence[Tensor]:
        """The states after this step; the first is its output."""
        return self.gates.outputs[: len(self.states)]

    def follows(self, other: Step) -> bool:
        """Whether this is the next step of the same cell."""
        return _are_the_same(self.states, other.results()) and _are_the_same(
            self.weights, other.weights
        )


def _are_the_same(some: Sequence[Tensor], others: Sequence[Tensor]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))


class LSTMStep(Step):
    """h, c = LSTMGates(x @ kernel + bias + h @ recurrent, c)"""

    KIND = "LSTM"

    @classmethod
    def of(cls, gates: Operation) -> Step | None:
        sums, c = gates.inputs
        total = made_by(sums, "AddV2")
        if total is None:
            return None
        of_inputs, of_state = _biased_product(total.inputs[0]), _product(total.inputs[1])
        if of_inputs is None or of_state is None:
            return None
        x, kernel = of_inputs.factors
        h, recurrent = of_state.factors
        parts = (gates, total, *of_inputs.parts, *of_state.parts)
        return cls(gates, x, (h, c), kernel, recurrent, of_inputs.biases, parts)

    @staticmethod
    def by_sums(gradient: Operation) -> tuple[Tensor, Tensor]:
        return gradient.outputs[0], gradient.outputs[0]

    @staticmethod
    def by_states(gradient: Operation, products: list[Tensor]) -> list[list[Tensor]]:
        return [products, [gradient.outputs[1]]]


class GRUStep(Step):
    """h = GRUGates(x @ kernel + bias, h @ recurrent + state_bias, h)"""

    KIND = "GRU"

    @classmethod
    def of(cls, gates: Operation) -> Step | None:
        sums, state_sums, h = gates.inputs
        of_inputs, of_state = _biased_product(sums), _biased_product(state_sums)
        if of_inputs is None or of_state is None or of_state.factors[0] is not h:
            return None
        x, kernel = of_inputs.factors
        biases = (*of_inputs.biases, *of_state.biases)
        parts = (gates, *of_inputs.parts, *of_state.parts)
        return cls(gates, x, (h,), kernel, of_state.factors[1], biases, parts)

    @staticmethod
    def by_sums(gradient: Operation) -> tuple[Tensor, Tensor]:
        return gradient.outputs[0], gradient.outputs[1]

    @staticmethod
    def by_states(gradient: Operation, products: list[Tensor]) -> list[list[Tensor]]:
        return [[gradient.outputs[2], *products] if products else []]


_KINDS: dict[str, type[Step]] = {f"{each.KIND}Gates": each for each in (LSTMStep, GRUStep)}


class _Product(NamedTuple):
    factors: Sequence[Tensor]
    biases: tuple[Tensor, ...]
    parts: tuple[Operation, ...]


def _product(tensor: Tensor) -> _Product | None:
    operation = made_by(tensor, "MatMul")
    if operation is None or any(operation.given.values()):
        return None
    return _Product(operation.inputs, (), (operation,))


def _biased_product(tensor: Tensor) -> _Product | None:
    biased = made_by(tensor, "BiasAdd")
    product = None if biased is None else _product(biased.inputs[0])
    if biased is None or product is None or not _is_by_columns(biased):
        return None
    return _Product(product.factors, (biased.inputs[1],), (biased, *product.parts))


def _is_by_columns(operation: Operation) -> bool:
    return bool(operation.given.get("data_format", "NHWC") == "NHWC")


def gates_in(computation: Computation) -> int:
    """The number of gate operations."""
    return sum(operation.type in _KINDS for operation in computation.operations)


def sequences(computation: Computation, fewest: int) -> list[list[Step]]:
    """Sequences of steps whose inputs depend on none of their outputs."""
    found: list[list[Step]] = []
    by_output: dict[int, list[Step]] = {}
    for operation in computation.operations:
        step = _step_of(operation)
        if step is None:
            continue
        steps = by_output.pop(id(step.states[0]), [])
        if not steps or not step.follows(steps[-1]):
            steps = []
            found.append(steps)
        steps.append(step)
        by_output[id(operation.outputs[0])] = steps
    return [steps for steps in found if len(steps) >= fewest and _are_free(computation, steps)]


def _step_of(operation: Operation) -> Step | None:
    kind = _KINDS.get(operation.type)
    step = None if kind is None else kind.of(operation)
    return None if step is None or any(part.control_inputs for part in step.parts) else step


def _are_free(computation: Computation, steps: Sequence[Step]) -> bool:
    batches = {tensor.shape[0] for tensor in (*steps[0].states, *(step.x for step in steps))}
    if len(batches) > 1 or None in batches:
        # Steps may broadcast over the rows of their states; a layer does not.
        return False
    after = {id(step.gates) for step in steps}
    for operation in computation.operations:
        if any(_is_of(tensor, after) for tensor in operation.inputs):
            after.add(id(operation))
    return not any(_is_of(step.x, after) for step in steps)


def _is_of(tensor: Tensor, operations: set[int]) -> bool:
    return isinstance(tensor, SymbolicTensor) and id(tensor.op) in operations


class Back:
    """The backward pass of a sequence, with one entry per step."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self.gradients: list[Operation] = []
        # The uses of the pre-activations' gradients: "x", "h", or the index of a weight.
        self._products: list[dict[str | int, Operation]] = []
        # The gradients with respect to an output that do not come from the next step.
        self.others: list[list[Tensor]] = []
        # The additions of these to the gradient from the next step.
        self._additions: list[Operation] = []

    @classmethod
    def of(cls, uses: Uses, steps: Sequence[Step]) -> Back | None:
        """The backward pass, if it consists of the gradients of all of these steps and nothing
        else.
        """
        back = cls(steps)
        for step in steps:
            found = gradients_of(uses, step)
            if len(found) != 1 or found[0].control_inputs:
                return None
            by_purpose = _products(uses, step, found[0])
            if by_purpose is None or (back._products and not back._has_alike(by_purpose)):
                return None
            back.gradients += found
            back._products.append(by_purpose)
        if all(back._passes_on(uses, place) for place in range(len(steps) - 1)):
            return back
        return None

    def inner(self) -> list[Operation]:
        """All operations that belong to it."""
        products = [each for found in self._products for each in found.values()]
        return [*self.gradients, *products, *self._additions]

    def by_inputs(self) -> list[Tensor | None]:
        """The gradient with respect to the input of each step, where there is one."""
        found = [products.get("x") for products in self._products]
        return [None if each is None else each.outputs[0] for each in found]

    def by_weights(self) -> list[list[Tensor]]:
        """For each weight its gradients, which all steps have or none."""
        return [
            [products[place].outputs[0] for products in self._products if place in products]
            for place in range(len(self._steps[0].weights))
        ]

    def by_first_states(self) -> list[list[Tensor]]:
        """For each initial state the terms of the gradient with respect to it."""
        return self._by_states(0)

    def by_last_states(self) -> Sequence[Tensor]:
        """The gradients with respect to the final states."""
        return self._to_states(-1)

    def _to_states(self, place: int) -> Sequence[Tensor]:
        return self.gradients[place].inputs[-len(self._steps[0].states) :]

    def _by_states(self, place: int) -> list[list[Tensor]]:
        products = self._products[place]
        of_output: list[Tensor] = [products["h"].outputs[0]] if "h" in products else []
        return self._steps[place].by_states(self.gradients[place], of_output)

    def _has_alike(self, found: dict[str | int, Operation]) -> bool:
        """Whether the same weights have gradients as in the steps before."""
        places = range(len(self._steps[0].weights))
        return all((place in found) == (place in self._products[0]) for place in places)

    def _passes_on(self, uses: Uses, place: int) -> bool:
        """Whether a step receives the gradients with respect to its states from the next one."""
        passed = self._by_states(place + 1)
        for state, total in enumerate(self._to_states(place)):
            terms, additions = _terms(uses, total, self.gradients[place])
            known = {id(term) for term in passed[state]}
            others = [term for term in terms if id(term) not in known]
            if not known or len(others) != len(terms) - len(known) or (state and others):
                return False
            self._additions += additions
            if state == 0:
                self.others.append(others)
        return True


def gradients_of(uses: Uses, step: Step) -> list[Operation]:
    """The operations for the gradients of a step's gates."""
    name = f"{step.KIND}GatesGrad"
    return [each for each in uses.get(id(step.gates.inputs[0]), ()) if each.type == name]


def _products(uses: Uses, step: Step, gradient: Operation) -> dict[str | int, Operation] | None:
    """The uses of the pre-activations' gradients; None unless each is known and occurs once."""
    found: dict[str | int, Operation] = {}
    by_inputs, by_state = step.by_sums(gradient)
    sums = {id(tensor): tensor for tensor in (by_inputs, by_state)}
    for to_sums in sums.values():
        for operation in uses.get(id(to_sums), ()):
            purpose = None
            if to_sums is by_state:
                purpose = _purpose(operation, to_sums, "h", step.states[0], step, 1)
            if to_sums is by_inputs and purpose is None:
                purpose = _purpose(operation, to_sums, "x", step.x, step, 0)
            if purpose is None or purpose in found or operation.control_inputs:
                return None
            found[purpose] = operation
    return found


def _purpose(
    operation: Operation, to_sums: Tensor, name: str, left: Tensor, step: Step, place: int
) -> str | int | None:
    """Which gradient of left @ weights[index] + bias an operation computes: see `Back`."""
    if operation.type == "BiasAddGrad":
        has_bias = _is_by_columns(operation) and place < len(step.biases)
        return 2 + place if has_bias else None
    if operation.type != "MatMul":
        return None
    a, b = operation.inputs
    transposed = [key for key, value in operation.given.items() if value]
    if a is to_sums and transposed == ["transpose_b"] and b is step.weights[place]:
        return name
    if b is to_sums and transposed == ["transpose_a"] and a is left:
        return place
    return None


def _terms(uses: Uses, total: Tensor, user: Operation) -> tuple[list[Tensor], list[Operation]]:
    """The terms of a sum with a single use, and the additions that form it."""
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
