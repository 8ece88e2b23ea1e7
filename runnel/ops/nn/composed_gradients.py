"""Second derivatives of a fused op: differentiate an equivalent composition of other ops."""

from __future__ import annotations

import numpy as np

from ...core.autodiff.tape import GradientTape
from ...core.convert import convert_to_tensor
from ..array.shaping import identity


def present(like, *gradients):
    """Upstream gradients as inputs of an operation, an empty vector standing for None."""
    nothing = convert_to_tensor(np.zeros(0, like.dtype.numpy))
    return [nothing if each is None else each for each in gradients]


def given(*gradients):
    """The inverse of `present` for gradients that are matrices: None for an empty vector."""
    return [None if each.shape.rank == 1 else each for each in gradients]


def composed_gradient(function, sources, weights):
    """The gradients of a function's results with respect to its sources; weights may be None."""
    sources = list(sources)
    with GradientTape() as tape:
        tape.watch(sources)
        results = function(*sources)
    pairs = [
        (result, weight)
        for result, weight in zip(results, weights, strict=True)
        if weight is not None
    ]
    values, given = zip(*pairs, strict=True)
    return tape.gradient(list(values), sources, list(given))


def derivatives_of_composed(function, sources, weights):
    """The same for sources that outer tapes watch: those record everything done here."""
    return composed_gradient(function, [identity(each) for each in sources], weights)
