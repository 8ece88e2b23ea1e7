"""tf.keras: layers, models and training, with the Keras 2 API.

Submodules are imported lazily.
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from ..core import hooks as _hooks

if _TYPE_CHECKING:
    from . import (
        activations as activations,
        applications as applications,
        backend as backend,
        callbacks as callbacks,
        constraints as constraints,
        datasets as datasets,
        experimental as experimental,
        initializers as initializers,
        layers as layers,
        losses as losses,
        metrics as metrics,
        mixed_precision as mixed_precision,
        models as models,
        optimizers as optimizers,
        preprocessing as preprocessing,
        regularizers as regularizers,
        saving as saving,
        utils as utils,
    )
    from .engine.model import Model as Model
    from .engine.sequential import Sequential as Sequential
    from .layers.input_layer import Input as Input

_hooks.children_function.connect("runnel.keras.saving.checkpoint_parts", "children_function")
_hooks.watched_methods.connect("runnel.keras.saving.checkpoint_parts", "watched_methods")
_hooks.exporting.connect("runnel.keras.saving.tf_format", "exporting")
_hooks.exported_parts.connect("runnel.keras.saving.tf_format", "exported_parts")
_hooks.exported_identifier.connect("runnel.keras.saving.tf_format", "identifier_of")

_SUBMODULES = frozenset(
    {
        "activations",
        "applications",
        "backend",
        "callbacks",
        "constraints",
        "datasets",
        "experimental",
        "initializers",
        "layers",
        "losses",
        "metrics",
        "mixed_precision",
        "models",
        "optimizers",
        "preprocessing",
        "regularizers",
        "saving",
        "utils",
    }
)
_LATER = {
    "Input": "layers.input_layer",
    "Model": "engine.model",
    "Sequential": "engine.sequential",
}


def __getattr__(name: str) -> _Any:
    if name == "__all__":
        # For `from ... import *`, including lazily imported names.
        return [each for each in __dir__() if not each.startswith("_")]
    if name in _SUBMODULES:
        return _importlib.import_module(f".{name}", __name__)
    if name in _LATER:
        value = getattr(_importlib.import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = value
        return value
    from ..core.suggestions import no_attribute

    raise no_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES, *_LATER})
