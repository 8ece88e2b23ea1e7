"""tf.compat.v1.linalg: `tf.linalg` with TensorFlow 1's arguments."""

import runnel as _tf

from .older import norm as norm, transpose as transpose


def __getattr__(name: str) -> object:
    return getattr(_tf.linalg, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.linalg)})
