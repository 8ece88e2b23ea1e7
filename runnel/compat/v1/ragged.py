"""tf.compat.v1.ragged: `tf.ragged`, and ragged values as NumPy arrays."""

import runnel as _tf

from .values import RaggedTensorValue as RaggedTensorValue


def __getattr__(name: str) -> object:
    return getattr(_tf.ragged, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.ragged)})
