"""One time step of a long short-term memory as one operation, for eager cells.

It computes the same as two matmuls, a bias and the gates. Graphs consist of these; there passes
fuse them (compiler/passes/recurrent_rerolling.py, horizontal_fusion.py, accumulated_matmuls.py).
"""

from __future__ import annotations

import numpy as np

from ...core.op import Op, execute
from ...core.shape_rules import unknown
from ..linalg.matmul import MatMul, product_of
from .bias import BiasAddGrad
from .composed_gradients import present
from .recurrent_gates import AT_ONCE, LSTMGates, LSTMGatesGrad


def stacked(kernel, recurrent_kernel, bias):
    """All weights of a step as one matrix: [h, x, 1] @ matrix is the sum of all projections."""
    return np.concatenate([recurrent_kernel, kernel, bias[np.newaxis]])


def _step(x, h, c, kernel, recurrent_kernel, bias, together):
    if together.size:
        rows = np.ones((len(x), len(together)), x.dtype)
        units = h.shape[1]
        rows[:, :units] = h
        rows[:, units:-1] = x
        sums = product_of(rows, together)
    else:
        sums = product_of(h, recurrent_kernel)
        sums += product_of(x, kernel)
        sums += bias
    return *LSTMGates.kernel(sums, c), sums


STEP = Op(
    "_LSTMStep",
    "x: T, h: T, c: T, kernel: T, recurrent_kernel: T, bias: T, together: T"
    " -> output: T, new_carry: T, gates: T, squashed: T, sums: T",
    _step, unknown, False, True, {"T": AT_ONCE},
)  # fmt: skip
STEP.partial = True
STEP.factors = (3, 4)


@STEP.gradient
def _(op, to_output, to_carry, to_gates, to_squashed, to_sums):
    # For second derivatives the gates are a function of `sums`, their pre-activations.
    c = op.inputs[2]
    _, _, gates, squashed, sums = op.outputs
    to_c = None
    if to_output is not None or to_carry is not None:
        weights = present(gates, to_output, to_carry)
        found, to_c = execute(LSTMGatesGrad, (sums, c, gates, squashed, *weights))
        to_sums = found if to_sums is None else to_sums + found
    to_x, to_kernel = op.of_product(MatMul, 0, 3, to_sums)
    to_h, to_recurrent = op.of_product(MatMul, 1, 4, to_sums)
    to_bias = execute(BiasAddGrad, (to_sums,)) if op.needs(5) else None
    return to_x, to_h, to_c, to_kernel, to_recurrent, to_bias, None
