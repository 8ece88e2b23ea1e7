"""Gamma, Poisson, binomial, categorical and truncated normal numbers as functions of a seed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.dtypes import REAL, as_dtype
from ..core.op import execute, op
from ..core.shape_rules import dimensions_text
from ..core.shapes import TensorShape, broadcast_shapes
from ..core.tensor import Tensor
from . import random_samplers
from .array.arguments import INDEX, integers, require_type
from .array.selection import where
from .broadcasting import sum_to
from .math.arithmetic import maximum
from .math.elementwise import exp
from .math.special import erf, erfc
from .random import (
    COUNTS,
    WIDE_FLOATS,
    RandomGammaGrad,
    counted,
    dimensions,
    draw_classes,
    drawn_shape,
    gamma_array,
    gamma_parameters,
    lowered,
    poisson_array,
    require_accepted,
    shape_given,
)
from .random_stateless import key_counter, place_of, scrambled, seed_tensor


@op(
    "StatelessMultinomial",
    "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype",
    T=REAL, Tseed=INDEX, shape=drawn_shape, gradient=None,
)  # fmt: skip
def StatelessMultinomial(logits, num_samples, seed, *, output_dtype=dtypes.int64):
    draw_classes("StatelessMultinomial", logits, num_samples, output_dtype)
    count = int(num_samples)
    return random_samplers.classes_drawn(logits, count, *scrambled(seed), output_dtype.numpy)


def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """Class indices sampled with probabilities softmax(logits), deterministic for a given seed.

    >>> tf.random.stateless_categorical([[0.0, 100.0]], 3, seed=[1, 2])
    <tf.Tensor: shape=(1, 3), dtype=int64, numpy=array([[1, 1, 1]])>
    """
    dtype = as_dtype(dtype or dtypes.int64)
    require_accepted(dtype, (dtypes.int32, dtypes.int64))
    inputs = (convert_to_tensor(logits), integers(num_samples), seed_tensor(seed))
    return execute(StatelessMultinomial, inputs, {"output_dtype": dtype})


def _samples(sizes: tuple[int, ...], *parameters: Any) -> tuple[int, list[Any]]:
    """The number of samples per parameter element, and the broadcast parameters."""
    together = np.broadcast_arrays(*parameters) if len(parameters) > 1 else list(parameters)
    common = together[0].shape
    if sizes[len(sizes) - len(common) :] != common or len(common) > len(sizes):
        raise ValueError(
            "Shape passed in must end with broadcasted shape: got "
            f"{dimensions_text(TensorShape(sizes))} for parameters of shape "
            f"{dimensions_text(TensorShape(common))}."
        )
    return math.prod(sizes[: len(sizes) - len(common)]), [each.reshape(-1) for each in together]


@op(
    "StatelessRandomGammaV2", "shape: T, seed: Tseed, alpha: dtype -> output: dtype",
    T=INDEX, Tseed=INDEX, dtype=WIDE_FLOATS, shape=shape_given,
)  # fmt: skip
def StatelessRandomGammaV2(shape, seed, alpha):
    sizes = dimensions(shape)
    samples, _ = _samples(sizes, alpha)
    return gamma_array(alpha, samples, sizes, *scrambled(seed))


@StatelessRandomGammaV2.gradient
def _(op, grad):
    alpha = op.inputs[2]
    return None, None, sum_to(grad * RandomGammaGrad(alpha, op.outputs[0]), alpha)


@op(
    "StatelessRandomGammaV3",
    "shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype -> output: dtype",
    shape_dtype=INDEX, dtype=WIDE_FLOATS, shape=shape_given,
)  # fmt: skip
def StatelessRandomGammaV3(shape, key, counter, alg, alpha):
    sizes = dimensions(shape)
    samples, _ = _samples(sizes, alpha)
    return gamma_array(alpha, samples, sizes, *place_of(key, counter, alg))


@StatelessRandomGammaV3.gradient
def _(op, grad):
    alpha = op.inputs[4]
    slope = sum_to(grad * RandomGammaGrad(alpha, op.outputs[0]), alpha)
    return None, None, None, None, slope


def stateless_gamma(shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None):
    """Gamma numbers, deterministic for a given seed.

    `shape` is that of the result and ends with that of the parameters.

    >>> tf.random.stateless_gamma([4, 2], seed=(1, 2), alpha=[0.5, 1.5]).shape
    TensorShape([4, 2])
    """
    dtype = as_dtype(dtype)
    shape = integers(shape)
    alpha, beta, tiny = gamma_parameters(alpha, beta, dtype)
    key, counter, alg = key_counter(seed, None)
    numbers = execute(StatelessRandomGammaV3, (shape, key, counter, alg, alpha))
    return maximum(tiny, numbers / beta)


@op(
    "StatelessRandomPoisson", "shape: T, seed: Tseed, lam: Rtype -> output: dtype",
    T=INDEX, Tseed=INDEX, Rtype=WIDE_FLOATS | COUNTS, shape=shape_given, gradient=None,
)  # fmt: skip
def StatelessRandomPoisson(shape, seed, lam, *, dtype):
    sizes = dimensions(shape)
    samples, _ = _samples(sizes, lam)
    return poisson_array(lam, samples, sizes, dtype, *scrambled(seed))


def stateless_poisson(shape, seed, lam, dtype=dtypes.int32, name=None):
    """Poisson numbers, deterministic for a given seed.

    >>> tf.random.stateless_poisson([5], seed=(1, 2), lam=0.0)
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([0, 0, 0, 0, 0], dtype=int32)>
    """
    dtype = as_dtype(dtype)
    require_type("StatelessRandomPoisson", "dtype", dtype, WIDE_FLOATS | COUNTS)
    inputs = (integers(shape), seed_tensor(seed), convert_to_tensor(lam))
    return execute(StatelessRandomPoisson, inputs, {"dtype": dtype})


def binomial_array(
    sizes: tuple[int, ...], counts: Any, probs: Any, dtype: Any, key: int, counter: int
) -> Any:
    """Binomial numbers as an array of these sizes."""
    samples, parameters = _samples(sizes, counts, probs)
    kind = random_samplers.binomial_numbers
    numbers = random_samplers.per_parameter(kind, parameters, samples, key, counter)
    return counted(numbers, sizes, dtype)


@op(
    "StatelessRandomBinomial", "shape: S, seed: Tseed, counts: T, probs: T -> output: dtype",
    S=INDEX, Tseed=INDEX, T=WIDE_FLOATS, shape=shape_given, gradient=None,
)  # fmt: skip
def StatelessRandomBinomial(shape, seed, counts, probs, *, dtype=dtypes.int64):
    return binomial_array(dimensions(shape), counts, probs, dtype, *scrambled(seed))


def stateless_binomial(shape, seed, counts, probs, output_dtype=dtypes.int32, name=None):
    """Binomial numbers, deterministic for a given seed.

    >>> tf.random.stateless_binomial([3], seed=(1, 2), counts=10.0, probs=1.0)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([10, 10, 10], dtype=int32)>
    """
    counts, probs = convert_to_tensor(counts), convert_to_tensor(probs)
    inputs = (integers(shape), seed_tensor(seed), counts, probs)
    return execute(
        StatelessRandomBinomial, inputs, {"dtype": as_dtype(output_dtype or dtypes.int64)}
    )


def _cut_shape(inputs, attrs):
    shape = shape_given(inputs, attrs)
    common = inputs[2].shape
    for parameter in inputs[3:]:
        common = broadcast_shapes(common, parameter.shape)
    return shape


@op(
    "StatelessParameterizedTruncatedNormal",
    "shape: S, seed: Tseed, means: dtype, stddevs: dtype, minvals: dtype, maxvals: dtype "
    "-> output: dtype",
    S=INDEX, Tseed=INDEX, dtype=WIDE_FLOATS, shape=_cut_shape,
)  # fmt: skip
def StatelessParameterizedTruncatedNormal(shape, seed, means, stddevs, minvals, maxvals):
    sizes = dimensions(shape)
    place = scrambled(seed)
    samples, parameters = _samples(sizes, means, stddevs, minvals, maxvals)
    numbers = random_samplers.cut_normal_numbers(*parameters, samples, *place)
    return lowered(numbers.reshape(sizes))


@StatelessParameterizedTruncatedNormal.gradient
def _(op, grad):
    means, stddevs, minvals, maxvals = op.inputs[2:]
    point, low, high = ((each - means) / stddevs for each in (op.outputs[0], minvals, maxvals))
    below = _probability(low, point, low) / _probability(low, high, low)
    return (
        None,
        None,
        sum_to(grad, means),
        sum_to(grad * point, stddevs),
        sum_to(grad * _ratio(point, low) * (1 - below), minvals),
        sum_to(grad * _ratio(point, high) * below, maxvals),
    )


def _probability(start: Tensor, end: Tensor, sign: Tensor) -> Tensor:
    """Twice the normal probability between two points, computed in the tail of `sign`."""
    half = 0.5**0.5
    right = erfc(start * half) - erfc(end * half)
    return where(sign > 0, right, erf(end * half) - erf(start * half))


def _ratio(point: Tensor, bound: Tensor) -> Tensor:
    """The normal density at a bound over that at a point."""
    return exp((point * point - bound * bound) / 2)


def stateless_parameterized_truncated_normal(
    shape, seed, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, name=None
):
    """Normal numbers truncated to `minvals` and `maxvals`, for a given seed.

    >>> tf.random.stateless_parameterized_truncated_normal([3, 2], [5, 9], means=[0.0, 5.0]).shape
    TensorShape([3, 2])
    """
    parameters = [convert_to_tensor(each) for each in (means, stddevs, minvals, maxvals)]
    inputs = (integers(shape), seed_tensor(seed), *parameters)
    return execute(StatelessParameterizedTruncatedNormal, inputs)
