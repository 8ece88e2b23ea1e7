"""tf.compat.v1.keras: Keras, with the sessions of its backend."""

import importlib as _importlib

import runnel as _tf


def __getattr__(name: str) -> object:
    if name == "__all__":
        # The names for `from ... import *`, including lazily loaded ones.
        return [each for each in __dir__() if not each.startswith("_")]
    if name in ("backend", "utils"):
        return _importlib.import_module(f".{name}", __name__)
    return getattr(_tf.keras, name)


def __dir__() -> list[str]:
    return dir(_tf.keras)
