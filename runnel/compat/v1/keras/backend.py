"""tf.compat.v1.keras.backend: Keras's backend, with its session."""

import runnel as _tf

from ..keras_session import get_session as get_session, set_session as set_session


def __getattr__(name: str) -> object:
    return getattr(_tf.keras.backend, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.keras.backend)})
