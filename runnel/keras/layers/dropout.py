"""Layers that add noise, in training only."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..backend.random_generator import RandomGenerator
from ..engine.base_layer import Layer
from ..engine.input_spec import InputSpec

# The constants of selu; AlphaDropout sets dropped inputs to its negative limit.
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


class BaseRandomLayer(Layer):
    """A layer with its own random number generator, used in training."""

    def __init__(self, seed=None, force_generator=False, rng_type=None, **kwargs):
        super().__init__(**kwargs)
        if force_generator:
            rng_type = "stateful"
        self._random_generator = RandomGenerator(seed, rng_type=rng_type)

    def call(self, inputs, training=None):
        """The inputs, with noise in training."""
        if isinstance(training, tf.Tensor | tf.Variable):
            return tf.cond(
                tf.cast(training, tf.bool),
                lambda: self._noisy(inputs),
                lambda: tf.identity(inputs),
            )
        return self._noisy(inputs) if training else tf.identity(inputs)

    def _noisy(self, inputs: Any) -> Any:
        raise NotImplementedError

    def compute_output_shape(self, input_shape):
        """The shape of the inputs."""
        return input_shape


class Dropout(BaseRandomLayer):
    """In training each input is 0 with probability `rate`, the others scaled by 1 / (1 - rate).

    >>> tf.keras.layers.Dropout(0.5)(tf.constant([1.0, 2.0])).numpy().tolist()
    [1.0, 2.0]
    """

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)
        if isinstance(rate, int | float) and not 0 <= rate <= 1:
            raise ValueError(
                f"Invalid value {rate} received for `rate`, expected a value between 0 and 1."
            )
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None:
            return None
        return _filled_in(self.noise_shape, inputs)

    def _noisy(self, inputs: Any) -> Any:
        return self._random_generator.dropout(inputs, self.rate, self._get_noise_shape(inputs))

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "rate": self.rate,
            "noise_shape": self.noise_shape,
            "seed": self.seed,
        }


def _filled_in(noise_shape: Any, inputs: Any) -> list[Any]:
    """The noise shape, its None replaced by the inputs' sizes."""
    sizes = inputs.shape.as_list() if inputs.shape.rank is not None else [None] * len(noise_shape)
    wanted = [
        size if given is None else given for given, size in zip(noise_shape, sizes, strict=False)
    ]
    if None in wanted:
        actual = tf.shape(inputs)
        wanted = [actual[axis] if size is None else size for axis, size in enumerate(wanted)]
    return wanted


class _SpatialDropout(Dropout):
    """Dropout of whole feature maps."""

    _axes: tuple[int, ...]

    def _get_noise_shape(self, inputs: Any) -> Any:
        return _filled_in(
            [1 if axis in self._axes else None for axis in range(inputs.shape.rank)], inputs
        )


class SpatialDropout1D(_SpatialDropout):
    """Dropout of whole features: the same mask at all time steps."""

    _axes = (1,)

    def __init__(self, rate, **kwargs):
        super().__init__(rate, **kwargs)
        self.input_spec = InputSpec(ndim=3)


def _spatial_axes(layer: Any, data_format: str | None, rank: int) -> None:
    if data_format is None:
        data_format = tf.keras.backend.image_data_format()
    if data_format not in {"channels_last", "channels_first"}:
        raise ValueError(
            '`data_format` must be "channels_last" or "channels_first". Received: '
            f"data_format={data_format}."
        )
    layer.data_format = data_format
    layer.input_spec = InputSpec(ndim=rank + 2)
    start = 1 if data_format == "channels_last" else 2
    layer._axes = tuple(range(start, start + rank))


class SpatialDropout2D(_SpatialDropout):
    """Dropout of whole channels of images."""

    def __init__(self, rate, data_format=None, **kwargs):
        super().__init__(rate, **kwargs)
        _spatial_axes(self, data_format, 2)


class SpatialDropout3D(_SpatialDropout):
    """Dropout of whole channels of volumes."""

    def __init__(self, rate, data_format=None, **kwargs):
        super().__init__(rate, **kwargs)
        _spatial_axes(self, data_format, 3)


class GaussianNoise(BaseRandomLayer):
    """In training, add Gaussian noise with mean 0 and standard deviation `stddev`."""

    def __init__(self, stddev, seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)
        self.supports_masking = True
        self.stddev = stddev
        self.seed = seed

    def _noisy(self, inputs: Any) -> Any:
        return inputs + self._random_generator.random_normal(
            shape=tf.shape(inputs), mean=0.0, stddev=self.stddev, dtype=inputs.dtype
        )

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "stddev": self.stddev, "seed": self.seed}


class GaussianDropout(BaseRandomLayer):
    """In training, multiply by Gaussian noise with mean 1 and stddev sqrt(rate / (1 - rate))."""

    def __init__(self, rate, seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)
        self.supports_masking = True
        self.rate = rate
        self.seed = seed

    def _noisy(self, inputs: Any) -> Any:
        if not 0 < self.rate < 1:
            return inputs
        return inputs * self._random_generator.random_normal(
            shape=tf.shape(inputs),
            mean=1.0,
            stddev=(self.rate / (1.0 - self.rate)) ** 0.5,
            dtype=inputs.dtype,
        )

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "rate": self.rate, "seed": self.seed}


class AlphaDropout(BaseRandomLayer):
    """Dropout for selu: dropped inputs are set to its negative limit; mean and variance are
    preserved.
    """

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(seed=seed, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed
        self.supports_masking = True

    def _noisy(self, inputs: Any) -> Any:
        if not 0 < self.rate < 1:
            return inputs
        shape = self.noise_shape if self.noise_shape else tf.shape(inputs)
        limit = -_SELU_ALPHA * _SELU_SCALE
        drawn = self._random_generator.random_uniform(shape=shape, dtype=inputs.dtype)
        kept = tf.cast(drawn >= self.rate, inputs.dtype)
        factor = ((1 - self.rate) * (1 + self.rate * limit**2)) ** -0.5
        shift = -factor * limit * self.rate
        return factor * (inputs * kept + limit * (1 - kept)) + shift

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "rate": self.rate, "seed": self.seed}
