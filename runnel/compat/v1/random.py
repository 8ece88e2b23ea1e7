"""tf.compat.v1.random: `tf.random` with TensorFlow 1's arguments."""

import runnel as _tf

from ...ops import random_streams as _streams
from . import older as _older

get_seed = _streams.get_seed
set_random_seed = _streams.set_seed
multinomial = _older.multinomial
poisson = _older.random_poisson


def stateless_multinomial(logits, num_samples, seed, output_dtype=_tf.int64, name=None):
    """Classes drawn from logits, the same ones for the same pair of seeds."""
    return _tf.random.stateless_categorical(logits, num_samples, seed, output_dtype, name)


def __getattr__(name: str) -> object:
    if name == "set_seed":
        raise AttributeError("module 'runnel.compat.v1.random' has no attribute 'set_seed'")
    return getattr(_tf.random, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.random)} - {"set_seed"})
