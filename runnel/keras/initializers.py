"""tf.keras.initializers: initial values of weights.

With a `seed` an initializer returns the same values at every call. Without one, they depend on
`tf.keras.utils.set_random_seed`, or on Python's `random` if that was never called.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import runnel as tf

from ..core.suggestions import suggesting as _suggesting
from .backend.random_generator import RandomGenerator
from .backend.settings import floatx
from .keywords import RefusesUnknownKeywords
from .serialization import Registry, deserialize_keras_object, names_of

_PARTITION = ("partition_shape", "partition_offset")
_KEYWORDS = [*_PARTITION, "layout"]

# The standard deviation of a normal distribution truncated at two deviations.
_DEVIATION_WHEN_TRUNCATED = 0.87962566103423978


class Initializer(RefusesUnknownKeywords):
    """Creates a tensor of a shape and dtype; subclasses implement `__call__`.

    >>> class Sevens(tf.keras.initializers.Initializer):
    ...     def __call__(self, shape, dtype=None, **kwargs):
    ...         return tf.fill(shape, tf.constant(7, dtype or "float32"))
    >>> Sevens()([2]).numpy().tolist()
    [7.0, 7.0]
    """

    def __call__(self, shape, dtype=None, **kwargs):
        """A tensor of the given shape and dtype."""
        raise NotImplementedError("Initializer subclasses must implement the `__call__()` method.")

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {}

    @classmethod
    def from_config(cls, config):
        """Create an initializer from its config."""
        config = dict(config)
        config.pop("dtype", None)
        return cls(**config)

    def _check_keywords(self, kwargs: dict[str, Any], partitions: bool = True) -> None:
        unknown = [name for name in kwargs if name not in _KEYWORDS]
        if unknown:
            raise TypeError(
                f"Unknown keyword arguments: {unknown}. Allowed keyword arguments: {_KEYWORDS}."
            )
        if not partitions and any(name in kwargs for name in _PARTITION):
            raise ValueError(
                f"{type(self).__name__} initializer doesn't support partition-related arguments."
            )


def _numeric_dtype(dtype: Any) -> tf.DType:
    dtype = tf.as_dtype(dtype or floatx())
    if not (dtype.is_numpy_compatible and (dtype.is_numeric or dtype.is_bool)):
        raise ValueError(f"Expected numeric or boolean dtype, got {dtype!r}.")
    return dtype


def _float_dtype(dtype: Any) -> tf.DType:
    dtype = tf.as_dtype(dtype or floatx())
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype!r}.")
    return dtype


class Zeros(Initializer):
    """Zeros everywhere.

    >>> tf.keras.initializers.Zeros()([2]).numpy().tolist()
    [0.0, 0.0]
    """

    def __call__(self, shape, dtype=None, **kwargs):
        """A tensor of zeros."""
        self._check_keywords(kwargs)
        return tf.zeros(kwargs.get("partition_shape", shape), _numeric_dtype(dtype))


class Ones(Initializer):
    """Ones everywhere.

    >>> tf.keras.initializers.Ones()([2]).numpy().tolist()
    [1.0, 1.0]
    """

    def __call__(self, shape, dtype=None, **kwargs):
        """A tensor of ones."""
        self._check_keywords(kwargs)
        return tf.ones(kwargs.get("partition_shape", shape), _numeric_dtype(dtype))


class Constant(Initializer):
    """A constant, or the values of a list or array.

    >>> tf.keras.initializers.Constant(3)([2]).numpy().tolist()
    [3.0, 3.0]
    """

    def __init__(self, value=0):
        self.value = value

    def __call__(self, shape, dtype=None, **kwargs):
        """A tensor with the values, or filled with the constant."""
        self._check_keywords(kwargs)
        dtype = tf.as_dtype(dtype or floatx())
        return tf.constant(self.value, dtype, shape=kwargs.get("partition_shape", shape))

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {"value": self.value}

    @classmethod
    def from_config(cls, config):
        """Create an initializer from its config; arrays may be nested configs."""
        config = dict(config)
        config.pop("dtype", None)
        if isinstance(config.get("value"), dict):
            config["value"] = deserialize_keras_object(config["value"])
        return cls(**config)


class Identity(Initializer):
    """A multiple of the identity matrix: `gain` on the diagonal, zeros elsewhere.

    >>> tf.keras.initializers.Identity(2.0)([2, 2]).numpy().tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """

    def __init__(self, gain=1.0):
        self.gain = gain

    def __call__(self, shape, dtype=None, **kwargs):
        """A matrix with `gain` on its diagonal."""
        self._check_keywords(kwargs, partitions=False)
        dtype = _float_dtype(dtype)
        if len(shape) != 2:
            raise ValueError(
                "Identity matrix initializer can only be used for 2D matrices. Received: "
                f"shape={shape} of rank {len(shape)}."
            )
        return self.gain * tf.eye(*shape, dtype=dtype)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {"gain": self.gain}


class _Random(Initializer):
    """A seeded initializer; the seed is drawn at the first call if not given."""

    def __init__(self, seed=None):
        self.seed = seed
        self._random_generator = RandomGenerator(seed, rng_type="stateless")
        self._was_called = False

    def _nonce(self, kwargs: dict[str, Any], partitions: bool = True) -> int | None:
        """The nonce that distinguishes partitions of one weight; None for the whole."""
        self._check_keywords(kwargs, partitions)
        offset = kwargs.get("partition_offset")
        if offset is not None:
            return hash(tuple(offset))
        if self._was_called and self.seed is None:
            warnings.warn(
                f"The initializer {type(self).__name__} is unseeded and being called multiple "
                "times, which will return identical values each time (even if the initializer is "
                "unseeded). Please update your code to provide a seed to the initializer, or "
                "avoid using the same initializer instance more than once.",
                stacklevel=3,
            )
        self._was_called = True
        return None


class RandomNormal(_Random):
    """Normally distributed values.

    >>> tf.keras.initializers.RandomNormal(seed=7)([3]).numpy()
    array([-0.03370864, -0.01793463, -0.09397908], dtype=float32)
    """

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(seed)
        self.mean = mean
        self.stddev = stddev

    def __call__(self, shape, dtype=None, **kwargs):
        """A tensor of random values."""
        dtype, nonce = _float_dtype(dtype), self._nonce(kwargs)
        shape = kwargs.get("partition_shape", shape)
        return self._random_generator.random_normal(shape, self.mean, self.stddev, dtype, nonce)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


class TruncatedNormal(RandomNormal):
    """Truncated normal values: none further than two standard deviations from the mean.

    >>> tf.keras.initializers.TruncatedNormal(seed=7)([3]).numpy()
    array([-0.03370864, -0.01793463, -0.09397908], dtype=float32)
    """

    def __call__(self, shape, dtype=None, **kwargs):
        """A tensor of random values."""
        dtype, nonce = _float_dtype(dtype), self._nonce(kwargs)
        shape = kwargs.get("partition_shape", shape)
        return self._random_generator.truncated_normal(shape, self.mean, self.stddev, dtype, nonce)


class RandomUniform(_Random):
    """Uniformly distributed values between `minval` and `maxval`.

    >>> tf.keras.initializers.RandomUniform(seed=7)([3]).numpy()
    array([ 0.02470788,  0.01721802, -0.04422205], dtype=float32)
    """

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        super().__init__(seed)
        self.minval = minval
        self.maxval = maxval

    def __call__(self, shape, dtype=None, **kwargs):
        """A tensor of random values."""
        nonce = self._nonce(kwargs)
        dtype = tf.as_dtype(dtype or floatx())
        if not (dtype.is_floating or dtype.is_integer):
            raise ValueError(f"Expected float or integer dtype, got {dtype!r}.")
        shape = kwargs.get("partition_shape", shape)
        return self._random_generator.random_uniform(shape, self.minval, self.maxval, dtype, nonce)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


class VarianceScaling(_Random):
    """Random values with variance scale / n, which preserves the scale of activations.

    n is the fan-in of a unit (`mode` "fan_in"), the fan-out ("fan_out") or their average
    ("fan_avg"). `distribution` is "truncated_normal", "untruncated_normal" or "uniform".

    >>> initializer = tf.keras.initializers.VarianceScaling(2.0, "fan_out", "uniform", seed=1)
    >>> initializer([2, 2]).numpy().round(4)
    array([[ 1.3111, -0.1386],
           [ 0.3474, -0.3721]], dtype=float32)
    """

    _modes = ("fan_in", "fan_out", "fan_avg")
    _distributions = ("truncated_normal", "untruncated_normal", "uniform")

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None):
        super().__init__(seed)
        if scale <= 0.0:
            raise ValueError(f"`scale` must be positive float. Received: scale={scale}.")
        if mode not in self._modes:
            raise ValueError(
                f"Invalid `mode` argument: {mode}. Please use one of {list(self._modes)}."
            )
        distribution = distribution.lower()
        if distribution == "normal":
            distribution = "truncated_normal"
        if distribution not in self._distributions:
            raise ValueError(
                f"Invalid `distribution` argument: {distribution}. Allowed distributions: "
                f"{list(self._distributions)}."
            )
        self.scale = scale
        self.mode = mode
        self.distribution = distribution

    def __call__(self, shape, dtype=None, **kwargs):
        """A tensor of random values."""
        dtype, nonce = _float_dtype(dtype), self._nonce(kwargs)
        shape = kwargs.get("partition_shape", shape)
        fan_in, fan_out = _fans(shape)
        fans = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}
        variance = self.scale / max(1.0, fans[self.mode])
        draw = self._random_generator
        if self.distribution == "truncated_normal":
            deviation = math.sqrt(variance) / _DEVIATION_WHEN_TRUNCATED
            return draw.truncated_normal(shape, 0.0, deviation, dtype, nonce)
        if self.distribution == "untruncated_normal":
            return draw.random_normal(shape, 0.0, math.sqrt(variance), dtype, nonce)
        limit = math.sqrt(3.0 * variance)
        return draw.random_uniform(shape, -limit, limit, dtype, nonce)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            "scale": self.scale,
            "mode": self.mode,
            "distribution": self.distribution,
            "seed": self.seed,
        }


def _fans(shape: Any) -> tuple[int, int]:
    """The fan-in and fan-out of a weight of this shape."""
    sizes = [int(size) for size in shape]
    if len(sizes) < 2:
        return (sizes[0], sizes[0]) if sizes else (1, 1)
    receptive_field = math.prod(sizes[:-2])
    return sizes[-2] * receptive_field, sizes[-1] * receptive_field


class _Scaled(VarianceScaling):
    """A special case of `VarianceScaling`, with a seed as its only argument."""

    _arguments: tuple[float, str, str]

    def __init__(self, seed=None):
        super().__init__(*self._arguments, seed=seed)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {"seed": self.seed}


class GlorotUniform(_Scaled):
    """Uniform in [-limit, limit], limit = sqrt(6 / (fan_in + fan_out)); also known as Xavier.

    >>> tf.keras.initializers.GlorotUniform(seed=1)([2, 2]).numpy().round(4)
    array([[ 0.9271, -0.098 ],
           [ 0.2457, -0.2631]], dtype=float32)
    """

    _arguments = (1.0, "fan_avg", "uniform")


class GlorotNormal(_Scaled):
    """Truncated normal with variance 2 / (fan_in + fan_out); also known as Xavier."""

    _arguments = (1.0, "fan_avg", "truncated_normal")


class HeUniform(_Scaled):
    """Uniform in [-limit, limit], limit = sqrt(6 / fan_in); for layers with relu."""

    _arguments = (2.0, "fan_in", "uniform")


class HeNormal(_Scaled):
    """Truncated normal with variance 2 / fan_in; for layers with relu.

    >>> tf.keras.initializers.HeNormal(seed=7)([3, 4]).shape
    TensorShape([3, 4])
    """

    _arguments = (2.0, "fan_in", "truncated_normal")


class LecunUniform(_Scaled):
    """Uniform in [-limit, limit], limit = sqrt(3 / fan_in)."""

    _arguments = (1.0, "fan_in", "uniform")


class LecunNormal(_Scaled):
    """Truncated normal with variance 1 / fan_in; for layers with selu."""

    _arguments = (1.0, "fan_in", "truncated_normal")


class Orthogonal(_Random):
    """A random matrix with orthonormal rows or columns, whichever are fewer, times `gain`.

    It is the Q of the QR decomposition of a Gaussian matrix. All axes but the last are flattened
    into one.

    >>> matrix = tf.keras.initializers.Orthogonal(seed=1)([2, 2])
    >>> tf.round(matrix @ tf.transpose(matrix)).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def __init__(self, gain=1.0, seed=None):
        super().__init__(seed)
        self.gain = gain

    def __call__(self, shape, dtype=None, **kwargs):
        """A tensor that is an orthogonal matrix when all axes but the last are flattened."""
        self._check_keywords(kwargs, partitions=False)
        dtype = _float_dtype(dtype)
        if len(shape) < 2:
            raise ValueError(
                "The tensor to initialize must be at least two-dimensional. Received: "
                f"shape={shape} of rank {len(shape)}."
            )
        nonce = self._nonce(kwargs)
        sizes = [int(size) for size in shape]
        rows, columns = math.prod(sizes[:-1]), sizes[-1]
        tall = (max(rows, columns), min(rows, columns))
        numbers = self._random_generator.random_normal(tall, dtype=dtype, nonce=nonce)
        q, r = tf.linalg.qr(numbers, full_matrices=False)
        # Q is unique, and uniformly distributed, once R has a positive diagonal.
        q *= tf.sign(tf.linalg.diag_part(r))
        if rows < columns:
            q = tf.transpose(q)
        return self.gain * tf.reshape(q, sizes)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {"gain": self.gain, "seed": self.seed}


