"""Derivatives of an operation's gradient, by a composition of others that computes the same."""

from __future__ import annotations

import numpy as np

from ...core.autodiff.tape import GradientTape
from ...core.convert import convert_to_tensor
from ..array.shaping import identity


def present(like, *gradients):
    """Gradients as inputs of an operation: an empty vector in the place of those that are None."""
    nothing = convert_to_tensor(np.zeros(0, like.dtype.numpy))
    return [nothing if each is None else each for each in gradients]


def given(*gradients):
    """The other way round: None in the place of vectors, where matrices are gradients."""
    return [None if each.shape.rank == 1 else each for each in gradients]


def composed_gradient(function, sources, weights):
    """The gradients of a function's results, with weights that are None for some."""
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
    """The same for sources that tapes know of already: they are told of all that happens here."""
    return composed_gradient(function, [identity(each) for each in sources], weights)
