"""One time step of a gated recurrent unit with the reset gate after the matmul, for eager cells."""

from __future__ import annotations

from ...core.op import Op, execute
from ...core.shape_rules import unknown
from ..array.joining import stack
from ..linalg.matmul import MatMul, product_of
from .bias import BiasAddGrad
from .gated_gates import GRUGates, GRUGatesGrad
from .recurrent_gates import AT_ONCE


def _step(x, h, kernel, recurrent_kernel, bias):
    sums = product_of(x, kernel)
    sums += bias[0]
    state_sums = product_of(h, recurrent_kernel)
    state_sums += bias[1]
    return *GRUGates.kernel(sums, state_sums, h), sums, state_sums


GATED_STEP = Op(
    "_GRUStep",
    "x: T, h: T, kernel: T, recurrent_kernel: T, bias: T"
    " -> output: T, gates: T, candidate: T, sums: T, state_sums: T",
    _step, unknown, False, True, {"T": AT_ONCE},
)  # fmt: skip
GATED_STEP.partial = True
GATED_STEP.factors = (2, 3)


@GATED_STEP.gradient
def _(op, to_output, to_gates, to_candidate, to_sums, to_state_sums):
    # For second derivatives the gates are a function of `sums`, their pre-activations.
    h = op.inputs[1]
    _, gates, candidate, sums, state_sums = op.outputs
    to_h = None
    if to_output is not None:
        inputs = (sums, state_sums, h, gates, candidate, to_output)
        by_sums, by_state_sums, to_h = execute(GRUGatesGrad, inputs)
        to_sums = by_sums if to_sums is None else to_sums + by_sums
        to_state_sums = by_state_sums if to_state_sums is None else to_state_sums + by_state_sums
    to_x, to_kernel = op.of_product(MatMul, 0, 2, to_sums)
    by_product, to_recurrent = op.of_product(MatMul, 1, 3, to_state_sums)
    if op.needs(1):
        to_h = by_product if to_h is None else to_h + by_product
    to_bias = None
    if op.needs(4):
        to_bias = stack([execute(BiasAddGrad, (each,)) for each in (to_sums, to_state_sums)])
    return to_x, to_h, to_kernel, to_recurrent, to_bias