zeros = Zeros
ones = Ones
constant = Constant
identity = Identity
random_normal = RandomNormal
random_uniform = RandomUniform
truncated_normal = TruncatedNormal
variance_scaling = VarianceScaling
glorot_normal = GlorotNormal
glorot_uniform = GlorotUniform
he_normal = HeNormal
he_uniform = HeUniform
lecun_normal = LecunNormal
lecun_uniform = LecunUniform
orthogonal = Orthogonal

_CLASSES = (
    Initializer,
    Zeros,
    Ones,
    Constant,
    Identity,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
    GlorotNormal,
    GlorotUniform,
    HeNormal,
    HeUniform,
    LecunNormal,
    LecunUniform,
    Orthogonal,
)

_registry = Registry(
    "initializer",
    names_of(
        *_CLASSES,
        one=Ones,
        zero=Zeros,
        normal=RandomNormal,
        uniform=RandomUniform,
        # Names in files of older versions.
        **{f"{cls.__name__}V2": cls for cls in _CLASSES},
    ),
)


def serialize(initializer, use_legacy_format=False):
    """The config of an initializer.

    >>> tf.keras.initializers.serialize(tf.keras.initializers.Zeros())["class_name"]
    'Zeros'
    """
    return _registry.serialize(initializer, use_legacy_format)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    """An initializer from its config or name."""
    return _registry.deserialize(config, custom_objects, use_legacy_format)


def get(identifier):
    """An initializer from a name, a config, a class or a function.

    >>> tf.keras.initializers.get("glorot_uniform").get_config()
    {'seed': None}
    """
    if isinstance(identifier, type):
        return identifier()
    return _registry.get(identifier)


__getattr__ = _suggesting(__name__)
