"""Random numbers as pure functions of a seed of two integers.

The seed is scrambled to a key and a counter of Philox; the same seed gives the same numbers, every
time and on every platform.
"""

from __future__ import annotations

import enum
import math
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.convert import constant_value, convert_to_tensor
from ..core.dtypes import as_dtype
from ..core.op import execute, op
from ..core.shape_rules import dimensions_text, scalar, unchanged
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from . import philox, random_samplers
from .array.arguments import INDEX, integers
from .array.joining import concat, stack
from .math.casting import cast
from .random import (
    COUNTS,
    bounds,
    dimensions,
    lowered,
    require_accepted,
    require_float,
    scaled,
    shape_given,
    spread,
)

WHOLE = frozenset({dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64})


class Algorithm(enum.Enum):
    """The random bit generators; on a CPU `AUTO_SELECT` is Philox."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_ALGORITHMS = {
    "philox": Algorithm.PHILOX,
    "threefry": Algorithm.THREEFRY,
    "auto_select": Algorithm.AUTO_SELECT,
}


def algorithm_number(alg: Any) -> int:
    """An algorithm as an integer, from a name, an integer or a member of `Algorithm`."""
    if isinstance(alg, Algorithm):
        return alg.value
    if isinstance(alg, str):
        if alg not in _ALGORITHMS:
            raise ValueError(
                f"Argument `alg` got unsupported value {alg}. Supported values are philox for the "
                "Philox algorithm, threefry for the ThreeFry algorithm, and auto_select for "
                "auto-selection."
            )
        return _ALGORITHMS[alg].value
    number = constant_value(convert_to_tensor(alg))
    if number is not None and int(number) not in (1, 2, 3):
        raise ValueError(
            f"Argument `alg` got unsupported value {alg}. Supported values are 1 for the Philox "
            "algorithm, 2 for the ThreeFry algorithm, and 3 for auto-selection."
        )
    return 1 if number is None else int(number)


def scrambled(seed: Any) -> tuple[int, int]:
    """The key and counter of a kernel's seed argument."""
    if seed.shape != (2,):
        shape = dimensions_text(TensorShape(seed.shape))
        raise ValueError(f"seed must have shape [2], not {shape}")
    return philox.scramble(seed.tolist())


def place_of(key: Any, counter: Any, alg: Any) -> tuple[int, int]:
    """The key and counter of a kernel that takes them unscrambled."""
    if int(alg) not in (1, 3):
        raise ValueError(
            f"Algorithm {int(alg)} is not available on a CPU: use 'philox' or 'auto_select'."
        )
    if key.shape != (1,):
        shape = dimensions_text(TensorShape(key.shape))
        raise ValueError(f"key must have shape [1], not {shape}")
    if counter.ndim != 1 or len(counter) < 2:
        shape = dimensions_text(TensorShape(counter.shape))
        raise ValueError(f"counter must be a vector with length at least 2; got shape: {shape}.")
    return int(key[0]), int(counter[0]) | int(counter[1]) << 64


@op(
    "StatelessRandomGetKeyCounter", "seed: Tseed -> key: uint64, counter: uint64", Tseed=INDEX,
    shape=lambda inputs, attrs: [TensorShape([1]), TensorShape([2])], gradient=None,
)  # fmt: skip
def StatelessRandomGetKeyCounter(seed):
    key, counter = scrambled(seed)
    return np.array([key], np.uint64), np.array([0, counter >> 64], np.uint64)


@op("StatelessRandomGetAlg", "-> alg: int32", shape=scalar, gradient=None)
def StatelessRandomGetAlg():
    return np.int32(1)


@op(
    "StatelessRandomGetKeyCounterAlg",
    "seed: Tseed -> key: uint64, counter: uint64, alg: int32",
    Tseed=INDEX,
    shape=lambda inputs, attrs: [TensorShape([1]), TensorShape([2]), TensorShape([])],
    gradient=None,
)
def StatelessRandomGetKeyCounterAlg(seed):
    return *StatelessRandomGetKeyCounter.kernel(seed), np.int32(1)


def _simple(name: str, numbers: Any, default: Any) -> tuple[Any, Any]:
    """An op that fills a shape from a seed, and its newer version from a key and a counter."""

    @op(
        name, "shape: T, seed: Tseed -> output: dtype", T=INDEX, Tseed=INDEX, shape=shape_given,
        gradient=None,
    )  # fmt: skip
    def by_seed(shape, seed, *, dtype=default):
        return lowered(numbers(dimensions(shape), dtype.numpy, *scrambled(seed)))

    @op(
        f"{name}V2",
        "shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype",
        Tshape=INDEX,
        shape=shape_given,
        gradient=None,
    )
    def by_key(shape, key, counter, alg, *, dtype=default):
        return lowered(numbers(dimensions(shape), dtype.numpy, *place_of(key, counter, alg)))

    return by_seed, by_key


