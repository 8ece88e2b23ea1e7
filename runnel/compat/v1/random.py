"""tf.compat.v1.random: `tf.random` with the arguments that TensorFlow 1 has."""

import runnel as _tf

from ...ops.random_streams import get_seed as get_seed, set_seed as set_random_seed
from .older import multinomial as multinomial, random_poisson as poisson


def __getattr__(name: str) -> object:
    if name == "set_seed":
        raise AttributeError("module 'runnel.compat.v1.random' has no attribute 'set_seed'")
    return getattr(_tf.random, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.random)} - {"set_seed"})
