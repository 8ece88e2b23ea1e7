"""Re-rolling: the steps of unrolled recurrent cells become one recurrent layer.

A program that calls an LSTMCell or a GRUCell in a Python loop has matmuls and gates for every step,
and as many again in the backward pass. If the steps follow each other and all their inputs are
known before the first, LSTMLayer or GRULayer computes the same, and its gradient op the backward
pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.graph.graph import Operation
from ...core.graph.reachability import has_effects
from ...core.tensor import Tensor
from . import common_subexpressions
from .computation import Computation, constant, made_like
from .horizontal_fusion import between
from .recurrent_patterns import Back, Step, Uses, gates_in, gradients_of, sequences

# Fewer steps are as fast one by one.
_FEWEST = 3
# Gradients with respect to a slice of a weight are padded to its shape before they are summed.
_PLACED = "StridedSliceGrad"


def run(computation: Computation) -> Computation:
    """Replace every sequence of steps by a layer."""
    if gates_in(computation) < _FEWEST:
        return computation
    # Merge the reads of the weights, of which each step has its own.
    computation = common_subexpressions.run(computation)
    left_alone = 0
    while len(found := sequences(computation, _FEWEST)) > left_alone:
        rolled = _rolled(computation, found[left_alone])
        if rolled is None:
            left_alone += 1
        else:
            computation = rolled
    return computation


def _rolled(computation: Computation, steps: Sequence[Step]) -> Computation | None:
    """The computation with one layer for these steps; None if a part of them has other uses."""
    uses = computation.uses()
    inner = [part for step in steps for part in step.parts]
    back = None
    if any(gradients_of(uses, step) for step in steps):
        back = Back.of(uses, steps)
        if back is None or not _are_summed(computation, uses, back):
            return None
        inner += back.inner()
    order = {id(operation): place for place, operation in enumerate(computation.operations)}
    moved = between(computation, order[id(steps[0].gates)], order, (step.x for step in steps))
    if moved is None or not _serve_each_other(computation, uses, steps, back, inner):
        return None
    return _Rewrite(computation, steps, back).result({id(each) for each in inner}, moved)


def _are_summed(computation: Computation, uses: Uses, back: Back) -> bool:
    """Whether the gradients with respect to each weight and state end in one sum only."""
    fetched = {id(tensor) for tensor in computation.fetches}
    for terms in (*back.by_first_states(), *back.by_weights()):
        if len(terms) > 1 and not set.intersection(
            *(_sums_of(uses, fetched, term) for term in terms)
        ):
            return False
    return True


def _sums_of(uses: Uses, fetched: set[int], term: Tensor) -> set[tuple[Any, ...]]:
    """The sums that a term is part of, as long as each intermediate value has a single use.

    Each comes with what was done to the term on the way, which must be the same for all terms.
    """
    found: set[tuple[Any, ...]] = set()
    placed: tuple[Any, ...] = ()
    while id(term) not in fetched:
        users = uses.get(id(term), [])
        if len(users) != 1 or users[0].control_inputs:
            break
        (user,) = users
        if user.type == "AddV2":
            found.add((id(user), *placed))
        elif user.type == _PLACED:
            placed += (*map(id, user.inputs[:-1]), *sorted(user.given.items()))
        else:
            break
        term = user.outputs[0]
    return found


def _serve_each_other(
    computation: Computation,
    uses: Uses,
    steps: Sequence[Step],
    back: Back | None,
    inner: list[Operation],
) -> bool:
    """Whether the operations that would vanish have no other uses."""
    known = {id(operation) for operation in inner}
    replaced = {id(step.gates.outputs[0]) for step in steps} | set(map(id, steps[-1].results()))
    if back is not None:
        replaced |= {id(gradient) for gradient in back.by_inputs()}
        for terms in (*back.by_first_states(), *back.by_weights()):
            replaced |= {id(term) for term in terms}
    fetched = {id(tensor) for tensor in computation.fetches}
    for operation in inner:
        for tensor in operation.outputs:
            if id(tensor) in replaced:
                continue
            if id(tensor) in fetched:
                return False
            if any(id(user) not in known for user in uses.get(id(tensor), ())):
                return False
    return True


class _Rewrite:
    """A computation, the steps in it, and what replaces them."""

    def __init__(self, computation: Computation, steps: Sequence[Step], back: Back | None) -> None:
        self._program = computation
        self._steps = steps
        self._model = steps[0].gates
        first, last = steps[0], steps[-1]
        self._state = (first.states[0].shape[0], first.states[0].shape[1])
        # New tensors, by the id of those they replace.
        self._replaced: dict[int, Tensor] = {}
        # Terms of gradients that the first term now includes.
        self._dropped: set[int] = set()
        # Tensors that are available only after the backward pass.
        self._late: set[int] = set()
        x = self._made("Pack", [step.x for step in steps], [self._rows(first.x)], axis=0)
        self._there = [x]
        self._taken = [
            x.outputs[0], *first.states, first.kernel, first.recurrent, self._bias()
        ]  # fmt: skip
        shapes = [self._rows(first.states[0]), *[self._state for _ in first.states], (None,)]
        self._layer = self._made(f"{first.KIND}Layer", self._taken, shapes, keep=True)
        outputs = self._each(self._layer.outputs[0], first.states[0])
        self._there += [self._layer, outputs]
        for step, output in zip(steps, outputs.outputs, strict=True):
            self._replaced[id(step.gates.outputs[0])] = output
        for result, state in zip(last.results(), self._layer.outputs[1:-1], strict=True):
            self._replaced[id(result)] = state
        self._closing = None if back is None else back.gradients[0]
        self._back = [] if back is None else self._way_back(back)

    def _made(
        self, name: str, inputs: Sequence[Tensor], shapes: Sequence[Any], **attrs: Any
    ) -> Operation:
        return made_like(self._model, name, inputs, shapes, **attrs)

    def _bias(self) -> Tensor:
        """The bias as a layer takes it: several are stacked."""
        biases = self._steps[0].biases
        if len(biases) == 1:
            return biases[0]
        rows = self._made("Pack", biases, [(len(biases), biases[0].shape[0])], axis=0)
        self._there.append(rows)
        return rows.outputs[0]

    def _rows(self, one: Tensor) -> tuple[int | None, ...]:
        return (len(self._steps), *one.shape)

    def _each(self, tensor: Tensor, one: Tensor) -> Operation:
        """A tensor's slice for each step."""
        return self._parts(tensor, len(self._steps), tuple(one.shape))

    def _parts(self, tensor: Tensor, count: int, shape: tuple[int | None, ...]) -> Operation:
        return self._made("Unpack", [tensor], [shape] * count, num=count, axis=0)

    def _way_back(self, back: Back) -> list[Operation]:
        first = self._steps[0]
        outputs, _, *last_states, kept = self._layer.outputs
        to_outputs, made = self._from_elsewhere(back)
        given = [
            *self._taken, outputs, *last_states, kept, to_outputs, *back.by_last_states()
        ]  # fmt: skip
        shapes = [tuple(each.shape) for each in self._taken]
        by_inputs = back.by_inputs()
        with_x = any(each is not None for each in by_inputs)
        layer = self._made(f"{first.KIND}LayerGrad", given, shapes, with_x=with_x)
        made.append(layer)
        to_x, *totals, to_bias = layer.outputs
        by_biases = [to_bias]
        if len(first.biases) > 1:
            made.append(self._parts(to_bias, len(first.biases), tuple(first.biases[0].shape)))
            by_biases = made[-1].outputs
        for terms, total in zip(
            [*back.by_first_states(), *back.by_weights()], [*totals, *by_biases], strict=True
        ):
            if terms:
                self._replaced[id(terms[0])] = total
                self._dropped |= {id(term) for term in terms[1:]}
        if with_x:
            rows = self._each(to_x, first.x)
            made.append(rows)
            for gradient, row in zip(by_inputs, rows.outputs, strict=True):
                if gradient is not None:
                    self._replaced[id(gradient)] = row
                    self._late.add(id(gradient))
        return made

    def _from_elsewhere(self, back: Back) -> tuple[Tensor, list[Operation]]:
        """The gradients with respect to outputs that come from outside, and the operations that sum
        them.
        """
        model = self._model
        if not any(back.others):
            nothing = constant(
                model, np.zeros(0, model.outputs[0].dtype.numpy), model.outputs[0].dtype
            )
            return nothing, [nothing.op]
        output = self._steps[0].states[0]
        none = self._made("ZerosLike", [output], [self._state])
        made, sums = [none], []
        for terms in back.others:
            total = terms[0] if terms else none.outputs[0]
            for term in terms[1:]:
                made.append(self._made("AddV2", [total, term], [self._state]))
                total = made[-1].outputs[0]
            sums.append(total)
        # The gradient with respect to the last output is an input of its own.
        sums.append(none.outputs[0])
        made.append(self._made("Pack", sums, [self._rows(output)], axis=0))
        return made[-1].outputs[0], made

    def result(self, inner: set[int], moved: set[int]) -> Computation | None:
        """The computation without the inner operations; None if its order does not allow it."""
        operations: list[Operation] = []
        waiting: list[Operation] = []
        closing = self._closing
        for operation in self._program.operations:
            if operation is self._model:
                operations += [each for each in self._program.operations if id(each) in moved]
                operations += self._there
            if operation is closing:
                operations += [*self._back, *waiting]
                closing = None
            if id(operation) in inner or id(operation) in moved:
                continue
            gone = [id(tensor) in self._dropped for tensor in operation.inputs]
            if any(gone):
                # It is part of a sum, as `_are_summed` has found.
                self._leave_out(operation, gone)
            elif closing is not None and any(id(each) in self._late for each in operation.inputs):
                if operation.control_inputs or has_effects(operation):
                    return None
                self._late |= {id(tensor) for tensor in operation.outputs}
                waiting.append(operation)
            else:
                operations.append(operation)
        return self._program.with_operations(operations).substituted(self._replaced)

    def _leave_out(self, operation: Operation, gone: list[bool]) -> None:
        """Replace a sum by its remaining term, if there is one."""
        if operation.type == _PLACED or all(gone):
            self._dropped.add(id(operation.outputs[0]))
        else:
            self._replaced[id(operation.outputs[0])] = operation.inputs[gone.index(False)]
