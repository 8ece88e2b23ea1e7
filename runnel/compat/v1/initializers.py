"""tf.compat.v1.initializers: initial values for `get_variable`."""

from __future__ import annotations

import math as _math

import numpy as _np

from ...core.convert import constant as _constant
from ...core.dtypes import as_dtype as _as_dtype, float32 as _float32
from ...ops import random as _random
from ...ops.array import creation as _creation
from ...ops.array.shaping import reshape as _reshape


class Initializer:
    """Base class: creates a tensor of a shape and dtype."""

    def __call__(self, shape, dtype=None, partition_info=None):
        """A tensor of this shape and dtype."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to make a tensor.")

    def get_config(self):
        """The constructor arguments of an equal initializer."""
        return {}

    @classmethod
    def from_config(cls, config):
        """An initializer from the result of `get_config`."""
        return cls(**config)

    def _kind(self, dtype):
        return self.dtype if dtype is None else _as_dtype(dtype)


class zeros_initializer(Initializer):
    """Zeros everywhere."""

    def __init__(self, dtype=_float32):
        self.dtype = _as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        """A tensor of zeros."""
        return _creation.zeros(shape, self._kind(dtype))

    def get_config(self):
        """The constructor arguments of an equal initializer."""
        return {"dtype": self.dtype.name}


class ones_initializer(Initializer):
    """Ones everywhere."""

    def __init__(self, dtype=_float32):
        self.dtype = _as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        """A tensor of ones."""
        return _creation.ones(shape, self._kind(dtype))

    def get_config(self):
        """The constructor arguments of an equal initializer."""
        return {"dtype": self.dtype.name}


class constant_initializer(Initializer):
    """One value, or the values of a list or array; its last value fills the rest."""

    def __init__(self, value=0, dtype=_float32, verify_shape=False):
        if not (_np.isscalar(value) or isinstance(value, list | tuple | _np.ndarray)):
            raise TypeError(
                f"Invalid type for initial value={value} of type: {type(value).__name__}. Expected "
                "Python scalar, list or tuple of values, or numpy.ndarray."
            )
        self.value = value
        self.dtype = _as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(self, shape, dtype=None, partition_info=None, verify_shape=None):
        """A tensor with the value, or filled with it."""
        sizes = [int(size) for size in shape]
        values = _np.array(self.value)
        if (self._verify_shape if verify_shape is None else verify_shape) and (
            list(values.shape) != sizes
        ):
            raise TypeError(f"Expected Tensor's shape: {tuple(sizes)}, got {values.shape}.")
        count = _math.prod(sizes)
        if values.ndim and values.size > count:
            raise ValueError(
                f"Too many elements provided. Takes at most {count:d}, but got {values.size:d}"
            )
        if 1 < values.size < count:
            rest = _np.full(count - values.size, values.reshape(-1)[-1])
            values = _np.concatenate([values.reshape(-1), rest])
        if values.size == count:
            return _constant(values.reshape(sizes).tolist(), self._kind(dtype), sizes)
        return _constant(values.reshape(-1)[0].item(), self._kind(dtype), sizes)

    def get_config(self):
        """The constructor arguments of an equal initializer."""
        return {"value": self.value, "dtype": self.dtype.name}


class random_uniform_initializer(Initializer):
    """Uniformly distributed numbers from `minval` to `maxval`."""

    def __init__(self, minval=0.0, maxval=None, seed=None, dtype=_float32):
        self.minval = minval
        self.maxval = maxval
        self.seed = seed
        self.dtype = _as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        """A tensor of random numbers."""
        return _random.uniform(shape, self.minval, self.maxval, self._kind(dtype), self.seed)

    def get_config(self):
        """The constructor arguments of an equal initializer."""
        return {
            "minval": self.minval, "maxval": self.maxval, "seed": self.seed,
            "dtype": self.dtype.name,
        }  # fmt: skip


class random_normal_initializer(Initializer):
    """Normally distributed numbers."""

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=_float32):
        self.mean = mean
        self.stddev = stddev
        self.seed = seed
        self.dtype = _as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        """A tensor of random numbers."""
        return _random.normal(shape, self.mean, self.stddev, self._kind(dtype), self.seed)

    def get_config(self):
        """The constructor arguments of an equal initializer."""
        return {
            "mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name,
        }  # fmt: skip


class truncated_normal_initializer(random_normal_initializer):
    """Normally distributed numbers, truncated at two standard deviations from the mean."""

    def __call__(self, shape, dtype=None, partition_info=None):
        """A tensor of random numbers."""
        return _random.truncated_normal(shape, self.mean, self.stddev, self._kind(dtype), self.seed)


class variance_scaling_initializer(Initializer):
    """Random numbers of variance scale / n, n being the fan-in, the fan-out or their mean."""

    def __init__(
        self,
        scale=1.0,
        mode="fan_in",
        distribution="truncated_normal",
        seed=None,
        dtype=_float32,
    ):
        if scale <= 0.0:
            raise ValueError("Argument `scale` must be a positive float.")
        if mode not in {"fan_in", "fan_out", "fan_avg"}:
            raise ValueError(
                f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'), got {mode!r}."
            )
        distribution = distribution.lower()
        if distribution == "normal":
            distribution = "truncated_normal"
        if distribution not in {"uniform", "truncated_normal", "untruncated_normal"}:
            raise ValueError(f"Invalid `distribution` argument: {distribution}.")
        self.scale = scale
        self.mode = mode
        self.distribution = distribution
        self.seed = seed
        self.dtype = _as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        """A tensor of random numbers."""
        kind = self._kind(dtype)
        inputs, outputs = _fans([int(size) for size in shape])
        count = {"fan_in": inputs, "fan_out": outputs}.get(self.mode, (inputs + outputs) / 2.0)
        scale = self.scale / max(1.0, count)
        if self.distribution == "truncated_normal":
            # The standard deviation of a normal distribution truncated at two deviations.
            stddev = _math.sqrt(scale) / 0.87962566103423978
            return _random.truncated_normal(shape, 0.0, stddev, kind, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return _random.normal(shape, 0.0, _math.sqrt(scale), kind, seed=self.seed)
        limit = _math.sqrt(3.0 * scale)
        return _random.uniform(shape, -limit, limit, kind, seed=self.seed)

    def get_config(self):
        """The constructor arguments of an equal initializer."""
        return {
            "scale": self.scale, "mode": self.mode, "distribution": self.distribution,
            "seed": self.seed, "dtype": self.dtype.name,
        }  # fmt: skip


def _fans(shape):
    """The fan-in and fan-out of weights of this shape."""
    if not shape:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    if len(shape) == 2:
        return shape[0], shape[1]
    field = _math.prod(shape[:-2])
    return field * shape[-2], field * shape[-1]


class _Preset(variance_scaling_initializer):
    """A variance scaling with only the seed as an argument."""

    _preset = (1.0, "fan_avg", "uniform")

    def __init__(self, seed=None, dtype=_float32):
        super().__init__(*self._preset, seed=seed, dtype=dtype)

    def get_config(self):
        """The constructor arguments of an equal initializer."""
        return {"seed": self.seed, "dtype": self.dtype.name}


class glorot_uniform_initializer(_Preset):
    """Uniformly distributed numbers in ±√(6 / (inputs + outputs))."""


class glorot_normal_initializer(_Preset):
    """Truncated normal numbers of variance 2 / (inputs + outputs)."""

    _preset = (1.0, "fan_avg", "truncated_normal")


class _Seeded(_Preset):
    def __init__(self, seed=None):
        super().__init__(seed)

    def get_config(self):
        """The constructor arguments of an equal initializer."""
        return {"seed": self.seed}


class he_normal(_Seeded):
    """Truncated normal numbers of variance 2 / inputs."""

    _preset = (2.0, "fan_in", "truncated_normal")


class he_uniform(_Seeded):
    """Uniformly distributed numbers in ±√(6 / inputs)."""

    _preset = (2.0, "fan_in", "uniform")


class lecun_normal(_Seeded):
    """Truncated normal numbers of variance 1 / inputs."""

    _preset = (1.0, "fan_in", "truncated_normal")


class lecun_uniform(_Seeded):
    """Uniformly distributed numbers in ±√(3 / inputs)."""

    _preset = (1.0, "fan_in", "uniform")


class uniform_unit_scaling_initializer(Initializer):
    """Uniformly distributed numbers in ±factor √(3 / inputs), which preserves a signal's scale."""

    def __init__(self, factor=1.0, seed=None, dtype=_float32):
        self.factor = factor
        self.seed = seed
        self.dtype = _as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        """A tensor of random numbers."""
        inputs = max(1.0, float(_math.prod([int(size) for size in shape[:-1]])))
        limit = _math.sqrt(3 / inputs) * self.factor
        return _random.uniform(shape, -limit, limit, self._kind(dtype), seed=self.seed)

    def get_config(self):
        """The constructor arguments of an equal initializer."""
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


