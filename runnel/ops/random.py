"""Stateful random ops: every call advances the stream of its seeds.

The functions between the ops are also used by the stateless ones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.convert import constant_shape, constant_value, convert_to_tensor
from ..core.dtypes import REAL, DType, as_dtype
from ..core.op import execute, op
from ..core.shape_rules import broadcast, dimensions_text, require_rank, unchanged
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from . import philox, random_samplers
from .array.arguments import INDEX, integers, require_type
from .array.shaping import broadcast_dynamic_shape, broadcast_to, shape as shape_of
from .broadcasting import sum_to
from .math.arithmetic import maximum
from .math.incomplete_gamma import derivative_by_order
from .random_streams import reserve, seed_attrs

FLOATS = frozenset({dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64})
COUNTS = frozenset({dtypes.int32, dtypes.int64})
# The dtype in which gamma, Poisson and binomial numbers are computed.
WIDE_FLOATS = FLOATS - {dtypes.bfloat16}


def dimensions(shape: Any) -> tuple[int, ...]:
    """The sizes in a kernel's shape argument."""
    if shape.ndim != 1:
        raise ValueError(
            "shape must be a vector of {int32,int64}, got shape "
            f"{dimensions_text(TensorShape(shape.shape))}"
        )
    sizes = tuple(shape.tolist())
    for size in sizes:
        if size < 0:
            raise ValueError(f"Dimension {size} must be >= 0")
    return sizes


def lowered(array: Any) -> Any:
    """A kernel's result; of rank 0, as a NumPy scalar."""
    return array if array.ndim else array[()]


def shape_given(inputs, attrs):
    """The shape in the first input's value."""
    require_rank(inputs[0], 1, "shape")
    return constant_shape(inputs[0])


def is_number(value: Any, number: float) -> bool:
    """Whether an argument is this Python number, so that arithmetic with it can be skipped."""
    return type(value) in (int, float) and value == number


@op(
    "RandomUniform", "shape: T -> output: dtype", T=INDEX, shape=shape_given, gradient=None,
    stateful=True,
)  # fmt: skip
def RandomUniform(shape, *, dtype, seed=0, seed2=0, _stream=None):
    sizes = dimensions(shape)
    groups = philox.GROUPS_PER_NUMBER * math.prod(sizes)
    place = reserve(_stream, seed, seed2, groups, "RandomUniform", dtype, shape.dtype)
    return lowered(philox.uniform_numbers(sizes, dtype.numpy, *place))


@op(
    "RandomUniformInt", "shape: T, minval: Tout, maxval: Tout -> output: Tout",
    T=INDEX, Tout=COUNTS, shape=shape_given, gradient=None, stateful=True,
)  # fmt: skip
def RandomUniformInt(shape, minval, maxval, *, seed=0, seed2=0, _stream=None):
    sizes = dimensions(shape)
    low, high = bounds(minval, maxval, math.prod(sizes))
    groups = philox.GROUPS_PER_NUMBER * math.prod(sizes)
    place = reserve(_stream, seed, seed2, groups, "RandomUniformInt", minval.dtype, shape.dtype)
    return lowered(philox.uniform_integers(sizes, minval.dtype, low, high, *place))


def bounds(minval: Any, maxval: Any, count: int) -> tuple[int, int]:
    """The scalar bounds of `count` integers."""
    for name, value in (("minval", minval), ("maxval", maxval)):
        if value.ndim:
            shape = dimensions_text(TensorShape(value.shape))
            raise ValueError(f"{name} must be 0-D, got shape {shape}")
    low, high = int(minval), int(maxval)
    if count and low >= high:
        raise ValueError(f"Need minval < maxval, got {low} >= {high}")
    return low, max(high, low + 1)


@op(
    "RandomStandardNormal", "shape: T -> output: dtype", T=INDEX, shape=shape_given,
    gradient=None, stateful=True,
)  # fmt: skip
def RandomStandardNormal(shape, *, dtype, seed=0, seed2=0, _stream=None):
    sizes = dimensions(shape)
    groups = philox.GROUPS_PER_NUMBER * math.prod(sizes)
    place = reserve(_stream, seed, seed2, groups, "RandomStandardNormal", dtype, shape.dtype)
    return lowered(philox.normal_numbers(sizes, dtype.numpy, *place))


