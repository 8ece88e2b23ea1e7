"""tf.compat.v1.keras: Keras, with the sessions of its backend."""

import importlib as _importlib

import runnel as _tf


def __getattr__(name: str) -> object:
    if name == "__all__":
        # The names for `from ... import *`, including lazily loaded ones.
        return [each for each in __dir__() if not each.startswith("_")]
    if name == "backend":
        return _importlib.import_module(".backend", __name__)
    return getattr(_tf.keras, name)


def __dir__() -> list[str]:
    return dir(_tf.keras)
