"""tf.keras: layers, models and all that trains them, by the Keras 2 API.

The parts load when first used.
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

if _TYPE_CHECKING:
    from . import (
        activations as activations,
        backend as backend,
        constraints as constraints,
        initializers as initializers,
        layers as layers,
        losses as losses,
        mixed_precision as mixed_precision,
        regularizers as regularizers,
        saving as saving,
        utils as utils,
    )

_SUBMODULES = frozenset(
    {
        "activations",
        "backend",
        "constraints",
        "initializers",
        "layers",
        "losses",
        "metrics",
        "mixed_precision",
        "optimizers",
        "regularizers",
        "saving",
        "utils",
    }
)


def __getattr__(name: str) -> _Any:
    if name in _SUBMODULES:
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'runnel.keras' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
