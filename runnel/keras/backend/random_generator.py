"""The seeds of Keras, and the random generators of layers and initializers."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import runnel as tf

from ...core.context import seeds
from .settings import floatx

_HIGHEST_SEED = 10**9


class _Seeds:
    """The source of default seeds: Python's generator until `set_random_seed`."""

    def __init__(self) -> None:
        self.source: Any = random
        self.use_generators = False

    def draw(self) -> int:
        return self.source.randint(1, _HIGHEST_SEED)


_seeds = _Seeds()


def set_random_seed(seed: int) -> None:
    """Seed all sources of randomness of a Keras program: Python, NumPy, ops and initializers.

    >>> tf.keras.utils.set_random_seed(812)
    >>> first = tf.keras.initializers.GlorotUniform()([2])
    >>> tf.keras.utils.set_random_seed(812)
    >>> bool(tf.reduce_all(tf.keras.initializers.GlorotUniform()([2]) == first))
    True
    """
    if not isinstance(seed, int):
        raise ValueError(
            "Expected `seed` argument to be an integer. Received: "
            f"seed={seed} (of type {type(seed)})"
        )
    np.random.seed(seed)
    random.seed(seed)
    tf.random.set_seed(seed)
    _seeds.source = random.Random(seed)


def enable_tf_random_generator() -> None:
    """Make layers use their own `tf.random.Generator`."""
    _seeds.use_generators = True


def disable_tf_random_generator() -> None:
    """Make layers use seeded ops, the default."""
    _seeds.use_generators = False


def is_tf_random_generator_enabled() -> bool:
    """Whether layers use their own `tf.random.Generator`."""
    return _seeds.use_generators


class RandomGenerator:
    """The random number generator of one layer or initializer.

    `rng_type` is one of
    'stateless': every call returns the same numbers for a seed (initializers);
    'stateful': a `tf.random.Generator` (augmentation layers);
    'legacy_stateful': ops with an operation seed that increments at each call, or without one,
    with the global seed only (dropout, noise).
    """

    def __init__(self, seed: Any = None, rng_type: str | None = None) -> None:
        if rng_type is None:
            rng_type = "stateful" if _seeds.use_generators else "legacy_stateful"
        if rng_type not in ("stateless", "stateful", "legacy_stateful"):
            raise ValueError(
                f"Unknown rng_type {rng_type!r}. Expected 'stateless', 'stateful' or "
                "'legacy_stateful'."
            )
        self.rng_type = rng_type
        self._seed = seed
        self._generator: Any = None

    def seed_for_stateless_op(self, nonce: int | None = None) -> Any:
        """The two-element seed of a stateless op; a nonce derives a different one."""
        if self.rng_type == "stateful":
            return self.generator.make_seeds()[:, 0]
        if self.rng_type == "legacy_stateful":
            return tf.constant([self.next_legacy_seed() or _seeds.draw(), 0], tf.int64)
        if self._seed is None:
            self._seed = _seeds.draw()
        seed = tf.convert_to_tensor([self._seed, 0])
        return seed if nonce is None else tf.random.fold_in(seed, nonce)

    def next_legacy_seed(self) -> Any:
        """The seed of the next stateful op; None if this generator has none."""
        seed = self._seed
        if seed is not None:
            self._seed = seed + 1
            seeds.counted_in_python += 1
        return seed

    @property
    def generator(self) -> tf.random.Generator:
        if self._generator is None:
            with tf.init_scope():
                seed = _seeds.draw() if self._seed is None else self._seed
                self._generator = tf.random.Generator.from_seed(seed)
        return self._generator

    def random_normal(self, shape, mean=0.0, stddev=1.0, dtype=None, nonce=None):
        """Normally distributed values."""
        return self._draw("normal", shape, mean, stddev, dtype, nonce)

    def random_uniform(self, shape, minval=0.0, maxval=None, dtype=None, nonce=None):
        """Uniformly distributed values between `minval` and `maxval`."""
        return self._draw("uniform", shape, minval, maxval, dtype, nonce)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=None, nonce=None):
        """Truncated normal values: none further than two standard deviations from the mean."""
        return self._draw("truncated_normal", shape, mean, stddev, dtype, nonce)

    def _draw(self, kind: str, shape: Any, first: Any, second: Any, dtype: Any, nonce: Any) -> Any:
        dtype = dtype or floatx()
        if self.rng_type == "stateless":
            function = getattr(tf.random, f"stateless_{kind}")
            return function(shape, self.seed_for_stateless_op(nonce), first, second, dtype)
        if self.rng_type == "stateful":
            return getattr(self.generator, kind)(shape, first, second, dtype)
        function = getattr(tf.random, kind)
        return function(shape, first, second, dtype, seed=self.next_legacy_seed())

    def dropout(self, inputs, rate, noise_shape=None):
        """Set some inputs to zero, and scale the others to preserve the expected sum."""
        if self.rng_type == "legacy_stateful":
            return tf.nn.dropout(inputs, rate, noise_shape, self.next_legacy_seed())
        if self.rng_type == "stateful":
            return tf.nn.experimental.general_dropout(
                inputs, rate, self.generator.uniform, noise_shape
            )
        seed = self.seed_for_stateless_op()
        return tf.nn.experimental.stateless_dropout(inputs, rate, seed, noise_shape=noise_shape)