@op(
    "TruncatedNormal", "shape: T -> output: dtype", T=INDEX, shape=shape_given, gradient=None,
    stateful=True,
)  # fmt: skip
def TruncatedNormal(shape, *, dtype, seed=0, seed2=0, _stream=None):
    sizes = dimensions(shape)
    groups = philox.GROUPS_PER_NUMBER * math.prod(sizes)
    place = reserve(_stream, seed, seed2, groups, "TruncatedNormal", dtype, shape.dtype)
    return lowered(philox.truncated_normal_numbers(sizes, dtype.numpy, *place))


_UNIFORM_DTYPES = (
    dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64,
)  # fmt: skip


def require_accepted(dtype: DType, accepted: tuple[DType, ...], when: str = "") -> None:
    """Reject a `dtype` argument that is none of these."""
    if dtype not in accepted:
        names = ", ".join(f"tf.{each.name}" for each in accepted)
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype!r}{when}. Accepted dtypes are ({names})."
        )


def spread(numbers: Tensor, minval: Any, maxval: Any) -> Tensor:
    """Scale uniform numbers in [0, 1) to [minval, maxval)."""
    if is_number(minval, 0) and is_number(maxval, 1):
        return numbers
    minval = convert_to_tensor(minval, numbers.dtype)
    maxval = convert_to_tensor(maxval, numbers.dtype)
    return numbers * (maxval - minval) + minval


def scaled(numbers: Tensor, mean: Any, stddev: Any) -> Tensor:
    """Scale standard normal numbers to another mean and standard deviation."""
    if not is_number(stddev, 1):
        numbers = numbers * convert_to_tensor(stddev, numbers.dtype)
    return numbers if is_number(mean, 0) else numbers + convert_to_tensor(mean, numbers.dtype)


def require_float(op_name: str, dtype: DType) -> None:
    """Reject a dtype that normal numbers do not support."""
    if dtype.is_integer or dtype.is_bool:
        convert_to_tensor(0.0, dtype)
    require_type(op_name, "dtype", dtype, FLOATS)


def uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Uniform numbers in [minval, maxval); integers need a `maxval`.

    >>> tf.random.set_seed(5)
    >>> tf.random.uniform([2, 2], 1, 7, dtype=tf.int32).shape
    TensorShape([2, 2])
    """
    dtype = as_dtype(dtype)
    require_accepted(dtype, _UNIFORM_DTYPES)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype tf.{dtype.name}")
        maxval = 1
    shape = integers(shape)
    if dtype.is_integer:
        low, high = convert_to_tensor(minval, dtype), convert_to_tensor(maxval, dtype)
        return execute(RandomUniformInt, (shape, low, high), seed_attrs(seed))
    attrs = {"dtype": dtype, **seed_attrs(seed)}
    return spread(execute(RandomUniform, (shape,), attrs), minval, maxval)


def normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Normal numbers with this mean and standard deviation.

    >>> tf.random.set_seed(5)
    >>> tf.random.normal([4], 0, 1, tf.float32)
    <tf.Tensor: shape=(4,), dtype=float32,
    numpy=array([-0.18030666, -0.95028627, -0.03964049, -0.7425406 ], dtype=float32)>
    """
    dtype = as_dtype(dtype)
    require_float("RandomStandardNormal", dtype)
    attrs = {"dtype": dtype, **seed_attrs(seed)}
    return scaled(execute(RandomStandardNormal, (integers(shape),), attrs), mean, stddev)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Normal numbers within two standard deviations of the mean; others are redrawn.

    >>> bool(tf.reduce_all(tf.abs(tf.random.truncated_normal([1000])) < 2))
    True
    """
    dtype = as_dtype(dtype)
    require_float("TruncatedNormal", dtype)
    attrs = {"dtype": dtype, **seed_attrs(seed)}
    return scaled(execute(TruncatedNormal, (integers(shape),), attrs), mean, stddev)


@op("RandomShuffle", "value: T -> output: T", shape=unchanged, gradient=None, stateful=True)
def RandomShuffle(value, *, seed=0, seed2=0, _stream=None):
    if not value.ndim or len(value) < 2:
        return value
    groups = -(-(len(value) - 1) // 4)
    place = reserve(_stream, seed, seed2, groups, "RandomShuffle", value.dtype)
    return value[random_samplers.permutation(len(value), *place)]


def shuffle(value, seed=None, name=None):
    """Shuffle the rows of a tensor.

    >>> tf.sort(tf.random.shuffle([3, 1, 2]))
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 3], dtype=int32)>
    """
    return execute(RandomShuffle, (convert_to_tensor(value),), seed_attrs(seed))


def drawn_shape(inputs, attrs):
    """The shape of samples from rows of logits: rows by samples."""
    logits, samples = inputs[:2]
    require_rank(logits, 2, "logits")
    require_rank(samples, 0, "num_samples")
    count = constant_value(samples)
    rows = logits.shape[0] if logits.shape.rank else None
    return TensorShape([rows, None if count is None else max(int(count), 0)])


def draw_classes(op_name: str, logits: Any, num_samples: Any, output_dtype: DType) -> int:
    """Check the arguments of sampling from rows of logits; the number of groups it takes."""
    if logits.ndim != 2:
        shape = dimensions_text(TensorShape(logits.shape))
        raise ValueError(f"logits should be a matrix, got shape {shape}")
    if num_samples.ndim:
        shape = dimensions_text(TensorShape(num_samples.shape))
        raise ValueError(f"num_samples should be a scalar, got shape {shape}")
    if num_samples < 0:
        raise ValueError(f"num_samples should be non-negative, got {num_samples}")
    if not logits.shape[1]:
        raise ValueError(f"num_classes should be positive, got {logits.shape[1]}")
    if dtypes.from_numpy(logits.dtype) not in FLOATS:
        raise errors.NotFoundError(
            None,
            None,
            f"No kernel of {op_name} takes logits of {logits.dtype}: use tf.cast to make them "
            "half, bfloat16, float or double.",
        )
    return 2 * philox.GROUPS_PER_NUMBER * logits.shape[0] * (-(-int(num_samples) // 4) * 4)


@op(
    "Multinomial", "logits: T, num_samples: int32 -> output: output_dtype", T=REAL,
    shape=drawn_shape, gradient=None, stateful=True,
)  # fmt: skip
def Multinomial(logits, num_samples, *, output_dtype=dtypes.int64, seed=0, seed2=0, _stream=None):
    groups = draw_classes("Multinomial", logits, num_samples, output_dtype)
    place = reserve(_stream, seed, seed2, groups, "Multinomial", logits.dtype, output_dtype)
    return random_samplers.classes_drawn(logits, int(num_samples), *place, output_dtype.numpy)


def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """Class indices sampled with probabilities softmax(logits), `num_samples` per row.

    >>> tf.random.categorical(tf.math.log([[0.0, 1.0, 0.0]]), 4)
    <tf.Tensor: shape=(1, 4), dtype=int64, numpy=array([[1, 1, 1, 1]])>
    """
    dtype = dtypes.int64 if dtype is None else as_dtype(dtype)
    require_accepted(dtype, (dtypes.int32, dtypes.int64))
    logits, count = convert_to_tensor(logits), integers(num_samples)
    return execute(Multinomial, (logits, count), {"output_dtype": dtype, **seed_attrs(seed)})


def _sampled_shape(inputs, attrs):
    return shape_given(inputs, attrs).concatenate(inputs[1].shape)


@op(
    "RandomGamma", "shape: S, alpha: T -> output: T", S=INDEX, T=WIDE_FLOATS,
    shape=_sampled_shape, stateful=True,
)  # fmt: skip
def RandomGamma(shape, alpha, *, seed=0, seed2=0, _stream=None):
    sizes = dimensions(shape)
    samples = math.prod(sizes)
    groups = philox.GROUPS_PER_NUMBER * samples * alpha.size
    place = reserve(_stream, seed, seed2, groups, "RandomGamma", alpha.dtype, shape.dtype)
    return gamma_array(alpha, samples, sizes + alpha.shape, *place)


def gamma_array(alpha: Any, samples: int, sizes: tuple[int, ...], key: int, counter: int) -> Any:
    """Gamma numbers, `samples` for each alpha, as an array of these sizes."""
    wide = alpha.astype(np.float64).reshape(-1)
    kind = random_samplers.gamma_numbers
    numbers = random_samplers.per_parameter(kind, [wide], samples, key, counter)
    return lowered(numbers.astype(alpha.dtype).reshape(sizes))


@RandomGamma.gradient
def _(op, grad):
    _, alpha = op.inputs
    return None, sum_to(grad * RandomGammaGrad(alpha, op.outputs[0]), alpha)


@op(
    "RandomGammaGrad", "alpha: T, sample: T -> output: T",
    T={dtypes.float32, dtypes.float64}, shape=broadcast, gradient=None,
)  # fmt: skip
def RandomGammaGrad(alpha, sample):
    """The derivative of a gamma number with respect to alpha, at a fixed quantile."""
    from scipy.special import gammaln

    a, x = alpha.astype(np.float64), sample.astype(np.float64)
    density = np.exp((a - 1) * np.log(x) - x - gammaln(a))
    slope = -derivative_by_order(a, x) / density
    return lowered(np.asarray(slope).astype(alpha.dtype))


def gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Gamma numbers: `shape` of them for each of the parameters.

    `alpha` is the shape parameter, `beta` the inverse scale; both are differentiable.

    >>> tf.random.gamma([2, 3], alpha=[0.5, 1.5]).shape
    TensorShape([2, 3, 2])
    """
    dtype = as_dtype(dtype)
    shape = integers(shape)
    alpha, beta, tiny = gamma_parameters(alpha, beta, dtype)
    numbers = execute(RandomGamma, (shape, alpha), seed_attrs(seed))
    return maximum(tiny, numbers / beta)