StatelessRandomUniform, StatelessRandomUniformV2 = _simple(
    "StatelessRandomUniform", philox.uniform_numbers, dtypes.float32
)
StatelessRandomNormal, StatelessRandomNormalV2 = _simple(
    "StatelessRandomNormal", philox.normal_numbers, dtypes.float32
)
StatelessTruncatedNormal, StatelessTruncatedNormalV2 = _simple(
    "StatelessTruncatedNormal", philox.truncated_normal_numbers, dtypes.float32
)
StatelessRandomUniformFullInt, StatelessRandomUniformFullIntV2 = _simple(
    "StatelessRandomUniformFullInt", philox.integers, dtypes.uint64
)


def _whole_numbers(shape: Any, minval: Any, maxval: Any, place: tuple[int, int]) -> Any:
    sizes = dimensions(shape)
    low, high = bounds(minval, maxval, math.prod(sizes))
    return lowered(philox.uniform_integers(sizes, minval.dtype, low, high, *place))


@op(
    "StatelessRandomUniformInt",
    "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype",
    T=INDEX, Tseed=INDEX, dtype=COUNTS, shape=shape_given, gradient=None,
)  # fmt: skip
def StatelessRandomUniformInt(shape, seed, minval, maxval):
    return _whole_numbers(shape, minval, maxval, scrambled(seed))


@op(
    "StatelessRandomUniformIntV2",
    "shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype "
    "-> output: dtype",
    Tshape=INDEX, dtype=WHOLE, shape=shape_given, gradient=None,
)  # fmt: skip
def StatelessRandomUniformIntV2(shape, key, counter, alg, minval, maxval):
    if minval.dtype.kind != "i":
        raise errors.NotFoundError(
            None,
            None,
            f"Integers between bounds come in int32 and int64, not in {minval.dtype}: take the "
            "whole range (minval=None, maxval=None), or use tf.cast.",
        )
    return _whole_numbers(shape, minval, maxval, place_of(key, counter, alg))


def seed_tensor(seed: Any) -> Tensor:
    """A seed for a kernel: integers that are not yet a tensor become int32 or int64."""
    tensor = convert_to_tensor(seed)
    if isinstance(seed, np.ndarray) and tensor.dtype.is_integer:
        return cast(tensor, dtypes.int64)
    return tensor


def key_counter(seed: Any, alg: Any) -> tuple[Tensor, Tensor, Tensor]:
    """The key, the counter and the algorithm that the newer ops take."""
    number = 3 if alg is None else algorithm_number(alg)
    key, counter = execute(StatelessRandomGetKeyCounter, (seed_tensor(seed),))
    return key, counter, convert_to_tensor(np.int32(number))


_UNIFORM_DTYPES = (
    dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64,
    dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64,
)  # fmt: skip


def stateless_uniform(
    shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Uniform numbers in [minval, maxval), deterministic for a given seed.

    Integers need both bounds, or None for both: then they are drawn from the full range.

    >>> tf.random.stateless_uniform([2], seed=(1, 2))
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.8440604 , 0.19204533], dtype=float32)>
    """
    dtype = as_dtype(dtype)
    require_accepted(dtype, _UNIFORM_DTYPES)
    if not dtype.is_integer:
        key, counter, alg = key_counter(seed, alg)
        inputs = (integers(shape), key, counter, alg)
        numbers = execute(StatelessRandomUniformV2, inputs, {"dtype": dtype})
        return spread(numbers, minval, 1 if maxval is None else maxval)
    if (minval is None) != (maxval is None):
        raise ValueError(
            f"For integer `dtype` argument {dtype!r}, argument `minval` and `maxval` must be both "
            f"None or not None. Got `minval`={minval} and `maxval`={maxval}."
        )
    if minval is not None and dtype not in COUNTS:
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype!r} when argument `minval` is not None. "
            "Please don't use unsigned integers in this case."
        )
    key, counter, alg = key_counter(seed, alg)
    inputs = (integers(shape), key, counter, alg)
    if minval is None:
        return execute(StatelessRandomUniformFullIntV2, inputs, {"dtype": dtype})
    low, high = convert_to_tensor(minval, dtype), convert_to_tensor(maxval, dtype)
    return execute(StatelessRandomUniformIntV2, (*inputs, low, high))


def stateless_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Normal numbers, deterministic for a given seed.

    >>> tf.random.stateless_normal([2], seed=(1, 2), dtype=tf.float64)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([...])>
    """
    dtype = as_dtype(dtype or dtypes.float32)
    require_float("StatelessRandomNormalV2", dtype)
    inputs = (integers(shape), *key_counter(seed, alg))
    return scaled(execute(StatelessRandomNormalV2, inputs, {"dtype": dtype}), mean, stddev)


