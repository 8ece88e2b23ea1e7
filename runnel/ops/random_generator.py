"""Generator: a random-number generator whose state is a variable of its own."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.context import init_scope
from ..core.convert import convert_to_tensor, tensor_of
from ..core.dtypes import as_dtype
from ..core.op import execute, op
from ..core.shape_rules import dimensions_text, nothing
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.variable import Variable
from . import philox
from .array.arguments import INDEX, integers, require_type
from .array.joining import concat, stack
from .array.shaping import reshape
from .math.casting import bitcast, cast
from .math.reduction import reduce_prod
from .random import WIDE_FLOATS, dimensions, require_float, scaled, shape_given, spread
from .random_distributions import binomial_array
from .random_stateless import (
    WHOLE,
    Algorithm,
    StatelessRandomNormalV2,
    StatelessRandomUniformFullIntV2,
    StatelessRandomUniformIntV2,
    StatelessRandomUniformV2,
    StatelessTruncatedNormalV2,
    algorithm_number,
)

_lock = threading.Lock()
_BITS64 = 1 << 64


def _advance(resource: Variable, alg: Any, groups: int) -> Any:
    """Advance the counter in the state; returns the state before."""
    if int(alg) not in (1, 3):
        raise errors.UnimplementedError(
            None,
            None,
            "The ThreeFry algorithm is not available on a CPU: use 'philox' or 'auto_select'.",
        )
    with _lock:
        before = resource._tensor._array
        words = [int(word) % _BITS64 for word in before]
        counter = (words[0] | words[1] << 64) + groups
        after = before.copy()
        after[0], after[1] = _signed(counter % _BITS64), _signed((counter >> 64) % _BITS64)
        resource._replace(after)
    return before


def _signed(word: int) -> int:
    return word - _BITS64 if word >= _BITS64 // 2 else word


def _scalar_delta(delta: Any) -> int:
    if delta.ndim:
        shape = dimensions_text(TensorShape(delta.shape))
        raise ValueError(f"delta must be a scalar, got shape {shape}")
    return int(delta) * philox.GROUPS_PER_NUMBER % _BITS64


@op(
    "RngReadAndSkip", "resource: resource, alg: int32, delta: uint64 -> value: int64",
    shape=lambda inputs, attrs: TensorShape([None]), gradient=None, stateful=True,
)  # fmt: skip
def RngReadAndSkip(resource, alg, delta):
    return _advance(resource, alg, _scalar_delta(delta))


@op(
    "RngSkip", "resource: resource, algorithm: int64, delta: int64", shape=nothing,
    gradient=None, stateful=True,
)  # fmt: skip
def RngSkip(resource, algorithm, delta):
    _advance(resource, algorithm, _scalar_delta(delta))
    return []


@op(
    "StatefulRandomBinomial",
    "resource: resource, algorithm: int64, shape: S, counts: T, probs: T -> output: dtype",
    S=INDEX, T=WIDE_FLOATS, shape=lambda inputs, attrs: shape_given(inputs[2:], attrs),
    gradient=None, stateful=True,
)  # fmt: skip
def StatefulRandomBinomial(resource, algorithm, shape, counts, probs, *, dtype=dtypes.int64):
    sizes = dimensions(shape)
    batch = max(np.broadcast(counts, probs).size, 1)
    samples = int(np.prod(sizes, dtype=np.int64)) // batch
    groups = batch * 200 * (samples + 3) // 4 * philox.GROUPS_PER_NUMBER
    state = _advance(resource, algorithm, groups)
    key, counter = int(state[2]) % _BITS64, int(state[0]) % _BITS64 | int(state[1]) % _BITS64 << 64
    return binomial_array(sizes, counts, probs, dtype, key, counter)


def _state_size(alg: int) -> int:
    return 2 if alg == Algorithm.THREEFRY.value else 3


def create_rng_state(seed, alg):
    """The state of a generator from a seed: an integer of any size, or a vector of them.

    >>> tf.random.create_rng_state(1, "philox").numpy().tolist()
    [1, 0, 0]
    """
    size = _state_size(algorithm_number(alg))
    if isinstance(seed, int):
        words = [_signed(seed >> 64 * i & philox.MASK64) for i in range(size)]
        return tensor_of(np.array(words, np.int64), dtypes.int64)
    words = reshape(_as_int64(seed), [-1])
    length = words.shape[0]
    if length is None:
        raise ValueError(f"The size of a seed must be known, got one of shape {words.shape}.")
    if length >= size:
        return words[:size]
    return concat([np.zeros(size - length, np.int64), words], 0)


def _as_int64(value: Any) -> Tensor:
    """Integers as int64; those from 2**63 on wrap around to the same bits."""
    if isinstance(value, list | tuple) and all(isinstance(each, int) for each in value):
        words = [_signed(each % _BITS64) for each in value]
        return tensor_of(np.array(words, np.int64), dtypes.int64)
    if isinstance(value, int):
        return tensor_of(np.int64(_signed(value % _BITS64)), dtypes.int64)
    return cast(convert_to_tensor(value), dtypes.int64)


def _require_shape(shape: Any, expected: list[int]) -> None:
    if not shape.is_compatible_with(expected):
        raise ValueError(f"Shapes {shape} and {expected} are incompatible")


class Generator:
    """A random-number generator with a state, which its methods advance.

    >>> generator = tf.random.Generator.from_seed(1)
    >>> generator.uniform([2])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.78749514, 0.3906511 ], dtype=float32)>
    >>> generator.state
    <tf.Variable 'StateVar:0' shape=(3,) dtype=int64, numpy=array([513,   0,   0])>
    """

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            if state is not None or alg is not None:
                raise AssertionError("Give `copy_from`, or `state` and `alg`, but not both.")
            if not hasattr(copy_from, "algorithm"):
                raise AttributeError(
                    "`copy_from` of tf.random.Generator is another generator, received "
                    f"{copy_from!r}: tf.random.Generator.from_seed(seed) takes a seed."
                )
            state, self._alg = copy_from.state.read_value(), copy_from.algorithm
        elif state is None or alg is None:
            raise AssertionError(f"Both `state` and `alg` are needed, got {state} and {alg}.")
        else:
            self._alg = algorithm_number(alg)
        if not isinstance(state, Variable):
            state = _as_int64(state)
            _require_shape(state.shape, [_state_size(self._alg)])
            state = Variable(state, dtype=dtypes.int64, trainable=False, name="StateVar")
        _require_shape(state.shape, [_state_size(self._alg)])
        self._state_var = state

    @classmethod
    def from_state(cls, state, alg):
        """A generator with this state; a variable is used without a copy."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator whose state is derived from a seed."""
        alg = Algorithm.PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator with a state from the operating system's entropy."""
        alg = Algorithm.PHILOX if alg is None else alg
        size = _state_size(algorithm_number(alg))
        return cls(state=np.frombuffer(os.urandom(8 * size), np.int64), alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator with this key and this counter (two words for Philox)."""
        return cls(state=_joined(key, counter, algorithm_number(alg)), alg=alg)

    def reset(self, state):
        """Set the generator's state."""
        state = _as_int64(state)
        _require_shape(state.shape, [_state_size(self._alg)])
        self._state_var.assign(state)

    def reset_from_seed(self, seed):
        """Set the state derived from a seed."""
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key, counter):
        """Set the key and the counter."""
        self._state_var.assign(_joined(key, counter, self._alg))

    @property
    def state(self):
        """The variable that holds the state."""
        return self._state_var

    @property
    def algorithm(self):
        """The algorithm, as an integer."""
        return self._alg

    @property
    def key(self):
        """The key in the state."""
        return self._state_var.read_value()[-1]

    def skip(self, delta):
        """Skip `delta` numbers; returns the state before."""
        if not isinstance(delta, Tensor):
            delta = _as_int64(delta)
        inputs = (self._state_var.handle, self._algorithm_tensor(np.int32), cast(delta, "uint64"))
        return execute(RngReadAndSkip, inputs)

    def _algorithm_tensor(self, kind: Any) -> Tensor:
        return convert_to_tensor(kind(self._alg))

    def _place(self, shape: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The key, the counter and the algorithm to fill `shape`; advances the state."""
        state = self.skip(reduce_prod(cast(shape, dtypes.int64)))
        counter, key = bitcast(state[:2], dtypes.uint64), bitcast(state[2:3], dtypes.uint64)
        return key, counter, self._algorithm_tensor(np.int32)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Uniform numbers in [minval, maxval)."""
        dtype = as_dtype(dtype)
        if dtype.is_integer:
            if (minval is None) != (maxval is None):
                raise ValueError(
                    f"For integer dtype {dtype!r}, minval and maxval must be both `None` or both "
                    f"non-`None`; got minval={minval} and maxval={maxval}"
                )
            if minval is None:
                return self.uniform_full_int(shape, dtype)
            low, high = convert_to_tensor(minval, dtype), convert_to_tensor(maxval, dtype)
            shape = integers(shape)
            return execute(StatelessRandomUniformIntV2, (shape, *self._place(shape), low, high))
        maxval = 1 if maxval is None else maxval
        for bound in (minval, maxval):
            convert_to_tensor(bound, dtype)
        require_float("StatelessRandomUniformV2", dtype)
        shape = integers(shape)
        inputs = (shape, *self._place(shape))
        return spread(execute(StatelessRandomUniformV2, inputs, {"dtype": dtype}), minval, maxval)

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Uniform integers over the full range of the dtype."""
        dtype = as_dtype(dtype)
        shape = integers(shape)
        inputs = (shape, *self._place(shape))
        require_type("StatelessRandomUniformFullIntV2", "dtype", dtype, WHOLE)
        return execute(StatelessRandomUniformFullIntV2, inputs, {"dtype": dtype})

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normal numbers."""
        dtype = as_dtype(dtype or dtypes.float32)
        return self._normal(StatelessRandomNormalV2, shape, mean, stddev, dtype)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normal numbers within two standard deviations of the mean."""
        return self._normal(StatelessTruncatedNormalV2, shape, mean, stddev, as_dtype(dtype))

    def _normal(self, op: Any, shape: Any, mean: Any, stddev: Any, dtype: Any) -> Tensor:
        mean, stddev = (
            value if isinstance(value, int | float) else convert_to_tensor(value, dtype)
            for value in (mean, stddev)
        )
        require_float(op.name, dtype)
        shape = integers(shape)
        inputs = (shape, *self._place(shape))
        return scaled(execute(op, inputs, {"dtype": dtype}), mean, stddev)

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        """Binomial numbers; `shape` ends with that of the parameters."""
        counts, probs = convert_to_tensor(counts), convert_to_tensor(probs)
        algorithm = self._algorithm_tensor(np.int64)
        inputs = (self._state_var.handle, algorithm, integers(shape), counts, probs)
        return execute(StatefulRandomBinomial, inputs, {"dtype": as_dtype(dtype)})

    def make_seeds(self, count=1):
        """Seeds for stateless functions, the columns of a matrix of two rows."""
        first = self.uniform_full_int([count], dtypes.int64)
        return stack([first, first - first])

    def split(self, count=1):
        """A list of new generators whose streams do not overlap with this one's."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return [
            type(self)(state=_joined(keys[i], [0, 0], self._alg), alg=self._alg)
            for i in range(count)
        ]


def _joined(key: Any, counter: Any, alg: int) -> Tensor:
    counter, key = _as_int64(counter), _as_int64(key)
    _require_shape(counter.shape, [_state_size(alg) - 1])
    _require_shape(key.shape, [])
    return concat([counter, reshape(key, [1])], 0)


_global_generator: Generator | None = None


def get_global_generator():
    """The global generator; the first call creates it, with a random state.

    >>> tf.random.get_global_generator() is tf.random.get_global_generator()
    True
    """
    global _global_generator
    if _global_generator is None:
        with init_scope():
            _global_generator = Generator.from_non_deterministic_state()
    return _global_generator


def set_global_generator(generator):
    """Replace the generator that `get_global_generator` returns.

    >>> tf.random.set_global_generator(tf.random.Generator.from_seed(1))
    """
    global _global_generator
    _global_generator = generator