def gamma_parameters(alpha: Any, beta: Any, dtype: DType) -> tuple[Tensor, Tensor, Tensor]:
    """Alpha, broadcast with beta; beta; and the lower bound of the numbers, for logarithms."""
    alpha = convert_to_tensor(alpha, dtype)
    beta = convert_to_tensor(1 if beta is None else beta, dtype)
    if beta.shape.rank != 0:
        alpha = broadcast_to(alpha, broadcast_dynamic_shape(shape_of(alpha), shape_of(beta)))
    return alpha, beta, convert_to_tensor(np.finfo(dtype.as_numpy_dtype).tiny)


@op(
    "RandomPoissonV2", "shape: S, rate: R -> output: dtype", S=INDEX, R=WIDE_FLOATS | COUNTS,
    shape=_sampled_shape, gradient=None, stateful=True,
)  # fmt: skip
def RandomPoissonV2(shape, rate, *, dtype=dtypes.int64, seed=0, seed2=0, _stream=None):
    sizes = dimensions(shape)
    samples = math.prod(sizes)
    groups = philox.GROUPS_PER_NUMBER * samples * rate.size
    identity = ("RandomPoissonV2", rate.dtype, dtype, shape.dtype)
    place = reserve(_stream, seed, seed2, groups, *identity)
    return poisson_array(rate, samples, sizes + rate.shape, dtype, *place)


def poisson_array(
    rate: Any, samples: int, sizes: tuple[int, ...], dtype: DType, key: int, counter: int
) -> Any:
    """Poisson numbers, `samples` for each rate, as an array of these sizes."""
    wide = rate.astype(np.float64).reshape(-1)
    kind = random_samplers.poisson_numbers
    numbers = random_samplers.per_parameter(kind, [wide], samples, key, counter)
    return counted(numbers, sizes, dtype)


def counted(numbers: Any, sizes: tuple[int, ...], dtype: DType) -> Any:
    """Cast counts from float64 to another dtype; those that overflow an integer become 0."""
    if dtype.is_integer:
        numbers = np.where(np.abs(numbers) <= dtype.max, numbers, 0)
    return lowered(numbers.astype(dtype.numpy).reshape(sizes))


def poisson(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """Poisson numbers: `shape` of them for each rate in `lam`.

    >>> tf.random.poisson([3], [0.0, 0.0])
    <tf.Tensor: shape=(3, 2), dtype=float32, numpy=
    array([[0., 0.],
           [0., 0.],
           [0., 0.]], dtype=float32)>
    """
    dtype = as_dtype(dtype or dtypes.int64)
    require_type("RandomPoissonV2", "dtype", dtype, WIDE_FLOATS | COUNTS)
    attrs = {"dtype": dtype, **seed_attrs(seed)}
    return execute(RandomPoissonV2, (integers(shape), convert_to_tensor(lam)), attrs)