class orthogonal_initializer(Initializer):
    """A matrix with orthogonal rows or columns, from a random one."""

    def __init__(self, gain=1.0, seed=None, dtype=_float32):
        self.gain = gain
        self.seed = seed
        self.dtype = _as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        """A tensor that is orthogonal when flattened to a matrix."""
        from ...ops.array.ordering import transpose
        from ...ops.linalg.decomposition import qr
        from ...ops.linalg.diagonal import diag_part
        from ...ops.math.elementwise import sign

        sizes = [int(size) for size in shape]
        if len(sizes) < 2:
            raise ValueError(
                f"The tensor to initialize, specified by argument `shape` must be at least "
                f"two-dimensional. Received shape={sizes}"
            )
        rows, columns = _math.prod(sizes[:-1]), sizes[-1]
        flat = (rows, columns) if rows > columns else (columns, rows)
        drawn = _random.normal(flat, dtype=self._kind(dtype), seed=self.seed)
        q, r = qr(drawn, full_matrices=False)
        q = q * sign(diag_part(r))
        if rows < columns:
            q = transpose(q)
        return self.gain * _reshape(q, sizes)

    def get_config(self):
        """The constructor arguments of an equal initializer."""
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


class identity_initializer(Initializer):
    """A multiple of the identity matrix."""

    def __init__(self, gain=1.0, dtype=_float32):
        self.gain = gain
        self.dtype = _as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        """The matrix."""
        sizes = [int(size) for size in shape]
        if len(sizes) != 2:
            raise ValueError(
                "The tensor to initialize, specified by argument `shape` must be at least "
                f"two-dimensional. Received shape={sizes}"
            )
        return self.gain * _creation.eye(*sizes, dtype=self._kind(dtype))

    def get_config(self):
        """The constructor arguments of an equal initializer."""
        return {"gain": self.gain, "dtype": self.dtype.name}


# Their names in `tf.compat.v1.initializers`.
zeros = zeros_initializer
ones = ones_initializer
constant = constant_initializer
random_uniform = random_uniform_initializer
random_normal = random_normal_initializer
truncated_normal = truncated_normal_initializer
variance_scaling = variance_scaling_initializer
glorot_uniform = glorot_uniform_initializer
glorot_normal = glorot_normal_initializer
uniform_unit_scaling = uniform_unit_scaling_initializer
orthogonal = orthogonal_initializer
identity = identity_initializer


# Initializer operations are available here, too.
_OPERATIONS = {
    "global_variables": "global_variables_initializer",
    "local_variables": "local_variables_initializer",
    "variables": "variables_initializer",
    "tables_initializer": "tables_initializer",
}


def __getattr__(name: str) -> object:
    from . import building

    if name in _OPERATIONS:
        return getattr(building, _OPERATIONS[name])
    raise AttributeError(f"module 'runnel.compat.v1.initializers' has no attribute {name!r}")
