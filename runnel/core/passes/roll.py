"""The steps of an unrolled long short-term memory as one layer, there and back.

A program that calls an LSTMCell in a Python loop has products and gates for every step, and as many
again for the gradients. Where the steps follow each other and all their inputs are known before,
the operation LSTMLayer computes the same at once, and LSTMLayerGrad the way back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph import Operation
from ..plan import has_effects
from ..tensor import Tensor
from . import share
from .program import Program, constant, made_like
from .recurrent_steps import GATES, WEIGHTS, Back, Step, Uses, gradients_of, sequences
from .stack import between

# Fewer steps than this are as fast one by one.
_FEWEST = 3


def run(program: Program) -> Program:
    """Put a layer in the place of every sequence of steps."""
    if sum(operation.type == GATES for operation in program.operations) < _FEWEST:
        return program
    # Each step reads the weights for itself.
    program = share.run(program)
    left_alone = 0
    while len(found := sequences(program, _FEWEST)) > left_alone:
        rolled = _rolled(program, found[left_alone])
        if rolled is None:
            left_alone += 1
        else:
            program = rolled
    return program


def _rolled(program: Program, steps: Sequence[Step]) -> Program | None:
    """The program with one layer for these steps; None where some part of them serves others."""
    uses = program.uses()
    inner = [part for step in steps for part in step.parts]
    back = None
    if any(gradients_of(uses, step) for step in steps):
        back = Back.of(uses, steps)
        if back is None or not _are_summed(program, uses, back):
            return None
        inner += back.inner()
    order = {id(operation): place for place, operation in enumerate(program.operations)}
    moved = between(program, order[id(steps[0].gates)], order, (step.x for step in steps))
    if moved is None or not _serve_each_other(program, uses, steps, back, inner):
        return None
    return _Rewrite(program, steps, back).result({id(each) for each in inner}, moved)


def _are_summed(program: Program, uses: Uses, back: Back) -> bool:
    """Whether the gradients of all steps by a weight come together in one sum, and only there."""
    fetched = {id(tensor) for tensor in program.fetches}
    for name in WEIGHTS:
        sums = []
        for products in back.products:
            if name in products:
                sums.append(_sums_of(uses, fetched, products[name].outputs[0]))
        if sums and not set.intersection(*sums):
            return False
    return True


def _sums_of(uses: Uses, fetched: set[int], term: Tensor) -> set[int]:
    """The sums that a term is in, as long as nobody else sees it or what it became part of."""
    found: set[int] = set()
    while id(term) not in fetched:
        users = uses.get(id(term), [])
        if len(users) != 1 or users[0].type != "AddV2" or users[0].control_inputs:
            break
        term = users[0].outputs[0]
        found.add(id(term))
    return found


def _serve_each_other(
    program: Program, uses: Uses, steps: Sequence[Step], back: Back | None, inner: list[Operation]
) -> bool:
    """Whether nobody else uses what operations give that are to vanish."""
    known = {id(operation) for operation in inner}
    replaced = {id(step.gates.outputs[0]) for step in steps} | {id(steps[-1].gates.outputs[1])}
    if back is not None:
        replaced.add(id(back.gradients[0].outputs[1]))
        for place, products in enumerate(back.products):
            names = products.keys() - {"h"} if place else products.keys()
            replaced |= {id(products[name].outputs[0]) for name in names}
    fetched = {id(tensor) for tensor in program.fetches}
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
    """A program, steps in it, and what takes their place."""

    def __init__(self, program: Program, steps: Sequence[Step], back: Back | None) -> None:
        self._program = program
        self._steps = steps
        self._model = steps[0].gates
        first, last = steps[0], steps[-1]
        self._state = (first.h.shape[0], first.h.shape[1])
        # Tensors by those whose place they take.
        self._replaced: dict[int, Tensor] = {}
        # Gradients of later steps by weights, which are in those of the first step.
        self._dropped: set[int] = set()
        # What is known only when the way back is done.
        self._late: set[int] = set()
        x = self._made("Pack", [step.x for step in steps], [self._rows(first.x)], axis=0)
        self._taken = [x.outputs[0], first.h, first.c, first.kernel, first.recurrent, first.bias]
        shapes = [self._rows(first.h), self._state, self._state, (None,)]
        self._layer = self._made("LSTMLayer", self._taken, shapes, keep=True)
        outputs = self._each(self._layer.outputs[0], first.h)
        self._there = [x, self._layer, outputs]
        for step, output in zip(steps, outputs.outputs, strict=True):
            self._replaced[id(step.gates.outputs[0])] = output
        self._replaced[id(last.gates.outputs[0])] = self._layer.outputs[1]
        self._replaced[id(last.gates.outputs[1])] = self._layer.outputs[2]
        self._closing = None if back is None else back.gradients[0]
        self._back = [] if back is None else self._way_back(back)

    def _made(
        self, name: str, inputs: Sequence[Tensor], shapes: Sequence[Any], **attrs: Any
    ) -> Operation:
        return made_like(self._model, name, inputs, shapes, **attrs)

    def _rows(self, one: Tensor) -> tuple[int | None, ...]:
        return (len(self._steps), one.shape[0], one.shape[1])

    def _each(self, tensor: Tensor, one: Tensor) -> Operation:
        """What a tensor has for each step."""
        count = len(self._steps)
        shape = (one.shape[0], one.shape[1])
        return self._made("Unpack", [tensor], [shape] * count, num=count, axis=0)

    def _way_back(self, back: Back) -> list[Operation]:
        outputs, _, last_c, kept = self._layer.outputs
        to_outputs, made = self._from_elsewhere(back)
        to_h, to_c = back.gradients[-1].inputs[4:]
        given = [*self._taken, outputs, last_c, kept, to_outputs, to_h, to_c]
        shapes = [tuple(each.shape) for each in self._taken]
        by_inputs = [products["x"] for products in back.products if "x" in products]
        layer = self._made("LSTMLayerGrad", given, shapes, with_x=bool(by_inputs))
        made.append(layer)
        to_x, to_h0, to_c0, *to_weights = layer.outputs
        self._replaced[id(back.gradients[0].outputs[1])] = to_c0
        first = back.products[0]
        if "h" in first:
            self._replaced[id(first["h"].outputs[0])] = to_h0
        for name, total in zip(WEIGHTS, to_weights, strict=True):
            gradients = [
                products[name].outputs[0] for products in back.products if name in products
            ]
            for place, gradient in enumerate(gradients):
                if place == 0:
                    self._replaced[id(gradient)] = total
                else:
                    self._dropped.add(id(gradient))
        if by_inputs:
            rows = self._each(to_x, self._steps[0].x)
            made.append(rows)
            for products, row in zip(back.products, rows.outputs, strict=True):
                if "x" in products:
                    self._replaced[id(products["x"].outputs[0])] = row
                    self._late.add(id(products["x"].outputs[0]))
        return made

    def _from_elsewhere(self, back: Back) -> tuple[Tensor, list[Operation]]:
        """The gradients by outputs that no step passes on, and the operations that join them."""
        model = self._model
        if not any(back.others):
            nothing = constant(
                model, np.zeros(0, model.outputs[0].dtype.numpy), model.outputs[0].dtype
            )
            return nothing, [nothing.op]
        none = self._made("ZerosLike", [self._steps[0].h], [self._state])
        made, sums = [none], []
        for terms in back.others:
            total = terms[0] if terms else none.outputs[0]
            for term in terms[1:]:
                made.append(self._made("AddV2", [total, term], [self._state]))
                total = made[-1].outputs[0]
            sums.append(total)
        # That of the last output is given by itself.
        sums.append(none.outputs[0])
        made.append(self._made("Pack", sums, [self._rows(self._steps[0].h)], axis=0))
        return made[-1].outputs[0], made

    def result(self, inner: set[int], moved: set[int]) -> Program | None:
        """The program without inner operations; None where its order does not allow it."""
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
                # A sum, as `_are_summed` has found.
                self._leave_out(operation, gone)
            elif closing is not None and any(id(each) in self._late for each in operation.inputs):
                if operation.control_inputs or has_effects(operation):
                    return None
                self._late |= {id(tensor) for tensor in operation.outputs}
                waiting.append(operation)
            else:
                operations.append(operation)
        return self._program.with_operations(operations).substituted(self._replaced)

    def _leave_out(self, addition: Operation, gone: list[bool]) -> None:
        """Replace a sum by the term that is still there, if one is."""
        if all(gone):
            self._dropped.add(id(addition.outputs[0]))
        else:
            self._replaced[id(addition.outputs[0])] = addition.inputs[gone.index(False)]