def stateless_truncated_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Normal numbers within two standard deviations, deterministic for a given seed.

    >>> float(tf.reduce_max(tf.random.stateless_truncated_normal([100], seed=(1, 2)))) < 2
    True
    """
    dtype = as_dtype(dtype)
    require_float("StatelessTruncatedNormalV2", dtype)
    inputs = (integers(shape), *key_counter(seed, alg))
    return scaled(execute(StatelessTruncatedNormalV2, inputs, {"dtype": dtype}), mean, stddev)


def split(seed, num=2, alg="auto_select"):
    """`num` new seeds derived from one.

    >>> tf.random.split([5, 9], 3).shape
    TensorShape([3, 2])
    """
    seed = convert_to_tensor(seed)
    return stateless_uniform([num, 2], seed, None, None, seed.dtype, alg=alg)


def fold_in(seed, data, alg="auto_select"):
    """A new seed from a seed and an integer, such as a step counter.

    >>> tf.random.fold_in([5, 9], 7).numpy().tolist()
    [-505586112, 7]
    """
    data = convert_to_tensor(data)
    first = stateless_uniform([], seed, None, None, data.dtype, alg=alg)
    return stack([first, data])


stateless_split = split
stateless_fold_in = fold_in


@op(
    "StatelessShuffle", "value: T, key: uint64, counter: uint64, alg: int32 -> output: T",
    shape=unchanged, gradient=None,
)  # fmt: skip
def StatelessShuffle(value, key, counter, alg):
    place = place_of(key, counter, alg)
    if not value.ndim or len(value) < 2:
        return value
    return value[random_samplers.permutation(len(value), *place)]


def stateless_shuffle(value, seed, alg="auto_select", name=None):
    """Shuffle the rows of a tensor, deterministic for a given seed.

    >>> tf.random.experimental.stateless_shuffle([1, 2, 3], seed=[5, 9])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([2, 1, 3], dtype=int32)>
    """
    value = convert_to_tensor(value)
    return execute(StatelessShuffle, (value, *key_counter(seed, alg)))


def _index_shape(inputs, attrs):
    index, seed, largest = inputs
    for value, name in ((index, "Index"), (largest, "Max index")):
        if value.shape.rank not in (None, 0, 1):
            raise ValueError(f"{name} must be a scalar or vector, got shape {value.shape}.")
    if seed.shape.rank not in (None, 1, 2):
        raise ValueError(f"Seed must have shape [3] or [n, 3], got shape {seed.shape}.")
    for value, rank in ((index, 1), (seed, 2), (largest, 1)):
        if value.shape.rank is None:
            return TensorShape(None)
        if value.shape.rank == rank:
            return TensorShape([value.shape[0]])
    return TensorShape([])


@op(
    "RandomIndexShuffle", "index: dtype, seed: Tseed, max_index: dtype -> output: dtype",
    dtype=WHOLE, Tseed=WHOLE, shape=_index_shape, gradient=None,
)  # fmt: skip
def RandomIndexShuffle(index, seed, max_index, *, rounds=4):
    if index.ndim > 1 or max_index.ndim > 1:
        raise ValueError("Index and max_index must be scalars or vectors.")
    count = max([len(value) for value in (index, max_index) if value.ndim], default=1)
    if (
        seed.ndim not in (1, 2)
        or seed.shape[-1] != 3
        or (seed.ndim == 2 and count not in (1, len(seed)))
    ):
        raise ValueError(
            f"Seed must be a vector of size [3] or a matrix of size [{count}, 3] but got "
            f"{dimensions_text(TensorShape(seed.shape))}."
        )
    vector = index.ndim or max_index.ndim or seed.ndim == 2
    count = max(count, len(seed) if seed.ndim == 2 else 1)
    rows = zip(
        np.broadcast_to(index, count).tolist(),
        np.broadcast_to(seed, (count, 3)).tolist(),
        np.broadcast_to(max_index, count).tolist(),
        strict=True,
    )
    moved = [_moved(*row, rounds) for row in rows]
    return np.array(moved, index.dtype) if vector else index.dtype.type(moved[0])


def _moved(index: int, keys: list[int], largest: int, rounds: int) -> int:
    if index < 0:
        raise ValueError(f"index must be >= 0 but was {index}")
    if largest < index:
        raise ValueError(f"max_index must be >= index, but {largest} < {index}")
    return random_samplers.shuffled_index(index, keys, largest, rounds)


def random_index_shuffle(index, seed, max_index, rounds=4, name=None):
    """The position of each index in a permutation of [0, max_index] that is keyed by the seed.

    >>> sorted(tf.random_index_shuffle(tf.range(5), [1, 2, 3], 4).numpy().tolist())
    [0, 1, 2, 3, 4]
    """
    index = convert_to_tensor(index)
    largest = convert_to_tensor(max_index, index.dtype)
    inputs = (index, convert_to_tensor(seed), largest)
    return execute(RandomIndexShuffle, inputs, {"rounds": rounds})


# The cipher's key has three words and a seed has two; this is the first of the three.
_FIRST_WORD = 498247692


def index_shuffle(index, seed, max_index):
    """The position of each index in a permutation of [0, max_index] keyed by a seed of two.

    >>> tf.random.experimental.index_shuffle(tf.range(5), [1, 2], 10)
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([5, 0, 1, 4, 3], dtype=int32)>
    """
    seed = convert_to_tensor(seed)
    first = convert_to_tensor([_FIRST_WORD], seed.dtype)
    return random_index_shuffle(index, concat([first, seed], 0), max_index)
